"""Which measurements a plan has, and what the clients of the engines are told of each."""

import json
from types import SimpleNamespace as Made

import pytest

import catalogue
from calc.answer.two_pools import combine_pools
from calc.launching import bench
from calc.launching.bench import Bench, _of_pools, _runs, command, of_closed_loop
from calc.launching.settings import Setting, release_of
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


def amount(low, value, high, unit="s"):
    return Amount(value, low, high, unit)


@pytest.mark.parametrize(("spread", "shared", "requests", "unequal", "limited"), [
    (0.0, 0, 10, set(), set()), (0.5, 0, 11, {0}, {0}), (0.0, 1500, 9, set(), set())])
def test_a_run_is_predicted_as_a_row_that_was_measured(
        monkeypatch, spread, shared, requests, unequal, limited):
    """One row of what the client is told; lengths that vary, a client that keeps so many in flight,
    and a share of prompts that is found, are those of the run."""
    asked = []

    def uncalibrated(system, metric, own, rows):
        asked.append((system, rows.tolist()))
        return Made(predicted=[2.0], low=[1.0], high=[3.0])
    monkeypatch.setattr(bench, "uncalibrated", uncalibrated)
    run = Bench("", "", 10, 3000, 600, requests, spread=spread, shared=shared)
    found = of_closed_loop(SCENARIO, run)
    assert found == {"ttft": Amount(2.0, 1.0, 3.0, "s"), "tpot": Amount(2.0, 1.0, 3.0, "s"),
                     "output_throughput": Amount(2.0, 1.0, 3.0, "token/s")}
    for system, rows in asked:
        assert rows == [0]
        assert {name: values.tolist() for name, values in system.rows.items()
                if name not in bench.METRICS} == {
            "concurrency": [10.0], "input_tokens": [3000.0], "output_tokens": [600.0],
            "requests": [requests]}
        assert (set(system.unequal), set(system.limited)) == (unequal, limited)
        if shared:
            assert system.inputs["prefix_hit_share"] == 0.5
    assert set(of_closed_loop(SCENARIO, Bench("", "", 1, 3000, 1, 1))) == {
        "ttft", "output_throughput"}  # an answer of one token has no pace
    assert "tpot" in of_closed_loop(SCENARIO, Bench("", "", 1, 3000, 2, 1))


@pytest.mark.parametrize(("low", "binds"), [(0.9, 0), (1.0, 0), (1.1, 1)])
def test_the_rate_of_two_pools_is_as_unsure_as_the_pool_that_binds(monkeypatch, low, binds):
    """The prefill pool where the loop asks for what it surely serves, or more."""
    made = []
    monkeypatch.setattr(bench, "combine_pools", lambda prefill, decode: made.append(
        (prefill, decode)) or Made(loop=Made(rate=1.0, ttft=3.0, tpot=0.5)))
    of = [Made(ttft=amount(1, 2, 8), tpot=None, requests=amount(low, 2, 4, "request/s")),
          Made(ttft=None, tpot=amount(0.2, 0.25, 1), requests=amount(1, 2, 6, "request/s"))]
    found = _of_pools([Made(scenario="prefill"), Made(scenario=SCENARIO)], of,
                      Bench("", "", 7, 3000, 600, 9))
    assert found["ttft"] == amount(1.5, 3, 12)
    assert found["tpot"] == amount(0.4, 0.5, 2)
    ends = ((low / 2, 2), (0.5, 3))[binds]
    assert found["output_throughput"] == amount(600 * ends[0], 600, 600 * ends[1], "token/s")
    (prefill, decode), = made
    load = decode.file.workload
    assert (prefill, load.concurrency.value, load.text) == ("prefill", 7, "random")
    assert (load.concurrency.low, load.concurrency.high) == (7, 7)


@pytest.mark.parametrize("stated", [(1.5, None), (None, [0.5])])
def test_drafts_of_random_tokens_are_accepted_as_such_unless_it_is_stated(stated):
    length, shares = stated
    own = Made(file=Made(workload=Made(accepted_length=length, acceptance=shares)))
    assert bench.at_random(own) is own
    assert bench.at_random(SCENARIO).file.workload.text == "random"


