"""Measured results: tables, gates, start-up logs, shortest steps and scores of formats.

Gates are measured rows that predictions are tested on and never fitted to. The shortest measured
steps are upper bounds of what the kernels of a step take.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, model_validator

from catalogue.entries.entry import (
    CatalogueEntry,
    DeviceName,
    Entry,
    ModelName,
    PrecisionName,
    ScenarioName,
)
from catalogue.entries.mechanisms import Number
from catalogue.reading import units
from catalogue.reading.values import (
    AnyQuantity,
    Count,
    Date,
    Flag,
    Misplaced,
    SourceKey,
    Text,
    Time,
    Unit,
    Value,
    Whole,
    Words,
)


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


PRINTED_UNITS: dict[str, str] = {
    "free_before_load": "B", "weights": "B", "free_after_load": "B", "activations": "B",
    "runtime": "B", "graphs": "B", "available": "B", "cache": "B", "tokens": "token",
    "window_tokens": "token", "blocks": "block", "requests": "request", "request_memory": "B",
    "longest": "token"}
"""What engines print of memory, each with its SI unit."""
JUDGED = ("weights", "available", "tokens", "requests", "request_memory", "longest")
"""Printed figures that predictions are compared with; the others explain them."""
RECORDED = 3  # numbers of a recorded prediction
Excluded = Literal["fork", "shared-card", "layout", "release", "offload", "contradictory",
                   "no-figure", "card", "model",
                   "repeat"]


def _number(raw: Any) -> float:
    number = units.parse(raw, units.DIMENSIONLESS)
    if not 0 <= number < math.inf:
        raise ValueError(f"'{raw}' is out of range, expected at least 0")
    return float(number)


PrintedNumber = Annotated[float, BeforeValidator(_number)]


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
    recorded: dict[str, list[PrintedNumber]] = {}

    @model_validator(mode="after")
    def _usable(self) -> StartupLog:
        for name, raw in self.printed.items():
            if name not in PRINTED_UNITS:
                raise Misplaced(f"'{name[:60]}' is not a printed figure, expected one of "
                                f"{', '.join(PRINTED_UNITS)}", "printed")
            try:
                units.parse(raw, PRINTED_UNITS[name])
            except ValueError as error:
                raise Misplaced(str(error), "printed", name) from None
        for name, numbers in self.recorded.items():
            if name not in JUDGED or len(numbers) != RECORDED:
                raise Misplaced("expected value, low and high of a figure that is judged",
                                "recorded", name)
        if self.excluded is None and self.deployment is None:
            raise Misplaced("a log without a deployment needs a reason in 'excluded'", "id")
        if {"requests", "request_memory"} & self.printed.keys() and self.longest_context is None:
            raise Misplaced("'longest_context' is missing: of how many tokens are the requests?",
                            "printed")
        return self

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

    @model_validator(mode="after")
    def _unique(self) -> StartupLogs:
        seen: set[str] = set()
        for number, log in enumerate(self.logs):
            if log.id in seen:
                raise Misplaced(f"a second log '{log.id[:60]}'", "logs", number)
            seen.add(log.id)
        return self


class MeasuredStep(Entry):
    """The shortest step that was measured of a model on a card.

    Attributes:
        model, device, precision: of it.
        engine: that ran it, with its release if it is known.
        tensor_parallel: ranks of one replica, the only kind of parallelism [1].
        users: requests in the step [1].
        tpot: time per output token without drafts [s].
        gate: whether it is a row of ``params/gates/``.
    """

    model: ModelName
    device: DeviceName
    precision: PrecisionName
    engine: Words
    tensor_parallel: Count
    users: Number
    tpot: Time
    gate: Flag = False


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

    @model_validator(mode="after")
    def _paired(self) -> FormatScore:
        if (self.against is None) != (self.reference is None):
            raise ValueError("'against' and 'reference' are given together or not at all")
        if (self.model is None) == (self.family is None):
            raise ValueError("either 'model' or 'family' is given, of which model the score is")
        return self

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

    @model_validator(mode="after")
    def _something(self) -> Accuracy:
        if not (self.scores or self.formats):
            raise ValueError("nothing is scored: give 'scores' or 'formats'")
        if (self.scenario is None) != (not self.scores):
            raise ValueError("'scores' are of a 'scenario', and only they")
        return self

    @model_validator(mode="after")
    def _known(self) -> Accuracy:
        cells = [(score.system, score.benchmark) for score in self.scores]
        for number, (system, benchmark) in enumerate(cells):
            if system not in self.systems:
                raise Misplaced(f"'{system}' is none of 'systems'", "scores", number, "system")
            if benchmark not in self.benchmarks:
                raise Misplaced(f"'{benchmark}' is none of 'benchmarks'", "scores", number,
                                "benchmark")
            if (system, benchmark) in cells[:number]:
                raise Misplaced(f"'{system}' has two scores on '{benchmark}'", "scores", number)
        return self

    def score(self, system: str, benchmark: str) -> Score | None:
        """A cell of the table; None where the document has a dash."""
        return next((score for score in self.scores
                     if (score.system, score.benchmark) == (system, benchmark)), None)
