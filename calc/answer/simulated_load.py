"""A deployment under load, simulated: the system that is simulated and what its users see.

>>> from catalogue import load_scenario
>>> result = simulate_load(load_scenario("s2-910b1-awq"), UserLoad(users=16))
>>> ttft = result.summary.ttft.at(0.9)
>>> result.summary.steady, ttft.low < ttft.value < ttft.high
(True, True)
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from calc.answer.request_lengths import Lengths, lengths_of, refuse_unstated
from calc.layouts.feasible import MEMORY, Reason, reasons
from calc.physics.arrays import Inputs
from calc.serving.burst import front_ends_rate
from calc.serving.evaluate import evaluate
from calc.serving.metrics import (
    GENERATIONS,
    MOST_SEQUENCES,
    WAVES,
    Latency,
    Summary,
    keeps_up,
    saturation_of_ranks,
    saturation_rate,
    summarise,
)
from calc.serving.requests import (
    ClosedLoop,
    Limits,
    Prefixes,
    Request,
    Run,
    Shape,
    in_prefix_cache,
    poisson,
    sharing,
)
from calc.serving.simulation import Pool, simulate
from calc.serving.step_times import Clock, ranks_in_step
from catalogue import ParamsError, Scenario
from catalogue.deployments.physics_inputs import DELAY_STEPS

SATURATION_TOKENS = 2_000_000  # of the run that finds the saturation
TOKENS_OF_RANKS = 4_000_000  # of each run that finds that of ranks that step together
FEWEST_WAVES = 6  # of such a run, which has many requests in each
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
class System:
    """A deployment as the simulation takes it.

    Attributes:
        pool: replicas that serve, or that prefill.
        decode: replicas that decode, where the deployment has pools of their own.
        transfer: of the cache between the pools [s/token].
        shape: mean input and output tokens of a request, and those that a prefix cache holds.
        shapes: of the requests, each as likely as any other.
        lengths: how they vary; None where they are listed one by one.
        longest: of prompt and answer together that its context and its cache allow [token].
        overhead: before a request reaches the scheduler, the mean load of a cache from host memory
            included [s].
        front_end_rate: at which all front ends together let requests in at most [request/s].
        closed_form: requests per second with as many in work as the replicas hold, and no more than
            a stated prefill pool finishes [request/s].
        reasons: why it does not run as written: a dtype that the device lacks.
    """

    pool: Pool
    decode: Pool | None
    transfer: float
    shape: Shape
    shapes: tuple[Shape, ...]
    lengths: Lengths | None
    longest: float
    overhead: float
    front_end_rate: float
    closed_form: float
    reasons: tuple[Reason, ...]

    @property
    def at_once(self) -> int:
        """Requests that one replica holds, of the pool that decodes [request]."""
        return _capacity((self.decode or self.pool).limits, self.shape)


def _capacity(limits: Limits, shape: Shape) -> int:
    """Requests of one shape that an engine's limits let in at once [request]."""
    fit = (limits.kv_blocks or 0) // limits.with_state(shape[0] + shape[1])
    return max(1, min(limits.max_num_seqs, fit))


