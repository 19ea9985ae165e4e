"""How sure a break-even point is: where it lies as the other inputs are drawn from their priors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calc.sensitivity.paths import Path
from calc.sensitivity.plans import LESS, Plan, better
from calc.sensitivity.sampling import priors, sample_each, scores_of
from calc.uncertainty import TAIL

DRAWS, POINTS = 256, 129
LEAST = 16  # cases that turn, for an interval to be told


@dataclass(frozen=True)
class Doubt:
    """Where the better plan first changes, over what the inputs may be.

    Attributes:
        low, high: 80% interval along the path, of the cases in which it changes; None of too few.
        first, second: shares of the cases in which that plan is better throughout [1].
        draws: cases.
    """

    low: float | None
    high: float | None
    first: float
    second: float
    draws: int

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return dict(vars(self))


def doubt(first: Plan, second: Plan, path: Path, name: str, margin: float = 0.0) -> Doubt:
    """The 80% interval of a break-even point, and how often there is none.

    What moves along the path is not drawn; what plans share, the formulas' own error for the most
    part, is drawn once for both.

    Args:
        first, second: the plans.
        path: what moves.
        name: a positive quantity that decides.
        margin: by how much, relative, the second has to be better [1].
    """
    plans = tuple(replace(plan, knobs=tuple(
        knob for knob in plan.knobs if not set(knob.symbols) & set(path.symbols)))
        for plan in (first, second))
    found = priors(plans, name)
    points = (np.geomspace if path.low > 0 else np.linspace)(path.low, path.high, POINTS)
    points = np.unique(points.round()) if path.whole else points
    scores = scores_of(len(found.names), DRAWS)
    one, other = map(np.log, sample_each(plans, found, scores, name,
                                         lambda plan: path.moves(plan, points)))
    gap = (one - other) * (1.0 if better(name) == LESS else -1.0) + np.log1p(-margin)
    ahead = gap < 0
    turned = ahead[:, 1:] != ahead[:, :-1]
    turns = turned.any(axis=1)
    at = _interpolated(points, gap[turns], turned[turns].argmax(axis=1))
    ends = np.quantile(at, [TAIL, 1 - TAIL]) if len(at) >= LEAST else (None, None)
    low, high = (None if end is None else float(end) for end in ends)
    never = ~turns
    return Doubt(low, high, float((never & ahead[:, 0]).mean()),
                 float((never & ~ahead[:, 0]).mean()), DRAWS)


def _interpolated(points: np.ndarray, gap: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Where a gap is zero between a point and the next, taken as straight there."""
    rows = np.arange(len(gap))
    left, right = gap[rows, place], gap[rows, place + 1]
    return np.asarray(points[place] + (points[place + 1] - points[place]) * left / (left - right))
