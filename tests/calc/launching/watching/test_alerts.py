"""Which alerts a pool has: of what signal, beyond what, how grave, and why, in every release."""

import pytest
from _launch import expected, pool

from calc.launching.watching.alerts import Alert, alerts, pace
from calc.launching.watching.signals import Level, Mean, Paced, Quantile, Rate
from calc.uncertainty.amount import Amount

VALUE = '{{ printf "%.3g" $value }}'
UNSTATED = "no limit is stated: the upper end of the 80% interval [s]"
WHILE = ("0.9 of the lower end of the 80% interval, while 0.9 of the requests are in flight "
         "[token/s]")
ALONE = "from here on this length alone moves the predicted {} to the end of its interval"
IN_FLIGHT = ('sum(avg_over_time(vllm:num_requests_running{job="%s"}[5m])) + '
             'sum(avg_over_time(vllm:num_requests_waiting{job="%s"}[5m]))')


def mean(name, job):
    """Sum over count of a histogram of vLLM, in five minutes."""
    return (f'sum(rate(vllm:{name}_sum{{job="{job}"}}[5m])) / '
            f'sum(rate(vllm:{name}_count{{job="{job}"}}[5m]))')


def rate(name, job):
    return f'sum(rate(vllm:{name}{{job="{job}"}}[5m]))'


def table(of, job):
    """Name -> expression, severity, summary, reason and prediction of a pool of vLLM 0.33.0.

    Thresholds by hand: ends of intervals; 0.9 of 500 token/s and of 40 requests; 2.25 request/s
    times 2 s; three replicas with a step every 25 ms at most, a quarter of which overflow; 0.9 of
    1.25 prompts of 3,000 tokens a second.
    """
    asked = Amount(5250.0, 3750.0, 6750.0, "token/s")
    flight = IN_FLIGHT % (job, job)
    return {
        "TimeToFirstTokenAbovePrediction": (
            f"({mean('time_to_first_token_seconds', job)} > 2)", "warning",
            "Mean time to first token beyond its interval.", f"is above 2: {UNSTATED}.", of.ttft),
        "TimePerOutputTokenAbovePrediction": (
            f"({mean('request_time_per_output_token_seconds', job)} > 0.05)", "warning",
            "Mean time per output token beyond its interval.", f"is above 0.05: {UNSTATED}.",
            of.tpot),
        "ThroughputBelowPrediction": (
            f"({rate('generation_tokens_total', job)} < 450) and on() ({flight} >= 36)", "warning",
            "Fewer output tokens than predicted for this many requests.",
            f"is below 450: {WHILE}.", of.throughput),
        "PrefillBelowPrediction": (
            f"({rate('prompt_tokens_total', job)} < 3375) and on() ({flight} >= 36)", "warning",
            "Fewer prompt tokens than predicted for this many requests.",
            f"is below 3,375: {WHILE}.", asked),
        "MoreRequestsThanPlanned": (
            f"({flight} > 64)", "warning", "More requests than the predictions here assume.",
            "is above 64: the requests in flight that the scenario plans [request].", None),
        "QueueLongerThanPredicted": (
            f'(sum(avg_over_time(vllm:num_requests_waiting{{job="{job}"}}[5m])) > 4.5)', "warning",
            "Requests wait longer than predicted.",
            "is above 4.5: Little's law, 2.25 request/s times 2 s, both at their upper ends "
            "[request].", None),
        "KVCacheFullerThanPredicted": (
            f'(avg(avg_over_time(vllm:kv_cache_usage_perc{{job="{job}"}}[5m])) > 0.6)', "warning",
            "Requests take more of the KV cache than predicted.",
            "is above 0.6: the mean share that they take of the fewest blocks of the 80% interval "
            "[1].", of.occupied),
        "PreemptionsAbovePrediction": (
            f"({rate('num_preemptions_total', job)} > 30)", "warning",
            "Requests lose their cache and are computed again.",
            "is above 30: the cache suffices in all but 0.25 of the steps, and 120 1/s are made "
            "at most; one request each [request/s].", None),
        "PromptsLongerThanPlanned": (
            f"({mean('request_prompt_tokens', job)} > 5000)", "info",
            "Prompts of 3,000 tokens were planned.",
            f"is above 5,000: {ALONE.format('TTFT')} [token].", None),
        "AnswersLongerThanPlanned": (
            f"({mean('request_generation_tokens', job)} > 700)", "info",
            "Answers of 400 tokens were planned.",
            f"is above 700: {ALONE.format('TPOT')} [token].", None),
        "PrefixHitsBelowPlan": (
            f"({rate('prefix_cache_hits_total', job)} / {rate('prefix_cache_queries_total', job)} "
            "< 0.125)", "info", "The prefix cache finds less than was assumed.",
            f"is below 0.125: {ALONE.format('TTFT')} [1].", None),
        "DraftsBelowPlan": (
            f"(1 + {rate('spec_decode_num_accepted_tokens_total', job)} / "
            f"{rate('spec_decode_num_drafts_total', job)} < 1.5)", "info",
            "Fewer drafted tokens count than was assumed.",
            f"is below 1.5: {ALONE.format('TPOT')} [token per step].", None)}


