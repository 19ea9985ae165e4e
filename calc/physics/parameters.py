"""Parameters counted from shapes: what a model holds, tensor class by tensor class.

Every argument is a count [1] and may be a scalar or an array; arrays broadcast. What a model may
have or not (biases, norms of queries and keys, sinks) is switched by 0 or 1. Source of the shapes:
the published configurations and modelling code of DeepSeek-V3 (MLA, MoE), DeepSeek-V3.2 (indexer),
Llama 3 (GQA), Qwen (biases, norms of queries and keys) and gpt-oss (sinks, biases of experts).
"""

from __future__ import annotations

from dataclasses import dataclass

from calc.physics.arrays import select
from calc.physics.attention import (
    CSA,
    GQA,
    MLA,
    Attention,
    compressed_attention,
    gqa_attention,
    hyper_connections,
    linear_attention,
    mla_attention,
    output_projection,
)
from calc.physics.inputs import Inputs, Number

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


@dataclass(frozen=True)
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
