"""Alerts step by step: where a value fires, what a failure brings, and what an alert watches."""

from __future__ import annotations

import math
from types import SimpleNamespace as Made

import numpy as np
import pytest

from calc.auditing import alarms
from calc.auditing.alarms import (
    ALWAYS,
    CAPPED,
    HELD,
    IDLE,
    LATE,
    LONELY,
    NEVER,
    PERHAPS,
    RUN,
    SOUND,
    Point,
    beyond,
    in_health,
    run,
)
from calc.launching.watching.faults import HEALTHY, LONE, Simulated
from calc.uncertainty.amount import Amount
from catalogue import ParamsError
from catalogue.ledger.rows import Alert
from catalogue.reading.printed import read

OURS = Amount(0.06, 0.05, 0.08)
RANGE = ["50 ms", "80 ms"]


@pytest.mark.parametrize(("limit", "fires", "value", "does"), [
    ("100 ms", "above", 0.1, False), ("100 ms", "above", 0.1001, True),
    ("100 ms", "below", 0.1, False), ("100 ms", "below", 0.0999, True),
    (RANGE, "outside", 0.05, False), (RANGE, "outside", 0.08, False),
    (RANGE, "outside", 0.0499, True), (RANGE, "outside", 0.0801, True)])
def test_an_alert_fires_behind_its_limit(limit, fires, value, does):
    assert beyond(value, read(limit), fires) is does


@pytest.mark.parametrize(("limit", "fires", "state"), [
    ("49 ms", "above", ALWAYS), ("50 ms", "above", PERHAPS), ("80 ms", "above", None),
    ("79 ms", "above", PERHAPS), ("81 ms", "below", ALWAYS), ("80 ms", "below", PERHAPS),
    ("50 ms", "below", None), ("51 ms", "below", PERHAPS),
    (RANGE, "outside", None), (["51 ms", "80 ms"], "outside", PERHAPS),
    (["50 ms", "79 ms"], "outside", PERHAPS), (["55 ms", "70 ms"], "outside", PERHAPS),
    (["81 ms", "99 ms"], "outside", ALWAYS), (["80 ms", "99 ms"], "outside", PERHAPS),
    (["10 ms", "49 ms"], "outside", ALWAYS), (["10 ms", "50 ms"], "outside", PERHAPS)])
def test_while_nothing_fails(limit, fires, state):
    assert in_health(read(limit), OURS, fires) == state


@pytest.mark.parametrize(("value", "limit", "fires", "short"), [
    (0.06, "100 ms", "above", 0.4), (0.12, "100 ms", "above", -0.2),
    (0.06, "50 ms", "below", 0.2), (0.04, "50 ms", "below", -0.2),
    # of a range the nearer end decides, over its middle
    (0.06, ["40 ms", "120 ms"], "outside", 0.02 / 0.08),
    (0.1, ["40 ms", "120 ms"], "outside", 0.02 / 0.08),
    (0.03, ["40 ms", "120 ms"], "outside", -0.01 / 0.08), (3.0, "0", "above", -3e9)])
def test_how_far_a_value_stays_short_of_its_limit(value, limit, fires, short):
    assert alarms._short(value, read(limit), fires) == pytest.approx(short)


POINTS = (HEALTHY, ("memory", 2.0), ("memory", 4.0), ("host", 4.0), ("eager", 2.0))


def simulated(*slower, points=POINTS):
    return Simulated(points, {"steady_e2e": 2 * np.array([1.0, *slower])})


def watched(limit, fires, slower, metric, idle=False, points=POINTS, **alert):
    return run(read(limit), OURS, Alert(fires=fires, **alert), simulated(*slower, points=points),
               np.array(metric), idle)


def test_in_a_failure_a_metric_is_as_many_times_ours_as_it_is_simulated():
    found = alarms._points(OURS, simulated(2.0, 4.0, 1.5, 1.25), np.array([3.0, 6, 9, 4.5, 3]),
                           math.inf)
    assert found == [Point("memory", 2.0, pytest.approx(0.12), 2.0),
                     Point("memory", 4.0, pytest.approx(0.18), 4.0),
                     Point("host", 4.0, pytest.approx(0.09), 1.5),
                     Point("eager", 2.0, pytest.approx(0.06), 1.25)]
    most = alarms._points(OURS, simulated(2.0, 4.0, 1.5, 1.25), np.array([3.0, 6, 9, 4.5, 3]), 0.1)
    assert [point.value for point in most] == pytest.approx([0.1, 0.1, 0.09, 0.06])
    none = alarms._points(OURS, simulated(2.0, 4.0, 1.5, 1.25), np.array([0.0, 6, 9, 4.5, 3]), 99)
    assert [point.value for point in none] == [6, 9, 4.5, 3]


