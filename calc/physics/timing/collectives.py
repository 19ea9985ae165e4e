"""Collectives over the real topology: alpha-beta time, level by level.

A message of S bytes takes alpha + S / rate. Inside a node a full mesh gives a group only the links
between its own members, a switch gives each device its full rate. Between nodes every device has
its port of the network. All bandwidths are of ONE direction [B/s], payloads are those of one rank
[B], times are in seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calc.physics.arrays import (
    Number,
    anywhere,
    ceil_div,
    either,
    maximum,
    minimum,
    once,
    plus,
    select,
)

SLOWEST_LINK = 1  # [B/s]; where there is no link nothing is sent, at any rate


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
    inside = minimum(ranks, q.devices_per_node)
    across = ceil_div(ranks, q.devices_per_node)
    mesh = (inside - 1) * q.pair_bandwidth
    links = select(q.full_mesh > 0, mesh, q.device_link_bandwidth)
    return Group(ranks, inside, across, links, q.network_bandwidth)


@once
def _inside(q: Any, g: Group) -> Number:
    """Rate of a collective between cards of a node [B/s]."""
    return maximum(g.inside_rate * q.collective_efficiency, SLOWEST_LINK)


@once
def _across(q: Any, g: Group) -> Number:
    """Rate of a collective between nodes [B/s]."""
    return maximum(g.across_rate * q.network_efficiency, SLOWEST_LINK)


def one_shot(q: Any, g: Group, payload: Number) -> Number:
    """All-reduce in one exchange [s]: each rank sends its whole payload to every other.

    Args:
        q: input symbols as attributes.
        g: the group, inside one node.
        payload: of one rank [B].

    Source: notebooks/communication.md, section Five ways to add up.
    """
    return q.collective_alpha + _exchanged_per_byte(q, g) * payload


@once
def _exchanged_per_byte(q: Any, g: Group) -> Number:
    """Time to send as much to every other rank of a node, per byte of what each gets [s/B]."""
    return (g.inside - 1) / _inside(q, g)


def two_shot(q: Any, g: Group, payload: Number) -> Number:
    """All-reduce as direct reduce-scatter and all-gather [s]: 2 exchanges of (n - 1)/n payloads.

    Args:
        q: input symbols as attributes.
        g: the group, inside one node.
        payload: of one rank [B].

    Source: notebooks/communication.md, section Five ways to add up.
    """
    return (q.collective_alpha + q.second_round_alpha
            + 2 / g.inside * _exchanged_per_byte(q, g) * payload)


def pipelined(q: Any, g: Group, payload: Number) -> Number:
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
def _pipelined_per_byte(q: Any, g: Group) -> Number:
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


def all_reduce(q: Any, g: Group, payload: Number) -> Number:
    """All-reduce over a group [s], with the fastest algorithm that its topology has.

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


def all_gather(q: Any, g: Group, payload: Number) -> Number:
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
def _passing(q: Any, g: Group) -> tuple[Number, Number]:
    """Latency [s] and time per byte of a payload [s/B] that is gathered around a ring of nodes."""
    steps = g.across - 1
    return steps * q.network_alpha, steps / _across(q, g)


def _gathered(q: Any, g: Group, payload: Number) -> Number:
    """What of an all-gather, or of a reduce-scatter, is inside a node [s]."""
    start, per_byte, late, bulk = _gathering(q, g)
    return minimum(start + payload * per_byte, late + payload * bulk)


@once
def _gathering(q: Any, g: Group) -> tuple[Number, Number, Number, Number]:
    """Latency [s] and time per byte of a payload [s/B], around a ring and in a pipeline."""
    steps, several = g.inside - 1, g.inside > 1
    ring_rate, bulk_rate = (maximum(g.inside_rate * share, SLOWEST_LINK) for share in (
        q.gather_efficiency, q.gather_bulk_efficiency))
    return (select(several, q.gather_alpha + steps * q.gather_step_alpha, 0),
            steps * g.across / ring_rate,
            select(several, q.gather_bulk_alpha, 0), steps * g.across / bulk_rate)


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
    return all_gather(q, g, payload)


def pairwise(q: Any, g: Group, payload: Number) -> Number:
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
