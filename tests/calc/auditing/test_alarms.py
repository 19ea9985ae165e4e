"""Alerts that are run: each state follows from metrics of health and of failures, never from a
word beside the limit."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import catalogue
from calc.answer.estimate import estimate
from calc.auditing import alarms as alarms_module
from calc.auditing.alarm_words import sentence
from calc.auditing.alarms import (
    ALWAYS,
    CAPPED,
    FAR,
    HELD,
    LATE,
    LONELY,
    NEVER,
    PERHAPS,
    SOUND,
    STATES,
    UNEXPORTED,
    Alarm,
    alarm,
    run,
)
from calc.auditing.audit import Audited, audit
from calc.auditing.claim_files import listed, listed_in
from calc.auditing.judging import FAILS, THRESHOLD
from calc.auditing.truths import deployment
from calc.launching.watching.as_run import RUNS
from calc.launching.watching.faults import FAILURES, HEALTHY, LONE, Simulated, simulate
from calc.uncertainty.amount import Amount
from catalogue.engines.engine import load_engine
from catalogue.ledger.rows import Alert
from catalogue.reading.printed import read

NOT_SOUND = [*(f"S1-{number}" for number in (387, 388, 389)), *(f"S0-{number}" for number in (
    568, 569, 570, 581, 582, 604, 605, 606, 611, 612, 617, 618, 674))]
OURS = Amount(0.06, 0.05, 0.08)
POINTS = (HEALTHY, ("memory", 2.0), ("memory", 64.0), ("host", 4.0))
WORSE = Simulated(POINTS, {"steady_e2e": np.array([1.0, 2.0, 50.0, 1.5])})
METRIC = np.array([0.06, 0.12, 3.0, 0.06])
LIMITS = st.floats(1e-3, 10)


@functools.cache
def rows() -> dict[str, Audited]:
    """Claims that are alerts."""
    names = {each.claim.id for each in listed()[0] if each.claim.alert is not None}
    return {row.id: row for row in audit(only=names).rows if row.judgement.verdict == THRESHOLD}


@functools.cache
def alarms() -> dict[str, Alarm]:
    """The alert of each, run."""
    return {name: alarm(row.case) for name, row in rows().items()}


def state(limit: str | list[str], fires: str, held: str | None = None,
          metric: np.ndarray = METRIC) -> str:
    return run(read(limit), OURS, Alert(fires=fires, held=held), WORSE, metric).state


@pytest.mark.parametrize(("limit", "expected"), [
    ("10 ms", ALWAYS), ("70 ms", PERHAPS), ("100 ms", SOUND), ("1 s", LATE), ("5 s", NEVER)])
def test_an_alert_above_a_limit(limit, expected):
    assert state(limit, "above") == expected


@pytest.mark.parametrize(("limits", "expected"), [
    (["40 ms", "90 ms"], SOUND), (["60 ms", "90 ms"], PERHAPS), (["1 ms", "9 ms"], ALWAYS),
    (["55 ms", "70 ms"], PERHAPS), (["40 ms", "2 s"], LATE), (["40 ms", "5 s"], NEVER)])
def test_an_alert_outside_of_what_is_called_normal(limits, expected):
    assert state(limits, "outside") == expected


def test_one_failure_that_is_seen_in_time_is_enough():
    """The other is seen only when users wait fifty times as long."""
    seen_late = np.array([0.06, 0.06, 3.0, 0.06])
    assert state("100 ms", "above", metric=seen_late) == LATE
    assert state("100 ms", "above", metric=np.array([0.06, 0.06, 3.0, 0.2])) == SOUND


def test_an_alert_below_a_limit():
    falls = np.array([0.06, 0.03, 0.002, 0.06])
    found = [state(limit, "below", metric=falls)
             for limit in ("90 ms", "60 ms", "40 ms", "10 ms", "1 ms")]
    assert found == [ALWAYS, PERHAPS, SOUND, LATE, NEVER]


def test_an_alert_that_a_quiet_hour_sets_off_may_fire():
    quiet = Simulated((HEALTHY, LONE, *POINTS[1:]), {"steady_e2e": np.array([1, 0.5, 2, 50, 1.5])})
    falls = np.array([0.06, 0.01, 0.03, 0.002, 0.06])
    found = run(read("20 ms"), OURS, Alert(fires="below"), quiet, falls)
    assert (found.state, found.reason) == (PERHAPS, LONELY)
    assert run(read("5 ms"), OURS, Alert(fires="below"), quiet, falls).state == LATE
    assert run(read("100 ms"), OURS, Alert(fires="above"), quiet, METRIC[[0, 0, 1, 2, 3]]
               ).state == SOUND


@given(st.floats(1.0, 100.0))
def test_above_every_simulated_value_it_never_fires(times):
    limit = float(max(METRIC.max(), OURS.high)) * times * 1.001
    assert state(f"{limit:.9f} s", "above") == NEVER


@pytest.mark.parametrize("held", ["constant", "at_start"])
@given(LIMITS, st.sampled_from(["above", "below"]))
def test_what_is_held_is_never_sound(held, limit, fires):
    assert state(f"{limit:.6f} s", fires, held) in (ALWAYS, PERHAPS, NEVER)


@given(LIMITS, LIMITS, st.sampled_from(["above", "below"]))
def test_a_wider_limit_never_fires_more_often(one, other, fires):
    falls = fires == "below"
    narrow, wide = sorted((one, other), reverse=falls)
    found = [STATES.index(state(f"{limit:.6f} s", fires, metric=1 / METRIC if falls else METRIC))
             for limit in (narrow, wide)]
    assert found[0] <= found[1]


@given(LIMITS, LIMITS, LIMITS, LIMITS)
def test_a_wider_range_never_fires_more_often(one, other, less, more):
    low, high = sorted((one, other))
    narrow, wide = ([f"{low:.6f} s", f"{high:.6f} s"],
                    [f"{low / (1 + less):.6f} s", f"{high + more:.6f} s"])
    assert STATES.index(state(narrow, "outside")) <= STATES.index(state(wide, "outside"))


def test_a_metric_of_no_release_never_fires(tmp_path):
    path = tmp_path / "mine.yml"
    path.write_text("""title: {en: t, zh: t}
