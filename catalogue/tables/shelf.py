"""Tables wherever they are: a file, or a folder of files."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from catalogue.reading.errors import ParamsError
from catalogue.tables import packaged
from catalogue.tables.packaged import PackagedFile
from catalogue.tables.reading import CSV, PARQUET, OwnFile, nearest
from catalogue.tables.table import OPERATORS, Part, Table, joined


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
        order = list(OPERATORS)
        return sorted((part for file in self.files for part in file.parts()), key=lambda part: (
            order.index(part.operator), part.card, part.engine, part.file))

    def parts(self, operator: str | None = None, card: str | None = None,
              engine: str | None = None) -> list[Part]:
        """Number of rows by operator, card, engine and file, in the order of ``OPERATORS``.

        Args:
            operator, card, engine: those wanted, any by default.

        Raises ParamsError where there is none such, with the nearest that there is.
        """
        parts = self._parts
        for kind, wanted in (("operator", operator), ("card", card), ("engine", engine)):
            if wanted is None:
                continue
            names = dict.fromkeys(getattr(part, kind) for part in parts)
            if wanted not in names:
                raise ParamsError(f"{self.root}: no row has the {kind} '{wanted}', expected "
                                  f"{nearest(wanted, names)}.")
            parts = [part for part in parts if getattr(part, kind) == wanted]
        return parts

    def operators(self) -> tuple[str, ...]:
        """Operators that there are rows of, in the order of ``OPERATORS``."""
        return tuple(dict.fromkeys(part.operator for part in self.parts()))

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

        Raises ParamsError for an unknown operator, or a file that cannot be read.
        """
        if operator not in OPERATORS:
            raise ParamsError(f"'{operator}' is not an operator, expected "
                              f"{nearest(operator, OPERATORS)}.")
        limits = {name: (wanted,) if isinstance(wanted, str) else tuple(wanted) for name, wanted in
                  (("card", card), ("engine", engine), ("dtype", dtype)) if wanted}
        tables = (file.table(operator, limits) for file in self.files)
        return joined(operator, [table for table in tables if table is not None])


def shelf(where: str | Path) -> Shelf:
    """Tables in a file or in a folder.

    A folder holds files in the columns of ``operators.yml`` (``.parquet``, ``.csv``), or is laid
    out as the packages' are, one of them or several side by side.

    Args:
        where: the file or folder.

    Raises ParamsError where there is no table.
    """
    path = Path(where).expanduser()
    try:
        path.stat()
        own = [OwnFile(file) for file in (sorted(path.rglob("*")) if path.is_dir() else [path])
               if file.suffix in (PARQUET, CSV) and file.is_file()]
    except (OSError, RuntimeError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or "not the name of a file").lower()
        raise ParamsError(f"{where}: cannot be read ({reason}), expected a table or a folder of "
                          "tables.") from None
    if files := packaged.files(path) or own:
        return Shelf(path, files)
    raise ParamsError(f"{where}: holds no table, expected a file that ends in {PARQUET} or {CSV}, "
                      "or a folder with such files.")
