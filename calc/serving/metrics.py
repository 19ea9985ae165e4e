"""A run in numbers: means and percentiles with intervals, throughput, goodput, use of replicas.

What is counted lies between the warm-up and the end: from the moment when a tenth of the requests
have finished, and three times as many as are in flight, to the last arrival, after which the system
only drains. Those in flight after a single generation would be younger than those of a steady
state: who asks for much is still there. Counted are the requests that finish in between, so that
Little's law holds between the numbers of a run, but for those that lie across its two edges.

Saturation throughput, whether a queue has a bound, and a benchmark's run of many requests are found
by simulation with the runtime's step times.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import Literal

import numpy as np
import numpy.typing as npt

from calc.physics.arrays import ceil_div
from calc.serving.requests import Limits, Outcome, Policy, Request, Run, Shape, poisson
from calc.serving.simulation import Coordination, Pool, simulate
from calc.serving.step_times import Clock, ranks_in_step

Array = npt.NDArray[np.float64]
GENERATIONS = 3  # of requests that finish before any is counted: as many as are in flight each
WARM_UP = 0.1  # of the requests that finish before any is counted, at least
BATCHES = 20  # of a run, for the confidence intervals
CONFIDENCE = 0.95
NORMAL = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)


@dataclass(frozen=True)
class Quantile:
    """A percentile with its sampling error [s].

    Attributes:
        value: of the requests counted.
        low, high: ends of its confidence interval (95%): infinite where too few are beyond it.
    """

    value: float
    low: float
    high: float

    @property
    def error(self) -> float:
        """The further end of its interval from it, relative [1]."""
        return max(self.high - self.value, self.value - self.low) / self.value


@dataclass(frozen=True)
class Latency:
    """A time over the requests counted [s]; not a number if no request has it.

    Attributes:
        mean: over the requests.
        half_width: of the confidence interval of the mean, by batch means; not a number with fewer
            requests than two per batch.
        values: of the requests, in the order of time.
    """

    mean: float
    half_width: float
    values: Array = field(repr=False, compare=False, default_factory=lambda: np.empty(0))

    def at(self, share: float) -> Quantile:
        """A percentile with its interval, by batch means of the share of requests below it.

        Args:
            share: of the requests that are within it, 0 to 1 [1].
        """
        if not self.values.size:
            return Quantile(math.nan, math.nan, math.nan)
        value = float(np.quantile(self.values, share))
        if len(self.values) < 2 * BATCHES:
            return Quantile(value, 0.0, math.inf)
        half = batch_means((self.values <= value).astype(float))
        # of an independent sample at least: batches that are all alike tell nothing
        half = max(half, NORMAL * math.sqrt(share * (1 - share) / len(self.values)))
        low, high = (float(np.quantile(self.values, part)) if 0 <= part <= 1 else end
                     for part, end in ((share - half, 0.0), (share + half, math.inf)))
        return Quantile(value, low, high)

    def later(self, by: float) -> Latency:
        """Latencies shifted by a constant [s]."""
        return replace(self, mean=self.mean + by, values=self.values + by)


@dataclass(frozen=True)
class Objective:
    """Limits of a good request [s]; a request of one token has no TPOT to miss."""

    ttft: float = math.inf
    tpot: float = math.inf

    def met(self, outcome: Outcome) -> bool:
        """Whether a request met it."""
        return outcome.ttft <= self.ttft and not outcome.tpot > self.tpot


@dataclass(frozen=True)
class Summary:
    """A run between its warm-up and its end.

    Attributes:
        requests: counted, those that finish in the window [request].
        begin: of the window, on the clock of the run [s].
        window: its length [s].
        steady: whether the run has such a window; without, it is counted from its first arrival to
            its last token, its beginning and end included.
        wait, ttft, tpot, e2e: times of the requests counted.
        request_throughput: requests counted, over the window [request/s].
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
    begin: float
    window: float
    steady: bool
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