@pytest.mark.parametrize(("name", "without"), [
    ("serve", {"PrefillBelowPrediction"}),
    ("prefill", {"TimePerOutputTokenAbovePrediction", "ThroughputBelowPrediction",
                 "PreemptionsAbovePrediction", "AnswersLongerThanPlanned", "DraftsBelowPlan"}),
    ("decode", {"TimeToFirstTokenAbovePrediction", "PrefillBelowPrediction",
                "PromptsLongerThanPlanned", "PrefixHitsBelowPlan"})])
def test_a_pool_is_watched_for_what_it_does_itself(name, without):
    """First tokens and hits in a prefill pool, the pace and preemptions in a decode pool."""
    first = {"serve": "", "prefill": "Prefill", "decode": "Decode"}[name]
    wanted = [{"alert": first + alert, "expr": expression, "for": "5m",
               "labels": {"severity": severity, "deployment": "mine", "pool": name},
               "annotations": {"summary": summary, "description": f"{VALUE} {because}"}
               | ({"prediction": str(predicted)} if predicted else {})}
              for alert, (expression, severity, summary, because, predicted)
              in table(expected(), name).items() if alert not in without]
    assert [alert.rule() for alert in alerts(pool(name=name), expected())] == wanted


def names(of, **kind):
    return {alert.name for alert in alerts(pool(**kind), of)}


def test_what_cannot_be_exceeded_has_no_alert():
    """A queue of all that are planned, a cache that is full: nothing lies beyond."""
    queue, full = "QueueLongerThanPredicted", "KVCacheFullerThanPredicted"
    assert queue in names(expected(planned=4.5001))
    assert queue not in names(expected(planned=4.5))
    assert full in names(expected(occupied=Amount(0.3, 0.2, 0.999)))
    assert full not in names(expected(occupied=Amount(0.3, 0.2, 1.0)))
    assert full not in names(expected(occupied=None))


def test_an_assumption_that_moves_nothing_is_not_watched():
    assert not names(expected(limits={})) & {
        "PromptsLongerThanPlanned", "AnswersLongerThanPlanned", "PrefixHitsBelowPlan",
        "DraftsBelowPlan"}


def test_preemptions_that_are_rarer_than_is_known_are_none():
    """From one step in a thousand on they are expected: a thousandth of 120 steps a second."""
    found = {share: next(alert for alert in alerts(pool(), expected(overflow=share))
                         if alert.name == "PreemptionsAbovePrediction")
             for share in (1e-3, 0.999e-3)}
    assert found[1e-3].threshold == pytest.approx(0.12)
    assert "0.001 of the steps, and 120 1/s" in found[1e-3].because
    assert found[0.999e-3].threshold == 0
    assert found[0.999e-3].because == (
        "preemptions are predicted in fewer than 0.001 of the steps [request/s]")


LIMITS = {"ttft": {"p90": "2 s"}, "tpot": "60 ms", "e2e": {"p50": "20 s"}}


@pytest.mark.parametrize(("name", "kept"), [
    ("serve", ("ttft", "tpot", "e2e")), ("prefill", ("ttft",)), ("decode", ("tpot", "e2e"))])
def test_a_promise_is_watched_on_the_pool_that_keeps_it(name, kept):
    """And what is promised is not held against what is predicted besides."""
    first = {"serve": "", "prefill": "Prefill", "decode": "Decode"}[name]
    made = {alert.name.removeprefix(first): alert
            for alert in alerts(pool(name=name, limits=LIMITS), expected()) if alert.windows}
    steps = {("1h", "5m"): 15.0, ("6h", "30m"): 120.0, ("3d", "6h"): 900.0}
    hour, day, days = steps
    wanted = {"ttft": {"TimeToFirstTokenBudgetBurnsFast": ("critical", 2.0, hour),
                       "TimeToFirstTokenBudgetBurns": ("critical", 2.0, day),
                       "TimeToFirstTokenBudgetIsSpent": ("warning", 2.0, days)},
              "tpot": {"TimePerOutputTokenAboveLimit": ("critical", 0.06, hour)},
              "e2e": {"EndToEndLatencyBudgetBurnsFast": ("critical", 20.0, hour),
                      "EndToEndLatencyBudgetIsSpent": ("warning", 20.0, days)}}
    assert {key: (alert.severity, alert.threshold, alert.windows)
            for key, alert in made.items()} == {
        key: each for quantity in kept for key, each in wanted[quantity].items()}
    assert all(alert.above and alert.step == steps[alert.windows] for alert in made.values())
    assert all(alert.summary.startswith("Promised: ") and alert.predicted is None
               and alert.because.startswith("the limit of the service") for alert in made.values())
    assert all(alert.labels == {"deployment": "mine", "pool": name} for alert in made.values())
    assert not {f"{first}TimeToFirstTokenAbovePrediction",
                f"{first}TimePerOutputTokenAbovePrediction"} & names(
        expected(), name=name, limits=LIMITS)


