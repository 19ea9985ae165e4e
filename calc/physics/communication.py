"""Communication over the real topology: alpha-beta time of collectives, level by level.

A message of S bytes takes alpha + S / rate. Inside a node a full mesh gives a group only the links
between its own members, a switch gives each device its full rate. Between nodes every device has
its port of the network. All bandwidths are of ONE direction [B/s], payloads are those of one rank
[B], times are in seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from calc.physics.arrays import Number, ceil_div, either, once, select
from calc.physics.experts import copies_sent, expert_group, expert_slices
from calc.physics.shapes import MLA

if TYPE_CHECKING:
    from calc.physics.memory import Cache
    from calc.physics.work import Composition

SLOWEST_LINK = 1  # [B/s]; where there is no link nothing is sent, at any rate
LSE_WIDTH = 2  # activations of 16 bits as wide as the log-sum-exp of a head, in FP32


@dataclass(frozen=True)
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
def group(q: Any, ranks: Number) -> Group:
    """Where the ranks of a group are and which links they have between them.

    Consecutive ranks fill a node first. In a full mesh of pairwise links a device reaches the
    n - 1 others of its group at n - 1 times the rate of a pair; a switch gives its full rate to
    any group of two or more.

    Args:
        q: input symbols as attributes.
        ranks: size of the group [1].

    Source: notebooks/communication.md, section The bandwidth inside a group of cards.
    """
    inside = np.minimum(ranks, q.devices_per_node)
    across = ceil_div(ranks, q.devices_per_node)
    mesh = (inside - 1) * q.pair_bandwidth
    links = select(q.full_mesh > 0, mesh, q.device_link_bandwidth)
    return Group(ranks, inside, across, links, q.network_bandwidth)


@once
def exchanging(q: Any) -> Group:
    """The ranks that exchange tokens of experts [1]: one, unless they are more than t.

    Args:
        q: input symbols as attributes.

    Source: notebooks/communication.md, section Tokens that travel to their experts.
    """
    ranks = expert_group(q)
    return group(q, select(ranks > q.tensor_parallel, ranks, 1))


@once
def _inside(q: Any, g: Group) -> Number:
    """Rate of a collective between cards of a node [B/s]."""
    return np.maximum(g.inside_rate * q.collective_efficiency, SLOWEST_LINK)


@once
def _across(q: Any, g: Group) -> Number:
    """Rate of a collective between nodes [B/s]."""
    return np.maximum(g.across_rate * q.network_efficiency, SLOWEST_LINK)


def one_shot(q: Any, g: Group, payload: Number) -> Number:
    """All-reduce in one exchange [s]: each rank sends its whole payload to every other.

    Args:
        q: input symbols as attributes.
        g: the group, inside one node.
        payload: of one rank [B].

    Source: notebooks/communication.md, section Five ways to add up.
    """
    return q.collective_alpha + (g.inside - 1) * payload / _inside(q, g)


def two_shot(q: Any, g: Group, payload: Number) -> Number:
    """All-reduce as direct reduce-scatter and all-gather [s]: 2 exchanges of (n - 1)/n payloads.

    Args:
        q: input symbols as attributes.
        g: the group, inside one node.
        payload: of one rank [B].

    Source: notebooks/communication.md, section Five ways to add up.
    """
    return 2 * q.collective_alpha + 2 * (g.inside - 1) / g.inside * payload / _inside(q, g)


def ring(alpha: Number, ranks: Number, payload: Number, rate: Number) -> Number:
    """All-reduce around a ring [s]: 2(n - 1) steps of 1/n of the payload each.

    Args:
        alpha: latency of a step [s].
        ranks: n [1].
        payload: of one rank [B].
        rate: from a rank to the next [B/s].

    Source: notebooks/communication.md, section Five ways to add up.
    """
    return 2 * (ranks - 1) * alpha + 2 * (ranks - 1) / ranks * payload / rate


def tree(alpha: Number, ranks: Number, payload: Number, rate: Number) -> Number:
    """All-reduce up and down a binary tree [s]: 2 log2(n) steps of the whole payload.

    Args:
        alpha: latency of a step [s].
        ranks: n [1].
        payload: of one rank [B].
        rate: between two ranks [B/s].

    Source: notebooks/communication.md, section Five ways to add up.
    """
    hops = 2 * np.log2(np.maximum(ranks, 1))
    return hops * alpha + hops * payload / rate


def all_reduce(q: Any, g: Group, payload: Number) -> Number:
    """All-reduce over a group [s], with the fastest algorithm that its topology has.

    Inside one node the better of one-shot and two-shot. Across nodes: reduce-scatter inside, the
    better of ring and tree over the network on what each device then holds, all-gather inside.
    A group of one communicates nothing.

    Args:
        q: input symbols as attributes.
        g: the group.
        payload: of one rank [B].

    Source: notebooks/communication.md, section Five ways to add up.
    """
    two = two_shot(q, g, payload)
    single = np.minimum(one_shot(q, g, payload), two)
    part, rate = payload / g.inside, _across(q, g)
    outside = np.minimum(ring(q.network_alpha, g.across, part, rate),
                         tree(q.network_alpha, g.across, part, rate))
    several = select(g.inside > 1, two, 0) + outside
    return select(g.ranks > 1, select(g.across > 1, several, single), 0)


def all_gather(q: Any, g: Group, payload: Number) -> Number:
    """All-gather over a group [s]: each rank ends with every rank's payload.

    Inside a node one direct exchange; across nodes a ring over the network first, whose result is
    then spread inside.

    Args:
        q: input symbols as attributes.
        g: the group.
        payload: of one rank [B].

    Source: notebooks/communication.md, section Gathering the logits.
    """
    outside = ((g.across - 1) * q.network_alpha
               + (g.across - 1) * payload / _across(q, g))
    inside = (select(g.inside > 1, q.collective_alpha, 0)
              + (g.inside - 1) * g.across * payload / _inside(q, g))
    return select(g.ranks > 1, outside + inside, 0)


def reduce_scatter(q: Any, g: Group, payload: Number) -> Number:
    """Reduce-scatter over a group [s]: each rank ends with its own payload, summed over all.

    Inside a node each card first sends every other what its port will send on, summed there; then
    a ring over the network. The way back of ``all_gather``.

    Args:
        q: input symbols as attributes.
        g: the group.
        payload: that one rank keeps [B].

    Source: notebooks/communication.md, section Gathering all tokens instead.
    """
    summed = (select(g.inside > 1, q.collective_alpha, 0)
              + g.across * payload * (g.inside - 1) / _inside(q, g))
    passed = (g.across - 1) * (q.network_alpha + payload / _across(q, g))
    return select(g.ranks > 1, summed + passed, 0)


def pairwise(q: Any, g: Group, payload: Number) -> Number:
    """All-to-all over a group [s]: each rank has a part of its own for every other one.

    Args:
        q: input symbols as attributes.
        g: the group.
        payload: that a rank sends to each other rank [B].

    Source: notebooks/communication.md, section A cache split over the ranks.
    """
    near = select(g.inside > 1,
                  q.collective_alpha + (g.inside - 1) * payload / _inside(q, g), 0)
    far = select(g.across > 1,
                 q.network_alpha + (g.ranks - g.inside) * payload / _across(q, g), 0)
    return near + far


def outputs_joined(q: Any, g: Group, tokens: Number, key: Number, value: Number) -> Number:
    """What ranks send in a layer of which each attends to its part of a request's cache [s].

    Queries of all their heads are gathered; each rank then gets back the outputs of its own heads,
    which are weighed by their log-sum-exp. That is gathered first and the weighed outputs are
    reduced and scattered, or it travels with the outputs, all to all.

    Args:
        q: input symbols as attributes.
        g: the ranks that share a cache.
        tokens: of the rank [token].
        key, value: elements of a query and of an output, per head [1].

    Source: notebooks/communication.md, section A cache split over the ranks.
    """
    rows = tokens * q.num_attention_heads / q.tensor_parallel
    width = q.activation_element_bytes
    scattered = (all_gather(q, g, rows * g.ranks * LSE_WIDTH * width)
                 + reduce_scatter(q, g, rows * value * width))
    return all_gather(q, g, rows * key * width) + select(
        q.context_all_to_all > 0, pairwise(q, g, rows * (value + LSE_WIDTH) * width), scattered)


def context_exchange(attention: str, q: Any, c: Cache, batch: Composition) -> Number:
    """What ranks that share the cache of a request send for it, all layers [s].

    In decode queries and outputs. A prompt needs what was cached before it: of MLA the latent
    vectors are gathered, to be expanded; grouped-query attention sends queries and outputs again.

    Args:
        attention: ``mla`` or ``gqa``.
        q: input symbols as attributes.
        c: cache per token [B/token].
        batch: composition of the micro-batch.

    Source: notebooks/communication.md, section A cache split over the ranks.
    """
    ranks = q.decode_context_parallel
    if not np.any(np.greater(ranks, 1)):
        return 0.0
    g, layers = group(q, ranks), q.num_hidden_layers
    if attention == MLA and not batch.decoding:
        entry = c.kv_layer_bytes_per_token_per_device - c.kv_index_bytes_per_token
        sent = all_gather(q, g, batch.read * entry / ranks)
    elif attention == MLA:
        latent = q.kv_lora_rank
        sent = outputs_joined(q, g, batch.tokens, latent + q.qk_rope_head_dim, latent)
    else:
        sent = outputs_joined(q, g, batch.tokens, q.head_dim, q.head_dim)
    return select(np.greater(batch.read, 0), layers * sent, 0)


def there_and_back(q: Any, g: Group, tokens: Number, widths: tuple[Number, Number],
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
    # a port carries what its rank sends and what it receives, the busier way decides
    rank_port, node_port = (np.maximum(load, most) for load in loads)

    there, back = widths
    start, per_byte = _all_to_all(q, g, tokens, rank_port, node_port)
    gathered = np.greater(q.exchange_gathered, 0) | np.greater(expert_slices(q), 1)
    return (either(gathered, lambda: all_gather(q, g, most * (tokens * there)),
                   lambda: start + there * per_byte),
            either(gathered, lambda: reduce_scatter(q, g, most * (tokens * back)),
                   lambda: start + back * per_byte))


@dataclass(frozen=True)
class Spread:
    """On how many nodes and ranks of its expert-parallel group a token is wanted [1]."""

    wanted_nodes: Number
    wanted_ranks: Number


def spread(q: Any) -> Spread:
    """On how many nodes and ranks of the expert-parallel group a token is wanted [1].

    Args:
        q: input symbols as attributes.

    Source: notebooks/communication.md, section Tokens that travel to their experts.
    """
    return _spread(q, group(q, q.expert_parallel))


@once
def _spread(q: Any, g: Group) -> Spread:
    return Spread(wanted(q, g.across), wanted(q, g.ranks))


def wanted(q: Any, places: Number) -> Number:
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
    own, part = np.maximum(1, groups / places), np.minimum(1, groups / places)
    all_ways, missed = _ways(groups, picked), 0.0
    all_ways = select(all_ways > 0, all_ways, 1)
    for open_ones in range(int(np.max(picked)) + 1):
        chance = _ways(own, open_ones) * _ways(groups - own, picked - open_ones) / all_ways
        missed = missed + chance * np.maximum(0, 1 - part * open_ones / picked) ** k
    return places * (1 - missed)


def _ways(of: Number, taken: Number) -> Number:
    """Ways to take so many of a number, which need not be whole [1]; none to take fewer than 0."""
    ways: Number = 1.0
    for i in range(int(np.max(taken))):
        ways = ways * np.where(np.less(i, taken), (of - i) / (i + 1), 1.0)
    return select(np.less(taken, 0), 0, ways)


def exchange(q: Any, g: Group, tokens: Number, token_bytes: Number, rank_load: Number = 1,
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


def _all_to_all(q: Any, g: Group, tokens: Number, rank_load: Number, node_load: Number
                ) -> tuple[Number, Number]:
    """One direction of an exchange: its latency [s], and its time per byte of a token [s/B]."""
    copies = rank_load * copies_sent(q) * tokens / g.ranks
    near, far = copies * (g.inside - 1), copies * (g.ranks - g.inside)
    if np.any(np.greater(q.exchange_normal, 0)):
        places = _spread(q, g)
        once = node_load * tokens * places.wanted_nodes * (g.across - 1) / g.across
        forwarded = rank_load * tokens * places.wanted_ranks * (g.inside - 1) / g.inside
    else:
        once, forwarded = far, near
    over_network = select(q.exchange_normal > 0, once, far)
    over_links = select(q.exchange_normal > 0, forwarded, near)
    per_byte = np.maximum(
        over_network / np.maximum(g.across_rate * q.exchange_network_efficiency, SLOWEST_LINK),
        over_links / np.maximum(g.inside_rate * q.exchange_efficiency, SLOWEST_LINK))
    several = g.ranks > 1
    return (select(several, q.exchange_alpha + q.exchange_network_alpha, 0),
            select(several, per_byte, 0))
