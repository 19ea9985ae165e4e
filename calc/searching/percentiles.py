"""Limits at a percentile: the best of a search simulated in turn, until one keeps them.

The closed forms of a search are means. A deployment whose mean is over a limit is taken not to keep
it at a higher percentile; the others are simulated, the best first, and told with what came out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from calc.choosing.users import Asked, users_see
from calc.searching.choices import scenario
from calc.searching.search import Row
from catalogue.planning.goals import Goal

MOST_SIMULATED = 12  # deployments at most, before it is said that none was found


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
    """What users see, with the lengths of the goal's demand (``calc.choosing.users``)."""
    found = users_see(scenario(goal, row.choice), _asked(goal, row))
    seen = {name: float(getattr(getattr(found, name), goal.limits.at))
            for name in ("ttft", "tpot", "e2e")}
    stated = {name: getattr(goal.limits, name) for name in seen}
    keeps = found.keeps_up and all(
        limit is None or seen[name] <= limit for name, limit in stated.items())
    return Simulated(row, seen, keeps)


def _asked(goal: Goal, row: Row) -> Asked:
    demand = goal.demand
    if demand.arrival_rate is not None:
        return Asked(rate=demand.arrival_rate)
    users = demand.users or row.choice.concurrency
    if demand.arrivals == "burst":
        return Asked(users, together=True, requests=users)
    return Asked(users, demand.think_time or 0.0)
