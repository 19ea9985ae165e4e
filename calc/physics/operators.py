"""The time of the operators of a step: matmuls by class, the attention core, an indexer's scores.

What each class has to do is ``calc.physics.work``; what it reaches of peak and bandwidth are
mechanisms. The same functions are compared with tables of measured kernels (``kernels``).
"""

from __future__ import annotations

import math
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
    largest,
    maximum,
    minimum,
    minus,
    once,
    per,
    plus,
    scaled,
    select,
)
from calc.physics.experts import (
    EXPECTED_MAXIMUM,
    distinct_experts,
    expert_group,
    expert_shards,
    expert_tile,
    normal_quantile,
    ranks_in_step,
    sliced,
    streaming,
)
from calc.physics.kv_cache import (
    Cache,
    compressed_entries,
    index_parts,
    most_picked,
    multiplied_positions,
    unfused,
)
from calc.physics.memory import Weights, after_layers, fullest_layer_weights
from calc.physics.parameters import (
    CSA,
    MLA,
    Parameters,
    attention_layers,
    core_width,
    latent_projections,
    latent_share,
    layers_with_experts,
    linear_state,
    over_kinds,
    state_passes,
    up_projections,
    window_layers,
)
from calc.physics.work import Attention, Composition, Core, Routed, Work, host_reads, missing
from catalogue.entries.deployments import MOST_DRAFTS

MATMULS_OF_DRAFTER = 5  # joined states, queries with keys and values, outputs, two of the MLP


def operator_time(compute: Number, memory: Number, exposed: Number) -> Number:
    """Time of an operator [s] from that of its arithmetic and of its bytes.

    max + exposed min: with complete overlap the longer one decides, without any they add.

    Args:
        compute, memory: times of arithmetic and of bytes alone [s].
        exposed: share of the shorter one that is not hidden [1].

    Source: notebooks/latency.md, section The time of one operator.
    """
    longer = maximum(compute, memory)
    return longer if is_absent(exposed) else longer + exposed * minimum(compute, memory)


@once
def slowest_clock(q: Inputs) -> Number:
    """Clock of the slowest of the cards that wait for one another, over nominal [1].

    They are the ranks that share experts, those of tensor parallelism at least.

    Args:
        q: input symbols as attributes.

    Source: notebooks/latency.md, section The classes of a step.
    """
    return q.clock_factor / (1 + q.clock_spread * normal_quantile(
        EXPECTED_MAXIMUM / expert_group(q)))


def whole_tiles(tile: Number, rows: Number) -> Number:
    """Rows that are multiplied over rows that there are, where tiles are multiplied whole [1].

    Args:
        tile: rows of a tile [1].
        rows: of a matmul [1].

    Source: notebooks/latency.md, section The classes of a step.
    """
    return maximum(1, tile / maximum(rows, 1))


def tiles_of_experts(tile: Number, rows: Number) -> Number:
    """Multiplied over given rows of experts that differ: x / (1 - exp(-x)), x = tile / mean [1].

    Rows of an expert are about geometrically distributed where its popularity is exponentially.

    >>> tiles_of_experts(16.0, 1600.0).round(3), tiles_of_experts(16.0, 1.0).round(3)
    (np.float64(1.005), np.float64(16.0))

    Args:
        tile: rows of a tile [1].
        rows: mean of the experts that have any [1].

    Source: notebooks/latency.md, section The classes of a step.
    """
    share = tile / maximum(rows, 1)
    return share / -np.expm1(-share)


