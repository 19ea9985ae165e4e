"""The memory of a deployment: what the fullest device holds, and what is left for the cache.

Bytes everywhere [B], not GB and not GiB. Scalars and arrays mix freely; arrays broadcast. Values
per pipeline stage have the stage as their first axis, see :func:`candidate_stages`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calc.physics.arrays import (
    Inputs,
    Number,
    ceil_div,
    clip,
    either,
    floor_div,
    is_absent,
    maximum,
    minimum,
    plus,
    select,
)
from calc.physics.experts import (
    exchange_buffers,
    expert_shards,
    expert_slices,
    gathers,
    ranks_in_step,
    routed_ranks,
    shared_apart,
)
from calc.physics.kv_cache import (
    Cache,
    Pages,
    drafting_layers,
    layer_block_bytes,
    layer_state_pool,
    pages,
    windowless,
)
from calc.physics.parameters import (
    CSA,
    GQA,
    MLA,
    Heads,
    Parameters,
    attention_layers,
    context_weights,
    full_heads,
    held_divided,
    kv_share,
    mamba_width,
    prompt_ranks,
    up_projections,
    window_heads,
    window_layers,
)


def candidate_stages(num_hidden_layers: Number, pipeline_parallel: Number,
                     ndim: int = 0) -> np.ndarray:
    """The pipeline stages that can be the fullest: (0, (L - 1) mod p, p - 1) [1].

    Stage s of p holds ceil((L - s)/p) layers. Dense layers lead. Where they are heavier than MoE
    layers, stage 0 has most of them, and the embedding; where they are lighter, the last of the
    stages with most layers has fewest, and of the others the last, which also has the head.

    Args:
        num_hidden_layers: layers L [1].
        pipeline_parallel: stages p [1].
        ndim: dimensions of the inputs that the result must broadcast against.

    Returns shape (3, ...): the first axis is the stage.

    Source: notebooks/memory.md, section Pipeline stages, for the layers of a stage.
    """
    layers, p = np.broadcast_arrays(num_hidden_layers, pipeline_parallel)
    stages = np.stack([np.zeros_like(p), layers - 1 - p * floor_div(layers - 1, p), p - 1])
    return stages.reshape(3, *(1,) * (ndim - p.ndim), *p.shape)


def vision_weights(q: Inputs) -> Number:
    """Weights of a rank's part of the vision tower and its projector [B].

    Tensor-parallel ranks divide it if they divide its heads; some of it is whole on each.

    Args:
        q: input symbols as attributes.

    Source: notebooks/memory.md, section Pipeline stages.
    """
    t, undivided = q.tensor_parallel, q.vision_whole_parameters
    uneven = (q.vision_heads % t > 0) | (q.vision_whole > 0)
    divided = (q.vision_parameters - undivided) / select(uneven, 1, t)
    return select(q.text_only > 0, 0, q.activation_element_bytes * (undivided + divided))


@dataclass(frozen=True, eq=False)
class Weights:
    """Weight bytes [B] on a device, how experts are spread [1]; ``stage_*`` by stage."""

    attention_weights_per_layer: Number
    context_weights_per_layer: Number
    dense_layer_weights: Number
    moe_layer_weights: Number
    embedding_weights: Number
    head_matrix_weights: Number
    head_weights: Number
    vision_weights: Number
    stage_layers: np.ndarray
    stage_first_layer: np.ndarray
    stage_bare_layers: np.ndarray
    stage_dense_layers: np.ndarray
    stage_weights: np.ndarray
    weights_per_device: Number
    stage_replicated_weights: np.ndarray
    replicated_weights_per_device: Number
    stage_redundant_weights: np.ndarray
    redundant_weights_per_device: Number
    routed_ranks: Number
    expert_slices: Number
    prompt_ranks: Number


def weights(attention: str, q: Inputs, n: Parameters, stage: np.ndarray) -> Weights:
    """Weight bytes of each candidate stage and of the fullest device [B].

    Tensor parallelism cuts heads, MLP columns and vocabulary rows; MLA's down-projections, norms
    and the router stay whole on every rank. Routed experts are spread over ``expert_shards``. An
    engine may cut dense MLPs, shared experts and the head over the ranks of all replicas.

    Args:
        attention: ``mla`` or ``gqa``.
        q: input symbols as attributes.
        n: the model's parameters.
        stage: pipeline stages, shape (stages, ...).

    Source: notebooks/memory.md, sections The weights of a layer and Pipeline stages.
    """
    t, p = q.tensor_parallel, q.pipeline_parallel
    joint = t * select((q.jointly_cut > 0) & gathers(q), q.data_parallel, 1)
    per_layer, beyond = layer_weights(q, n), context_weights(q, n)
    dense_layer = per_layer + beyond + q.dense_mlp_weight_bytes * n.dense_mlp_parameters / joint
    router = q.router_weight_bytes * n.router_parameters
    shared = select(q.shared_expert_ranks > 0, 0, _shared_bytes(q, n) / joint)
    moe_layer = per_layer + beyond + router + shared + fullest_layer_weights(q, n)
    rows = ceil_div(q.vocab_size, t)
    embedding = q.embedding_weight_bytes * rows * q.hidden_size
    final_norm = after_layers(q, n)
    matrix = q.head_weight_bytes * rows * q.hidden_size
    # a tied head is the embedding's matrix; on another stage than that, it is a copy
    stored = maximum(q.separate_head, minimum(1, p - 1))
    head = (stored * q.head_weight_bytes * ceil_div(q.vocab_size, joint) * q.hidden_size
            + final_norm)

    layers = ceil_div(q.num_hidden_layers - stage, p)
    even = floor_div(q.num_hidden_layers, p)  # layers of every stage
    first = stage * even + minimum(stage, q.num_hidden_layers - p * even)
    bare, dense, moe = stage_networks(q, n, layers, first)
    is_last = stage == p - 1
    tower = vision_weights(q)
    stored = ((stage == 0) * (embedding + tower) + bare * (per_layer + beyond)
              + dense * dense_layer + moe * moe_layer + is_last * head)
    dealt = held_divided(q, n) + n.attention_kv_parameters
    undivided = select(beyond > 0, dealt, _copied_heads(q, n) if attention == GQA else 0)
    copied = (layers * (_undivided(q, n) + q.attention_weight_bytes * undivided)
              + moe * router + is_last * final_norm)
    spare = moe * _experts_bytes(q, n, q.redundant_experts)
    return Weights(
        attention_weights_per_layer=per_layer, context_weights_per_layer=beyond,
        dense_layer_weights=dense_layer, moe_layer_weights=moe_layer, embedding_weights=embedding,
        head_matrix_weights=matrix, head_weights=head, vision_weights=tower, stage_layers=layers,
        stage_first_layer=first, stage_bare_layers=bare, stage_dense_layers=dense,
        stage_weights=stored, weights_per_device=stored.max(axis=0),
        stage_replicated_weights=copied, replicated_weights_per_device=copied.max(axis=0),
        stage_redundant_weights=spare, redundant_weights_per_device=spare.max(axis=0),
        routed_ranks=routed_ranks(q), expert_slices=expert_slices(q), prompt_ranks=prompt_ranks(q),
    )


def layer_weights(q: Inputs, n: Parameters) -> Number:
    """Bytes of the attention of a layer on a rank, mean layer, norms included [B].

    Args:
        q: input symbols as attributes.
        n: the model's parameters.

    Source: notebooks/memory.md, section The weights of a layer.
    """
    return _undivided(q, n) + q.attention_weight_bytes * (
        n.attention_divided_parameters / q.tensor_parallel + kv_share(q, n, q.tensor_parallel))


def stage_networks(q: Inputs, n: Parameters, layers: Number, first: Number
                   ) -> tuple[Number, Number, Number]:
    """Layers of a stage without a feed-forward network, with a dense one and with experts [1].

    Layers without one are spread over the model: a stage has its part of them, in whole layers at
    least. Dense ones lead, or are all that have a network.

    Args:
        q: input symbols as attributes.
        n: the model's parameters.
        layers: of the stage [1].
        first: the stage's first layer, counted from 0 [1].

    Source: notebooks/memory.md, section Pipeline stages.
    """
    bare = np.floor(layers * q.layers_without_mlp / q.num_hidden_layers)
    with_network = layers - bare
    leading = clip(q.first_k_dense_replace - first, 0, with_network)
    dense = select(n.moe_layers > 0, leading, with_network)
    return bare, dense, with_network - dense


def _copied_heads(q: Inputs, n: Parameters) -> Number:
    """Projections of keys and values that other ranks hold too, there being fewer heads [1]."""
    t, windowed = q.tensor_parallel, n.window_kv_parameters
    return (select(t > q.num_key_value_heads,
                   (n.attention_kv_parameters - windowed) / q.num_key_value_heads, 0)
            + select(t > q.window_num_key_value_heads,
                     windowed / q.window_num_key_value_heads, 0))


def _undivided(q: Inputs, n: Parameters) -> Number:
    """Bytes of a layer's attention that every rank has whole, norms and streams included [B]."""
    return (q.attention_weight_bytes * n.attention_replicated_parameters
            + q.norm_weight_bytes * n.norm_parameters
            + q.compressor_weight_bytes * n.compressor_parameters
            + q.hyper_weight_bytes * n.hyper_parameters)


