"""Predictions of measured rows that are tested on and never fitted to (``params/gates/``).

A row is predicted as ``estimate`` answers its deployment: the steady state of its users, or the
means of a whole run, with 80% intervals. A row that ``estimate`` refuses is counted as refused, and
predicted as far as that is possible.

Source: notebooks/validation.md.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calc.answer.estimate import with_steady_errors
from calc.answer.service import combine_pools
from calc.answer.steady_state import simulate_steady_state, steady_state, with_simulation
from calc.evidence.classes import own_errors
from calc.evidence.validation import Predictions
from calc.layouts.feasible import reasons
from calc.serving.evaluate import evaluate
from calc.uncertainty import Amount, interval
from catalogue import Scenario, library
from catalogue.deployments.measured import GateRow, gate_rows
from catalogue.entries.measurements import METRIC_UNITS

PREDICTED = {
    "median": {"tpot": "steady_tpot", "ttft": "steady_ttft",
               "output_throughput": "steady_throughput", "total_throughput": "steady_throughput"},
    "mean": {"tpot": "bench_tpot", "ttft": "bench_ttft", "output_throughput": "bench_throughput",
             "total_throughput": "bench_throughput"}}
"""By statistic of a gate: measured metric -> quantity that predicts it, of a steady state or of the
whole run of a benchmark."""


@dataclass(frozen=True)
class GateCell:
    """A measured value and its prediction, in SI units.

    Attributes:
        system: identifier of the gate.
        row: number in its file, from 1.
        metric: what was measured.
        measured: the value.
        predicted: as ``estimate`` reports it; NaN if nothing can be computed.
        low, high: 80% interval; NaN where there is none.
        refused: why ``estimate`` refuses the deployment; None if it does not.
    """

    system: str
    row: int
    metric: str
    measured: float
    predicted: float
    low: float
    high: float
    refused: str | None = None

    @property
    def error(self) -> float:
        """Signed relative error [1]."""
        return self.predicted / self.measured - 1


@dataclass(frozen=True)
class GateSummary:
    """Errors of one metric of a system, or of several.

    Attributes:
        system: identifier of the gate.
        metric: what was measured.
        rows: with this metric.
        predicted: rows of these that have a prediction.
        refused: rows of these that ``estimate`` refuses.
        mean, median, worst: absolute relative errors [1].
        bias: geometric mean of predicted over measured [1].
        worst_row: number of the row with the largest error.
        coverage: share of rows with an interval that lie in it [1]; NaN without any.
    """

    system: str
    metric: str
    rows: int
    predicted: int
    refused: int
    mean: float
    median: float
    bias: float
    worst: float
    worst_row: int
    coverage: float

    def as_json(self) -> dict[str, Any]:
        """Plain data; what is not a number is None."""
        return {name: None if isinstance(value, float) and math.isnan(value) else value
                for name, value in vars(self).items()}


@functools.cache
def gate_cells(system: str) -> tuple[GateCell, ...]:
    """Predict every measured value of a gate.

    Args:
        system: its identifier.

    Raises ParamsError for an entry that cannot be read.
    """
    rows = gate_rows(system)
    of = PREDICTED[library.load("gates", system).statistic]
    predictions = _predict([row for row in rows if row.scenario is not None], of)
    nothing = Amount(math.nan, math.nan, math.nan, "1")
    cells = []
    for row in rows:
        amounts, refused = predictions.get(row.number, ({}, row.refused))
        for metric, measured in row.measured.items():
            amount = amounts.get(metric, nothing)
            cells.append(GateCell(system, row.number, metric, measured, float(amount.value),
                                  float(amount.low), float(amount.high), refused))
    return tuple(cells)


def gate_names() -> list[str]:
    """Identifiers of the gates of the catalogue."""
    return library.names("gates")


def summarise(cells: Iterable[GateCell]) -> list[GateSummary]:
    """Errors by system and metric, in the order of the cells.

    Args:
        cells: predictions, of one system or of several.
    """
    groups: dict[tuple[str, str], list[GateCell]] = {}
    for cell in cells:
        groups.setdefault((cell.system, cell.metric), []).append(cell)
    summaries = []
    for (system, metric), group in groups.items():
        computed = [cell for cell in group if not math.isnan(cell.predicted)]
        row, measured, predicted, low, high = np.array(
            [(cell.row, cell.measured, cell.predicted, cell.low, cell.high) for cell in computed]
        ).reshape(-1, 5).T
        predictions = Predictions(row, measured, predicted, low, high)
        sizes = np.abs(predictions.errors) if computed else np.array([math.nan])
        ranged = [cell for cell in computed if not math.isnan(cell.low)]
        summaries.append(GateSummary(
            system, metric, len(group), len(computed),
            sum(cell.refused is not None for cell in group), float(sizes.mean()),
            float(np.median(sizes)),
            predictions.bias if computed else math.nan, float(sizes.max()),
            predictions.worst_row if computed else 0,
            float(np.mean([cell.low <= cell.measured <= cell.high for cell in ranged]))
            if ranged else math.nan))
    return summaries


def _predict(rows: Sequence[GateRow], of: Mapping[str, str]
             ) -> dict[int, tuple[dict[str, Amount], str | None]]:
    """Return amounts by metric and the reason of a refusal, by number of the row."""
    results = {}
    alike: dict[Any, list[GateRow]] = {}
    for row in rows:
        scenario = row.scenario
        if scenario is None:
            continue
        if row.prefill is not None:
            results[row.number] = _two_pools(row.prefill, scenario), _refusal(*(
                (pool, evaluate(pool.inputs(), pool.model.attention))
                for pool in (scenario, row.prefill)))
            continue
        knobs = tuple((knob.name, knob.symbols, knob.value.low, knob.value.value, knob.value.high)
                      for knob in scenario.knobs())
        alike.setdefault((scenario.model.id, knobs), []).append(row)
    for group in alike.values():
        scenarios = [row.scenario for row in group if row.scenario is not None]
        for row, scenario, amounts in zip(group, scenarios, _together(scenarios, of), strict=True):
            inputs = scenario.inputs()
            everything = evaluate(inputs, scenario.model.attention)
            steady = steady_state(scenario, inputs, everything)
            amounts = with_simulation(amounts, steady, simulate_steady_state(scenario, steady))
            results[row.number] = (_by_metric(scenario, amounts, of),
                                 _refusal((scenario, everything)))
    return results


def _together(scenarios: Sequence[Scenario], of: Mapping[str, str]) -> list[dict[str, Amount]]:
    """Evaluate what predicts deployments with the same ranges together."""
    columns = [scenario.inputs() for scenario in scenarios]
    inputs = {name: np.array([float(own[name]) for own in columns]) for name in columns[0]}
    names = sorted(set(of.values()))
    errors = [with_steady_errors(own_errors(scenario)) for scenario in scenarios]
    parts = {name: tuple(np.array(side, float) for side in zip(
        *(of[name].parts for of in errors), strict=True)) for name in names}
    amounts = interval(inputs, scenarios[0].knobs(), scenarios[0].model.attention, names, parts)
    return [{name: amount.at(row) for name, amount in amounts.items()}
            for row in range(len(scenarios))]


def _by_metric(scenario: Scenario, amounts: Mapping[str, Amount], of: Mapping[str, str]
               ) -> dict[str, Amount]:
    """Predictions under the names of what was measured."""
    workload = scenario.file.workload
    lengths = [float(length.value) for length in (workload.input_tokens, workload.output_tokens)
               if length is not None]
    total = sum(lengths) / lengths[-1]
    return {metric: amounts[name].scaled(total if metric == "total_throughput" else 1.0)
            for metric, name in of.items()}


def _two_pools(prefill: Scenario, decode: Scenario) -> dict[str, Amount]:
    """Return TTFT, TPOT and rate of a closed loop over two pools, without intervals."""
    loop = combine_pools(prefill, decode).loop
    answer = float(decode.inputs()["output_tokens"])
    values = {"tpot": loop.tpot, "ttft": loop.ttft, "output_throughput": loop.rate * answer}
    return {name: Amount(value, math.nan, math.nan, METRIC_UNITS[name])
            for name, value in values.items()}


def _refusal(*pools: tuple[Scenario, Mapping[str, Any]]) -> str | None:
    """Return the first reason why deployments do not run as asked; None if they do.

    Args:
        pools: deployments, each with its quantities of ``calc.evaluate``.
    """
    return next((str(reason.kind) for scenario, everything in pools
                 for reason in reasons(scenario, everything)), None)
