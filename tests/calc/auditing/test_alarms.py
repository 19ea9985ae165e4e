"""Alerts of the documents: their state follows from metrics in health and in failures."""

from __future__ import annotations

import numpy as np
import pytest
from _claims import WHAT, audit_claims
from hypothesis import given
from hypothesis import strategies as st

import catalogue
from calc.answer.estimate import estimate
from calc.auditing.alarms import (
    ALWAYS,
    CONSTANT,
    IDLE,
    LATE,
    LONELY,
    NEVER,
    PERHAPS,
    RUN,
    SOUND,
    STATES,
    UNEXPORTED,
    Point,
    alarm,
    run,
)
from calc.auditing.failures import HEALTHY, LONE, Simulated
from calc.uncertainty import Amount
from catalogue.ledger import Alert
from catalogue.reading.values import read

OURS = Amount(0.06, 0.05, 0.08)
POINTS = (HEALTHY, ("memory", 2.0), ("memory", 64.0), ("host", 4.0))
WORSE = Simulated(POINTS, {"steady_e2e": np.array([1.0, 2.0, 50.0, 1.5])})
RISES = np.array([0.06, 0.12, 3.0, 0.06])
FALLS = np.array([0.06, 0.03, 0.002, 0.06])
LIMITS = st.floats(1e-3, 10)


def fired(limit, fires="above", metric=RISES, simulated=WORSE, **alert):
    """The alert of a limit on a metric, by its simulated points."""
    return run(read(limit), OURS, Alert(fires=fires, **alert), simulated, np.asarray(metric))


@pytest.mark.parametrize(("limit", "fires", "state"), [
    # health is 50 to 80 ms: an alert on this side of it fires, one between its ends may
    ("10 ms", "above", ALWAYS), ("49 ms", "above", ALWAYS), ("50 ms", "above", PERHAPS),
    ("79 ms", "above", PERHAPS), ("80 ms", "above", SOUND), ("100 ms", "above", SOUND),
    ("1 s", "above", LATE), ("5 s", "above", NEVER),
    ("90 ms", "below", ALWAYS), ("80 ms", "below", PERHAPS), ("51 ms", "below", PERHAPS),
    ("50 ms", "below", SOUND), ("10 ms", "below", LATE), ("1 ms", "below", NEVER),
    (["40 ms", "90 ms"], "outside", SOUND), (["51 ms", "90 ms"], "outside", PERHAPS),
    (["1 ms", "9 ms"], "outside", ALWAYS), (["81 ms", "99 ms"], "outside", ALWAYS),
    (["55 ms", "70 ms"], "outside", PERHAPS), (["40 ms", "2 s"], "outside", LATE),
    (["40 ms", "5 s"], "outside", NEVER)])
def test_state_of_a_limit(limit, fires, state):
    assert fired(limit, fires, FALLS if fires == "below" else RISES).state == state


def test_alert_fires_at_the_mildest_severity_of_each_failure():
    """A metric is scaled to ours; failures stand by how likely they are, each once."""
    points = (HEALTHY, ("memory", 2.0), ("memory", 4.0), ("host", 4.0), ("eager", 2.0))
    simulated = Simulated(points, {"steady_e2e": 2 * np.array([1.0, 2.0, 4.0, 1.5, 1.25])})
    found = fired("100 ms", metric=[3, 6, 9, 6, 6], simulated=simulated)
    assert (found.state, found.reason, found.nearest) == (SOUND, RUN, None)
    assert [(each.failure, each.severity) for each in found.fires] == [
        ("eager", 2.0), ("host", 4.0), ("memory", 2.0)]
    assert found.fires[2] == Point("memory", 2.0, pytest.approx(0.12), 2.0)
    silent = fired("200 ms", metric=[3, 6, 7, 4.5, 3], simulated=simulated)
    assert (silent.state, silent.fires) == (NEVER, ())
    assert silent.nearest == Point("memory", 4.0, pytest.approx(0.14), 4.0)


def test_quiet_hour_and_no_requests():
    """A single request, or none, sets off what the planned load does not."""
    quiet = Simulated((HEALTHY, LONE, *POINTS[1:]), {"steady_e2e": np.array([1, 0.5, 2, 50, 1.5])})
    falls = np.array([0.06, 0.01, 0.03, 0.002, 0.06])
    found = fired("20 ms", "below", falls, quiet)
    assert (found.state, found.reason, found.nearest.value) == (PERHAPS, LONELY, 0.01)
    assert fired("5 ms", "below", falls, quiet).state == LATE
    assert fired("40 ms", "below", FALLS, idle=True).reason == IDLE
    assert fired("100 ms", "above", RISES, idle=True).reason == RUN


def test_constant_metric():
    for limit, state in (("10 ms", ALWAYS), ("70 ms", PERHAPS), ("100 ms", NEVER)):
        for held in ("constant", "at_start"):
            found = fired(limit, held=held)
            assert (found.state, found.reason, found.fires) == (state, CONSTANT, ())


@given(LIMITS, LIMITS, st.sampled_from(["above", "below"]))
def test_wider_limit_never_fires_more_often(one, other, fires):
    narrow, wide = sorted((one, other), reverse=fires == "below")
    metric = FALLS if fires == "below" else RISES
    states = [STATES.index(fired(f"{limit:.6f} s", fires, metric).state)
              for limit in (narrow, wide)]
    assert states[0] <= states[1]


@pytest.fixture
def alerts(tmp_path):
    """Alerts of claims in a file."""
    def run_all(*claims):
        answer = audit_claims(tmp_path, *(
            f"id: S1-00{number}, {WHAT}, {claim}" for number, claim in enumerate(claims, 1)))
        assert answer.problems == ()
        return [alarm(row.case) for row in answer.rows]

    return run_all


def test_metric_of_no_release_never_fires(alerts):
    of = "printed: 1 s, alert: {of: 's2-910b1-awq:ttft', fires: above, metric: '%s'}"
    none, exported = alerts(of % "vllm_ttft_p95", of % "vllm:time_to_first_*")
    assert (none.state, none.reason, none.engines) == (NEVER, UNEXPORTED, ("vLLM", "vLLM Ascend"))
    assert exported.reason != UNEXPORTED


def test_alert_watches_its_formula_on_its_deployment(alerts):
    """A formula of constants does not move; one of a latency moves as requests get slower."""
    constant, moved = alerts(
        "printed: 20 %, alert: {fires: above, watched: s2-910b1-awq}, right: [divide, block, mean],"
        " inputs: {mean: 1024, block: 128}",
        "printed: 3000 s, alert: {fires: above}, right: [multiply, 2, answer], sourced: {answer: "
        "'s2-910b1-awq:steady_e2e'}")
    assert (constant.reason, constant.state, constant.healthy.value) == (CONSTANT, NEVER, 0.125)
    latency = estimate(catalogue.load_scenario("s2-910b1-awq")).quantities["steady_e2e"].value
    assert moved.healthy.value == pytest.approx(2 * latency)
    nearest = moved.nearest or moved.fires[0]
    assert nearest.value / moved.healthy.value == pytest.approx(nearest.slower)