def after_layers(q: Inputs, n: Parameters) -> Number:
    """Bytes of the norm and of what joins streams before the head, whole on every rank [B].

    Args:
        q: input symbols as attributes.
        n: the model's parameters.

    Source: notebooks/memory.md, section Pipeline stages.
    """
    return (q.norm_weight_bytes * q.hidden_size
            + q.hyper_weight_bytes * n.hyper_head_parameters)


def fullest_layer_weights(q: Inputs, n: Parameters) -> Number:
    """Bytes of a layer's experts that not every device has, on the one with most of them [B].

    Routed ones and copies, less those that are elsewhere; or shared ones on ranks of their own.

    Args:
        q: input symbols as attributes.
        n: the model's parameters.

    Source: notebooks/memory.md, section The weights of a layer.
    """
    apart = select(q.shared_expert_ranks > 0, _shared_bytes(q, n), 0)
    return maximum(_experts_bytes(q, n, q.n_routed_experts + q.redundant_experts), apart)


def _shared_bytes(q: Inputs, n: Parameters) -> Number:
    return q.shared_expert_weight_bytes * n.shared_expert_parameters


def _experts_bytes(q: Inputs, n: Parameters, experts: Number) -> Number:
    """A device's part of so many experts of a layer, padded, less what is elsewhere [B]."""
    per_expert = q.routed_expert_weight_bytes * n.routed_expert_parameters / expert_shards(q)
    slice_width = q.moe_intermediate_size / expert_slices(q)
    padding = (_padded(q.routed_expert_hidden_size, q.expert_width_multiple)
               * _padded(slice_width, q.expert_slice_multiple))
    return (1 - q.offloaded_share) * (1 - q.fetched_share) * experts * per_expert * padding


