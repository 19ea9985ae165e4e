"""Median, low and high end of what is computed from inputs that each have a low and a high end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from calc.uncertainty.amount import Amount
from calc.uncertainty.interval import JOINT, NONE, even_scores, held_quantiles
from catalogue.deployments.knobs import Knob
from catalogue.reading.values import Value

ALONE = 3  # points of one input: its value and both ends
Function = Callable[[Mapping[str, Any]], Mapping[str, Any]]


def propagate_uncertainty(function: Function, inputs: Mapping[str, Amount | Any],
                          units: Mapping[str, str] | None = None) -> dict[str, Amount]:
    """What a function of uncertain inputs gives, with 80% intervals.

    Each input is moved alone to either end, and all of them together in some draws; the moves are
    put together as those of every other interval
    (:func:`calc.uncertainty.interval.held_quantiles`): in logarithms where a result is positive
    throughout. What a single input moves has the points that this gives it.

    >>> product = propagate_uncertainty(lambda q: {"area": q["a"] * q["b"]},
    ...                  {"a": Amount(2.0, 1.0, 4.0), "b": 3.0})["area"]
    >>> product.value, round(float(product.low), 6), round(float(product.high), 6)
    (6.0, 3.0, 12.0)

    Args:
        function: from numbers by name to results by name, which may be arrays of one shape.
        inputs: each exact, or with its ends.
        units: SI units of results, ``1`` unless told.

    Returns results with their medians and ends; what they are at the inputs' values is central.
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
    results = [function(point) for point in points]
    return {name: _combined([result[name] for result in results], (units or {}).get(name, "1"))
            for name in results[0]}


def _draws(name: str, one: Amount) -> np.ndarray:
    """An input in the joint draws, shape (``JOINT``, *that of the input)."""
    shape = np.shape(one.value)
    rows = zip(*(np.broadcast_to(point, shape).ravel() for point in one.points), strict=True)
    return np.stack([Knob(name, Value(value, one.unit, "", "", "derived", low, high), ()).at(
        even_scores(name)) for value, low, high in rows], axis=1).reshape(JOINT, *shape)


def _combined(points: list[Any], unit: str) -> Amount:
    """A result as given, then moved to either end of each input in turn, then in joint draws."""
    value = points[0]
    if len(points) == 1:
        return Amount.exactly(value, unit)
    if len(points) == ALONE:
        return Amount(value, np.minimum.reduce(points), np.maximum.reduce(points), unit)
    arrays = np.array(np.broadcast_arrays(*points), dtype=float)
    shape = arrays.shape[1:]
    flat = arrays.reshape(len(points), -1)
    in_log = np.full(flat.shape[1], (flat[:-JOINT] > 0).all())
    low, middle, high = (each.reshape(shape)[()] for each in held_quantiles(
        flat, in_log, np.zeros((2 * len(NONE), flat.shape[1]))))
    return Amount(middle, low, high, unit, central=value)
