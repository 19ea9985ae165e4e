"""Tables of public packages in our columns, as ``params/packages.yml`` maps them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from catalogue.reading import yamlfile
from catalogue.reading.errors import ParamsError
from catalogue.reading.files import ROOT
from catalogue.tables import reading
from catalogue.tables.table import DTYPES, OPERATORS, TIME, Column, Part, Table, as_table, joined

if TYPE_CHECKING:
    import pandas as pd

DATA = ("systems", "data")
ENDING = re.compile(r"(?P<table>.+)_perf(\.parquet|\.txt)")
MS, US = 1e-3, 1e-6
ARITHMETIC = {"add": lambda a, b: a + b, "times": lambda a, b: a * b,
              "divide": lambda a, b: a // np.maximum(b, 1),
              "divide_up": lambda a, b: np.maximum(-(-a // b), 1)}
_RELEASE = re.compile(r"[0-9]+(\.[0-9]+)*(rc[0-9]+)?(\.post[0-9]+)?")
_STATED = yamlfile.read(ROOT / "packages.yml").data

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Rule:
    """Rows of one operator in a file: how its columns follow from the file's, and which rows."""

    operator: str
    columns: Mapping[str, Any]
    when: Any
    unless: Any


def _conventions() -> dict[str, tuple[Rule, ...]]:
    """The rules of every table, by the name of its file without ``_perf`` and its ending."""
    rules: dict[str, tuple[Rule, ...]] = {}
    for stated in _STATED["conventions"]:
        base = rules[stated["like"]][0].columns if "like" in stated else {}
        for table in stated["tables"]:
            rows = stated.get("rows") or [{"operator": stated["tables"][table]}]
            rules[table] = tuple(Rule(
                row["operator"], {**base, **stated["columns"], **row.get("columns", {})},
                row.get("when", {}), stated.get("unless")) for row in rows)
    return rules


CONVENTIONS = _conventions()


def files(root: Path) -> Sequence[PackagedFile]:
    """Every table of the packages below a folder that has a convention, in order.

    Of several packages, what the last of them has at a place replaces the others': a later one may
    have measured a release anew.
    """
    places: dict[tuple[str, ...], PackagedFile] = {}
    for path in [root] if root.is_file() else sorted(root.rglob("*_perf.*"), key=_natural):
        match, parts = ENDING.fullmatch(path.name), path.absolute().parts
        if match and match["table"] in CONVENTIONS and len(parts) > len(DATA) + 2:
            folder = parts[-4] if parts[-5] == DATA[-1] else parts[-5]
            place = (folder, *parts[-3:-1], match["table"])
            places[place] = PackagedFile(path, *place)
    return list(places.values())


def _natural(path: Path) -> list[tuple[bool, int, str]]:
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
    def name(self) -> str:
        """The file in messages."""
        parts = self.path.absolute().parts
        return "/".join(parts[parts.index(self.folder, len(parts) - 5):])

    @property
    def card(self) -> str:
        """The device of the folder, or the folder's name where there is none."""
        return str(_STATED["cards"].get(self.folder, self.folder))

    def engine(self, framework: str, version: str) -> str:
        """Engine of a row: what the row says of itself, else its folder.

        A package files older measurements under newer releases where nothing was measured anew.
        ``unknown``, ``kernel-level`` and a state between releases are no release.
        """
        if self.framework in ("nccl", "oneccl"):
            framework = self.framework  # the rows name the program that measured it
        name = (framework or self.framework).lower()
        release = version if _RELEASE.fullmatch(version) else self.release
        return f"{_STATED['engines'].get(name, name)}@{release}"

    def parts(self) -> list[Part]:
        """Rows by operator and engine; of a table of one operator only three columns are read."""
        rules = CONVENTIONS[self.kind]
        one = len(rules) == 1
        rows = self._rows(("framework", "version", "device") if one else None)
        engines, mine = rows.text("@engine"), rows.of_card()
        return [Part(self.name, rule.operator, self.card, engine, count) for rule in rules
                for engine, count in engines[mine if one else mine & rows.match(rule.when)
                                             ].value_counts().items() if count]

    def table(self, operator: str, limits: Mapping[str, tuple[str, ...]]) -> Table | None:
        """Rows of an operator, or None where the file has none that are wanted.

        Raises ParamsError for a table that cannot be read, or lacks a column that it should have.
        """
        rules = [rule for rule in CONVENTIONS[self.kind] if rule.operator == operator]
        if not rules or self.card not in limits.get("card", (self.card,)):
            return None
        rows = self._rows()
        mine = rows.of_card()
        if engines := limits.get("engine"):
            mine = mine & rows.text("@engine").isin(engines).to_numpy()
        if not mine.any():
            return None
        rows = _Rows(rows.frame[mine], self)
        try:
            return joined(operator, [self._converted(rule, rows, limits) for rule in rules])
        except KeyError as error:
            raise ParamsError(f"{self.name}: lacks the column {error}, which tables of this name "
                              "have; expected the layout of aiconfigurator or aisimulate."
                              ) from None

    def _rows(self, columns: Sequence[str] | None = None) -> _Rows:
        return _Rows(reading.cells(self.path, self.name, columns), self)

    def _converted(self, rule: Rule, rows: _Rows, limits: Mapping[str, tuple[str, ...]]) -> Table:
        """The rows of a rule in our columns."""
        ours = {column.name: column for column in OPERATORS[rule.operator].columns}
        columns = {"card": self.card, "engine": rows.text("@engine"),
                   "kernel": rows.text("kernel_source")} | {
            name: rows.column(ours[name], cell) for name, cell in rule.columns.items()
            if name in ours}
        chosen = rows.match(rule.when)
        if rule.unless:
            chosen &= ~rows.match(rule.unless)
        wanted = {"dtype": limits["dtype"]} if "dtype" in limits else {}
        table = as_table(rule.operator, columns, self.name, rows.frame.index)
        return table.select(chosen, **wanted)


