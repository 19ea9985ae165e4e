"""The verdict on a claim, from what is printed, what its own formula gives, and what ours does.

The order is that in which a reader would check: does the arithmetic hold, is there anything to
hold it against, does it agree, and if it does not, is it the inputs or the formula. Nothing is
typed: all follows from numbers that are computed anew each time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from calc.auditing.alarms import STATES, alarm
from calc.auditing.cases import Case
from calc.auditing.settings import DEPENDS, ELSEWHERE
from calc.auditing.truths import Truth
from calc.uncertainty import Amount
from catalogue.engine import STOPS
from catalogue.reading.values import Printed

REPRODUCED, MET, COMPATIBLE, SPECIFICATION = "reproduced", "met", "compatible", "specification"
ARITHMETIC, INPUT, FORMULA, BOTH, NUMBER = ("arithmetic-error", "wrong-input", "wrong-formula",
                                            "wrong-input-and-formula", "wrong-number")
CONTRADICTS, INFEASIBLE, SETTING, THRESHOLD = ("contradicts", "infeasible", "setting",
                                               "threshold")
ASSUMPTION, UNVERIFIABLE = "assumption", "unverifiable"
VERDICTS = (REPRODUCED, MET, COMPATIBLE, SPECIFICATION, ARITHMETIC, INPUT, FORMULA, BOTH, NUMBER,
            CONTRADICTS, INFEASIBLE, SETTING, THRESHOLD, ASSUMPTION, UNVERIFIABLE)
RIGHT, WRONG, BINARY = "right", "wrong", "binary-unit"
ALWAYS, PERHAPS, SOUND, LATE, NEVER = STATES
HOLDS, FAILS, OPEN = "holds", "wrong", "open"
FAULTY = (*STOPS, "unread", "stops", "worse", "misses", ALWAYS, PERHAPS, LATE, NEVER,
          INFEASIBLE)  # of settings and alerts, and of any claim
CLOSE = 0.02  # relative difference below which two computed numbers are called the same
ABOUT = 0.05  # relative: what "about" is read as, a rounding to a twentieth
WRONGS = (ARITHMETIC, INPUT, FORMULA, BOTH, NUMBER, INFEASIBLE)
IN_BINARY = {"kB": 1024 / 1e3, "MB": 1024**2 / 1e6, "GB": 1024**3 / 1e9, "TB": 1024**4 / 1e12}


@dataclass(frozen=True)
class Judgement:
    """A verdict.

    Attributes:
        verdict: one of ``VERDICTS``.
        also: what else holds: how a specification, a setting or an alert came out, that the
            deployment cannot exist, that another claim contradicts it.
        clashes: ids of claims of the same thing that say otherwise.
    """

    verdict: str
    also: tuple[str, ...] = ()
    clashes: tuple[str, ...] = field(default=())

    @property
    def standing(self) -> str:
        """Whether the claim holds, does not, or cannot be decided."""
        if self.verdict in (ASSUMPTION, UNVERIFIABLE):
            return OPEN
        if {ELSEWHERE, DEPENDS} & set(self.also) and INFEASIBLE not in self.also:
            return OPEN
        faulty = self.verdict in WRONGS or {WRONG, *FAULTY} & set(self.also)
        return FAILS if faulty else HOLDS


@dataclass(frozen=True)
class Audited:
    """A claim and its verdict.

    Attributes:
        id: the claim's identifier.
        case: the claim and everything that its verdict follows from.
        judgement: the verdict.
        cause: what explains the claim, where it does not hold.
        off: printed over right value [1]; None where there is not both.
        why: what the verdict follows from, in both languages.
    """

    id: str
    case: Case
    judgement: Judgement
    cause: str | None = None
    off: float | None = None
    why: Mapping[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Plain data, SI units."""
        case, truth, printed, words = (self.case, self.case.truth, self.case.printed,
                                       self.case.claim.words)
        return {
            "id": self.id, "document": case.listed.document, "section": case.section,
            "line": case.listed.claim.line, "what": dict(case.what),
            "verdict": self.judgement.verdict, "also": list(self.judgement.also),
            "contradicted_by": list(self.judgement.clashes), "cause": self.cause,
            "documented": {"value": words, "unit": None} if words or not printed else
            {"value": printed.value, "low": printed.low, "high": printed.high,
             "unit": printed.unit, "written": printed.text},
            "recomputed": case.own,
            "corrected": None if truth is None else
            {"value": truth.three.value, "unit": truth.unit, "low": truth.three.low,
             "high": truth.three.high, "by": truth.where},
            "why": {"en": self.why.get("en", "")}}


