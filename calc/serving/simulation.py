"""Open and closed arrivals at one or several engine replicas: a discrete-event simulation.

The engines are those of ``calc.serving.scheduler``, the events SimPy's. Everything that happens
at an instant happens before a step begins at that instant, so that a run depends on its inputs and
its seed only, and a single replica does what its engine does step by step, to the last bit.

>>> from calc.serving.metrics import summarise
>>> from calc.serving.requests import poisson
>>> one_by_one = Pool(Limits(max_num_batched_tokens=100, max_num_seqs=1), lambda step: 1.0)
>>> run = simulate(poisson(0.5, count=2000, shapes=[(100, 1)], seed=1), one_by_one)
>>> round(summarise(run).wait.mean, 1)  # M/D/1: 0.5 s
0.5

Ranks whose experts are shared take their steps together: a group has one clock, a step of it lasts
until its slowest rank is done, and idle ranks run along. Under ``eager`` any rank that can prefill
does so while the others wait; under ``delay`` prompts wait until every rank has one, so many steps
have passed, or nobody decodes; under ``balance`` no rank lets a request in while one of them has no
place left but one.

Every replica has a prefix cache of its own, and routing does not look into them. A decode replica
has none: what was sent to it stays with its request, and answers are not kept for the next turn.

Not modelled: the network between user and engine, tokenisation, requests that are given up,
replicas that fail, and blocks of a prefill replica that stay taken until their cache has been sent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import simpy
from simpy.core import EventPriority

from calc.serving.requests import (
    ClosedLoop,
    Conversation,
    GroupTime,
    Job,
    Limits,
    Outcome,
    Request,
    Run,
    Step,
    StepTime,
)
from calc.serving.scheduler import Engine, duration
from catalogue.deployments.physics_inputs import DELAY_STEPS

Routing = Literal["round-robin", "least-loaded"]
Coordination = Literal["eager", "delay", "balance"]
IDLE = Step((), ())
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
        ranks: replicas that take their steps together, a divisor of ``replicas``; 1 if each has a
            clock of its own.
        group_time: time of a step of such a group [s]; None for that of its slowest rank alone.
        coordination: whether a rank that can prefill does so at once (``eager``), waits for the
            others of its group (``delay``; a prompt that was begun goes on), or for a place at each
            of them (``balance``).
        delay_steps: that a prompt waits at most for them [1].
        awaited: tokens of prompts until which a replica by itself holds them back under ``delay``,
            0 if it does not [token].

    Source of the coordination: https://github.com/sgl-project/sglang,
    python/sglang/srt/managers/prefill_delayer.py; https://github.com/vllm-project/vllm-ascend,
    vllm_ascend/patch/platform/patch_balance_schedule.py.
    """

    limits: Limits
    step_time: StepTime
    gap: float = 0.0
    replicas: int = 1
    routing: Routing = "round-robin"
    ranks: int = 1
    group_time: GroupTime | None = None
    coordination: Coordination = "eager"
    delay_steps: int = DELAY_STEPS
    awaited: float = 0.0


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


