"""Linear attention: a state per request instead of a cache per token; what it holds and does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from calc.physics.arrays import Number, maximum, select
from calc.physics.layers.attention import Attention


def linear_attention(q: Any) -> Attention:
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


@dataclass(frozen=True)
class LinearWidths:
    """Elements that a token moves in a layer of linear attention, of all heads [1].

    Attributes:
        projected: into and out of its projections, besides the hidden state.
        inside: in and out of the convolution, the recurrence and the gate.
    """

    projected: Number
    inside: Number


def linear_widths(q: Any) -> LinearWidths:
    """Elements that a token moves in a layer of linear attention [1].

    Args:
        q: anything with the model's input symbols as attributes.

    Source: notebooks/compute.md, section Linear attention.
    """
    keys = q.linear_num_key_heads * q.linear_key_head_dim
    values = q.linear_num_value_heads * q.linear_value_head_dim
    mixed = 2 * keys + values
    # the convolution twice, the recurrence in and out, and output and gate into one
    return LinearWidths(mixed + 2 * values, 2 * mixed + (mixed + values) + 3 * values)


def mamba_width(q: Any) -> Number:
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


def linear_state(q: Any) -> Number:
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


def linear_flops(q: Any, batch: Any) -> Number:
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


def linear_bytes(q: Any, batch: Any) -> Number:
    """Bytes that linear attention moves besides its projections, in all layers [B].

    Args:
        q: input symbols as attributes.
        batch: composition of the micro-batch.

    Source: notebooks/compute.md, section Linear attention.
    """
    moved = q.linear_layers * batch.tokens * linear_widths(q).inside / q.tensor_parallel
    if batch.decoding:
        states = state_passes(q) * batch.tokens / (1 + q.draft_tokens)
    else:
        states = 2 * maximum(1, batch.logit_rows)
    return (moved * q.activation_element_bytes
            + states * linear_state(q) / q.tensor_parallel)


def state_passes(q: Any) -> Number:
    """Times that a decode step moves the state of a request: read once, kept after every token [1].

    Args:
        q: input symbols as attributes.

    Source: notebooks/compute.md, section Linear attention.
    """
    return 2 + q.draft_tokens
