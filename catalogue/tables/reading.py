"""A reader's own table: columns of ``operators.yml`` from Parquet or CSV, every value checked.

A head may name a unit, ``time [us]`` or ``bytes [MiB]``; without one a column is in SI.
"""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from catalogue.reading import units
from catalogue.reading.errors import ParamsError
from catalogue.tables.table import (
    COLUMNS,
    OPERATORS,
    TIME,
    Column,
    Operator,
    Part,
    Table,
    as_table,
    row_location,
)

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow

OPERATOR = "operator"
PARQUET, CSV = ".parquet", ".csv"
MOST_ROWS = 20_000_000  # of a file: five times the largest public table
MOST_BYTES = 4 << 30  # of a file, unpacked
_MISFIT = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+)")
_HEAD = re.compile(r"\s*(.*?)\s*(?:\[\s*(.*?)\s*\])?\s*")


@dataclass(frozen=True)
class OwnFile:
    """A file in the columns of ``operators.yml``, checked when it is first read."""

    path: Path

    @functools.cached_property
    def _tables(self) -> dict[str, Table]:
        return read(self.path, str(self.path))

    def parts(self) -> list[Part]:
        """Rows by operator, card and engine."""
        return [part for table in self._tables.values() for part in table.parts()]

    def table(self, operator: str, limits: Mapping[str, tuple[str, ...]]) -> Table | None:
        """Rows of an operator, with the values of ``limits`` in these columns."""
        table = self._tables.get(operator)
        return table and table.select(**limits)


