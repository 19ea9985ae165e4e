"""What matmuls take however few their rows: how many there are, and how deep."""

import numpy as np
import pytest
from _fleet import ATTENTIONS, run, sampled

import catalogue
from calc.quantities.everything import PHASES, evaluate
from catalogue.deployments.physics_inputs import DENSE

NONE = {f"{name}_{kind}_latency": 0.0 for name in DENSE for kind in ("matmul", "depth")}
V3 = {"decode": 5, "prefill": 4, "burst": 4}  # of a layer: absorbed keys and values, or expanded


def taken(inputs, attention, **latencies):
    """What latencies add to the classes of a decode step and of chunks [s], by phase and class."""
    before, after = (run(inputs, attention, **ways) for ways in (NONE, NONE | latencies))
    return {phase: {name: after[f"{phase}_{name}_time"] - before[f"{phase}_{name}_time"]
                    for name in DENSE} for phase in PHASES}


def of_scenario(name, kind, *overrides):
    """Matmuls, or their inputs, of a deployment by phase and class: a second for each of them."""
    scenario = catalogue.load_scenario(name, overrides=overrides)
    inputs = scenario.inputs() | NONE
    charged = inputs | {f"{cls}_{kind}_latency": 1.0 for cls in DENSE}
    before, after = (evaluate(ways, scenario.model.attention) for ways in (inputs, charged))
    return {phase: {cls: round(after[f"{phase}_{cls}_time"] - before[f"{phase}_{cls}_time"])
                    for cls in DENSE} for phase in PHASES}


@pytest.mark.parametrize("phase", PHASES)
def test_matmuls_of_deepseek_v3(phase):
    found = of_scenario("h200-r1-sglang-tp8", "matmul")[phase]
    assert found == {"attention": 61 * V3[phase], "dense_mlp": 3 * 2, "shared_expert": 58 * 2,
                     "router": 58, "head": 1}


def test_inputs_of_deepseek_v3():
    """The published shapes: hidden size 7168, latents of 1536 and 512, 128 heads of 128."""
    found = of_scenario("h200-r1-sglang-tp8", "depth")
    around = 7168 + 1536 + 512 + 128 * 128 // 8
    assert found["decode"] == {
        "attention": 61 * (around + 128), "dense_mlp": 3 * (7168 + 18432 // 8),
        "shared_expert": 58 * (7168 + 2048 // 8), "router": 58 * 7168, "head": 7168}
    assert found["prefill"]["attention"] == 61 * around


def test_an_indexer_has_two_matmuls_of_its_own():
    """Queries from their latent vector, keys from the hidden state; its prefill is absorbed."""
    sparse, dense = (of_scenario(name, kind) for kind in ("matmul",)
                     for name in ("h200-v32-sglang-tp8", "h200-r1-sglang-tp8"))
    assert sparse["decode"]["attention"] == dense["decode"]["attention"] + 61 * 2


def test_grouped_queries_are_two_matmuls():
    found = of_scenario("h20-qwen3-8b", "matmul")["decode"]
    layers = catalogue.load_scenario("h20-qwen3-8b").inputs()["num_hidden_layers"]
    assert found["attention"] == 2 * layers
    assert found["dense_mlp"] == 2 * layers
    assert found["router"] == found["shared_expert"] == 0


def test_only_the_outputs_get_shallower_by_tensor_parallelism():
    one, eight = (of_scenario("h200-r1-sglang-tp8", "depth", f"parallelism.tensor_parallel={t}",
                              f"parallelism.data_parallel={8 // t}")["decode"] for t in (1, 8))
    assert one["attention"] - eight["attention"] == 61 * 128 * 128 * 7 // 8
    assert one["router"] == eight["router"]


@pytest.mark.parametrize("attention", ATTENTIONS)
@pytest.mark.parametrize("kind", ["matmul", "depth"])
def test_rows_do_not_matter(attention, kind):
    inputs = sampled(attention) | {"micro_batches": 1}
    latencies = {f"{name}_{kind}_latency": 1e-3 for name in DENSE}
    few, many = (taken(inputs | {"concurrency": inputs["data_parallel"] * each}, attention,
                       **latencies)["decode"] for each in (1, 64))
    for name in DENSE:
        np.testing.assert_allclose(few[name], many[name], rtol=1e-9, atol=1e-12)
