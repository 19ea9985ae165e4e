"""Which measurements a plan has, and what the clients of the engines are told of each."""

from types import SimpleNamespace as Made

import pytest

import catalogue
from calc.answer.two_pools import combine_pools
from calc.launching.bench import Bench, _of_pools, _runs, command, of_closed_loop
from calc.launching.settings import release_of
from calc.uncertainty.amount import Amount

NAME = "h200-r1-vllm-tp8"  # blocks of 64 tokens, 1,000 requests at once
SCENARIO = catalogue.load_scenario(NAME)


def runs(users, prompt, answer, scenario=SCENARIO, apart=False):
    """Name -> requests at once, lengths, requests, spread, shared tokens, rate."""
    return {each.name: (each.concurrency, each.input_tokens, each.output_tokens, each.requests,
                        each.spread, each.shared, each.rate)
            for each in _runs(scenario, Made(planned=users, prompt=prompt, answer=answer), apart)}


def test_each_run_moves_one_thing():
    """Four waves of requests, at least 16; varied lengths are uniform up to those planned, so that
    their mean is two thirds; half of a prompt is shared, in whole blocks."""
    assert runs(10, 3000, 600) == {
        "one": (1, 3000, 600, 16, 0.0, 0, None), "half": (5, 3000, 600, 20, 0.0, 0, None),
        "planned": (10, 3000, 600, 1000, 0.0, 0, None),
        "shorter": (10, 1500, 300, 40, 0.0, 0, None),
        "spread": (10, 2000, 400, 40, 0.5, 0, None),
        "prefix": (10, 3000, 600, 40, 0.0, 23 * 64, None)}


def test_runs_that_a_short_request_cannot_have_are_left_out():
    """Lengths vary from two tokens on; a prompt shares a block if half of it holds one."""
    assert "spread" in runs(1, 3, 3)
    assert "spread" not in runs(1, 2, 3)
    assert "spread" not in runs(1, 3, 2)
    assert "prefix" not in runs(1, 127, 3)
    assert runs(1, 128, 3)["prefix"][5] == 64
    assert runs(1, 1, 1)["half"][:3] == (1, 1, 1)
    assert runs(1, 1, 1)["shorter"][:3] == (1, 1, 2)  # an answer of one token has no pace


@pytest.mark.parametrize(("chunk", "planned", "shorter"), [(128, 64, 256), (256, 256, 256)])
def test_prompts_cut_in_thousands_of_steps_come_in_one_wave(chunk, planned, shorter):
    """Four waves of 64 prompts of 4,096 tokens are 8,192 chunks of 128, and half as many of 256:
    one wave is predicted in closed form, more are simulated step by step."""
    small = catalogue.load_scenario("r1-8x910b2", overrides=[
        f"workload.max_num_batched_tokens={chunk}"])
    found = runs(64, 4096, 512, small)
    assert (found["planned"][3], found["shorter"][3]) == (planned, shorter)
    assert found["one"][3] == 16


def test_a_run_is_no_longer_than_tells_something():
    """As many requests as are stated, up to 20,000; all that are planned at once in any case."""
    def planned(requests, users=10):
        return runs(users, 3000, 600, catalogue.load_scenario(NAME, overrides=[
            f"workload.requests={requests}"]))["planned"][3]

    assert [planned(1_000), planned(1_000_000_000)] == [1_000, 20_000]
    assert planned(1_000_000_000, users=50_000) == 50_000


def test_two_pools_keep_what_is_of_one_deployment_and_a_rate_is_measured_where_one_is_stated():
    arriving = catalogue.load_scenario(NAME, overrides=[
        "workload.arrivals=poisson", "workload.arrival_rate=0.5 request/s",
        "workload.requests=1077"])
    found = runs(10, 3000, 600, arriving, apart=True)
    assert list(found) == ["one", "half", "planned", "rate"]
    assert found["planned"] == (10, 3000, 600, 1077, 0.0, 0, None)
    assert found["rate"] == (10, 3000, 600, 1077, 0.0, 0, 0.5)


