"""The page on all documents: counts, causes, contradictions side by side."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import catalogue
from calc.auditing.contradictions import NUMBERS, SETTING, VALUES, Contradiction
from calc.auditing.judging import Audited
from catalogue.messages import Pair, join, messages
from catalogue.reading.values import PERCENT, causes
from notebooks.pages.audit import pictures
from notebooks.pages.audit.document import weights
from notebooks.pages.audit.words import (
    GROUPS,
    HOLDS,
    OPEN,
    WRONG,
    everything,
    group,
    interval_text,
    right,
)
from notebooks.show.display import Text, draw, markdown, number, table
from notebooks.show.documents import ADDRESS
from notebooks.show.long_table import Linked, rows_table
from notebooks.show.numbers import fmt_int, fmt_percent

common = messages("common")
say = messages("pages/audit/overview")

KINDS: dict[str, Pair] = {VALUES: say("one-quantity"), NUMBERS: say("numbers-excluded"),
                          SETTING: say("set-twice")}
OF_ALL_CARDS = "cluster-for-card"  # cause
SHOWN = 8  # rows of a long table that are not folded


def answer() -> None:
    """How many claims hold, by document, and the picture of verdicts."""
    rows = everything().rows
    count = Counter(map(group, rows))
    total = len(rows)
    number("a-claims", total)
    for key, kind in (("a-holds", HOLDS), ("a-wrong", WRONG), ("a-open", OPEN)):
        number(key, count[kind] / total, fmt_percent, digits=0)
    markdown(*say("all-documents", total=fmt_int(total), right=fmt_percent(count[HOLDS] / total, 0),
              wrong=fmt_percent(count[WRONG] / total, 0),
              undecided=fmt_percent(count[OPEN] / total, 0)))
    by: dict[str, list[Audited]] = defaultdict(list)
    for row in rows:
        by[row.case.listed.document].append(row)
    table([_document(name, of) for name, of in by.items()],
          {"document": say("document"), "claims": common("claims"), **GROUPS})
    draw(lambda lang: pictures.verdicts(rows, lang))


def _document(name: str, rows: list[Audited]) -> dict[str, object]:
    count = Counter(map(group, rows))
    title = catalogue.load("documents", name).name
    return {"document": (f"[{title['en']}](#{name})", f"[{title['zh']}](#{name})"),
            "claims": len(rows), **{each: count[each] for each in GROUPS}}


def causes_of_all() -> None:
    """Every cause with the claims that it explains, by document, the most claims first."""
    named, rows = causes(), []
    for name, found in sorted(weights(everything().rows), key=lambda item: -len(item[1])):
        of = Counter(row.case.listed.document for row in found)
        rows.append({"cause": (f"**{named[name]['title']['en']}**<br>{named[name]['what']['en']}",
                               f"**{named[name]['title']['zh']}**<br>{named[name]['what']['zh']}"),
                     "claims": len(found),
                     "of": ", ".join(f"{document.upper()} {count}"
                                     for document, count in sorted(of.items()))})
    table(rows, {"cause": say("cause"), "claims": common("number-of-claims"),
                 "of": say("in-which")}, wide=True,
          folded=say("every-other-cause"), first=SHOWN)


def contradictions() -> None:
    """Every contradiction with an address, its claims linked, and what is right."""
    found = everything().contradictions
    count = Counter(each.kind for each in found)
    markdown(*say("they-contradict-each-other", count=fmt_int(len(found)),
              values=fmt_int(count[VALUES]), numbers=fmt_int(count[NUMBERS]),
              settings=count[SETTING]))
    rows = {row.id: row for row in everything().rows}
    rows_table([_contradiction(number, each, rows) for number, each in enumerate(found, 1)],
               {"id": say("number"), "what": say("of-what"), "said": say("what-is-printed"),
                "right": say("right-or-attainable"), "kind": common("kind")},
               say("contradictions"), chosen="kind")


def _contradiction(number: int, each: Contradiction, by_id: dict[str, Audited]) -> dict[str, Any]:
    rows = [by_id[claim] for claim in each.claims]
    said: list[tuple[Text, str | None]] = []
    for row, value in zip(rows, each.values, strict=True):
        address = f"{ADDRESS.format(row.case.listed.document)}#{row.id}"
        said += [("; " if said else "", None), (row.id, address), (f" {value}", None)]
    return {"id": each.id, "label": str(number), "what": (each.name["en"], each.name["zh"]),
            "said": Linked(tuple(said)), "kind": KINDS[each.kind],
            "right": _right(rows) if each.kind == VALUES else _righted(rows)}


def _righted(rows: list[Audited]) -> Pair:
    """Of numbers that a law excludes, the right one of each that does not hold.

    A number that is right of all cards and set against one has a right value of one card, which
    the law is not about.
    """
    parts = [(row.id, said) for row in rows
             if row.cause != OF_ALL_CARDS and (said := right(row))[0] != "–"]
    if not parts:
        return "–", "–"
    return join(("; ", "；"), ((f"{name} {en}", f"{name} {zh}") for name, (en, zh) in parts))


def _right(rows: list[Audited]) -> Pair:
    """The right value, as a percentage if a claim is one, else written like one that holds; each
    its own where they are held against several."""
    if len({row.case.truth.three.value for row in rows if row.case.truth}) > 1:
        return join(("; ", "；"), (
            (f"{row.id} {said}",) * 2 for row in rows if row.case.truth and row.case.printed
            for said in [interval_text(row.case.truth.three, row.case.printed)]))
    case = min(rows, key=lambda row: (row.case.printed is None or not
                                      row.case.printed.text.endswith(PERCENT),
                                      group(row) != HOLDS)).case
    if case.printed is None or case.truth is None:
        return "–", "–"
    value = interval_text(case.truth.three, case.printed)
    if case.fits is False and not case.truth.given:
        return say("were-it-to-load", value=value)
    return value, value
