"""Every claim with its verdict, what is right instead, and why."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from calc.auditing.cases import Case, Cases
from calc.auditing.claim_files import Listed, listed
from calc.auditing.judging import CONTRADICTS, FAILS, VERDICTS, Judgement, judge
from calc.auditing.reasons import why
from catalogue import ParamsError
from catalogue.ledger.rows import Claim


@dataclass(frozen=True)
class Audited:
    """A claim and its verdict."""

    case: Case
    judgement: Judgement

    @property
    def id(self) -> str:
        """The claim's identifier."""
        return self.case.listed.claim.id

    @property
    def cause(self) -> str | None:
        """What explains it, where it does not hold."""
        return self.case.cause if self.judgement.standing == FAILS else None

    @property
    def off(self) -> float | None:
        """Printed over ours [1]; None where there is not both."""
        printed, truth = self.case.printed, self.case.truth
        if printed is None or truth is None or not truth.three.value:
            return None
        return float(printed.value / truth.three.value)

    def as_json(self) -> dict[str, Any]:
        """Plain data, SI units."""
        case, truth, printed = self.case, self.case.truth, self.case.printed
        claim = case.listed.claim
        return {
            "id": claim.id, "document": case.listed.document, "section": case.section,
            "line": claim.line, "what": dict(case.what), "verdict": self.judgement.verdict,
            "also": list(self.judgement.also), "contradicted_by": list(self.judgement.clashes),
            "cause": self.cause,
            "documented": {"value": case.words, "unit": None} if case.words or not printed else
            {"value": printed.value, "low": printed.low, "high": printed.high,
             "unit": printed.unit, "written": printed.text},
            "recomputed": case.own,
            "corrected": None if truth is None else
            {"value": truth.three.value, "unit": truth.unit, "low": truth.three.low,
             "high": truth.three.high, "by": truth.where},
            "why": why(case, self.judgement)}


@dataclass(frozen=True)
class Audit:
    """All claims, by document and number, and what could not be judged."""

    rows: tuple[Audited, ...]
    problems: tuple[str, ...]

    def counts(self) -> dict[str, Counter[str]]:
        """Verdicts by document."""
        found: dict[str, Counter[str]] = defaultdict(Counter)
        for row in self.rows:
            found[row.case.listed.document][row.judgement.verdict] += 1
        return {document: Counter({verdict: count[verdict] for verdict in VERDICTS
                                   if count[verdict]}) for document, count in found.items()}

    def causes(self) -> Counter[str]:
        """How many claims each cause explains."""
        return Counter(row.cause for row in self.rows if row.cause is not None)


def audit(claims: tuple[list[Listed], list[str]] | None = None,
          only: Collection[str] | None = None) -> Audit:
    """Judge every claim; one that cannot be judged is a sentence among the problems.

    Args:
        claims: as ``calc.auditing.claim_files.listed`` has them, those of ``params/claims/`` if
            left out.
        only: claims that are judged, by their numbers; what contradicts one is then looked for
            among these alone.
    """
    every, problems = claims or listed()
    cases = Cases(every)
    found, unjudged = [], list(problems)
    for each in every:
        if only is not None and each.claim.id not in only:
            continue
        try:
            case = cases.of(each)
            found.append(Audited(case, judge(case)))
        except (ParamsError, ValueError, OverflowError) as error:
            unjudged.append(f"{each.place}: {each.claim.id}: {str(error).rstrip('.')}.")
    return Audit(tuple(_contradicted(found)), tuple(unjudged))


def of_document(document: str) -> list[Audited]:
    """The claims of a document as :func:`audit` judges them; of those of others only what may
    contradict one is looked at."""
    claims = listed()
    by_id = {each.claim.id: each.claim for each in claims[0]}
    about = {name: _about(claim, by_id) for name, claim in by_id.items()}
    own = {each.claim.id for each in claims[0] if each.document == document}
    subjects = {about[name] for name in own} - {None}
    judged = own | {name for name, subject in about.items() if subject in subjects}
    return [row for row in audit(claims, judged).rows if row.id in own]


def _about(claim: Claim, by_id: Mapping[str, Claim]) -> str | None:
    """What a claim is about, without any of it being computed: the same for all that have one
    topic, and for others that are of one deployment."""
    like = by_id.get(claim.like or "")
    if claim.topic is None and like is not None and like.id < claim.id:
        return _about(like, by_id)
    where = claim.truth or claim.claim or ""
    return claim.topic or where.partition(":")[0] or None


def _contradicted(rows: Iterable[Audited]) -> list[Audited]:
    """With the claims of the same thing that say otherwise."""
    rows = list(rows)
    topics: dict[str, list[Audited]] = defaultdict(list)
    for row in rows:
        if row.case.topic is not None and row.case.printed is not None and not row.case.bound:
            topics[row.case.topic].append(row)
    clashes: dict[str, tuple[str, ...]] = {}
    for together in topics.values():
        for row in together:
            others = tuple(other.id for other in together
                           if not _agree(row.case, other.case))
            if others:
                clashes[row.id] = others
    return [row if row.id not in clashes else replace(row, judgement=replace(
        row.judgement, also=(*row.judgement.also, CONTRADICTS), clashes=clashes[row.id]))
        for row in rows]


def _agree(one: Case, other: Case) -> bool:
    if one.printed is None or other.printed is None or one.printed.unit != other.printed.unit:
        return True
    return one.printed.same(other.printed)
