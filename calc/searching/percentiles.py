"""Limits of times held by simulation, with requests of the lengths that the goal states.

The closed forms of a search are means of a steady state. What is told is simulated; what does not
keep its limits there, each at its mean or percentile, gives its place to the next.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from calc.layouts.choice import Row, scenario
from catalogue.planning.goals import MEAN, Goal, percentile

if TYPE_CHECKING:
    from calc.answer.simulated_load import LoadResult

DEAREST = 0.3  # simulation of one of several deployments, beyond the shortest [s]
COUNTED = 400  # requests of it, more where they leave in doubt whether a limit is kept


@dataclass(frozen=True)
class Simulated:
    """A deployment with what its users see in a simulation.

    Attributes:
        row: it.
        seen: by quantity and ``mean`` or percentile of each limit of the goal [s]: the larger of
            what is simulated, and as many times the closed form's mean as it is of the simulated.
        keeps: whether they keep the goal's limits.
        keeps_up: whether requests are answered as fast as they arrive.
        result: of the simulation.
    """

    row: Row
    seen: dict[str, dict[str, float]]
    keeps: bool
    keeps_up: bool
    result: LoadResult = field(repr=False, compare=False)

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"seen": self.seen, "keeps": self.keeps, "keeps_up": self.keeps_up,
                "lengths": str(self.result.lengths)}


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
    from calc.answer.simulated_load import UserLoad, simulate_load, system_of

    users, together = demand.users or row.choice.concurrency, demand.arrivals == "burst"
    asked = (UserLoad(rate=demand.arrival_rate) if demand.arrival_rate is not None else
             UserLoad(users, together=True, requests=users) if together else
             UserLoad(users, demand.think_time or 0.0))
    wanted = {name: {None if at == MEAN else percentile(at): limit for at, limit in stated.items()}
              for name, stated in limits.items()}
    deployed = scenario(goal, row.choice)
    system = system_of(deployed, prefill=scenario(goal, row.prefill) if row.prefill else None)
    told = simulate_load(deployed, asked, system=system, dearest=DEAREST, counted=COUNTED,
                     wanted={name: [*stated] for name, stated in wanted.items()}, limits=wanted)
    seen = {}
    for name, stated in limits.items():
        times = getattr(told, name)
        larger = max(1.0, row.quantities.get(name, 0.0) / times.mean) if times.mean > 0 else 1.0
        seen[name] = {at: larger * float(times.mean if at == MEAN else
                                         times.at(percentile(at)).value) for at in stated}
    keeps = told.keeps_up and all(seen[name][at] <= limit for name, stated in limits.items()
                                  for at, limit in stated.items())
    return Simulated(row, seen, keeps, told.keeps_up, told)
