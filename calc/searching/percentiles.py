"""Limits at a percentile: the best of a search simulated in turn, until one keeps them.

The closed forms of a search are means. A deployment whose mean is over a limit is taken not to keep
it at a higher percentile; the others are simulated, the best first, and told with what came out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from calc.choosing.simulated import system_of
from calc.searching.choices import scenario
from calc.searching.search import Row
from calc.serving.arrivals import ClosedLoop, poisson
from calc.serving.metrics import summarise
from calc.serving.simulation import simulate
from catalogue.planning.goals import Goal

MOST_SIMULATED = 12  # deployments at most, before it is said that none was found
REQUESTS = 400  # of a run at least, and so many of each user
TURNS = 6
SEED = 0


@dataclass(frozen=True)
class Simulated:
    """A deployment with what its users see in a simulation.

    Attributes:
        row: it.
        seen: ``ttft``, ``tpot`` and ``e2e`` at the percentile of the goal [s].
        keeps: whether they keep the goal's limits.
    """

    row: Row
    seen: dict[str, float]
    keeps: bool


def verified(goal: Goal, rows: Iterable[Row]) -> list[Simulated]:
    """Deployments simulated in their order, up to the first that keeps the limits.

    Args:
        goal: with limits at a percentile.
        rows: within the limits in the mean, the best first.
    """
    found: list[Simulated] = []
    for row in rows:
        found.append(_simulated(goal, row))
        if found[-1].keeps:
            break
    return found


def _simulated(goal: Goal, row: Row) -> Simulated:
    deployed = scenario(goal, row.choice)
    system, demand = system_of(deployed), goal.demand
    users = demand.users or row.choice.concurrency
    count = max(REQUESTS, TURNS * users)
    workload = (poisson(demand.arrival_rate, count, system.shapes, SEED)
                if demand.arrival_rate is not None else
                ClosedLoop(users, count, system.shapes,
                           (demand.think_time or 0.0) + system.overhead, seed=SEED,
                           ramp=row.quantities["e2e"]))  # users begin at any moment of a turn
    summary = summarise(simulate(workload, system.pool, system.decode, system.transfer,
                                 system.front_end_rate))
    seen = {name: float(getattr(getattr(summary, name), goal.limits.at))
            for name in ("ttft", "tpot", "e2e")}
    seen |= {name: seen[name] + system.overhead for name in ("ttft", "e2e")}
    stated = {name: getattr(goal.limits, name) for name in seen}
    keeps = all(limit is None or seen[name] <= limit for name, limit in stated.items())
    return Simulated(row, seen, keeps)
