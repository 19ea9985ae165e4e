"""Sphinx extension of a report: one page by itself, without script, network or other files.

``report.py`` sets an executed notebook with it. Formulas become MathML, references to other pages
of the book links into it or plain text.
"""

from __future__ import annotations

import json
import posixpath
from importlib.metadata import version
from pathlib import Path
from typing import Any

import languages
from docutils import nodes
from export.bundle import CHAPTER
from setting import katex
from sphinx import addnodes
from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]


def chapters(root: Path, lang: str) -> dict[str, tuple[str, str]]:
    """Label -> page and title of every section of the book that has one, in a language.

    The label of an equation stands for its chapter, by address and title.
    """
    labels: dict[str, tuple[str, list[str]]] = {}
    for folder, prefix in ((root / "notebooks", "chapters/"), (root / "book", "")):
        for path in sorted(folder.glob("*.md")):
            for label, title in CHAPTER.findall(path.read_text(encoding="utf-8")):
                labels.setdefault(label, (f"{prefix}{path.stem}", []))[1].append(title)
    at = languages.TAGS.index(lang)
    places = {label: (page, titles[min(at, len(titles) - 1)])
             for label, (page, titles) in labels.items()}
    exported = root / "notebooks/derive/formulas/formulas.json"
    equations = json.loads(exported.read_text(encoding="utf-8"))
    return places | {formula["anchor"]: places[formula["notebook"]]
                    for formula in equations.values() if formula["notebook"] in places}


def set_page(app: Sphinx, name: str, template: str, context: dict[str, Any],
          doctree: nodes.document | None) -> str:
    """Name the template of the page, and give it its title and what it says at its end."""
    context.update(title=app.env.titles[name].astext(), files=app.config.report_files,
                   version=version("will-it-fit"))
    return "report.html"


def link(app: Sphinx) -> None:
    """Resolve references out of the report: into the book if there is one, else plain text."""
    lang, book = languages.tag_of(app.config.language), app.config.report_book
    site = next(site for site in languages.SITES if site["tag"] == lang)
    base = f"{book.rstrip('/')}/{site['folder']}" if book else ""
    sections = chapters(ROOT, lang)

    def resolve(app: Sphinx, env: Any, node: nodes.Element, content: nodes.Element
                ) -> nodes.Element:
        """Give Sphinx what stands in the place of a reference that this page cannot resolve."""
        target, _, label = str(node["reftarget"]).partition("#")
        name, _ = posixpath.splitext(posixpath.basename(target))
        page, title = sections.get(label or name, ("", ""))
        if not page and posixpath.basename(target) != target:  # another page of the catalogue
            path = posixpath.normpath(posixpath.join("chapters/scenarios", target))
            page = posixpath.splitext(path)[0]
        elif not page and (entry := next(iter(ROOT.glob(f"params/*/{name}.yml")), None)):
            page = f"chapters/{entry.parent.name}/{name}"
        shown = content if node.get("refexplicit") or not title else nodes.inline("", title)
        if not base or not page:
            return nodes.inline("", "", *([shown] if shown.astext() else [nodes.Text(name)]))
        equation = "equation-" if node["reftype"] == "eq" else ""
        anchor = f"#{equation}{label or name}" if title else ""
        return nodes.reference("", "", shown, internal=False,
                               refuri=f"{base}{page}.html{anchor}")

    def resolve_labels(app: Sphinx, page: nodes.document) -> None:
        """Resolve links to labels that the page lacks; MyST would let them lead nowhere."""
        for node in list(page.findall(addnodes.pending_xref)):
            if node["reftype"] == "myst" and node["refdomain"] is None:
                node.replace_self(resolve(app, app.env, node, node[0]))

    app.connect("missing-reference", resolve)
    app.connect("doctree-read", resolve_labels)
    for setting in ("raw_enabled", "file_insertion_enabled"):  # a page has no need of either
        app.env.settings[setting] = False


def setup(app: Sphinx) -> None:
    """Register the settings, the formulas, and the handlers."""
    app.add_config_value("report_book", "", "html")
    app.add_config_value("report_files", [], "html")
    inline, block = katex.visitors(katex.MATHML)
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    app.add_transform(languages.JoinWideLines)
    app.connect("builder-inited", link)
    app.connect("html-page-context", set_page)
