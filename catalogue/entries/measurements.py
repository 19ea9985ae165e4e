"""Tables of measured results: columns with units, rows, what is in doubt and why."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, model_validator

from catalogue.entries.entry import CatalogueEntry, Entry
from catalogue.reading import units
from catalogue.reading.values import AnyQuantity, Date, Misplaced, SourceKey, Text, Whole, Words


def _measured(raw: Any) -> float:
    if isinstance(raw, bool):
        raise ValueError("expected a number")
    number = units.parse(raw, units.DIMENSIONLESS)
    if number < 0:
        raise ValueError(f"'{raw}' is out of range, expected at least 0")
    return float(number)


Measured = Annotated[float, BeforeValidator(_measured)]


class Suspect(Entry):
    """Rows that are shown, but that nothing is fitted to or judged by, and why.

    ``rows``: numbers of rows from 1, or columns with the values that such rows have, as written.
    """

    rows: list[Whole] | dict[str, list[Measured]]
    reason: Text


class PeerPrediction(Entry):
    """What another tool predicts for a row (from 1) of the table: ``metric`` is its column."""

    tool: Words
    metric: str
    row: Whole = 1
    value: AnyQuantity


class BlindPrediction(Entry):
    """What was predicted of a cell before it was known, with its 80% interval.

    ``metric`` is its column, ``row`` counts from 1; the numbers are in the unit of the column.
    """

    metric: str
    row: Whole = 1
    value: Measured
    low: Measured
    high: Measured

    @model_validator(mode="after")
    def _ordered(self) -> BlindPrediction:
        if not 0 < self.low <= self.value <= self.high:
            raise Misplaced(f"expected 0 < low <= value <= high, found {self.low:g}, "
                            f"{self.value:g}, {self.high:g}", "value")
        return self


class BlindRatio(Entry):
    """A ratio of two rates of which a source prints neither: measured, and predicted blind [1]."""

    of: Text
    measured: Measured
    value: Measured


class Blind(Entry):
    """Predictions that were made before anybody here had seen the measurement; never recomputed.

    ``made_at`` says with which state of the project, and what that could not yet describe.
    """

    made_at: Text
    predictions: list[BlindPrediction]
    ratios: list[BlindRatio] = []


class Measurements(CatalogueEntry):
    """A table of measured results of one system: columns with units, rows of numbers.

    A cell that the source leaves empty is ``null``. ``definitions`` says what a column means in its
    source; one that is computed from others says how. ``peer_predictions`` and ``blind`` are not
    measurements.
    ``unequal`` are numbers of rows (from 1) whose requests have many lengths, of which only the
    mean is stated; ``even`` of those among them whose client draws each length evenly, from one
    token to twice the mean. A client holds requests back until an answer has come, as with
    ``--max-concurrency``; ``sent_at_once`` says of which rows it does not, by number or of all, so
    that waiting for a place counts. ``medians`` are columns that are medians over requests,
    where others are means.
    """

    source: SourceKey
    kind: Literal["measured"]
    date: Date | None = None
    columns: dict[str, str]
    rows: list[list[Measured | None]]
    definitions: dict[str, Text] = {}
    suspect: list[Suspect] = []
    unequal: list[Whole] = []
    even: list[Whole] = []
    sent_at_once: bool | list[Whole] = False
    medians: list[Literal["tpot", "ttft", "e2e"]] = []
    peer_predictions: list[PeerPrediction] = []
    blind: Blind | None = None

    @model_validator(mode="after")
    def _rectangular(self) -> Measurements:
        for name, unit in self.columns.items():
            if not name.isidentifier():
                raise Misplaced("the name of a column is letters, digits and '_'", "columns", name)
            try:
                units.dimensions(unit)
            except ValueError as error:
                raise Misplaced(str(error), "columns", name) from None
        for number, row in enumerate(self.rows, 1):
            if len(row) != len(self.columns):
                raise Misplaced(f"row {number} has {len(row)} numbers, "
                                f"expected {len(self.columns)}", "rows", number - 1)
        return self

    @model_validator(mode="after")
    def _named(self) -> Measurements:
        """What is marked or predicted is there."""
        for number, suspect in enumerate(self.suspect):
            at = ("suspect", number, "rows")
            if isinstance(suspect.rows, list):
                if lost := [row for row in suspect.rows if row > len(self.rows)]:
                    raise Misplaced(f"there is no row {lost[0]}, the table has {len(self.rows)}",
                                    *at)
                continue
            if unknown := [name for name in suspect.rows if name not in self.columns]:
                raise Misplaced(f"there is no column '{unknown[0][:60]}', expected one of "
                                f"{', '.join(self.columns)}", *at)
            chosen = [self.rows[row - 1] for row in self._rows_of(suspect)]
            for name, values in suspect.rows.items():
                named = {row[list(self.columns).index(name)] for row in chosen}
                if missing := [value for value in values if value not in named]:
                    raise Misplaced(f"no row that it names has {name} {missing[0]:g}", *at, name)
        at_once = self.sent_at_once if isinstance(self.sent_at_once, list) else []
        for name, marked in (("unequal", self.unequal), ("even", self.even),
                             ("sent_at_once", at_once)):
            if lost := [row for row in marked if row > len(self.rows)]:
                raise Misplaced(f"there is no row {lost[0]}, the table has {len(self.rows)}", name)
        if lost := [row for row in self.even if row not in self.unequal]:
            raise Misplaced(f"row {lost[0]} is not among 'unequal', whose lengths vary", "even")
        if absent := [name for name in self.medians if name not in self.columns]:
            raise Misplaced(f"there is no column '{absent[0]}', expected one of "
                            f"{', '.join(self.columns)}", "medians")
        for number, peer in enumerate(self.peer_predictions):
            there = ("peer_predictions", number)
            if peer.metric not in self.columns:
                raise Misplaced(f"there is no column '{peer.metric[:60]}', expected one of "
                                f"{', '.join(self.columns)}", *there, "metric")
            if peer.row > len(self.rows):
                raise Misplaced(f"there is no row {peer.row}, the table has {len(self.rows)}",
                                *there, "row")
            if peer.value.unit != units.si(self.columns[peer.metric]):
                raise Misplaced(f"'{peer.value.written}' has the wrong unit, '{peer.metric}' is in "
                                f"{self.columns[peer.metric]}", *there, "value")
        return self

    @model_validator(mode="after")
    def _blind_of_a_cell(self) -> Measurements:
        """What was predicted blind was measured, and is predicted once."""
        seen = set()
        for number, made in enumerate(self.blind.predictions if self.blind else []):
            there = ("blind", "predictions", number)
            if made.metric not in self.columns:
                raise Misplaced(f"there is no column '{made.metric[:60]}', expected one of "
                                f"{', '.join(self.columns)}", *there, "metric")
            if made.row > len(self.rows):
                raise Misplaced(f"there is no row {made.row}, the table has {len(self.rows)}",
                                *there, "row")
            if self.rows[made.row - 1][list(self.columns).index(made.metric)] is None:
                raise Misplaced(f"row {made.row} has no {made.metric}", *there, "row")
            if (made.metric, made.row) in seen:
                raise Misplaced(f"row {made.row} is predicted twice", *there, "row")
            seen.add((made.metric, made.row))
        return self

    def _rows_of(self, suspect: Suspect) -> list[int]:
        """Numbers of the rows that an entry names, from 1."""
        if isinstance(suspect.rows, list):
            return list(suspect.rows)
        wanted = [(list(self.columns).index(name), values)
                  for name, values in suspect.rows.items()]
        return [number for number, row in enumerate(self.rows, 1)
                if all(row[index] in values for index, values in wanted)]

    @property
    def suspect_rows(self) -> dict[int, Text]:
        """Number of a suspect row, from 1 -> why; of several reasons the first."""
        found: dict[int, Text] = {}
        for suspect in self.suspect:
            found |= {row: suspect.reason for row in self._rows_of(suspect) if row not in found}
        return dict(sorted(found.items()))

    def column(self, name: str) -> list[float]:
        """One column in SI units; a cell that is empty is not a number (nan)."""
        index = list(self.columns).index(name)
        factor = units.factor(self.columns[name])
        return [math.nan if (cell := row[index]) is None else cell * factor for row in self.rows]
