"""The benchmark of a deployment: which runs it has, what clients are told, what is predicted."""

from __future__ import annotations

import pytest

import calc
import catalogue
from calc.answer.service import combine_pools
from calc.launching.bench import Bench, command, of_closed_loop
from calc.launching.launch import deployment

NAME = "h200-r1-vllm-tp8"  # blocks of 64 tokens
LENGTHS = ("workload.input_tokens=3000 token", "workload.output_tokens=600 token",
           "workload.context_tokens=4096 token", "workload.concurrency=10")
SPREAD = Bench("spread", "", 10, 2000, 400, 40, spread=0.5)
PREFIX = Bench("prefix", "", 10, 3000, 600, 10, shared=1472)
RATE = Bench("rate", "", 10, 3000, 600, 77, rate=0.5)


def runs(*overrides, name=NAME, engine=None):
    """Name -> requests at once, lengths, requests, spread, shared tokens, rate."""
    return {run.name: (run.concurrency, run.input_tokens, run.output_tokens, run.requests,
                       run.spread, run.shared, run.rate)
            for run in deployment(name, overrides, engine=engine).runs}


def test_each_run_moves_one_thing():
    """Four waves of requests, at least 16; varied lengths are uniform up to those planned, so that
    their mean is two thirds; half of a prompt is shared, in whole blocks."""
    assert runs(*LENGTHS, "workload.requests=1000") == {
        "one": (1, 3000, 600, 16, 0.0, 0, None), "half": (5, 3000, 600, 20, 0.0, 0, None),
        "planned": (10, 3000, 600, 1000, 0.0, 0, None),
        "shorter": (10, 1500, 300, 40, 0.0, 0, None),
        "spread": (10, 2000, 400, 40, 0.5, 0, None),
        "prefix": (10, 3000, 600, 40, 0.0, 23 * 64, None)}


def test_short_requests_and_rates():
    """A prompt shares a block if half of it holds one; a rate is measured where one is stated."""
    short = runs(*LENGTHS[2:], "workload.input_tokens=127 token", "workload.output_tokens=2 token",
                 "workload.requests=1000000000")
    assert not {"prefix", "spread"} & short.keys()
    assert short["planned"][3] == 20_000  # a longer run tells no more
    arriving = runs(*LENGTHS, "workload.arrivals=poisson", "workload.requests=1077",
                    "workload.arrival_rate=0.5 request/s")
    assert arriving["rate"] == (10, 3000, 600, 1077, 0.0, 0, 0.5)


def test_two_pools_keep_what_is_of_one_deployment():
    """First tokens are as unsure as those of the prefill pool, the others as the decode pool."""
    made = deployment("s0-scenario-3", ("precision=w4a8-int8", "workload.memory_utilization=0.95"),
                      engine="vllm-ascend@0.18.0")
    assert [run.name for run in made.runs] == ["one", "half", "planned"]
    run, (prefill, decode) = made.runs[2], (each.predicted for each in made.watched)
    for name, own in (("ttft", prefill.ttft), ("tpot", decode.tpot)):
        found = run.predicted[name]
        assert found.low / found.value == pytest.approx(own.low / own.value)
        assert found.high / found.value == pytest.approx(own.high / own.value)
    loop = combine_pools(*(pool.scenario for pool in made.pools), users=run.concurrency).loop
    assert run.predicted["output_throughput"].value == pytest.approx(
        loop.rate * run.output_tokens, rel=0.05)


def test_shared_prefix_saves_its_share_of_a_prompt():
    """Half of the prompt: about half of the time to first token, and none of a later one's."""
    scenario = catalogue.load_scenario(NAME)
    none, half = (of_closed_loop(scenario, Bench("", "", 1, 4096, 64, 1, shared=shared))
                  for shared in (0, 2048))
    assert 0.4 < half["ttft"].value / none["ttft"].value < 0.8
    assert half["tpot"].value == pytest.approx(none["tpot"].value, rel=0.01)
    alone = catalogue.load_scenario(NAME, overrides=[
        "workload.concurrency=1", "workload.requests=1", "workload.input_tokens=4096 token",
        "workload.output_tokens=64 token", "workload.context_tokens=4160 token"])
    assert none["tpot"].value == pytest.approx(calc.estimate(alone).quantities["tpot"].value)
    assert set(of_closed_loop(scenario, Bench("", "", 1, 3000, 1, 1))) == {
        "ttft", "output_throughput"}  # an answer of one token has no pace


def test_drafts_are_accepted_as_of_random_tokens():
    """As the bench sends them, unless the deployment states what is accepted."""
    text, random, chat = (deployment("h200-r1-sglang-mtp", more) for more in (
        (), ("workload.text=random",), ("workload.text=chat",)))
    assert [run.predicted["tpot"].value for run in text.runs] == [
        run.predicted["tpot"].value for run in random.runs]
    assert chat.watched[0].predicted.tpot.value != chat.runs[2].predicted["tpot"].value


@pytest.mark.parametrize(("engine", "run", "expected"), [
    ("vllm@0.33.0", SPREAD, {
        "--num-prompts": 40, "--max-concurrency": 10, "--random-input-len": 2000,
        "--random-output-len": 400, "--random-range-ratio": 0.5, "--request-rate": None}),
    ("vllm@0.33.0", PREFIX, {"--random-input-len": 1528, "--random-prefix-len": 1472,
                             "--random-output-len": 600, "--max-concurrency": None}),
    # the first client takes the shortest over the longest: all alike are 1
    ("vllm@0.8.5.post1", RATE, {"--random-range-ratio": 1.0, "--request-rate": 0.5,
                                "--max-concurrency": None}),
    # SGLang draws from a share of the longest up to it: 1000 to 3000 tokens are 1/3 of 3000
    ("sglang@0.5.6.post2", SPREAD, {"--random-input-len": 3000, "--random-output-len": 600,
                                    "--random-range-ratio": 0.3333}),
    ("sglang@0.5.6.post2", PREFIX, {
        "--gsp-num-groups": 1, "--gsp-prompts-per-group": 10, "--gsp-system-prompt-len": 1472,
        "--gsp-question-len": 1528, "--gsp-output-len": 600})])
def test_client_is_told_the_run(engine, run, expected):
    pool, = deployment(NAME, (*LENGTHS,), engine=engine).pools
    told = {each.name: each.value for each in command(run, pool, 3)}
    assert {flag: told.get(flag) for flag in expected} == expected
    assert told["--seed"] == 3
