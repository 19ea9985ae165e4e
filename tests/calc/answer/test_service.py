"""The line that an engine prints of its cache: the same in every answer, at deploy's length."""

import pytest

import catalogue
from calc.answer.service import engine_words, startup_line
from calc.launching.launch import deployment

V4, R1 = "v4-flash-8xh20", "h200-r1-vllm-tp8"


@pytest.mark.parametrize(("name", "flag"), [
    (R1, "--max-model-len 163840"), (V4, "--max-model-len 1048576"),
    ("h200-r1-sglang-tp8", "--context-length 163840")])
def test_length_is_the_one_that_deploy_writes(name, flag):
    line, made = startup_line(catalogue.load_scenario(name)), deployment(name)
    assert flag in made.files["nodes/serve-0.sh"]
    assert flag.endswith(f" {line.length}")
    assert line.text in made.files["README.md"].replace("\\", "")
    assert made.watched[0].startup == line


@pytest.mark.parametrize("length", [65_536, 1_048_576])
def test_tokens_are_requests_of_the_longest_length(length):
    """As vLLM computes them for groups of layers with windows: concurrency times the length."""
    line = startup_line(catalogue.load_scenario(V4, overrides=[
        f"workload.context_tokens={length}"]))
    assert line.length == length
    assert line.tokens.value == pytest.approx(line.requests.value * length, abs=1)
    assert f"{line.tokens.value:,.0f} tokens" in line.text
    assert f"{line.requests.value:.2f}x" in line.text


def test_engine_stops_where_the_cache_holds_no_request():
    short = catalogue.load_scenario(R1, overrides=[
        "workload.context_tokens=160000", "device.memory_capacity=110 GB"])
    line = startup_line(short)
    assert not line.starts
    assert line.tokens.value < 160_000
    said, = engine_words(short)
    assert "160,000" in said[0]
    assert line.text not in said[0]


def test_unnamed_engine_prints_nothing():
    assert startup_line(catalogue.load_scenario("s0-scenario-1")) is None
