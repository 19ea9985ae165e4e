"""One source, two languages: what a pass leaves out, translates, and links to.

Prose cells carry the tag ``en`` or ``zh``; code cells belong to both. A pass blanks the prose and
the outputs of the other language. Blanking, not deleting: a warning still names the right cell.
"""

from __future__ import annotations

import json
import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.locale import get_translation
from sphinx.transforms import SphinxTransform

TAGS = ("en", "zh")
WIDE = re.compile("[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\u201c\u201d\u2018\u2019\u2014\u2026]")
SEPARATOR = re.compile(r"^\+\+\+(?P<metadata>.*)$")
TRANSLATED = ("html_title", "author", "nb_code_prompt_show", "nb_code_prompt_hide",
              "togglebutton_hint", "togglebutton_hint_hide")
SHORT, PREVIEW = 20, 200  # signs of the words that a preview shows
SITES = (
    {"tag": "en", "lang": "en", "name": "English", "folder": ""},
    {"tag": "zh", "lang": "zh-CN", "name": "中文", "folder": "zh/"},
)

translate = get_translation("sphinx")


def tag_of(language: str) -> str:
    """Give the tag of the cells that a Sphinx language shows: 'zh_CN' shows 'zh'."""
    return language.partition("_")[0]


def _is_foreign(tags: list[str], tag: str) -> bool:
    """Tell whether cell tags name a language, and not the one of this pass."""
    named = [name for name in tags if name in TAGS]
    return bool(named) and tag not in named


def filter_notebook(text: str, tag: str) -> str:
    """The text of an executed notebook as `filtered` leaves it."""
    return json.dumps(filtered(json.loads(text), tag), ensure_ascii=False)


def filtered(notebook: dict[str, Any], tag: str) -> dict[str, Any]:
    """Blank the cells and outputs of an executed notebook that are not in the language `tag`."""
    for cell in notebook["cells"]:
        foreign = _is_foreign(cell["metadata"].get("tags", []), tag)
        if foreign:
            cell["source"] = ""
        if cell["cell_type"] != "code":
            continue
        cell["outputs"] = [
            output for output in cell["outputs"]
            if not foreign and output.get("metadata", {}).get("lang", tag) == tag
        ]
        if foreign:
            cell["metadata"]["tags"].append("remove-cell")
    return notebook


def filter_page(text: str, tag: str) -> str:
    """Blank the parts of a prose page that are not in the language `tag`; keep line numbers.

    Parts are separated by lines ``+++ {"tags": ["zh"]}``; what stands before the first one, front
    matter included, belongs to both languages.
    """
    result: list[str] = []
    foreign = False
    for line in text.split("\n"):
        separator = SEPARATOR.match(line)
        if separator:
            metadata = json.loads(separator["metadata"].strip() or "{}")
            foreign = _is_foreign(metadata.get("tags", []), tag)
        result.append("" if foreign or separator else line)
    return "\n".join(result)


def source_read(app: Sphinx, docname: str, source: list[str]) -> None:
    """Leave in the source what this pass shows."""
    is_notebook = str(app.env.doc2path(docname)).endswith(".ipynb")
    select = filter_notebook if is_notebook else filter_page
    source[0] = select(source[0], tag_of(app.config.language))


class JoinWideLines(SphinxTransform):
    """Join lines between two Chinese characters, where a browser would show a space."""

    default_priority = 300

    def apply(self, **options: Any) -> None:
        """Remove the line breaks of running text that stand between wide characters."""
        for parent in list(self.document.findall(nodes.TextElement)):
            if isinstance(parent, nodes.FixedTextElement):
                continue
            children = list(parent.children)
            for before, node, after in zip(children, children[1:], children[2:], strict=False):
                if (node == "\n" and WIDE.match(before.astext()[-1:])
                        and WIDE.match(after.astext()[:1])):
                    parent.children = [child for child in parent.children if child is not node]


class NamedPictures(SphinxTransform):
    """A picture without words of its own is named by the section that it stands in."""

    default_priority = 860  # what stands in which section is settled

    def apply(self, **options: Any) -> None:
        """Give every such picture the title of its section as its text."""
        for image in self.document.findall(nodes.image):
            section: Any = image.parent
            while section is not None and not isinstance(section, nodes.section):
                section = section.parent
            if section is not None and not image.get("alt"):
                title = section[section.first_child_matching_class(nodes.title) or 0]
                image["alt"] = title.astext()


def first_words(doctree: nodes.document | None) -> str:
    """The first paragraph of a page in plain text; empty where it has none."""
    paragraphs = doctree.findall(nodes.paragraph) if doctree else ()
    return next((text for node in paragraphs if not any(node.findall(nodes.math))
                 and len(text := " ".join(node.astext().split())) > SHORT), "")


def described(doctree: nodes.document | None) -> str:
    """The first words of a page, as many as a preview of it shows."""
    text = first_words(doctree)
    return text if len(text) <= PREVIEW else f"{text[:PREVIEW]}…"


def translate_settings(app: Sphinx, config: Config) -> None:
    """Translate what `_config.yml` says in English, by the catalogue in ``locales/``."""
    for name in TRANSLATED:
        setattr(config, name, str(translate(getattr(config, name))))
    options = config.html_theme_options
    options["search_bar_text"] = str(translate(options["search_bar_text"]))


def translate_captions(app: Sphinx, config: Config) -> None:
    """Translate the names of the book's parts, which `_toc.yml` gives in English."""
    for document in config.external_site_map.values():
        for subtree in document.subtrees if document else ():
            subtree.caption = subtree.caption and str(translate(subtree.caption))


def alternates(pagename: str, tag: str) -> list[dict[str, Any]]:
    """List the page in every language, with relative links as seen from the language `tag`."""
    here = next(site for site in SITES if site["tag"] == tag)
    to_root = "../" * (pagename.count("/") + here["folder"].count("/"))
    return [site | {"url": f"{to_root}{site['folder']}{pagename}.html", "current": site == here}
            for site in SITES]


def add_alternates(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any],
                    doctree: nodes.document | None) -> None:
    """Give the templates the page's address in both languages, and its first words."""
    context["alternates"] = alternates(pagename, tag_of(app.config.language))
    context["described"] = described(doctree)


def translate_buttons(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any],
                       doctree: nodes.document | None) -> None:
    """Translate the tooltips of the buttons above the page, as the book's catalogue has them."""
    buttons = [*context.get("header_buttons", ())]
    for button in buttons:
        buttons += button.get("buttons", ())
        button["tooltip"] = str(translate(button.get("tooltip", "")))


def setup(app: Sphinx) -> None:
    """Connect the handlers; the table of contents is read at priority 900."""
    app.connect("config-inited", translate_settings, priority=400)  # before others use them
    app.connect("config-inited", translate_captions, priority=950)
    app.connect("source-read", source_read)
    app.connect("html-page-context", add_alternates)  # before the theme drops empty templates
    app.connect("html-page-context", translate_buttons, priority=900)  # after it made them
    app.add_transform(JoinWideLines)
    app.add_transform(NamedPictures)
