"""Bad input of a deployment: acceptances, lengths and experts that are none, each one sentence."""

import pytest
from _door import sentence

import catalogue
from calc.commands.lengths import read_lengths

NAME = "h200-r1-sglang-mtp"


def stated(tmp_path, section, line):
    """A deployment with a line more in one of its sections, and the number of that line."""
    text = (catalogue.ROOT / "scenarios" / f"{NAME}.yml").read_text(encoding="utf-8").splitlines()
    if f"{section}:" not in text:
        text.append(f"{section}:")
    at = text.index(f"{section}:") + 1
    path = tmp_path / "mine.yml"
    path.write_text("\n".join([*text[:at], f"  {line}", *text[at:], ""]), encoding="utf-8")
    return path, at + 1


SAID = "source: arithmetic, kind: assumed"


@pytest.mark.parametrize(("section", "line", "says"), [
    ("mechanisms", f"mtp_acceptance: {{value: 1.2, {SAID}}}", "expected at most 1"),
    ("mechanisms", f"mtp_acceptance: {{value: 0.9, range: [0.8, 1.1], {SAID}}}",
     "expected at most 1"),
    ("mechanisms", f"acceptance_decay: {{value: 2, {SAID}}}", "expected at most 1"),
    ("mechanisms", f"mtp_acceptance: {{value: -0.5, {SAID}}}", "at least 0"),
    ("mechanisms", f"mtp_acceptance: {{value: 50 token, {SAID}}}", "expected a plain number"),
    ("mechanisms", f"largest_graph: {{value: 0 token, {SAID}}}", "expected more than 0"),
    ("mechanisms", f"context_all_to_all: {{value: 2, {SAID}}}", "expected 0 or 1"),
    ("mechanisms", f"prefill_context_parallel: {{value: 1, {SAID}}}", "has no indexer"),
    ("workload", "length_distribution: gaussian", "'constant', 'exponential' or 'lognormal'"),
    ("workload", "length_variation: 0.5", "given with a lognormal length_distribution"),
    ("workload", "arrivals: sometimes", "'burst', 'closed-loop' or 'poisson'"),
    ("parallelism", "decode_context_parallel: 3", "3 does not divide tensor_parallel 8"),
    ("parallelism", "redundant_experts: -1", "at least 0"),
    ("parallelism", "balancing: always", "'none', 'periodic' or 'ideal'"),
])
def test_is_refused_at_its_line(tmp_path, section, line, says):
    path, at = stated(tmp_path, section, line)
    message = sentence(catalogue.load_scenario, path)
    assert message.startswith(f"{path}:{at}: ")
    assert says in message


@pytest.mark.parametrize(("settings", "says"), [
    (["workload.input_tokens=-5 token"], "out of range, expected more than 0"),
    (["workload.output_tokens=0 token"], "out of range, expected more than 0"),
    (["workload.length_distribution=lognormal", "workload.length_variation=-1"],
     "expected more than 0"),
    (["workload.length_distribution=lognormal", "workload.length_variation=0"],
     "expected more than 0"),
])
def test_lengths_that_no_request_has(settings, says):
    message = sentence(catalogue.load_scenario, NAME, overrides=settings)
    assert message.startswith("--set workload.")
    assert says in message


@pytest.mark.parametrize(("settings", "blamed"), [
    (["limits.ttft.p90=null"], "--set limits.ttft.p90"),
    (["limits.ttft=null", "limits.ttft.p90=null"], "--set limits.ttft"),
    (["limits.tpot=1 s", "limits.ttft.p90=null"], "--set limits.ttft.p90"),
    (["limits.ttft.mean=1 s", "limits.ttft.p90=2 s"],
     "--set limits.ttft.mean, --set limits.ttft.p90"),
])
def test_settings_that_break_a_rule_together_are_named_not_the_file(settings, blamed):
    message = sentence(catalogue.load_scenario, NAME, overrides=settings)
    assert message.startswith(f"{blamed}: ")
    assert "expected one, of the mean or of one of p50" in message