def system_of(scenario: Scenario, max_num_seqs: int = MOST_SEQUENCES,
              policy: Any = None, coordination: Any = None,
              given: Mapping[str, float] | None = None, prefill: Scenario | None = None
              ) -> System:
    """Replicas of a deployment with their blocks, limits and step times.

    The stages of a pipeline work on different batches at the same time: p stages are simulated as
    p engines that share the replica's blocks, and each step passes all stages. With draft tokens a
    step of decode brings several tokens of a request; it is simulated as so many steps of one
    token each. Where prefill has a pool of its own that nobody states, it gets as many replicas as
    keep up with those that decode. Replicas that share experts step together, a group of each stage
    by itself.

    Args:
        scenario: the deployment.
        max_num_seqs: requests in work at once in a replica [request].
        policy: as ``calc.serving.requests.Limits`` has it; None for the scenario's own.
        coordination: as ``calc.serving.simulation.Pool`` has it; None for the scenario's own.
        given: inputs that a run has found, in place of the scenario's, in SI units.
        prefill: the pool that works on the prompts of a scenario that decodes, where it is stated.

    Raises ParamsError for a deployment that does not fit its memory, or that does not say how many
    tokens its requests have.
    """
    refuse_unstated(scenario)
    inputs, attention = scenario.inputs() | dict(given or {}), scenario.model.attention
    shape = (int(inputs["input_tokens"]), int(inputs["output_tokens"]))
    pool, quantities = _pool(scenario, inputs, sum(shape), max_num_seqs, policy, coordination)
    limits, why = pool.limits, reasons(scenario, quantities)
    stages, room = int(inputs["pipeline_parallel"]), limits.longest
    let_in, decode, transfer = float(front_ends_rate(Inputs(inputs))), None, 0.0
    prefilled = math.inf  # request/s of a stated prefill pool
    overhead = float(quantities["admission_time"])
    if inputs["separate_pools"]:
        decode, sending = pool, float(quantities["kv_transfer_time"])
        if prefill is not None:
            own = prefill.inputs() | {"separate_pools": 0, "output_tokens": 1}
            pool, prompts = _pool(prefill, own, shape[0] + 1, max_num_seqs, policy, coordination)
            sending += max(0.0, float(prompts["kv_port_time"] - quantities["kv_port_time"]))
            overhead += float(prompts["cache_load_wait"])
            room = min(room, pool.limits.longest)
            let_in = min(let_in, float(front_ends_rate(Inputs(own))))
            prefilled = float(prompts["request_throughput"])
        else:
            wanted = float(quantities["pool_ratio"]) * inputs["data_parallel"] / pool.ranks
            pool = replace(pool, replicas=max(1, math.ceil(wanted)) * pool.ranks * stages)
        transfer = sending / max(1, shape[0])
    longest = _longest(inputs, room)
    if "prefix_hit_share" not in (given or {}):  # that of a run is what it found
        inputs = inputs | {"prefix_hit_share": float(quantities["found_hit_share"])}
    cached = int(in_prefix_cache(shape[0], inputs["prefix_hit_share"]))
    full = inputs | {"concurrency": _capacity(limits, shape) * (decode or pool).replicas}
    lengths = lengths_of(scenario)
    return System(pool, decode, transfer, (*shape, cached), lengths.shapes(inputs, longest),
                  lengths, longest, overhead, let_in,
                  min(prefilled, float(evaluate(full, attention)["request_throughput"])),
                  tuple(reason for reason in why if reason.kind != MEMORY))


