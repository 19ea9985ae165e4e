"""Operations and bytes by class of operators, and experts that are off the cards."""

from __future__ import annotations

import numpy as np
import pytest
from _fleet import ATTENTIONS, fleet, one, run, sampled, tables
from hypothesis import given, settings
from hypothesis import strategies as st

import calc
import catalogue
from calc.physics.operators import operator_time
from calc.physics.step import CLASSES
from calc.serving.evaluate import PHASES, evaluate
from catalogue.deployments.physics_inputs import DENSE

BYTES = ("weight_bytes", "activation_bytes", "kv_bytes")


def total(rows, *columns):
    return sum(float(row.total(column)) for row in rows for column in columns)


def by_class(table):
    """Operations and bytes of each class; what norms weigh streams with the projections."""
    vector = [row for row in table if row.group == "vector"]
    layers = [row for row in vector if row.layer != "outside"]
    outside = [row for row in vector if row.layer == "outside"]
    found = {}
    for name in CLASSES:
        rows = [row for row in table if row.group == name]
        found[f"{name}_flops"] = total(rows, "flops")
        found[f"{name}_bytes"] = total(rows, *BYTES)
    found["attention_bytes"] += total(layers, "weight_bytes")
    found["vector_bytes"] = (total(vector, "activation_bytes") + total(outside, "weight_bytes"))
    return found


def assert_rows_sum_to_the_classes(inputs, attention):
    found = calc.evaluate(inputs, attention)
    for phase, table in tables(inputs, attention).items():
        sums = by_class(table)
        closed = {name: float(found[f"{phase}_{name}"]) for name in sums}
        assert closed == pytest.approx(sums, rel=1e-9, abs=1e-6), phase


@pytest.mark.parametrize("attention", ATTENTIONS)
def test_rows_sum_to_the_classes(attention):
    drawn = fleet(attention, 11)
    for index in range(0, 100, 3):
        assert_rows_sum_to_the_classes(one(sampled(attention), index), attention)
        assert_rows_sum_to_the_classes(one(drawn, index), attention)


NONE = {f"{name}_{kind}_latency": 0.0 for name in DENSE for kind in ("matmul", "depth")}
V3 = {"decode": 3, "prefill": 4, "burst": 4}  # of a layer: keys and values absorbed, or expanded


def counted(name, kind, *overrides):
    """Matmuls, or their inputs, of a deployment by phase and class: a second for each of them."""
    scenario = catalogue.load_scenario(name, overrides=overrides)
    inputs = scenario.inputs() | NONE
    charged = inputs | {f"{cls}_{kind}_latency": 1.0 for cls in DENSE}
    before, after = (evaluate(ways, scenario.model.attention) for ways in (inputs, charged))
    return {phase: {cls: round(after[f"{phase}_{cls}_time"] - before[f"{phase}_{cls}_time"])
                    for cls in DENSE} for phase in PHASES}


