"""Limits of times held by simulation, with requests of the lengths that the goal states.

The closed forms of a search are means of a steady state. What is told is simulated; what does not
keep its limits there, each at its mean or percentile, gives its place to the next.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from calc.layouts.choice import Row, scenario
from catalogue.planning.goals import MEAN, Goal, percentile


@dataclass(frozen=True)
class Simulated:
    """A deployment with what its users see in a simulation.

    Attributes:
        row: it.
        seen: by quantity and ``mean`` or percentile of each limit of the goal [s].
        keeps: whether they keep the goal's limits.
        lengths: of the requests, in words.
    """

    row: Row
    seen: dict[str, dict[str, float]]
    keeps: bool
    lengths: str

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"seen": self.seen, "keeps": self.keeps, "lengths": self.lengths}


def simulated(goal: Goal, row: Row) -> Simulated | None:
    """A deployment under the load of a goal; None where no time is limited.

    Two pools are simulated together, each in its own layout.

    Args:
        goal: what is asked.
        row: the deployment.

    Raises ParamsError for a deployment that cannot be simulated.
    """
    limits, demand = goal.limits.times, goal.demand
    if not limits:
        return None
    # a goal without limits of times simulates nothing
    from calc.answer.simulated import system_of
    from calc.answer.users import UserLoad, users_see

    users, together = demand.users or row.choice.concurrency, demand.arrivals == "burst"
    asked = (UserLoad(rate=demand.arrival_rate) if demand.arrival_rate is not None else
             UserLoad(users, together=True, requests=users) if together else
             UserLoad(users, demand.think_time or 0.0))
    wanted = {name: [None if at == MEAN else percentile(at) for at in stated]
              for name, stated in limits.items()}
    deployed = scenario(goal, row.choice)
    system = system_of(deployed, prefill=scenario(goal, row.prefill) if row.prefill else None)
    told = users_see(deployed, asked, system=system, wanted=wanted)
    seen = {name: {at: getattr(told, name).mean if at == MEAN
                   else getattr(told, name).at(percentile(at)).value for at in stated}
            for name, stated in limits.items()}
    keeps = told.keeps_up and all(seen[name][at] <= limit for name, stated in limits.items()
                                  for at, limit in stated.items())
    return Simulated(row, seen, keeps, str(told.lengths))
