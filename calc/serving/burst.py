"""What users of a deployment see: TTFT, TPOT, latency and throughput of a burst of requests.

A wave of ``concurrency`` equal requests arrives at once. On every replica the engine prefills the
first request alone, because it has arrived alone, packs the rest into chunks, then decodes all.
Times in seconds, rates per second. Quantities that plans are made with follow from a burst: ridge,
bubble, transfer, pools, waste, loading.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calc.physics.arrays import (
    Inputs,
    Number,
    anywhere,
    ceil_div,
    either,
    maximum,
    minimum,
    minus,
    once,
    per,
    plus,
    scaled,
    select,
)
from calc.physics.experts import EXPECTED_MAXIMUM, normal_quantile, ranks_in_step
from calc.physics.kv_cache import (
    Cache,
    few_cached,
    most_picked,
    multiplied_positions,
    prefill_absorbed,
    prefill_positions,
    unfused,
)
from calc.physics.memory import Memory, Weights
from calc.physics.operators import Decode, biased, mean_attended, mean_context, tokens_per_step
from calc.physics.parameters import Parameters
from calc.physics.step import Step
from calc.physics.work import Composition


@dataclass(frozen=True, eq=False)
class Prompts:
    """Prompts cut and packed on one replica: tokens [token] and chunks [1]."""

    cached_tokens: Number
    new_tokens: Number
    biased_cached_tokens: Number
    biased_new_tokens: Number
    prompt_chunks: Number
    prefill_tokens: Number
    prefill_context_tokens: Number
    prefill_attended: Number
    prefill_unfused: Number
    prefill_absorbed: Number
    prefill_multiplied: Number
    prefill_in_window: Number
    prefill_cached: Number
    burst_requests: Number
    burst_chunks: Number
    burst_tokens: Number


def prompts(q: Inputs, requests_per_rank: Number) -> Prompts:
    """Chunks of one prompt, and of the rest of a burst packed together.

    A prefix that is cached is not computed again; its tokens are attended to. A prompt of n new
    tokens takes ceil(n / T) chunks of equal length; the r other prompts of a burst take
    ceil(r n / T). Of prompts of many lengths a token is more often in a long one, and so is a chunk
    where a prompt has many.

    Args:
        q: input symbols as attributes.
        requests_per_rank: requests of the fullest data-parallel rank [request].

    Source: notebooks/serving.md, section A prompt in chunks.
    """
    cached = q.input_tokens * q.prefix_hit_share
    new = maximum(1, q.input_tokens - cached)
    chunks = ceil_div(new, q.max_num_batched_tokens)
    tokens = new / chunks
    prefix, fresh = (biased(mean, q.prompt_variation) for mean in (cached, new))
    # mean over the chunks of a prompt of what is in the cache before the chunk
    before = cached + (new - tokens) / 2 + (1 - 1 / chunks) * (
        prefix - cached + (fresh - new) / 2)
    rest = maximum(1, requests_per_rank - 1)
    burst_chunks = ceil_div(rest * new, q.max_num_batched_tokens)
    seen = mean_context(prefix, fresh)
    attended = mean_attended(most_picked(q), prefix, fresh)
    absorbed = prefill_absorbed(q, cached + new)
    return Prompts(
        cached, new, prefix, fresh, chunks, tokens, seen, attended, select(unfused(q), 1, 0),
        absorbed, multiplied_positions(
            q, attended, prefill_positions(q, prefix, fresh, tokens, seen), absorbed),
        mean_attended(q.sliding_window, prefix, fresh), before, rest, burst_chunks,
        rest * new / burst_chunks)


def _few_found(q: Inputs, p: Prompts) -> Number:
    """Share of the chunks of a prompt that find few tokens cached, but any, its own included [1].

    Source: notebooks/compute.md, section Short cached prefixes.
    """
    few = ceil_div(q.absorbed_prefix_tokens - p.cached_tokens, q.max_num_batched_tokens)
    return maximum(0, minimum(p.prompt_chunks, few) - (p.cached_tokens <= 0)) / p.prompt_chunks


def chunk(q: Inputs, p: Prompts, tokens: Number) -> Composition:
    """The mean chunk of ``tokens`` tokens, made of prompts or of their parts.

    Args:
        q: input symbols as attributes.
        p: how prompts are cut.
        tokens: of the chunk [token].

    Source: notebooks/serving.md, section A prompt in chunks.
    """
    cached = either(p.prefill_cached > 0, lambda: p.prefill_cached / p.prefill_tokens * tokens,
                    lambda: 0.0)
    absorbed = either((q.absorbed_prefix_tokens > 0) & (q.index_topk <= 0), lambda: maximum(
        p.prefill_absorbed, select(p.prompt_chunks > 1, _few_found(q, p), select(
            few_cached(q, cached) & (p.cached_tokens > 0), 1, 0))), lambda: p.prefill_absorbed)
    positions, passed = either(absorbed > 0, lambda: (
        absorbed * p.prefill_context_tokens * tokens, absorbed * cached), lambda: (0.0, 0.0))
    rows = minimum(p.new_tokens, tokens)  # of a prompt in the chunk
    missing = either(q.prefill_tile_rows > rows, lambda: tokens * (q.prefill_tile_rows / rows - 1),
                     lambda: 0.0)
    return Composition(
        tokens=tokens, logit_rows=tokens / p.new_tokens,
        attended=tokens * p.prefill_multiplied, in_window=tokens * p.prefill_in_window,
        indexed=positions, read=cached, read_in_window=cached, read_keys=passed,
        expanded=minus(cached, passed), absorbed=absorbed, decoding=False, core_missing=missing)


@once
def fullest_cache(q: Inputs, d: Decode) -> Number:
    """Cache of the fullest data-parallel rank over the mean [1].

    Requests at any moment of their answers; what was measured between prompts, if it is more.

    Args:
        q: input symbols as attributes.
        d: batch of decode.

    Source: notebooks/compute.md, section What a step is made of.
    """
    apart = d.context_deviation / (d.decode_context_tokens * d.decode_batch ** 0.5)
    of_largest = normal_quantile(EXPECTED_MAXIMUM / q.data_parallel)
    return maximum(q.kv_imbalance, 1 + apart * of_largest)


def decode_step(q: Inputs, d: Decode) -> Composition:
    """A decode step [token]: each request's next token, and the drafts that are checked with it.

    Args:
        q: input symbols as attributes.
        d: batch and mean contexts of decode.

    Source: notebooks/compute.md, section What a step is made of.
    """
    fullest, batch = fullest_cache(q, d), d.decode_batch
    tokens = scaled(batch, 1 + q.draft_tokens)
    seen = fullest * d.decode_context_tokens
    picked, multiplied, in_window = (
        mean * _of_fullest(q, fullest, limit, mean) for mean, limit in (
            (d.decode_attended_tokens, most_picked(q)),
            (d.decode_multiplied_tokens, most_picked(q)),
            (d.decode_window_tokens, q.sliding_window)))
    return Composition(
        tokens=tokens, logit_rows=tokens, attended=tokens * multiplied,
        in_window=tokens * in_window,
        indexed=either(q.index_topk > 0, lambda: tokens * seen, lambda: 0.0),
        read=batch * picked, read_in_window=batch * in_window, read_keys=batch * seen,
        expanded=0, absorbed=1, decoding=True)


def _of_fullest(q: Inputs, fullest: Number, limit: Number, mean: Number) -> Number:
    """Positions of the fullest rank over the mean [1], where a request has a limit of them.

    A longer context takes no more than the limit; more requests, which a measured excess holds, do.
    """
    return either(limit > 0, lambda: maximum(
        q.kv_imbalance, minimum(fullest, limit / mean)), lambda: fullest)


@once
def token_pace(q: Inputs, decode: Step) -> tuple[Number, Number, Number]:
    """Drafting of a step [s], tokens that a step yields [1], a token's time without stalls [s].

    Args:
        q: input symbols as attributes.
        decode: the decode step.

    Source: notebooks/serving.md, section Drafted tokens.
    """
    draft = either(q.draft_tokens > 0, lambda: ceil_div(
        q.draft_tokens, q.draft_block) * decode.draft_pass_time, lambda: 0.0)
    accepted = tokens_per_step(
        q.mtp_acceptance, q.acceptance_decay, q.draft_tokens, q.accepted_length)
    return draft, accepted, per(plus(decode.step_time, draft), accepted)


@dataclass(frozen=True, eq=False)
class Loads:
    """Mean times of a prompt's cache from host memory, and of a request outside the steps [s]."""

    cache_load_time: Number
    cache_load_wait: Number
    admission_time: Number


