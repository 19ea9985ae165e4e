"""Requests that are dealt to replicas in turn: how many others are on the same one."""

from __future__ import annotations

import numpy as np

from calc.physics.arrays import Number, clip, maximum, minimum, select

# Bowling, Khasawneh, Kaewkuekool and Cho, A logistic approximation to the cumulative normal
# distribution, JIEM 2 (2009) 114-127: within 1.5e-4
LINEAR, CUBIC = 1.5976, 0.07056
FARTHEST = 8.0  # deviations; nothing lies beyond
LEAST = 8.0**-9  # of what divides
FLAT = 8.0**-4  # inverse of an exponent; below it, a power is an exponential
FEWEST = 8.0**2  # exponent of the share of others below which there are none


def normal_tail(deviations: Number) -> Number:
    """Probability that a standard normal variable exceeds so many deviations [1], to 1.5e-4.

    >>> float(normal_tail(np.float64(2)).round(4))  # 0.02275
    0.0228

    Args:
        deviations: of either sign [1].

    Source: notebooks/memory.md, section How full the cache gets.
    """
    z = clip(deviations, -FARTHEST, FARTHEST)
    return 1 / (1 + np.exp(LINEAR * z + CUBIC * z * z * z))


def shorter_of_two(first: Number, second: Number, variations: tuple[Number, Number]
                   ) -> Number:
    """Mean of the shorter one of two stays over the mean of one [1].

    Of log-normal stays with a standard deviation of the logarithm s it is 2 Φ(-s/√2).

    Args:
        first, second: mean parts of a stay, which vary by themselves [s].
        variations: of either, standard deviation over mean [1].

    Source: notebooks/serving.md, section A steady state.
    """
    whole = first + second
    squares = ((first * variations[0]) ** 2 + (second * variations[1]) ** 2) / (whole * whole)
    return 2 * normal_tail((np.log1p(squares) / 2) ** 0.5)


def others_in_turn(others: Number, replicas: Number, shorter: Number) -> Number:
    """Of so many others in flight those on one's own replica, if dealt in turn [request].

    Where stays are exponential, requests come to each of D replicas at every D-th arrival, and find
    1 / ((1 + 1/M)^D - 1) of M others (GI/M/∞). Of many the excess over M/D is half of 1/D - 1, for
    other stays b of it, b the mean of the shorter of two over the mean of one (Whitt): the same
    form with an exponent 1/x, x = 1 - 2 b (1 - 1/D). Stays that are all equal find none before M
    is D. A single replica has all of them.

    Args:
        others: M, in flight [request].
        replicas: D [1].
        shorter: b [1].

    Source: notebooks/serving.md, section A steady state.
    """
    x = 1 - 2 * shorter * (1 - 1 / replicas)
    x = select(np.abs(x) < FLAT, FLAT, x)
    spread = maximum(LEAST - 1, replicas * x / maximum(LEAST, others))
    grown = minimum(FEWEST, np.log1p(spread) / x)
    return select(others > LEAST, 1 / np.expm1(grown), 0)
