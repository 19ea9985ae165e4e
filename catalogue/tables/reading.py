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


def parquet(path: Path, name: str, columns: Sequence[str] | None = None) -> pyarrow.Table:
    """Columns of a Parquet file, all of them by default; one that it lacks is left out.

    Raises ParamsError for a file that is no Parquet, is cut off, has text that is not UTF-8, or is
    beyond the limits, which are compared with the file's own metadata before a row is read.
    """
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(path) as file:
            about, schema = file.metadata, file.schema_arrow
            unpacked = sum(about.row_group(at).total_byte_size
                           for at in range(about.num_row_groups))
            _within(name, about.num_rows, unpacked)
            if nested := [field.name for field in schema if field.type.num_fields]:
                raise ParamsError(f"{name}, column '{nested[0]}': holds lists or structures, "
                                  "expected texts and numbers.")
            wanted = [title for title in schema.names if columns is None or title in columns]
            table = file.read(columns=wanted, use_threads=False)
    except UnicodeDecodeError as error:
        raise _misnamed(name, error) from None
    except (ArrowException, OSError, RuntimeError) as error:
        raise _unreadable(name, "a Parquet file", error) from None
    for title, column in zip(table.column_names, table.columns, strict=True):
        _check_utf8(name, title, column)
    return table


def _check_utf8(name: str, title: str, column: pyarrow.ChunkedArray) -> None:
    """Raises ParamsError for the first text of a Parquet column that is not UTF-8."""
    import pyarrow

    try:
        column.validate(full=True)
    except pyarrow.ArrowInvalid:
        if pyarrow.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        for row, text in enumerate(column.cast(pyarrow.binary()).to_pylist(), 1):
            try:
                (text or b"").decode()
            except UnicodeDecodeError:
                raise ParamsError(f"{row_location(name, row)}, column '{title}': {text!r} is not "
                                  "UTF-8, expected UTF-8 text.") from None


def csv(path: Path, name: str) -> tuple[pyarrow.Table, int]:
    """The columns of a CSV as texts, and the line of its first row.

    Lines that begin with ``#`` may stand before the head.

    Raises ParamsError for a file that is no CSV or is beyond the limits.
    """
    import pyarrow
    from pyarrow import csv as reader

    try:
        _within(name, 0, path.stat().st_size)
        with path.open("rb") as file:
            remarks = 0
            while file.readline(1 << 16).startswith(b"#"):
                remarks += 1
        head = reader.ReadOptions(skip_rows=remarks, use_threads=False)
        shaped = reader.ParseOptions(ignore_empty_lines=False)
        with reader.open_csv(path, head, shaped) as first:
            titles = first.schema.names
        with reader.open_csv(path, head, shaped, reader.ConvertOptions(
                column_types=dict.fromkeys(titles, pyarrow.string()), null_values=[""],
                strings_can_be_null=True)) as batches:
            rows: list[pyarrow.RecordBatch] = []
            for batch in batches:
                rows.append(batch)
                _within(name, sum(part.num_rows for part in rows), 0)
        return pyarrow.Table.from_batches(rows, batches.schema), remarks + 2
    except UnicodeDecodeError as error:
        raise _misnamed(name, error) from None
    except (pyarrow.ArrowException, OSError, RuntimeError) as error:
        if misfit := _MISFIT.search(str(error)):
            row, expected, got = map(int, misfit.groups())
            raise ParamsError(f"{row_location(name, row)}: has {got} columns, expected "
                              f"{expected} as in the head.") from None
        raise _unreadable(name, "a CSV with a head", error) from None


def _within(name: str, rows: int, size: int) -> None:
    """Raises ParamsError for more rows or bytes than a table may have."""
    for count, most, unit in ((rows, MOST_ROWS, "rows"), (size, MOST_BYTES, "bytes unpacked")):
        if count > most:
            raise ParamsError(f"{name}: has {count:,} {unit}, expected at most {most:,}; split it "
                              "by operator or card.")


def _unreadable(name: str, kind: str, error: Exception) -> ParamsError:
    reason = getattr(error, "strerror", None) or (str(error).splitlines() or [kind])[0]
    return ParamsError(f"{name}: cannot be read as {kind} ({reason.rstrip('.').lower()}).")


def _misnamed(name: str, error: UnicodeDecodeError) -> ParamsError:
    return ParamsError(f"{name}, column {error.object!r}: its name is not UTF-8, expected the name "
                       "of a column in UTF-8.")


def texts(column: pyarrow.ChunkedArray) -> pd.Series:
    """A column of texts as categories [rows], a missing one is empty."""
    import pyarrow

    packed = column.combine_chunks()
    if not pyarrow.types.is_dictionary(packed.type):
        packed = packed.dictionary_encode()
    words = ["" if word is None else str(word) for word in packed.dictionary.to_pylist()]
    return categories([*words, ""], packed.indices.fill_null(len(words)).to_numpy(
        zero_copy_only=False))


def categories(words: Sequence[str], at: NDArray[Any]) -> pd.Series:
    """Texts as categories, of every row the index of its word [rows]."""
    import pandas as pd

    codes, distinct = pd.factorize(np.array(words, dtype=object))
    return pd.Series(pd.Categorical.from_codes(codes[at], pd.Index(distinct, dtype=object)))