def loads(q: Inputs, c: Cache, prefill: Step) -> Loads:
    """Load time of caches in host memory, and time until a request is ready for a step [s].

    Every card loads what it has of a stage through its own link. In ``k`` parts, one for each layer
    where an engine loads them in turn, a part is computed while the next one is loaded: loads of w
    and a first chunk of t take max(w, t) + min(w, t)/k. Loads of others go on meanwhile.

    Args:
        q: input symbols as attributes; ``host_prefix_share`` is what is loaded.
        c: cache per token [B/token].
        prefill: the mean chunk of a prompt alone.

    Source: notebooks/serving.md, section Prefixes in host memory.
    """
    if not anywhere(q.host_prefix_share > 0):
        return Loads(0.0, 0.0, q.request_overhead)
    layers = ceil_div(q.num_hidden_layers, q.pipeline_parallel)
    tokens = q.input_tokens / q.decode_context_parallel
    states = q.host_prefix_share / select(q.prefix_hit_share > 0, q.prefix_hit_share, 1)
    time = layers * (
        q.host_prefix_share * tokens * c.kv_layer_bytes_per_token_per_device
        + states * c.state_bytes_per_device / q.num_hidden_layers) / q.host_link_bandwidth
    chunk_time = per(prefill.step_time, q.pipeline_parallel)
    parts = select(q.layered_loads > 0, layers, 1)
    wait = maximum(0, time - chunk_time) + minimum(time, chunk_time) / parts
    return Loads(time, wait, q.request_overhead + wait)


