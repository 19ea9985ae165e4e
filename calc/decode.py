"""The floor under decode latency: the bytes that a step has to read from device memory.

No step that reads them at the achieved bandwidth is faster. Communication, kernel boundaries and
the host are not in it, so a measured TPOT lies above; the ratio of the two is to be explained.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calc.arrays import Number, ceil_div
from calc.memory import Cache, Weights, expert_shards, routed_layer_weights
from calc.shapes import Parameters


@dataclass(frozen=True)
class Decode:
    """One decode step: tokens, bytes read per device [B], their times [s], the resulting rate."""

    decode_context_tokens: Number
    decode_batch: Number
    expert_group_tokens: Number
    distinct_experts: Number
    decode_dense_bytes: Number
    decode_expert_bytes: Number
    decode_kv_bytes: Number
    decode_dense_time: Number
    decode_expert_time: Number
    decode_kv_time: Number
    tpot: Number
    output_throughput: Number


def distinct_experts(n_routed_experts: Number, num_experts_per_tok: Number,
                     tokens: Number) -> Number:
    """Expected number of experts that ``tokens`` hit in a layer, routed uniformly [1].

    E = N (1 - (1 - k/N)^B): a token misses an expert with probability 1 - k/N, independently of
    the others. E(1) = k and E(infinity) = N. Without experts it is 0.

    >>> round(float(distinct_experts(256, 8, 32)), 1)
    163.3

    Args:
        n_routed_experts: experts of a layer N [1].
        num_experts_per_tok: experts that a token is sent to, k [1].
        tokens: tokens of the step that share the experts, B [token].

    Source: notebooks/memory.md, section How many experts a step reads.
    """
    some = np.maximum(n_routed_experts, 1)
    return n_routed_experts * (1 - (1 - num_experts_per_tok / some) ** tokens)


def mean_context(input_tokens: Number, output_tokens: Number) -> Number:
    """Mean context of a request while it decodes [token].

    The token number i of n sees the prompt and i tokens, itself included: the mean over i = 1 … n.

    Args:
        input_tokens: of the prompt [token].
        output_tokens: generated, n [token].

    Source: notebooks/memory.md, section A floor under the time per output token.
    """
    return input_tokens + (output_tokens + 1) / 2


def decode_floor(q: Any, n: Parameters, w: Weights, c: Cache,
                 requests_per_rank: Number) -> Decode:
    """Least time of a decode step [s] over all pipeline stages, one micro-batch after another.

    Args:
        q: input symbols as attributes.
        n: the model's parameters.
        w: weights by stage [B].
        c: cache per token [B/token].
        requests_per_rank: requests of the fullest data-parallel rank [request].

    Source: notebooks/memory.md, section A floor under the time per output token.
    """
    batch = ceil_div(requests_per_rank, q.pipeline_parallel)
    group_tokens = batch * np.maximum(1, q.expert_parallel / q.tensor_parallel)
    hit = distinct_experts(q.n_routed_experts, q.num_experts_per_tok, group_tokens)
    expert = q.routed_expert_weight_bytes * n.routed_expert_parameters / expert_shards(q)
    besides_routed = w.moe_layer_weights - routed_layer_weights(q, n)
    final_norm = q.norm_weight_bytes * q.hidden_size
    dense_bytes = (q.first_k_dense_replace * w.dense_layer_weights + n.moe_layers * besides_routed
                   + w.head_matrix_weights + final_norm)
    expert_bytes = n.moe_layers * hit * expert
    context = mean_context(q.input_tokens, q.output_tokens)
    kv_bytes = (batch * context * q.num_hidden_layers
                * c.kv_layer_bytes_per_token_per_device)
    rate = q.memory_bandwidth * q.hbm_efficiency
    times = dense_bytes / rate, expert_bytes / rate, kv_bytes / rate
    tpot = sum(times)
    return Decode(context, batch, group_tokens, hit, dense_bytes, expert_bytes, kv_bytes, *times,
                  tpot=tpot, output_throughput=q.concurrency / tpot)
