"""A day of users: from questions a day to replicas by the hour, what scaling saves, how busy."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calc.answer.simulated_load import System, system_of
from calc.capacity.replicas import Limits, Replica, ReplicaMetrics, fewest
from calc.capacity.tiers import Population, TierValue
from calc.serving.requests import modulated
from calc.serving.simulation import simulate
from catalogue import ParamsError, Scenario
from catalogue.planning.goals import Load
from catalogue.reading.amounts import human
from catalogue.reading.units import DAY, HOUR

WINDOW = 60.0  # in which the rate of an hour changes [s]
MOST_REQUESTS = 6000  # of a run that checks the busiest hour
LEAST_REQUESTS = 1000  # below, a percentile is that of a few
TURNS = 3  # of the loop between requests in flight and what they find
MOST_MORE = 8  # replicas that are added to what the closed form says before giving up


@dataclass(frozen=True)
class Hour:
    """An hour of a day.

    Attributes:
        rate: of all arrivals [request/s].
        replicas: that it needs [1].
        busy: of those of the busiest hour, the rate over what they take within limits [1].
        seen: by users of one of the replicas of the busiest hour.
    """

    rate: float
    replicas: int
    busy: float
    seen: ReplicaMetrics


@dataclass(frozen=True)
class Checked:
    """The busiest hour, simulated at so many replicas.

    Attributes:
        replicas: in the hour [1].
        requests: counted [request].
        ttft, tpot: at the percentile, or the mean [s].
        met: whether both limits hold.
    """

    replicas: int
    requests: int
    ttft: float
    tpot: float
    met: bool


@dataclass(frozen=True)
class Day:
    """What a day needs.

    Attributes:
        requests: of the day [request].
        most: rate that one replica takes within limits [request/s].
        saturation: rate at which its queue has no bound any more [request/s].
        devices: cards of a replica [1].
        hours: from midnight on.
        replicas: that the busiest hour needs, before it is checked [1].
        start: until a replica serves [s].
        checked: the busiest hour as simulated, the last one with enough replicas.
        online: users who are in conversation in the busiest hour, asking or thinking; None where
            nothing is said of thinking [request].
        closed: whether the closed form holds at the rate of a replica; it is simulated otherwise.
    """

    requests: float
    most: float
    saturation: float
    devices: int
    hours: tuple[Hour, ...]
    replicas: int
    start: float
    checked: tuple[Checked, ...] = ()
    online: float | None = None
    closed: bool = True

    @property
    def fixed(self) -> float:
        """Seconds of all cards of a day, if all replicas always run [s]."""
        return self.bought * self.devices * DAY

    @property
    def bought(self) -> int:
        """Replicas that there are: those of the simulation where it was asked for more [1]."""
        return max([self.replicas, *(each.replicas for each in self.checked if each.met)])

    @property
    def scaled(self) -> float:
        """The same, if every hour runs what it needs, started in time [s]."""
        counts = [hour.replicas for hour in self.hours]
        started = sum(max(0, after - before) for before, after in zip(
            [counts[-1], *counts[:-1]], counts, strict=True))
        return self.devices * (sum(counts) * HOUR + started * self.start)

    @property
    def saved(self) -> float:
        """Share of the cards' time that scaling saves [1]."""
        return 1 - self.scaled / (self.replicas * self.devices * DAY)

    @property
    def utilisation(self) -> float:
        """Mean rate of the day over what all replicas take within limits [1]."""
        return self.requests / (DAY) / (self.bought * self.most)

    def as_json(self) -> dict[str, Any]:
        """Plain data, SI units; what has no bound is null."""
        return {
            "requests": self.requests, "rate_within_limits": self.most,
            "saturation_rate": self.saturation, "devices_per_replica": self.devices,
            "replicas": self.bought, "replicas_unchecked": self.replicas,
            "closed_form_holds": self.closed,
            "devices": self.bought * self.devices, "start": self.start,
            "card_seconds_fixed": self.fixed, "card_seconds_scaled": self.scaled,
            "saved_by_scaling": self.saved, "utilisation": self.utilisation,
            "online": self.online,
            "checked": [vars(each) for each in self.checked],
            "hours": [{**{name: value if math.isfinite(value) else None
                          for name, value in vars(hour.seen).items()},
                       "rate": hour.rate, "replicas": hour.replicas, "busy": hour.busy}
                      for hour in self.hours]}


def day(replica: Replica, load: Load, requests: float, limits: Limits, *,
        start: float = 0.0, think: float | None = None) -> Day:
    """The replicas that a day needs, hour by hour: simulated, where the closed form does not hold.

    Args:
        replica: of the deployment.
        load: how the day's requests are spread.
        requests: of the day [request].
        limits: what users are promised.
        start: until a new replica serves [s].
        think: mean time of a user between an answer and the next question [s].

    Raises ParamsError where one request alone misses the limits: no number of replicas mends that.
    """
    vary = float(load.variation.value)
    most = replica.promised(limits, vary)
    if not most:
        raise ParamsError(alone_misses(replica, limits))
    rates = load.rates(requests)
    needed = fewest(dict(enumerate(rates)), most)
    replicas = max(needed.values())
    hours = tuple(Hour(rate, needed[number], rate / (replicas * most),
                       replica.metrics(rate / replicas, limits.share, vary))
                  for number, rate in enumerate(rates))
    busiest = hours[load.busiest]
    talking = None if think is None else online(
        busiest.rate, busiest.seen.in_flight / busiest.seen.rate, think)
    return Day(requests, most, replica.saturation, replica.devices, hours, replicas, start,
               online=talking, closed=not replica.in_doubt(most))