def batch_means(values: Sequence[float] | Array, batches: int = BATCHES) -> float:
    """Half the width of the 95% confidence interval of a mean of values that depend on each other.

    The values, in order, are cut into batches long enough to be independent; their means vary as
    those of independent samples do. What does not fill the batches is left out at the beginning.

    Args:
        values: in order of time, in any unit.
        batches: at least 2.

    Raises ValueError for fewer than two batches or two values per batch.

    Source: https://pubsonline.informs.org/doi/abs/10.1287/ijoc.9.3.296?journalCode=ijoc.
    """
    length = len(values) // max(batches, 1)
    if batches < 2 or length < 2:
        raise ValueError(f"{len(values)} values in {batches} batches, expected at least two "
                         "batches of two.")
    means = np.asarray(values)[-batches * length:].reshape(batches, length).mean(axis=1)
    t = student_quantile((1 + CONFIDENCE) / 2, batches - 1)
    return float(t * means.std(ddof=1) / math.sqrt(batches))


def _latency(values: Array) -> Latency:
    values = values[~np.isnan(values)]
    if not values.size:
        return Latency(math.nan, math.nan)
    half = batch_means(values) if len(values) >= 2 * BATCHES else math.nan
    return Latency(float(values.mean()), half, values)


def covered(starts: Array, ends: Array, begin: float, end: float) -> float:
    """Total time of the intervals, as far as it lies between ``begin`` and ``end`` [s].

    Args:
        starts: of the intervals [s].
        ends: of the intervals [s].
        begin: of the window [s].
        end: of the window [s].
    """
    return float(np.maximum(np.minimum(ends, end) - np.maximum(starts, begin), 0).sum())


def window(arrivals: Array, ends: Array) -> tuple[float, float] | None:
    """Begin and end of the steady part of a run [s]; None where it has none.

    From the moment when ``WARM_UP`` of the requests have finished, and ``GENERATIONS`` times as
    many as are in flight, to the last arrival; at least as many finish in between as were in flight
    when it began.

    Args:
        arrivals: of all requests [s].
        ends: when each of them is finished [s].
    """
    ordered, end = np.sort(ends), float(arrivals.max())
    finished = np.arange(1, len(ordered) + 1)
    in_flight = np.searchsorted(np.sort(arrivals), ordered, "right") - finished
    enough = (finished >= GENERATIONS * in_flight) & (finished >= WARM_UP * len(ordered))
    first = int(np.argmax(enough))
    begin = float(ordered[first])
    inside = np.count_nonzero((ordered > begin) & (ordered <= end))
    return (begin, end) if inside >= max(1, in_flight[first]) else None


def summarise(run: Run, objective: Objective | None = None) -> Summary:
    """A run without its beginning and its end (:func:`window`).

    Args:
        run: of ``calc.serving.simulation.simulate``.
        objective: that goodput asks for; without, every request is good.

    Raises ValueError for a run that takes no time.
    """
    arrivals, ends = (np.array([getattr(outcome, name) for outcome in run.outcomes])
                      for name in ("arrival", "finished"))
    bounds = window(arrivals, ends)
    begin, end = bounds or (float(arrivals.min()), float(ends.max()))
    order = np.argsort(ends, kind="stable")
    inside = order[(ends[order] > begin) & (ends[order] <= end)]
    counted = [run.outcomes[number] for number in inside]
    objective, length = objective or Objective(), end - begin
    if not counted:
        raise ValueError("all steps take no time, so there is nothing to count.")
    good = sum(map(objective.met, counted))
    prompts = sum(outcome.input_tokens for outcome in counted)
    times = {name: _latency(np.array([getattr(outcome, name) for outcome in counted]))
             for name in ("wait", "ttft", "tpot", "e2e")}
    return Summary(
        requests=len(counted), begin=begin, window=length, steady=bounds is not None, **times,
        request_throughput=len(counted) / length,
        output_throughput=sum(outcome.output_tokens for outcome in counted) / length,
        goodput=good / length, good=good / len(counted),
        concurrency=covered(arrivals, ends, begin, end) / length,
        utilisation={pool: float(np.mean([covered(steps[:, 0], steps[:, 1], begin, end)
                                          for steps in replicas]) / length)
                     for pool, replicas in run.steps.items()},
        preemptions=sum(outcome.preemptions for outcome in counted),
        input_tokens=prompts / len(counted),
        hit_share=sum(outcome.hit_tokens for outcome in counted) / prompts,
        evicted=sum(outcome.evicted for outcome in counted))


WAVES = 10
MOST_RUNS = 5
PRECISION = 0.02  # of the rate, relative


