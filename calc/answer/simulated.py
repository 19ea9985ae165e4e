"""A deployment as the simulation takes it: engines with their blocks, limits and step times."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from calc.layouts.feasible import MEMORY, Reason, reasons
from calc.physics.inputs import Inputs
from calc.serving.burst import front_ends_rate
from calc.serving.evaluate import evaluate
from calc.serving.metrics import MOST_SEQUENCES, WAVES, saturation_of_ranks, saturation_rate
from calc.serving.requests import Distribution, Limits, Shape, in_prefix_cache, shapes_of
from calc.serving.simulation import Pool
from calc.serving.step_times import Clock, ranks_in_step
from catalogue import ParamsError, Scenario, load
from catalogue.deployments.admission import positions
from catalogue.deployments.layout import DELAY_STEPS
from catalogue.reading.amounts import plain

SATURATION_TOKENS = 2_000_000  # of the run that finds the saturation
TOKENS_OF_RANKS = 4_000_000  # of each run that finds that of ranks that step together
FEWEST_WAVES = 6  # of such a run, which has many requests in each
USUAL_LENGTHS = "azure-conversation"  # the service whose lengths stand for those of others


@dataclass(frozen=True)
class Lengths:
    """How the lengths of requests vary about their means.

    Attributes:
        distribution: of both, prompts and answers.
        prompts, answers: standard deviation over mean [1].
        stated: whether the deployment says so; else they vary as those of public traffic do
            (``params/loads/``, ``USUAL_LENGTHS``).
    """

    distribution: Distribution
    prompts: float
    answers: float
    stated: bool

    def shapes(self, inputs: Mapping[str, float], longest: float = math.inf) -> tuple[Shape, ...]:
        """Shapes of requests about their means, each as likely as any other [token].

        Args:
            inputs: ``input_tokens``, ``output_tokens`` and ``prefix_hit_share``.
            longest: of prompt and answer together [token].
        """
        return shapes_of(inputs["input_tokens"], inputs["output_tokens"], self.distribution,
                         (self.prompts or 1.0, self.answers or 1.0), inputs["prefix_hit_share"],
                         longest)

    def __str__(self) -> str:
        """Of prompts and answers, in words."""
        if self.distribution == "constant":
            return "all equal"
        said = "as stated" if self.stated else f"as in {USUAL_LENGTHS}; nothing is stated"
        return (f"{self.distribution}, standard deviation over mean {plain(self.prompts)} of "
                f"prompts and {plain(self.answers)} of answers, {said}")


def lengths_of(scenario: Scenario) -> Lengths:
    """How the lengths of a deployment's requests vary in a simulation.

    Args:
        scenario: the deployment; what its workload states holds.
    """
    workload = scenario.file.workload
    distribution = workload.length_distribution
    if distribution is None:
        usual = load("loads", USUAL_LENGTHS).lengths
        return Lengths("lognormal", float(usual.prompts.value), float(usual.answers.value), False)
    stated = workload.length_variation
    both = float(stated.value) if stated else float(distribution == "exponential")
    return Lengths(distribution, both, both, True)


def stated_longest(scenario: Scenario) -> int | None:
    """Tokens of the longest request as the workload states it [token]; None where it does not."""
    workload, inputs = scenario.file.workload, scenario.inputs()
    stated = workload.context_tokens
    if stated is None or (workload.output_tokens is not None and (
            stated.value <= inputs["input_tokens"] + inputs["output_tokens"])):
        return None
    return int(stated.value)


def longest_served(scenario: Scenario) -> int:
    """Tokens of prompt and answer of the longest request that is not refused [token]: as the
    workload states it, else the longest of its lengths, at most the positions of the model.

    Args:
        scenario: the deployment, or the pool.
    """
    if (stated := stated_longest(scenario)) is not None:
        return stated
    inputs = scenario.inputs()
    most = max(prompt + answer for prompt, answer, *_ in lengths_of(scenario).shapes(inputs))
    return int(max(inputs["input_tokens"] + inputs["output_tokens"],
                   min(most, positions(scenario.model))))


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
        closed_form: requests per second with as many in work as the replicas hold [request/s].
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
        return _held((self.decode or self.pool).limits, self.shape)


def _held(limits: Limits, shape: Shape) -> int:
    """Requests of one shape that an engine's limits let in at once [request]."""
    fit = (limits.kv_blocks or 0) // limits.with_state(shape[0] + shape[1])
    return max(1, min(limits.max_num_seqs, fit))


def system_of(scenario: Scenario, max_num_seqs: int = MOST_SEQUENCES,
              policy: Any = None, coordination: Any = None,
              found: Mapping[str, float] | None = None, prefill: Scenario | None = None
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
        found: inputs that a run has found, in place of the scenario's, in SI units.
        prefill: the pool that works on the prompts of a scenario that decodes, where it is stated.

    Raises ParamsError for a deployment that does not fit its memory, or that does not say how many
    tokens its requests have.
    """
    if scenario.file.workload.output_tokens is None:
        raise ParamsError(f"'{scenario.id}' says how long its requests are at most, not how long "
                          "they are, expected workload.input_tokens and workload.output_tokens.")
    inputs, attention = scenario.inputs() | dict(found or {}), scenario.model.attention
    shape = (int(inputs["input_tokens"]), int(inputs["output_tokens"]))
    pool, quantities = _pool(scenario, inputs, sum(shape), max_num_seqs, policy, coordination)
    limits, why = pool.limits, reasons(scenario, quantities)
    stages, room = int(inputs["pipeline_parallel"]), limits.longest
    let_in, decode, transfer = float(front_ends_rate(Inputs(inputs))), None, 0.0
    overhead = float(quantities["admission_time"])
    if inputs["separate_pools"]:
        decode, sending = pool, float(quantities["kv_transfer_time"])
        if prefill is not None:
            asked = prefill.inputs() | {"separate_pools": 0, "output_tokens": 1}
            pool, prompts = _pool(prefill, asked, shape[0] + 1, max_num_seqs, policy, coordination)
            sending += max(0.0, float(prompts["kv_port_time"] - quantities["kv_port_time"]))
            overhead += float(prompts["cache_load_wait"])
            room = min(room, pool.limits.longest)
            let_in = min(let_in, float(front_ends_rate(Inputs(asked))))
        else:
            wanted = float(quantities["pool_ratio"]) * inputs["data_parallel"] / pool.ranks
            pool = replace(pool, replicas=max(1, math.ceil(wanted)) * pool.ranks * stages)
        transfer = sending / max(1, shape[0])
    longest = _longest(inputs, room)
    if "prefix_hit_share" not in (found or {}):  # that of a run is what it found
        inputs = inputs | {"prefix_hit_share": float(quantities["found_hit_share"])}
    cached = int(in_prefix_cache(shape[0], inputs["prefix_hit_share"]))
    full = inputs | {"concurrency": _held(limits, shape) * (decode or pool).replicas}
    lengths = lengths_of(scenario)
    return System(pool, decode, transfer, (*shape, cached), lengths.shapes(inputs, longest),
                  lengths, longest, overhead, let_in,
                  float(evaluate(full, attention)["request_throughput"]),
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
    takes too long, and where pools are apart (prefill keeps up by construction), it is the closed
    form with as many requests in work as the replicas hold; of a group that is an upper bound,
    because there all ranks prefill at the same time. More than the front ends let in never comes
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
    found = (saturation_rate(single, system.shapes) if ranks == 1 else saturation_of_ranks(
        single, system.shapes, system.closed_form / parts, waves))
    return min(system.front_end_rate, parts * found), "simulation"
