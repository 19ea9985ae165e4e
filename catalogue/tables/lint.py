"""What is wrong with measured rows: times that cannot be, doubles, spikes, jumps; and what stays.

A fit takes ``sound(table)``. What is left out is told by kind, card and engine, with its count and
examples; nothing is mended.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from catalogue.reading.amounts import human, plain
from catalogue.tables.floors import floor
from catalogue.tables.operators import OPERATORS
from catalogue.tables.table import Table

Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]

EXAMPLES = 3  # rows that are told of a kind
SPREAD = 1.1  # of two measurements of one shape, beyond which they disagree
MARGIN = 0.95  # of the roofline, below which a time cannot be: clocks above the advertised one
SPIKE = 2.0  # times the larger of both neighbours, beyond which a row stands alone
JUMP = 2.0  # times what the size explains, beyond which another kernel begins
GROWING = ("bytes", "tokens", "context", "rows")
"""The column along which rows are neighbours: the first that an operator has."""


@dataclass(frozen=True)
class Finding:
    """What is wrong with some rows of an operator, card and engine.

    Attributes:
        kind: ``no-time``, ``unknown-word``, ``below-roofline``, ``copy``, ``double``, ``spike`` or
            ``jump``.
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


def sound(table: Table) -> tuple[Table, list[Finding]]:
    """Rows that a law may be held against, and what was found.

    Args:
        table: of one operator, of any cards and engines.

    Returns:
        the rows that stay, in their order; the findings, those left out first.
    """
    kept = np.arange(len(table))
    findings: list[Finding] = []
    for kind, check in (("no-time", _without_time), ("unknown-word", _unknown),
                        ("below-roofline", _below), ("copy", _copied), ("double", _doubled),
                        ("spike", _spiked)):
        rest = table.select(kept)
        wrong, told = check(rest)
        findings += _told(kind, table, kept[wrong], kept[wrong & told], left_out=True)
        kept = kept[~wrong]
    clean = table.select(kept)
    jumps = _jumped(clean)
    return clean, findings + _told("jump", table, kept[jumps], kept[jumps], left_out=False)


def _told(kind: str, table: Table, rows: Rows, shown: Rows, *, left_out: bool) -> list[Finding]:
    """Findings of one kind by card and engine; examples are of ``shown`` first."""
    if not len(rows):
        return []
    groups = table.keys(("card", "engine"))
    all_groups, counts = np.unique(groups, return_counts=True)
    found = []
    for group in dict.fromkeys(groups[rows].tolist()):
        mine = rows[groups[rows] == group]
        best = shown[groups[shown] == group]
        first = int(mine[0])
        picked = (best if len(best) else mine)[:EXAMPLES].tolist()
        found.append(Finding(
            kind, table.operator, table["card"][first], table["engine"][first], len(mine),
            int(counts[np.searchsorted(all_groups, np.uint64(group))]), left_out,
            tuple(f"{table.where(row)}: {_shape(table, row)}" for row in picked)))
    return found


def _shape(table: Table, row: int) -> str:
    """A row in a line: what was measured, and its time."""
    names = [column.name for column in OPERATORS[table.operator].shape]
    shape = ", ".join(f"{name} {table[name][row]}" for name in names if table[name][row] != "")
    return f"{table['dtype'][row]}, {shape}: {human(float(table['time'][row]), 's')}"


def _all(mask: Mask) -> tuple[Mask, Mask]:
    return mask, mask


def _without_time(table: Table) -> tuple[Mask, Mask]:
    return _all(~(np.isfinite(table["time"]) & (table["time"] > 0)))


def _unknown(table: Table) -> tuple[Mask, Mask]:
    wrong = np.zeros(len(table), bool)
    for column in OPERATORS[table.operator].columns:
        if column.text:
            bad = [word for word in table.distinct(column.name) if not column.allows(word)]
            if bad:
                wrong |= np.isin(table[column.name], bad)
        elif column.name != "time":
            wrong |= table[column.name] < column.low
    return _all(wrong)


def _below(table: Table) -> tuple[Mask, Mask]:
    return _all(table["time"] < MARGIN * floor(table))


def _copied(table: Table) -> tuple[Mask, Mask]:
    """All but the first of rows that agree in everything."""
    bits = table["time"].view(np.uint64)
    order = np.lexsort((np.arange(len(table)), bits, table.keys()))
    keys = table.keys()[order]
    again = np.zeros(len(table), bool)
    again[order[1:]] = (keys[1:] == keys[:-1]) & (bits[order][1:] == bits[order][:-1])
    return _all(again)


def _doubled(table: Table) -> tuple[Mask, Mask]:
    """All but the lower median of rows of one shape; told are those of shapes that disagree."""
    keys = table.keys()
    order = np.lexsort((table["time"], keys))
    begins, sizes = _runs(keys[order])
    wrong, told = np.zeros(len(table), bool), np.zeros(len(table), bool)
    several = sizes > 1
    for begin, size in zip(begins[several].tolist(), sizes[several].tolist(), strict=True):
        rows = order[begin:begin + size]
        wrong[rows] = True
        wrong[rows[(size - 1) // 2]] = False
        told[rows] = table["time"][rows[-1]] > SPREAD * table["time"][rows[0]]
    return wrong, told


def _spiked(table: Table) -> tuple[Mask, Mask]:
    order, same = _neighbours(table)
    time = table["time"][order]
    alone = np.zeros(len(table), bool)
    if len(table) > 2:
        both = same[:-1] & same[1:]
        inner = both & (time[1:-1] > SPIKE * np.maximum(time[:-2], time[2:]))
        alone[order[1:-1][inner]] = True
    return _all(alone)


def _jumped(table: Table) -> Mask:
    """The first row of each kernel switch: beyond ``JUMP`` times what its neighbour explains."""
    order, same = _neighbours(table)
    found = np.zeros(len(table), bool)
    if not len(table):
        return found
    time = table["time"][order]
    size = table[_growing(table)][order].astype(np.float64)
    grown = np.maximum(size[1:], 1) / np.maximum(size[:-1], 1)
    with np.errstate(over="ignore"):  # of times without measure: a jump all the more
        ratio = time[1:] / time[:-1]
    found[order[1:][same & ((ratio > JUMP * grown) | (ratio * JUMP < 1))]] = True
    return found


def _growing(table: Table) -> str:
    return next(name for name in GROWING if name in table.columns)


def _neighbours(table: Table) -> tuple[Rows, Mask]:
    """Rows in the order of their size [rows], and whether each has its shape from the one before.

    Rows that differ in nothing but the size are neighbours, whatever kernel an engine chose; where
    several kernels of one size stand beside each other (with and without a graph, the parts of a
    layer) each has its own.
    """
    growing = _growing(table)
    names = [name for name in OPERATORS[table.operator].key if name not in (growing, "kernel")]
    keys = table.keys(names)
    size = table[growing]
    order = np.lexsort((size, keys))
    beside = (keys[order][1:] == keys[order][:-1]) & (size[order][1:] == size[order][:-1])
    several = np.isin(keys, keys[order][1:][beside])
    keys = np.where(several, table.keys([*names, "kernel"]), keys)
    order = np.lexsort((size, keys))
    return order, keys[order][1:] == keys[order][:-1]


def _runs(ordered: NDArray[np.uint64]) -> tuple[Rows, Rows]:
    """Where runs of equal numbers begin, and how long they are."""
    if not len(ordered):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    begins = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    return begins, np.diff(np.concatenate([begins, [len(ordered)]]))
