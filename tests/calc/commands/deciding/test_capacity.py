"""``python -m calc capacity``: its answers, and one sentence for what cannot be used."""

import json

import pytest

from calc.commands.main import main

SCENARIO = ["h200-r1-vllm-tp8", "--set", "workload.input_tokens=2000",
            "--set", "workload.output_tokens=200", "--set", "workload.concurrency=64",
            "--set", "workload.requests=64"]
DAY = [*SCENARIO, "--load", "azure-conversation", "--requests", "200000", "--ttft", "1 s",
       "--tpot", "60 ms", "--no-check"]


def answered(capsys, *args):
    assert main(["capacity", *args, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_day_in_json_and_in_words(capsys):
    found = answered(capsys, *DAY, "--think-time", "60 s", "--promise", "0.99")
    assert found["day"]["replicas"] == max(hour["replicas"] for hour in found["day"]["hours"])
    assert len(found["day"]["hours"]) == 24
    assert found["failures"]["source"] == "nvidia-hopper"
    assert found["failures"]["share_low"] < found["failures"]["share"] <= 1
    assert main(["capacity", *DAY]) == 0
    out = capsys.readouterr().out
    assert "200,000 requests a day" in out
    assert "throughput that is there" in out


def test_users_and_questions_are_requests(capsys):
    users = [each for each in DAY if each not in ("--requests", "200000")]
    found = answered(capsys, *users, "--users", "10000", "--questions", "20")
    assert found["day"]["requests"] == 200_000


def test_the_busiest_hour_is_simulated(capsys):
    found = answered(capsys, *[each for each in DAY if each != "--no-check"])
    assert found["day"]["checked"][-1]["met"]


def test_tiers_regret_and_cards(capsys):
    asked = [*DAY, "--turns", "3", "--think-time", "300 s", "--storage", "1 TB", "--regret",
             "--late", "2"]
    found = answered(capsys, *asked)
    assert [tier["tier"] for tier in found["tiers"]] == ["device", "host", "storage"]
    assert found["tiers"][-1]["replicas"] <= found["day"]["replicas"]
    assert found["regret"]["least_regret"] in found["regret"]["candidates"]
    money = found["regret"]["money"]
    assert money["currency"] == "USD"
    for largest, regrets in zip(money["largest"], found["regret"]["regrets"], strict=True):
        assert largest == pytest.approx([max(regrets) * each for each in money["hour"]])
    assert main(["capacity", *asked]) == 0
    assert "least regret" in capsys.readouterr().out


def test_a_mean_is_promised_where_it_is_asked_for(capsys):
    found = answered(capsys, *DAY, "--percentile", "mean")
    assert found["percentile"] is None
    strict = answered(capsys, *DAY, "--percentile", "99.5")
    assert strict["day"]["rate_within_limits"] < found["day"]["rate_within_limits"]


@pytest.mark.parametrize(("args", "problem"), [
    ([*SCENARIO], "nothing is asked for"),
    ([*SCENARIO, "--load", "azure-coding"], "expected --load and how many requests"),
    ([*SCENARIO, "--requests", "3"], "expected --load and how many requests"),
    ([*SCENARIO, "--users", "3"], "--users and --questions together"),
    ([*SCENARIO, "--load", "nowhere", "--requests", "3"], "there is no load 'nowhere'"),
    ([*DAY, "--percentile", "120"], "expected 'mean', or a number"),
    ([*DAY, "--percentile", "nan"], "expected 'mean', or a number"),
    ([*DAY, "--growth", "1,2"], "three rising numbers"),
    ([*DAY, "--growth", "3,2,1"], "three rising numbers"),
    ([*DAY, "--turns", "3"], "expected --think-time as well"),
    ([*DAY, "--turns", "1"], "of at least 2"),
    ([*DAY, "--promise", "1"], "at most 1"),
    ([*DAY, "--ttft", "1 GB"], "wrong unit"),
    ([*DAY, "--ttft", "1 ms"], "which more replicas do not mend"),
    ([*DAY, "--spares", "-1"], "of at least 0"),
    ([*DAY, "--price", "2 USD/h"], "expected --regret as well"),
    ([*DAY, "--regret", "--price", "2"], "expected a price such as"),
    ([*DAY, "--storage", "much"], "not a quantity"),
    ([*DAY, "--turns", "90", "--think-time", "9 s"], "expected workload.input_tokens of at least"),
    ([*SCENARIO, "--cards", "--tpot", "1 us"], "meets the limits"),
    (["s0-scenario-1", *DAY[1:]], "does not hold one request"),
])
def test_bad_input_is_one_sentence(capsys, args, problem):
    assert main(["capacity", *args]) == 2
    err = capsys.readouterr().err
    assert problem in err
    assert err.count("\n") == 1
    assert "Traceback" not in err
