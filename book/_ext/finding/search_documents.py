"""What can be found, and by which words: sections, terms, letters, claims.

A document of the index says of which kind it is, where it stands, and how much it weighs: what
explains a thing weighs more than what uses it.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from .pages import Page, Section, plain

KINDS = {"chapters/scenarios/": "deployment", "chapters/devices/": "device",
         "chapters/models/": "model", "chapters/documents/": "document"}
WEIGHTS = {"term": 1.6, "chapter": 1.0, "document": 0.7, "device": 0.6, "model": 0.6,
           "deployment": 0.6, "letter": 0.1, "claim": 0.25}
ASIDE = re.compile(r"-(?:exercises|documents|limits|formulas|takeaway|not-counted)$")
ASIDE_WEIGHT = 0.6  # sections beside the explanation
SYMBOLS = re.compile(r"-symbols$")  # the letters are documents of their own
REFERENCE = "chapters/reference"
MOST_ROWS = 40  # of a longer table the first column is indexed
LEGEND = re.compile("[:：]")
HEAD = re.compile(r"^(.*?)(?:[:：,，（]| \(|$)")


class Document(NamedTuple):
    """One thing that can be found; what is empty does not take part."""

    kind: str
    address: str  # of the page and the section, from the root of the language
    weight: float
    title: str  # of the page
    heading: str  # of the section, if it is not the page's
    names: list[str]  # a query that is one of these asks for this
    text: str
    rows: str = ""


def names_of(title: str) -> list[str]:
    """What an entry is called: 'S1 plan C: 32×H20' is 'S1 plan C', 'plan C'."""
    match = HEAD.match(title)
    words = (match[1] if match else title).split()
    return [" ".join(words[i:]) for i in range(len(words))]


def term_anchor(key: str) -> str:
    """Where a term of the glossary stands on the page of reference."""
    return f"term-{key}"


def label_of(document: Document) -> str:
    """The label of a page or section, which is the same in both languages."""
    page, _, anchor = document.address.partition(".html#")
    return anchor or page.removesuffix(".html").rpartition("/")[2]


def row_text(section: Section) -> str:
    """Rows of a section; of a long table, their first cells."""
    short = len(section.rows) <= MOST_ROWS
    return "\n".join(row if short else row.partition(" · ")[0] for row in section.rows)


def section_documents(name: str, page: Page, letters: Container[str]) -> Iterator[Document]:
    """A chapter, section by section, without the names of letters under its formulas."""
    for index, section in enumerate(page.sections):
        if SYMBOLS.search(section.anchor) or (name == REFERENCE and index):
            continue
        weight = WEIGHTS["chapter"] * (ASIDE_WEIGHT if ASIDE.search(section.anchor) else 1)
        yield Document("chapter", f"{name}.html" + (f"#{section.anchor}" if index else ""), weight,
                       page.title, section.heading if index else "",
                       [] if index else [name.rpartition("/")[2]],
                       "\n".join(text for text in section.texts
                                 if LEGEND.split(text, maxsplit=1)[0] not in letters),
                       row_text(section))


def entry(kind: str, name: str, page: Page) -> Iterator[Document]:
    """A page of a catalogue: what it is called, what it begins with, and its headings."""
    yield Document(kind, f"{name}.html", WEIGHTS[kind], page.title, "",
                   [*names_of(page.title), name.rpartition("/")[2]],
                   "\n".join(page.sections[0].texts),
                   "\n".join(section.heading for section in page.sections[1:]))
    for anchor, cells in page.rows.items():
        yield Document("claim", f"{name}.html#{anchor}", WEIGHTS["claim"], page.title,
                       anchor, [anchor], " · ".join(filter(None, cells[1:3])))


def of_pages(pages: Mapping[str, Page], symbols: Mapping[str, Mapping[str, str]]
             ) -> Iterator[Document]:
    """What the pages of one language hold, by their names."""
    letters = {plain(symbol["latex"]) for symbol in symbols.values()}
    for name, page in pages.items():
        kind = next((kind for folder, kind in KINDS.items() if name.startswith(folder)), "")
        if page.sections:
            yield from (entry(kind, name, page) if kind
                        else section_documents(name, page, letters))


def names_of_term(term: Mapping[str, Any]) -> list[str]:
    """A term in both languages, and its abbreviation."""
    return list(dict.fromkeys(filter(None, (term["en"], term["zh"], term.get("abbr")))))


def sought(term: Mapping[str, Any]) -> list[str]:
    """A term by all names under which readers look for it."""
    return [*names_of_term(term), *term.get("also", ())]


def of_terms(glossary: Mapping[str, Mapping[str, Any]], lang: str) -> Iterator[Document]:
    """The terms, each by its names in both languages."""
    for key, term in glossary.items():
        names = names_of_term(term)
        own = term[lang]
        yield Document("term", f"{REFERENCE}.html#{term_anchor(key)}", WEIGHTS["term"], own,
                       " · ".join(name for name in names if name != own), sought(term),
                       term.get("definition", {}).get(lang, ""))


def of_letters(symbols: Mapping[str, Mapping[str, str]], lang: str) -> Iterator[Document]:
    """The letters, each by what it looks like and by its name in the program."""
    other = {"en": "zh", "zh": "en"}[lang]
    for name, symbol in symbols.items():
        letter = plain(symbol["latex"])
        yield Document("letter", f"{REFERENCE}.html#letter-{name}", WEIGHTS["letter"],
                       letter, symbol[lang], [letter, name], f"{symbol[other]} · {symbol['unit']}")


def explained(documents: Iterable[Document], glossary: Mapping[str, Mapping[str, Any]]
              ) -> Iterator[Document]:
    """The documents, those that explain a term found by its names too."""
    names: dict[str, list[str]] = {}
    for term in glossary.values():
        names.setdefault(term.get("at", ""), []).extend(sought(term))
    for document in documents:
        more = names.get(label_of(document), []) if document.kind == "chapter" else []
        yield document._replace(names=[*document.names, *more])


def script(documents: Iterable[Document], glossary: Mapping[str, Mapping[str, Any]]
           ) -> dict[str, Any]:
    """What the browser gets: the documents, and the names that mean the same."""
    return {"documents": [list(document) for document in explained(documents, glossary)],
            "aliases": [names for term in glossary.values() if len(names := sought(term)) > 1]}
