"""What a token and a request leave in the KV cache: entries, index keys, and a state.

Bytes [B], not GB and not GiB. Where layers differ, those of a layer are of the mean layer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calc.physics.arrays import Number, ceil_div, select
from calc.physics.shapes import CSA, KEY_AND_GATE, MLA, OVERLAPPING


@dataclass(frozen=True)
class Cache:
    """Bytes of the KV cache, per token [B/token] but for the state [B/request].

    Attributes:
        kv_entry_bytes: of an entry that the core reads in a layer, on one device.
        kv_index_bytes_per_token: of an index key, which is whole on every device.
        kv_layer_bytes_per_token: of a layer.
        kv_bytes_per_token: of the whole model.
        kv_layer_bytes_per_token_per_device: of a layer, on one device.
        state_bytes_per_request: of a request whatever its length, the whole model.
        state_blocks_per_request: blocks that the state takes [block/request].
    """

    kv_entry_bytes: Number
    kv_index_bytes_per_token: Number
    kv_layer_bytes_per_token: Number
    kv_bytes_per_token: Number
    kv_layer_bytes_per_token_per_device: Number
    state_bytes_per_request: Number
    state_blocks_per_request: Number


def cache(attention: str, q: Any) -> Cache:
    """What one token leaves in the KV cache [B/token], and what a request does [B/request].

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
    state = blocks = 0
    if attention == MLA:
        entry = q.kv_lora_rank * q.kv_cache_element_bytes + (
            q.qk_rope_head_dim * q.kv_rope_element_bytes)
        layer = on_device = entry + q.indexer_layers / layers * index
    elif attention == CSA:
        entry = ((q.head_dim - q.qk_rope_head_dim) * q.kv_cache_element_bytes
                 + q.qk_rope_head_dim * q.kv_rope_element_bytes)
        layer = on_device = (
            (q.compressed_layers * entry + q.indexer_layers * index) / q.compress_ratio
            + q.heavy_layers * entry / q.heavy_compress_ratio) / layers
        state = _state(q, entry)
        blocks = _blocks(q, state, layers * layer)
    else:
        layer = 2 * q.num_key_value_heads * q.head_dim * q.kv_cache_element_bytes
        entry = on_device = layer / np.minimum(q.tensor_parallel, q.num_key_value_heads)
    whole = layers * layer
    return Cache(entry, index, layer, whole, on_device, state, blocks)


def _state(q: Any, entry: Number) -> Number:
    """Raw rows of the windows, and what compressors have gathered for entries to come [B].

    Keys and gates of as many tokens as an entry pools, of both windows where two overlap.
    """
    gathered = q.compress_ratio * OVERLAPPING * OVERLAPPING * KEY_AND_GATE * (
        q.compressed_layers * q.head_dim + q.indexer_layers * q.index_head_dim)
    heavy = q.heavy_compress_ratio * KEY_AND_GATE * q.heavy_layers * q.head_dim
    return (q.num_hidden_layers * q.sliding_window * entry
            + q.state_element_bytes * (gathered + heavy))


def _blocks(q: Any, state: Number, per_token: Number) -> Number:
    """Blocks of the cache that a state takes, or what an engine sets aside for it [block].

    With no window and no compressor there is no state, and none of its blocks.
    """
    needed = ceil_div(state, q.block_size * per_token)
    return select(np.greater(state, 0), select(q.state_blocks > 0, q.state_blocks, needed), 0)
