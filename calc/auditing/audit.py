"""Every claim with its verdict, what is right instead, and why."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any

from calc.auditing.cases import Case, Cases
from calc.auditing.claims import Listed, beside, entries, listed
from calc.auditing.contradictions import Contradiction, against, contradictions
from calc.auditing.judging import CONTRADICTS, FAILS, VERDICTS, Judgement, judge
from calc.auditing.reasons import why
from catalogue import ParamsError
from catalogue.ledger.claims import Quantities


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
    """All claims, by document and number, what could not be judged, and which claims exclude each
    other."""

    rows: tuple[Audited, ...]
    problems: tuple[str, ...]
    contradictions: tuple[Contradiction, ...] = ()

    def counts(self) -> dict[str, Counter[str]]:
        """Verdicts by document."""
        counters: dict[str, Counter[str]] = defaultdict(Counter)
        for row in self.rows:
            counters[row.case.listed.document][row.judgement.verdict] += 1
        return {document: Counter({verdict: count[verdict] for verdict in VERDICTS
                                   if count[verdict]}) for document, count in counters.items()}

    def causes(self) -> Counter[str]:
        """How many claims each cause explains."""
        return Counter(row.cause for row in self.rows if row.cause is not None)


def audit(claims: tuple[list[Listed], list[str]] | None = None,
          only: Collection[str] | None = None,
          files: Collection[Quantities] | None = None) -> Audit:
    """Judge every claim; one that cannot be judged is a sentence among the problems.

    Args:
        claims: as ``calc.auditing.claims.listed`` has them, those of ``params/claims/`` if
            left out.
        only: claims that are judged, by their numbers; what contradicts one is then looked for
            among these alone.
        files: what claims are held together for contradictions; left out, those of
            ``params/quantities/``, and none beside claims that are given.
    """
    every, problems = claims or listed()
    cases = Cases(every)
    rows, unjudged = [], list(problems)
    for claim in every:
        if only is not None and claim.claim.id not in only:
            continue
        try:
            case = cases.of(claim)
            rows.append(Audited(case, judge(case)))
        except (ParamsError, ValueError, OverflowError) as error:
            unjudged.append(f"{claim.place}: {claim.claim.id}: {str(error).rstrip('.')}.")
    stated = files if files is not None else entries(unjudged) if claims is None else []
    pairs = contradictions(rows, stated)
    return Audit(tuple(_with_clashes(rows, pairs)), tuple(unjudged), tuple(pairs))


def of_document(document: str) -> Audit:
    """The claims of a document as :func:`audit` judges them, and what contradicts them; of the
    claims of others only what may do so is looked at."""
    claims, files = listed(), entries([])
    own = {item.claim.id for item in claims[0] if item.document == document}
    judged = audit(claims, beside(own, files), files)
    return replace(judged, rows=tuple(row for row in judged.rows if row.id in own),
                   contradictions=tuple(item for item in judged.contradictions
                                        if own.intersection(item.claims)))


def _with_clashes(rows: Iterable[Audited], excluded: Iterable[Contradiction]) -> list[Audited]:
    """With the claims that each cannot stand beside."""
    clashes = against(excluded)
    return [row if row.id not in clashes else replace(row, judgement=replace(
        row.judgement, also=(*row.judgement.also, CONTRADICTS), clashes=clashes[row.id]))
        for row in rows]