class TestMatmuls:
    def test_number_of_matmuls(self):
        """Of DeepSeek-V3; an indexer has two more; of grouped queries, two of each half."""
        found = counted("h200-r1-sglang-tp8", "matmul")
        for phase in PHASES:
            assert found[phase] == {"attention": 61 * V3[phase], "dense_mlp": 3 * 2,
                                    "shared_expert": 58 * 2, "router": 58, "head": 1}
        sparse = counted("h200-v32-sglang-tp8", "matmul")
        assert sparse["decode"]["attention"] == found["decode"]["attention"] + 61 * 2
        assert counted("h20-qwen3-8b", "matmul")["decode"] == {
            "attention": 2 * 36, "dense_mlp": 2 * 36, "router": 0, "shared_expert": 0, "head": 1}

    def test_inputs_of_deepseek_v3(self):
        """The published shapes: hidden size 7168, latents of 1536 and 512, 128 heads of 128."""
        found = counted("h200-r1-sglang-tp8", "depth")
        around = 7168 + 1536 + 128 * 128 // 8
        assert found["decode"] == {
            "attention": 61 * around, "dense_mlp": 3 * (7168 + 18432 // 8),
            "shared_expert": 58 * (7168 + 2048 // 8), "router": 58 * 7168, "head": 7168}
        assert found["prefill"]["attention"] == 61 * (around + 512)
        whole = counted("h200-r1-sglang-tp8", "depth", "parallelism.tensor_parallel=1",
                        "parallelism.data_parallel=8")["decode"]
        assert whole["attention"] - found["decode"]["attention"] == 61 * 128 * 128 * 7 // 8

    @pytest.mark.parametrize(("computed", "loaded"), [(0.5, 0), (2, 0), (0, 0.9), (0, 4)])
    def test_arithmetic_takes_as_long_as_outputs_wait_for_their_inputs(self, computed, loaded):
        """Of what is loaded meanwhile as much is hidden as beside any arithmetic."""
        inputs = catalogue.load_scenario("h200-r1-sglang-tp8").inputs() | NONE | {
            "attention_activation_traffic": 0}
        base = evaluate(inputs, "mla")
        rows = base["decode_tokens"] / inputs["micro_batches"]
        multiplies = (base["decode_attention_flops"] * max(1, inputs["gemm_tile_rows"] / rows)
                      / (inputs["attention_peak"] * inputs["attention_gemm_efficiency"]
                         * base["slowest_clock"]))
        loads = base["decode_attention_bytes"] / (
            inputs["memory_bandwidth"] * inputs["hbm_efficiency"])
        waiting = computed * multiplies + loaded * loads
        depth = 61 * (7168 + 1536 + 128 * 128 // 8)
        found = evaluate(inputs | {"attention_depth_latency": waiting / depth}, "mla")
        assert found["decode_attention_time"] == pytest.approx(operator_time(
            max(multiplies, waiting), loads, 1 - inputs["load_overlap"]), rel=1e-12)


EXPERT = 3 * 7168 * 2048 * 2  # [B]
both = pytest.mark.parametrize("attention", ATTENTIONS)
seeds = st.integers(0, 2**32 - 1)


def tiers(**changed):
    """Inputs of document S1's plan with three levels, and what follows from them."""
    inputs = catalogue.load_scenario("s1-expert-tiers").inputs() | changed
    return inputs, evaluate(inputs, "mla")


class TestTiers:
    def test_one_expert_at_four_distances(self):
        _, found = tiers(sliced_streaming_efficiency=1, host_link_efficiency=1,
                         host_stream_efficiency=1)
        assert found["expert_read_time"] == pytest.approx(EXPERT / 8 / 4e12)
        assert found["expert_link_time"] == pytest.approx(EXPERT / 8 / 63e9)
        # a server has two processors, and loads one expert for its own replica
        assert found["expert_host_time"] == pytest.approx(EXPERT / (2 * 307.2e9))
        assert found["expert_storage_time"] == pytest.approx(EXPERT / 7e9)

    def test_prefetching_hides_at_most_the_rest_of_the_step(self):
        (inputs, exposed), (_, hidden) = tiers(), tiers(host_overlap=1)
        rest = exposed["decode_step_time"] - inputs["host_gap_per_step"] - (
            exposed["decode_fetch_time"])
        assert hidden["decode_hidden_time"] == pytest.approx(rest, rel=1e-9)
        _, few = tiers(host_overlap=1, device_hit_share=1 - 1e-6, host_hit_share=1, stored_share=0,
                       concurrency=4)
        assert few["decode_hidden_time"] == pytest.approx(few["decode_fetch_time"], rel=1e-9)


@both
@settings(max_examples=3)
@given(seeds)
def test_slowest_memory_level_decides(attention, seed):
    inputs = fleet(attention, seed)
    found = run(inputs, attention)
    elsewhere = inputs["fetched_share"] * inputs["n_routed_experts"]
    stored, slack = inputs["stored_share"] * elsewhere, 1e-9 * inputs["n_routed_experts"]
    devices = inputs["tensor_parallel"] * inputs["pipeline_parallel"] * inputs["data_parallel"]
    loads = (1 - inputs["offloaded_share"]) * (inputs["fetched_share"] > 0) * (
        found["moe_layers"] * found["routed_expert_parameters"]
        * inputs["offloaded_weight_bytes"] / (found["routed_ranks"] * found["expert_slices"]))
    for phase in PHASES:
        read = np.minimum(inputs["n_routed_experts"], found[f"{phase}_distinct_experts"] * (
            1 + found[f"{phase}_rank_imbalance"]))
        lacking, deepest = (found[f"{phase}_{name}_experts"] for name in ("missing", "storage"))
        assert (lacking <= np.minimum(elsewhere, read) + slack).all()
        assert (read - lacking <= inputs["n_routed_experts"] - elsewhere + slack).all()
        assert (deepest <= np.minimum(stored, lacking) + slack).all()
        assert (lacking - deepest <= elsewhere - stored + slack).all()
        times = (
            loads * lacking / (inputs["host_link_bandwidth"] * inputs["host_link_efficiency"]),
            loads * (lacking - deepest) * devices / (
                inputs["host_memory_bandwidth"] * inputs["host_stream_efficiency"]),
            loads * deepest / inputs["storage_bandwidth"]
            * np.minimum(inputs["devices_per_node"], devices))
        np.testing.assert_allclose(found[f"{phase}_fetch_time"], np.maximum.reduce(times),
                                   rtol=1e-9, atol=1e-20)
