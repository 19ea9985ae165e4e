"""Break-even points, solved: where along a path one plan stops being the better one.

Of whole numbers every one in the range is tried, unless there are too many. Else the range is cut
into pieces; where the better plan differs between two neighbours the crossing is solved for
(Brent's method), so that two crossings within one piece could be missed, and nothing else. "Never"
and "always" are answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calc.sensitivity.paths import Path
from calc.sensitivity.plans import LESS, Limit, Plan, better, signed
from calc.sensitivity.sobol import priors, scores_of
from calc.uncertainty import TAIL, Amount
from catalogue import ParamsError
from catalogue.deployments.physics_inputs import Knob
from catalogue.planning import Prices
from catalogue.reading.values import Value

PIECES = 4096
EVERY = 1 << 17  # whole numbers that are all tried
FEW = 1 << 10  # points where each is a search over requests in flight
EQUAL = 1e-9  # relative difference up to which two plans are equal [1]
FIRST, SECOND, TIE, NEITHER = "first", "second", "equal", "neither"
CROSSING, STEP = "crossing", "step"
WIDE = 10.0  # a range that spans more is cut evenly in its logarithm
TOLERANCE = 1e-13  # of a solved crossing, relative
DRAWS, POINTS = 256, 129  # cases and points of the path from which an interval is computed
LEAST_CASES = 16  # with a crossing, for an interval
LEAST_USED = 1e-3  # lower end of the searched share of a deployment's throughput
REACHED = "output_throughput"

Difference = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Turn:
    """Where the better plan changes.

    Attributes:
        at: along the path, SI; of whole numbers the first at which ``after`` holds.
        before, after: who is better on either side: first, second, equal or neither.
        kind: ``crossing``, where both are equal, or ``step``, where one jumps past the other.
        gap: logarithm of first over second there [1], or their relative difference where they may
            be negative; of a step on its far side.
    """

    at: float
    before: str
    after: str
    kind: str
    gap: float


@dataclass(frozen=True)
class BreakEven:
    """Who is better along a path.

    Attributes:
        start: who is at the lower end of the range.
        turns: where that changes, in order; none if it never does.
        low, high: the range.
        tried: points at which both were evaluated.
    """

    start: str
    turns: tuple[Turn, ...]
    low: float
    high: float
    tried: int

    @property
    def always(self) -> str | None:
        """Who is better everywhere in the range; None if that changes."""
        return None if self.turns else self.start

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        turns = [vars(turn) | {"gap": turn.gap if math.isfinite(turn.gap) else None}
                 for turn in self.turns]
        return vars(self) | {"turns": turns, "always": self.always}


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
        most: pieces of the range, :data:`PIECES` unless told, or whole numbers that are tried,
            :data:`EVERY` unless told.
    """
    points = grid(low, high, integer, most or (EVERY if integer else PIECES))
    values = np.asarray(difference(points), float)
    signs = _states(values)
    count = len(points)
    if not integer:  # a point that a crossing happens to lie on
        apart = (signs == TIE) & ~np.r_[False, signs[:-1] == TIE] & ~np.r_[signs[1:] == TIE, False]
        apart[[0, -1]] = False
        points, values, signs = points[~apart], values[~apart], signs[~apart]
    turns = []
    for left in np.flatnonzero(signs[1:] != signs[:-1]):
        ends = float(points[left]), float(points[left + 1])
        turns.append(turn_between(difference, ends, integer, values[left:left + 2]))
    return BreakEven(str(signs[0]), tuple(turns), float(points[0]), float(points[-1]), count)


def breakeven(first: Plan, second: Plan, path: Path, name: str, *, margin: float = 0.0,
              limit: Limit | None = None) -> BreakEven:
    """Where along a path one plan stops being the better one.

    Args:
        first, second: the plans; both move.
        path: what moves.
        name: the quantity that decides.
        margin: by how much, relative, the second has to be better to count as that [1].
        limit: that both have to meet, with as many requests as it lets them; else both have the
            requests of the deployment.
    """
    sign = 1.0 if better(name) == LESS else -1.0

    def quantity(plan: Plan, values: np.ndarray) -> np.ndarray:
        moves = path.moves(plan, values)
        result = plan.within(moves, name, limit) if limit else plan.at(moves, name)
        return np.asarray(np.broadcast_to(result, values.shape))

    def difference(values: np.ndarray) -> np.ndarray:
        one, other = quantity(first, values), quantity(second, values)
        with np.errstate(divide="ignore", invalid="ignore"):
            gap = (sign * (one - other) / np.maximum(np.abs(one), np.abs(other))
                     if signed(name) else sign * np.log(one / other))
        gap = np.where(one == other, 0.0, gap) + np.log1p(-margin)
        gap = np.where(np.isnan(one) & ~np.isnan(other), np.inf, gap)
        return np.where(np.isnan(other) & ~np.isnan(one), -np.inf, gap)

    return solve(difference, path.low, path.high, integer=path.integer, most=FEW if limit else None)


def grid(low: float, high: float, integer: bool, most: int) -> np.ndarray:
    """Points of a range at which both plans are evaluated; arguments as of :func:`solve`."""
    spans = low > 0 and high > WIDE * low
    spaced = np.geomspace if spans else np.linspace
    if not integer:
        return np.asarray(spaced(low, high, most + 1))
    low, high = np.ceil(low), np.floor(high)
    if high - low < most:
        return np.arange(low, high + 1)
    return np.unique(np.round(spaced(low, high, most)))