@dataclass(frozen=True)
class _Rows:
    """Rows of one file, and the values of cells of ``packages.yml`` for them."""

    frame: pd.DataFrame
    file: PackagedFile

    def text(self, name: str) -> pd.Series:
        """A column of texts as categories [rows], empty where the file lacks it."""
        import pandas as pd

        if name == "@engine":
            framework, version = self.text("framework").cat, self.text("version").cat
            engines = [self.file.engine(one, other) for one in framework.categories
                       for other in version.categories]
            at = framework.codes.astype(int) * len(version.categories) + version.codes
            return at.map(dict(enumerate(engines))).astype("category")
        if name in self.frame:
            return reading.texts(self.frame[name])
        word = {"@card": self.file.folder, "@framework": self.file.framework}.get(name, "")
        return pd.Series(word, self.frame.index, dtype="category")

    def real(self, name: str) -> NDArray[np.float64]:
        """A column of numbers [rows]. Raises KeyError where it is missing."""
        return reading.numbers(self.frame[name])

    def of_card(self) -> Mask:
        """Whether rows are of the card in whose folder they are filed [rows]."""
        known = _STATED["devices"].get(self.file.folder)
        return np.ones(len(self.frame), bool) if known is None else self.text(
            "device").isin([*known, ""]).to_numpy()

    def match(self, when: Any) -> Mask:
        """Which rows match a condition [rows]."""
        if isinstance(when, list):
            return np.logical_or.reduce([self.match(one) for one in when])
        rows = np.ones(len(self.frame), bool)
        for name, allowed in when.items():
            allowed = allowed if isinstance(allowed, list) else [allowed]
            if isinstance(allowed[0], int):
                rows &= np.isin(self.real(name), allowed)
            else:
                words = self.text(name)
                rows &= words.isin([word for word in words.cat.categories if any(
                    fnmatchcase(word, pattern) for pattern in allowed)]).to_numpy()
        return rows

    def column(self, column: Column, cell: Any) -> Any:
        """One of our columns [rows], or one value for all rows."""
        value = self.value(cell, column)
        if column.words != DTYPES or isinstance(value, str):
            return value
        return value.map(lambda word: _STATED["formats"].get(word, word))

    def value(self, cell: Any, column: Column) -> Any:
        """The value of a cell for a column of ours.

        Raises KeyError for a column of numbers that the file lacks.
        """
        import pandas as pd

        if isinstance(cell, int):
            return cell
        if isinstance(cell, str):
            if column.text:
                return self.text(cell)
            numbers = self.real(cell)
            return numbers * MS if column is TIME else np.where(
                np.isfinite(numbers), numbers, 0).astype(np.int64)
        (word, of), *more = cell.items()
        if word == "text":
            return of
        if word == "us":
            return self.real(of) * US
        if word == "first":
            return self.value(next((one for one in of[:-1] if one in self.frame), of[-1]), column)
        if word == "dashes":
            return self.text(of).map(lambda text: text.replace("_", "-"))
        if word == "words":
            rest = dict(more)
            words = self.text(rest["of"]).map(lambda text: of.get(text, rest.get("else", text)))
            return words if column.text else words.astype(np.int64).to_numpy()
        if word == "choose":
            *cases, last = of
            value = self.value(last["is"], column)
            for case in reversed(cases):
                value = np.where(self.match(case["when"]), self.value(case["is"], column), value)
            return pd.Series(value, self.frame.index) if column.text else value
        return ARITHMETIC[word](*(self.value(one, column) for one in of))

