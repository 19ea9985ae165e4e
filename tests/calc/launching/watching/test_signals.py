"""What each signal asks of Prometheus, series that give it a value, and what a budget comes to."""

import pytest

from calc.launching.watching.objectives import objectives, stated
from calc.launching.watching.signals import Level, Mean, Paced, Quantile, Rate, Ratio
from catalogue.entries.entry import ServiceLimits

SIGNALS = {
    Mean("j", "h"): (
        'sum(rate(h_sum{job="j"}[7m])) / sum(rate(h_count{job="j"}[7m]))',
        {'h_sum{job="j"}': "0+21x400", 'h_count{job="j"}': "0+3x400"}),
    Quantile("j", "h", 0.875): (
        'histogram_quantile(0.875, sum by (le) (rate(h_bucket{job="j"}[7m])))',
        {'h_bucket{job="j",le="8"}': "0+3x400", 'h_bucket{job="j",le="+Inf"}': "0+3x400"}),
    Ratio("j", "c", "d"): (
        'sum(rate(c{job="j"}[7m])) / sum(rate(d{job="j"}[7m]))',
        {'c{job="j"}': "0+21x400", 'd{job="j"}': "0+3x400"}),
    Ratio("j", "c", "d", 2.5): (
        '2.5 + sum(rate(c{job="j"}[7m])) / sum(rate(d{job="j"}[7m]))',
        {'c{job="j"}': "0+13.5x400", 'd{job="j"}': "0+3x400"}),
    Paced("j", "t", "n"): (
        'sum(rate(t_sum{job="j"}[7m])) / (sum(rate(n_sum{job="j"}[7m])) - '
        'sum(rate(n_count{job="j"}[7m])))',
        {'t_sum{job="j"}': "0+21x400", 'n_sum{job="j"}': "0+6x400", 'n_count{job="j"}': "0+3x400"}),
    Rate("j", "c"): ('sum(rate(c{job="j"}[7m]))', {'c{job="j"}': "0+21x400"}),
    Level("j", ("g", "k"), "avg"): (
        'avg(avg_over_time(g{job="j"}[7m])) + avg(avg_over_time(k{job="j"}[7m]))',
        {'g{job="j"}': "3.5+0x400", 'k{job="j"}': "3.5+0x400"}),
    Level("j", ("g",)): ('sum(avg_over_time(g{job="j"}[7m]))', {'g{job="j"}': "7+0x400"}),
}
"""Of the value 7, a sample every 3 seconds: counters grow by what comes in 3 seconds."""


@pytest.mark.parametrize("signal", SIGNALS, ids=lambda signal: type(signal).__name__)
def test_the_series_of_a_signal_give_it_the_value(signal):
    expression, series = SIGNALS[signal]
    assert signal.expression("7m") == expression
    assert dict(signal.series(7.0, 3.0)) == series
    assert len(signal.series(7.0, 3.0)) == len(series)


HOUR, DAY, DAYS = ("1h", "5m"), ("6h", "30m"), ("3d", "6h")


@pytest.mark.parametrize(("at", "late"), [
    # 14.4, 6 and 1 times the share that may be late, none above nine tenths and none twice
    ("p50", [("BurnsFast", 0.9, HOUR), ("IsSpent", 0.5, DAYS)]),
    ("p75", [("BurnsFast", 0.9, HOUR), ("IsSpent", 0.25, DAYS)]),
    ("p90", [("BurnsFast", 0.9, HOUR), ("Burns", 0.6, DAY), ("IsSpent", 0.1, DAYS)]),
    ("p95", [("BurnsFast", 0.72, HOUR), ("Burns", 0.3, DAY), ("IsSpent", 0.05, DAYS)]),
    ("p99", [("BurnsFast", 0.144, HOUR), ("Burns", 0.06, DAY), ("IsSpent", 0.01, DAYS)])])
def test_a_budget_that_burns_is_a_quantile_above_the_limit(at, late):
    found = list(objectives("e2e", at, 0.75, None, "h", "j"))
    assert [(each.name, pytest.approx(1 - each.signal.share), each.windows) for each in found] == [
        (f"EndToEndLatencyBudget{name}", share, windows) for name, share, windows in late]
    assert {(each.signal.job, each.signal.histogram, each.limit) for each in found} == {
        ("j", "h", 0.75)}
    assert {each.summary for each in found} == {
        f"Promised: end-to-end latency {at} of at most 750 ms."}


@pytest.mark.parametrize(("at", "told"), [
    ("p90", [("0.9", "9"), ("0.6", "6"), ("0.1", "1")]), ("p95", [
        ("0.72", "14.4"), ("0.3", "6"), ("0.05", "1")])])
def test_an_alert_on_a_budget_says_how_many_are_late_and_how_many_times_too_many(at, told):
    assert [each.because for each in objectives("ttft", at, 2.0, None, "h", "j")] == [
        f"the limit of the service: more than {share} of the requests are late, {times} times as "
        "many as may be [s]" for share, times in told]


@pytest.mark.parametrize(("at", "histogram", "instead"), [
    ("mean", "h", ""), ("mean", None, ""),
    ("p90", None, ", told by the mean: the release has no such histogram")])
def test_a_mean_stands_for_a_percentile_that_no_histogram_tells(at, histogram, instead):
    of = Mean("j", "own")
    found, = objectives("tpot", at, 0.06, of, histogram, "j")
    assert vars(found) == {
        "name": "TimePerOutputTokenAboveLimit", "severity": "critical", "signal": of,
        "summary": f"Promised: time per output token {at} of at most 60 ms.",
        "because": f"the limit of the service{instead} [s]", "limit": 0.06, "windows": HOUR,
        "step": 15.0}
    assert list(objectives("tpot", at, 0.06, None, None, "j")) == []


def test_what_is_not_promised_is_not_stated():
    assert stated(None) == {}
    assert stated(ServiceLimits()) == {}
    assert stated(ServiceLimits.model_validate({"e2e": "3 s", "ttft": {"p95": "2 s"}})) == {
        "ttft": ("p95", 2.0), "e2e": ("mean", 3.0)}
