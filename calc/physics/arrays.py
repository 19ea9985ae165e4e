"""What the formulas need of NumPy, for scalars and arrays alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Number = Any  # int, float or numpy array: every function of calc is vectorised


def select(condition: Number, yes: Number, no: Number) -> Number:
    """``yes`` where the condition holds, else ``no``; one of the two for a scalar condition."""
    if getattr(condition, "ndim", 0) == 0:
        return yes if condition else no
    return np.where(condition, yes, no)


def either(condition: Number, yes: Callable[[], Number], no: Callable[[], Number]) -> Number:
    """``yes()`` where the condition holds, else ``no()``; one that holds nowhere is not computed.

    >>> float(either(np.float64(1) > 0, lambda: 2.0, lambda: 1 / 0))
    2.0

    Args:
        condition: booleans, never traced.
        yes, no: what computes either.
    """
    if getattr(condition, "ndim", 0) == 0:
        return yes() if condition else no()
    if condition.all():
        return yes()
    return np.where(condition, yes(), no()) if condition.any() else no()


def ceil_div(whole: Number, part: Number) -> Number:
    """Least integer at or above ``whole / part``, exact for whole numbers below 2^53."""
    return np.ceil(whole / part)