def judge(case: Case) -> Judgement:
    """The verdict on a case, but for contradictions, which take all of them."""
    if case.ruling is not None:
        refused = case.ruling.state in STOPS
        stopped = case.fits is False or (case.ruling.beside and not refused)
        return Judgement(SETTING, (case.ruling.state, *([INFEASIBLE] if stopped else [])))
    if case.claim.alert is not None and case.printed is not None and case.truth is not None:
        return Judgement(THRESHOLD, (alarm(case).state,))
    verdict, *also = verdict_on_number(case)
    if case.fits is False and verdict not in (INFEASIBLE, ASSUMPTION):
        also.append(INFEASIBLE)
    return Judgement(verdict, tuple(also))


def verdict_on_number(case: Case) -> tuple[str, ...]:
    """The first of the verdicts that holds, in the order of the module's sentence, and how a
    specification came out."""
    printed, truth = case.printed, case.truth
    about = case.claim.approximate
    if printed is not None and case.own is not None and not says(printed, case.own, about):
        return (ARITHMETIC,)
    if truth is None or printed is None or case.circular:
        if case.claim.missing is None and case.own is not None:
            return (REPRODUCED,)
        return (ASSUMPTION if case.claim.assumed else UNVERIFIABLE,)
    restated = truth.listed and case.own is None and case.formula is None
    ours, cannot = truth.three, case.fits is False and not restated
    if meets(printed, ours, case.bound, about):
        if restated and not case.bound:
            return SPECIFICATION, RIGHT
        if cannot:
            return (INFEASIBLE,)
        as_narrow = printed.low == printed.high or (
            abs(ours.low - printed.low) <= max(printed.last[0] / 2, CLOSE * abs(ours.low))
            and abs(ours.high - printed.high) <= max(printed.last[-1] / 2, CLOSE * abs(ours.high)))
        return (MET if case.bound else REPRODUCED if as_narrow else COMPATIBLE,)
    binary = next((factor for unit, factor in IN_BINARY.items()
                   if printed.unit == "B" and printed.written[-1].endswith(unit)), None)
    if restated and binary is not None and (
            printed.low - printed.last[0] / 2 <= ours.value / binary
            <= printed.high + printed.last[-1] / 2):
        return SPECIFICATION, RIGHT, BINARY
    if reaches(printed, ours, case.bound, about):
        return (INFEASIBLE if cannot else COMPATIBLE,)
    return (SPECIFICATION, WRONG) if restated else (fault(case, printed, truth),)


def fault(case: Case, printed: Printed, truth: Truth) -> str:
    """What is wrong with a number that is: its inputs, its formula, both; or that it has none."""
    if case.own is None:
        return INFEASIBLE if case.fits is False else NUMBER
    idle = case.resourced is not None and abs(case.resourced - case.own) <= min(
        CLOSE * abs(case.own), abs(truth.three.value - case.own) / 2)
    if not idle and _same(case.resourced, truth.three, printed):
        return INPUT
    reconstructed = case.formula.reconstructed if case.formula else case.claim.reconstructed
    if reconstructed and not case.moved:
        return NUMBER  # the document prints no formula that could be wrong
    if _same(case.righted, truth.three, printed) or (idle and case.righted is None):
        return FORMULA  # idle: no source changes what goes in by as much as matters
    return BOTH


def says(printed: Printed, number: float, about: bool = False) -> bool:
    """Whether what is printed is a number, within its digits, or about it where it says so."""
    return printed.holds(number) or (
        about and abs(number - printed.value) <= ABOUT * abs(printed.value))


def meets(printed: Printed, ours: Amount, bound: str | None, about: bool = False) -> bool:
    """Whether our number is what is printed, within its digits, or on the right side of it."""
    if bound == "at_most":
        return bool(ours.value <= printed.high + printed.last[-1] / 2)
    if bound == "at_least":
        return bool(ours.value >= printed.low - printed.last[0] / 2)
    return says(printed, ours.value, about)


def reaches(printed: Printed, ours: Amount, bound: str | None, about: bool = False) -> bool:
    """Whether what is printed lies inside of our interval, or a limit can be kept within it; half
    of a last digit belongs to what is printed, not to our interval."""
    if meets(printed, ours, bound, about):
        return True
    if bound == "at_most":
        return bool(ours.low <= printed.high)
    if bound == "at_least":
        return bool(ours.high >= printed.low)
    return bool(ours.low <= printed.value <= ours.high)


def _same(computed: float | None, ours: Amount, printed: Printed) -> bool:
    """Whether a computed number is ours: within two percent, the interval of what we know, or the
    digits that are printed; of a number far larger than ours, as many digits of ours."""
    if computed is None:
        return False
    size = max(abs(printed.low), abs(printed.high))
    digits = max(printed.last) / 2 * (min(1.0, abs(ours.value) / size) if size else 1.0)
    return (abs(computed - ours.value) <= max(CLOSE * abs(ours.value), digits)
            or ours.low <= computed <= ours.high)
