"""One engine replica step by step, without events: what a simulation of one replica must equal.

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

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from calc.serving.requests import Job, Limits, Outcome, Request, Step, StepTime
from calc.serving.scheduler import Engine, duration


class StepRecord(NamedTuple):
    """A step: its begin and end [s], what it computed, and numbers of preempted requests."""

    start: float
    end: float
    step: Step
    preempted: tuple[int, ...]


class Schedule(NamedTuple):
    """Outcomes in the order in which the requests were given, and the steps that served them."""

    outcomes: tuple[Outcome, ...]
    steps: tuple[StepRecord, ...]

    @property
    def preemptions(self) -> int:
        """Number of caches that were dropped and computed again."""
        return sum(outcome.preemptions for outcome in self.outcomes)


def schedule(requests: Sequence[Request], limits: Limits, step_time: StepTime,
             gap: float = 0.0) -> Schedule:
    """Serve all requests; return when and in which steps.

    A step takes ``gap`` and then ``step_time``; its tokens come out at its end. It can work on what
    has arrived when it begins, and the engine has looked for, on the earliest arrival first (of one
    instant: in the order given).

    Args:
        requests: in any order.
        limits: of the engine, and its policy.
        step_time: time of a step [s].
        gap: of the host before every step [s].

    Raises ValueError if a request does not fit the cache, or if a step takes no finite time.
    """
    jobs = [Job(number, request) for number, request in enumerate(requests)]
    arriving = deque(sorted(jobs, key=lambda job: job.request.arrival))
    engine = Engine(limits)
    steps, clock = list[StepRecord](), 0.0
    while arriving or engine.load:
        if not (busy := engine.load > 0):
            clock = max(clock, arriving[0].request.arrival)
        while arriving and arriving[0].request.arrival <= clock:
            engine.submit(arriving.popleft(), busy)
        engine.receive(engine.idle)
        step = engine.plan(clock)
        end = clock + duration([step], gap + step_time(step))
        steps.append(StepRecord(clock, end, step, tuple(job.number for job in engine.preempted)))
        engine.complete(end)
        engine.lasting = 0  # every step is planned anew, none repeats the last one
        clock = end
    return Schedule(tuple(job.outcome() for job in jobs), tuple(steps))