@dataclass(frozen=True, eq=False)
class Serving:
    """Metrics of a wave of requests: times [s], tokens per step [1], rates per second."""

    prefill_time: Number
    burst_time: Number
    burst_wait: Number
    front_end_time: Number
    burst_place_wait: Number
    ttft: Number
    decode_stall: Number
    draft_time: Number
    tokens_per_step: Number
    tpot: Number
    e2e: Number
    request_throughput: Number
    output_throughput: Number
    input_throughput: Number


def prefill_time(q: Inputs, p: Prompts, prefill: Step) -> Number:
    """Time of a prompt alone on its replica, chunk after chunk through all stages [s].

    Args:
        q: input symbols as attributes.
        p: how prompts are cut.
        prefill: the mean chunk of a prompt alone.

    Source: notebooks/serving.md, section A prompt in chunks.
    """
    stages = q.pipeline_parallel
    return prefill.step_time * ((p.prompt_chunks + stages - 1) / stages)


def prefilled_in(q: Inputs, p: Prompts, requests_per_rank: Number, prefill: Step, burst: Step
                 ) -> tuple[Number, Number]:
    """Time until a prompt is prefilled alone, and what the rest of a burst takes after it [s].

    Args:
        q: input symbols as attributes.
        p: how prompts are cut.
        requests_per_rank: of the burst on the fullest data-parallel rank [request].
        prefill, burst: the mean chunk of a prompt alone, and that of the rest of a burst.

    Source: notebooks/serving.md, section A prompt in chunks.
    """
    several = select(requests_per_rank > 1, burst.step_time, 0)
    return prefill_time(q, p, prefill), per(several * p.burst_chunks, q.pipeline_parallel)


