"""A list of requests through one engine replica, step by step; deterministic.

>>> limits = Limits(max_num_batched_tokens=8192, max_num_seqs=16, policy="prefill-first")
>>> requests = [Request(arrival=0.0, input_tokens=8192, output_tokens=3)] * 2
>>> def step_time(step):  # 1 s per full chunk, 50 ms per token of any request
...     return sum(new for new, cached in step.prefill) / 8192 + 0.05 * bool(step.decode)
>>> served = schedule(requests, limits, step_time)
>>> [outcome.ttft for outcome in served.outcomes]
[1.0, 2.0]
>>> round(served.outcomes[0].tpot, 3)  # the second prompt stalls the first request
0.55
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from calc.serving.batching import Engine
from calc.serving.requests import GroupTime, Job, Limits, Outcome, Request, Step, StepTime


@dataclass(frozen=True, slots=True)
class StepRecord:
    """A step that was run.

    Attributes:
        start: end of the step before, or the arrival that it waited for [s].
        end: when its tokens come out [s].
        step: what it computed.
        preempted: numbers of the requests that lost their cache when it was planned.
    """

    start: float
    end: float
    step: Step
    preempted: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Schedule:
    """Outcomes in the order in which the requests were given, and the steps that served them."""

    outcomes: tuple[Outcome, ...]
    steps: tuple[StepRecord, ...]

    @property
    def preemptions(self) -> int:
        """How often a cache was dropped and computed again."""
        return sum(outcome.preemptions for outcome in self.outcomes)


@dataclass(frozen=True)
class Transfer:
    """How the cache of a prompt gets from a prefill to a decode replica.

    Attributes:
        time: of so many tokens [s].
        at_once: transfers that run side by side, the others queue; None for any number.
    """

    time: Callable[[int], float]
    at_once: int | None = None


def duration(step: Step, step_time: StepTime, gap: float) -> float:
    """Time from one step's end to the next one's [s].

    Args:
        step: what is computed.
        step_time: time of the forward pass [s].
        gap: of the host between two steps [s].

    Raises ValueError if it is no time.
    """
    taken = gap + step_time(step)
    _check(taken, (step,))
    return taken


def group_duration(steps: Sequence[Step], group_time: GroupTime, gap: float) -> float:
    """Time from the end of a step that ranks take together to the next one's [s].

    Args:
        steps: what each rank computes; an idle one nothing.
        group_time: time of all of it [s].
        gap: of the host between two steps [s].

    Raises ValueError if it is no time.
    """
    taken = gap + group_time(steps)
    _check(taken, steps)
    return taken


def _check(taken: float, steps: Sequence[Step]) -> None:
    if not 0 <= taken < math.inf:
        chunks, decoding = (sum(map(len, parts)) for parts in (
            [step.prefill for step in steps], [step.decode for step in steps]))
        raise ValueError(f"a step with {chunks} chunks and {decoding} decoding requests takes "
                         f"{taken} s, expected a time.")


def schedule(requests: Sequence[Request], limits: Limits, step_time: StepTime,
             gap: float = 0.0) -> Schedule:
    """Serve all requests and say when and in which steps.

    A step takes ``gap`` and then ``step_time``; its tokens come out at its end. It can work on what
    has arrived when it begins, and the engine has looked for, on the earliest arrival first (of one
    instant: in the order given).

    Args:
        requests: in any order.
        limits: of the engine, and its policy.
        step_time: time of a step [s].
        gap: of the host before every step [s].

    Raises ValueError if there are no requests, if one does not fit the cache, or if a step takes no
    finite time.
    """
    if not requests:
        raise ValueError("there is nothing to schedule, expected at least one request.")
    jobs = [Job(number, request) for number, request in enumerate(requests)]
    arriving = deque(sorted(jobs, key=lambda job: job.request.arrival))
    engine = Engine(limits)
    steps: list[StepRecord] = []
    clock = 0.0
    while arriving or engine.load:
        if not (busy := engine.load > 0):
            clock = max(clock, arriving[0].request.arrival)
        while arriving and arriving[0].request.arrival <= clock:
            engine.submit(arriving.popleft(), busy)
        engine.receive(engine.idle)
        step = engine.plan(clock)
        end = clock + duration(step, step_time, gap)
        steps.append(StepRecord(clock, end, step, tuple(job.number for job in engine.preempted)))
        engine.complete(end)
        clock = end
    return Schedule(tuple(job.outcome() for job in jobs), tuple(steps))