def matmul_times(attention: str, q: Inputs, n: Parameters, classes: dict[str, Work],
                 batch: Composition, routed: Routed) -> dict[str, Number]:
    """Time of every class of matmuls [s]; tiles of rows are multiplied whole.

    What is expanded of the cache has rows of its own, far more than a tile.

    Args:
        attention: ``mla`` or ``gqa``.
        q: input symbols as attributes.
        n: the model's parameters.
        classes: what each has to do.
        batch: composition of the micro-batch.
        routed: how tokens meet the routed experts.

    Source: notebooks/latency.md, sections The time of one operator, The fixed cost of a matmul and
    The classes of a step.
    """
    own = batch.own(q)
    rows = dict.fromkeys(classes, batch.tokens) | {
        "head": batch.logit_rows, "shared_expert": batch.of_shared(q),
        "attention": own.tokens, "router": own.tokens}
    usual = whole_tiles(q.gemm_tile_rows, batch.tokens)
    padded = {name: usual if rows[name] is batch.tokens
              else whole_tiles(q.gemm_tile_rows, rows[name]) for name in classes} | {
        "routed_expert": tiles_of_experts(
            expert_tile(q, routed.slowest, routed.tokens), routed.rows_of_one(q))}
    dense = matmuls(attention, q, n.moe_layers, batch.absorbed, own.cut(q))
    times = {name: matmul_time(q, name, work, padded[name],
                               dense[name].waiting(q, name) if name in dense else 0)
             for name, work in classes.items()}
    for name, several in dense.items():
        times[name] = several.time(q, name, times[name], rows[name])
    times["routed_expert"] = plus(times["routed_expert"], expert_fixed_time(q))
    # where shared experts have ranks of their own, all wait for the slower kind
    times["shared_expert"] = either(
        q.shared_expert_ranks > 0,
        lambda: maximum(0, times["shared_expert"] - times["routed_expert"]),
        lambda: times["shared_expert"])
    return times


@once
def expert_latency(q: Inputs) -> Number:
    """Fixed time of the experts of a layer [s]: of whole ones, or of slices.

    Args:
        q: input symbols as attributes.

    Source: notebooks/latency.md, section The classes of a step.
    """
    return sliced(q, q.routed_expert_latency, q.sliced_expert_latency)


@once
def expert_fixed_time(q: Inputs) -> Number:
    """Fixed time of the experts of all layers [s].

    Args:
        q: input symbols as attributes.

    Source: notebooks/latency.md, section The classes of a step.
    """
    return (1 - q.offloaded_share) * layers_with_experts(q) * expert_latency(q)


def matmul_time(q: Inputs, name: str, work: Work, padded: Number, waiting: Number = 0) -> Number:
    """Loading and arithmetic of a class of matmuls [s].

    Arithmetic takes as long as outputs wait for their inputs, if that is longer; what is loaded
    meanwhile is hidden as beside any arithmetic.

    Args:
        q: input symbols as attributes.
        name: the class.
        work: operations [FLOP] and bytes [B].
        padded: rows that are multiplied over rows that there are [1].
        waiting: for inputs one after another, along the depth [s].

    Source: notebooks/latency.md, sections The fixed cost of a matmul and The classes of a step.
    """
    flops = scaled(work.flops, padded)
    if isinstance(work, Attention) and not is_absent(work.expanded_flops):
        flops = (work.flops - work.expanded_flops) * padded + work.expanded_flops
    peak, bandwidth, exposed = _reached(q, name)
    computed = flops / peak
    return operator_time(computed if is_absent(waiting) else maximum(computed, waiting),
                         work.bytes / bandwidth, exposed)


def busy_time(q: Inputs, name: str, work: Work) -> Number:
    """Time in which a class of matmuls keeps memory or matrix units busy at what they reach [s].

    Args:
        q: input symbols as attributes.
        name: the class.
        work: operations [FLOP] and bytes [B].

    Source: notebooks/latency.md, section One step.
    """
    peak, bandwidth, _ = _reached(q, name)
    return maximum(work.flops / peak, work.bytes / bandwidth)


@once
def dense_bandwidth(q: Inputs) -> Number:
    """Rate at which everything but experts and caches is read [B/s].

    Args:
        q: input symbols as attributes.

    Source: notebooks/latency.md, section The time of one operator.
    """
    return q.memory_bandwidth * q.hbm_efficiency


