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

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from calc.physics.arrays import (
    Inputs,
    Number,
    anywhere,
    ceil_div,
    clip,
    either,
    is_absent,
    maximum,
    minimum,
    normal_tail,
    once,
    per,
    plus,
    product_log,
    scaled,
    select,
)
from calc.physics.experts import ranks_in_step
from calc.physics.operators import expert_fixed_time
from calc.physics.step import Busy, Step, removed_time
from calc.serving.burst import (
    Loads,
    Prompts,
    first_held,
    front_ends_rate,
    pool_replicas,
    prefill_time,
    token_pace,
)
from calc.serving.interference import (
    LEAST,
    Chunks,
    Pieces,
    Rates,
    chunks_of,
    hit_share,
    packed_time,
    pieces,
    rates_of,
)

FLAT = 8.0**-4  # inverse of an exponent; below it, a power is an exponential
FEWEST = 8.0**2  # exponent of the share of others below which there are none


def shorter_of_two(first: Number, second: Number, variations: tuple[Number, Number]
                   ) -> Number:
    """Mean of the shorter one of two stays over the mean of one [1].

    Of log-normal stays with a standard deviation of the logarithm s it is 2 Φ(-s/√2).

    Args:
        first, second: mean parts of a stay, which vary by themselves [s].
        variations: of either, standard deviation over mean [1].

    Source: notebooks/serving.md, section A steady state.
    """
    total = first + second
    squares = ((first * variations[0]) ** 2 + (second * variations[1]) ** 2) / (total * total)
    return 2 * normal_tail((np.log1p(squares) / 2) ** 0.5)


def others_in_turn(others: Number, replicas: Number, shorter: Number) -> Number:
    """Requests in flight on one's own replica, if others are dealt in turn [request].

    Where stays are exponential, requests come to each of D replicas at every D-th arrival, and find
    1 / ((1 + 1/M)^D - 1) of M others (GI/M/∞). Of many the excess over M/D is half of 1/D - 1, for
    other stays b of it, b the mean of the shorter of two over the mean of one (Whitt): the same
    form with an exponent 1/x, x = 1 - 2 b (1 - 1/D). Stays that are all equal find none before M
    is D. A single replica has all of them.

    Args:
        others: M, in flight [request].
        replicas: D [1].
        shorter: b [1].

    Source: notebooks/serving.md, section A steady state.
    """
    x = 1 - 2 * shorter * (1 - 1 / replicas)
    x = select(np.abs(x) < FLAT, FLAT, x)
    spread = maximum(LEAST - 1, replicas * x / maximum(LEAST, others))
    grown = minimum(FEWEST, np.log1p(spread) / x)
    return select(others > LEAST, 1 / np.expm1(grown), 0)


MOST = 4.0**2  # of them; beyond, no step without any is left
REFINED = 2  # times, by Newton's method


@dataclass(frozen=True, eq=False)
class Among:
    """Decoding among others, whose prompts come at random.

    Attributes:
        own: decode steps of an answer without anybody's prompt [s].
        first: until its first token [s].
        load: of the steps for the prompts of all others [s].
        chunks: of a prompt [1].
        begun: what is left of those in work when decoding begins [s].
        rest: a decode step over one with prompts [1].
        pausing: of the steps at most, those that prompts of one's own rank take from it [1].
    """

    own: Number
    first: Number
    load: Number
    chunks: Number
    begun: Number
    rest: Number
    pausing: Number

    @cached_property
    def most(self) -> Number:
        """Time of as many steps as :attr:`own`, all of them with prompts [s]."""
        return self.own / self.rest

    @cached_property
    def stalls(self) -> Number:
        """Share of a step with prompts by which it is longer than a decode step [1]."""
        return 1 - self.rest


def _decoding(a: Among, rho: Number) -> tuple[Number, Callable[[], Number]]:
    """Time from first to last token [s], and what tells by what share it grows with ρ [1]."""
    new, grown = rho / a.chunks, np.expm1(rho)
    last = -np.expm1(-new)
    runs = new * grown / last
    without = 1 / (1 + runs)
    busy = runs * without
    left = 1 - a.stalls * busy
    through = a.begun / left
    met = busy * through * a.most / (through + a.most) * (1 - a.rest / left)
    decoding = a.own / left
    if anywhere(a.pausing > 0):
        decoding = decoding / (1 - minimum(a.pausing, runs / (runs + 1 / a.rest)))
    return decoding + met, lambda: busy * without * a.stalls / left * (
        1 + rho + rho / grown - new * (1 - last) / last)