def _padded(width: Number, multiple: Number) -> Number:
    """A width rounded up to a multiple, over itself [1]."""
    return multiple * ceil_div(width, multiple) / maximum(1, width)


@dataclass(frozen=True, eq=False)
class Added:
    """Memory of engines beside the model's weights [B]; ``stage_*`` have the stage first.

    Attributes:
        mtp_weights: the layer that drafts tokens, or a drafter of its own, on the last stage.
        stage_absorbed_copies, absorbed_copies_per_device: MLA's up-projections, rearranged for
            decode.
        exchange_buffers: what dispatch and combine send from and receive in.
    """

    mtp_weights: Number
    stage_absorbed_copies: np.ndarray
    absorbed_copies_per_device: Number
    exchange_buffers: Number


def cache_layers(q: Inputs, w: Weights, stage: np.ndarray) -> np.ndarray:
    """Layers of a stage that keep a cache [1]: its own, and on the last one that which drafts.

    Args:
        q: input symbols as attributes.
        w: weights by stage [B].
        stage: pipeline stages, shape (stages, ...).

    Source: notebooks/memory.md, section What else engines keep in memory.
    """
    return w.stage_layers + (stage == q.pipeline_parallel - 1) * drafting_layers(q)


def added(attention: str, q: Inputs, n: Parameters, w: Weights, stage: np.ndarray) -> Added:
    """Memory of an engine beside weights, cache and activations [B].

    Args:
        attention: ``mla`` or ``gqa``.
        q: input symbols as attributes.
        n: the model's parameters.
        w: weights by stage [B].
        stage: pipeline stages, shape (stages, ...).

    Source: notebooks/memory.md, section What else engines keep in memory.
    """
    d = q.hidden_size
    layer = select(n.moe_layers > 0, w.moe_layer_weights, w.dense_layer_weights)
    joins = 2 * d * d * q.activation_element_bytes + 3 * d * q.norm_weight_bytes
    looked_up = select(q.pipeline_parallel > 1, w.embedding_weights, 0)
    apart = q.activation_element_bytes * (
        (q.drafter_parameters + q.drafter_head_parameters) / q.tensor_parallel
        + q.drafter_whole_parameters)
    drafting = select(q.drafter_parameters > 0, apart,
                      q.num_nextn_predict_layers * (layer + joins))
    mtp = select(q.draft_tokens > 0, drafting + looked_up, 0)
    copies = np.zeros_like(w.stage_weights)
    if attention == MLA:
        copies = copies + (q.absorbed_copies * q.activation_element_bytes * up_projections(q)
                           / (q.tensor_parallel / w.prompt_ranks) * cache_layers(q, w, stage)
                           * attention_layers(q) / q.num_hidden_layers)
    return Added(mtp, copies, copies.max(axis=0), exchange_buffers(q, n))


