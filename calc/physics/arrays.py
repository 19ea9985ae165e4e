"""What the formulas need of NumPy, for scalars and arrays alike."""

from __future__ import annotations

from typing import Any

import numpy as np

Number = Any  # int, float or numpy array: every function of calc is vectorised


def select(condition: Number, yes: Number, no: Number) -> Number:
    """``yes`` where the condition holds, else ``no``; one of the two for a scalar condition."""
    if getattr(condition, "ndim", 0) == 0:
        return yes if condition else no
    return np.where(condition, yes, no)


def ceil_div(whole: Number, part: Number) -> Number:
    """Least integer at or above ``whole / part``, exact for whole numbers below 2^53."""
    return np.ceil(whole / part)
