"""Open and closed arrivals at one or several engine replicas: a discrete-event simulation.

The engines are those of ``calc.serving.batching``, the events SimPy's. Everything that happens
at an instant happens before a step begins at that instant, so that a run depends on its inputs and
its seed only, and a single replica does what ``calc.serving.scheduling`` does, to the last bit.

>>> from calc.serving.metrics import summarise
>>> from calc.serving.arrivals import poisson
>>> one_by_one = Pool(Limits(max_num_batched_tokens=100, max_num_seqs=1), lambda step: 1.0)
>>> run = simulate(poisson(0.5, count=2000, shapes=[(100, 1)], seed=1), one_by_one)
>>> round(summarise(run).wait.mean, 1)  # M/D/1: 0.5 s
0.5

Not modelled: the network between user and engine, tokenisation, requests that are given up,
replicas that fail, and blocks of a prefill replica that stay taken until their cache has been sent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
import simpy
from simpy.core import EventPriority

from calc.serving.arrivals import ClosedLoop
from calc.serving.batching import Engine, Job
from calc.serving.requests import Limits, Outcome, Request, StepTime
from calc.serving.scheduling import duration

Routing = Literal["round-robin", "least-loaded"]
AFTER_ALL = EventPriority(2)  # SimPy's own are 0 and 1
Events = Generator[simpy.Event, Any, None]


@dataclass(frozen=True)
class Pool:
    """Equal engine replicas.

    Attributes:
        limits: of each engine, and its policy.
        step_time: time of a step [s].
        gap: of the host before every step [s].
        replicas: engines.
        routing: ``round-robin``, or ``least-loaded``: to the replica with the fewest requests, of
            equals the first.

    Raises ValueError without a replica, for a gap that is no time and for an unknown routing.
    """

    limits: Limits
    step_time: StepTime
    gap: float = 0.0
    replicas: int = 1
    routing: Routing = "round-robin"

    def __post_init__(self) -> None:
        if self.replicas < 1:
            raise ValueError(f"a pool has {self.replicas} replicas, expected at least 1.")
        if not (math.isfinite(self.gap) and self.gap >= 0):
            raise ValueError(f"the gap between steps is {self.gap} s, expected 0 or more.")
        if self.routing not in get_args(Routing):
            raise ValueError(f"there is no routing '{self.routing}', expected one of: "
                             f"{', '.join(get_args(Routing))}.")


@dataclass(frozen=True)
class Transfer:
    """How the cache of a prompt gets from a prefill to a decode replica.

    Attributes:
        time: of so many tokens [s].
        at_once: transfers that run side by side, the others queue; None for any number.
    """

    time: Callable[[int], float]
    at_once: int | None = None


@dataclass(frozen=True)
class Run:
    """What happened.

    Attributes:
        outcomes: of all requests, in the order of arrival.
        steps: by pool (``serve``, or ``prefill`` and ``decode``), per replica: begin and end of
            every step, shape (steps, 2) [s].
        request_seconds: time integral of the number of requests in the system, counted on the way
            [request s].
    """

    outcomes: tuple[Outcome, ...]
    steps: dict[str, tuple[npt.NDArray[np.float64], ...]]
    request_seconds: float


def _until(env: simpy.Environment, time: float) -> Events:
    """Wait until a time of the clock, exactly: within a factor of two differences do not round."""
    if time > 2 * env.now:
        yield env.timeout(0.75 * time - env.now)
    yield env.timeout(time - env.now)


class _AfterAll(simpy.Event):
    """Happens now, after everything else that happens now."""

    def __init__(self, env: simpy.Environment) -> None:
        super().__init__(env)
        self._ok, self._value = True, None
        env.schedule(self, AFTER_ALL)


class _Replica:
    """An engine on the clock of the simulation."""

    def __init__(self, env: simpy.Environment, pool: Pool, done: Callable[[Job], None]) -> None:
        self.env, self.pool, self.done = env, pool, done
        self.engine = Engine(pool.limits)
        self.steps: list[tuple[float, float]] = []
        self.wake = env.event()
        env.process(self._serve())

    def submit(self, job: Job) -> None:
        self.engine.submit(job)
        if not self.wake.triggered:
            self.wake.succeed()

    def _serve(self) -> Events:
        env, engine, pool = self.env, self.engine, self.pool
        while True:
            if not engine.load:
                self.wake = env.event()
                yield self.wake
            yield _AfterAll(env)
            start = env.now
            step = engine.plan(start)
            yield env.timeout(duration(step, pool.step_time, pool.gap))
            self.steps.append((start, env.now))
            for job in engine.complete(env.now):
                self.done(job)


class _Router:
    """The replicas of a pool and who of them is next."""

    def __init__(self, env: simpy.Environment, pool: Pool, done: Callable[[Job], None]) -> None:
        self.routing, self.turn = pool.routing, 0
        self.replicas = [_Replica(env, pool, done) for _ in range(pool.replicas)]

    def submit(self, job: Job) -> None:
        if self.routing == "least-loaded":
            replica = min(self.replicas, key=lambda replica: replica.engine.load)
        else:
            replica = self.replicas[self.turn]
            self.turn = (self.turn + 1) % len(self.replicas)
        replica.submit(job)

    def steps(self) -> tuple[npt.NDArray[np.float64], ...]:
        return tuple(np.array(replica.steps, dtype=np.float64).reshape(-1, 2)
                     for replica in self.replicas)


class _System:
    """Users in front of one pool, or of a prefill and a decode pool."""

    def __init__(self, pool: Pool, decode: Pool | None, transfer: Transfer | None) -> None:
        self.env = env = simpy.Environment()
        self.first = _Router(env, pool, self._served if decode is None else self._prefilled)
        self.second = None if decode is None else _Router(env, decode, self._served)
        self.transfer = transfer or Transfer(lambda tokens: 0.0)
        self.link = (None if self.transfer.at_once is None
                     else simpy.Resource(env, self.transfer.at_once))
        self.outcomes: dict[int, Outcome] = {}
        self.answered: dict[int, simpy.Event] = {}
        self.requests: list[Request] = []
        self.inside, self.since, self.request_seconds = 0, 0.0, 0.0

    def submit(self, request: Request) -> simpy.Event:
        """A request arrives; returns the event of its last token."""
        number = len(self.requests)
        self.requests.append(request)
        self.answered[number] = self.env.event()
        self._count(1)
        if self.second is not None:
            request = Request(request.arrival, request.input_tokens, 1, request.cached_tokens)
        self.first.submit(Job(number, request))
        return self.answered[number]

    def _count(self, change: int) -> None:
        self.request_seconds += self.inside * (self.env.now - self.since)
        self.inside, self.since = self.inside + change, self.env.now

    def _served(self, job: Job) -> None:
        self._count(-1)
        self.outcomes[job.number] = job.outcome()
        self.answered.pop(job.number).succeed()

    def _prefilled(self, job: Job) -> None:
        self.env.process(self._send(job))

    def _send(self, prefilled: Job) -> Events:
        """Send the cache; the first token is out when it has arrived, the others follow there."""
        request = self.requests[prefilled.number]
        taken = self.transfer.time(request.input_tokens)
        if not (math.isfinite(taken) and taken >= 0):
            raise ValueError(f"the cache of {request.input_tokens} tokens is sent in {taken} s, "
                             "expected a time.")
        if self.link is None:
            yield self.env.timeout(taken)
        else:
            with self.link.request() as turn:
                yield turn
                yield self.env.timeout(taken)
        job = Job(prefilled.number, request, prefilled=True)
        job.started, job.first_token = prefilled.started, self.env.now
        if request.output_tokens == 1:
            job.finished = self.env.now
            self._served(job)
        elif self.second is not None:
            self.second.submit(job)

    def arrive(self, requests: Sequence[Request]) -> Events:
        """Open arrivals: nobody waits for an answer."""
        for request in requests:
            if request.arrival > self.env.now:
                yield from _until(self.env, request.arrival)
            self.submit(request)

    def ask(self, loop: ClosedLoop, user: int, asked: Any) -> Events:
        """One user of a closed loop; ``asked`` gives the next request's shape and think time."""
        if user and loop.ramp:
            yield self.env.timeout(loop.ramp * user / loop.users)
        for shape, thinking in asked:
            yield self.submit(Request(self.env.now, *shape))
            if thinking:
                yield self.env.timeout(thinking)