@dataclass(frozen=True, eq=False)
class Activations:
    """Elements per token that live at once [1], and their bytes in the largest step [B]."""

    attention_activation_width: Number
    dense_activation_width: Number
    moe_activation_width: Number
    layer_activations: Number
    logit_activations: Number
    expert_activations: Number
    index_workspace: Number
    activations_per_device: Number


def activations(attention: str, q: Inputs, moe_layers: Number, requests: Number) -> Activations:
    """Activations of the largest step: its widest moment, layer by layer or at the head [B].

    Workspaces of the experts and of an indexer last from layer to layer, and are added, unless an
    engine frees them; it may send tokens through the experts in chunks. A pool that only decodes
    is taken to be started for steps of its requests and their drafts.

    Args:
        attention: ``mla`` or ``gqa``.
        q: input symbols as attributes.
        moe_layers: layers with routed experts [1].
        requests: requests of one data-parallel rank [request], one row of logits each in a step,
            unless the engine states how many it runs at once.

    Source: notebooks/memory.md, section Activations.
    """
    t, d, streams = q.tensor_parallel, q.hidden_size, q.hc_mult
    heads = q.num_attention_heads / t
    if attention == GQA:
        core = maximum(
            select(q.full_attention_layers > 0, _core_width(q, full_heads(q)), 0),
            select(window_layers(q) > 0, _core_width(q, window_heads(q)), 0))
    elif attention == CSA:
        core = (q.q_lora_rank + q.head_dim + heads * 2 * q.head_dim
                + q.o_groups * q.o_lora_rank / t)
    else:
        query_key = q.qk_nope_head_dim + q.qk_rope_head_dim
        core = q.kv_lora_rank + q.qk_rope_head_dim + heads * (2 * query_key + 2 * q.v_head_dim)
    attention_width = streams * d + maximum(core, mamba_width(q) / t)
    into = q.mlp_matrices - 1
    dense_width = (1 + streams) * d + into * q.intermediate_size / t
    replicas = ranks_in_step(q)  # a token of each of them makes the rows
    rows_per_token = maximum(
        (1 - q.offloaded_share) * q.num_experts_per_tok * replicas / routed_ranks(q),
        shared_apart(q, q.n_shared_experts * replicas))
    sliced, outer = q.moe_intermediate_size / expert_slices(q), q.routed_expert_hidden_size
    moe_width = select(moe_layers > 0, rows_per_token * (
        maximum(into * sliced, outer) + maximum(sliced, outer)), 0)
    widest = maximum(attention_width, (1 + streams) * d)
    widest = select(q.first_k_dense_replace > 0, maximum(widest, dense_width), widest)
    element = q.activation_element_bytes
    # a pool that only decodes has no longer step than its requests and their drafts
    tokens = select(q.separate_pools * (q.output_tokens - 1) > 0, minimum(
        q.max_num_batched_tokens, requests * (1 + q.draft_tokens)), q.max_num_batched_tokens)
    in_layer = tokens * element * widest
    running = select(q.max_num_seqs > 0, q.max_num_seqs, requests)
    rows = minimum(running, tokens)  # of a step with as many tokens
    at_head = q.vocab_size * rows * select(
        q.sampler_bytes > 0, q.sampler_bytes, q.logit_element_bytes)
    of_head = at_head + tokens * element * d
    chunk = select(q.expert_chunk_tokens > 0, q.expert_chunk_tokens / replicas, tokens)
    experts = minimum(tokens, chunk) * element * moe_width
    freed = q.expert_buffers_freed * experts
    keys = select(q.indexer_layers > 0, q.index_workspace_rows * q.context_tokens
                  / q.compress_ratio * q.index_head_dim * q.kv_index_element_bytes, 0)
    return Activations(attention_width, dense_width, moe_width, in_layer, at_head, experts, keys,
                       maximum(in_layer + freed, of_head) + experts - freed + keys)


