"""Every claim with its verdict, what is right instead, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from calc.auditing.cases import Cases
from calc.auditing.claims import Listed, entries, listed
from calc.auditing.contradictions import Contradiction, against, contradictions
from calc.auditing.judging import CONTRADICTS, FAILS, VERDICTS, Audited, judge
from calc.auditing.reasons import why
from catalogue import ParamsError
from catalogue.ledger import Quantities


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
    judged, unjudged = {}, list(problems)
    for claim in every:
        if only is not None and claim.claim.id not in only:
            continue
        try:
            case = cases.of(claim)
            judged[claim.claim.id] = Audited(claim.claim.id, case, judge(case))
        except (ParamsError, ValueError, OverflowError) as error:
            unjudged.append(f"{claim.where}: {claim.claim.id}: {str(error).rstrip('.')}.")
    stated = files if files is not None else entries() if claims is None else []
    pairs = contradictions(judged.values(), stated)
    clashes = against(pairs)
    rows = []
    for name, row in judged.items():
        judgement, printed, truth = row.judgement, row.case.printed, row.case.truth
        if others := clashes.get(name):
            judgement = replace(judgement, also=(*judgement.also, CONTRADICTS), clashes=others)
        rows.append(Audited(
            name, row.case, judgement,
            row.case.claim.cause if judgement.standing == FAILS else None,
            (float(printed.value / truth.three.value)
             if printed is not None and truth is not None and truth.three.value else None),
            why(row.case, judgement)))
    counts: dict[str, Counter[str]] = {}
    for verdict in VERDICTS:  # in their order
        for row in rows:
            if row.judgement.verdict == verdict:
                counts.setdefault(row.case.listed.document, Counter())[verdict] += 1
    return Audit(tuple(rows), tuple(unjudged), tuple(pairs), dict(sorted(counts.items())),
                 Counter(row.cause for row in rows if row.cause))
