"""How many experts of a layer the tokens of a step choose between them."""

from __future__ import annotations

import numpy as np

from calc.physics.arrays import Number, select


def distinct_experts(n_routed_experts: Number, num_experts_per_tok: Number, tokens: Number,
                     routing_skew: Number = 0.0) -> Number:
    """Expected number of experts that ``tokens`` hit in a layer [1].

    E = N (1 - (1 + B ((1 - k/N)^-s - 1))^(-1/s)) for experts whose popularity is gamma-distributed
    with squared coefficient of variation s; its limit for s = 0 is N (1 - (1 - k/N)^B), uniform
    routing. E(1) = k and E(infinity) = N for every s. Without experts it is 0.

    >>> round(float(distinct_experts(256, 8, 32)), 1)
    163.3

    Args:
        n_routed_experts: experts of a layer N [1].
        num_experts_per_tok: experts that a token is sent to, k [1].
        tokens: tokens of the step that share the experts, B [token].
        routing_skew: s [1].

    Source: notebooks/compute.md, section Distinct experts, uniform and skewed.
    """
    missed = 1 - num_experts_per_tok / np.maximum(n_routed_experts, 1)
    skew = np.where(np.greater(routing_skew, 0), routing_skew, 1)
    never = select(missed > 0, missed, 1)
    uniform = missed ** tokens
    skewed = (1 + tokens * (never ** -skew - 1)) ** (-1 / skew)
    left = select((np.greater(routing_skew, 0)) & (missed > 0), skewed, uniform)
    return n_routed_experts * (1 - left)
