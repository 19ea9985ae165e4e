"""Predictions of what engines print of memory at their start.

Source: notebooks/validation.md, section Memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from calc.uncertainty.amount import Amount
from calc.uncertainty.interval import interval
from catalogue import Scenario
from catalogue.deployments.startups import StartupRow
from catalogue.entries.startups import JUDGED

PRINTED = {"weights": "loaded_weights", "available": "free_for_kv_per_device",
           "tokens": "cache_tokens", "requests": "longest_requests",
           "request_memory": "kv_per_device"}
"""Printed figure -> quantity that predicts it, of one request per replica."""


@dataclass(frozen=True)
class StartupCell:
    """A printed figure and its prediction, in SI units.

    Attributes:
        row: the log.
        figure: name of the printed figure.
        printed: its value.
        predicted: with its 80% interval; NaN if nothing can be computed.
    """

    row: StartupRow
    figure: str
    printed: float
    predicted: Amount

    @property
    def factor(self) -> float:
        """Predicted over printed [1]."""
        return float(self.predicted.value) / self.printed

    @property
    def covered(self) -> bool:
        """Whether the printed value lies in the interval."""
        return bool(self.predicted.low <= self.printed <= self.predicted.high)


def startup_cells(rows: Iterable[StartupRow]) -> list[StartupCell]:
    """Predict every printed figure that is judged, of logs that are not excluded.

    Args:
        rows: start-up logs.
    """
    nothing = Amount(math.nan, math.nan, math.nan, "1")
    cells = []
    for row in rows:
        if row.log.excluded is not None:
            continue
        predicted = {} if row.scenario is None else predictions(
            row.scenario, row.log.longest_context)
        cells += [StartupCell(row, name, value, predicted.get(name, nothing))
                  for name, value in row.log.figures.items() if name in JUDGED]
    return cells


def predictions(scenario: Scenario, longest: int | None) -> dict[str, Amount]:
    """What an engine is predicted to print, with 80% intervals.

    Args:
        scenario: the deployment.
        longest: tokens of a request in ``requests`` and ``request_memory``; the deployment's
            longest if None [token].
    """
    inputs = scenario.inputs()
    if longest is not None:
        inputs["context_tokens"] = longest
    inputs["concurrency"] = inputs["data_parallel"]
    amounts = interval(inputs, scenario.knobs(), scenario.model.attention, PRINTED.values())
    return {figure: amounts[name] for figure, name in PRINTED.items()}
