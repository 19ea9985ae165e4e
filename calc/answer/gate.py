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

from calc.answer.estimate import steady_amounts
from calc.answer.service import combine_pools
from calc.layouts.feasible import reasons
from calc.serving.evaluate import evaluate
from calc.uncertainty import Amount
from catalogue import library
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
    symbols = PREDICTED[library.load("gates", system).statistic]
    nothing = Amount(math.nan, math.nan, math.nan, "1")
    cells = []
    for row in gate_rows(system):
        amounts, refused = predict_row(row, symbols)
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
        ratios = np.array([cell.predicted / cell.measured for cell in computed] or [math.nan])
        sizes = np.abs(ratios - 1)
        inside = [float(cell.low <= cell.measured <= cell.high) for cell in computed
                  if not math.isnan(cell.low)]
        summaries.append(GateSummary(
            system, metric, len(group), len(computed),
            sum(cell.refused is not None for cell in group), float(sizes.mean()),
            float(np.median(sizes)), float(np.exp(np.log(ratios).mean())), float(sizes.max()),
            computed[int(sizes.argmax())].row if computed else 0,
            float(np.mean(inside or [math.nan]))))
    return summaries


def as_json(cells: Sequence[GateCell]) -> dict[str, list[dict[str, Any]]]:
    """Plain data: ``gate``, errors by system and metric, and ``refused``, rows with the reason."""
    return {"gate": [summary.as_json() for summary in summarise(cells)],
            "refused": [{"system": cell.system, "row": cell.row, "metric": cell.metric,
                         "reason": cell.refused} for cell in cells if cell.refused]}


def predict_row(row: GateRow, symbols: Mapping[str, str]) -> tuple[dict[str, Amount], str | None]:
    """Return amounts by metric, and the first reason why ``estimate`` refuses the deployment.

    Two pools are predicted as a closed loop over both, without intervals.
    """
    scenario = row.scenario
    if scenario is None:
        return {}, row.refused
    inputs = scenario.inputs()
    everything = evaluate(inputs, scenario.model.attention)
    why = list(reasons(scenario, everything))
    if row.prefill is not None:
        prefill = row.prefill
        why += reasons(prefill, evaluate(prefill.inputs(), prefill.model.attention))
        loop = combine_pools(prefill, scenario).loop
        values = {"tpot": loop.tpot, "ttft": loop.ttft,
                  "output_throughput": loop.rate * float(inputs["output_tokens"])}
        amounts = {name: Amount(value, math.nan, math.nan, METRIC_UNITS[name])
                   for name, value in values.items()}
    else:
        results = steady_amounts(scenario, sorted(set(symbols.values())))
        total = (inputs["input_tokens"] + inputs["output_tokens"]) / inputs["output_tokens"]
        amounts = {metric: results[name].scaled(total if metric == "total_throughput" else 1.0)
                   for metric, name in symbols.items() if name in results}
    return amounts, str(why[0].kind) if why else None
