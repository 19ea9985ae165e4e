"""Terms of the glossary are marked where a section first uses them, as links into the glossary."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

from . import search_documents

MARKED = "book_terms"  # of the application: its terms as they are looked for, by language
CLOSED = (nodes.reference, nodes.title, nodes.literal, nodes.math, nodes.FixedTextElement,
          nodes.caption, nodes.raw, nodes.strong, nodes.entry)
LATIN = re.compile(r"[A-Za-z0-9]")


def marked(glossary: Mapping[str, Mapping[str, Any]], lang: str) -> dict[str, str]:
    """Name -> term of those that a section explains, everyday words left out."""
    return {name: key for key, term in glossary.items() if "at" in term
            and not term.get("everyday") for name in (term[lang], term.get("abbr", term[lang]))}


@cache
def pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    """What finds a name: the first of several, Latin words whole, and in the plural too."""
    def sought(name: str) -> str:
        begin = r"(?<![\w-])" if LATIN.match(name) else ""
        end = r"(?:s?)(?![\w-])" if LATIN.match(name[-1]) else ""
        own = re.escape(name) if name.isupper() else f"(?i:{re.escape(name)})"
        return f"{begin}{own}{end}".replace(r"\ ", r"\s+")
    return re.compile("|".join(f"(?P<n{i}>{sought(name)})" for i, name in enumerate(names)),
                      re.ASCII)


def mentioned(text: str, names: Mapping[str, str]) -> dict[str, str]:
    """Those of the names that a text may hold: few, which are then soon looked for in it."""
    folded = " ".join(text.lower().split())
    return {name: key for name, key in names.items() if name.lower() in folded}


def split(text: str, names: Mapping[str, str], seen: set[str]) -> Iterator[tuple[str, str]]:
    """A text in parts, each with the term that it is, or none; `seen` are not marked again.

    >>> list(split("A rank of ranks", {"rank": "rank"}, set()))
    [('A ', ''), ('rank', 'rank'), (' of ranks', '')]
    """
    longest, at = tuple(sorted(names, key=len, reverse=True)), 0
    for match in pattern(longest).finditer(text) if names else ():
        key = names[longest[int((match.lastgroup or "n0")[1:])]]
        if key in seen:
            continue
        seen.add(key)
        yield text[at:match.start()], ""
        yield match[0], key
        at = match.end()
    yield text[at:], ""


def is_open(node: nodes.Node) -> bool:
    """Tell whether a text stands in a paragraph and in nothing that says more of it."""
    parent, inside = node.parent, False
    while parent is not None:
        if isinstance(parent, CLOSED):
            return False
        inside = inside or isinstance(parent, nodes.paragraph)
        parent = parent.parent
    return inside


class MarkTerms(SphinxPostTransform):
    """Marks the terms of a page, in each part under its title anew."""

    default_priority = 900  # after numbers of other pages came in
    formats = ("html",)

    def run(self, **options: Any) -> None:
        """Mark the terms of one page."""
        glossary = search_documents.REFERENCE
        if self.env.docname == glossary or glossary not in self.env.found_docs:
            return
        page = self.app.builder.get_relative_uri(self.env.docname, glossary)
        names = getattr(self.app, MARKED)
        for part in self._parts():
            seen: set[str] = set()
            here = mentioned(" ".join(text.astext() for text in part), names)
            for text in part:
                names_here = mentioned(text.astext(), here)
                if seen.issuperset(names_here.values()):
                    continue
                shown = [nodes.reference("", word, internal=True, classes=["term"],
                                         refuri=f"{page}#{search_documents.term_anchor(key)}")
                         if key else nodes.Text(word)
                         for word, key in split(text.astext(), names_here, seen) if word]
                if len(shown) > 1 or (shown and not isinstance(shown[0], nodes.Text)):
                    text.parent.replace(text, shown)

    def _parts(self) -> Iterator[list[nodes.Text]]:
        """The texts of each part of the page: its beginning, then its sections."""
        title = next(iter(self.document.findall(nodes.section)), None)
        if title is None:
            return
        sections = [node for node in title.children if isinstance(node, nodes.section)]
        beginning = [node for node in title.children if not isinstance(node, nodes.section)]
        for part in (beginning, *([section] for section in sections)):
            yield [text for node in part for text in node.findall(nodes.Text) if is_open(text)]
