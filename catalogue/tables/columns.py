"""Files as columns: Parquet and CSV opened without trusting them, their limits, and no meaning.

PyArrow reads both; it comes with the extra ``analysis``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from catalogue.reading.errors import ParamsError
from catalogue.tables.table import row_location

if TYPE_CHECKING:
    import pyarrow

PARQUET, CSV = ".parquet", ".csv"
MOST_ROWS = 20_000_000  # of a file: five times the largest public table
MOST_BYTES = 4 << 30  # of a file, unpacked
_MISFIT = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+)")


def parquet(path: Path, name: str, columns: Sequence[str] | None = None) -> pyarrow.Table:
    """Columns of a Parquet file, all of them by default; one that it lacks is left out.

    Raises ParamsError for a file that is no Parquet, is cut off, or is beyond the limits, which are
    held against what the file says of itself before a row is read.
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
            wanted = [each for each in schema.names if columns is None or each in columns]
            return file.read(columns=wanted, use_threads=False)
    except (ArrowException, OSError, RuntimeError) as error:
        raise _unreadable(name, "a Parquet file", error) from None


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
            named = first.schema.names
        with reader.open_csv(path, head, shaped, reader.ConvertOptions(
                column_types=dict.fromkeys(named, pyarrow.string()), null_values=[""],
                strings_can_be_null=True)) as batches:
            read: list[pyarrow.RecordBatch] = []
            for batch in batches:
                read.append(batch)
                _within(name, sum(each.num_rows for each in read), 0)
        return pyarrow.Table.from_batches(read, batches.schema), remarks + 2
    except (pyarrow.ArrowException, OSError, RuntimeError) as error:
        if misfit := _MISFIT.search(str(error)):
            row, expected, got = map(int, misfit.groups())
            raise ParamsError(f"{row_location(name, row)}: has {got} columns, expected "
                              f"{expected} as in the head.") from None
        raise _unreadable(name, "a CSV with a head", error) from None


def _is_text(kind: pyarrow.DataType) -> bool:
    import pyarrow

    return bool(pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind))


def _within(name: str, rows: int, size: int) -> None:
    """Raises ParamsError for more rows or bytes than a table may have."""
    if rows > MOST_ROWS:
        raise ParamsError(f"{name}: has {rows:,} rows, expected at most {MOST_ROWS:,}; split it by "
                          "operator or card.")
    if size > MOST_BYTES:
        raise ParamsError(f"{name}: has {size:,} bytes unpacked, expected at most {MOST_BYTES:,}; "
                          "split it by operator or card.")


def _unreadable(name: str, kind: str, error: Exception) -> ParamsError:
    reason = getattr(error, "strerror", None) or (str(error).splitlines() or [kind])[0]
    return ParamsError(f"{name}: cannot be read as {kind} ({reason.rstrip('.').lower()}).")


def texts(column: pyarrow.ChunkedArray) -> NDArray[Any]:
    """A column of texts as objects [rows]; each word is held once, a missing one is empty."""
    words, codes = coded(column)
    return words[codes]


def coded(column: pyarrow.ChunkedArray) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The words of a column of texts, and which of them stands in each row [rows]."""
    import pyarrow

    packed = column.combine_chunks()
    if not pyarrow.types.is_dictionary(packed.type):
        packed = packed.dictionary_encode()
    said = packed.dictionary.to_pylist()
    words = np.array([*("" if word is None else str(word) for word in said), ""], dtype=object)
    codes = packed.indices.fill_null(len(words) - 1).to_numpy(zero_copy_only=False)
    return words, codes.astype(np.int64)


def numbers(column: pyarrow.ChunkedArray) -> NDArray[np.float64]:
    """A column as numbers [rows], NaN where it has none or something else."""
    import pyarrow

    types = pyarrow.types
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if _is_text(column.type):
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
