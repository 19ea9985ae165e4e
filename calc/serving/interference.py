"""Interference of prefill with decode: chunks of prompts in decode steps (chunked prefill).

How often the steps of a steady state have prompts, how many, and how long they take.

A rank on which u others decode answers of n steps gets u/n prompts a step, whatever the steps
take; a step takes as long as its fullest rank and the experts of all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

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
from calc.physics.experts import normal_quantile, ranks_in_step
from calc.physics.kv_cache import most_picked
from calc.physics.operators import dense_bandwidth, expert_fixed_time, tokens_per_step
from calc.physics.step import Busy, Step, added_time, cores_in, removed_time
from calc.serving.burst import Prompts

LEAST = 8.0**-9  # of a rate or of a share, where it divides
FEW = 8.0**-4  # prompts, of which two never meet
HARMONIC = 4.93475  # π^2/2, to five digits: variances damp by it what repeats once a chunk
EULER = 0.57722  # of harmonic numbers, to five digits
MANY = 8.0**2  # prompts whose number hardly varies
ROOM = 1 / 8  # of a step that prompts find at least


def soft_minimum(count: Number, power: Number) -> Number:
    """About min(1, count), lower where counts vary: (1 - e^(-count^power))^(1/power) [1].

    Of a Poisson number of prompts and one rank (power 1) it is the probability of any.

    Args:
        count: expected prompts [1].
        power: square root of the ranks that take a step together [1].

    Source: notebooks/serving.md, section A steady state.
    """
    of_any = maximum(count, 0)
    of_power = of_any ** power
    return select(of_power < FEW, of_any, (-np.expm1(-of_power)) ** (1 / power))


def largest_of(number: Number, variance: Number) -> Number:
    """The largest of so many log-normal loads of mean 1 and this variance, about [1].

    It lies where all of them stay below as probably as one of them stays below its mean.

    Args:
        number: of the loads [1].
        variance: of one load, relative to the square of its mean [1].

    Source: notebooks/serving.md, section A steady state.
    """
    if not anywhere(variance > 0):
        return 1.0
    spread = np.log1p(variance)
    deviation = spread**0.5
    one = normal_tail(deviation / 2)
    exceeded = normal_quantile(-np.expm1(np.log1p(-one) / maximum(1, number)))
    return maximum(1, np.exp(deviation * exceeded - spread / 2))


@dataclass(frozen=True, eq=False)
class Pieces:
    """Pieces that a step with prompts is made of.

    Attributes:
        mixed: whether it holds requests that decode as well.
        ranks: that take it together [1].
        units: of such ranks, each stage of a pipeline by itself [1].
        alone: a prompt's chunk on one rank, of card and links [s].
        full: the chunks of a burst, on every rank, likewise [s].
        token: of the fullest rank's chunk [s/token].
        exposed: of what the chunks of all ranks add to that of one, the share that nothing hides,
            without which follow [1]:
        experts: that they take more for the chunks of all ranks than for one [s].
        exchange, sent: the exchange for chunks of all ranks, and for one [s].
        host, uncaptured: what its launches take at least, and where it is not captured [s].
        captured: tokens of a chunk that is, at most [token].
        around: what comes besides either, before and after [s].
        room: of a rank's step for prompts [token].
        core, index: of a prompt's chunk, what grows with its context: the attention core, and the
            choice of positions [s].
        riding: cores of the requests that decode along, less what of them is hidden [s].
        after: decode steps of an answer after its first token [1].
    """

    mixed: Number
    ranks: Number
    units: Number
    alone: Number
    full: Number
    token: Number
    exposed: Number
    experts: Number
    exchange: Number
    sent: Number
    host: Number
    uncaptured: Number
    captured: Number
    around: Number
    room: Number
    core: Number
    index: Number
    riding: Number
    after: Number

    @property
    def later(self) -> Number:
        """Decode steps of an answer after its first token, at least one [1]."""
        return maximum(1, self.after)

    @property
    def chunk(self) -> Number:
        """A prompt's chunk on one rank, with its launches and what is around it [s]."""
        return maximum(self.host, self.alone) + self.around

    @property
    def waiting(self) -> Number:
        """Time in which the card waits for the launches of such a chunk [s]."""
        return maximum(0, self.host - self.alone)


