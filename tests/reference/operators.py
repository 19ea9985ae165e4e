"""The operator table of a step: one row per operator and kind of layer.

The rows are what the closed forms of ``calc.physics.work`` sum by class; nothing is summed here.
Operations [FLOP], bytes [B] and payloads [B] are those of one rank and one layer, for one
micro-batch; ``count`` is the number of such layers. A vector operator's weights (norms) stream with
the attention projections, its operations and activations belong to the class ``vector``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from calc.physics.arrays import Number, ceil_div
from calc.physics.experts import (
    distinct_experts,
    expert_group,
    expert_shards,
    expert_slices,
    fullest,
    moved_rows,
    routed_ranks,
    sliced,
)
from calc.physics.kv_cache import Cache, head_rows, unfused
from calc.physics.parameters import CSA, MLA
from calc.physics.work import Composition
from reference.compressed import compressed, streams
from reference.linear import linear_rows
from reference.rows import (
    GATE_FLOPS,
    LINK,
    MATRIX,
    VECTOR,
    Row,
    Sizes,
    index_rows,
    matmul,
    norm_row,
    rank_part,
)


def operator_table(attention: str, q: Any, c: Cache, composition: Composition) -> list[Row]:
    """The rows of a step; operators that a model or a cut does not have are left out.

    Args:
        attention: ``mla``, ``gqa`` or ``csa``.
        q: input symbols as attributes.
        c: cache per token [B/token].
        composition: of the step.

    Source: notebooks/compute.md, section The operator table.
    """
    t, e = q.tensor_parallel, routed_ranks(q)
    tokens = composition.tokens / q.micro_batches
    together = composition.together(q) / q.micro_batches
    shards = expert_shards(q)
    slowest = fullest(q, e, together)
    s = Sizes(
        tokens, composition.logit_rows / q.micro_batches, q.num_attention_heads / t,
        q.activation_element_bytes, together,
        distinct_experts(q.n_routed_experts, q.num_experts_per_tok, together, q.routing_skew),
        slowest, shards, q.moe_intermediate_size / expert_slices(q),
        slowest * together * q.num_experts_per_tok / e, 1 - q.offloaded_share,
        composition.of_shared(q) / q.micro_batches)
    part = rank_part(q, composition)
    own = replace(s, tokens=s.tokens / part.dealt, heads=s.heads * part.dealt)
    attend = {MLA: _mla, CSA: compressed}.get(attention, _gqa)(q, own, c, part)
    other = linear_rows(q, s, composition) if q.linear_layers > 0 else ()
    return [*_around(q, s, own), *streams(q, own), *attend, *other, *_dense(q, s, own),
            *_moe(q, s, own)]


def _reduce(q: Any, s: Sizes, name: str, layer: str, count: Number) -> Iterator[Row]:
    if q.tensor_parallel > 1:
        yield Row(name, layer, count, LINK, "all_reduce", collective="all-reduce",
                  payload=s.tokens * q.hidden_size * s.width)


def _summed(q: Any, s: Sizes, own: Sizes, layer: str, count: Number) -> Iterator[Row]:
    """Partial sums of an MLP: added up on every rank, or gathered for and scattered after."""
    if own.tokens == s.tokens:
        yield from _reduce(q, s, "mlp_all_reduce", layer, count)
        return
    for kind in ("all-gather", "reduce-scatter"):
        yield Row(f"mlp_{kind.replace('-', '_')}", layer, count, LINK, "all_reduce",
                  collective=kind, payload=own.tokens * q.hidden_size * s.width)


def _around(q: Any, s: Sizes, own: Sizes) -> Iterator[Row]:
    """Before, between and after the layers."""
    d, t, layers = q.hidden_size, q.tensor_parallel, q.num_hidden_layers
    columns = ceil_div(q.vocab_size, t)
    yield Row("embedding", "outside", 1, VECTOR, "vector",
              activation_bytes=2 * d * s.width * s.tokens)
    yield from _reduce(q, s, "embedding_all_reduce", "outside", 1)
    for name, count in (("input_norm", layers), ("post_norm", layers - q.layers_without_mlp)):
        # reads hidden state and residual, writes both; of several streams it is in their rows
        yield norm_row(name, count, d, q.norm_weight_bytes * d, own,
                       moved=4 * d if q.hc_mult == 1 else 0)
    yield norm_row("final_norm", 1, d, q.norm_weight_bytes * d, s, "outside")
    yield Row("head", "outside", 1, MATRIX, "head", q.multiply_add_flops * d * columns * s.rows,
              d * columns * q.head_weight_bytes,
              (d * s.width + columns * q.logit_element_bytes) * s.rows)
    if t > 1:
        yield Row("logits_all_gather", "outside", 1, LINK, "all_reduce", collective="all-gather",
                  payload=s.rows * columns * s.width)
    if own.tokens == s.tokens:
        yield from _reduce(q, s, "attention_all_reduce", "every", layers)
    else:
        if q.context_output_cut:  # partial sums of heads
            yield Row("attention_reduce_scatter", "every", layers, LINK, "all_reduce",
                      collective="reduce-scatter", payload=own.tokens * d * s.width)
        yield Row("hidden_all_gather", "outside", 1, LINK, "all_reduce", collective="all-gather",
                  payload=own.tokens * d * s.width)


def _mla(q: Any, s: Sizes, c: Cache, composition: Composition) -> Iterator[Row]:
    """Multi-head latent attention, absorbed or expanded."""
    d, rank, rope = q.hidden_size, q.kv_lora_rank, q.qk_rope_head_dim
    nope, value, layers = q.qk_nope_head_dim, q.v_head_dim, q.num_hidden_layers - q.linear_layers
    element = q.attention_weight_bytes

    def project(name: str, into: Number, out: Number, rows: Number = s.tokens,
                stored: Number = element, width: Number = s.width,
                count: Number = layers) -> Row:
        return matmul(q, name, "attention", "every", count, rows, into, out, stored, width)

    if q.q_lora_rank > 0:
        yield project("q_a", d, q.q_lora_rank)
        yield norm_row("q_a_norm", layers, q.q_lora_rank, q.norm_weight_bytes * q.q_lora_rank, s)
        yield project("q_b", q.q_lora_rank, s.heads * (nope + rope))
    else:
        yield project("q", d, s.heads * (nope + rope))
    yield project("kv_a", d, rank + rope)
    yield norm_row("kv_norm", layers, rank, q.norm_weight_bytes * rank, s)
    own = q.indexer_layers  # the other layers take over what these have picked
    if own > 0:
        keys = q.index_n_heads * q.index_head_dim
        yield project("index_q", q.q_lora_rank, keys, width=0, count=own)
        yield project("index_k", d, q.index_head_dim, width=0, count=own)
        yield norm_row("index_norm", own, q.index_head_dim,
                    2 * q.norm_weight_bytes * q.index_head_dim, s)
        yield project("index_weights", d, q.index_n_heads, width=0, count=own)
        yield from index_rows(q, c, composition)
    share = composition.absorbed  # of the chunks of a prompt, all or none of any other step
    if share > 0:
        # one small matrix per head: latent <-> head, kept in the width of activations
        for name, size in (("absorb_k", nope), ("absorb_v", value)):
            yield Row(name, "every", share * layers, MATRIX, "attention",
                      q.multiply_add_flops * s.heads * size * rank * s.tokens,
                      s.heads * size * rank * s.width,
                      s.heads * (size + rank) * s.width * s.tokens)
    if share < 1:
        out = s.heads * (nope + value)
        yield Row("expand_kv", "every", (1 - share) * layers, MATRIX, "attention",
                  q.multiply_add_flops * rank * out * (
                      s.tokens + composition.expanded / (1 - share) / q.micro_batches),
                  rank * out * element, (rank + out) * s.width * s.tokens)
    per_head = share * (2 * rank + rope) + (1 - share) * (nope + rope + value)
    alike = s.heads, per_head, head_rows(q, composition)
    yield from _core(q, s, c, composition, alike, alike)
    yield _output(q, s, layers, s.heads * value * d, q.attention_output_gate, 0, composition)


def _output(q: Any, s: Sizes, layers: Number, matrix: Number, gate: Number, bias: Number,
            part: Composition, name: str = "o") -> Row:
    """Output projection, its gate and bias; one that stays cut has sums of every rank's tokens."""
    d, elements = q.hidden_size, (1 + gate) * matrix + bias
    cut = q.context_output_cut > 0
    held = elements - (matrix - matrix / part.dealt) * cut
    sums = d * part.dealt if cut else d
    return Row(name, "every", layers, MATRIX, "attention",
               q.multiply_add_flops * elements * s.tokens, held * q.attention_weight_bytes,
               (matrix / d + sums) * s.width * s.tokens)


