"""Laws of the core of latent attention: worked out by hand, their limits, and their fits."""

from __future__ import annotations

import pytest

from kernels.attention_kernels import PREFILL_CORE

HAND = {"peak": 3e6, "bandwidth": 5e4, "hbm_efficiency": 0.8,
        "core_tile_rows": 8.0, "prefill_tile_rows": 16.0, "element_bytes": 1.5}


@pytest.mark.parametrize("tokens", [5.0, 16.0, 21.0])
def test_prefill_core_by_hand(tokens):
    """Each token attends to itself and to those before; rows of a tile are brought in whole."""
    row = 7 * (192 + 128) * 2
    pairs = 3 * sum(range(1, int(tokens) + 1))
    compute = 2 * 7 * (192 + 128) * pairs / (3e6 * 0.3)
    memory = row * 3 * tokens / (5e4 * 0.8)
    brought = row * 3 * max(tokens, 16) / (5e4 * 0.8)
    found = PREFILL_CORE.time({"heads": 7.0, "batch": 3.0, "tokens": tokens} | HAND, {
        "attention_efficiency": 0.3, "prefill_core_latency": 0.7, "core_row_traffic": 2.5})
    assert float(found) == pytest.approx(max(compute, memory) + 0.7 + 2.5 * brought)