def simulate(workload: Sequence[Request] | ClosedLoop, pool: Pool, decode: Pool | None = None,
             transfer: Transfer | None = None) -> Run:
    """Serve a workload to its last token.

    With a decode pool, ``pool`` only prefills: its requests end with their first token, whose cache
    is then sent, and the user sees that token when it has arrived; the decode replica goes on from
    there as soon as it has blocks and a place.

    Args:
        workload: requests of open arrivals (``calc.serving.arrivals``), or a closed loop.
        pool: replicas that serve, or that prefill.
        decode: replicas that decode.
        transfer: of the cache between the pools; without, it takes no time.

    Raises ValueError if there are no requests, if one does not fit the cache of a replica, if a
    transfer is given without a decode pool, and if a step or a transfer takes no finite time.
    """
    if transfer is not None and decode is None:
        raise ValueError("a transfer is given without a decode pool that it leads to.")
    system = _System(pool, decode, transfer)
    if isinstance(workload, ClosedLoop):
        asked = zip(*workload.draw(), strict=True)  # shared: who is free first asks next
        for user in range(workload.users):
            system.env.process(system.ask(workload, user, asked))
    else:
        if not workload:
            raise ValueError("there is nothing to simulate, expected at least one request.")
        system.env.process(system.arrive(sorted(workload, key=lambda request: request.arrival)))
    system.env.run()
    steps = ({"serve": system.first.steps()} if system.second is None
             else {"prefill": system.first.steps(), "decode": system.second.steps()})
    return Run(tuple(system.outcomes[number] for number in range(len(system.outcomes))), steps,
               system.request_seconds)
