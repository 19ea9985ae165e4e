"""Low, central and high of what is computed from inputs that each have a low and a high end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from calc.intervals.uncertainty import ends

Function = Callable[[Mapping[str, Any]], Mapping[str, Any]]


class Three(NamedTuple):
    """An amount with its 80% interval; numbers, or arrays of one shape."""

    value: Any
    low: Any
    high: Any

    def scaled(self, factor: Any) -> Three:
        """All three times a positive factor."""
        return Three(self.value * factor, self.low * factor, self.high * factor)


def exactly(value: Any) -> Three:
    """An amount that is known."""
    return Three(value, value, value)


def spread(function: Function, inputs: Mapping[str, Three | Any]) -> dict[str, Three]:
    """What a function of uncertain inputs gives, with 80% intervals.

    Each input is moved alone to either end, and the moves are put together as those of every other
    interval (:func:`calc.intervals.uncertainty.ends`): in logarithms where a result is positive
    throughout.

    >>> product = spread(lambda q: {"area": q["a"] * q["b"]},
    ...                  {"a": Three(2.0, 1.0, 4.0), "b": 3.0})["area"]
    >>> product.value, round(product.low, 6), round(product.high, 6)
    (6.0, 3.0, 12.0)

    Args:
        function: from numbers by name to results by name, which may be arrays of one shape.
        inputs: each exact, or with its ends.

    Returns results with their ends; the value is never outside.
    """
    central = {name: one.value if isinstance(one, Three) else one for name, one in inputs.items()}
    moved = [central | {name: end} for name, one in inputs.items() if isinstance(one, Three)
             and not np.array_equal(one.low, one.high) for end in (one.low, one.high)]
    results = [function(point) for point in (central, *moved)]
    return {name: _combined([result[name] for result in results]) for name in results[0]}


def _combined(points: list[Any]) -> Three:
    """A result as given, then moved to either end of each input in turn."""
    value = points[0]
    if len(points) == 1:
        return exactly(value)
    arrays = np.array(np.broadcast_arrays(*points), dtype=float)
    shape = arrays.shape[1:]
    flat = arrays.reshape(len(points), -1)
    in_log = bool((flat > 0).all())
    scale = np.log(flat) if in_log else flat
    down, up = ends((scale[1:] - scale[0]).reshape(-1, 2, flat.shape[1]))
    low, high = ((flat[0] * np.exp(down), flat[0] * np.exp(up)) if in_log
                 else (flat[0] + down, flat[0] + up))
    return (Three(value, low.reshape(shape), high.reshape(shape)) if shape
            else Three(float(flat[0, 0]), float(low[0]), float(high[0])))