def overlapping(a: Among) -> tuple[Number, Number, Number]:
    """Prompts in work at once ρ, if none were kept waiting: about, nearer, and near enough [1].

    ρ (τ_1 + τ_D(ρ)) is the load of all others: they come once in such a time. It begins where
    either part alone would be, ρ e^ρ where decoding is the larger one.

    Args:
        a: decoding among prompts that come at random.

    Source: notebooks/serving.md, section A steady state.
    """
    least = maximum(LEAST, a.load / a.first)
    load = least * a.first
    ratio = scaled(load, 1 - a.pausing) / a.own
    estimates = [minimum(MOST, 1 / (1 / least + 1 / maximum(
        product_log(ratio), ratio * a.rest)))]
    for _ in range(REFINED):
        rho = estimates[-1]
        after, share = _decoding(a, rho)
        total = a.first + after
        nearer = rho * (load / (rho * total)) ** (total / (total + share() * after))
        estimates.append(clip(nearer, LEAST, MOST))
    about, near, enough = estimates
    return about, near, enough


def decoding_among(a: Among, rho: Number) -> Number:
    """Time from first to last token among prompts that come at random [s].

    Steps without a pause have prompts of m chunks, ρ/m of them new in each: until m steps in a row
    had no new one, (e^ρ - 1) / (1 - e^(-ρ/m)) steps, and then none for the time in which one comes.
    So the share ρ/m times that, over one more, of the time passes in such steps. What is in work
    when decoding begins goes on for as long as a run, in which few tokens come.

    Args:
        a: decoding among prompts that come at random.
        rho: prompts in work at once, ρ [1].

    Source: notebooks/serving.md, section A steady state.
    """
    return _decoding(a, rho)[0]


RIGHT_ANGLE = 1.5708  # π/2, to five digits


@dataclass(frozen=True, eq=False)
class _Stay:
    """A request's way: waits and decoding, after an answer and at random [s], overlaps [1]."""

    prompt_interruption: Number
    step_left: Number
    receive_wait: Number
    return_wait: Number
    random_wait: Number
    overlap_about: Number
    overlap_nearer: Number
    overlapping: Number
    returned_decode: Number
    random_decode: Number


@dataclass(frozen=True, eq=False)
class Steady(Rates, Chunks, _Stay):
    """A steady state: requests [request], shares and counts [1], times [s], rates per second."""

    shorter_stay: Number
    replica_others: Number
    steady_others: Number
    return_time: Number
    exposed_prompts: Number
    alone_share: Number
    prompt_work: Number
    prompt_growth: Number
    prompt_span: Number
    riding_cores: Number
    riding_time: Number
    random_share: Number
    meeting_share: Number
    steady_decode: Number
    pool_wait: Number
    lighter_step: Number
    steady_pace: Number
    place_wait: Number
    steady_queue: Number
    steady_stall: Number
    steady_ttft: Number
    steady_tpot: Number
    steady_e2e: Number
    stream_gap: Number
    others_rate: Number
    steady_users: Number
    steady_request_throughput: Number
    steady_throughput: Number


