"""What a goal asks, as numbers: its objectives and limits, what cards cost, and whether it can be.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from calc.costing.rates import Rate, card_hour, converted, prices_of
from calc.costing.tokens import MILLION
from calc.searching.space import Space
from catalogue import ParamsError
from catalogue.planning.goals import OBJECTIVES, USUAL_OBJECTIVES, Goal
from catalogue.reading.amounts import human

MEAN = "mean"
TIMES = ("ttft", "tpot", "e2e")


@dataclass(frozen=True)
class Wishes:
    """Objectives and limits of a goal.

    Attributes:
        goal: the goal.
        objectives: name -> +1 to have it large, -1 to have it small.
        hours: device -> price of a card [money/s], of those that have one.
        unpriced: devices without a price.
    """

    goal: Goal
    objectives: dict[str, int]
    hours: Mapping[str, Rate]
    unpriced: tuple[str, ...]

    @property
    def powered(self) -> bool:
        """Whether power is asked for."""
        return "energy" in self.objectives or self.goal.limits.power is not None

    @property
    def limits(self) -> dict[str, float]:
        """Limits by name, of those that the goal states."""
        stated = self.goal.limits
        found = {name: getattr(stated, name) for name in (*TIMES, "throughput", "cost", "power")}
        return {name: float(limit) for name, limit in found.items() if limit is not None}

    def with_derived(self, columns: Mapping[str, np.ndarray], device: str) -> dict[str, np.ndarray]:
        """What objectives and limits need besides what users see.

        Args:
            columns: ``devices``, ``throughput`` and times, shape (n,).
            device: whose cards they are.
        """
        cards = columns["devices"]
        found = {**columns, "cards": cards,
                 "throughput_per_card": columns["throughput"] / cards}
        if "power" in columns:
            found["energy"] = columns["power"] / columns["throughput"]
        hour = self.hours.get(device)
        if hour is not None:
            with np.errstate(divide="ignore"):  # nothing served costs without end
                found["cost"] = MILLION * hour.value * cards / columns["throughput"]
        elif self.hours:
            found["cost"] = np.full(len(cards), np.inf)
        return found

    def of_pair(self, columns: Mapping[str, np.ndarray], prefill: str, decode: str
                ) -> dict[str, np.ndarray]:
        """:meth:`with_derived` of two pools, each on cards of its own device.

        Args:
            columns: of the pairs, ``prefill devices`` and ``decode devices`` among them.
            prefill, decode: devices.
        """
        found = self.with_derived(columns, decode)
        hours = [self.hours.get(device) for device in (prefill, decode)]
        if self.hours:
            paid = sum(columns[f"{pool} devices"] * hour.value if hour else np.inf
                       for pool, hour in zip(("prefill", "decode"), hours, strict=True))
            found["cost"] = MILLION * paid / columns["throughput"]
        return found

    def excess(self, columns: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """How far each is over a limit, as a factor less one; at most 0 where it keeps it.

        Args:
            columns: quantities by name, shape (n,).
        """
        found = {}
        for name, limit in self.limits.items():
            value = columns[name]
            over = limit / value if OBJECTIVES[name] > 0 else value / limit
            found[name] = over - 1
        return found


def wishes(space: Space) -> Wishes:
    """What a goal asks, once it is known that it can be asked.

    Raises ParamsError for a goal that contradicts itself, with the arithmetic, and for one that
    asks for money where no card has a price.
    """
    goal = space.goal
    _contradictions(goal)
    hours, unpriced = {}, []
    for offer in space.offers:
        prices = prices_of(offer.device)
        hour = card_hour(offer.device, goal.ownership, prices, offer.price)
        if hour is None:
            unpriced.append(offer.device)
        else:
            hours[offer.device] = converted(hour, goal.currency, prices.exchange)
    asked = list(goal.objectives or USUAL_OBJECTIVES)
    if not hours and ("cost" in (goal.objectives or ()) or goal.limits.cost is not None):
        raise ParamsError(f"{goal.id}: it asks for a cost, but no price of {', '.join(unpriced)} "
                          "is known, state one: devices: [{device: "
                          f"{unpriced[0]}, price: 1.5..2.5 USD/h}}].")
    if goal.objectives is None and unpriced:
        asked.remove("cost")  # a front of some devices only would leave the others out
    if goal.limits.at != MEAN:  # what is best in the mean need not be at a percentile
        asked += [name for name in ("ttft", "tpot") if name not in asked]
    return Wishes(goal, {name: OBJECTIVES[name] for name in asked}, hours, tuple(unpriced))


def _contradictions(goal: Goal) -> None:
    """Refuse a goal whose limits say two things of one quantity."""
    demand, limits = goal.demand, goal.limits
    if limits.throughput is None:
        return
    wanted = human(limits.throughput, "token/s")
    if demand.arrival_rate is not None:
        most = demand.arrival_rate * demand.output_tokens
        if limits.throughput > most:
            raise ParamsError(
                f"{goal.id}: {demand.arrival_rate:g} requests per second of "
                f"{demand.output_tokens:,} tokens are {human(most, 'token/s')}, the goal asks for "
                f"{wanted}, expected at most what arrives.")
    if demand.users is not None and limits.tpot is not None:
        pace = demand.users / limits.throughput
        if pace < limits.tpot:
            rate = demand.users / limits.tpot
            raise ParamsError(
                f"{goal.id}: {demand.users:,} users who get a token every "
                f"{human(limits.tpot, 's')} take {human(rate, 'token/s')}, the goal asks for "
                f"{wanted}, which is a token every {human(pace, 's')} for each of them; expected "
                f"a throughput of at most {human(rate, 'token/s')}, or a tpot of at most "
                f"{human(pace, 's')}.")
