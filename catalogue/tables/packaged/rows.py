"""Rows of one file of a package while they become ours: columns by their old names, in SI."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from catalogue.tables import columns as files
from catalogue.tables.packaged import names

if TYPE_CHECKING:
    import pyarrow

MS, US = 1e-3, 1e-6


@dataclass(frozen=True)
class Raw:
    """Columns of a file [rows], and the folders that it stood in."""

    table: pyarrow.Table
    card: str
    framework: str
    release: str

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def has(self, name: str) -> bool:
        """Whether the file has a column."""
        return name in self.table.column_names

    def text(self, name: str, default: str = "") -> NDArray[Any]:
        """A column of texts [rows], or the default throughout."""
        if not self.has(name):
            return np.full(len(self), default, object)
        return files.texts(self.table[name])

    def number(self, name: str, default: int | None = None) -> NDArray[np.int64]:
        """A column of whole numbers [rows]. Raises KeyError where it is missing without default."""
        if not self.has(name) and default is not None:
            return np.full(len(self), default, np.int64)
        found = files.numbers(self._column(name))
        return np.where(np.isfinite(found), found, 0 if default is None else default).astype(
            np.int64)

    def time(self, name: str = "latency", unit: float = MS) -> NDArray[np.float64]:
        """A column of times [s]. Raises KeyError where it is missing."""
        return files.numbers(self._column(name)) * unit

    def _column(self, name: str) -> pyarrow.ChunkedArray:
        if not self.has(name):
            raise KeyError(name)
        return self.table[name]

    def dtype(self, name: str) -> NDArray[Any]:
        """A column of formats, by our names."""
        return names.dtypes(self.text(name))

    def skew(self) -> NDArray[Any]:
        """How unevenly tokens fall to experts."""
        return names.skews(self.text("distribution"))

    def engine(self) -> NDArray[Any]:
        """Engine and release of every row."""
        (said, first), (version, second) = (
            files.coded(self.table[name]) if self.has(name) else
            (np.array([""], object), np.zeros(len(self), np.int64))
            for name in ("framework", "version"))
        found = np.array([names.engine(self.framework, self.release, one, other)
                          for one in said for other in version], dtype=object)
        return found[first * len(version) + second]


@dataclass(frozen=True)
class Block:
    """Rows of one operator among those of a file.

    Attributes:
        operator: of ``catalogue.tables.OPERATORS``.
        columns: of its shape, its ``dtype`` and its ``time``, for all rows of the file or one value
            for all; ``kernel`` where the file's own column is not it.
        at: mask of the file's rows that are meant; None for all.
    """

    operator: str
    columns: Mapping[str, NDArray[Any] | int | str]
    at: NDArray[np.bool_] | None = None