@once
def _reached(q: Inputs, name: str) -> tuple[Number, Number, Number]:
    """What a class of matmuls reaches: operations [FLOP/s], bytes [B/s], what of the shorter of the
    two is not hidden [1].

    Source: notebooks/latency.md, section The classes of a step.
    """
    efficiency, exposed = getattr(q, f"{name}_gemm_efficiency"), 1 - q.load_overlap
    if name == "routed_expert":
        efficiency = sliced(q, efficiency, q.sliced_expert_gemm_efficiency)
        bandwidth = q.memory_bandwidth * streaming(q)
        exposed = sliced(q, 1 - q.expert_load_overlap, exposed)
    else:
        bandwidth = dense_bandwidth(q)
    return getattr(q, f"{name}_peak") * efficiency * slowest_clock(q), bandwidth, exposed


def joining_time(q: Inputs, rows: Number) -> Number:
    """The projection that joins a hidden state with an embedding, before a layer that drafts [s].

    Args:
        q: input symbols as attributes.
        rows: tokens [token].

    Source: notebooks/latency.md, section One step.
    """
    d, width = q.hidden_size, q.activation_element_bytes
    flops = q.multiply_add_flops * 2 * d * d * maximum(rows, q.gemm_tile_rows)
    moved = 2 * d * d * width + 3 * d * width * rows
    one = Matmuls(1, 2 * d)
    alone = matmul_time(q, "head", Work(flops, moved), 1, one.waiting(q, "head"))
    return one.time(q, "head", alone, rows)


def drafter_time(q: Inputs, rows: Number) -> Number:
    """The matmuls of a drafter of its own but for its head [s]: of its inputs, of attention and of
    a dense network, in 16 bits, as the head multiplies.

    Args:
        q: input symbols as attributes.
        rows: tokens [token].

    Source: notebooks/latency.md, section One step.
    """
    parameters = q.drafter_parameters / q.tensor_parallel + q.drafter_whole_parameters
    flops = q.multiply_add_flops * parameters * maximum(rows, q.gemm_tile_rows)
    alone = matmul_time(q, "head", Work(flops, parameters * q.activation_element_bytes), 1)
    return alone + MATMULS_OF_DRAFTER * q.head_matmul_latency


@dataclass(frozen=True, eq=False)
class Matmuls:
    """Matmuls of a class on a rank, in all layers.

    Attributes:
        count: of them [1].
        depth: inputs that an output of each sums over, added up [1].
    """

    count: Number
    depth: Number

    def waiting(self, q: Inputs, name: str) -> Number:
        """Least time of their arithmetic [s]: inputs of an output are added in turn.

        Args:
            q: input symbols as attributes.
            name: the class.
        """
        return self.depth * getattr(q, f"{name}_depth_latency")

    def time(self, q: Inputs, name: str, worked: Number, rows: Number) -> Number:
        """Time of the matmuls [s]: kernels are filled and drained, rows quantised before.

        Args:
            q: input symbols as attributes.
            name: the class.
            worked: time of loading and arithmetic alone [s].
            rows: that they multiply [token].
        """
        filled = self.count * getattr(q, f"{name}_matmul_latency")
        traffic = getattr(q, f"{name}_activation_traffic")
        if is_absent(traffic):
            return worked + filled
        return worked + (filled + traffic * self.depth * (rows / q.memory_bandwidth))


