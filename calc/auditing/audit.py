"""Every claim with its verdict, what is right instead, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from calc.auditing.cases import Case, Cases
from calc.auditing.claims import Listed, beside, entries, listed
from calc.auditing.contradictions import Contradiction, against, contradictions
from calc.auditing.judging import CONTRADICTS, FAILS, VERDICTS, Judgement, judge
from calc.auditing.reasons import why
from catalogue import ParamsError
from catalogue.ledger import Quantities


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
        case, truth, printed = self.case, self.case.truth, self.case.printed
        return {
            "id": self.id, "document": case.listed.document, "section": case.section,
            "line": case.listed.claim.line, "what": dict(case.what),
            "verdict": self.judgement.verdict, "also": list(self.judgement.also),
            "contradicted_by": list(self.judgement.clashes), "cause": self.cause,
            "documented": {"value": case.words, "unit": None} if case.words or not printed else
            {"value": printed.value, "low": printed.low, "high": printed.high,
             "unit": printed.unit, "written": printed.text},
            "recomputed": case.own,
            "corrected": None if truth is None else
            {"value": truth.three.value, "unit": truth.unit, "low": truth.three.low,
             "high": truth.three.high, "by": truth.where},
            "why": dict(self.why)}


@dataclass(frozen=True)
class Audit:
    """Judged claims, by document and number.

    Attributes:
        rows: the claims.
        problems: a sentence for each claim that could not be judged.
        contradictions: claims that exclude each other.
        counts: verdicts by document.
        causes: number of claims that each cause explains.
    """

    rows: tuple[Audited, ...]
    problems: tuple[str, ...]
    contradictions: tuple[Contradiction, ...]
    counts: Mapping[str, Counter[str]]
    causes: Counter[str]


def audit(claims: tuple[list[Listed], list[str]] | None = None,
          only: Collection[str] | None = None,
          files: Collection[Quantities] | None = None, document: str | None = None) -> Audit:
    """Judge every claim; one that cannot be judged is a sentence among the problems.

    Args:
        claims: as ``calc.auditing.claims.listed`` has them, those of ``params/claims/`` if
            left out.
        only: claims that are judged, by their numbers; what contradicts one is then looked for
            among these alone.
        files: what claims are held together for contradictions; left out, those of
            ``params/quantities/``, and none beside claims that are given.
        document: return the claims of one document only, and what contradicts them.
    """
    every, problems = claims or listed()
    cases = Cases(every)
    judged, unjudged = {}, list(problems)
    for claim in every:
        if only is not None and claim.claim.id not in only:
            continue
        try:
            case = cases.of(claim)
            judged[claim.claim.id] = Audited(claim.claim.id, case, judge(case))
        except (ParamsError, ValueError, OverflowError) as error:
            unjudged.append(f"{claim.where}: {claim.claim.id}: {str(error).rstrip('.')}.")
    stated = files if files is not None else entries(unjudged) if claims is None else []
    pairs = contradictions(judged.values(), stated)
    clashes = against(pairs)
    rows = tuple(_finished(row, clashes.get(name, ())) for name, row in judged.items()
                 if document in (None, row.case.listed.document))
    names = {row.id for row in rows}
    counts: dict[str, Counter[str]] = {}
    for verdict in VERDICTS:  # in their order
        for row in rows:
            if row.judgement.verdict == verdict:
                counts.setdefault(row.case.listed.document, Counter())[verdict] += 1
    return Audit(rows, tuple(unjudged),
                 tuple(pair for pair in pairs if names.intersection(pair.claims)),
                 dict(sorted(counts.items())), Counter(row.cause for row in rows if row.cause))


def of_document(document: str) -> Audit:
    """The claims of a document as :func:`audit` judges them, and what contradicts them; of the
    claims of others only what may do so is looked at."""
    claims, files = listed(), entries([])
    own = {row.claim.id for row in claims[0] if row.document == document}
    return audit(claims, beside(own, files), files, document)


def _finished(row: Audited, clashes: tuple[str, ...]) -> Audited:
    """A claim with what it cannot stand beside, its cause and the reasons of its verdict."""
    case, judgement = row.case, row.judgement
    if clashes:
        judgement = replace(judgement, also=(*judgement.also, CONTRADICTS), clashes=clashes)
    printed, truth = case.printed, case.truth
    return replace(
        row, judgement=judgement, why=why(case, judgement),
        cause=case.cause if judgement.standing == FAILS else None,
        off=(float(printed.value / truth.three.value)
             if printed is not None and truth is not None and truth.three.value else None))
