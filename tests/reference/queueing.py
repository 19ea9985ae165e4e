"""Closed forms of waiting times, beside which a simulation is tested.

Arrivals are Poisson at a mean rate; one server works on one request at a time, first come first
served. An engine that batches is no such server; with batches of one it is.
"""

from __future__ import annotations

import math

import numpy as np

from calc.physics.arrays import Number, select


def md1_wait(rate: Number, service: Number) -> Number:
    """Mean wait in the queue if every request takes the same time [s].

    W = ρ / (2 (1 - ρ)) D with ρ = λ D.

    >>> float(md1_wait(0.5, 1.0))
    0.5

    Args:
        rate: of arrivals, λ [request/s].
        service: time of a request on the server, D [s].

    Infinite from saturation on.

    Source: Pollaczek-Khinchine formula, see https://db0nus869y26v.cloudfront.net/en/M/D/1_queue.
    """
    left = 1 - np.multiply(rate, service)
    return select(left > 0, rate * np.square(service) / (2 * np.where(left > 0, left, 1)), math.inf)


def md1_wait_below(wait: float, rate: float, service: float) -> float:
    """Probability that a request waits at most ``wait`` if every request takes the same time [1].

    P = (1 - ρ) Σ x_k^k / k! exp(-x_k) with x_k = λ (k D - t), k = 0 … ⌊t / D⌋. The terms alternate:
    good to about exp(λ t) roundings, so for λ t up to 20.

    Args:
        wait: t [s].
        rate: of arrivals, λ [request/s].
        service: time of a request on the server, D [s].

    Raises ValueError without a steady state, or where the sum loses its digits.

    Source: Erlang 1909, see https://wikimili.com/en/M%2FD%2Fc_queue, with one server.
    """
    if not 0 <= rate * service < 1:
        raise ValueError(f"the server is used {rate * service:.3g} times its capacity, expected "
                         "less than 1.")
    if rate * wait > 20:
        raise ValueError(f"λ t is {rate * wait:.3g}, the sum has lost its digits from 20 on.")
    total = 0.0
    for k in range(math.floor(wait / service) + 1):
        x = rate * (k * service - wait)
        total += x**k / math.factorial(k) * math.exp(-x)
    return (1 - rate * service) * total


def interrupted_pace(step: Number, interruption: Number, rate: Number) -> Number:
    """Time per token where all wait for whoever is interrupted [s]; infinite from 1/D on.

    t = τ / (1 - λ D): at random moments, λ of them a second, all stand still for D. That of ranks
    that step together, while seldom two prefill at once.

    >>> float(interrupted_pace(0.02, 0.4, 1.25))
    0.04

    Args:
        step: without interruption, τ [s].
        interruption: of each prefill, beyond the step that it takes the place of, D [s].
        rate: of prefills of all ranks, λ [1/s].

    Raises ValueError for a negative argument.

    Source: notebooks/serving.md, section Ranks that wait for one another.
    """
    if (np.less(step, 0) | np.less(interruption, 0) | np.less(rate, 0)).any():
        raise ValueError("a rate or a time is negative.")
    left = 1 - np.multiply(rate, interruption)
    return select(left > 0, step / np.where(left > 0, left, 1), math.inf)
