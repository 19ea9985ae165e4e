"""The operator table: what one step does on one rank, row by row, in SymPy.

A row is an operator of one layer (or of the step, outside the layers): its operations, the bytes
of weights, activations and cache that it moves, and its collective, as functions of the shapes and
of the composition of the step. The sums over the rows are the classes of operators whose time is
taken. Sizes are of ONE rank and one micro-batch; with ``count`` they are those of all layers.
All layers have latent attention to the whole context, and one residual stream.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import replace

import sympy
from sympy import Expr, Min

from notebooks.derive.formulas.exported import load_formulas, select
from notebooks.derive.formulas.symbols import sym
from notebooks.derive.formulas.trees import from_tree
from notebooks.derive.steps.phases import Composition, score_bytes
from notebooks.derive.steps.routing import (
    Routing,
    moved_rows,
    sharing_ranks,
)
from notebooks.derive.steps.rows import (
    GATE_FLOPS,
    NORM_FLOPS,
    VECTOR,
    Operator,
    inner_norm,
    matmul,
    norm,
    output,
    projection,
    where,
)

LINK, DRAFT = "link", "draft"


def table(composition: Composition, routing: Routing, query_latent: bool = True
          ) -> list[Operator]:
    """Every row of a step, in the order in which a token passes them.

    Args:
        composition: of the step.
        routing: how its tokens meet the routed experts.
        query_latent: whether the queries go through a latent vector.
    """
    own = composition.own()
    with_network = sym.num_hidden_layers - sym.layers_without_mlp
    layers, dense, moe = sym.num_hidden_layers, sym.first_k_dense_replace, sym.moe_layers
    one, hidden = sympy.S.One, composition.tokens * sym.hidden_size * sym.activation_element_bytes
    reduce = {"unit": LINK, "cls": LINK, "collective": "all-reduce", "payload": hidden}
    after = dense + sympy.Piecewise((moe, sharing_ranks() <= sym.tensor_parallel),
                                    (moe * Min(1, sym.n_shared_experts), True))
    body = [
        Operator("embedding", "outside", one, "vector", VECTOR, activation_bytes=2 * hidden),
        Operator("embedding_all_reduce", "outside", one, **reduce),
        norm("input_norm", own.tokens, layers), *_attention(own, query_latent),
        Operator("attention_all_reduce", "every", where(own.dealt <= 1, layers), **reduce),
        norm("post_norm", own.tokens, with_network),
        *_mlp("", "dense", dense, "dense_mlp", sym.hidden_size,
              sym.intermediate_size / sym.tensor_parallel, composition.tokens,
              sym.dense_mlp_weight_bytes),
        *_experts(own.tokens, routing),
        Operator("mlp_all_reduce", "every", where(own.dealt <= 1, after), **reduce),
        *_head(composition.rows),
    ]
    return [*body, *_draft(body, composition)]


def _attention(composition: Composition, query_latent: bool) -> list[Operator]:
    """Latent attention: absorbed or expanded, with or without an indexer.

    Where it is open which of the two, the rows of both stand with their shares of the step.
    """
    d, t, tokens = sym.hidden_size, composition.cut, composition.tokens
    heads = sym.num_attention_heads / t
    r_q, r_kv = sym.q_lora_rank, sym.kv_lora_rank
    nope, rope, value = sym.qk_nope_head_dim, sym.qk_rope_head_dim, sym.v_head_dim
    query = heads * (nope + rope)
    if query_latent:
        first = [projection("q_a", tokens, d, r_q), inner_norm("q_a_norm", r_q, tokens),
                 projection("q_b", tokens, r_q, query)]
    else:
        first = [projection("q", tokens, d, query)]
    first += [projection("kv_a", tokens, d, r_kv + rope), inner_norm("kv_norm", r_kv, tokens)]
    last = projection("o", tokens, heads * value, d, bias=sym.attention_output_gate * d
                      * heads * value)
    share = sympy.sympify(composition.absorbed)

    def absorb(name: str, size: Expr) -> list[Operator]:
        return _part(projection(name, tokens, heads * size, r_kv,
                                width=sym.activation_element_bytes,
                                per_token=heads * (size + r_kv)), share)

    expand = projection("expand_kv", tokens, r_kv, heads * (nope + value))
    again = matmul(composition.expanded, r_kv, heads * (nope + value))
    width = share * (2 * r_kv + rope) + (1 - share) * (nope + rope + value)
    return [*first, *(replace(row, flops=row.flops + again) for row in _part(expand, 1 - share)),
            *absorb("absorb_k", nope), *_indexer(composition),
            _core(composition, heads, width), *absorb("absorb_v", value),
            output(last, tokens, heads * value * d, composition.dealt, d)]


def _part(row: Operator, share: Expr) -> list[Operator]:
    """A row that takes a share of its rows and weights; none if the share is zero."""
    if share == 0:
        return []
    return [replace(row, flops=share * row.flops, weight_bytes=share * row.weight_bytes,
                    activation_bytes=share * row.activation_bytes)]


def _indexer(composition: Composition) -> list[Operator]:
    """Projections of an indexer, whole on every rank; scores of its keys, and the choice."""
    d, tokens, layers, none = sym.hidden_size, composition.tokens, sym.indexer_layers, sympy.S.Zero
    heads, size, per_key = sym.index_n_heads, sym.index_head_dim, 1 / sym.compress_ratio
    each = sym.multiply_add_flops * heads * size
    rows = [projection("index_q", tokens, sym.q_lora_rank, heads * size, per_token=none),
            projection("index_k", tokens, d, size, per_token=none),
            inner_norm("index_norm", 2 * size, tokens),
            projection("index_weights", tokens, d, heads, per_token=none)]
    return [
        *(replace(row, count=layers) for row in rows),
        Operator("index_scores", "every", layers, "matrix", "index",
                 flops=each * per_key * composition.scored,
                 kv_bytes=sym.kv_index_bytes_per_token * per_key * composition.scored_keys),
        Operator("index_choice", "every", layers, "vector", VECTOR,
                 activation_bytes=sym.selection_traffic * per_key * composition.compared)]


def _core(composition: Composition, heads: Expr, width: Expr) -> Operator:
    """Scores and values: ``width`` multiply-adds per row.

    Queries go in and outputs come out; keys and values that were expanded again go in as well;
    scores are written in prefill, for want of a fused kernel.
    """
    passed = (composition.tokens + composition.expanded) * sym.activation_element_bytes
    return Operator(
        "core", "every", sym.num_hidden_layers, "matrix", "core",
        flops=sym.multiply_add_flops * composition.head_rows * width * composition.attended,
        activation_bytes=heads * width * composition.sharing_ranks * passed
        + heads * score_bytes(composition) * composition.attended,
        kv_bytes=sym.kv_entry_bytes * composition.read)


def _mlp(prefix: str, layer: str, count: Expr, cls: str, outer: Expr, inner: Expr, tokens: Expr,
         weight: Expr) -> list[Operator]:
    """Up, with a gate or without, activation, down: ``outer`` elements wide outside, ``inner``
    inside."""
    d, width = sym.hidden_size, sym.activation_element_bytes
    made = (sym.mlp_matrices - 1) * inner
    return [
        Operator(f"{prefix}gate_up", layer, count, "matrix", cls,
                 flops=matmul(tokens, d, made), weight_bytes=weight * d * made,
                 activation_bytes=(outer + made) * tokens * width),
        Operator(f"{prefix}gate", layer, count, "vector", VECTOR,
                 flops=GATE_FLOPS * inner * tokens,
                 activation_bytes=(made + inner) * tokens * width),
        Operator(f"{prefix}down", layer, count, "matrix", cls,
                 flops=matmul(tokens, inner, d), weight_bytes=weight * inner * d,
                 activation_bytes=(inner + outer) * tokens * width),
    ]


def _experts(chosen: Expr, routing: Routing) -> list[Operator]:
    """Router (of so many tokens), routed experts, shared experts."""
    d, moe, width = sym.hidden_size, sym.moe_layers, sym.activation_element_bytes
    slices = sym.expert_slices
    count, inner = sym.n_routed_experts, sym.moe_intermediate_size
    on = 1 - sym.offloaded_share
    rows, own = on * routing.rows, inner / slices  # of an expert's width, what this rank has
    moved = on * moved_rows(routing.rows, routing.group_tokens)

    def expert(name: str, size: Expr, moved: Expr) -> Operator:
        """A matrix of the experts: ``size`` weights of a whole expert."""
        return Operator(
            name, "moe", moe, "matrix", "routed_expert",
            flops=sym.multiply_add_flops * rows * size / slices,
            weight_bytes=sym.routed_expert_weight_bytes * on * routing.read * size
            / (sym.routed_ranks * slices),
            activation_bytes=rows * moved * width)

    biased, into = sym.expert_bias, sym.mlp_matrices - 1
    return [
        Operator("router", "moe", moe, "matrix", "router", flops=matmul(chosen, d, count),
                 weight_bytes=sym.router_weight_bytes * (d * count + sym.router_bias * count),
                 activation_bytes=(d + count) * chosen * width),
        Operator("permute", "moe", moe, "vector", VECTOR,
                 activation_bytes=2 * d * moved * width),
        expert("routed_gate_up", into * inner * (d + biased), d + into * own),
        Operator("routed_gate", "moe", moe, "vector", VECTOR, flops=GATE_FLOPS * rows * own,
                 activation_bytes=(into + 1) * own * moved * width),
        expert("routed_down", (inner + biased) * d, own + d),
        *_shared(routing.shared_tokens),
    ]


def _shared(tokens: Expr) -> list[Operator]:
    """Shared experts, side by side; on ranks of their own each takes its tokens in by itself.

    The gate of those is not among the vector operators, which are of the other ranks.
    """
    shared, apart = sym.n_shared_experts, sym.shared_expert_ranks > 0
    taken = sympy.Piecewise((shared, apart), (Min(1, shared), True))
    up, gate, down = _mlp(
        "shared_", "moe", sym.moe_layers, "shared_expert", taken * sym.hidden_size,
        shared * sym.moe_intermediate_size / sym.tensor_parallel, tokens,
        sym.shared_expert_weight_bytes)
    beside = sympy.Piecewise((0, apart), (1, True))
    return [up, replace(gate, flops=beside * gate.flops,
                        activation_bytes=beside * gate.activation_bytes), down]


def _head(rows: Expr) -> list[Operator]:
    """Final norm, output head, and the logits of all ranks."""
    d = sym.hidden_size
    columns = sympy.ceiling(sym.vocab_size / sym.tensor_parallel)
    logits = rows * columns * sym.logit_element_bytes
    return [
        Operator("final_norm", "outside", sympy.S.One, "vector", VECTOR,
                 flops=NORM_FLOPS * d * rows, weight_bytes=d * sym.norm_weight_bytes),
        Operator("head", "outside", sympy.S.One, "matrix", "head", flops=matmul(rows, d, columns),
                 weight_bytes=sym.head_weight_bytes * d * columns,
                 activation_bytes=rows * d * sym.activation_element_bytes + logits),
        Operator("logits_all_gather", "outside", sympy.S.One, LINK, LINK, collective="all-gather",
                 payload=rows * columns * sym.activation_element_bytes),
    ]


def _draft(body: Iterable[Operator], composition: Composition) -> list[Operator]:
    """A prediction layer, once per draft token: its projection, a layer, the head."""
    if not composition.decoding:
        return []
    d, count, tokens = sym.hidden_size, sym.draft_tokens, composition.tokens
    layer = [row for row in body if row.layer in ("every", "moe")]
    head = next(row for row in body if row.name == "head")
    summed = {name: sympy.Add(*(getattr(row, name) for row in layer)) for name in
              ("flops", "weight_bytes", "activation_bytes", "kv_bytes")}
    return [
        Operator("mtp_projection", "outside", count, "matrix", DRAFT,
                 flops=matmul(tokens, 2 * d, d), weight_bytes=sym.head_weight_bytes * 2 * d * d,
                 activation_bytes=3 * d * tokens * sym.activation_element_bytes),
        Operator("mtp_layer", "outside", count, "matrix", DRAFT, **summed),
        Operator("mtp_head", "outside", count, "matrix", DRAFT, head.flops, head.weight_bytes,
                 head.activation_bytes),
    ]


def class_flops(rows: Iterable[Operator], cls: str) -> Expr:
    """Operations of a class, all layers [FLOP]: matrices of all classes but ``vector``."""
    return sympy.Add(*(row.count * row.flops for row in rows
                       if row.cls == cls and (row.unit == "matrix") != (cls == VECTOR)))


def class_bytes(rows: Iterable[Operator], cls: str) -> Expr:
    """Bytes of a class, all layers [B]; weights go where they are stored."""
    rows = list(rows)
    return sympy.Add(
        *(row.count * row.weight_bytes for row in rows if row.home == cls),
        *(row.count * (row.activation_bytes + row.kv_bytes) for row in rows if row.cls == cls))


def in_shapes(expr: Expr, **fixed: Expr | int) -> Expr:
    """An expression with parameters and cache sizes written out in shapes.

    Args:
        expr: in symbols of ``params/symbols.yml``.
        fixed: values of symbols that a case fixes, such as ``q_lora_rank=0``.
    """
    for letter, formula in _in_shapes():
        expr = expr.xreplace({letter: formula})
    return expr.xreplace({getattr(sym, name): sympy.sympify(value)
                          for name, value in fixed.items()})


@functools.cache
def _in_shapes() -> list[tuple[sympy.Symbol, Expr]]:
    """Parameters and cache sizes with their formulas, each before those that it is made of."""
    stored = select(load_formulas(), "mla")
    names = """attention_weights_per_layer context_weights_per_layer output_projection_parameters
        head_matrix_weights kv_index_bytes_per_token kv_window_entry_bytes kv_entry_bytes
        kv_layer_bytes_per_token_per_device kv_layer_bytes_per_token moe_layers
        attention_divided_parameters attention_kv_parameters attention_replicated_parameters
        norm_parameters dense_mlp_parameters router_parameters shared_expert_parameters
        routed_expert_parameters compressor_parameters hyper_parameters
        hyper_head_parameters window_kv_parameters"""
    return [(getattr(sym, name), from_tree(stored[name].tree)) for name in names.split()]
