"""Finished chunks as files: Parquet, named by number and sweep, written whole or not at all.

A part says in its own metadata which sweep it belongs to, so that one that was written by another
sweep, by another state of the program, or by somebody else is never taken for a part of this one.
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np

from calc.many.fronts import Rows
from calc.sweeping.chunks import ROW, RowCounts
from calc.sweeping.plan import Plan
from catalogue import ParamsError
from catalogue.reading.files import write_whole

PART, COUNTED = b"part", b"counted"
ENDING = ".parquet"


def path_of(folder: Path, plan: Plan, number: int) -> Path:
    """A part by its number among all, and the sweep."""
    return folder / f"part-{number:0{len(str(plan.chunks - 1))}}-{plan.key}{ENDING}"


def _plain(texts: list[str]) -> list[Any]:
    """Values of an axis as numbers where all of them are plain ones, else as they are written."""
    try:
        return [float(text) for text in texts]
    except ValueError:
        return texts


def finished(folder: Path, plan: Plan) -> set[int]:
    """Numbers of the parts that a folder has, which is made.

    Raises ParamsError for a folder that cannot be used, or that has a part of another sweep.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        standing = {path for path in folder.iterdir() if path.suffix == ENDING}
    except OSError as error:
        raise ParamsError(f"{folder}: no folder for the parts of a sweep "
                          f"({(error.strerror or 'refused').lower()}).") from None
    numbers = {path_of(folder, plan, number): number for number in range(plan.chunks)
               } if standing else {}
    for path in sorted(standing - numbers.keys()):
        raise ParamsError(f"{path}: not a part of this sweep ({plan.key}), expected an empty "
                          "folder or one with its parts.")
    return {numbers[path] for path in standing}


def write(folder: Path, plan: Plan, number: int, rows: Rows, counted: RowCounts) -> None:
    """Keep a finished chunk: the values of the axes, then the quantities, in SI units.

    Raises ParamsError where there is no room for it; the others stay.
    """
    import pyarrow
    from pyarrow import parquet

    path, columns = path_of(folder, plan, number), {ROW: pyarrow.array(rows[ROW])}
    places = np.unravel_index(rows[ROW], plan.shape)
    for axis, place in zip(plan.axes, places, strict=True):
        for at, name in enumerate(axis.paths):
            texts = pyarrow.array(_plain([value[at] for value in axis.values]))
            columns[name] = texts.take(pyarrow.array(place))
    table = pyarrow.table(columns | {name: rows[name] for name in plan.names}
                          ).replace_schema_metadata({
        PART: f"{plan.key} {number}".encode(), COUNTED: json.dumps(vars(counted), sort_keys=True)})
    target = io.BytesIO()
    parquet.write_table(table, target, compression="zstd", write_page_checksum=True)
    try:
        write_whole(path, target.getvalue())
    except OSError as error:
        raise ParamsError(
            f"{path}: cannot be written ({(error.strerror or 'refused').lower()}); finished parts "
            "are kept, the same command goes on from there.") from None


def read(folder: Path, plan: Plan, number: int) -> tuple[Rows, RowCounts]:
    """The rows of a part, without the values of its axes, and what was counted.

    Where all rows are kept they stay in the part.

    Raises ParamsError for a part of another sweep, or one that is not as it was written.
    """
    from pyarrow import ArrowException, parquet

    path, names = path_of(folder, plan, number), [] if plan.every else [ROW, *plan.names]
    try:
        table = parquet.read_table(path, columns=names, page_checksum_verification=True)
        said = table.schema.metadata
        if said[PART] != f"{plan.key} {number}".encode():
            raise ValueError
        counted = json.loads(said[COUNTED])
        rows = {column: table[column].to_numpy() for column in names}
    except (ArrowException, OSError, ValueError, KeyError, TypeError):
        raise ParamsError(f"{path}: not part {number} of this sweep as it was written; remove it "
                          "to have it computed again.") from None
    return rows, RowCounts(counted["rows"], {
        reason: (count, first) for reason, (count, first) in counted["left"].items()})
