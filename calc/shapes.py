"""Parameters counted from shapes: what a model holds, tensor class by tensor class.

Every argument is a count [1] and may be a scalar or an array; arrays broadcast. Matrices have no
bias unless said; norms have a weight each. Source of the shapes: the published configurations and
modelling code of DeepSeek-V3 (MLA, MoE) and Llama 3 (GQA).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calc.arrays import Number, select

MLA, GQA = "mla", "gqa"


@dataclass(frozen=True)
class Attention:
    """Parameters of one attention layer, by how tensor parallelism treats them [1].

    Attributes:
        divided: matrices cut by heads.
        kv: key and value projections of grouped-query attention, cut by KV heads at most.
        replicated: matrices that every rank holds whole.
        norm: norm weights of the layer, those before attention and MLP included.
    """

    divided: Number
    kv: Number
    replicated: Number
    norm: Number


def mla_attention(
    *, hidden_size: Number, num_attention_heads: Number, q_lora_rank: Number,
    kv_lora_rank: Number, qk_nope_head_dim: Number, qk_rope_head_dim: Number,
    v_head_dim: Number,
) -> Attention:
    """Multi-head latent attention: low-rank queries and one latent for keys and values.

    The down-projections make one latent for all heads, so no rank can hold a part of them.

    Args:
        hidden_size: width of the model [1].
        num_attention_heads: query heads [1].
        q_lora_rank: width of the query latent [1]; 0: queries come from the hidden state.
        kv_lora_rank: width of the key and value latent [1].
        qk_nope_head_dim, qk_rope_head_dim: key elements of a head, without and with position [1].
        v_head_dim: value elements of a head [1].

    Source: notebooks/architecture.md, section Attention; DeepSeek-V2, arXiv 2405.04434.
    """
    query_width = num_attention_heads * (qk_nope_head_dim + qk_rope_head_dim)
    query_input = select(np.equal(q_lora_rank, 0), hidden_size, q_lora_rank)
    expanded = num_attention_heads * (qk_nope_head_dim + v_head_dim)
    output = num_attention_heads * v_head_dim * hidden_size
    return Attention(
        divided=query_input * query_width + kv_lora_rank * expanded + output,
        kv=0,
        replicated=hidden_size * (q_lora_rank + kv_lora_rank + qk_rope_head_dim),
        norm=2 * hidden_size + q_lora_rank + kv_lora_rank,
    )


def gqa_attention(
    *, hidden_size: Number, num_attention_heads: Number, num_key_value_heads: Number,
    head_dim: Number,
) -> Attention:
    """Grouped-query attention; plain multi-head attention has as many KV heads as heads.

    Args:
        hidden_size: width of the model [1].
        num_attention_heads, num_key_value_heads: query heads, and key and value heads [1].
        head_dim: elements of a head [1].

    Source: notebooks/architecture.md, section Attention; arXiv 2305.13245.
    """
    return Attention(
        divided=2 * hidden_size * num_attention_heads * head_dim,
        kv=2 * hidden_size * num_key_value_heads * head_dim,
        replicated=0,
        norm=2 * hidden_size,
    )


def swiglu(hidden_size: Number, intermediate_size: Number) -> Number:
    """Parameters of a gated MLP [1]: gate, up and down, three matrices.

    Args:
        hidden_size, intermediate_size: widths outside and inside [1].

    Source: notebooks/architecture.md, section Feed-forward networks; arXiv 2002.05202.
    """
    return 3 * hidden_size * intermediate_size


@dataclass(frozen=True)
class Parameters:
    """Parameter counts of a model [1]; names as in ``params/symbols.yml``."""

    embedding_parameters: Number
    head_parameters: Number
    attention_divided_parameters: Number
    attention_kv_parameters: Number
    attention_replicated_parameters: Number
    norm_parameters: Number
    dense_mlp_parameters: Number
    router_parameters: Number
    shared_expert_parameters: Number
    routed_expert_parameters: Number
    moe_layers: Number
    routed_parameters: Number
    total_parameters: Number
    active_parameters: Number
    active_parameters_with_embedding: Number


def count_parameters(attention: str, q: Any) -> Parameters:
    """Count a model's parameters [1].

    Args:
        attention: ``mla`` or ``gqa``.
        q: anything with the model's input symbols as attributes (see ``params/symbols.yml``).

    Raises ValueError for another kind of attention.

    Source: notebooks/architecture.md, section Total, routed, active.
    """
    if attention == MLA:
        layer = mla_attention(
            hidden_size=q.hidden_size, num_attention_heads=q.num_attention_heads,
            q_lora_rank=q.q_lora_rank, kv_lora_rank=q.kv_lora_rank,
            qk_nope_head_dim=q.qk_nope_head_dim, qk_rope_head_dim=q.qk_rope_head_dim,
            v_head_dim=q.v_head_dim)
    elif attention == GQA:
        layer = gqa_attention(
            hidden_size=q.hidden_size, num_attention_heads=q.num_attention_heads,
            num_key_value_heads=q.num_key_value_heads, head_dim=q.head_dim)
    else:
        raise ValueError(f"unknown attention '{attention}', expected mla or gqa")

    embedding = q.vocab_size * q.hidden_size
    head = q.separate_head * embedding
    dense = swiglu(q.hidden_size, q.intermediate_size)
    router = q.n_routed_experts * (q.hidden_size + q.router_bias)
    expert = swiglu(q.hidden_size, q.moe_intermediate_size)
    shared = q.n_shared_experts * expert
    moe_layers = q.num_hidden_layers - q.first_k_dense_replace
    routed = moe_layers * q.n_routed_experts * expert
    every_layer = layer.divided + layer.kv + layer.replicated + layer.norm
    final_norm = q.hidden_size
    total = (embedding + head + final_norm + q.num_hidden_layers * every_layer
             + q.first_k_dense_replace * dense + moe_layers * (router + shared) + routed)
    idle = moe_layers * (q.n_routed_experts - q.num_experts_per_tok) * expert
    return Parameters(
        embedding_parameters=embedding, head_parameters=head,
        attention_divided_parameters=layer.divided, attention_kv_parameters=layer.kv,
        attention_replicated_parameters=layer.replicated, norm_parameters=layer.norm,
        dense_mlp_parameters=dense, router_parameters=router, shared_expert_parameters=shared,
        routed_expert_parameters=expert, moe_layers=moe_layers, routed_parameters=routed,
        total_parameters=total,
        # a tied embedding is still read, as the output head
        active_parameters=total - idle - q.separate_head * embedding,
        active_parameters_with_embedding=total - idle,
    )
