"""Times per output token that were reported in public, which nothing is fitted to."""

import pytest

import catalogue
from calc.answer.simulated_load import MEANS, simulate_load
from calc.serving.evaluate import evaluate

HARNESS = "https://github.com/aarora79/agentic-coding-harness-benchmarks"
REPORTS = {
    "GLM-5.2 in FP8 on eight H200": (
        f"{HARNESS}/pull/51", """
model: glm-5.2
device: nvidia-h200-sxm
engine: vllm@0.25.0
cluster: {node: hgx-h200, nodes: 1}
precision: fp8-block
workload: {input_tokens: 1024 token, output_tokens: 256 token, context_tokens: 200000 token,
  memory_utilization: 0.95, concurrency: USERS request}""", {1: 10.29, 8: 12.96}),
    "Kimi-K3 on eight B300": (
        f"{HARNESS}/blob/main/self-hosted/vllm/benchmark-output/throughput/kimi-k3/"
        "performance-summary.json", """
model: kimi-k3
device: nvidia-b300
engine: vllm@0.29.0
cluster: {node: hgx-b300, nodes: 1}
precision: mxfp4-w4a16
workload: {input_tokens: 60000 token, output_tokens: 500 token, concurrency: USERS request}""",
        {1: 9.8}),
    "R1 in FP8 on eight H200": (
        "https://github.com/SemiAnalysisAI/InferenceX/issues/870", """
model: deepseek-v3
device: nvidia-h200-sxm
engine: sglang@0.5.6.post2
cluster: {node: hgx-h200, nodes: 1}
precision: fp8-block
workload: {input_tokens: 1024 token, output_tokens: 1024 token, concurrency: USERS request}""",
        {8: 12.8}),
    "GLM-5.2 in FP8 on eight H200, more users than the cache holds": (
        "https://github.com/sgl-project/sglang/pull/31609", """
model: glm-5.2
device: nvidia-h200-sxm
engine: sglang@0.5.15.post1
cluster: {node: hgx-h200, nodes: 1}
precision: fp8-block
workload: {input_tokens: 8192 token, output_tokens: 1024 token, concurrency: USERS request}""",
        {1024: 62.11})}
NEAR = 0.25
ALIKE = 0.12  # closed form and simulation of a full cache


@pytest.mark.parametrize(("name", "users"), [
    (name, users) for name, (*_, measured) in REPORTS.items() for users in measured])
def test_time_per_token_is_near_what_was_reported(name, users, tmp_path):
    scenario = reported(name, users, tmp_path)
    found = evaluate(scenario.inputs(), scenario.model.attention)
    # users who find no place in the cache ask again as soon as they are answered
    time = "steady_tpot" if found["served_requests"] < users else "tpot"
    assert found[time] == pytest.approx(REPORTS[name][-1][users] / 1e3, rel=NEAR)


@pytest.mark.nightly
def test_a_full_cache_is_that_of_a_simulation(tmp_path):
    """As many run at once as have room; throughput, waits and paces are those of the engine."""
    *_, (name, (*_, measured)) = REPORTS.items()
    scenario = reported(name, *measured, tmp_path)
    found = evaluate(scenario.inputs(), scenario.model.attention)
    seen = simulate_load(scenario, wanted=MEANS).summary
    for quantity, simulated in (("steady_tpot", seen.tpot.mean), ("steady_ttft", seen.ttft.mean),
                                ("steady_throughput", seen.output_throughput)):
        assert found[quantity] == pytest.approx(simulated, rel=ALIKE)


def reported(name, users, tmp_path):
    """The deployment of a report, asked by so many users."""
    source, deployment, _ = REPORTS[name]
    path = tmp_path / "reported.yml"
    path.write_text(f"""title: {{en: "{name}", zh: "{name}"}}
defaults: {{source: "{source}", kind: measured, date: 2026-07}}
parallelism: {{tensor_parallel: 8, pipeline_parallel: 1, data_parallel: 1, expert_parallel: 1}}
{deployment.replace("USERS", str(users))}
""", "utf-8")
    return catalogue.load_scenario(path)
