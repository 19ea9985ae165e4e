"""Checks of measured rows: impossible times, doubles, spikes, jumps; and the rows that pass.

A fit takes ``sound(table)``. What is left out is reported by kind, card and engine, with its count
and examples; nothing is corrected.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from catalogue import library
from catalogue.library import stands
from catalogue.reading.amounts import human, plain
from catalogue.tables.table import (
    FORMATS,
    LATENT,
    OPERATORS,
    QUERY,
    ROTATED,
    VALUE,
    WIDTHS,
    Table,
    Values,
)

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

EXAMPLES = 3  # rows that are shown of a kind
SPREAD = 1.1  # of two measurements of one shape, beyond which they disagree
MARGIN = 0.95  # of the roofline, below which a time cannot be: clocks above the advertised one
SPIKE = 2.0  # times the larger of both neighbours, beyond which a row stands alone
JUMP = 2.0  # times what the size explains, beyond which another kernel begins
GROWING = ("bytes", "tokens", "context", "rows")
"""The column along which rows are neighbours: the first that an operator has."""
KINDS = {
    "no-time": "no time above 0 was measured",
    "unknown-word": "a format or a word that is not in the schema, or a number below the least",
    "below-roofline": "quicker than the card can multiply or read at its peaks",
    "copy": "the same row again, with the same time",
    "double": f"the shape was measured again, with another time (told beyond {SPREAD} times); "
              "the lower median stays",
    "spike": f"a point alone at more than {plain(SPIKE)} times both neighbours: noise, or a poor "
             "choice of an autotuner",
    "jump": f"more than {plain(JUMP)} times what the size explains: another kernel begins",
}


@dataclass(frozen=True)
class Finding:
    """What is wrong with some rows of an operator, card and engine.

    Attributes:
        kind: of ``KINDS``.
        rows, of: how many rows it concerns, and of how many.
        left_out: whether ``sound`` leaves them out.
        examples: some of them, with file and row.
    """

    kind: str
    operator: str
    card: str
    engine: str
    rows: int
    of: int
    left_out: bool
    examples: tuple[str, ...]

    @property
    def says(self) -> str:
        """The kind in a sentence."""
        return KINDS[self.kind]


def sound(table: Table) -> tuple[Table, list[Finding]]:
    """Rows that a law may be compared with, and the findings.

    Args:
        table: of one operator, of any cards and engines.

    Returns:
        the rows that pass, in their order; the findings, those left out first.
    """
    passes = np.ones(len(table), bool)
    findings: list[Finding] = []
    for kind, check in CHECKS.items():
        rest = table.select(passes)
        wrong = check(rest)
        shown = wrong & _disagreeing(rest) if kind == "double" and wrong.any() else wrong
        rows = np.flatnonzero(passes)
        findings += _findings(kind, table, rows[wrong], rows[shown], left_out=True)
        passes[rows[wrong]] = False
    clean = table.select(passes)
    jumps = np.flatnonzero(passes)[_jumped(clean)]
    return clean, findings + _findings("jump", table, jumps, jumps, left_out=False)


def _findings(kind: str, table: Table, rows: Values, shown: Values, *, left_out: bool
              ) -> list[Finding]:
    """Findings of one kind by card and engine; examples are of ``shown`` first."""
    if not len(rows):
        return []
    by = ["card", "engine"]
    counts = table.frame.groupby(by, observed=True).size()
    findings = []
    for (card, engine), wrong in table.frame.iloc[rows].groupby(by, observed=True, sort=False):
        examples = wrong.index[wrong.index.isin(shown)]
        findings.append(Finding(
            kind, table.operator, card, engine, len(wrong), int(counts[card, engine]), left_out,
            tuple(f"{table.where(row)}: {_shape(table, row)}"
                  for row in (examples if len(examples) else wrong.index)[:EXAMPLES])))
    return findings


def _shape(table: Table, row: int) -> str:
    """A row in a line: what was measured, and its time."""
    cells = table.frame.iloc[row]
    shape = ", ".join(f"{column.name} {cells[column.name]}"
                      for column in OPERATORS[table.operator].shape if cells[column.name] != "")
    return f"{cells['dtype']}, {shape}: {human(float(cells['time']), 's')}"


def _without_time(table: Table) -> Mask:
    return ~(np.isfinite(table["time"]) & (table["time"] > 0))


def _unknown(table: Table) -> Mask:
    wrong = np.zeros(len(table), bool)
    for column in OPERATORS[table.operator].columns:
        cells = table.frame[column.name]
        if column.text:
            wrong |= cells.isin([word for word in cells.cat.categories if not column.allows(word)])
        elif column.name != "time":
            wrong |= cells < column.least
    return np.asarray(wrong)


def _below(table: Table) -> Mask:
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


def _disagreeing(table: Table) -> Mask:
    """Rows of shapes that were measured again, with times that differ by more than ``SPREAD``."""
    times = table.frame.groupby(OPERATORS[table.operator].key, observed=True, sort=False)["time"]
    return np.asarray(times.transform("max") > SPREAD * times.transform("min"))


def _spiked(table: Table) -> Mask:
    order, same = _neighbours(table)
    time = table["time"][order]
    alone = np.zeros(len(table), bool)
    alone[order[1:-1]] = same[:-1] & same[1:] & (
        time[1:-1] > SPIKE * np.maximum(time[:-2], time[2:]))
    return alone


def _jumped(table: Table) -> Mask:
    """The first row of each kernel switch: beyond ``JUMP`` times what its neighbour explains."""
    order, same = _neighbours(table)
    first = np.zeros(len(table), bool)
    time = table["time"][order]
    size = np.maximum(table[_growing(table)][order].astype(np.float64), 1)
    with np.errstate(over="ignore"):  # of times without measure: a jump all the more
        ratio = time[1:] / time[:-1]
    first[order[1:]] = same & ((ratio > JUMP * (size[1:] / size[:-1])) | (ratio * JUMP < 1))
    return first


def _growing(table: Table) -> str:
    return next(name for name in GROWING if name in table)


def _neighbours(table: Table) -> tuple[NDArray[np.int64], Mask]:
    """Rows in the order of their size [rows], and whether each has its shape from the one before.

    Rows that differ in nothing but the size are neighbours, whatever kernel an engine chose; where
    several kernels were measured at one size (with and without a graph, the parts of a layer) each
    has its own neighbours.
    """
    growing, frame = _growing(table), table.frame
    names = [name for name in OPERATORS[table.operator].key if name not in (growing, "kernel")]
    shape = frame.groupby(names, observed=True, sort=False).ngroup()
    several = frame.duplicated([*names, growing], keep=False).groupby(shape).transform("any")
    kernel = frame["kernel"].cat.codes.where(several, -1)
    order = np.lexsort((frame[growing], kernel, shape))
    keys = np.stack([shape, kernel])[:, order]
    return order, (keys[:, 1:] == keys[:, :-1]).all(axis=0)


CHECKS: Mapping[str, Callable[[Table], Mask]] = MappingProxyType({
    "no-time": _without_time, "unknown-word": _unknown, "below-roofline": _below, "copy": _copied,
    "double": _doubled, "spike": _spiked})
"""Kind -> rows that ``sound`` leaves out, in this order."""


# --- rooflines ------------------------------------------------------------------------------------

FLOP_PER_MAC = 2
BEYOND_CACHES = 4 * 132644864.0  # B, four times the largest L2 of params/devices (B200)


@dataclass(frozen=True)
class Peaks:
    """Peaks of a card: bandwidth [B/s], and arithmetic by unit [FLOP/s]."""

    bandwidth: float
    units: Mapping[str, float]

    def of(self, dtype: str) -> float:
        """The most of the units that may multiply a format [FLOP/s]."""
        return max((self.units[unit] for unit in FORMATS[dtype]["units"] if unit in self.units),
                   default=max(self.units.values()))


@functools.cache
def card_peaks(name: str) -> Peaks | None:
    """Peaks of a device of ``params/devices/``, or None where it has no such card."""
    if not stands("devices", name):
        return None
    device = library.load("devices", name)
    units = {unit: float(value.value) for unit, value in dict(device.matrix_peak or {}).items()
             if value is not None}
    return Peaks(float(device.memory_bandwidth.value), units) if units else None


def floor(table: Table) -> Floats:
    """The least time of every row [s]; 0 where none is known of its card or its operator.

    What a kernel must multiply or read, at the card's peaks. It is a bound from below on purpose:
    scales, activations and caches' extra rows are not counted, and where rows fall unevenly the
    fullest rank has at least its share.
    """
    least = np.zeros(len(table))
    for name in table.cards():
        peaks, at = card_peaks(name), table["card"] == name
        if peaks is None:
            continue
        rows = table.select(at)
        q = {column: cells.to_numpy(float)
             for column, cells in rows.frame.select_dtypes("number").items()}
        if table.operator in OPERATIONS:  # FP8 caches may be multiplied in FP8
            speed = np.max([rows.frame[column].map(
                {dtype: peaks.of(dtype) for dtype in rows.distinct(column)}).astype(float)
                for column in ("dtype", "cache_dtype") if column in rows], axis=0)
            least[at] = OPERATIONS[table.operator](q) / speed
        elif table.operator == "attention_decode":
            width = rows.frame["cache_dtype"].map(WIDTHS).astype(float)
            least[at] = _bytes_streamed(q, width) / peaks.bandwidth
    return least


def _gemm(q: Mapping[str, Floats]) -> Floats:
    """Multiplications; reading is left open, since a cache may hold small weights."""
    return FLOP_PER_MAC * q["rows"] * q["columns"] * q["depth"]


def _experts(q: Mapping[str, Floats]) -> Floats:
    """The mean rank's multiplications: the fullest, which is measured, has no fewer."""
    return (FLOP_PER_MAC * np.floor(q["tokens"] * q["num_experts_per_tok"] / q["expert_parallel"])
            * q["matrices"] * q["hidden_size"] * q["moe_intermediate_size"] / q["tensor_parallel"])


