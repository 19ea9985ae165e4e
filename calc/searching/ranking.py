"""How search ranks deployments: their intervals, and which of them cannot be told apart.

Deployments share what is uncertain: the same cards, kernels and links stand behind both, so that
two wide intervals may overlap though one is better for sure. So what is shared is drawn once for
all of them, and it is counted how often one is better than the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from calc.answer.estimate import predicted, steady_amounts
from calc.answer.service import combine_pools, service_level_of_pools
from calc.costing.ownership import MILLION, agent_costs
from calc.evidence.classes import errors_of_class
from calc.layouts.feasible import MEMORY
from calc.layouts.layout import Row, as_asked, scenario
from calc.searching.candidates import seen_by_users
from calc.searching.draws import HIGH, LOW, OBSERVED, OWN, draws_of, of_load
from calc.searching.goal import HOLDS
from calc.searching.search import SearchResult
from calc.uncertainty import Amount, propagate_uncertainty
from catalogue import Scenario, load_precision
from catalogue.deployments.loading import made_scenario
from catalogue.entries.models import Model
from catalogue.kernels import quality
from catalogue.planning import MEAN, UNITS, Goal, percentile
from catalogue.reading.units import DIMENSIONLESS

if TYPE_CHECKING:
    from calc.answer.simulated_load import LoadResult

SURE = 0.9  # how often one must be better, to be called so
NEARLY = 0.05  # shares of draws that differ by less are alike: by as much as chance moves them
LITTLE = 0.1  # of the first objective, or of the draws: what one thing more has to win
COUNTED_EXTRAS = 2  # of such things: more of them have to win no more
LEAST = 5e-3  # relative: what differs by less is not worth a row of its own


PER_TOKEN = ("cost", "energy")  # which follow from the throughput
MOST_DRAWN = 1000  # deployments of one answer
DEVIATIONS = np.linspace(-6.0, 6.0, 2401)
SHARES = np.array([NormalDist().cdf(float(end)) for end in DEVIATIONS])  # that lie below them


@dataclass(frozen=True)
class SampledRow:
    """A deployment under many draws of what is uncertain.

    Attributes:
        goal: that it serves.
        row: it.
        quantities: name -> draws, shape (DRAWS,), SI units.
        scatter: name -> deviation of the logarithm of one deployment about what all of its class
            share, and which is drawn with the rest [1].
        deployed: it as a scenario, of two pools the one that decodes.
        seen: it simulated, if it was.
        capacity: of the cache over what has to fit, as of ``Drawn``, shape (DRAWS,) [1]; None where
            that is not drawn.
        hours: device -> price of a card [money/s], of those that have one.
    """

    goal: Goal
    row: Row
    quantities: dict[str, np.ndarray]
    scatter: Mapping[str, float] = field(default_factory=dict)
    deployed: Scenario | None = field(default=None, repr=False, compare=False)
    seen: Simulated | None = field(default=None, repr=False, compare=False)
    capacity: np.ndarray | None = field(default=None, repr=False, compare=False)
    hours: Mapping[str, Amount] = field(default_factory=dict, repr=False, compare=False)

    def stands_for(self, name: str, sign: int) -> float:
        """What holds in ``HOLDS`` of the draws, the larger the better; the worst if unknown.

        Args:
            name: an objective.
            sign: +1 to have it large, -1 to have it small.
        """
        if name == "cards":
            return sign * float(self.row.devices)
        if name not in self.quantities:  # as the context, which no draw moves
            return sign * self.row.quantities.get(name, -sign * math.inf)
        return float(np.quantile(sign * self.quantities[name], 1 - HOLDS))

    @cached_property
    def amounts(self) -> dict[str, Amount]:
        """Quantities by name with their 80% intervals: times and rates as an estimate of the
        deployment reports them, a cost as it follows from the rate; all others from their draws.
        """
        amounts = {}
        for name, draws in self.quantities.items():
            low, high = map(float, np.quantile(draws, (LOW, HIGH), method=OBSERVED))
            unit = self.goal.currency if name == "cost" else UNITS.get(name, DIMENSIONLESS)
            value = float(self.row.quantities[name])
            amounts[name] = Amount(value, min(low, value), max(high, value), unit, name=name)
        if self.deployed is None:
            return amounts
        amounts |= estimated_amounts(self.goal, self.row, self.deployed, self.seen)
        slower = self.row.quantities["throughput"] / amounts["throughput"].value
        amounts |= {name: amounts[name].scaled(slower) for name in PER_TOKEN if name in amounts}
        if (hour := self.hours.get(self.row.choice.device)) and "cost" in amounts:
            cards = sum(choice.devices * self.hours[choice.device].value
                        for choice in self.row.choices) / hour.value
            amounts |= propagate_uncertainty(
                lambda q: {"cost": MILLION * q["hour"] * cards / q["rate"]},
                {"hour": hour, "rate": amounts["throughput"]}, {"cost": self.goal.currency})
        return amounts

    @property
    def agent_costs(self) -> dict[str, Amount]:
        """Cost of a million processed tokens and of an agent's task; nothing for other loads, or
        where no price is known."""
        demand, cost = self.goal.demand, self.amounts.get("cost")
        if demand.agent is None or cost is None:
            return {}
        of_one = agent_costs(demand.output_tokens / MILLION, demand.agent.turns,
                             demand.input_tokens, demand.output_tokens)
        return {"per_million_processed": cost.scaled(MILLION * of_one["per_processed"]),
                "per_task": cost.scaled(of_one["per_task"])}

    @cached_property
    def fitted(self) -> dict[str, np.ndarray]:
        """Draws by name; of times and rates in one pool of so many requests with their 10% and 90%
        points at the ends of the 80% interval in closed form. So a limit is kept in nine of ten
        draws where that end keeps it, here and in the calculators."""
        if self.row.prefill or self.deployed is None or of_load(self.goal.demand):
            return self.quantities
        symbols = seen_by_users(self.goal.demand)
        estimated = predicted(self.deployed, symbols.values())
        return self.quantities | {
            name: stretched(self.quantities[name], estimated[symbol]) for name, symbol in
            symbols.items() if name in self.quantities}


def excesses(result: SearchResult, sample: SampledRow, seen: Simulated | None = None
             ) -> dict[tuple[str, str], np.ndarray]:
    """How far each draw is over each limit, as a factor less one, shape (DRAWS,), by quantity and
    ``mean`` or percentile. What the cache has to hold is one.

    Args:
        result: the search that it comes from.
        sample: the deployment.
        seen: it simulated, if it was: each mean or percentile that is limited is then as many times
            the draws' mean as it is of the mean at central values.
    """
    over = {(name, MEAN): excess for name, excess in result.wishes.excess(sample.fitted).items()
            if seen is None or name not in seen.seen}
    if sample.capacity is not None:
        with np.errstate(divide="ignore"):
            over[MEMORY, ""] = 1 / np.maximum(sample.capacity, 0) - 1
    if seen is None:
        return over
    limits = result.wishes.goal.limits.times
    return over | {
        (name, at): sample.fitted[name] * (time / seen.row.quantities[name]) / limits[name][at] - 1
        for name, stated in seen.seen.items() for at, time in stated.items()}


def keeps(result: SearchResult, sample: SampledRow, seen: Simulated | None = None) -> float | None:
    """In which share of the draws a deployment keeps all limits [1]; None without limits.

    Args:
        result: the search that it comes from.
        sample: the deployment.
        seen: it simulated, or one like it, if it was.
    """
    if not result.wishes.limits and seen is None:
        return None
    return float(np.mean(np.max(list(excesses(result, sample, seen).values()), axis=0) <= 0))


def sample_rows(result: SearchResult, rows: Sequence[Row]) -> list[SampledRow]:
    """Deployments under the same draws.

    What the same statement says of two deployments is drawn once, so is the formulas' own error of
    a class of deployments, and what an hour of a card costs.

    Args:
        result: the search that they come from.
        rows: of it.
    """
    lacking = [row for row in rows if (sample := result.draws.get(row.choices)) is None
               or sample.row != row]
    for row, drawn in zip(lacking, draws_of(result, lacking), strict=True):
        own = errors_of_class(drawn.deployed)
        scatter = {name: own[of].within if of in own else 0.0 for name, of in OWN.items()}
        scatter |= dict.fromkeys(("throughput_per_card", "cost", "energy"), scatter["throughput"])
        result.draws[row.choices] = SampledRow(
            result.wishes.goal, row, {name: draws for name, draws in drawn.quantities.items()
                                      if name in row.quantities},
            scatter, drawn.deployed, capacity=drawn.capacity, hours=result.wishes.hours)
    return [result.draws[row.choices] for row in rows]


def surely(result: SearchResult, share: float, offers: Callable[[Row], bool] = lambda _: True
           ) -> list[SampledRow]:
    """Deployments that keep all limits in a share of the draws, without those that another of them
    beats in the goal's objectives, the best first.

    Candidates are the fronts of all offers and precisions: a deployment that is left out is beaten,
    on the same cards, by one that is no worse in any objective and no nearer to any limit. It might
    still be surer, where less of it is uncertain; so where the fewest cards are wanted,
    ``SearchResult.on_fewest_cards`` come first, up to the first number of cards on which one is
    sure. At most ``MOST_DRAWN`` are drawn.

    Args:
        result: a search.
        share: of the draws, at least [1].
        offers: which of those that are sure may be told.
    """
    wanted = result.wishes.chosen
    rows = sorted((row for of_base in result.of_bases for row in result.rows(of_base.front)),
                  reverse=True, key=lambda row: row.worth(result.wishes.objectives))
    first = result.on_fewest_cards if "cards" in result.wishes.leading else []
    sure: list[SampledRow] = []
    drawn = 0
    for number, row in enumerate([*first, *rows]):
        worth = np.array(row.worth(wanted))
        if (sure and number < len(first) and row.devices > sure[0].row.devices) or any(
                (worth <= other.row.worth(wanted)).all() for other in sure):
            continue
        if drawn == MOST_DRAWN:
            break
        sample, = sample_rows(result, [row])
        drawn += 1
        if (keeps(result, sample) or 0.0) >= share and offers(row):
            sure.append(sample)
    return sure


def stretched(draws: np.ndarray, amount: Amount) -> np.ndarray:
    """Draws whose 10% and 90% points are moved to the ends of an interval, in logarithms."""
    low, high = np.quantile(draws, (LOW, HIGH), method=OBSERVED)
    if not 0 < low < high < math.inf or amount.low <= 0:
        return draws
    moved: np.ndarray = amount.low * (draws / low) ** (
        math.log(amount.high / amount.low) / math.log(high / low))
    return moved


def estimated_amounts(goal: Goal, row: Row, deployed: Scenario, simulated_row: Simulated | None
               ) -> dict[str, Amount]:
    """Times and rates of a deployment as an estimate of its file tells them."""
    names = seen_by_users(goal.demand)
    if row.prefill is not None:
        prefill, decode = (made_scenario(as_asked(goal, choice), Path(f"{goal.id}.yml"))
                           for choice in row.choices)
        level = service_level_of_pools(prefill, decode, combine_pools(
            prefill, decode, users=row.quantities["users"]))
        seen = {names[name]: amount for name, amount in level.amounts().items()} if level else {}
        if not seen:
            return {}
    elif goal.demand.arrivals == "burst":
        seen = predicted(deployed, names.values())
    else:
        deployment = made_scenario(as_asked(goal, row.choice), Path(f"{goal.id}.yml"))
        load = simulated_row.result if simulated_row else None
        seen = steady_amounts(deployment, names.values(), load) or predicted(
            deployed, names.values())
    amounts = {name: replace(seen[symbol], name=name) for name, symbol in names.items()}
    per_card = amounts["throughput"].scaled(1 / row.devices)
    return amounts | {"throughput_per_card": replace(per_card, name="throughput_per_card")}


def near_best(result: SearchResult, row: Row, best: Row | None, times: int = 1) -> bool:
    """Whether a deployment is about as good in the first objective, at central values, as the best.

    Args:
        result: the search that they come from.
        row: the deployment.
        best: the best, whatever it can stand for.
        times: how many times ``LITTLE`` it may be worse.
    """
    leading = result.wishes.leading
    (own,), (most,) = row.worth(leading), (best or row).worth(leading)
    return own == most or abs(own - most) <= times * LITTLE * abs(most)


def ranked(search_result: SearchResult, deployments: Sequence[SampledRow],
           groups: int) -> list[list[SampledRow]]:
    """Rank deployments: in the order of what they can stand for, each with those like it after it.

    Args:
        search_result: the search that they come from.
        deployments: in any order.
        groups: at most.
    """
    objectives, left = search_result.wishes.chosen, list(deployments)
    shares = {id(sample): keeps(search_result, sample) for sample in left}
    more = {id(sample): extras(search_result, sample.row) for sample in left}
    result: list[list[SampledRow]] = []
    while left and len(result) < groups:
        leader = leading(search_result, left, lambda sample: shares[id(sample)], more)
        alike = [sample for sample in left if sample is not leader and (
            sample.row.layout == leader.row.layout or not apart(leader, sample, objectives))]
        result.append([leader, *alike])
        gone = {id(sample) for sample in result[-1]}
        left = [sample for sample in left if id(sample) not in gone]
    return result


def leading(result: SearchResult, deployments: Sequence[SampledRow],
            often: Callable[[SampledRow], float | None],
            counted: Mapping[int, int] | None = None) -> SampledRow:
    """The deployment that is recommended of several.

    Of those that keep all limits in ``Wishes.share`` of the draws (if none does, of those in which
    the surest keeps them: where nothing would, no choice matters) the best in the first objective
    by what holds in ``HOLDS`` of the draws, and all that cannot be told from it, are looked at by
    the next objective, and so on. Of what is left the surest leads, of equally sure ones the one
    with the fewest extras; for each one fewer it may be less sure by ``LITTLE``.

    Args:
        result: the search that they come from.
        deployments: at least one.
        often: in which share of the draws one keeps all limits [1]; None without limits.
        counted: the extras of each by ``id``, where they are known [1].
    """
    objectives = result.wishes.chosen
    shares = {id(sample): (often(sample) or 0.0) if result.wishes.limits else 1.0
              for sample in deployments}
    more = counted or {id(sample): extras(result, sample.row) for sample in deployments}
    least = least_share(result.wishes.share, shares.values())
    some = [sample for sample in deployments if shares[id(sample)] >= least]
    for name, sign in objectives.items():
        best = max(some, key=lambda sample: (sample.stands_for(name, sign), _order(sample)))
        some = [sample for sample in some if not _differ(best, sample, name)
                or (name != "cards" and more[id(best)] > more[id(sample)] and is_little_worse(
                    sample, best, {name: sign}, more[id(best)] - more[id(sample)]))]
    surest = max(some, key=lambda sample: (shares[id(sample)], -more[id(sample)]))
    return max((sample for sample in some if shares[id(sample)] >= shares[id(surest)] - max(
                   NEARLY, enough(more[id(surest)] - more[id(sample)]))),
               key=lambda sample: (-more[id(sample)], *(sample.stands_for(*item)
                                 for item in objectives.items()), _order(sample)))


def firmest(groups: Sequence[list[SampledRow]], often: Callable[[SampledRow], float | None],
            wanted: float) -> list[list[SampledRow]]:
    """Groups in their order, but last those whose leader keeps the limits too seldom: a simulation
    may leave less to spare than the closed form by which they were ranked.

    Args:
        groups: leaders first.
        often: in which share of the draws a deployment keeps all limits [1]; None without limits.
        wanted: share of the draws in which all limits have to be kept [1].
    """
    shares = {id(group): often(group[0]) or 0.0 for group in groups}
    least = least_share(wanted, shares.values())
    return sorted(groups, key=lambda group: shares[id(group)] < least)


def least_share(wanted: float, shares: Iterable[float]) -> float:
    """In which share of the draws whatever leads keeps the limits [1]: in the one that is wanted,
    or where none does, in as large a part of those of the surest."""
    most = max(shares, default=0.0)
    return wanted if most >= wanted else wanted * most


def extras(result: SearchResult, row: Row) -> int:
    """How many things a deployment does that a plain one does not [1]; a format of which no score
    is published is one, and so are weights that are converted besides."""
    return row.extras + sum(unscored_parts(result.space.model, name) for name in {
        choice.precision for choice in row.choices})


def unscored_parts(model: Model, name: str) -> int:
    """What of a format is not known to keep the quality: the whole, and weights other than the
    published [1]."""
    scores = quality(model, name)
    if scores.within(math.inf):
        return 0
    own = scores.published
    return 1 + (own is None or load_precision(name).weights != load_precision(own).weights)


def enough(more: int) -> float:
    """What a deployment has to win that does so many things more [1]."""
    return LITTLE * min(more, COUNTED_EXTRAS)


def is_little_worse(sample: SampledRow, best: SampledRow, objectives: Mapping[str, int],
                    times: int = 1) -> bool:
    """Whether a deployment is in no objective worse by so many times ``LITTLE`` than another."""
    ends = ((sample.stands_for(*item), best.stands_for(*item)) for item in objectives.items())
    return all(most - own <= enough(times) * abs(most) for own, most in ends)


def _order(sample: SampledRow) -> tuple[str, ...]:
    """What tells any two deployments apart, the same in every run."""
    return tuple(repr(choice) for choice in sample.row.choices)


def apart(one: SampledRow, other: SampledRow, objectives: Mapping[str, int]) -> bool:
    """Whether two deployments can be told from each other in some objective.

    Args:
        one, other: under the same draws.
        objectives: by name.
    """
    return one.row.devices != other.row.devices or any(
        _differ(one, other, name) for name in objectives)


def _differ(one: SampledRow, other: SampledRow, name: str) -> bool:
    """Whether one is better than the other in ``SURE`` of the draws, were each measured itself.

    What both share is drawn once; what each has of its own scatters besides.
    """
    if name == "cards":
        return one.row.devices != other.row.devices
    if name not in one.quantities or name not in other.quantities:
        own, of_other = (sample.row.quantities.get(name) for sample in (one, other))
        if own is None or of_other is None:
            return own is not of_other
        return not math.isclose(own, of_other, rel_tol=LITTLE)  # a context, which no draw moves
    left, right = one.quantities[name], other.quantities[name]
    if np.isclose(left, right, rtol=LEAST, atol=0).all():  # also of nothing, or no end
        return False
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ahead = np.nan_to_num(np.log(left / right))
        own = math.hypot(one.scatter.get(name, 0.0), other.scatter.get(name, 0.0))
        larger = float(np.mean(np.interp(ahead / own, DEVIATIONS, SHARES) if own else ahead > 0))
    return max(larger, 1 - larger) >= SURE


DEAREST = 0.3  # simulation of one of several deployments, beyond the shortest [s]
MOST_REQUESTS = 400  # requests of it, more where they leave in doubt whether a limit is kept


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
                "lengths": self.result.lengths and self.result.lengths.words()}


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
    load = (UserLoad(rate=demand.arrival_rate) if demand.arrival_rate is not None else
             UserLoad(users, together=True, requests=users) if together else
             UserLoad(users, demand.think_time or 0.0))
    wanted = {name: {None if at == MEAN else percentile(at): limit for at, limit in stated.items()}
              for name, stated in limits.items()}
    deployed = scenario(goal, row.choice)
    system = system_of(deployed, prefill=scenario(goal, row.prefill) if row.prefill else None)
    result = simulate_load(deployed, load, system=system, dearest=DEAREST, counted=MOST_REQUESTS,
                     wanted={name: [*stated] for name, stated in wanted.items()}, limits=wanted)
    seen = {}
    for name, stated in limits.items():
        times = getattr(result.summary, name)
        larger = max(1.0, row.quantities.get(name, 0.0) / times.mean) if times.mean > 0 else 1.0
        seen[name] = {at: larger * float(times.mean if at == MEAN else
                                         times.at(percentile(at)).value) for at in stated}
    keeps = result.keeps_up and all(seen[name][at] <= limit for name, stated in limits.items()
                                  for at, limit in stated.items())
    return Simulated(row, seen, keeps, result.keeps_up, result)
