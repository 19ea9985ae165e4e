"""The page of one document: what of it can be used, what is wrong and why, every claim."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence

import catalogue
from calc.auditing.audit import Audited, of_document
from calc.auditing.reasons import why as why_of
from catalogue.ledger.documents import Document
from catalogue.messages import Pair, join, messages
from catalogue.reading.amounts import plain, power_of_ten
from catalogue.reading.shared import causes
from notebooks.pages.audit import pictures
from notebooks.pages.audit.words import (
    GROUPS,
    HOLDS,
    OPEN,
    WRONG,
    addressed,
    called,
    decides,
    group,
    printed,
    right,
)
from notebooks.show import display
from notebooks.show.display import draw, show, table
from notebooks.show.long_table import Ordered, rows_table
from notebooks.show.numbers import fmt_int, fmt_percent, fmt_sig

common = messages("common")
say = messages("pages/audit/document")

MOST = 3  # causes that the first sentence names
NEAR, HUGE = 2.0, 1000.0  # times, up to which an error is told more, and less finely


class Page:
    """A document and its claims.

    Args:
        document: ``s0`` to ``s3``.
    """

    def __init__(self, document: str) -> None:
        self.document: Document = catalogue.load("documents", document)
        self.rows = of_document(document)
        self.counts = Counter(map(group, self.rows))


def answer(page: Page) -> None:
    """What of it can be used, what not, the errors that matter most."""
    count, total = page.counts, len(page.rows)
    subject = page.document.subject
    show(*say("of-its-claims", subject=(subject["en"], subject["zh"]), total=fmt_int(total),
              right=fmt_int(count[HOLDS]), wrong=fmt_int(count[WRONG]),
              undecided=fmt_int(count[OPEN])))
    named = causes()
    worst = [named[name] for name, _ in weights(page.rows)[:MOST]]
    if worst:
        show(*say("what-goes-wrong-most", worst=join((" ", ""), (
            (f"**{name['title']['en']}.** {name['what']['en']}",
             f"**{name['title']['zh']}**：{name['what']['zh']}") for name in worst))))
    draw(lambda lang: pictures.verdicts(page.rows, lang))


def usable(page: Page) -> None:
    """Of each section, how many of its claims hold."""
    sections: dict[str, list[Audited]] = defaultdict(list)
    for row in page.rows:
        sections[row.case.section].append(row)
    rows = []
    for section, within in sections.items():
        count = Counter(map(group, within))
        rows.append({"section": _section(section), "claims": len(within),
                     **{name: count[name] for name in GROUPS},
                     "share": fmt_percent(count[HOLDS] / len(within), 0)})
    table(rows, {"section": common("section"), "claims": common("claims"), **GROUPS,
                 "share": say("of-them-hold")}, sortable=True,
          folded=say("every-section-it-can-be"))


def why(page: Page) -> None:
    """The causes, by how many claims and how large an error they carry."""
    named = causes()
    rows = []
    for name, found in weights(page.rows):
        errors = sorted((abs(math.log(row.off)) for row in found if row.off and row.off > 0),
                        reverse=True)
        rows.append({
            "cause": (f"**{named[name]['title']['en']}**<br>{named[name]['what']['en']}",
                      f"**{named[name]['title']['zh']}**<br>{named[name]['what']['zh']}"),
            "claims": len(found), "error": _times(errors[0]) if errors else "–",
            "first": addressed(row.id for row in found[:MOST])})
    table(rows, {"cause": say("what-goes-wrong"), "claims": common("number-of-claims"),
                 "error": say("largest-error"), "first": say("such-as")}, wide=True)


def open_ones(page: Page) -> None:
    """What cannot be decided, by the source that is missing."""
    missing: dict[Pair, list[str]] = defaultdict(list)
    for row in page.rows:
        text = row.case.missing
        if group(row) == OPEN and text is not None:
            missing[text["en"], text["zh"]].append(row.id)
    rows = [{"missing": text, "claims": len(ids), "first": addressed(ids[:MOST])}
        for text, ids in sorted(missing.items(), key=lambda item: -len(item[1]))]
    if rows:
        table(rows, {"missing": say("what-is-missing"),
                     "claims": common("number-of-claims"), "first": say("such-as")},
              folded=say("by-what-is-missing"))


def claims_table(page: Page) -> None:
    """Every claim: sortable, filterable, each with an address of its own."""
    rows_table([_row(row) for row in page.rows], {
        "id": common("claim"), "what": say("what-and-why"),
        "printed": common("documented"), "right": common("right-value"),
        "off": say("off-by"), "verdict": common("verdict"), "section": common("section")},
        say("claims-of-document"), chosen="verdict")


def _row(row: Audited) -> dict[str, object]:
    case = row.case
    return {"id": row.id, "section": _section(case.section),
            "what": (case.what["en"], case.what["zh"]), "printed": printed(row),
            "off": _off(row), "verdict": called(row), "right": right(row), "more": _said(row),
            "link": decides(row), "group": group(row)}


def _said(row: Audited) -> Pair:
    """The sentence behind a verdict."""
    said = why_of(row.case, row.judgement)
    return said["en"], said["zh"]


def _off(row: Audited) -> Ordered | str:
    """By what factor a claim that does not hold is too high or too low."""
    if group(row) != WRONG or not row.off or row.off <= 0:
        return Ordered(0.0, "")
    factor = max(row.off, 1 / row.off)
    return Ordered(factor, f"{'×' if row.off > 1 else '÷'} {_factor(factor)}")


def _section(name: str) -> Pair:
    return display.SECTIONS.get(name, (name, name))


def weights(rows: Sequence[Audited]) -> list[tuple[str, list[Audited]]]:
    """Causes with their claims, by the sum of their errors in logarithms."""
    found: dict[str, list[Audited]] = defaultdict(list)
    for row in rows:
        if row.cause is not None:
            found[row.cause].append(row)

    def weight(item: tuple[str, list[Audited]]) -> float:
        return -sum(max(1.0, abs(math.log(row.off)) if row.off and row.off > 0 else 1.0)
                    for row in item[1])

    return sorted(found.items(), key=weight)


def _times(log: float) -> str:
    factor = math.exp(log)
    return f"× {_factor(factor)}"


def _factor(factor: float) -> str:
    """``1.08``, ``27``, ``8.19×10³``."""
    if factor < NEAR:
        return plain(factor)
    return fmt_sig(factor, 2) if factor < HUGE else power_of_ten(factor)
