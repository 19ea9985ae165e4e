"""Measured systems and what the runtime predicts of them: the ground of every error we print.

A system is a scenario with a table of measured rows. A prediction takes a row's lengths, number of
requests and concurrency, and nothing else of the row. A wave of equal requests has a closed form;
a run that sends many requests at once goes through the scheduler, step by step.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Self, get_args

import numpy as np

from calc.evidence.classes import load_of
from calc.physics.arrays import Inputs, double
from calc.recording import Repeating
from calc.serving.evaluate import check_names, evaluate, latencies
from calc.serving.metrics import serve_all
from calc.serving.step_times import Clock
from catalogue import Scenario, library, load_scenario
from catalogue.deployments import loading
from catalogue.deployments.physics_inputs import Knob, mechanism_problems
from catalogue.entries.measurements import QUEUED, VARYING, Metric
from catalogue.reading.values import Value

METRICS: tuple[str, ...] = get_args(Metric)
VARIED = ("concurrency", "input_tokens", "output_tokens")
SERVED = ("requests", *VARIED)
# metric of a wave -> the same where the next request comes with every answer
STEADY = {"ttft": "steady_ttft", "tpot": "steady_tpot", "output_throughput": "steady_throughput"}
Numbers = tuple[tuple[str, float], ...]


@functools.lru_cache(maxsize=8)
def clock_of(inputs: Numbers, attention: str) -> Clock:
    """Step times of a deployment, which its runs share.

    Args:
        inputs: input symbols with their values.
        attention: ``mla`` or ``gqa``.
    """
    return Clock(dict(inputs), attention, drafting=True)


@functools.lru_cache(maxsize=4096)
def served(inputs: Numbers, attention: str, row: Numbers, **how: Any) -> Mapping[str, float]:
    """Metrics of a run by :func:`serve_all`, computed once for deployments with equal inputs.

    Args:
        inputs, attention: as for :func:`clock_of`.
        row: the run.
        how: options of ``serve_all``.
    """
    return MappingProxyType(serve_all(clock_of(inputs, attention), dict(row), **how))


@dataclass(frozen=True)
class System:
    """One measured deployment.

    Attributes:
        scenario: the deployment.
        rows: measured columns in SI units, each of shape (rows,); NaN where nothing was measured.
        suspect: row (from 0) -> reason, in both languages.
        unequal: rows (from 0) whose requests have many lengths.
        even: those among them whose lengths the client draws evenly.
        limited: rows (from 0) whose client holds requests back until an answer has come.
        medians: metrics that were printed as medians over requests.
        priors: of mechanisms, in place of the scenario's.
    """

    scenario: Scenario
    rows: Mapping[str, np.ndarray]
    suspect: Mapping[int, dict[str, str]]
    unequal: frozenset[int] = frozenset()
    limited: frozenset[int] = frozenset()
    even: frozenset[int] = frozenset()
    medians: frozenset[str] = frozenset()
    priors: Mapping[str, Value] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The scenario's identifier."""
        return self.scenario.id

    @functools.cached_property
    def inputs(self) -> dict[str, float]:
        """Input symbols of the scenario, computed once."""
        return self.scenario.inputs()

    @functools.cached_property
    def knobs(self) -> dict[str, Knob]:
        """Its mechanisms by name."""
        return {knob.name: knob._replace(value=self.priors.get(knob.name, knob.value))
                for knob in self.scenario.mechanism_knobs}

    def with_priors(self, priors: Mapping[str, Value]) -> Self:
        """The same system with priors of its own for some mechanisms; its inputs stay.

        Raises ValueError for what is no mechanism of it, or has another unit.
        """
        if not priors:
            return self  # and what was fitted to it
        for name, problem in mechanism_problems(priors):
            raise ValueError(f"'priors.{name}': {problem}")
        return replace(self, priors=priors)

    @property
    def scheduled(self) -> bool:
        """Whether its rows are runs of many requests, which the scheduler serves."""
        sent = self.rows.get("requests")
        return sent is not None and bool((sent > self.admitted()).any() or self.unequal)

    @property
    def steady(self) -> bool:
        """Whether its rows are of a steady state: the next request comes with an answer."""
        return not self.scheduled and (
            bool(self.limited) or self.scenario.file.workload.arrivals == "closed-loop")

    @property
    def queued(self) -> np.ndarray:
        """Whether a row is a run of many requests that are all sent at once, by row."""
        rows = np.arange(len(self.rows["concurrency"]))
        return self.scheduled & ~np.isin(rows, list(self.limited))

    @property
    def loads(self) -> np.ndarray:
        """Under which load of ``calc.evidence.classes`` each row was measured, by row."""
        queued = self.queued
        varying = np.isin(np.arange(len(queued)), list(self.unequal))
        return np.where(queued, np.where(varying, VARYING, QUEUED), load_of(self.scenario))

    def with_inputs(self, inputs: Mapping[str, float]) -> Self:
        """The same rows of a deployment that has these inputs in place of its own."""
        if not inputs:
            return self  # and what was fitted to it
        other = replace(self)
        other.inputs.update(self.inputs | dict(inputs))
        return other

    @functools.cached_property
    def _memory(self) -> dict[str, np.ndarray]:
        """The memory budget, by row: ``kv_blocks`` of a replica, and ``max_concurrency``."""
        quantities = evaluate(self.inputs | self._lengths, self.scenario.model.attention,
                              decode=False)
        return {name: np.broadcast_to(quantities[name], self.rows["concurrency"].shape)
                for name in ("kv_blocks", "prompt_blocks", "max_concurrency")}

    @functools.cached_property
    def _lengths(self) -> dict[str, np.ndarray]:
        """Input symbols of the rows, as they were sent."""
        lengths = {name: self.rows[name] for name in VARIED}
        return lengths | {"context_tokens": lengths["input_tokens"] + lengths["output_tokens"]}

    def admitted(self) -> np.ndarray:
        """Requests that run at once, by row: the row's limit, or as many as the cache has room for.

        Rows that were measured did run: a budget without room for a single request limits nothing.
        """
        most = self._memory["max_concurrency"]
        return np.minimum(self.rows["concurrency"], np.where(most > 0, most, np.inf))

    @functools.cached_property
    def _varied(self) -> dict[str, np.ndarray]:
        """Input symbols of the rows, as they run."""
        return self._lengths | {"concurrency": self.admitted()}

    def run(self, row: int) -> Mapping[str, float]:
        """What the scheduler makes of a row: the metrics, as a benchmark client takes them.

        Args:
            row: index.
        """
        lengths = "even" if row in self.even else "unknown" if row in self.unequal else "equal"
        return served(tuple(self.inputs.items()), self.scenario.model.attention,
                      tuple((name, float(self.rows[name][row])) for name in SERVED),
                      blocks=float(self._memory["kv_blocks"][row]
                                   - self._memory["prompt_blocks"][row]),
                      lengths=lengths, policy=self.scenario.file.scheduling,
                      queued=row not in self.limited,
                      coordination=self.scenario.file.prefill_coordination,
                      medians=self.medians)

    @functools.cached_property
    def fits(self) -> dict[tuple[str, tuple[str, ...], bytes], Any]:
        """Calibrations by metric, mechanisms and fitted rows: protocols share splits."""
        return {}

    @functools.cached_property
    def _recorded(self) -> dict[tuple[str, ...], Repeating]:
        """Computations by metric and varied inputs: fits repeat them thousands of times."""
        return {}

    def measured(self, metric: str) -> np.ndarray:
        """Indices of the rows that have this metric."""
        column = self.rows.get(metric)
        return np.array([], int) if column is None else np.flatnonzero(np.isfinite(column))

    def at(self, rows: np.ndarray) -> dict[str, np.ndarray | float]:
        """Input symbols of some rows: the scenario's, with the rows' lengths and concurrency."""
        return self.inputs | {name: column[rows] for name, column in self._varied.items()}

    def predict(self, metric: str, rows: np.ndarray,
                overrides: Mapping[str, np.ndarray | float] | None = None) -> np.ndarray:
        """Predicted values of a metric, shape (rows,) or that of the overrides before it.

        Args:
            metric: a quantity of steps or of a wave.
            rows: indices.
            overrides: inputs in place of the scenario's; of shape (n, 1) for n variants.
        """
        if self.scheduled and not overrides:
            return np.array([self.run(int(row))[metric] for row in rows])
        name = STEADY.get(metric, metric) if self.steady else metric
        varied = {key: column[rows] for key, column in self._varied.items()} | dict(overrides or {})
        key = (name, *varied)
        if key not in self._recorded:
            check_names(self.inputs | varied)
            self._recorded[key] = Repeating(
                lambda inputs: latencies(self.scenario.model.attention, Inputs(dict(inputs)),
                                         (name,)),
                {key: double(value) for key, value in self.inputs.items() if key not in varied})
        columns = np.broadcast_arrays(*varied.values())
        result = np.empty(columns[0].shape)
        self._recorded[key].take(dict(zip(varied, map(np.ravel, columns), strict=True)),
                                 {name: result.reshape(-1)}, 0)
        return result


def system(scenario: Scenario) -> System:
    """The measured system of a scenario.

    Raises ValueError if nothing was measured of it.
    """
    measured = scenario.measured
    if measured is None:
        raise ValueError(f"nothing was measured of '{scenario.id}'")
    every, stated = range(1, len(measured.rows) + 1), measured.sent_at_once
    at_once = stated if isinstance(stated, list) else every if stated else ()
    unequal, limited, even = (frozenset(number - 1 for number in numbers) for numbers in (
        measured.unequal, {*every} - {*at_once}, measured.even))
    return System(
        scenario, {name: np.array(measured.column(name)) for name in measured.columns},
        {number - 1: reason for number, reason in measured.suspect_rows.items()},
        unequal, limited, even, frozenset(measured.medians))


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
