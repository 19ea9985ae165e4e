"""A day of users: one replica simulated at several loads, and the replicas that each hour needs.

A replica is simulated under Poisson arrivals at fixed shares of its saturation. What its times are
of the closed form's means at the same rate is interpolated for rates in between. Where the rate of
an hour varies from minute to minute, the requests of the minutes are mixed: a queue is assumed to
follow the rate of its minute.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from calc.answer.simulated_load import system_of
from calc.layouts.feasible import has_room
from calc.serving.evaluate import evaluate
from calc.serving.metrics import MOST_SEQUENCES
from calc.serving.requests import Request, Shape, log_deviation
from calc.serving.simulation import simulate
from calc.serving.step_times import ranks_in_step
from catalogue import ParamsError, Scenario
from catalogue.entries.operation import Load
from catalogue.reading.units import DAY, HOUR, human

POINTS = 240  # numbers of requests in flight of the closed form
BUSY = np.array([0.1, 0.5, 0.8])  # simulated shares of saturation
COUNTED = np.array([100, 500, 800])  # requests of each, after its warm-up
LEAST = 0.03  # share of saturation below which no rate is looked for
BLOCK = 100  # requests in which prompts have all lengths
MOST_REQUESTS = 3000  # of a simulation, with its warm-up
ATOMS = (np.arange(500) + 0.5) / 500  # quantiles that stand for a distribution of times
# of the logarithm of a minute's rate; the ends stand for all beyond
DEVIATIONS = np.linspace(-2.5, 2.5, 21)
EDGES = [NormalDist().cdf(float(edge)) for edge in (DEVIATIONS[1:] + DEVIATIONS[:-1]) / 2]
MOST_OVERFLOW = 0.01  # of the steps, in which the cache may not suffice
CLOSE = 1e-3  # of a rate, relative
TIMES = ("ttft", "tpot", "e2e")
CLOSED = ("steady_request_throughput", "cache_overflow", *(f"steady_{name}" for name in TIMES))


@dataclass(frozen=True)
class Limits:
    """Latency limits that users are promised.

    Attributes:
        ttft, tpot: at most [s]; infinity where nothing is promised.
        share: of the requests that each limit holds for; None for the mean.
    """

    ttft: float = math.inf
    tpot: float = math.inf
    share: float | None = 0.99


@dataclass(frozen=True)
class ReplicaMetrics:
    """Latencies of one replica at a rate, times [s], shares [1].

    Attributes:
        rate: of arrivals [request/s].
        in_flight: requests on average [request].
        ttft, tpot: means.
        ttft_at, tpot_at: at the percentile; infinity where too many minutes are above saturation.
        busy: rate over that at which the queue has no bound any more.
    """

    rate: float
    in_flight: float
    ttft: float
    tpot: float
    ttft_at: float
    tpot_at: float
    busy: float

    def meets(self, limits: Limits) -> bool:
        """Whether both limits hold."""
        if limits.share is None:
            return self.ttft <= limits.ttft and self.tpot <= limits.tpot
        return self.ttft_at <= limits.ttft and self.tpot_at <= limits.tpot


def rates_met(rate: float, variation: float) -> tuple[np.ndarray, np.ndarray]:
    """Rates that requests meet where the rate of a minute varies [request/s], and their shares [1].

    The rate of a minute is log-normal about its mean. More requests come in busy minutes, so the
    rate that they meet is log-normal too, with σ² added to the mean of its logarithm.

    >>> rates_met(2.0, 0.0)[0].tolist()
    [2.0]

    Args:
        rate: of the hour [request/s].
        variation: standard deviation of a minute's rate over the mean [1].

    Source: notebooks/day.md, section The slowest in a hundred.
    """
    if not variation:
        return np.array([rate]), np.ones(1)
    sigma = log_deviation(variation)
    return rate * np.exp(sigma * DEVIATIONS + sigma * sigma / 2), np.diff([0.0, *EDGES, 1.0])


def arrivals(rate: float, count: int, shapes: Sequence[Shape], seed: int) -> list[Request]:
    """Poisson arrivals whose prompts have their distribution in every ``BLOCK`` of them.

    Args:
        rate: of arrivals [request/s].
        count: requests [request].
        shapes: of requests, each as likely as any other [token].
        seed: of the random numbers.
    """
    ordered, draw = sorted(shapes), np.random.default_rng(seed)
    times = np.cumsum(draw.exponential(size=count)) / rate
    levels = np.concatenate([draw.permutation(np.arange(BLOCK) + draw.random(BLOCK))
                             for _ in range(-(-count // BLOCK))])[:count]
    return [Request(at, *ordered[int(level / BLOCK * len(ordered))])
            for at, level in zip(times.tolist(), levels.tolist(), strict=True)]


class Replica:
    """The smallest part of a deployment that serves by itself, under independent arrivals.

    Replicas are equal and requests are dealt to them at random, so that each sees its part of the
    rate as Poisson arrivals. Taking turns, or the least loaded first, is never worse.

    Args:
        scenario: the deployment; ranks that share experts are one replica.
        given: inputs in level of its own, in SI units.
        seed: of the random numbers.

    Raises ParamsError for a deployment that does not fit or does not state request lengths.
    """

    def __init__(self, scenario: Scenario, given: Mapping[str, float] | None = None,
                 seed: int = 0) -> None:
        given = dict(given or {})
        inputs = scenario.inputs() | given
        self.scenario, self.seed, self.ranks = scenario, seed, int(ranks_in_step(inputs))
        given["data_parallel"] = self.ranks
        self.system = system_of(scenario, given=given)
        if scenario.variations is None and (lengths := self.system.lengths):
            inputs |= {"prompt_variation": lengths.prompts, "answer_variation": lengths.answers}
        self.inputs = inputs | given | {"open_arrivals": 1, "think_time": 0}
        self.devices = int(inputs["tensor_parallel"] * inputs["pipeline_parallel"] * self.ranks)
        if not has_room(evaluate(self.inputs | {"concurrency": self.ranks},
                                 scenario.model.attention, decode=False)):
            raise ParamsError(f"'{scenario.id}' does not hold one request, expected a deployment "
                              "that fits (will-it-fit estimate tells what would).")
        self.curve = self._curve()
        # rate from which the queue, or the cache, has no bound any more [request/s]
        self.saturation = float(self.curve["steady_request_throughput"][-1])
        self._simulated: dict[int, np.ndarray] = {}

    def _curve(self) -> dict[str, np.ndarray]:
        """Quantities of ``CLOSED`` by requests in flight, as far as memory and engine allow."""
        equal = self.ranks * self.inputs["pipeline_parallel"]  # as many in every batch
        counts = np.unique(np.append(1.0, np.unique(np.geomspace(
            1, MOST_SEQUENCES * self.ranks // equal, POINTS).round()) * equal))
        quantities = evaluate(self.inputs | {"concurrency": counts}, self.scenario.model.attention)
        table = {name: np.broadcast_to(np.asarray(quantities[name], float), counts.shape)
                 for name in CLOSED}
        rates = table["steady_request_throughput"]
        higher = rates > np.maximum.accumulate(np.append(-1.0, rates[:-1]))
        good = higher & np.logical_and.accumulate(table["cache_overflow"] <= MOST_OVERFLOW)
        return {name: column[good] for name, column in table.items()}

    def closed(self, name: str, rate: Any) -> np.ndarray:
        """A mean time in closed form at rates of arrivals [s].

        Args:
            name: of :data:`TIMES`.
            rate: of arrivals at this replica [request/s].
        """
        return np.interp(rate, self.curve["steady_request_throughput"],
                         self.curve[f"steady_{name}"])

    def _run(self, number: int) -> np.ndarray:
        """Mean and ``ATOMS`` of each of ``TIMES`` at a share of saturation, over its mean in closed
        form [1]; (3, 1 + atoms)."""
        if number not in self._simulated:
            rate, system = float(BUSY[number]) * self.saturation, self.system
            warm = math.ceil(rate * self.closed("e2e", rate))
            count = min(MOST_REQUESTS, 5 * warm // 2 + int(COUNTED[number]))
            try:
                run = simulate(arrivals(rate, count, system.shapes, self.seed), system.pool,
                               system.decode, system.transfer, system.front_end_rate)
            except ValueError as error:
                raise ParamsError(f"'{self.scenario.id}': {str(error).rstrip('.')}.") from None
            warm = max(1, min(warm, count // 4))
            table = np.zeros((len(TIMES), 1 + ATOMS.size))
            for row, name in enumerate(TIMES):
                values = np.array([getattr(outcome, name)
                                   for outcome in run.outcomes[3 * warm // 2:-warm]])
                values = values[~np.isnan(values)] + (system.overhead if name != "tpot" else 0.0)
                if values.size:
                    table[row] = [values.mean(), *np.quantile(values, ATOMS)]
                    table[row] /= self.closed(name, rate)
            self._simulated[number] = table
        return self._simulated[number]

    def metrics(self, rate: float, share: float | None = 0.99,
                variation: float = 0.0) -> ReplicaMetrics:
        """Latencies at a mean rate.

        Args:
            rate: of arrivals at this replica [request/s].
            share: the percentile [1]; None for none.
            variation: of the rate from minute to minute, standard deviation over mean [1].
        """
        if rate >= self.saturation:
            return ReplicaMetrics(rate, math.inf, math.inf, math.inf, math.inf, math.inf,
                                  rate / self.saturation)
        met, shares = rates_met(rate, variation)
        busy = np.minimum(met / self.saturation, BUSY[-1])
        upper = np.clip(np.searchsorted(BUSY, busy), 1, len(BUSY) - 1)
        part = ((busy - BUSY[upper - 1]) / (BUSY[upper] - BUSY[upper - 1])).clip(0)
        low, high = (np.array([self._run(int(number)) for number in numbers])
                     for numbers in (upper - 1, upper))
        times = low + part[:, None, None] * (high - low)
        means = [self.closed(name, busy * self.saturation) for name in TIMES]
        times *= np.array(means).T[..., None]
        ttft, tpot, e2e = (shares @ times[:, :, 0]).tolist()
        first = later = math.inf
        if share is not None and rate <= self.stable(share, variation):
            weights = np.repeat(shares, ATOMS.size)
            first, later = (float(np.quantile(times[:, row, 1:].ravel(), share, weights=weights,
                                              method="inverted_cdf")) for row in (0, 1))
        return ReplicaMetrics(rate, rate * e2e, ttft, tpot, first, later, rate / self.saturation)

    def stable(self, share: float | None, variation: float = 0.0) -> float:
        """Largest mean rate at which no more requests than allowed meet a rate above saturation.

        Args:
            share: of the requests for which limits hold; None for the mean [1].
            variation: of the rate from minute to minute [1].
        """
        sigma = 0.0 if share is None else log_deviation(variation)
        margin = sigma * NormalDist().inv_cdf(share or 0.5) + sigma * sigma / 2
        return self.saturation * math.exp(-margin) * (1 - CLOSE)

    def sustained(self, limits: Limits, variation: float = 0.0) -> float:
        """Largest rate of arrivals within limits [request/s]; 0 where none is.

        Bisection on the rate, from the one at which the closed form's means miss the limits.

        Args:
            limits: what is promised.
            variation: of the rate from minute to minute [1].
        """
        top = self.stable(limits.share, variation)
        if math.isinf(limits.ttft) and math.isinf(limits.tpot):
            return top
        curve = self.curve
        misses = (curve["steady_ttft"] > limits.ttft) | (curve["steady_tpot"] > limits.tpot)
        if misses[0]:
            return 0.0
        rates = curve["steady_request_throughput"][misses]
        low, high = 0.0, min(top, 1.2 * float(rates[0])) if rates.size else top
        while high - low > CLOSE * high:
            middle = (low + high) / 2
            if self.metrics(middle, limits.share, variation).meets(limits):
                low = middle
            else:
                high = middle
            if high < LEAST * self.saturation and not low:
                return 0.0
        return high if high == top else low


@dataclass(frozen=True)
class Hour:
    """An hour of a day.

    Attributes:
        rate: of all arrivals [request/s].
        replicas: that it needs [1].
        busy: rate over what all replicas of the day sustain within limits [1].
        seen: by users of one of the replicas of the busiest hour.
    """

    rate: float
    replicas: int
    busy: float
    seen: ReplicaMetrics


@dataclass(frozen=True)
class Day:
    """Replicas of a day.

    Attributes:
        requests: of the day [request].
        rate_within_limits: that one replica takes [request/s].
        saturation_rate: at which its queue has no bound any more [request/s].
        devices_per_replica, devices: cards of a replica, and of all of them [1].
        replicas: that the busiest hour needs [1].
        start: until a replica serves [s].
        card_seconds_fixed: of all cards of a day if all replicas always run [s].
        card_seconds_scaled: if every hour runs what it needs, started in time [s].
        saved_by_scaling: share of the cards' time that scaling saves [1].
        utilisation: mean rate of the day over what all replicas take within limits [1].
        online: users in conversation in the busiest hour, asking or thinking; None where no
            thinking time is given [request].
        busiest: index of the hour with the largest rate.
        hours: from midnight on.
    """

    requests: float
    rate_within_limits: float
    saturation_rate: float
    devices_per_replica: int
    devices: int
    replicas: int
    start: float
    card_seconds_fixed: float
    card_seconds_scaled: float
    saved_by_scaling: float
    utilisation: float
    online: float | None
    busiest: int
    hours: tuple[Hour, ...]


def day(replica: Replica, load: Load, requests: float, limits: Limits, *,
        start: float = 0.0, think: float | None = None) -> Day:
    """The replicas that a day needs, hour by hour.

    Args:
        replica: of the deployment.
        load: how the day's requests are spread.
        requests: of the day [request].
        limits: what users are promised.
        start: until a new replica serves [s].
        think: mean time of a user between an answer and the next question [s].

    Raises ParamsError where one request alone misses the limits: more replicas do not help.
    """
    vary, cards = float(load.variation.value), replica.devices
    sustained = replica.sustained(limits, vary)
    if not sustained:
        raise ParamsError(alone_misses(replica, limits))
    rates = load.rates(requests)
    needed = [max(1, math.ceil(rate / sustained * (1 - 8.0**-9))) for rate in rates]
    replicas = max(needed)
    hours = tuple(Hour(rate, count, rate / (replicas * sustained),
                       replica.metrics(rate / replicas, limits.share, vary))
                  for rate, count in zip(rates, needed, strict=True))
    seen = hours[load.busiest].seen
    fixed = replicas * cards * DAY
    scaled = card_seconds(needed, cards, start)
    return Day(requests, sustained, replica.saturation, cards, replicas * cards, replicas, start,
               fixed, scaled, 1 - scaled / fixed, requests / DAY / (replicas * sustained),
               None if think is None else online(rates[load.busiest], seen.in_flight / seen.rate,
                                                 think), load.busiest, hours)


def card_seconds(counts: list[int], devices: int, start: float) -> float:
    """Card seconds of a day whose hours run so many replicas, each started in time [s].

    >>> card_seconds([1, 2], 1, 60.0)
    10860.0

    Args:
        counts: replicas by hour, the first of which follows the last [1].
        devices: cards of a replica [1].
        start: until a replica serves [s].
    """
    started = sum(max(0, after - before)
                  for before, after in zip([counts[-1], *counts[:-1]], counts, strict=True))
    return devices * (sum(counts) * HOUR + started * start)


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
    """Why no number of replicas meets the limits, in a sentence."""
    for name, limit in (("ttft", limits.ttft), ("tpot", limits.tpot)):
        value = float(replica.curve[f"steady_{name}"][0])
        if value > limit:
            return (f"'{replica.scenario.id}': one request alone has a {name.upper()} of "
                    f"{human(value, 's')}, above {human(limit, 's')}, which more replicas do not "
                    "mend, expected a higher limit, shorter prompts or another layout.")
    return (f"'{replica.scenario.id}': with prompts of its lengths too many requests miss the "
            "limits even alone, expected higher limits or another layout.")
