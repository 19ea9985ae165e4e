"""Finished chunks as files: Parquet, named by number and sweep, written whole or not at all.

A part says in its own metadata which sweep it belongs to, so that one that was written by another
sweep, by another state of the program, or by somebody else is never taken for a part of this one.
It also has the sum of its own bytes, with naughts where that stands.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from calc.many.fronts import Rows
from calc.sweeping.chunks import ROW, RowCounts
from calc.sweeping.plan import Plan
from catalogue import ParamsError, units
from catalogue.reading.files import write_whole

if TYPE_CHECKING:
    import pyarrow

KEY, NUMBER, COUNTED, SUM = b"sweep", b"part", b"counted", b"sum"
NO_SUM = b"0" * 64  # in place of the sum while it is made
ENDING = ".parquet"
CODEC = "zstd"


def name(plan: Plan, number: int) -> str:
    """Name of a part: its number among all, and the sweep."""
    return f"part-{number:0{len(str(plan.chunks - 1))}}-{plan.key}{ENDING}"


def encoded(plan: Plan, number: int, rows: Rows, counted: RowCounts) -> bytes:
    """A finished chunk as the bytes of its part: the values of the axes, then the quantities."""
    import pyarrow
    from pyarrow import parquet

    places = np.unravel_index(rows[ROW], plan.shape)
    columns: dict[str, Any] = {ROW: rows[ROW]}
    for axis, place in zip(plan.axes, places, strict=True):
        for at, path in enumerate(axis.paths):
            texts = pyarrow.array(_plain([value[at] for value in axis.values]))
            columns[path] = texts.take(pyarrow.array(place))
    columns |= {quantity: rows[quantity] for quantity in plan.names}  # in SI units
    table = pyarrow.table(columns).replace_schema_metadata({
        KEY: plan.key.encode(), NUMBER: str(number).encode(),
        COUNTED: json.dumps(vars(counted), sort_keys=True).encode()})
    target = io.BytesIO()
    with parquet.ParquetWriter(target, table.schema, compression=CODEC,
                               write_page_checksum=True) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({SUM: NO_SUM})
    data = target.getvalue()
    before, _, after = data.rpartition(NO_SUM)
    return before + _sum(data) + after


def _sum(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest().encode()


def _plain(texts: list[str]) -> list[Any]:
    """Values of an axis as numbers where all of them are plain ones, else as they are written."""
    try:
        pairs = [units.split(text) for text in texts]
    except ValueError:
        return texts
    return [float(digits) for digits, _ in pairs] if all(
        unit == units.DIMENSIONLESS for _, unit in pairs) else texts


class Folder:
    """Where the parts of a sweep lie.

    Args:
        path: of the folder, which is made.
        plan: of the sweep.

    Raises ParamsError for a folder that cannot be used, or that holds a part which is not ours.
    """

    def __init__(self, path: Path, plan: Plan) -> None:
        self.path, self.plan = path, plan
        try:
            path.mkdir(parents=True, exist_ok=True)
            standing = sorted(entry.name for entry in path.iterdir() if entry.suffix == ENDING)
        except OSError as error:
            raise ParamsError(f"{path}: no folder for the parts of a sweep "
                              f"({(error.strerror or 'refused').lower()}).") from None
        numbers = {name(plan, number): number for number in range(plan.chunks)} if standing else {}
        for file in standing:
            if file not in numbers:
                raise ParamsError(f"{path / file}: not a part of this sweep ({plan.key}), expected "
                                  "an empty folder or one with its parts.")
        self.finished = {numbers[file] for file in standing}
        for number in self.finished:
            self.metadata(number)

    def metadata(self, number: int) -> Mapping[bytes, bytes]:
        """What a part says of itself. Raises ParamsError for one that is not ours, or is none."""
        from pyarrow import ArrowException, parquet

        file = self.path / name(self.plan, number)
        try:
            found = parquet.read_metadata(file)
            names = set(found.schema.to_arrow_schema().names)
        except (ArrowException, OSError, ValueError):
            raise ParamsError(f"{file}: not a Parquet file, expected a part of this sweep; remove "
                              "it to have it computed again.") from None
        said: Mapping[bytes, bytes] = found.metadata or {}
        columns = {ROW, *self.plan.names, *(path for axis in self.plan.axes for path in axis.paths)}
        if (said.get(KEY), said.get(NUMBER)) != (
                self.plan.key.encode(), str(number).encode()) or names != columns:
            raise ParamsError(f"{file}: holds another sweep than its name says, expected part "
                              f"{number} of {self.plan.key}; remove it to have it computed again.")
        return said

    def write(self, number: int, data: bytes) -> None:
        """Keep a part. Raises ParamsError where there is no room for it; the others stay."""
        file = self.path / name(self.plan, number)
        try:
            write_whole(file, data)
        except OSError as error:
            raise ParamsError(
                f"{file}: cannot be written ({(error.strerror or 'refused').lower()}); "
                f"{len(self.finished):,} of {self.plan.chunks:,} parts are finished and kept, the "
                "same command goes on from there.") from None
        self.finished.add(number)

    def read(self, number: int) -> tuple[Rows, RowCounts]:
        """The rows of a part, without the values of its axes, and what was counted.

        Where all rows are kept they stay in the part.
        """
        from pyarrow import ArrowException, parquet

        said = self.metadata(number)
        file = self.path / name(self.plan, number)
        names = [] if self.plan.every else [ROW, *self.plan.names]
        try:
            data, told = file.read_bytes(), said[SUM]
            before, _, after = data.rpartition(told)
            if _sum(before + NO_SUM + after) != told:
                raise ValueError
            table: pyarrow.Table = parquet.read_table(
                io.BytesIO(data), columns=names or None, page_checksum_verification=True)
            counted = json.loads(said[COUNTED])
        except (ArrowException, OSError, ValueError, KeyError):
            raise ParamsError(f"{file}: is not as it was written; remove it to have it computed "
                              "again.") from None
        rows = {column: table[column].to_numpy() for column in names}
        return rows, RowCounts(counted["rows"], {
            reason: (count, first) for reason, (count, first) in counted["left"].items()})
