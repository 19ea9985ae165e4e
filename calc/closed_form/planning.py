"""Quantities that plans are made with: ridge, bubble, transfer, pools, waste, loading."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calc.closed_form.waves import Prompts, Serving, token_pace
from calc.physics.arrays import Number, ceil_div, maximum, minimum, select
from calc.physics.cache import Cache
from calc.physics.experts import ranks_in_step
from calc.physics.memory import Memory, Weights
from calc.physics.shapes import Parameters
from calc.physics.step import Step

ROUNDING = 8.0**-9  # a pool that just keeps up needs no replica more


@dataclass(frozen=True)
class Planning:
    """Intensity [FLOP/B], shares [1], times [s], the balance of prefill and decode pools [1] and
    their rates [request/s], and what host memory and storage hold [B]."""

    ridge_point: Number
    pipeline_bubble: Number
    kv_port_time: Number
    kv_transfer_time: Number
    pool_ratio: Number
    pools_rate: Number
    best_prefill_devices: Number
    best_pools_rate: Number
    block_waste: Number
    loading_time: Number
    host_expert_weights: Number
    storage_expert_weights: Number


def transfer_time(q: Any, c: Cache) -> tuple[Number, Number]:
    """A request's cache through a replica's own ports, and from a prefill to a decode replica [s].

    Every tensor-parallel rank has a copy of a latent cache, or its part of a divided one, or of the
    tokens of a shared one, and moves all that it has through its own port; stages do so at the same
    time, the fullest one last. Of the replica that sends and the one that receives the slower
    decides.

    Args:
        q: input symbols as attributes.
        c: cache per token [B/token].

    Source: notebooks/communication.md, section A cache that moves from prefill to decode.
    """
    layers = ceil_div(q.num_hidden_layers, q.pipeline_parallel)
    tokens = q.input_tokens / q.decode_context_parallel
    cache = layers * (tokens * c.kv_layer_bytes_per_token_per_device
                      + c.state_bytes_per_device / q.num_hidden_layers)
    through_ports = q.network_alpha + cache / (q.network_bandwidth * q.network_efficiency)
    return through_ports, maximum(through_ports, q.prefill_pool_port_time)


def pool_ratio(q: Any, decode_batch: Number, p: Prompts, decode: Step, prefill: Step) -> Number:
    """Prefill replicas that keep up with one decode replica [1].

    A prefill replica has a chunk in every stage, a decode replica finishes batch x stages requests
    every output_tokens steps.

    Args:
        q: input symbols as attributes.
        decode_batch: requests of a decode step [request].
        p: how prompts are cut.
        decode, prefill: the decode step, and the mean chunk of a prompt alone.

    Source: notebooks/serving.md, section Two pools in balance.
    """
    *_, per_token = token_pace(q, decode)
    decoded = decode_batch * q.pipeline_parallel / (q.output_tokens * per_token)
    return decoded * prefill.step_time * p.prompt_chunks / q.pipeline_parallel


def pool_replicas(q: Any, ratio: Number) -> Number:
    """Replicas of the pool that prefills: those that there are, or as many as keep up [1].

    Ranks that share experts come together.

    Args:
        q: input symbols as attributes.
        ratio: prefill replicas per decode replica [1].

    Source: notebooks/serving.md, section A steady state.
    """
    ranks = ranks_in_step(q)
    return select(q.prefill_replicas > 0, q.prefill_replicas, ranks * maximum(
        1, np.ceil(ratio * q.data_parallel / ranks * (1 - ROUNDING))))


def _two_pools(q: Any, devices: Number, decoded: Number, through_ports: Number
               ) -> tuple[Number, Number, Number]:
    """Rates of this decode pool and the prefill pool beside it, as they are and in balance.

    Both finish in proportion to their cards; in balance both finish the same. Without a prefill
    pool beside it, one that keeps up is taken for granted.

    Args:
        q: input symbols as attributes.
        devices: of the decode pool [1].
        decoded: requests per second that it finishes [request/s].
        through_ports: a request's cache, on a decode replica [s].

    Returns the rate of the pair, cards for prefill in balance, and the rate in balance.

    Source: notebooks/serving.md, section Two pools in balance.
    """
    beside = q.prefill_pool_rate > 0
    given = select(beside, q.prefill_pool_rate, decoded)
    received = through_ports / q.data_parallel  # each decode replica has its ports
    rate = select(beside, 1 / maximum(
        1 / minimum(given, decoded), received), decoded)
    for_prefill = select(beside, q.prefill_pool_devices / given, 0)
    for_both = for_prefill + devices / decoded  # cards times seconds of a request
    cards = select(beside, q.prefill_pool_devices, 0) + devices
    return rate, cards * for_prefill / for_both, cards / for_both


def planning(q: Any, n: Parameters, w: Weights, m: Memory, p: Prompts, ratio: Number,
             served: Serving, through_ports: Number, transfer: Number) -> Planning:
    """Quantities around a deployment.

    Args:
        q: input symbols as attributes.
        n: the model's parameters.
        w: weights by stage [B].
        m: the memory budget.
        p: how prompts are cut.
        ratio: prefill replicas per decode replica, see :func:`pool_ratio` [1].
        served: what a wave of requests sees.
        through_ports, transfer: of a request's cache, see :func:`transfer_time` [s].

    Source: notebooks/compute.md (ridge), throughput.md (bubble), communication.md (transfer),
    serving.md (pools), memory.md (blocks, loading).
    """
    stages = q.pipeline_parallel
    idle = stages - 1
    devices = q.tensor_parallel * stages * q.data_parallel
    experts = (n.moe_layers * q.n_routed_experts * n.routed_expert_parameters
               * q.offloaded_weight_bytes)
    fetched = (1 - q.offloaded_share) * q.fetched_share
    on_host = (q.offloaded_share + fetched * (1 - q.stored_share)) * experts
    return Planning(
        q.attention_peak / q.memory_bandwidth, idle / (p.prompt_chunks + idle),
        through_ports, transfer,
        ratio, *_two_pools(q, devices, served.request_throughput, through_ports),
        1 - q.context_tokens / (
            m.blocks_per_request * m.block_tokens * q.decode_context_parallel),
        (w.weights_per_device * minimum(q.devices_per_node, devices) + on_host)
        / q.storage_bandwidth, on_host, fetched * q.stored_share * experts)