def saturation_rate(pool: Pool, shapes: Sequence[Shape], waves: int = WAVES,
                    rate: float = math.inf) -> float:
    """Requests per second that come out while there are always more waiting [request/s].

    Ten times as many requests as the replicas take into work arrive at once; counted is from the
    end of the third wave to that of the ninth, of fewer waves likewise but for the last. At a lower
    rate of arrivals the queue stays bounded, at a higher one it grows without end. That is proved
    for systems that an additional request never speeds up.

    Args:
        pool: replicas that serve.
        shapes: lengths to draw from, each as likely as any other [token].
        waves: requests over those that are taken into work [1].
        rate: of arrivals, above what comes out; infinite if they arrive all at once, after which
            ranks that step together would stay at the same point of their requests [request/s].

    Raises ValueError as ``calc.serving.simulation.simulate`` does, and if steps take no time.

    Source: saturation rule, Baccelli and Foss 1995, https://inria.hal.science/inria-00074656.
    """
    at_once = pool.replicas * pool.limits.max_num_seqs
    count = waves * at_once
    run = simulate(poisson(rate, count, shapes), pool)
    ends = np.sort([outcome.finished for outcome in run.outcomes])
    first, last = 3 * count // 10, count - at_once
    begin, end = ends[max(first, 1) - 1], ends[last - 1]
    if end <= begin:
        raise ValueError("all steps take no time, so nothing saturates.")
    return float((last - max(first, 1)) / (end - begin))


def saturation_of_ranks(pool: Pool, shapes: Sequence[Shape], ceiling: float, waves: int = WAVES
                        ) -> float:
    """Rate of Poisson arrivals up to which ranks that step together keep up [request/s].

    Ranks that all have a queue from the beginning prefill at the same times and go on doing so,
    which is the best that can happen to them; arrivals at random spread their prefills. So the rate
    is lowered from the best case until what comes out is what goes in: to about a tenth, rather too
    much, as runs are not long enough to lose all memory of their beginning.

    Args:
        pool: one or several groups of ranks.
        shapes: lengths to draw from, each as likely as any other [token].
        ceiling: a rate that is too high, or just reached [request/s].
        waves: requests of a run over those that are taken into work [1].

    Raises ValueError as ``saturation_rate`` does.
    """
    rate, capacity = ceiling, 0.0
    for _ in range(MOST_RUNS):
        capacity = saturation_rate(pool, shapes, waves=waves, rate=rate)
        if capacity > rate * (1 - PRECISION):
            return rate
        # further down: a run begins with all ranks at the same point
        rate = capacity * capacity / rate
    return capacity


def keeps_up(run: Run, growth: float = 0.02) -> bool:
    """Whether requests stopped taking ever longer before the arrivals stopped.

    Compares those that arrived in the last fifth of the time of arrivals with those of the third
    fifth: by Little's law their number in the system grows as they wait longer for their first
    token and, for as many tokens, for the others. What grows at a rate of more than ``growth``
    of the arrivals is a queue without bound. The number itself tells less: from an empty system it
    grows as long as the longest requests of the first moments are still there, and by chance.

    Args:
        run: of open arrivals, many more than are in the system at once.
        growth: of the arrivals that may pile up [1].
    """
    arrivals, firsts, ends, tokens = (np.array([getattr(outcome, name) for outcome in run.outcomes])
                                      for name in ("arrival", "first_token", "finished",
                                                   "output_tokens"))
    fifths = np.linspace(arrivals.min(), arrivals.max(), 6)
    of_each = tokens.mean() - 1

    def taken(begin: float, end: float) -> float:
        """A request of mean length that arrives between, in the system [s]."""
        some = (arrivals >= begin) & (arrivals <= end)
        after = max(1, tokens[some].sum() - some.sum())
        return float((firsts - arrivals)[some].mean()
                     + of_each * (ends - firsts)[some].sum() / after)

    rate = len(arrivals) / (fifths[5] - fifths[0])
    piled_up = rate * (taken(fifths[4], fifths[5]) - taken(fifths[2], fifths[3]))
    return bool(piled_up <= growth * 0.4 * len(arrivals))


SEED = 0
Lengths = Literal["equal", "even", "unknown"]
MOST_SEQUENCES = 1024  # default of vLLM on cards of this size; others let in no fewer here


