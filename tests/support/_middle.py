"""Whether a printed value is a median of what was sampled."""

import numpy as np


def is_middle(found: np.ndarray, value: float, least: float, most: float) -> bool:
    """Whether no more than a share of a sampled quantity is below a value, nor more above it.

    What many samples are at once, as a limit that cuts them off, is a median of them although few
    may be on its one side and none on its other.

    >>> is_middle(np.array([1.0, 2.0, 2.0, 2.0]), 2.0, 0.35, 0.65)
    True

    Args:
        found: the samples, or one number that none of them moves.
        value: what is printed.
        least, most: shares that it has to lie between [1].
    """
    return bool((found < value).mean() <= most and (found <= value).mean() >= least)
