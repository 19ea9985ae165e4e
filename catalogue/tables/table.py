"""Rows of one operator in memory: columns as arrays, and where each row stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalogue.tables.operators import OPERATORS

Column = NDArray[Any]


@dataclass(frozen=True)
class Table:
    """Measured rows of one operator, which nobody changes.

    Attributes:
        operator: of ``operators.OPERATORS``.
        columns: by name, all of that operator [rows]: texts as objects, whole numbers as int64,
            ``time`` as float64 [s].
        files: that the rows come from.
        file: index of ``files`` [rows].
        row: of that file [rows], a CSV's counted as lines with its head, a Parquet's from 1.
    """

    operator: str
    columns: Mapping[str, Column]
    files: tuple[str, ...]
    file: Column
    row: Column

    def __post_init__(self) -> None:
        names = [column.name for column in OPERATORS[self.operator].columns]
        columns = {name: self.columns[name] for name in names}
        for array in (*columns.values(), self.file, self.row):
            array.setflags(write=False)
        object.__setattr__(self, "columns", MappingProxyType(columns))

    def __len__(self) -> int:
        return len(self.row)

    def __getitem__(self, name: str) -> Column:
        return self.columns[name]

    def operators(self) -> tuple[str, ...]:
        """The operator, where there is a row."""
        return (self.operator,) if len(self) else ()

    def cards(self) -> tuple[str, ...]:
        """Devices that were measured."""
        return self.distinct("card")

    def engines(self) -> tuple[str, ...]:
        """Engines with their releases that were measured."""
        return self.distinct("engine")

    def distinct(self, name: str) -> tuple[Any, ...]:
        """Every value of a column, in order."""
        return tuple(sorted(set(self.columns[name].tolist())))

    def select(self, at: Column | None = None, /, **wanted: Any) -> Table:
        """Some of the rows.

        Args:
            at: a mask or indices of rows; all of them where it is left out.
            wanted: a value by column, or a tuple of such.
        """
        kept = np.arange(len(self)) if at is None else (
            np.flatnonzero(at) if at.dtype == bool else at)
        for name, value in wanted.items():
            allowed = value if isinstance(value, tuple) else (value,)
            column = self.columns[name][kept]
            hit = column == allowed[0] if len(allowed) == 1 else np.isin(column, allowed)
            kept = kept[np.asarray(hit, bool)]
        return Table(self.operator, {name: column[kept] for name, column in self.columns.items()},
                     self.files, self.file[kept], self.row[kept])

    def where(self, at: int) -> str:
        """File and row of a row, as messages name it."""
        return row_location(self.files[int(self.file[at])], int(self.row[at]))

    def keys(self, names: Sequence[str] | None = None) -> NDArray[np.uint64]:
        """A number per row [rows], the same for rows that agree in all of these columns.

        It is a hash: of 10⁷ different rows two share one with a chance of 3·10⁻⁶.

        Args:
            names: of the columns; by default all but ``time``.
        """
        found = np.zeros(len(self), np.uint64)
        for name in OPERATORS[self.operator].key if names is None else names:
            column = self.columns[name]
            if column.dtype == object:
                codes = {word: code for code, word in enumerate(dict.fromkeys(column.tolist()))}
                column = np.fromiter((codes[word] for word in column.tolist()), np.int64, len(self))
            found = _mixed(found ^ _mixed(column.astype(np.uint64)))
        return found


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Numbers spread over 64 bits (Steele et al., Fast splittable pseudorandom number generators).
    """
    with np.errstate(over="ignore"):
        spread = numbers + np.uint64(0x9E3779B97F4A7C15)
        spread = (spread ^ (spread >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        spread = (spread ^ (spread >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return spread ^ (spread >> np.uint64(31))


def row_location(file: str, row: int) -> str:
    """File and row, as messages name them: lines of a CSV, rows of a Parquet file."""
    return f"{file}, {'line' if file.endswith('.csv') else 'row'} {row}"


def joined(operator: str, tables: Sequence[Table]) -> Table:
    """Rows of several tables of one operator after each other."""
    names = [column.name for column in OPERATORS[operator].columns]
    files = tuple(dict.fromkeys(file for table in tables for file in table.files))
    if not tables:
        empty = {column.name: np.empty(0, object if column.text else float)
                 for column in OPERATORS[operator].columns}
        return Table(operator, empty, (), np.empty(0, np.int64), np.empty(0, np.int64))
    places = [np.array([files.index(file) for file in table.files], np.int64) for table in tables]
    return Table(operator, {name: np.concatenate([table[name] for table in tables])
                            for name in names}, files,
                 np.concatenate([place[table.file] for place, table in
                                 zip(places, tables, strict=True)]),
                 np.concatenate([table.row for table in tables]))