def mean_chunks(q: Inputs, p: Prompts, span: Number) -> Number:
    """Chunks of a prompt on average [1], whose mean length fills so many.

    Where lengths vary, the last chunk ends anywhere: half a chunk more than the mean fills. The
    first harmonic of what is left of the whole numbers is damped by the spread of the lengths.

    Args:
        q: input symbols as attributes.
        p: how prompts are cut.
        span: chunks that the mean prompt fills [1].

    Source: notebooks/serving.md, section A steady state.
    """
    count = maximum(p.prompt_chunks, span)

    def varied() -> Number:
        between = span + 1 / 2
        left = np.exp(-HARMONIC * (2 * span * q.prompt_variation) ** 2)
        return maximum(maximum(1, span), between + (count - between) * left)

    return either(q.prompt_variation > 0, varied, lambda: count)


@once
def hit_share(q: Inputs, step: Step) -> Number:
    """Share of the experts that a step hits [1], neither none nor all of them.

    Args:
        q: input symbols as attributes.
        step: with its distinct experts.

    Source: notebooks/serving.md, section A steady state.
    """
    return clip(step.distinct_experts / maximum(1, q.n_routed_experts), LEAST, 1 - LEAST)


def experts_of_one(q: Inputs, ranks: Number, riding: Number, decode: Step, prefill: Step) -> Number:
    """Time of experts for the chunk of one rank of several and requests that decode along [s].

    Beside the fixed time its share of the tokens of all, or what reading takes: of as many experts
    as are hit. Where the chunks of g ranks hit a share h, one of them hits 1 - (1 - h)^(1/g). An
    expert is read in what it takes of a decode step, or of the chunks of all ranks, if that is
    less.

    Args:
        q: input symbols as attributes.
        ranks: g [1].
        riding: requests of a rank that decode along, over those of the decode step [1].
        decode, prefill: the decode step, and a prompt's chunk on every rank.

    Source: notebooks/serving.md, section A steady state.
    """
    of_prompts, of_decode = hit_share(q, prefill), hit_share(q, decode)
    hit = 1 - np.exp(np.log1p(-of_prompts) / ranks + riding * np.log1p(-of_decode))
    fixed = expert_fixed_time(q)
    of_all, of_few = (step.routed_expert_time - fixed for step in (prefill, decode))
    read = hit * minimum(of_all / of_prompts, of_few / of_decode)
    return fixed + minimum(of_all, maximum(of_all / ranks, read))


def _busy_of_others(q: Inputs, step: Step, fullest: Number, routed: Number) -> Busy:
    """Extra busy time of card and links in a step because the other ranks have prompts too [s].

    Args:
        q: input symbols as attributes.
        step: a chunk of prompts on every rank.
        fullest: what the fullest rank receives over what each sends [1].
        routed: of the experts of a micro-batch [s].
    """
    rows = step.routed_row_bytes / dense_bandwidth(q) * (1 - 1 / ranks_in_step(q))
    received = 1 - 1 / fullest
    exchange, dispatch = step.exchange_time * received, step.dispatch_time * received
    return Busy(own=routed + rows, links=exchange, routed=routed, exchange=exchange,
                dispatch=dispatch) * q.micro_batches


def _of_others(q: Inputs, step: Step, fullest: Number, routed: Number) -> tuple[Number, Number]:
    """Extra card time because the other ranks have prompts too [s], and the share of it and of the
    exchange that is not overlapped [1]; arguments as for :func:`_busy_of_others`."""
    more = _busy_of_others(q, step, fullest, routed)
    little = FEW * step.device_time
    share = removed_time(q, step, more) / maximum(little, more.exposed)
    shown = maximum(0, share - LEAST) / (1 - LEAST)  # 0 where all is hidden but for rounding
    return more.own, select(more.exposed > little, shown, 1)


