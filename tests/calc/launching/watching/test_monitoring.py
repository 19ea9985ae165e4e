"""What Prometheus scrapes, its rules and their unit tests, of a small pool with made up numbers."""

from types import SimpleNamespace as Made

import numpy as np
import pytest
from _launch import OVER_NODES, expected, pool
from _plain import plain

from calc.launching.watching import monitoring
from calc.launching.watching.alerts import Alert
from calc.launching.watching.monitoring import Watched, rules, scrapes, seconds, targets, watched
from calc.launching.watching.monitoring import tests as usual
from calc.launching.watching.monitoring import tests_of_promises as promised
from calc.launching.watching.signals import Level, Quantile, Rate

UP = 'up{job="serve",instance="a:8000"}'
FEW = Alert("Few", Rate("serve", "done"), False, 330.0, "warning", "Too few.", "so it is",
            only=(Level("serve", ("busy",)), 22.0), labels={"pool": "serve"})
NONE = Alert("Lost", Rate("serve", "lost"), True, 0.0, "info", "Lost.", "none is predicted")
LATE = Alert("TimeToFirstTokenLate", Quantile("serve", "ttft", 0.75), True, 2.0, "critical",
             "Late.", "the limit", windows=("1h", "5m"))


def of(*alerts, seen=None, **changed):
    return Watched(pool(), expected(**changed), alerts, seen or {})


@pytest.mark.parametrize(("text", "number"), [
    ("1s", 1), ("90s", 90), ("5m", 300), ("2h", 7200), ("3d", 259200)])
def test_a_duration_is_seconds(text, number):
    assert seconds(text) == number


@pytest.mark.parametrize("text", ["", "5", "m", "5w", "5m ", "1h5m", "-5m"])
def test_what_is_no_duration_is_refused(text):
    with pytest.raises(ValueError, match="is not a duration"):
        seconds(text)


@pytest.mark.parametrize(("engine", "version", "found"), [
    ("vllm", "0.33.0", ["a:8000"]), ("sglang", "0.4.9", ["a:8000"]),
    ("sglang", "0.4.10", ["a:8000", "b:8000"]), ("sglang", "0.5.0", ["a:8000", "b:8000"])])
def test_of_a_server_over_nodes_those_are_scraped_that_export_metrics(engine, version, found):
    """Every node of SGLang from 0.4.10 on, else the one that answers."""
    own = pool(layout=OVER_NODES)
    assert targets(Made(layout=own.layout, hosts=own.hosts,
                        release=Made(name=engine, version=version))) == found


def test_each_pool_is_a_job_and_a_server_a_target():
    job = {"metrics_path": "/metrics", "static_configs": [{"targets": ["a:8000", "b:8003"]}]}
    for interval, more in (("15s", ()), ("7s", ("7s",))):
        assert scrapes([pool(name="prefill"), pool(name="decode")], *more) == {
            "global": {"scrape_interval": interval, "evaluation_interval": interval},
            "rule_files": ["alerts.yml"],
            "scrape_configs": [{"job_name": "prefill", **job}, {"job_name": "decode", **job}]}


@pytest.mark.parametrize(("name", "first", "layout", "wide"), [
    ("serve", "", pool().layout, ""), ("decode", "Decode", OVER_NODES,
     " It shares experts with the others of its server, which stop with it.")])
def test_rules_begin_with_servers_that_do_not_answer(name, first, layout, wide):
    made = Watched(pool(name=name, layout=layout), expected(), (FEW, LATE))
    labels = {"severity": "critical", "deployment": "mine", "pool": name}
    group, = rules([made], "9m", "8m", "2m")["groups"]
    assert group == {"name": name, "rules": [
        {"alert": f"{first}ServerDown", "expr": f'up{{job="{name}"}} == 0', "for": "2m",
         "labels": labels, "annotations": {
             "summary": "A server does not answer.",
             "description": "{{ $labels.instance }} is not scraped." + wide}},
        {"alert": f"{first}ServersMissing", "expr": f'absent(up{{job="{name}"}})', "for": "2m",
         "labels": labels, "annotations": {"summary": "No server of the pool is scraped.",
                                           "description": "There is nothing to watch."}},
        FEW.rule("9m", "8m"), LATE.rule("9m", "8m")]}
    usual, = rules([made])["groups"]
    assert [rule["for"] for rule in usual["rules"]] == ["1m", "1m", "5m", "0s"]
    assert "[5m]" in usual["rules"][2]["expr"]


