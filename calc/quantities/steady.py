"""What users see who ask again and again: TTFT, TPOT and rates of a deployment in a steady state.

``concurrency`` is the number of requests in flight, as one of them sees it while it decodes, itself
included; where nobody thinks, all of them are in flight all the time. In a closed loop users think
between an answer and the next question; arrivals that are independent (Poisson) are the limit of
ever more users who think ever longer.

Everything is counted in steps. A rank that decodes u requests to answers of n tokens gets u/n
prompts a step, whatever the steps take; a step takes as long as its fullest rank and the experts of
all of them. Rates follow from Little's law, so that it holds, and a prompt waits at least until
what all prompts take fits into the time that there is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calc.physics.arrays import Number, ceil_div, select
from calc.physics.experts import EXPECTED_MAXIMUM, normal_quantile, ranks_in_step
from calc.physics.step import Step
from calc.quantities.waves import Prompts, Serving, token_pace

ROUNDING = 8.0**-9  # a pool that just keeps up needs no replica more
LEAST = 8.0**-9  # of a rate or of a share, where it divides or has a power
FEW = 8.0**-4  # prompts, of which two never meet
ROOM = 1 / 8  # of a step that prompts find at least


@dataclass(frozen=True)
class Steady:
    """A steady state: requests [request], shares and counts [1], times [s], rates per second."""

    steady_others: Number
    return_time: Number
    alone_share: Number
    prompt_work: Number
    prompt_growth: Number
    shared_chunk: Number
    prompt_span: Number
    riding_time: Number
    queue_filled: Number
    queue_steps: Number
    random_queue: Number
    chunks_between: Number
    unheld_prompts: Number
    prompts_per_step: Number
    rank_busy: Number
    hold_steps: Number
    hold_wait: Number
    group_busy: Number
    prompts_per_chunk: Number
    fullest_chunk: Number
    busy_step: Number
    own_chunk: Number
    least_work: Number
    steady_prefill: Number
    prompt_interruption: Number
    step_left: Number
    return_wait: Number
    random_wait: Number
    returned_decode: Number
    random_decode: Number
    random_share: Number
    steady_decode: Number
    pool_wait: Number
    lighter_step: Number
    steady_queue: Number
    steady_stall: Number
    steady_ttft: Number
    steady_tpot: Number
    steady_e2e: Number
    others_rate: Number
    steady_users: Number
    steady_request_throughput: Number
    steady_throughput: Number


def soft_minimum(count: Number, power: Number) -> Number:
    """About min(1, count), lower where counts vary: (1 - e^(-count^power))^(1/power) [1].

    Of a Poisson number of prompts and one rank (power 1) it is the probability of any.

    Source: notebooks/serving.md, section A steady state.
    """
    of_power = np.maximum(count, 0) ** power
    some = select(of_power < FEW, of_power, -np.expm1(-of_power))
    return some ** (1 / power)


def largest_of(number: Number, variance: Number) -> Number:
    """The largest of so many log-normal loads of mean 1 and this variance, about [1].

    Source: notebooks/serving.md, section A steady state.
    """
    spread = np.log1p(variance)
    exceeded = normal_quantile(EXPECTED_MAXIMUM / np.maximum(1, number))
    return np.maximum(1, np.exp(spread**0.5 * exceeded - spread / 2))


@dataclass(frozen=True)
class _Steps:
    """Pieces that a step with prompts is made of.

    Attributes:
        mixed: whether it holds requests that decode as well.
        ranks: that take it together [1].
        units: of such ranks, each stage of a pipeline by itself [1].
        alone: a prompt's chunk on one rank [s].
        token: of the fullest rank's chunk [s/token].
        experts: that they take more for the chunks of all ranks than for one [s].
        exchange, sent: the exchange for chunks of all ranks, and for one [s].
        room: of a rank's step for prompts [token].
    """

    mixed: Number
    ranks: Number
    units: Number
    alone: Number
    token: Number
    experts: Number
    exchange: Number
    sent: Number
    room: Number


def _pieces(q: Any, p: Prompts, c: Number, u: Number, decode: Step, prefill: Step,
            burst: Step) -> _Steps:
    """See ``_Steps``; u others on a rank, c requests of the fullest.

    What a token adds is known from the largest chunk and the decode step, a chunk of few tokens.
    """
    ranks, mixed = ranks_in_step(q), (q.mixed_steps > 0) & (q.separate_pools == 0)
    shared = ranks > 1
    experts = select(shared, prefill.routed_expert_time - np.maximum(
        prefill.routed_expert_time / ranks,
        np.minimum(prefill.routed_expert_time, decode.routed_expert_time)), 0)
    fullest = 1 + prefill.rank_imbalance
    sent = prefill.exchange_time / fullest
    alone = prefill.step_time - experts - select(shared, prefill.exchange_time - sent, 0)
    of_one = burst.step_time - select(
        shared, burst.routed_expert_time * (1 - 1 / ranks)
        + burst.exchange_time * (1 - 1 / fullest), 0)
    few = decode.step_time - decode.core_time - decode.index_time - decode.context_exchange_time
    tokens = p.burst_tokens - c / q.pipeline_parallel * (1 + q.draft_tokens)
    token = np.maximum(0, np.minimum(
        (of_one - few) / np.maximum(1, tokens), alone / p.prefill_tokens))
    budget = q.max_num_batched_tokens
    room = select(mixed, np.maximum(budget - 1 - u, ROOM * budget), budget)
    return _Steps(mixed, ranks, q.data_parallel * q.pipeline_parallel / ranks, alone, token,
                  experts, prefill.exchange_time, sent, room)


def _busy(s: _Steps, p: Prompts, fullest: Number, tokens: Number, riding: Number) -> Number:
    """Time of a step whose fullest rank, and whose ranks together, have so many prompt tokens [s].

    Source: notebooks/serving.md, section A steady state.
    """
    filled = np.clip(tokens / (s.ranks * fullest), 1 / s.ranks, 1)
    of_all = s.experts * (filled - 1 / s.ranks) / np.maximum(ROOM, 1 - 1 / s.ranks)
    more = select(s.ranks > 1, of_all + np.maximum(0, s.exchange * filled - s.sent), 0)
    return (s.alone + s.token * (fullest - p.prefill_tokens) + fullest / p.prefill_tokens * more
            + riding)


@dataclass(frozen=True)
class _Rates:
    """Prompts of others by the step; see ``Steady``.

    Attributes:
        chunks: of a prompt [1].
        portion: of a chunk that a prompt fills, all of it at most [1].
        queued, random: steps that a prompt waits for those before it on its rank, after an answer
            and where it comes at random [1].
    """

    chunks: Number
    portion: Number
    filled: Number
    between: Number
    unheld: Number
    prompts: Number
    rank: Number
    hold: Number
    held: Number
    group: Number
    queued: Number
    random: Number


def _held(q: Any, s: _Steps, u: Number, prompts: Number, chunks: Number) -> tuple[Number, Number]:
    """Steps for which ranks hold prompts back, and for which one of them waits [1].

    Until every rank has one: requests are dealt to ranks in turn, so g - 1 arrivals after the
    first; at most so many steps as the engine waits, and while anybody decodes.

    Source: notebooks/serving.md, section A steady state.
    """
    most, arrivals = q.prefill_delay_steps, np.maximum(s.ranks * prompts * chunks, LEAST)
    others = np.maximum(1, s.ranks - 1)
    until_all = others / arrivals
    steps = select((most > 0) & (s.ranks > 1), np.minimum(1, s.ranks * u) * until_all
                   * soft_minimum(most / until_all, others**0.5), 0)
    return steps, steps * (1 + arrivals * steps / 2) / (1 + arrivals * steps)


def _rates(q: Any, p: Prompts, s: _Steps, u: Number, span: Number) -> _Rates:
    """How often steps have prompts, u others on a rank, a prompt as long as so many chunks.

    With mixed steps a queue with room for a chunk in each step, whose population is the others;
    where prompts go first, as many as end in the decode steps between.

    Source: notebooks/serving.md, section A steady state.
    """
    later, longer = np.maximum(1, q.output_tokens - 1), 1 + q.prompt_variation**2
    chunks, power = np.maximum(p.prompt_chunks, span), s.ranks**0.5
    full = later / span * (1 + chunks / later)
    filled = 2 * u / (full + u + ((full - u) ** 2 + 2 * longer * u) ** 0.5)
    each = u / later
    between = np.maximum(each * span, chunks * soft_minimum(each, power))
    unheld = select(s.mixed, filled / span, each / (1 + between))
    # held prompts take so many steps more until they come again
    _, waited = _held(q, s, u, unheld, chunks)
    prompts = unheld * (later + chunks) / (later + chunks * (1 + waited))
    rank = select(s.mixed, np.minimum(1, np.maximum(
        prompts * span, soft_minimum(prompts * chunks, power))), between / (1 + between))
    hold, held = _held(q, s, u, prompts, chunks)
    together = s.ranks * prompts * chunks
    delayed = together / (1 + together * (hold + 1))
    group = select(hold > 0, delayed, 1 - (1 - rank) * np.exp(
        -(s.ranks - 1) * prompts * chunks))
    rank = select(hold > 0, np.minimum(delayed, np.maximum(
        prompts * span, delayed * (1 + together * hold) / s.ranks)), rank)
    ahead = filled * longer * span / (2 * np.maximum(LEAST, 1 - filled))
    rest = filled * np.minimum(1, span) / 2
    queued = select(s.mixed, np.maximum(0, ahead - rest * np.clip(2 - span, 0, 1)),
                    each * span / 2 * np.clip(span - 1, 0, 1))
    return _Rates(chunks, np.minimum(1, span), filled, between, unheld, prompts, rank, hold, held, group, queued,
                  np.maximum(0, ahead - rest))


@dataclass(frozen=True)
class _Chunks:
    """Prompts that share a chunk, tokens of the fullest, and times; see ``Steady``."""

    together: Number
    fullest: Number
    busy: Number
    own: Number
    prefill: Number
    least: Number


def _chunks(q: Any, p: Prompts, s: _Steps, r: _Rates, span: Number, riding: Number, pace: Number
            ) -> _Chunks:
    """Steps with prompts: of others, with one's own chunk, and full ones.

    Source: notebooks/serving.md, section A steady state.
    """
    budget, new = q.max_num_batched_tokens, p.new_tokens
    on_rank = np.maximum(1, r.prompts / np.maximum(LEAST, r.rank))
    single = select(r.prompts > FEW, r.prompts * np.exp(-r.prompts) / -np.expm1(
        -np.maximum(FEW, r.prompts)), 1)
    variance = (q.prompt_variation**2 + 1 - single) / on_rank
    whole = np.minimum(budget, select(
        r.prompts > LEAST, r.prompts * new / np.maximum(LEAST, r.rank), p.prefill_tokens))
    busy_ranks = s.ranks * r.rank / np.maximum(LEAST, r.group)
    fullest = np.minimum(budget, whole * largest_of(busy_ranks, variance))
    everywhere = s.ranks * r.prompts * new / np.maximum(LEAST, r.group)
    busy = np.maximum(pace, _busy(s, p, fullest, np.maximum(fullest, everywhere), riding))
    joined = p.prefill_tokens + np.clip(
        (on_rank - 1) * p.prefill_tokens + select(r.hold > 0, 0, r.prompts * new), 0,
        np.maximum(0, s.room - p.prefill_tokens))
    own = np.minimum(budget, select(r.prompts > LEAST, np.maximum(joined, fullest), joined))
    among = select(r.hold > 0, everywhere, s.ranks * r.prompts * new)
    chunk = _busy(s, p, own, p.prefill_tokens + among, riding)
    stages = q.pipeline_parallel
    filling = (p.prompt_chunks + stages - 1) / (stages * p.prompt_chunks)
    least = span / s.ranks * _busy(s, p, budget, s.ranks * budget, riding)
    return _Chunks(np.maximum(1, everywhere / new), fullest, busy, chunk,
                   r.chunks * (chunk * filling + r.held * pace), least)


@dataclass(frozen=True)
class _Stay:
    """A request's way: waits and decoding, after an answer and at random [s]; see ``Steady``."""

    interruption: Number
    left: Number
    back: Number
    random: Number
    decode_back: Number
    decode_random: Number