def test_each_run_is_predicted_by_what_it_is_and_scatters_as_its_metrics_do(monkeypatch):
    runs_of = [Bench("closed", "", 1, 2, 3, 4), Bench("rate", "", 1, 2, 3, 4, rate=0.5)]
    monkeypatch.setattr(bench, "_runs", lambda scenario, of, apart: (
        [*runs_of, Bench(f"{scenario.file.workload.text} {of} {apart}", "", 1, 2, 3, 4)]))
    for name in ("of_closed_loop", "_at_rate", "_of_pools"):
        monkeypatch.setattr(bench, name, lambda *given, name=name: (name, len(given)))
    monkeypatch.setattr(bench, "own_errors", lambda scenario: {
        "ttft": Made(within=0.3), "tpot": Made(within=0.1), "e2e": Made(within=0.7)})
    one, two = (bench.plan([Made(scenario=SCENARIO)] * count, ["first", "last"][-count:])
                for count in (1, 2))
    loop = ("of_closed_loop", 2)
    assert [(each.name, each.predicted) for each in one] == [
        ("closed", loop), ("rate", ("_at_rate", 1)), ("random last False", loop)]
    assert [(each.name, each.predicted) for each in two] == [
        (name, ("_of_pools", 3)) for name in ("closed", "rate", "random last True")]
    assert {tuple(each.scatter.items()) for each in (*one, *two)} == {
        (("ttft", 0.3), ("tpot", 0.1))}


@pytest.mark.parametrize(("engine", "entry", "called"), [
    ("vllm@0.33.0", "http://127.0.0.1:8080", "vllm bench serve"),
    ("sglang@0.5.23", "http://a:8000", "python -m sglang.bench_serving")])
def test_a_script_runs_what_is_wanted_of_a_plan_that_says_what_is_predicted(engine, entry, called):
    pool = Made(release=release_of(*engine.split("@")), flags=[[]], scenario=SCENARIO,
                addresses=["a:8000", "b:8000"], layout=Made(servers=2 if "vllm" in engine else 1))
    told = Bench("b", "y\nz", 2, 64, 7, 9, spread=0.25, shared=8, rate=1.5,
                 predicted={"ttft": Amount(2.0, 1.0, 3.0, "s")}, scatter={"ttft": 0.5})
    found = bench.files([pool], [Bench("a", "x", 1, 2, 3, 4), told], {"scenario": "中"})
    plan = json.loads(found["bench/plan.json"])
    assert (plan["scenario"], [run["name"] for run in plan["runs"]]) == ("中", ["a", "b"])
    assert plan["runs"][1] == {
        "name": "b", "exercises": "y\nz", "spread": 0.25, "shared": 8, "rate": 1.5, "asked": {
            "concurrency": 2, "input_tokens": 64, "output_tokens": 7, "requests": 9},
        "scatter": {"ttft": 0.5}, "predicted": {"ttft": told.predicted["ttft"].as_json()}}
    assert '\n "scenario": "中"' in found["bench/plan.json"]
    lines = found["bench/run.sh"].splitlines()
    assert f': "${{BASE_URL:={entry}}}"' in lines
    first, second = (lines.index(f'if wanted {name} "$@"; then') for name in "ab")
    assert (lines[first - 1], lines[second - 1]) == ("# x", "# y z")
    assert lines[second - 3:second - 1] == ["fi", ""]
    assert lines[first + 1] == "  run=("
    assert lines[-4:] == [lines[-4], "  )", f'  {called} "${{run[@]}}"', "fi"]
    seeds = [line.strip() for line in lines if "--seed" in line]
    assert seeds == ["--seed 0", "--seed 1"]


def test_a_client_is_that_of_the_release_and_asks_for_the_name_that_is_served():
    assert str(bench.tool_of(release_of("vllm", "0.11.0"))) == "vllm-bench@0.11.0"
    assert str(bench.tool_of(release_of("sglang", "0.5.9"))) == "sglang-bench@0.5.9"
    between = bench.tool_of(release_of("vllm-ascend", "0.30.0rc2"))
    assert (between.name, [version for _, version in between.by]) == (
        "vllm-bench", ["0.29.0", "0.31.0"])
    assert between.version == "0.31.0"
    served = Setting("--served-model-name", "ours", "")
    for flags, name in (([served], "ours"), ([Setting("--port", 1, ""), served], "ours"),
                        ([], SCENARIO.model.id)):
        assert bench.served_name(Made(flags=[flags, []], scenario=SCENARIO)) == name


def test_a_client_keeps_so_many_in_flight_only_where_more_are_sent():
    pool = Made(release=release_of("vllm", "0.33.0"), flags=[[]], scenario=SCENARIO)
    for requests, limited in ((9, False), (10, False), (11, True)):
        names = {each.name for each in command(Bench("", "", 10, 5, 5, requests), pool, 1)}
        assert ("--max-concurrency" in names) == limited
        assert "--random-prefix-len" not in names
    rate = {each.name: each.value for each in command(
        Bench("", "", 10, 5, 5, 99, rate=0.25), pool, 1)}
    assert rate["--request-rate"] == 0.25
    assert "--max-concurrency" not in rate
