"""Attention shapes and parameters of a model, counted from shapes by class of tensors.

Every argument is a count [1] and may be a scalar or an array; arrays broadcast. What a model may
have or not (biases, norms of queries and keys, sinks) is switched by 0 or 1. Source of the shapes:
the published configurations and modelling code of DeepSeek-V3 (MLA, MoE), DeepSeek-V3.2 (indexer),
Llama 3 (GQA), Qwen (biases, norms of queries and keys) and gpt-oss (sinks, biases of experts).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from calc.physics.arrays import Inputs, Number, anywhere, maximum, minimum, once, select

MLA, GQA, CSA = "mla", "gqa", "csa"


@dataclass(frozen=True, eq=False)
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


@dataclass(frozen=True, eq=False)
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


def full_heads(q: Inputs) -> Heads:
    """Heads of grouped-query attention in the layers without a window [1].

    Args:
        q: anything with the model's input symbols as attributes.

    Source: notebooks/architecture.md, section Layers with other heads.
    """
    computed = q.head_dim + (1 - q.value_from_key) * q.v_head_dim
    return Heads(q.num_attention_heads, q.num_key_value_heads, q.head_dim, q.v_head_dim, computed)


def window_heads(q: Inputs) -> Heads:
    """Heads of grouped-query attention in the layers with a window [1].

    Args:
        q: anything with the model's input symbols as attributes.

    Source: notebooks/architecture.md, section Layers with other heads.
    """
    return Heads(q.window_num_attention_heads, q.window_num_key_value_heads, q.window_head_dim,
                 q.window_v_head_dim, q.window_head_dim + q.window_v_head_dim)


def window_layers(q: Inputs) -> Number:
    """Layers with a cache that attend to a window [1].

    Args:
        q: anything with the model's input symbols as attributes.

    Source: notebooks/architecture.md, section Layers with other heads.
    """
    return attention_layers(q) - q.full_attention_layers


def over_kinds(q: Inputs, of: Callable[[Heads], Number]) -> Number:
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


def kv_share(q: Inputs, n: Any, ranks: Number) -> Number:
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


def mla_attention(q: Inputs) -> Attention:
    """Multi-head latent attention [1]: low-rank queries and one latent for keys and values.

    The down-projections make one latent for all heads, so no rank can hold a part of them. An
    indexer, which picks the tokens that are attended to, scores with heads of its own; engines keep
    all of it on every rank, because every rank needs the same choice. Its keys pass a layer norm,
    which has a weight and a bias. Without a query latent, queries come from the hidden state.

    Args:
        q: anything with the model's input symbols as attributes, counts [1].

    Source: notebooks/architecture.md, sections Attention and A sparse attention's indexer;
    DeepSeek-V2, arXiv 2405.04434; DeepSeek-V3.2-Exp, inference/model.py, class Indexer.
    """
    d, heads = q.hidden_size, q.num_attention_heads
    indexing = q.indexer_layers / attention_layers(q)
    query_width = heads * (q.qk_nope_head_dim + q.qk_rope_head_dim)
    query_input = select(q.q_lora_rank == 0, d, q.q_lora_rank)
    expanded = heads * (q.qk_nope_head_dim + q.v_head_dim)
    output = (1 + q.attention_output_gate) * heads * q.v_head_dim * d
    indexer = (q.q_lora_rank * q.index_n_heads * q.index_head_dim
               + d * (q.index_head_dim + q.index_n_heads))
    return Attention(
        divided=query_input * query_width + q.kv_lora_rank * expanded + output, kv=0,
        replicated=d * (q.q_lora_rank + q.kv_lora_rank + q.qk_rope_head_dim) + indexing * indexer,
        norm=2 * d + q.q_lora_rank + q.kv_lora_rank + indexing * 2 * q.index_head_dim)


def gqa_attention(q: Inputs) -> Attention:
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


def attention_layers(q: Inputs) -> Number:
    """Layers that attend to a cache [1].

    Args:
        q: anything with the model's input symbols as attributes.

    Source: notebooks/architecture.md, section Linear attention.
    """
    return q.num_hidden_layers - q.linear_layers


def layer_halves(q: Inputs) -> Number:
    """Attentions or states, and feed-forward networks, of all layers, each with a norm before [1].

    Args:
        q: anything with the model's input symbols as attributes.

    Source: notebooks/architecture.md, section Norms.
    """
    return 2 * q.num_hidden_layers - q.layers_without_mlp


def core_width(attention: str, q: Inputs, absorbed: Number) -> Number:
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


def projections_width(attention: str, q: Inputs, ranks: Number, absorbed: Number) -> Number:
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


# keys and gates of two overlapping windows, or of one
OVERLAPPING, KEY_AND_GATE = 2, 2


def compressed_attention(q: Inputs) -> Attention:
    """Attention to a window and to compressed entries of the cache, the mean layer.

    One row is key and value of all heads. The output projection is of low rank, group by group of
    heads. A compressor pools tokens by learned gates: two overlapping windows for entries that an
    indexer picks from, one for those that are all read; the indexer's keys have one of their own.
    Gates have a bias per place in the window.

    Args:
        q: anything with the model's input symbols as attributes, counts [1].

    Source: notebooks/architecture.md, section Compressed attention; vllm-project/vllm,
    vllm/models/deepseek_v4/attention.py and compressor.py.
    """
    d, row, layers = q.hidden_size, q.head_dim, q.num_hidden_layers
    picked, heavy = q.compressed_layers / layers, q.heavy_layers / layers
    indexing = q.indexer_layers / layers
    joined = q.o_groups * q.o_lora_rank
    overlapping = OVERLAPPING * (KEY_AND_GATE * d + q.compress_ratio)
    return Attention(
        divided=(q.num_attention_heads * (row * (q.q_lora_rank + q.o_lora_rank)
                                          + q.attention_sinks) + joined * d),
        kv=0,
        replicated=d * (q.q_lora_rank + row) + indexing * q.index_n_heads * (
            q.q_lora_rank * q.index_head_dim + d),
        norm=(2 * d + q.q_lora_rank + row + (picked + heavy) * row + indexing * q.index_head_dim),
        compressor=(overlapping * (picked * row + indexing * q.index_head_dim)
                    + heavy * row * (KEY_AND_GATE * d + q.heavy_compress_ratio)),
    )


def hyper_connections(q: Inputs) -> tuple[Number, Number]:
    """Parameters that mix residual streams [1]: of the mean layer, and before the head; 0 with one.

    Before and after attention and MLP alike a matrix on all streams at once gives a weight for each
    of them on the way in, one on the way out, and one for each pair of them, with a bias each and
    three scales. Before the head the streams are joined by weights that are found the same way.

    Args:
        q: anything with the model's input symbols as attributes.

    Source: notebooks/architecture.md, section Hyper-connections; vllm-project/vllm,
    vllm/models/deepseek_v4/nvidia/model.py.
    """
    streams, wide = q.hc_mult, q.hc_mult * q.hidden_size
    weights = (2 + streams) * streams
    several, halves = streams > 1, layer_halves(q) / q.num_hidden_layers
    return (select(several, halves * (weights * (wide + 1) + 3), 0),
            select(several, streams * (wide + 1) + 1, 0))


def residual_widths(q: Inputs) -> Number:
    """Widths of the model that a token moves around attention, or an MLP [1].

    A norm reads and writes hidden state and residual. Several streams are read twice before it,
    for their weights and to be joined into one, which is normalised at once; after it they are read
    and written, and what came out is read.

    Args:
        q: input symbols as attributes.

    Source: notebooks/compute.md, section What the vector unit does.
    """
    return select(q.hc_mult > 1, 4 * q.hc_mult + 2, 4)


def linear_attention(q: Inputs) -> Attention:
    """Parameters of a layer of linear attention [1].

    A state that every token decays, corrects and reads takes the place of a cache. Queries, keys
    and values pass a short convolution. Decay and output gate are matrices of full rank, of low
    rank, or one decay per value head; what they are derived from is whole on a rank. Mamba-2 has a
    step size per head in place of a correction, with a bias, a decay and a skip, a bias of the
    convolution, and a norm over all outputs.

    Args:
        q: anything with the model's input symbols as attributes.

    Source: notebooks/architecture.md, section Linear attention; transformers,
    models/qwen3_5_moe and mamba2; arXiv 2510.26692 (Kimi delta attention), 2405.21060 (Mamba-2).
    """
    d, heads = q.hidden_size, q.linear_num_value_heads
    keys, values = q.linear_num_key_heads * q.linear_key_head_dim, heads * q.linear_value_head_dim
    mixed = 2 * keys + values
    decay, gate = q.linear_decay_rank, q.linear_gate_rank
    decayed = select(decay > 0, decay * keys + keys + q.linear_num_key_heads, (d + 2) * heads)
    gated = select(gate > 0, gate * values, d * values)
    mamba = q.linear_mamba > 0
    corrected = select(mamba, mixed + heads, d * heads)  # biases and skips, or a matrix
    return Attention(
        divided=(mixed * (d + q.linear_conv_kernel_dim) + decayed + gated + corrected + values * d),
        kv=0, replicated=d * (decay + gate),
        norm=2 * d + select(mamba, values, q.linear_value_head_dim))


def linear_widths(q: Inputs) -> tuple[Number, Number]:
    """Elements that a token moves in a layer of linear attention, of all heads [1].

    Into and out of its projections, besides the hidden state; and in and out of the convolution,
    the recurrence and the gate.

    Args:
        q: anything with the model's input symbols as attributes.

    Source: notebooks/compute.md, section Linear attention.
    """
    keys = q.linear_num_key_heads * q.linear_key_head_dim
    values = q.linear_num_value_heads * q.linear_value_head_dim
    mixed = 2 * keys + values
    # the convolution twice, the recurrence in and out, and output and gate into one
    return mixed + 2 * values, 2 * mixed + (mixed + values) + 3 * values


def mamba_width(q: Inputs) -> Number:
    """Elements of a token that live at once in a layer of Mamba-2, of all heads [1]; 0 without.

    What its projection makes, the outputs of the convolution, and those of the recurrence.

    Args:
        q: anything with the model's input symbols as attributes.

    Source: notebooks/memory.md, section Activations; vllm-project/vllm,
    vllm/model_executor/layers/mamba/mamba_mixer2.py.
    """
    keys = q.linear_num_key_heads * q.linear_key_head_dim
    values = q.linear_num_value_heads * q.linear_value_head_dim
    projected = 2 * (values + keys) + q.linear_num_value_heads
    return select((q.linear_mamba > 0) & (q.linear_layers > 0),
                  projected + (2 * keys + values) + values, 0)


def linear_state(q: Inputs) -> Number:
    """State of linear attention of a request, all layers, cut by heads [B/request].

    A matrix of keys by values for each value head, and the tokens of the convolution before the
    next one.

    Args:
        q: input symbols as attributes.

    Source: notebooks/memory.md, section Compressed entries, windows and states.
    """
    keys = q.linear_num_key_heads * q.linear_key_head_dim
    values = q.linear_num_value_heads * q.linear_value_head_dim
    before = maximum(0, q.linear_conv_kernel_dim - 1) * (2 * keys + values)
    return q.linear_layers * (q.state_element_bytes * values * q.linear_key_head_dim
                              + q.activation_element_bytes * before)


def linear_flops(q: Inputs, batch: Any) -> Number:
    """Operations of the recurrence of linear attention, in all layers [FLOP].

    A token decays and reads the state by its key, corrects it, and reads it by its query: three
    products with a matrix of keys by values. Prompts are taken in chunks, within which tokens meet
    in pairs, half of them, twice. Mamba-2 writes and reads, and its tokens meet once, their scores
    by groups of heads.

    Args:
        q: input symbols as attributes.
        batch: composition of the micro-batch.

    Source: notebooks/compute.md, section Linear attention.
    """
    keys, values, mamba = q.linear_key_head_dim, q.linear_value_head_dim, q.linear_mamba > 0
    heads = q.linear_num_value_heads
    products = select(mamba, 2, 3) * heads * keys * values
    if not batch.decoding:
        products = products + q.linear_chunk_tokens * select(
            mamba, (q.linear_num_key_heads * keys + heads * values) / 2, heads * (keys + values))
    return q.multiply_add_flops * q.linear_layers * batch.tokens / q.tensor_parallel * products


def linear_bytes(q: Inputs, batch: Any) -> Number:
    """Bytes that linear attention moves besides its projections, in all layers [B].

    Args:
        q: input symbols as attributes.
        batch: composition of the micro-batch.

    Source: notebooks/compute.md, section Linear attention.
    """
    moved = q.linear_layers * batch.tokens * linear_widths(q)[1] / q.tensor_parallel
    if batch.decoding:
        states = state_passes(q) * batch.tokens / (1 + q.draft_tokens)
    else:
        states = 2 * maximum(1, batch.logit_rows)
    return (moved * q.activation_element_bytes
            + states * linear_state(q) / q.tensor_parallel)


def state_passes(q: Inputs) -> Number:
    """Times that a decode step moves the state of a request: read once, kept after every token [1].

    Args:
        q: input symbols as attributes.

    Source: notebooks/compute.md, section Linear attention.
    """
    return 2 + q.draft_tokens


@once
def prompt_ranks(q: Inputs) -> Number:
    """Tensor-parallel ranks over which the tokens of prompts are dealt, each with all heads [1].

    One without context parallelism in prefill, which engines have for models with an indexer; the
    state of linear attention passes from token to token.

    Args:
        q: input symbols as attributes.

    Source: notebooks/communication.md, section Context parallelism in prefill.
    """
    dealt = ((q.prefill_context_parallel > 0) & (q.index_topk > 0)
             & (q.linear_layers <= 0))
    return select(dealt, q.tensor_parallel, 1)


def output_projection(attention: str, q: Inputs) -> Number:
    """Parameters of a layer that take the outputs of all heads back to the width of the model [1].

    The mean layer.

    Args:
        attention: ``mla``, ``gqa`` or ``csa``.
        q: anything with the model's input symbols as attributes.

    Source: notebooks/architecture.md, section Attention.
    """
    if attention == CSA:
        return (q.num_attention_heads * q.head_dim * q.o_lora_rank
                + q.o_groups * q.o_lora_rank * q.hidden_size)
    if attention == MLA:
        parameters = attention_layers(q) * q.num_attention_heads * q.v_head_dim
    else:
        parameters = over_kinds(q, lambda h: h.query * h.value)
    return parameters * q.hidden_size / q.num_hidden_layers


def held_divided(q: Inputs, n: Any) -> Number:
    """Parameters cut by heads that a rank holds whole to deal prompts, keys and values aside [1].

    All, or all but the output projection.

    Args:
        q: input symbols as attributes.
        n: the model's parameters.

    Source: notebooks/communication.md, section Context parallelism in prefill.
    """
    return n.attention_divided_parameters - q.context_output_cut * n.output_projection_parameters


def context_weights(q: Inputs, n: Any) -> Number:
    """Bytes of a layer's attention that a rank holds beyond its share, to deal prompts [B].

    Args:
        q: input symbols as attributes.
        n: the model's parameters.

    Source: notebooks/communication.md, section Context parallelism in prefill.
    """
    t = q.tensor_parallel
    missing = (held_divided(q, n) * (1 - 1 / t)
               + n.attention_kv_parameters - kv_share(q, n, t))
    return select(prompt_ranks(q) > 1, q.attention_weight_bytes * missing, 0)


LAYERS = {MLA: mla_attention, GQA: gqa_attention, CSA: compressed_attention}


def feed_forward(matrices: Number, hidden_size: Number, intermediate_size: Number) -> Number:
    """Parameters of a feed-forward network [1]: up and down, and a gate where it has three.

    Args:
        matrices: 3 of a gated network (SwiGLU), 2 of one without a gate [1].
        hidden_size, intermediate_size: widths outside and inside [1].

    Source: notebooks/architecture.md, section Feed-forward networks; arXiv 2002.05202.
    """
    return matrices * hidden_size * intermediate_size


def layers_with_experts(q: Inputs) -> Number:
    """Layers with routed experts [1]: all but dense ones and those without a network.

    Args:
        q: anything with the model's input symbols as attributes.

    Source: notebooks/architecture.md, section Feed-forward networks.
    """
    return q.num_hidden_layers - q.first_k_dense_replace - q.layers_without_mlp


@dataclass(frozen=True, eq=False)
class Parameters:
    """Parameter counts of a model [1]; names as in ``params/symbols.yml``."""

    embedding_parameters: Number
    head_parameters: Number
    attention_divided_parameters: Number
    attention_kv_parameters: Number
    window_kv_parameters: Number
    output_projection_parameters: Number
    attention_replicated_parameters: Number
    compressor_parameters: Number
    hyper_parameters: Number
    hyper_head_parameters: Number
    norm_parameters: Number
    dense_mlp_parameters: Number
    router_parameters: Number
    shared_expert_parameters: Number
    routed_expert_parameters: Number
    moe_layers: Number
    mtp_layer_parameters: Number
    routed_parameters: Number
    total_parameters: Number
    active_parameters: Number
    active_parameters_with_embedding: Number


def latent_projections(q: Inputs) -> Number:
    """Parameters that take a token to the width of the routed experts and back, of a layer [1].

    Args:
        q: anything with the model's input symbols as attributes.

    Source: notebooks/architecture.md, section Feed-forward networks.
    """
    narrower = q.routed_expert_hidden_size != q.hidden_size
    return select(narrower, 2 * q.hidden_size * q.routed_expert_hidden_size, 0)


def latent_share(q: Inputs) -> Number:
    """Share of :func:`latent_projections` that a rank multiplies with [1]: the way there is whole.

    Args:
        q: input symbols as attributes.

    Source: notebooks/compute.md, section Dense networks, shared experts, router.
    """
    return 1 - q.latent_output_divided * (1 - 1 / q.tensor_parallel) / 2


def up_projections(q: Inputs) -> Number:
    """Elements of MLA's up-projections of a layer from the latent vector, of all heads [1].

    Args:
        q: anything with the model's input symbols as attributes.

    Source: notebooks/architecture.md, section Attention.
    """
    return q.kv_lora_rank * q.num_attention_heads * (q.qk_nope_head_dim + q.v_head_dim)


def _mean_layer(attention: str, q: Inputs) -> Attention:
    """The attention of the mean layer, where some have linear attention instead [1]."""
    if attention not in LAYERS:
        raise ValueError(f"unknown attention '{attention}', expected mla, gqa or csa")
    share = q.linear_layers / q.num_hidden_layers
    return Attention(*((1 - share) * own + share * linear for own, linear in zip(
        vars(LAYERS[attention](q)).values(), vars(linear_attention(q)).values(), strict=True)))


def count_parameters(attention: str, q: Inputs) -> Parameters:
    """Count a model's parameters [1].

    Args:
        attention: ``mla``, ``gqa`` or ``csa``.
        q: anything with the model's input symbols as attributes (see ``params/symbols.yml``).

    Raises ValueError for another kind of attention.

    Source: notebooks/architecture.md, section Total, routed, active.
    """
    layer = _mean_layer(attention, q)
    embedding = q.vocab_size * q.hidden_size
    head = q.separate_head * embedding
    dense = feed_forward(q.mlp_matrices, q.hidden_size, q.intermediate_size)
    inner = q.routed_expert_hidden_size
    router = q.n_routed_experts * (q.hidden_size + q.router_bias) + latent_projections(q)
    shared = q.n_shared_experts * feed_forward(
        q.mlp_matrices, q.hidden_size, q.moe_intermediate_size)
    expert = (feed_forward(q.mlp_matrices, inner, q.moe_intermediate_size)
              + q.expert_bias * ((q.mlp_matrices - 1) * q.moe_intermediate_size + inner))
    moe_layers = layers_with_experts(q)
    routed = moe_layers * q.n_routed_experts * expert
    hyper, hyper_head = hyper_connections(q)
    # a layer without a network has no norm before it
    norm = layer.norm - q.layers_without_mlp / q.num_hidden_layers * q.hidden_size
    every_layer = (layer.divided + layer.kv + layer.replicated + norm + layer.compressor
                   + hyper)
    final_norm = q.hidden_size
    last_mlp = select(moe_layers > 0, router + shared + q.n_routed_experts * expert, dense)
    total = (embedding + head + final_norm + hyper_head + q.num_hidden_layers * every_layer
             + q.first_k_dense_replace * dense + moe_layers * (router + shared) + routed)
    idle = moe_layers * (q.n_routed_experts - q.num_experts_per_tok) * expert
    return Parameters(
        embedding_parameters=embedding, head_parameters=head,
        attention_divided_parameters=layer.divided, attention_kv_parameters=layer.kv,
        window_kv_parameters=layer.window_kv,
        output_projection_parameters=output_projection(attention, q),
        attention_replicated_parameters=layer.replicated,
        compressor_parameters=layer.compressor, hyper_parameters=hyper,
        hyper_head_parameters=hyper_head, norm_parameters=norm,
        dense_mlp_parameters=dense, router_parameters=router, shared_expert_parameters=shared,
        routed_expert_parameters=expert, moe_layers=moe_layers,
        # a layer like the last, a matrix that joins its two inputs, and their norms and its own
        mtp_layer_parameters=every_layer + last_mlp + 2 * q.hidden_size**2 + 3 * q.hidden_size,
        routed_parameters=routed, total_parameters=total,
        # a tied embedding is still read, as the output head
        active_parameters=total - idle - q.separate_head * embedding,
        active_parameters_with_embedding=total - idle,
    )