def _stay(q: Any, s: _Steps, r: _Rates, k: _Chunks, u: Number, pace: Number, lone: Number
          ) -> _Stay:
    """Waits and decoding; a share of the others that is not lone delays.

    Prompts on one's own rank are a queue: whoever comes while one stays is worked on meanwhile.
    Those of the others join the next step, so that they delay who decodes, or is about to.

    Source: notebooks/serving.md, section A steady state.
    """
    after, later = q.output_tokens - 1, np.maximum(1, q.output_tokens - 1)
    h = q.request_overhead
    longer = r.group * (k.busy - pace)
    mean, pausing = pace + longer, select(s.mixed, 0, r.rank)
    stalled = (longer + pausing * pace) / (1 - pausing)
    each = u * s.ranks / (later + select(s.mixed, r.chunks + r.queued, 0))
    interruption = select(u > 0, stalled / select(u > 0, each, 1), 0)
    at_random = (pace * pace * (1 - r.group) + k.busy * k.busy * r.group) / (2 * mean)
    left = np.maximum(mean - h, mean / 2) / s.units + (1 - 1 / s.units) * at_random
    prompt = r.chunks * k.busy
    found = u * prompt * prompt * (1 + q.prompt_variation**2) / 2
    base = h + k.prefill + lone * at_random + after * pace
    waited = r.portion * np.maximum(0, 2 * found / (base + (base * base + 4 * found) ** 0.5)
                                    - r.portion * r.rank * k.busy / 2)
    random = lone * at_random + select(s.mixed, r.random * k.busy, waited)
    first = h + k.prefill + random
    behind = np.maximum(0, u - select(s.mixed, r.random / r.chunks * u / (1 + u), 0))
    own = after * pace + interruption * behind
    joining = interruption * u * (s.ranks - 1)
    grown = joining + own - first
    decoding = (grown + (grown * grown + 4 * (own * first + joining * k.own)) ** 0.5) / 2
    return _Stay(interruption, left, lone * left + r.queued * k.busy, random,
                 after * (pace + stalled), select(q.output_tokens > 1, decoding, 0))


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