def _stay(q: Inputs, s: Pieces, r: Rates, k: Chunks, u: Number, pace: Number, lone: Number,
          h: Number, span: Number) -> _Stay:
    """Waits and decoding; a share of the others that is not lone delays.

    Prompts on one's own rank are a queue: whoever comes while one stays is worked on meanwhile.
    Those of the others join the next step and delay who decodes, or is about to. Who waits until
    prompts are let go begins to decode when they are, a whole hold before the next.

    Source: notebooks/serving.md, section A steady state.
    """
    after, later, at_once = s.after, s.later, (s.ranks > 1) & (r.hold_steps <= 0)
    longer = r.group_busy * (k.busy_step - pace)
    mean, pausing = pace + longer, select(s.mixed, 0, r.rank_busy)

    def paused(more: Number) -> Number:
        return (more + pausing * pace) / (1 - pausing) if anywhere(pausing > 0) else more

    def after_thinking() -> Number:
        thinking = s.ranks * r.prompts_per_step * q.think_time / pace
        return longer / (r.group_busy + (1 - r.group_busy) * gathering(thinking))

    def seen_of_held() -> Number:
        varies = maximum(0, 1 - r.releases * (r.hold_steps + r.mean_chunks))  # of a hold
        return maximum(0, 1 - (1 - varies**2) / (2 * later * r.releases))

    stalled = paused(longer)
    stretched = either(at_once & (q.think_time > 0), lambda: paused(after_thinking()),
                       lambda: stalled)
    seen = either(r.hold_steps > 0, seen_of_held, lambda: 1.0)
    begun = u > 0
    per_token = s.ranks / (later + select(s.mixed, r.mean_chunks + r.queue_steps, 0)) * u
    interruption = select(begun, stalled / select(begun, per_token, 1), 0)
    at_random = (pace * pace + longer * (k.busy_step + pace)) / (2 * mean)
    left = maximum(mean - h, mean / 2)
    left = either(s.units > 1, lambda: left / s.units + (1 - 1 / s.units) * at_random, lambda: left)
    received, met = _received(q, s, r, pace, mean)
    prompt, portion = r.mean_chunks * k.busy_step, minimum(1, span)

    def waited() -> Number:
        moment = u * prompt * prompt * ((1 + q.prompt_variation**2) / 2)
        base = h + k.steady_prefill + lone * at_random + after * pace
        return portion * maximum(0, 2 * moment / (base + (base * base + 4 * moment) ** 0.5)
                                   - portion * r.rank_busy * k.busy_step / 2)

    queued = either(s.mixed, lambda: r.random_queue * k.busy_step, waited)
    random = lone * plus(at_random, met) + queued
    first = h + k.steady_prefill + random
    behind = maximum(0, either(
        s.mixed, lambda: u - r.random_queue / r.mean_chunks * u / (1 + u), lambda: u))
    own = after * pace + interruption * behind
    others = either(s.ranks > 1, lambda: u * (s.ranks - 1), lambda: 0.0)
    among = Among(later * pace, first, prompt * plus(behind, others), r.mean_chunks,
                  k.own_chunk * ((r.mean_chunks + 1) / 2), minimum(1, pace / k.busy_step), pausing)
    overlaps = overlapping(among)
    decoding = either(at_once, lambda: decoding_among(among, overlaps[-1]),
                      lambda: _decoding_held(own, first, scaled(others, interruption), k.own_chunk))
    back = lone * plus(left, received) + r.queue_steps * k.busy_step
    return _Stay(interruption, left, received, back, random, *overlaps,
                 after * (pace + scaled(stretched, seen)),
                 select(q.output_tokens > 1, decoding, 0))


def _received(q: Inputs, s: Pieces, r: Rates, pace: Number, mean: Number
              ) -> tuple[Number, Number]:
    """Wait of a request until the engine polls for it [s]: after an answer, at random.

    Args:
        s: pieces of a step with prompts.
        r: how often steps have prompts.
        pace: of decode steps without prompts, drafting included [s].
        mean: of all steps [s].

    Source: notebooks/serving.md, section A steady state.
    """
    ahead = either(q.steps_ahead > 0, lambda: q.steps_ahead * mean, lambda: 0.0)
    if not anywhere(q.scheduler_recv_interval > 1):
        return ahead, ahead
    looks = (q.scheduler_recv_interval - 1) / 2 * pace
    return (plus(looks * select(s.mixed, 1 - r.group_busy, 1), ahead),
            plus(looks * pace * (1 - r.group_busy) / mean, ahead))


def _decoding_held(own: Number, first: Number, joining: Number, chunk: Number) -> Number:
    """Time from first to last token where ranks hold back prompts, or there is one rank [s].

    Args:
        own: of decode steps and of the prompts on one's own rank [s].
        first: until the first token [s].
        joining: interruptions by prompts of other ranks, if all came in that time [s].
        chunk: of a step with one's own chunk [s].

    Source: notebooks/serving.md, section A steady state.
    """
    grown = plus(own - first, joining)
    again = own * first if is_absent(joining) else own * first + joining * chunk
    return (grown + (grown * grown + 4 * again) ** 0.5) / 2


