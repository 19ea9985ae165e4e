"""Predictions of what engines print of memory at their start.

Source: notebooks/validation.md, section Memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calc.uncertainty.amount import Amount
from calc.uncertainty.interval import interval
from catalogue import Scenario
from catalogue.deployments.startups import StartupRow
from catalogue.entries.startups import JUDGED


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
    names = ["weights_per_device", "absorbed_copies_per_device", "mtp_weights",
             "free_for_kv_per_device", "kv_blocks", "request_blocks", "kv_per_device"]
    inputs["concurrency"] = inputs["data_parallel"]
    amounts = interval(inputs, scenario.knobs(), scenario.model.attention, names)
    blocks, each = amounts["kv_blocks"], amounts["request_blocks"].value
    return {"weights": _sum([amounts[name] for name in names[:3]]),
            "available": amounts["free_for_kv_per_device"],
            "tokens": blocks.scaled(inputs["block_size"] * inputs["decode_context_parallel"]),
            "requests": blocks.scaled(1 / float(each)),
            "request_memory": amounts["kv_per_device"]}


def _sum(amounts: Sequence[Amount]) -> Amount:
    values = [[float(each.value), float(each.low), float(each.high)] for each in amounts]
    value, low, high = np.sum(values, axis=0)
    return Amount(value, low, high, "B")


def as_recorded(predicted: dict[str, Amount]) -> dict[str, Any]:
    """Predictions as a log stores them."""
    return {name: {"value": float(f"{float(amount.value):.6g}"),
                   "low": float(f"{float(amount.low):.6g}"),
                   "high": float(f"{float(amount.high):.6g}")}
            for name, amount in predicted.items()}
