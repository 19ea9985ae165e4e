"""Laws of whole attention blocks: they equal the attention of a step, and fits recover them."""

from __future__ import annotations

import pytest

import calc
import catalogue
from kernels.attention_kernels import (
    AROUND,
    DECODE_BETWEEN,
    IN_LAWS,
    INDEX_MATMULS,
    SPARSE_BLOCK,
    SPARSE_KNOWN,
)
from kernels.matmuls import DENSE, OF_CARD

ALONE = {"output_tokens": 2, "concurrency": 64.0, "load_overlap": 0.5, "clock_factor": 1,
         "clock_spread": 0, "kv_imbalance": 1, "data_parallel": 1}
DENSE_STEP = catalogue.load_scenario("h200-r1-trtllm-ep8").inputs() | ALONE | {
    "input_tokens": 4095}
SPARSE_STEP = catalogue.load_scenario("h200-v32-trtllm-ep8").inputs() | ALONE | {
    "input_tokens": 8191, "whole_selection": 1}
CORE = ("mla_efficiency", "mla_compute_efficiency", "latent_core_latency", "latent_core_fill")
BETWEEN = ("kernel_boundary", "operators_per_layer", "reference_operators")
SAME = 3e-5  # relative: weights of norms, which a step reads and a block does not hold


def known(step, sparse):
    """Columns that a table and a card give, from the inputs of a step."""
    names = (*OF_CARD, *BETWEEN, *(
        (*SPARSE_KNOWN, "attention_operators", "indexer_operators") if sparse
        else (*CORE, "core_peak", "core_tile_rows")))
    found = {name: step[name] for name in names} | {
        name: step[f"attention_{name}"] for name in DENSE.parameters} | {
        "peak": step["attention_peak"], "bandwidth": step["memory_bandwidth"],
        "weight_bytes": step["attention_weight_bytes"],
        "element_bytes": step["kv_cache_element_bytes"]}
    return found | ({"index_bytes": step["kv_index_element_bytes"]} if sparse else {})


@pytest.mark.parametrize("slow", [{}, {"core_peak": 1e12}, {"attention_peak": 1e12}])
def test_block_equals_the_attention_of_a_step(slow):
    """Of a card whose bytes decide, or where one of the two is slow to multiply."""
    step = DENSE_STEP | slow
    columns = {"heads": step["num_attention_heads"] / step["tensor_parallel"], "batch": 64.0,
               "context": 4096.5}
    block = DECODE_BETWEEN.time({**known(step, False), **columns}, {
        "attention_operators": step["attention_operators"]})
    parts = calc.evaluate(step, "mla")
    expected = (parts["decode_attention_time"] + parts["decode_core_time"]) / step[
        "num_hidden_layers"] + (step["attention_operators"] - AROUND - IN_LAWS) * step[
        "kernel_boundary"]
    assert float(block) == pytest.approx(float(expected), rel=SAME)


@pytest.mark.parametrize("slow", [{}, {"core_peak": 1e12}, {"attention_peak": 1e12},
                                  {"index_peak": 1e12}])
def test_sparse_block_equals_the_attention_of_a_step(slow):
    step = SPARSE_STEP | slow
    columns = {"heads": step["num_attention_heads"] / step["tensor_parallel"], "batch": 64.0,
               "context": 8192.5}
    block = SPARSE_BLOCK.time({**known(step, True), **columns}, {
        name: step[name] for name in SPARSE_BLOCK.parameters})
    parts = calc.evaluate(step, "mla")
    selected = step["selection_traffic"] * 64 * 8192.5 / (
        step["memory_bandwidth"] * step["hbm_efficiency"])
    boundaries = (step["attention_operators"] - AROUND - IN_LAWS + step["indexer_operators"]
                  - INDEX_MATMULS) * step["kernel_boundary"]
    expected = sum(parts[f"decode_{name}_time"] for name in ("attention", "core", "index")) / step[
        "num_hidden_layers"] + selected + boundaries
    assert float(block) == pytest.approx(float(expected), rel=SAME)
