"""Laws of the core of latent attention: in decode, and expanded over a prompt.

They call what a step calls (``calc.physics.operators``), for one layer. Columns are those of a
table and of its card: ``peak`` [FLOP/s], ``bandwidth`` [B/s] and mechanisms that are not fitted.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np

from calc.kernels.law import Bounds, Column, Columns, Law
from calc.kernels.matmuls import ACTIVATION_BYTES, MULTIPLY_ADD
from calc.physics.arrays import ceil_div
from calc.physics.inputs import Inputs
from calc.physics.operators import core_time
from calc.physics.work import Core
from catalogue.entries.formulas import neutral
from catalogue.tables import LATENT, QUERY, ROTATED, VALUE

ABSORBED = 2 * LATENT + ROTATED  # elements that a position takes of a head, scores and values


@cache
def _still() -> dict[str, Any]:
    """Inputs of one layer of dense attention that do nothing to its core."""
    return {**neutral(), "num_hidden_layers": 1, "linear_layers": 0, "index_topk": 0,
            "attention_gemm_efficiency": 1}


def _time(columns: Columns, parameters: Mapping[str, float], core: Core, **batch: Any) -> Column:
    q = Inputs(_still() | {
        "core_peak": columns["peak"], "memory_bandwidth": columns["bandwidth"],
        "hbm_efficiency": columns["hbm_efficiency"]} | dict(parameters))
    made: Any = SimpleNamespace(**batch)
    return np.asarray(core_time(q, core, made, 1), float)


def decode_time(columns: Columns, parameters: Mapping[str, float]) -> Column:
    """Time of a decode core with absorbed projections, its splits joined [s].

    Args:
        columns: ``heads`` of the rank and requests in a ``batch`` [1], ``context`` [token],
            ``element_bytes`` of the cache [B], and what is known of the card.
        parameters: of ``DECODE_CORE``.

    Source: notebooks/latency.md, section The attention core.
    """
    heads, batch, positions = (columns[name] for name in ("heads", "batch", "context"))
    rows = ceil_div(heads, columns["core_tile_rows"]) * columns["core_tile_rows"]
    core = Core(MULTIPLY_ADD * rows * ABSORBED * batch * positions,
                batch * (positions * (LATENT + ROTATED) * columns["element_bytes"]
                         + heads * ABSORBED * ACTIVATION_BYTES), rows, 0)
    return _time(columns, parameters, core, decoding=True, tokens=batch, absorbed=1)


def prefill_time(columns: Columns, parameters: Mapping[str, float]) -> Column:
    """Time of a core over whole prompts, keys and values expanded [s].

    Args:
        columns: ``heads`` of the rank and prompts in a ``batch`` [1], ``tokens`` of each [token],
            and what is known of the card.
        parameters: of ``PREFILL_CORE``.

    Source: notebooks/latency.md, section The attention core.
    """
    heads, batch, tokens = (columns[name] for name in ("heads", "batch", "tokens"))
    pairs = batch * tokens * (tokens + 1) / 2
    of_token = heads * (QUERY + VALUE) * ACTIVATION_BYTES
    core = Core(MULTIPLY_ADD * heads * (QUERY + VALUE) * pairs, of_token * batch * tokens, heads,
                of_token)
    missing = batch * np.maximum(columns["prefill_tile_rows"] - tokens, 0)
    return _time(columns, parameters, core, decoding=False, tokens=batch * tokens, absorbed=0,
                 core_missing=missing)


DECODE_CORE = Law("mla_decode", {
    "mla_efficiency": Bounds(0.8, 0.05, 1.0), "mla_compute_efficiency": Bounds(0.6, 0.02, 0.98),
    "latent_core_latency": Bounds(1e-5, 1e-6, 1e-4), "latent_core_fill": Bounds(3e-8, 1e-10, 1e-6)},
    decode_time)
PREFILL_CORE = Law("mla_prefill", {
    "attention_efficiency": Bounds(0.5, 0.02, 0.98),
    "prefill_core_latency": Bounds(1e-5, 1e-7, 1e-4), "core_row_traffic": Bounds(3, 1e-3, 40)},
    prefill_time)