def cells(path: Path, name: str, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """The rows of a file by their line (CSV) or number (Parquet, from 1), texts as categories.

    Args:
        path: the file; in a CSV, lines that begin with ``#`` may stand before the head.
        name: what messages call it.
        columns: of a Parquet file, all by default; one that it lacks is left out.

    Raises ParamsError for a file of another format, that is cut off, has text that is not UTF-8, or
    is beyond the limits, which are compared with a Parquet's own metadata before a row is read.
    """
    import pyarrow

    is_parquet = path.suffix == PARQUET
    try:
        table, first = _parquet(path, name, columns) if is_parquet else _csv(path, name)
        table.validate(full=True)
        frame: pd.DataFrame = table.to_pandas(strings_to_categorical=True)
    except (pyarrow.ArrowException, OSError, RuntimeError, UnicodeDecodeError) as error:
        if misfit := _MISFIT.search(str(error)):
            row, expected, got = map(int, misfit.groups())
            raise ParamsError(f"{row_location(name, row)}: has {got} columns, expected "
                              f"{expected} as in the head.") from None
        kind = "a Parquet file" if is_parquet else "a CSV with a head"
        reason = getattr(error, "strerror", None) or (str(error).splitlines() or [kind])[0]
        raise ParamsError(f"{name}: cannot be read as {kind} "
                          f"({reason.rstrip('.').lower()}).") from None
    frame.index += first
    return frame


def _parquet(path: Path, name: str, columns: Sequence[str] | None) -> tuple[pyarrow.Table, int]:
    from pyarrow.parquet import ParquetFile

    with ParquetFile(path) as file:
        about, schema = file.metadata, file.schema_arrow
        unpacked = sum(about.row_group(at).total_byte_size for at in range(about.num_row_groups))
        _within(name, about.num_rows, unpacked)
        if nested := [field.name for field in schema if field.type.num_fields]:
            raise ParamsError(f"{name}, column '{nested[0]}': holds lists or structures, "
                              "expected texts and numbers.")
        wanted = [title for title in schema.names if columns is None or title in columns]
        return file.read(columns=wanted, use_threads=False), 1


def _csv(path: Path, name: str) -> tuple[pyarrow.Table, int]:
    """The columns of a CSV as texts, and the line of its first row."""
    import pyarrow
    from pyarrow import csv

    _within(name, 0, path.stat().st_size)
    with path.open("rb") as file:
        remarks = 0
        while file.readline(1 << 16).startswith(b"#"):
            remarks += 1
    head = csv.ReadOptions(skip_rows=remarks, use_threads=False)
    shaped = csv.ParseOptions(ignore_empty_lines=False)
    with csv.open_csv(path, head, shaped) as first:
        titles = first.schema.names
    table = csv.read_csv(path, head, shaped, csv.ConvertOptions(
        column_types=dict.fromkeys(titles, pyarrow.string()), null_values=[""],
        strings_can_be_null=True))
    _within(name, table.num_rows, 0)
    return table, remarks + 2


def _within(name: str, rows: int, size: int) -> None:
    """Raises ParamsError for more rows or bytes than a table may have."""
    for count, most, unit in ((rows, MOST_ROWS, "rows"), (size, MOST_BYTES, "bytes unpacked")):
        if count > most:
            raise ParamsError(f"{name}: has {count:,} {unit}, expected at most {most:,}; split it "
                              "by operator or card.")


def texts(column: pd.Series) -> pd.Series:
    """A column of texts as categories [rows], a missing one is empty."""
    words = column.astype("category")
    words = words.cat.rename_categories(list(map(str, words.cat.categories)))
    known = words.cat.categories
    return (words if "" in known else words.cat.add_categories([""])).fillna("")


def numbers(column: pd.Series) -> NDArray[np.float64]:
    """A column as numbers [rows], NaN where it has none or something else."""
    of_numbers = column.dtype.kind in "iuf"
    return (column if of_numbers else column.map(_number)).to_numpy(float)


def _number(cell: Any) -> float:
    try:
        return float(cell)
    except (TypeError, ValueError):
        return np.nan


def read(path: Path, name: str) -> dict[str, Table]:
    """Every row of a file, by operator.

    Args:
        path: the file.
        name: what messages call it.

    Raises ParamsError for a column, an operator or a value that is not of ``OPERATORS``, with file,
    row and column.
    """
    raw = cells(path, name)
    if raw.empty:
        raise ParamsError(f"{name}: has no row, expected one measured operator a row.")
    factors = _head(list(raw.columns), name)
    raw.columns = list(factors)
    if OPERATOR not in factors:
        raise ParamsError(f"{name}: lacks the column '{OPERATOR}', expected one of "
                          f"{', '.join(OPERATORS)} in every row.")
    operators = texts(raw[OPERATOR])
    for word in operators.unique():
        if word not in OPERATORS:
            raise ParamsError(f"{row_location(name, (operators == word).idxmax())}: '{word}' is "
                              f"not an operator, expected {nearest(word, OPERATORS)}.")
    return {word: _rows(OPERATORS[word], raw[operators == word], factors, name)
            for word in operators.unique()}


def _head(titles: Iterable[str], name: str) -> dict[str, float]:
    """Every column by its name without a unit, and the factor to SI."""
    factors: dict[str, float] = {}
    for stated in titles:
        match = _HEAD.fullmatch(stated)
        title, unit = match.groups() if match else (stated, None)
        if title != OPERATOR and title not in COLUMNS:
            raise ParamsError(f"{name}: '{title}' is not a column of any operator, expected "
                              f"{nearest(title, [OPERATOR, *COLUMNS])}.")
        if title in factors:
            raise ParamsError(f"{name}: has the column '{title}' twice, expected it once.")
        factors[title] = _factor(title, unit, name)
    return factors


def _factor(title: str, unit: str | None, name: str) -> float:
    """What a column is multiplied by to be in SI. Raises ParamsError for another kind of unit."""
    if unit is None:
        return 1.0
    expected = COLUMNS[title].unit if title in COLUMNS else "1"
    try:
        return float(units.parse(f"1 {unit}", expected))
    except ValueError:
        examples = {"s": "s, ms or us", "B": "B, KiB or MB"}
        raise ParamsError(f"{name}, column '{title}': '{unit}' is not a unit of it, expected "
                          f"{examples.get(expected, 'none: it is a number or a text')}.") from None


def _rows(operator: Operator, raw: pd.DataFrame, factors: Mapping[str, float], name: str) -> Table:
    """The rows of one operator."""
    columns: dict[str, Any] = {}
    for column in operator.columns:
        if column.name in factors:
            check = _texts if column.text else _numbers
            columns[column.name] = check(column, raw[column.name], factors[column.name], name)
        elif column.default is None:
            raise ParamsError(f"{row_location(name, raw.index[0])}: lacks the column "
                              f"'{column.name}', expected of {operator.name} "
                              f"{', '.join(wanted.name for wanted in operator.columns)}.")
        else:
            columns[column.name] = column.default
    for title in factors:
        row = None if title in (OPERATOR, *columns) else raw[title].first_valid_index()
        if row is not None:
            raise ParamsError(f"{row_location(name, row)}: {operator.name} has no '{title}', "
                              "expected it to be empty.")
    return as_table(operator.name, columns, name, raw.index)


def _texts(column: Column, raw: pd.Series, _: float, name: str) -> pd.Series:
    words = texts(raw)
    if column.default is not None:
        words = words.map(lambda word: word or column.default).astype("category")
    for word in words.unique():
        if not (column.allows(word) and (word or column.default is not None)):
            expected = (nearest(word, column.words) if isinstance(column.words, tuple) else
                        "a text without NUL characters" if word and column.words is None else
                        column.expected)
            raise _not_allowed(column, (words == word).idxmax(), word, expected, name)
    return words


def _numbers(column: Column, raw: pd.Series, factor: float, name: str) -> NDArray[Any]:
    values = numbers(raw)
    if column.default is not None:
        values = np.where(raw.isna(), column.default, values)
    with np.errstate(over="ignore"):
        values = values * factor
    if column is TIME:
        right, expected = np.isfinite(values) & (values > 0), "a time above 0"
    else:
        right = ((values >= column.least) & (values < 2**53) & (values == np.floor(values)))
        expected = column.expected
    if not right.all():
        shown = raw.astype(object).fillna("").iloc[right.argmin()]
        raise _not_allowed(column, raw.index[right.argmin()], shown, expected, name)
    return values


def _not_allowed(column: Column, row: int, shown: Any, expected: str, name: str) -> ParamsError:
    return ParamsError(f"{row_location(name, row)}, column '{column.name}': '{shown}' is not "
                       f"allowed, expected {expected}.")


def nearest(word: str, known: Iterable[str]) -> str:
    """The nearest of some names, or all of them."""
    names = list(known)
    close = difflib.get_close_matches(word, names, n=3)
    return " or ".join(close) if close else f"one of {', '.join(names)}"
