"""Rows of the operator table for linear attention, and for the layers that have it not."""

from __future__ import annotations

from dataclasses import replace

import sympy
from sympy import Expr, Max

from notebooks.derive.formulas.symbols import sym
from notebooks.derive.steps.phases import Composition
from notebooks.derive.steps.rows import Operator, inner_norm


def attending(rows: list[Operator]) -> list[Operator]:
    """Rows of attention to a cache: not of the layers whose attention is linear."""
    return [replace(row, count=sym.num_hidden_layers - sym.linear_layers)
            if row.count == sym.num_hidden_layers else row for row in rows]


def linear(composition: Composition) -> list[Operator]:
    """Projections, and the recurrence between them with convolution and gate."""
    d, tokens = sym.hidden_size, composition.tokens
    heads, key, value = (sym.linear_num_value_heads, sym.linear_key_head_dim,
                         sym.linear_value_head_dim)
    keys, values = sym.linear_num_key_heads * key, heads * value
    mixed, width = 2 * keys + values, sym.activation_element_bytes

    def project(name: str, divided: Expr, whole: Expr | int, moved: Expr) -> Operator:
        """Matrices of so many elements, those that are cut and those that are not."""
        held = divided / composition.cut + whole
        return Operator(
            name, "every", sym.linear_layers, "matrix", "attention",
            flops=sym.multiply_add_flops * tokens * held,
            weight_bytes=sym.attention_weight_bytes * held, activation_bytes=moved * tokens * width)

    low, gated, mamba = sym.linear_decay_rank, sym.linear_gate_rank, sym.linear_mamba
    decay = sympy.Piecewise(
        ((low + 1) * keys + sym.linear_num_key_heads, low > 0), ((d + 2) * heads, True))
    gate = values * sympy.Piecewise((gated, gated > 0), (d, True))
    # a matrix that corrects, or biases of the convolution and skips of Mamba-2
    corrected = (1 - mamba) * d * heads + mamba * (mixed + heads)
    pairs = (1 - mamba) * heads * (key + value) + mamba * (keys + values) / 2
    products = (3 - mamba) * key * values
    if not composition.decoding:
        products += sym.linear_chunk_tokens * pairs
    requests = tokens / (1 + sym.draft_tokens) * (2 + sym.draft_tokens)  # read, kept after each
    if not composition.decoding:
        requests = 2 * Max(1, composition.rows)
    state = (sym.state_element_bytes * key * values
             + width * mixed * Max(0, sym.linear_conv_kernel_dim - 1))
    into = mixed * (d + sym.linear_conv_kernel_dim) + corrected + decay + gate
    return [
        project("linear_in", into, d * (low + gated), d + (mixed + values) / composition.cut),
        Operator("linear_core", "every", sym.linear_layers, "matrix", "core",
                 flops=sym.multiply_add_flops * tokens / composition.cut * products,
                 activation_bytes=(6 * keys + 7 * values) * tokens * width / composition.cut,
                 kv_bytes=requests * state / sym.tensor_parallel),
        replace(inner_norm("linear_norm", mamba * values + (1 - mamba) * value, tokens),
                count=sym.linear_layers),
        project("linear_out", values * d, 0, d + values / composition.cut)]
