"""Rows of one operator in memory, and the columns of each operator (``params/operators.yml``)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from catalogue.reading import yamlfile
from catalogue.reading.files import ROOT

if TYPE_CHECKING:
    import pandas as pd

Values = NDArray[Any]

_STATED = yamlfile.read(ROOT / "operators.yml").data
FORMATS: Mapping[str, Mapping[str, Any]] = MappingProxyType(_STATED["formats"])
DTYPES = tuple(FORMATS)
"""What is multiplied, or sent."""
WIDTHS = {name: stated["bits"] / 8 for name, stated in FORMATS.items()}
"""Bytes of a stored number, without scales."""
LATENT, ROTATED = 512, 64  # of DeepSeek's latent attention, which all tables measure
QUERY, VALUE = 192, 128  # widths of its projected heads


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        name: of the column.
        text: whether it is a text; otherwise a whole number (``time`` alone is a real one).
        unit: of the number in a table, SI.
        least: the smallest number allowed.
        words: the texts allowed, or a pattern of them; None for any.
        example: a text that fits the pattern.
        default: of a row that leaves it out; None where it must be stated.
    """

    name: str
    text: bool = False
    unit: str = "1"
    least: int = 1
    words: tuple[str, ...] | re.Pattern[str] | None = None
    example: str = ""
    default: str | int | None = None

    def allows(self, word: str) -> bool:
        """Whether a text is allowed."""
        if self.words is None:
            return "\0" not in word
        if isinstance(self.words, tuple):
            return word in self.words
        return self.words.fullmatch(word) is not None

    @property
    def expected(self) -> str:
        """What messages say is allowed."""
        if isinstance(self.words, tuple):
            return f"one of {', '.join(word or 'nothing' for word in self.words)}"
        if self.words is not None:
            return f"a text such as {self.example}"
        return "a text" if self.text else f"a whole number of at least {self.least}"


def _column(name: str, of: Mapping[str, Any] | str | None = None) -> Column:
    """A column as ``columns`` states it, and as an operator states it otherwise."""
    stated = _STATED["columns"][name] | (of if isinstance(of, Mapping) else {})
    words = stated.pop("text", None)
    text = words is not None
    if words == "formats":
        words = DTYPES
    elif isinstance(words, str):
        words = None if words == "any" else re.compile(words)
    return Column(name, text, words=tuple(words) if isinstance(words, list) else words, **{
        key: value for key, value in stated.items() if key != "note"})


COLUMNS: Mapping[str, Column] = MappingProxyType({
    name: _column(name) for name in _STATED["columns"]})
"""By name, as most operators have them."""
TIME = COLUMNS["time"]
_FIRST = tuple(COLUMNS[name] for name in ("card", "engine", "kernel", "dtype"))


@dataclass(frozen=True)
class Operator:
    """An operator, and the columns of its shape besides those that all operators have."""

    name: str
    shape: tuple[Column, ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        """Every column of a row in order, ``operator`` apart."""
        return (*_FIRST, *self.shape, TIME)

    @property
    def key(self) -> list[str]:
        """The columns that identify what was measured: all but its time."""
        return [column.name for column in self.columns if column is not TIME]


OPERATORS: Mapping[str, Operator] = MappingProxyType({
    name: Operator(name, tuple(_column(*item) for item in stated["columns"].items()))
    for name, stated in _STATED["operators"].items()})
"""By name."""


@dataclass(frozen=True)
class Part:
    """Number of rows of one operator, card and engine in one file."""

    file: str
    operator: str
    card: str
    engine: str
    rows: int


@dataclass(frozen=True)
class Table:
    """Measured rows of one operator; arrays that it returns are read-only.

    Attributes:
        operator: of ``OPERATORS``.
        frame: all columns of that operator, texts as categories, whole numbers as int64, ``time``
            as float64 [s]; then ``file`` and ``row`` of that file, a CSV's counted as lines with
            its head, a Parquet's from 1.
    """

    operator: str
    frame: pd.DataFrame

    def __len__(self) -> int:
        return len(self.frame)

    def __contains__(self, name: str) -> bool:
        return name in self.frame

    def __getitem__(self, name: str) -> Values:
        column = self.frame[name]
        if column.dtype == "category":
            return np.asarray(column.cat.categories, object)[column.cat.codes]
        return column.to_numpy()

    def distinct(self, name: str) -> tuple[Any, ...]:
        """Every value of a column, in order."""
        return tuple(sorted(self.frame[name].unique().tolist()))

    def select(self, at: Values | None = None, /, **wanted: Any) -> Table:
        """Some of the rows.

        Args:
            at: a mask of rows; by default all of them.
            wanted: a value by column, or a tuple of such.
        """
        frame = self.frame if at is None or at.all() else self.frame[at]
        for name, value in wanted.items():
            frame = frame[frame[name].isin(value if isinstance(value, tuple) else (value,))]
        return Table(self.operator, frame.reset_index(drop=True))

    def parts(self) -> list[Part]:
        """Number of rows by file, card and engine."""
        counts = self.frame.groupby(["file", "card", "engine"], observed=True).size()
        return [Part(file, self.operator, card, engine, count)
                for (file, card, engine), count in counts.items()]


def row_location(file: str, row: int) -> str:
    """File and row, as messages name them: lines of a CSV, rows of a Parquet file."""
    return f"{file}, {'line' if file.endswith('.csv') else 'row'} {row}"


def as_table(operator: str, columns: Mapping[str, Any], file: str, row: Iterable[int]) -> Table:
    """A table from columns, each an array, a series or one value for all rows.

    Args:
        operator: of ``OPERATORS``.
        columns: by name, at least all of that operator.
        file: that the rows come from.
        row: of that file [rows]; the index of each series.
    """
    import pandas as pd

    frame = pd.DataFrame({column.name: columns[column.name]
                          for column in OPERATORS[operator].columns}, index=pd.Index(row))
    return _typed(operator, frame.assign(file=file, row=frame.index).reset_index(drop=True))


def joined(operator: str, tables: Sequence[Table]) -> Table:
    """Rows of several tables of one operator after each other."""
    import pandas as pd

    if not tables:
        return as_table(operator, dict.fromkeys(COLUMNS, ()), "", ())
    if len(tables) == 1:
        return tables[0]
    return _typed(operator, pd.concat([table.frame for table in tables], ignore_index=True))


def _typed(operator: str, frame: pd.DataFrame) -> Table:
    types = {"file": "category"} | {
        column.name: "category" if column.text else "float64" if column is TIME else "int64"
        for column in OPERATORS[operator].columns}
    return Table(operator, frame.astype({
        name: kind for name, kind in types.items() if frame[name].dtype != kind}))
