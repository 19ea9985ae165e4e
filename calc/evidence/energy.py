"""Energy per token beside measurements: cards alone, in a steady state, nothing fitted.

What is compared here is power; the throughput of the same runs is a measured system as any other
(``calc.evidence.systems``), whose own rows take no part in its interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calc.costing.ownership import cards_power, full_power, powers_of, shares_of
from calc.evidence.classes import own_errors
from calc.evidence.validation import Predictions
from calc.serving.evaluate import evaluate
from calc.uncertainty import Amount, interval, propagate_uncertainty
from catalogue import load, load_scenario, names

KIND = "consumptions"  # a table bears the name of the deployment whose power it holds
RATE = "steady_throughput"
COMPARED = ("output_throughput", "power", "energy_per_token")
SUMMARISED = ("rows", "median", "mean", "worst", "coverage")


@dataclass(frozen=True)
class PowerComparison:
    """Predictions of one table beside what was measured.

    Attributes:
        table: identifier of the measurements, and of the deployment.
        concurrency: requests in flight by row [request].
        predictions: by name of ``COMPARED``: of the cards [token/s], [W] and [J/token].
    """

    table: str
    concurrency: np.ndarray
    predictions: dict[str, Predictions]


def tables() -> list[str]:
    """Identifiers of the tables that hold energy."""
    return names(KIND)


def power_comparison(table: str) -> PowerComparison:
    """A table of measured power, and what is predicted of its rows.

    The throughput is that of a steady state with its own interval, the power follows from what is
    done for it.

    Args:
        table: identifier of the measurements.

    Raises ValueError for a card whose limit of power nobody states.
    """
    measured, scenario = load(KIND, table), load_scenario(table)
    columns = {name: np.array(measured.column(name)) for name in measured.columns}
    full = full_power(scenario.device)
    if full is None:
        raise ValueError(f"nobody says what '{scenario.device.id}' may draw at most")
    inputs: dict[str, Any] = scenario.inputs() | {
        "concurrency": columns["concurrency"], "output_tokens": columns["output_tokens"].round()}
    inputs["context_tokens"] = inputs["input_tokens"] + inputs["output_tokens"]
    attention = scenario.model.attention
    quantities = evaluate(inputs, attention)
    own = {RATE: own_errors(scenario, columns["concurrency"])["output_throughput"].parts}
    shares = shares_of(powers_of(scenario.device.id))
    uncertain = {name: Amount.stated(value) for name, value in shares.items()} | {
        "full": full, "rate": interval(inputs, scenario.knobs(), attention, [RATE], own)[RATE]}

    def computed(at: Any) -> dict[str, Any]:
        power = cards_power(inputs, quantities, at["rate"], at, at["full"])
        return {"output_throughput": at["rate"], "power": power,
                "energy_per_token": power / at["rate"]}

    rows = np.arange(len(columns["concurrency"]))
    return PowerComparison(table, columns["concurrency"], {
        name: Predictions(rows, columns[name], *amount.points)
        for name, amount in propagate_uncertainty(computed, uncertain).items()})


def summary(comparisons: Sequence[PowerComparison]) -> dict[str, dict[str, float]]:
    """Rows, errors as fractions and coverage over all tables, by name of ``COMPARED``."""
    result = {}
    for name in COMPARED:
        of = [one.predictions[name] for one in comparisons]
        measured, predicted, low, high = (np.concatenate([getattr(one, end) for one in of])
                                          for end in ("measured", "predicted", "low", "high"))
        errors = Predictions(np.arange(len(measured)), measured, predicted, low, high).summary()
        result[name] = {key: float(errors[key]) for key in SUMMARISED}
    return result


def as_json(comparisons: Sequence[PowerComparison]) -> dict[str, Any]:
    """Plain data: ``summary``, and ``tables`` with every row."""
    return {"summary": summary(comparisons), "tables": [
        {"table": one.table, "scenario": one.table, "concurrency": one.concurrency.tolist(),
         "measured": {name: of.measured.tolist() for name, of in one.predictions.items()},
         "predicted": {name: {"value": of.predicted.tolist(), "low": of.low.tolist(),
                              "high": of.high.tolist()} for name, of in one.predictions.items()}}
        for one in comparisons]}
