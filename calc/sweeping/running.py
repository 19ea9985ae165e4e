"""A sweep from its definition to its result: chunks that are missing are computed, all reduced."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from calc.many.fronts import Rows
from calc.sweeping import parts
from calc.sweeping.chunks import ROW, RowCounts, reducer
from calc.sweeping.definition import Sweep
from calc.sweeping.plan import Plan, planned
from calc.sweeping.workers import Done, here, on_cluster

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Result:
    """What came of a sweep.

    Attributes:
        plan: of it.
        rows: that are kept: their numbers and quantities, the best first; none where all are
            kept, in parts.
        counted: rows in all, and those that were left out.
        folder: where the parts lie; None where none were written.
    """

    plan: Plan
    rows: Rows
    counted: RowCounts
    folder: Path | None = None

    def settings(self, place: int) -> dict[str, str]:
        """Path -> value of a row that is kept."""
        return self.plan.settings(int(self.rows[ROW][place]))

    def as_json(self) -> dict[str, Any]:
        """Plain data in SI units."""
        plan, left = self.plan, sorted(self.counted.left.items(), key=lambda item: item[1][1])
        return {
            "sweep": plan.key, "rows": self.counted.rows,
            "kept": "all" if plan.every else "front" if plan.best is None else plan.best,
            "objectives": {name: "max" if sign > 0 else "min"
                           for name, sign in plan.objectives.items()},
            "parts": str(self.folder) if self.folder else None,
            "left_out": [{"reason": reason, "rows": count, "first": plan.settings(first)}
                         for reason, (count, first) in left],
            "deployments": [{"settings": self.settings(i), **{
                name: float(self.rows[name][i]) for name in plan.names}}
                for i in range(len(self.rows.get(ROW, ())))],
        }


def swept(sweep: Sweep, folder: Path | None = None, workers: int | None = None,
          scheduler: str | None = None, progress: Progress = lambda done, of: None) -> Result:
    """Compute a sweep, or what is missing of it.

    The result is the same whatever the size of a chunk, whoever computes them, and however often it
    was interrupted; parts are the same byte by byte for the same size of a chunk.

    >>> from calc.sweeping.axes import axis
    >>> found = swept(Sweep("s2-910b1-awq", (axis("workload.concurrency", "1..64:x2", ""),),
    ...                     objectives={"tpot": -1, "output_throughput": +1}), workers=1)
    >>> [found.settings(i)["workload.concurrency"] for i in range(3)]
    ['1', '2', '4']

    Args:
        sweep: what is asked.
        folder: where parts are kept, and found again; None: nothing is written.
        workers: processes on this machine; None: one per core.
        scheduler: address of a Dask scheduler in their place.
        progress: told of every finished chunk: how many, of how many.

    Raises ParamsError for a sweep that cannot be, a part that is not ours, a full disk, and a
    scheduler that goes away.
    """
    plan = planned(sweep)
    there = parts.finished(folder, plan) if folder else set[int]()
    missing = [number for number in range(plan.chunks) if number not in there]
    found: Iterable[Done] = chain(
        ((number, *parts.read(folder, plan, number)) for number in sorted(there) if folder),
        on_cluster(plan, missing, scheduler) if scheduler and missing else
        here(plan, missing, workers))
    kept, counted = reducer(plan), RowCounts()
    for done, (number, rows, more) in enumerate(found, 1):
        if folder and number not in there:
            parts.write(folder, plan, number, rows, more)
        counted.merge(more)
        if kept:
            kept.add(rows)
        progress(done, plan.chunks)
    return Result(plan, kept.rows if kept else {}, counted, folder)