def test_a_shared_prefix_saves_the_share_of_a_prompt_that_is_shared():
    """Half of the prompt: about half of the time to first token, and none of a later one's."""
    none, half = (of_closed_loop(SCENARIO, Bench("", "", 1, 4096, 64, 1, shared=shared))
                  for shared in (0, 2048))
    assert 0.4 < half["ttft"].value / none["ttft"].value < 0.8
    assert half["tpot"].value == pytest.approx(none["tpot"].value, rel=0.01)


SPREAD = Bench("spread", "", 10, 2000, 400, 40, spread=0.5)
PREFIX = Bench("prefix", "", 10, 3000, 600, 10, shared=1472)
RATE = Bench("rate", "", 10, 3000, 600, 77, rate=0.5)
SERVER = '--base-url "${BASE_URL}" --model "${MODEL}"'
AS_VLLM = ("--ignore-eos --served-model-name deepseek-v3 --percentile-metrics 'ttft,tpot,itl,e2el' "
           '--save-result --result-dir "${RESULTS}" --result-filename')


@pytest.mark.parametrize(("engine", "run", "words"), [
    ("vllm@0.33.0", SPREAD, "--num-prompts 40 --seed 3 --max-concurrency 10 --dataset-name random "
     "--random-input-len 2000 --random-output-len 400 --random-range-ratio 0.5 "
     f"{AS_VLLM} spread.json"),
    ("vllm@0.33.0", PREFIX, "--num-prompts 10 --seed 3 --dataset-name random --random-input-len "
     "1528 --random-output-len 600 --random-range-ratio 0.0 --random-prefix-len 1472 "
     f"{AS_VLLM} prefix.json"),
    ("vllm-ascend@0.18.0", RATE, "--num-prompts 77 --seed 3 --request-rate 0.5 --dataset-name "
     "random --random-input-len 3000 --random-output-len 600 --random-range-ratio 0.0 "
     f"{AS_VLLM} rate.json"),
    # the first client takes the shortest over the longest: all alike are 1
    ("vllm@0.8.5.post1", RATE, "--num-prompts 77 --seed 3 --request-rate 0.5 --dataset-name random "
     "--random-input-len 3000 --random-output-len 600 --random-range-ratio 1.0 "
     f"{AS_VLLM} rate.json"),
    # SGLang draws from a share of the longest up to it: 1000 to 3000 tokens are 1/3 of 3000
    ("sglang@0.5.6.post2", SPREAD, "--num-prompts 40 --seed 3 --max-concurrency 10 --dataset-name "
     "random-ids --random-input-len 3000 --random-output-len 600 --random-range-ratio 0.3333 "
     '--output-file "${RESULTS}/spread.jsonl"'),
    ("sglang@0.5.6.post2", PREFIX, "--num-prompts 10 --seed 3 --dataset-name "
     "generated-shared-prefix --gsp-num-groups 1 --gsp-prompts-per-group 10 --gsp-system-prompt-len"
     " 1472 --gsp-question-len 1528 --gsp-output-len 600 "
     '--output-file "${RESULTS}/prefix.jsonl"'),
])
def test_a_client_is_told_the_run(engine, run, words):
    pool = Made(release=release_of(*engine.split("@")), flags=[[]], scenario=SCENARIO)
    found = " ".join(word for each in command(run, pool, 3) for word in each.words)
    assert found == f"{SERVER} {words}"


def test_a_quantity_of_two_pools_is_as_unsure_as_the_pool_that_it_is_of():
    """First tokens come from the prefill pool, the others from the decode pool, and the rate from
    whichever binds."""
    prefill, decode = catalogue.load_family("s0-scenario-3").pools

    def within(low, high):
        return Made(**{name: Amount(100.0, 100 * low, 100 * high, unit, central=100.0)
                       for name, unit in (("ttft", "s"), ("tpot", "s"), ("requests", "request/s"))})
    found = _of_pools([Made(scenario=prefill), Made(scenario=decode)],
                      [within(0.9, 1.2), within(0.5, 4.0)], Bench("planned", "", 10, 3000, 600, 40))
    ends = {name: (each.low / each.central, each.high / each.central)
            for name, each in found.items()}
    assert ends["ttft"] == pytest.approx((0.9, 1.2))
    assert ends["tpot"] == pytest.approx((0.5, 4.0))
    loop = combine_pools(prefill, decode, users=10).loop
    assert found["output_throughput"].central == pytest.approx(loop.rate * 600, rel=0.05)
