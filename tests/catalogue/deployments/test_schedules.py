"""The schedule of a captured step: what a profile states, what follows of it, and bad ones."""

import pytest
from _door import sentence

import catalogue
from calc.serving.evaluate import evaluate
from catalogue.deployments.profiles import running

H200, V3 = catalogue.load_device("nvidia-h200-sxm"), catalogue.load_model("deepseek-v3")
PROFILE = """name: {en: Mine, zh: 我的}
stacks: [cuda]
source: Their packages
releases: {1.0.0: 2026-01}
statements:
  - schedule:
      source: Their source
      kind: vendor
      blocks: ["""


@pytest.mark.parametrize(("blocks", "problem"), [
    ("{block: atention}", "or 'head', found 'atention'"),
    ("{block: router, beside: [head]}", "'router' refers to 'head', which is no other block of "
     "this schedule, expected one of router"),
    ("{block: norm, fused: norm}", "'norm' refers to 'norm'"),
    ("{block: router, laws: [gem]}", "or 'exchange', found 'gem'"),
    ("{block: router, laws: [gemm]}", "no table of 'gemm' was fitted under mine")])
def test_bad_schedules_are_refused_with_their_line(tmp_path, blocks, problem):
    path = tmp_path / "mine.yml"
    path.write_text(f"{PROFILE}{blocks}]\n", encoding="utf-8")
    message = sentence(running, f"{path}@1.0.0", H200, V3, drafts=False)
    line = PROFILE.count("\n") + 1
    assert f"mine.yml:{line}" in message
    assert problem in message


def test_ranks_share_the_projection_back_from_the_width_of_experts():
    """Of 7,168 × 3,584 weights of two bytes in each of 92 layers a rank of eight reads one eighth;
    the one to that width, and the router, stay whole."""
    inputs = catalogue.load_scenario("h200-r1-vllm-tp8", overrides=[
        "model=kimi-k3", "device=nvidia-b300", "cluster.node=hgx-b300", "engine=vllm@0.29.0",
        "precision=mxfp4-w4a16", "workload.concurrency=1 request"]).inputs()
    assert inputs["latent_output_divided"] == 1
    divided, whole = (evaluate(inputs | {"latent_output_divided": switch}, "mla")
                      for switch in (1, 0))
    layers = inputs["num_hidden_layers"] - inputs["first_k_dense_replace"]
    weights = layers * 7168 * 3584 * inputs["router_weight_bytes"]
    outputs = layers * 7168 * inputs["activation_element_bytes"]
    assert whole["decode_router_bytes"] - divided["decode_router_bytes"] == pytest.approx(
        7 / 8 * (weights + outputs))


@pytest.mark.parametrize(("name", "engine"), [
    ("h200-r1-trtllm-ep8", None), ("h200-v4-sglang-tp4", None),
    ("h200-r1-vllm-tp8", "tensorrt-llm@1.0.0")])
def test_a_second_stream_shortens_small_captured_steps_alone(name, engine):
    """By what shared experts take besides their bytes and operations; never a step of prefill."""
    scenario = catalogue.load_scenario(name, overrides=[f"engine={engine}"] if engine else [])
    inputs, attention = scenario.inputs(), scenario.model.attention
    assert inputs["second_stream_tokens"] > 0
    for tokens in (1, 8, inputs["second_stream_tokens"] + 1):
        alone, beside = (evaluate(inputs | {"concurrency": tokens, "draft_tokens": 0, **more},
                                  attention) for more in ({"second_stream_tokens": 0}, {}))
        saved = alone["decode_step_time"] - beside["decode_step_time"]
        small = tokens <= min(inputs["second_stream_tokens"], inputs["largest_graph"])
        assert bool(saved > 0) is bool(small)
        assert saved == pytest.approx(float(beside["decode_second_stream_time"]))
        assert saved < beside["decode_shared_expert_time"] + beside["decode_boundary_time"]
        assert alone["prefill_step_time"] == beside["prefill_step_time"]
