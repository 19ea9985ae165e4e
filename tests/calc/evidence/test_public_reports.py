"""Times per output token that were reported in public, which nothing is fitted to."""

import pytest

import catalogue
from calc.closed_form.evaluate import evaluate

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
        {8: 12.8})}
NEAR = 0.25


@pytest.mark.parametrize(("name", "users"), [
    (name, users) for name, (*_, measured) in REPORTS.items() for users in measured])
def test_time_per_token_is_near_what_was_reported(name, users, tmp_path):
    source, deployment, measured = REPORTS[name]
    path = tmp_path / "reported.yml"
    path.write_text(f"""title: {{en: "{name}", zh: "{name}"}}
defaults: {{source: "{source}", kind: measured, date: 2026-07}}
parallelism: {{tensor_parallel: 8, pipeline_parallel: 1, data_parallel: 1, expert_parallel: 1}}
{deployment.replace("USERS", str(users))}
""", "utf-8")
    scenario = catalogue.load_scenario(path)
    found = evaluate(scenario.inputs(), scenario.model.attention)["tpot"]
    assert found == pytest.approx(measured[users] / 1e3, rel=NEAR)
