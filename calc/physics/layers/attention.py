"""Attention that every token of the context is cached for: parameters of a layer, by its cuts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from calc.physics.arrays import Number, maximum, select

MLA, GQA, CSA = "mla", "gqa", "csa"


@dataclass(frozen=True)
class Attention:
    """Parameters of one attention layer, by how tensor parallelism treats them [1].

    Attributes:
        divided: matrices cut by heads.
        kv: key and value projections of grouped-query attention, cut by KV heads at most.
        replicated: matrices that every rank holds whole.
        norm: norms of the layer, those before attention and MLP included.
        compressor: matrices that pool tokens of the cache, whole on every rank.

    Where layers differ, it is the mean layer.
    """

    divided: Number
    kv: Number
    replicated: Number
    norm: Number
    compressor: Number = 0


def mla_attention(
    *, hidden_size: Number, num_attention_heads: Number, q_lora_rank: Number,
    kv_lora_rank: Number, qk_nope_head_dim: Number, qk_rope_head_dim: Number,
    v_head_dim: Number, index_n_heads: Number, index_head_dim: Number, indexing: Number,
    attention_output_gate: Number,
) -> Attention:
    """Multi-head latent attention: low-rank queries and one latent for keys and values.

    The down-projections make one latent for all heads, so no rank can hold a part of them. An
    indexer, which picks the tokens that are attended to, scores with heads of its own; engines keep
    all of it on every rank, because every rank needs the same choice. Its keys pass a layer norm,
    which has a weight and a bias.

    Args:
        hidden_size: width of the model [1].
        num_attention_heads: query heads [1].
        q_lora_rank: width of the query latent [1]; 0: queries come from the hidden state.
        kv_lora_rank: width of the key and value latent [1].
        qk_nope_head_dim, qk_rope_head_dim: key elements of a head, without and with position [1].
        v_head_dim: value elements of a head [1].
        index_n_heads, index_head_dim: heads of the indexer and elements of each [1]; 0: none.
        indexing: share of the layers that have an indexer of their own [1].
        attention_output_gate: 1 if the heads' outputs have a gate [1].

    Source: notebooks/architecture.md, sections Attention and A sparse attention's indexer;
    DeepSeek-V2, arXiv 2405.04434; DeepSeek-V3.2-Exp, inference/model.py, class Indexer.
    """
    query_width = num_attention_heads * (qk_nope_head_dim + qk_rope_head_dim)
    query_input = select(q_lora_rank == 0, hidden_size, q_lora_rank)
    expanded = num_attention_heads * (qk_nope_head_dim + v_head_dim)
    output = (1 + attention_output_gate) * num_attention_heads * v_head_dim * hidden_size
    indexer = (q_lora_rank * index_n_heads * index_head_dim
               + hidden_size * (index_head_dim + index_n_heads))
    return Attention(
        divided=query_input * query_width + kv_lora_rank * expanded + output,
        kv=0,
        replicated=(hidden_size * (q_lora_rank + kv_lora_rank + qk_rope_head_dim)
                    + indexing * indexer),
        norm=2 * hidden_size + q_lora_rank + kv_lora_rank + indexing * 2 * index_head_dim,
    )


def gqa_attention(
    *, hidden_size: Number, num_attention_heads: Number, num_key_value_heads: Number,
    head_dim: Number, attention_bias: Number, attention_output_bias: Number, qk_norm: Number,
    attention_sinks: Number, attention_output_gate: Number, indexer: Number,
) -> Attention:
    """Grouped-query attention; plain multi-head attention has as many KV heads as heads.

    A bias is one number per output and goes with the projection's columns. The output projection's
    rows are cut, so its outputs, and a bias on them, are whole on every rank. One norm serves all
    query heads, one all key heads. A sink is one number per query head.

    Args:
        hidden_size: width of the model [1].
        num_attention_heads, num_key_value_heads: query heads, and key and value heads [1].
        head_dim: elements of a head [1].
        attention_bias, attention_output_bias: 1 if queries, keys and values, or the output, have
            biases [1].
        qk_norm, attention_sinks, attention_output_gate: 1 if the layer has them [1].
        indexer: width of an indexer's queries and its key, the mean layer [1].

    Source: notebooks/architecture.md, sections Attention and Biases, norms and sinks of heads;
    arXiv 2305.13245; transformers, models qwen2, qwen3_moe, glm4_moe and gpt_oss.
    """
    query_width, kv_width = num_attention_heads * head_dim, num_key_value_heads * head_dim
    inputs = hidden_size + attention_bias  # a bias is a row of the matrix for a constant input
    return Attention(
        divided=((hidden_size * (1 + attention_output_gate) + inputs) * query_width
                 + attention_sinks * num_attention_heads),
        kv=2 * inputs * kv_width,
        replicated=hidden_size * (attention_output_bias + indexer),
        norm=2 * (hidden_size + qk_norm * head_dim),
    )


def attention_layers(q: Any) -> Number:
    """Layers that attend to a cache [1].

    Args:
        q: anything with the model's input symbols as attributes.

    Source: notebooks/architecture.md, section Linear attention.
    """
    return q.num_hidden_layers - q.linear_layers


def core_width(attention: str, q: Any, absorbed: Number) -> Number:
    """Elements in and out of a layer's core per head and token [1].

    Args:
        attention: ``mla``, ``gqa`` or ``csa``.
        q: input symbols as attributes.
        absorbed: share of the prompts for which MLA absorbs its up-projections [1].

    Source: notebooks/compute.md, section The core.
    """
    if attention != MLA:
        return 2 * q.head_dim
    return (absorbed * (2 * q.kv_lora_rank + q.qk_rope_head_dim)
            + (1 - absorbed) * (q.qk_nope_head_dim + q.qk_rope_head_dim + q.v_head_dim))


def projections_width(attention: str, q: Any, heads: Number, absorbed: Number) -> Number:
    """Elements in and out of a layer's projections per token [1].

    Args:
        attention: ``mla``, ``gqa`` or ``csa``.
        q: input symbols as attributes.
        heads: of the rank [1].
        absorbed: share of the prompts for which MLA absorbs its up-projections [1].

    Source: notebooks/compute.md, section Projections of attention.
    """
    d = q.hidden_size
    if attention == CSA:
        joined = q.o_groups * q.o_lora_rank * heads / q.num_attention_heads
        return 2 * (d + q.q_lora_rank + joined) + q.head_dim + 2 * heads * q.head_dim
    if attention != MLA:
        kv_heads = maximum(1, q.num_key_value_heads * heads / q.num_attention_heads)
        return 2 * d + (2 * heads + 2 * kv_heads) * q.head_dim
    query_key = q.qk_nope_head_dim + q.qk_rope_head_dim
    query = select(q.q_lora_rank > 0, d + 2 * q.q_lora_rank, d)
    latent = d + q.kv_lora_rank + q.qk_rope_head_dim
    of_head = query_key + q.v_head_dim + q.qk_nope_head_dim + q.v_head_dim
    return (heads * (of_head + absorbed * 2 * q.kv_lora_rank)
            + (query + latent + d + (1 - absorbed) * q.kv_lora_rank))
