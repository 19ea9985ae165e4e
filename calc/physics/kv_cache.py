"""The KV cache: bytes of a token and of a request, blocks of engines, positions that are met.

Bytes [B], not GB and not GiB. Where layers differ, those of a layer are of the mean layer. Three
allocators: one that keeps of every layer what it needs; vLLM's, whose groups of layers share one
size of page; and SGLang's, with pools of their own for windows and states.

Source: notebooks/memory.md, section What an engine allocates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from calc.physics.arrays import (
    Inputs,
    Number,
    anywhere,
    ceil_div,
    either,
    floor_div,
    maximum,
    minimum,
    scaled,
    select,
)
from calc.physics.parameters import (
    CSA,
    KEY_AND_GATE,
    MLA,
    OVERLAPPING,
    Heads,
    attention_layers,
    full_heads,
    linear_state,
    over_kinds,
    window_heads,
    window_layers,
)


@dataclass(frozen=True, eq=False)
class Cache:
    """Bytes of the KV cache, per token [B/token] but for the state [B/request].

    Attributes:
        kv_entry_bytes: of an entry that the core reads in a layer, on one device.
        kv_window_entry_bytes: of one in a layer with a window.
        kv_index_bytes_per_token: of an index key, which is whole on every device.
        kv_layer_bytes_per_token: of a layer.
        kv_bytes_per_token: of the whole model.
        kv_layer_bytes_per_token_per_device: of a layer, on one device, for each token whose entry
            it has.
        state_bytes_per_request: of a request whatever its length, the whole model.
        state_bytes_per_device: of it on one device, all layers [B/request].
    """

    kv_entry_bytes: Number
    kv_window_entry_bytes: Number
    kv_index_bytes_per_token: Number
    kv_layer_bytes_per_token: Number
    kv_bytes_per_token: Number
    kv_layer_bytes_per_token_per_device: Number
    state_bytes_per_request: Number
    state_bytes_per_device: Number


def cache(attention: str, q: Inputs) -> Cache:
    """KV-cache bytes per token [B/token], and of a request's state [B/request].

    MLA caches one latent and one rotary key for all heads, and, where an indexer chooses what to
    attend to, one key for that: nothing to cut, so each tensor-parallel rank has a copy. Compressed
    attention caches one row for several tokens. Grouped-query attention caches keys and values of
    its KV heads, cut by heads. What layers with a window need not keep is in the budget, see
    :func:`calc.physics.memory.budget`.

    Args:
        attention: ``mla``, ``gqa`` or ``csa``.
        q: input symbols as attributes.

    Source: notebooks/memory.md, sections KV cache and Compressed entries, windows and states.
    """
    index, layers = q.index_head_dim * q.kv_index_element_bytes, q.num_hidden_layers
    attending, whole_state = attention_layers(q), 0
    if attention == MLA:
        windowed = entry = q.kv_lora_rank * q.kv_cache_element_bytes + (
            q.qk_rope_head_dim * q.kv_rope_element_bytes)
        indexed = select(q.index_every_layer * q.indexer_layers > 0,
                         maximum(q.indexer_layers, attending), q.indexer_layers)
        keys, stored = (layers_of * index / q.compress_ratio
                        for layers_of in (q.indexer_layers, indexed))
        of_all = q.decode_context_parallel / index_parts(q)  # beside a rank's own entry
        layer, on_device = ((attending * entry + indices) / layers
                            for indices in (keys, stored * of_all))
    elif attention == CSA:
        windowed = entry = ((q.head_dim - q.qk_rope_head_dim) * q.kv_cache_element_bytes
                            + q.qk_rope_head_dim * q.kv_rope_element_bytes)
        layer = on_device = (
            (q.compressed_layers * entry + q.indexer_layers * index) / q.compress_ratio
            + q.heavy_layers * entry / q.heavy_compress_ratio) / layers
        whole_state = layers * q.sliding_window * entry + sum(compressor_states(q))
    else:
        entry, windowed = (_on_rank(q, heads) for heads in (full_heads(q), window_heads(q)))
        keys = q.indexer_layers * index / q.compress_ratio
        layer, on_device = ((over_kinds(q, partial(of, q)) + keys) / layers
                            for of in (_of_heads, _on_rank))
    linear = linear_state(q)
    return Cache(entry, windowed, index, layer, layers * layer, on_device, whole_state + linear,
                 whole_state + linear / q.tensor_parallel)


def _of_heads(q: Inputs, heads: Heads) -> Number:
    """Keys and values of a token in a layer, of all heads [B/token]."""
    return heads.kv * heads.pair * q.kv_cache_element_bytes


def _on_rank(q: Inputs, heads: Heads) -> Number:
    """Keys and values of a token in a layer, of the heads of a rank [B/token]."""
    return _of_heads(q, heads) / minimum(q.tensor_parallel, heads.kv)


def index_parts(q: Inputs) -> Number:
    """Ranks over which the index keys of a request are split [1].

    Those that share its cache, unless each of them keeps all keys.

    Args:
        q: input symbols as attributes.

    Source: notebooks/memory.md, section KV cache.
    """
    return select(q.index_replicated > 0, 1, q.decode_context_parallel)


def compressor_states(q: Inputs) -> tuple[Number, Number]:
    """States of compressors of either kind for entries to come, all layers [B/request].

    Keys and gates of as many tokens as an entry pools, of both windows where two overlap.

    Args:
        q: input symbols as attributes.

    Source: notebooks/memory.md, section Compressed entries, windows and states.
    """
    gathered = q.compress_ratio * OVERLAPPING * OVERLAPPING * KEY_AND_GATE * (
        q.compressed_layers * q.head_dim + q.indexer_layers * q.index_head_dim)
    heavy = q.heavy_compress_ratio * KEY_AND_GATE * q.heavy_layers * q.head_dim
    return q.state_element_bytes * gathered, q.state_element_bytes * heavy


def drafting_layers(q: Inputs) -> Number:
    """Layers that a pass of the drafting layers goes through, each with a cache [1]: one, or all of
    a module that drafts a block in one pass; none without drafts.

    Args:
        q: input symbols as attributes.

    Source: notebooks/memory.md, section What else engines keep in memory.
    """
    return (q.draft_tokens > 0) * select(q.draft_block > 1, q.num_nextn_predict_layers, 1)


CLOSE = 3, 2  # kinds of layers form groups of the larger if it is less than 3/2 of the smaller


@dataclass(frozen=True, eq=False)
class Pages:
    """Blocks of a request and the groups of layers behind them.

    Attributes:
        block_tokens: tokens of a block [token/block].
        group_layers: layers of a group [1].
        full_groups: groups of layers that keep every token [1].
        limited_groups: groups of layers with a window or a state [1].
        blocks_per_request: of the tokens of the longest request [block/request].
        state_blocks_per_request: of windows and states, while a request decodes [block/request].
        request_blocks: both [block/request].
        prompt_blocks: further ones that windows and states take while prompts are computed, of all
            requests of a step together [block].
    """

    block_tokens: Number
    group_layers: Number
    full_groups: Number
    limited_groups: Number
    blocks_per_request: Number
    state_blocks_per_request: Number
    request_blocks: Number
    prompt_blocks: Number


def pages(attention: str, q: Inputs, c: Cache) -> Pages:
    """Blocks that the longest request takes [block], and how layers are grouped.

    Args:
        attention: ``mla``, ``gqa`` or ``csa``.
        q: input symbols as attributes.
        c: cache per token and state per request.

    Source: notebooks/memory.md, section What an engine allocates.
    """
    block = _block_tokens(attention, q, c)
    blocks = ceil_div(q.context_tokens, block * q.decode_context_parallel)
    prompts = q.retained_batches * q.max_num_batched_tokens - 1
    if attention == CSA:
        group, full, limited = _compressed_groups(q)
        grouped, admitted = (_compressed_pages(q, limited, new) for new in (
            q.draft_tokens, prompts))
    else:
        group, full, limited = _groups(q)
        in_page = block * _page_tokens(q, c)[1] / _page_tokens(q, c)[0]  # of a window
        grouped, admitted = (ceil_div(_limited_pages(q, in_page, group, new), full) for new in (
            q.draft_tokens, prompts))
    per_token = q.num_hidden_layers * c.kv_layer_bytes_per_token_per_device
    needed = ceil_div(c.state_bytes_per_device, block * per_token)
    slots = select(q.linear_layers * q.state_share > 0, ceil_div(
        q.slots_per_request * c.state_bytes_per_device,
        _divisor(q.state_share) * block * per_token), 0)
    in_windows = ceil_div(q.sliding_window, _divisor(q.window_share) * block)
    pooled = maximum(0, select(q.window_share > 0, maximum(slots, in_windows), slots) - blocks)
    extra = select(q.page_groups > 0, grouped,
                   select(q.window_share + q.state_share > 0, pooled, needed))
    beyond = select(q.page_groups > 0, maximum(0, admitted - grouped), 0)
    return Pages(block, group, full, limited, blocks, extra, blocks + extra, beyond)


def _divisor(share: Number) -> Number:
    """A share, or 1 where it is none and divides nothing [1]."""
    return select(share > 0, share, 1)


def beside_tokens(everything: Mapping[str, Any]) -> float:
    """Blocks that the longest request needs besides those of its tokens [block].

    Args:
        everything: quantities of ``calc.evaluate``, scalars.

    Source: notebooks/memory.md, section What an engine allocates.
    """
    return float(everything["state_blocks_per_request"] + everything["prompt_blocks"])


def _block_tokens(attention: str, q: Inputs, c: Cache) -> Number:
    """Tokens of a block [token/block]: raised until a page holds as many entries of a window as the
    smallest block has tokens, and a state of linear attention."""
    if attention == CSA:
        return q.block_size * select(q.compressed_blocks > 0, q.compress_ratio, 1)
    tokens = q.block_size * _page_tokens(q, c)[0]
    entry = _full_layer(q, c) * q.num_hidden_layers / attention_layers(q)
    state = c.state_bytes_per_device / maximum(1, q.linear_layers)
    raised = tokens * maximum(1, ceil_div(state, tokens * entry))
    return select(q.page_groups * q.linear_layers > 0, raised, tokens)


def _page_tokens(q: Inputs, c: Cache) -> tuple[Number, Number]:
    """Tokens of a page over the smallest block: of layers without a window, and with one [1].

    Layers share one size of page, that of the larger entries; the others put more tokens into it.
    """
    full, windowed = c.kv_entry_bytes, c.kv_window_entry_bytes
    larger, shared = maximum(full, windowed), (q.page_groups > 0) & (window_layers(q) > 0)
    return (select(shared, floor_div(larger, full), 1),
            select(shared, floor_div(larger, windowed), 1))


def _full_layer(q: Inputs, c: Cache) -> Number:
    """A token of the mean layer on a device, if no layer had a window [B/token]."""
    return c.kv_layer_bytes_per_token_per_device + window_layers(q) * (
        c.kv_entry_bytes - c.kv_window_entry_bytes) / q.num_hidden_layers


def _limited(q: Inputs) -> tuple[Number, Number]:
    """Layers with a window, and those with a state of linear attention [1]."""
    return maximum(0, window_layers(q)), q.linear_layers


def _groups(q: Inputs) -> tuple[Number, Number, Number]:
    """Layers of a group, and groups of full and of limited layers [1]."""
    full = maximum(1, q.full_attention_layers)
    windows, linear = _limited(q)
    limited = windows + linear
    most, least = maximum(full, limited), minimum(full, limited)
    larger, smaller = CLOSE
    close = smaller * most < larger * least
    group = select(limited > 0, select(close, most, maximum(1, least)), full)
    return group, ceil_div(full, group), ceil_div(windows, group) + ceil_div(linear, group)


def _limited_pages(q: Inputs, block: Number, group: Number, new: Number) -> Number:
    """Pages of a request in groups with a window or a state [block/request]."""
    windows, linear = _limited(q)
    return (ceil_div(windows, group) * _window_pages(q, q.sliding_window, block, new)
            + ceil_div(linear, group) * q.state_pages)


def _window_pages(q: Inputs, window: Number, tokens: Number, new: Number) -> Number:
    """Pages of a window before a token, with others that are new beside it [block/request]."""
    return ceil_div(minimum(window + new, q.context_tokens), tokens) + 1


def _compressed_groups(q: Inputs) -> tuple[Number, Number, Number]:
    """Slots of a page in groups of compressed attention, one full group, groups of windows [1]."""
    widest = maximum(q.compressed_layers, q.heavy_layers)
    windows = q.num_hidden_layers + drafting_layers(q)
    split = floor_div(2 * windows + widest, 2 * widest)  # to the nearest
    slots = maximum(widest, ceil_div(windows, split))
    return slots, 1, ceil_div(windows, slots)


def _compressed_pages(q: Inputs, windows: Number, new: Number) -> Number:
    """Pages of windows and compressors of a request [block/request]."""
    states = _window_pages(q, OVERLAPPING * q.compress_ratio, q.state_page_tokens, new)
    heavy = _window_pages(q, q.heavy_compress_ratio, q.heavy_page_tokens, new)
    entries = ceil_div(q.context_tokens, q.block_size * q.heavy_compress_ratio)
    return (windows * _window_pages(q, q.sliding_window, q.window_page_tokens, new) + states
            + select(q.heavy_layers > 0, heavy + select(q.compressed_blocks > 0, entries, 0), 0))


def page_bytes(q: Inputs, c: Cache, slots: Number) -> Number:
    """Bytes of a page of compressed attention, all layers [B/block].

    Args:
        q: input symbols as attributes.
        c: cache per token.
        slots: of a page, see :func:`pages`.

    Source: notebooks/memory.md, section What an engine allocates.
    """
    block = q.block_size * select(q.compressed_blocks > 0, q.compress_ratio, 1)

    def rounded(size: Number) -> Number:
        return q.page_rounding * ceil_div(size, q.page_rounding)

    entries = rounded(block / q.compress_ratio * c.kv_entry_bytes)
    keys = rounded(block / q.compress_ratio * c.kv_index_bytes_per_token)
    heavy = select(q.compressed_blocks > 0, 0, rounded(
        block / q.heavy_compress_ratio * c.kv_entry_bytes))
    # layers without an entry of a kind have an empty slot, unless pages are packed
    return select(q.packed_pages > 0, q.compressed_layers * entries + q.indexer_layers * keys
                  + q.heavy_layers * heavy,
                  slots * (entries + keys + select(q.heavy_layers > 0, heavy, 0)))


def layer_block_bytes(attention: str, q: Inputs, c: Cache, p: Pages) -> Number:
    """Bytes of a block, mean of the layers with a cache [B/block].

    Args:
        attention: ``mla``, ``gqa`` or ``csa``.
        q: input symbols as attributes.
        c: cache per token.
        p: blocks and groups.

    Source: notebooks/memory.md, section What an engine allocates.
    """
    layer, layers = c.kv_layer_bytes_per_token_per_device, q.num_hidden_layers
    block = p.block_tokens
    if attention == CSA:
        pooled = layers * q.sliding_window * c.kv_entry_bytes + _pooled_states(q)
        grouped = page_bytes(q, c, p.group_layers) / layers
        alone = block * (layer + q.window_share * pooled / maximum(1, q.sliding_window) / layers)
    else:
        full, windowed = _page_tokens(q, c)
        fill = maximum(1, windowed * c.kv_window_entry_bytes / (full * c.kv_entry_bytes))
        grouped = (block * p.group_layers * p.full_groups * fill
                   * select(q.page_groups > 0, _full_layer(q, c), layer) / attention_layers(q))
        counted = layer
        if attention == MLA:
            counted = select(q.plain_rows > 0, _plain_layer(q, c), layer)
        alone = block * counted * (1 + select(q.linear_layers > 0, q.state_share, 0))
    return select(q.page_groups > 0, grouped, alone)


def windowless(q: Inputs, c: Cache, windowed: Number, block_share: Number) -> Number:
    """Mean layers of a stage that a block leaves out, since windows keep less [1].

    Args:
        q: input symbols as attributes.
        c: cache per token.
        windowed: layers of the stage with a window [1].
        block_share: share of a request's blocks that such a layer keeps, without its own pool [1].

    Source: notebooks/memory.md, section What an engine allocates.
    """
    share, full = select(q.window_share > 0, q.window_share, block_share), c.kv_entry_bytes
    differ = c.kv_window_entry_bytes - full
    # an entry of theirs over the mean one
    size = 1 + q.full_attention_layers * differ / (
        attention_layers(q) * full + window_layers(q) * differ)
    return select(q.page_groups > 0, 0, windowed * (1 - share) * size)


def _plain_layer(q: Inputs, c: Cache) -> Number:
    """A token of the mean layer without scales, and with an index key in every layer [B/token]."""
    byte = q.activation_element_bytes / 2  # of which activations have two; scales add less
    element = byte * maximum(0.5, floor_div(q.kv_cache_element_bytes, byte))
    keys = select(q.index_topk > 0, c.kv_index_bytes_per_token, 0)
    return attention_layers(q) * ((q.kv_lora_rank + q.qk_rope_head_dim) * element + keys) / (
        q.num_hidden_layers)


def _pooled_states(q: Inputs) -> Number:
    """States of compressors that grow with the pool of windows, all layers [B/request].

    Drafts that are rejected must leave the states before them: there are twice as many.
    """
    picked, heavy = compressor_states(q)
    return (1 + (q.draft_tokens > 0)) * (picked + select(q.state_slots > 0, 0, heavy))


def layer_state_pool(attention: str, q: Inputs, c: Cache) -> Number:
    """State and windows that are set aside in a layer whatever runs [B].

    Args:
        attention: ``mla``, ``gqa`` or ``csa``.
        q: input symbols as attributes.
        c: cache per token.

    Source: notebooks/memory.md, section What an engine allocates.
    """
    if attention != CSA:
        return 0
    heavy = compressor_states(q)[1] / q.num_hidden_layers
    slots = select(q.max_num_seqs > 0, (q.state_slots > 0) * q.max_num_seqs, q.state_slots)
    return slots * (q.slot_window_tokens * c.kv_entry_bytes + heavy)


def most_picked(q: Inputs) -> Number:
    """Tokens of a context that the entries picked for a query cover at most [token]; 0: no limit.

    Args:
        q: input symbols as attributes.

    Source: notebooks/compute.md, section Compressed attention.
    """
    return q.index_topk * q.compress_ratio


def compressed_entries(q: Inputs, in_window: Number, picked: Number, seen: Number) -> Number:
    """Entries that compressed attention meets, in all layers [1].

    Every layer has its window, raw; then entries that an indexer picks, or all that are heavily
    compressed.

    Args:
        q: input symbols as attributes.
        in_window: tokens of the window [token].
        picked: tokens that the picked entries cover [token].
        seen: tokens of the context [token].

    Source: notebooks/compute.md, section Compressed attention.
    """
    return (q.num_hidden_layers * in_window + q.compressed_layers * picked / q.compress_ratio
            + q.heavy_layers * seen / q.heavy_compress_ratio)


def prefill_absorbed(q: Inputs, prompt: Number) -> Number:
    """Whether MLA prefills absorbed [1].

    If an indexer picks positions, and the prompt is long; or without a fused kernel. Compressed
    entries cannot be expanded.

    Args:
        q: input symbols as attributes.
        prompt: its tokens, cached ones included [token].

    Source: notebooks/compute.md, sections Sparse attention and Scores written to memory.
    """
    return either(q.index_topk > 0,
                  lambda: select((prompt > q.dense_prefill_tokens)
                                 | (q.o_groups > 0), 1, 0),
                  lambda: select(unfused(q), 1, 0))


def sparse_prompts(q: Inputs, batch: Any) -> Any:
    """Whether a step has prompts that attend to what an indexer picks; no decode step [1].

    Args:
        q: input symbols as attributes.
        batch: composition of the micro-batch.

    Source: notebooks/compute.md, section Sparse attention.
    """
    return (q.index_topk > 0) & (batch.absorbed > 0) & (not batch.decoding)


def few_cached(q: Inputs, cached: Number) -> Any:
    """Whether a step's prompts have so few tokens cached that MLA is absorbed for them all.

    Some engines expand what is cached from a number of tokens on, of models without an indexer.

    Args:
        q: input symbols as attributes.
        cached: of all prompts of the step, before it [token].

    Source: notebooks/compute.md, section Short cached prefixes.
    """
    return ((cached > 0) & (cached < q.absorbed_prefix_tokens)
            & (q.index_topk <= 0))


def unfused(q: Inputs) -> Any:
    """Whether dense prefill writes its scores to memory, for want of a fused kernel [1].

    Args:
        q: input symbols as attributes.

    Source: notebooks/compute.md, section Scores written to memory.
    """
    return (q.index_topk <= 0) & (q.score_traffic > 0)


def prefill_positions(q: Inputs, cached: Number, new: Number, chunk: Number, seen: Number
                      ) -> Number:
    """Positions that a token of a prompt meets in the core, mean [token].

    Those that it sees; without a fused kernel all up to the end of its chunk, masked ones too,
    which is the mean of c + T, c + 2T, ..., c + n.

    Args:
        q: input symbols as attributes.
        cached: tokens of the prompt before these [token].
        new: tokens that are computed [token].
        chunk: tokens of a chunk, T [token].
        seen: positions that a token sees, mean [token].

    Source: notebooks/compute.md, section Scores written to memory.
    """
    return select(unfused(q), cached + (new + chunk) / 2, seen)


def multiplied_positions(q: Inputs, picked: Number, seen: Number, absorbed: Number) -> Number:
    """Positions that the core multiplies for a token, mean, in a layer without a window [token].

    Without an indexer those that the token sees. A kernel of sparse attention takes a fixed number,
    padded where fewer exist, unless it stops at them; a dense one takes all.

    Args:
        q: input symbols as attributes.
        picked: that the indexer picks of those that the token sees [token].
        seen: that the token sees [token].
        absorbed: 1 if the kernel is that of sparse attention or of decode.

    Source: notebooks/compute.md, section Sparse attention.
    """
    chosen = select(q.whole_selection > 0, most_picked(q), picked)
    return select((q.index_topk > 0) & (absorbed > 0), chosen, seen)


def selection_bytes(q: Inputs, indexed: Number) -> Number:
    """Bytes moved to choose among an indexer's scores, all layers [B].

    Args:
        q: input symbols as attributes.
        indexed: positions that it scores in a layer, summed over tokens [token].

    Source: notebooks/compute.md, section What the vector unit does.
    """
    if not anywhere(q.indexer_layers > 0):
        return 0.0
    return q.selection_traffic * q.indexer_layers / q.compress_ratio * indexed


def positions_of_entries(q: Inputs, batch: Any) -> tuple[Number, Number]:
    """Entries that a step multiplies, and cached ones that it reads, in all layers [1].

    Of what is cached before a chunk a window reaches no further than its own width.

    Args:
        q: input symbols as attributes.
        batch: composition of the micro-batch.

    Source: notebooks/compute.md, section Compressed attention.
    """
    requests = maximum(1, batch.logit_rows)
    raw = batch.read_in_window if batch.decoding else minimum(
        batch.read_in_window, q.sliding_window * requests)
    return (compressed_entries(q, batch.in_window, batch.attended, batch.indexed),
            compressed_entries(q, raw, batch.read, batch.read_keys))


def positions_of_layers(q: Inputs, batch: Any
                        ) -> tuple[tuple[Number, Number], tuple[Number, Number]]:
    """Positions that a step multiplies, and cached ones that it reads [token].

    Each in all layers without a window, and in all with one; 0 where no model has any. Of the
    former some attend to what an indexer picks only.

    Args:
        q: input symbols as attributes.
        batch: composition of the micro-batch.

    Source: notebooks/compute.md, section The core: scores and values.
    """
    windowed = window_layers(q)
    others = q.full_attention_layers - q.sparse_layers
    picking = (q.index_topk > 0) & (batch.absorbed > 0) & (others != 0)

    def in_layers(picked: Number, seen: Number, in_window: Number) -> tuple[Number, Number]:
        full = either(picking, lambda: q.sparse_layers * picked + others * seen,
                       lambda: q.full_attention_layers * picked)
        return full, windowed * in_window if anywhere(windowed != 0) else 0.0

    return (in_layers(batch.attended, batch.indexed, batch.in_window),
            in_layers(batch.read, batch.read_keys, batch.read_in_window))


def score_bytes(q: Inputs, positions: Number, in_window: Number) -> Number:
    """Bytes of the scores that a chunk writes and reads, for want of a fused kernel [B].

    Args:
        q: input symbols as attributes.
        positions, in_window: that the core multiplies, in all layers without and with a window
            [token].

    Source: notebooks/compute.md, section Scores written to memory.
    """
    def passed() -> Number:
        met = q.num_attention_heads * positions + window_heads(q).query * in_window
        return q.score_traffic / q.tensor_parallel * met

    return either(unfused(q), passed, lambda: 0)


def head_rows(q: Inputs, batch: Any) -> Number:
    """Rows of heads that the core of MLA multiplies for a token, tiles being whole [1].

    In decode the rows of a request are its heads, those of all ranks that share its cache, times
    its tokens; each token of sparse attention has positions and tiles of its own. Expanded, a
    prompt's tokens fill them.

    Args:
        q: input symbols as attributes.
        batch: composition of the micro-batch.

    Source: notebooks/compute.md, section Whole tiles of heads.
    """
    heads, checked = q.num_attention_heads / batch.cut(q), 1 + q.draft_tokens

    gathered = scaled(heads, batch.sharing_ranks(q))

    def alone() -> Number:
        return ceil_div(gathered, q.sparse_tile_rows) * q.sparse_tile_rows

    def together() -> Number:
        if not batch.decoding:
            return heads
        return ceil_div(gathered * checked, q.core_tile_rows) * q.core_tile_rows / checked

    return either((q.index_topk > 0) & (batch.absorbed > 0), alone, together)
