"""What helps readers find things: index of the search, cards, marked terms; no page of its own."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from sphinx.application import Sphinx

from .. import languages
from . import cards, pages, search_documents, symptoms, terms

INDEX, CARDS, FORMULAS = "search-index.js", "cards-data.js", "formulas-data.js"
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the former is ten times as fast
CACHE = "pages.pickle"  # what was read of pages, kept beside the doctrees from build to build
written: set[str] = set()  # pages that are written anew


class Read(NamedTuple):
    """What a page says, and its numbered formulas as cards show them."""

    page: pages.Page
    formulas: dict[str, list[Any]]


def shared(app: Sphinx, name: str) -> dict[str, Any]:
    """What files of ``params/`` that all pages share say; empty in a book that has none."""
    result: dict[str, Any] = {}
    for path in sorted((Path(app.srcdir).parent / "params").glob(name)):
        result |= yaml.load(path.read_text(encoding="utf-8"), LOADER)
    return result


def note_written(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any],
                  doctree: Any) -> None:
    """Remember a page that is written anew: only of these may something else be said now."""
    written.add(pagename)


def read_pages(app: Sphinx) -> dict[str, Read]:
    """What the pages of the book say, read anew where they were written anew."""
    cache = Path(app.doctreedir) / CACHE
    try:
        cached: dict[str, Read] = pickle.loads(cache.read_bytes())
    except (OSError, pickle.UnpicklingError, AttributeError, EOFError, ImportError):
        cached = {}
    result = {}
    for name in sorted(app.env.found_docs):
        if name in cached and name not in written:
            result[name] = cached[name]
        else:
            page = pages.read((Path(app.outdir) / f"{name}.html").read_bytes())
            result[name] = Read(page, cards.of_formulas(page))
    cache.write_bytes(pickle.dumps(result))
    return result


def _put_script(path: Path, name: str, data: Any) -> None:
    """Write data as a script, which also pages opened from the disk may load."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    path.write_text(f"window.{name} = {text};\n", encoding="utf-8")


def begin(app: Sphinx) -> None:
    """Note which words are marked as terms; Sphinx makes no index of its own."""
    app.builder.search = False  # type: ignore[attr-defined]
    setattr(app, terms.MARKED,
            terms.marked(shared(app, "glossary.yml"), languages.tag_of(app.config.language)))


def write(app: Sphinx, exception: Exception | None) -> None:
    """Write what the browser loads when a reader asks for it."""
    if exception or app.builder.name != "html":
        return
    lang, out = languages.tag_of(app.config.language), Path(app.outdir) / "_static"
    glossary, symbols = shared(app, "glossary.yml"), shared(app, "symbols.yml")
    read = read_pages(app)
    pages = {name: item.page for name, item in read.items()}
    result = [*search_documents.of_terms(glossary, lang),
              *search_documents.of_pages(pages, symbols),
              *search_documents.of_letters(symbols, lang)]
    devices = {path.stem: shared(app, f"devices/{path.name}") for path in
               (Path(app.srcdir).parent / "params" / "devices").glob("*.yml")}
    _put_script(out / INDEX, "bookIndex", search_documents.script(result, glossary)
                | symptoms.of_index(result, shared(app, symptoms.FILE), devices))
    _put_script(out / CARDS, "bookCards", {
        "terms": cards.of_terms(glossary, lang), "letters": cards.of_letters(symbols, lang),
        "sources": cards.of_sources(shared(app, "sources/*.yml"))})
    _put_script(out / FORMULAS, "bookFormulas", {
        anchor: shown for item in read.values() for anchor, shown in item.formulas.items()})


def setup(app: Sphinx) -> None:
    """Connect the handlers; at priority 900 the first pass waits for the second."""
    app.connect("builder-inited", begin)
    app.connect("html-page-context", note_written)
    app.connect("build-finished", write, priority=800)
    app.add_post_transform(terms.MarkTerms)