class _Group:
    """Engines that take their steps together, on the clock of the simulation; usually one."""

    def __init__(self, env: simpy.Environment, pool: Pool, done: Callable[[Job], None]) -> None:
        self.env, self.pool, self.done = env, pool, done
        self.engines = [Engine(pool.limits) for _ in range(pool.ranks)]
        self.begins: list[float] = []  # of every step [s]
        self.ends: list[float] = []
        self.delayed = 0  # steps in a row for which prompts were held back
        self.planned = (0.0, 0.0)  # begin and end of the step on its way [s]
        self.busy = False  # whether a step is on its way, or the next one already decided on
        self.wake = env.event()
        env.process(self._serve())

    def submit(self, engine: Engine, job: Job) -> None:
        engine.submit(job, self.busy)
        if not self.wake.triggered:
            self.wake.succeed()

    def _serve(self) -> Events:
        env, engines = self.env, self.engines
        while True:
            if not any(engine.load for engine in engines):
                self.busy = False
                self.wake = env.event()
                yield self.wake
            if env.peek() <= env.now:
                yield _AfterAll(env)
            finished, others = list[Job](), env.peek()  # nobody else does anything meanwhile
            self.busy = True
            self._plan(env.now)
            while self.planned[1] < others and not (finished := self._complete()):
                self._plan(self.planned[1])
            yield from _until(env, self.planned[1])
            for job in finished or self._complete():
                self.done(job)

    def _complete(self) -> list[Job]:
        """Book the planned step; returns the requests that it finishes."""
        begin, end = self.planned
        self.begins.append(begin)
        self.ends.append(end)
        if len(self.engines) == 1:
            return self.engines[0].complete(end)
        return [job for engine in self.engines for job in engine.complete(end)]

    def _plan(self, start: float) -> None:
        """Plan the next step of all ranks."""
        engines, pool = self.engines, self.pool
        if any(engine.arrived for engine in engines):
            idle = all(engine.idle for engine in engines)
            for engine in engines:
                engine.receive(idle)
        prefill = pool.coordination == "eager" or self._may_prefill()
        if len(engines) == 1:
            steps = [engines[0].plan(start, prefill)]
            taken = pool.step_time(steps[0])
        else:
            before = engines[0].decoded
            steps = [engine.plan(start, prefill) if engine.load else IDLE for engine in engines]
            decoded = 0 if any(step.prefill for step in steps) else before + 1
            for engine in engines:  # all of them look for requests between the same steps
                engine.decoded = decoded
            taken = pool.group_time(steps) if pool.group_time else max(
                pool.step_time(step) for step in steps if step != IDLE)
        self.planned = start, start + duration(steps, pool.gap + taken)

    def _may_prefill(self) -> bool:
        """Whether prompts are worked on now, or held back: for those of the other ranks, or by a
        replica by itself for more of its own."""
        alone, pool = len(self.engines) == 1, self.pool
        if pool.coordination == "balance":
            full = not alone and any(engine.full for engine in self.engines)
            for engine in self.engines:
                engine.admits = not full
            return True
        if alone and not pool.awaited:
            return not self._holds(False)
        able = [engine.can_prefill for engine in self.engines]
        return not self._holds(able[0] and self.engines[0].queued_tokens < pool.awaited if alone
                               else any(able) and not all(able))

    def _holds(self, could: bool) -> bool:
        """Whether prompts that could wait for others do, for one more step."""
        hold = (could and self.delayed < self.pool.delay_steps
                and any(engine.decodes for engine in self.engines))
        self.delayed = self.delayed + 1 if hold else 0
        return hold


class _Router:
    """The replicas of a pool and who of them is next."""

    def __init__(self, env: simpy.Environment, pool: Pool, done: Callable[[Job], None]) -> None:
        self.routing, self.turn = pool.routing, 0
        groups = pool.replicas // pool.ranks
        self.groups = [_Group(env, pool, done) for _ in range(groups)]
        self.places = [(group, engine) for group in self.groups for engine in group.engines]

    def submit(self, job: Job) -> None:
        if self.routing == "least-loaded":
            group, engine = min(self.places, key=lambda item: item[1].load)
        else:
            group, engine = self.places[self.turn]
            self.turn = (self.turn + 1) % len(self.places)
        group.submit(engine, job)

    def steps(self) -> tuple[npt.NDArray[np.float64], ...]:
        return tuple(np.array([group.begins, group.ends], dtype=np.float64).T
                     for group in self.groups)