def _core_width(q: Inputs, heads: Heads) -> Number:
    """Queries, outputs, keys and values of a token on a rank, grouped-query attention [1]."""
    t = q.tensor_parallel
    return heads.pair * (heads.query / t + maximum(1, heads.kv / t))


@dataclass(frozen=True, eq=False)
class Working:
    """Memory that is neither weights nor cache on a device [B].

    Attributes:
        loading_reserve: of a process before it loads weights.
        workspaces: of libraries, outside the framework's allocator.
        graph_memory: captured graphs.
        charged_memory: part of all that the engine charges to its share.
        working_memory: all of it.
    """

    loading_reserve: Number
    workspaces: Number
    graph_memory: Number
    charged_memory: Number
    working_memory: Number


@dataclass(frozen=True, eq=False)
class Memory(Pages, Working):
    """The budget of the fullest device [B], and the concurrency that it allows [request]."""

    requests_per_rank: Number
    window_blocks_per_request: Number
    usable_memory: Number
    loaded_weights: Number
    stage_free_for_kv: np.ndarray
    free_for_kv_per_device: Number
    stage_cache_layers: np.ndarray
    stage_window_layers: np.ndarray
    layer_block_bytes: Number
    stage_block_bytes: np.ndarray
    layer_state_pool: Number
    stage_kv_blocks: np.ndarray
    kv_blocks: Number
    cache_tokens: Number
    longest_requests: Number
    max_concurrency: Number
    mean_requests: Number
    host_requests: Number
    served_requests: Number
    served_per_rank: Number
    found_hit_share: Number
    loaded_hit_share: Number
    stage_workload_kv: np.ndarray
    kv_per_device: Number
    headroom_per_device: Number
    memory_per_device: Number


def working(q: Inputs, a: Added, activations_per_device: Number) -> Working:
    """Memory of runtime, libraries, graphs and activations, and its part in the share [B].

    Args:
        q: input symbols as attributes.
        a: what is kept besides [B].
        activations_per_device: of the largest step [B].

    Source: notebooks/memory.md, section What is left for the cache.
    """
    ranks = q.tensor_parallel * q.pipeline_parallel * q.data_parallel
    communicators = select(ranks > 1, q.communicator_reserve, 0)
    before = q.runtime_reserve + communicators
    beside = q.workspace_reserve + select(q.tensor_parallel > 1, q.parallel_reserve, 0)
    graphs = q.captured * q.graph_layer_memory * ceil_div(
        q.num_hidden_layers, q.pipeline_parallel)
    step = activations_per_device + a.exchange_buffers + beside
    charged = (q.activations_in_share * step + q.runtime_in_share * q.runtime_reserve
               + q.communicators_in_share * communicators
               + q.graphs_in_share * graphs)
    return Working(before, beside, graphs, charged, before + graphs + step)


