"""Compare nested values (dictionaries, lists, numbers, strings) number by number."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

MISSING = "(missing)"


class Difference(NamedTuple):
    """Two values that differ, and the path to them, such as ``tpot/unit``."""

    path: str
    old: Any
    new: Any


def differences(old: Any, new: Any, tolerance: float, path: str = "") -> Iterator[Difference]:
    """Yield what differs, numbers by more than a relative `tolerance`.

    A key that only one side has, and the surplus of a longer list, are `MISSING` on the other.
    """
    if isinstance(old, dict) and isinstance(new, dict):
        for key in old | new:
            yield from differences(old.get(key, MISSING), new.get(key, MISSING), tolerance,
                                   f"{path}/{key}".lstrip("/"))
    elif isinstance(old, list) and isinstance(new, list):
        yield from differences(dict(enumerate(old)), dict(enumerate(new)), tolerance, path)
    elif is_number(old) and is_number(new):
        if relative_difference(old, new) > tolerance:
            yield Difference(path, old, new)
    elif type(old) is not type(new) or old != new:
        yield Difference(path, old, new)


def is_number(value: Any) -> bool:
    """Whether a value is an integer or a float, not a boolean."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def relative_difference(one: float, other: float) -> float:
    """Difference of two numbers relative to the larger one; 0 for two NaNs, inf for one."""
    if one == other or (math.isnan(one) and math.isnan(other)):
        return 0.0
    difference = abs(one - other) / max(abs(one), abs(other))
    return difference if math.isfinite(difference) else math.inf