def test_a_rule_over_windows_of_its_own_holds_in_each_and_fires_at_once():
    found = Alert("Late", Rate("serve", "late"), True, 1234567.0, "critical", "So.", "why",
                  only=(Level("serve", ("busy",)), 7.5), windows=("1h", "5m"))
    assert found.rule("9m", "8m") == {
        "alert": "Late", "for": "0s", "labels": {"severity": "critical"},
        "expr": '(sum(rate(late{job="serve"}[1h])) > 1.23457e+06) and on() '
                '(sum(rate(late{job="serve"}[5m])) > 1.23457e+06) and on() '
                '(sum(avg_over_time(busy{job="serve"}[9m])) >= 7.5)',
        "annotations": {"summary": "So.", "description": f"{VALUE} is above 1,235,000: why."}}
    assert Alert("Few", Rate("serve", "late"), False, 2.0, "info", "", "").rule("9m", "8m")[
        "for"] == "8m"


@pytest.mark.parametrize(("engine", "drafts", "signal"), [
    ("vllm@0.33.0", 2, Mean("serve", "vllm:request_time_per_output_token_seconds")),
    ("vllm@0.8.5.post1", 0, Mean("serve", "vllm:time_per_output_token_seconds")),
    # a step may bring several tokens then: decode time over tokens
    ("vllm@0.8.5.post1", 2, Paced("serve", "vllm:request_decode_time_seconds",
                                  "vllm:request_generation_tokens")),
    ("sglang@0.5.23", 2, Mean("serve", "sglang:request_time_per_output_token_seconds")),
    ("sglang@0.5.6.post2", 2, Mean("serve", "sglang:inter_token_latency_seconds"))])
def test_the_pace_is_told_by_what_a_release_has_of_it(engine, drafts, signal):
    assert pace(pool(engine, drafts=drafts)) == signal


@pytest.mark.parametrize(("drafts", "limit", "signals"), [
    (0, {"p50": "60 ms"}, [Quantile("serve", "vllm:time_per_output_token_seconds", 1 - late)
                           for late in (0.9, 0.5)]),
    (2, {"p50": "60 ms"}, [Paced("serve", "vllm:request_decode_time_seconds",
                                 "vllm:request_generation_tokens")])])
def test_a_percentile_is_told_by_a_histogram_of_the_release_or_by_the_mean(drafts, limit, signals):
    """An old release has one of the times between tokens, which tells nothing beside drafts."""
    found = [alert for alert in alerts(
        pool("vllm@0.8.5.post1", limits={"tpot": limit}, drafts=drafts), expected())
        if alert.windows]
    assert [alert.signal for alert in found] == signals
    assert ("told by the mean" in found[0].because) == (drafts > 0)


def test_sglang_tells_lengths_by_counters_and_drafts_by_a_gauge():
    found = {alert.name: alert.expression("5m")
             for alert in alerts(pool("sglang@0.5.23"), expected())}
    per = 'sum(rate(sglang:num_requests_total{job="serve"}[5m]))'
    prompted = 'sum(rate(sglang:prompt_tokens_total{job="serve"}[5m]))'
    assert {name: found[name] for name in (
        "PromptsLongerThanPlanned", "AnswersLongerThanPlanned", "PrefixHitsBelowPlan",
        "DraftsBelowPlan")} == {
        "PromptsLongerThanPlanned": f"({prompted} / {per} > 5000)",
        "AnswersLongerThanPlanned":
            f'(sum(rate(sglang:generation_tokens_total{{job="serve"}}[5m])) / {per} > 700)',
        "PrefixHitsBelowPlan":
            f'(sum(rate(sglang:cached_tokens_total{{job="serve"}}[5m])) / {prompted} < 0.125)',
        "DraftsBelowPlan":
            '(avg(avg_over_time(sglang:spec_accept_length{job="serve"}[5m])) < 1.5)'}
    assert "PreemptionsAbovePrediction" in found
    assert "PreemptionsAbovePrediction" not in names(expected(), engine="sglang@0.5.6.post2")
