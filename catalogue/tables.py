"""Tables of measured operators: columns, units, reading; no law and no fit.

A table is long: a row is one operator, measured once, in the columns of ``params/operators.yml``.
``shelf`` opens a reader's own file, a folder of such files, or public packages, whose columns
``params/packages.yml`` maps to these. Tables are read operator by operator, so that no more is in
memory than what is needed. Reading needs pandas and PyArrow, of the extra ``analysis``.
"""

from __future__ import annotations

import csv
import functools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import translate
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from catalogue.reading import units, yamlfile
from catalogue.reading.files import ROOT, ParamsError, is_file, is_folder
from catalogue.reading.near import nearest_names

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Values = NDArray[Any]

_STATED = yamlfile.read(ROOT / "operators.yml").data
_PACKAGES = yamlfile.read(ROOT / "packages.yml").data
FORMATS: Mapping[str, Mapping[str, Any]] = _STATED["formats"]
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
        text: the texts allowed, or a pattern of them; None of whole numbers (``time`` alone is a
            real one).
        unit: of the number in a table, SI.
        least: the smallest number allowed.
        example: a text that fits the pattern.
        default: of a row that leaves it out; None where it must be stated.
        note: what it is.
    """

    name: str
    text: tuple[str, ...] | str | None = None
    unit: str = "1"
    least: int = 1
    example: str = ""
    default: str | int | None = None
    note: str = ""

    def allows(self, word: str) -> bool:
        """Whether a text is allowed."""
        return (word in self.text if isinstance(self.text, tuple)
                else re.fullmatch(self.text or "", word) is not None)

    def wrong(self, values: pd.Series) -> Mask:
        """Which values in SI are not allowed [rows]."""
        if self.text is not None:
            return values.isin([word for word in values.unique() if not self.allows(word)]
                               ).to_numpy()
        if self is TIME:
            return (~np.isfinite(values) | (values <= 0)).to_numpy()
        return ~((values >= self.least) & (values < 2**53) & (values % 1 == 0)).to_numpy()

    def expected(self, word: Any) -> str:
        """What messages say is allowed in place of a word."""
        if self is TIME:
            return "a time above 0"
        if self.text is None:
            return f"a whole number of at least {self.least}"
        return (nearest(word, self.text) if isinstance(self.text, tuple)
                else f"a text such as {self.example}")


ANY_TEXT = {"text": r"[^\0]*", "example": "'its name', without NUL characters"}


def _column(name: str, of: Mapping[str, Any] | str | None = None) -> Column:
    """A column as ``columns`` states it, and as an operator states it otherwise."""
    stated = _STATED["columns"][name] | (of if isinstance(of, Mapping) else {})
    text = stated.get("text")
    special = ANY_TEXT if text == "any" else {"text": DTYPES} if text == "formats" else {
        "text": tuple(text)} if isinstance(text, list) else {}
    return Column(name, **stated | special)


COLUMNS: Mapping[str, Column] = {name: _column(name) for name in _STATED["columns"]}
"""By name, as most operators have them."""
TIME = COLUMNS["time"]
OPERATORS: Mapping[str, tuple[Column, ...]] = {
    name: (*(COLUMNS[first] for first in ("card", "engine", "kernel", "dtype")),
           *(_column(*item) for item in stated["columns"].items()), TIME)
    for name, stated in _STATED["operators"].items()}
"""Columns of each operator in order, ``operator`` apart."""


def key(operator: str) -> list[str]:
    """The columns that identify what was measured: all but its time."""
    return [column.name for column in OPERATORS[operator] if column is not TIME]


@dataclass(frozen=True)
class Table:
    """Measured rows of one operator; arrays that it returns are read-only.

    Attributes:
        operator: of ``OPERATORS``.
        frame: all columns of that operator, whole numbers as int64, ``time`` as float64 [s]; then
            ``row`` of its file, a CSV's counted as lines with its head, a Parquet's from 1.
    """

    operator: str
    frame: pd.DataFrame

    def __len__(self) -> int:
        return len(self.frame)

    def __getitem__(self, name: str) -> Values:
        return self.frame[name].to_numpy()

    def distinct(self, name: str) -> tuple[Any, ...]:
        """Every value of a column, in order."""
        return tuple(sorted(self.frame[name].unique().tolist()))

    def select(self, rows: Values) -> Table:
        """The rows of a mask."""
        return Table(self.operator, self.frame[rows].reset_index(drop=True))


def as_table(operator: str, columns: Mapping[str, Any], row: Iterable[int]) -> Table:
    """A table from columns, each an array, a series or one value for all rows.

    Args:
        operator: of ``OPERATORS``.
        columns: by name, at least all of that operator.
        row: of the file that they come from [rows]; the index of each series.
    """
    import pandas as pd

    frame = pd.DataFrame({column.name: columns[column.name] for column in OPERATORS[operator]},
                         index=pd.Index(row))
    typed = frame.astype({column.name: "str" if column.text is not None else "float64"
                          if column is TIME else "int64" for column in OPERATORS[operator]})
    return Table(operator, typed.assign(row=frame.index).reset_index(drop=True))


def joined(operator: str, tables: Sequence[Table]) -> Table:
    """Rows of several tables of one operator after each other."""
    import pandas as pd

    if not tables:
        return as_table(operator, dict.fromkeys(COLUMNS, ()), ())
    return Table(operator, pd.concat([table.frame for table in tables], ignore_index=True))


# --- a folder of tables ---------------------------------------------------------------------------

Limits = Mapping[str, tuple[str, ...]]


class Part(NamedTuple):
    """Number of rows of one operator, card and engine."""

    operator: str
    card: str
    engine: str
    rows: int


@dataclass(frozen=True)
class Shelf:
    """Tables that may be read, operator by operator.

    Attributes:
        root: the file or folder.
        files: with tables.
    """

    root: Path
    files: Sequence[PackagedFile | OwnFile]

    @functools.cached_property
    def _parts(self) -> list[Part]:
        counts = sum((file.counts() for file in self.files), Counter[tuple[str, str, str]]())
        order = list(OPERATORS)
        return [Part(*of, counts[of]) for of in sorted(
            counts, key=lambda of: (order.index(of[0]), *of))]

    def parts(self, operator: str | None = None, card: str | None = None,
              engine: str | None = None) -> list[Part]:
        """Number of rows by operator, card and engine, in the order of ``OPERATORS``.

        Args:
            operator, card, engine: those wanted, any by default.

        Raises ParamsError where there is none such, with the nearest that there is.
        """
        parts = self._parts
        for kind, wanted in (("operator", operator), ("card", card), ("engine", engine)):
            names = dict.fromkeys(getattr(part, kind) for part in parts)
            if wanted is not None and wanted not in names:
                raise ParamsError(f"{self.root}: no row has the {kind} '{wanted}', expected "
                                  f"{nearest(wanted, names)}.")
            parts = [part for part in parts if wanted in (None, getattr(part, kind))]
        return parts

    def operators(self) -> tuple[str, ...]:
        """Operators that there are rows of, in the order of ``OPERATORS``."""
        return tuple(dict.fromkeys(part.operator for part in self.parts()))

    def engines(self, card: str | None = None) -> tuple[str, ...]:
        """Engines with their releases that there are rows of, of one card or of any."""
        return tuple(sorted({part.engine for part in self.parts(card=card)}))

    def table(self, operator: str, card: str | Iterable[str] = (),
              engine: str | Iterable[str] = (), dtype: str | Iterable[str] = ()) -> Table:
        """Rows of one operator; nothing else of the tables stays in memory.

        Args:
            operator: of ``OPERATORS``.
            card, engine, dtype: those wanted, all where none is named.

        Raises ParamsError for an unknown operator, or a file that cannot be read.
        """
        if operator not in OPERATORS:
            raise ParamsError(f"'{operator}' is not an operator, expected "
                              f"{nearest(operator, OPERATORS)}.")
        limits = {name: (wanted,) if isinstance(wanted, str) else tuple(wanted) for name, wanted in
                  (("card", card), ("engine", engine), ("dtype", dtype)) if wanted}
        table = joined(operator, [table for file in self.files
                                  for table in file.tables(operator, limits)])
        return table.select(np.logical_and.reduce(
            [table.frame[name].isin(wanted) for name, wanted in limits.items()])
            ) if limits else table


def shelf(where: str | Path) -> Shelf:
    """Tables in a file or in a folder.

    A folder holds files in the columns of ``operators.yml`` (``.parquet``, ``.csv``), or is laid
    out as the packages' are, one of them or several side by side.

    Args:
        where: the file or folder.

    Raises ParamsError where there is no table.
    """
    path = Path(where)
    paths = sorted(path.rglob("*"), key=release_order) if is_folder(path) else [path]
    paths = [item for item in paths if is_file(item)]
    own = [OwnFile(item) for item in paths if item.suffix in (PARQUET, CSV)]
    if files := packaged_files(paths) or own:
        return Shelf(path, files)
    raise ParamsError(f"{where}: there is no table, expected a file that ends in {PARQUET} or "
                      f"{CSV}, or a folder with such files.")


# --- cells of files -------------------------------------------------------------------------------

PARQUET, CSV = ".parquet", ".csv"


def cells(path: Path, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """The rows of a file by their line (CSV) or number (Parquet, from 1).

    Args:
        path: the file; in a CSV, lines that begin with ``#`` may stand before the head.
        columns: of a Parquet file, all by default; one that it lacks is left out.

    Raises ParamsError for a file of another format, that is cut off, or has text that is not UTF-8.
    """
    import pandas as pd
    import pyarrow
    from pyarrow.parquet import ParquetFile

    is_parquet = path.suffix == PARQUET
    try:
        if is_parquet:
            with ParquetFile(path) as file:
                table = file.read([title for title in file.schema_arrow.names
                                   if columns is None or title in columns], use_threads=False)
            table.validate(full=True)
            frame = table.to_pandas()
            frame.index += 1
            return frame
        with path.open(encoding="utf-8", newline="") as lines:
            reader = csv.reader(lines)
            head = next((row for row in reader if row and not row[0].startswith("#")), [])
            first, rows = reader.line_num + 1, list(reader)
    except (pyarrow.ArrowException, csv.Error, OSError, UnicodeDecodeError) as error:
        kind = "a Parquet file" if is_parquet else "a CSV with a head"
        reason = getattr(error, "strerror", None) or (str(error).splitlines() or [kind])[0]
        raise ParamsError(f"{path}: cannot be read as {kind} "
                          f"({reason.rstrip('.').lower()}).") from None
    for number, row in enumerate(rows, first):
        if len(row) != len(head):
            raise ParamsError(f"{row_location(str(path), number)}: has {len(row)} columns, "
                              f"expected {len(head)} as in the head.")
    return pd.DataFrame(rows, range(first, first + len(rows)), head, dtype="str")


def texts(column: pd.Series) -> pd.Series:
    """A column as texts [rows], a missing one is empty."""
    return column.astype("str").fillna("")


def numbers(column: pd.Series) -> Floats:
    """A column as numbers [rows], NaN where it has none or something else."""
    import pandas as pd

    try:
        return column.replace("", np.nan).to_numpy(float)
    except (TypeError, ValueError):
        return pd.to_numeric(column, errors="coerce").to_numpy(float)


def row_location(file: str, row: int) -> str:
    """File and row, as messages name them: lines of a CSV, rows of a Parquet file."""
    return f"{file}, {'line' if file.endswith(CSV) else 'row'} {row}"


def nearest(word: str, candidates: Iterable[str]) -> str:
    """The nearest of some names, or all of them."""
    names = list(candidates)
    close = nearest_names(word, names)
    return " or ".join(close) if close else f"one of {', '.join(map(str, names))}"


# --- a reader's own file --------------------------------------------------------------------------

OPERATOR = "operator"
_HEAD = re.compile(r"\s*(.*?)\s*(?:\[\s*(.*?)\s*\])?\s*")  # time [us]; without a unit it is in SI


@dataclass(frozen=True)
class OwnFile:
    """A file in the columns of ``operators.yml``, every value checked when it is first read."""

    path: Path

    @functools.cached_property
    def read(self) -> dict[str, Table]:
        """Every row by operator.

        Raises ParamsError for a column, an operator or a value that is not of ``OPERATORS``, with
        file, row and column.
        """
        name, raw = str(self.path), cells(self.path)
        if raw.empty:
            raise ParamsError(f"{name}: has no row, expected one measured operator a row.")
        factors = factors_to_si(list(raw.columns), name)
        raw.columns = list(factors)
        if OPERATOR not in factors:
            raise ParamsError(f"{name}: lacks the column '{OPERATOR}', expected one of "
                              f"{', '.join(OPERATORS)} in every row.")
        operators = texts(raw[OPERATOR])
        for word in operators.unique():
            if word not in OPERATORS:
                raise ParamsError(f"{row_location(name, (operators == word).idxmax())}: '{word}' "
                                  f"is not an operator, expected {nearest(word, OPERATORS)}.")
        return {word: rows_of_operator(word, raw[operators == word], factors, name)
                for word in operators.unique()}

    def counts(self) -> Counter[tuple[str, str, str]]:
        """Number of rows by operator, card and engine."""
        return Counter((operator, *of) for operator, table in self.read.items()
                       for of in zip(table["card"], table["engine"], strict=True))

    def tables(self, operator: str, _: Limits) -> list[Table]:
        """Rows of an operator."""
        return [self.read[operator]] if operator in self.read else []


def factors_to_si(titles: Iterable[str], name: str) -> dict[str, float]:
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
        expected = COLUMNS[title].unit if title in COLUMNS else "1"
        try:
            factors[title] = float(units.parse(f"1 {unit}", expected)) if unit is not None else 1.0
        except ValueError:
            examples = {"s": "s, ms or us", "B": "B, KiB or MB"}
            raise ParamsError(f"{name}, column '{title}': '{unit}' is not a unit of it, expected "
                              f"{examples.get(expected, 'none: it is a number or a text')}."
                              ) from None
    return factors


def rows_of_operator(operator: str, raw: pd.DataFrame, factors: Mapping[str, float], name: str
                     ) -> Table:
    """The rows of one operator."""
    columns: dict[str, Any] = {}
    for column in OPERATORS[operator]:
        if column.name in factors:
            columns[column.name] = values_in_si(
                column, raw[column.name], factors[column.name], name)
        elif column.default is None:
            raise ParamsError(f"{row_location(name, raw.index[0])}: lacks the column "
                              f"'{column.name}', expected of {operator} "
                              f"{', '.join(wanted.name for wanted in OPERATORS[operator])}.")
        else:
            columns[column.name] = column.default
    for title in factors:
        stated = raw.index[texts(raw[title]) != ""]
        if title not in (OPERATOR, *columns) and len(stated):
            raise ParamsError(f"{row_location(name, stated[0])}: {operator} has no '{title}', "
                              "expected it to be empty.")
    return as_table(operator, columns, raw.index)


def values_in_si(column: Column, raw: pd.Series, factor: float, name: str) -> Any:
    """Values of a column in SI [rows]. Raises ParamsError for one that is not allowed."""
    import pandas as pd

    words = texts(raw)
    missing, values = words == "", words
    if column.text is None:
        with np.errstate(over="ignore"):
            values = pd.Series(numbers(raw) * factor, raw.index)
    if column.default is not None:
        values = values.mask(missing, column.default)
    wrong = column.wrong(values) | (missing & (column.default is None)).to_numpy()
    if wrong.any():
        row, word = raw.index[wrong.argmax()], words.iloc[wrong.argmax()]
        raise ParamsError(f"{row_location(name, row)}, column '{column.name}': '{word}' is not "
                          f"allowed, expected {column.expected(word)}.")
    return values


# --- files of public packages ---------------------------------------------------------------------

DATA = ("systems", "data")
ENDING = re.compile(r"(?P<table>.+)_perf(\.parquet|\.txt)")
MS, US = 1e-3, 1e-6
ARITHMETIC: Mapping[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b, "times": lambda a, b: a * b,
    "divide": lambda a, b: a // np.maximum(b, 1),
    "divide_up": lambda a, b: np.maximum(-(-a // b), 1)}
_RELEASE = re.compile(r"[0-9]+(\.[0-9]+)*(rc[0-9]+)?(\.post[0-9]+)?")


class Rule(NamedTuple):
    """Rows of one operator in a file: how its columns follow from the file's, and which rows."""

    operator: str
    columns: Mapping[str, Any]
    when: Any
    unless: Any


