"""A reader's own table: canonical columns from Parquet or CSV, each value held against its column.

A head may name a unit, ``time [us]`` or ``bytes [MiB]``; without one a column is in SI.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from catalogue.reading import units
from catalogue.reading.errors import ParamsError
from catalogue.tables import columns as files
from catalogue.tables.operators import OPERATORS, TIME, Column, Operator
from catalogue.tables.table import Table, row_location

if TYPE_CHECKING:
    import pyarrow

OPERATOR = "operator"
_KNOWN: Mapping[str, Column] = {column.name: column for operator in OPERATORS.values()
                                for column in operator.columns}
_HEAD = re.compile(r"\s*(.*?)\s*(?:\[\s*(.*?)\s*\])?\s*")


def read(path: Path, name: str) -> dict[str, Table]:
    """Every row of a file, by operator.

    Args:
        path: the file.
        name: what messages call it.

    Raises ParamsError for a column, an operator or a value that is not of ``OPERATORS``, with file,
    row and column.
    """
    if path.suffix == files.CSV:
        raw, first = files.csv(path, name)
    else:
        raw, first = files.parquet(path, name), 1
    if not raw.num_rows:
        raise ParamsError(f"{name}: has no row, expected one measured operator a row.")
    given = _head(raw, name)
    if OPERATOR not in given:
        raise ParamsError(f"{name}: lacks the column '{OPERATOR}', expected one of "
                          f"{', '.join(OPERATORS)} in every row.")
    said = files.texts(given.pop(OPERATOR)[0])
    for word in dict.fromkeys(said.tolist()):
        if word not in OPERATORS:
            row = first + int(np.flatnonzero(said == word)[0])
            raise ParamsError(f"{row_location(name, row)}: '{word}' is not an operator, expected "
                              f"{nearest(word, OPERATORS)}.")
    return {word: _rows(OPERATORS[word], np.flatnonzero(said == word), given, name, first)
            for word in dict.fromkeys(said.tolist())}


def _head(raw: pyarrow.Table, name: str) -> dict[str, tuple[Any, float]]:
    """Every column by its name without a unit, and the factor to SI."""
    given: dict[str, tuple[Any, float]] = {}
    for said, column in zip(raw.column_names, raw.columns, strict=True):
        match = _HEAD.fullmatch(said)
        title, unit = match.groups() if match else (said, None)
        if title != OPERATOR and title not in _KNOWN:
            raise ParamsError(f"{name}: '{title}' is not a column of any operator, expected "
                              f"{nearest(title, [OPERATOR, *_KNOWN])}.")
        if title in given:
            raise ParamsError(f"{name}: has the column '{title}' twice, expected it once.")
        given[title] = (column, _factor(title, unit, name))
    return given


def _factor(title: str, unit: str | None, name: str) -> float:
    """What a column is multiplied by to be in SI. Raises ParamsError for another kind of unit."""
    if unit is None:
        return 1.0
    expected = _KNOWN[title].unit if title in _KNOWN else "1"
    try:
        return float(units.parse(f"1 {unit}", expected))
    except ValueError:
        raise ParamsError(f"{name}, column '{title}': '{unit}' is not a unit of it, expected "
                          f"{_examples(expected)}.") from None


def _examples(unit: str) -> str:
    return {"s": "s, ms or us", "B": "B, KiB or MB"}.get(unit, "none: it is a number or a text")


def _rows(operator: Operator, at: NDArray[np.int64], given: Mapping[str, tuple[Any, float]],
          name: str, first: int) -> Table:
    """The rows of one operator."""
    filled: dict[str, NDArray[Any]] = {}
    for column in operator.columns:
        if column.name not in given:
            if column.default is None:
                raise ParamsError(f"{row_location(name, first + int(at[0]))}: lacks the column "
                                  f"'{column.name}', expected of {operator.name} "
                                  f"{', '.join(each.name for each in operator.columns)}.")
            filled[column.name] = np.full(len(at), column.default,
                                          object if column.text else np.int64)
            continue
        raw, factor = given[column.name]
        take = raw.take(at)
        filled[column.name] = (_texts(column, take, at + first, name) if column.text else
                               _numbers(column, take, factor, at + first, name))
    foreign = [title for title in given if title not in filled]
    for title in foreign:
        column = given[title][0].take(at)
        if column.null_count < len(at):
            row = int(at[np.flatnonzero(column.is_valid().to_numpy())[0]]) + first
            raise ParamsError(f"{row_location(name, row)}: {operator.name} has no '{title}', "
                              "expected it to be empty.")
    return Table(operator.name, filled, (name,), np.zeros(len(at), np.int64), at + first)


def _texts(column: Column, raw: Any, rows: NDArray[np.int64], name: str) -> NDArray[Any]:
    words = files.texts(raw)
    if column.default is not None:
        words[words == ""] = column.default
    for word in dict.fromkeys(words.tolist()):
        if not (column.allows(word) and (word or column.default is not None)):
            row = int(rows[np.flatnonzero(words == word)[0]])
            told = column.expected if not isinstance(column.words, tuple) else nearest(
                word, column.words)
            raise ParamsError(f"{row_location(name, row)}, column '{column.name}': '{word}' is not "
                              f"allowed, expected {told}.")
    return words


def _numbers(column: Column, raw: Any, factor: float, rows: NDArray[np.int64],
             name: str) -> NDArray[Any]:
    found = files.numbers(raw)
    if column.default is not None:
        found = np.where(raw.is_null().to_numpy(), column.default, found)
    with np.errstate(over="ignore"):
        scaled = found * factor
    if column is TIME:
        wrong, expected = ~(np.isfinite(scaled) & (scaled > 0)), "a time above 0"
    else:
        wrong = ~(np.isfinite(scaled) & (scaled >= column.low) & (scaled < 2**53)
                  & (scaled == np.floor(scaled)))
        expected = column.expected
    if wrong.any():
        at = int(np.flatnonzero(wrong)[0])
        shown = raw[at].as_py()
        raise ParamsError(f"{row_location(name, int(rows[at]))}, column '{column.name}': "
                          f"'{'' if shown is None else shown}' is not allowed, expected "
                          f"{expected}.")
    return scaled if column is TIME else scaled.astype(np.int64)


def nearest(word: str, known: Iterable[str]) -> str:
    """The nearest of what there is, or all of it."""
    there = list(known)
    close = difflib.get_close_matches(word, there, n=3)
    return " or ".join(close) if close else f"one of {', '.join(there)}"
