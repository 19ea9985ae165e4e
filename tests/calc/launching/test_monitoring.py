"""Monitoring of a deployment: thresholds of alerts, limits of a service, healthy metrics."""

from __future__ import annotations

import functools

import pytest
from _promtool import healthy, series

import catalogue
from calc.launching.launch import deployment
from calc.launching.monitoring import Signal, objectives, predicted
from calc.serving.evaluate import evaluate

NAME = "h200-r1-vllm-tp8"
FEW = ("workload.concurrency=64", "workload.requests=64")
DRAFTED = ("mechanisms.prefix_hit_share=0.5", "workload.draft_tokens=1",
           "workload.accepted_length=1.7")
LONG = ("workload.concurrency=8", "workload.requests=8", "workload.input_tokens=8192 token",
        "workload.context_tokens=8704 token", "workload.output_tokens=512 token",
        "mechanisms.prefix_hit_share=0.9")
HOUR, DAY, DAYS = ("1h", "5m"), ("6h", "30m"), ("3d", "6h")
STEP = 20.0


@functools.cache
def watched(*settings, engine="vllm@0.33.0", name=NAME):
    """Pools of a deployment, each with its alerts by name."""
    made = deployment(name, settings, engine=engine)
    return [(each, {alert.name: alert for alert in each.alerts}) for each in made.watched]


# --- alerts ---------------------------------------------------------------------------------------


def test_thresholds_follow_from_predictions():
    """Ends of intervals; nine tenths of the throughput while nine tenths are in flight; a queue by
    Little's law; the share of the cache; steps that overflow."""
    (each, found), = watched(*FEW, *DRAFTED)
    of = each.predicted
    expected = {"TimeToFirstTokenAbovePrediction": of.ttft.high,
                "TimePerOutputTokenAbovePrediction": of.tpot.high,
                "ThroughputBelowPrediction": 0.9 * of.throughput.low,
                "MoreRequestsThanPlanned": 64.0,
                "QueueLongerThanPredicted": of.requests.high * of.ttft.high,
                "KVCacheFullerThanPredicted": of.occupied.high,
                "PreemptionsAbovePrediction": of.overflow / of.tpot.low if of.overflow >= 1e-3
                else 0.0,
                "PromptsLongerThanPlanned": of.limits.get("input_tokens"),
                "AnswersLongerThanPlanned": of.limits.get("output_tokens"),
                "PrefixHitsBelowPlan": of.limits.get("prefix_hit_share"),
                "DraftsBelowPlan": of.limits.get("accepted_length")}
    assert set(found) <= set(expected)
    assert len(found) >= 8
    for name, alert in found.items():
        assert alert.threshold == pytest.approx(expected[name]), name
        assert alert.above == ("Below" not in name), name
    assert found["ThroughputBelowPrediction"].only[1] == pytest.approx(0.9 * of.in_flight)
    assert of.requests.value == pytest.approx(of.throughput.value / of.answer)


@pytest.mark.parametrize(("at", "late"), [
    # 14.4, 6 and 1 times the share that may be late, none above nine tenths and none twice
    ("p50", [("BurnsFast", 0.9, HOUR), ("IsSpent", 0.5, DAYS)]),
    ("p90", [("BurnsFast", 0.9, HOUR), ("Burns", 0.6, DAY), ("IsSpent", 0.1, DAYS)]),
    ("p95", [("BurnsFast", 0.72, HOUR), ("Burns", 0.3, DAY), ("IsSpent", 0.05, DAYS)]),
    ("p99", [("BurnsFast", 0.144, HOUR), ("Burns", 0.06, DAY), ("IsSpent", 0.01, DAYS)])])
def test_budget_that_burns_is_a_quantile_above_the_limit(at, late):
    found = list(objectives("e2e", at, 0.75, None, "h", "j"))
    assert [(each.name, pytest.approx(1 - each.signal.number), each.windows) for each in found] == [
        (f"EndToEndLatencyBudget{name}", share, windows) for name, share, windows in late]
    assert {(*each.signal.metrics, each.threshold) for each in found} == {("h", 0.75)}
    own = Signal("j", "mean", ("own",))
    mean, = objectives("tpot", at, 0.06, own, None, "j")  # without a histogram
    assert (mean.signal, mean.windows, mean.threshold) == (own, HOUR, 0.06)


