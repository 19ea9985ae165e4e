"""Time of the attention core and of an indexer's scores."""

from __future__ import annotations

from typing import Any

from calc.physics.arrays import Number, anywhere, either, is_absent, maximum, plus, select
from calc.physics.cache import Cache
from calc.physics.layers.attention import attention_layers, core_width
from calc.physics.positions import unfused
from calc.physics.work import Composition, Core, Work


def core_time(q: Any, core: Core, batch: Composition, clock: Number) -> Number:
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


def drafter_core_time(attention: str, q: Any, c: Cache, batch: Composition, core: Core,
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


def index_time(q: Any, scores: Work, decoding: bool, clock: Number) -> Number:
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


def _cache_rate(q: Any, decoding: bool) -> Number:
    """Rate at which the core and an indexer read the cache [B/s]."""
    return q.memory_bandwidth * (q.mla_efficiency if decoding else q.hbm_efficiency)