def front_ends_rate(q: Inputs) -> Number:
    """Requests that all front ends of a deployment let in at most [request/s].

    Ranks that share experts are one server with one front end. Others are servers of their own,
    each with its own front end, behind a router that only passes requests on.

    Args:
        q: input symbols as attributes.

    Source: notebooks/serving.md, section A burst, packed.
    """
    return q.front_end_rate * q.data_parallel / ranks_in_step(q)


def first_held(q: Inputs, tpot: Number) -> Number:
    """Wait of a first token for those sent with it, where it is not sent alone [s].

    Of pools apart it is not either's by itself, but of both together (``two_pools``).

    Args:
        q: input symbols as attributes.
        tpot: time per token [s].

    Source: notebooks/serving.md, section A steady state.
    """
    delay = select(q.separate_pools > 0, 0, q.first_token_held * (
        minimum(q.stream_interval, q.output_tokens) - 1))
    return either(delay > 0, lambda: delay * tpot, lambda: 0.0)


def _first_prompts(q: Inputs, p: Prompts, work: Number, alone: Number) -> Number:
    """Time until the first prompt of each rank that has one is prefilled [s].

    Ranks that share experts take a chunk together. It grows with the ranks that have a prompt, from
    that of one rank to that of all.

    Args:
        q: input symbols as attributes.
        p: how prompts are cut.
        work: chunks of a prompt on one rank, of a stage [s].
        alone: of a prompt on every rank [s].

    Source: notebooks/serving.md, section When the last chunk ends.
    """
    ranks, idle = ranks_in_step(q), q.pipeline_parallel - 1

    def some() -> Number:
        one = work * (p.prompt_chunks + idle) / p.prompt_chunks
        others = (q.concurrency - 1) * ranks / q.data_parallel  # in the same group
        return one + minimum(1, others / maximum(1, ranks - 1)) * (alone - one)

    return either((ranks > 1) & (q.separate_pools <= 0), some, lambda: alone)


def serving(q: Inputs, p: Prompts, requests_per_rank: Number, waiting: Number, work: Number,
            pace: Number, decode: Step, prefill: Step, burst: Step, transfer: Number,
            admission: Number) -> Serving:
    """TTFT, TPOT, latency and throughput of a wave of requests.

    Args:
        q: input symbols as attributes.
        p: how prompts are cut.
        requests_per_rank: requests of the fullest data-parallel rank c [request].
        waiting: requests of the burst that find no place in the cache at first [request].
        work: chunks of a prompt on one rank of those that share experts, of a stage [s].
        pace: of decode steps that hold all requests, per token [s].
        decode, prefill, burst: the decode step, the mean chunk of a prompt alone, and that of the
            rest of a burst.
        transfer: of a request's cache to the decode pool [s].
        admission: of a request outside the steps, ``admission_time`` [s].

    Source: notebooks/serving.md.
    """
    stages = q.pipeline_parallel
    c = requests_per_rank
    alone, rest = prefilled_in(q, p, c, prefill, burst)
    several = select(c > 1, burst.step_time, 0)
    per_prompt = maximum(1, p.burst_chunks / p.burst_requests)
    wait = several * (p.burst_chunks + per_prompt) / (2 * stages)
    begun = _first_prompts(q, p, work, alone)
    prefilled = begun + rest
    first = either(q.prefill_together > 0, lambda: prefilled,
                   lambda: begun + (c - 1) / c * wait)
    apart = q.separate_pools > 0
    let_in = (q.concurrency - 1) / front_ends_rate(q)
    ttft = admission + plus(first, select(apart, transfer, 0))
    later = maximum(1, q.output_tokens - 1)
    stall = either(apart, lambda: 0.0, lambda: (prefilled - first) / later)
    draft, accepted, _ = token_pace(q, decode)
    tpot = plus(pace, stall)
    delay = first_held(q, tpot)
    ttft, tpot = plus(ttft, delay), minus(tpot, delay / later)
    # the whole wave, whose prompts every request waits for, before its first token or after it
    rate = q.concurrency / either(
        apart, lambda: held_by_decode_pool(q, tpot),
        lambda: admission + prefilled + (q.output_tokens - 1) * pace)
    # the last of those who wait does so while all others of them begin
    place_wait = either(waiting > 0, lambda: waiting * waiting / (
        2 * rate * (q.concurrency + waiting)), lambda: 0.0)
    ttft = plus(ttft, place_wait)
    e2e = ttft + (q.output_tokens - 1) * tpot
    return Serving(alone, rest, wait, let_in, place_wait, ttft, stall, draft, accepted, tpot, e2e,
                   rate, rate * q.output_tokens, rate * q.input_tokens)


