"""Lint of measured rows: copies, doubles, spikes, and times below the roofline.

A fit takes ``sound(table)``; nothing is corrected.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from catalogue import library
from catalogue.tables import (
    FORMATS,
    LATENT,
    OPERATORS,
    QUERY,
    ROTATED,
    VALUE,
    Floats,
    Mask,
    Table,
    key,
)

if TYPE_CHECKING:
    import pandas as pd

MARGIN = 0.95  # of the roofline, below which a time cannot be: clocks above the advertised one
SPIKE = 2.0  # times the larger of both neighbours, beyond which a row stands alone
GROWING = ("bytes", "tokens", "context", "rows")
"""The column along which rows are neighbours: the first that an operator has."""


def sound(table: Table) -> Table:
    """Rows that a law may be compared with, in their order.

    Args:
        table: of one operator, of any cards and engines.
    """
    for check in CHECKS:
        table = table.select(~check(table))
    return table


def unknown_rows(table: Table) -> Mask:
    """A time of 0 or none, a word that is not in the schema, or a number below the least."""
    return np.logical_or.reduce([column.wrong(table.frame[column.name])
                                 for column in OPERATORS[table.operator]])


def below_roofline(table: Table) -> Mask:
    """Quicker than the card can multiply at its peaks."""
    return np.asarray(table["time"] < MARGIN * floor(table))


def copied_rows(table: Table) -> Mask:
    """All but the first of rows that agree in everything."""
    return table.frame.duplicated([*key(table.operator), "time"]).to_numpy()


def doubled_rows(table: Table) -> Mask:
    """All but the lower median of rows of one shape."""
    groups = table.frame.sort_values("time", kind="stable").groupby(
        key(table.operator), sort=False)["time"]
    middle = (groups.transform("size") - 1) // 2
    return (groups.cumcount().sort_index() != middle.sort_index()).to_numpy()


def spiked_rows(table: Table) -> Mask:
    """A point alone above both neighbours: noise, or a poor choice of an autotuner.

    Rows that differ in nothing but the size are neighbours, whatever kernel an engine chose; where
    several kernels were measured at one size (with and without a graph, the parts of a layer) each
    has its own neighbours.
    """
    frame = table.frame
    growing = next(name for name in GROWING if name in frame)
    names = [name for name in key(table.operator) if name not in (growing, "kernel")]
    shape = frame.groupby(names, sort=False).ngroup()
    several = frame.duplicated([*names, growing], keep=False).groupby(shape).transform("any")
    times = frame.sort_values(growing, kind="stable").groupby(
        [shape, frame["kernel"].where(several, "")])["time"]
    neighbours = np.maximum(times.shift(1), times.shift(-1))  # NaN at either end
    return (frame["time"] > SPIKE * neighbours.sort_index()).to_numpy()


CHECKS: tuple[Callable[[Table], Mask], ...] = (
    unknown_rows, below_roofline, copied_rows, doubled_rows, spiked_rows)
"""Rows that ``sound`` leaves out, in this order."""
FLOP_PER_MAC = 2


def floor(table: Table) -> Floats:
    """The least time of every row [s]; 0 where none is known of its card or its operator.

    What a kernel must multiply, at the card's peaks. It is a bound from below on purpose: scales
    and what is read are not counted, since a cache may hold small weights, and where rows fall
    unevenly the fullest rank has at least its share.
    """
    least = np.zeros(len(table))
    for name in table.distinct("card") if table.operator in MULTIPLICATIONS else ():
        listed = library.stands("devices", name)
        peaks = library.load("devices", name).matrix_peak if listed else None
        units = {unit: float(peak.value) for unit, peak in peaks or () if peak is not None}
        if not units:
            continue
        speeds = {dtype: max((units[unit] for unit in stated["units"] if unit in units),
                             default=max(units.values())) for dtype, stated in FORMATS.items()}
        at = table["card"] == name
        frame = table.frame[at]
        speed = np.max([frame[column].map(speeds) for column in ("dtype", "cache_dtype")
                        if column in frame], axis=0)  # FP8 caches may be multiplied in FP8
        least[at] = FLOP_PER_MAC * MULTIPLICATIONS[table.operator](frame) / speed
    return least


def expert_multiplications(q: pd.DataFrame) -> pd.Series:
    """The mean rank's multiplications: the fullest, which is measured, has no fewer."""
    return (np.floor(q["tokens"] * q["num_experts_per_tok"] / q["expert_parallel"])
            * q["matrices"] * q["hidden_size"] * q["moe_intermediate_size"] / q["tensor_parallel"])


MULTIPLICATIONS: Mapping[str, Callable[[pd.DataFrame], pd.Series]] = {
    "gemm": lambda q: 1.0 * q["rows"] * q["columns"] * q["depth"],
    "experts": expert_multiplications,
    "mla_decode": lambda q: 1.0 * q["batch"] * q["heads"] * q["context"] * (
        LATENT + ROTATED + LATENT),
    "mla_prefill": lambda q: 1.0 * q["batch"] * q["heads"] * (QUERY + VALUE) * q["tokens"] * (
        q["past"] + (q["tokens"] + 1) / 2)}
"""Operator that a law is fitted to -> multiplications that every row must at least do."""
