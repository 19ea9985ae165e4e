"""What users see who ask again and again: TTFT, TPOT and rates of a deployment in a steady state.

``concurrency`` is the number of requests in flight, as one of them sees it while it decodes, itself
included; where nobody thinks, all of them are in flight all the time. Each other one asks again, at
a moment that has nothing to do with this one, so that its prompt comes in between. In a closed loop
users think between an answer and the next question; arrivals that are independent (Poisson) are the
limit of ever more users who think ever longer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calc.physics.arrays import Number, select
from calc.physics.experts import ranks_in_step
from calc.physics.step import Step
from calc.quantities.waves import Prompts, Serving, token_pace

ROUNDING = 8.0**-9  # a pool that just keeps up needs no replica more
MANY_STEPS = 8.0**3  # of thinking: after them a return finds half a step, to a thousandth
MOST_BUSY = 0.99  # nearer to saturation the mean wait of independent arrivals has no bound


@dataclass(frozen=True)
class Steady:
    """A steady state: requests [request], shares and counts [1], times [s], rates per second."""

    steady_others: Number
    return_time: Number
    alone_share: Number
    prompt_work: Number
    prompt_growth: Number
    shared_chunk: Number
    prompts_per_chunk: Number
    riding_time: Number
    steady_prefill: Number
    prompt_interruption: Number
    step_left: Number
    unbunched_others: Number
    others_rate: Number
    steady_load: Number
    return_wait: Number
    random_wait: Number
    pool_wait: Number
    steady_queue: Number
    steady_stall: Number
    steady_ttft: Number
    steady_tpot: Number
    steady_e2e: Number
    steady_users: Number
    steady_request_throughput: Number
    steady_throughput: Number


@dataclass(frozen=True)
class _Prompt:
    """A prompt among others: times [s], share and count [1], ``steady_others`` [request].

    Attributes:
        left: of its time with all ranks, what it takes on one of them [1].
        own: its prefill, with what decodes beside it.
        work: of the replica, if it is prefilled alone.
        work_among: of the replica, with those that decode beside it.
        growth: of a chunk by one more prompt.
        shared: share of the prompts that find room in a chunk with others.
        together: prompts of a mean chunk.
        riding: what those that decode add to a chunk.
        interruption: of those that decode, beyond the steps that they make meanwhile.
    """

    others: Number
    left: Number
    own: Number
    work: Number
    work_among: Number
    growth: Number
    shared: Number
    together: Number
    riding: Number
    interruption: Number


def _mixed(q: Any) -> Number:
    """Whether a step holds prompts and requests that decode."""
    return (q.mixed_steps > 0) & (q.separate_pools == 0)


def _later(q: Any) -> Number:
    """Tokens after the first, at least one where it divides [token]."""
    return np.maximum(1, q.output_tokens - 1)


def _prompt(q: Any, p: Prompts, c: Number, pace: Number, decode: Step, prefill: Step, burst: Step,
            alone: Number) -> _Prompt:
    """A prompt among those of others.

    A chunk takes a constant part and a part for each of its prompts; the latter is known from a
    chunk of one prompt and a full one. Where ranks share experts every rank has room for a prompt
    in a step, and one more prompt adds only its tokens at the experts.

    Source: notebooks/serving.md, section A steady state.
    """
    ranks = ranks_in_step(q)
    others = select(q.separate_pools > 0, q.concurrency, np.minimum(
        ranks * c, q.concurrency)) - 1
    at_experts = prefill.routed_expert_time / prefill.step_time
    whole = prefill.step_time * p.prompt_chunks / q.pipeline_parallel
    wider = p.burst_tokens - p.prefill_tokens
    slope = (burst.step_time - prefill.step_time) / np.where(wider > 0, wider, 1)
    growth = np.minimum(whole, select(
        wider > 0, slope * p.new_tokens / q.pipeline_parallel, whole))
    in_step = ranks > 1
    read = np.minimum(at_experts, decode.routed_expert_time / prefill.step_time)
    left = select(in_step, 1 - at_experts + np.maximum(at_experts / ranks, read), 1)
    growth = select(in_step, whole * at_experts / ranks, growth)
    work = whole * left
    ending = others / _later(q)
    room = np.maximum(0, 1 - p.new_tokens * (1 + ending) / q.max_num_batched_tokens)
    shared = select(in_step, 1, select(p.prompt_chunks > 1, 0, room))
    each = (others + 1) / _later(q)
    together = 1 + shared * (each / -np.expm1(-each) - 1)
    mixed = _mixed(q)
    core = decode.core_time + decode.index_time + decode.context_exchange_time
    riding = select(mixed, (c - 1) * (core / c + growth / p.new_tokens), 0)
    beside = select(mixed, 1, 1 - 1 / ranks)  # prompts beside which those of a rank go on
    saved = beside * (riding - pace) / q.pipeline_parallel
    interruption = np.maximum(0, work + p.prompt_chunks * saved
                              - (work - growth + saved) * (1 - 1 / together))
    added = p.prompt_chunks * riding
    return _Prompt(others, left, alone * left + added, work, work + added, growth, shared,
                   together, riding, interruption)


def _left_of_step(q: Any, a: _Prompt, decode: Step, pace: Number, first: Number) -> Number:
    """What is left of the step that a user's next prompt finds under way [s].

    Steps follow one another from the end of the answer: the first as given [s], then decode steps
    of one request fewer. The time to think is exponential, that before the scheduler is not.

    Source: notebooks/serving.md, section A steady state.
    """
    of_one = (decode.routed_expert_time + decode.core_time + decode.index_time) / (1 + a.others)
    fewer = pace * (1 - of_one / decode.step_time)
    late = q.request_overhead - first
    left = fewer * np.maximum(0, np.ceil(late / fewer)) - late
    thinks = q.think_time > 0
    mean = select(thinks, np.minimum(q.think_time, MANY_STEPS * fewer), 1)
    return left + select(thinks, fewer * np.exp(-left / mean) / -np.expm1(-fewer / mean) - mean, 0)


def _waits(q: Any, p: Prompts, a: _Prompt, decode: Step, pace: Number, step_left: Number,
           rate: Number) -> tuple[Number, Number]:
    """Mean wait of a prompt [s]: right after an answer, and at random.

    Source: notebooks/serving.md, section A steady state.
    """
    work = a.work_among
    ending = a.others / _later(q)
    chunk = work / p.prompt_chunks + a.growth * (a.together - 1)
    follows = -np.expm1(-ending)
    back = (1 - follows) * step_left + follows * _left_of_step(q, a, decode, pace, chunk)
    with_me = ending * a.growth * (1 + a.shared) / 2
    busy = np.minimum(MOST_BUSY, rate * (
        work - (work - a.growth) * (1 - 1 / a.together)))
    left = (1 - busy) * pace / 2 + busy * chunk / 2
    queued, joining = (np.minimum(MOST_BUSY, rate * each) for each in (work, a.growth))
    ahead = left * ((1 - a.shared) / (1 - queued) + a.shared * (1 + 2 * joining))
    return with_me + back, ahead


def _unbunched(q: Any, a: _Prompt, pace: Number, at_random: Number) -> Number:
    """Others that decode along, without those that a prompt brings with it [request].

    Of prompts that come at random, those that come while others are worked on begin to decode
    together with them; where answers end at any step, a request sees half of them on average.

    Args:
        q: input symbols as attributes.
        a: a prompt among others.
        pace: of a token without stalls [s].
        at_random: share of the prompts that come at random [1].

    Source: notebooks/serving.md, section A steady state.
    """
    decoding = _later(q) * pace
    grown = decoding + at_random * a.interruption
    whole = grown + np.sqrt(
        grown * grown + 2 * at_random * a.others * a.interruption * a.interruption)
    return select(at_random > 0, 2 * a.others * decoding / select(at_random > 0, whole, 1),
                  a.others)


def _delay(q: Any, p: Prompts, a: _Prompt, pace: Number, back: Number, ahead: Number, spread: Number
           ) -> tuple[Number, Number]:
    """Delay of a request by the prompts of others [s]: in a closed loop, and of arrivals at random.

    Others finish while this one decodes; at random they also come while its own prompt waits and
    is worked on, and what it finds is worked on before.

    Source: notebooks/serving.md, section A steady state.
    """
    several, after = np.minimum(1, a.others), q.output_tokens - 1
    mixed = _mixed(q)
    caused = a.others * a.interruption
    crowded = a.others * (a.interruption + p.prompt_chunks * select(
        mixed, pace, 0) / a.together) - after * pace
    last = pace + select(mixed, caused / _later(q), 0)
    meanwhile = a.own + (1 - a.shared) * ahead - last
    coming = spread * a.interruption * (1 + meanwhile / (_later(q) * pace))
    at_random = np.minimum(1, after) * coming + several * ahead
    return np.maximum(caused + several * back, crowded), np.maximum(at_random, crowded)


def pool_queue(load: Number, service: Number, base: Number) -> Number:
    """Mean wait of a request for a replica of a prefill pool, among others that come back [s].

    W (A + W - κ) = κ S / 2: a queue of constant service in a closed network, whose arrivals see it
    without their own request.

    Args:
        load: κ, time of a replica that the prompts of all others take, over the replicas [s].
        service: S, time of a replica for a prompt [s].
        base: A, from one prompt to the next without the wait [s].

    Source: notebooks/serving.md, section A steady state.
    """
    gap = base - load
    return load * service / (gap + np.sqrt(gap * gap + 2 * load * service))


def steady(q: Any, p: Prompts, requests_per_rank: Number, decode: Step, prefill: Step,
           burst: Step, served: Serving, transfer: Number, pool_ratio: Number) -> Steady:
    """What a request sees among others that come and go at other times than it does.

    Args:
        q: input symbols as attributes.
        p: how prompts are cut.
        requests_per_rank: requests in flight on the fullest data-parallel rank [request].
        decode, prefill, burst: the decode step, the mean chunk of a prompt alone, and a full one.
        served: what a wave of the same requests sees.
        transfer: of a request's cache to the decode pool [s].
        pool_ratio: prefill replicas per decode replica [1].

    Source: notebooks/serving.md, section A steady state.
    """
    apart = q.separate_pools > 0
    *_, pace = token_pace(q, decode)
    a = _prompt(q, p, requests_per_rank, pace, decode, prefill, burst, served.prefill_time)
    away = q.think_time + q.request_overhead
    mixed = _mixed(q)
    several, after = np.minimum(1, a.others), q.output_tokens - 1
    mixing = select(q.open_arrivals > 0, 1, np.minimum(1, away / (pace + a.work_among)))
    base = q.request_overhead + a.own + after * pace + select(apart, transfer, 0)
    left = _left_of_step(q, a, decode, pace, 0)
    spread = _unbunched(q, a, pace, mixing * select(
        q.open_arrivals > 0, 1, q.think_time / (q.think_time + base + a.others * a.interruption)))
    coming = spread / (_later(q) * pace + spread * a.interruption + (1 - mixing) * (
        q.request_overhead + a.own + several * left))
    soon, ahead = _waits(q, p, a, decode, pace, left, coming)
    closed, at_random = _delay(q, p, a, pace, left, ahead, spread)
    load = select(apart, 0, (1 - mixing) * closed + mixing * at_random)
    waiting = several * ((1 - mixing) * soon + mixing * ahead)
    replicas = np.maximum(1, np.ceil(pool_ratio * q.data_parallel * (1 - ROUNDING)))
    in_pool = pool_queue(a.others * a.work / replicas, a.work, base)
    queue = select(apart, in_pool, waiting)
    stall = np.maximum(0, load - queue) / _later(q)
    most = a.own / p.prompt_chunks - pace  # beside prompts a token takes a chunk at most
    stall = select(mixed, np.minimum(stall, np.maximum(0, most)), stall)
    first = (q.request_overhead + a.own + select(apart, transfer, 0)
             + np.maximum(queue, load - after * stall))
    tpot = pace + stall
    e2e = first + after * tpot
    groups = q.concurrency / (1 + a.others)
    among = select(apart, a.others / e2e, coming)
    asking = select(q.open_arrivals > 0, 0, 1 / (e2e + q.think_time))
    users = groups * (1 + among * (e2e + q.think_time))
    rate = groups * (among + asking)
    return Steady(a.others, away, a.left, a.work, a.growth, a.shared, a.together, a.riding, a.own,
                  a.interruption, left, spread, coming, load, soon, ahead, in_pool, queue, stall,
                  first, tpot, e2e, users, rate, rate * q.output_tokens)
