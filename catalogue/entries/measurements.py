"""Measured results: tables, gates, start-up logs, shortest steps and scores of formats.

Gates are measured rows that predictions are tested on and never fitted to. The shortest measured
steps are upper bounds of what the kernels of a step take.
"""

import math
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from catalogue.entries.entry import (
    CatalogueEntry,
    DeviceName,
    Entry,
    ModelName,
    Plain,
    PrecisionName,
    Problem,
    ScenarioName,
    Sourced,
    just_one,
    repeated,
    together,
)
from catalogue.entries.formulas import SymbolUnit, unit_name
from catalogue.entries.hardware import Number
from catalogue.reading import units
from catalogue.reading.values import (
    AnyQuantity,
    Count,
    Date,
    Flag,
    Positive,
    Text,
    Time,
    Unit,
    Value,
    Words,
)

Measured = Annotated[float, Plain("1", exclusive=False, maximum=None)]


class Suspect(Entry):
    """Rows that are shown, but that nothing is fitted to or judged by, and why.

    ``rows``: numbers of rows from 1, or columns with the values that such rows have, as written.
    """

    rows: list[Positive] | dict[str, list[Measured]]
    reason: Text


class OfCell(Entry):
    """What stands beside a cell of the table: ``metric`` is its column, ``row`` counts from 1."""

    metric: str
    row: Positive = 1


class PeerPrediction(OfCell):
    """What another tool predicts."""

    tool: Words
    value: AnyQuantity


class BlindPrediction(OfCell):
    """What was predicted of a cell before it was known, with its 80% interval, in the unit of the
    column."""

    value: Measured
    low: Measured
    high: Measured

    def violations(self) -> Iterator[Problem]:
        """The value is in its interval."""
        if not 0 < self.low <= self.value <= self.high:
            yield (f"expected 0 < low <= value <= high, found {self.low:g}, {self.value:g}, "
                   f"{self.high:g}", "value")


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


METRIC_UNITS: dict[str, str] = {"tpot": "s", "ttft": "s", "output_throughput": "token/s",
                                "total_throughput": "token/s"}
TEXT_UNIT = "name"  # of a column whose cells name something


class Table(CatalogueEntry, Sourced):
    """Measured results: columns with units, rows of cells in their order."""

    kind: Literal["measured"]
    columns: dict[str, Any]
    rows: list[list[Any]]
    definitions: dict[str, Text] = {}

    def violations(self) -> Iterator[Problem]:
        """Metrics have their units, and every row has a cell for each column."""
        for name in METRIC_UNITS.keys() & self.columns:
            unit = self.columns[name]
            if unit == TEXT_UNIT or units.si(unit) != METRIC_UNITS[name]:
                yield (f"'{unit}' is the wrong unit for '{name}', expected one of "
                       f"{METRIC_UNITS[name]}", "columns", name)
        for number, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                yield f"{len(row)} cells, expected {len(self.columns)}", "rows", number

    def cells(self, row: int) -> dict[str, Any]:
        """Cells of a row (from 0) by column."""
        return dict(zip(self.columns, self.rows[row], strict=True))