def serve_all(clock: Clock, row: Mapping[str, float], blocks: float, lengths: Lengths,
              policy: Policy = "mixed", queued: bool = True, coordination: Coordination = "eager",
              medians: frozenset[str] = frozenset()) -> dict[str, float]:
    """Metrics of a run in which all requests are sent at once.

    They are dealt to the data-parallel replicas in turn, and one replica is replayed, or one group
    of those that share experts. Its front end lets its requests in one after another. Where
    only the mean of many lengths is known, they are drawn from an exponential distribution: of all
    distributions of a positive length with that mean the one that assumes least. Where the client
    is known to draw them evenly, from one token to twice the mean, so are they here.

    Args:
        clock: of the deployment's steps; runs that share it compute no step twice.
        row: ``requests``, ``concurrency``, ``input_tokens``, ``output_tokens``.
        blocks: KV blocks of a replica [block].
        lengths: equal ones, or many: drawn evenly, or as is not known.
        policy: whether a step may hold prompts and decodes, or prompts go first.
        queued: whether waiting for a place counts, which it does not where the client holds
            requests back.
        coordination: of prefill, where ranks share experts.
        medians: of tpot, ttft and e2e those whose median is asked, not the mean.

    Returns tpot, ttft and e2e over requests [s], and output_throughput over the run
    [token/s].
    """
    inputs = clock.inputs
    replicas, ranks = int(inputs["data_parallel"]), ranks_in_step(inputs)
    count = max(1, round(row["requests"] / replicas)) * ranks
    at_once = min(MOST_SEQUENCES, max(1, int(row["concurrency"] / replicas)))
    draw = np.random.default_rng(SEED)
    drawn = [_drawn(draw, max(1.0, row[name]), count, lengths)
             for name in ("input_tokens", "output_tokens")]
    size = int(clock.pages.block_tokens * inputs["decode_context_parallel"])
    longest = int((drawn[0] + drawn[1]).max())
    state = int(clock.pages.state_blocks_per_request)
    limits = Limits(
        max_num_batched_tokens=int(inputs["max_num_batched_tokens"]), max_num_seqs=at_once,
        kv_blocks=max(int(blocks), int(ceil_div(longest, size)) + state), block_size=size,
        state_blocks_per_request=state, policy=policy,
        recv_interval=int(inputs["scheduler_recv_interval"]),
        steps_ahead=int(inputs["steps_ahead"]), step_tokens=1 + int(inputs["draft_tokens"]),
        tokens_per_step=clock.tokens_per_step)
    requests = [Request(number / inputs["front_end_rate"], int(prompt), int(answer))
                for number, (prompt, answer) in enumerate(zip(*drawn, strict=True))]
    outcomes = simulate(requests, Pool(
        limits, clock, inputs["host_gap_per_step"], replicas=ranks, ranks=ranks,
        group_time=clock.together, coordination=coordination)).outcomes
    later = [outcome.tpot for outcome in outcomes if outcome.output_tokens > 1]
    since = [0.0 if queued else outcome.started for outcome in outcomes]
    first = [outcome.first_token - begun
             for outcome, begun in zip(outcomes, since, strict=True)]
    last = [outcome.finished - begun
            for outcome, begun in zip(outcomes, since, strict=True)]
    overhead = inputs["request_overhead"]
    tokens = sum(outcome.output_tokens for outcome in outcomes)
    mid = {name: np.median if name in medians else np.mean for name in ("tpot", "ttft", "e2e")}
    return {
        "tpot": float(mid["tpot"](later)) if later else float("nan"),
        "ttft": overhead + float(mid["ttft"](first)), "e2e": overhead + float(mid["e2e"](last)),
        "output_throughput": replicas / ranks * tokens / max(run.finished for run in outcomes)}


def _drawn(draw: np.random.Generator, mean: float, count: int, lengths: Lengths) -> np.ndarray:
    """Lengths of requests with that mean [token], shape (count,)."""
    if lengths == "equal":
        tokens = np.full(count, mean)
    elif lengths == "even":
        tokens = draw.uniform(1, 2 * mean, count)
    else:
        tokens = draw.exponential(mean, count)
    return np.maximum(1, np.rint(tokens)).astype(int)
