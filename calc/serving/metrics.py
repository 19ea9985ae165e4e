"""A run in numbers: means with intervals, percentiles, throughput, goodput, use of replicas."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Protocol

import numpy as np
import numpy.typing as npt

from calc.serving.requests import Outcome

Array = npt.NDArray[np.float64]


class Record(Protocol):
    """What a run leaves behind (``calc.serving.simulation.Run``)."""

    @property
    def outcomes(self) -> tuple[Outcome, ...]: ...  # noqa: D102

    @property
    def steps(self) -> dict[str, tuple[Array, ...]]: ...  # noqa: D102


@dataclass(frozen=True)
class Latency:
    """A time over the requests counted [s]; not a number if no request has it.

    Attributes:
        mean: over the requests.
        half_width: of the confidence interval of the mean, by batch means; not a number with fewer
            requests than two per batch.
        p50, p90, p99: percentiles.
    """

    mean: float
    half_width: float
    p50: float
    p90: float
    p99: float


@dataclass(frozen=True)
class Objective:
    """What a request has to meet to count as good [s]; a time of one token has no TPOT to miss."""

    ttft: float = math.inf
    tpot: float = math.inf
    e2e: float = math.inf

    def met(self, outcome: Outcome) -> bool:
        """Whether a request met it."""
        return (outcome.ttft <= self.ttft and not outcome.tpot > self.tpot
                and outcome.e2e <= self.e2e)


@dataclass(frozen=True)
class Summary:
    """A run between its warm-up and its end.

    Attributes:
        requests: counted [request].
        window: time from the first arrival counted to the first one no longer counted [s].
        wait, ttft, tpot, e2e: times of the requests counted.
        request_throughput: requests that finish in the window, over it [request/s].
        output_throughput: their output tokens [token/s].
        goodput: requests counted that meet the objective, over the window [request/s].
        good: share of the requests counted that meet it [1].
        concurrency: mean number of requests in the system over the window [request].
        utilisation: by pool, the share of the window in which a replica works, mean over them [1].
        preemptions: of the requests counted.
        input_tokens: of their prompts, mean [token].
        hit_share: of their prompt tokens, what the prefix cache held [1].
        evicted: blocks that were evicted from it to make room for them [block].
    """

    requests: int
    window: float
    wait: Latency
    ttft: Latency
    tpot: Latency
    e2e: Latency
    request_throughput: float
    output_throughput: float
    goodput: float
    good: float
    concurrency: float
    utilisation: dict[str, float]
    preemptions: int
    input_tokens: float
    hit_share: float
    evicted: int


def student_quantile(p: float, degrees: int) -> float:
    """Quantile of Student's t distribution [1].

    >>> round(student_quantile(0.975, 19), 3)
    2.093

    Args:
        p: probability, between 0 and 1 [1].
        degrees: of freedom; from 4 on, good to 0.5% at p = 0.975 [1].

    Source: expansion in 1/degrees, Abramowitz and Stegun, Handbook of Mathematical Functions,
    26.7.5.
    """
    x = NormalDist().inv_cdf(p)
    terms = ((x**3 + x) / 4, (5 * x**5 + 16 * x**3 + 3 * x) / 96,
             (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / 384,
             (79 * x**9 + 776 * x**7 + 1482 * x**5 - 1920 * x**3 - 945 * x) / 92160)
    return x + sum(term / degrees ** (i + 1) for i, term in enumerate(terms))


def batch_means(values: Sequence[float] | Array, batches: int = 20,
                confidence: float = 0.95) -> float:
    """Half the width of the confidence interval of a mean of values that depend on each other.

    The values, in order, are cut into batches long enough to be independent; their means vary as
    those of independent samples do. What does not fill the batches is left out at the beginning.

    Args:
        values: in order of time, in any unit.
        batches: at least 2.
        confidence: of the interval [1].

    Raises ValueError for fewer than two batches or two values per batch.

    Source: https://pubsonline.informs.org/doi/abs/10.1287/ijoc.9.3.296?journalCode=ijoc.
    """
    length = len(values) // max(batches, 1)
    if batches < 2 or length < 2:
        raise ValueError(f"{len(values)} values in {batches} batches, expected at least two "
                         "batches of two.")
    means = np.asarray(values)[-batches * length:].reshape(batches, length).mean(axis=1)
    t = student_quantile((1 + confidence) / 2, batches - 1)
    return float(t * means.std(ddof=1) / math.sqrt(batches))


def _latency(values: Array, batches: int) -> Latency:
    values = values[~np.isnan(values)]
    if not values.size:
        return Latency(*[math.nan] * 5)
    half = batch_means(values, batches) if len(values) >= 2 * batches else math.nan
    return Latency(float(values.mean()), half, *np.quantile(values, [0.5, 0.9, 0.99]).tolist())


def covered(starts: Array, ends: Array, begin: float, end: float) -> float:
    """Total time of the intervals, as far as it lies between ``begin`` and ``end`` [s].

    Args:
        starts: of the intervals [s].
        ends: of the intervals [s].
        begin: of the window [s].
        end: of the window [s].
    """
    return float(np.maximum(np.minimum(ends, end) - np.maximum(starts, begin), 0).sum())


def summarise(run: Record, warm_up: float = 0.1, cool_down: float = 0.1,
              objective: Objective | None = None, batches: int = 20) -> Summary:
    """A run without its beginning and its end.

    Requests are counted by the order of arrival. If all of those counted arrive at one instant, the
    window lasts until the last of them is finished.

    Args:
        run: of ``calc.serving.simulation.simulate``.
        warm_up: share of the requests, the first ones, that is not counted [1].
        cool_down: share of the requests, the last ones, that is not counted [1].
        objective: that goodput asks for; without, every request is good.
        batches: for the confidence intervals of the means (95%).

    Raises ValueError if nothing is left to count.
    """
    everyone = run.outcomes
    first = int(warm_up * len(everyone))
    last = len(everyone) - int(cool_down * len(everyone))
    counted = everyone[first:last]
    if min(warm_up, cool_down) < 0 or not counted:
        raise ValueError(f"without {warm_up:.3g} of the requests at the beginning and "
                         f"{cool_down:.3g} at the end, none is left.")
    arrivals, ends = (np.array([getattr(outcome, name) for outcome in everyone])
                      for name in ("arrival", "finished"))
    begin, end = arrivals[first], arrivals[min(last, len(everyone) - 1)]
    if end <= begin:
        end = ends[first:last].max()
    window = end - begin
    finishing = (ends > begin) & (ends <= end)
    tokens = np.array([outcome.output_tokens for outcome in everyone])
    objective = objective or Objective()
    good = sum(map(objective.met, counted))
    prompts = sum(outcome.input_tokens for outcome in counted)
    times = {name: _latency(np.array([getattr(outcome, name) for outcome in counted]), batches)
             for name in ("wait", "ttft", "tpot", "e2e")}
    return Summary(
        requests=len(counted), window=float(window), **times,
        request_throughput=float(finishing.sum() / window),
        output_throughput=float(tokens[finishing].sum() / window),
        goodput=float(good / window), good=good / len(counted),
        concurrency=covered(arrivals, ends, begin, end) / float(window),
        utilisation={pool: float(np.mean([covered(steps[:, 0], steps[:, 1], begin, end)
                                          for steps in replicas]) / window)
                     for pool, replicas in run.steps.items()},
        preemptions=sum(outcome.preemptions for outcome in counted),
        input_tokens=prompts / len(counted),
        hit_share=sum(outcome.found for outcome in counted) / prompts,
        evicted=sum(outcome.evicted for outcome in counted))