def gathering(thinking: Number) -> Number:
    """Factor by which runs of decode steps are longer where users think for several steps [1].

    Of those whose answers end meanwhile a think once it goes on for long; the first one to ask ends
    it, and the others ask while the long step that follows lasts. So it goes on 1 + a/(a + 1) +
    a^2/((a + 1)(a + 2)) + ... times as long, which is 1 for small a and √(πa/2) + 1/3 for large.

    Args:
        thinking: a [request].

    Source: notebooks/serving.md, section A steady state.
    """
    return 1 / 3 + np.sqrt(4 / 9 + RIGHT_ANGLE * thinking)


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


@dataclass(frozen=True, eq=False)
class _PrefillPool:
    """Replicas that prefill [1]; a prompt's time of one, what it makes a chunk longer, and what it
    takes at least [s]."""

    replicas: Number
    service: Number
    growth: Number
    least: Number


def _prefill_pool(q: Inputs, p: Prompts, s: Pieces, c: Number, prefill: Step, burst: Step,
                  ratio: Number) -> _PrefillPool:
    stages = q.pipeline_parallel
    service = prefill.step_time * p.prompt_chunks / stages
    return _PrefillPool(
        pool_replicas(q, ratio), service, minimum(service, p.new_tokens / stages * s.token),
        minimum(service, per(packed_time(q, p, c, burst), stages)))


def _shared_pool_wait(q: Inputs, p: Prompts, a: _PrefillPool, u: Number, base: Number) -> Number:
    """Mean wait for a prefill replica, whose chunks prompts share where there is room [s].

    Prompts are dealt to r replicas in turn, so that they come more regularly than at random.

    Source: notebooks/serving.md, section A steady state.
    """
    sharing = maximum(0, 1 - p.new_tokens / q.max_num_batched_tokens)
    rate = u / a.replicas
    load = rate * a.service
    gap = base - load + sharing * rate * (a.service - a.growth)
    twice = load * a.service * base / (base + load * sharing) * (
        1 / a.replicas + q.prompt_variation**2)
    return twice / (gap + (gap * gap + 2 * twice) ** 0.5)


def _lighter(q: Inputs, c: Number, u: Number, decode: Step, accepted: Number) -> Number:
    """Time saved per token with only u others decoding on each rank [s].

    A decode step is known with the fullest batch on every rank. The core takes its part by
    request; experts, the host's as well, beside their fixed time as many as are hit, whose number
    grows less than the tokens do. Nothing falls away of what is hidden, or of what the host's
    launches take longer.

    Source: notebooks/serving.md, section A steady state.
    """
    batch, ranks = ceil_div(c, q.pipeline_parallel), ranks_in_step(q)
    cores = plus(decode.core_time, decode.index_time) * (1 - minimum(1, (1 + u) / batch))
    missed = 1 - minimum(1, (1 / ranks + u) / batch) ** _growing(q, decode)
    experts, on_host = (scaled(time, missed) for time in (
        decode.routed_expert_time - expert_fixed_time(q),
        decode.offload_time + decode.fetch_time))
    fewer = Busy(cores + experts, 0.0, on_host, 0.0, experts) * q.micro_batches
    lighter = minimum(removed_time(q, decode, fewer),
                      maximum(0, decode.device_time - decode.host_time))
    return per(lighter, accepted)


@once
def _growing(q: Inputs, decode: Step) -> Number:
    """By what share the distinct experts of a decode step grow with its tokens [1]."""
    hit = hit_share(q, decode)
    return (hit - 1) * np.log1p(-hit) / hit


def steady_pace(q: Inputs, requests_per_rank: Number, decode: Step) -> Number:
    """Time per token of decode steps that hold all requests in flight, and no prompt [s].

    No token of a pool that serves both takes less.

    Args:
        q: input symbols as attributes.
        requests_per_rank: requests in flight on the fullest data-parallel rank [request].
        decode: the decode step with as many on every rank.

    Source: notebooks/serving.md, section A steady state.
    """
    _, accepted, pace = token_pace(q, decode)
    others = maximum(0, q.concurrency - 1) / (q.data_parallel * q.pipeline_parallel)
    return pace - _lighter(q, requests_per_rank, others, decode, accepted)


