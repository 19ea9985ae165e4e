"""Compressed attention, and residual streams beside one another: parameters, widths."""

from __future__ import annotations

from typing import Any

from calc.physics.arrays import Number, select
from calc.physics.layers.attention import Attention, layer_halves

# keys and gates of two overlapping windows, or of one
OVERLAPPING, KEY_AND_GATE = 2, 2


def compressed_attention(q: Any) -> Attention:
    """Attention to a window and to compressed entries of the cache, the mean layer.

    One row is key and value of all heads. The output projection is of low rank, group by group of
    heads. A compressor pools tokens by learned gates: two overlapping windows for entries that an
    indexer picks from, one for those that are all read; the indexer's keys have one of their own.
    Gates have a bias per place in the window.

    Args:
        q: anything with the model's input symbols as attributes, counts [1].

    Source: notebooks/architecture.md, section Compressed attention; vllm-project/vllm,
    vllm/models/deepseek_v4/attention.py and compressor.py.
    """
    d, row, layers = q.hidden_size, q.head_dim, q.num_hidden_layers
    picked, heavy = q.compressed_layers / layers, q.heavy_layers / layers
    indexing = q.indexer_layers / layers
    joined = q.o_groups * q.o_lora_rank
    overlapping = OVERLAPPING * (KEY_AND_GATE * d + q.compress_ratio)
    return Attention(
        divided=(q.num_attention_heads * (row * (q.q_lora_rank + q.o_lora_rank)
                                          + q.attention_sinks) + joined * d),
        kv=0,
        replicated=d * (q.q_lora_rank + row) + indexing * q.index_n_heads * (
            q.q_lora_rank * q.index_head_dim + d),
        norm=(2 * d + q.q_lora_rank + row + (picked + heavy) * row + indexing * q.index_head_dim),
        compressor=(overlapping * (picked * row + indexing * q.index_head_dim)
                    + heavy * row * (KEY_AND_GATE * d + q.heavy_compress_ratio)),
    )


def hyper_connections(q: Any) -> tuple[Number, Number]:
    """Parameters that mix residual streams [1]: of the mean layer, and before the head; 0 with one.

    Before and after attention and MLP alike a matrix on all streams at once gives a weight for each
    of them on the way in, one on the way out, and one for each pair of them, with a bias each and
    three scales. Before the head the streams are joined by weights that are found the same way.

    Args:
        q: anything with the model's input symbols as attributes.

    Source: notebooks/architecture.md, section Hyper-connections; vllm-project/vllm,
    vllm/models/deepseek_v4/nvidia/model.py.
    """
    streams, wide = q.hc_mult, q.hc_mult * q.hidden_size
    weights = (2 + streams) * streams
    several, halves = streams > 1, layer_halves(q) / q.num_hidden_layers
    return (select(several, halves * (weights * (wide + 1) + 3), 0),
            select(several, streams * (wide + 1) + 1, 0))


def residual_widths(q: Any) -> Number:
    """Widths of the model that a token moves around attention, or an MLP [1].

    A norm reads and writes hidden state and residual. Several streams are read twice before it,
    for their weights and to be joined into one, which is normalised at once; after it they are read
    and written, and what came out is read.

    Args:
        q: input symbols as attributes.

    Source: notebooks/compute.md, section What the vector unit does.
    """
    return select(q.hc_mult > 1, 4 * q.hc_mult + 2, 4)
