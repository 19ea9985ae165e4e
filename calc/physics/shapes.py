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

MLA, GQA = "mla", "gqa"


@dataclass(frozen=True)
class Attention:
    """Parameters of one attention layer, by how tensor parallelism treats them [1].

    Attributes:
        divided: matrices cut by heads.
        kv: key and value projections of grouped-query attention, cut by KV heads at most.
        replicated: matrices that every rank holds whole.
        norm: norms of the layer, those before attention and MLP included.
    """

    divided: Number
    kv: Number
    replicated: Number
    norm: Number


def mla_attention(
    *, hidden_size: Number, num_attention_heads: Number, q_lora_rank: Number,
    kv_lora_rank: Number, qk_nope_head_dim: Number, qk_rope_head_dim: Number,
    v_head_dim: Number, index_n_heads: Number = 0, index_head_dim: Number = 0,
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
        replicated=hidden_size * (q_lora_rank + kv_lora_rank + qk_rope_head_dim) + indexer,
        norm=2 * hidden_size + q_lora_rank + kv_lora_rank + 2 * index_head_dim,
    )


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
            v_head_dim=q.v_head_dim, index_n_heads=q.index_n_heads,
            index_head_dim=q.index_head_dim)
    elif attention == GQA:
        layer = gqa_attention(
            hidden_size=q.hidden_size, num_attention_heads=q.num_attention_heads,
            num_key_value_heads=q.num_key_value_heads, head_dim=q.head_dim,
            attention_bias=q.attention_bias, attention_output_bias=q.attention_output_bias,
            qk_norm=q.qk_norm, attention_sinks=q.attention_sinks)
    else:
        raise ValueError(f"unknown attention '{attention}', expected mla or gqa")

    embedding = q.vocab_size * q.hidden_size
    head = q.separate_head * embedding
    dense = swiglu(q.hidden_size, q.intermediate_size)
    router = q.n_routed_experts * (q.hidden_size + q.router_bias)
    matrices = swiglu(q.hidden_size, q.moe_intermediate_size)
    shared = q.n_shared_experts * matrices
    expert = matrices + q.expert_bias * (2 * q.moe_intermediate_size + q.hidden_size)
    moe_layers = q.num_hidden_layers - q.first_k_dense_replace
    routed = moe_layers * q.n_routed_experts * expert
    every_layer = layer.divided + layer.kv + layer.replicated + layer.norm
    final_norm = q.hidden_size
    last_mlp = select(moe_layers > 0, router + shared + q.n_routed_experts * expert, dense)
    total = (embedding + head + final_norm + q.num_hidden_layers * every_layer
             + q.first_k_dense_replace * dense + moe_layers * (router + shared) + routed)
    idle = moe_layers * (q.n_routed_experts - q.num_experts_per_tok) * expert
    return Parameters(
        embedding_parameters=embedding, head_parameters=head,
        attention_divided_parameters=layer.divided, attention_kv_parameters=layer.kv,
        attention_replicated_parameters=layer.replicated, norm_parameters=layer.norm,
        dense_mlp_parameters=dense, router_parameters=router, shared_expert_parameters=shared,
        routed_expert_parameters=expert, moe_layers=moe_layers,
        # a layer like the last, a matrix that joins its two inputs, and their norms and its own
        mtp_layer_parameters=every_layer + last_mlp + 2 * q.hidden_size**2 + 3 * q.hidden_size,
        routed_parameters=routed, total_parameters=total,
        # a tied embedding is still read, as the output head
        active_parameters=total - idle - q.separate_head * embedding,
        active_parameters_with_embedding=total - idle,
    )


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
    t, d, dense = q.tensor_parallel, q.hidden_size, q.first_k_dense_replace
    layer = (_latent(q, absorbed) if attention == MLA
             else Matmuls(2, d + q.num_attention_heads * q.head_dim / t))
    indexing = select(q.index_n_heads > 0, 1, 0)
    shared = select(q.n_shared_experts > 0, moe_layers, 0)
    return {
        "attention": Matmuls(
            q.num_hidden_layers * (layer.count + 2 * indexing),
            q.num_hidden_layers * (layer.depth + indexing * (q.q_lora_rank + d))),
        "dense_mlp": Matmuls(2 * dense, dense * (d + q.intermediate_size / t)),
        "shared_expert": Matmuls(
            2 * shared, shared * (d + q.n_shared_experts * q.moe_intermediate_size / t)),
        "router": Matmuls(moe_layers, moe_layers * d), "head": Matmuls(1, d)}


def _latent(q: Any, absorbed: Number) -> Matmuls:
    """A layer of latent attention: down, queries up, keys and values where expanded, and out."""
    values, expanded = q.num_attention_heads * q.v_head_dim / q.tensor_parallel, 1 - absorbed
    return Matmuls(
        2 + select(q.q_lora_rank > 0, 1, 0) + expanded,
        q.hidden_size + q.q_lora_rank + expanded * q.kv_lora_rank + values)
