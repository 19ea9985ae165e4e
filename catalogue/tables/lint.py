"""Checks of measured rows: impossible times, doubles, spikes; and the rows that pass.

A fit takes ``sound(table)``; nothing is corrected.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from catalogue import library
from catalogue.library import stands
from catalogue.tables.table import FORMATS, LATENT, OPERATORS, QUERY, ROTATED, VALUE, Table

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

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


def _without_time(table: Table) -> Mask:
    """No time above 0 was measured."""
    return ~(np.isfinite(table["time"]) & (table["time"] > 0))


def _unknown(table: Table) -> Mask:
    """A format or a word that is not in the schema, or a number below the least."""
    wrong = np.zeros(len(table), bool)
    for column in OPERATORS[table.operator].columns:
        cells = table.frame[column.name]
        if column.text:
            wrong |= cells.isin([word for word in cells.cat.categories if not column.allows(word)])
        elif column.name != "time":
            wrong |= cells < column.least
    return np.asarray(wrong)


def _below(table: Table) -> Mask:
    """Quicker than the card can multiply at its peaks."""
    return np.asarray(table["time"] < MARGIN * floor(table))


def _copied(table: Table) -> Mask:
    """All but the first of rows that agree in everything."""
    return table.frame.duplicated([*OPERATORS[table.operator].key, "time"]).to_numpy()


def _doubled(table: Table) -> Mask:
    """All but the lower median of rows of one shape."""
    key, frame = OPERATORS[table.operator].key, table.frame
    repeated = frame[frame.duplicated(key, keep=False)].sort_values("time", kind="stable")
    if repeated.empty:
        return np.zeros(len(table), bool)
    groups = repeated.groupby(key, observed=True, sort=False)["time"]
    surplus = groups.cumcount() != (groups.transform("size") - 1) // 2
    return np.isin(frame.index, surplus.index[surplus])


def _spiked(table: Table) -> Mask:
    """A point alone above both neighbours: noise, or a poor choice of an autotuner."""
    order, same = _neighbours(table)
    time = table["time"][order]
    alone = np.zeros(len(table), bool)
    alone[order[1:-1]] = same[:-1] & same[1:] & (
        time[1:-1] > SPIKE * np.maximum(time[:-2], time[2:]))
    return alone


def _neighbours(table: Table) -> tuple[NDArray[np.int64], Mask]:
    """Rows in the order of their size [rows], and whether each has its shape from the one before.

    Rows that differ in nothing but the size are neighbours, whatever kernel an engine chose; where
    several kernels were measured at one size (with and without a graph, the parts of a layer) each
    has its own neighbours.
    """
    growing, frame = next(name for name in GROWING if name in table), table.frame
    names = [name for name in OPERATORS[table.operator].key if name not in (growing, "kernel")]
    shape = frame.groupby(names, observed=True, sort=False).ngroup()
    several = frame.duplicated([*names, growing], keep=False).groupby(shape).transform("any")
    kernel = frame["kernel"].cat.codes.where(several, -1)
    order = np.lexsort((frame[growing], kernel, shape))
    keys = np.stack([shape, kernel])[:, order]
    return order, (keys[:, 1:] == keys[:, :-1]).all(axis=0)


CHECKS: tuple[Callable[[Table], Mask], ...] = (
    _without_time, _unknown, _below, _copied, _doubled, _spiked)
"""Rows that ``sound`` leaves out, in this order."""


# --- rooflines ------------------------------------------------------------------------------------

FLOP_PER_MAC = 2


def floor(table: Table) -> Floats:
    """The least time of every row [s]; 0 where none is known of its card or its operator.

    What a kernel must multiply, at the card's peaks. It is a bound from below on purpose: scales
    and what is read are not counted, since a cache may hold small weights, and where rows fall
    unevenly the fullest rank has at least its share.
    """
    least = np.zeros(len(table))
    for name in table.distinct("card") if table.operator in MULTIPLICATIONS else ():
        peaks = library.load("devices", name).matrix_peak if stands("devices", name) else None
        units = {unit: float(peak.value) for unit, peak in peaks or () if peak is not None}
        if not units:
            continue
        at = table["card"] == name
        rows = table.select(at)
        q = {column: cells.to_numpy(float)
             for column, cells in rows.frame.select_dtypes("number").items()}
        speed = np.max([rows.frame[column].map(  # FP8 caches may be multiplied in FP8
            {dtype: _peak(units, dtype) for dtype in rows.distinct(column)}).astype(float)
            for column in ("dtype", "cache_dtype") if column in rows], axis=0)
        least[at] = FLOP_PER_MAC * MULTIPLICATIONS[table.operator](q) / speed
    return least


def _peak(units: Mapping[str, float], dtype: str) -> float:
    """The most of the units that may multiply a format [FLOP/s]."""
    return max((units[unit] for unit in FORMATS[dtype]["units"] if unit in units),
               default=max(units.values()))


def _experts(q: Mapping[str, Floats]) -> Floats:
    """The mean rank's multiplications: the fullest, which is measured, has no fewer."""
    return (np.floor(q["tokens"] * q["num_experts_per_tok"] / q["expert_parallel"])
            * q["matrices"] * q["hidden_size"] * q["moe_intermediate_size"] / q["tensor_parallel"])


MULTIPLICATIONS: Mapping[str, Callable[[Mapping[str, Floats]], Floats]] = MappingProxyType({
    "gemm": lambda q: q["rows"] * q["columns"] * q["depth"],
    "experts": _experts,
    "mla_decode": lambda q: q["batch"] * q["heads"] * q["context"] * (LATENT + ROTATED + LATENT),
    "mla_prefill": lambda q: q["batch"] * q["heads"] * (QUERY + VALUE) * q["tokens"] * (
        q["past"] + (q["tokens"] + 1) / 2)})
"""Operator that a law is fitted to -> multiplications that every row must at least do."""
