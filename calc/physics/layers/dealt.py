"""Prompts dealt over tensor-parallel ranks: how many there are, what each holds for it."""

from __future__ import annotations

from typing import Any

from calc.physics.arrays import Number, once, select
from calc.physics.layers.attention import CSA, MLA, attention_layers, kv_share, over_kinds


@once
def prompt_ranks(q: Any) -> Number:
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


def output_projection(attention: str, q: Any) -> Number:
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
        whole = attention_layers(q) * q.num_attention_heads * q.v_head_dim
    else:
        whole = over_kinds(q, lambda h: h.query * h.value)
    return whole * q.hidden_size / q.num_hidden_layers


def held_divided(q: Any, n: Any) -> Number:
    """Parameters cut by heads that a rank holds whole to deal prompts, keys and values aside [1].

    All, or all but the output projection.

    Args:
        q: input symbols as attributes.
        n: the model's parameters.

    Source: notebooks/communication.md, section Context parallelism in prefill.
    """
    return n.attention_divided_parameters - q.context_output_cut * n.output_projection_parameters


def context_weights(q: Any, n: Any) -> Number:
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
