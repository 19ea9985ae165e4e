"""Parameters counted from shapes: what a model holds, tensor class by tensor class.

Every argument is a count [1] and may be a scalar or an array; arrays broadcast. What a model may
have or not (biases, norms of queries and keys, sinks) is switched by 0 or 1. Source of the shapes:
the published configurations and modelling code of DeepSeek-V3 (MLA, MoE), DeepSeek-V3.2 (indexer),
Llama 3 (GQA), Qwen (biases, norms of queries and keys) and gpt-oss (sinks, biases of experts).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calc.physics.arrays import Number, select

MLA, GQA, CSA = "mla", "gqa", "csa"
# keys and gates of two overlapping windows, or of one
OVERLAPPING, KEY_AND_GATE = 2, 2


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
    v_head_dim: Number, index_n_heads: Number = 0, index_head_dim: Number = 0,
    indexing: Number = 1,
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

    Source: notebooks/architecture.md, sections Attention and A sparse attention's indexer;
    DeepSeek-V2, arXiv 2405.04434; DeepSeek-V3.2-Exp, inference/model.py, class Indexer.
    """
    query_width = num_attention_heads * (qk_nope_head_dim + qk_rope_head_dim)
    query_input = select(np.equal(q_lora_rank, 0), hidden_size, q_lora_rank)
    expanded = num_attention_heads * (qk_nope_head_dim + v_head_dim)
    output = num_attention_heads * v_head_dim * hidden_size
    indexer = (q_lora_rank * index_n_heads * index_head_dim
               + hidden_size * (index_head_dim + index_n_heads))
    return Attention(
        divided=query_input * query_width + kv_lora_rank * expanded + output,
        kv=0,
        replicated=(hidden_size * (q_lora_rank + kv_lora_rank + qk_rope_head_dim)
                    + indexing * indexer),
        norm=2 * hidden_size + q_lora_rank + kv_lora_rank + indexing * 2 * index_head_dim,
    )


def compressed_attention(q: Any) -> Attention:
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