def _shared_pool_wait(q: Any, p: Prompts, s: _Steps, u: Number, prefill: Step, before: Number,
                      decoding: Number, ratio: Number) -> Number:
    """Mean wait for a prefill replica, whose chunks prompts share where there is room [s].

    Prompts are dealt to r replicas in turn, so that they come more regularly than at random.

    Source: notebooks/serving.md, section A steady state.
    """
    ranks = s.ranks
    replicas = ranks * np.maximum(1, np.ceil(
        ratio * q.data_parallel / ranks * (1 - ROUNDING)))
    service = prefill.step_time * p.prompt_chunks / q.pipeline_parallel
    sharing = np.maximum(0, 1 - p.new_tokens / q.max_num_batched_tokens)
    growth = np.minimum(service, s.token * p.new_tokens / q.pipeline_parallel)
    load, base = u * service / replicas, before + decoding
    gap = base - load + sharing * u * (service - growth) / replicas
    found = load * service * base / (base + load * sharing) * (
        1 / replicas + q.prompt_variation**2) / 2
    return 2 * found / (gap + (gap * gap + 4 * found) ** 0.5)


def _lighter(q: Any, s: _Steps, c: Number, u: Number, decode: Step, accepted: Number,
             share: Number) -> Number:
    """What a token takes less because some requests are not decoding [s].

    A decode step is known with the fullest batch on every rank. The core takes its part by
    request; experts as many as are hit, whose number grows less than the tokens do.

    Source: notebooks/serving.md, section A steady state.
    """
    batch, u = ceil_div(c, q.pipeline_parallel), u * share
    hit = np.clip(decode.distinct_experts / np.maximum(1, q.n_routed_experts), LEAST, 1 - LEAST)
    growing = -(1 - hit) * np.log1p(-hit) / hit
    cores = (decode.core_time + decode.index_time) * (1 - np.minimum(1, (1 + u) / batch))
    experts = decode.routed_expert_time * (1 - np.minimum(
        1, (1 + s.ranks * u) / (s.ranks * batch)) ** growing)
    return (cores + experts) / accepted


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
    apart, c, after = q.separate_pools > 0, requests_per_rank, q.output_tokens - 1
    _, accepted, pace = token_pace(q, decode)
    units = q.data_parallel * q.pipeline_parallel / ranks_in_step(q)
    others = np.maximum(0, q.concurrency - 1) / select(apart, 1, units)
    u = np.maximum(0, q.concurrency - 1) / units / ranks_in_step(q)  # on the same rank
    s = _pieces(q, p, c, u, decode, prefill, burst)
    span = p.new_tokens / s.room
    core = decode.core_time + decode.index_time + decode.context_exchange_time
    riding = select(s.mixed, u * (core / c + s.token), 0)
    r = _rates(q, p, s, u, span)
    k = _chunks(q, p, s, r, span, riding, pace)
    t = _stay(q, s, r, k, u, pace, np.minimum(1, others))
    mixing = select(q.open_arrivals > 0, 1, np.minimum(
        1, (q.think_time + q.request_overhead) / (pace + k.prefill)))
    sent = q.request_overhead + served.prefill_time + transfer
    pool = _shared_pool_wait(q, p, s, others, prefill, sent, after * pace, pool_ratio)
    queue = select(apart, pool, (1 - mixing) * t.back + mixing * t.random)
    decoding = select(apart, after * pace,
                      (1 - mixing) * t.decode_back + mixing * t.decode_random)
    first = queue + select(apart, sent, q.request_overhead + k.prefill)
    lighter = _lighter(q, s, c, u, decode, accepted, decoding / (
        first + decoding))
    stall = select(after > 0, np.maximum(
        0, select(apart, 0, decoding / np.maximum(1, after) - pace) - lighter), 0)
    tpot = pace + stall
    # what prompts, or the front end, need at least for all that are in flight
    fits = np.maximum(q.concurrency / q.front_end_rate, select(
        apart, 0, (1 + others) * k.least))
    short = np.maximum(0, fits - first - after * tpot)
    ttft = first + short
    e2e = ttft + after * tpot
    total = np.maximum(0, q.concurrency - 1)
    among = total / e2e
    asking = select(q.open_arrivals > 0, 0, 1 / (e2e + q.think_time))
    rate = among + asking
    whole = np.maximum(1, p.prompt_chunks)
    return Steady(
        others, q.think_time + q.request_overhead, s.alone / prefill.step_time,
        whole * s.alone / q.pipeline_parallel, s.token * p.new_tokens,
        np.maximum(0, 1 - span), span, riding, r.filled, r.queued,
        r.random, r.between, r.unheld, r.prompts, r.rank, r.hold, r.held,
        r.group, k.together, k.fullest, k.busy, k.own, k.least, k.prefill, t.interruption, t.left,
        t.back, t.random, t.decode_back, t.decode_random, mixing, decoding, pool,
        lighter, queue + short, stall,
        ttft, tpot, e2e, among, 1 + total + among * q.think_time, rate,
        rate * q.output_tokens)
