"""Amounts with 80% intervals, and how far the ranges of inputs move them.

What a file states is ``catalogue.reading.values.Value``: its source says it, and nothing is
predicted. What follows from such values is an :class:`Amount`.

An input's value is the median of its prior and a range holds 80% of it (``Knob.at``); priors are
independent of each other. A quantity's value is what the formulas give at the inputs' values; the
ranges give its interval. What no input moves, the formulas' own error, has a size on either side of
its own (``params/discrepancies/``), set on the systems of this repository.

Source: notebooks/validation.md, section Are the intervals honest?
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np

from calc.physics.arrays import SCALAR, Inputs, double
from calc.serving.evaluate import (
    MEMORY_NAMES,
    SERVED_NAMES,
    STEADY_NAMES,
    check_names,
    evaluate,
    latencies,
    waits_for_places,
)
from catalogue import symbols
from catalogue.deployments.physics_inputs import NORMAL_90, Knob, moved
from catalogue.reading import units
from catalogue.reading.values import Value

EXACT, ESTIMATE, LOWER_BOUND, UPPER_BOUND = "exact", "estimate", "lower_bound", "upper_bound"


@dataclass(frozen=True)
class Amount:
    """A value with its 80% interval, SI; numbers, or arrays of one shape.

    The value is what the formulas give with every input at its own value, the same number as the
    sum of its parts and as a simulation takes. The ends are the 10% and 90% points of what the
    inputs' ranges and the formulas' own error give; they contain the value.

    >>> pace = Amount(0.0304, 0.0279, 0.0553, "s")
    >>> pace.text, pace.reach, pace.formatted("zh"), str(pace)
    ('30.4 ms', '27.9–55.3 ms', '30.4 ms（27.9–55.3 ms）', '30.4 ms (80%: 27.9–55.3 ms)')

    Attributes:
        value, low, high: of the formulas, and 10% and 90% points.
        unit: SI unit, ``1`` for a plain number.
        kind: what kind of statement it is: exact, estimate or a bound; of what is stated, its kind.
        own_error: that of the formulas, with the class that it is of; None where there is none.
        source, date: of what is stated; empty and None of what is derived.
        name: of a quantity of ``params/symbols.yml``, else empty.
    """

    value: Any
    low: Any
    high: Any
    unit: str = units.DIMENSIONLESS
    kind: str = ESTIMATE
    own_error: Any = None
    source: str = ""
    date: str | None = None
    name: str = ""

    @classmethod
    def exactly(cls, value: Any, unit: str = units.DIMENSIONLESS) -> Amount:
        """An amount that is known."""
        return cls(value, value, value, unit, EXACT)

    @classmethod
    def stated(cls, value: Value) -> Amount:
        """Amount that a file states, with its range."""
        return cls(float(value.value), float(value.low), float(value.high), value.unit,
                   value.kind, source=value.source, date=value.date)

    @property
    def exact(self) -> bool:
        """Whether nothing moves it."""
        return bool(np.all(self.low == self.high))

    @property
    def points(self) -> tuple[Any, Any, Any]:
        """Value, 10% and 90% points."""
        return self.value, self.low, self.high

    @property
    def ends(self) -> tuple[Any, Any]:
        """10% and 90% points."""
        return self.low, self.high

    def scaled(self, factor: Any, unit: str | None = None) -> Amount:
        """Product with a positive factor, by default in the same unit."""
        return self.over(lambda number: number * factor, unit)

    def over(self, function: Callable[[Any], Any], unit: str | None = None) -> Amount:
        """Result of an increasing function of the amount."""
        return replace(self, value=function(self.value), low=function(self.low),
                       high=function(self.high), unit=unit or self.unit)

    def at(self, index: int) -> Amount:
        """Amount at one place of arrays."""
        return self.over(lambda number: float(np.ravel(number)[index]))

    def per(self, unit: str) -> tuple[float, float, float]:
        """Value and ends in another unit of the same dimensions.

        >>> Amount(0.0005, 0.00025, 0.001, "USD/s").per("USD/h")
        (1.8, 0.9, 3.6)
        """
        factor = units.factor(unit) / units.factor(self.unit)
        return self.value / factor, self.low / factor, self.high / factor

    @property
    def currency(self) -> str:
        """Currency of an amount of money: the unit up to its first slash."""
        return self.unit.partition("/")[0]

    @property
    def text(self) -> str:
        """The value for people; of money and what is counted in English."""
        return self.text_in("en")

    def text_in(self, lang: str) -> str:
        """The value for people, in a language."""
        digits = units.EXACT_DIGITS if self.kind == EXACT else None
        return units.human(self.value, self.unit, lang, digits)

    @property
    def texts(self) -> tuple[str, str]:
        """The value for people, in English and in Chinese."""
        return self.text_in("en"), self.text_in("zh")

    @property
    def reach(self) -> str:
        """The interval for people, empty of what is exact; as :attr:`text`."""
        return self.reach_in("en")

    def reach_in(self, lang: str) -> str:
        """The interval for people in a language, in the unit of the value; empty where exact."""
        return "" if self.exact else units.span(
            self.low, self.high, self.unit, lang, of=self.value)

    def formatted(self, lang: str) -> str:
        """Value and interval for people, in a language."""
        text, left, right = self.text_in(lang), *((" (", ")") if lang == "en" else ("（", "）"))
        return text if self.exact else f"{text}{left}{self.reach_in(lang)}{right}"

    def __str__(self) -> str:
        return self.text if self.exact else f"{self.text} (80%: {self.reach})"

    def as_json(self) -> dict[str, Any]:
        """Plain data, SI; without what is not known of it. An end that has none is None."""
        data = {key: None if isinstance(item, float) and not math.isfinite(item) else item
                for key, item in vars(self).items()
                if key != "name" and item is not None and not (isinstance(item, str) and not item)}
        return data if self.own_error is None else data | {"own_error": self.own_error.as_json()}


TAIL = 0.1  # what an 80% interval leaves out on either side
HALF_MEAN = math.sqrt(2 / math.pi)  # mean size of a normal variable; of its cube, twice as much
CURVED = (NORMAL_90**2 - 1) / 6  # by which skewness moves both ends, per standard deviation [1]

NONE = (0.0, 0.0)
JOINT = 127  # draws in which all inputs move; a prime p
POWER, SPREADING = 5, 31  # no divisor of p - 1; of what an input's name comes to
EVENLY = np.array([NormalDist().inv_cdf((2 * step + 1) / (2 * JOINT)) for step in range(JOINT)])
SMALLEST = float(np.finfo(float).tiny)  # of what has a logarithm

Sides = tuple[float, float]  # standard deviations of a logarithm, downwards and upwards [1]
Parts = tuple[Any, ...]  # sides, and behind them those that distance from what was measured adds


def interval(inputs: Mapping[str, Any], knobs: Sequence[Knob], attention: str,
             names: Iterable[str], own: Mapping[str, Parts] | None = None,
             ) -> dict[str, Amount]:
    """Quantities with 80% intervals, from the ranges of their inputs, in closed form.

    Every knob is moved alone, from its value to either end of its range; the moves of a quantity
    are put together by :func:`quantiles`, in logarithms where the quantity is positive throughout.
    Points rather than derivatives, because block counts and maxima have steps and kinks. The
    formulas' own error is one more input, of logarithms only. Where limits bend several moves at
    once, near saturation above all, their sum is not what they give together: the ends stay within
    the farthest of ``JOINT`` draws in which all inputs move (:func:`even_scores`).

    Args:
        inputs: input symbols in SI units; an input may have shape (rows,).
        knobs: what has a range.
        attention: ``mla`` or ``gqa``.
        names: the quantities wanted.
        own: the formulas' own error, by name, and what distance adds to it; a side may have shape
            (rows,).

    Returns amounts by name, in units of ``params/symbols.yml``: scalars, or arrays of shape
    (rows,).
    """
    names = list(names)
    spread = [knob for knob in knobs if knob.value.low < knob.value.high]
    points: dict[str, Any] = dict(inputs)
    alone = 1 + 2 * len(spread)
    count = alone + JOINT
    for i, knob in enumerate(spread):
        value = inputs[knob.symbols[0]]
        column = np.full((count, *np.shape(value)) if np.ndim(value) else (count, 1), value, float)
        column[2 * i + 1:2 * i + 3] = [[knob.value.low], [knob.value.high]]
        column[alone:] = jointly(knob.name, *map(float, (
            knob.value.low, knob.value.value, knob.value.high)))[:, np.newaxis]
        points |= dict.fromkeys(knob.symbols, column)
    quantities = _quantities(points, attention, names)
    central = {name: np.atleast_1d(np.asarray(quantities[name], float)) for name in names}
    central = {name: np.broadcast_to(values, (count, values.shape[-1]))
               for name, values in central.items()}
    scalar = not any(np.ndim(value) for value in inputs.values() if not isinstance(value, SCALAR))
    defined = symbols()
    result = {}
    for name, ends in _combined(central, own).items():
        value, low, high = (float(one[0]) if scalar else one for one in (central[name][0], *ends))
        result[name] = Amount(value, low, high, defined[name].unit if name in defined else "1",
                              name=name)
    return result


def _quantities(points: Mapping[str, Any], attention: str, names: Sequence[str]
                ) -> Mapping[str, Any]:
    """Chosen quantities, of steps alone where no other is chosen and nobody waits for a place."""
    of_steps = (SERVED_NAMES | STEADY_NAMES).issuperset(names)
    if not of_steps or waits_for_places(points, attention):
        return evaluate(points, attention, decode=not MEMORY_NAMES.issuperset(names))
    check_names(points)
    return latencies(attention, Inputs({name: double(value) for name, value in points.items()}),
                     names)


@lru_cache(maxsize=4096)
def jointly(name: str, low: float, value: float, high: float) -> np.ndarray:
    """An input in the joint draws, shape (``JOINT``,).

    Args:
        name: of the input.
        low, value, high: its value and the ends of its range.
    """
    return moved(low, value, high, even_scores(name))


def share_not_negative(inputs: Mapping[str, Any], knobs: Sequence[Knob], attention: str,
                   name: str) -> float:
    """In which share of the joint draws a quantity of a deployment is not negative [1].

    Args:
        inputs: input symbols in SI units, scalars.
        knobs: what has a range.
        attention: ``mla`` or ``gqa``.
        name: a quantity that no decode step decides.
    """
    points: dict[str, Any] = dict(inputs)
    for knob in knobs:
        points |= dict.fromkeys(knob.symbols, knob.at(even_scores(knob.name)))
    return float(np.mean(evaluate(points, attention, decode=False)[name] >= 0.0))


def ends_of(points: np.ndarray, in_log: np.ndarray, own: np.ndarray
            ) -> tuple[np.ndarray, np.ndarray]:
    """10% and 90% points of quantities, shape (rows,) each, in the units of the quantities.

    They are those of :func:`quantiles`, within the farthest of the joint draws, and contain what
    the inputs' values give.

    Args:
        points: as given, then a pair of moves per knob, then joint draws, shape (points, rows).
        in_log: whose moves are those of logarithms, shape (rows,).
        own: the formulas' own error of those in logarithms, its sides and what distance adds to
            them, shape (4, rows).
    """
    scale = np.where(in_log, np.log(np.maximum(points, SMALLEST), where=in_log,
                                    out=np.zeros(points.shape)), points)
    alone, joint = np.split(scale[1:] - scale[0], [-JOINT])
    moves = alone.reshape(-1, 2, points.shape[1])
    size = np.hypot(*own.reshape(2, 2, -1))
    low, high = quantiles(np.concatenate(
        [moves, (NORMAL_90 * size * in_log * [[-1.0], [1.0]])[np.newaxis]]))
    score = even_scores("")[:, np.newaxis]
    farthest = joint + np.where(score < 0, *size) * in_log * score
    low = np.minimum(np.maximum(low, farthest.min(axis=0)), 0)
    high = np.maximum(np.minimum(high, farthest.max(axis=0)), 0)
    ends = [np.where(in_log, points[0] * np.exp(move, where=in_log, out=np.ones(len(move))),
                      points[0] + move) for move in (low, high)]
    return ends[0], ends[1]


@cache
def even_scores(name: str) -> np.ndarray:
    """Scores of an input in joint draws, each of the ``JOINT`` of equal probability once [1].

    Their order follows from the name alone, so that of two deployments whatever both have is drawn
    alike, here and in the calculators: powers of a line are a permutation of a prime field.

    >>> abs(round(float(even_scores("clock_factor").sum()), 9))
    0.0

    Args:
        name: of the input, empty for the formulas' own error.

    Returns shape (JOINT,).
    """
    number = 0
    for letter in name:
        number = (number * SPREADING + ord(letter)) % (JOINT * (JOINT - 1))
    step, start = 1 + number % (JOINT - 1), number // (JOINT - 1)
    line = (np.arange(JOINT) * step + start) % JOINT
    return EVENLY[line**POWER % JOINT]


def quantiles(moves: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """10% and 90% points of a sum of independent moves, each with its own 10% and 90% points.

    A move is a normal variable that is stretched differently on either side of its median. What is
    farther on one side moves the mean of the sum: mean, variance and third moment add, and the ends
    follow from them as in Cornish and Fisher (1937), to the skewness. No end is farther than all
    moves together, nor on the other side.

    >>> low, high = quantiles(np.array([[[-0.1], [0.1]], [[-0.1], [0.1]]]))
    >>> round(float(high[0] / 0.1) ** 2, 6)
    2.0

    Args:
        moves: at the low and the high end of each input, shape (inputs, 2, rows).

    Returns both points, shape (rows,).
    """
    size = moves / NORMAL_90
    mean = HALF_MEAN / 2 * size.sum(axis=1)
    variance = (size * size).sum(axis=1) / 2 - mean * mean
    # products: a power of negative numbers takes longer than a whole decode step
    cube = HALF_MEAN * (size * size * size).sum(axis=1)
    total, spread = mean.sum(axis=0), variance.sum(axis=0)
    third = (cube - 3 * mean * variance - mean * mean * mean).sum(axis=0)
    deviation = np.sqrt(spread)
    skewness = np.divide(third, spread * deviation, out=np.zeros_like(third), where=spread > 0)
    centre = total + deviation * skewness * CURVED
    least = np.minimum(moves, 0).min(axis=1, initial=0).sum(axis=0)
    most = np.maximum(moves, 0).max(axis=1, initial=0).sum(axis=0)
    return (np.clip(centre - NORMAL_90 * deviation, least, 0),
            np.clip(centre + NORMAL_90 * deviation, 0, most))


def width(low: np.ndarray, high: np.ndarray) -> float:
    """Median of high over low [1]."""
    return float(np.median(high / low))


def interval_score(low: np.ndarray, high: np.ndarray, measured: np.ndarray) -> float:
    """Mean interval score of 80% intervals in logarithms [1]: width, and ten times what is missed.

    Source: Gneiting and Raftery, Strictly proper scoring rules (2007), equation 43.
    """
    left, right, at = np.log(low), np.log(high), np.log(measured)
    missed = np.maximum(left - at, 0) + np.maximum(at - right, 0)
    return float(np.mean(right - left + missed * 2 / (2 * TAIL)))


def normal_interval(predicted: np.ndarray, deviation: np.ndarray) -> tuple[Any, Any]:
    """80% interval of a log-normal variable.

    Args:
        predicted: medians.
        deviation: standard deviation of the logarithm [1].
    """
    half = np.exp(NORMAL_90 * deviation)
    return predicted / half, predicted * half


ALONE = 3  # points of one input: its value and both ends
Function = Callable[[Mapping[str, Any]], Mapping[str, Any]]


def propagate_uncertainty(function: Function, inputs: Mapping[str, Amount | Any],
                          units: Mapping[str, str] | None = None, at_once: bool = False
                  ) -> dict[str, Amount]:
    """Results of a function of uncertain inputs, with 80% intervals.

    Each input is moved alone to either end, and all of them together in some draws; the moves are
    put together as those of every other interval
    (:func:`calc.uncertainty.ends_of`): in logarithms where a result is positive
    throughout. What a single input moves has the points that this gives it.

    >>> product = propagate_uncertainty(lambda q: {"area": q["a"] * q["b"]},
    ...                  {"a": Amount(2.0, 1.0, 4.0), "b": 3.0})["area"]
    >>> [round(float(point), 6) for point in product.points]
    [6.0, 3.0, 12.0]

    Args:
        function: from numbers by name to results by name, which may be arrays of one shape.
        inputs: each exact, or with its ends.
        units: SI units of results, ``1`` unless told.
        at_once: whether the function takes arrays; all points of the inputs, which are numbers, are
            then handed to it together, shape (points,).

    Returns what results are at the inputs' values, with their ends.
    """
    central = {name: one.value if isinstance(one, Amount) else one for name, one in inputs.items()}
    unsure = {name: one for name, one in inputs.items() if isinstance(one, Amount)
              and not np.array_equal(one.low, one.high)}
    points = [central, *(central | {name: end} for name, one in unsure.items()
                         for end in (one.low, one.high))]
    if len(points) > ALONE:
        together = {name: _draws(name, one) for name, one in unsure.items()}
        points += [central | {name: column[draw] for name, column in together.items()}
                   for draw in range(JOINT)]
    if at_once and unsure:
        quantities = function(central | {name: np.array([point[name] for point in points])
                                    for name in unsure})
        results = {name: np.broadcast_to(result, len(points))
                   for name, result in quantities.items()}
    else:
        results_of = [function(point) for point in points]
        results = {name: np.array(np.broadcast_arrays(*(one[name] for one in results_of)))
                   for name in results_of[0]}
    unit = dict.fromkeys(results, "1") | dict(units or {})
    if not unsure:
        return {name: Amount.exactly(result[0], unit[name]) for name, result in results.items()}
    return {name: Amount(results[name][0], low, high, unit[name])
            for name, (low, high) in _combined(results).items()}


def _draws(name: str, one: Amount) -> np.ndarray:
    """An input in the joint draws, shape (``JOINT``, *that of the input)."""
    shape = np.shape(one.value)
    rows = zip(*(np.broadcast_to(point, shape).ravel() for point in one.points), strict=True)
    return np.stack([jointly(name, float(low), float(value), float(high))
                     for value, low, high in rows], axis=1).reshape(JOINT, *shape)


def _combined(results: Mapping[str, np.ndarray], own: Mapping[str, Parts] | None = None
              ) -> dict[str, tuple[Any, Any]]:
    """Ends of results as given, then moved to either end of each input in turn, then in joint
    draws, the first axis of each result; ``own``: the formulas' own errors, by name."""
    if all(len(points) == ALONE for points in results.values()):
        return {name: (points.min(axis=0), points.max(axis=0))
                for name, points in results.items()}
    flat = [points.reshape(len(points), -1).astype(float) for points in results.values()]
    widths = [points_of.shape[1] for points_of in flat]
    in_log = np.repeat([bool((points_of[:-JOINT] > 0).all()) for points_of in flat], widths)
    sides = [(*(own or {}).get(name, NONE), *NONE)[:2 * len(NONE)] for name in results]
    errors = [[np.broadcast_to(side, width) for side in several]
              for several, width in zip(sides, widths, strict=True)]
    ends = np.stack(ends_of(np.concatenate(flat, axis=1), in_log, np.concatenate(errors, axis=1)))
    apart = np.split(ends, np.cumsum(widths)[:-1], axis=1)
    return {name: (low, high) for (name, points), both in zip(results.items(), apart, strict=True)
            for low, high in [both.reshape(2, *points.shape[1:])]}
