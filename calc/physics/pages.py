"""Blocks of the KV cache as engines allocate them: their tokens, their bytes, those of a request.

Three allocators: one that keeps of every layer what it needs; vLLM's, whose groups of layers share
one size of page; and SGLang's, with pools of their own for windows and states. Bytes [B].

Source: notebooks/memory.md, section What an engine allocates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from calc.physics.arrays import Number, ceil_div, floor_div, maximum, minimum, select
from calc.physics.cache import Cache, compressor_states, drafting_layers
from calc.physics.layers.attention import CSA, MLA, attention_layers, window_layers
from calc.physics.layers.compressed import OVERLAPPING

CLOSE = 3, 2  # kinds of layers form groups of the larger if it is less than 3/2 of the smaller


@dataclass(frozen=True)
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


def pages(attention: str, q: Any, c: Cache) -> Pages:
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


def _block_tokens(attention: str, q: Any, c: Cache) -> Number:
    """Tokens of a block [token/block]: raised until a page holds as many entries of a window as the
    smallest block has tokens, and a state of linear attention."""
    if attention == CSA:
        return q.block_size * select(q.compressed_blocks > 0, q.compress_ratio, 1)
    tokens = q.block_size * _page_tokens(q, c)[0]
    entry = _full_layer(q, c) * q.num_hidden_layers / attention_layers(q)
    state = c.state_bytes_per_device / maximum(1, q.linear_layers)
    raised = tokens * maximum(1, ceil_div(state, tokens * entry))
    return select(q.page_groups * q.linear_layers > 0, raised, tokens)


def _page_tokens(q: Any, c: Cache) -> tuple[Number, Number]:
    """Tokens of a page over the smallest block: of layers without a window, and with one [1].

    Layers share one size of page, that of the larger entries; the others put more tokens into it.
    """
    full, windowed = c.kv_entry_bytes, c.kv_window_entry_bytes
    larger, shared = maximum(full, windowed), (q.page_groups > 0) & (window_layers(q) > 0)
    return (select(shared, floor_div(larger, full), 1),
            select(shared, floor_div(larger, windowed), 1))


def _full_layer(q: Any, c: Cache) -> Number:
    """A token of the mean layer on a device, if no layer had a window [B/token]."""
    return c.kv_layer_bytes_per_token_per_device + window_layers(q) * (
        c.kv_entry_bytes - c.kv_window_entry_bytes) / q.num_hidden_layers


def _limited(q: Any) -> tuple[Number, Number]:
    """Layers with a window, and those with a state of linear attention [1]."""
    return maximum(0, window_layers(q)), q.linear_layers


def _groups(q: Any) -> tuple[Number, Number, Number]:
    """Layers of a group, and groups of full and of limited layers [1]."""
    full = maximum(1, q.full_attention_layers)
    windows, linear = _limited(q)
    limited = windows + linear
    most, least = maximum(full, limited), minimum(full, limited)
    larger, smaller = CLOSE
    close = smaller * most < larger * least
    group = select(limited > 0, select(close, most, maximum(1, least)), full)
    return group, ceil_div(full, group), ceil_div(windows, group) + ceil_div(linear, group)


def _limited_pages(q: Any, block: Number, group: Number, new: Number) -> Number:
    """Pages of a request in groups with a window or a state [block/request]."""
    windows, linear = _limited(q)
    return (ceil_div(windows, group) * _window_pages(q, q.sliding_window, block, new)
            + ceil_div(linear, group) * q.state_pages)


def _window_pages(q: Any, window: Number, tokens: Number, new: Number) -> Number:
    """Pages of a window before a token, with others that are new beside it [block/request]."""
    return ceil_div(minimum(window + new, q.context_tokens), tokens) + 1


def _compressed_groups(q: Any) -> tuple[Number, Number, Number]:
    """Slots of a page in groups of compressed attention, one full group, groups of windows [1]."""
    widest = maximum(q.compressed_layers, q.heavy_layers)
    windows = q.num_hidden_layers + drafting_layers(q)
    split = floor_div(2 * windows + widest, 2 * widest)  # to the nearest
    slots = maximum(widest, ceil_div(windows, split))
    return slots, 1, ceil_div(windows, slots)


def _compressed_pages(q: Any, windows: Number, new: Number) -> Number:
    """Pages of windows and compressors of a request [block/request]."""
    states = _window_pages(q, OVERLAPPING * q.compress_ratio, q.state_page_tokens, new)
    heavy = _window_pages(q, q.heavy_compress_ratio, q.heavy_page_tokens, new)
    entries = ceil_div(q.context_tokens, q.block_size * q.heavy_compress_ratio)
    return (windows * _window_pages(q, q.sliding_window, q.window_page_tokens, new) + states
            + select(q.heavy_layers > 0, heavy + select(q.compressed_blocks > 0, entries, 0), 0))


def page_bytes(q: Any, c: Cache, slots: Number) -> Number:
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


def layer_block_bytes(attention: str, q: Any, c: Cache, p: Pages) -> Number:
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


def windowless(q: Any, c: Cache, windowed: Number, kept: Number) -> Number:
    """Mean layers of a stage that a block leaves out, since windows keep less [1].

    Args:
        q: input symbols as attributes.
        c: cache per token.
        windowed: layers of the stage with a window [1].
        kept: share of a request's blocks that such a layer keeps, without a pool of its own [1].

    Source: notebooks/memory.md, section What an engine allocates.
    """
    share, full = select(q.window_share > 0, q.window_share, kept), c.kv_entry_bytes
    differ = c.kv_window_entry_bytes - full
    # an entry of theirs over the mean one
    size = 1 + q.full_attention_layers * differ / (
        attention_layers(q) * full + window_layers(q) * differ)
    return select(q.page_groups > 0, 0, windowed * (1 - share) * size)


def _plain_layer(q: Any, c: Cache) -> Number:
    """A token of the mean layer without scales, and with an index key in every layer [B/token]."""
    byte = q.activation_element_bytes / 2  # of which activations have two; scales add less
    element = byte * maximum(0.5, floor_div(q.kv_cache_element_bytes, byte))
    keys = select(q.index_topk > 0, c.kv_index_bytes_per_token, 0)
    return attention_layers(q) * ((q.kv_lora_rank + q.qk_rope_head_dim) * element + keys) / (
        q.num_hidden_layers)


def _pooled_states(q: Any) -> Number:
    """States of compressors that grow with the pool of windows, all layers [B/request].

    Drafts that are rejected must leave the states before them: there are twice as many.
    """
    picked, heavy = compressor_states(q)
    return (1 + (q.draft_tokens > 0)) * (picked + select(q.state_slots > 0, 0, heavy))


def layer_state_pool(attention: str, q: Any, c: Cache) -> Number:
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
