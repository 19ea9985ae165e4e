"""Alerts follow what a service promises: a healthy one fires none, and each failure its own."""

import math
import re
from functools import cache

import pytest
import yaml
from _door import sentence
from _launch import done, needs
from _plain import plain
from hypothesis import given
from hypothesis import strategies as st

from calc.launching import directory
from calc.launching.deployment import deployment
from calc.launching.watching.monitoring import PROMISES, TESTS
from calc.launching.watching.objectives import MOST_LATE, PACES, objectives
from calc.launching.watching.predictions import predicted
from calc.launching.watching.signals import Mean
from catalogue import load_scenario
from catalogue.entries.entry import PERCENTILES, ServiceLimits

NAME = "h200-r1-vllm-tp8"
FEW = ("workload.concurrency=64", "workload.requests=64")
KEPT = (*FEW, "limits.ttft.p90=4 s", "limits.tpot.p90=60 ms")
BROKEN = (*FEW, "limits.ttft.p90=50 ms", "limits.tpot.mean=20 ms")


@cache
def alerts(*settings):
    made = deployment(NAME, settings, engine="vllm@0.33.0")
    return made, {alert.name: alert for each in made.watched for alert in each.alerts}


@given(st.sampled_from(sorted(PERCENTILES)), st.floats(1e-3, 1e3))
def test_a_budget_is_used_up_as_fast_as_the_workbook_says(at, limit):
    """Of a percentile p a share 1 - p may be late; b times as many fire, and never nine tenths."""
    budget = 1 - PERCENTILES[at]
    for each in objectives("ttft", at, limit, None, "h", "serve"):
        late = 1 - each.signal.share
        burns = [pace.burn for pace in PACES if each.name.endswith(pace.name)]
        assert math.isclose(late, min(MOST_LATE, burns[0] * budget), rel_tol=1e-9)
        assert each.limit == limit
        assert late <= MOST_LATE + 1e-12


def test_a_mean_has_no_budget_and_is_watched_over_an_hour_and_five_minutes():
    found = list(objectives("tpot", "mean", 0.05, Mean("serve", "h"), "h", "serve"))
    assert [(each.name, each.windows) for each in found] == [
        ("TimePerOutputTokenAboveLimit", ("1h", "5m"))]


def test_the_threshold_is_the_goal_and_not_the_model():
    made, found = alerts(*KEPT)
    assert {alert.threshold for name, alert in found.items() if "Budget" in name} == {4.0, 0.06}
    assert not any("AbovePrediction" in name and "Time" in name for name in found)
    assert not made.watched[0].unkept


def test_without_limits_the_alerts_say_that_none_is_stated():
    made, found = alerts(*FEW)
    assert found["TimeToFirstTokenAbovePrediction"].because.startswith("no limit is stated")
    assert "monitoring/promises.test.yml" not in made.files


@needs("promtool")
@pytest.mark.parametrize("settings", [KEPT, FEW])
def test_a_service_as_predicted_fires_nothing(tmp_path, settings):
    made, found = alerts(*settings)
    directory.write(tmp_path / "out", made.files)
    folder = tmp_path / "out" / "monitoring"
    tests = plain((folder / TESTS).read_text("utf-8"))["tests"]
    healthy = next(test for test in tests if "nothing fires" in test["name"])
    assert {case["alertname"] for case in healthy["alert_rule_test"]} >= set(found)
    assert all(case["exp_alerts"] == [] for case in healthy["alert_rule_test"])
    checked = done("promtool", "test", "rules", TESTS, folder=folder)
    assert checked.returncode == 0, checked.stdout + checked.stderr


@needs("promtool")
def test_a_service_that_is_slower_fires_what_it_promises_and_no_other(tmp_path):
    """The healthy metrics can fail: four times slower than predicted, they fire."""
    made, found = alerts(*KEPT)
    directory.write(tmp_path / "out", made.files)
    folder = tmp_path / "out" / "monitoring"
    rules = plain((folder / "alerts.yml").read_text("utf-8"))
    for rule in rules["groups"][0]["rules"]:
        rule["expr"] = rule["expr"].replace("> 0.06)", "> 0.01)")
    (folder / "alerts.yml").write_text(yaml.safe_dump(rules), encoding="utf-8")
    checked = done("promtool", "test", "rules", TESTS, folder=folder)
    assert checked.returncode != 0
    fired = {name for name in found if f"alertname: {name}," in checked.stdout + checked.stderr}
    assert fired == {name for name in found if name.startswith("TimePerOutputTokenBudget")}


