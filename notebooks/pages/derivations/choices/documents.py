"""Where the documents' claims and advice on a subject stand, beside what follows of it."""

from __future__ import annotations

from collections.abc import Mapping

import catalogue
from catalogue.ledger.advice import Advice, Place
from catalogue.ledger.documents import Said
from notebooks.show.display import SECTIONS, show, table
from notebooks.show.documents import link

Text = tuple[str, str]
OPEN = 3  # pieces of advice that are not folded


def place(document: str, said: Said) -> str:
    """Where a document says something: section and line, with links to the claims on it.

    Args:
        document: ``s0``.
        said: of ``params/documents/``.
    """
    return "<br>".join((f"{document.upper()} {said.section}, {said.line}",
                        *map(link, said.claims)))


def claims(names: str) -> None:
    """A line with a link to each claim.

    Args:
        names: numbers with blanks between them: ``S0-117 S1-028``.
    """
    links = list(map(link, names.split()))
    show(f"The documents on this, with verdicts: {', '.join(links)}.",
         f"文档的相关论断及结论：{'、'.join(links)}。")


def advised(follows: Mapping[str, Text]) -> None:
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
    table(rows, {"says": ("recommended", "文档的建议"),
                 "follows": ("this book computes", "本书的计算")}, wide=True,
          folded=("What else the documents recommend", "文档的其他建议"), first=OPEN)


def _where(document: str, advice: Advice, lang: int) -> str:
    """Document, sections, lines, and the claims beside it."""
    places = ("; ", "；")[lang].join(_place(place, lang) for place in advice.places)
    links = ", ".join(map(link, advice.claims))
    return f"{document.upper()} {places}" + (f" ({links})" if links else "")


def _place(place: Place, lang: int) -> str:
    section = SECTIONS.get(place.section, (place.section,) * 2)[lang]
    lines = "–".join(map(str, place.lines))
    word = (f"line{'s' * (len(place.lines) > 1)} {lines}", f"第 {lines} 行")[lang]
    return f"{section}, {word}" if lang == 0 else f"{section}，{word}"
