"""Dense matmuls with their rows quantised: the law, and the rows of tables that it is fitted to.

The law calls what a step calls (``calc.physics.operators``), for one matmul. Columns are those of a
table (``catalogue.tables``) and of its card: ``peak`` [FLOP/s], ``bandwidth`` [B/s],
``weight_bytes`` [B], and the mechanisms that are not fitted. Tables time kernels in a row, so the
latencies of a law contain the boundaries between the kernels of its operator.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from calc.physics.arrays import Inputs
from calc.physics.operators import Matmuls, matmul_time, whole_tiles
from calc.physics.work import Work
from kernels.fitting import Bounds, Column, Columns, Law
from kernels.measured_tables import (
    LAUNCHED,
    LEAST_TABLE,
    FormatTable,
    ReleaseTables,
    fit_shapes,
    kernel_label,
    numbers,
)
from kernels.writing import FittedTable

ACTIVATION_BYTES = 2  # of an element of the rows, before they are quantised
MULTIPLY_ADD = 2
OF_CARD = ("hbm_efficiency", "gemm_tile_rows", "expert_tile_rows")
# fitted with the others it lies between these ends, and moves no error by a hundredth
OVERLAP = Bounds(0.5, 0.25, 0.75)
SHAPE = ("rows", "columns", "depth")
DENSE_FORMATS = ("bf16", "fp8-block", "nvfp4")
MOST_TOKENS = 32768
# of a dense matmul that engines' kernels take whole: of others, which models of this class do not
# have, vLLM and SGLang call a slower kernel
BLOCK_COLUMNS, BLOCK_DEPTH = 64, 128
# rows of a graph or of a full chunk: for others scales are laid out anew, by a kernel of 4 to 6 us
# on B200 under vLLM
GRAPH_ROWS, FEWEST = 4, 2


def matmul_inputs(columns: Columns, parameters: Mapping[str, float], **more: object) -> Inputs:
    """Inputs of a class that is alone on its card.

    Args:
        columns: ``bandwidth`` and the mechanisms of ``OF_CARD``.
        parameters: of a law.
        more: further inputs.
    """
    alone = dict.fromkeys(("tensor_parallel", "expert_parallel", "data_parallel"), 1)
    return Inputs(
        alone | {"clock_factor": 1, "clock_spread": 0, "expert_tensor_parallel": 0,
                 "memory_bandwidth": columns["bandwidth"], "load_overlap": OVERLAP.start,
                 "expert_load_overlap": OVERLAP.start}
        | {name: columns[name] for name in OF_CARD} | more | dict(parameters))


def dense_time(columns: Columns, parameters: Mapping[str, float]) -> Column:
    """Time of a dense matmul [s], quantising its rows included.

    Args:
        columns: ``rows``, ``columns``, ``depth`` and constants of the card.
        parameters: of ``DENSE``.

    Source: notebooks/latency.md, sections The fixed cost of a matmul and The classes of a step.
    """
    rows, out, depth = (columns[name] for name in SHAPE)
    q = matmul_inputs(columns, {f"head_{name}": value for name, value in parameters.items()},
                      head_peak=columns["peak"])
    work = Work(MULTIPLY_ADD * rows * out * depth,
                out * depth * columns["weight_bytes"] + (out + depth) * ACTIVATION_BYTES * rows)
    one = Matmuls(1, depth)
    worked = matmul_time(q, "head", work, whole_tiles(q.gemm_tile_rows, rows),
                         one.waiting(q, "head"))
    return np.asarray(one.time(q, "head", worked, rows), float)


DENSE = Law("gemm", {
    "gemm_efficiency": Bounds(0.7, 0.05, 0.98), "matmul_latency": Bounds(3e-6, 1e-8, 6e-5),
    "depth_latency": Bounds(5e-10, 1e-13, 1e-8), "activation_traffic": Bounds(1, 1e-3, 30)},
    dense_time, {"load_overlap": OVERLAP})


def dense_tables(tables: ReleaseTables) -> Iterator[FormatTable]:
    """Dense matmuls of a release that time decode too, format by format."""
    for read in tables.formats("gemm", DENSE_FORMATS):
        rows = read.table["rows"]
        table = read.table.select(
            (rows <= MOST_TOKENS) & ((rows % GRAPH_ROWS == 0) | (rows <= FEWEST))
            & (read.table["columns"] % BLOCK_COLUMNS == 0)
            & (read.table["depth"] % BLOCK_DEPTH == 0))
        if (len(table) >= LEAST_TABLE and table["time"].min() <= LAUNCHED
                and table["rows"].min() <= FEWEST):
            yield read._replace(table=table)


def fitted_matmuls(tables: ReleaseTables) -> Iterator[FittedTable]:
    """Laws of dense matmuls of a release, format by format."""
    for dtype, multiplied, _, card, table in dense_tables(tables):
        columns = numbers(table, SHAPE)
        fitted = fit_shapes(DENSE, table, columns, card, columns["rows"], SHAPE[1:])
        yield FittedTable(tables.release, "gemm", kernel_label(table), dtype, multiplied, fitted)
