"""Every quantity of a deployment from its input symbols, vectorised, or those of its steps alone.

Besides memory, floors, steps, burst and steady state: how full the KV cache of a replica is; what a
benchmark measures whose client keeps ``concurrency`` requests in flight and begins with all of them
at once; and where the closed form of a steady state differs from a simulation, by which mechanism.
Those conditions are on what the closed form itself finds; nothing is simulated here. Their limits
were set on random deployments (``benchmarks.steady_accuracy`` compares others).
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from calc.physics.arrays import (
    Inputs,
    Number,
    ceil_div,
    double,
    maximum,
    minimum,
    normal_tail,
    plus,
    select,
)
from calc.physics.communication import group, token_fanout
from calc.physics.experts import ranks_in_step
from calc.physics.kv_cache import Cache, cache
from calc.physics.memory import (
    Activations,
    Added,
    Memory,
    Weights,
    activations,
    added,
    budget,
    candidate_stages,
    layer_weights,
    weights,
)
from calc.physics.operators import (
    Decode,
    decode_contexts,
    decode_floor,
    expert_fixed_time,
    slowest_clock,
)
from calc.physics.parameters import Parameters, context_weights, count_parameters
from calc.physics.step import BUSY, STEP_NAMES, Step, step
from calc.physics.work import distances
from calc.serving.burst import (
    Loads,
    Prompts,
    Serving,
    chunk,
    decode_step,
    front_ends_rate,
    fullest_cache,
    loads,
    planning,
    pool_ratio,
    prefill_throughput,
    prompts,
    serving,
    token_pace,
    transfer_time,
)
from calc.serving.interference import LEAST
from calc.serving.steady import Steady, steady, steady_pace
from catalogue.deployments.physics_inputs import DEGREES
from catalogue.entries.formulas import input_symbols
from catalogue.messages import Pair, sentences

WAVES = 4  # times the requests in flight that a benchmark sends, where it stays short
LARGEST_RUN = 4**3 * 5**6  # output tokens of one: a million
FEWEST = 4**2  # requests of one user
UNIFORM = 2 * 3**0.5  # width of a uniform distribution over its standard deviation


@dataclass(frozen=True, eq=False)
class Benched:
    """A benchmark: its requests [request], and mean times as its client reports them [s].

    Attributes:
        bench_count: of which as many as are in flight begin together.
        wave_ttft: time to first token of those.
        later_ttft: of all others.
        bench_ttft: of all of them.
        bench_tpot: time per token after the first, of all of them.
        bench_throughput: output tokens over its duration [token/s].
    """

    bench_count: Number
    wave_ttft: Number
    later_ttft: Number
    bench_ttft: Number
    bench_tpot: Number
    bench_throughput: Number


def bench_count(q: Inputs, flight: Number) -> Number:
    """Requests of a benchmark [request]: those that are stated, a few waves, or one long one.

    Args:
        q: input symbols as attributes.
        flight: requests in flight, those that wait for a place in the cache included [request].

    Source: notebooks/serving.md, section A benchmark that starts with a burst.
    """
    several = WAVES * flight
    planned = select(several * q.output_tokens <= LARGEST_RUN, several, flight)
    return maximum(flight, select(
        q.bench_requests > 0, q.bench_requests, maximum(FEWEST, planned)))


def benched(q: Inputs, p: Prompts, waiting: Number, served: Serving, lasting: Steady, decode: Step,
            burst: Step) -> Benched:
    """Means of a benchmark [s].

    On ranks that take their steps together the first request's chunk is a step that all others
    wait for. Answers of one length end together after a burst whose prompts all went first, so that
    the next ones are a burst again; with mixed steps they end chunk by chunk, and each prompt waits
    for a full one. The more lengths vary, the fewer end in one step.

    Args:
        q: input symbols as attributes.
        p: how prompts are cut.
        waiting: requests that wait for a place in the cache [request].
        served: what a burst sees.
        lasting: the steady state.
        decode, burst: the decode step, and a full chunk.

    Source: notebooks/serving.md, section A benchmark that starts with a burst.
    """
    apart, stages = q.separate_pools > 0, q.pipeline_parallel
    first = plus(q.concurrency, waiting)
    count = bench_count(q, first)
    chunk = lasting.prompt_work * stages / p.prompt_chunks
    shared = (ranks_in_step(q) > 1) & ~apart
    wave = served.ttft + select(shared, (first - 1) / first * chunk, 0)
    mixed = (q.mixed_steps > 0) & ~apart
    again = select(mixed, minimum(
        wave, (1 + maximum(1, lasting.prompt_span)) * burst.step_time), wave)
    *_, pace = token_pace(q, decode)
    spread = UNIFORM * q.answer_variation * maximum(1, q.output_tokens - 1)
    together = select(q.open_arrivals > 0, 0, 1 / (1 + spread + q.think_time / pace))
    steady = lasting.steady_ttft
    later = steady + together * maximum(0, again - steady)
    begun = select(q.open_arrivals > 0, 0, first / count)
    ttft = begun * wave + (1 - begun) * later
    tpot = lasting.steady_tpot + (begun + (1 - begun) * together) * (
        served.tpot - lasting.steady_tpot)
    cycle = ttft + (q.output_tokens - 1) * tpot + q.think_time
    rate = select(q.open_arrivals > 0, lasting.steady_throughput, first * q.output_tokens / cycle)
    return Benched(count, wave, later, ttft, tpot, rate)


@dataclass(frozen=True, eq=False)
class Occupancy:
    """Tokens [token/request], time [s], requests [request] and shares of a replica's blocks [1].

    Attributes:
        held_tokens: that the blocks of a request take, the empty places of its last one included.
        held_time: for which a request holds blocks.
        holding_requests: that hold blocks of the fullest replica, on average.
        cache_occupied, cache_deviation: mean and standard deviation of the share of the blocks
            that they take; more than there are, if it is above 1.
        cache_overflow: share of the steps in which they would take more than there are.
    """

    held_tokens: Number
    held_time: Number
    holding_requests: Number
    cache_occupied: Number
    cache_deviation: Number
    cache_overflow: Number


def occupancy(q: Inputs, m: Memory, d: Decode, s: Steady) -> Occupancy:
    """Compute the blocks that requests in a steady state take of the fullest replica [1].

    Args:
        q: input symbols as attributes.
        m: the memory budget.
        d: contexts of decode.
        s: the steady state.

    Source: notebooks/memory.md, section How full the cache gets.
    """
    together = m.block_tokens * q.decode_context_parallel
    tokens = d.decode_context_tokens + (together - 1) / 2 + (  # half of the last block is empty
        (m.request_blocks - m.blocks_per_request) * together)
    time = select(q.separate_pools > 0, q.output_tokens * s.steady_tpot,
                  s.steady_prefill + (q.output_tokens - 1) * (s.steady_pace + s.steady_stall))
    begun = s.steady_request_throughput * m.served_per_rank / m.served_requests
    holding = begun * time
    without = select(q.open_arrivals > 0, 1, maximum(
        0, 1 - time / (s.steady_e2e + q.think_time)))
    room = maximum(1, m.kv_blocks - m.prompt_blocks) * together
    occupied = holding * tokens / room
    variance = holding * (d.context_deviation * d.context_deviation + without * tokens * tokens)
    deviation = variance ** 0.5 / room
    return Occupancy(tokens, time, holding, occupied, deviation,
                     normal_tail((1 - occupied) / maximum(deviation, LEAST)))


say = sentences("calc/serving/evaluate")

NEAR = {"ttft": 0.2, "tpot": 0.1}  # of a simulation: nine of ten where it is to hold
STALLED = 2 / 5  # of a token's time, prompts of other ranks that several chunks of a prompt meet
DELAYED = 4 / 7  # share of a token's time spent on prompts, where the engine delays them
NEARLY_ALL = 7 / 8  # of the steps, those with a prompt on some rank; of a token's time, prompts
HALF = 4 / 9  # of the steps, those with a prompt on one rank
SATURATED = 3 / 5  # of a token's time, prompts that come to one replica at random
IN_TURN = 1 / 2  # of a token's time, prompts where requests are dealt to replicas in turn
OFTEN = 1 / 2  # of the requests, those that come, or meet prompts, at random
EQUAL = 1 / 10  # of a token's time, prompts where answers of one length end in step, or where a
# prompt takes longer than its answer
LONG = 5.0  # chunks of a prompt that nobody else's often interrupts
FRONT_END = 1 / 2  # of its rate


@functools.cache
def doubt_words() -> dict[str, Pair]:
    """Return the reason for each doubt about the closed form, by name."""
    return {
        "shared": say("ranks-that-share-experts-spend",
                      "ranks that share experts wait much of the time for each other's prompts, "
                      "which come at random in several chunks, take longer than an answer, or are "
                      "in nearly every step"),
        "few": say("prompts-come-at-random-to",
                   "few requests are in flight and prompts come at random: the mean depends "
                   "on which of them coincide"),
        "equal": say("requests-of-one-length",
                     "all answers have one length, so that requests fall into step"),
        "held": say("ranks-hold-back-prompts-of",
                    "ranks hold back prompts that have several chunks or take longer than an "
                    "answer, or prompts held back take most of the time"),
        "balanced": say("ranks-let-in-requests-together",
                        "ranks admit requests together (balance), which the closed form leaves "
                        "out"),
        "saturated": say("prompts-at-random-take-most",
                         "prompts come at random and take most of a replica's time: the queue "
                         "varies widely"),
        "in_turn": say("requests-are-dealt-to-replicas",
                       "requests are assigned to replicas in turn and mostly wait for prompts, so "
                       "all depends on which prompts coincide"),
        "front_end": say("front-end-is-near-its", "the front end is near its maximum rate"),
    }


def doubts(q: Inputs, quantities: Mapping[str, Number]) -> dict[str, Number]:
    """Whether each condition is met under which the closed form is off [1], by its name.

    Names are those of :func:`doubt_words`.

    Args:
        q: input symbols as attributes.
        quantities: quantities of a steady state, by name.

    Source: notebooks/serving.md, section A steady state.
    """
    ranks, one_pool = ranks_in_step(q), q.separate_pools <= 0
    together, several = ranks > 1, (q.data_parallel > ranks) & one_pool
    stalled = quantities["steady_stall"] / quantities["steady_tpot"]
    cut = quantities["prompt_span"] * (1 + q.prompt_variation) > 1
    often, met = quantities["random_share"] > OFTEN, quantities["meeting_share"] > OFTEN
    delayed = q.prefill_delay_steps > 0
    longer = (stalled > EQUAL) & (quantities["mean_chunks"] * quantities["busy_step"] > (
        q.output_tokens - 1) * quantities["steady_tpot"])
    equal = q.answer_variation * (q.output_tokens - 1) < quantities["tokens_per_step"]
    rate = quantities["steady_request_throughput"]
    in_flight = rate * quantities["steady_e2e"]
    seldom = often & (in_flight <= q.data_parallel)
    return {
        "shared": together & one_pool & (
            ~delayed & (cut & met & (stalled > STALLED) | often & (stalled > NEARLY_ALL) | longer)
            | (quantities["group_busy"] > NEARLY_ALL) & (quantities["rank_busy"] > HALF)),
        "few": one_pool & (together & seldom & (stalled > STALLED)
                           | often & (in_flight < 2) & (quantities["prompt_span"] > LONG)),
        "equal": one_pool & ~several & ~often & equal & (stalled > EQUAL),
        "held": together & delayed & (
            cut & (stalled > STALLED) | (stalled > DELAYED) | longer | (q.least_loaded > 0)),
        "saturated": one_pool & ~together & ~several & often & (stalled > SATURATED),
        "in_turn": several & (stalled > IN_TURN),
        "front_end": (rate > FRONT_END * front_ends_rate(q)),
    }


PHASES = ("decode", "prefill", "burst")
# quantities that take no step
MEMORY_NAMES = frozenset(field.name for part in (
    Parameters, Weights, Added, Cache, Activations, Memory) for field in fields(part))


def check_names(inputs: Mapping[str, Number]) -> None:
    """Check that the inputs are complete.

    Args:
        inputs: input symbols by name.

    Raises ValueError for a missing input or one that is not an input.
    """
    if inputs.keys() != input_symbols():
        wrong = sorted(inputs.keys() ^ input_symbols())
        problem = "missing" if wrong[0] in input_symbols() else "not an input"
        raise ValueError(f"'{wrong[0]}' is {problem}")


def check_ranks(inputs: Mapping[str, Number]) -> None:
    """Check the degrees of parallelism.

    Args:
        inputs: input symbols by name.

    Raises ValueError for degrees that are no whole numbers of ranks or do not divide the heads.
    """
    for name in DEGREES:
        wrong = ~(np.asarray(inputs[name], float) % 1 == 0) | (np.asarray(inputs[name]) < 1)
        if wrong.any():
            raise ValueError(f"'{name}' is {_first(inputs[name], wrong)}, expected a whole number "
                             "of at least 1")
    heads, tensor = inputs["num_attention_heads"], inputs["tensor_parallel"]
    if (uneven := np.asarray(heads) % np.asarray(tensor) != 0).any():
        raise ValueError(f"'tensor_parallel' is {_first(tensor, uneven)}, expected a divisor of "
                         f"the {_first(heads, uneven)} attention heads")


def _first(values: Any, which: np.ndarray) -> str:
    """The first of some numbers for which something holds."""
    return f"{np.broadcast_to(values, which.shape)[which].ravel()[0]:g}"


def evaluate_asked(inputs: Mapping[str, Number], attention: str, *,
                   decode: bool = True) -> dict[str, Number]:
    """Every quantity of a deployment that nobody has checked yet; as :func:`evaluate`.

    >>> import catalogue
    >>> inputs = catalogue.load_scenario("s2-910b1-awq").inputs()
    >>> quantities = evaluate_asked(inputs | {"concurrency": np.array([1, 8, 32])}, "mla")
    >>> (1e3 * quantities["tpot"]).round(1)
    array([20.4, 41.2, 79.7])

    Args:
        inputs: all input symbols in SI units; any of them may be an array, arrays broadcast.
        attention: ``mla`` or ``gqa``.
        decode: whether to compute the decode floor and what follows from it as well.

    Returns quantities in SI units, by their names in ``params/symbols.yml``.

    Raises ValueError for ranks that nothing is cut into, besides what that raises it for.

    Source: formulas of notebooks/, from architecture.md to serving.md.
    """
    check_names(inputs)
    check_ranks(inputs)
    return evaluate(inputs, attention, decode=decode)


def evaluate(inputs: Mapping[str, Number], attention: str, *,
             decode: bool = True) -> dict[str, Number]:
    """Every quantity of a deployment whose layout was checked, see :func:`evaluate_asked`.

    ``catalogue.load_scenario`` checks one; a search checks its own. ``stage_*`` arrays have the
    stages of ``calc.physics.memory.candidate_stages`` as their first axis.

    Args:
        inputs: all input symbols in SI units; any of them may be an array, arrays broadcast.
        attention: ``mla``, ``gqa`` or ``csa``.
        decode: whether to compute steps and what follows from them as well.

    Returns quantities by name, in the SI units of ``params/symbols.yml``: [s], [B], [token/s].

    Raises ValueError for an unknown attention, a missing input, or one that is not an input.

    Source: formulas of notebooks/, from architecture.md to serving.md.
    """
    check_names(inputs)
    numbers = {name: double(value) for name, value in inputs.items()}
    q, ndim = Inputs(numbers), max(value.ndim for value in numbers.values())
    counted = count_parameters(attention, q)
    stages = candidate_stages(q.num_hidden_layers, q.pipeline_parallel, ndim)
    stored = weights(attention, q, counted, stages)
    cached = cache(attention, q)
    requests = ceil_div(q.concurrency, q.data_parallel)
    active = activations(attention, q, counted.moe_layers, requests)
    additions = added(attention, q, counted, stored, stages)
    memory = budget(attention, q, stored, additions, cached, stages,
                    active.activations_per_device, requests)
    quantities = _named(counted, stored, additions, cached, active, memory)
    if not decode:
        return quantities
    waiting = numbers["concurrency"] - memory.served_requests
    if np.any(waiting > 0):
        q = Inputs(numbers | {"concurrency": double(memory.served_requests),
                              "prefix_hit_share": double(memory.found_hit_share),
                              "host_prefix_share": double(memory.loaded_hit_share)})
    requests = memory.served_per_rank
    batch, cut = decode_contexts(q, requests), prompts(q, requests)
    floor = decode_floor(q, counted, stored, cached, batch)
    compositions = (decode_step(q, batch), *(
        chunk(q, cut, tokens) for tokens in (cut.prefill_tokens, cut.burst_tokens)))
    steps = [step(attention, q, counted, stored, cached, composition)
                                     for composition in compositions]
    loaded, ratio, lasting, served, bench = _served(q, cut, requests, waiting, cached, *steps)
    planned = planning(q, counted, stored, memory, cut, ratio, served, *transfer_time(q, cached))
    quantities |= {"decode_tokens": compositions[0].tokens, "slowest_clock": slowest_clock(q),
                   "fullest_cache": fullest_cache(q, batch),
                   "expert_fixed_time": expert_fixed_time(q),
                   "prefill_throughput": prefill_throughput(q, cut, steps[-1])}
    quantities |= {f"{phase}_{name}": value for phase, done in zip(PHASES, steps, strict=True)
                   for name, value in _named(done).items()}
    return quantities | _named(batch, floor, cut, loaded, served, bench, distances(q, counted),
                               token_fanout(q, group(q, q.expert_parallel)), planned, lasting,
                               occupancy(q, memory, batch, lasting))


def _named(*parts: Any) -> dict[str, Number]:
    """Attributes by name."""
    return {name: value for part in parts for name, value in vars(part).items()}


NOBODY = 0.0  # waits for a place in the cache
FAST = "decode_tpot"  # TPOT without the stalls for other requests' prompts: decode steps alone
PACE = "steady_pace"  # the same with no more requests than there are, on every rank
DECODE_NAMES = frozenset({FAST, PACE, "draft_time", "tokens_per_step", "decode_tokens", *(
    f"decode_{name}" for name in STEP_NAMES)})
# of a step by itself what a wave and a steady state are made of
_OF_CHUNK = ("step_time", "routed_expert_time", "routed_row_bytes", "rank_imbalance",
             "exchange_time", "device_time")
_HIDING = ("hidden_time", *(f"{name}_time" for name in BUSY))
_OF_ANY = ("distinct_experts", "host_time", "core_time", "index_time")
WANTED = {phase: tuple(dict.fromkeys(names)) for phase, names in {
    "decode": ("step_time", "draft_pass_time", "context_exchange_time", "device_time",
               *_OF_ANY, *_HIDING),
    "prefill": (*_OF_CHUNK, *_OF_ANY, *_HIDING),
    "burst": (*_OF_CHUNK, "host_time", *_HIDING)}.items()}
STEADY_NAMES = frozenset(entry.name for part in (Steady, Benched) for entry in fields(part))
_OF_PHASE = {phase: frozenset(f"{phase}_{name}" for name in STEP_NAMES) for phase in PHASES}
SERVED_NAMES = frozenset({"prefill_throughput", *(entry.name for entry in fields(Serving))}).union(
    DECODE_NAMES, *_OF_PHASE.values())


def waits_for_places(inputs: Mapping[str, Number], attention: str) -> bool:
    """Whether requests of any of some deployments wait for a place in the cache.

    Args:
        inputs: input symbols by name.
        attention: ``mla``, ``gqa`` or ``csa``.

    Raises ValueError as :func:`calc.evaluate`.
    """
    served = evaluate(inputs, attention, decode=False)["served_requests"]
    return bool(np.any(np.less(served, inputs["concurrency"])))


def needs_prefill(names: Collection[str]) -> bool:
    """Whether some quantities need the steps of prefill.

    Args:
        names: of quantities.

    Raises ValueError for an unknown name.
    """
    if unknown := [name for name in names if name not in SERVED_NAMES | STEADY_NAMES]:
        raise ValueError(f"there is no quantity '{unknown[0]}' of a step")
    return not DECODE_NAMES.issuperset(names)


def latencies(attention: str, q: Inputs, names: Collection[str],
              computed: Mapping[str, Any] | None = None) -> dict[str, Number]:
    """Quantities of the decode step, and where asked for of prefill, wave and steady state.

    Each equals what :func:`calc.evaluate` gives, which computes memory and floors besides, where
    all requests in flight have a place in the cache (:func:`waits_for_places`).

    Args:
        attention: ``mla`` or ``gqa``.
        q: input symbols as attributes.
        names: quantities that are wanted; there are others with them.
        computed: steps that were computed before, by phase: ``WANTED`` as attributes [s].

    Raises ValueError for a name that no step gives.

    Source: formulas of notebooks/, compute.md to serving.md, as of :func:`calc.evaluate`.
    """
    computed, wanted = computed or {}, frozenset(names)
    needs_prefill(names)
    of_all = not wanted <= DECODE_NAMES.union(*_OF_PHASE.values())
    n = count_parameters(attention, q)
    t = q.tensor_parallel
    stored = cast("Weights", SimpleNamespace(
        attention_weights_per_layer=layer_weights(q, n),
        context_weights_per_layer=context_weights(q, n),
        head_matrix_weights=q.head_weight_bytes * ceil_div(q.vocab_size, t) * q.hidden_size))
    cached = cache(attention, q)
    requests = ceil_div(q.concurrency, q.data_parallel)
    quantities: dict[str, Number] = {}
    decode: Any = computed.get("decode")
    if of_all or not DECODE_NAMES.isdisjoint(wanted):
        if decode is None:
            composition = decode_step(q, decode_contexts(q, requests))
            decode = step(attention, q, n, stored, cached, composition)
            quantities["decode_tokens"] = composition.tokens
        quantities |= {f"decode_{name}": value for name, value in vars(decode).items()}
        draft, accepted, pace = token_pace(q, decode)
        quantities |= {FAST: pace, "draft_time": draft, "tokens_per_step": accepted}
        if PACE in wanted:
            quantities[PACE] = steady_pace(q, requests, decode)
    if wanted <= DECODE_NAMES:
        return quantities
    cut = prompts(q, requests)
    steps: dict[str, Any] = {
        phase: computed.get(phase) or step(attention, q, n, stored, cached, chunk(q, cut, tokens))
        for phase, tokens in (("prefill", cut.prefill_tokens), ("burst", cut.burst_tokens))
        if of_all or not _OF_PHASE[phase].isdisjoint(wanted)}
    for phase, done in steps.items():
        quantities |= {f"{phase}_{name}": value for name, value in vars(done).items()}
    if not of_all:
        return quantities
    _, _, *parts = _served(q, cut, requests, NOBODY, cached, decode, **steps)
    return quantities | _named(*parts) | {
        "prefill_throughput": prefill_throughput(q, cut, steps["burst"])}


def _served(q: Inputs, cut: Prompts, requests: Number, waiting: Number, cached: Cache,
            decode: Step, prefill: Step, burst: Step
            ) -> tuple[Loads, Number, Steady, Serving, Benched]:
    """Loads of caches, balance of two pools, steady state, wave and benchmark of a deployment."""
    (_, transfer), loaded = transfer_time(q, cached), loads(q, cached, prefill)
    ratio = pool_ratio(q, ceil_div(requests, q.pipeline_parallel), cut, decode, prefill)
    lasting = steady(q, cut, requests, waiting, decode, prefill, burst, transfer, ratio, loaded)
    wave = serving(q, cut, requests, waiting, lasting.prompt_work, lasting.steady_pace,
                   decode, prefill, burst, transfer, loaded.admission_time)
    return loaded, ratio, lasting, wave, benched(q, cut, waiting, wave, lasting, decode, burst)
