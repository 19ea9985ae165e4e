"""What a card shows of what is pointed at: terms, letters, sources, formulas of other pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree

from ..setting.katex import MATHML, FormulaError, typeset
from . import search_documents
from .pages import Page, plain

SPACE = "{http://www.w3.org/1998/Math/MathML}"
ATTRIBUTES = ("mathvariant", "stretchy", "displaystyle", "columnalign", "accent", "display")


def of_terms(glossary: Mapping[str, Mapping[str, Any]], lang: str) -> dict[str, list[str]]:
    """Anchor -> what a term is called, what else, what it means."""
    return {search_documents.term_anchor(key): [
        term[lang], " · ".join(name for name in search_documents.names_of_term(term)
                               if name != term[lang]),
        term.get("definition", {}).get(lang, "")] for key, term in glossary.items()}


def of_letters(symbols: Mapping[str, Mapping[str, str]], lang: str) -> list[list[str]]:
    """TeX, plain letter, name and unit of every symbol."""
    return [[symbol["latex"], plain(symbol["latex"]), symbol[lang], symbol["unit"]]
            for symbol in symbols.values()]


def of_sources(sources: Mapping[str, Mapping[str, Any]]) -> dict[str, list[str]]:
    """Address -> title, date and note of what is cited."""
    return {entry["url"]: [str(entry.get(key, "")) for key in ("title", "date", "note")]
            for entry in sources.values() if entry.get("url")}


def _tree(element: ElementTree.Element) -> list[Any]:
    """MathML as lists: name, attributes, then texts and children."""
    attributes = {key: value for key, value in element.attrib.items() if key in ATTRIBUTES}
    parts: list[Any] = [element.text] if element.text and element.text.strip() else []
    return [element.tag.removeprefix(SPACE), attributes, *parts,
            *(_tree(child) for child in element if child.tag != f"{SPACE}annotation")]


def of_formulas(page: Page) -> dict[str, list[Any]]:
    """Anchor -> number, title of the page and MathML of every numbered formula of a page."""
    result: dict[str, list[Any]] = {}
    for anchor, (number, tex) in page.formulas.items():
        try:
            mathml = ElementTree.fromstring(typeset(tex, True, MATHML))
        except (FormulaError, ElementTree.ParseError):
            continue  # the link leads to it all the same
        if (inner := mathml.find(f"{SPACE}math")) is not None:
            result[anchor] = [number, page.title, _tree(inner)]
    return result
