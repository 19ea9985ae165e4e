"""Tables wherever they lie: a file, a folder of files, or an installed package."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from catalogue.reading.errors import ParamsError
from catalogue.tables import columns as files
from catalogue.tables.operators import OPERATORS
from catalogue.tables.packaged import DISTRIBUTIONS, PackagedShelf, installed, is_packaged
from catalogue.tables.reading import nearest, read
from catalogue.tables.shelved import Part, RowFilter
from catalogue.tables.table import Table, joined
from catalogue.tables.tuned import TunedShelf, is_tuned

__all__ = ["Part", "Shelf", "shelf"]


class _Source(Protocol):
    def parts(self) -> Sequence[Part]: ...

    def read(self, operator: str, wanted: RowFilter) -> Table: ...


@dataclass(frozen=True)
class Shelf:
    """Tables that may be read, operator by operator.

    Attributes:
        root: where they lie.
        source: who reads them.
    """

    root: Path
    source: _Source

    def parts(self, operator: str | None = None, card: str | None = None,
              engine: str | None = None) -> list[Part]:
        """What there is: rows by operator, card, engine and file, in the order of ``OPERATORS``.

        Args:
            operator, card, engine: those asked for, any by default.

        Raises ParamsError where there is none such, with the nearest that there is.
        """
        order = list(OPERATORS)
        found = sorted(self.source.parts(), key=lambda part: (
            order.index(part.operator), part.card, part.engine, part.file))
        for kind, wanted in (("operator", operator), ("card", card), ("engine", engine)):
            if wanted is None:
                continue
            there = dict.fromkeys(getattr(part, kind) for part in found)
            if wanted not in there:
                raise ParamsError(f"{self.root}: no row has the {kind} '{wanted}', expected "
                                  f"{nearest(wanted, there)}.")
            found = [part for part in found if getattr(part, kind) == wanted]
        return found

    def operators(self) -> tuple[str, ...]:
        """Operators that there are rows of, in the order of ``OPERATORS``."""
        return tuple(dict.fromkeys(part.operator for part in self.parts()))

    def cards(self, operator: str | None = None) -> tuple[str, ...]:
        """Cards that there are rows of, of one operator or of any."""
        return tuple(sorted({part.card for part in self.parts(operator)}))

    def engines(self, operator: str | None = None, card: str | None = None) -> tuple[str, ...]:
        """Engines with their releases that there are rows of, of one operator and card or of any.
        """
        return tuple(sorted({part.engine for part in self.parts(operator, card)}))

    def table(self, operator: str, card: str | Iterable[str] = (),
              engine: str | Iterable[str] = (), dtype: str | Iterable[str] = ()) -> Table:
        """Rows of one operator; nothing else of the tables stays in memory.

        Args:
            operator: of ``OPERATORS``.
            card, engine, dtype: those wanted, all where none is named.

        Raises ParamsError for an operator that nobody knows, or a file that cannot be read.
        """
        if operator not in OPERATORS:
            raise ParamsError(f"'{operator}' is not an operator, expected "
                              f"{nearest(operator, OPERATORS)}.")
        return self.source.read(operator, RowFilter(_several(card), _several(engine),
                                                    _several(dtype)))


def _several(names: str | Iterable[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


@dataclass(frozen=True)
class _Files:
    """Canonical files, each checked whole when it is read first."""

    paths: tuple[Path, ...]
    _read: dict[Path, dict[str, Table]] = field(default_factory=dict, repr=False)

    def _tables(self) -> Iterable[dict[str, Table]]:
        for path in self.paths:
            if path not in self._read:
                self._read[path] = read(path, str(path))
            yield self._read[path]

    def parts(self) -> Sequence[Part]:
        return [Part(table.files[0], operator, card, engine,
                     len(table.select(card=card, engine=engine)))
                for tables in self._tables() for operator, table in tables.items()
                for card in table.cards() for engine in table.select(card=card).engines()]

    def read(self, operator: str, wanted: RowFilter) -> Table:
        limits = {name: tuple(values) for name, values in (
            ("card", wanted.cards), ("engine", wanted.engines), ("dtype", wanted.dtypes)) if values}
        return joined(operator, [tables[operator].select(**limits) for tables in self._tables()
                                 if operator in tables])


def shelf(where: str | Path | None = None) -> Shelf:
    """Tables in a file, in a folder, or of an installed package.

    A folder holds canonical files (``.parquet``, ``.csv``), is laid out as the packages' are, one
    of them or several side by side, or is AITER's ``configs``.

    Args:
        where: the file or folder; without it the package that is installed.

    Raises ParamsError where there is no table, and for a canonical file that cannot be used.
    """
    if where is None:
        found = installed()
        if found is None:
            raise ParamsError("no tables are given and no package with tables is installed, "
                              f"expected --tables FOLDER or one of {', '.join(DISTRIBUTIONS)} "
                              "(pip install).")
        return Shelf(found, PackagedShelf(found))
    path = Path(where).expanduser()
    try:
        found_files = _below(path)
    except (OSError, RuntimeError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or "not the name of a file").lower()
        raise ParamsError(f"{where}: cannot be read ({reason}), expected a table or a folder of "
                          "tables.") from None
    if is_packaged(path):
        return Shelf(path, PackagedShelf(path))
    if is_tuned(path):
        return Shelf(path, TunedShelf(path))
    if not found_files:
        raise ParamsError(f"{where}: holds no table, expected a file that ends in {files.PARQUET} "
                          f"or {files.CSV}, or a folder with such files.")
    return Shelf(path, _Files(tuple(found_files)))


def _below(path: Path) -> list[Path]:
    """The tables at a path, in order; a folder's links to folders are not followed.

    Raises OSError for what is not there, or a link that leads to itself.
    """
    path.stat()
    if not path.is_dir():
        return [path] if path.is_file() and path.suffix in (files.PARQUET, files.CSV) else []
    found = [each for each in sorted(path.rglob("*")) if each.suffix in (files.PARQUET, files.CSV)]
    for each in found:
        each.stat()
    return [each for each in found if each.is_file()]