def test_of_failures_that_fire_the_mildest_is_first_and_each_stands_once():
    """Memory fires at half its speed, twice what may well happen at first; of two as mild that
    which users feel less."""
    found = watched("100 ms", "above", (2.0, 4.0, 1.5, 1.25), (3, 6, 9, 6, 6))
    assert (found.state, found.reason, found.failures, found.nearest) == (SOUND, RUN, 4, None)
    assert [(each.failure, each.severity) for each in found.fires] == [
        ("eager", 2.0), ("host", 4.0), ("memory", 2.0)]
    later = watched("150 ms", "above", (2.0, 4.0, 1.5, 1.25), (3, 6, 9, 9, 3))
    assert [(each.failure, each.severity) for each in later.fires] == [
        ("host", 4.0), ("memory", 4.0)]


@pytest.mark.parametrize(("slower", "state"), [(alarms.FAR, SOUND), (alarms.FAR * 1.01, LATE)])
def test_what_users_felt_long_before_comes_too_late(slower, state):
    found = watched("100 ms", "above", (slower, 99.0, 1.0, 1.0), (3, 6, 9, 3, 3))
    assert found.state == state
    timely = watched("100 ms", "above", (slower, 99.0, 2.0, 1.0), (3, 6, 9, 6, 3))
    assert timely.state == SOUND
    assert timely.fires[0].failure == "host"
    mild = watched("150 ms", "above", (1.0, 1.5, slower, 1.0), (3, 6, 9, 9, 3))
    assert mild.fires[0].failure == ("host" if state == SOUND else "memory")


def test_of_failures_that_do_not_fire_the_nearest_is_told_where_one_is_nearer_than_health():
    found = watched("200 ms", "above", (2.0, 4.0, 1.5, 1.25), (3, 6, 7, 4.5, 3))
    assert (found.state, found.fires) == (NEVER, ())
    assert found.nearest == Point("memory", 4.0, pytest.approx(0.14), 4.0)
    still = watched("200 ms", "above", (2.0, 4.0, 1.5, 1.25), (3, 3, 2, 3, 1))
    assert (still.state, still.nearest) == (NEVER, None)


@pytest.mark.parametrize(("limit", "fires", "lone", "reason"), [
    ("100 ms", "above", 9.0, LONELY), ("100 ms", "above", 3.0, RUN),
    ("40 ms", "below", 1.0, LONELY), ("70 ms", "above", 9.0, RUN)])
def test_a_single_request_sets_off_what_health_does_not(limit, fires, lone, reason):
    points = (HEALTHY, LONE, *POINTS[1:])
    found = watched(limit, fires, (1.0, 2.0, 4.0, 1.5, 1.25), (3, lone, 3, 3, 3, 3), points=points)
    assert (found.reason, found.failures) == (reason, 4)
    assert (found.healthy, found.fires if reason != RUN else ()) == (OURS, ())
    assert (found.state, found.nearest) == ((PERHAPS, Point("lone", 1.0, pytest.approx(
        lone * 0.02), 1.0)) if reason == LONELY else (found.state, None))


@pytest.mark.parametrize(("limit", "fires", "idle", "reason"), [
    ("40 ms", "below", True, IDLE), ("40 ms", "below", False, RUN), ("100 ms", "above", True, RUN),
    (["40 ms", "90 ms"], "outside", True, IDLE), ("70 ms", "below", True, RUN)])
def test_without_any_request_what_falls_to_nothing_sets_off_a_lower_limit(limit, fires, idle,
                                                                         reason):
    found = watched(limit, fires, (2.0, 4.0, 1.5, 1.25), (3, 3, 3, 3, 3), idle)
    assert (found.reason, found.failures) == (reason, 4)
    assert (found.healthy, found.fires if reason != RUN else ()) == (OURS, ())
    assert found.state == (NEVER if fires == "above" or (not idle) else PERHAPS)


@pytest.mark.parametrize(("limit", "fires", "reason"), [
    ("0.2", "above", CAPPED), ("0.19", "above", RUN), ("0.3", "above", CAPPED),
    ("0.001", "below", RUN)])
def test_an_alert_above_what_an_engine_runs_at_most_is_capped(monkeypatch, limit, fires, reason):
    claim = Made(printed=read("0.2"), like=None)
    monkeypatch.setattr(alarms, "_listed", lambda: {"S1-009": claim})
    found = watched(limit, fires, (2.0, 4.0, 1.5, 1.25), (3, 3, 3, 3, 3), held="capped",
                    cap="claims/S1-009")
    assert (found.reason, found.cap) == (reason, 0.2)
    for lost in ({}, {"S1-009": Made(printed=None)}):
        monkeypatch.setattr(alarms, "_listed", lost.copy)
        with pytest.raises(ParamsError, match="cap: 'claims/S1-009' is no number of a claim"):
            alarms._cap("claims/S1-009")


@pytest.mark.parametrize(("held", "limit", "state"), [
    ("constant", "10 ms", ALWAYS), ("at_start", "70 ms", PERHAPS), ("constant", "100 ms", NEVER)])