def _mla_decode(q: Mapping[str, Floats]) -> Floats:
    return FLOP_PER_MAC * q["batch"] * q["heads"] * q["context"] * (LATENT + ROTATED + LATENT)


def _pairs(q: Mapping[str, Floats]) -> Floats:
    """Pairs of a new token and one before it or itself, in a window where there is one."""
    tokens = q["tokens"]
    pairs = tokens * q["past"] + tokens * (tokens + 1) / 2
    if "window" in q:
        window = q["window"]
        begun = np.minimum(tokens, window)  # tokens that see less than a window
        pairs = np.where(window > 0, np.minimum(pairs, begun * (begun + 1) / 2
                                                + (tokens - begun) * window), pairs)
    return q["batch"] * pairs


def _bytes_streamed(q: Mapping[str, Floats], width: Floats) -> Floats:
    """A cache of keys and values that is read whole: beyond what any card's cache holds [B]."""
    seen = np.where(q["window"] > 0, np.minimum(q["window"], q["context"]), q["context"])
    read = q["batch"] * q["kv_heads"] * seen * 2 * q["head_dim"] * width
    return np.where(read > BEYOND_CACHES, read, 0.0)


OPERATIONS: Mapping[str, Callable[[Mapping[str, Floats]], Floats]] = MappingProxyType({
    "gemm": _gemm, "batched_gemm": lambda q: _gemm(q) * q["batch"], "experts": _experts,
    "mla_decode": _mla_decode,
    "mla_prefill": lambda q: FLOP_PER_MAC * q["heads"] * _pairs(q) * (QUERY + VALUE),
    "attention_prefill": lambda q: FLOP_PER_MAC * q["heads"] * _pairs(q) * 2 * q["head_dim"],
})
"""Operator -> multiplications that every row must at least do [FLOP]."""
