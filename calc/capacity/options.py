"""Which layout, and how much of it, when neither the speed nor the load is known for certain."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calc.capacity.availability import failures_of, fleet_of
from calc.capacity.growth import best, sizes_of
from calc.capacity.regret import DecisionTable, at_ends, choose
from calc.capacity.replicas import Limits, Replica
from calc.capacity.tables import on
from calc.closed_form.evaluate import evaluate
from calc.uncertainty.amount import Amount
from catalogue import Scenario
from catalogue.deployments.admission.notation import written
from catalogue.deployments.admission.rules import cut_of
from catalogue.planning.loads import HOURS, Load

LARGEST = 64  # cards of a replica that is tried


@dataclass(frozen=True)
class Layout:
    """A replica of one layout, and what it takes within limits in each case of speed.

    Attributes:
        name: ``TP8×PP2``.
        devices: cards [1].
        most: by case, the rate that it takes, less what failures cost it [request/s].
    """

    name: str
    devices: int
    most: Mapping[str, float]


def layouts(scenario: Scenario, limits: Limits, variation: float) -> list[Layout]:
    """The deployment's own replica, and the best layout of each number of cards.

    Args:
        scenario: the deployment.
        limits: what is promised.
        variation: of the rate from minute to minute [1].
    """
    chosen = [scenario]
    for size in sizes_of(int(scenario.node.devices_per_node.value), LARGEST):
        found = best(scenario, size, limits, own=True)
        if found:
            tp, pp, _, ep = found.cut
            ranks = max(1, ep // tp)  # that step together; the others are replicas of their own
            chosen.append(on(scenario, tp * pp * ranks, (tp, pp, ranks, ep)))
    result: dict[str, Layout] = {}
    failures = failures_of(scenario.device.id)
    per_server = int(scenario.node.devices_per_node.value)
    for candidate in chosen:
        own = Replica(candidate)
        name = written(cut_of(candidate))["en"]
        if name in result:
            continue
        loading = float(evaluate(own.inputs, own.attention)["loading_time"])
        rates = {case: Replica(candidate, given).most(limits, variation) * fleet_of(
            1, own.devices, per_server, failures, loading, case=case).share
            for case, given in at_ends(candidate).items()}
        result[name] = Layout(name, own.devices, rates)
    return list(result.values())


def decision_table(found: Sequence[Layout], load: Load, requests: float,
                   growth: Mapping[str, float], late: float | None = None) -> DecisionTable:
    """Cards' hours of a day of every candidate in every case of speed and of load.

    Without ``late`` a candidate is a layout, and as many replicas of it run as a case needs. With
    it, a candidate is a layout and a number of replicas that is bought now; what a case needs
    beyond them is found later, at so many times the price.

    Args:
        found: layouts.
        load: of a day.
        requests: of the day as expected [request].
        growth: by case, the day's requests over those [1].
        late: price of a card's hour that is found later over one bought now [1].
    """
    peak = max(load.rates(requests))
    speeds = list(found[0].most)
    cases = [(speed, name) for name in growth for speed in speeds]
    need = {layout.name: [_needed(peak * growth[name], layout.most[speed])
                          for speed, name in cases] for layout in found}
    names: list[str] = []
    rows: list[list[float]] = []
    for layout in found:
        hours = layout.devices * HOURS
        counts: Sequence[Any] = sorted({each for each in need[layout.name] if each < math.inf})
        for count in [None] if late is None else counts:
            names.append(layout.name if count is None else f"{count:.0f} × {layout.name}")
            rows.append([hours * (each if count is None or late is None else
                                  count + late * max(0.0, each - count))
                         for each in need[layout.name]])
    labels = [f"{name}, {speed}" for speed, name in cases]
    central = cases.index(("central", "central")) if ("central", "central") in cases else 0
    return choose(names, labels, np.array(rows), central=central)


def in_money(found: DecisionTable, hour: Amount) -> list[tuple[float, float, float] | None]:
    """The largest regret of each candidate in a day's money, and at both ends of the price.

    The price is the same in every case, and all candidates stand on the same card.

    Args:
        found: candidates by their cards' hours.
        hour: what a card costs by the time.

    Returns central value, low and high; None for a candidate that cannot serve in some case.
    """
    prices = np.array(hour.per(f"{hour.currency}/h"))
    return [tuple((worst * prices).tolist()) if math.isfinite(worst) else None
            for worst in found.regrets.max(axis=1)]


def _needed(rate: float, most: float) -> float:
    """Replicas for a rate [1]; infinite where none takes a request within limits."""
    return max(1.0, float(math.ceil(rate / most * (1 - 8.0**-9)))) if most else math.inf
