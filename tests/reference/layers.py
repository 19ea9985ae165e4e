"""What a rank runs in a step, layer by layer: pieces of work and how long each takes alone.

A matmul, a norm or a gate has a time of its own here, where ``calc.physics.step`` adds up
operations and bytes of a class and asks for its time once. Where a layer has one kernel of a kind
(core, indexer, routed experts, a collective), its time is the runtime's. Times are in seconds, of
one rank and one micro-batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from calc.physics.communication import all_gather, all_reduce, group, reduce_scatter
from calc.physics.work import Composition
from reference.operators import MATRIX, VECTOR, Row
from reference.rows import rank_part

CARD, LINKS, HOST = "card", "links", "host"
TOGETHER = {"kv_a": "q_a", "q": "q_a", "index_weights": "index_k"}  # one matmul of the same input
WITHOUT = ("absorb_k", "absorb_v")  # as wide as activations: not counted as matmuls


@dataclass(frozen=True)
class Piece:
    """Work of a card, its links or its host.

    Attributes:
        machine: ``card``, ``links`` or ``host``, which do one thing at a time.
        time: that it takes alone [s].
        kernels: that the host launches for it, one by one [1].
    """

    machine: str
    time: float
    kernels: float = 0.0


@dataclass(frozen=True)
class Experts:
    """The second half of a layer with experts.

    Attributes:
        choosing: router, gates, sorting of rows, and the boundaries between all kernels.
        shared, routed: the experts, a matmul of each class of them.
        dispatch, combine: tokens on their way to experts and back.
        summed: the all-reduce where experts are cut across tensor ranks.
        on_host: what the host computes or hands over.
        last: share of the experts that their last matrix is, of so many of equal size.
    """

    choosing: Piece
    shared: Piece
    dispatch: Piece
    routed: Piece
    combine: Piece
    summed: Piece
    on_host: Piece
    last: float = 1 / 3


@dataclass(frozen=True)
class Layers:
    """A step: what is before its layers, their two halves, and what is after them.

    Attributes:
        dense: the second half of a layer without experts.
        passed_on: from a stage to the next.
        dense_layers, moe_layers: layers of each kind [1].
        stages: that the layers are divided among [1].
        bare_layers: layers without a second half, taken to be the last [1].
    """

    before: Sequence[Piece]
    attention: Sequence[Piece]
    dense: Sequence[Piece]
    experts: Experts
    after: Sequence[Piece]
    passed_on: Piece
    dense_layers: int
    moe_layers: int
    stages: int
    bare_layers: int = 0


def layers(q: Any, rows: Iterable[Row], batch: Composition, found: Mapping[str, float]) -> Layers:
    """A step of a micro-batch, layer by layer.

    Args:
        q: input symbols as attributes.
        rows: of the operator table.
        batch: the composition of the micro-batch.
        found: quantities of the runtime's step, without their phase.
    """
    rows = list(rows)
    dense, bare = int(q.first_k_dense_replace), int(q.layers_without_mlp)
    every, moe = float(q.num_hidden_layers), int(q.num_hidden_layers) - dense - bare
    times = {place: _times(q, [row for row in rows if row.layer == place], count, batch, found)
             for place, count in (("every", every), ("dense", dense), ("moe", moe), ("outside", 1))}
    kernels, untimed = _kernels(q), _kernels(q, untimed=True)
    stages = int(q.pipeline_parallel)
    sent = {place: _sent(q, [row for row in rows if row.layer == place])
            for place in ("every", "dense", "moe")}
    before = _sent(q, [row for row in rows if row.name == "embedding_all_reduce"])
    after = _sent(q, [row for row in rows if row.layer == "outside"]).time - before.time

    def piece(time: float, part: str) -> Piece:
        return Piece(CARD, time + untimed[part] * q.kernel_boundary, kernels[part])

    attending = sum(found[f"{name}_time"] for name in ("core", "index", "dequantisation")) / every
    of_moe = {name: found[f"{name}_time"] / max(moe, 1) for name in (
        "routed_expert", "dispatch", "exchange", "offload", "fetch")}
    experts = Experts(
        piece(times["moe"]["router"] + times["moe"]["vector"], "experts"),
        Piece(CARD, _longer(q, times["moe"]["shared_expert"], of_moe["routed_expert"])),
        Piece(LINKS, of_moe["dispatch"]), Piece(CARD, of_moe["routed_expert"]),
        Piece(LINKS, of_moe["exchange"] - of_moe["dispatch"]),
        sent["moe"], Piece(HOST, of_moe["offload"] + of_moe["fetch"]),
        1 / q.mlp_matrices)
    return Layers(
        [before],
        [piece(times["every"]["attention"] + times["every"]["vector"] + attending, "attention"),
         Piece(LINKS, sent["every"].time + found["context_exchange_time"] / every)],
        [piece(times["dense"]["dense_mlp"] + times["dense"]["vector"], "dense"), sent["dense"]],
        experts, [Piece(CARD, times["outside"]["head"] + times["outside"]["vector"]),
                  Piece(LINKS, after)],
        Piece(LINKS, found["pipeline_time"] / max(stages - 1, 1)), dense, moe, stages, bare)


def _sent(q: Any, rows: Sequence[Row]) -> Piece:
    """What tensor ranks send in a layer of a kind, or outside of the layers: one after another."""
    kinds = {"all-reduce": all_reduce, "all-gather": all_gather, "reduce-scatter": reduce_scatter}
    ranks = group(q, q.tensor_parallel)
    return Piece(LINKS, sum(float(kinds[row.collective](q, ranks, row.payload)) for row in rows
                            if row.collective in kinds))


def _longer(q: Any, shared: float, routed: float) -> float:
    """What shared experts add to a layer: all, or what they take longer on ranks of their own."""
    return max(0.0, shared - routed) if q.shared_expert_ranks > 0 else shared


def _kernels(q: Any, untimed: bool = False) -> dict[str, float]:
    """Kernels of each half of a layer, as they were counted in an engine and fused since; or those
    of them that no law times and that are not fused with an all-reduce."""
    fused = q.operators_per_layer / q.reference_operators

    def count(part: str) -> float:
        every = getattr(q, f"{part}_operators")
        return float(every - getattr(q, f"{part}_timed_operators") if untimed else every)

    norm = q.fused_norms if untimed and q.tensor_parallel > 1 else 0.0
    shared = count("shared_expert") if q.n_shared_experts > 0 else 0.0
    routed = count("routed_expert")
    own = q.indexer_layers / q.num_hidden_layers  # of a mean layer
    streams = q.hyper_operators if q.hc_mult > 1 else 0.0
    experts = max(shared, routed) if q.shared_expert_ranks > 0 else shared + routed
    return {"attention": fused * (count("attention") - norm + own * count("indexer") + streams),
            "dense": fused * (count("dense_mlp") - norm), "experts": fused * (experts - norm)}


def _times(q: Any, rows: Sequence[Row], of_layers: float, batch: Composition,
           found: Mapping[str, float]) -> dict[str, float]:
    """Times of the matmuls of each class, and of vector operators, in a mean layer of a kind."""
    times = dict.fromkeys(
        ("attention", "dense_mlp", "shared_expert", "router", "head", "vector"), 0.0)
    for row in rows:
        if row.unit == VECTOR:
            times["vector"] += float(row.count / of_layers * (
                row.weight_bytes + row.activation_bytes) / (q.memory_bandwidth * q.hbm_efficiency))
    matmuls = [row for row in rows if row.unit == MATRIX and row.group in times]
    for several in _together(matmuls):
        times[several[0].group] += _matmul(q, several, batch, found) * several[0].count / of_layers
    return times


def _together(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Rows that are one matmul, since they have one input."""
    made: dict[str, list[Row]] = {}
    for row in rows:
        made.setdefault(TOGETHER.get(row.name, row.name), []).append(row)
    yield from made.values()


