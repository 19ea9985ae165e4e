"""Shapes of a table: columns that tell them, what is made of those, and neighbours along one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calc.kernels.law import Column

Mask = NDArray[np.bool_]
LEAST_JUMP = np.log(1.1)  # of time over law, from one row to its neighbour
STEEPENS = 2  # of a trend, from one step to the next: what jumps by no more is none
UNKNOWN = np.log(1.5)  # least jump at the first or last value of a column, where a trend may end
SMALL = 1e-9
DIGITS = 3  # of what is made of several columns

AXES: Mapping[str, tuple[str, ...]] = {
    "gemm": ("rows", "columns", "depth"),
    "experts": ("tokens", "hidden_size", "moe_intermediate_size", "n_routed_experts",
                "num_experts_per_tok", "tensor_parallel", "expert_parallel", "skew"),
    "mla_decode": ("batch", "heads", "context"), "mla_prefill": ("tokens", "heads", "batch"),
    "mla_decode_block": ("batch", "heads", "context"),
    "dsa_decode_block": ("batch", "heads", "context", "element_bytes"),
    "all_reduce": ("bytes", "ranks"),
    "exchange": ("tokens", "ranks", "nodes", "num_experts_per_tok", "n_routed_experts",
                 "hidden_size", "token_bytes")}
"""Columns by operator that tell a shape, first the one that a step varies."""


class Along(NamedTuple):
    """A column that a kernel may be chosen by [rows], and the columns that a table moves it by."""

    values: Column
    axes: tuple[str, ...]


class Line(NamedTuple):
    """Pairs of neighbours along a column, with the rows beside them (-1: none)."""

    low: NDArray[np.int64]
    high: NDArray[np.int64]
    before: NDArray[np.int64]
    after: NDArray[np.int64]


def columns_of(operator: str, shapes: Mapping[str, Column]) -> dict[str, Along]:
    """All columns that a kernel may be chosen by, of those that have more than one value.

    Args:
        operator: of ``AXES``.
        shapes: columns of a table, and those that a law makes of them [rows].
    """
    every = {name: Along(shapes[name], (name,)) for name in AXES[operator] if name in shapes}
    return {name: along for name, along in (every | _made(operator, shapes)).items()
            if along.values.min() < along.values.max() and set(along.axes) <= set(every)}


def _made(operator: str, shapes: Mapping[str, Column]) -> dict[str, Along]:
    """What kernels are chosen by besides, which no column of a table tells alone."""
    if operator == "gemm":
        return {"weights": Along(shapes["columns"] * shapes["depth"], ("columns", "depth")),
                "outputs": Along(shapes["rows"] * shapes["columns"], ("rows", "columns"))}
    if operator == "experts":
        rows, read = shapes["expert_rows"], shapes["experts_read"]
        return {"rows_of_expert": Along(_rounded(rows / read), ("tokens",)),
                "rows_of_rank": Along(_rounded(rows), ("tokens",)),
                "width": Along(shapes["inside"], ("tensor_parallel",))}
    if operator == "all_reduce":
        return {"bytes_of_all": Along(shapes["bytes"] * shapes["ranks"], ("bytes",))}
    if operator.startswith(("mla", "dsa")):
        lengths = "context" if "context" in shapes else "tokens"
        return {"positions": Along(shapes["batch"] * shapes[lengths], ("batch", lengths))}
    return {}


def _rounded(values: Column) -> Column:
    power = 10.0 ** (np.floor(np.log10(np.maximum(values, SMALL))) - DIGITS + 1)
    return np.asarray(np.round(values / power) * power)


def log_scaled(values: Column) -> Column:
    """Where values of a column lie: by their logarithm, or as they are if one of them is none."""
    return np.log(values) if values.min() > 0 else values.astype(float)


def neighbours(shapes: Mapping[str, Column], axes: Sequence[str], name: str) -> Line:
    """Rows that differ in one column, and in it the least.

    Args:
        shapes: columns of a table [rows].
        axes: those that tell a shape.
        name: the column that they differ in.
    """
    others = [shapes[other] for other in axes if other != name]
    order = np.lexsort((shapes[name], *others))
    same = shapes[name][order[1:]] > shapes[name][order[:-1]]
    for other in others:
        same &= other[order[1:]] == other[order[:-1]]
    at = np.flatnonzero(same)
    bounded = np.concatenate([[False], same, [False]])
    return Line(order[at], order[at + 1], np.where(bounded[at], order[at - 1], -1),
                np.where(bounded[at + 2], order[np.minimum(at + 2, len(order) - 1)], -1))


def jumps(line: Line, residual: Column, place: Column) -> tuple[Column, Column]:
    """Of pairs: the jump, and what of it a trend that steepens does not explain [1].

    Args:
        line: the pairs.
        residual: logarithm of time over law, of all rows.
        place: of all rows, of the column (``log_scaled``).
    """
    jump = residual[line.high] - residual[line.low]
    step = place[line.high] - place[line.low]
    drift = np.zeros_like(jump)
    for low, high in ((line.before, line.low), (line.high, line.after)):
        beside = (low >= 0) & (high >= 0)
        width = np.where(beside, np.maximum(place[high] - place[low], SMALL), 1.0)
        steep = np.sign(jump) * (residual[high] - residual[low]) / width * step
        drift = np.maximum(drift, np.where(beside, STEEPENS * steep, UNKNOWN - LEAST_JUMP))
    return jump, np.sign(jump) * np.maximum(np.abs(jump) - drift, 0.0)


def steps(values: Column, most: int) -> Column:
    """Values of a column, every so many where there are more than so many of them."""
    found = np.unique(values)
    return np.asarray(found[:: -(-len(found) // most)])
