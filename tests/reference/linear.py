"""Rows of linear attention: what its layers do instead of attending to a cache."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from calc.physics.arrays import Number
from reference.rows import MATRIX, NORM_FLOPS, VECTOR, Row, Sizes

if TYPE_CHECKING:
    from calc.physics.work import Composition


def linear_rows(q: Any, s: Sizes, composition: Composition) -> Iterator[Row]:
    """Projections into and out of the recurrence, and the recurrence of every value head.

    Args:
        q: input symbols as attributes.
        s: sizes of the step, as the table has them.
        composition: of the step.
    """
    d, t, layers, heads = (q.hidden_size, q.tensor_parallel, q.linear_layers,
                           q.linear_num_value_heads)
    key, value = q.linear_key_head_dim, q.linear_value_head_dim
    keys, values = q.linear_num_key_heads * key, heads * value

    def project(name: str, elements: Number, moved: Number) -> Row:
        return Row(name, "every", layers, MATRIX, "attention",
                   q.multiply_add_flops * elements * s.tokens,
                   elements * q.attention_weight_bytes, moved * s.width * s.tokens)

    taps = q.linear_conv_kernel_dim
    query_key_value = (d + taps) * (keys + keys + values)
    if q.linear_decay_rank > 0:  # a number per key element, and a rate per key head
        decay = q.linear_decay_rank * keys + keys + q.linear_num_key_heads
    else:  # a number per value head, its rate and its bias
        decay = d * heads + 2 * heads
    gate = (q.linear_gate_rank or d) * values
    whole = d * (q.linear_decay_rank + q.linear_gate_rank)
    mamba = q.linear_mamba > 0  # biases of the convolution and skips, no matrix that corrects
    corrects = 2 * keys + values + heads if mamba else d * heads
    yield project("linear_in", (query_key_value + decay + corrects + gate) / t + whole,
                  d + (2 * keys + 2 * values) / t)
    state = key * values * q.state_element_bytes + max(0, taps - 1) * (
        2 * keys + values) * s.width
    if composition.decoding:  # read once, written after the token and after every draft
        requests = s.tokens / (1 + q.draft_tokens)
        pairs, passes = 0, requests * (1 + 1 + q.draft_tokens)
    else:
        pairs, passes = q.linear_chunk_tokens * (key + value), 2 * np.maximum(1, s.rows)
        if mamba:  # half of the pairs, once; keys of a group serve several heads
            pairs = q.linear_chunk_tokens / 2 * (keys / heads + value)
    yield Row("linear_core", "every", layers, MATRIX, "core",
              q.multiply_add_flops * s.tokens * heads / t * (
                  (2 if mamba else 3) * key * value + pairs),
              activation_bytes=(6 * keys + 7 * values) / t * s.width * s.tokens,
              kv_bytes=passes * state / t)
    yield Row("linear_norm", "every", layers, VECTOR, "vector", NORM_FLOPS * value * s.tokens,
              q.norm_weight_bytes * (values if mamba else value))
    yield project("linear_out", values * d / t, d + values / t)