def shortly(test):
    """Series, when it is looked at, and what has to fire."""
    at, = {case["eval_time"] for case in test["alert_rule_test"]}
    return (test["interval"], [(each["series"], each["values"]) for each in test["input_series"]],
            at, {case["alertname"]: case["exp_alerts"] for case in test["alert_rule_test"]})


def test_an_alert_is_tried_a_tenth_beyond_and_short_of_its_threshold():
    """Below 330 while 22 are busy: at 300 and at 363 with 24.2, and at 300 with 20. Windows of five
    minutes and five of holding, and two evaluations a minute apart, are twelve minutes."""
    def done(each):
        return 'done{job="serve"}', f"0+{each * 15:.9g}x400"

    def busy(each):
        return 'busy{job="serve"}', f"{each}+0x400"

    made = usual([of(FEW)])
    assert (made["rule_files"], made["evaluation_interval"]) == (["alerts.yml"], "60s")
    named = {test["name"]: shortly(test) for test in made["tests"]}
    fired = {"exp_labels": {"severity": "warning", "pool": "serve"}, "exp_annotations": {
        "summary": "Too few.", "description": "300 is below 330: so it is."}}
    assert named["Few fires"] == ("15s", [done(300), busy("24.2")], "720s", {"Few": [fired]})
    assert named["Few is silent"] == ("15s", [done(363), busy("24.2")], "720s", {"Few": []})
    assert named["Few is silent while little is asked"] == (
        "15s", [done(300), busy("20")], "720s", {"Few": []})


def test_what_may_not_be_at_all_fires_at_one_and_is_silent_at_none():
    named = {test["name"]: shortly(test) for test in usual([of(NONE)])["tests"]}
    assert named["Lost fires"][1] == [('lost{job="serve"}', "0+15x400")]
    assert named["Lost is silent"][1] == [('lost{job="serve"}', "0+0x400")]
    assert "Lost is silent while little is asked" not in named
    assert named["Lost fires"][3]["Lost"][0]["exp_annotations"]["description"].startswith("1 is")


@pytest.mark.parametrize(("windows", "step", "at"), [
    # the longer window and two evaluations a quarter of an hour apart
    (("1h", "5m"), 15.0, 5400), (("6h", "30m"), 120.0, 23400), (("3d", "6h"), 900.0, 261000)])
def test_a_promise_is_tried_when_its_longer_window_is_full(windows, step, at):
    late = Alert("Late", Rate("serve", "late"), True, 2.0, "critical", "", "", windows=windows,
                 step=step)
    made = promised([of(FEW, late)])
    assert (made["rule_files"], made["evaluation_interval"]) == (["alerts.yml"], "900s")
    fires, silent = made["tests"]
    assert (fires["name"], silent["name"]) == ("Late fires", "Late is silent")
    for test, value in ((fires, 2.2), (silent, 2 / 1.1)):
        interval, series, when, _ = shortly(test)
        assert (interval, when) == (f"{step:g}s", f"{at}s")
        assert series == [('late{job="serve"}', f"0+{value * step:.9g}x400")]
        assert at <= 400 * step  # as long as there are samples
    assert not any("Late " in test["name"] for test in usual([of(FEW, late)])["tests"])


def test_servers_are_tried_gone_there_and_never_seen():
    first, second, third, fourth, *_ = map(shortly, usual([of()])["tests"])
    labels = {"severity": "critical", "deployment": "mine", "pool": "serve", "job": "serve"}
    assert first == ("15s", [(UP, "0+0x400")], "720s", {"ServerDown": [
        {"exp_labels": labels | {"instance": "a:8000"}, "exp_annotations": {
            "summary": "A server does not answer.", "description": "a:8000 is not scraped."}}]})
    assert second[1:] == ([(UP, "1+0x400")], "720s", {"ServerDown": []})
    assert third[1:] == ([("nothing", "1+0x400")], "720s", {"ServersMissing": [
        {"exp_labels": labels, "exp_annotations": {
            "summary": "No server of the pool is scraped.",
            "description": "There is nothing to watch."}}]})
    assert fourth[1:] == ([(UP, "1+0x400")], "720s", {"ServersMissing": []})