def _gqa(q: Any, s: Sizes, c: Cache, composition: Composition) -> Iterator[Row]:
    """Grouped-query attention; layers with a window may have other heads."""
    d, size, value = q.hidden_size, q.head_dim, q.v_head_dim
    made = 0 if q.value_from_key else value
    cut, windowed = q.tensor_parallel / composition.dealt, _windowed(q)
    yield from _grouped(q, s, composition, "", q.full_attention_layers,
                        (q.num_attention_heads, q.num_key_value_heads, size, value, made))
    others = q.window_num_attention_heads / cut
    yield from _grouped(q, s, composition, "_window", windowed, (
        q.window_num_attention_heads, q.window_num_key_value_heads, q.window_head_dim,
        q.window_v_head_dim, q.window_v_head_dim))
    if q.indexer_layers > 0:
        for name, out in (("index_q", q.index_n_heads * q.index_head_dim),
                          ("index_k", q.index_head_dim)):
            yield matmul(q, name, "attention", "every", q.indexer_layers, s.tokens, d, out,
                          q.attention_weight_bytes, 0)
        yield from index_rows(q, c, composition)
    shared = composition.sharing_ranks(q)
    yield from _core(q, s, c, composition, (s.heads, size + value, s.heads * shared), (
        others, q.window_head_dim + q.window_v_head_dim, others * shared))


