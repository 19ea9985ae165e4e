"""The page on all documents: counts, causes, contradictions side by side."""

from __future__ import annotations

from collections import Counter, defaultdict

import catalogue
from calc.auditing.audit import Audited
from calc.auditing.judging import CONTRADICTS
from catalogue.messages import Pair, messages
from catalogue.reading.printed import PERCENT
from catalogue.reading.shared import causes
from notebooks.pages.audit import pictures
from notebooks.pages.audit.document import weights
from notebooks.pages.audit.words import GROUPS, HOLDS, OPEN, WRONG, everything, group, interval_text
from notebooks.show.display import draw, number, show, table
from notebooks.show.numbers import fmt_int, fmt_percent

common = messages("common")
say = messages("pages/audit/overview")

NAMED = 2  # claims that print a value, of all that do
SHOWN = 8  # rows of a long table that are not folded


def answer() -> None:
    """How many claims hold, by document, and the picture of verdicts."""
    rows = everything().rows
    count = Counter(map(group, rows))
    total = len(rows)
    number("a-claims", total)
    for key, kind in (("a-holds", HOLDS), ("a-wrong", WRONG), ("a-open", OPEN)):
        number(key, count[kind] / total, fmt_percent, digits=0)
    show(*say("all-documents", total=fmt_int(total), right=fmt_percent(count[HOLDS] / total, 0),
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
    """What is said of one thing, side by side."""
    topics: dict[str, list[Audited]] = defaultdict(list)
    for row in everything().rows:
        if CONTRADICTS in row.judgement.also and row.case.topic is not None:
            topics[row.case.topic].append(row)
    rows = []
    for together in sorted(topics.values(), key=len, reverse=True):
        first = together[0].case
        rows.append({"what": (first.what["en"], first.what["zh"]), "said": _printed(together),
                     "right": _right(together)})
    if rows:
        table(rows, {"what": say("of-what"), "said": say("what-is-printed-bold-holds"),
                     "right": common("right-value")}, sortable=True, wide=True,
              folded=say("every-other-contradiction"), first=SHOWN)


def _printed(together: list[Audited]) -> str:
    """What each of them prints, with where; bold what holds."""
    said: dict[str, list[Audited]] = defaultdict(list)
    for row in together:
        if row.case.printed is not None:
            said[row.case.printed.text].append(row)
    parts = []
    for text, rows in said.items():
        sign = "**" if any(group(row) == HOLDS for row in rows) else ""
        ids = ", ".join(row.id for row in rows[:NAMED]) + " …" * (len(rows) > NAMED)
        parts.append(f"{sign}{text}{sign} ({ids})")
    return "; ".join(parts)


def _right(together: list[Audited]) -> Pair:
    """The right value, as a percentage if a claim is one, else written like one that holds."""
    case = min(together, key=lambda row: (row.case.printed is None or not
                                          row.case.printed.text.endswith(PERCENT),
                                          group(row) != HOLDS)).case
    if case.printed is None or case.truth is None:
        return "–", "–"
    value = interval_text(case.truth.three, case.printed)
    if case.fits is False and not case.truth.given:
        return say("were-it-to-load", value=value)
    return value, value
