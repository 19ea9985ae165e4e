"""What verdicts are called, and where what decides a claim stands in the book."""

from __future__ import annotations

import functools
from collections.abc import Iterable

from calc.auditing import judging
from calc.auditing.audit import Audit, audit
from calc.auditing.cases import Case
from calc.auditing.judging import FAILS as WRONG
from calc.auditing.judging import HOLDS, OPEN, Audited
from calc.auditing.settings import ELSEWHERE, RAN
from calc.uncertainty import Amount
from catalogue.messages import Pair, join, messages
from catalogue.reading.values import Printed
from notebooks.pages.catalogue.tables.deployments import page_of

common = messages("common")
say = messages("pages/audit/words")

VERDICTS: dict[str, Pair] = {
    judging.REPRODUCED: say("reproduced"), judging.MET: say("met"),
    judging.COMPATIBLE: say("within-our-interval"), judging.NUMBER: say("wrong-number"),
    judging.SPECIFICATION: say("specification"), judging.ARITHMETIC: say("arithmetic-error"),
    judging.INPUT: say("wrong-input"), judging.FORMULA: say("wrong-formula"),
    judging.BOTH: say("wrong-input-and-formula"), judging.INFEASIBLE: say("infeasible"),
    judging.SETTING: common("setting"), judging.THRESHOLD: say("threshold"),
    judging.ASSUMPTION: say("assumption"), judging.UNVERIFIABLE: say("unverifiable")}
ALSO: dict[str, Pair] = {
    judging.RIGHT: common("right"), judging.WRONG: common("wrong"),
    judging.BINARY: say("gb-for-gib"), judging.CONTRADICTS: say("contradicted"),
    judging.INFEASIBLE: say("infeasible"),
    judging.ALWAYS: say("always-fires"), judging.PERHAPS: say("may-fire"),
    judging.SOUND: say("sound"), judging.NEVER: say("never-fires"), judging.LATE: say("too-late"),
    "accepted": say("accepted"), "deprecated": say("deprecated"),
    "unlisted": say("unlisted-value"), "choice": say("no-such-choice"),
    "type": say("wrong-type"), "unknown": say("no-such-setting"), ELSEWHERE: say("no-catalogue"),
    "works": say("works"), "usual": say("as-by-default"), "unread": say("read-by-nothing"),
    "stops": say("stops-the-program"), "worse": say("worse-than-without"),
    "misses": say("misses-its-aim"), "open": say("depends"), RAN: say("measured-with-it")}
GROUPS: dict[str, Pair] = {HOLDS: say("holds"), WRONG: say("does-not-hold"),
                           OPEN: say("cannot-be-decided")}
PAGES = {"devices": "../devices/{}.html", "models": "../models/{}.html", "links": "../nodes.html",
         "nodes": "../nodes.html", "prices": "../cost.html", "costs": "../cost.html",
         "goals": "../search.html", "mechanisms": "../reference.html",
         "formats": "../reference.html", "precisions": "../reference.html",
         "measurements": "../validation.html", "accuracies": "../validation.html"}


@functools.cache
def everything() -> Audit:
    """The audit, once for a page."""
    return audit()


def group(row: Audited) -> str:
    """Whether a claim holds, does not, or cannot be decided."""
    return row.judgement.standing


def printed(row: Audited) -> Pair:
    """What the document has, in its unit or its words; Chinese ones are quoted, and translated."""
    said, english = row.case.printed_text or "–", row.case.claim.english
    return (f"“{english}”", f"“{said}”") if english else (said, said)


def right(row: Audited) -> Pair:
    """The right value of what does not hold, with its interval, in the document's unit.

    Of a statement in words the number that it is judged by, with what it claims of that. None where
    the number itself is right, and what stands on it fails.
    """
    case, truth = row.case, row.case.truth
    if truth is None or group(row) != WRONG or case.printed is None:
        return "–", "–"
    text = interval_text(truth.three, case.printed)
    if case.claim.comparison is not None:
        holds = judging.meets(case.printed, truth.three, case.bound, case.claim.approximate)
        return ("–", "–") if holds else say("of-statement", ours=text, limit=limit_of(case))
    return ("–" if text == case.printed.text else text,) * 2


def limit_of(case: Case) -> str:
    """What a statement in words claims of the number that it is judged by: ``> 1``."""
    assert case.printed is not None
    return f"{'>' if case.bound == 'at_least' else '<'} {case.printed.text}"


def interval_text(three: Amount, printed: Printed) -> str:
    """A value with its interval, in the unit of a printed one."""
    like = printed.like
    ends = "" if three.low == three.high else f" ({like(three.low)} – {like(three.high)})"
    return like(three.value) + ends


def called(row: Audited) -> Pair:
    """The verdict in words, with what else holds."""
    name, also = VERDICTS[row.judgement.verdict], row.judgement.also
    return say("with-what-else", name=name, also=join(
        (", ", "、"), (ALSO[each] for each in also))) if also else name


def decides(row: Audited) -> str | None:
    """Address of the page with what decides a claim, from a page of a document."""
    case = row.case
    if case.claim.setting is not None:
        return "../engines.html"
    if case.formula is not None:
        return f"../{case.formula.chapter}.html"
    if case.truth is None:
        return None
    where = case.truth.where
    if ":" in where:
        return f"../scenarios/{page_of(where.partition(':')[0].partition('@')[0])}.html"
    kind, _, rest = where.partition("/")
    if kind == "claims":
        return f"#{rest}"
    found = PAGES.get(kind)
    return found.format(rest.partition("/")[0]) if found else None


def addressed(ids: Iterable[str]) -> str:
    """Links to claims on their document's page; their addresses are no labels of the book."""
    return ", ".join(f'<a href="#{name}">{name}</a>' for name in ids)
