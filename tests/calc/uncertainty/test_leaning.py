"""Ends of an interval, and what each uncertain input does to the median of a quantity."""

import math

import numpy as np
import pytest

import calc
import catalogue
from calc.uncertainty.interval import quantiles
from calc.uncertainty.leaning import (
    leaning,
    middle,
    of_deployment,
    percentile,
    position,
    sampled,
)
from catalogue.deployments.knobs import NORMAL_90, Knob
from catalogue.reading.values import Value

SHIFT = math.sqrt(2 / math.pi) / 2 / NORMAL_90  # half the mean size of a normal variable's move


def value(low, at, high, unit="1"):
    return Value(at, unit, str(at), "arithmetic", "assumed", low, high)


def moves(*pairs):
    return np.array(pairs, float)[:, :, None]


# --- ends of an interval ------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_the_ends_of_a_sum_are_those_of_its_draws(seed):
    """Between 5 and 15% of the draws lie beyond either end."""
    draw = np.random.default_rng(seed)
    count = int(draw.integers(2, 40))
    down, up = -draw.lognormal(-2.5, 1, count), draw.lognormal(-2.5, 1, count)
    low, high = quantiles(moves(*zip(down, up, strict=True)))
    scores = draw.standard_normal((50_000, count)) / NORMAL_90
    drawn = np.where(scores < 0, -scores * down, scores * up).sum(axis=1)
    assert 0.05 <= float((drawn < low[0]).mean()) <= 0.15
    assert 0.05 <= float((drawn > high[0]).mean()) <= 0.15


# --- one input ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("low", "high", "unit", "expected"), [
    (0.5, 0.9, "1", 0.75),  # odds of 1 and 9: of 3
    (0.2, 0.8, "1", 0.5), (0.2, 0.8, "s", 0.4), (0.25, 1.0, "1", 0.5), (1.0, 16.0, "1", 4.0),
    (0.3, 0.3, "1", 0.3), (0.0, 4.0, "s", 2.0), (0.0, 0.5, "1", 0.25), (-1.0, 4.0, "s", 1.5)])
def test_middle_of_a_range(low, high, unit, expected):
    """In logits of a share, in logarithms of another positive quantity, else as it is."""
    assert middle(value(low, low, high, unit)) == pytest.approx(expected)
    if low < high:
        assert position(value(low, expected, high, unit)) == pytest.approx(0.5)
        assert position(value(low, low, high, unit)) == 0
        assert position(value(low, high, high, unit)) == 1


@pytest.mark.parametrize(("samples", "at", "share"), [
    ([1.0, 2.0, 2.0, 3.0, 9.0], 2.0, 0.4), ([1.0, 2.0], 3.0, 1.0), ([1.0, 2.0], 0.0, 0.0),
    (5.0, 5.0, 0.5)])
def test_a_percentile_counts_half_of_the_ties(samples, at, share):
    assert percentile(np.array(samples), at) == share


# --- deployments --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def scenario():
    return catalogue.load_scenario("s2-910b1-awq")


def knob(scenario, name, low, high):
    """An input that may be so many times its value."""
    at = scenario.inputs()[name]
    return Knob(name, value(low * at, at, high * at, "B/s"), (name,))


def test_each_input_moves_the_ridge_point_alone(scenario):
    """Peak over bandwidth: the logarithm moves with the one and against the other."""
    knobs = [knob(scenario, "memory_bandwidth", 0.5, 2.0),
             knob(scenario, "attention_peak", 0.5, 3.0)]
    leans = leaning(scenario.inputs(), knobs, scenario.model.attention, ["ridge_point", "ttft"])
    peak, bandwidth = leans["ridge_point"]
    assert (peak.knob.name, bandwidth.knob.name) == ("attention_peak", "memory_bandwidth")
    assert (peak.down, peak.up, peak.middle) == pytest.approx(
        (math.log(0.5), math.log(3), math.log(1.5) / 2))
    assert peak.shift == pytest.approx(SHIFT * math.log(1.5))
    assert (bandwidth.down, bandwidth.up, bandwidth.shift) == pytest.approx(
        (math.log(2), -math.log(2), 0))


def test_draws_of_an_input_have_its_range_and_move_what_depends_on_it(scenario):
    inputs, attention = scenario.inputs(), scenario.model.attention
    knobs = [knob(scenario, "memory_bandwidth", 0.5, 3.0)]
    drawn = sampled(inputs, knobs, attention, 20_000)
    point = inputs["attention_peak"] / inputs["memory_bandwidth"]
    assert np.quantile(drawn["ridge_point"], [0.1, 0.5, 0.9]) == pytest.approx(
        [point / 3, point, 2 * point], rel=0.05)
    assert drawn["kv_bytes_per_token"] == calc.evaluate(inputs, attention)["kv_bytes_per_token"]
    gaps = [each for each in scenario.knobs() if each.name == "host_gap_per_step"]
    times = sampled(inputs, gaps, attention, 4000)["tpot"]
    assert percentile(times, float(calc.evaluate(inputs, attention)["tpot"])) == pytest.approx(
        0.5, abs=0.02)


@pytest.mark.parametrize(("name", "names"), [
    ("s2-910b1-awq", {"tpot", "output_throughput", "ttft", "e2e"}),
    ("s0-scenario-3-decode", {"tpot", "output_throughput"})])
def test_the_three_inputs_that_shift_a_quantity_most(name, names):
    scenario = catalogue.load_scenario(name)
    found = of_deployment(scenario)
    assert set(found) == names
    inputs, attention = scenario.inputs(), scenario.model.attention
    expected = leaning(inputs, scenario.knobs(), attention, ["tpot"])["tpot"][:3]
    assert [(each["name"], each["shift"], each["position"]) for each in found["tpot"]["knobs"]] == [
        (lean.knob.name, lean.shift, position(lean.knob.value)) for lean in expected]
    assert 0 < found["tpot"]["percentile"] < 1