def pieces(q: Inputs, p: Prompts, c: Number, u: Number, decode: Step, prefill: Step,
           burst: Step) -> Pieces:
    """Compute the pieces [s] that a step with prompts is made of, see :class:`Pieces`.

    What a token adds is known from the largest chunk and the decode step, a chunk of few tokens;
    where that has hardly fewer, from half of the chunk. Requests that decode along bring their
    cores, of which there are as many as of the decode step on their stage.

    Args:
        q: input symbols as attributes.
        p: how prompts are cut.
        c: requests in flight on the fullest data-parallel rank [request].
        u: other requests that decode on the same rank [request].
        decode, prefill, burst: the decode step, the mean chunk of a prompt alone, and a full one.

    Source: notebooks/serving.md, section A steady state.
    """
    ranks, mixed = ranks_in_step(q), (q.mixed_steps > 0) & (q.separate_pools == 0)
    shared, halves, batch = ranks > 1, q.micro_batches, ceil_div(c, q.pipeline_parallel)
    exchange = scaled(prefill.exchange_time, halves)
    fullest = minimum(ranks, 1 + prefill.rank_imbalance)  # no more than all ranks send
    more, exposed = either(shared, lambda: _of_others(q, prefill, fullest, (
        prefill.routed_expert_time - experts_of_one(
            q, ranks, minimum(1, u / batch), decode, prefill))), lambda: (0.0, 1.0))
    alone = either(shared, lambda: maximum(
        prefill.device_time / ranks, prefill.device_time - exposed * (
            more + exchange * (1 - 1 / fullest))), lambda: prefill.device_time)
    of_one = either(shared, lambda: burst.device_time - removed_time(
        q, burst, _busy_of_others(q, burst, fullest, (
            burst.routed_expert_time - expert_fixed_time(q)) * (1 - 1 / ranks))),
        lambda: burst.device_time)
    cores = cores_in(q, decode)
    few = decode.device_time - removed_time(q, decode, cores)
    per_request = 1 + q.draft_tokens  # tokens of a request that decodes
    tokens = p.burst_tokens - scaled(batch, per_request)
    token = maximum(0, minimum(
        (of_one - few) / maximum(p.burst_tokens / 2, tokens), alone / p.prefill_tokens))
    budget, in_step = q.max_num_batched_tokens, tokens_per_step(
        q.mtp_acceptance, q.acceptance_decay, q.draft_tokens, q.accepted_length)
    room = either(mixed, lambda: maximum(budget - scaled(u, per_request), ROOM * budget),
                  lambda: budget)
    return Pieces(mixed, ranks, q.data_parallel * q.pipeline_parallel / ranks, alone,
                  burst.device_time, token,
                  exposed, exposed * more, exposed * exchange, exposed * exchange / fullest,
                  prefill.host_time, maximum(prefill.host_time, burst.host_time),
                  q.prompt_graph_tokens,
                  prefill.step_time - maximum(prefill.device_time, prefill.host_time), room,
                  scaled(prefill.core_time, halves), scaled(prefill.index_time, halves),
                  either(mixed, lambda: added_time(q, prefill, cores * (u / batch)), lambda: 0.0),
                  per(q.output_tokens - 1, in_step))


def deepest(q: Inputs, p: Prompts, s: Pieces, span: Number, number: Number) -> Number:
    """Extra time of the chunk with the longest context among several over the mean chunk [s].

    A chunk is anywhere in a prompt of any length, behind what is cached of it: of a prompt as long
    as x, whose share h is cached, it sees x (h + (1 - h) U), U uniform. No part of a prompt is
    further than its end. Chosen positions are no more than the model chooses.

    Args:
        q: input symbols as attributes.
        p: how prompts are cut.
        s: what a chunk is made of.
        span: chunks that a prompt fills [1].
        number: chunks [1].

    Source: notebooks/serving.md, section A steady state.
    """
    hit, varies = q.prefix_hit_share, q.prompt_variation**2
    square = (1 + varies) * 4 * (1 + hit + hit * hit) / (3 * (1 + hit) ** 2)
    longest = minimum(largest_of(number, (square - 1) * (1 - 1 / maximum(1, span) ** 2)),
                         2 / (1 + hit) * largest_of(number, varies))
    chosen = either(q.index_topk > 0, lambda: minimum(
        longest, maximum(1, most_picked(q) / p.prefill_attended)), lambda: longest)
    in_core = s.core * (chosen - 1)
    return in_core if is_absent(s.index) else in_core + s.index * (longest - 1)