def _usable(q: Inputs, w: Working, loaded: np.ndarray) -> Number:
    """Memory that an engine may use [B], beside what a step takes and what is kept by stage."""
    seen = q.memory_capacity - q.system_reserve

    def of_left() -> Number:
        left = maximum(0, seen - w.working_memory - loaded.max(axis=0))
        return seen - (1 - q.memory_utilization) * left

    def of_seen() -> Number:
        base = seen - q.share_of_free * w.loading_reserve
        return minimum(seen, q.memory_utilization * base
                       + w.working_memory - w.charged_memory)

    return either(q.share_of_left > 0, of_left, of_seen)


def places(q: Inputs, blocks: Number, p: Pages) -> Number:
    """Requests of mean length that a replica's cache holds at once, not a whole number [request].

    An engine that fills steps with prompts and decodes takes blocks as answers grow, half of an
    answer on average; another one sets aside all of it.

    Args:
        q: input symbols as attributes.
        blocks: of the cache of a replica [block].
        p: blocks of a request.

    Source: notebooks/memory.md, section What is left for the cache.
    """
    return maximum(0, blocks - p.prompt_blocks) / _place_blocks(q, p)


def _place_blocks(q: Inputs, p: Pages) -> Number:
    """Blocks of a request of mean length, at least one [block]."""
    mixed = (q.mixed_steps > 0) & (q.separate_pools <= 0)
    answer = q.output_tokens * (1 + q.answer_variation * q.answer_variation)
    tokens = q.input_tokens + select(mixed, answer / 2, answer)
    blocks = (np.ceil(tokens / (p.block_tokens * q.decode_context_parallel))
            + p.state_blocks_per_request)
    return maximum(1, blocks)


def kept_share(capacity: Number, running: Number, idle: Number) -> Number:
    """Share of the cached prefixes of waiting or thinking users that a full cache still has [1].

    Args:
        capacity: requests that the cache holds at once [request].
        running: requests that are being served [request].
        idle: others whose prefixes were cached: of those who wait, or think [request].

    Source: notebooks/memory.md, section What is left for the cache.
    """
    return select(idle > 0, clip((capacity - running) / maximum(1, idle), 0, 1), 1)


def found_shares(q: Inputs, capacity: Number, on_host: Number, running: Number, idle: Number
                 ) -> tuple[Number, Number]:
    """Share of a prompt that a full cache still has, and the part of it in host memory only [1].

    Host memory has a copy of what the cards compute, so that it adds nothing up to the size of
    their cache, and replaces it beyond.

    Args:
        q: input symbols as attributes.
        capacity, on_host: requests that the cache of a replica's cards, and their host memory,
            hold at once [request]; 0 without a cache there.
        running: requests that are being served [request].
        idle: others whose prefixes were cached [request].

    Source: notebooks/memory.md, section What is left for the cache.
    """
    on_cards, stated = kept_share(q.data_parallel * capacity, running, idle), q.prefix_hit_share
    loaded = either(q.host_prefix_share > 0, lambda: q.host_prefix_share * on_cards, lambda: 0.0)
    if is_absent(on_host):
        return stated * on_cards, loaded
    cached = kept_share(q.data_parallel * maximum(capacity, on_host), running, idle)
    return stated * cached, plus(stated * (cached - on_cards), loaded)


def served_requests(q: Inputs, most: Number, capacity: Number) -> Number:
    """Requests in flight that have a place in the cache; all others wait for one [request].

    Each at its longest finds one, or more of them where they are shorter on average. Where not even
    one fits, they are those of cards with enough memory.

    Args:
        q: input symbols as attributes.
        most: requests that fit at their longest [request].
        capacity: requests of mean length that a replica's cache holds at once [request].

    Source: notebooks/memory.md, section What is left for the cache.
    """
    room = maximum(most, q.data_parallel * np.floor(capacity))
    return select(most > 0, minimum(q.concurrency, room), q.concurrency)


