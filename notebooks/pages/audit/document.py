"""The page of one document: what of it can be used, what is wrong and why, every claim."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping

import catalogue
from calc.auditing.judging import Audited
from catalogue.ledger import Document
from catalogue.messages import Pair, messages
from catalogue.reading.units import plain, power_of_ten
from catalogue.reading.values import causes
from notebooks.pages.audit import pictures
from notebooks.pages.audit.consequences import WORDS, off_by, weights
from notebooks.pages.audit.words import (
    OPEN,
    WRONG,
    addressed,
    called,
    decides,
    everything,
    group,
    printed,
    right,
)
from notebooks.show import display
from notebooks.show.display import draw, table
from notebooks.show.long_table import Linked, Ordered, rows_table
from notebooks.show.numbers import fmt_sig

common = messages("common")
say = messages("pages/audit/document")

CONTRADICTED = "../audit.html"  # the page that has every contradiction, from a document's
MOST = 3  # claims that are named of many
NUMBERED = re.compile(r"[A-Z\d][.\d]*")  # a section that a document numbers
NEAR, HUGE = 2.0, 1000.0  # times, up to which an error is told more, and less finely


class Page:
    """A document and its claims.

    Args:
        document: ``s0`` to ``s3``.
    """

    def __init__(self, document: str) -> None:
        self.document: Document = catalogue.load("documents", document)
        audited = everything()
        self.rows = tuple(row for row in audited.rows if row.case.listed.document == document)
        self.excluded = {claim: each.id for each in audited.contradictions[::-1]
                         for claim in each.claims}
        self.counts = Counter(map(group, self.rows))

    def sections(self) -> dict[str, list[Audited]]:
        """The claims of each section that has any, in the document's order; one that stands in
        two sections counts in the first."""
        found: dict[str, list[Audited]] = {name: [] for name in self.document.contents}
        for row in self.rows:
            found.setdefault(row.case.section.partition(", ")[0], []).append(row)
        return {name: rows for name, rows in found.items() if rows}

    def titled(self, section: str) -> Pair:
        """A section as a reader finds it: number, if it has one, and what is in it."""
        title = self.document.contents.get(section)
        if title is None:
            return display.section(section)
        number = f"{section} " if NUMBERED.fullmatch(section) else ""
        return f"{number}{title['en']}", f"{number}{title['zh']}"


def why(page: Page) -> None:
    """The causes, the gravest consequence first."""
    named = causes()
    rows = []
    for name, found in weights(page.rows):
        errors = [error for row in found if (error := off_by(row))]
        rows.append({
            "cause": (f"**{named[name]['title']['en']}**<br>{named[name]['what']['en']}",
                      f"**{named[name]['title']['zh']}**<br>{named[name]['what']['zh']}"),
            "consequence": WORDS[named[name]["consequence"]], "claims": len(found),
            "error": _times(max(errors)) if errors else "–",
            "first": addressed(row.id for row in found[:MOST])})
    table(rows, {"cause": say("what-goes-wrong"), "consequence": say("consequence"),
                 "claims": common("number-of-claims"), "error": say("largest-error"),
                 "first": say("such-as")}, wide=True)


def open_ones(page: Page) -> None:
    """What cannot be decided, by the source that is missing."""
    missing: dict[Pair, list[str]] = defaultdict(list)
    for row in page.rows:
        text = row.case.claim.missing
        if group(row) == OPEN and text is not None:
            missing[text["en"], text["zh"]].append(row.id)
    rows = [{"missing": text, "claims": len(ids), "first": addressed(ids[:MOST])}
        for text, ids in sorted(missing.items(), key=lambda item: -len(item[1]))]
    if rows:
        table(rows, {"missing": say("what-is-missing"),
                     "claims": common("number-of-claims"), "first": say("such-as")},
              folded=say("by-what-is-missing"))


def verdicts(page: Page) -> None:
    """The picture of all claims by verdict."""
    draw(lambda lang: pictures.verdicts(page.rows, lang))


def claims_table(page: Page) -> None:
    """Every claim: sortable, filterable, each with an address of its own."""
    rows_table([_row(row, page.excluded) for row in page.rows], {
        "id": common("claim"), "what": say("what-and-why"),
        "printed": common("documented"), "right": common("right-value"),
        "off": say("off-by"), "verdict": common("verdict"), "section": common("section")},
        say("claims-of-document"), chosen="verdict")


def _row(row: Audited, excluded: Mapping[str, str]) -> dict[str, object]:
    """A claim; the verdict of one that is contradicted leads to the first of what does."""
    case, verdict = row.case, called(row)
    return {"id": row.id, "section": display.section(case.section),
            "what": (case.what["en"], case.what["zh"]), "printed": printed(row),
            "off": _off(row), "verdict": Linked(((verdict, f"{CONTRADICTED}#{excluded[row.id]}"),))
            if row.judgement.clashes else verdict, "right": right(row), "more": _said(row),
            "link": decides(row), "group": group(row)}


def _said(row: Audited) -> Pair:
    """The sentence behind a verdict."""
    said = row.why
    return said["en"], said["zh"]


def _off(row: Audited) -> Ordered | str:
    """By what factor a claim that does not hold is too high or too low."""
    if group(row) != WRONG or not row.off or row.off <= 0 or row.case.claim.comparison:
        return Ordered(0.0, "")
    factor = off_by(row) or 1.0
    return Ordered(factor, f"{'×' if row.off > 1 else '÷'} {_factor(factor)}")


def _times(factor: float) -> str:
    return f"× {_factor(factor)}"


def _factor(factor: float) -> str:
    """``1.08``, ``27``, ``8.19×10³``."""
    if factor < NEAR:
        return plain(factor)
    return fmt_sig(factor, 2) if factor < HUGE else power_of_ten(factor)