class Measurements(Table):
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

    columns: dict[Annotated[str, Field(pattern=r"^[^\W\d]\w*$")], SymbolUnit]
    rows: list[list[Measured | None]]
    suspect: list[Suspect] = []
    unequal: list[Positive] = []
    even: list[Positive] = []
    sent_at_once: bool | list[Positive] = False
    medians: list[Literal["tpot", "ttft", "e2e"]] = []
    peer_predictions: list[PeerPrediction] = []
    blind: Blind | None = None

    def violations(self) -> Iterator[Problem]:
        """What is marked or predicted is in the table, and is predicted blind once."""
        yield from super().violations()
        for number, suspect in enumerate(self.suspect):
            at = ("suspect", number, "rows")
            if isinstance(suspect.rows, list):
                yield from self._without(suspect.rows, *at)
            for name in suspect.rows if isinstance(suspect.rows, dict) else ():
                yield from self._without_column(name, *at)
            if not self._rows_of(suspect):
                yield "there is no such row", *at
        for key in ("unequal", "even", "sent_at_once"):
            marked = getattr(self, key)
            yield from self._without(marked if isinstance(marked, list) else (), key)
        if lost := [row for row in self.even if row not in self.unequal]:
            yield f"row {lost[0]} is not among 'unequal', whose lengths vary", "even"
        for name in self.medians:
            yield from self._without_column(name, "medians")
        beside: list[tuple[tuple[str | int, ...], OfCell]] = [
            (("peer_predictions", number), peer)
            for number, peer in enumerate(self.peer_predictions)]
        beside += [(("blind", "predictions", number), prediction) for number, prediction
                   in enumerate(self.blind.predictions if self.blind else ())]
        for there, item in beside:
            yield from self._without_column(item.metric, *there, "metric")
            yield from self._without([item.row], *there, "row")
            if self.cells(item.row - 1)[item.metric] is None:
                yield f"row {item.row} has no {item.metric}", *there, "row"
            if isinstance(item, PeerPrediction) and item.value.unit != (
                    units.si(unit := self.columns[item.metric])):
                yield (f"'{item.value.written}' has the wrong unit, '{item.metric}' is in {unit}",
                       *there, "value")

    def _without(self, rows: Iterable[int], *at: str | int) -> Iterator[Problem]:
        """That the table lacks a row, by its number from 1."""
        for row in rows:
            if row > len(self.rows):
                yield f"there is no row {row}, the table has {len(self.rows)}", *at

    def _without_column(self, name: str, *at: str | int) -> Iterator[Problem]:
        """That the table lacks a column."""
        if name not in self.columns:
            yield (f"there is no column '{name[:60]}', expected one of {', '.join(self.columns)}",
                   *at)

    def _rows_of(self, suspect: Suspect) -> list[int]:
        """Numbers of the rows that an entry names, from 1."""
        wanted = suspect.rows
        if isinstance(wanted, list):
            return wanted
        return [number + 1 for number in range(len(self.rows))
                if all(self.cells(number)[name] in values for name, values in wanted.items())]

    @property
    def suspect_rows(self) -> dict[int, Text]:
        """Number of a suspect row, from 1 -> why; of several reasons the first."""
        return dict(sorted({row: suspect.reason for suspect in reversed(self.suspect)
                            for row in self._rows_of(suspect)}.items()))

    def column(self, name: str) -> list[float]:
        """One column in SI units; a cell that is empty is not a number (nan)."""
        factor = units.factor(self.columns[name])
        return [math.nan if (cell := self.cells(row)[name]) is None else cell * factor
                for row in range(len(self.rows))]


PREFILL = "prefill."  # of a column that sets the prefill pool of two


Cell = Annotated[float | str | None, Field(union_mode="left_to_right")]
ColumnUnit = Annotated[str, BeforeValidator(
    lambda raw: raw if raw == TEXT_UNIT else unit_name(raw))]


class Gate(Table):
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

    test_only: Literal[True]
    deployment: dict[str, Any]
    prefill: dict[str, Any] | None = None
    statistic: Literal["median", "mean"] = "median"
    columns: dict[str, ColumnUnit]
    rows: list[list[Cell]]

    def violations(self) -> Iterator[Problem]:
        """Metrics are measured, and above zero."""
        yield from super().violations()
        for name in self.metrics:
            for row in range(len(self.rows)):
                cell = self.cells(row)[name]
                if cell is not None and (isinstance(cell, str) or not 0 < cell < math.inf):
                    yield f"'{name}' is {cell!r}, expected a number above 0", "rows", row
        if not self.metrics:
            yield f"no column is measured, expected one of {', '.join(METRIC_UNITS)}", "columns"

    @property
    def metrics(self) -> list[str]:
        """Columns that are measured."""
        return [name for name in self.columns if name in METRIC_UNITS]

    def measured(self, row: int) -> dict[str, float]:
        """Measured values of a row in SI units.

        Args:
            row: index.
        """
        return {name: cell * units.factor(self.columns[name])
                for name, cell in self.cells(row).items()
                if name in METRIC_UNITS and cell is not None}

    def settings(self, row: int) -> dict[str, Any]:
        """Settings of a row by path, a number with its unit as a text.

        Args:
            row: index.
        """
        return {name: cell if isinstance(cell, str) or self.columns[name] in (TEXT_UNIT, "1")
                else f"{cell} {self.columns[name]}" for name, cell in self.cells(row).items()
                if name not in METRIC_UNITS and cell is not None}