def hyper_connections(q: Any) -> tuple[Number, Number]:
    """Parameters that mix residual streams: of a layer, and before the head [1]; 0 with one stream.

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
    several = np.greater(streams, 1)
    return (select(several, 2 * (weights * (wide + 1) + 3), 0),
            select(several, streams * (wide + 1) + 1, 0))


def gqa_attention(
    *, hidden_size: Number, num_attention_heads: Number, num_key_value_heads: Number,
    head_dim: Number, attention_bias: Number = 0, attention_output_bias: Number = 0,
    qk_norm: Number = 0, attention_sinks: Number = 0,
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
        qk_norm, attention_sinks: 1 if the layer has them [1].

    Source: notebooks/architecture.md, sections Attention and Biases, norms and sinks of heads;
    arXiv 2305.13245; transformers, models qwen2, qwen3_moe, glm4_moe and gpt_oss.
    """
    query_width, kv_width = num_attention_heads * head_dim, num_key_value_heads * head_dim
    inputs = hidden_size + attention_bias  # a bias is a row of the matrix for a constant input
    return Attention(
        divided=(hidden_size + inputs) * query_width + attention_sinks * num_attention_heads,
        kv=2 * inputs * kv_width,
        replicated=attention_output_bias * hidden_size,
        norm=2 * (hidden_size + qk_norm * head_dim),
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


def up_projections(q: Any) -> Number:
    """Elements of MLA's up-projections of a layer from the latent vector, of all heads [1].

    Args:
        q: anything with the model's input symbols as attributes.

    Source: notebooks/architecture.md, section Attention.
    """
    return q.kv_lora_rank * q.num_attention_heads * (q.qk_nope_head_dim + q.v_head_dim)


def count_parameters(attention: str, q: Any) -> Parameters:
    """Count a model's parameters [1].

    Args:
        attention: ``mla``, ``gqa`` or ``csa``.
        q: anything with the model's input symbols as attributes (see ``params/symbols.yml``).

    Raises ValueError for another kind of attention.

    Source: notebooks/architecture.md, section Total, routed, active.
    """
    layer = _attention_layer(attention, q)
    embedding = q.vocab_size * q.hidden_size
    head = q.separate_head * embedding
    dense = swiglu(q.hidden_size, q.intermediate_size)
    router = q.n_routed_experts * (q.hidden_size + q.router_bias)
    matrices = swiglu(q.hidden_size, q.moe_intermediate_size)
    shared = q.n_shared_experts * matrices
    expert = matrices + q.expert_bias * (2 * q.moe_intermediate_size + q.hidden_size)
    moe_layers = q.num_hidden_layers - q.first_k_dense_replace
    routed = moe_layers * q.n_routed_experts * expert
    hyper, hyper_head = hyper_connections(q)
    every_layer = (layer.divided + layer.kv + layer.replicated + layer.norm + layer.compressor
                   + hyper)
    final_norm = q.hidden_size
    last_mlp = select(moe_layers > 0, router + shared + q.n_routed_experts * expert, dense)
    total = (embedding + head + final_norm + hyper_head + q.num_hidden_layers * every_layer
             + q.first_k_dense_replace * dense + moe_layers * (router + shared) + routed)
    idle = moe_layers * (q.n_routed_experts - q.num_experts_per_tok) * expert
    return Parameters(
        embedding_parameters=embedding, head_parameters=head,
        attention_divided_parameters=layer.divided, attention_kv_parameters=layer.kv,
        attention_replicated_parameters=layer.replicated,
        compressor_parameters=layer.compressor, hyper_parameters=hyper,
        hyper_head_parameters=hyper_head, norm_parameters=layer.norm,
        dense_mlp_parameters=dense, router_parameters=router, shared_expert_parameters=shared,
        routed_expert_parameters=expert, moe_layers=moe_layers,
        # a layer like the last, a matrix that joins its two inputs, and their norms and its own
        mtp_layer_parameters=every_layer + last_mlp + 2 * q.hidden_size**2 + 3 * q.hidden_size,
        routed_parameters=routed, total_parameters=total,
        # a tied embedding is still read, as the output head
        active_parameters=total - idle - q.separate_head * embedding,
        active_parameters_with_embedding=total - idle,
    )


def _attention_layer(attention: str, q: Any) -> Attention:
    """The attention of a layer, by its kind."""
    if attention == MLA:
        return mla_attention(
            hidden_size=q.hidden_size, num_attention_heads=q.num_attention_heads,
            q_lora_rank=q.q_lora_rank, kv_lora_rank=q.kv_lora_rank,
            qk_nope_head_dim=q.qk_nope_head_dim, qk_rope_head_dim=q.qk_rope_head_dim,
            v_head_dim=q.v_head_dim, index_n_heads=q.index_n_heads,
            index_head_dim=q.index_head_dim, indexing=q.indexer_layers / q.num_hidden_layers)
    if attention == GQA:
        return gqa_attention(
            hidden_size=q.hidden_size, num_attention_heads=q.num_attention_heads,
            num_key_value_heads=q.num_key_value_heads, head_dim=q.head_dim,
            attention_bias=q.attention_bias, attention_output_bias=q.attention_output_bias,
            qk_norm=q.qk_norm, attention_sinks=q.attention_sinks)
    if attention == CSA:
        return compressed_attention(q)
    raise ValueError(f"unknown attention '{attention}', expected mla, gqa or csa")


def residual_widths(q: Any) -> Number:
    """Widths of the model that a token moves around attention, or an MLP [1].

    A norm reads and writes hidden state and residual. Several streams are read twice before it,
    for their weights and to be joined into one, which is normalised at once; after it they are read
    and written, and what came out is read.

    Args:
        q: input symbols as attributes.

    Source: notebooks/compute.md, section What the vector unit does.
    """
    return select(np.greater(q.hc_mult, 1), 4 * q.hc_mult + 2, 4)


@dataclass(frozen=True)
class Matmuls:
    """Matmuls of a class on a rank, in all layers.

    Attributes:
        count: of them [1].
        depth: inputs that an output of each sums over, added up [1].
    """

    count: Number
    depth: Number

    def waiting(self, q: Any, name: str) -> Number:
        """What their arithmetic takes at least [s]: inputs of an output are added in turn.

        Args:
            q: input symbols as attributes.
            name: the class.
        """
        return self.depth * getattr(q, f"{name}_depth_latency")

    def time(self, q: Any, name: str, worked: Number, rows: Number) -> Number:
        """What they take [s]: kernels are filled and drained, rows quantised before.

        Args:
            q: input symbols as attributes.
            name: the class.
            worked: time of loading and arithmetic alone [s].
            rows: that they multiply [token].
        """
        moved = getattr(q, f"{name}_activation_traffic") / q.memory_bandwidth
        return worked + (
            self.count * getattr(q, f"{name}_matmul_latency") + self.depth * rows * moved)


def matmuls(attention: str, q: Any, moe_layers: Number, absorbed: Number) -> dict[str, Matmuls]:
    """Matmuls of every class but routed experts, whose shares were measured with all they take.

    Projections of the same input are one matmul. Absorbed ones, as wide as activations, take little
    more than a kernel's boundary, which they have.

    Args:
        attention: ``mla`` or ``gqa``.
        q: input symbols as attributes.
        moe_layers: layers with experts [1].
        absorbed: 1 where MLA absorbs its up-projections, else 0.

    Source: notebooks/latency.md, section The fixed cost of a matmul.
    """
    d = q.hidden_size
    if attention == CSA:
        own = _compressed(q)
    elif attention == MLA:
        layer = _latent(q, absorbed)
        own = Matmuls(q.num_hidden_layers * layer.count + 2 * q.indexer_layers,
                      q.num_hidden_layers * layer.depth + q.indexer_layers * (q.q_lora_rank + d))
    else:
        own = Matmuls(2 * q.num_hidden_layers, q.num_hidden_layers * (
            d + q.num_attention_heads * q.head_dim / q.tensor_parallel))
    t, dense = q.tensor_parallel, q.first_k_dense_replace
    shared = select(q.n_shared_experts > 0, moe_layers, 0)
    return {
        "attention": own, "dense_mlp": Matmuls(2 * dense, dense * (d + q.intermediate_size / t)),
        "shared_expert": Matmuls(
            2 * shared, shared * (d + q.n_shared_experts * q.moe_intermediate_size / t)),
        "router": Matmuls(moe_layers, moe_layers * d), "head": Matmuls(1, d)}


def _compressed(q: Any) -> Matmuls:
    """All layers: down, queries up, both halves of the output; compressors; three of an indexer."""
    d, compressors = q.hidden_size, q.compressed_layers + q.heavy_layers
    layer = (d + q.q_lora_rank + q.num_attention_heads * q.head_dim / q.o_groups
             + q.o_groups * q.o_lora_rank / q.tensor_parallel)
    return Matmuls(
        4 * q.num_hidden_layers + compressors + 3 * q.indexer_layers,
        q.num_hidden_layers * layer + compressors * d + q.indexer_layers * (q.q_lora_rank + 2 * d))


def _latent(q: Any, absorbed: Number) -> Matmuls:
    """A layer of latent attention: down, queries up, keys and values where expanded, and out."""
    values, expanded = q.num_attention_heads * q.v_head_dim / q.tensor_parallel, 1 - absorbed
    return Matmuls(
        2 + select(q.q_lora_rank > 0, 1, 0) + expanded,
        q.hidden_size + q.q_lora_rank + expanded * q.kv_lora_rank + values)