def held_by_decode_pool(q: Inputs, tpot: Number) -> Number:
    """Time of a request in a separate decode pool: for its output tokens only [s].

    Args:
        q: input symbols as attributes.
        tpot: time per token, without prompts of others [s].

    Source: notebooks/serving.md, section Two pools in balance.
    """
    return q.output_tokens * tpot


def prefill_throughput(q: Inputs, p: Prompts, burst: Step) -> Number:
    """Prompt tokens per second of a deployment whose prompts come without pause [token/s].

    Every data-parallel rank leaves a packed chunk behind in the time of a pipeline stage.

    Args:
        q: input symbols as attributes.
        p: how prompts are packed.
        burst: the mean packed chunk.

    Source: notebooks/serving.md, section A burst, packed.
    """
    return q.data_parallel * p.burst_tokens * q.pipeline_parallel / burst.step_time


ROUNDING = 8.0**-9  # a pool that just keeps up needs no replica more


@dataclass(frozen=True, eq=False)
class Planning:
    """Intensity [FLOP/B], shares [1], times [s], the balance of prefill and decode pools [1] and
    their rates [request/s], and what host memory and storage hold [B]."""

    ridge_point: Number
    pipeline_bubble: Number
    kv_port_time: Number
    kv_transfer_time: Number
    pool_ratio: Number
    pools_rate: Number
    best_prefill_devices: Number
    best_pools_rate: Number
    block_waste: Number
    loading_time: Number
    host_expert_weights: Number
    storage_expert_weights: Number


def transfer_time(q: Inputs, c: Cache) -> tuple[Number, Number]:
    """A request's cache through a replica's own ports, and from a prefill to a decode replica [s].

    Every tensor-parallel rank has a copy of a latent cache, or its part of a divided one, or of the
    tokens of a shared one, and moves all that it has through its own port; stages do so at the same
    time, the fullest one last. Of the replica that sends and the one that receives the slower
    decides.

    Args:
        q: input symbols as attributes.
        c: cache per token [B/token].

    Source: notebooks/communication.md, section A cache that moves from prefill to decode.
    """
    layers = ceil_div(q.num_hidden_layers, q.pipeline_parallel)
    tokens = q.input_tokens / q.decode_context_parallel
    cache = layers * (tokens * c.kv_layer_bytes_per_token_per_device
                      + c.state_bytes_per_device / q.num_hidden_layers)
    through_ports = q.network_alpha + cache / (q.network_bandwidth * q.network_efficiency)
    return through_ports, maximum(through_ports, q.prefill_pool_port_time)