def _pace_of(q: Inputs, c: Number, decode: Step, decoding: Number, lighter: Number
             ) -> tuple[Number, Number, Number]:
    """Decode steps of all in flight, stalls by prompts, time per token [s]; see ``Steady``."""
    apart, after = q.separate_pools > 0, q.output_tokens - 1
    steps = steady_pace(q, c, decode)
    stall = either((after > 0) & ~apart, lambda: maximum(
        0, decoding / maximum(1, after) - lighter - steps), lambda: 0.0)
    return steps, stall, either(apart, lambda: token_pace(q, decode)[2] - lighter,
                                lambda: plus(steps, stall))


def _at_random(q: Inputs, away: Number, apart: Number) -> Number:
    """Share of prompts that come at random: whose users are away longer than so long [s]."""
    return either(q.open_arrivals > 0, lambda: 1.0, lambda: minimum(1, away / apart))


def _random_shares(q: Inputs, s: Pieces, r: Rates, k: Chunks, pace: Number, away: Number
                   ) -> tuple[Number, Number]:
    """Shares of prompts that come at random, and that meet others at random; see ``Steady``."""
    mixing = _at_random(q, away, pace + k.steady_prefill)
    return mixing, either((s.ranks > 1) & (r.hold_steps <= 0), lambda: _at_random(
        q, away, pace + k.busy_step * np.exp(-s.ranks * r.prompts_per_step)), lambda: mixing)


def _thought(q: Inputs, away: Number, apart: Number) -> Number:
    """The part of it that is due to thinking: what a front end takes is the same for everybody."""
    thinking = either(q.think_time > 0, lambda: q.think_time / maximum(apart, away),
                      lambda: 0.0)
    return select(q.open_arrivals > 0, 1, thinking)


def _short(q: Inputs, k: Chunks, a: _PrefillPool, others: Number, loading: Number, stay: Number
           ) -> Number:
    """How much longer a request stays because prompts, loads from host memory or front ends are the
    bottleneck [s]: the time that they need for all requests in flight, less the stay so far.

    Chunks of one's own prompt are in all stages of a pipeline at once, and so are its loads, each
    through its card's link.
    """
    apart = q.separate_pools > 0
    per_prompt = either(apart, lambda: a.least / a.replicas, lambda: k.least_work)
    own = select(apart, 1, 1 / q.pipeline_parallel)
    needed = maximum(q.concurrency / front_ends_rate(q), (own + others) * per_prompt)
    if not is_absent(loading):
        needed = maximum(needed, q.concurrency / q.data_parallel * loading)
    return maximum(0, needed - stay)


def _sent(q: Inputs, first: Number, tpot: Number, accepted: Number
          ) -> tuple[Number, Number, Number]:
    """First token, time per token and time per piece, as pieces reach the client [s]."""
    delay, later = first_held(q, tpot), maximum(1, q.output_tokens - 1)
    seen = either(delay > 0, lambda: tpot - delay / later, lambda: tpot)
    return plus(first, delay), seen, scaled(seen, clip(accepted, q.stream_interval, later))


def _little(q: Inputs, others: Number, waiting: Number, inside: Number
            ) -> tuple[Number, Number, Number]:
    """Rates of others and of all, and the wait for a place in the cache, by Little's law.

    Args:
        q: input symbols as attributes.
        others: with a place in the cache, beside one request [request].
        waiting: requests that wait for one [request].
        inside: time for which a request has its place [s].

    Source: notebooks/serving.md, section A steady state.
    """
    among = others / inside
    # who comes from elsewhere is one of them only where all places are taken
    asking = either((q.open_arrivals > 0) & (waiting <= 0), lambda: 0.0,
                    lambda: 1 / plus(inside, q.think_time))
    rate = plus(among, asking)
    place_wait = either(waiting > 0, lambda: waiting / select(waiting > 0, rate, 1), lambda: 0.0)
    return among, rate, place_wait


