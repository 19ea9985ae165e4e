"""Rows of the operator table, and those that several kinds of attention have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from calc.physics.arrays import Number
from calc.physics.kv_cache import Cache
from calc.physics.work import Composition

MATRIX, VECTOR, LINK = "matrix", "vector", "link"
# operations per element: a norm squares, sums, scales and weighs; a gate takes a sigmoid
NORM_FLOPS, GATE_FLOPS = 4, 5


@dataclass(frozen=True)
class Row:
    """One operator of one layer on one rank.

    Attributes:
        name: of the operator.
        layer: ``every``, ``dense``, ``moe`` or ``outside`` (once per step), or ``draft``.
        count: layers that have it [1].
        unit: ``matrix``, ``vector`` or ``link``.
        group: class of ``calc.physics.work`` that the row is summed into.
        flops, weight_bytes, activation_bytes, kv_bytes: of one layer [FLOP], [B].
        collective, payload: the collective and what one rank puts in [B].
    """

    name: str
    layer: str
    count: Number
    unit: str
    group: str
    flops: Number = 0
    weight_bytes: Number = 0
    activation_bytes: Number = 0
    kv_bytes: Number = 0
    collective: str | None = None
    payload: Number = 0

    def total(self, column: str) -> Number:
        """One of its amounts over all layers that have it."""
        return self.count * getattr(self, column)


@dataclass(frozen=True)
class Sizes:
    """What the rows are made of: tokens and rows of a micro-batch, widths on a rank."""

    tokens: Number
    rows: Number
    heads: Number
    width: Number
    together: Number
    hit: Number
    slowest: Number
    shards: Number
    inside: Number
    expert_rows: Number
    on_device: Number
    shared: Number


def rank_part(q: Any, composition: Composition) -> Composition:
    """What one rank attends for where the tokens of prompts are dealt over the tensor ranks.

    Keys and values that are expanded are those of every token before a rank's own, whoever's.
    """
    asked = q.prefill_context_parallel and q.index_topk and not q.linear_layers
    if composition.decoding or not asked:
        return composition
    share = 1 / q.tensor_parallel
    expanded = composition.expanded + (1 - composition.absorbed) * (
        composition.tokens - share * composition.tokens)
    return replace(
        composition, tokens=share * composition.tokens, attended=share * composition.attended,
        in_window=share * composition.in_window, indexed=share * composition.indexed,
        expanded=expanded, dealt=q.tensor_parallel)


def matmul(q: Any, name: str, group: str, layer: str, count: Number, rows: Number, into: Number,
            out: Number, element: Number, width: Number) -> Row:
    """A matrix ``into`` x ``out`` on a rank, applied to some rows."""
    return Row(name, layer, count, MATRIX, group, q.multiply_add_flops * into * out * rows,
               into * out * element, (into + out) * width * rows)


def norm_row(name: str, count: Number, elements: Number, weights: Number, s: Sizes,
          layer: str = "every", moved: Number = 0) -> Row:
    return Row(name, layer, count, VECTOR, "vector", NORM_FLOPS * elements * s.tokens, weights,
               moved * s.width * s.tokens)


def index_rows(q: Any, c: Cache, composition: Composition) -> Iterator[Row]:
    """Scores of an indexer, of one key per entry of the cache, and the choice among them.

    Ranks that split the keys score their own, and choose again among the best of all.
    """
    ranks = q.decode_context_parallel if not q.index_replicated else 1
    entries, read = (positions / ranks / q.compress_ratio / q.micro_batches
                     for positions in (composition.indexed, composition.read_keys))
    again = ranks * q.index_topk * composition.absorbed * composition.tokens / q.micro_batches
    yield Row("index_scores", "every", q.indexer_layers, MATRIX, "index",
              q.multiply_add_flops * q.index_n_heads * q.index_head_dim * entries,
              kv_bytes=c.kv_index_bytes_per_token * read)
    yield Row("index_choice", "every", q.indexer_layers, VECTOR, "vector",
              activation_bytes=q.selection_traffic * (entries + (again if ranks > 1 else 0)))