def _windowed(q: Any) -> Number:
    """Layers that attend to a window."""
    return q.num_hidden_layers - q.linear_layers - q.full_attention_layers


def _grouped(q: Any, s: Sizes, composition: Composition, suffix: str, layers: Number,
             shapes: tuple[Number, ...]) -> Iterator[Row]:
    """Projections of grouped-query attention: heads, KV heads, elements of key and value, and of
    the values that are projected."""
    if layers <= 0:
        return
    query_heads, kv_heads, size, value, made = shapes
    d, cut = q.hidden_size, q.tensor_parallel / composition.dealt
    own, kv_ranks = query_heads / cut, np.minimum(cut, kv_heads)
    # a sink is one number per head that joins the softmax
    qkv = ((d + q.attention_bias) * (own * size + kv_heads / kv_ranks * (size + made))
           + q.attention_sinks * own)
    kept = np.maximum(1, kv_heads / cut)
    yield Row("qkv" + suffix, "every", layers, MATRIX, "attention",
              q.multiply_add_flops * qkv * s.tokens, qkv * q.attention_weight_bytes,
              (d + own * size + kept * (size + made)) * s.width * s.tokens)
    if q.qk_norm > 0:
        yield norm_row("qk_norm" + suffix, layers, 2 * size, 2 * q.norm_weight_bytes * size, s)
    yield _output(q, s, layers, own * value * d, q.attention_output_gate,
                  q.attention_output_bias * d, composition, "o" + suffix)


def _core(q: Any, s: Sizes, c: Cache, composition: Composition,
          full: tuple[Number, Number, Number], other: tuple[Number, Number, Number]
          ) -> Iterator[Row]:
    """Scores and values, in layers without and with a window; rows of heads are whole tiles.

    Args:
        full, other: of both kinds heads of the rank, elements of a key and a value, and rows that
            are multiplied.
    """
    again = composition.expanded / q.micro_batches if q.kv_lora_rank > 0 else 0
    shared = composition.sharing_ranks(q)
    # layers that attend to all they see, where others attend to what is picked
    picking = q.index_topk > 0 and composition.absorbed
    seen, passed = ((composition.indexed, composition.read_keys) if picking
                    else (composition.attended, composition.read))
    written = (0 if composition.decoding or not unfused(q)
               else q.score_traffic / q.micro_batches)
    for name, count, shapes, attended, read in (
            ("core", q.sparse_layers, full, composition.attended,
             c.kv_entry_bytes * composition.read),
            ("core_seen", q.full_attention_layers - q.sparse_layers, full, seen,
             c.kv_entry_bytes * passed),
            ("core_window", _windowed(q), other, composition.in_window,
             c.kv_window_entry_bytes * composition.read_in_window)):
        if count > 0:
            heads, per_head, rows = shapes
            yield Row(name, "every", count, MATRIX, "core",
                      q.multiply_add_flops * rows * per_head * attended / shared
                      / q.micro_batches,
                      activation_bytes=heads * shared * per_head * s.width * (s.tokens + again)
                      + written * heads * attended,
                      kv_bytes=read / shared / q.micro_batches)


