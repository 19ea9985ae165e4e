"""Rows of compressed attention, and of several residual streams."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from calc.physics.arrays import Number
from calc.physics.kv_cache import Cache, head_rows
from calc.physics.work import Composition
from reference.rows import MATRIX, VECTOR, Row, Sizes, index_rows, norm_row


def streams(q: Any, s: Sizes) -> Iterator[Row]:
    """Several residual streams: what joins them before each half of a layer, and parts them after.

    Weights are found from all streams, which are read again to be joined and normalised; after the
    half they are read with what came out of it, and written.
    """
    h, d = q.hc_mult, q.hidden_size
    if h == 1:
        return
    weights = (2 + h) * h  # a weight per stream in and out, and one per pair of streams
    layers = q.num_hidden_layers
    for half, count in (("attention", layers), ("mlp", layers - q.layers_without_mlp)):
        yield Row(f"hyper_{half}_in", "every", count, VECTOR, "vector",
                  q.multiply_add_flops * h * d * weights * s.tokens,
                  q.hyper_weight_bytes * (weights * (h * d + 1) + 3),
                  (2 * h + 1) * d * s.width * s.tokens)
        yield Row(f"hyper_{half}_out", "every", count, VECTOR, "vector",
                  activation_bytes=(2 * h + 1) * d * s.width * s.tokens)
    yield Row("hyper_head", "outside", 1, VECTOR, "vector",
              q.multiply_add_flops * h * d * h * s.tokens,
              q.hyper_weight_bytes * (h * d * h + h + 1))


def compressed(q: Any, s: Sizes, c: Cache, composition: Composition) -> Iterator[Row]:
    """Attention to a window of raw rows and to entries of several tokens, picked or all."""
    d, size, latent, layers = q.hidden_size, q.head_dim, q.q_lora_rank, q.num_hidden_layers
    element, joined = q.attention_weight_bytes, (
        q.o_groups * q.o_lora_rank * composition.dealt / q.tensor_parallel)

    def project(name: str, into: Number, elements: Number, moved: Number = 0,
                count: Number = layers, stored: Number = element, times: Number = 1) -> Row:
        """A matrix of so many elements for every input; of a rank's tokens, or so often as many."""
        return Row(name, "every", count, MATRIX, "attention",
                   q.multiply_add_flops * into * elements * times * s.tokens,
                   into * elements * stored,
                   moved * s.width * s.tokens)

    def norm(name: str, width: Number, count: Number = layers) -> Row:
        return norm_row(name, count, width, q.norm_weight_bytes * width, s)

    yield project("q_a", d, latent, d + latent)
    yield norm("q_a_norm", latent)
    # a sink is one number per head that joins the softmax
    yield project("q_b", 1, s.heads * (latent * size + q.attention_sinks), latent + s.heads * size)
    yield project("kv_a", d, size, size)  # of the input of q_a
    yield norm("kv_norm", size)
    for name, count, width, ratio, windows in (
            ("compressor", q.compressed_layers, size, q.compress_ratio, 2),
            ("heavy_compressor", q.heavy_layers, size, q.heavy_compress_ratio, 1),
            ("index_compressor", q.indexer_layers, q.index_head_dim, q.compress_ratio, 2)):
        if count > 0:  # keys and gates of every window, and biases of the gates by their place
            yield project(name, 1, windows * width * (2 * d + ratio), 0, count,
                          q.compressor_weight_bytes, composition.dealt)
            yield norm(f"{name}_norm", width, count)
    if q.indexer_layers > 0:
        yield project("index_q", latent, q.index_n_heads * q.index_head_dim, 0, q.indexer_layers)
        yield project("index_weights", d, q.index_n_heads, 0, q.indexer_layers)
        yield from index_rows(q, c, composition)
    yield from _entries(q, s, c, composition)
    share = 1 / composition.dealt if q.context_output_cut else 1
    sums = d * composition.dealt if q.context_output_cut else d
    yield project("o_a", s.heads * size, q.o_lora_rank, s.heads * size + joined,
                  stored=element * share)
    yield project("o_b", joined, d, joined + sums, stored=element * share)


def _entries(q: Any, s: Sizes, c: Cache, composition: Composition) -> Iterator[Row]:
    """The core of compressed attention: the window of every layer, and the entries behind it."""
    rows, halves = head_rows(q, composition), q.micro_batches
    # before a chunk there is one window of each of its prompts
    most = np.inf if composition.decoding else q.sliding_window * np.maximum(1, s.rows)
    window = np.minimum(composition.read_in_window / halves, most)
    ratio, heavy = q.compress_ratio * halves, q.heavy_compress_ratio * halves
    for name, count, met, read in (
            ("core_window", q.num_hidden_layers, composition.in_window / halves, window),
            ("core_picked", q.compressed_layers, composition.attended / ratio,
             composition.read / ratio),
            ("core_heavy", q.heavy_layers, composition.indexed / heavy,
             composition.read_keys / heavy)):
        if count > 0:
            moved = s.heads * 2 * q.head_dim if name == "core_window" else 0
            yield Row(name, "every", count, MATRIX, "core",
                      q.multiply_add_flops * rows * 2 * q.head_dim * met,
                      activation_bytes=moved * s.width * s.tokens,
                      kv_bytes=c.kv_entry_bytes * read)
