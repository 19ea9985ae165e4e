"""The floor under decode latency: the bytes that a step has to read.

They are what the estimate's own step reads at least, under its routing and with its drafts, each at
the bandwidth that its kernels reach; experts off the cards, at those of the host and its links.
Arithmetic, communication between cards, kernel boundaries and launches are not in it, so every
estimate lies above; the ratio of the two is to be explained.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from calc.physics.arrays import (
    anywhere,
    ceil_div,
    clip,
    either,
    largest,
    minimum,
    minus,
    per,
    plus,
    scaled,
    select,
)
from calc.physics.attention import attention_layers, linear_state, state_passes, window_layers
from calc.physics.experts import distinct_experts, expert_shards, ranks_in_step, streaming
from calc.physics.inputs import Inputs, Number
from calc.physics.kv_cache import (
    Cache,
    compressed_entries,
    index_parts,
    most_picked,
    multiplied_positions,
)
from calc.physics.memory import Weights, after_layers, fullest_layer_weights
from calc.physics.operators import dense_bandwidth
from calc.physics.parameters import Parameters, latent_projections, latent_share, up_projections
from calc.physics.work import host_reads, missing
from catalogue.entries.deployments import MOST_DRAFTS


@dataclass(frozen=True)
class Decode:
    """Contexts [token] and the batch of a decode step [request]."""

    biased_output_tokens: Number
    decode_context_tokens: Number
    context_deviation: Number
    decode_attended_tokens: Number
    decode_multiplied_tokens: Number
    decode_window_tokens: Number
    decode_batch: Number


@dataclass(frozen=True)
class Floor:
    """One decode step: tokens, bytes read per device [B], their times [s], the resulting rate."""

    expert_group_tokens: Number
    distinct_experts: Number
    decode_dense_bytes: Number
    decode_expert_bytes: Number
    decode_kv_bytes: Number
    decode_dense_time: Number
    decode_expert_time: Number
    decode_kv_time: Number
    decode_host_expert_time: Number
    tpot_floor: Number
    throughput_ceiling: Number


def biased(mean: Number, variation: Number) -> Number:
    """Mean length of what a token is part of [token]: E[n²]/E[n], long ones hold more tokens.

    >>> float(biased(100, 0)), float(biased(100, 1))  # all alike; exponentially distributed
    (100.0, 200.0)

    Args:
        mean: of the lengths [token].
        variation: of the lengths, standard deviation over mean [1].

    Source: notebooks/memory.md, section What a step reads of the cache.
    """
    return mean * (1.0 + variation * variation)


def context_deviation(q: Inputs) -> Number:
    """Standard deviation of the contexts of requests that decode [token].

    Each is at a moment of its answer that has nothing to do with the others. Prompts deviate by
    their variation; how far an answer has come, by what a gamma distribution of its length gives.

    Args:
        q: input symbols as attributes.

    Source: notebooks/memory.md, section What a step reads of the cache.
    """
    prompt = q.prompt_variation * q.input_tokens
    varied = q.answer_variation * q.answer_variation
    # a uniform distribution deviates by its half-width over the root of three
    half = q.output_tokens / 2
    begun = half * half * (1 + varied) * (1 + 5 * varied) / 3
    return (prompt * prompt + begun) ** 0.5


def mean_context(input_tokens: Number, output_tokens: Number) -> Number:
    """Mean context of a request while it decodes [token].

    The token number i of n sees the prompt and i tokens, itself included: the mean over i = 1 … n.

    Args:
        input_tokens: of the prompt [token].
        output_tokens: generated, n; of answers of many lengths that of :func:`biased` [token].

    Source: notebooks/memory.md, section What a step reads of the cache.
    """
    return input_tokens + (output_tokens + 1) / 2


def mean_attended(limit: Number, input_tokens: Number, output_tokens: Number) -> Number:
    """Mean tokens that a request attends to while it decodes, of at most ``limit`` at once [token].

    Output tokens see one token more each, up to the limit, and the limit from there on. It is the
    mean of the minimum, which is less than the minimum of the mean if the limit is met on the way.
    Of many lengths, at their :func:`biased` means, it is an upper bound.

    >>> float(mean_attended(4, 2, 4))  # 3, 4, 4, 4
    3.75

    Args:
        limit: tokens that an indexer picks, or of a window [token]; 0: no limit.
        input_tokens: of the prompt [token].
        output_tokens: generated [token].

    Source: notebooks/memory.md, section What a step reads of the cache.
    """
    def limited() -> Number:
        growing = clip(limit - input_tokens, 0, output_tokens)
        attended = growing * mean_context(input_tokens, growing) + (
            output_tokens - growing) * limit
        return attended / output_tokens

    return either(limit > 0, limited, lambda: mean_context(input_tokens, output_tokens))


def decode_contexts(q: Inputs, requests_per_rank: Number) -> Decode:
    """Contexts of requests that decode, at any moment of their answers, and their batch.

    Args:
        q: input symbols as attributes.
        requests_per_rank: requests of the fullest data-parallel rank [request].

    Source: notebooks/memory.md, section What a step reads of the cache.
    """
    lengths = q.input_tokens, biased(q.output_tokens, q.answer_variation)
    context, attended = mean_context(*lengths), mean_attended(most_picked(q), *lengths)
    return Decode(lengths[1], context, context_deviation(q), attended,
                  multiplied_positions(q, attended, context, 1),
                  mean_attended(q.sliding_window, *lengths),
                  ceil_div(requests_per_rank, q.pipeline_parallel))


def read_of_cache(q: Inputs, c: Cache, d: Decode) -> Number:
    """Bytes of the cache that a rank reads per request and step, all layers and stages [B/request].

    A layer without a window reads what is attended to, and every index key if an indexer has to
    choose; a layer with a window reads its window and no index keys. Every stage's layers are read
    for every token, so it does not matter which stage has those with a window.

    Args:
        q: input symbols as attributes.
        c: cache per token [B/token].
        d: contexts of decode.

    Source: notebooks/memory.md, section What a step reads of the cache.
    """
    seen, attended, in_window = (
        d.decode_context_tokens, d.decode_attended_tokens, d.decode_window_tokens)

    def entries() -> Number:
        others, windowed = q.full_attention_layers - q.sparse_layers, window_layers(q)
        met = plus(q.sparse_layers * attended, others * seen if anywhere(others != 0) else 0.0)
        return plus(c.kv_entry_bytes * met, c.kv_window_entry_bytes * windowed * in_window
                    if anywhere(windowed != 0) else 0.0)

    read = either(q.o_groups > 0, lambda: c.kv_entry_bytes * compressed_entries(
        q, in_window, attended, seen), entries) / q.decode_context_parallel
    if anywhere(q.indexer_layers > 0):
        keys = q.indexer_layers / q.compress_ratio * seen
        read = read + c.kv_index_bytes_per_token / index_parts(q) * keys
    if anywhere(q.linear_layers > 0):
        read = read + state_passes(q) * linear_state(q) / q.tensor_parallel
    return read


def tokens_per_step(acceptance: Number, decay: Number, draft_tokens: Number,
                    accepted_length: Number = 0) -> Number:
    """Tokens that a step yields for a request [1]: 1 + a + a (a b) + a (a b) (a b^2) + …, d drafts.

    A draft counts if it and all before it are accepted; each is accepted less often than the one
    before it. An engine may also print the length itself.

    >>> float(tokens_per_step(0.5, 1.0, 2))
    1.75
    >>> float(tokens_per_step(0.8, 0.5, 2).round(2))
    2.12
    >>> float(tokens_per_step(0.8, 0.5, 2, accepted_length=2.5))
    2.5

    Args:
        acceptance: probability a that the first draft is accepted [1].
        decay: by what it falls from one draft to the next, b [1].
        draft_tokens: drafts of a step, d, at most ``MOST_DRAFTS`` [token].
        accepted_length: what is stated of the result, the step's own token included; 0: nothing.

    Source: notebooks/serving.md, section Drafted tokens.
    """
    total: Number = 1.0
    counted: Number = 1.0
    for draft in range(min(MOST_DRAFTS, math.ceil(largest(draft_tokens)))):
        counted = counted * acceptance * decay**draft
        total = total + counted * clip(draft_tokens - draft, 0, 1)
    return select(accepted_length > 0,
                  minimum(accepted_length, 1 + draft_tokens), total)


def decode_floor(q: Inputs, n: Parameters, w: Weights, c: Cache, d: Decode) -> Floor:
    """Least time per output token [s]: a decode step over all pipeline stages reads, no more.

    A first token costs a step of prefill, which reads the weights of every step at least; a decode
    pool of its own, and decode alone where no length of answers is stated, gives none.

    Args:
        q: input symbols as attributes.
        n: the model's parameters.
        w: weights by stage [B].
        c: cache per token [B/token].
        d: contexts and batch of decode.

    Source: notebooks/memory.md, section A floor under the time per output token.
    """
    batch = d.decode_batch
    group_tokens = scaled(batch, ranks_in_step(q))
    even = distinct_experts(q.n_routed_experts, q.num_experts_per_tok, group_tokens)
    together = scaled(group_tokens, (1 + q.draft_tokens) / q.micro_batches)
    hit = distinct_experts(q.n_routed_experts, q.num_experts_per_tok, together, q.routing_skew)
    expert = q.routed_expert_weight_bytes * n.routed_expert_parameters / expert_shards(q)
    besides_routed = w.moe_layer_weights - fullest_layer_weights(q, n)
    # absorbed up-projections are kept as wide as activations, here narrower than they are stored
    narrower = minimum(0, q.activation_element_bytes - q.attention_weight_bytes)
    dense_bytes = (q.first_k_dense_replace * w.dense_layer_weights + n.moe_layers * besides_routed
                   + q.layers_without_mlp * (
                       w.attention_weights_per_layer + w.context_weights_per_layer)
                   + w.head_matrix_weights + after_layers(q, n))
    elsewhere = n.moe_layers * q.router_weight_bytes * (1 - latent_share(q)) * latent_projections(q)
    dense_bytes = plus(
        minus(dense_bytes, q.num_hidden_layers * w.context_weights_per_layer + elsewhere),
        either(narrower < 0, lambda: attention_layers(q) * up_projections(q)
               / q.tensor_parallel * narrower, lambda: 0.0))
    # so many times the tokens hit as many times the experts, or more
    filled = minimum(1, (1 / ranks_in_step(q) + (q.concurrency - 1) / (
        q.data_parallel * q.pipeline_parallel)) / batch)
    expert_bytes = (1 - q.offloaded_share) * n.moe_layers * expert * hit * filled
    kv_bytes = batch * read_of_cache(q, c, d)
    dense_time = dense_bytes / dense_bandwidth(q)
    expert_time = expert_bytes / (q.memory_bandwidth * streaming(q))
    kv_time = kv_bytes / (q.memory_bandwidth * q.mla_efficiency)
    accepted = tokens_per_step(
        q.mtp_acceptance, q.acceptance_decay, q.draft_tokens, q.accepted_length)
    by_host = either(q.offloaded_share > 0, lambda: host_reads(
        q, n, scaled(batch, 1 + q.draft_tokens), hit), lambda: 0.0)
    host_time = filled * (by_host + missing(q, n, hit * filled).fetch_time)
    on_card = dense_time + expert_time + kv_time
    floor = per(on_card + host_time - q.host_overlap * minimum(host_time, on_card), accepted)
    first = either(q.separate_pools > 0, lambda: floor, lambda: minimum(dense_time, floor))
    total = first + (q.output_tokens - 1) * floor
    return Floor(group_tokens, even, dense_bytes, expert_bytes, kv_bytes, dense_time, expert_time,
                 kv_time, host_time, floor, q.concurrency * q.output_tokens / total)