def _states(values: np.ndarray) -> np.ndarray:
    """Who is better at every point."""
    with np.errstate(invalid="ignore"):
        return np.select([np.isnan(values), np.abs(values) <= EQUAL, values < 0],
                         [NEITHER, TIE, FIRST], SECOND)


def turn_between(difference: Difference, ends: tuple[float, float], integer: bool,
                 values: np.ndarray) -> Turn:
    """The change between two neighbouring points, by Brent's method or bisection.

    Args:
        difference: as for :func:`solve`.
        ends: the points.
        integer: whether only whole numbers make sense.
        values: of the difference at both points.
    """
    before, after = map(str, _states(values))

    def at(point: float) -> float:
        return float(np.asarray(difference(np.array([point])))[0])

    low, high = ends
    if not integer and {before, after} == {FIRST, SECOND} and np.isfinite(values).all():
        from scipy.optimize import brentq

        root = float(brentq(at, low, high, xtol=TOLERANCE * max(abs(low), abs(high)),
                            rtol=4 * np.finfo(float).eps))
        gap = at(root)
        if abs(gap) <= EQUAL:
            return Turn(root, before, after, CROSSING, gap)
    least = 1.0 if integer else TOLERANCE * max(abs(low), abs(high))
    while high - low > least:
        middle = (low + high) // 2 if integer else (low + high) / 2
        state = str(_states(np.array([at(middle)]))[0])
        low, high = (middle, high) if state == before else (low, middle)
    gap = at(high)
    return Turn(high, before, str(_states(np.array([gap]))[0]), STEP, gap)


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
    prior = priors(plans, name)
    points = (np.geomspace if path.low > 0 else np.linspace)(path.low, path.high, POINTS)
    points = np.unique(points.round()) if path.integer else points
    scores = scores_of(len(prior.names), DRAWS)
    one, other = (np.log(prior.sample(plan, scores, name, which, path.moves(plan, points)))
                  for which, plan in enumerate(plans))
    gap = (one - other) * (1.0 if better(name) == LESS else -1.0) + np.log1p(-margin)
    ahead = gap < 0
    turned = ahead[:, 1:] != ahead[:, :-1]
    turns = turned.any(axis=1)
    lower = turned[turns].argmax(axis=1)  # the gap is taken as straight from there to the next
    before, after = (gap[turns, :][np.arange(len(lower)), lower + step] for step in (0, 1))
    at = points[lower] + (points[lower + 1] - points[lower]) * before / (before - after)
    ends = np.quantile(at, [TAIL, 1 - TAIL]) if len(at) >= LEAST_CASES else (None, None)
    low, high = (None if end is None else float(end) for end in ends)
    never = ~turns
    return Doubt(low, high, float((never & ahead[:, 0]).mean()),
                 float((never & ~ahead[:, 0]).mean()), DRAWS)


def utilisation(plan: Plan, hour: Amount, service: Prices) -> tuple[BreakEven, Doubt]:
    """The share of a deployment's throughput from which it is cheaper than a service.

    The first plan of the answer is the deployment, whose cards are paid busy or not; the second is
    the service, which is paid by the token.

    Args:
        plan: the deployment.
        hour: what one of its cards costs by the time, everything included [money/s].
        service: prices of its tokens, whose first list that holds today is taken.

    Raises ParamsError for a deployment without prompts, a service that sells no tokens, and prices
    in two currencies.
    """
    from calc.costing.cost import price_of_request  # no other break-even needs costs

    if plan.scenario.file.workload.output_tokens is None:
        raise ParamsError(f"--breakeven utilisation: '{plan.scenario.id}' states no length of "
                          "prompts, which a service is paid for.")
    sold = service.current
    if sold is None:
        raise ParamsError(f"--against {service.id}: it sells no tokens, expected prices of a "
                          "service.")
    if sold.output.unit.partition("/")[0] != hour.currency:
        raise ParamsError(f"--price: in {hour.currency}, but '{service.id}' sells in "
                          f"{sold.output.unit.partition('/')[0]}.")
    answer = plan.inputs["output_tokens"]
    request = price_of_request(plan.inputs, sold, service, hour.currency)

    def even(rate: np.ndarray, price: np.ndarray) -> np.ndarray:
        """Utilisation at which a request costs the same [1]."""
        return np.asarray(plan.cards * price / (rate / answer * request))

    central = float(even(plan.at({}, REACHED), np.array([hour.value]))[0])
    result = solve(lambda used: np.log(central / used), LEAST_USED, 1.0)
    prior = priors([plan], REACHED)
    scores = scores_of(len(prior.names) + 1, DRAWS)
    rates = prior.sample(plan, scores, REACHED)
    price = Knob("hour", Value(hour.value, hour.unit, "", hour.source, hour.kind, hour.low,
                               hour.high), ())
    at = even(rates, price.at(scores[:, -1]))
    crossing = at[at <= 1]
    low, high = (map(float, np.quantile(crossing, [TAIL, 1 - TAIL])) if len(crossing) >= LEAST_CASES
                 else (None, None))
    return result, Doubt(low, high, 0.0, float((at > 1).mean()), DRAWS)
