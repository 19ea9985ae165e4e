"""Measured systems and what the runtime predicts of them: the ground of every error we print.

A system is a scenario with a table of measured rows. A prediction takes a row's lengths, number of
requests and concurrency, and nothing else of the row. A wave of equal requests has a closed form;
a run that sends many requests at once goes through the scheduler, step by step.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import get_args

import numpy as np

from calc.evidence.classes import load_of
from calc.physics.arrays import Inputs, double
from calc.recording import Repeating
from calc.serving.evaluate import evaluate, latencies
from calc.serving.metrics import serve_all
from calc.serving.step_times import Clock
from catalogue import ParamsError, Scenario, library, load_scenario
from catalogue.deployments import loading
from catalogue.deployments.physics_inputs import Knob, mechanism_problems
from catalogue.entries.calibrations import QUEUED, VARYING, CalibrationFile, Metric
from catalogue.reading.yamlfile import display_path

METRICS: tuple[str, ...] = get_args(Metric)
VARIED = ("concurrency", "input_tokens", "output_tokens")
SERVED = ("requests", *VARIED)
# metric of a wave -> the same where the next request comes with every answer
STEADY = {"ttft": "steady_ttft", "tpot": "steady_tpot", "output_throughput": "steady_throughput"}


@functools.lru_cache(maxsize=8)
def clock_of(inputs: tuple[tuple[str, float], ...], attention: str) -> Clock:
    """Step times of a deployment, which its runs share.

    Args:
        inputs: input symbols with their values.
        attention: ``mla`` or ``gqa``.
    """
    return Clock(dict(inputs), attention, drafting=True)


@dataclass(frozen=True, eq=False)
class System:
    """One measured deployment.

    Attributes:
        scenario: the deployment.
        inputs: its input symbols, SI units.
        knobs: its mechanisms by name.
        rows: measured columns in SI units, each of shape (rows,); NaN where nothing was measured.
        suspect: row (from 0) -> reason, in both languages.
        unequal: rows (from 0) whose requests have many lengths.
        even: those among them whose lengths the client draws evenly.
        limited: rows (from 0) whose client holds requests back until an answer has come.
        medians: metrics that were printed as medians over requests.
    """

    scenario: Scenario
    inputs: Mapping[str, float]
    knobs: Mapping[str, Knob]
    rows: Mapping[str, np.ndarray]
    suspect: Mapping[int, dict[str, str]] = field(default_factory=dict)
    unequal: frozenset[int] = frozenset()
    limited: frozenset[int] = frozenset()
    even: frozenset[int] = frozenset()
    medians: frozenset[str] = frozenset()

    @property
    def id(self) -> str:
        """The scenario's identifier."""
        return self.scenario.id

    @property
    def scheduled(self) -> bool:
        """Whether its rows are runs of many requests, which the scheduler serves."""
        sent = self.rows.get("requests")
        return sent is not None and bool(
            (sent > self.varied["concurrency"]).any() or self.unequal)

    @property
    def loads(self) -> np.ndarray:
        """Under which load of ``calc.evidence.classes`` each row was measured, by row."""
        row = np.arange(len(self.rows["concurrency"]))
        queued = self.scheduled & ~np.isin(row, list(self.limited))
        return np.where(queued, np.where(np.isin(row, list(self.unequal)), VARYING, QUEUED),
                        load_of(self.scenario))

    @functools.cached_property
    def varied(self) -> dict[str, np.ndarray]:
        """Input symbols of the rows as they run, and the ``free_blocks`` of a replica's cache.

        As many requests run at once as the row says, or as the cache has room for. Rows that were
        measured did run: a budget without room for a single request limits nothing.
        """
        lengths = {name: self.rows[name] for name in VARIED}
        lengths["context_tokens"] = lengths["input_tokens"] + lengths["output_tokens"]
        memory = evaluate({**self.inputs, **lengths}, self.scenario.model.attention, decode=False)
        most, blocks = (np.broadcast_to(value, lengths["concurrency"].shape) for value in (
            memory["max_concurrency"], memory["kv_blocks"] - memory["prompt_blocks"]))
        running = np.minimum(lengths["concurrency"], np.where(most > 0, most, np.inf))
        return lengths | {"concurrency": running, "free_blocks": blocks}

    def measured(self, metric: str) -> np.ndarray:
        """Indices of the rows that have this metric."""
        column = self.rows.get(metric)
        return np.array([], int) if column is None else np.flatnonzero(np.isfinite(column))

    def at(self, rows: np.ndarray) -> dict[str, np.ndarray | float]:
        """Input symbols of some rows: the scenario's, with the rows' lengths and concurrency."""
        return {**self.inputs, **self.of_rows(rows)}

    def of_rows(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """The inputs that differ from row to row, for some rows, shape (rows,) each."""
        return {name: column[rows] for name, column in self.varied.items()
                if name != "free_blocks"}

    def predict(self, metric: str, rows: np.ndarray,
                overrides: Mapping[str, np.ndarray | float] | None = None) -> np.ndarray:
        """Predicted values of a metric, shape (rows,) or that of the overrides before it.

        Args:
            metric: a quantity of steps or of a wave.
            rows: indices.
            overrides: inputs in place of the scenario's; of shape (n, 1) for n variants.
        """
        if self.scheduled and not overrides:
            return np.array([run(self, int(row))[metric] for row in rows])
        steady = not self.scheduled and (
            self.limited or self.scenario.file.workload.arrivals == "closed-loop")
        name = STEADY.get(metric, metric) if steady else metric
        given = self.of_rows(rows) | dict(overrides or {})
        shape = np.broadcast_shapes(rows.shape, *map(np.shape, given.values()))
        columns = {key: np.broadcast_to(np.asarray(value, float), shape).ravel()
                   for key, value in given.items()}
        values = np.empty(math.prod(shape))
        _repeating(self, name, tuple(columns)).take(columns, {name: values}, 0)
        return values.reshape(shape)


@functools.lru_cache(maxsize=64)
def _repeating(system: System, name: str, varied: tuple[str, ...]) -> Repeating:
    """A quantity of a system over many rows; a fit asks for it a hundred times.

    Args:
        system: measured.
        name: of the quantity.
        varied: inputs that have a value for each row.
    """
    attention = system.scenario.model.attention
    fixed = {key: double(value) for key, value in system.inputs.items() if key not in varied}
    return Repeating(lambda inputs: latencies(attention, Inputs(inputs), (name,)), fixed)


@functools.lru_cache(maxsize=4096)
def run(system: System, row: int) -> Mapping[str, float]:
    """What the scheduler makes of a row: the metrics, as a benchmark client takes them.

    Args:
        system: measured.
        row: index.
    """
    file = system.scenario.file
    return MappingProxyType(serve_all(
        clock_of(tuple(system.inputs.items()), system.scenario.model.attention),
        {name: float(system.rows[name][row]) for name in SERVED},
        blocks=float(system.varied["free_blocks"][row]), queued=row not in system.limited,
        lengths="even" if row in system.even else "unknown" if row in system.unequal else "equal",
        policy=file.scheduling, coordination=file.prefill_coordination, medians=system.medians))


def system(scenario: Scenario) -> System:
    """The measured system of a scenario.

    Raises ParamsError if nothing was measured of it, or its rows do not say what was sent.
    """
    measured = scenario.measured
    if measured is None:
        raise ParamsError(f"{display_path(scenario.path)}:1: nothing was measured of "
                          f"'{scenario.id}': the key 'measured' is missing, such as measured: "
                          "my-rows.yml; `will-it-fit new measurements` prints a template.")
    if lost := [column for column in VARIED if column not in measured.columns]:
        raise ParamsError(f"{scenario.file.measured}: a row needs the column '{lost[0]}' beside "
                          f"what was measured, found {', '.join(measured.columns)}.")
    every, stated = range(1, len(measured.rows) + 1), measured.sent_at_once
    at_once = stated if isinstance(stated, list) else every if stated else ()
    unequal, limited, even = (frozenset(number - 1 for number in numbers) for numbers in (
        measured.unequal, {*every} - {*at_once}, measured.even))
    return System(
        scenario, scenario.inputs(), {knob.name: knob for knob in scenario.mechanism_knobs},
        {name: np.array(measured.column(name)) for name in measured.columns},
        {number - 1: reason for number, reason in measured.suspect_rows.items()},
        unequal, limited, even, frozenset(measured.medians))


@functools.cache
def calibrated_system(name: str) -> System:
    """The system of a calibration, with the calibration's priors in place of its own.

    Args:
        name: identifier or path of an entry of ``params/calibrations/``.

    Raises ValueError for a prior of what is no mechanism, or has another unit.
    """
    chosen: CalibrationFile = library.load("calibrations", name)
    case = measured_system(chosen.scenario)
    if not chosen.priors:
        return case
    for mechanism, problem in mechanism_problems(chosen.priors):
        raise ValueError(f"'priors.{mechanism}': {problem}")
    return replace(case, knobs={name: knob._replace(value=chosen.priors.get(name, knob.value))
                                for name, knob in case.knobs.items()})


@functools.cache
def measured_system(name: str) -> System:
    """A measured system by its scenario's identifier, prepared once."""
    return system(load_scenario(name))


def measured_names() -> list[str]:
    """Identifiers of the measured systems."""
    return [name for name in library.names("measurements") if loading.describes(name)]


def measured_systems() -> list[System]:
    """The measured systems, by identifier."""
    return [measured_system(name) for name in measured_names()]