SIGNALS = [
    (Signal("j", "mean", ("h",)), 'sum(rate(h_sum{job="j"}[7m])) / sum(rate(h_count{job="j"}[7m]))',
     {'h_sum{job="j"}': "0+21x400", 'h_count{job="j"}': "0+3x400"}),
    (Signal("j", "one plus ratio", ("c", "d")),
     '1 + sum(rate(c{job="j"}[7m])) / sum(rate(d{job="j"}[7m]))',
     {'c{job="j"}': "0+18x400", 'd{job="j"}': "0+3x400"}),
    (Signal("j", "pace", ("t", "n")),
     'sum(rate(t_sum{job="j"}[7m])) / (sum(rate(n_sum{job="j"}[7m])) - '
     'sum(rate(n_count{job="j"}[7m])))',
     {'t_sum{job="j"}': "0+21x400", 'n_sum{job="j"}': "0+6x400", 'n_count{job="j"}': "0+3x400"}),
    (Signal("j", "load", ("g", "k")),
     'sum(avg_over_time(g{job="j"}[7m])) + sum(avg_over_time(k{job="j"}[7m]))',
     {'g{job="j"}': "3.5+0x400", 'k{job="j"}': "3.5+0x400"})]


@pytest.mark.parametrize(("signal", "expression", "values"), SIGNALS)
def test_series_of_a_signal_give_it_the_value(signal, expression, values):
    """Of the value 7, a sample every 3 seconds: counters grow by what comes in 3 seconds."""
    assert signal.expression("7m") == expression
    assert series(signal, 7.0, 3.0) == values


# --- predictions ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "quantity"), [
    ("input_tokens", "ttft"), ("prefix_hit_share", "ttft")])
def test_limit_is_where_an_assumption_leaves_the_interval(name, quantity):
    """There a prediction lies beyond its interval, and a step of 400 before it does not."""
    scenario = catalogue.load_scenario(NAME, overrides=list(LONG))
    found, own = predicted(scenario), scenario.inputs()
    limit, interval = found.limits[name], getattr(found, quantity)

    def at(value):
        varied = {**own, name: value}
        varied["context_tokens"] = max(own["context_tokens"],
                                       varied["input_tokens"] + varied["output_tokens"])
        return float(evaluate(varied, "mla")[f"steady_{quantity}"])

    before = limit / 64 ** (1 / 399) if name == "input_tokens" else limit + own[name] / 399
    end = at(own[name]) * interval.high / interval.value
    assert at(limit) > end >= at(before) * (1 - 1e-9)


# --- healthy metrics ------------------------------------------------------------------------------


def test_healthy_metrics_have_the_predicted_values():
    """Counters grow at the predicted rates, gauges stay, histograms have their means."""
    (each, _), = watched(*FEW, *DRAFTED)
    of, found = each.predicted, {}
    for name, values in healthy(each, STEP).items():
        start, growth = values.removesuffix("x400").split("+")
        found[name.replace('{job="serve"}', "")] = float(start) if not float(growth) else (
            float(growth) / STEP)
    rate, tokens = of.requests.value, of.throughput.value
    expected = {"generation_tokens_total": tokens, "prompt_tokens_total": rate * of.prompt,
                "prefix_cache_hits_total": rate * of.prompt / 2,
                "spec_decode_num_drafts_total": tokens / 1.7,
                "spec_decode_num_accepted_tokens_total": tokens * 0.7 / 1.7,
                "num_requests_running": of.in_flight, "num_requests_waiting": 0,
                "kv_cache_usage_perc": of.occupied.value,
                "time_to_first_token_seconds_count": rate,
                "time_to_first_token_seconds_sum": rate * of.ttft.value,
                "request_time_per_output_token_seconds_sum": rate * of.tpot.value,
                "e2e_request_latency_seconds_sum": rate * of.e2e.value}
    assert {name: found[f"vllm:{name}"] for name in expected} == pytest.approx(expected, rel=1e-6)
