"""How many requests per second one replica takes within limits at a percentile, and how many
replicas a rate needs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from calc.choosing.layouts.judge import has_room
from calc.choosing.simulated import lengths_of
from calc.deciding.waits import (
    pace_spread,
    percentile,
    rates_met,
    skewed_above,
    wait_above,
)
from calc.quantities.everything import evaluate
from calc.serving.replay import MOST_SEQUENCES
from calc.serving.step_times import ranks_in_step
from catalogue import ParamsError, Scenario

POINTS = 240  # numbers of requests in flight that are tried
PROMPTS = 24  # lengths that stand for those of all prompts
MOST_BACK = 0.8  # of an answer that lasts longer, what comes back; beyond, the form does not hold
MOST_OVERFLOW = 0.01  # of the steps, in which the cache may not suffice
CLOSE = 1e-4  # of a rate, relative
USED = ("steady_request_throughput", "steady_ttft", "steady_tpot", "steady_e2e", "steady_queue",
        "random_wait", "prompt_work", "prompt_growth", "prompts_per_chunk", "shared_chunk",
        "prompt_interruption", "decode_step_time", "tokens_per_step", "cache_overflow")


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
class Seen:
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


@dataclass(frozen=True)
class Waiting:
    """How prompts wait at several rates, times [s]; a row for each rate.

    Attributes:
        own: of a mean prompt, from its arrival on without waiting.
        work: of a mean prompt, of the replica's time.
        step: of those that decode, while no prompt is worked on.
        chunks: of prompts of all lengths, with those that join them; a column for each length.
        queue: mean wait for prompts before it, beyond the chunk under way.
        busy: share of the time in which prompts are worked on [1].
        joined: share of the prompts that find room in the next chunk, whoever is in it [1].
        more: by which prompts of many lengths wait longer than equal ones.
    """

    own: np.ndarray
    work: np.ndarray
    step: np.ndarray
    chunks: np.ndarray
    queue: np.ndarray
    busy: np.ndarray
    joined: np.ndarray
    more: np.ndarray


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

    @cached_property
    def prompts(self) -> np.ndarray:
        """Times of prompts of this deployment's lengths, each as likely, over that of the mean [1].

        Without decoding beside them; one element where all are alike.
        """
        varied = np.sort([shape[0] for shape in self.lengths.shapes(self.inputs)])
        if varied[0] == varied[-1]:
            return np.ones(1)
        drawn = np.array([part.mean() for part in np.array_split(varied, PROMPTS)])
        each = evaluate(self.inputs | {"concurrency": 1, "prompt_variation": 0,
                                       "input_tokens": drawn}, self.attention)["prompt_work"]
        return np.asarray(each / np.mean(each))

    def _waiting(self, rates: np.ndarray) -> Waiting:
        """How prompts wait at rates that have a steady state."""
        rates = rates[:, None]
        work, growth = self._at(rates, "prompt_work"), self._at(rates, "prompt_growth")
        together, step = self._at(rates, "prompts_per_chunk"), self._at(rates, "decode_step_time")
        busy = np.minimum(0.999, rates * (work - (work - growth) * (1 - 1 / together)))
        chunks = (work + growth * (together - 1)) * self.prompts
        mean = chunks.mean(axis=1, keepdims=True)
        queue = np.maximum(
            0.0, self._at(rates, "random_wait") - (1 - busy) * step / 2 - busy * mean / 2)
        longer = float(np.mean(self.prompts**2))  # E[S²] over the square of the mean
        own = np.maximum(0.0, self._at(rates, "steady_ttft") - self._at(rates, "steady_queue"))
        return Waiting(own, work, step, chunks, queue * longer, busy,
                       self._at(rates, "shared_chunk"), (longer - 1) * (busy * mean / 2 + queue))

    def _first_above(self, rates: np.ndarray, shares: np.ndarray) -> Callable[[float], float]:
        """Share of the requests that have their first token later than a time [s], at all rates."""
        w = self._waiting(rates)
        # of a long chunk more prompts find something left
        chosen = (w.chunks / w.chunks.sum(axis=1, keepdims=True))[..., None]
        queue = np.divide(w.queue, w.busy, out=np.zeros_like(w.queue), where=w.busy > 0)
        # by rate, by length of the prompt that waits, by length of the one that it finds
        chunks, ahead, busy = w.chunks[:, None], queue[..., None], w.busy[..., None]

        def above(time: float) -> float:
            left = time - w.own - (self.prompts - 1) * w.work
            idle = np.clip(1 - left / w.step, 0, 1)
            apart = wait_above(left[..., None], chunks, ahead, busy) @ chosen
            joined = wait_above((left - queue)[..., None], chunks, 0.0, busy) @ chosen
            beside = w.joined * joined[..., 0] + (1 - w.joined) * apart[..., 0]
            tails = np.where(left < 0, 1.0, (1 - w.busy) * idle + w.busy * beside)
            return float(shares @ np.where(rates < self.saturation, tails.mean(axis=1), 1.0))

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

    def seen(self, rate: float, share: float | None = 0.99, variation: float = 0.0) -> Seen:
        """What users see at a mean rate.

        Args:
            rate: of arrivals at this replica [request/s].
            share: the percentile [1]; None for none.
            variation: of the rate from minute to minute, standard deviation over mean [1].
        """
        met, shares = rates_met(rate, variation)
        means = {name: float(np.interp(met, self.curve["steady_request_throughput"],
                                       self.curve[f"steady_{name}"]) @ shares)
                 for name in ("ttft", "tpot", "e2e")}
        if rate >= self.saturation:
            return Seen(rate, math.inf, math.inf, math.inf, math.inf, math.inf,
                        rate / self.saturation)
        means["ttft"] += float(shares @ self._waiting(met).more[:, 0])
        first = later = math.inf
        if share is not None and shares[met >= self.saturation].sum() <= 1 - share:
            first = percentile(self._first_above(met, shares), share, 2 * means["ttft"])
            later = percentile(self._later_above(met, shares), share, 2 * means["tpot"])
        return Seen(rate, rate * means["e2e"], means["ttft"], means["tpot"], first, later,
                    rate / self.saturation)

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

    def needed(self, rate: float, limits: Limits, variation: float = 0.0) -> int | None:
        """Fewest replicas for a rate; None where one request alone misses the limits [1]."""
        most = self.most(limits, variation)
        return None if not most else max(1, math.ceil(rate / most * (1 - 8.0**-9)))


def fewest(rates: Mapping[Any, float], most: float) -> dict[Any, int]:
    """Replicas for each rate, of which one takes so much; at least one [1].

    >>> fewest({"night": 0.2, "day": 3.1}, 1.0)
    {'night': 1, 'day': 4}
    """
    return {key: max(1, math.ceil(rate / most * (1 - 8.0**-9))) for key, rate in rates.items()}