document: s1
defaults: {source: s1, kind: documented}
claims:
""" + "\n".join(f"""  - {{id: S1-00{number}, line: 1, section: '1', what: {{en: w, zh: w}},
     printed: 1 s, alert: {{of: 's2-910b1-awq:ttft', fires: above, metric: '{metric}'}}}}"""
                for number, metric in ((1, "vllm_ttft_p95"), (2, "vllm:time_to_first_*")))
                    + "\n", encoding="utf-8")
    none, one = audit(listed_in([path])).rows
    assert alarm(none.case).reason == UNEXPORTED
    assert alarm(none.case).engines == ("vLLM", "vLLM Ascend")
    assert none.judgement.also == (NEVER,)
    assert alarm(one.case).reason != UNEXPORTED


def test_a_formula_of_numbers_that_nothing_moves_is_held_and_one_of_the_deployment_is_run(tmp_path):
    """Of blocks by length nothing may fail; times an answer takes, everything."""
    path = tmp_path / "mine.yml"
    path.write_text("""title: {en: t, zh: t}
document: s1
defaults: {source: s1, kind: documented}
claims:
  - {id: S1-001, line: 1, section: '1', what: {en: w, zh: w}, printed: 20 %,
     alert: {fires: above, watched: s2-910b1-awq}, right: [divide, block, mean],
     inputs: {mean: 1024, block: 128}}
  - {id: S1-002, line: 2, section: '1', what: {en: w, zh: w}, printed: 3000 s,
     alert: {fires: above}, right: [multiply, 2, answer],
     sourced: {answer: 's2-910b1-awq:steady_e2e'}}
""", encoding="utf-8")
    held, moved = (alarm(row.case) for row in audit(listed_in([path])).rows)
    assert (held.reason, held.state, held.healthy.value) == (HELD, NEVER, 0.125)
    assert moved.reason != HELD
    assert moved.failures > 10
    assert moved.healthy.value == pytest.approx(
        2 * estimate(catalogue.load_scenario("s2-910b1-awq")).quantities["steady_e2e"].value)
    nearest = moved.nearest or moved.fires[0]
    assert nearest.value / moved.healthy.value == pytest.approx(nearest.slower)


@pytest.mark.parametrize("watched", [
    "alert: {of: 's2-910b1-awq:ttft', fires: above}, formula: [multiply, 2, first],"
    "inputs: {first: 0.5}",  # which is how the document finds its limit
    "truth: 's2-910b1-awq:ttft'"])
def test_an_alert_watches_what_it_names_else_what_the_claim_that_it_is_like_is_held_against(
        tmp_path, watched):
    path = tmp_path / "mine.yml"
    path.write_text(f"""title: {{en: t, zh: t}}