class _System:
    """Users in front of one pool, or of a prefill and a decode pool."""

    def __init__(self, pool: Pool, decode: Pool | None, transfer: float,
                 front_end_rate: float) -> None:
        self.env = env = simpy.Environment()
        self.first = _Router(env, pool, self._served if decode is None else self._prefilled)
        self.second = None if decode is None else _Router(env, decode, self._served)
        self.transfer = transfer
        self.between, self.next_in = 1 / front_end_rate, 0.0
        self.outcomes: dict[int, Outcome] = {}
        self.answered: dict[int, simpy.Event] = {}
        self.requests: list[Request] = []

    def submit(self, request: Request) -> simpy.Event:
        """A request arrives; returns the event of its last token."""
        number = len(self.requests)
        self.requests.append(request)
        self.answered[number] = self.env.event()
        if self.second is not None:
            request = replace(request, output_tokens=1)
        self._let_in(Job(number, request))
        return self.answered[number]

    def _let_in(self, job: Job) -> None:
        """Hand a request to an engine as soon as the front end has done those before it."""
        now, at = self.env.now, self.next_in
        self.next_in = max(now, at) + self.between
        if at > now:
            self.env.process(self._let_in_at(at, job))
        else:
            self.first.submit(job)

    def _let_in_at(self, time: float, job: Job) -> Events:
        yield from _until(self.env, time)
        self.first.submit(job)

    def _served(self, job: Job) -> None:
        self.outcomes[job.number] = job.outcome()
        self.answered.pop(job.number).succeed()

    def _prefilled(self, job: Job) -> None:
        self.env.process(self._send(job))

    def _send(self, prefilled: Job) -> Events:
        """Send the cache; the first token is out when it has arrived, the others follow there."""
        request = self.requests[prefilled.number]
        yield self.env.timeout(request.input_tokens * self.transfer)
        job = Job(prefilled.number, replace(request, texts=()), prefilled=True)
        job.started, job.first_token = prefilled.started, self.env.now
        job.hit_tokens, job.evicted = prefilled.hit_tokens, prefilled.evicted
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

    def ask(self, loop: ClosedLoop, begin: float, shapes: Any,
            begun: Iterator[tuple[int, int]]) -> Events:
        """One user of a closed loop; ``shapes`` gives the next request's shape and think time."""
        if begin:
            yield self.env.timeout(begin)
        talk = Conversation(loop.prefixes, begun) if loop.prefixes else None
        for shape, thinking in shapes:
            now = self.env.now
            yield self.submit(talk.ask(now, shape) if talk else Request(now, *shape))
            if thinking:
                yield self.env.timeout(thinking)


def simulate(workload: Sequence[Request] | ClosedLoop, pool: Pool, decode: Pool | None = None,
             transfer: float = 0.0, front_end_rate: float = math.inf) -> Run:
    """Serve a workload to its last token.

    With a decode pool, ``pool`` only prefills: its requests end with their first token, whose cache
    is then sent, and the user sees that token when it has arrived; the decode replica goes on from
    there as soon as it has blocks and a place.

    Args:
        workload: requests of open arrivals (``calc.serving.requests``), or a closed loop.
        pool: replicas that serve, or that prefill.
        decode: replicas that decode.
        transfer: of the cache between the pools [s/token].
        front_end_rate: at which all front ends let requests in at most [request/s]: of several that
            arrive at once the first is let in at once, each other one 1/rate after the one before.

    Raises ValueError for a request that does not fit the cache of a replica, and for a step that
    takes no finite time.
    """
    system = _System(pool, decode, transfer, front_end_rate)
    if isinstance(workload, ClosedLoop):
        # shared: who is free first asks next
        shapes = zip(*workload.draw(), strict=True)
        begun = (workload.prefixes.drawn(workload.count, workload.seed) if workload.prefixes
                 else iter(()))
        for begin in workload.begins():
            system.env.process(system.ask(workload, begin, shapes, begun))
    else:
        system.env.process(system.arrive(sorted(workload, key=lambda request: request.arrival)))
    system.env.run()
    steps = ({"serve": system.first.steps()} if system.second is None
             else {"prefill": system.first.steps(), "decode": system.second.steps()})
    return Run(tuple(system.outcomes[number] for number in range(len(system.outcomes))), steps)
