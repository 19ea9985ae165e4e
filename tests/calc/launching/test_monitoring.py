"""Monitoring of a deployment: thresholds of alerts, limits of a service, healthy metrics."""

from __future__ import annotations

import pytest

from calc.launching.launch import deployment
from calc.launching.monitoring import Signal, objectives

NAME = "h200-r1-vllm-tp8"
FEW = ("workload.concurrency=64", "workload.requests=64")
DRAFTED = ("mechanisms.prefix_hit_share=0.5", "workload.draft_tokens=1",
           "workload.accepted_length=1.7")
HOUR, DAY, DAYS = ("1h", "5m"), ("6h", "30m"), ("3d", "6h")


# --- alerts ---------------------------------------------------------------------------------------


def test_thresholds_follow_from_predictions():
    """Ends of intervals; nine tenths of the throughput while nine tenths are in flight; a queue by
    Little's law; the share of the cache; steps that overflow."""
    each, = deployment(NAME, (*FEW, *DRAFTED), engine="vllm@0.33.0").watched
    of, found = each.predicted, {alert.name: alert for alert in each.alerts}
    expected = {"TimeToFirstTokenAbovePrediction": of.ttft.high,
                "TimePerOutputTokenAbovePrediction": of.tpot.high,
                "ThroughputBelowPrediction": 0.9 * of.throughput.low,
                "MoreRequestsThanPlanned": 64.0,
                "QueueLongerThanPredicted": of.requests.high * of.ttft.high,
                "KVCacheFullerThanPredicted": of.occupied.high,
                "PreemptionsAbovePrediction": of.overflow / of.tpot.low if of.overflow >= 1e-3
                else 0.0}
    assert set(found) <= set(expected)
    assert len(found) >= 6
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
