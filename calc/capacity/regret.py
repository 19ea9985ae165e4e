"""A choice that is good enough whatever comes: cost of every candidate in every case, and regret.

Inputs are known within ranges and the load may grow more or less; nobody knows which case comes.
The regret of a candidate in a case is what it costs more than the best one there would have.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calc.many.sweeps import latency
from calc.uncertainty.interval import interval
from catalogue import Scenario
from catalogue.deployments.knobs import NORMAL_90, Knob

PACE = "tpot"  # what is slow or fast
HALVINGS = 30  # of the way to an end of its interval


@dataclass(frozen=True)
class DecisionTable:
    """Candidates set beside each other.

    Attributes:
        candidates, cases: their names, in order.
        costs: of every candidate (rows) in every case (columns), of one unit; infinite where a
            candidate cannot serve.
        regrets: what each costs more than the best of its case, likewise.
        least_regret: the candidate whose largest regret is least.
        least_cost: the candidate whose mean cost over the cases is least.
        central: the candidate that is best where everything is as expected.
    """

    candidates: tuple[str, ...]
    cases: tuple[str, ...]
    costs: np.ndarray
    regrets: np.ndarray
    least_regret: str
    least_cost: str
    central: str

    def as_json(self) -> dict[str, Any]:
        """Plain data; an infinite cost is null."""
        def rows(table: np.ndarray) -> list[list[float | None]]:
            return [[each if math.isfinite(each) else None for each in row]
                    for row in table.tolist()]

        return {**vars(self), "candidates": list(self.candidates), "cases": list(self.cases),
                "costs": rows(self.costs), "regrets": rows(self.regrets)}


def regret(costs: np.ndarray) -> np.ndarray:
    """What every candidate (rows) costs more than the best of each case (columns).

    Never negative, and 0 for the best. Where nobody can serve, nobody regrets.

    >>> regret(np.array([[3.0, 5.0], [4.0, 4.0]])).tolist()
    [[0.0, 1.0], [1.0, 0.0]]

    Args:
        costs: shape (candidates, cases), of any one unit.
    """
    best = costs.min(axis=0)
    return np.where(np.isfinite(best), costs - np.where(np.isfinite(best), best, 0), 0.0)


def choose(candidates: Sequence[str], cases: Sequence[str], costs: np.ndarray,
           central: int | None = None) -> DecisionTable:
    """The candidates of least regret (Savage 1951), of least mean cost, and best as expected.

    >>> chosen = choose(["narrow", "wide"], ["low", "high"], np.array([[1.0, 9.0], [3.0, 4.0]]))
    >>> chosen.least_regret, chosen.central
    ('wide', 'narrow')

    Args:
        candidates, cases: names of rows and columns.
        costs: shape (candidates, cases), of any one unit, infinite where a candidate cannot serve.
        central: place of the case that is expected, the first unless given.

    Raises ValueError without a candidate or a case, and for a table of another shape.
    """
    if not candidates or not cases or costs.shape != (len(candidates), len(cases)):
        raise ValueError(f"{len(candidates)} candidates in {len(cases)} cases and costs of shape "
                         f"{costs.shape}, expected one cost for each.")
    regrets = regret(costs)
    return DecisionTable(tuple(candidates), tuple(cases), costs, regrets,
                         candidates[int(regrets.max(axis=1).argmin())],
                         candidates[int(costs.mean(axis=1).argmin())],
                         candidates[int(costs[:, central or 0].argmin())])


def at_ends(scenario: Scenario) -> dict[str, dict[str, float]]:
    """Inputs of a deployment where it is slow, as expected, and fast: all that has a range moved.

    Everything moves in the direction that slows a token (or speeds it up), each by the same number
    of standard deviations of its prior: by so many that TPOT comes to the end of its 80% interval.
    All at the ends of their own ranges would be farther than anything that is likely.

    Args:
        scenario: the deployment.

    Returns inputs that differ, by ``low`` (slow), ``central`` and ``high`` (fast).
    """
    inputs, attention = scenario.inputs(), scenario.model.attention
    knobs = [knob for knob in scenario.knobs() if knob.symbols[0] in inputs]
    ends = interval(inputs, knobs, attention, [PACE])[PACE].ends
    middle = float(latency(inputs, attention, [PACE])[PACE])
    signs = _directions(inputs, knobs, attention)

    def moved(score: float) -> dict[str, float]:
        """All inputs so many deviations towards slow."""
        return {symbol: knob.at(sign * score) for knob, sign in zip(knobs, signs, strict=True)
                if sign for symbol in knob.symbols}

    def pace(score: float) -> float:
        return float(latency(inputs | moved(score), attention, [PACE])[PACE])

    cases: dict[str, dict[str, float]] = {"low": {}, "central": {}, "high": {}}
    for name, end, side in (("low", ends[1], 1.0), ("high", ends[0], -1.0)):
        if math.isclose(end, middle):
            continue
        near, far = 0.0, NORMAL_90
        for _ in range(HALVINGS):
            half = (near + far) / 2
            short = (pace(side * half) < end) == (side > 0)
            near, far = (half, far) if short else (near, half)
        cases[name] = moved(side * far)
    return cases


def _directions(inputs: Mapping[str, Any], knobs: Sequence[Knob], attention: str) -> list[int]:
    """Of each input 1 if more of it makes a token slower, -1 if faster, 0 if it moves nothing."""
    moved: dict[str, np.ndarray] = {}
    for row, knob in enumerate(knobs):
        for symbol in knob.symbols:
            column = moved.setdefault(symbol, np.full((len(knobs), 2), float(inputs[symbol])))
            column[row] = knob.value.low, knob.value.high
    paces = np.broadcast_to(latency(dict(inputs) | moved, attention, [PACE])[PACE],
                            (len(knobs), 2))
    return [int(sign) for sign in np.sign(paces[:, 1] - paces[:, 0])]