def busy_time(s: Pieces, p: Prompts, fullest: Number, tokens: Number, riding: Number,
              deeper: Number = 0) -> Number:
    """Time of a step whose fullest rank, and whose ranks together, have so many prompt tokens [s].

    Args:
        s: pieces of a step with prompts.
        p: how prompts are cut.
        fullest: prompt tokens of the fullest rank [token].
        tokens: prompt tokens of all ranks [token].
        riding: what the card takes for tokens and cores of requests that decode along [s].
        deeper: what the longest context of its chunks takes more than a mean one [s].

    Source: notebooks/serving.md, section A steady state.
    """
    def of_others() -> Number:
        one = 1 / s.ranks
        filled = clip(tokens / (s.ranks * fullest), one, 1)
        of_all = s.experts * ((filled - one) / maximum(ROOM, 1 - one))
        return of_all + maximum(0, s.exchange * filled - s.sent)

    more = either(s.ranks > 1, of_others, lambda: 0.0)
    times = fullest / p.prefill_tokens
    device = s.alone + s.token * (fullest - p.prefill_tokens)
    if not is_absent(more):
        device = device + times * more
    # as many on every rank take no longer: a chunk of a burst is one of them
    device = plus(minimum(device, s.full * maximum(1, fullest / p.burst_tokens)), riding)
    if not is_absent(deeper):
        device = device + times * deeper
    host = either(s.captured > 0, lambda: select(fullest > s.captured, s.uncaptured, s.host),
                  lambda: s.host)
    return maximum(host, device) + s.around


@dataclass(frozen=True, eq=False)
class Rates:
    """How often steps have prompts: prompts in a step, shares of the steps, and steps [1].

    Attributes:
        queue_steps, random_queue: that a prompt waits for those before it on its rank, after an
            answer and where it comes at random.
    """

    mean_chunks: Number
    queue_filled: Number
    chunks_between: Number
    unheld_prompts: Number
    coming_prompts: Number
    released_prompts: Number
    prompts_per_step: Number
    rank_busy: Number
    hold_steps: Number
    hold_wait: Number
    releases: Number
    group_busy: Number
    queue_steps: Number
    random_queue: Number


def idle_steps(arrivals: Number) -> Number:
    """Steps without a prompt before one with any: 1 / (e^a - 1) of a Poisson number a [1].

    Args:
        arrivals: prompts expected in a step [1].

    Source: notebooks/serving.md, section A steady state.
    """
    return np.exp(-arrivals) / -np.expm1(-arrivals)


def harmonic(count: Number) -> Number:
    """1 + 1/2 + ... + 1/n of at least one [1], to 1%: Euler and Maclaurin's sum.

    Args:
        count: n [1].

    Source: notebooks/serving.md, section A steady state.
    """
    return np.log(count) + EULER + 1 / (2 * count) - 1 / (12 * count * count)