def numbers(column: pyarrow.ChunkedArray) -> NDArray[np.float64]:
    """A column as numbers [rows], NaN where it has none or something else."""
    import pyarrow

    types = pyarrow.types
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if types.is_string(column.type) or types.is_large_string(column.type):
        try:
            column = column.cast(pyarrow.float64())
        except pyarrow.ArrowInvalid:
            return np.array([_number(text) for text in column.to_pylist()])
    if types.is_floating(column.type) or types.is_integer(column.type):
        return column.cast(pyarrow.float64(), safe=False).to_numpy()
    return np.full(len(column), np.nan)


def _number(text: str | None) -> float:
    try:
        return float(text or "nan")
    except ValueError:
        return np.nan


def read(path: Path, name: str) -> dict[str, Table]:
    """Every row of a file, by operator.

    Args:
        path: the file.
        name: what messages call it.

    Raises ParamsError for a column, an operator or a value that is not of ``OPERATORS``, with file,
    row and column.
    """
    raw, first = csv(path, name) if path.suffix == CSV else (parquet(path, name), 1)
    if not raw.num_rows:
        raise ParamsError(f"{name}: has no row, expected one measured operator a row.")
    factors = _head(raw, name)
    raw = raw.rename_columns(list(factors))
    if OPERATOR not in factors:
        raise ParamsError(f"{name}: lacks the column '{OPERATOR}', expected one of "
                          f"{', '.join(OPERATORS)} in every row.")
    operators = texts(raw[OPERATOR])
    for word in operators.unique():
        if word not in OPERATORS:
            row = first + int((operators == word).argmax())
            raise ParamsError(f"{row_location(name, row)}: '{word}' is not an operator, expected "
                              f"{nearest(word, OPERATORS)}.")
    return {word: _rows(OPERATORS[word], np.flatnonzero(operators == word), raw, factors, name,
                        first) for word in operators.unique()}


def _head(raw: pyarrow.Table, name: str) -> dict[str, float]:
    """Every column by its name without a unit, and the factor to SI."""
    factors: dict[str, float] = {}
    for stated in raw.column_names:
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


def _rows(operator: Operator, at: NDArray[np.int64], raw: pyarrow.Table,
          factors: Mapping[str, float], name: str, first: int) -> Table:
    """The rows of one operator."""
    columns: dict[str, Any] = {}
    raw, lines = raw.take(at), at + first
    for column in operator.columns:
        if column.name in factors:
            check = _texts if column.text else _numbers
            columns[column.name] = check(column, raw[column.name], factors[column.name], lines,
                                         name)
        elif column.default is None:
            raise ParamsError(f"{row_location(name, lines[0])}: lacks the column '{column.name}', "
                              f"expected of {operator.name} "
                              f"{', '.join(wanted.name for wanted in operator.columns)}.")
        else:
            columns[column.name] = column.default
    for title in factors:
        if title not in (OPERATOR, *columns) and raw[title].null_count < len(at):
            row = lines[raw[title].is_valid().to_numpy().argmax()]
            raise ParamsError(f"{row_location(name, row)}: {operator.name} has no '{title}', "
                              "expected it to be empty.")
    return as_table(operator.name, columns, name, lines)


def _texts(column: Column, raw: pyarrow.ChunkedArray, _: float, lines: NDArray[np.int64],
           name: str) -> pd.Series:
    words = texts(raw)
    if column.default is not None:
        words = words.map(lambda word: word or column.default).astype("category")
    for word in words.unique():
        if not (column.allows(word) and (word or column.default is not None)):
            expected = (nearest(word, column.words) if isinstance(column.words, tuple) else
                        "a text without NUL characters" if word and column.words is None else
                        column.expected)
            raise ParamsError(f"{row_location(name, lines[(words == word).argmax()])}, column "
                              f"'{column.name}': '{word}' is not allowed, expected {expected}.")
    return words


def _numbers(column: Column, raw: pyarrow.ChunkedArray, factor: float, lines: NDArray[np.int64],
             name: str) -> NDArray[Any]:
    values = numbers(raw)
    if column.default is not None:
        values = np.where(raw.is_null().to_numpy(), column.default, values)
    with np.errstate(over="ignore"):
        values = values * factor
    if column is TIME:
        right, expected = np.isfinite(values) & (values > 0), "a time above 0"
    else:
        right = ((values >= column.least) & (values < 2**53) & (values == np.floor(values)))
        expected = column.expected
    if not right.all():
        at = right.argmin()
        shown = raw[int(at)].as_py()
        raise ParamsError(f"{row_location(name, lines[at])}, column '{column.name}': "
                          f"'{'' if shown is None else shown}' is not allowed, expected "
                          f"{expected}.")
    return values


def nearest(word: str, known: Iterable[str]) -> str:
    """The nearest of some names, or all of them."""
    names = list(known)
    close = difflib.get_close_matches(word, names, n=3)
    return " or ".join(close) if close else f"one of {', '.join(names)}"