def _gated(q: Any, s: Sizes, prefix: str, group: str, layer: str, count: Number, rows: Number,
           inside: Number, element: Number) -> Iterator[Row]:
    """Up projection, with a gate or without, what joins or activates them, down projection."""
    d, into = q.hidden_size, q.mlp_matrices - 1
    up = prefix + "gate_up"
    yield Row(up, layer, count, MATRIX, group, q.multiply_add_flops * into * d * inside * rows,
              into * d * inside * element, (d + into * inside) * s.width * rows)
    yield Row(prefix + "gate", layer, count, VECTOR, "vector", GATE_FLOPS * inside * rows,
              activation_bytes=(into + 1) * inside * s.width * rows)
    yield Row(prefix + "down", layer, count, MATRIX, group,
              q.multiply_add_flops * inside * d * rows, inside * d * element,
              (inside + d) * s.width * rows)


def _dense(q: Any, s: Sizes, own: Sizes) -> Iterator[Row]:
    count = q.first_k_dense_replace
    if count > 0:
        yield from _gated(q, s, "", "dense_mlp", "dense", count, s.tokens,
                          q.intermediate_size / q.tensor_parallel, q.dense_mlp_weight_bytes)
        yield from _summed(q, s, own, "dense", count)


def _shared(q: Any, s: Sizes, count: Number) -> Iterator[Row]:
    """Shared experts: one network, or on ranks of their own a network each.

    The gates of the latter are on other ranks than the rest of the table's vector operators.
    """
    apart = q.shared_expert_ranks > 0
    networks = q.n_shared_experts if apart else min(1, q.n_shared_experts)
    if networks > 0:
        width = q.n_shared_experts * q.moe_intermediate_size / networks / q.tensor_parallel
        rows = _gated(q, s, "shared_", "shared_expert", "moe", count * networks, s.shared, width,
                      q.shared_expert_weight_bytes)
        yield from (row for row in rows if not apart or row.unit == MATRIX)


def _moe(q: Any, s: Sizes, own: Sizes) -> Iterator[Row]:
    """Router, shared and routed experts, and how tokens get to them and back."""
    count = q.num_hidden_layers - q.first_k_dense_replace - q.layers_without_mlp
    if count <= 0:
        return
    n, k, nu = q.n_routed_experts, q.num_experts_per_tok, q.multiply_add_flops
    model, d = q.hidden_size, q.routed_expert_hidden_size
    t, group = q.tensor_parallel, expert_group(q)
    yield Row("router", "moe", count, MATRIX, "router", nu * model * n * own.tokens,
              (model + q.router_bias) * n * q.router_weight_bytes,
              (model + n) * s.width * own.tokens)
    if d != model:
        back = model / t if q.latent_output_divided else model
        for name, side in (("latent_down", model), ("latent_up", back)):
            yield matmul(q, name, "router", "moe", count, own.tokens, side, d,
                          q.router_weight_bytes, s.width)
    yield from _shared(q, s, count)
    # an expert's biases are rows of its matrices for a constant input
    into, width = q.mlp_matrices - 1, q.moe_intermediate_size
    up = into * width * (d + q.expert_bias)
    elements = up + (width + q.expert_bias) * d
    read = np.minimum(n, s.slowest * s.hit)
    each = s.on_device * nu * elements * s.slowest * s.together * k / s.shards
    stored = s.on_device * read * elements * q.routed_expert_weight_bytes / s.shards
    rows = s.on_device * s.expert_rows * s.width
    moved = s.on_device * moved_rows(q, s.expert_rows, s.together) * s.width
    for name, share, around in (("routed_gate_up", up / elements, d + into * s.inside),
                                ("routed_down", 1 - up / elements, d + s.inside)):
        yield Row(name, "moe", count, MATRIX, "routed_expert", share * each, share * stored,
                  around * rows)
    yield Row("routed_gate", "moe", count, VECTOR, "vector",
              s.on_device * GATE_FLOPS * s.inside * s.expert_rows,
              activation_bytes=(into + 1) * s.inside * moved)
    yield Row("permute", "moe", count, VECTOR, "vector", activation_bytes=2 * d * moved)
    if group > t:
        for name, element in (("dispatch", sliced(q, q.dispatch_element_bytes, s.width)),
                              ("combine", s.width)):
            yield Row(name, "moe", count, LINK, "exchange", collective=name,
                      payload=s.tokens / t * d * element)
    if group <= t or q.n_shared_experts > 0:
        yield from _summed(q, s, own, "moe", count)