def _held_steps(q: Inputs, p: Prompts, s: Pieces, u: Number, arrivals: Number, often: Number
          ) -> tuple[Number, Number]:
    """Steps for which ranks hold prompts back, and for which one of them waits [1].

    Until every rank has one: requests are dealt to ranks in turn, so that after the step in which
    the first comes, and others with it, those of the ranks without one are missing, of which the
    last waits no more. Sent to the least loaded rank instead, which may be any of g, it takes
    g (1 + 1/2 + ... + 1/g) requests until all have one. A replica by itself may hold them back
    until they have enough tokens. The wait ends at the engine's limit, or once no request decodes:
    with random arrivals there may be none.

    Args:
        q: input symbols as attributes.
        p: how prompts are cut.
        s: pieces of a step with prompts.
        u: other requests that decode on the same rank [request].
        arrivals: prompts for all ranks in a step in which they come [1].
        often: share of the prompts that come as at random [1].

    Source: notebooks/serving.md, section A steady state.
    """
    waiting = (q.prefill_delay_steps > 0) & ((s.ranks > 1) | (q.awaited_tokens > p.new_tokens))
    if not anywhere(waiting):
        return 0.0, 0.0
    # the rank with the fewest is the one whose answer is over, any of them
    prompts = maximum(s.ranks * (1 + scaled(q.least_loaded, harmonic(s.ranks) - 1)),
                      q.awaited_tokens / p.new_tokens)
    others, decoding = maximum(1, prompts - 1), s.ranks * u
    # of a Poisson number a step: g come in g/a steps, to the end of the last one half a step more
    until_all = maximum(LEAST, prompts / arrivals - 1 / 2 - idle_steps(arrivals))
    anybody = (1 - often) * minimum(1, decoding) + often * soft_minimum(decoding, 1)
    last = s.later * (1 + q.answer_variation**2) / 2
    most = minimum(q.prefill_delay_steps, last * maximum(1, decoding))
    power = minimum(others, MANY)**0.5
    steps = select(waiting, anybody * until_all * soft_minimum(most / until_all, power), 0)
    later = (others - 1) / (2 * others)
    return steps, steps * (1 + arrivals * steps * later) / (1 + arrivals * steps)


def _released(q: Inputs, p: Prompts, s: Pieces, hold: Number, arrivals: Number, chunks: Number,
              span: Number) -> tuple[Number, Number, Number, Number]:
    """Shares and rates of prompts that ranks held back, which begin together.

    From one release to the next pass the steps until a prompt comes, the hold, and a step; prompts
    of several chunks are worked on meanwhile, the longest of them last. Where prompts go first,
    none comes while others are worked on.

    Args:
        q: input symbols as attributes.
        p: how prompts are cut.
        s: pieces of a step with prompts.
        hold: steps for which ranks hold prompts back [1].
        arrivals: prompts for all ranks in a step in which they come [1].
        chunks, span: of a prompt, and full ones that it fills [1].

    Returns shares of the steps with prompts on a rank, and on any of the group, prompts in a step
    on each rank, and releases in a step [1].

    Source: notebooks/serving.md, section A steady state.
    """
    coming = idle_steps(arrivals) + hold + 1
    long = span * largest_of(minimum(s.ranks, 1 + arrivals * hold), q.prompt_variation**2)
    longest = maximum(chunks, mean_chunks(q, p, long))
    cycle = select(s.mixed, maximum(chunks, coming), coming + longest)
    per_rank = arrivals / s.ranks
    least = per_rank * span  # of a step, that of all prompts in full chunks
    group = minimum(1, maximum(longest / cycle, select(s.mixed, least, least / (1 + least))))
    prompts = per_rank * select(s.mixed, 1, minimum(coming / cycle, 1 / (1 + least)))  # 1 - group
    together = per_rank * select(s.mixed, cycle, coming)
    rank = minimum(group, maximum(prompts * span, chunks / cycle * minimum(1, together)))
    return rank, group, prompts, 1 / cycle


def _busy_joined(s: Pieces, rank: Number, come: Number, looks: Number) -> Number:
    """Share of the steps with prompts on any rank of a group [1], each of which begins at once.

    Args:
        s: pieces of a step with prompts.
        rank: share of the steps with prompts on one rank [1].
        come: chunks of prompts in a step on each rank [1].
        looks: steps from one look for requests to the next [1].

    Source: notebooks/serving.md, section A steady state.
    """
    others = either(s.ranks > 1, lambda: per(np.expm1((1 - s.ranks) * looks * come), looks),
                    lambda: 0.0)
    return 1 - scaled(1 - rank, 1 + others)


