"""Measured rows that predictions are tested on and that nothing may be fitted to."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, model_validator

from catalogue.entries.entry import CatalogueEntry
from catalogue.reading import units
from catalogue.reading.values import Date, Misplaced, SourceKey, Text

METRIC_UNITS: dict[str, str] = {"tpot": "s", "ttft": "s", "output_throughput": "token/s",
                                "total_throughput": "token/s"}
PREFILL = "prefill."  # of a column that sets the prefill pool of two
TEXT_UNIT = "name"  # of a column whose cells name something


def _cell(raw: Any) -> Any:
    if isinstance(raw, str):
        try:
            return float(raw)
        except ValueError:
            return raw
    if raw is None or (isinstance(raw, (int, float)) and not isinstance(raw, bool)):
        return raw
    raise ValueError("expected a number, a name or null")


Cell = Annotated[float | int | str | None, BeforeValidator(_cell)]


class Gate(CatalogueEntry):
    """A measured system that is tested on, never fitted to.

    ``deployment`` holds what all rows share, as a file of ``params/scenarios/`` does. A column
    named after a metric holds measured values, any other column is the path of a setting of the
    deployment (``workload.concurrency``) or, with the prefix ``prefill.``, of its prefill pool.
    An empty cell (``null``) leaves a setting as shared, and a metric unmeasured.

    Attributes:
        test_only: the flag; nothing may be fitted to these rows.
        deployment: scenario that all rows share.
        prefill: settings in which the prefill pool differs; absent for one pool.
        statistic: of times: the median of requests in a steady state, or the mean of a whole run
            that begins with all requests in flight at once.
        columns: name -> unit; ``name`` for a setting that is a name.
        rows: cells in the order of the columns.
    """

    source: SourceKey
    kind: Literal["measured"]
    date: Date | None = None
    test_only: Literal[True]
    deployment: dict[str, Any]
    prefill: dict[str, Any] | None = None
    definitions: dict[str, Text] = {}
    statistic: Literal["median", "mean"] = "median"
    columns: dict[str, str]
    rows: list[list[Cell]]

    @model_validator(mode="after")
    def _consistent(self) -> Gate:
        for name, unit in self.columns.items():
            if unit == TEXT_UNIT and name not in METRIC_UNITS:
                continue
            try:
                found = units.dimensions(unit)
            except ValueError as error:
                raise Misplaced(str(error), "columns", name) from None
            if name in METRIC_UNITS and found != units.dimensions(METRIC_UNITS[name]):
                raise Misplaced(f"'{unit}' is the wrong unit for '{name}', expected one of "
                                f"{METRIC_UNITS[name]}", "columns", name)
        if not self.metrics:
            raise Misplaced(f"no column is measured, expected one of {', '.join(METRIC_UNITS)}",
                            "columns")
        for number, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                raise Misplaced(f"row {number + 1} has {len(row)} cells, expected "
                                f"{len(self.columns)}", "rows", number)
            for name, cell in zip(self.columns, row, strict=True):
                if name in METRIC_UNITS and cell is not None and (
                        isinstance(cell, str) or not 0 < cell < math.inf):
                    raise Misplaced(f"row {number + 1} has {cell!r} in '{name}', expected a "
                                    "number above 0", "rows", number)
        return self

    @property
    def metrics(self) -> list[str]:
        """Columns that are measured."""
        return [name for name in self.columns if name in METRIC_UNITS]

    def measured(self, row: int) -> dict[str, float]:
        """Measured values of a row in SI units.

        Args:
            row: index.
        """
        cells = dict(zip(self.columns, self.rows[row], strict=True))
        return {name: cell * units.factor(self.columns[name]) for name, cell in cells.items()
                if name in METRIC_UNITS and isinstance(cell, (int, float))}

    def settings(self, row: int) -> dict[str, Any]:
        """Settings of a row by path, a number with its unit as a text.

        Args:
            row: index.
        """
        cells = dict(zip(self.columns, self.rows[row], strict=True))
        return {name: cell if isinstance(cell, str) or self.columns[name] in (TEXT_UNIT, "1")
                else f"{cell} {self.columns[name]}"
                for name, cell in cells.items() if name not in METRIC_UNITS and cell is not None}