@pytest.mark.parametrize("line", ["-5,10", "10,-5", "0,10", "1.5,10", "10", "ten,10", "1e3,10"])
def test_a_file_with_a_length_that_is_none(tmp_path, line):
    path = tmp_path / "lengths.csv"
    path.write_text(f"input_tokens,output_tokens\n100,10\n{line}\n", encoding="utf-8")
    message = sentence(read_lengths, path)
    assert message.startswith(f"{path}:3: ")
    assert "whole numbers of at least 1" in message


@pytest.mark.parametrize(("ranks", "redundant", "says"), [
    (512, 0, "does not divide n_routed_experts 256 of 'deepseek-v3', redundant_experts of 256"),
    (512, 128, "256 routed and 128 redundant experts of 'deepseek-v3', redundant_experts of 256"),
])
def test_more_ranks_than_experts(ranks, redundant, says):
    """Every rank has at least one expert, a copy if need be."""
    many = [f"cluster.nodes={ranks // 8}", "parallelism.tensor_parallel=1",
            f"parallelism.data_parallel={ranks}", f"parallelism.expert_parallel={ranks}"]
    message = sentence(catalogue.load_scenario, NAME, overrides=[
        *many, f"parallelism.redundant_experts={redundant}"])
    assert message.startswith("--set parallelism.expert_parallel: ")
    assert says in message
    catalogue.load_scenario(NAME, overrides=[*many, "parallelism.redundant_experts=256"])


APART = """parallelism:
  tensor_parallel: {tensor}
  pipeline_parallel: 1
  data_parallel: {data}
  expert_parallel: 320
  redundant_experts: {copies}
  shared_expert_ranks: {apart}
"""


@pytest.mark.parametrize(("stated", "mechanism", "line", "says"), [
    ({"copies": 64}, "", 5, "320 less shared_expert_ranks of 32 does not divide 256 routed and 64 "
     "redundant experts of 'deepseek-v3', redundant_experts of 320 would"),
    ({"apart": 320}, "", 7, "shared_expert_ranks of 320 leaves no rank of expert_parallel 320 to "
     "the routed experts, expected fewer than 320"),
    ({"tensor": 2, "data": 160}, "", 7, "32 with tensor_parallel of 2 is not derived, expected 0"),
    ({}, "exchange_normal", 7, "low-latency exchange, expected 0 with exchange_normal"),
    ({}, "exchange_gathered", 7, "low-latency exchange, expected 0 with exchange_gathered"),
    ({"model": "qwen3-235b-a22b", "copies": 160}, "", 7,
     "'qwen3-235b-a22b' has no shared experts, expected 0"),
])
def test_shared_experts_that_cannot_lie_apart(tmp_path, stated, mechanism, line, says):
    """Ranks of their own leave some to the routed experts, are whole, and get single copies."""
    wide = {"tensor": 1, "data": 320, "copies": 32, "apart": 32} | stated
    text = (catalogue.ROOT / "scenarios" / "wide-cloudmatrix.yml").read_text(encoding="utf-8")
    head, rest = text.split("parallelism:", 1)
    workload = rest[rest.index("precision:"):rest.index("variants:")]
    above = head.replace("model: deepseek-v3", f"model: {wide.pop('model', 'deepseek-v3')}")
    below = f"mechanisms: {{{mechanism}: {{value: 1, {SAID}}}}}\n" if mechanism else ""
    path = tmp_path / "mine.yml"
    path.write_text(above + APART.format(**wide) + "  balancing: periodic\n" + workload + below,
                    encoding="utf-8")
    message = sentence(catalogue.load_scenario, path)
    assert message.startswith(f"{path}:{head.count(chr(10)) + line}: ")
    assert says in message


def test_a_family_has_its_title_in_both_languages(tmp_path):
    text = (catalogue.ROOT / "scenarios" / "wide-cloudmatrix.yml").read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    at = lines.index("title:\n")
    del lines[at + 1]
    path = tmp_path / "mine.yml"
    path.write_text("".join(lines), encoding="utf-8")
    assert sentence(catalogue.load_scenario, f"{path}#decode").startswith(
        f"{path}:{at + 1}: title: expected a text in both languages")