def _queues(s: Pieces, filled: Number, longer: Number, span: Number, rate: Number
            ) -> tuple[Number, Number]:
    """Steps that a prompt waits for those before it on its rank, after an answer and at random [1].

    Args:
        s: pieces of a step with prompts.
        filled: of the room for chunks [1].
        longer: mean square of the length of prompts over the square of its mean [1].
        span: chunks that the mean prompt fills [1].
        rate: prompts in a decode step on each rank [1].

    Source: notebooks/serving.md, section A steady state.
    """
    ahead = filled * (longer * span / 2) / maximum(LEAST, 1 - filled)
    rest = filled * (minimum(1, span) / 2)
    queued = either(
        s.mixed, lambda: maximum(0, ahead - rest * clip(2 - span, 0, 1)),
        lambda: rate * span / 2 * clip(span - 1, 0, 1))
    return queued, maximum(0, ahead - rest)


def rates_of(q: Inputs, p: Prompts, s: Pieces, u: Number, span: Number, often: Number,
             thought: Number) -> Rates:
    """Compute how often steps have prompts [1], among other requests that decode on each rank.

    A share of the prompts comes as often as at random, some of it because users think. An engine
    that looks for requests every so many decode steps finds those of all of them together.

    With mixed steps a queue with room for a chunk in each step, whose population is the others;
    where prompts go first, as many as end in the decode steps between. Prompts that come at random
    come in those of others as well: of N such steps for a decode step, in which e prompts come,
    none comes in one of 1 + N, e^(-e/(1 + N)), so that N = e^W(e) - 1, W Lambert's.

    Args:
        q: input symbols as attributes.
        p: how prompts are cut.
        s: pieces of a step with prompts.
        u: other requests that decode on the same rank [request].
        span: chunks that the mean prompt fills [1].
        often: share of the prompts that come as at random [1].
        thought: part of that share which is due to thinking [1].

    Source: notebooks/serving.md, section A steady state.
    """
    later, longer = s.later, 1 + q.prompt_variation**2
    chunks, power, looks = mean_chunks(q, p, span), s.ranks**0.5, q.scheduler_recv_interval
    full = (later + chunks) / span
    filled = 2 * u / (full + u + ((full - u) ** 2 + 2 * longer * u) ** 0.5)
    rate = u / later
    alone = select(s.ranks > 1, 0, thought)
    come = scaled(rate, looks)  # until the engine looks for them
    about = soft_minimum(come, power)
    between = maximum(rate * span, per(chunks, looks) * either(
        alone > 0, lambda: (1 - alone) * about + alone * select(
            come < FEW, come, np.expm1(product_log(come))),
        lambda: about))
    unheld = either(s.mixed, lambda: filled / span, lambda: rate / (1 + between))
    # held prompts take so many steps more until they come again
    coming = maximum(LEAST, s.ranks * select(s.mixed, unheld, rate))
    _, waited = _held_steps(q, p, s, u, coming, often)
    missed = (looks - 1) / 2 + q.steps_ahead
    seldom = (later + chunks) / (later + chunks + waited + missed)
    arrivals, prompts = coming * seldom, unheld * seldom
    pieces_come, spanned = prompts * chunks, prompts * span
    rank = either(s.mixed, lambda: minimum(1, maximum(
        spanned, per(soft_minimum(scaled(pieces_come, looks), power), looks))),
        lambda: between / (1 + between))
    hold, waits = _held_steps(q, p, s, u, arrivals, often)
    busy, group, prompts, releases = either(
        hold > 0, lambda: _released(q, p, s, hold, arrivals, chunks, span),
        lambda: (rank, _busy_joined(s, rank, pieces_come, looks), prompts, 1.0))
    return Rates(chunks, filled, between, unheld, coming, arrivals, prompts, busy, hold, waits,
                 releases, group, *_queues(s, filled, longer, span, rate))


@dataclass(frozen=True, eq=False)
class Chunks:
    """Tokens of chunks with prompts, the fullest and one's own [token], and times of steps [s]."""

    fullest_chunk: Number
    deeper_chunk: Number
    busy_step: Number
    own_chunk_tokens: Number
    own_chunk: Number
    least_work: Number
    steady_prefill: Number