def budget(attention: str, q: Inputs, w: Weights, a: Added, c: Cache, stage: np.ndarray,
           activations_per_device: Number, requests_per_rank: Number) -> Memory:
    """Usable memory less reserve, weights and activations, filled with whole blocks of cache.

    An engine's utilization is a share of what the runtime reports (the device's memory less what
    its system keeps), of what is free before it loads, or of what weights and a step leave.

    Args:
        attention: ``mla``, ``gqa`` or ``csa``.
        q: input symbols as attributes.
        w: weights by stage [B].
        a: what is kept besides [B].
        c: cache per token [B/token].
        stage: pipeline stages, shape (stages, ...).
        activations_per_device: of the largest step [B].
        requests_per_rank: requests of the fullest data-parallel rank [request].

    Source: notebooks/memory.md, sections What is left for the cache and What an engine allocates.
    """
    beside = working(q, a, activations_per_device)
    resident = q.loading_overhead * (w.stage_weights + a.stage_absorbed_copies + a.mtp_weights * (
        stage == q.pipeline_parallel - 1))
    usable = _usable(q, beside, resident)
    free = usable - beside.working_memory - resident
    cached = cache_layers(q, w, stage)
    windowed = np.floor(w.stage_layers * window_layers(q) / q.num_hidden_layers)
    p = pages(attention, q, c)
    in_window = minimum(p.blocks_per_request, 1 + ceil_div(
        q.sliding_window - 1, p.block_tokens * q.decode_context_parallel))
    in_window = select(q.window_blocks_freed > 0, in_window, p.blocks_per_request)
    # a layer with a window keeps the last blocks of a request, of any block its share of them
    of_layer = layer_block_bytes(attention, q, c, p)
    block = of_layer * (cached - windowless(q, c, windowed, in_window / p.blocks_per_request))
    pool = layer_state_pool(attention, q, c)
    stage_blocks = maximum(0, np.floor((free - cached * pool) / block))
    blocks = stage_blocks.min(axis=0)
    workload = cached * pool + block * (
        requests_per_rank * p.request_blocks + p.prompt_blocks)
    most = q.data_parallel * floor_div(maximum(0, blocks - p.prompt_blocks), p.request_blocks)
    capacity = places(q, blocks, p)
    on_host = either(q.host_cache_memory > 0, lambda: q.host_cache_memory / (
        block.max(axis=0) * _place_blocks(q, p)), lambda: 0.0)
    served = served_requests(q, most, capacity)
    hit_share, loaded = found_shares(q, capacity, on_host, served, q.concurrency - served)
    return Memory(
        requests_per_rank=requests_per_rank, **vars(p), window_blocks_per_request=in_window,
        **vars(beside), usable_memory=usable, loaded_weights=resident.max(axis=0),
        stage_free_for_kv=free, free_for_kv_per_device=free.min(axis=0),
        stage_cache_layers=cached, stage_window_layers=windowed,
        layer_block_bytes=of_layer, stage_block_bytes=block, layer_state_pool=pool,
        stage_kv_blocks=stage_blocks, kv_blocks=blocks, cache_tokens=_cache_tokens(q, p, blocks),
        longest_requests=blocks / (p.request_blocks + p.prompt_blocks),
        max_concurrency=most, mean_requests=capacity, host_requests=on_host, served_requests=served,
        found_hit_share=hit_share, loaded_hit_share=loaded,
        served_per_rank=ceil_div(served, q.data_parallel),
        stage_workload_kv=workload, kv_per_device=workload.max(axis=0),
        headroom_per_device=(free - workload).min(axis=0),
        memory_per_device=(resident + beside.working_memory + workload).max(axis=0),
    )


def _cache_tokens(q: Inputs, p: Pages, blocks: Number) -> Number:
    """Tokens of the cache as its engine prints them [token]: pages of any group alike, or requests
    of the longest length."""
    grouped = select(q.page_groups > 0, p.full_groups / (p.full_groups + p.limited_groups), 1)
    return select(q.tokens_by_length > 0, blocks * q.context_tokens / (
        p.request_blocks + p.prompt_blocks),
                  blocks * grouped * p.block_tokens * q.decode_context_parallel)
