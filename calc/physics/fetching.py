"""Experts off the cards: those that the host computes, and those that cards load when chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calc.physics.arrays import Number, anywhere, either, maximum, minimum, select
from calc.physics.experts import distinct_experts, expert_shards, streaming
from calc.physics.shapes import Parameters
from calc.physics.work import Composition, Routed


@dataclass(frozen=True)
class Distances:
    """Time to get one expert to where it is multiplied, by where it lies [s]."""

    expert_read_time: Number
    expert_link_time: Number
    expert_host_time: Number
    expert_storage_time: Number


def distances(q: Any, n: Parameters) -> Distances:
    """One expert out of device memory, over the host links, out of host memory and of storage [s].

    A rank gets its part, over a link of its own; host memory serves all ranks of the deployment at
    once, and storage all of a node. The last three are 0 where nothing is fetched.

    Args:
        q: input symbols as attributes.
        n: the model's parameters.

    Source: notebooks/latency.md, section Experts that are fetched.
    """
    part = n.routed_expert_parameters / expert_shards(q)
    stored = select(q.fetched_share > 0, part * q.offloaded_weight_bytes, 0)
    devices = q.tensor_parallel * q.pipeline_parallel * q.data_parallel
    return Distances(
        part * q.routed_expert_weight_bytes
        / (q.memory_bandwidth * streaming(q)),
        stored / (q.host_link_bandwidth * q.host_link_efficiency),
        stored * devices / (q.host_memory_bandwidth * q.host_stream_efficiency),
        stored * minimum(q.devices_per_node, devices) / q.storage_bandwidth)


@dataclass(frozen=True)
class Missing:
    """Experts of a layer that a step has to load [1], and the time of loading, all layers [s]."""

    missing_experts: Number
    storage_experts: Number
    fetch_time: Number


def missing(q: Any, n: Parameters, read: Number) -> Missing:
    """The chosen experts that the cards do not have, and how long it takes to load them.

    A level supplies what is not found above it: at least what does not fit there, at most what it
    keeps itself. Links, host memory and storage work at the same time, the slowest decides.

    Args:
        q: input symbols as attributes.
        n: the model's parameters.
        read: experts of a layer that the group of the slowest rank reads, wherever they are [1].

    Source: notebooks/latency.md, section Experts that are fetched.
    """
    if not anywhere(q.fetched_share > 0):
        return Missing(0.0, 0.0, 0.0)
    times = distances(q, n)
    elsewhere = q.fetched_share * q.n_routed_experts
    on_cards, stored = q.n_routed_experts - elsewhere, q.stored_share * elsewhere
    lacking = minimum(
        elsewhere, maximum((1 - q.device_hit_share) * read, read - on_cards))
    from_storage = minimum(
        stored, maximum((1 - q.host_hit_share) * lacking, lacking - (elsewhere - stored)))
    slowest = maximum(
        lacking * times.expert_link_time,
        maximum((lacking - from_storage) * times.expert_host_time,
                   from_storage * times.expert_storage_time))
    return Missing(lacking, from_storage, (1 - q.offloaded_share) * n.moe_layers * slowest)


def offload_time(q: Any, n: Parameters, batch: Composition, routed: Routed) -> Number:
    """Time of the experts that the host computes [s].

    Args:
        q: input symbols as attributes.
        n: the model's parameters.
        batch: composition of the micro-batch.
        routed: how its tokens meet the experts.

    Source: notebooks/latency.md, section Experts on the host.
    """
    def offloaded() -> Number:
        flops = (q.offloaded_share * q.multiply_add_flops * n.moe_layers
                 * n.routed_expert_parameters * q.num_experts_per_tok * routed.tokens)
        # a core multiplies what it has loaded: the two do not overlap
        return (flops / (q.host_peak * q.host_gemm_efficiency)
                + host_reads(q, n, batch.tokens, _read_by_groups(q, routed))
                + n.moe_layers * q.host_sync)

    return either(q.offloaded_share > 0, offloaded, lambda: 0)


def host_reads(q: Any, n: Parameters, tokens: Number, read: Number) -> Number:
    """Time to read experts in host memory, and to hand hidden states there and back [s].

    Args:
        q: input symbols as attributes.
        n: the model's parameters.
        tokens: of a rank [token].
        read: experts of a layer that are chosen, wherever they are [1].

    Source: notebooks/latency.md, section Experts on the host.
    """
    weights = q.offloaded_share * n.moe_layers * read * n.routed_expert_parameters
    # a token travels if any of its experts is on the host
    travels = 1 - (1 - q.offloaded_share) ** q.num_experts_per_tok
    moved = (2 * travels * n.moe_layers * tokens * q.routed_expert_hidden_size
             * q.activation_element_bytes)
    return (weights * q.offloaded_weight_bytes
            / (q.host_memory_bandwidth * q.host_stream_efficiency)
            + moved / q.host_link_bandwidth)


def _read_by_groups(q: Any, routed: Routed) -> Number:
    """Experts of a layer that the host reads, whole groups of tokens and the rest one by one [1].

    Source: notebooks/latency.md, section Experts on the host.
    """
    limit = select(q.host_group_tokens > 0, q.host_group_tokens, 1)
    groups = np.floor(routed.tokens / limit)
    whole, rest = (distinct_experts(q.n_routed_experts, q.num_experts_per_tok, tokens,
                                    q.routing_skew)
                   for tokens in (limit, maximum(0, routed.tokens - groups * limit)))
    return select(q.host_group_tokens > 0, groups * whole + rest, routed.hit)
