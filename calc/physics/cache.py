"""What a token and a request leave in the KV cache: entries, index keys, and a state.

Bytes [B], not GB and not GiB. Where layers differ, those of a layer are of the mean layer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from calc.physics.arrays import Number, maximum, minimum, select
from calc.physics.layers.attention import (
    CSA,
    MLA,
    Heads,
    attention_layers,
    full_heads,
    over_kinds,
    window_heads,
)
from calc.physics.layers.compressed import KEY_AND_GATE, OVERLAPPING
from calc.physics.layers.linear import linear_state


@dataclass(frozen=True)
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
    attending, whole_state = attention_layers(q), 0
    if attention == MLA:
        windowed = entry = q.kv_lora_rank * q.kv_cache_element_bytes + (
            q.qk_rope_head_dim * q.kv_rope_element_bytes)
        indexed = select(q.index_every_layer * q.indexer_layers > 0,
                         maximum(q.indexer_layers, attending), q.indexer_layers)
        keys, kept = (each * index / q.compress_ratio for each in (q.indexer_layers, indexed))
        of_all = q.decode_context_parallel / index_parts(q)  # beside a rank's own entry
        layer, on_device = ((attending * entry + each) / layers for each in (keys, kept * of_all))
    elif attention == CSA:
        windowed = entry = ((q.head_dim - q.qk_rope_head_dim) * q.kv_cache_element_bytes
                            + q.qk_rope_head_dim * q.kv_rope_element_bytes)
        layer = on_device = (
            (q.compressed_layers * entry + q.indexer_layers * index) / q.compress_ratio
            + q.heavy_layers * entry / q.heavy_compress_ratio) / layers
        whole_state = _state(q, entry)
    else:
        entry, windowed = (_on_rank(q, heads) for heads in (full_heads(q), window_heads(q)))
        keys = q.indexer_layers * index / q.compress_ratio
        layer, on_device = ((over_kinds(q, partial(of, q)) + keys) / layers
                            for of in (_of_heads, _on_rank))
    linear = linear_state(q)
    return Cache(entry, windowed, index, layer, layers * layer, on_device, whole_state + linear,
                 whole_state + linear / q.tensor_parallel)


def _of_heads(q: Any, heads: Heads) -> Number:
    """Keys and values of a token in a layer, of all heads [B/token]."""
    return heads.kv * heads.pair * q.kv_cache_element_bytes


def _on_rank(q: Any, heads: Heads) -> Number:
    """Keys and values of a token in a layer, of the heads of a rank [B/token]."""
    return _of_heads(q, heads) / minimum(q.tensor_parallel, heads.kv)


def index_parts(q: Any) -> Number:
    """Ranks over which the index keys of a request are split [1].

    Those that share its cache, unless each of them keeps all keys.

    Args:
        q: input symbols as attributes.

    Source: notebooks/memory.md, section KV cache.
    """
    return select(q.index_replicated > 0, 1, q.decode_context_parallel)


def _state(q: Any, entry: Number) -> Number:
    """Raw rows of the windows, and what compressors have gathered for entries to come [B]."""
    return q.num_hidden_layers * q.sliding_window * entry + sum(compressor_states(q))


def compressor_states(q: Any) -> tuple[Number, Number]:
    """What compressors of either kind have gathered for entries to come, all layers [B/request].

    Keys and gates of as many tokens as an entry pools, of both windows where two overlap.

    Args:
        q: input symbols as attributes.

    Source: notebooks/memory.md, section Compressed entries, windows and states.
    """
    gathered = q.compress_ratio * OVERLAPPING * OVERLAPPING * KEY_AND_GATE * (
        q.compressed_layers * q.head_dim + q.indexer_layers * q.index_head_dim)
    heavy = q.heavy_compress_ratio * KEY_AND_GATE * q.heavy_layers * q.head_dim
    return q.state_element_bytes * gathered, q.state_element_bytes * heavy


def drafting_layers(q: Any) -> Number:
    """Layers that a pass of the drafting layers goes through, each with a cache [1]: one, or all of
    a module that drafts a block in one pass; none without drafts.

    Args:
        q: input symbols as attributes.

    Source: notebooks/memory.md, section What else engines keep in memory.
    """
    return (q.draft_tokens > 0) * select(q.draft_block > 1, q.num_nextn_predict_layers, 1)