def online(rate: float, stay: float, think: float) -> float:
    """Users in conversation, asking or thinking: Little's law, N = λ (e2e + Z) [request].

    >>> online(2.0, 10.0, 50.0)
    120.0

    Args:
        rate: of arrivals, λ [request/s].
        stay: of a request, end to end [s].
        think: mean time from an answer to the next question, Z [s].

    Source: notebooks/day.md, section From users to arrivals.
    """
    return rate * (stay + think)


def alone_misses(replica: Replica, limits: Limits) -> str:
    """Why no number of replicas meets the limits: what one request alone takes, in a sentence."""
    alone = replica.seen(0.0, None)
    for name, found, limit in (("TTFT", alone.ttft, limits.ttft),
                               ("TPOT", alone.tpot, limits.tpot)):
        if found > limit:
            return (f"'{replica.scenario.id}': one request alone has a {name} of "
                    f"{human(found, 's')}, above {human(limit, 's')}, which more replicas do not "
                    "mend, expected a higher limit, shorter prompts or another layout.")
    return (f"'{replica.scenario.id}': with prompts of its lengths too many requests miss the "
            "limits even alone, expected higher limits or another layout.")


def check(found: Day, scenario: Scenario, load: Load, limits: Limits, *,
          seed: int = 0) -> Day:
    """The busiest hour step by step, with more replicas until limits hold there too.

    One replica is simulated, with its part of the arrivals, whose rate changes every minute.

    Args:
        found: what the closed form says.
        scenario, load, limits: as for :func:`day`.
        seed: of the random numbers.
    """
    system = _one(system_of(scenario))
    vary = float(load.variation.value)
    rate = max(hour.rate for hour in found.hours)
    runs: list[Checked] = []
    for replicas in range(found.replicas, found.replicas + MOST_MORE):
        runs.append(simulated(system, rate / replicas, replicas, limits, vary, seed))
        if runs[-1].met:
            break
    return replace(found, checked=tuple(runs))


def _one(system: System) -> System:
    """One replica, or one group of ranks that step together, of a system's equal ones."""
    return replace(system, pool=replace(system.pool, replicas=system.pool.ranks))


def simulated(system: System, rate: float, replicas: int, limits: Limits, variation: float,
              seed: int = 0) -> Checked:
    """What users of one replica see in an hour of so high a rate, step by step.

    Args:
        system: one replica.
        rate: of its arrivals [request/s].
        replicas: how many there are, for the record [1].
        limits: what is promised, and of which percentile.
        variation: of the rate from minute to minute [1].
        seed: of the random numbers.
    """
    count = int(min(MOST_REQUESTS, max(LEAST_REQUESTS, rate * HOUR)))
    run = simulate(modulated(rate, variation, WINDOW, count, system.shapes, seed), system.pool)
    counted = run.outcomes[count // 10:count - count // 10]
    ttft, tpot = (np.array([getattr(each, name) for each in counted]) for name in ("ttft", "tpot"))
    tpot = tpot[~np.isnan(tpot)]
    first, later = ((float(values.mean()) if limits.share is None
                     else float(np.quantile(values, limits.share))) if values.size else 0.0
                    for values in (ttft + system.overhead, tpot))
    return Checked(replicas, len(counted), first, later,
                   first <= limits.ttft and later <= limits.tpot)


@dataclass(frozen=True)
class Cached:
    """Replicas that the busiest hour needs with caches in a tier and those before it.

    Attributes:
        replicas: fewest [1]; None where limits hold with no number up to those without a cache.
        tiers: of every tier up to this one, at so many replicas.
    """

    replicas: int | None
    tiers: tuple[TierValue, ...]


def with_tiers(scenario: Scenario, population: Population, rate: float, limits: Limits,
               variation: float, most: int, host: float | None = None, storage: float = 0.0
               ) -> list[Cached]:
    """Replicas for a rate where conversations find their caches, a tier more in each.

    Fewer replicas have more conversations each, whose caches stay for less long: the fewest that
    keep up with what they find is sought among all numbers up to ``most``. A tier whose fetching is
    slower than computing again is not used.

    Args:
        scenario, population: the deployment and its conversations.
        rate: of all arrivals [request/s].
        limits, variation: as for :func:`day`.
        most: replicas without any cache [1].
        host, storage: as for ``Population.tiers`` [B].
    """
    def at(replicas: int, depth: int) -> tuple[bool, tuple[TierValue, ...]]:
        each, hits = rate / replicas, 0.0
        for _ in range(TURNS):  # requests in flight and what they find depend on each other
            now = Replica(scenario, {"prefix_hit_share": hits})
            flying = now.in_flight(min(each, 0.99 * now.saturation))
            tiers = population.tiers(flying, host, storage)[:depth]
            kept = tuple(population.tier_values(each / population.talk.turns, tiers))
            hits = next((tier.hit_share for tier in reversed(kept) if tier.pays), 0.0)
        now = Replica(scenario, {"prefix_hit_share": hits})
        return now.most(limits, variation) >= each, kept

    result = []
    for depth in range(1, 1 + len(population.tiers(0.0, host, storage))):
        low, high = 0, most
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if at(middle, depth)[0] else (middle, high)
        enough, kept = at(high, depth)
        result.append(Cached(high if enough else None, kept))
    return result