def test_what_is_held_is_judged_in_health_alone(held, limit, state):
    found = watched(limit, "above", (2.0, 4.0, 1.5, 1.25), (3, 9, 9, 9, 9), held=held)
    assert (found.state, found.reason, found.fires, found.failures) == (state, HELD, (), 0)
    bare = run(read(limit), OURS, Alert(fires="above"), None, None)
    assert (bare.state, bare.reason) == (state, HELD)


def test_a_share_is_full_and_no_more():
    share = Amount(0.6, 0.5, 0.7)
    points = simulated(2.0, 4.0, 1.5, 1.25)
    metric = np.array([0.6, 0.9, 9.0, 0.6, 0.6])
    for of, state in (("x:cache_occupied", NEVER), ("x:cache_occupied/device", SOUND),
                      ("x:ttft", SOUND), (None, SOUND)):
        alert = Alert.model_construct(fires="above", of=of, held=None, cap=None)
        assert run(read("1.5"), share, alert, points, metric).state == state


CLAIM = {"right": None, "formula": None, "alert": None, "truth": None, "sourced": {}, "inputs": {}}


def metric(monkeypatch, **claim):
    monkeypatch.setattr(alarms, "_fixed", {"goals/g/cards": 5.0, "devices/d/power": 7.0,
                                           "other:ttft": 9.0}.__getitem__)
    monkeypatch.setattr(alarms, "deployment", lambda name: Made(scenario=name))
    monkeypatch.setattr(alarms, "counted_of", lambda scenario, part: {
        "deployment": 1, "replica": 4}[part])
    values = Simulated((HEALTHY, ("memory", 2.0)), {
        "ttft": np.array([1.0, 3.0]), "power": np.array([10.0, 20.0])})
    found = alarms._metric(Made(**CLAIM | claim), "plan", values)
    return None if found is None else found.tolist()


@pytest.mark.parametrize(("where", "found"), [
    ("plan:ttft", [1, 3]), ("plan:ttft/replica", [0.25, 0.75]), ("other:ttft", [9, 9]),
    ("mechanisms/m/ttft", [1, 3]), ("devices/d/power", [7, 7]), ("goals/g/cards", [5, 5])])
def test_what_is_watched_moves_where_it_is_of_this_deployment(monkeypatch, where, found):
    """Or of a mechanism, as the deployment has it; a part of it is a share."""
    assert metric(monkeypatch, truth=where) == found
    alert = Made(of=where)
    assert metric(monkeypatch, alert=alert, truth="plan:power", formula=["add", "a", 1],
                  right="a", inputs={"a": Made(value=1)}) == found


def test_a_formula_is_watched_at_each_point_with_what_moves_and_what_does_not(monkeypatch):
    """What is sourced takes the place of what the document puts in; the right formula is first."""
    sourced = {"t": "plan:ttft", "p": "devices/d/power"}
    inputs = {"t": Made(value=99.0), "n": Made(value=2.0)}
    right = ["add", ["multiply", "n", "t"], "p"]
    assert metric(monkeypatch, right=right, formula="n", sourced=sourced, inputs=inputs) == [9, 13]
    assert metric(monkeypatch, formula=right, sourced=sourced, inputs=inputs,
                  alert=Made(of=None)) == [9, 13]
    assert metric(monkeypatch, right="n", sourced=sourced, inputs=inputs) is None


def test_a_claim_that_restates_others_watches_what_the_first_does(monkeypatch):
    first, second, third = (Made(id=name, like=like) for name, like in (
        ("S1-001", None), ("S1-002", "S1-001"), ("S1-003", "S1-002")))
    monkeypatch.setattr(alarms, "_listed", lambda: {"S1-001": first, "S1-002": second})
    assert [alarms._origin(claim) for claim in (first, second, third)] == [first] * 3


@pytest.mark.parametrize(("claim", "found"), [
    ({"alert": Made(of="a:b"), "truth": "c:d"}, ["a:b"]), ({"alert": Made(of=None)}, []),
    ({"alert": Made(of=None), "truth": "c:d", "sourced": {"x": "e:f"}}, ["c:d", "e:f"]),
    ({"sourced": {"x": "e:f"}}, ["e:f"])])
def test_references_of_what_is_watched(claim, found):
    assert alarms._references(Made(**CLAIM | claim)) == found


def test_a_metric_is_asked_of_the_plug_in_as_well_on_ascend(monkeypatch):
    engines = {"vllm": Made(title="vLLM", entries={"metrics": {"vllm:a": 1}}),
               "vllm-ascend": Made(title="Plug-in", entries={"metrics": {"npu:b": 1}})}
    monkeypatch.setattr(alarms, "load_engine", engines.__getitem__)
    monkeypatch.setattr(alarms, "deployment", lambda name: Made(
        scenario=Made(device=Made(software=name))))

    def lost(metric, name):
        return alarms._unexported(Alert(fires="above", metric=metric), name)

    assert lost(None, "cuda") == lost("vllm:a", None) == lost("npu:*", "cann") == ()
    assert lost("npu:b", "cuda") == lost("npu:b", None) == ("vLLM",)
    assert lost("vllm:c", "cann") == ("vLLM", "Plug-in")
