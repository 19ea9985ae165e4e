"""Rows of the operator table for attention to a window and to compressed entries."""

from __future__ import annotations

from dataclasses import replace

import sympy
from sympy import Expr, Max, Min

from notebooks.derive.formulas.symbols import sym
from notebooks.derive.steps.phases import Composition
from notebooks.derive.steps.rows import (
    VECTOR,
    Operator,
    inner_norm,
    output,
    projection,
)


def compressed(composition: Composition) -> list[Operator]:
    """Projections, compressors, indexer and core, in the order in which a token passes them."""
    d, t, tokens = sym.hidden_size, composition.cut, composition.tokens
    pooled = tokens * composition.dealt  # on every rank, of all
    heads, row, r_q = sym.num_attention_heads / t, sym.head_dim, sym.q_lora_rank
    joined = sym.o_groups * sym.o_lora_rank / t
    picking, heavy = sym.compressed_layers, sym.heavy_layers
    sinks = sym.num_attention_heads / t * sym.attention_sinks
    keys = sym.index_head_dim
    return [
        projection("q_a", tokens, d, r_q), inner_norm("q_a_norm", r_q, tokens),
        projection("q_b", tokens, r_q, heads * row, bias=sinks),
        projection("kv_a", tokens, d, row, per_token=row),  # of the input of q_a
        inner_norm("kv_norm", row, tokens),
        *_pooling("compressor", picking, pooled, 2, row, sym.compress_ratio),
        *_pooling("heavy_compressor", heavy, pooled, 1, row, sym.heavy_compress_ratio),
        *_pooling("index_compressor", sym.indexer_layers, pooled, 2, keys, sym.compress_ratio),
        *indexer(composition, r_q, keys=False), *_core(composition, heads),
        # of a group of heads each rank has whole ones: a head's row by the rank of its group
        output(projection("o_a", tokens, heads * row, sym.o_lora_rank,
                          per_token=heads * row + joined),
               tokens, heads * row * sym.o_lora_rank, composition.dealt, 0),
        output(projection("o_b", tokens, joined, d), tokens, joined * d, composition.dealt, d)]


def _pooling(name: str, layers: Expr, tokens: Expr, windows: int, width: Expr,
             ratio: Expr) -> list[Operator]:
    """Keys and gates of tokens, pooled into one row for so many: a matrix, biases, a norm."""
    biases = ratio * windows * width
    matrix = sym.hidden_size * 2 * windows * width
    return [
        Operator(name, "every", layers, "matrix", "attention",
                 flops=sym.multiply_add_flops * tokens * (matrix + biases),
                 weight_bytes=sym.compressor_weight_bytes * (matrix + biases)),
        replace(inner_norm(f"{name}_norm", width, tokens), count=layers)]


def indexer(composition: Composition, queries: Expr, keys: bool = True, weights: bool = True
            ) -> list[Operator]:
    """Projections of an indexer, whole on every rank, a score for each of its keys, and the choice.

    Args:
        composition: of the step.
        queries: width of the input of its queries [1].
        keys: whether its keys are projected and normalised by themselves.
        weights: whether heads are weighted.
    """
    d, tokens, none = sym.hidden_size, composition.tokens, sympy.S.Zero
    heads, size = sym.index_n_heads, sym.index_head_dim
    rows = [projection("index_q", tokens, queries, heads * size, per_token=none)]
    if keys:
        rows.append(projection("index_k", tokens, d, size, per_token=none))
    if keys and weights:
        rows.append(inner_norm("index_norm", 2 * size, tokens))
    if weights:
        rows.append(projection("index_weights", tokens, d, heads, per_token=none))
    return [*(replace(row, count=sym.indexer_layers) for row in rows), *scores(composition)]


def scores(composition: Composition) -> list[Operator]:
    """A score of an indexer for each of its keys, of so many tokens each, and the choice."""
    layers, per_key = sym.indexer_layers, 1 / sym.compress_ratio
    each = sym.multiply_add_flops * sym.index_n_heads * sym.index_head_dim
    return [
        Operator("index_scores", "every", layers, "matrix", "index",
                 flops=each * per_key * composition.scored,
                 kv_bytes=sym.kv_index_bytes_per_token * per_key * composition.scored_keys),
        Operator("index_choice", "every", layers, "vector", VECTOR,
                 activation_bytes=sym.selection_traffic * per_key * composition.compared)]


def _core(composition: Composition, heads: Expr) -> list[Operator]:
    """Scores and values: of the window in every layer, and of one kind of entries in some."""
    width, tokens, entry = 2 * sym.head_dim, composition.tokens, sym.kv_entry_bytes
    each = sym.multiply_add_flops * composition.head_rows * width
    raw = composition.read_in_window if composition.decoding else Min(
        composition.read_in_window, sym.sliding_window * Max(1, composition.rows))

    def core(name: str, layers: Expr, met: Expr, read: Expr, moved: Expr | int = 0) -> Operator:
        return Operator(name, "every", layers, "matrix", "core", flops=each * met,
                        activation_bytes=sympy.sympify(moved), kv_bytes=entry * read)

    picked, heavily = 1 / sym.compress_ratio, 1 / sym.heavy_compress_ratio
    return [
        core("core_window", sym.num_hidden_layers, composition.in_window, raw,
             heads * width * tokens * sym.activation_element_bytes),
        core("core_picked", sym.compressed_layers, picked * composition.attended,
             picked * composition.read),
        core("core_heavy", sym.heavy_layers, heavily * composition.indexed,
             heavily * composition.read_keys)]


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
