"""Laws of single kernels worked out by hand: every number of a row enters with its own weight."""

from __future__ import annotations

import math

import numpy as np
import pytest

from calc.kernels.cores import DECODE_CORE, PREFILL_CORE
from calc.kernels.matmuls import DENSE, QUANTISED, SENT, SLICES, WHOLE, expert_bytes, rank_columns

CARD = {"peak": 5e3, "bandwidth": 70.0, "weight_bytes": 1.5, "hbm_efficiency": 0.8,
        "gemm_tile_rows": 4.0, "expert_tile_rows": 6.0, "kernel_boundary": 0.13,
        "operators_per_layer": 10.0, "reference_operators": 4.0}
MATMUL = {"gemm_efficiency": 0.5, "matmul_latency": 0.3, "depth_latency": 0.01,
          "activation_traffic": 3.0}
MET = {"tokens": 40.0, "n_routed_experts": 32.0, "num_experts_per_tok": 4.0,
       "expert_parallel": 8.0, "hidden_size": 5.0, "inside": 3.0, "expert_rows": 22.0,
       "experts_read": 2.0}
MOVED = (2 * 5 + 3 * 3) * 2  # bytes of a row: in and out, gate, up and product of the two
WEIGHTS = 3 * 2 * 5 * 3 * 1.5
READS = 70 * 0.8  # bytes per second
BOUNDARIES = 6 * 10 / 4 * 0.13


def both(compute, memory):
    """Of two times half of the shorter is hidden."""
    return max(compute, memory) + min(compute, memory) / 2


@pytest.mark.parametrize(("rows", "depth_latency"), [(3.0, 0.01), (3.0, 1.0), (9.0, 0.01)])
def test_a_dense_matmul(rows, depth_latency):
    """Three rows are multiplied as the four of a tile; with a long wait for inputs that decides."""
    out, depth = 7.0, 11.0
    compute = 2 * max(rows, 4) * out * depth / (5e3 * 0.5)
    memory = (out * depth * 1.5 + (out + depth) * 2 * rows) / READS
    expected = (both(max(compute, depth * depth_latency), memory) + 0.3 + 3 * depth * rows / 70
                + 0.13)
    columns = {"rows": rows, "columns": out, "depth": depth} | CARD
    values = MATMUL | {"depth_latency": depth_latency}
    assert float(DENSE.time(columns, values)) == pytest.approx(expected)
    del values["activation_traffic"]
    assert float(QUANTISED.time(columns, values)) == pytest.approx(expected - 3 * depth * rows / 70)


def of_experts(tile, share, streaming, latency, moved):
    """Rows fill tiles but for what lies between: x / (1 - exp -x) of a tile over rows of one."""
    x = tile / (22 / 2)
    compute = 2 * 22 * 3 * 5 * 3 * (x / (1 - math.exp(-x))) / (5e3 * share)
    memory = (WEIGHTS + 22 * MOVED) / (70 * streaming)
    return both(compute, memory) + latency + moved * MOVED / READS + BOUNDARIES


WHOLE_VALUES = {"routed_expert_gemm_efficiency": 0.3, "expert_streaming_efficiency": 0.7,
                "routed_expert_latency": 0.11, "gathered_row_traffic": 2.5,
                "expert_tile_growth": 1.5, "largest_expert_tile": 25.0}
SENT_VALUES = {{"gathered_row_traffic": "expert_row_traffic"}.get(name, name): value
               for name, value in WHOLE_VALUES.items()}
SLICE_VALUES = {"sliced_expert_gemm_efficiency": 0.4, "sliced_streaming_efficiency": 0.6,
                "sliced_expert_latency": 0.17, "sliced_row_traffic": 3.5,
                "sliced_tile_growth": 0.7, "largest_sliced_tile": 25.0}