def matmuls(attention: str, q: Inputs, moe_layers: Number, absorbed: Number, ranks: Number
            ) -> dict[str, Matmuls]:
    """Matmuls of every class but routed experts, whose shares were measured with all they take.

    Projections of the same input are one matmul. Absorbed ones, as wide as activations, take little
    more than a kernel's boundary, which they have.

    Args:
        attention: ``mla`` or ``gqa``.
        q: input symbols as attributes.
        moe_layers: layers with experts [1].
        absorbed: share of the chunks in which MLA absorbs its up-projections [1].
        ranks: over which the heads are cut [1].

    Source: notebooks/latency.md, section The fixed cost of a matmul.
    """
    d, layers, t = q.hidden_size, attention_layers(q), q.tensor_parallel
    if attention == CSA:
        own = _compressed(q, ranks)
    elif attention == MLA:
        layer = _latent(q, absorbed, ranks)
        own = Matmuls(plus(layers * layer.count, 2 * q.indexer_layers),
                      plus(layers * layer.depth, q.indexer_layers * (q.q_lora_rank + d)))
    else:
        own = Matmuls(2 * layers, layers * d + over_kinds(q, lambda h: h.query * h.value / ranks))
    if anywhere(q.linear_layers > 0):
        outputs = q.linear_num_value_heads * q.linear_value_head_dim / t
        own = Matmuls(own.count + 2 * q.linear_layers, own.depth + q.linear_layers * (d + outputs))
    return {"attention": own, **_matmuls_after_attention(q, moe_layers)}


@once
def _matmuls_after_attention(q: Inputs, moe_layers: Number) -> dict[str, Matmuls]:
    d, t, dense = q.hidden_size, q.tensor_parallel, q.first_k_dense_replace
    shared = select(q.n_shared_experts > 0, moe_layers, 0)
    return {
        "dense_mlp": Matmuls(2 * dense, dense * (d + q.intermediate_size / t)),
        "shared_expert": Matmuls(
            2 * shared, shared * (d + q.n_shared_experts * q.moe_intermediate_size / t)),
        "router": Matmuls(moe_layers, moe_layers * d), "head": Matmuls(1, d)}


def _compressed(q: Inputs, t: Number) -> Matmuls:
    """All layers: down, queries up, both halves of the output; compressors; three of an indexer."""
    d, compressors = q.hidden_size, q.compressed_layers + q.heavy_layers
    layer = (d + q.q_lora_rank + q.num_attention_heads * q.head_dim / q.o_groups
             + q.o_groups * q.o_lora_rank / t)
    return Matmuls(
        4 * q.num_hidden_layers + compressors + 3 * q.indexer_layers,
        q.num_hidden_layers * layer + compressors * d + q.indexer_layers * (q.q_lora_rank + 2 * d))


def _latent(q: Inputs, absorbed: Number, t: Number) -> Matmuls:
    """A layer of latent attention: down, queries up, keys and values where expanded, and out."""
    values, expanded = q.num_attention_heads * q.v_head_dim / t, 1 - absorbed
    return Matmuls(
        2 + select(q.q_lora_rank > 0, 1, 0) + expanded,
        q.hidden_size + q.q_lora_rank + values + expanded * q.kv_lora_rank)


def core_time(q: Inputs, core: Core, batch: Composition, clock: Number) -> Number:
    """Time of the attention core [s]: of its arithmetic or of its bytes.

    Both, where kernels of their own multiply and pass over the scores: no fused kernel overlaps
    them. A layer's kernels take a time of their own; in decode every request fills and drains a
    pipeline, in prefill every tile of rows is brought in before it is multiplied and taken out
    after, whole however few of its rows a prompt fills. Of sparse attention every row of a head
    takes a time of its own.

    Args:
        q: input symbols as attributes.
        core: operations [FLOP] and bytes [B] of all layers.
        batch: composition of the micro-batch.
        clock: of the slowest device over the rated one [1].

    Source: notebooks/latency.md, section The attention core.
    """
    sparse = (q.index_topk > 0) & (batch.absorbed > 0)
    dense = q.mla_compute_efficiency if batch.decoding else q.attention_efficiency
    picked = q.sparse_attention_efficiency if batch.decoding else q.sparse_prefill_efficiency
    layers, rate = attention_layers(q), _cache_rate(q, batch.decoding)
    moved = core.bytes / rate
    fused = maximum(core.flops / (q.core_peak * select(sparse, picked, dense) * clock), moved)
    # rows of a token that has positions of its own fill a pipeline by themselves
    filled = layers * select(sparse, q.sparse_core_fill, 0)
    if anywhere(filled > 0):
        fused = fused + filled * core.head_rows * batch.tokens
    if batch.decoding:
        of_token = q.latent_core_fill / (1 + q.draft_tokens)
        return plus(fused, plus(layers * q.latent_core_latency, layers * of_token * batch.tokens
                                if anywhere(of_token > 0) else 0.0))

    def with_rows() -> Number:
        beside = layers * q.prefill_core_latency
        if anywhere(q.core_row_traffic > 0):
            rows = core.row_bytes / rate * batch.core_missing
            beside = beside + q.core_row_traffic * (moved + rows)
        return plus(fused, beside)

    return either(unfused(q), lambda: core.flops / (
        q.core_peak * q.attention_gemm_efficiency * clock) + moved,
        lambda: either(sparse, lambda: fused, with_rows))


