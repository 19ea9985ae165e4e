"""Positions that the attention core meets, seen, picked or all, and the rows of heads that do."""

from __future__ import annotations

from typing import Any

from calc.physics.arrays import Number, anywhere, ceil_div, either, maximum, minimum, scaled, select
from calc.physics.layers.attention import window_heads, window_layers


def most_picked(q: Any) -> Number:
    """Tokens of a context that the entries picked for a query cover at most [token]; 0: no limit.

    Args:
        q: input symbols as attributes.

    Source: notebooks/compute.md, section Compressed attention.
    """
    return q.index_topk * q.compress_ratio


def compressed_entries(q: Any, in_window: Number, picked: Number, seen: Number) -> Number:
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


def prefill_absorbed(q: Any, prompt: Number) -> Number:
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


def sparse_prompts(q: Any, batch: Any) -> Any:
    """Whether a step has prompts that attend to what an indexer picks; no decode step [1].

    Args:
        q: input symbols as attributes.
        batch: composition of the micro-batch.

    Source: notebooks/compute.md, section Sparse attention.
    """
    return (q.index_topk > 0) & (batch.absorbed > 0) & (not batch.decoding)


def few_cached(q: Any, cached: Number) -> Any:
    """Whether a step's prompts have so few tokens cached that MLA is absorbed for them all.

    Some engines expand what is cached from a number of tokens on, of models without an indexer.

    Args:
        q: input symbols as attributes.
        cached: of all prompts of the step, before it [token].

    Source: notebooks/compute.md, section Short cached prefixes.
    """
    return ((cached > 0) & (cached < q.absorbed_prefix_tokens)
            & (q.index_topk <= 0))


def unfused(q: Any) -> Any:
    """Whether dense prefill writes its scores to memory, for want of a fused kernel [1].

    Args:
        q: input symbols as attributes.

    Source: notebooks/compute.md, section Scores written to memory.
    """
    return (q.index_topk <= 0) & (q.score_traffic > 0)


def prefill_positions(q: Any, cached: Number, new: Number, chunk: Number, seen: Number) -> Number:
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


def multiplied_positions(q: Any, picked: Number, seen: Number, absorbed: Number) -> Number:
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


def selection_bytes(q: Any, indexed: Number) -> Number:
    """What choosing among an indexer's scores moves, in all layers [B].

    Args:
        q: input symbols as attributes.
        indexed: positions that it scores in a layer, summed over tokens [token].

    Source: notebooks/compute.md, section What the vector unit does.
    """
    if not anywhere(q.indexer_layers > 0):
        return 0.0
    return q.selection_traffic * q.indexer_layers / q.compress_ratio * indexed


def positions_of_entries(q: Any, batch: Any) -> tuple[Number, Number]:
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


def positions_of_layers(q: Any, batch: Any
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
        whole = either(picking, lambda: q.sparse_layers * picked + others * seen,
                       lambda: q.full_attention_layers * picked)
        return whole, windowed * in_window if anywhere(windowed != 0) else 0.0

    return (in_layers(batch.attended, batch.indexed, batch.in_window),
            in_layers(batch.read, batch.read_keys, batch.read_in_window))


def score_bytes(q: Any, positions: Number, in_window: Number) -> Number:
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


def head_rows(q: Any, batch: Any) -> Number:
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
