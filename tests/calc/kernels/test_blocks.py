"""A block of latent attention is what a step has of it; what made a table is found in it."""

import numpy as np
import pytest

import calc
import catalogue
from calc.kernels.blocks import AROUND, DECODE_BETWEEN, DECODE_BLOCK, SPARSE_BLOCK, SPARSE_KNOWN
from calc.kernels.fitting import fit, halves
from calc.kernels.matmuls import DENSE, OF_CARD

STEP = catalogue.load_scenario("h200-r1-trtllm-ep8").inputs() | {
    "output_tokens": 2, "input_tokens": 4095, "concurrency": 64.0}
SAME = 3e-5  # relative: weights of norms, which a step reads and a block does not hold
CORE = ("mla_efficiency", "mla_compute_efficiency", "latent_core_latency", "latent_core_fill")


def known():
    """What a table and a card say, of the inputs of a deployment."""
    return {name: STEP[name] for name in (*OF_CARD, *CORE)} | {
        name: STEP[f"attention_{name}"] for name in DENSE.parameters} | {
        "peak": STEP["attention_peak"], "core_peak": STEP["core_peak"],
        "bandwidth": STEP["memory_bandwidth"], "weight_bytes": STEP["attention_weight_bytes"],
        "core_tile_rows": STEP["core_tile_rows"], "element_bytes": STEP["kv_cache_element_bytes"]}


def shapes():
    heads, batch, context = (grid.ravel() for grid in np.meshgrid(
        [8.0, 16, 32, 64, 128], [1.0, 2, 4, 8, 16, 32, 64, 128], [256.0, 1024, 4096, 16384]))
    return {"heads": heads, "batch": batch, "context": context}


class TestLaw:
    @pytest.mark.parametrize("slow", [{}, {"core_peak": 1e12}, {"attention_peak": 1e12}])
    def test_it_is_the_attention_of_a_step(self, monkeypatch, slow):
        """Of a card whose bytes decide, or where one of the two is slow to multiply."""
        for name, peak in slow.items():
            monkeypatch.setitem(STEP, name, peak)
        columns = {"heads": STEP["num_attention_heads"] / STEP["tensor_parallel"],
                   "batch": 64.0, "context": 4096.5}
        block = DECODE_BETWEEN.time({**known(), **columns}, {
            "attention_operators": STEP["attention_operators"]})
        layers = STEP["num_hidden_layers"]
        step = calc.evaluate(STEP | {"load_overlap": 0.5, "clock_factor": 1, "clock_spread": 0,
                                     "kv_imbalance": 1, "data_parallel": 1}, "mla")
        boundaries = (STEP["attention_operators"] - AROUND) * STEP["kernel_boundary"]
        told = (step["decode_attention_time"] + step["decode_core_time"]) / layers + boundaries
        assert float(block) == pytest.approx(float(told), rel=SAME)

    @pytest.mark.parametrize("name", ["heads", "batch", "context"])
    def test_more_takes_no_less(self, name):
        columns = shapes()
        values = {"attention_operators": 10.0}
        less = DECODE_BETWEEN.time({**known(), **columns}, values)
        more = DECODE_BETWEEN.time({**known(), **columns, name: columns[name] * 2}, values)
        assert (more >= less * (1 - 1e-12)).all()

    def test_each_kernel_adds_a_boundary(self):
        columns = shapes()
        few, many = (DECODE_BETWEEN.time({**known(), **columns}, {"attention_operators": count})
                     for count in (8.0, 9.0))
        assert many - few == pytest.approx(STEP["kernel_boundary"])