PRINTED_UNITS: dict[str, str] = {
    "free_before_load": "B", "weights": "B", "free_after_load": "B", "activations": "B",
    "runtime": "B", "graphs": "B", "available": "B", "cache": "B", "tokens": "token",
    "window_tokens": "token", "blocks": "block", "requests": "request", "request_memory": "B",
    "longest": "token"}
"""What engines print of memory, each with its SI unit."""
JUDGED = ("weights", "available", "tokens", "requests", "request_memory", "longest")
"""Printed figures that predictions are compared with; the others explain them."""
Excluded = Literal["fork", "shared-card", "layout", "release", "offload", "contradictory",
                   "no-figure", "card", "model",
                   "repeat"]


class StartupLog(Entry):
    """What one engine printed at its start.

    Attributes:
        id: unique among all logs.
        source: address of the report.
        date: of the report.
        deployment: as a file of ``params/scenarios/`` states it, where it is known well enough.
        settings: of parts of its entries, by path, as ``--set`` takes them.
        excluded: why nothing is compared with it; None if it is compared.
        detail: what an excluded log lacks, or what was assumed of the deployment.
        longest_context: tokens of a request in ``requests`` and ``request_memory`` [token].
        printed: figures by name of ``PRINTED_UNITS``, with units.
        recorded: predictions by the same names, value and both ends of the 80% interval in SI
            units, made before any rule was changed after the log was found; never recomputed.
        fitted: whether a value of the catalogue was set on it.
        blind: whether it was found after the rules were written, which made ``recorded``.
    """

    id: str
    source: Words
    date: Date
    deployment: dict[str, Any] | None = None
    settings: dict[str, str] = {}
    excluded: Excluded | None = None
    detail: Words | None = None
    longest_context: int | None = None
    fitted: Flag = False
    blind: Flag = False
    printed: dict[str, str | int | float]
    recorded: dict[str, tuple[Measured, Measured, Measured]] = {}

    def violations(self) -> Iterator[Problem]:
        """Printed figures are known ones, of a deployment that is known or excluded."""
        for name, raw in self.printed.items():
            if name not in PRINTED_UNITS:
                yield (f"'{name[:60]}' is not a printed figure, expected one of "
                       f"{', '.join(PRINTED_UNITS)}", "printed")
            try:
                units.parse(raw, PRINTED_UNITS[name])
            except ValueError as error:
                yield str(error), "printed", name
        if self.excluded is None and self.deployment is None:
            yield "a log without a deployment needs a reason in 'excluded'", "id"
        if {"requests", "request_memory"} & self.printed.keys() and self.longest_context is None:
            yield "'longest_context' is missing: of how many tokens are the requests?", "printed"

    @property
    def figures(self) -> dict[str, float]:
        """Printed figures in SI units by name."""
        return {name: float(units.parse(raw, PRINTED_UNITS[name]))
                for name, raw in self.printed.items()}

    def rounded_by(self, name: str) -> float:
        """Half of the last digit that a printed figure has, in SI units.

        Args:
            name: of the figure.
        """
        number, _, unit = str(self.printed[name]).partition(" ")
        half = 0.5 / 10 ** len(number.partition(".")[2])
        return float(units.parse(f"{half} {unit}".strip(), PRINTED_UNITS[name]))


class StartupLogs(CatalogueEntry):
    """Start-up logs of one engine."""

    kind: Literal["measured"]
    logs: list[StartupLog]

    def violations(self) -> Iterator[Problem]:
        """Logs are told apart by their ids."""
        for number, name in repeated(log.id for log in self.logs):
            yield f"a second log '{name[:60]}'", "logs", number


