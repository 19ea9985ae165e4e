"""Times that no kernel can come below on a card: what it must multiply or read, at its peaks.

They are bounds, from below on purpose: scales, activations and caches' extra rows are not counted,
and where rows fall unevenly the fullest rank has at least its share.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalogue import library
from catalogue.library import stands
from catalogue.tables.table import Table

Floats = NDArray[np.float64]

FLOP_PER_MAC = 2
LATENT, ROTATED = 512, 64  # of DeepSeek's latent attention, which all tables measure
QUERY, VALUE = 192, 128  # widths of its projected heads
WIDTHS = {"bf16": 2.0, "fp16": 2.0, "fp32": 4.0, "fp8": 1.0, "fp8-block": 1.0, "int8": 1.0,
          "w8a16": 1.0, "w4a16": 0.5, "w4afp8": 0.5, "nvfp4": 0.5, "mxfp4": 0.5, "mxfp4-w4a8": 0.5,
          "mxfp4-w4a16": 0.5}
"""Bytes of a stored number, without scales."""
UNITS = {"bf16": ("bf16",), "fp16": ("fp16", "bf16"), "fp32": ("tf32", "bf16"),
         "fp8": ("fp8",), "fp8-block": ("fp8",), "int8": ("int8",), "w8a16": ("bf16",),
         "w4a16": ("bf16",), "w4afp8": ("fp8",), "nvfp4": ("fp4",), "mxfp4": ("fp4",),
         "mxfp4-w4a8": ("fp8",), "mxfp4-w4a16": ("bf16",)}
"""The units of a card that multiply a format; a card without any takes the fastest that it has."""


@dataclass(frozen=True)
class Card:
    """What a card does at most: bandwidth [B/s], and peak by unit [FLOP/s]."""

    bandwidth: float
    peaks: Mapping[str, float]

    def peak(self, dtype: str) -> float:
        """The most of the units that may multiply a format [FLOP/s]."""
        return max((self.peaks[unit] for unit in UNITS[dtype] if unit in self.peaks),
                   default=max(self.peaks.values()))


@functools.cache
def card(name: str) -> Card | None:
    """Peaks of a device of ``params/devices/``, or None where it has no such card."""
    if not stands("devices", name):
        return None
    device = library.load("devices", name)
    peaks = {unit: float(value.value) for unit, value in dict(device.matrix_peak or {}).items()
             if value is not None}
    return Card(float(device.memory_bandwidth.value), peaks) if peaks else None


def floor(table: Table) -> Floats:
    """The least time of every row [s]; 0 where none is known of its card or its operator."""
    found = np.zeros(len(table))
    bound = BOUNDS.get(table.operator)
    if bound is None:
        return found
    for name in table.cards():
        peaks = card(name)
        if peaks is None:
            continue
        at = np.flatnonzero(table["card"] == name)
        rows = table.select(at)
        flops, read = bound(rows)
        speed = np.max([_peaks(peaks, rows[column]) for column in ("dtype", "cache_dtype")
                        if column in rows.columns], axis=0)  # FP8 caches may be multiplied in FP8
        found[at] = np.maximum(flops / speed, read / peaks.bandwidth)
    return found


def _peaks(of: Card, words: NDArray[Any]) -> Floats:
    speeds = {word: of.peak(word) for word in set(words.tolist())}
    return np.array([speeds[word] for word in words.tolist()])


def _width(words: NDArray[Any]) -> Floats:
    return np.array([WIDTHS[word] for word in words.tolist()])


def _columns(table: Table, *names: str) -> list[Floats]:
    return [table[name].astype(np.float64) for name in names]


def _gemm(table: Table) -> tuple[Floats, Floats]:
    """Multiplications; reading is left open, since a cache may hold small weights."""
    rows, columns, depth = _columns(table, "rows", "columns", "depth")
    return FLOP_PER_MAC * rows * columns * depth, np.zeros(len(table))


def _batched(table: Table) -> tuple[Floats, Floats]:
    flops, read = _gemm(table)
    return flops * table["batch"], read


def _experts(table: Table) -> tuple[Floats, Floats]:
    """The mean rank's multiplications: the fullest, which is measured, has no fewer."""
    tokens, hidden, inner, top, cut, ranks, matrices = _columns(
        table, "tokens", "hidden_size", "moe_intermediate_size", "num_experts_per_tok",
        "tensor_parallel", "expert_parallel", "matrices")
    return FLOP_PER_MAC * np.floor(tokens * top / ranks) * matrices * hidden * inner / cut, (
        np.zeros(len(table)))


def _mla_decode(table: Table) -> tuple[Floats, Floats]:
    heads, batch, context = _columns(table, "heads", "batch", "context")
    flops = FLOP_PER_MAC * batch * heads * context * (LATENT + ROTATED + LATENT)
    return flops, np.zeros(len(table))


def _mla_prefill(table: Table) -> tuple[Floats, Floats]:
    (heads,) = _columns(table, "heads")
    return FLOP_PER_MAC * heads * _pairs(table) * (QUERY + VALUE), np.zeros(len(table))


def _attention_prefill(table: Table) -> tuple[Floats, Floats]:
    heads, width = _columns(table, "heads", "head_dim")
    return FLOP_PER_MAC * heads * _pairs(table) * 2 * width, np.zeros(len(table))


def _pairs(table: Table) -> Floats:
    """Pairs of a new token and one before it or itself, in a window where there is one."""
    batch, tokens, past = _columns(table, "batch", "tokens", "past")
    pairs = tokens * past + tokens * (tokens + 1) / 2
    if "window" in table.columns:
        window = table["window"].astype(np.float64)
        begun = np.minimum(tokens, window)  # tokens that see less than a window
        pairs = np.where(window > 0, np.minimum(pairs, begun * (begun + 1) / 2
                                                + (tokens - begun) * window), pairs)
    return batch * pairs


def _streamed(table: Table) -> tuple[Floats, Floats]:
    """A cache of keys and values that is read whole: beyond what any card's cache holds."""
    heads, width, batch, context, window = _columns(
        table, "kv_heads", "head_dim", "batch", "context", "window")
    seen = np.where(window > 0, np.minimum(window, context), context)
    read = batch * heads * seen * 2 * width * _width(table["cache_dtype"])
    return np.zeros(len(table)), np.where(read > BEYOND_CACHES, read, 0.0)


BEYOND_CACHES = 4 * 132644864.0  # B, four times the largest L2 of params/devices (B200)
BOUNDS: Mapping[str, Callable[[Table], tuple[Floats, Floats]]] = MappingProxyType({
    "gemm": _gemm, "batched_gemm": _batched, "experts": _experts, "mla_decode": _mla_decode,
    "mla_prefill": _mla_prefill, "attention_prefill": _attention_prefill,
    "attention_decode": _streamed,
})
"""Operator -> multiplications [FLOP] and bytes that every row must at least do."""
