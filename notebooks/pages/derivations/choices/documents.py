"""Where the documents' claims and advice on a subject stand, beside what follows of it."""

from __future__ import annotations

from collections.abc import Mapping

import catalogue
from catalogue.ledger import Advice, DocumentReference, Mention
from catalogue.messages import Pair, join, messages
from notebooks.show.display import markdown, section, table
from notebooks.show.documents import link

say = messages("pages/derivations/choices/documents")

OPEN = 3  # pieces of advice that are not folded


def place(document: str, said: DocumentReference) -> Pair:
    """Where a document says something: section and line, with links to the claims on it.

    Args:
        document: ``s0``.
        said: of ``params/documents/``.
    """
    english, chinese = ("<br>".join((f"{document.upper()} {name}, {said.line}",
                                     *map(link, said.claims))) for name in section(said.section))
    return english, chinese


def claims(names: str) -> None:
    """A line with a link to each claim.

    Args:
        names: numbers with blanks between them: ``S0-117 S1-028``.
    """
    links = list(map(link, names.split()))
    markdown(*say("documents-on-this", links=(", ".join(links), "、".join(links))))


def advised(follows: Mapping[str, Pair]) -> None:
    """What documents recommend, and beside it what this book computes.

    Args:
        follows: by the name of the advice, ``s1/h20-online``, what is computed, in both languages.

    Raises ParamsError for a document that there is not, KeyError for advice that it does not have.
    """
    rows = []
    for name, computed in follows.items():
        document, _, key = name.partition("/")
        each: Advice = catalogue.load("advice", document).advice[key]
        rows.append({"says": tuple(f"{each.says[lang]}<br>{_where(document, each, index)}"
                                   for index, lang in enumerate(("en", "zh"))),
                     "follows": computed})
    table(rows, {"says": say("recommended"), "follows": say("this-book-computes")}, wide=True,
          folded=say("what-else-documents-recommend"), first=OPEN)


def _where(document: str, advice: Advice, lang: int) -> str:
    """Document, sections, lines, and the claims beside it."""
    places = join(("; ", "；"), map(_place, advice.places))[lang]
    links = ", ".join(map(link, advice.claims))
    return f"{document.upper()} {places}" + (f" ({links})" if links else "")


def _place(place: Mention) -> Pair:
    return say("section-and-lines", section=section(place.section),
               count=len(place.lines), lines="–".join(map(str, place.lines)))
