"""Attention that every token of the context is cached for: parameters of a layer, by its cuts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from calc.physics.arrays import Number, anywhere, maximum, minimum, select

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
        window_kv: of ``kv``, those of layers with a window.

    Where layers differ, it is the mean layer.
    """

    divided: Number
    kv: Number
    replicated: Number
    norm: Number
    compressor: Number = 0
    window_kv: Number = 0


@dataclass(frozen=True)
class Heads:
    """Heads of grouped-query attention in one kind of layers [1].

    Attributes:
        query, kv: query heads, and key and value heads.
        key, value: elements of a key and of a value.
        projected: elements of both that are projected: fewer where keys serve as values.
    """

    query: Number
    kv: Number
    key: Number
    value: Number
    projected: Number

    @property
    def pair(self) -> Number:
        """Elements of a key and a value [1]."""
        return self.key + self.value


def full_heads(q: Any) -> Heads:
    """Heads of grouped-query attention in the layers without a window [1].

    Args:
        q: anything with the model's input symbols as attributes.

    Source: notebooks/architecture.md, section Layers with other heads.
    """
    made = q.head_dim + (1 - q.value_from_key) * q.v_head_dim
    return Heads(q.num_attention_heads, q.num_key_value_heads, q.head_dim, q.v_head_dim, made)


def window_heads(q: Any) -> Heads:
    """Heads of grouped-query attention in the layers with a window [1].

    Args:
        q: anything with the model's input symbols as attributes.

    Source: notebooks/architecture.md, section Layers with other heads.
    """
    return Heads(q.window_num_attention_heads, q.window_num_key_value_heads, q.window_head_dim,
                 q.window_v_head_dim, q.window_head_dim + q.window_v_head_dim)


def window_layers(q: Any) -> Number:
    """Layers with a cache that attend to a window [1].

    Args:
        q: anything with the model's input symbols as attributes.

    Source: notebooks/architecture.md, section Layers with other heads.
    """
    return attention_layers(q) - q.full_attention_layers


def over_kinds(q: Any, of: Callable[[Heads], Number]) -> Number:
    """Sum over all layers with a cache, of grouped-query attention [any].

    Args:
        q: input symbols as attributes.
        of: what a layer with such heads has.

    Source: notebooks/architecture.md, section Layers with other heads.
    """
    full, windowed = of(full_heads(q)), window_layers(q)
    total = attention_layers(q) * full
    if not anywhere(windowed != 0):
        return total
    return total + windowed * (of(window_heads(q)) - full)


def kv_share(q: Any, n: Any, ranks: Number) -> Number:
    """A rank's part of the projections of keys and values, mean layer, cut by KV heads [1].

    Args:
        q: input symbols as attributes.
        n: the model's parameters.
        ranks: over which the heads are cut [1].

    Source: notebooks/memory.md, section The weights of a layer.
    """
    windowed = n.window_kv_parameters
    return ((n.attention_kv_parameters - windowed) / minimum(ranks, q.num_key_value_heads)
            + windowed / minimum(ranks, q.window_num_key_value_heads))


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


def gqa_attention(q: Any) -> Attention:
    """Parameters of grouped-query attention [1]; multi-head attention has a KV head for each head.

    A bias is one number per output and goes with the projection's columns. The output projection's
    rows are cut, so its outputs, and a bias on them, are whole on every rank. One norm serves all
    query heads, one all key heads. A sink is one number per query head. Layers with a window may
    have other heads; it is the mean layer of both kinds.

    Args:
        q: anything with the model's input symbols as attributes.

    Source: notebooks/architecture.md, sections Attention, Biases, norms and sinks of heads, and
    Layers with other heads; arXiv 2305.13245; transformers, models qwen2, qwen3_moe, glm4_moe,
    gpt_oss, mimo_v2_flash and gemma4.
    """
    d, layers = q.hidden_size, attention_layers(q)
    inputs = d + q.attention_bias  # a bias is a row of the matrix for a constant input
    indexer = q.indexer_layers / layers * (q.index_n_heads + 1) * q.index_head_dim
    windowed = window_layers(q) / layers

    def mean(of: Callable[[Heads], Number]) -> Number:
        return over_kinds(q, of) / layers

    return Attention(
        divided=mean(lambda h: h.query * (
            d * (1 + q.attention_output_gate) * h.value + inputs * h.key + q.attention_sinks)),
        kv=mean(lambda h: inputs * h.kv * h.projected),
        replicated=d * (q.attention_output_bias + indexer),
        norm=2 * (d + q.qk_norm * mean(lambda h: h.key)),
        window_kv=windowed * inputs * window_heads(q).kv * window_heads(q).projected)


def attention_layers(q: Any) -> Number:
    """Layers that attend to a cache [1].

    Args:
        q: anything with the model's input symbols as attributes.

    Source: notebooks/architecture.md, section Linear attention.
    """
    return q.num_hidden_layers - q.linear_layers


def layer_halves(q: Any) -> Number:
    """Attentions or states, and feed-forward networks, of all layers, each with a norm before [1].

    Args:
        q: anything with the model's input symbols as attributes.

    Source: notebooks/architecture.md, section Norms.
    """
    return 2 * q.num_hidden_layers - q.layers_without_mlp


def core_width(attention: str, q: Any, absorbed: Number) -> Number:
    """Elements in and out of the core per head and token, in a layer without a window [1].

    Args:
        attention: ``mla``, ``gqa`` or ``csa``.
        q: input symbols as attributes.
        absorbed: share of the prompts for which MLA absorbs its up-projections [1].

    Source: notebooks/compute.md, section The core.
    """
    if attention == GQA:
        return full_heads(q).pair
    if attention == CSA:
        return 2 * q.head_dim
    return (absorbed * (2 * q.kv_lora_rank + q.qk_rope_head_dim)
            + (1 - absorbed) * (q.qk_nope_head_dim + q.qk_rope_head_dim + q.v_head_dim))


def projections_width(attention: str, q: Any, ranks: Number, absorbed: Number) -> Number:
    """Elements in and out of the projections per token, all layers with a cache [1].

    Args:
        attention: ``mla``, ``gqa`` or ``csa``.
        q: input symbols as attributes.
        ranks: over which the heads are cut [1].
        absorbed: share of the prompts for which MLA absorbs its up-projections [1].

    Source: notebooks/compute.md, section Projections of attention.
    """
    d = q.hidden_size
    if attention == GQA:
        return over_kinds(q, lambda h: 2 * d + h.query / ranks * h.pair + maximum(
            1, h.kv / ranks) * h.projected)
    layers, heads = attention_layers(q), q.num_attention_heads / ranks
    if attention == CSA:
        joined = q.o_groups * q.o_lora_rank / ranks
        return layers * (
            2 * (d + q.q_lora_rank + joined) + q.head_dim + 2 * heads * q.head_dim)
    query_key = q.qk_nope_head_dim + q.qk_rope_head_dim
    query = select(q.q_lora_rank > 0, d + 2 * q.q_lora_rank, d)
    latent = d + q.kv_lora_rank + q.qk_rope_head_dim
    of_head = query_key + q.v_head_dim + q.qk_nope_head_dim + q.v_head_dim
    return layers * (heads * (of_head + absorbed * 2 * q.kv_lora_rank)
                     + (query + latent + d + (1 - absorbed) * q.kv_lora_rank))
