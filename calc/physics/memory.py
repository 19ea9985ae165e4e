"""The memory of a deployment: what the fullest device holds, and what is left for the cache.

Bytes everywhere [B], not GB and not GiB. Scalars and arrays mix freely; arrays broadcast. Values
per pipeline stage have the stage as their first axis, see :func:`candidate_stages`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calc.physics.arrays import Number, ceil_div, select
from calc.physics.shapes import MLA, Parameters


def candidate_stages(num_hidden_layers: Number, pipeline_parallel: Number,
                     ndim: int = 0) -> np.ndarray:
    """The pipeline stages that can be the fullest: (0, (L - 1) mod p, p - 1) [1].

    Stage s of p holds ceil((L - s)/p) layers: stages up to (L - 1) mod p hold one more than the
    rest where p does not divide L. Dense layers lead. Where they are heavier than MoE layers,
    stage 0 has most of them, and the embedding; where they are lighter, the last of the stages
    with most layers has fewest of them, and of the others the last, which also has the head.

    Args:
        num_hidden_layers: layers L [1].
        pipeline_parallel: stages p [1].
        ndim: dimensions of the inputs that the result must broadcast against.

    Returns shape (3, ...): the first axis is the stage.

    Source: notebooks/memory.md, section Pipeline stages, for the layers of a stage.
    """
    layers, p = np.broadcast_arrays(num_hidden_layers, pipeline_parallel)
    stages = np.stack([np.zeros_like(p), (layers - 1) % p, p - 1])
    return stages.reshape(3, *(1,) * (ndim - p.ndim), *p.shape)


@dataclass(frozen=True)
class Weights:
    """Weight bytes [B] on one device; ``stage_*`` have the stage as first axis."""

    attention_weights_per_layer: Number
    dense_layer_weights: Number
    moe_layer_weights: Number
    embedding_weights: Number
    head_matrix_weights: Number
    head_weights: Number
    stage_layers: np.ndarray
    stage_first_layer: np.ndarray
    stage_dense_layers: np.ndarray
    stage_weights: np.ndarray
    weights_per_device: Number
    stage_replicated_weights: np.ndarray
    replicated_weights_per_device: Number


def expert_shards(q: Any) -> Number:
    """Over how many ranks the routed experts of a layer are spread [1]: max(e, t).

    Args:
        q: input symbols as attributes; ``expert_parallel`` e and ``tensor_parallel`` t are read.

    Source: notebooks/memory.md, section The weights of a layer.
    """
    return np.maximum(q.expert_parallel, q.tensor_parallel)


def weights(attention: str, q: Any, n: Parameters, stage: np.ndarray) -> Weights:
    """Weight bytes of each candidate stage and of the fullest device [B].

    Tensor parallelism cuts heads, MLP columns and vocabulary rows; MLA's down-projections, norms
    and the router stay whole on every rank. Routed experts are spread over max(e, t) ranks.

    Args:
        attention: ``mla`` or ``gqa``.
        q: input symbols as attributes.
        n: the model's parameters.
        stage: pipeline stages, shape (stages, ...).

    Source: notebooks/memory.md, sections The weights of a layer and Pipeline stages.
    """
    t, p = q.tensor_parallel, q.pipeline_parallel
    kv_ranks = np.minimum(t, q.num_key_value_heads)
    kv_share = n.attention_kv_parameters / kv_ranks
    norm = q.norm_weight_bytes * n.norm_parameters
    whole = q.attention_weight_bytes * n.attention_replicated_parameters
    per_layer = (whole + norm + q.attention_weight_bytes
                 * (n.attention_divided_parameters / t + kv_share))
    dense_layer = per_layer + q.dense_mlp_weight_bytes * n.dense_mlp_parameters / t
    router = q.router_weight_bytes * n.router_parameters
    moe_layer = (per_layer + router
                 + q.shared_expert_weight_bytes * n.shared_expert_parameters / t
                 + routed_layer_weights(q, n))
    rows = ceil_div(q.vocab_size, t)
    embedding = q.embedding_weight_bytes * rows * q.hidden_size
    final_norm = q.norm_weight_bytes * q.hidden_size
    matrix = q.head_weight_bytes * rows * q.hidden_size
    # a tied head is the embedding's matrix; on another stage than that, it is a copy
    stored = np.maximum(q.separate_head, np.minimum(1, p - 1))
    head = stored * matrix + final_norm

    layers = ceil_div(q.num_hidden_layers - stage, p)
    first = stage * (q.num_hidden_layers // p) + np.minimum(stage, q.num_hidden_layers % p)
    dense = np.clip(q.first_k_dense_replace - first, 0, layers)
    is_last = stage == p - 1
    stored = ((stage == 0) * embedding + dense * dense_layer + (layers - dense) * moe_layer
            + is_last * head)
    uncut = (attention != MLA) & np.greater(t, q.num_key_value_heads)
    shared_kv = select(uncut, q.attention_weight_bytes * kv_share, 0)
    copied = (layers * (whole + norm + shared_kv) + (layers - dense) * router
              + is_last * final_norm)
    return Weights(
        attention_weights_per_layer=per_layer, dense_layer_weights=dense_layer,
        moe_layer_weights=moe_layer, embedding_weights=embedding,
        head_matrix_weights=matrix, head_weights=head,
        stage_layers=layers, stage_first_layer=first, stage_dense_layers=dense,
        stage_weights=stored, weights_per_device=stored.max(axis=0),
        stage_replicated_weights=copied, replicated_weights_per_device=copied.max(axis=0),
    )


def routed_layer_weights(q: Any, n: Parameters) -> Number:
    """Bytes of one layer's routed experts on one device, less those that are elsewhere [B].

    Args:
        q: input symbols as attributes.
        n: the model's parameters.

    Source: notebooks/memory.md, section The weights of a layer.
    """
    on_cards = (1 - q.offloaded_share) * (1 - q.fetched_share) * q.n_routed_experts
    return (q.routed_expert_weight_bytes * on_cards * n.routed_expert_parameters
            / expert_shards(q))


@dataclass(frozen=True)
class Cache:
    """Bytes of the KV cache per token [B].

    Of one layer, of its index key alone, of the whole model, and of one layer on one device, where
    the index key is whole.
    """

    kv_layer_bytes_per_token: Number
    kv_index_bytes_per_token: Number
    kv_bytes_per_token: Number
    kv_layer_bytes_per_token_per_device: Number


def cache(attention: str, q: Any) -> Cache:
    """What one token leaves in the KV cache [B per token].

    MLA caches one latent and one rotary key for all heads, and, where an indexer chooses what to
    attend to, one key for that: nothing to cut, so each tensor-parallel rank has a copy.
    Grouped-query attention caches keys and values of its KV heads, cut by heads. Every layer is
    charged for the whole context, also one that looks back over a window only: an upper bound,
    since which stage has how many of those, and how an engine pools them, is not in the shapes.

    Args:
        attention: ``mla`` or ``gqa``.
        q: input symbols as attributes.

    Source: notebooks/memory.md, section KV cache.
    """
    index = q.index_head_dim * q.kv_index_element_bytes
    if attention == MLA:
        layer = (q.kv_lora_rank * q.kv_cache_element_bytes
                 + q.qk_rope_head_dim * q.kv_rope_element_bytes + index)
        on_device = layer
    else:
        layer = 2 * q.num_key_value_heads * q.head_dim * q.kv_cache_element_bytes
        on_device = layer / np.minimum(q.tensor_parallel, q.num_key_value_heads)
    return Cache(layer, index, q.num_hidden_layers * layer, on_device)


@dataclass(frozen=True)
class Activations:
    """Elements per token that live at once [1], and their bytes in the largest step [B]."""

    attention_activation_width: Number
    dense_activation_width: Number
    moe_activation_width: Number
    layer_activations: Number
    logit_activations: Number
    activations_per_device: Number


def activations(attention: str, q: Any, moe_layers: Number, requests: Number) -> Activations:
    """Activations of the largest step: its widest moment, layer by layer or at the head [B].

    Args:
        attention: ``mla`` or ``gqa``.
        q: input symbols as attributes.
        moe_layers: layers with routed experts [1].
        requests: requests of one data-parallel rank [request], one row of logits each.

    Source: notebooks/memory.md, section Activations.
    """
    t, e, d = q.tensor_parallel, q.expert_parallel, q.hidden_size
    heads = q.num_attention_heads / t
    if attention == MLA:
        query_key = q.qk_nope_head_dim + q.qk_rope_head_dim
        core = (q.kv_lora_rank + q.qk_rope_head_dim
                + heads * (2 * query_key + 2 * q.v_head_dim))
    else:
        kv_heads = np.maximum(1, q.num_key_value_heads / t)
        core = 2 * q.head_dim * (heads + kv_heads)
    attention_width = d + core
    dense_width = 2 * d + 2 * q.intermediate_size / t
    rows_per_token = (1 - q.offloaded_share) * q.num_experts_per_tok / np.minimum(e, t)
    expert_width = 2 * q.moe_intermediate_size * e / expert_shards(q)
    moe_width = select(moe_layers > 0, 2 * d + rows_per_token * (d + expert_width), 0)
    widest = np.maximum(attention_width, moe_width)
    widest = select(q.first_k_dense_replace > 0, np.maximum(widest, dense_width), widest)
    in_layer = q.max_num_batched_tokens * q.activation_element_bytes * widest
    at_head = requests * q.vocab_size * q.logit_element_bytes
    return Activations(attention_width, dense_width, moe_width, in_layer, at_head,
                       np.maximum(in_layer, at_head))


@dataclass(frozen=True)
class Memory:
    """The budget of the fullest device [B], and the concurrency that it allows [request]."""

    requests_per_rank: Number
    blocks_per_request: Number
    usable_memory: Number
    stage_free_for_kv: np.ndarray
    free_for_kv_per_device: Number
    stage_block_bytes: np.ndarray
    stage_kv_blocks: np.ndarray
    kv_blocks: Number
    max_concurrency: Number
    stage_workload_kv: np.ndarray
    kv_per_device: Number
    headroom_per_device: Number
    memory_per_device: Number


def budget(q: Any, w: Weights, c: Cache, activations_per_device: Number,
           requests_per_rank: Number) -> Memory:
    """Usable memory less reserve, weights and activations, filled with whole blocks of cache.

    An engine's utilization is a share of the memory that the runtime reports, which is the
    device's less what its own system keeps.

    Args:
        q: input symbols as attributes.
        w: weights by stage [B].
        c: cache per token [B/token].
        activations_per_device: of the largest step [B].
        requests_per_rank: requests of the fullest data-parallel rank [request].

    Source: notebooks/memory.md, section What is left for the cache.
    """
    usable = (q.memory_capacity - q.system_reserve) * q.memory_utilization
    free = usable - q.runtime_reserve - w.stage_weights - activations_per_device
    block = q.block_size * w.stage_layers * c.kv_layer_bytes_per_token_per_device
    stage_blocks = np.maximum(0, np.floor(free / block))
    blocks = stage_blocks.min(axis=0)
    per_request = ceil_div(q.context_tokens, q.block_size)
    workload = requests_per_rank * per_request * block
    everything = w.stage_weights + activations_per_device + q.runtime_reserve + workload
    return Memory(
        requests_per_rank=requests_per_rank, blocks_per_request=per_request,
        usable_memory=usable, stage_free_for_kv=free, free_for_kv_per_device=free.min(axis=0),
        stage_block_bytes=block, stage_kv_blocks=stage_blocks, kv_blocks=blocks,
        max_concurrency=q.data_parallel * (blocks // per_request),
        stage_workload_kv=workload, kv_per_device=workload.max(axis=0),
        headroom_per_device=(free - workload).min(axis=0),
        memory_per_device=everything.max(axis=0),
    )
