"""One step of a rank: operations, bytes and time by class of operators, and how they add up.

A step is a decode step of a batch or a chunk of prefill; both are the same operators on another
composition of tokens. Classes are those of ``calc.physics.operators``, whose rows they sum.
Operations [FLOP], bytes [B] and times [s] are of one rank over all layers of all pipeline
stages, so a step's time is that of one micro-batch on its way through the pipeline.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calc.physics.arrays import Number, select
from calc.physics.communication import all_gather, all_reduce, exchange, group
from calc.physics.experts import distinct_experts
from calc.physics.fetching import missing
from calc.physics.memory import Cache, Weights, expert_shards
from calc.physics.shapes import MLA, Parameters


@dataclass(frozen=True)
class Composition:
    """What a step is made of, on one data-parallel rank.

    Attributes:
        tokens: that pass through the layers [token].
        logit_rows: tokens whose logits are computed [token].
        attended, in_window, indexed: positions attended to, summed over tokens, in a layer
            without and with a window, and positions that an indexer scores [token].
        read, read_in_window, read_keys: cached positions read, summed over requests [token].
        expanded: cached tokens whose keys and values are expanded again, prefill of MLA [token].
        decoding: 1 for a decode step (MLA absorbs its up-projections), 0 for prefill.
    """

    tokens: Number
    logit_rows: Number
    attended: Number
    in_window: Number
    indexed: Number
    read: Number
    read_in_window: Number
    read_keys: Number
    expanded: Number
    decoding: bool


@dataclass(frozen=True)
class Step:
    """Operations [FLOP], bytes [B] and times [s] of a step; names without their phase."""

    attention_flops: Number
    core_flops: Number
    dense_mlp_flops: Number
    shared_expert_flops: Number
    routed_expert_flops: Number
    router_flops: Number
    head_flops: Number
    attention_bytes: Number
    core_bytes: Number
    dense_mlp_bytes: Number
    shared_expert_bytes: Number
    routed_expert_bytes: Number
    router_bytes: Number
    head_bytes: Number
    vector_bytes: Number
    group_tokens: Number
    distinct_experts: Number
    missing_experts: Number
    storage_experts: Number
    attention_time: Number
    core_time: Number
    dense_mlp_time: Number
    shared_expert_time: Number
    routed_expert_time: Number
    router_time: Number
    head_time: Number
    vector_time: Number
    dequantisation_time: Number
    all_reduce_time: Number
    exchange_time: Number
    pipeline_time: Number
    boundary_time: Number
    offload_time: Number
    fetch_time: Number
    saved_time: Number
    compute_time: Number
    communication_time: Number
    hidden_time: Number
    device_time: Number
    host_time: Number
    step_time: Number


def operator_time(compute: Number, memory: Number, overlap: Number) -> Number:
    """Time of an operator [s] from that of its arithmetic and of its bytes.

    max + (1 - overlap) min: with complete overlap the longer one decides, without any they add.

    Args:
        compute, memory: times of arithmetic and of bytes alone [s].
        overlap: share of the shorter one that is hidden [1].

    Source: notebooks/latency.md, section The time of one operator.
    """
    return np.maximum(compute, memory) + (1 - overlap) * np.minimum(compute, memory)


def step(attention: str, q: Any, n: Parameters, w: Weights, c: Cache, made: Composition) -> Step:
    """Operations, bytes and time of a step, by class of operators.

    Args:
        attention: ``mla`` or ``gqa``.
        q: input symbols as attributes.
        n: the model's parameters.
        w: weights by stage [B].
        c: cache per token [B/token].
        made: composition of the step.

    Source: notebooks/compute.md for operations and bytes, notebooks/latency.md for times.
    """
    t, e, k, d = q.tensor_parallel, q.expert_parallel, q.num_experts_per_tok, q.hidden_size
    two = q.multiply_add_flops
    halves = q.micro_batches
    tokens, rows = made.tokens / halves, made.logit_rows / halves
    attended, in_window = made.attended / halves, made.in_window / halves
    expanded = made.expanded / halves if attention == MLA else 0
    shards = expert_shards(q)
    layers, moe = q.num_hidden_layers, n.moe_layers
    full, windowed = q.full_attention_layers, q.num_hidden_layers - q.full_attention_layers
    width = q.activation_element_bytes
    heads = q.num_attention_heads / t
    on_device = 1 - q.offloaded_share

    # --- operations and bytes of a micro-batch ----------------------------------------------------
    up = q.kv_lora_rank * heads * (q.qk_nope_head_dim + q.v_head_dim) if attention == MLA else 0
    kv_share = n.attention_kv_parameters / np.minimum(t, q.num_key_value_heads)
    projections = (n.attention_divided_parameters / t + kv_share
                   + n.attention_replicated_parameters)
    projected, again = two * layers * projections * tokens, two * layers * up * expanded
    attention_flops = projected + again
    per_token, core_width = _widths(attention, q, heads, made.decoding)
    stored = layers * w.attention_weights_per_layer
    if made.decoding and attention == MLA:
        stored = stored + layers * up * (width - q.attention_weight_bytes)
    attention_bytes = stored + layers * per_token * width * tokens

    scores = q.index_n_heads * q.index_head_dim
    core_flops = two * (heads * core_width * (full * attended + windowed * in_window)
                        + full * scores * made.indexed / halves)
    entry = c.kv_layer_bytes_per_token_per_device - c.kv_index_bytes_per_token
    cached = (entry * (full * made.read + windowed * made.read_in_window)
              + c.kv_index_bytes_per_token * full * made.read_keys) / halves
    core_bytes = cached + layers * heads * core_width * width * (tokens + expanded)

    dense_mlp_flops = two * q.first_k_dense_replace * n.dense_mlp_parameters / t * tokens
    mlp_width = 2 * d + 3 * q.intermediate_size / t
    dense_mlp_bytes = q.first_k_dense_replace * (
        q.dense_mlp_weight_bytes * n.dense_mlp_parameters / t + mlp_width * width * tokens)

    shared_inside = q.n_shared_experts * q.moe_intermediate_size / t
    shared_flops = two * moe * n.shared_expert_parameters / t * tokens
    shared_bytes = moe * (q.shared_expert_weight_bytes * n.shared_expert_parameters / t
                          + (q.n_shared_experts > 0) * (2 * d + 3 * shared_inside) * width * tokens)

    together = tokens * np.maximum(1, e / t)
    hit = distinct_experts(q.n_routed_experts, k, together, q.routing_skew)
    slowest = 1 + select(e > 1, q.expert_imbalance, 0)
    expert_rows = slowest * together * k / e
    expert_inside = q.moe_intermediate_size * e / shards
    read = np.minimum(q.n_routed_experts, slowest * hit)
    routed_flops = on_device * two * moe * n.routed_expert_parameters * slowest * together * (
        k / shards)
    routed_weights = on_device * moe * read * n.routed_expert_parameters / shards
    routed_bytes = (q.routed_expert_weight_bytes * routed_weights
                    + on_device * moe * expert_rows * (2 * d + 3 * expert_inside) * width)

    router_flops = two * moe * d * q.n_routed_experts * tokens
    router_bytes = moe * (q.router_weight_bytes * n.router_parameters
                          + (d + q.n_routed_experts) * width * tokens)
    columns = w.head_matrix_weights / (q.head_weight_bytes * d)
    head_flops = two * d * columns * rows
    head_bytes = w.head_matrix_weights + (d * width + columns * q.logit_element_bytes) * rows
    # two norms with their residual; gates of the MLPs; rows gathered for the experts and back
    vector_elements = (layers * 8 * d * tokens + 2 * d * tokens
                       + 3 * q.first_k_dense_replace * q.intermediate_size / t * tokens
                       + 3 * moe * shared_inside * tokens
                       + on_device * moe * expert_rows * (3 * expert_inside + 2 * d))
    vector_bytes = vector_elements * width + q.norm_weight_bytes * d

    # --- times of a micro-batch -------------------------------------------------------------------
    rate = q.memory_bandwidth * q.hbm_efficiency

    def multiplied(flops: Number, moved: Number, name: str, of: Number,
                   streaming: Number = rate, full: Number = 0) -> Number:
        peak = getattr(q, f"{name}_peak") * getattr(q, f"{name}_gemm_efficiency") * q.clock_factor
        padded = np.maximum(1, q.gemm_tile_rows / np.maximum(of, 1))
        return operator_time((flops * padded + full) / peak, moved / streaming, q.load_overlap)

    core_share = q.mla_compute_efficiency if made.decoding else q.attention_efficiency
    core_rate = q.memory_bandwidth * (q.mla_efficiency if made.decoding else q.hbm_efficiency)
    core_time = np.maximum(core_flops / (q.core_peak * core_share * q.clock_factor),
                           core_bytes / core_rate)
    per_expert = together * k / np.maximum(hit, 1)
    times = {
        "attention": multiplied(projected, attention_bytes, "attention", tokens, full=again),
        "dense_mlp": multiplied(dense_mlp_flops, dense_mlp_bytes, "dense_mlp", tokens),
        "shared_expert": multiplied(shared_flops, shared_bytes, "shared_expert", tokens),
        "routed_expert": multiplied(routed_flops, routed_bytes, "routed_expert", per_expert,
                                    q.memory_bandwidth * q.expert_streaming_efficiency),
        "router": multiplied(router_flops, router_bytes, "router", tokens),
        "head": multiplied(head_flops, head_bytes, "head", rows),
    }
    vector_time = vector_bytes / rate
    widened = (q.attention_dequantised * layers * (projections - (up if made.decoding else 0))
               + q.dense_mlp_dequantised * q.first_k_dense_replace * n.dense_mlp_parameters / t
               + q.shared_expert_dequantised * moe * n.shared_expert_parameters / t
               + q.routed_expert_dequantised * routed_weights)
    traffic = q.dequantisation_traffic if made.decoding else q.prefill_dequantisation_traffic
    dequantisation_time = widened * traffic / q.l2_bandwidth

    ranks = group(q, t)
    payload = tokens * d * width
    after_mlp = q.first_k_dense_replace + select(e <= t, moe, 0)
    all_reduce_time = ((1 + layers + after_mlp) * all_reduce(q, ranks, payload)
                       + all_gather(q, ranks, rows * columns * q.logit_element_bytes))
    experts = group(q, select(e > t, e, 1))
    sent = tokens / t
    exchange_time = moe * (exchange(q, experts, sent, d * q.dispatch_element_bytes)
                           + exchange(q, experts, sent, d * width))
    pipeline_time = (q.pipeline_parallel - 1) * (
        q.network_alpha + payload / t / (q.network_bandwidth * q.network_efficiency))
    boundary_time = layers * q.operators_per_layer * q.kernel_boundary

    host_weights = q.offloaded_share * moe * hit * n.routed_expert_parameters
    host_flops = q.offloaded_share * two * moe * n.routed_expert_parameters * k * together
    # a token travels if any of its experts is on the host
    travels = 1 - (1 - q.offloaded_share) ** k
    moved = 2 * travels * moe * tokens * d * width
    offload_time = select(
        q.offloaded_share > 0,
        # a core multiplies what it has loaded: the two do not overlap
        host_flops / (q.host_peak * q.host_gemm_efficiency)
        + host_weights * q.offloaded_weight_bytes
        / (q.host_memory_bandwidth * q.host_stream_efficiency)
        + moved / q.host_link_bandwidth + moe * q.host_sync, 0)
    fetched = missing(q, n, read)

    # --- the step ---------------------------------------------------------------------------------
    compute = halves * (sum(times.values()) + core_time + vector_time + dequantisation_time
                        + boundary_time + offload_time + fetched.fetch_time)
    communication = halves * (all_reduce_time + exchange_time + pipeline_time)
    alone = made.decoding & np.less_equal(made.tokens, 1)
    # kernels that are fused have no boundary between them
    saved = select(alone, np.minimum(q.single_token_path, halves * boundary_time), 0)
    on_host = halves * (offload_time + fetched.fetch_time)
    own = compute - on_host - saved
    hidden = select(halves > 1, q.overlap_efficiency * np.minimum(own, communication), 0)
    # experts whose results are awaited a layer later, or that are fetched a layer ahead, run
    # beside the device's own work
    hidden = hidden + q.host_overlap * np.minimum(on_host, own + communication - hidden)
    device = compute + communication - hidden - saved
    # a captured graph is launched as one; prefill has too many shapes to be captured
    launched = 1 - q.captured if made.decoding else 1
    host = halves * launched * q.host_time_per_operator * layers * q.operators_per_layer
    return Step(
        attention_flops, core_flops, dense_mlp_flops, shared_flops, routed_flops, router_flops,
        head_flops, attention_bytes, core_bytes, dense_mlp_bytes, shared_bytes, routed_bytes,
        router_bytes, head_bytes, vector_bytes, together, hit, fetched.missing_experts,
        fetched.storage_experts, times["attention"], core_time, times["dense_mlp"],
        times["shared_expert"], times["routed_expert"], times["router"], times["head"],
        vector_time, dequantisation_time, all_reduce_time, exchange_time, pipeline_time,
        boundary_time, offload_time, fetched.fetch_time, saved, compute, communication, hidden,
        device, host, np.maximum(device, host) + q.host_gap_per_step)


def _widths(attention: str, q: Any, heads: Number, decoding: bool) -> tuple[Number, Number]:
    """Elements in and out of a layer's projections per token, and of its core per head [1]."""
    d = q.hidden_size
    if attention != MLA:
        kv_heads = np.maximum(1, q.num_key_value_heads * heads / q.num_attention_heads)
        return 2 * d + (2 * heads + 2 * kv_heads) * q.head_dim, 2 * q.head_dim
    query_key = q.qk_nope_head_dim + q.qk_rope_head_dim
    query = select(q.q_lora_rank > 0, d + 2 * q.q_lora_rank, d)
    latent = d + q.kv_lora_rank + q.qk_rope_head_dim
    around = query + latent + heads * (query_key + q.v_head_dim) + d
    if decoding:
        inside = heads * (q.qk_nope_head_dim + 2 * q.kv_lora_rank + q.v_head_dim)
        return around + inside, 2 * q.kv_lora_rank + q.qk_rope_head_dim
    expansion = q.kv_lora_rank + heads * (q.qk_nope_head_dim + q.v_head_dim)
    return around + expansion, query_key + q.v_head_dim