class TestSparse:
    STEP = catalogue.load_scenario("h200-v32-trtllm-ep8").inputs() | {
        "output_tokens": 2, "input_tokens": 8191, "concurrency": 64.0, "whole_selection": 1,
        "load_overlap": 0.5, "clock_factor": 1, "clock_spread": 0, "kv_imbalance": 1,
        "data_parallel": 1}

    def known(self):
        return {name: self.STEP[name] for name in (*OF_CARD, *SPARSE_KNOWN,
                                                   "attention_operators")} | {
            name: self.STEP[f"attention_{name}"] for name in DENSE.parameters} | {
            "peak": self.STEP["attention_peak"], "bandwidth": self.STEP["memory_bandwidth"],
            "weight_bytes": self.STEP["attention_weight_bytes"],
            "indexer_operators": self.STEP["indexer_operators"],
            "element_bytes": self.STEP["kv_cache_element_bytes"],
            "index_bytes": self.STEP["kv_index_element_bytes"]}

    def values(self, **others):
        return {name: self.STEP[name] for name in SPARSE_BLOCK.parameters} | others

    @pytest.mark.parametrize("slow", [{}, {"core_peak": 1e12}, {"attention_peak": 1e12},
                                      {"index_peak": 1e12}])
    def test_it_is_the_sparse_attention_of_a_step(self, monkeypatch, slow):
        for name, peak in slow.items():
            monkeypatch.setitem(self.STEP, name, peak)
        columns = {"heads": self.STEP["num_attention_heads"] / self.STEP["tensor_parallel"],
                   "batch": 64.0, "context": 8192.5}
        block = SPARSE_BLOCK.time({**self.known(), **columns}, self.values())
        step = calc.evaluate(self.STEP, "mla")
        chosen = self.STEP["selection_traffic"] * 64 * 8192.5 / (
            self.STEP["memory_bandwidth"] * self.STEP["hbm_efficiency"])
        boundaries = (self.STEP["attention_operators"] + self.STEP["indexer_operators"]
                      - AROUND) * self.STEP["kernel_boundary"]
        parts = sum(step[f"decode_{name}_time"] for name in ("attention", "core", "index"))
        told = parts / self.STEP["num_hidden_layers"] + chosen + boundaries
        assert float(block) == pytest.approx(float(told), rel=SAME)

    @pytest.mark.parametrize("name", ["heads", "batch", "context"])
    def test_more_takes_no_less(self, name):
        columns = shapes()
        less = SPARSE_BLOCK.time({**self.known(), **columns}, self.values())
        more = SPARSE_BLOCK.time({**self.known(), **columns, name: columns[name] * 2},
                                 self.values())
        assert (more >= less * (1 - 1e-12)).all()

    def test_a_longer_context_adds_keys_alone(self):
        """What is attended to has its full number; each position more is an index key, scored."""
        at = {"heads": np.array([16.0]), "batch": np.array([64.0])}
        times = SPARSE_BLOCK.time({**self.known(), **at, "context": np.array(
            [8192.0, 16384, 24576])}, self.values())
        assert times[1] - times[0] == pytest.approx(times[2] - times[1])
        keys = 64 * 8192 * 128 * self.STEP["kv_index_element_bytes"] / self.STEP["memory_bandwidth"]
        assert times[1] - times[0] > keys

    def test_the_values_that_made_a_table_are_found(self):
        true = {"latent_core_latency": 6e-5, "mla_efficiency": 0.5, "latent_core_fill": 3e-7}
        columns = shapes() | {"context": shapes()["context"] + 4096}
        time = SPARSE_BLOCK.time({**self.known(), **columns}, true)
        found = fit(SPARSE_BLOCK, {**self.known(), **columns}, time,
                    halves(list(columns.values())), columns["batch"],
                    columns["heads"].astype(int))
        assert found.values == pytest.approx(true, rel=0.02)
        assert found.errors.most < 1e-3


class TestFits:
    @pytest.mark.parametrize("law", [DECODE_BETWEEN, DECODE_BLOCK])
    def test_the_values_that_made_a_table_are_found(self, law):
        true = {"attention_operators": 9.0} | {
            name: known()[name] for name in law.parameters if name in CORE}
        columns = shapes()
        time = law.time({**known(), **columns}, true)
        kinds = columns["heads"].astype(int)
        found = fit(law, {**known(), **columns}, time, halves(list(columns.values())),
                    columns["batch"], kinds)
        assert found.values == pytest.approx(true, rel=0.02)
        assert found.errors.most < 1e-3
