"""Laws of the core of latent attention: worked out by hand, their limits, and their fits."""

from __future__ import annotations

import numpy as np
import pytest

from kernels.attention_kernels import PREFILL_CORE
from kernels.fitting import fit, halves

CARD = {"peak": 989e12, "bandwidth": 4.8e12, "hbm_efficiency": 0.88,
        "core_tile_rows": 64.0, "prefill_tile_rows": 64.0, "element_bytes": 2.0}
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


def test_fit_recovers_the_values_of_a_table():
    heads, batch, tokens = shape = [grid.ravel() for grid in np.meshgrid(
        [8.0, 16, 64, 128], [1.0, 4, 16, 64], [256.0, 1024, 4096, 16384])]
    table = {"heads": heads, "batch": batch, "tokens": tokens, **CARD}
    true = {name: 1.3 * bounds.start if bounds.start < 0.5 else 0.9 * bounds.start
            for name, bounds in PREFILL_CORE.parameters.items()}
    found = fit(PREFILL_CORE, table, PREFILL_CORE.time(table, true), halves(shape), batch, heads)
    assert found.values == pytest.approx(true, rel=0.05)