@once
def packed_time(q: Inputs, p: Prompts, c: Number, burst: Step) -> Number:
    """Time of a chunk that a prompt takes where as many share it as a rank has in flight [s].

    The known chunk lacks the first request's prompt, unless it is full without, or one of several.

    Args:
        q: input symbols as attributes.
        p: how prompts are packed.
        c: requests in flight of the fullest data-parallel rank [request].
        burst: the chunk of all but the first of them.

    Source: notebooks/serving.md, section A steady state.
    """
    share = select(p.burst_chunks > 1, 1, maximum(
        (c - 1) / c, p.burst_tokens / q.max_num_batched_tokens))
    return share * burst.step_time * (p.new_tokens / p.burst_tokens)


def chunks_of(q: Inputs, p: Prompts, s: Pieces, r: Rates, c: Number, span: Number, decode: Step,
              burst: Step, riding: Number, pace: Number) -> Chunks:
    """Compute the times of steps with prompts [s]: of others, with one's own chunk, and full ones.

    What the fullest of n chunks lacks to the budget is the least of n parts, about an n-th of one.

    Args:
        q: input symbols as attributes.
        p: how prompts are cut.
        s: pieces of a step with prompts.
        r: how often steps have prompts.
        c: requests in flight on the fullest data-parallel rank [request].
        span: chunks that the mean prompt fills [1].
        decode, burst: the decode step, and a full chunk.
        riding: what the card takes for tokens and cores of requests that decode along [s].
        pace: of decode steps without prompts, drafting included [s].

    Source: notebooks/serving.md, section A steady state.
    """
    budget, new = q.max_num_batched_tokens, p.new_tokens
    prompts, in_group = r.prompts_per_step, maximum(LEAST, r.group_busy)
    come, any_come = new * prompts, prompts > LEAST
    on_rank = prompts / maximum(LEAST, r.rank_busy)
    fresh = minimum(budget, select(any_come, new * on_rank, p.prefill_tokens))
    on_rank = maximum(1, on_rank)
    busy_ranks = maximum(1, s.ranks * r.rank_busy / in_group)
    varied = either(q.prompt_variation > 0, lambda: largest_of(
        busy_ranks, q.prompt_variation**2 / on_rank), lambda: 1.0)
    fullest = minimum(budget - (budget - fresh) / busy_ranks, scaled(fresh, varied))
    of_all = scaled(come, s.ranks)
    everywhere = of_all / in_group
    deeper = deepest(q, p, s, span, busy_ranks)
    # other ranks decode meanwhile, and their drafts are checked at once; where prompts go first, a
    # rank by itself decodes nothing in such a step
    shortest = either(s.ranks > 1, lambda: pace, lambda: select(s.mixed, pace, 0))
    busy = maximum(shortest, busy_time(
        s, p, fullest, maximum(fullest, everywhere), riding, deeper))
    mean = new / r.mean_chunks
    joined = mean + clip((on_rank - 1) * mean + select(r.hold_steps > 0, 0, come), 0,
                         maximum(0, s.room - mean))
    own = minimum(budget, select(any_come, maximum(joined, fullest), joined))
    among = select(r.hold_steps > 0, everywhere, of_all)
    chunk = busy_time(s, p, own, mean + among, riding,
                      deepest(q, p, s, span, 1 + (s.ranks - 1) * r.rank_busy))
    stages = q.pipeline_parallel
    through = either(stages > 1, lambda: chunk * ((r.mean_chunks + stages - 1) / stages),
                     lambda: chunk * r.mean_chunks)
    delay = either(r.hold_wait > 0, lambda: r.hold_wait * pace, lambda: 0.0)
    least = per(maximum(packed_time(q, p, c, burst), span * busy_time(
        s, p, budget, s.ranks * budget, riding)), s.ranks)
    return Chunks(fullest, deeper, busy, own, chunk, least, plus(through, delay))