def pool_ratio(q: Inputs, decode_batch: Number, p: Prompts, decode: Step, prefill: Step) -> Number:
    """Prefill replicas that keep up with one decode replica [1].

    A prefill replica has a chunk in every stage, a decode replica finishes batch x stages requests
    every output_tokens steps.

    Args:
        q: input symbols as attributes.
        decode_batch: requests of a decode step [request].
        p: how prompts are cut.
        decode, prefill: the decode step, and the mean chunk of a prompt alone.

    Source: notebooks/serving.md, section Two pools in balance.
    """
    *_, per_token = token_pace(q, decode)
    decoded = decode_batch * q.pipeline_parallel / (q.output_tokens * per_token)
    return decoded * prefill.step_time * p.prompt_chunks / q.pipeline_parallel


def pool_replicas(q: Inputs, ratio: Number) -> Number:
    """Replicas of the pool that prefills: those that there are, or as many as keep up [1].

    Ranks that share experts come together.

    Args:
        q: input symbols as attributes.
        ratio: prefill replicas per decode replica [1].

    Source: notebooks/serving.md, section A steady state.
    """
    ranks = ranks_in_step(q)
    return select(q.prefill_replicas > 0, q.prefill_replicas, ranks * maximum(
        1, np.ceil(ratio * q.data_parallel / ranks * (1 - ROUNDING))))


def _two_pools(q: Inputs, devices: Number, decoded: Number, through_ports: Number
               ) -> tuple[Number, Number, Number]:
    """Rates of this decode pool and the prefill pool beside it, as they are and in balance.

    Both finish in proportion to their cards; in balance both finish the same. Without a prefill
    pool beside it, one that keeps up is taken for granted.

    Args:
        q: input symbols as attributes.
        devices: of the decode pool [1].
        decoded: requests per second that it finishes [request/s].
        through_ports: a request's cache, on a decode replica [s].

    Returns the rate of the pair, cards for prefill in balance, and the rate in balance.

    Source: notebooks/serving.md, section Two pools in balance.
    """
    beside = q.prefill_pool_rate > 0
    given = select(beside, q.prefill_pool_rate, decoded)
    received = through_ports / q.data_parallel  # each decode replica has its ports
    rate = select(beside, 1 / maximum(
        1 / minimum(given, decoded), received), decoded)
    for_prefill = select(beside, q.prefill_pool_devices / given, 0)
    for_both = for_prefill + devices / decoded  # cards times seconds of a request
    cards = select(beside, q.prefill_pool_devices, 0) + devices
    return rate, cards * for_prefill / for_both, cards / for_both


def planning(q: Inputs, n: Parameters, w: Weights, m: Memory, p: Prompts, ratio: Number,
             served: Serving, through_ports: Number, transfer: Number) -> Planning:
    """Quantities around a deployment.

    Args:
        q: input symbols as attributes.
        n: the model's parameters.
        w: weights by stage [B].
        m: the memory budget.
        p: how prompts are cut.
        ratio: prefill replicas per decode replica, see :func:`pool_ratio` [1].
        served: what a wave of requests sees.
        through_ports, transfer: of a request's cache, see :func:`transfer_time` [s].

    Source: notebooks/compute.md (ridge), throughput.md (bubble), communication.md (transfer),
    serving.md (pools), memory.md (blocks, loading).
    """
    stages = q.pipeline_parallel
    idle = stages - 1
    devices = q.tensor_parallel * stages * q.data_parallel
    experts = (n.moe_layers * q.n_routed_experts * n.routed_expert_parameters
               * q.offloaded_weight_bytes)
    fetched = (1 - q.offloaded_share) * q.fetched_share
    on_host = (q.offloaded_share + fetched * (1 - q.stored_share)) * experts
    return Planning(
        q.attention_peak / q.memory_bandwidth, idle / (p.prompt_chunks + idle),
        through_ports, transfer,
        ratio, *_two_pools(q, devices, served.request_throughput, through_ports),
        1 - q.context_tokens / (
            m.blocks_per_request * m.block_tokens * q.decode_context_parallel),
        (w.weights_per_device * minimum(q.devices_per_node, devices) + on_host)
        / q.storage_bandwidth, on_host, fetched * q.stored_share * experts)