def _pool(scenario: Scenario, inputs: Mapping[str, float], longest: int, max_num_seqs: int,
          policy: Any, coordination: Any) -> tuple[Pool, Mapping[str, Any]]:
    """All replicas of a deployment, with their limits and the times of their steps; and its
    quantities.

    Raises ParamsError where their caches do not hold a request of so many tokens.
    """
    quantities = evaluate(inputs, scenario.model.attention)
    stages = int(inputs["pipeline_parallel"])
    blocks = max(0, int(quantities["kv_blocks"] - quantities["prompt_blocks"])) // stages
    size = int(quantities["block_tokens"] * inputs["decode_context_parallel"])
    state = int(quantities["state_blocks_per_request"])
    if (blocks - state) * size < longest:
        why = reasons(scenario, quantities)
        reason = why[0].text["en"] if why else "its cache does not hold one request."
        raise ParamsError(f"'{scenario.id}' cannot be simulated: {reason[0].lower()}{reason[1:]}")
    limits = Limits(
        max_num_batched_tokens=int(inputs["max_num_batched_tokens"]),
        max_num_seqs=max(1, max_num_seqs // stages), kv_blocks=blocks, block_size=size,
        state_blocks_per_request=state, policy=policy or scenario.file.scheduling,
        recv_interval=int(inputs["scheduler_recv_interval"]),
        steps_ahead=int(inputs["steps_ahead"]), step_tokens=1 + int(inputs["draft_tokens"]),
        tokens_per_step=float(quantities["tokens_per_step"]))
    shapes = lengths_of(scenario).shapes(inputs, _longest(inputs, limits.longest))
    clock = Clock(inputs, scenario.model.attention, drafting=True, alike=True,
                  expected=((prompt - sum(cached), sum(cached)) for prompt, _, *cached in shapes))
    delay = scenario.file.prefill_delay_steps
    ranks = ranks_in_step(inputs)
    return Pool(limits, clock, float(inputs["host_gap_per_step"]), ranks=ranks,
                group_time=clock.together,
                replicas=int(inputs["data_parallel"] * inputs["pipeline_parallel"]),
                coordination=coordination or scenario.file.prefill_coordination,
                delay_steps=int(DELAY_STEPS if delay is None else delay.value),
                awaited=inputs["awaited_tokens"],
                routing=("least-loaded" if inputs["least_loaded"] and ranks > 1
                         else "round-robin")), quantities


def _longest(inputs: Mapping[str, float], room: int) -> float:
    """Tokens of a request at most, by the deployment's context and what its cache holds."""
    mean = inputs["input_tokens"] + inputs["output_tokens"]
    stated = inputs["context_tokens"] if inputs["context_tokens"] > mean else math.inf
    return min(room, stated)


def saturation(system: System) -> tuple[float, str]:
    """Requests per second that come out while there are always more waiting [request/s].

    One of the equal replicas is simulated, or one group of those that step together. Where that
    takes too long, and where pools are apart, it is the closed form: the lesser rate of a stated
    prefill pool (one that is not stated keeps up) and of decode with as many requests in work as
    the replicas hold; of a group that is an upper bound, because there all ranks prefill at the
    same time. More than the front ends let in never comes
    out.

    Returns the rate and where it comes from, ``simulation`` or ``closed form``.
    """
    ranks, parts = system.pool.ranks, system.pool.replicas // system.pool.ranks
    wave = ranks * system.at_once * system.shape[1]
    waves = WAVES if ranks == 1 else FEWEST_WAVES
    if system.decode is not None or waves * wave > (
            SATURATION_TOKENS if ranks == 1 else TOKENS_OF_RANKS):
        return min(system.front_end_rate, system.closed_form), "closed form"
    single = replace(system.pool, replicas=ranks,
                     limits=replace(system.pool.limits, max_num_seqs=system.at_once))
    rate = (saturation_rate(single, system.shapes) if ranks == 1 else saturation_of_ranks(
        single, system.shapes, system.closed_form / parts, waves))
    return min(system.front_end_rate, parts * rate), "simulation"


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
        load: the load.
        summary: of the run, with the time before a request reaches the scheduler: ``ttft``,
            ``tpot`` and ``e2e`` have means, percentiles and ``at(share)``, each with its interval.
        lengths: how those of requests vary; None where they are listed.
        keeps_up: whether the queue has a bound; of users it always has.
        precise: whether every time looked at is known to ``PRECISION``.
        share: of the deployment's equal replicas that were simulated, with their part of the load.
        seed: of the random numbers.
    """

    load: UserLoad
    summary: Summary
    lengths: Lengths | None
    keeps_up: bool
    precise: bool
    share: float
    seed: int

    def as_json(self) -> dict[str, Any]:
        """What was simulated; its means are told elsewhere. Plain data."""
        widths = {f"{name}_half_width": getattr(self.summary, name).half_width
                  for name in ("ttft", "tpot")}
        return {"requests": self.summary.requests, "seed": self.seed, "precise": self.precise,
                "share": self.share, "lengths": self.lengths and self.lengths.words(),
                **{name: width if math.isfinite(width) else None
                   for name, width in widths.items()}}


def stated_load(scenario: Scenario) -> UserLoad:
    """What a deployment's workload asks of it: users in a closed loop where it says nothing.

    Args:
        scenario: the deployment.
    """
    workload = scenario.file.workload
    if workload.arrival_rate is not None:
        return UserLoad(rate=float(workload.arrival_rate.value))
    users = int(workload.concurrency.value)
    if workload.arrivals == "burst":
        requests = int(workload.requests.value) if workload.requests else users
        return UserLoad(users, together=True, requests=requests)
    return UserLoad(users, float(workload.think_time.value) if workload.think_time else 0.0)


def simulate_load(scenario: Scenario, load: UserLoad | None = None, *,
                  system: System | None = None,
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
        load: the load; absent, that of the scenario.
        system: the deployment as it is simulated; absent, ``system_of`` the scenario.
        wanted: of ``ttft``, ``tpot`` and ``e2e`` the percentiles that have to be known, each 0 to
            1 [1]; None is the mean.
        seed: of the random numbers; the same gives the same.
        dearest: run beyond the shortest one [s].
        counted: requests besides those of the warm-up [request].
        limits: of what is wanted [s]; a time that is surely within, or over, is known well enough.

    Raises ParamsError for a deployment that cannot be simulated.
    """
    load = load or stated_load(scenario)
    system = system or system_of(scenario)
    part, share = simulated_part(system, load)
    part_load = replace(load, users=load.users and max(1, round(load.users * share)),
                        rate=load.rate and load.rate * share)
    ramp = cycle(scenario, load)
    warm = CYCLES * (part_load.users if part_load.users is not None
                     else math.ceil((part_load.rate or 0) * ramp))
    most = int(dearest / (request_run_time(part, part_load, ramp) + chunks_run_time(part)))
    counted = max(min(counted, most), FEWEST, part_load.users or 0)
    count = part_load.requests or warm + counted
    try:
        run, summary = _run(part, part_load, count, ramp, seed)
        needed = _factor(summary, wanted, limits)
        if needed > AGAIN and part_load.requests is None and count < most:
            count = int(min(most, warm + counted * needed))
            run, summary = _run(part, part_load, count, ramp, seed)
    except ValueError as error:
        raise ParamsError(f"'{scenario.id}': {str(error).rstrip('.')}.") from None
    bounded = load.rate is None or keeps_up(run)
    return LoadResult(load, summary, system.lengths, bounded,
                      _factor(summary, wanted, limits) <= AGAIN, share, seed)


def workload_of(system: System, load: UserLoad, count: int, ramp: float, seed: int = 0,
                prefixes: Prefixes | None = None) -> Sequence[Request] | ClosedLoop:
    """So many requests of a load, drawn from a seed.

    Args:
        system: whose requests they are.
        load: the load.
        count: requests [request].
        ramp: over which users begin, unless all at once [s]; see :func:`cycle`.
        seed: of the random numbers.
        prefixes: what requests have in common; None for nothing.

    Raises ValueError for counts that are not positive.
    """
    if load.users is None:
        open_arrivals = poisson(load.rate or 0.0, count, system.shapes, seed)
        return sharing(open_arrivals, prefixes, seed) if prefixes else open_arrivals
    return ClosedLoop(load.users, max(count, load.users), system.shapes,
                      load.think_time + system.overhead, exponential=load.think_time > 0,
                      ramp=0.0 if load.together else ramp, seed=seed, prefixes=prefixes)


def cycle(scenario: Scenario, load: UserLoad) -> float:
    """From a user's question to the next one, about: where nobody waits, by the closed form [s].

    Users who begin at any moment of it are at any point of their requests from then on.

    Args:
        scenario: the deployment.
        load: the load.
    """
    inputs = scenario.inputs()
    if load.users is not None:
        inputs = inputs | {"concurrency": load.users}
    quantities = evaluate(inputs, scenario.model.attention)
    return float(quantities["e2e"]) + load.think_time


def with_overhead(summary: Summary, overhead: float) -> Summary:
    """A run as its users see it: with the time before a request reaches the scheduler [s].

    Args:
        summary: of a run.
        overhead: that time [s].
    """
    return replace(summary, ttft=summary.ttft.later(overhead), e2e=summary.e2e.later(overhead),
                   concurrency=summary.concurrency + summary.request_throughput * overhead)


def _run(system: System, load: UserLoad, count: int, ramp: float,
         seed: int) -> tuple[Run, Summary]:
    run = simulate(workload_of(system, load, count, ramp, seed), system.pool, system.decode,
                   system.transfer, system.front_end_rate)
    return run, with_overhead(summarise(run), system.overhead)


def _factor(summary: Summary, wanted: Mapping[str, Sequence[float | None]],
            limits: Mapping[str, Mapping[float | None, float]] | None = None) -> float:
    """How many times as many requests the times need to be known well enough [1]."""
    errors = [0.0]
    for name, shares in wanted.items():
        times: Latency = getattr(summary, name)
        for share in shares if times.values.size else ():
            if share is None:
                value, error = times.mean, times.half_width / times.mean
                error = error if math.isfinite(error) else math.inf
            else:
                value, error = times.at(share).value, times.at(share).error
            limit = limits[name][share] if limits else value
            if abs(limit - value) <= error * value:
                errors.append(error)
    return (max(errors) / PRECISION) ** 2


def request_run_time(system: System, load: UserLoad, ramp: float) -> float:
    """What simulating a request takes, about: with those beside it, and its share of the steps [s].

    Args:
        system: that is simulated.
        load: the load.
        ramp: from a question to the next one (:func:`cycle`) [s].
    """
    engines = (system.decode or system.pool).replicas
    users = load.users if load.users is not None else (load.rate or 0.0) * ramp
    beside = max(1.0, min(users / engines, system.at_once))
    time = OF_A_REQUEST + OF_THOSE_BESIDE * beside + OF_A_STEP * system.shape[1] / beside
    return time * (OF_RANKS if system.pool.ranks > 1 else 1)


def chunks_run_time(system: System) -> float:
    """What the chunks of a mean prompt beyond a few add to that, as its pool cuts it [s].

    Args:
        system: that is simulated.
    """
    prompt, _, *cached = system.shape
    chunks = math.ceil((prompt - sum(cached)) / system.pool.limits.max_num_batched_tokens)
    return OF_A_CHUNK * max(0, chunks - FEW_CHUNKS)


def simulated_part(system: System, load: UserLoad) -> tuple[System, float]:
    """As few of equal replicas as give enough requests, and their share; pools stay whole."""
    pool = system.pool
    groups = pool.replicas // pool.ranks
    if system.decode is not None or groups == 1 or load.users is None:
        return system, 1.0
    simulated = max(1, min(groups, groups * COUNTED // (CYCLES * load.users)))
    share = simulated / groups
    return replace(system, pool=replace(pool, replicas=simulated * pool.ranks),
                   front_end_rate=system.front_end_rate * share), share
