"""Intervals in closed form: how far the ranges of inputs move a quantity, and the own error.

An input's value is the median of its prior and a range holds 80% of it (``Knob.at``); priors are
independent of each other. A quantity's value is what the formulas give at the inputs' values; the
ranges give its interval. What no input moves, the formulas' own error, has a size on either side of
its own (``params/discrepancies/``), set on the systems of this repository.

Source: notebooks/validation.md, section Are the intervals honest?
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np

from calc.closed_form.evaluate import MEMORY_NAMES, check_names, evaluate
from calc.closed_form.latencies import (
    SERVED_NAMES,
    STEADY_NAMES,
    latencies,
    waits_for_places,
)
from calc.physics.arrays import SCALAR, Inputs, double
from calc.uncertainty.amount import Amount
from catalogue import symbols
from catalogue.deployments.physics_inputs import NORMAL_90, Knob, moved

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
    found = [_points(quantities[name], count) for name in names]
    own_sides = [(*(own or {}).get(name, NONE), *NONE)[:len(NONE) * 2] for name in names]
    widths = [each.shape[1] for each in found]
    columns = zip(*(np.split(column, np.cumsum(widths)[:-1]) for column in ends_of(
        np.concatenate(found, axis=1), np.repeat([(each[:alone] > 0).all() for each in found],
                                                   widths),
        _sides(own_sides, widths))), strict=True)
    scalar = not any(np.ndim(value) for value in inputs.values() if not isinstance(value, SCALAR))
    known = symbols()
    result = {}
    for name, points_, column in zip(names, found, columns, strict=True):
        low, high, value = (float(one[0]) if scalar else one for one in (*column, points_[0]))
        result[name] = Amount(value, low, high, known[name].unit if name in known else "1",
                              name=name)
    return result


def _quantities(points: Mapping[str, Any], attention: str, names: Sequence[str]
                ) -> Mapping[str, Any]:
    """Chosen quantities, of steps alone where no other is chosen and nobody waits for a place."""
    of_steps = (SERVED_NAMES | STEADY_NAMES).issuperset(names)
    if not of_steps or waits_for_places(points, attention):
        return evaluate(points, attention, decode=not MEMORY_NAMES.issuperset(names))
    check_names(points)
    return latencies(attention, Inputs({name: double(each) for name, each in points.items()}),
                     names)


@lru_cache(maxsize=4096)
def jointly(name: str, low: float, value: float, high: float) -> np.ndarray:
    """An input in the joint draws, shape (``JOINT``,).

    Args:
        name: of the input.
        low, value, high: its value and the ends of its range.
    """
    found: np.ndarray = moved(low, value, high, even_scores(name))
    return found


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


def _points(quantity: Any, count: int) -> np.ndarray:
    """A quantity at all points, shape (count, rows)."""
    points = np.atleast_1d(np.asarray(quantity, float))
    shape = (count, points.shape[-1])
    return points if points.shape == shape else np.broadcast_to(points, shape)


def _sides(own: Sequence[Parts], widths: Sequence[int]) -> np.ndarray:
    """Sides of the formulas' own errors, and those that distance adds, shape (4, rows)."""
    if all(width == 1 for width in widths) and not any(
            np.ndim(side) for sides in own for side in sides):
        return np.array(own, float).T
    return np.concatenate([[np.broadcast_to(side, width) for side in sides]
                           for sides, width in zip(own, widths, strict=True)], axis=1)


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
    found = [np.where(in_log, points[0] * np.exp(move, where=in_log, out=np.ones(len(move))),
                      points[0] + move) for move in (low, high)]
    return found[0], found[1]


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
    found: np.ndarray = EVENLY[line**POWER % JOINT]
    return found


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
    whole, spread = mean.sum(axis=0), variance.sum(axis=0)
    third = (cube - 3 * mean * variance - mean * mean * mean).sum(axis=0)
    deviation = np.sqrt(spread)
    skewness = np.divide(third, spread * deviation, out=np.zeros_like(third), where=spread > 0)
    centre = whole + deviation * skewness * CURVED
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