@pytest.mark.parametrize(("growth", "largest"), [(0.1, 25.0), (1.5, 500.0), (2.0, 19.0)])
@pytest.mark.parametrize(("law", "values", "tokens", "told"), [
    (WHOLE, WHOLE_VALUES, 40, (0.3, 0.7, 0.11, 22 + 2.5 * 40 * 4)),
    (SENT, SENT_VALUES, 22 / 4, (0.3, 0.7, 0.11, 2.5 * 22)),
    (SLICES, SLICE_VALUES, 40, (0.4, 0.6, 0.17, 3.5 * 22))], ids=["whole", "sent", "slices"])
def test_the_experts_of_a_rank(law, values, tokens, told, growth, largest):
    """A tile grows with the rows of an expert, of four that a token takes of a rank's four."""
    names = [name for name in values if "tile" in name]
    values = values | dict(zip(names, (growth, largest), strict=True))
    expected = of_experts(max(6, min(growth * tokens * 4 / (32 / 8), largest)), *told)
    assert float(law.time(MET | CARD, values)) == pytest.approx(expected)


def test_weights_of_experts_are_three_matrices_of_those_that_are_read():
    assert float(expert_bytes(MET | CARD)) == WEIGHTS


def test_a_rank_has_its_share_of_an_expert_s_width_and_what_its_routing_brings():
    """Four tokens of two experts each, in turn over eight: two ranks of four, one row each."""
    columns = {"tokens": np.array([4.0, 4.0]), "n_routed_experts": np.array([8.0, 8.0]),
               "num_experts_per_tok": np.array([2.0, 2.0]),
               "expert_parallel": np.array([2.0, 1.0]),
               "moe_intermediate_size": np.array([96.0, 96.0]),
               "tensor_parallel": np.array([1.0, 4.0])}
    found = rank_columns(columns, np.array(["balanced", "balanced"]))
    assert {name: column.tolist() for name, column in found.items()} == {
        "inside": [96, 24], "experts_read": [4, 8], "expert_rows": [4, 8]}


CORE = {"peak": 3e6, "bandwidth": 5e4, "hbm_efficiency": 0.8, "kernel_boundary": 0.13,
        "core_tile_rows": 8.0, "prefill_tile_rows": 16.0, "element_bytes": 1.5}


@pytest.mark.parametrize("compute_share", [0.5, 1e-3])
def test_a_core_of_decode(compute_share):
    """11 heads fill two tiles of eight; of a position 512 are read and multiplied twice, 64 once.

    Of each head a query goes in and what it found comes out, in 16 bits.
    """
    wide = 512 + 64 + 512
    compute = 2 * 16 * wide * 3 * 50 / (3e6 * compute_share)
    memory = 3 * (50 * (512 + 64) * 1.5 + 11 * wide * 2) / (5e4 * 0.6)
    assert (compute > memory) == (compute_share < 0.5)
    found = DECODE_CORE.time({"heads": 11.0, "batch": 3.0, "context": 50.0} | CORE, {
        "mla_efficiency": 0.6, "mla_compute_efficiency": compute_share,
        "latent_core_latency": 0.7, "latent_core_fill": 0.09})
    assert float(found) == pytest.approx(max(compute, memory) + 0.7 + 3 * 0.09 + 2 * 0.13)


@pytest.mark.parametrize("tokens", [5.0, 16.0, 21.0])
def test_a_core_over_whole_prompts(tokens):
    """Each token attends to itself and to those before; rows of a tile are brought in whole."""
    row = 7 * (192 + 128) * 2
    pairs = 3 * sum(range(1, int(tokens) + 1))
    compute = 2 * 7 * (192 + 128) * pairs / (3e6 * 0.3)
    memory = row * 3 * tokens / (5e4 * 0.8)
    brought = row * 3 * max(tokens, 16) / (5e4 * 0.8)
    found = PREFILL_CORE.time({"heads": 7.0, "batch": 3.0, "tokens": tokens} | CORE, {
        "attention_efficiency": 0.3, "prefill_core_latency": 0.7, "core_row_traffic": 2.5})
    assert float(found) == pytest.approx(max(compute, memory) + 0.7 + 2.5 * brought + 0.13)
