"""What users see of a deployment at a load: means and percentiles of its simulated steady state.

>>> from catalogue import load_scenario
>>> seen = users_see(load_scenario("s2-910b1-awq"), UserLoad(users=16))
>>> seen.summary.steady, seen.ttft.at(0.9).low < seen.ttft.at(0.9).value < seen.ttft.at(0.9).high
(True, True)
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from calc.answer.simulated import Lengths, System, system_of
from calc.serving.evaluate import evaluate
from calc.serving.metrics import GENERATIONS, Latency, Summary, keeps_up, summarise
from calc.serving.requests import ClosedLoop, Prefixes, Request, Run, poisson, sharing
from calc.serving.simulation import simulate
from catalogue import ParamsError, Scenario

SHARES = (0.5, 0.9, 0.99)  # percentiles whose errors are looked at
EVERY = dict.fromkeys(("ttft", "tpot", "e2e"), SHARES)  # of every time
MEANS = dict.fromkeys(("ttft", "tpot", "e2e"), (None,))  # nothing but the means
PRECISION = 0.1  # of a time, relative: the most that its interval's end may be off
COUNTED, FEWEST = 1000, 200  # requests of a run besides those of its warm-up; where they are dear
AGAIN = 1.5  # requests that are too few, over those that there are: less is not worth a run
CYCLES = GENERATIONS + 1  # of requests until a run is steady: those that finish, and those after
DEAREST = 2.0  # run beyond the shortest one [s]
OF_A_REQUEST, OF_THOSE_BESIDE, OF_A_STEP = 1e-4, 1e-6, 4e-6  # about what a run costs [s]
OF_RANKS = 4  # times as much where ranks step together
FEW_CHUNKS, OF_A_CHUNK = 8, 4e-4  # of a prompt, in the above; of each further one, a step anew [s]


@dataclass(frozen=True)
class UserLoad:
    """How much is asked of a deployment.

    Attributes:
        users: who each wait for an answer and ask again; None for independent arrivals.
        think_time: from an answer to the next question, on average; exponentially distributed, as
            users who all think equally long would meet again and again [s].
        rate: of independent arrivals; None for users [request/s].
        together: whether users all begin at once; else each at any moment of one cycle, from a
            question to the next.
        requests: of a burst, all there are; None for as many as a steady state takes.

    Raises ValueError unless either users or a rate are given.
    """

    users: int | None = None
    think_time: float = 0.0
    rate: float | None = None
    together: bool = False
    requests: int | None = None

    def __post_init__(self) -> None:
        if (self.users is None) == (self.rate is None):
            raise ValueError(f"{self.users} users and a rate of {self.rate} request/s, expected "
                             "one of them.")


@dataclass(frozen=True)
class LoadResult:
    """What users see in a simulation.

    Attributes:
        asked: the load.
        summary: of the run, with the time before a request reaches the scheduler: ``ttft``,
            ``tpot`` and ``e2e`` have means, percentiles and ``at(share)``, each with its interval.
        lengths: how those of requests vary; None where they are listed.
        keeps_up: whether the queue has a bound; of users it always has.
        precise: whether every time looked at is known to ``PRECISION``.
        share: of the deployment's equal replicas that were simulated, with their part of the load.
        seed: of the random numbers.
    """

    asked: UserLoad
    summary: Summary
    lengths: Lengths | None
    keeps_up: bool
    precise: bool
    share: float
    seed: int

    def as_json(self) -> dict[str, Any]:
        """What was simulated; its means are told elsewhere. Plain data."""
        widths = {"ttft_half_width": self.ttft.half_width, "tpot_half_width": self.tpot.half_width}
        return {"requests": self.summary.requests, "seed": self.seed, "precise": self.precise,
                "share": self.share, "lengths": str(self.lengths) if self.lengths else None,
                **{name: width if math.isfinite(width) else None
                   for name, width in widths.items()}}

    @property
    def ttft(self) -> Latency:
        """Time to first token [s]."""
        return self.summary.ttft

    @property
    def tpot(self) -> Latency:
        """Time per token after the first [s]."""
        return self.summary.tpot

    @property
    def e2e(self) -> Latency:
        """Until the last token [s]."""
        return self.summary.e2e


def asked_of(scenario: Scenario) -> UserLoad:
    """What a deployment's workload asks of it: users in a closed loop where it says nothing.

    Args:
        scenario: the deployment.
    """
    workload = scenario.file.workload
    if workload.arrival_rate is not None:
        return UserLoad(rate=float(workload.arrival_rate.value))
    users = int(workload.concurrency.value)
    if workload.arrivals == "burst":
        whole = int(workload.requests.value) if workload.requests else users
        return UserLoad(users, together=True, requests=whole)
    return UserLoad(users, float(workload.think_time.value) if workload.think_time else 0.0)


def users_see(scenario: Scenario, asked: UserLoad | None = None, *, system: System | None = None,
              wanted: Mapping[str, Sequence[float | None]] = EVERY, seed: int = 0,
              dearest: float = DEAREST, counted: int = COUNTED,
              limits: Mapping[str, Mapping[float | None, float]] | None = None) -> LoadResult:
    """Simulate a deployment at a load until what is wanted of its times is known.

    A run reaches a steady state and then measures ``counted`` requests, fewer where simulating them
    takes too long; where one of the times would need ``AGAIN`` times as many requests for
    ``PRECISION``, a second run has as many as that takes, as far as they are simulated in
    ``dearest``. Of equal replicas only as many are simulated as that needs.

    Args:
        scenario: the deployment; its lengths of requests hold, without them the usual ones.
        asked: the load; absent, that of the scenario.
        system: the deployment as it is simulated; absent, ``system_of`` the scenario.
        wanted: of ``ttft``, ``tpot`` and ``e2e`` the percentiles that have to be known, each 0 to
            1 [1]; None is the mean.
        seed: of the random numbers; the same gives the same.
        dearest: run beyond the shortest one [s].
        counted: requests besides those of the warm-up [request].
        limits: of what is wanted [s]; a time that is surely within, or over, is known well enough.

    Raises ParamsError for a deployment that cannot be simulated.
    """
    asked = asked or asked_of(scenario)
    system = system or system_of(scenario)
    part, share = _part(system, asked)
    load = replace(asked, users=asked.users and max(1, round(asked.users * share)),
                   rate=asked.rate and asked.rate * share)
    ramp = cycle(scenario, asked)
    warm = CYCLES * (load.users if load.users is not None else math.ceil((load.rate or 0) * ramp))
    most = int(dearest / (cost(part, load, ramp) + cost_of_chunks(part)))
    counted = max(min(counted, most), FEWEST, load.users or 0)
    count = load.requests or warm + counted
    try:
        run, summary = _run(part, load, count, ramp, seed)
        needed = _factor(summary, wanted, limits)
        if needed > AGAIN and load.requests is None and count < most:
            count = int(min(most, warm + counted * needed))
            run, summary = _run(part, load, count, ramp, seed)
    except ValueError as error:
        raise ParamsError(f"'{scenario.id}': {str(error).rstrip('.')}.") from None
    bounded = asked.rate is None or keeps_up(run)
    return LoadResult(asked, summary, system.lengths, bounded,
                      _factor(summary, wanted, limits) <= AGAIN, share, seed)


def workload_of(system: System, asked: UserLoad, count: int, ramp: float, seed: int = 0,
                prefixes: Prefixes | None = None) -> Sequence[Request] | ClosedLoop:
    """So many requests of a load, drawn from a seed.

    Args:
        system: whose requests they are.
        asked: the load.
        count: requests [request].
        ramp: over which users begin, unless all at once [s]; see :func:`cycle`.
        seed: of the random numbers.
        prefixes: what requests have in common; None for nothing.

    Raises ValueError for counts that are not positive.
    """
    if asked.users is None:
        open_arrivals = poisson(asked.rate or 0.0, count, system.shapes, seed)
        return sharing(open_arrivals, prefixes, seed) if prefixes else open_arrivals
    return ClosedLoop(asked.users, max(count, asked.users), system.shapes,
                      asked.think_time + system.overhead, exponential=asked.think_time > 0,
                      ramp=0.0 if asked.together else ramp, seed=seed, prefixes=prefixes)


def cycle(scenario: Scenario, asked: UserLoad) -> float:
    """From a user's question to the next one, about: where nobody waits, by the closed form [s].

    Users who begin at any moment of it are at any point of their requests from then on.

    Args:
        scenario: the deployment.
        asked: the load.
    """
    inputs = scenario.inputs()
    if asked.users is not None:
        inputs = inputs | {"concurrency": asked.users}
    found = evaluate(inputs, scenario.model.attention)
    return float(found["e2e"]) + asked.think_time


def seen_by_users(summary: Summary, overhead: float) -> Summary:
    """A run as its users see it: with the time before a request reaches the scheduler [s].

    Args:
        summary: of a run.
        overhead: that time [s].
    """
    return replace(summary, ttft=summary.ttft.later(overhead), e2e=summary.e2e.later(overhead),
                   concurrency=summary.concurrency + summary.request_throughput * overhead)


def _run(system: System, asked: UserLoad, count: int, ramp: float,
         seed: int) -> tuple[Run, Summary]:
    run = simulate(workload_of(system, asked, count, ramp, seed), system.pool, system.decode,
                   system.transfer, system.front_end_rate)
    return run, seen_by_users(summarise(run), system.overhead)


def _factor(summary: Summary, wanted: Mapping[str, Sequence[float | None]],
            limits: Mapping[str, Mapping[float | None, float]] | None = None) -> float:
    """How many times as many requests the times need to be known well enough [1]."""
    errors = [0.0]
    for name, shares in wanted.items():
        times: Latency = getattr(summary, name)
        for share in shares if times.values.size else ():
            error = _error(times, share)
            value = times.mean if share is None else times.at(share).value
            limit = limits[name][share] if limits else value
            if abs(limit - value) <= error * value:
                errors.append(error)
    return (max(errors) / PRECISION) ** 2


def _error(times: Latency, share: float | None) -> float:
    """How far off a percentile may be, or the mean, relative [1]."""
    if share is not None:
        return times.at(share).error
    error = times.half_width / times.mean
    return error if math.isfinite(error) else math.inf


def cost(system: System, asked: UserLoad, ramp: float) -> float:
    """What simulating a request takes, about: with those beside it, and its share of the steps [s].

    Args:
        system: that is simulated.
        asked: the load.
        ramp: from a question to the next one (:func:`cycle`) [s].
    """
    engines = (system.decode or system.pool).replicas
    users = asked.users if asked.users is not None else (asked.rate or 0.0) * ramp
    beside = max(1.0, min(users / engines, system.at_once))
    each = OF_A_REQUEST + OF_THOSE_BESIDE * beside + OF_A_STEP * system.shape[1] / beside
    return each * (OF_RANKS if system.pool.ranks > 1 else 1)


def cost_of_chunks(system: System) -> float:
    """What the chunks of a mean prompt beyond a few add to that, as its pool cuts it [s].

    Args:
        system: that is simulated.
    """
    prompt, _, *cached = system.shape
    chunks = math.ceil((prompt - sum(cached)) / system.pool.limits.max_num_batched_tokens)
    return OF_A_CHUNK * max(0, chunks - FEW_CHUNKS)


def _part(system: System, asked: UserLoad) -> tuple[System, float]:
    """As few of equal replicas as give enough requests, and their share; pools stay whole."""
    pool = system.pool
    groups = pool.replicas // pool.ranks
    if system.decode is not None or groups == 1 or asked.users is None:
        return system, 1.0
    kept = max(1, min(groups, groups * COUNTED // (CYCLES * asked.users)))
    share = kept / groups
    return replace(system, pool=replace(pool, replicas=kept * pool.ranks),
                   front_end_rate=system.front_end_rate * share), share
