"""Monitoring of a deployment: thresholds of alerts, promises, failures and healthy metrics."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest

import catalogue
from calc.launching.deployment import deployment
from calc.launching.watching.faults import FAILURES, HEALTHY, LONE, WAITED, simulate
from calc.launching.watching.healthy import healthy
from calc.launching.watching.objectives import objectives
from calc.launching.watching.predictions import predicted
from calc.launching.watching.signals import Level, Mean, Paced, Ratio
from calc.serving.evaluate import evaluate

NAME = "h200-r1-vllm-tp8"
FEW = ("workload.concurrency=64", "workload.requests=64")
DRAFTED = ("mechanisms.prefix_hit_share=0.5", "workload.draft_tokens=1",
           "workload.accepted_length=1.7")
LONG = ("workload.concurrency=8", "workload.requests=8", "workload.input_tokens=8192 token",
        "workload.context_tokens=8704 token", "workload.output_tokens=512 token",
        "mechanisms.prefix_hit_share=0.9")
HOUR, DAY, DAYS = ("1h", "5m"), ("6h", "30m"), ("3d", "6h")
INPUTS = catalogue.load_scenario(NAME).inputs()
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
        assert alert.labels == {"deployment": NAME, "pool": "serve"}
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
    assert [(each.name, pytest.approx(1 - each.signal.share), each.windows) for each in found] == [
        (f"EndToEndLatencyBudget{name}", share, windows) for name, share, windows in late]
    assert {(each.signal.histogram, each.limit) for each in found} == {("h", 0.75)}
    mean, = objectives("tpot", at, 0.06, Mean("j", "own"), None, "j")  # without a histogram
    assert (mean.signal, mean.windows, mean.limit) == (Mean("j", "own"), HOUR, 0.06)


SIGNALS = [
    (Mean("j", "h"), 'sum(rate(h_sum{job="j"}[7m])) / sum(rate(h_count{job="j"}[7m]))',
     {'h_sum{job="j"}': "0+21x400", 'h_count{job="j"}': "0+3x400"}),
    (Ratio("j", "c", "d", 2.5),
     '2.5 + sum(rate(c{job="j"}[7m])) / sum(rate(d{job="j"}[7m]))',
     {'c{job="j"}': "0+13.5x400", 'd{job="j"}': "0+3x400"}),
    (Paced("j", "t", "n"),
     'sum(rate(t_sum{job="j"}[7m])) / (sum(rate(n_sum{job="j"}[7m])) - '
     'sum(rate(n_count{job="j"}[7m])))',
     {'t_sum{job="j"}': "0+21x400", 'n_sum{job="j"}': "0+6x400", 'n_count{job="j"}': "0+3x400"}),
    (Level("j", ("g", "k"), "avg"),
     'avg(avg_over_time(g{job="j"}[7m])) + avg(avg_over_time(k{job="j"}[7m]))',
     {'g{job="j"}': "3.5+0x400", 'k{job="j"}': "3.5+0x400"})]


@pytest.mark.parametrize(("signal", "expression", "series"), SIGNALS)
def test_series_of_a_signal_give_it_the_value(signal, expression, series):
    """Of the value 7, a sample every 3 seconds: counters grow by what comes in 3 seconds."""
    assert signal.expression("7m") == expression
    assert dict(signal.series(7.0, 3.0)) == series


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
    for name, values in healthy(each.pool, of, STEP):
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


# --- failures -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "moved"), [
    ("clock", {"clock_factor": 1 / 4}), ("memory", {"memory_bandwidth": 1 / 4}),
    ("links", {"device_link_bandwidth": 1 / 4, "pair_bandwidth": 1 / 4}),
    ("network", {"network_bandwidth": 1 / 4}), ("alpha", {"collective_alpha": 4}),
    ("host", {"host_gap_per_step": 4}), ("users", {"concurrency": 4}), ("cache", {})])
def test_failure_moves_its_inputs_by_its_severity(name, moved):
    assert FAILURES[name].worse(INPUTS, 4.0) == {
        key: pytest.approx(INPUTS[key] * by) for key, by in moved.items()}


def test_failures_of_lengths_graphs_and_replicas():
    for name, key, other in (("prompts", "input_tokens", "output_tokens"),
                             ("answers", "output_tokens", "input_tokens")):
        assert FAILURES[name].worse(INPUTS, 3.0) == {
            key: 3 * INPUTS[key], "context_tokens": 3 * INPUTS[key] + INPUTS[other]}
    assert FAILURES["eager"].worse(INPUTS, 2.0) == {
        "captured": 0.0, "host_time_per_operator": 2 * INPUTS["host_time_per_operator"]}
    assert FAILURES["uneven"].worse(INPUTS, 1.0) == {"even_routing": 0.0}
    assert FAILURES["lost"].worse(INPUTS | {"data_parallel": 3}, 2.0) == {"data_parallel": 2}
    apart = INPUTS | {"data_parallel": 2, "expert_parallel": 8, "prefill_context_parallel": 0}
    assert FAILURES["lost"].possible(apart)
    assert not FAILURES["lost"].possible(apart | {"expert_parallel": 9})


def alone(of, name, by):
    """One failure of one deployment: what its metrics are, and who waits, step by step."""
    changed = {**of, **(FAILURES[name].worse(of, by) if name in FAILURES else
                        {"concurrency": of["data_parallel"]} if name == "lone" else {})}
    asked, replicas = changed["concurrency"], changed["data_parallel"]
    taken = min(asked, of["concurrency"] / of["data_parallel"] * replicas)
    fewer = by if name == "cache" else 1
    found = evaluate(changed | {"concurrency": taken}, "mla")
    room = max(1, math.floor(float(found["max_concurrency"]) / fewer) * replicas)
    if room < taken:
        taken = room
        found = evaluate(changed | {"concurrency": taken}, "mla")
    queue = (asked - taken) / float(found["steady_request_throughput"])
    occupied = 1.0 if room == taken else min(1.0, float(found["cache_occupied"]) * fewer)
    return {key: float(found[key]) + queue for key in WAITED} | {
        "waiting_requests": asked - taken, "tpot": float(found["tpot"]),
        "cache_occupied": occupied}


@pytest.mark.parametrize("concurrency", [600.0, 2400.0])
def test_all_failures_at_once_equal_each_alone(concurrency):
    """Two replicas that may be lost one without the other; a cache that holds all, or not."""
    of = INPUTS | {"data_parallel": 2.0, "concurrency": concurrency, "bench_requests": 0.0}
    found = simulate(of, "mla")
    assert found.points[:2] == (HEALTHY, LONE)
    assert ("lost", 2) in found.points
    assert "lost" not in {name for name, _ in simulate(INPUTS, "mla").points}
    for at, (name, by) in enumerate(found.points):
        if by in (1.0, 64.0) or name in ("cache", "users"):
            for key, value in alone(of, name, by).items():
                assert found.of(key)[at] == pytest.approx(value, rel=1e-9), (name, by, key)
    e2e = found.of("steady_e2e")
    assert all(value > e2e[0] for (name, _), value in zip(found.points, e2e, strict=True)
               if name in ("clock", "memory", "host", "prompts", "users", "eager"))
    assert found.of("cache_occupied").max() <= 1
    assert np.isfinite(e2e).all()
