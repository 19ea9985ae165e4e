"""Where the packages' tables lie, what is in them, and their rows as ours."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalogue.reading.errors import ParamsError
from catalogue.tables import columns as files
from catalogue.tables.operators import OPERATORS
from catalogue.tables.packaged import names
from catalogue.tables.packaged.conventions import CONVENTIONS
from catalogue.tables.packaged.rows import Block, Raw
from catalogue.tables.shelved import Part, RowFilter
from catalogue.tables.table import Table, joined

DISTRIBUTIONS = {"aisimulate": "aisimulate_core", "aiconfigurator-core": "aiconfigurator_core"}
"""Distribution -> its package, the one with the newer tables first."""
DATA = ("systems", "data")
ENDING = re.compile(r"(?P<table>.+)_perf(\.parquet|\.txt)")


def installed() -> Path | None:
    """The folder of tables of the first of the packages that is installed; nothing is imported."""
    for distribution, package in DISTRIBUTIONS.items():
        try:
            found = metadata.distribution(distribution)
        except metadata.PackageNotFoundError:
            continue
        folder = Path(str(found.locate_file(package))).joinpath(*DATA)
        if folder.is_dir():
            return folder
    return None


def is_packaged(folder: Path) -> bool:
    """Whether this is laid out as the packages' ``systems/data``: that, a part or a file of it."""
    return next(_tables(folder), None) is not None


@dataclass(frozen=True)
class _File:
    """A table of a package by its path: ``<card>/<family>/<framework>/<release>/<table>``.

    Packages before 0.11 have no families: ``<card>/<framework>/<release>/<table>``.
    """

    path: Path
    folder: str
    framework: str
    release: str
    table: str

    @property
    def name(self) -> str:
        """What messages call it."""
        parts = self.path.absolute().parts
        return "/".join(parts[parts.index(self.folder, len(parts) - 5):])

    @property
    def card(self) -> str:
        """Our name of the card."""
        return names.card(self.folder)


def _tables(root: Path) -> Iterator[_File]:
    """Every table of the packages below a folder that is one of ``CONVENTIONS``, in order.

    Of several packages, what the last of them has at a place stands for it: a later one may have
    measured a release anew.
    """
    found: dict[tuple[str, ...], _File] = {}
    for path in [root] if root.is_file() else sorted(root.rglob("*_perf.*"), key=_natural):
        match, parts = ENDING.fullmatch(path.name), path.absolute().parts
        if match and match["table"] in CONVENTIONS and len(parts) > len(DATA) + 2:
            folder = parts[-4] if parts[-5] == DATA[-1] else parts[-5]
            place = (folder, *parts[-3:-1], match["table"])
            found[place] = _File(path, *place)
    yield from found.values()


def _natural(path: Path) -> tuple[tuple[bool, int, str], ...]:
    """A path in the order in which releases follow: 0.9 before 0.10."""
    return tuple((part.isdigit(), int(part) if part.isdigit() else 0, part)
                 for part in re.split(r"([0-9]+)", str(path)))


@dataclass(frozen=True)
class PackagedShelf:
    """Tables of a package, read file by file.

    Attributes:
        root: its ``systems/data``, a folder below, or one of its files.
    """

    root: Path
    _files: tuple[_File, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_files", tuple(_tables(self.root)))

    def parts(self) -> Sequence[Part]:
        """Rows by operator, card and engine, file by file; nothing but two columns is read."""
        return [part for file in self._files for part in _parts(file)]

    def read(self, operator: str, wanted: RowFilter) -> Table:
        """Rows of an operator.

        Raises ParamsError for a table that cannot be read, or lacks a column that it should have.
        """
        read = [table for file in self._files
                if operator in CONVENTIONS[file.table].operators and wanted.card(file.card)
                if (table := _read(file, operator, wanted)) is not None]
        return joined(operator, read)


def _raw(file: _File, columns: Sequence[str] | None = None) -> Raw:
    if file.path.suffix == files.PARQUET:
        table = files.parquet(file.path, file.name, columns)
    else:
        table, _ = files.csv(file.path, file.name)
    return Raw(table, file.folder, file.framework, file.release)


@functools.lru_cache(maxsize=4096)
def _parts(file: _File) -> tuple[Part, ...]:
    kind = CONVENTIONS[file.table]
    one = len(kind.operators) == 1
    raw = _raw(file, ("framework", "version", "device") if one else None)
    engines, mine = raw.engine(), names.of_card(file.folder, raw.text("device"))
    found = []
    for block in (Block(kind.operators[0], {}),) if one else kind.blocks(raw):
        of = engines[mine if block.at is None else mine & block.at]
        for engine in sorted(set(of.tolist())):
            found.append(Part(file.name, block.operator, file.card, engine,
                              int(np.count_nonzero(of == engine))))
    return tuple(found)


def _read(file: _File, operator: str, wanted: RowFilter) -> Table | None:
    """The rows of an operator in a file, or None where it has none that are wanted."""
    raw = _raw(file)
    mine = names.of_card(file.folder, raw.text("device"))
    if wanted.engines:
        mine &= np.isin(raw.engine(), wanted.engines)
    kept = np.flatnonzero(mine)
    if not len(kept):
        return None
    if len(kept) < len(raw):
        raw = replace(raw, table=raw.table.take(kept))
    try:
        blocks = [block for block in CONVENTIONS[file.table].blocks(raw)
                  if block.operator == operator]
    except KeyError as error:
        raise ParamsError(f"{file.name}: lacks the column {error}, which tables of this name have; "
                          "expected the layout of aiconfigurator or aisimulate.") from None
    common = {"card": file.card, "engine": raw.engine(), "kernel": raw.text("kernel_source")}
    made = []
    for block in blocks:
        at = np.arange(len(raw)) if block.at is None else np.flatnonzero(block.at)
        if wanted.dtypes:
            at = at[np.isin(_whole(block.columns["dtype"], len(raw))[at], wanted.dtypes)]
        given = {**common, **block.columns}
        columns = {column.name: _whole(given[column.name], len(raw))[at]
                   for column in OPERATORS[operator].columns}
        made.append(Table(operator, columns, (file.name,), np.zeros(len(at), np.int64),
                          kept[at] + 1))
    return joined(operator, made)


def _whole(value: Any, rows: int) -> NDArray[Any]:
    """A column from a column, or from one value for all rows."""
    if isinstance(value, np.ndarray):
        return value
    return np.full(rows, value, object if isinstance(value, str) else np.int64)
