"""Claims that exclude each other: one quantity with two values, numbers that cannot hold together,
a setting set twice. All follow from what is printed, within its digits."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from calc.auditing.cases import Case
from calc.auditing.claims import KIND
from calc.auditing.judging import ABOUT, HOLDS, Audited
from catalogue import ParamsError
from catalogue.engine import bare
from catalogue.entries import formulas
from catalogue.ledger import NumericLaw, Quantities
from catalogue.messages import by_language
from catalogue.reading import words

VALUES, NUMBERS, SETTING = "values", "numbers", "setting"
UNBOUNDED = 1e9  # times its limit, how far a bound reaches on the side that it leaves open
SLACK = 1e-9  # relative, lost in the arithmetic of floating point

Text = Mapping[str, str]


Rows = Mapping[str, Audited]


@dataclass(frozen=True)
class Contradiction:
    """Claims that cannot all be so.

    Attributes:
        claims: their numbers, by document and number.
        kind: ``values`` of one quantity, ``numbers`` that a law excludes, a ``setting`` set twice.
        name: the quantity, the law or the setting.
        subject: its name in ``params/quantities/``, or the setting's.
        values: what each prints.
        right: those of them that hold.
    """

    claims: tuple[str, ...]
    kind: str
    name: Text
    subject: str
    values: tuple[str, ...]
    right: tuple[str, ...]

    @property
    def id(self) -> str:
        """``S0-008~S0-372``: one for each set of claims."""
        return "~".join(self.claims)

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"id": self.id, "claims": list(self.claims), "kind": self.kind,
                "subject": self.subject, "name": dict(self.name), "printed": list(self.values),
                "right": list(self.right)}


def contradictions(judged: Iterable[Audited], files: Iterable[Quantities]) -> list[Contradiction]:
    """Every set of claims that exclude each other, once, by their numbers.

    Raises ParamsError for a law that cannot be computed on its numbers.
    """
    rows = {row.id: row for row in judged}
    by_claims: dict[str, Contradiction] = {}
    for file in files:
        for item in itertools.chain(unequal_values(rows, file), broken_laws(rows, file),
                                    unequal_settings(rows, file)):
            by_claims.setdefault(item.id, item)
    for item in unequal_settings(rows):
        by_claims.setdefault(item.id, item)
    return sorted(by_claims.values(), key=lambda item: item.claims)


def against(excluded: Iterable[Contradiction]) -> dict[str, tuple[str, ...]]:
    """Claim -> the others that it cannot stand beside. Of numbers that a law excludes, those that
    hold are not at fault, unless all do."""
    others: dict[str, dict[str, None]] = defaultdict(dict)
    for item in excluded:
        faulty = [name for name in item.claims if name not in item.right] or item.claims
        for name in faulty if item.kind == NUMBERS else item.claims:
            others[name].update((other, None) for other in item.claims if other != name)
    return {name: tuple(sorted(item)) for name, item in others.items()}


def reach(case: Case, end: str = "") -> tuple[float, float] | None:
    """From where to where a printed number may lie (SI): its digits, the two ends of a range or
    one of them, a limit's open side, a twentieth where the document says about. Of words it is the
    side of the limit that they come to; None where they come to no number."""
    printed = case.printed
    if printed is None:
        return None
    low, high = printed.low, printed.high
    first, last = printed.last[0] / 2, printed.last[-1] / 2
    if end:
        low, high = (low, low) if end == "low" else (high, high)
        first, last = (first, first) if end == "low" else (last, last)
    if case.claim.approximate:
        first, last = max(first, ABOUT * abs(low)), max(last, ABOUT * abs(high))
    low, high = low - first, high + last
    if end:
        return low, high
    return 0.0 if case.bound == "at_most" else low, (
        math.inf if case.bound == "at_least" else high)


def _reached(rows: Rows, name: str) -> tuple[str, tuple[float, float]] | None:
    """A claim and its reach, where it is among the rows and prints a number."""
    claim, _, end = name.partition("/")
    ends = reach(rows[claim].case, end) if claim in rows else None
    return None if ends is None else (claim, ends)


def _contradiction(rows: Rows, claims: Iterable[str], kind: str, name: Text, subject: str
                   ) -> Contradiction:
    ordered = sorted(dict.fromkeys(claims))
    return Contradiction(
        tuple(ordered), kind, name, subject,
        tuple(rows[claim].case.printed_text for claim in ordered),
        tuple(claim for claim in ordered if rows[claim].judgement.standing == HOLDS))


def unequal_values(rows: Rows, file: Quantities) -> Iterator[Contradiction]:
    """Claims of one quantity that print different numbers of one unit, or say in words on which
    side of one it is."""
    for subject, quantity in file.quantities.items():
        reached = [ends for name in quantity.claims if (ends := _reached(rows, name)) is not None]
        for (first, one), (second, other) in itertools.combinations(reached, 2):
            cases = rows[first].case, rows[second].case
            comparable = len({(case.printed and case.printed.unit, case.listed.claim.words is None)
                              for case in cases}) == 1
            if comparable and not _meet(one, other):
                yield _contradiction(rows, (first, second), VALUES, quantity.name, subject)


def _meet(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return all(low <= high or math.isclose(low, high, rel_tol=SLACK)
               for low, high in ((one[0], other[1]), (other[0], one[1])))


def broken_laws(rows: Rows, file: Quantities) -> Iterator[Contradiction]:
    """Numbers that a law excludes."""
    for subject, law in file.laws.items():
        for given in law.of:
            reached = {letter: _reached(rows, name) for letter, name in given.items()}
            stated = {letter: item for letter, item in reached.items() if item is not None}
            if len(stated) < len(given) or any(
                    rows[claim].case.listed.claim.words for claim, _ in stated.values()):
                continue  # not judged here, or no number
            try:
                broken = excluded(law, {letter: ends for letter, (_, ends) in stated.items()})
            except ValueError as error:
                raise ParamsError(f"params/{KIND}/{file.id}.yml: {subject}: {error}") from None
            if broken:
                yield _contradiction(rows, (claim for claim, _ in stated.values()), NUMBERS,
                                     law.words, subject)


def excluded(law: NumericLaw, reaches: Mapping[str, tuple[float, float]]) -> bool:
    """Whether a law holds nowhere within its letters' reaches; each side is taken to rise or to
    fall with every letter, so that the corners decide.

    Raises ValueError for what has no value.
    """
    letters, apart = list(reaches), []
    finite = ((low or high / UNBOUNDED, high if math.isfinite(high) else low * UNBOUNDED)
              for low, high in reaches.values())  # so far off that an open side decides nothing
    for corner in itertools.product(*finite):
        values = dict(zip(letters, corner, strict=True))
        left, right = (float(formulas.evaluate(tree, values)) for tree in (law.left, law.right))
        slack = SLACK * max(abs(left), abs(right))
        apart.append(0.0 if abs(left - right) <= slack else left - right)
    above, below = min(apart) > 0, max(apart) < 0
    return above or (below and law.holds == "equal")


def unequal_settings(rows: Rows, file: Quantities | None = None) -> Iterator[Contradiction]:
    """Settings that differ: in a launch of a file, or, without one, in one section that has them of
    one deployment; a remedy in another section changes one rightly."""
    together: dict[tuple[str, ...], list[str]] = defaultdict(list)
    if file is not None:
        for name, launch in file.launches.items():
            for claim in launch.claims:
                if claim in rows and (setting := rows[claim].case.claim.setting) is not None:
                    together[name, spelled(setting.name)].append(claim)
    for claim, row in rows.items() if file is None else ():
        stated, deployment = row.case.claim, row.case.claim.deployment
        if stated.setting is not None and deployment is not None:
            together[deployment, row.case.listed.document, row.case.section,
                     stated.setting.program, spelled(stated.setting.name)].append(claim)
    for (subject, *_), claims in together.items():
        for pair in itertools.combinations(claims, 2):
            first, second = (rows[claim].case.claim.setting for claim in pair)
            if first is None or second is None:
                continue
            one, other = (reach(rows[claim].case) for claim in pair)
            if (first.value != second.value if one is None or other is None
                    else not _meet(one, other)):
                yield _contradiction(rows, pair, SETTING, by_language((f"`{first.name}`",) * 2),
                                     subject)


def spelled(name: str) -> str:
    """A setting's name as code has it: ``--enforce-eager`` is ``enforce_eager``."""
    return bare(words.revealed(name).strip()).lower()