def test_as_predicted_nothing_fires_but_what_the_prediction_breaks():
    *_, test = usual([of(FEW, LATE)])["tests"]
    interval, series, _, fired = shortly(test)
    assert test["name"] == "serve: as predicted, nothing fires"
    assert interval == "15s"
    assert fired == {name: [] for name in (
        "Few", "TimeToFirstTokenLate", "ServerDown", "ServersMissing")}
    assert series[-1] == (UP, "1+0x400")
    assert ('vllm:generation_tokens_total{job="serve"}', "0+10500x400") in series  # 15 s of 700
    assert len({name for name, _ in series}) == len(series)
    *_, test = usual([of(FEW, LATE, seen={"ttft": np.array([3.0, 3.0])})])["tests"]
    assert set(shortly(test)[3]) == {"Few", "ServerDown", "ServersMissing"}


@pytest.mark.parametrize(("seen", "unkept"), [
    # three quarters of what is simulated; without it the mean, 0.5 s
    ([1.0, 1.0, 1.0, 3.0], None), ([1.0, 1.0, 2.0, 2.0, 9.0], None),
    ([1.0, 1.0, 1.0, 2.1, 2.1], "Late. Predicted: 2.1 s of 75% of the requests, simulated."),
    (None, None)])
def test_a_percentile_is_kept_by_what_is_simulated_of_it(seen, unkept):
    made = of(LATE, FEW, seen={} if seen is None else {"ttft": np.array(seen)})
    assert made.unkept == ({} if unkept is None else {LATE.name: unkept})


def test_a_mean_is_kept_up_to_its_limit():
    def promise(limit, **more):
        return Alert("TimePerOutputTokenAboveLimit", Rate("serve", "pace"), True, limit,
                     "critical", "Late.", "", **more)
    windows = ("1h", "5m")
    assert of(promise(0.03125, windows=windows)).broken == []
    found, = of(promise(0.03124, windows=windows), seen={"tpot": np.array([9.0])}).broken
    assert (found.quantity, found.value, found.share) == ("tpot", 0.03125, None)
    assert found.sentence == "Late. Predicted: 31.3 ms on average."
    assert of(promise(0.03124)).broken == []  # no promise, an alert on the prediction


@pytest.mark.parametrize("promised", [False, True])
def test_files_are_named_by_what_reads_them(promised):
    found = monitoring.files([of(FEW, *[LATE] * promised)])
    about = {"prometheus.yml": "What Prometheus scrapes.",
             "alerts.yml": "Thresholds are limits of the service, else predictions.",
             "alerts.test.yml": "promtool test rules alerts.test.yml.",
             "promises.test.yml": "promtool test rules promises.test.yml."}
    if not promised:
        del about["promises.test.yml"]
    assert {name.removeprefix("monitoring/"): text.partition(" Written by")[0]
            for name, text in found.items()} == {name: f"# {text}" for name, text in about.items()}
    both = plain(found["monitoring/alerts.yml"])
    assert both == rules([of(FEW, *[LATE] * promised)])
    assert "&id" not in found["monitoring/alerts.test.yml"]


def test_only_promises_at_a_percentile_of_a_pool_that_does_both_are_simulated(monkeypatch):
    asked = []
    monkeypatch.setattr(monitoring, "users_see", lambda scenario: asked.append(scenario) or Made(
        summary=Made(ttft=Made(values="ttft"), e2e=Made(values="e2e"))))
    limits = {"ttft": {"p90": "2 s"}, "tpot": "60 ms", "e2e": {"p50": "20 s"}}
    own = pool(limits=limits)
    assert watched(own, expected()).seen == {"ttft": "ttft", "e2e": "e2e"}
    assert asked == [own.scenario]
    assert watched(pool(limits={"tpot": "60 ms"}), expected()).seen == {}
    assert watched(pool(name="prefill", limits=limits), expected()).seen == {}
    assert len(asked) == 1
