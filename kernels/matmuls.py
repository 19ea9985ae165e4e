"""Laws of matmuls: a dense one with its rows quantised, and a layer's block of routed experts.

They call what a step calls (``calc.physics.operators``), for one matmul and one layer. Columns
are those of a table (``catalogue.tables``) and of its card: ``peak`` [FLOP/s], ``bandwidth`` [B/s],
``weight_bytes`` [B], and the mechanisms that are not fitted. Tables time kernels in a row, so the
latencies of a law contain the boundaries between the kernels of its operator.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from calc.kernels.law import Bounds, Column, Columns, Law
from calc.kernels.routing import Dealing, met
from calc.physics.experts import expert_tile, moved_rows
from calc.physics.inputs import Inputs
from calc.physics.operators import (
    Matmuls,
    expert_latency,
    matmul_time,
    tiles_of_experts,
    whole_tiles,
)
from calc.physics.work import Work

ACTIVATION_BYTES = 2  # of an element of the rows, before they are quantised
MULTIPLY_ADD = 2
MATRICES = 3  # of an expert: gate, up and down
OF_CARD = ("hbm_efficiency", "gemm_tile_rows", "expert_tile_rows")
# fitted beside the rest it lies between these ends, and moves no error by a hundredth
OVERLAP = Bounds(0.5, 0.25, 0.75)
# a rank's own rows, beside those of all that it has: gathered, gated and brought back once
ONCE = Bounds(1, 0.5, 2)
# rows of a tile over rows of an expert, and the most, from which on experts have several
GROWTH, LARGEST = Bounds(1.4, 0.25, 32), Bounds(64, 16, 512)


def _inputs(columns: Columns, parameters: Mapping[str, float], **more: object) -> Inputs:
    """What the functions of the physics read, for a class that stands alone on its card."""
    alone = dict.fromkeys(("tensor_parallel", "expert_parallel", "data_parallel"), 1)
    return Inputs(
        alone | {"clock_factor": 1, "clock_spread": 0, "expert_tensor_parallel": 0,
                 "memory_bandwidth": columns["bandwidth"]}
        | {"load_overlap": OVERLAP.start, "expert_load_overlap": OVERLAP.start}
        | {name: columns[name] for name in OF_CARD} | more | dict(parameters))


def dense_time(columns: Columns, parameters: Mapping[str, float]) -> Column:
    """Time of a dense matmul [s], quantising its rows included.

    Args:
        columns: ``rows``, ``columns``, ``depth`` and what is known of the card.
        parameters: of ``DENSE``.

    Source: notebooks/latency.md, sections The fixed cost of a matmul and The classes of a step.
    """
    rows, out, depth = (columns[name] for name in ("rows", "columns", "depth"))
    q = _inputs(columns, {f"head_{name}": value for name, value in parameters.items()},
                head_peak=columns["peak"])
    work = Work(MULTIPLY_ADD * rows * out * depth,
                out * depth * columns["weight_bytes"] + (out + depth) * ACTIVATION_BYTES * rows)
    one = Matmuls(1, depth)
    worked = matmul_time(q, "head", work, whole_tiles(q.gemm_tile_rows, rows),
                         one.waiting(q, "head"))
    return np.asarray(one.time(q, "head", worked, rows), float)


def expert_bytes(columns: Columns) -> Column:
    """Weights of the experts that a rank reads, or of its slices of them [B].

    Args:
        columns: ``hidden_size``, ``inside``, ``experts_read`` and ``weight_bytes``.
    """
    return np.asarray(MATRICES * columns["experts_read"] * columns["hidden_size"]
                      * columns["inside"] * columns["weight_bytes"])


def expert_time(columns: Columns, parameters: Mapping[str, float], slices: bool = False,
                sent: bool = False) -> Column:
    """Time of a layer's routed experts on a rank [s], rows sorted, quantised and summed.

    Args:
        columns: ``tokens`` of all ranks, ``n_routed_experts``, ``num_experts_per_tok``,
            ``expert_parallel``, ``hidden_size``, ``inside`` (width of an expert on the rank),
            ``expert_rows`` and ``experts_read`` of the rank, and what is known of the card.
        parameters: of ``WHOLE``, ``SENT`` or ``SLICES``.
        slices: whether experts are cut over ranks, not whole.
        sent: whether the rank has been sent its own rows and no others.

    Source: notebooks/latency.md, section The classes of a step.
    """
    hidden, inside = columns["hidden_size"], columns["inside"]
    rows, read = columns["expert_rows"], columns["experts_read"]
    together = rows / columns["num_experts_per_tok"] if sent else columns["tokens"]
    other = dict.fromkeys((*WHOLE.parameters, *SLICES.parameters), 1.0)  # not asked for
    other |= {"gathered_row_traffic": 0.0, "expert_row_traffic": ONCE.start}
    q = _inputs(columns, {**other, **parameters}, routed_expert_peak=columns["peak"],
                expert_tensor_parallel=2 if slices else 1, exchange_gathered=1,
                shared_expert_ranks=0, num_experts_per_tok=columns["num_experts_per_tok"],
                n_routed_experts=columns["n_routed_experts"] / columns["expert_parallel"])
    of_one = (2 * hidden + MATRICES * inside) * ACTIVATION_BYTES
    moved = rows * of_one
    work = Work(MULTIPLY_ADD * rows * MATRICES * hidden * inside, expert_bytes(columns) + moved)
    padded = tiles_of_experts(expert_tile(q, 1.0, together), rows / np.maximum(read, 1))
    time = (matmul_time(q, "routed_expert", work, padded) + expert_latency(q)
            + moved_rows(q, rows, together) * of_one / (
                q.memory_bandwidth * q.hbm_efficiency))
    return np.asarray(time, float)


def rank_columns(columns: Mapping[str, Column], skew: np.ndarray, left: Dealing = "ranks"
                 ) -> dict[str, Column]:
    """What a rank of a table of experts has: ``inside``, ``expert_rows`` and ``experts_read``.

    Args:
        columns: of the table.
        skew: how its tokens were dealt, by row.
        left: to whom rows went that rounding left over (``calc.kernels.routing``).
    """
    shapes = zip(*(columns[name].astype(int) for name in (
        "tokens", "n_routed_experts", "num_experts_per_tok", "expert_parallel")), skew, strict=True)
    found = np.array([met(*shape, left) for shape in shapes], float)
    return {"inside": columns["moe_intermediate_size"] / columns["tensor_parallel"],
            "experts_read": found[:, 0], "expert_rows": found[:, 1]}


DENSE = Law("gemm", {
    "gemm_efficiency": Bounds(0.7, 0.05, 0.98), "matmul_latency": Bounds(3e-6, 1e-8, 6e-5),
    "depth_latency": Bounds(5e-10, 1e-13, 1e-8), "activation_traffic": Bounds(1, 1e-3, 30)},
    dense_time, {"load_overlap": OVERLAP})
WHOLE = Law("experts", {
    "routed_expert_gemm_efficiency": Bounds(0.5, 0.02, 0.98),
    "expert_streaming_efficiency": Bounds(0.7, 0.05, 0.98),
    "routed_expert_latency": Bounds(1e-5, 1e-7, 2e-4),
    "gathered_row_traffic": Bounds(1, 1e-3, 40), "expert_tile_growth": GROWTH,
    "largest_expert_tile": LARGEST},
    expert_time, {"expert_load_overlap": OVERLAP, "expert_row_traffic": ONCE})
SENT = replace(WHOLE, parameters={
    {"gathered_row_traffic": "expert_row_traffic"}.get(name, name): bounds
    for name, bounds in WHOLE.parameters.items()}, time=partial(expert_time, sent=True),
    fixed={"expert_load_overlap": OVERLAP})
SLICES = Law("experts", {
    "sliced_expert_gemm_efficiency": Bounds(0.5, 0.02, 0.98),
    "sliced_streaming_efficiency": Bounds(0.7, 0.05, 0.98),
    "sliced_expert_latency": Bounds(1e-5, 1e-7, 2e-4), "sliced_row_traffic": Bounds(2, 1e-3, 40),
    "sliced_tile_growth": GROWTH, "largest_sliced_tile": LARGEST},
    partial(expert_time, slices=True), {"load_overlap": OVERLAP})
