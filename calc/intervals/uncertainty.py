"""Intervals in closed form: how far the ranges of inputs move a quantity, and the discrepancy.

A value is the median of its prior and a range holds 80% of it (``Knob.at``); priors are independent
of each other. What no input moves, the formulas' own error, is a discrepancy with a name and a size
of its own (``params/discrepancies/``), set on the systems of this repository.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from calc.quantities.everything import evaluate
from catalogue.deployments.physics_inputs import NORMAL_90, Knob

TAIL = 0.1  # what an 80% interval leaves out on either side


def interval(inputs: Mapping[str, Any], knobs: Sequence[Knob], attention: str,
             names: Iterable[str], discrepancy: Mapping[str, float] | None = None,
             ) -> dict[str, tuple[Any, Any]]:
    """80% intervals of quantities, from the ranges of their inputs, in closed form.

    Every knob is moved alone, from its value to either end of its range; the moves of a quantity
    add as squares, downwards and upwards apart, in logarithms where the quantity is positive
    throughout. With one range this is the exact 80% of a monotonic quantity. Points rather than
    derivatives, because block counts and maxima have steps and kinks. A discrepancy of standard
    deviation d adds the 80% of a normal variable, in logarithms. The interval is drawn around the
    value, which a reader takes for its median.

    Args:
        inputs: input symbols in SI units; an input may have shape (rows,).
        knobs: what has a range.
        attention: ``mla`` or ``gqa``.
        names: the quantities wanted.
        discrepancy: standard deviation of a quantity's logarithm, by name [1].

    Returns (low, high) by name, scalars, or arrays of shape (rows,).
    """
    names = list(names)
    spread = [knob for knob in knobs if knob.value.low < knob.value.high]
    points: dict[str, Any] = dict(inputs)
    count = 1 + 2 * len(spread)
    for i, knob in enumerate(spread):
        value = inputs[knob.symbols[0]]
        column = np.full((count, *np.shape(value)) if np.ndim(value) else (count, 1), value, float)
        column[2 * i + 1:2 * i + 3] = [[knob.value.low], [knob.value.high]]
        points |= dict.fromkeys(knob.symbols, column)
    quantities = evaluate(points, attention)
    scalar = all(np.ndim(value) == 0 for value in inputs.values())
    result = {}
    for name in names:
        size = (discrepancy or {}).get(name, 0.0)
        low, high = _bounds(np.asarray(quantities[name], float), count, size)
        result[name] = (float(low[0]), float(high[0])) if scalar else (low, high)
    return result


def _bounds(points: np.ndarray, count: int, discrepancy: float) -> tuple[np.ndarray, np.ndarray]:
    """Interval of one quantity from its points: as given, then a pair of moves per knob."""
    points = np.atleast_1d(points)
    if points.ndim == 1:
        points = np.broadcast_to(points, (count, len(points)))
    elif len(points) == 1:
        points = np.broadcast_to(points, (count, points.shape[1]))
    in_log = bool((points > 0).all())
    scale = np.log(points) if in_log else points
    moves = (scale[1:] - scale[0]).reshape(-1, 2, points.shape[1])
    own = (NORMAL_90 * discrepancy) ** 2 if in_log else 0.0
    down = np.sqrt((np.minimum(moves, 0).min(axis=1, initial=0) ** 2).sum(axis=0) + own)
    up = np.sqrt((np.maximum(moves, 0).max(axis=1, initial=0) ** 2).sum(axis=0) + own)
    if in_log:
        return points[0] * np.exp(-down), points[0] * np.exp(up)
    return points[0] - down, points[0] + up


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