document: s1
defaults: {{source: s1, kind: documented}}
claims:
  - {{id: S1-001, line: 1, section: '1', what: {{en: w, zh: w}}, printed: 1 s, {watched}}}
""", encoding="utf-8")
    ((one,), problems) = listed_in([path])
    assert not problems
    times = np.array([1.0, 2.0, 3.0, 4.0])
    simulated = Simulated(POINTS, {"ttft": times, "steady_e2e": 10 * times})
    assert alarms_module._metric(one.claim, "s2-910b1-awq", simulated) == pytest.approx(times)


@pytest.mark.parametrize("name", NOT_SOUND)
def test_a_dead_alert_is_not_sound(name):
    assert alarms()[name].state in (NEVER, ALWAYS)
    assert rows()[name].judgement.standing == FAILS


def test_every_alert_is_judged_by_a_run():
    for name, found in alarms().items():
        row = rows()[name]
        assert row.judgement.also[0] == found.state, name
        assert found.failures or found.reason in (HELD, UNEXPORTED), name
        assert (found.state in (SOUND, LATE)) <= bool(found.fires), name
        assert (found.state == NEVER) <= (not found.fires), name
        assert all(point.failure in FAILURES for point in found.fires), name
        assert (found.state == SOUND) <= (found.fires[0].slower <= FAR if found.fires else False)


def test_what_is_capped_stays_below_its_cap():
    assert {name for name, found in alarms().items() if found.reason == CAPPED} == {
        "S0-611", "S0-612"}


def test_every_alert_is_run_on_a_deployment_that_runs():
    names = {row.case.truth.scenario for row in rows().values()} - {None}
    assert names
    for name in names:
        assert deployment(name).fits, name


def test_every_metric_that_is_named_is_asked_for():
    known = load_engine("vllm").entries["metrics"]
    named = {str(row.case.alert.metric) for row in rows().values() if row.case.alert.metric}
    assert {"vllm_tokens_per_second", "vllm_ttft_p95"} <= named
    for name, found in alarms().items():
        metric = rows()[name].case.alert.metric
        assert metric is None or (str(metric) in known) == (found.reason != UNEXPORTED), name


def test_each_alert_is_told_in_one_sentence():
    for name, found in alarms().items():
        english, chinese = sentence(rows()[name].case, found, ("1", "1"))
        assert english.count(". ") + english.endswith(".") == 1, english
        assert chinese.count("。") == chinese.endswith("。") == 1, chinese


@pytest.mark.parametrize("name", list(RUNS))
def test_what_runs_fits(name):
    assert deployment(f"{name}@runs").fits
    assert estimate(catalogue.load_scenario(name, overrides=list(RUNS[name].overrides))).fits


def test_no_failure_moves_nothing_and_each_moves_something():
    scenario = catalogue.load_scenario("h200-v32-vllm-dp8")
    found = simulate(scenario.inputs(), scenario.model.attention)
    assert found.points[0] == HEALTHY
    assert found.of("waiting_requests")[0] == 0
    assert found.of("cache_occupied").max() <= 1
    e2e = found.of("steady_e2e")
    for (name, _), value in zip(found.points, e2e, strict=True):
        if name in ("clock", "memory", "host", "prompts", "users", "eager"):
            assert value > e2e[0], name


def test_replicas_are_lost_only_where_they_share_no_experts():
    two = catalogue.load_scenario("s0-scenario-1", overrides=[
        *RUNS["s0-scenario-1"].settings, "cluster.nodes=4", "parallelism.data_parallel=2"]).inputs()
    assert FAILURES["lost"].possible(two)
    assert not FAILURES["lost"].possible({**two, "expert_parallel": 32})
    halved = simulate(two, "mla")
    at = [name for name, _ in halved.points].index("lost")
    waiting, rate = halved.of("waiting_requests"), halved.of("steady_throughput")
    assert waiting[at] == two["concurrency"] / 2
    assert rate[at] == pytest.approx(rate[0] / 2, rel=0.05)
