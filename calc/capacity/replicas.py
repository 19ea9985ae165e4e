"""How many requests per second one replica takes within limits at a percentile, and how many
replicas a rate needs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from calc.answer.request_lengths import lengths_of
from calc.answer.simulated_load import MEANS, UserLoad, simulate_load, system_of
from calc.capacity.first_tokens import Steps, first_tokens
from calc.capacity.waits import pace_spread, percentile, rates_met, skewed_above
from calc.layouts.feasible import has_room
from calc.physics.inputs import Inputs
from calc.serving.evaluate import doubts, evaluate
from calc.serving.metrics import MOST_SEQUENCES
from calc.serving.step_times import ranks_in_step
from catalogue import ParamsError, Scenario

POINTS = 240  # numbers of requests in flight that are tried
RATES = 1 - np.linspace(1, 0, 13)[:-1] ** 2  # of saturation, at which first tokens are sought [1]
LATER = np.geomspace(1, 8.0**-6, 128)  # shares of the requests that exceed a time [1]
MOST_BACK = 0.8  # of an answer that lasts longer, what comes back; beyond, the form does not hold
MOST_OVERFLOW = 0.01  # of the steps, in which the cache may not suffice
CLOSE = 1e-4  # of a rate, relative
APART = 1.1  # one rate that is simulated over the next
SIMULATED = 4  # rates at most, where the closed form of a rate within limits does not hold
NEARLY, DEEP = 1.05, 64  # over the rate that is told: what is close, and what is sought at most
USED = ("steady_request_throughput", "steady_ttft", "steady_tpot", "steady_e2e",
        "steady_prefill", "prompt_work", "prompt_growth", "prompt_chunks", "riding_time",
        "busy_step", "own_chunk", "prompt_interruption", "decode_step_time", "tokens_per_step",
        "cache_overflow")


@dataclass(frozen=True)
class Limits:
    """What users are promised.

    Attributes:
        ttft, tpot: at most [s]; infinity where nothing is promised.
        share: of the requests that each of them holds for; None for the mean.
    """

    ttft: float = math.inf
    tpot: float = math.inf
    share: float | None = 0.99


@dataclass(frozen=True)
class ReplicaMetrics:
    """What users of one replica see at a rate, times [s], shares [1].

    Attributes:
        rate: of arrivals [request/s].
        in_flight: requests on average [request].
        ttft, tpot: means.
        ttft_at, tpot_at: at the percentile; infinity where the queue has no bound.
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


