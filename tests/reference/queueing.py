"""Closed forms of waiting times, beside which a simulation is tested.

Arrivals are Poisson at a mean rate; one server works on one request at a time, first come first
served. An engine that batches is no such server; with batches of one it is.
"""

from __future__ import annotations

import math


def md1_wait(rate: float, service: float) -> float:
    """Mean wait in the queue if every request takes the same time [s].

    W = ρ / (2 (1 - ρ)) D with ρ = λ D.

    >>> md1_wait(0.5, 1.0)
    0.5

    Args:
        rate: of arrivals, λ [request/s].
        service: time of a request on the server, D [s].

    Source: Pollaczek-Khinchine formula, see https://db0nus869y26v.cloudfront.net/en/M/D/1_queue.
    """
    return rate * service**2 / (2 * (1 - rate * service))


def md1_wait_below(wait: float, rate: float, service: float) -> float:
    """Probability that a request waits at most ``wait`` if every request takes the same time [1].

    P = (1 - ρ) Σ x_k^k / k! exp(-x_k) with x_k = λ (k D - t), k = 0 … ⌊t / D⌋. The terms alternate:
    good to about exp(λ t) roundings, so for λ t up to 20.

    Args:
        wait: t [s].
        rate: of arrivals, λ [request/s].
        service: time of a request on the server, D [s].

    Source: Erlang 1909, see https://wikimili.com/en/M%2FD%2Fc_queue, with one server.
    """
    total = 0.0
    for k in range(math.floor(wait / service) + 1):
        x = rate * (k * service - wait)
        total += x**k / math.factorial(k) * math.exp(-x)
    return (1 - rate * service) * total


def interrupted_pace(step: float, interruption: float, rate: float) -> float:
    """Time per token where all wait for whoever is interrupted [s].

    t = τ / (1 - λ D): at random moments, λ of them a second, all stand still for D. That of ranks
    that step together, while seldom two prefill at once.

    >>> interrupted_pace(0.02, 0.4, 1.25)
    0.04

    Args:
        step: without interruption, τ [s].
        interruption: of each prefill, beyond the step that it takes the place of, D [s].
        rate: of prefills of all ranks, λ [1/s].

    Source: notebooks/serving.md, section Ranks that wait for one another.
    """
    return step / (1 - rate * interruption)
