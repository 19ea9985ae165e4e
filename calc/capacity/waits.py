"""Percentiles of what users wait for, in closed form: tails around the means of a steady state.

The means are those of ``calc.serving.steady``; here stands how single requests scatter about
them. A simulation of the same steps is what these forms are held against.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from calc.physics.inputs import Number

MET, FARTHEST = 33, 4.0  # rates that stand for those of an hour's minutes, to so many deviations
HALVINGS = 30  # of an interval that holds a percentile


def first_met(met: Callable[[float], bool], high: float, halvings: int = HALVINGS) -> float:
    """Where a condition begins to hold [the unit of ``high``].

    Args:
        met: the condition, which holds from some value above zero on.
        high: a value to begin with; it is doubled until it suffices.
        halvings: of the interval between.
    """
    low = 0.0
    while not met(high):
        low, high = high, 2 * high
    for _ in range(halvings):
        middle = (low + high) / 2
        low, high = (low, middle) if met(middle) else (middle, high)
    return high


def percentile(above: Callable[[float], float], share: float, high: float) -> float:
    """Where a falling probability reaches what a percentile leaves [the unit of ``high``].

    Args:
        above: probability of more than a value [1].
        share: the percentile, 0.99 for the slowest in a hundred [1].
        high: a value to begin with; it is doubled until it suffices.

    >>> round(percentile(lambda t: math.exp(-t), 0.99, 1.0), 4)
    4.6052
    """
    return first_met(lambda value: above(value) <= 1 - share, high)


def pace_spread(met: Number, stall: Number, slope: Number, gain: Number
                ) -> tuple[Number, Number]:
    """Standard deviation of a request's mean time per token [s], and its skewness [1].

    A prompt that comes while this answer is written stalls it once, and slows its steps for as long
    as both are there; one that came before slows it for the rest of its own answer. Of independent
    arrivals the cumulants add (Campbell): the second is m (d² + d s + 2 s²/3), the third
    m (d³ + 3 d² s/2 + d s² + s³/2). An answer that lasts longer meets more prompts: both are as
    much larger as ``gain`` says.

    >>> deviation, skewness = pace_spread(16.0, 0.01, 0.0, 1.0)
    >>> float(deviation), float(skewness)  # 16 stalls of 10 ms each, give or take 4
    (0.04, 0.25)

    Args:
        met: prompts that come while an answer is written, m [request].
        stall: by one prompt, per token of the answer, d [s].
        slope: by which one more request slows a token, s [s].
        gain: 1 without the return [1].

    Source: notebooks/day.md, section The slowest in a hundred.
    """
    second = met * (stall**2 + stall * slope + 2 * slope**2 / 3)
    third = met * (stall**3 + 3 * stall**2 * slope / 2 + stall * slope**2 + slope**3 / 2)
    deviation = np.sqrt(second)
    return gain * deviation, third / np.where(deviation > 0, second * deviation, np.inf)


def skewed_above(deviations: Number, skewness: Number) -> np.ndarray:
    """Probability above so many standard deviations of a variable with some skewness [1].

    Its quantiles are z + γ (z² - 1)/6 as in Cornish and Fisher (1937), solved for the normal z.

    >>> round(float(skewed_above(0.0, 0.0)), 3)
    0.5
    """
    x = np.asarray(deviations, float)
    # (√root - 1) 3/γ, without its difference of near numbers where there is little skewness
    root = 1 + 2 * skewness / 3 * (x + skewness / 6)
    least = 3 / np.maximum(skewness, np.finfo(float).tiny)
    x = np.where(root > 0, 2 * (x + skewness / 6) / (np.sqrt(np.maximum(0, root)) + 1), -least)
    return np.asarray([math.erfc(each / math.sqrt(2)) / 2 for each in x.ravel()]).reshape(x.shape)


def rates_met(rate: float, variation: float) -> tuple[np.ndarray, np.ndarray]:
    """Rates that requests meet where the rate of a minute varies [request/s], and their shares [1].

    The rate of a minute is log-normal about its mean; of the requests more come in busy minutes, so
    that the rate that they meet is log-normal too, with σ² added to the mean of its logarithm.

    >>> rates_met(2.0, 0.0)[0].tolist()
    [2.0]

    Args:
        rate: of the hour [request/s].
        variation: standard deviation of a minute's rate over the mean [1].

    Source: notebooks/day.md, section The slowest in a hundred.
    """
    if not variation:
        return np.array([rate]), np.ones(1)
    sigma = math.sqrt(math.log1p(variation * variation))
    at = np.linspace(-FARTHEST, FARTHEST, MET)
    share = np.exp(-at * at / 2)
    return rate * np.exp(sigma * at + sigma * sigma / 2), share / share.sum()
