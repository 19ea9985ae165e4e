"""A file with an error, of every kind: one sentence, with the file and the line."""

from pathlib import Path

import pytest
from _door import sentence, spoilt

import catalogue

ERRORS = {
    "scenarios/s0-scenario-1": [
        ("parallelism:\n  tensor_parallel: {value: 8,",
         "parallelism:\n  tensor_parallel: {value: 4,", "8 devices, but"),
        ("model: deepseek-v3", "model: deepseek-v5", "nearest names are deepseek-v"),
        ("node: atlas-800i-a2", "node: atlas", "nearest names are atlas-"),
        ("precision: bf16", "precision: fp7", "nearest names are"),
        ("zh: S0 场景一", "de: S0 场景一", "both languages"),
        ("- quantity: ttft", "- quantity: tftt", "not a quantity of params/symbols.yml"),
        ("value: 120 ms", "value: 120 GB", "wrong unit for 'ttft'"),
        ("effective_compute]", "effective_computer]", "needs 'effective_computer'"),
        ("prompt], effective_compute]", "prompt], [subtract, prompt, prompt]]", "division by"),
        ("prompt], effective_compute]", "prompt], [exp, 99999]]", "too large"),
        ("prompt], effective_compute]", "prompt], [eval, 1]]", "unknown operator"),
    ],
    "profiles/vllm": [
        ("host_gap_per_step:", "host_gap:", "there is no mechanism 'host_gap'"),
        ("--gpu-memory-utilization", "--gpu-memory", "no pinned release has '--gpu-memory'"),
        ("since: 0.16.0", "since: 0.16.x", "'0.16.x' is not a release"),
        ("scheduling:\n      value: mixed", "scheduling:\n      value: some", "mixed"),
        ("cards: [nvidia-h200]", "cards: [nvidia-h2000]", "nearest names are nvidia-h200"),
        ("\nflags: vllm", "\nflags: <b>x</b>", "flags: there is no engine '<b>x</b>' in params"),
    ],
    "precisions/bf16": [
        ("  core: bf16\n", "  core: fp7\n", "multiply.core"),
        ("\n  core: bf16\n", "\n  kernel: bf16\n", "unknown key 'multiply.kernel'"),
        ("source: deepseek-v3-inference\n", "source: nobody\n", "not in params/sources/"),
        ("  kind: vendor\n", "  kind: hearsay\n", "multiply.kind"),
    ],
    "formulas/s1": [
        ("- id: s1-f02", "- id: s1-f03", "expected 's1-f02'"),
        ("documented: [divide, amount,", "documented: [divid, amount,", "unknown operator"),
        ("documented: [divide, amount,", "documented: [divide, amont,", "'amont' is neither"),
        ("right_quantity: kv_bytes_per_token", "right_quantity: kv_bytes", "'kv_bytes' is neither"),
        ("inputs: {amount: 96 GB}", "inputs: {each: 96 GB}", "needs 'amount'"),
        ("printed: 89.4\n", "printed: 89.4 gigs\n", "unknown unit"),
        ("catalogue: {amount: devices/nvidia-h20/memory_capacity}",
         "catalogue: {amount: memory_capacity}", "is not KIND/NAME/KEY"),
        ("scenario: s1-plan-c", "scenario: s1-plan-z", "nearest names are"),
        ("  amount: {latex: 'x', unit: B", "  amount: {latex: 'x', unit: BB", "unknown unit"),
        ("  amount: {latex", "  idle: {latex: 'i', unit: B, en: i, zh: i}\n  amount: {latex",
         "no formula has the symbol 'idle'"),
    ],
}


def load(kind: str, path: Path):
    """A file of a kind, an engine's through a deployment that it drives."""
    if kind == "scenarios":
        return catalogue.load_scenario(path)
    if kind == "profiles":
        return catalogue.load_scenario("h200-r1-vllm-tp8", overrides=[f"engine={path}@0.33.0"])
    return catalogue.load(kind, path)


@pytest.mark.parametrize(("entry", "old", "new", "says"), [
    (entry, *case) for entry, cases in ERRORS.items() for case in cases])
def test_a_file_with_an_error(tmp_path, entry, old, new, says):
    kind, _, _ = entry.partition("/")
    path = tmp_path / kind / "mine.yml"
    path.parent.mkdir()
    message = sentence(load, kind, spoilt(path, entry, old, new))
    before = (catalogue.ROOT / f"{entry}.yml").read_text("utf-8").partition(old)[0]
    line = (before + old.rstrip()).count("\n") + 1
    assert says in message
    assert f"mine.yml:{line}:" in message
