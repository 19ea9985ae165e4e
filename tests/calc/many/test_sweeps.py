"""Many deployments at once: equal to one at a time, intervals."""

from functools import cache

import numpy as np
import pytest

import calc
import catalogue
from calc.many.sweeps import CHUNK
from calc.serving.evaluate import DECODE_NAMES, FAST, PACE, SERVED_NAMES, STEADY_NAMES
from notebooks.derive.crosscheck import DIFFERENCES

# both kinds of attention, drafts, pools, pipelines, offloaded experts, host launches, V4
SCENARIOS = ("s0-scenario-1", "s1-launch-production", "s1-expert-tiers-uniform", "h20-qwen3-8b",
             "h200-r1-sglang-mtp", "wide-lmsys-prefill", "950pr-v4-cann", "b200-energy-gpqa")
PRECISE = 1e-11
CARDS = (
    ("ascend-910b2", "atlas-800i-a2", "bf16"), ("nvidia-h200-sxm", "hgx-h200", "fp8-block"),
    ("nvidia-a100-sxm-80gb", "hgx-a100", "w4a16-awq"))


@cache
def cards():
    return [catalogue.load_scenario("s0-scenario-1", overrides=[
        f"device={device}", f"cluster.node={node}", f"precision={precision}"]).inputs()
        for device, node, precision in CARDS]


DRAWN = {
    "routing_skew": [0, 0.5, 2], "balanced_placement": [0, 1], "even_routing": [0, 1],
    "draft_tokens": [0, 1, 2], "mtp_acceptance": [0.7, 1], "acceptance_decay": [0.8, 1],
    "micro_batches": [1, 2], "separate_pools": [0, 1], "prefill_together": [0, 1],
    "captured": [0, 1], "exchange_normal": [0, 1], "offloaded_share": [0, 0.9], "host_peak": [1e13],
    "fetched_share": [0, 0.6], "device_hit_share": [0.7], "stored_share": [0.2],
    "host_hit_share": [0.9], "host_memory_bandwidth": [3e11], "host_link_bandwidth": [2e10],
    "max_num_batched_tokens": 2 ** np.arange(9, 16), "pipeline_parallel": [1, 2, 4, 8],
    "concurrency": np.arange(1, 4096), "input_tokens": np.arange(1, 32_768),
    "output_tokens": np.arange(1, 4096)}


def mixed(rng, count):
    """Deployments whose card, precision, layout, mechanisms and workload differ."""
    card = rng.integers(0, len(CARDS), count)
    tensor, data = 2 ** rng.integers(0, 5, count), 2 ** rng.integers(0, 7, count)
    return {name: np.array([inputs[name] for inputs in cards()])[card] for name in cards()[0]} | {
        "tensor_parallel": tensor, "data_parallel": data,
        "expert_parallel": np.where(rng.random(count) < 0.5, 1, tensor * data),
        **{name: rng.choice(values, count) for name, values in DRAWN.items()}}



def row(inputs, i):
    return {name: value[i] if np.ndim(value) else value for name, value in inputs.items()}


class TestEqualToOneAtATime:
    """The fast paths are the formulas of evaluate() and no others."""

    def test_every_quantity_of_mixed_deployments(self):
        """Two passes."""
        inputs = mixed(np.random.default_rng(1), CHUNK + 100) | {"memory_capacity": 1e18}
        names = SERVED_NAMES - {FAST} | STEADY_NAMES
        result = calc.decode_sweep(inputs, "mla", names)
        for i in (*range(25), CHUNK - 1, CHUNK, CHUNK + 99):
            alone = calc.evaluate(row(inputs, i), "mla")
            for name in names:
                of = float(alone[DIFFERENCES[name]]) if name in DIFFERENCES else 0
                assert result[name][i] == pytest.approx(
                    alone[name], rel=PRECISE, abs=PRECISE * of), name

    def test_recorded_passes_equal_direct_evaluation(self):
        """As many passes as are worth a recording."""
        count, rng = 18 * CHUNK, np.random.default_rng(6)
        inputs = cards()[0] | {"concurrency": rng.integers(1, 4096, count),
                               "draft_tokens": rng.integers(0, 3, count)}
        result = calc.decode_sweep(inputs, "mla", [FAST])[FAST]
        for i in (0, CHUNK, count - 1):
            alone = calc.latency(row(inputs, i), "mla")[FAST]
            assert result[i] == pytest.approx(alone, rel=PRECISE)

    def test_fewer_quantities_are_the_same_quantities(self):
        inputs = mixed(np.random.default_rng(2), 300)
        everything = calc.decode_sweep(inputs, "mla", SERVED_NAMES)
        for name, values in calc.decode_sweep(inputs, "mla", DECODE_NAMES).items():
            np.testing.assert_array_equal(values, everything[name])
        stall = everything["decode_stall"]
        np.testing.assert_allclose(everything[PACE], everything["tpot"] - stall, rtol=1e-9)

    @pytest.mark.parametrize("name", SCENARIOS)
    def test_latency_equals_evaluate(self, name):
        scenario = catalogue.load_scenario(name)
        inputs, attention = scenario.inputs(), scenario.model.attention
        alone, names = calc.evaluate(inputs, attention), SERVED_NAMES | STEADY_NAMES
        result = calc.latency(inputs, attention, names)
        for quantity in names - {FAST}:
            assert result[quantity] == pytest.approx(alone[quantity], rel=PRECISE, abs=0), quantity
        assert result[FAST] == pytest.approx(
            (alone["decode_step_time"] + alone["draft_time"]) / alone["tokens_per_step"])

    @pytest.mark.parametrize("dtype", [np.int32, np.float32])
    def test_narrow_integers_do_not_wrap(self, dtype):
        inputs = cards()[0]
        shapes = {name: np.full(2, inputs[name], dtype=dtype) for name in (
            "hidden_size", "vocab_size", "n_routed_experts", "num_hidden_layers")}
        result = calc.decode_sweep(inputs | shapes, "mla")[FAST]
        assert (result == calc.latency(inputs, "mla")[FAST]).all()


THREE = mixed(np.random.default_rng(0), 3)
LESS = {name: value for name, value in THREE.items() if name != "block_size"}
MISUSE = [
    (lambda: calc.decode_sweep(THREE, "mla", ["weights_total"]), "no quantity 'weights_total'"),
    (lambda: calc.sweep(THREE, "mla", ["stage_time"]), "'stage_time' depends on the stage"),
    (lambda: calc.decode_sweep(THREE | {"tensor_paralel": 8}, "mla"), "not an input"),
    (lambda: calc.latency(LESS, "mla"), "block_size"),
    (lambda: calc.decode_sweep(THREE | {"concurrency": np.ones(5)}, "mla"), "arrays of one length")]


@pytest.mark.parametrize(("call", "message"), MISUSE)
def test_misuse(call, message):
    with pytest.raises(ValueError, match=message):
        call()
