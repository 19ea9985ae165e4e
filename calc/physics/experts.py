"""How many experts of a layer a step chooses, how unevenly ranks share them, and buffers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from calc.physics.arrays import (
    SCALAR,
    Inputs,
    Number,
    anywhere,
    either,
    maximum,
    minimum,
    once,
    plus,
    power,
    select,
)

LEAST = np.finfo(float).tiny  # of what has a root or a power, which has a slope then
TUKEY_SCALE, TUKEY_POWER = 4.91, 0.14  # of the normal distribution's quantile
# the largest of n is about what one of them exceeds with probability exp(-gamma)/n, Gumbel's mean
EXPECTED_MAXIMUM = math.exp(-0.5772156649015329)
# DeepEP's low-latency layout, csrc/legacy/config.hpp: even and odd calls have a buffer each to send
# and to receive, whose messages carry the least and largest value [element] of so many channels
SYMMETRIC_BUFFERS = 4
SCALES, SCALE_CHANNELS = 2, 2**7


def distinct_experts(n_routed_experts: Number, num_experts_per_tok: Number, tokens: Number,
                     routing_skew: Number = 0.0) -> Number:
    """Expected number of experts that ``tokens`` hit in a layer [1].

    E = N (1 - (1 + B ((1 - k/N)^-s - 1))^(-1/s)) for experts whose popularity is gamma-distributed
    with squared coefficient of variation s; its limit for s = 0 is N (1 - (1 - k/N)^B), uniform
    routing. E(1) = k and E(infinity) = N for every s. Without experts it is 0. It is computed with
    (1 - k/N)^-s taken out of the bracket, whose power would be beyond a double for a large s.

    >>> round(float(distinct_experts(256, 8, 32)), 1)
    163.3

    Args:
        n_routed_experts: experts of a layer N [1].
        num_experts_per_tok: experts that a token is sent to, k [1].
        tokens: tokens of the step that share the experts, B [token].
        routing_skew: s [1].

    Source: notebooks/compute.md, section Distinct experts, uniform and skewed.
    """
    missed = 1 - num_experts_per_tok / maximum(n_routed_experts, 1)
    skew = select(routing_skew > 0, routing_skew, 1)
    never = select(missed > 0, missed, 1)
    # the function of NumPy: the operator rounds single numbers otherwise than those of an array
    left = either((routing_skew > 0) & (missed > 0),
                  lambda: never * np.power(tokens + (1 - tokens) * np.power(never, skew),
                                           -1 / skew),
                  lambda: power(maximum(missed, LEAST), tokens))
    return n_routed_experts * (1 - left)


def normal_quantile(exceeded: Number) -> Number:
    """Value that a standard normal variable exceeds with a given probability [1]; at least 0.

    Tukey's form, 4.91 ((1 - p)^0.14 - p^0.14), within 1% between 0.001 and 0.5.

    >>> float(normal_quantile(0.1).round(2))
    1.28

    Args:
        exceeded: the probability p [1].

    Source: notebooks/compute.md, section The most loaded rank.
    """
    return maximum(
        0, TUKEY_SCALE * (power(1 - exceeded, TUKEY_POWER) - power(exceeded, TUKEY_POWER)))


def upper_quantile(variance: Number, exceeded: Number) -> Number:
    """Value that a gamma-distributed variable of mean 1 exceeds with a given probability [1].

    Wilson and Hilferty: its cube root is nearly normal. More variance is never less, and below the
    middle nothing is asked.

    >>> float(upper_quantile(1.0, 0.01).round(2))  # of an exponential variable: -ln 0.01 = 4.61
    4.61

    Args:
        variance: of the variable, v [1].
        exceeded: the probability [1].

    Source: notebooks/compute.md, section The most loaded rank.
    """
    return _cubed(variance, normal_quantile(exceeded))


def _cubed(variance: Number, normal: Number) -> Number:
    """The gamma-distributed variable [1] where a standard normal one is ``normal``."""
    spread = maximum(variance, LEAST) ** 0.5
    # beyond its maximum the law would fall again
    spread = minimum(spread, 3 * normal / 2)
    root = 1 + spread * (normal / 3 - spread / 9)
    return root * root * root


@once
def _dealing(q: Inputs, ranks: Number) -> tuple[Number, Number, Number, Number]:
    """Ranks that share a layer's experts, whatever the tokens are [1].

    Share of the experts that a rank does not have, variance of the popularity of a rank's share,
    what of a standard normal variable the largest of them is about, and the load of a rank that
    every token wants, over the mean.
    """
    experts, chosen = maximum(q.n_routed_experts, 1), maximum(q.num_experts_per_tok, 1)
    return (1 - 1 / ranks, ranks * q.routing_skew / (experts + q.routing_skew),
            normal_quantile(EXPECTED_MAXIMUM / ranks),
            ranks * minimum(1, experts / ranks / chosen))


@once
def _largest_copy(q: Inputs) -> Number:
    return upper_quantile(q.routing_skew, (q.redundant_experts + EXPECTED_MAXIMUM) / (
        maximum(q.n_routed_experts, 1) + q.redundant_experts))


def fullest(q: Inputs, ranks: Number, tokens: Number) -> Number:
    """Load of the fullest of the ranks that share a layer's experts, over the mean load [1].

    Experts dealt at random make the popularity of a rank's share vary, tokens that choose make its
    count vary. Placement by measured load, with copies of the most popular experts, leaves a
    residual and what cannot be divided: the largest copy. Even routing leaves nothing. No rank
    receives more than the tokens that there are.

    Args:
        q: input symbols as attributes.
        ranks: that the experts are spread over, e [1].
        tokens: of all ranks together, B [token].

    Source: notebooks/compute.md, section The most loaded rank.
    """
    if not anywhere(ranks > 1):
        return 1.0
    others, at_random, normal, most = _dealing(q, ranks)
    counting = ranks / maximum(maximum(q.num_experts_per_tok, 1) * tokens, 1)

    def dealt() -> Number:
        return _cubed(others * (at_random + counting), normal)

    def placed() -> Number:
        spread = _cubed(others * (q.placement_residual**2 + counting), normal)
        copies, experts = _largest_copy(q), maximum(q.n_routed_experts, 1)
        return maximum(spread, select(ranks > 1, copies * ranks / experts, 0))

    def uneven() -> Number:
        load = either(q.balanced_placement > 0, placed, dealt)
        return maximum(1, minimum(load, most))

    return either(q.even_routing <= 0, uneven, lambda: 1)


@once
def expert_slices(q: Inputs) -> Number:
    """Slices that each routed expert is cut into [1]: as many as asked for, or max(1, t/e).

    Args:
        q: input symbols as attributes; ``expert_tensor_parallel`` is 0 where nothing is asked for.

    Source: notebooks/memory.md, section The weights of a layer.
    """
    left = maximum(1, q.tensor_parallel / q.expert_parallel)
    return select(q.expert_tensor_parallel > 0, q.expert_tensor_parallel, left)


@once
def expert_group(q: Inputs) -> Number:
    """Ranks that together hold each routed expert once [1]: expert-parallel ranks, slice by slice.

    Args:
        q: input symbols as attributes.

    Source: notebooks/memory.md, section The weights of a layer.
    """
    return q.expert_parallel * expert_slices(q)


@once
def expert_shards(q: Inputs) -> Number:
    """Over how many ranks the routed experts of a layer are spread [1].

    Args:
        q: input symbols as attributes.

    Source: notebooks/memory.md, section The weights of a layer.
    """
    return routed_ranks(q) * expert_slices(q)


@once
def routed_ranks(q: Inputs) -> Number:
    """Expert-parallel ranks that hold routed experts [1]: all, or those without shared ones.

    Args:
        q: input symbols as attributes; ``expert_parallel`` and ``shared_expert_ranks`` are read.

    Source: notebooks/compute.md, section Shared experts on ranks of their own.
    """
    return q.expert_parallel - q.shared_expert_ranks


def shared_apart(q: Inputs, tokens: Number) -> Number:
    """Tokens that each shared expert of a rank of its own meets [token]; 0 without such ranks.

    Args:
        q: input symbols as attributes.
        tokens: of all ranks together [token].

    Source: notebooks/compute.md, section Shared experts on ranks of their own.
    """
    return either(q.shared_expert_ranks > 0,
                  lambda: tokens / maximum(1, q.shared_expert_ranks), lambda: 0)


def on_fullest(q: Inputs, shared: Number, routed: Number, besides: Number = 0) -> Number:
    """Total of the rank that has most of shared and routed experts [any].

    Both, or where shared experts have ranks of their own the more of the two.

    Args:
        q: input symbols as attributes.
        shared, routed: of a rank that has them, both in the same unit [any].
        besides: what every rank has [the same].

    Source: notebooks/compute.md, section Shared experts on ranks of their own.
    """
    return besides + either(q.shared_expert_ranks > 0, lambda: maximum(shared, routed),
                            lambda: plus(routed, shared))


def copies_sent(q: Inputs) -> Number:
    """Experts that a token is sent to [1]: k, and the shared ones that have ranks of their own.

    Args:
        q: input symbols as attributes.

    Source: notebooks/communication.md, section Tokens that travel to their experts.
    """
    return q.num_experts_per_tok + select(
        q.shared_expert_ranks > 0, q.n_shared_experts, 0)


def fullest_receiver(q: Inputs, slowest: Number) -> Number:
    """Copies that the fullest rank receives over those that one sends in the mean [1].

    Args:
        q: input symbols as attributes.
        slowest: load of the fullest rank with routed experts over the mean of these [1].

    Source: notebooks/communication.md, section Tokens that travel to their experts.
    """
    def apart() -> Number:
        busiest = maximum(slowest * q.num_experts_per_tok / routed_ranks(q),
                          shared_apart(q, q.n_shared_experts))
        return busiest * q.expert_parallel / maximum(1, copies_sent(q))

    return either(q.shared_expert_ranks > 0, apart, lambda: slowest)


@once
def ranks_in_step(q: Inputs) -> Number:
    """Data-parallel ranks that share experts and so take every step together [1].

    Args:
        q: input symbols as attributes.

    Source: notebooks/compute.md, section Distinct experts, uniform and skewed.
    """
    return expert_group(q) / q.tensor_parallel


@once
def sliced(q: Inputs, unsliced: Number, slices: Number) -> Number:
    """Value that applies to the experts on a rank [any]: for whole ones, or for slices.

    Args:
        q: input symbols as attributes.
        unsliced, slices: the two, in the same unit.

    Source: notebooks/latency.md, section The classes of a step.
    """
    if isinstance(unsliced, SCALAR) and isinstance(slices, SCALAR) and unsliced == slices:
        return unsliced
    return select(expert_slices(q) > 1, slices, unsliced)


@once
def streaming(q: Inputs) -> Number:
    """Share of the bandwidth at which experts are read [1].

    Args:
        q: input symbols as attributes.

    Source: notebooks/latency.md, section The classes of a step.
    """
    return sliced(q, q.expert_streaming_efficiency, q.sliced_streaming_efficiency)


@once
def has_all(q: Inputs) -> Number:
    """Whether a rank has the tokens of all that share its experts [0 or 1].

    Args:
        q: input symbols as attributes.

    Source: notebooks/compute.md, section What the vector unit does.
    """
    return (q.exchange_gathered > 0) | (expert_group(q) <= q.tensor_parallel)


def expert_tile(q: Inputs, slowest: Number, together: Number) -> Number:
    """Rows of a tile of experts [1]: the smallest, or larger where experts have more rows.

    Kernels choose it for all experts alike, by the mean rows of one. Where a rank has the tokens of
    all, they take the rows of all experts for those of the rank's, and a tile too large by as much.

    >>> q = Inputs(
    ...     n_routed_experts=256, num_experts_per_tok=8, tensor_parallel=1, expert_parallel=8,
    ...     expert_tensor_parallel=0, shared_expert_ranks=0, exchange_gathered=0,
    ...     expert_tile_rows=16.0, expert_tile_growth=2.0, sliced_tile_growth=0.0,
    ...     largest_expert_tile=128.0, largest_sliced_tile=0.0)
    >>> [float(expert_tile(q, 1.0, tokens)) for tokens in (64, 512, 8192)]
    [16.0, 32.0, 128.0]

    Args:
        q: input symbols as attributes.
        slowest: load of the fullest rank over the mean [1].
        together: tokens that share the experts [token].

    Source: notebooks/latency.md, section The classes of a step.
    """
    growth = sliced(q, q.expert_tile_growth, q.sliced_tile_growth)
    if not anywhere(growth > 0):
        return q.expert_tile_rows
    largest = sliced(q, q.largest_expert_tile, q.largest_sliced_tile)
    of_one = together * (q.num_experts_per_tok / maximum(q.n_routed_experts, 1))
    seen = of_one * sliced(q, select(has_all(q), routed_ranks(q), slowest), slowest)
    return maximum(q.expert_tile_rows, minimum(growth * seen, largest))


def moved_rows(q: Inputs, rows: Number, together: Number) -> Number:
    """Rows of experts that are moved besides their matmuls, each as often as it is [token].

    Once is what gathering them, their gates and bringing them back take; quantising them, sorting
    and summing in wider elements is more. Where a rank has the tokens of all, some kernels sort,
    gate and sum the rows of all experts, of which it has some.

    Args:
        q: input symbols as attributes.
        rows: of the rank's experts [token].
        together: tokens that share the experts [token].

    Source: notebooks/compute.md, section What the vector unit does.
    """
    moved = rows * sliced(q, q.expert_row_traffic, q.sliced_row_traffic)
    if not anywhere(q.gathered_row_traffic > 0):
        return moved
    of_all = select(has_all(q) & (expert_slices(q) <= 1),
                    q.gathered_row_traffic * q.num_experts_per_tok, 0)
    return moved + of_all * together


@once
def gathers(q: Inputs) -> Number:
    """Whether ranks gather all tokens for their experts and scatter the sums [0 or 1].

    So do ranks with slices of experts, and within a node those of an engine that asks for nothing
    else.

    Args:
        q: input symbols as attributes.

    Source: notebooks/memory.md, section The weights of a layer.
    """
    within = (q.buffers_within_node <= 0) & (q.expert_parallel <= q.devices_per_node)
    return (q.exchange_gathered > 0) | (expert_slices(q) > 1) | within


def exchange_buffers(q: Inputs, n: Any) -> Number:
    """Buffers of dispatch and combine on a device [B]; none where tokens are not exchanged.

    Low-latency mode keeps a place for every token of a rank at every expert; normal mode has rows
    of a fixed number on the links and, if the group leaves the node, as many on the network.

    Args:
        q: input symbols as attributes.
        n: the model's parameters.

    Source: notebooks/memory.md, section What else engines keep in memory; DeepEP,
    csrc/legacy/config.hpp.
    """
    row = q.routed_expert_hidden_size * q.activation_element_bytes
    message = row * (1 + SCALES / SCALE_CHANNELS)
    experts = q.n_routed_experts + q.redundant_experts + q.shared_expert_ranks * q.n_shared_experts
    places = SYMMETRIC_BUFFERS * experts * message
    levels = 1 + (q.expert_parallel > q.devices_per_node)
    size = q.exchange_buffer_tokens * select(q.exchange_normal > 0, levels * row, places)
    exchanged = (n.moe_layers > 0) & (q.expert_parallel > q.tensor_parallel)
    return select(exchanged, select(gathers(q), 0, size), 0)
