"""A fit, its rows and a deployment, by hand: how far one lies outside, and what widens of it."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from calc.evidence import calibrated, protocols, validation
from calc.evidence.calibrated import Applied, Outside
from calc.evidence.fitting import Calibration
from calc.uncertainty.amount import Amount
from catalogue.deployments.knobs import NORMAL_90, Knob
from catalogue.reading.values import Value

KNOB = Knob("k", Value(1.0, "1", "1", "", "assumed", math.exp(-NORMAL_90), math.exp(NORMAL_90)),
            ("k",))
FIT = Calibration((KNOB,), np.zeros(1), np.array([[0.04]]), 0.3)


@pytest.mark.parametrize(("value", "ends", "far"), [
    (8.0, (1.0, 4.0), math.log(2)), (4.0, (1.0, 4.0), 0), (1.0, (1.0, 4.0), 0),
    (2.0, (6.0, 9.0), math.log(3)), (0.0, (1.0, 4.0), 0), (0.0, (2.0, 4.0), math.log(2))])
def test_outside_is_the_factor_by_which_a_range_is_left(value, ends, far):
    """Nothing counts as one, as one card or one layer does."""
    assert Outside("x", value, ends).far == pytest.approx(far)


def applied(metric, distance, monkeypatch, apart=0.0, fit=FIT):
    """Of a knob k, at 1: the fitted metric goes with its square, cost with its inverse."""
    def evaluate(inputs, attention):
        k = np.asarray(inputs["k"], float)
        return {metric: 99 * k, "cost": inputs["five"] / k, "flat": 3 * k**0, "scalar": 5.0,
                "negative": -k, "e2e": k, "output_throughput": k}

    monkeypatch.setattr(calibrated, "evaluate", evaluate)
    monkeypatch.setattr(calibrated, "discrepancy", lambda: SimpleNamespace(extrapolation=0.5))
    deployment = SimpleNamespace(
        inputs={"five": 5.0, "k": 7.0, "separate_pools": apart},
        scenario=SimpleNamespace(model=SimpleNamespace(attention="mla")),
        predict=lambda metric, rows, points: 3 * np.asarray(points["k"]) ** 2 * np.ones(len(rows)))
    return Applied("name", metric, "system", fit.inputs, (Outside("x", 8.0, (1.0, 4.0)),), fit,
                   deployment, distance)


OTHERS = {"prefill": Amount(4.0, 2.0, 6.0, "s", central=3.5), "cost": Amount(10.0, 8.0, 15.0),
          "flat": Amount(10.0, 8.0, 15.0), "scalar": Amount(5.0, 4.0, 6.0),
          "negative": Amount(-1.0, -2.0, -0.5)}


def test_what_was_fitted_has_its_covariance_the_noise_and_the_distance(monkeypatch):
    """Variance of the logarithm 2² × 0.04 + 0.3² + (0.5 × 2)² = 1.25."""
    found = applied("prefill", 2.0, monkeypatch).bounds(OTHERS)["prefill"]
    half = math.exp(NORMAL_90 * math.sqrt(1.25))
    assert found.points == pytest.approx((3.0, 3 / half, 3 * half), rel=1e-4)
    assert (found.unit, found.central) == ("s", 3.5)


def test_what_was_not_fitted_takes_covariance_and_distance_on_top_where_the_fit_moves_it(
        monkeypatch):
    """Deviation √(0.04 + 1), beside log 10/8 downwards and log 15/10 upwards."""
    found = applied("prefill", 2.0, monkeypatch).bounds(OTHERS)
    own = NORMAL_90 * math.sqrt(1.04)
    assert found["cost"].points == pytest.approx((
        10.0, 10 * math.exp(-math.hypot(math.log(1.25), own)),
        10 * math.exp(math.hypot(math.log(1.5), own))), rel=1e-4)
    assert found["flat"].points == pytest.approx((10.0, 8.0, 15.0))
    assert not {"scalar", "negative", "e2e"} & set(found)


@pytest.mark.parametrize("apart", [0.0, 1.0])
def test_latency_and_throughput_follow_where_a_part_of_them_was_fitted(monkeypatch, apart):
    seen = []
    monkeypatch.setattr(calibrated, "_combined", lambda amounts, pools: seen.append(
        (amounts, pools)) or {"e2e": "joined"})
    others = {"scalar": OTHERS["scalar"], "tpot": Amount(4.0, 2.0, 6.0)}
    found = applied("tpot", 0.0, monkeypatch, apart).bounds(others)
    (amounts, pools), = seen
    assert found["e2e"] == "joined"
    assert pools == bool(apart)
    assert amounts["tpot"] is found["tpot"]
    assert amounts["scalar"] is others["scalar"]
    assert applied("prefill", 0.0, monkeypatch).bounds(OTHERS).keys() == {"prefill", "cost", "flat"}
    assert len(seen) == 1


PARTS = {"ttft": Amount(3.0, 2.0, 6.0, "s", central=2.0),
         "tpot": Amount(0.08, 0.04, 0.1, "s", central=0.1),
         "e2e": Amount(1.0, 1.0, 1.0, "s", central=10.0),
         "output_throughput": Amount(1.0, 1.0, 1.0, "token/s", central=50.0)}
MOVED = 0.2 * math.log(1.5) + 0.8 * math.log(0.8)  # of e2e a fifth is ttft
LESS = math.hypot(0.2 * math.log(1.5), 0.8 * math.log(2))
MORE = math.hypot(0.2 * math.log(2), 0.8 * math.log(1.25))


def test_latency_moves_with_its_parts_and_throughput_against_them():
    found = calibrated._combined(PARTS, apart=False)
    assert found["e2e"].points == pytest.approx((
        10 * math.exp(MOVED), 10 * math.exp(MOVED - LESS), 10 * math.exp(MOVED + MORE)))
    assert found["output_throughput"].points == pytest.approx((
        50 * math.exp(-MOVED), 50 * math.exp(-MOVED - MORE), 50 * math.exp(-MOVED + LESS)))
    assert (found["e2e"].unit, found["output_throughput"].unit) == ("s", "token/s")


def test_a_pool_that_decodes_is_as_fast_as_its_tokens_alone():
    """50 × 0.1 / 0.08, from 1/0.1 to 1/0.04 of it."""
    found = calibrated._combined(PARTS, apart=True)["output_throughput"]
    assert found.points == pytest.approx((62.5, 50.0, 125.0))


def test_a_calibration_tells_what_it_was_fitted_to_and_what_lies_outside(monkeypatch):
    assert applied("tpot", 1.0, monkeypatch).as_json() == {
        "name": "name", "metric": "tpot", "fitted_on": "system", "values": {"k": 1.0},
        "outside": [{"quantity": "x", "value": 8.0, "fitted_range": [1.0, 4.0]}]}


def test_outside_are_lengths_beyond_the_rows_and_other_cuts_and_sizes(monkeypatch):
    monkeypatch.setattr(calibrated, "evaluate", lambda inputs, attention, decode: {
        "total_parameters": inputs["layers"]})
    alike = dict.fromkeys(calibrated.FIXED, 2.0) | {"layers": 10.0, "concurrency": 4.0,
                                                    "input_tokens": 100.0, "output_tokens": 9.0}
    scenario = SimpleNamespace(model=SimpleNamespace(attention="mla"))
    side = [SimpleNamespace(inputs=alike | more, scenario=scenario) for more in (
        {}, {"tensor_parallel": 4.0, "layers": 30.0, "input_tokens": 250.0})]
    extent = {"concurrency": (1.0, 4.0), "input_tokens": (50.0, 200.0), "output_tokens": (9.0, 9.0)}
    found = {each.quantity: (each.value, each.fitted_range)
             for each in calibrated._outside(*side, extent)}
    assert found == {"input_tokens": (250.0, (50.0, 200.0)), "tensor_parallel": (4.0, (2.0, 2.0)),
                     "total_parameters": (30.0, (10.0, 10.0))}
    assert calibrated._outside(side[0], side[0], extent) == ()


# --- fits and splits ----------------------------------------------------------------------------


@pytest.mark.parametrize(("z", "inside"), [
    ((NORMAL_90, -NORMAL_90), True), ((0.0, 1.2816), False), ((-1.2816, 0.0), False)])
def test_a_fit_lies_in_its_ranges_to_their_very_ends(z, inside):
    found = Calibration((KNOB, KNOB), np.array(z), np.eye(2), 0.1)
    assert found.inside is inside


ROWS = SimpleNamespace(rows={"concurrency": np.array([1.0, 4.0, 5.0, 6.0, 64.0]),
                             "input_tokens": np.array([1025.0, 1024.0, 8.0, 2048.0, 1024.5]),
                             "output_tokens": np.array([1.0, 2.0, 4.0, 8.0, 0.0])})


@pytest.mark.parametrize(("protocol", "fitted", "held"), [
    ("low-concurrency", [0, 1], [3, 4]), ("short-inputs", [1, 2], [0, 3, 4])])
def test_what_lies_on_the_limit_of_an_extrapolation_is_fitted(protocol, fitted, held):
    """Up to 4 requests, from 6 on; up to 1,024 tokens, and more."""
    (one, other), = protocols.PROTOCOLS[protocol](ROWS, np.arange(5))
    assert (one.tolist(), other.tolist()) == (fitted, held)


def test_rows_lie_beyond_others_by_the_factors_of_all_axes():
    """Of rows 1 and 2 from 4 to 5 requests, 8 to 1,024 tokens read and 2 to 4 written."""
    found = protocols.beyond(ROWS, np.array([1, 2]), np.array([0, 3, 2, 4]))
    assert found == pytest.approx([
        math.log(4) + math.log(1025 / 1024) + math.log(2),
        math.log(6 / 5) + math.log(2) + math.log(2), 0.0,
        math.log(64 / 5) + math.log(1024.5 / 1024) + math.log(2)])


@pytest.mark.parametrize(("system", "metric", "systems", "metrics"), [
    (None, None, None, validation.METRICS), (None, "tpot", None, ("tpot",)),
    ("s2", None, {"s2"}, validation.METRICS), ("s2", "ttft", {"s2"}, ("ttft",))])
def test_results_are_of_the_system_and_the_metric_that_are_asked(
        monkeypatch, system, metric, systems, metrics):
    monkeypatch.setattr(validation, "measured_systems", lambda: ["all"])
    monkeypatch.setattr(validation, "measured_system", lambda name: f"one {name}")
    monkeypatch.setattr(validation, "uncalibrated_results", lambda *asked: [asked])
    monkeypatch.setattr(validation, "calibrated_results", lambda *asked: [asked])
    assert validation.results(system, metric) == [
        (["all"] if system is None else ["one s2"], metrics), (systems, metrics)]