def _conventions() -> dict[str, tuple[Rule, ...]]:
    """The rules of every table, by the name of its file without ``_perf`` and its ending."""
    rules: dict[str, tuple[Rule, ...]] = {}
    for stated in _PACKAGES["conventions"]:
        base = rules[stated["like"]][0].columns if "like" in stated else {}
        for table in stated["tables"]:
            rows = stated.get("rows") or [{"operator": stated["tables"][table]}]
            rules[table] = tuple(Rule(
                row["operator"], {**base, **stated["columns"], **row.get("columns", {})},
                row.get("when", {}), stated.get("unless")) for row in rows)
    return rules


CONVENTIONS = _conventions()


def packaged_files(paths: Iterable[Path]) -> Sequence[PackagedFile]:
    """Every table of packages among some files that has a convention, in order.

    Of several packages, what the last of them has at a place replaces the others': a later one may
    have measured a release anew.
    """
    places: dict[tuple[str, ...], PackagedFile] = {}
    for path in paths:
        match, parts = ENDING.fullmatch(path.name), path.absolute().parts
        if match and match["table"] in CONVENTIONS and len(parts) > len(DATA) + 2:
            folder = parts[-4] if parts[-5] == DATA[-1] else parts[-5]
            key = (folder, *parts[-3:-1], match["table"])
            places[key] = PackagedFile(path, *key)
    return list(places.values())


