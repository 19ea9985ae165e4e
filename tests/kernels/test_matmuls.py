"""Laws of dense matmuls and routed experts: worked out by hand, and their limits."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kernels.expert_kernels import SENT, SLICES, WHOLE_EXPERTS, expert_bytes, rank_columns
from kernels.matmuls import DENSE

HAND = {"peak": 5e3, "bandwidth": 70.0, "weight_bytes": 1.5, "hbm_efficiency": 0.8,
        "gemm_tile_rows": 4.0, "expert_tile_rows": 6.0}
RANK = {"tokens": 40.0, "n_routed_experts": 32.0, "num_experts_per_tok": 4.0,
        "expert_parallel": 8.0, "hidden_size": 5.0, "inside": 3.0, "expert_rows": 22.0,
        "experts_read": 2.0}
MOVED = (2 * 5 + 3 * 3) * 2  # bytes of a row: in and out; gate, up and their product
WEIGHTS = 3 * 2 * 5 * 3 * 1.5
READS = 70 * 0.8  # bytes per second
VALUES = (0.3, 0.7, 0.11, 2.5, 1.5, 25.0)  # in the order of the parameters of an experts' law


def overlapped(compute, memory):
    """Half of the shorter of two times is hidden."""
    return max(compute, memory) + min(compute, memory) / 2


@pytest.mark.parametrize(("rows", "depth_latency"), [(3.0, 0.01), (3.0, 1.0), (9.0, 0.01)])
def test_dense_matmul_by_hand(rows, depth_latency):
    """Three rows are multiplied as the four of a tile; a long wait for inputs decides."""
    out, depth = 7.0, 11.0
    compute = 2 * max(rows, 4) * out * depth / (5e3 * 0.5)
    memory = (out * depth * 1.5 + (out + depth) * 2 * rows) / READS
    expected = overlapped(max(compute, depth * depth_latency), memory) + 0.3
    columns = {"rows": rows, "columns": out, "depth": depth} | HAND
    values = {"gemm_efficiency": 0.5, "matmul_latency": 0.3, "depth_latency": depth_latency}
    assert float(DENSE.time(columns, values | {"activation_traffic": 3.0})) == pytest.approx(
        expected + 3 * depth * rows / 70)


@pytest.mark.parametrize(("growth", "largest"), [(0.1, 25.0), (1.5, 500.0), (2.0, 19.0)])
@pytest.mark.parametrize(("law", "tokens", "moved"), [
    (WHOLE_EXPERTS, 40, 22 + 2.5 * 40 * 4), (SENT, 22 / 4, 2.5 * 22), (SLICES, 40, 2.5 * 22)],
    ids=["whole", "sent", "slices"])
def test_experts_of_a_rank_by_hand(law, tokens, moved, growth, largest):
    """A tile grows with the rows of an expert; rows fill tiles but for what lies between:
    x / (1 - exp -x) of a tile over rows of an expert."""
    tile = max(6, min(growth * tokens * 4 / (32 / 8), largest))
    padding = tile / (22 / 2)
    compute = 2 * 22 * 3 * 5 * 3 * (padding / (1 - math.exp(-padding))) / (5e3 * 0.3)
    memory = (WEIGHTS + 22 * MOVED) / (70 * 0.7)
    expected = overlapped(compute, memory) + 0.11 + moved * MOVED / READS
    values = dict(zip(law.parameters, (*VALUES[:4], growth, largest), strict=True))
    assert float(law.time(RANK | HAND, values)) == pytest.approx(expected)
    assert float(expert_bytes(RANK | HAND)) == WEIGHTS


def test_rank_has_its_share_of_the_width_and_of_the_rows():
    """Four tokens of two experts each, in turn over eight: two ranks of four, one row each."""
    shapes = {"tokens": (4, 4), "n_routed_experts": (8, 8), "num_experts_per_tok": (2, 2),
              "expert_parallel": (2, 1), "moe_intermediate_size": (96, 96),
              "tensor_parallel": (1, 4)}
    columns = {name: np.array(values, float) for name, values in shapes.items()}
    found = rank_columns(columns, np.array(["balanced", "balanced"]))
    assert {name: column.tolist() for name, column in found.items()} == {
        "inside": [96, 24], "experts_read": [4, 8], "expert_rows": [4, 8]}
