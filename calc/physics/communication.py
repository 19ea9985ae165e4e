"""Collectives over the real topology, and what ranks send for experts and a shared cache.

A message of S bytes takes alpha + S / rate. Inside a node a full mesh gives a group only the links
between its own members, a switch gives each device its full rate. Between nodes every device has
its port of the network. All bandwidths are of ONE direction [B/s], payloads are those of one rank
[B], times are in seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calc.physics.arrays import (
    SCALAR,
    Inputs,
    Number,
    anywhere,
    ceil_div,
    either,
    largest,
    maximum,
    minimum,
    once,
    plus,
    scaled,
    select,
    whole_power,
)
from calc.physics.experts import copies_sent, expert_group, expert_slices
from calc.physics.kv_cache import Cache, index_parts
from calc.physics.parameters import CSA, GQA, MLA, Heads, attention_layers, over_kinds
from calc.physics.work import Composition

SLOWEST_LINK = 1  # [B/s]; where there is no link nothing is sent, at any rate


@dataclass(frozen=True, eq=False)
class Group:
    """A group of ranks laid over nodes: sizes inside and across [1], links of a device [B/s].

    What of its links a message reaches depends on what is sent: collectives and exchanges have
    efficiencies of their own.
    """

    ranks: Number
    inside: Number
    across: Number
    inside_rate: Number
    across_rate: Number


@once
def group(q: Inputs, ranks: Number) -> Group:
    """Place of the ranks of a group on nodes, and the links between them.

    Consecutive ranks fill a node first. In a full mesh of pairwise links a device reaches the
    n - 1 others of its group at n - 1 times the rate of a pair; a switch gives its full rate to
    any group of two or more.

    Args:
        q: input symbols as attributes.
        ranks: size of the group [1].

    Source: notebooks/communication.md, section The bandwidth inside a group of cards.
    """
    inside = minimum(ranks, q.devices_per_node)
    across = ceil_div(ranks, q.devices_per_node)
    mesh = (inside - 1) * q.pair_bandwidth
    links = select(q.full_mesh > 0, mesh, q.device_link_bandwidth)
    return Group(ranks, inside, across, links, q.network_bandwidth)


@once
def _inside(q: Inputs, g: Group) -> Number:
    """Rate of a collective between cards of a node [B/s]."""
    return maximum(g.inside_rate * q.collective_efficiency, SLOWEST_LINK)


@once
def _across(q: Inputs, g: Group) -> Number:
    """Rate of a collective between nodes [B/s]."""
    return maximum(g.across_rate * q.network_efficiency, SLOWEST_LINK)


def one_shot(q: Inputs, g: Group, payload: Number) -> Number:
    """All-reduce in one exchange [s]: each rank sends its whole payload to every other.

    Args:
        q: input symbols as attributes.
        g: the group, inside one node.
        payload: of one rank [B].

    Source: notebooks/communication.md, section Five ways to add up.
    """
    return q.collective_alpha + _exchanged_per_byte(q, g) * payload


@once
def _exchanged_per_byte(q: Inputs, g: Group) -> Number:
    """Time to send as much to every other rank of a node, per byte of what each gets [s/B]."""
    return (g.inside - 1) / _inside(q, g)


def two_shot(q: Inputs, g: Group, payload: Number) -> Number:
    """All-reduce as direct reduce-scatter and all-gather [s]: 2 exchanges of (n - 1)/n payloads.

    Args:
        q: input symbols as attributes.
        g: the group, inside one node.
        payload: of one rank [B].

    Source: notebooks/communication.md, section Five ways to add up.
    """
    return (q.collective_alpha + q.second_round_alpha
            + 2 / g.inside * _exchanged_per_byte(q, g) * payload)


def pipelined(q: Inputs, g: Group, payload: Number) -> Number:
    """All-reduce of a library in chunks that follow each other [s]: a long start, a higher rate.

    Around rings a rank sends 2 (n - 1)/n payloads. Where the switches add, each rank has them
    fetch and add its n-th of all payloads and hands them the sum for all: (n + 1)/n.

    Args:
        q: input symbols as attributes.
        g: the group, inside one node.
        payload: of one rank [B].

    Source: notebooks/communication.md, section Large payloads: pipelines, and switches that add.
    """
    return q.pipelined_alpha + payload * _pipelined_per_byte(q, g)


@once
def _pipelined_per_byte(q: Inputs, g: Group) -> Number:
    passes = 2 * (g.inside - 1) / g.inside
    added = select(q.switch_adds > 0, 1 + 1 / g.inside, passes)
    return minimum(passes, added) / maximum(
        g.inside_rate * q.pipelined_efficiency, SLOWEST_LINK)


def ring(alpha: Number, ranks: Number, payload: Number, rate: Number) -> Number:
    """All-reduce around a ring [s]: 2(n - 1) steps of 1/n of the payload each.

    Args:
        alpha: latency of a step [s].
        ranks: n [1].
        payload: of one rank [B].
        rate: from a rank to the next [B/s].

    Source: notebooks/communication.md, section Five ways to add up.
    """
    steps = 2 * (ranks - 1)
    return steps * alpha + steps / ranks / rate * payload


def tree(alpha: Number, ranks: Number, payload: Number, rate: Number) -> Number:
    """All-reduce up and down a binary tree [s]: 2 log2(n) steps of the whole payload.

    Args:
        alpha: latency of a step [s].
        ranks: n [1].
        payload: of one rank [B].
        rate: between two ranks [B/s].

    Source: notebooks/communication.md, section Five ways to add up.
    """
    hops = 2 * np.log2(maximum(ranks, 1))
    return hops * alpha + hops / rate * payload


def all_reduce(q: Inputs, g: Group, payload: Number) -> Number:
    """Time of an all-reduce over a group [s], with the fastest algorithm that its topology has.

    Inside one node the best of one-shot, two-shot and a library's pipeline. Across nodes:
    reduce-scatter inside, the better of ring and tree over the network on what each device then
    holds, all-gather inside. A group of one communicates nothing.

    Args:
        q: input symbols as attributes.
        g: the group.
        payload: of one rank [B].

    Source: notebooks/communication.md, section Five ways to add up.
    """
    def single() -> Number:
        return minimum(minimum(one_shot(q, g, payload), two_shot(q, g, payload)),
                       pipelined(q, g, payload))

    def several() -> Number:
        part, rate = payload / g.inside, _across(q, g)
        outside = minimum(ring(q.network_alpha, g.across, part, rate),
                          tree(q.network_alpha, g.across, part, rate))
        return either(g.inside > 1, lambda: two_shot(q, g, payload) + outside, lambda: outside)

    return either(g.ranks > 1, lambda: either(g.across > 1, several, single), lambda: 0.0)


def all_gather(q: Inputs, g: Group, payload: Number) -> Number:
    """All-gather over a group [s]: each rank ends with every rank's payload.

    Inside a node around a ring, whose steps start one after another, or in a pipeline, which starts
    late and reaches more of the links; across nodes a ring over the network first, whose result is
    then spread inside.

    Args:
        q: input symbols as attributes.
        g: the group.
        payload: of one rank [B].

    Source: notebooks/communication.md, section Gathering the logits.
    """
    if not anywhere(g.ranks > 1):
        return 0.0
    gathered = _gathered(q, g, payload)
    if not anywhere(g.across > 1):
        return gathered
    start, per_byte = _passing(q, g)
    return gathered + (start + per_byte * payload)


@once
def _passing(q: Inputs, g: Group) -> tuple[Number, Number]:
    """Latency [s] and time per byte of a payload [s/B] that is gathered around a ring of nodes."""
    steps = g.across - 1
    return steps * q.network_alpha, steps / _across(q, g)


def _gathered(q: Inputs, g: Group, payload: Number) -> Number:
    """Part of an all-gather, or of a reduce-scatter, inside a node [s]."""
    start, per_byte, late, bulk = _gathering(q, g)
    return minimum(start + payload * per_byte, late + payload * bulk)


@once
def _gathering(q: Inputs, g: Group) -> tuple[Number, Number, Number, Number]:
    """Latency [s] and time per byte of a payload [s/B], around a ring and in a pipeline."""
    steps, several = g.inside - 1, g.inside > 1
    ring_rate, bulk_rate = (maximum(g.inside_rate * share, SLOWEST_LINK) for share in (
        q.gather_efficiency, q.gather_bulk_efficiency))
    return (select(several, q.gather_alpha + steps * q.gather_step_alpha, 0),
            steps * g.across / ring_rate,
            select(several, q.gather_bulk_alpha, 0), steps * g.across / bulk_rate)


def reduce_scatter(q: Inputs, g: Group, payload: Number) -> Number:
    """Reduce-scatter over a group [s]: each rank ends with its own payload, summed over all.

    Inside a node each card first sends every other what its port will send on, summed there; then
    a ring over the network. The way back of ``all_gather``.

    Args:
        q: input symbols as attributes.
        g: the group.
        payload: that one rank keeps [B].

    Source: notebooks/communication.md, section Gathering all tokens instead.
    """
    return all_gather(q, g, payload)


def pairwise(q: Inputs, g: Group, payload: Number) -> Number:
    """All-to-all over a group [s]: each rank has a part of its own for every other one.

    Args:
        q: input symbols as attributes.
        g: the group.
        payload: that a rank sends to each other rank [B].

    Source: notebooks/communication.md, section A cache split over the ranks.
    """
    near = either(g.inside > 1, lambda: one_shot(q, g, payload), lambda: 0.0)
    far = either(g.across > 1, lambda: q.network_alpha
                 + (g.ranks - g.inside) / _across(q, g) * payload, lambda: 0.0)
    return plus(near, far)


LSE_WIDTH = 2  # activations of 16 bits as wide as the log-sum-exp of a head, in FP32
CANDIDATE_WIDTH = 4  # of a score and its position, 32 bits each


@once
def exchanging(q: Inputs) -> Group:
    """The ranks that exchange tokens of experts [1]: one, unless they are more than t.

    Args:
        q: input symbols as attributes.

    Source: notebooks/communication.md, section Tokens that travel to their experts.
    """
    ranks = expert_group(q)
    return group(q, select(ranks > q.tensor_parallel, ranks, 1))


def outputs_joined(q: Inputs, g: Group, tokens: Number, heads: Number, key: Number, value: Number
                   ) -> Number:
    """Time that ranks communicate in a layer in which each attends to its part of a cache [s].

    Queries of all their heads are gathered; each rank then gets back the outputs of its own heads,
    which are weighed by their log-sum-exp. That is gathered first and the weighed outputs are
    reduced and scattered, or it travels with the outputs, all to all.

    Args:
        q: input symbols as attributes.
        g: the ranks that share a cache.
        tokens: of the rank [token].
        heads: query heads of the layer [1].
        key, value: elements of a query and of an output, per head [1].

    Source: notebooks/communication.md, section A cache split over the ranks.
    """
    rows = tokens * heads / q.tensor_parallel
    width = q.activation_element_bytes
    scattered = (all_gather(q, g, rows * g.ranks * LSE_WIDTH * width)
                 + reduce_scatter(q, g, rows * value * width))
    return all_gather(q, g, rows * key * width) + select(
        q.context_all_to_all > 0, pairwise(q, g, rows * (value + LSE_WIDTH) * width), scattered)


def context_exchange(attention: str, q: Inputs, c: Cache, batch: Composition) -> Number:
    """Communication of ranks that share the cache of a request, all layers [s].

    In decode queries and outputs, and so in prompts of sparse attention, where index keys are split
    with candidates of each rank for the positions that are picked. Another prompt needs what was
    cached before it: of MLA the latent vectors are gathered, to be expanded; grouped-query
    attention sends queries and outputs again. A prompt that is dealt itself is gathered too.

    Args:
        attention: ``mla`` or ``gqa``.
        q: input symbols as attributes.
        c: cache per token [B/token].
        batch: composition of the micro-batch.

    Source: notebooks/communication.md, sections A cache split over the ranks, and Prompts dealt
    over the ranks.
    """
    ranks, own = q.decode_context_parallel, batch.own(q)
    gathered = either(own.dealt > 1, lambda: _entries_gathered(attention, q, own), lambda: 0)
    if not anywhere(ranks > 1):
        return gathered
    g, layers = group(q, ranks), attention_layers(q)
    if attention != MLA:
        sent = over_kinds(q, lambda h: outputs_joined(
            q, g, batch.tokens, h.query, h.key, h.value))
        return gathered + select(batch.read > 0, sent, 0)
    latent = q.kv_lora_rank
    joined = layers * outputs_joined(
        q, g, batch.tokens, q.num_attention_heads, latent + q.qk_rope_head_dim, latent)
    best = candidates_gathered(q, g, batch)
    if batch.decoding:
        return gathered + select(batch.read > 0, joined + best, 0)
    entries = layers * all_gather(q, g, batch.read * c.kv_entry_bytes / ranks)
    return gathered + best + select(
        batch.sharing_ranks(q) > 1, joined, select(batch.read > 0, entries, 0))


def candidates_gathered(q: Inputs, g: Group, batch: Composition) -> Number:
    """Gathering of each rank's best index keys, all layers that have an indexer [s].

    A position that all ranks together pick is among those that its own rank would pick: each sends
    as many as are picked, with their scores, and all choose again.

    Args:
        q: input symbols as attributes.
        g: the ranks that share a cache.
        batch: composition of the micro-batch.

    Source: notebooks/communication.md, section A cache split over the ranks.
    """
    picks = (q.index_topk > 0) & (batch.absorbed > 0) & (index_parts(q) > 1)
    return either(picks, lambda: q.indexer_layers * all_gather(
        q, g, batch.tokens * q.index_topk * CANDIDATE_WIDTH * q.activation_element_bytes),
        lambda: 0)


def tensor_sums(q: Inputs, dealt: Number, payload: Number, after_mlp: Number) -> Number:
    """Communication of a step's hidden states between tensor-parallel ranks, all layers [s].

    All-reduces of the embedding, after attention and after what is cut of the MLPs. Where tokens
    are dealt, attention leaves no partial sums, unless its output projection stays cut: tokens are
    gathered before an MLP, sums scattered after it, and all are gathered once more before the head.

    Args:
        q: input symbols as attributes.
        dealt: ranks over which tokens are dealt [1].
        payload: hidden states of the step [B].
        after_mlp: layers whose MLP leaves partial sums [1].

    Source: notebooks/communication.md, sections What tensor parallelism sends in a step, and
    Context parallelism in prefill.
    """
    g = group(q, q.tensor_parallel)
    summed = all_reduce(q, g, payload)

    def of_dealt() -> Number:
        part, cut = payload / q.tensor_parallel, q.context_output_cut * q.num_hidden_layers
        return (summed + (1 + after_mlp) * all_gather(q, g, part)
                + (after_mlp + cut) * reduce_scatter(q, g, part))

    return either(dealt > 1, of_dealt, lambda: (1 + q.num_hidden_layers + after_mlp) * summed)


def _entries_gathered(attention: str, q: Inputs, own: Composition) -> Number:
    """Gathering of each other's tokens by ranks that deal a prompt, all layers [s].

    Every rank attends to all of them: latents or keys and values, and keys of an indexer. What
    pools tokens into entries takes the hidden states of all. Outputs go to the ranks that have
    their heads of an output projection that stays cut.

    Args:
        attention: ``mla``, ``gqa`` or ``csa``.
        q: input symbols as attributes.
        own: composition of the micro-batch, the rank's own part.

    Source: notebooks/communication.md, section Context parallelism in prefill.
    """
    g, rows = group(q, q.tensor_parallel), own.tokens * q.activation_element_bytes
    others, width = ((q.compressed_layers + q.heavy_layers, q.hidden_size) if attention == CSA
                     else (q.indexer_layers, q.index_head_dim))

    def of_layer(entry: Number, outputs: Number) -> Number:
        return all_gather(q, g, rows * entry) + q.context_output_cut * pairwise(
            q, g, rows * outputs / q.tensor_parallel)

    def of_heads(heads: Heads) -> Number:
        return of_layer(heads.kv * heads.pair, heads.query * heads.value)

    if attention == GQA:
        gathered = over_kinds(q, of_heads)
    else:
        entry, value = ((q.kv_lora_rank + q.qk_rope_head_dim, q.v_head_dim) if attention == MLA
                        else (q.head_dim, q.head_dim))
        gathered = attention_layers(q) * of_layer(entry, q.num_attention_heads * value)
    return gathered + others * all_gather(q, g, rows * width)


def there_and_back(q: Inputs, g: Group, tokens: Number, widths: tuple[Number, Number],
                   most: Number, loads: tuple[Number, Number]) -> tuple[Number, Number]:
    """Dispatch and combine of a layer [s]: all-to-all, or all tokens gathered and sums scattered.

    Slices of experts are always gathered for: every rank has a part of what any token needs.

    Args:
        q: input symbols as attributes.
        g: the ranks that share experts.
        tokens: that one rank sends, in the mean of all [token].
        widths: bytes of a token on its way there, and back [B/token].
        most: tokens of the fullest sender over that mean [1].
        loads: of the fullest rank and of the fullest node over the mean, as receivers [1].

    Source: notebooks/communication.md, sections Tokens that travel to their experts and Gathering
    all tokens instead.
    """
    there, back = widths
    alike = isinstance(there, SCALAR) and isinstance(back, SCALAR) and there == back

    def sent() -> tuple[Number, Number]:
        # a port carries what its rank sends and what it receives, the busier way decides
        start, per_byte = _all_to_all(q, g, tokens, *(maximum(load, most) for load in loads))
        dispatch = start + there * per_byte
        return dispatch, dispatch if alike else start + back * per_byte

    def gathered() -> tuple[Number, Number]:
        dispatch = all_gather(q, g, scaled(tokens * there, most))
        return dispatch, dispatch if alike else reduce_scatter(
            q, g, scaled(tokens * back, most))

    return either((q.exchange_gathered > 0) | (expert_slices(q) > 1), gathered, sent)


@dataclass(frozen=True, eq=False)
class TokenFanout:
    """On how many nodes and ranks of its expert-parallel group a token is wanted [1]."""

    wanted_nodes: Number
    wanted_ranks: Number


@once
def token_fanout(q: Inputs, g: Group) -> TokenFanout:
    """On how many nodes and ranks of the expert-parallel group a token is wanted [1].

    Args:
        q: input symbols as attributes.
        g: the expert-parallel group.

    Source: notebooks/communication.md, section Tokens that travel to their experts.
    """
    return TokenFanout(expected_places(q, g.across), expected_places(q, g.ranks))


def expected_places(q: Inputs, places: Number) -> Number:
    """On how many of so many nodes, or ranks, a token is wanted [1].

    Of the router's groups of experts some are picked, all equally often, and a token's experts
    are chosen among theirs, each by itself. Groups lie on the places in their order: a place has
    several whole ones, or a part of one. How many of its groups are picked is hypergeometric.

    Args:
        q: input symbols as attributes.
        places: nodes or ranks that the experts are dealt to [1].

    Source: notebooks/communication.md, section Tokens that travel to their experts.
    """
    groups, picked, k = q.n_group, q.topk_group, q.num_experts_per_tok
    own, part = maximum(1, groups / places), minimum(1, groups / places)
    most = int(largest(picked))
    inside, outside = _ways(own, most), _ways(groups - own, most)
    all_ways = _taken(_ways(groups, most), picked)
    all_ways = select(all_ways > 0, all_ways, 1)
    missed = _taken(outside, picked) / all_ways  # with no group of the place picked
    for open_ones in range(1, most + 1):
        chance = inside[open_ones] * _taken(outside, picked - open_ones) / all_ways
        without = maximum(0, 1 - part * (open_ones / picked))
        missed = missed + chance * whole_power(without, k)
    return places * (1 - missed)


def _ways(of: Number, most: int) -> list[Number]:
    """Ways to take 0, 1, …, ``most`` of a number, which need not be whole [1]."""
    ways: list[Number] = [1.0]
    for i in range(most):
        ways.append(ways[-1] * ((of - i) / (i + 1)))
    return ways


def _taken(ways: Sequence[Number], taken: Number) -> Number:
    """Ways to take so many [1]; none to take fewer than 0."""
    if getattr(taken, "ndim", 0) == 0:
        return ways[int(taken)] if taken >= 0 else 0.0
    result: Number = 0.0
    for i, way in enumerate(ways):
        result = select(taken == i, way, result)
    return result


def exchange(q: Inputs, g: Group, tokens: Number, token_bytes: Number, rank_load: Number = 1,
             node_load: Number = 1) -> Number:
    """One direction of an all-to-all of experts [s]: dispatch, or combine.

    Low-latency mode sends a copy of a token to each of its k experts, wherever they are, and to
    shared ones on ranks of their own. Normal mode sends it once to each node that has one of them,
    where it is forwarded over the links inside, once to each rank. Both levels work at the same
    time; the slower one decides. What the fullest rank, or the fullest node, receives and sends
    back takes longest.

    Args:
        q: input symbols as attributes.
        g: the expert-parallel group.
        tokens: that one rank sends [token].
        token_bytes: of one token [B/token].
        rank_load, node_load: of the fullest rank and of the fullest node over the mean [1].

    Source: notebooks/communication.md, section Tokens that travel to their experts.
    """
    start, per_byte = _all_to_all(q, g, tokens, rank_load, node_load)
    return start + token_bytes * per_byte


def _all_to_all(q: Inputs, g: Group, tokens: Number, rank_load: Number, node_load: Number
                ) -> tuple[Number, Number]:
    """One direction of an exchange: what its bytes do not tell [s], and time per byte of a token.

    Each expert is told how many tokens it gets, and each token is looked up and laid out.
    """
    def copied() -> tuple[Number, Number]:
        copies = rank_load * tokens * (copies_sent(q) / g.ranks)
        return copies * (g.ranks - g.inside), copies * (g.inside - 1)

    def forwarded() -> tuple[Number, Number]:
        places = token_fanout(q, g)
        return (node_load * tokens * places.wanted_nodes * (g.across - 1) / g.across,
                rank_load * tokens * places.wanted_ranks * (g.inside - 1) / g.inside)

    several = g.ranks > 1
    if not anywhere(several):
        return 0.0, 0.0
    over_network, over_links = either(q.exchange_normal > 0, forwarded, copied)
    start = q.exchange_alpha + q.exchange_network_alpha + (
        q.n_routed_experts * q.exchange_expert_time)
    if anywhere(q.exchange_token_time > 0):
        start = start + tokens * q.exchange_token_time
    return select(several, start, 0.0), maximum(
        over_network / maximum(g.across_rate * q.exchange_network_efficiency, SLOWEST_LINK),
        over_links / maximum(g.inside_rate * q.exchange_efficiency, SLOWEST_LINK))