def release_order(path: Path) -> list[tuple[bool, int, str]]:
    """A path in the order in which releases follow: 0.9 before 0.10."""
    return [(part.isdigit(), int(part) if part.isdigit() else 0, part)
            for part in re.split(r"([0-9]+)", str(path))]


@dataclass(frozen=True)
class PackagedFile:
    """A table of a package by its path: ``<card>/<family>/<framework>/<release>/<table>``.

    Packages before 0.11 have no families: ``<card>/<framework>/<release>/<table>``.
    """

    path: Path
    folder: str
    framework: str
    release: str
    kind: str

    @property
    def card(self) -> str:
        """The device of the folder, or the folder's name where there is none."""
        return str(_PACKAGES["cards"].get(self.folder, self.folder))

    def engine(self, framework: str, version: str) -> str:
        """Engine of a row: what the row says of itself, else its folder.

        A package files older measurements under newer releases where nothing was measured anew.
        ``unknown``, ``kernel-level`` and a state between releases are no release.
        """
        if self.framework in ("nccl", "oneccl"):
            framework = self.framework  # the rows name the program that measured it
        name = (framework or self.framework).lower()
        release = version if _RELEASE.fullmatch(version) else self.release
        return f"{_PACKAGES['engines'].get(name, name)}@{release}"

    def rows(self, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Rows of the folder's card, with ``@card``, ``@framework`` and ``@engine``."""
        frame = cells(self.path, columns)
        if devices := _PACKAGES["devices"].get(self.folder):
            frame = frame[_text(frame, "device").isin([*devices, ""])]
        pairs = list(zip(_text(frame, "framework"), _text(frame, "version"), strict=True))
        engines = {pair: self.engine(*pair) for pair in set(pairs)}
        return frame.assign(**{"@card": self.folder, "@framework": self.framework,
                               "@engine": [engines[pair] for pair in pairs]})

    def counts(self) -> Counter[tuple[str, str, str]]:
        """Rows by operator, card and engine; of a table of one operator only three columns are
        read."""
        rules = CONVENTIONS[self.kind]
        rows = self.rows(("framework", "version", "device") if len(rules) == 1 else None)
        return Counter((rule.operator, self.card, engine) for rule in rules for engine in
                       (rows if len(rules) == 1 else rows[_match(rows, rule.when)])["@engine"])

    def tables(self, operator: str, limits: Limits) -> list[Table]:
        """Rows of an operator, at least those that are wanted.

        Raises ParamsError for a table that cannot be read, or lacks a column that it should have.
        """
        rules = [rule for rule in CONVENTIONS[self.kind] if rule.operator == operator]
        if not rules or self.card not in limits.get("card", (self.card,)):
            return []
        rows = self.rows()
        rows = rows[rows["@engine"].isin(limits.get("engine", rows["@engine"]))]
        try:
            return [self._converted(rule, rows) for rule in rules if len(rows)]
        except KeyError as error:
            raise ParamsError(f"{self.path}: lacks the column {error}, which tables of this name "
                              "have; expected the layout of aiconfigurator or aisimulate."
                              ) from None

    def _converted(self, rule: Rule, rows: pd.DataFrame) -> Table:
        """The rows of a rule in our columns."""
        import pandas as pd

        columns = {"card": self.card, "engine": rows["@engine"],
                   "kernel": _text(rows, "kernel_source")}
        for column in OPERATORS[rule.operator]:
            if column.name in rule.columns:
                value = _value(rows, rule.columns[column.name], column)
                columns[column.name] = pd.Series(value, rows.index).replace(
                    _PACKAGES["formats"]) if column.text == DTYPES else value
        chosen = _match(rows, rule.when)
        if rule.unless:
            chosen &= ~_match(rows, rule.unless)
        return as_table(rule.operator, columns, rows.index).select(chosen)


def _text(rows: pd.DataFrame, name: str) -> pd.Series:
    """A column of texts [rows], empty where the file lacks it."""
    import pandas as pd

    return texts(rows[name]) if name in rows else pd.Series("", rows.index, dtype="str")


def _match(rows: pd.DataFrame, when: Any) -> Mask:
    """Which rows match a condition of ``packages.yml`` [rows]."""
    if isinstance(when, list):
        return np.logical_or.reduce([_match(rows, one) for one in when])
    matching = np.ones(len(rows), bool)
    for name, allowed in when.items():
        patterns = allowed if isinstance(allowed, list) else [allowed]
        matching &= np.isin(numbers(rows[name]), patterns) if isinstance(patterns[0], int) else (
            _text(rows, name).str.match("|".join(map(translate, patterns))).to_numpy())
    return matching


def _value(rows: pd.DataFrame, cell: Any, column: Column) -> Any:
    """The value of a cell of ``packages.yml`` for a column of ours [rows], or one for all rows.

    Raises KeyError for a column of numbers that the file lacks.
    """
    match cell:
        case int():
            return cell
        case str() if column.text is not None:
            return _text(rows, cell)
        case str() if column is TIME:
            return numbers(rows[cell]) * MS
        case str():
            return np.nan_to_num(numbers(rows[cell]), posinf=0, neginf=0).astype(np.int64)
        case {"text": word}:
            return word
        case {"us": name}:
            return numbers(rows[name]) * US
        case {"first": [*names, last]}:
            return _value(rows, next((name for name in names if name in rows), last), column)
        case {"dashes": name}:
            return _text(rows, name).str.replace("_", "-")
        case {"words": words, "of": name}:
            values = _text(rows, name).map(
                lambda text: words.get(text, cell.get("else", text)))
            return values if column.text is not None else values.to_numpy(np.int64)
        case {"choose": [*cases, last]}:
            return np.select([_match(rows, case["when"]) for case in cases],
                             [_value(rows, case["is"], column) for case in cases],
                             _value(rows, last["is"], column))
        case _:
            (word, parts), = cell.items()
            return ARITHMETIC[word](*(_value(rows, part, column) for part in parts))