def steady(q: Inputs, p: Prompts, requests_per_rank: Number, waiting: Number, decode: Step,
           prefill: Step, burst: Step, transfer: Number, pool_ratio: Number, loaded: Loads
           ) -> Steady:
    """Steady state of a request among others that come and go at other times.

    Args:
        q: input symbols as attributes; ``concurrency`` are those with a place in the cache.
        p: how prompts are cut.
        requests_per_rank: requests in flight on the fullest data-parallel rank [request].
        waiting: requests that wait for a place, as long as those before them take to leave.
        decode, prefill, burst: the decode step, the mean chunk of a prompt alone, and a full one.
        transfer: of a request's cache to the decode pool [s].
        pool_ratio: prefill replicas per decode replica [1].
        loaded: caches from host memory, and how long a request is outside the steps [s].

    Source: notebooks/serving.md, section A steady state.
    """
    apart, c, after = q.separate_pools > 0, requests_per_rank, q.output_tokens - 1
    (draft, accepted, token), ranks = token_pace(q, decode), ranks_in_step(q)
    pace, total = plus(decode.step_time, draft), maximum(0, q.concurrency - 1)
    units, h = q.data_parallel * q.pipeline_parallel / ranks, loaded.admission_time
    through, away = h + prefill_time(q, p, prefill), q.think_time + h
    shorter = shorter_of_two(through, maximum(1, after) * token,
                             (q.prompt_variation, q.answer_variation))
    beside = others_in_turn(total, units, shorter)
    others = select(apart, total, beside)
    u = per(beside, ranks)  # on the same rank
    s = pieces(q, p, c, u, decode, prefill, burst)
    span, work = p.new_tokens / s.room, scaled(s.chunk, p.prompt_chunks)
    riding = either(s.mixed, lambda: plus(
        scaled(u, 1 + q.draft_tokens) * s.token, s.riding), lambda: 0.0)
    r = rates_of(q, p, s, u, span, _at_random(q, away, pace + work), _thought(q, away, pace + work))
    k = chunks_of(q, p, s, r, c, span, decode, burst, riding, pace)
    t = _stay(q, s, r, k, u, pace, minimum(1, others), h, span)
    mixing, meeting = _random_shares(q, s, r, k, pace, away)
    a, sent = _prefill_pool(q, p, s, c, prefill, burst, pool_ratio), through + transfer
    pool = _shared_pool_wait(q, p, a, others, sent + after * token)
    queue = either(apart, lambda: pool, lambda: (
        (1 - mixing) * t.return_wait + mixing * t.random_wait))
    decoding = either(apart, lambda: after * token, lambda: (
        (1 - meeting) * t.returned_decode + meeting * t.random_decode))
    first = queue + either(apart, lambda: sent, lambda: h + k.steady_prefill)
    lighter = _lighter(q, c, u * decoding / (first + decoding), decode, accepted)
    steps, stall, tpot = _pace_of(q, c, decode, decoding, lighter)
    short = _short(q, k, a, select(apart, total, per(total, units)), loaded.cache_load_time,
                   first + after * tpot)
    ttft, tpot, gap = _sent(q, first + short, tpot, accepted)
    inside = ttft + after * tpot
    among, rate, place_wait = _little(q, total, waiting, inside)
    return Steady(
        **vars(r), **vars(k), **vars(t), shorter_stay=shorter, replica_others=beside,
        steady_others=others, return_time=away, exposed_prompts=s.exposed,
        alone_share=s.alone / prefill.step_time, prompt_work=per(work, q.pipeline_parallel),
        prompt_growth=s.token * p.new_tokens, prompt_span=span, riding_cores=s.riding,
        riding_time=maximum(0, riding - s.waiting), random_share=mixing, meeting_share=meeting,
        steady_decode=decoding, pool_wait=pool, lighter_step=lighter, steady_pace=steps,
        place_wait=place_wait, steady_queue=queue + plus(short, place_wait), steady_stall=stall,
        steady_ttft=plus(ttft, place_wait), steady_tpot=tpot, steady_e2e=plus(inside, place_wait),
        steady_users=1 + total + plus(among * q.think_time, waiting), stream_gap=gap,
        others_rate=among, steady_request_throughput=rate, steady_throughput=rate * q.output_tokens)
