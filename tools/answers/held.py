"""Two sets of answers, value by value: numbers to a billionth, all else as it is."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

TOLERANCE = 1e-9  # relative


class Held(NamedTuple):
    """Two sets of answers, value by value.

    Attributes:
        values: numbers in both.
        largest: difference of two numbers, relative to the larger one.
        at: where that is.
        others: where a text, a key or a length differs.
    """

    values: int
    largest: float
    at: str
    others: tuple[str, ...]

    @property
    def same(self) -> bool:
        """Whether every number is the same to `TOLERANCE`, and all else is equal."""
        return self.largest <= TOLERANCE and not self.others


def held(one: Any, other: Any) -> Held:
    """What two answers have in common, and in what they differ most."""
    pairs = list(_pairs(one, other, ""))
    numbers = [(_apart(a, b), at) for at, a, b in pairs if _is_number(a) and _is_number(b)]
    largest, at = max(numbers, default=(0.0, ""), key=lambda number: number[0])
    others = tuple(at for at, a, b in pairs if not (_is_number(a) and _is_number(b)) and a != b)
    return Held(len(numbers), largest, at if largest else "", others)


def _pairs(one: Any, other: Any, at: str) -> Iterator[tuple[str, Any, Any]]:
    """Every two values at the same place; where the shapes differ, the two wholes."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for key in one:
            yield from _pairs(one[key], other[key], f"{at}/{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for place, (a, b) in enumerate(zip(one, other, strict=True)):
            yield from _pairs(a, b, f"{at}/{place}")
    else:
        yield at, one, other


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _apart(a: float, b: float) -> float:
    """How far two numbers are apart, relative to the larger; nothing where both are the same."""
    if a == b or (math.isnan(a) and math.isnan(b)):
        return 0.0
    apart = abs(a - b) / max(abs(a), abs(b))
    return apart if math.isfinite(apart) else math.inf