def _matmul(q: Any, rows: Sequence[Row], batch: Composition, found: Mapping[str, float]) -> float:
    """One matmul: filled, its rows quantised, then loaded and multiplied."""
    name, first = rows[0].group, rows[0].name
    part = rank_part(q, batch)
    rows_of = {"head": batch.logit_rows, "shared_expert": batch.of_shared(q),
               "attention": part.tokens, "router": part.tokens}
    tokens: Any = rows_of.get(name, batch.tokens)
    padding = max(1.0, q.gemm_tile_rows / max(tokens, 1.0))
    flops = 0.0
    for row in rows:
        own = part.tokens / (part.tokens + part.expanded) if row.name == "expand_kv" else 1.0
        flops += row.flops * (own * padding + 1 - own)
    computed = flops / (getattr(q, f"{name}_peak") * getattr(q, f"{name}_gemm_efficiency")
                        * found["slowest_clock"])
    loaded = sum(row.weight_bytes + row.activation_bytes for row in rows) / (
        q.memory_bandwidth * q.hbm_efficiency)
    once = along = 0.0
    if first not in WITHOUT:
        depth = _depth(q, first, part.dealt)
        once = getattr(q, f"{name}_matmul_latency") + depth * tokens * getattr(
            q, f"{name}_activation_traffic") / q.memory_bandwidth
        along = depth * getattr(q, f"{name}_depth_latency")
    longer, shorter = max(computed, along, loaded), min(max(computed, along), loaded)
    return float(once + longer + (1 - q.load_overlap) * shorter)


def _depth(q: Any, name: str, dealt: float) -> float:
    """Inputs that an output of a matmul sums over; heads are whole where tokens are dealt."""
    t, d = q.tensor_parallel, q.hidden_size
    values = q.head_dim if q.o_groups > 0 else q.v_head_dim
    in_windows = q.window_num_attention_heads * q.window_v_head_dim
    of_shared = q.n_shared_experts * q.moe_intermediate_size
    others: dict[str, Any] = {
        "q_b": q.q_lora_rank, "index_q": q.q_lora_rank, "expand_kv": q.kv_lora_rank,
        "o": q.num_attention_heads * values / t * dealt,
        "o_window": in_windows / t * dealt,
        "o_a": q.num_attention_heads * values / max(q.o_groups, 1),
        "o_b": q.o_groups * q.o_lora_rank / t * dealt, "down": q.intermediate_size / t,
        "shared_down": of_shared / t}
    return float(others.get(name, d))
