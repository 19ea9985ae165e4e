"""Break-even points, solved: where along a path one plan stops being the better one.

Of whole numbers every one in the range is tried, unless there are too many. Else the range is cut
into pieces; where the better plan differs between two neighbours the crossing is solved for by
bisection, so that two crossings within one piece could be missed, and nothing else. "Never" and
"always" are answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from calc.sensitivity.paths import Path
from calc.sensitivity.plans import Plan, sign_of, signed
from calc.sensitivity.sobol import priors, scores_of
from calc.uncertainty import TAIL

PIECES = 4096
EVERY = 1 << 17  # whole numbers that are all tried
EQUAL = 1e-9  # relative difference up to which two plans are equal [1]
FIRST, SECOND, TIE, NEITHER = "first", "second", "equal", "neither"
CROSSING, STEP = "crossing", "step"
WIDE = 10.0  # a range that spans more is cut evenly in its logarithm
TOLERANCE = 1e-13  # of a solved crossing, relative
DRAWS, POINTS = 256, 129  # cases and points of the path from which an interval is computed
LEAST_CASES = 16  # with a crossing, for an interval

Difference = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Turn:
    """Where the better plan changes.

    Attributes:
        at: along the path, SI; of whole numbers the first at which ``after`` holds.
        before, after: who is better on either side: first, second, equal or neither.
        kind: ``crossing``, where both are equal, or ``step``, where one jumps past the other.
    """

    at: float
    before: str
    after: str
    kind: str


@dataclass(frozen=True)
class BreakEven:
    """Who is better along a path.

    Attributes:
        start: who is at the lower end of the range.
        turns: where that changes, in order; none if it never does.
        low, high: the range.
        tried: points at which both were evaluated.
        always: who is better everywhere in the range; None if that changes.
    """

    start: str
    turns: tuple[Turn, ...]
    low: float
    high: float
    tried: int
    always: str | None


def solve(difference: Difference, low: float, high: float, *, integer: bool = False,
          most: int | None = None) -> BreakEven:
    """All changes of sign of a function over a range.

    >>> result = solve(lambda x: np.log(x / 3), 1.0, 9.0)
    >>> round(result.turns[0].at, 9), result.turns[0].before, result.turns[0].after
    (3.0, 'first', 'second')
    >>> solve(lambda x: x * 0 - 1.0, 1.0, 9.0).always
    'first'

    Args:
        difference: of arrays: below zero where the first is better, above where the second is;
            infinite where only one is possible, not a number where neither is.
        low, high: the range; cut evenly in the logarithm where it spans more than a factor of ten.
        integer: whether only whole numbers make sense.
        most: pieces of the range (default :data:`PIECES`), or whole numbers that are tried
            (default :data:`EVERY`).
    """
    spaced = np.geomspace if low > 0 and high > WIDE * low else np.linspace
    if not integer:
        points = spaced(low, high, (most or PIECES) + 1)
    elif (high := np.floor(high)) - (low := np.ceil(low)) < (most := most or EVERY):
        points = np.arange(low, high + 1)
    else:
        points = np.unique(np.round(spaced(low, high, most)))
    values, count = np.asarray(difference(points), float), len(points)
    states = states_of(values)
    if not integer:  # a point that a crossing happens to lie on
        apart = (states == TIE) & ~np.r_[False, states[:-1] == TIE] & ~np.r_[
            states[1:] == TIE, False]
        apart[[0, -1]] = False
        points, states = points[~apart], states[~apart]
    turns = tuple(turn_between(difference, integer, points[left:left + 2].tolist(),
                               states[left:left + 2].tolist())
                  for left in np.flatnonzero(states[1:] != states[:-1]))
    start = str(states[0])
    return BreakEven(start, turns, float(points[0]), float(points[-1]), count,
                     None if turns else start)


def states_of(values: np.ndarray, equal: float = EQUAL) -> np.ndarray:
    """Who is better at every point; equal up to a difference of ``equal``."""
    with np.errstate(invalid="ignore"):
        return np.select([np.isnan(values), np.abs(values) <= equal, values < 0],
                         [NEITHER, TIE, FIRST], SECOND)


def turn_between(difference: Difference, integer: bool, ends: Sequence[float],
                 sides: Sequence[str]) -> Turn:
    """The change between two neighbouring points, by bisection.

    Args:
        difference, integer: as for :func:`solve`.
        ends: the points.
        sides: who is better at either.
    """
    (low, high), (before, after) = ends, sides

    def state(point: float, equal: float) -> str:
        return str(states_of(np.asarray(difference(np.array([point])), float), equal)[0])

    crossing = not integer and {before, after} == {FIRST, SECOND}
    least = 1.0 if integer else TOLERANCE * max(abs(low), abs(high))
    while high - low > least:
        middle = (low + high) // 2 if integer else (low + high) / 2
        same = state(middle, 0.0 if crossing else EQUAL) == before
        low, high = (middle, high) if same else (low, middle)
    there = state(high, EQUAL)
    return (Turn(high, before, after, CROSSING) if crossing and there == TIE else
            Turn(high, before, there, STEP))


def breakeven(first: Plan, second: Plan, path: Path, name: str, margin: float = 0.0
              ) -> BreakEven:
    """Where along a path one plan stops being the better one.

    Args:
        first, second: the plans; both move.
        path: what moves.
        name: the quantity that decides.
        margin: by how much, relative, the second has to be better to count as that [1].
    """
    sign = sign_of(name)

    def difference(values: np.ndarray) -> np.ndarray:
        one, other = (np.broadcast_to(plan.at(path.moves(plan, values), name), values.shape)
                      for plan in (first, second))
        with np.errstate(divide="ignore", invalid="ignore"):
            gap = (sign * (one - other) / np.maximum(np.abs(one), np.abs(other))
                     if signed(name) else sign * np.log(one / other))
        gap = np.where(one == other, 0.0, gap) + np.log1p(-margin)
        gap = np.where(np.isnan(one) & ~np.isnan(other), np.inf, gap)
        return np.where(np.isnan(other) & ~np.isnan(one), -np.inf, gap)

    return solve(difference, path.low, path.high, integer=path.integer)


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
    prior = priors(plans, name)
    points = (np.geomspace if path.low > 0 else np.linspace)(path.low, path.high, POINTS)
    points = np.unique(points.round()) if path.integer else points
    scores = scores_of(len(prior.names), DRAWS)
    one, other = (np.log(prior.sample(plan, scores, name, which, path.moves(plan, points)))
                  for which, plan in enumerate(plans))
    gap = (one - other) * sign_of(name) + np.log1p(-margin)
    ahead = gap < 0
    turned = ahead[:, 1:] != ahead[:, :-1]
    turns = turned.any(axis=1)
    lower = turned[turns].argmax(axis=1)  # the gap is taken as straight from there to the next
    before, after = (gap[turns, :][np.arange(len(lower)), lower + step] for step in (0, 1))
    at = points[lower] + (points[lower + 1] - points[lower]) * before / (before - after)
    low, high = (map(float, np.quantile(at, [TAIL, 1 - TAIL])) if len(at) >= LEAST_CASES
                 else (None, None))
    first_always, second_always = (float((~turns & (ahead[:, 0] == leads)).mean())
                                   for leads in (True, False))
    return Doubt(low, high, first_always, second_always, DRAWS)