@needs("promtool")
def test_each_promise_fires_beyond_its_limit_over_both_windows_and_is_silent_short_of_it(tmp_path):
    made, found = alerts(*KEPT)
    directory.write(tmp_path / "out", made.files)
    checked = done("promtool", "test", "rules", PROMISES, folder=tmp_path / "out" / "monitoring")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    tests = plain((tmp_path / "out" / "monitoring" / PROMISES).read_text("utf-8"))["tests"]
    for name in (name for name, alert in found.items() if alert.windows):
        expected = {bool(case["exp_alerts"]) for test in tests for case in test["alert_rule_test"]
                    if case["alertname"] == name}
        assert expected == {True, False}, name


def test_a_promise_that_the_prediction_breaks_is_told():
    made, _ = alerts(*BROKEN)
    told = set(made.watched[0].unkept.values())
    assert any("time to first token p90" in text and "simulated" in text for text in told)
    assert any("time per output token mean" in text and "on average" in text for text in told)
    assert "Not kept by the prediction" in made.files["README.md"]


def test_of_two_pools_each_is_watched_for_what_it_does():
    made = deployment("wide-lmsys", ["limits.ttft.p90=20 s", "limits.tpot.mean=100 ms"],
                      engine="sglang@0.5.6.post2")
    names = {each.pool.name: {alert.name for alert in each.alerts if alert.windows}
             for each in made.watched}
    assert all("TimeToFirstToken" in name for name in names["prefill"])
    assert all("TimePerOutputToken" in name for name in names["decode"])


@pytest.mark.parametrize(("name", "engine"), [
    (NAME, "vllm@0.33.0"), ("wide-lmsys", "sglang@0.5.6.post2")])
def test_every_alert_watches_metrics_of_its_engine_in_its_own_pool(name, engine):
    family = engine.partition("@")[0]
    for each in deployment(name, (), engine=engine).watched:
        for alert in each.alerts:
            told = alert.signal.expression("5m")
            chosen = re.findall(r"([a-z_:]+)\{([^}]*)\}", told)
            assert chosen, alert.name
            assert {metric.partition(":")[0] for metric, _ in chosen} == {family}, alert.name
            assert all(f'job="{each.pool.name}"' in where for _, where in chosen), alert.name


@pytest.mark.parametrize(("raw", "stated"), [
    ({"ttft": {"p90": "2 s"}}, {"p90": 2.0}), ({"ttft": "50 ms"}, {"mean": 0.05})])
def test_a_limit_is_of_a_percentile_or_of_the_mean(raw, stated):
    assert ServiceLimits.model_validate(raw).ttft.stated == stated


@pytest.mark.parametrize(("setting", "says"), [
    ("limits.ttft.p91=2 s", "p91"), ("limits.ttft.p90=-1 s", "more than 0 s"),
    ("limits.ttft.p90=2 token", "unit"), ("limits.speed.mean=2 s", "speed"),
    ("limits.tpot=soon", "soon")])
def test_a_limit_that_is_none_is_one_sentence(setting, says):
    assert says in sentence(load_scenario, NAME, overrides=[setting])


def test_the_bench_asks_for_the_name_that_the_operator_serves():
    made = deployment(NAME, flags=["--served-model-name=ours"])
    assert "--served-model-name ours" in made.files["bench/run.sh"]
    assert "--served-model-name deepseek-v3" not in made.files["bench/run.sh"]


def test_the_bench_predicts_what_is_accepted_of_random_tokens():
    text = deployment("h200-r1-sglang-mtp").runs
    random = deployment("h200-r1-sglang-mtp", ["workload.text=random"]).runs
    assert [run.predicted["tpot"].value for run in text] == [
        run.predicted["tpot"].value for run in random]
    chat = deployment("h200-r1-sglang-mtp", ["workload.text=chat"])
    assert chat.watched[0].predicted.tpot.value != chat.runs[2].predicted["tpot"].value


def test_too_few_hits_are_watched_where_a_prediction_rests_on_hits():
    """Below that share a first token comes later than its interval; without hits there is none."""
    long = ("workload.concurrency=8", "workload.requests=8", "workload.input_tokens=8192 token",
            "workload.context_tokens=8704 token", "workload.output_tokens=512 token")
    limits = [predicted(load_scenario(NAME, overrides=[
        *long, f"mechanisms.prefix_hit_share={share}"])).limits for share in (0, 0.9)]
    assert "prefix_hit_share" not in limits[0]
    assert 0 < limits[1]["prefix_hit_share"] < 0.9


def test_throughput_is_judged_while_nearly_as_many_are_in_flight_as_predicted():
    made, found = alerts(*FEW)
    _, least = found["ThroughputBelowPrediction"].only
    assert 0.8 < least / made.watched[0].predicted.in_flight < 1