class Replica:
    """The least part of a deployment that serves by itself, under independent arrivals.

    Replicas are equal and requests are dealt to them at random, so that each sees its part of the
    rate as Poisson arrivals. Taking turns, or the least loaded first, is never worse.

    Args:
        scenario: the deployment; ranks that share experts are one replica.
        given: inputs in place of its own, in SI units.

    Raises ParamsError for a deployment that does not fit or does not say how long requests are.
    """

    def __init__(self, scenario: Scenario, given: Mapping[str, float] | None = None) -> None:
        if scenario.file.workload.output_tokens is None:
            raise ParamsError(f"'{scenario.id}' says how long its requests are at most, not how "
                              "long they are, expected workload.input_tokens and "
                              "workload.output_tokens.")
        self.attention, self.lengths = scenario.model.attention, lengths_of(scenario)
        whole = scenario.inputs() | dict(given or {})
        if scenario.variations is None:  # as a simulation takes them
            whole |= {"prompt_variation": self.lengths.prompts,
                      "answer_variation": self.lengths.answers}
        self.scenario, self.ranks = scenario, int(ranks_in_step(whole))
        self._given = dict(given or {})
        self._simulated: dict[float, tuple[float, float, float]] = {}
        self.inputs = whole | {"data_parallel": self.ranks, "open_arrivals": 1, "think_time": 0}
        self.devices = int(whole["tensor_parallel"] * whole["pipeline_parallel"] * self.ranks)
        self.fits = bool(has_room(evaluate(self.inputs | {"concurrency": self.ranks},
                                           self.attention, decode=False)))
        if not self.fits:
            raise ParamsError(f"'{scenario.id}' does not hold one request, expected a deployment "
                              "that fits (python -m calc estimate tells what would).")

    @cached_property
    def curve(self) -> dict[str, np.ndarray]:
        """Quantities of ``USED`` by requests in flight, as far as memory and engine let them in."""
        equal = self.ranks * self.inputs["pipeline_parallel"]  # as many in every batch
        counts = np.append(1.0, np.unique(np.geomspace(
            1, MOST_SEQUENCES * self.ranks // equal, POINTS).round()) * equal)
        counts = np.unique(counts)
        found = evaluate(self.inputs | {"concurrency": counts}, self.attention)
        table = {name: np.broadcast_to(np.asarray(found[name], float), counts.shape)
                 for name in USED}
        table["counts"] = counts
        q = Inputs({name: np.asarray(value, float)[()] for name, value in (
            self.inputs | {"concurrency": counts}).items()})
        table["doubted"] = np.any([np.broadcast_to(met, counts.shape)
                                   for met in doubts(q, found).values()], axis=0).astype(float)
        rates = table["steady_request_throughput"]
        higher = rates > np.maximum.accumulate(np.append(-1.0, rates[:-1]))
        good = higher & np.logical_and.accumulate(table["cache_overflow"] <= MOST_OVERFLOW)
        paces = table["decode_step_time"] / table["tokens_per_step"]
        table["slope"] = np.gradient(paces, counts)
        return {name: column[good] for name, column in table.items()}

    @property
    def saturation(self) -> float:
        """Rate from which the queue, or the cache, has no bound any more [request/s]."""
        return float(self.curve["steady_request_throughput"][-1])

    def _at(self, rates: np.ndarray, name: str) -> np.ndarray:
        return np.interp(rates, self.curve["steady_request_throughput"], self.curve[name])

    def _steps(self, rate: float) -> Steps:
        """Steps of one rank at a rate of the replica."""
        at = {name: float(self._at(np.array(rate), name)) for name in USED}
        new, stages = float(self.prompts.mean()), self.inputs["pipeline_parallel"]
        pace = at["decode_step_time"] / at["tokens_per_step"]
        return Steps(
            pace, at["prompt_work"] * stages / at["prompt_chunks"] + at["riding_time"],
            new / at["prompt_chunks"], at["prompt_growth"] / new,
            at["busy_step"] if self.ranks > 1 else pace if self.inputs["mixed_steps"] else 0.0,
            self.inputs["max_num_batched_tokens"], self.inputs["request_overhead"]
            + at["steady_prefill"] - at["prompt_chunks"] * at["own_chunk"])

    @cached_property
    def prompts(self) -> np.ndarray:
        """New tokens of prompts of this deployment's lengths, each as likely [token]."""
        shapes = self.lengths.shapes(self.inputs)
        return np.array([shape[0] - sum(shape[2:]) for shape in shapes], float)

    @cached_property
    def first(self) -> tuple[np.ndarray, np.ndarray]:
        """First tokens at ``RATES``: means [s], (r,); times that ``LATER`` exceed [s], (r, l).

        What ranks add to each other's steps is in the mean of the steady state, not in the chain:
        where that mean is larger, all times are as much larger.
        """
        means, times = [], []
        parts = self.ranks * self.inputs["pipeline_parallel"]
        for rate in RATES * self.saturation:
            time, likely = first_tokens(rate / parts, self.prompts, self._steps(rate))
            mean, steady = float(time @ likely), float(self._at(np.array(rate), "steady_ttft"))
            found = time[np.minimum(np.searchsorted(np.cumsum(likely), 1 - LATER), time.size - 1)]
            means.append(max(mean, steady))
            times.append(found * max(1.0, steady / mean))
        return np.array(means), np.maximum.accumulate(times, axis=0)

    def _first_above(self, rates: np.ndarray, shares: np.ndarray) -> Callable[[float], float]:
        """Share of the requests that have their first token later than a time [s], at all rates."""
        busy = np.minimum(1.0, rates / self.saturation)
        times = np.array([np.interp(busy, RATES, column) for column in self.first[1].T]).T

        def above(time: float) -> float:
            tails = np.array([np.interp(time, row, LATER, left=1.0, right=0.0) for row in times])
            return float(shares @ np.where(rates < self.saturation, tails, 1.0))

        return above

    def _later_above(self, rates: np.ndarray, shares: np.ndarray) -> Callable[[float], float]:
        """Share of the requests that have a larger mean time per token [s], at all rates."""
        mean, later = self._at(rates, "steady_tpot"), max(1.0, self.inputs["output_tokens"] - 1)
        interruption = self._at(rates, "prompt_interruption")
        slope = np.maximum(0.0, self._at(rates, "slope"))
        back = rates * interruption + slope * self._at(rates, "counts") / mean / 2
        sigma, skewness = pace_spread(rates * later * mean, interruption / later, slope,
                                      1 / (1 - np.minimum(back, MOST_BACK)))

        def above(time: float) -> float:
            tails = np.where(sigma > 0, skewed_above(
                (time - mean) / np.where(sigma > 0, sigma, 1.0), skewness), time < mean)
            return float(shares @ np.where(rates < self.saturation, tails, 1.0))

        return above

    def in_doubt(self, rate: float) -> bool:
        """Whether the closed form of a rate that it takes does not hold."""
        return 0 < rate < self.saturation and bool(self._at(np.array(rate), "doubted"))

    def metrics(self, rate: float, share: float | None = 0.99,
             variation: float = 0.0) -> ReplicaMetrics:
        """What users see at a mean rate; simulated, where the closed form does not hold.

        Of a simulation the means are taken; percentiles, and rates that vary, move along with them.

        Args:
            rate, share, variation: as for :meth:`seen`.
        """
        closed = self.seen(rate, share, variation)
        if not self.in_doubt(rate):
            return closed
        first, later, present = self._factors(rate)
        return replace(closed, in_flight=present * closed.in_flight,
                       ttft=first * closed.ttft, tpot=later * closed.tpot,
                       ttft_at=first * closed.ttft_at, tpot_at=later * closed.tpot_at)

    def _factors(self, rate: float) -> tuple[float, float, float]:
        """TTFT, TPOT and requests in flight of a simulation, over those of the closed form [1].

        Those of a rate nearby are shared, where it was simulated before.
        """
        near = next((known for known in self._simulated
                     if 1 / APART < rate / known < APART), rate)
        if near not in self._simulated:
            system = system_of(self.scenario, found=self._given | {"data_parallel": self.ranks})
            found = simulate_load(self.scenario, UserLoad(rate=near), system=system, wanted=MEANS)
            even = self.seen(near, None)
            self._simulated[near] = (found.ttft.mean / even.ttft, found.tpot.mean / even.tpot,
                                     near * found.e2e.mean / even.in_flight)
        return self._simulated[near]

    def seen(self, rate: float, share: float | None = 0.99,
             variation: float = 0.0) -> ReplicaMetrics:
        """What users see at a mean rate, in closed form.

        Args:
            rate: of arrivals at this replica [request/s].
            share: the percentile [1]; None for none.
            variation: of the rate from minute to minute, standard deviation over mean [1].
        """
        if rate >= self.saturation:
            return ReplicaMetrics(rate, math.inf, math.inf, math.inf, math.inf, math.inf,
                                  rate / self.saturation)
        met, shares = rates_met(rate, variation)
        ttft = float(shares @ np.interp(met / self.saturation, RATES, self.first[0]))
        tpot = float(self._at(met, "steady_tpot") @ shares)
        first = later = math.inf
        if share is not None and shares[met >= self.saturation].sum() <= 1 - share:
            first = percentile(self._first_above(met, shares), share, 2 * ttft)
            later = percentile(self._later_above(met, shares), share, 2 * tpot)
        return ReplicaMetrics(rate, self.in_flight(rate, variation), ttft, tpot, first, later,
                              rate / self.saturation)

    def in_flight(self, rate: float, variation: float = 0.0) -> float:
        """Requests on average at a mean rate, in closed form [request].

        Args:
            rate, variation: as for :meth:`seen`.
        """
        met, shares = rates_met(rate, variation)
        return rate * float(self._at(met, "steady_e2e") @ shares)

    def most(self, limits: Limits, variation: float = 0.0) -> float:
        """Largest rate of arrivals within limits; 0 if one request alone is not [request/s].

        Args:
            limits: what is promised.
            variation: of the rate from minute to minute [1].
        """
        low, high = 0.0, self.saturation
        if not self.alone(limits):
            return 0.0
        if self._holds(high * (1 - CLOSE), limits, variation):
            return high * (1 - CLOSE)
        while high - low > CLOSE * self.saturation:
            middle = (low + high) / 2
            low, high = (middle, high) if self._holds(middle, limits, variation) else (low, middle)
        return low

    def promised(self, limits: Limits, variation: float = 0.0) -> float:
        """:meth:`most` of what is :meth:`told`: simulated, where the closed form does not hold.

        A simulation says by how much a limit of the closed form has to be lower for that of the
        simulation to hold; at the rate that follows, or between those that are known, another one
        says so again.

        Args:
            limits, variation: as for :meth:`most`.
        """
        rate = high = self.most(limits, variation)
        low = high / DEEP
        for _ in range(SIMULATED):
            if not self.in_doubt(rate) or high < NEARLY * low:
                break
            closed = self.seen(rate, limits.share, variation)
            told = self.metrics(rate, limits.share, variation)
            low, high = (rate, high) if told.meets(limits) else (low, rate)
            if low == self.most(limits, variation):
                break
            guess = self.most(replace(limits, ttft=limits.ttft * closed.ttft / told.ttft,
                                      tpot=limits.tpot * closed.tpot / told.tpot), variation)
            rate = guess if low < guess < high else math.sqrt(low * high)
        return low if self.in_doubt(rate) else rate

    def _holds(self, rate: float, limits: Limits, variation: float) -> bool:
        """Whether limits hold at a rate; without seeking the percentile itself."""
        if limits.share is None:
            return self.seen(rate, None, variation).meets(limits)
        met, shares = rates_met(rate, variation)
        allowed = 1 - limits.share
        return bool(shares[met >= self.saturation].sum() <= allowed) and all(
            limit == math.inf or above(met, shares)(limit) <= allowed
            for limit, above in ((limits.ttft, self._first_above),
                                 (limits.tpot, self._later_above)))

    def alone(self, limits: Limits) -> bool:
        """Whether a single request meets the limits: what more replicas cannot mend."""
        return self._holds(0.0, limits, 0.0)


def fewest(rates: Mapping[Any, float], most: float) -> dict[Any, int]:
    """Replicas for each rate, of which one takes so much; at least one [1].

    >>> fewest({"night": 0.2, "day": 3.1}, 1.0)
    {'night': 1, 'day': 4}
    """
    return {key: max(1, math.ceil(rate / most * (1 - 8.0**-9))) for key, rate in rates.items()}