def drafter_core_time(attention: str, q: Inputs, c: Cache, batch: Composition, core: Core,
                      clock: Number) -> Number:
    """Time of the core of a drafter of its own [s]: a layer that attends to every position, with
    heads and cache as the layers of its model without a window; 0 where the model's own drafts.

    Args:
        attention: ``mla``, ``gqa`` or ``csa``.
        q: input symbols as attributes.
        c: cache per token [B/token].
        batch: composition of the micro-batch.
        core: of the model, for the rows of heads that it multiplies for a token.
        clock: of the slowest device over the rated one [1].

    Source: notebooks/latency.md, section One step.
    """
    def alone() -> Number:
        picking = (q.index_topk > 0) & (batch.absorbed > 0)
        seen = either(picking, lambda: batch.indexed, lambda: batch.attended)
        read = either(picking, lambda: batch.read_keys, lambda: batch.read)
        shared = batch.sharing_ranks(q)
        flops = (q.multiply_add_flops * core.head_rows
                 * core_width(attention, q, batch.absorbed) * seen / shared)
        reached = q.mla_compute_efficiency if batch.decoding else q.attention_efficiency
        fused = maximum(flops / (q.core_peak * reached * clock),
                        c.kv_entry_bytes * read / shared / _cache_rate(q, batch.decoding))
        if not batch.decoding:
            return fused + q.prefill_core_latency
        return fused + (q.latent_core_latency
                        + q.latent_core_fill * batch.tokens / (1 + q.draft_tokens))

    return either(q.drafter_parameters > 0, alone, lambda: 0.0)


def index_time(q: Inputs, scores: Work, decoding: bool, clock: Number) -> Number:
    """Time of the scores of an indexer [s]: of their arithmetic or of its keys.

    Args:
        q: input symbols as attributes.
        scores: operations [FLOP] and bytes [B] of all layers.
        decoding: whether the step is one of decode.
        clock: of the slowest device over the rated one [1].

    Source: notebooks/latency.md, section The attention core.
    """
    if is_absent(scores.flops):
        return 0.0
    return maximum(scores.flops / (q.index_peak * q.index_efficiency * clock),
                   scores.bytes / _cache_rate(q, decoding))


def _cache_rate(q: Inputs, decoding: bool) -> Number:
    """Rate at which the core and an indexer read the cache [B/s]."""
    return q.memory_bandwidth * (q.mla_efficiency if decoding else q.hbm_efficiency)


@dataclass(frozen=True, eq=False)
class Decode:
    """Contexts [token] and the batch of a decode step [request]."""

    biased_output_tokens: Number
    decode_context_tokens: Number
    context_deviation: Number
    decode_attended_tokens: Number
    decode_multiplied_tokens: Number
    decode_window_tokens: Number
    decode_batch: Number


@dataclass(frozen=True, eq=False)
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
