"""Energy per token held against measurements: cards alone, in a steady state, nothing fitted.

What is held here is power; the throughput of the same runs is a measured system as any other
(``calc.evidence.systems``), whose own rows take no part in its interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calc.costing.ownership import cards_power, full_power, powers_of, shares_of
from calc.evidence.classes import own_errors
from calc.serving.evaluate import evaluate
from calc.uncertainty import Amount, interval, propagate_uncertainty
from catalogue import Scenario, load, load_scenario, names

KIND = "consumptions"  # a table bears the name of the deployment whose power it holds
RATE = "steady_throughput"
COMPARED = ("output_throughput", "power", "energy_per_token")


@dataclass(frozen=True)
class PowerComparison:
    """Predictions of one table beside what was measured; arrays of shape (rows,), SI.

    Attributes:
        table: identifier of the measurements.
        scenario: the deployment.
        cards: that were measured [1].
        concurrency: requests in flight [request].
        measured, predicted: by name of ``COMPARED``.
    """

    table: str
    scenario: str
    cards: int
    concurrency: np.ndarray
    measured: dict[str, np.ndarray]
    predicted: dict[str, Amount]

    def errors(self, name: str) -> np.ndarray:
        """Signed relative errors [1]."""
        return np.asarray(self.predicted[name].value) / self.measured[name] - 1

    def inside(self, name: str) -> np.ndarray:
        """Whether what was measured lies in the interval."""
        amount = self.predicted[name]
        measured = self.measured[name]
        return np.asarray((amount.low <= measured) & (measured <= amount.high))


def tables() -> list[str]:
    """Identifiers of the tables that hold energy."""
    return names(KIND)


def predicted(scenario: Scenario, concurrency: np.ndarray, output_tokens: np.ndarray
              ) -> dict[str, Amount]:
    """Throughput [token/s], power [W] and energy per token [J/token] of the cards, by row.

    The throughput is that of a steady state with its own interval, the power follows from what is
    done for it.

    Args:
        scenario: the deployment, whose card has a known limit of power.
        concurrency, output_tokens: of the rows, shape (rows,).

    Raises ValueError for a card whose limit of power nobody states.
    """
    full = full_power(scenario.device)
    if full is None:
        raise ValueError(f"nobody says what '{scenario.device.id}' may draw at most")
    inputs: dict[str, Any] = scenario.inputs() | {
        "concurrency": concurrency, "output_tokens": output_tokens}
    inputs["context_tokens"] = inputs["input_tokens"] + output_tokens
    attention = scenario.model.attention
    quantities = evaluate(inputs, attention)
    own = {RATE: own_errors(scenario, concurrency)["output_throughput"].parts}
    rate = interval(inputs, scenario.knobs(), attention, [RATE], own)[RATE]
    uncertain: dict[str, Any] = {
        name: Amount.stated(value)
        for name, value in shares_of(powers_of(scenario.device.id)).items()}
    uncertain |= {"full": full, "rate": rate}

    def computed(at: Any) -> dict[str, Any]:
        power = cards_power(inputs, quantities, at["rate"], at, at["full"])
        return {"output_throughput": at["rate"], "power": power,
                "energy_per_token": power / at["rate"]}

    return propagate_uncertainty(computed, uncertain)


def power_comparison(table: str) -> PowerComparison:
    """A table of measured power, and what is predicted of its rows.

    Args:
        table: identifier of the measurements.
    """
    measured = load(KIND, table)
    columns = {name: np.array(measured.column(name)) for name in measured.columns}
    scenario = load_scenario(table)
    amounts = predicted(scenario, columns["concurrency"], columns["output_tokens"].round())
    return PowerComparison(table, scenario.id, scenario.devices, columns["concurrency"],
                           {name: columns[name] for name in COMPARED}, amounts)


def summary(comparisons: list[PowerComparison]) -> dict[str, dict[str, float]]:
    """Rows, errors as fractions and coverage over all tables, by name of ``COMPARED``."""
    result = {}
    for name in COMPARED:
        size = np.abs(np.concatenate([one.errors(name) for one in comparisons]))
        inside = np.concatenate([one.inside(name) for one in comparisons])
        result[name] = {"rows": float(len(size)), "median": float(np.median(size)),
                        "mean": float(size.mean()), "worst": float(size.max()),
                        "coverage": float(inside.mean())}
    return result
