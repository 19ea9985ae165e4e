"""Median, low and high end of what is computed from inputs that each have a low and a high end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from calc.uncertainty.amount import Amount
from calc.uncertainty.interval import JOINT, NONE, ends_of, jointly

ALONE = 3  # points of one input: its value and both ends
Function = Callable[[Mapping[str, Any]], Mapping[str, Any]]


def propagate_uncertainty(function: Function, inputs: Mapping[str, Amount | Any],
                          units: Mapping[str, str] | None = None, at_once: bool = False
                  ) -> dict[str, Amount]:
    """What a function of uncertain inputs gives, with 80% intervals.

    Each input is moved alone to either end, and all of them together in some draws; the moves are
    put together as those of every other interval
    (:func:`calc.uncertainty.interval.ends_of`): in logarithms where a result is positive
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
        found = function(central | {name: np.array([point[name] for point in points])
                                    for name in unsure})
        results = {name: np.broadcast_to(result, len(points)) for name, result in found.items()}
    else:
        each = [function(point) for point in points]
        results = {name: np.array(np.broadcast_arrays(*(one[name] for one in each)))
                   for name in each[0]}
    unit = dict.fromkeys(results, "1") | dict(units or {})
    if not unsure:
        return {name: Amount.exactly(result[0], unit[name]) for name, result in results.items()}
    return {name: Amount(results[name][0], low, high, unit[name])
            for name, (low, high) in _combined(results, len(points)).items()}


def _draws(name: str, one: Amount) -> np.ndarray:
    """An input in the joint draws, shape (``JOINT``, *that of the input)."""
    shape = np.shape(one.value)
    rows = zip(*(np.broadcast_to(point, shape).ravel() for point in one.points), strict=True)
    return np.stack([jointly(name, float(low), float(value), float(high))
                     for value, low, high in rows], axis=1).reshape(JOINT, *shape)


def _combined(results: Mapping[str, np.ndarray], count: int) -> dict[str, tuple[Any, Any]]:
    """Ends of results as given, then moved to either end of each input in turn, then in joint
    draws: ``count`` points, the first axis of each result."""
    if count == ALONE:
        return {name: (points.min(axis=0), points.max(axis=0))
                for name, points in results.items()}
    flat = [points.reshape(count, -1).astype(float) for points in results.values()]
    widths = [each.shape[1] for each in flat]
    in_log = np.repeat([bool((each[:-JOINT] > 0).all()) for each in flat], widths)
    ends = np.stack(ends_of(np.concatenate(flat, axis=1), in_log,
                            np.zeros((2 * len(NONE), sum(widths)))))
    apart = np.split(ends, np.cumsum(widths)[:-1], axis=1)
    return {name: (low, high) for (name, points), each in zip(
        results.items(), apart, strict=True) for low, high in [each.reshape(2, *points.shape[1:])]}