class MeasuredStep(Entry):
    """The shortest step that was measured of a model on a card.

    Attributes:
        model, device, precision: of it.
        engine: that ran it, with its release if it is known.
        tensor_parallel: ranks of one replica, the only kind of parallelism [1].
        users: requests in the step [1].
        tpot: time per output token without drafts [s].
    """

    model: ModelName
    device: DeviceName
    precision: PrecisionName
    engine: Words
    tensor_parallel: Count
    users: Number
    tpot: Time


class StepBounds(CatalogueEntry):
    """Steps of several models; each bounds the laws of its card and format."""

    steps: list[MeasuredStep]


DIGITS = 3  # of a difference of two printed percentages
Percentage = Annotated[Value, Unit("1", exclusive=False, maximum=100.0, spread=False)]


class Benchmark(Entry):
    """A set of problems, each solved or not.

    Attributes:
        name: as its authors write it.
        problems: of the set that the scores are of [1]; ``others`` are further sets which the name
            may mean.
    """

    name: Text
    problems: Count


class Score(Entry):
    """A system's score on a benchmark.

    Attributes:
        system: key of ``systems``.
        benchmark: key of ``benchmarks``.
        solved: percentage of the problems, as printed.
        answers: generated per problem, over which the score is a mean [1]; None where it is not
            stated.
    """

    system: str
    benchmark: str
    solved: Percentage
    answers: Count | None = None


class FormatScore(Entry):
    """What the weights of a model scored in a format, and in another where one source has both.

    Attributes:
        model: of the catalogue; absent, one that it does not have, of ``family`` then.
        family: models of one architecture, as ``Model.family`` has it.
        weights: which were evaluated, as their publisher calls them.
        precision: the format, an entry of ``params/precisions/``.
        benchmark: as its authors write it.
        solved: percentage of the problems.
        against: the format of the other score.
        reference: percentage in it, by the same source and way of asking.
        engine, card: what ran it.
    """

    model: ModelName | None = None
    family: Words | None = None
    weights: Words
    precision: PrecisionName
    benchmark: Words
    solved: Percentage
    against: PrecisionName | None = None
    reference: Percentage | None = None
    engine: Words | None = None
    card: Words | None = None

    def violations(self) -> Iterator[Problem]:
        """A reference has its format, and a score its model."""
        yield from together(self, "against", "reference")
        yield from just_one(self, "model", "family")

    @property
    def source(self) -> str:
        """Key of who printed it."""
        return self.solved.source

    @property
    def difference(self) -> float | None:
        """Points over the reference, below zero where the format costs; None without one."""
        return None if self.reference is None else round(self.solved.value - self.reference.value,
                                                         DIGITS)


class Accuracy(CatalogueEntry):
    """Scores of several systems on several benchmarks, as one document sets them side by side.

    Attributes:
        scenario: the deployment that the first of ``systems`` is.
        systems: what was evaluated, by key.
        benchmarks: on what, by key.
        scores: the table's cells.
        formats: scores of one format beside another's, of any model.
    """

    scenario: ScenarioName | None = None
    systems: dict[str, Text] = {}
    benchmarks: dict[str, Benchmark] = {}
    scores: list[Score] = []
    formats: list[FormatScore] = []

    def violations(self) -> Iterator[Problem]:
        """Scores are of systems and benchmarks that are named."""
        for number, score in enumerate(self.scores):
            if score.system not in self.systems:
                yield f"'{score.system}' is none of 'systems'", "scores", number, "system"
            if score.benchmark not in self.benchmarks:
                yield f"'{score.benchmark}' is none of 'benchmarks'", "scores", number, "benchmark"

    def score(self, system: str, benchmark: str) -> Score | None:
        """A cell of the table; None where the document has a dash."""
        return next((score for score in self.scores
                     if (score.system, score.benchmark) == (system, benchmark)), None)
