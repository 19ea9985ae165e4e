"""Ends of an interval beside those of draws."""


import numpy as np
import pytest
from _sampled import sampled

import calc
import catalogue
from calc.uncertainty.interval import quantiles
from catalogue.deployments.physics_inputs import NORMAL_90, Knob
from catalogue.reading.values import Value


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


# --- deployments --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def scenario():
    return catalogue.load_scenario("s2-910b1-awq")


def knob(scenario, name, low, high):
    """An input that may be so many times its value."""
    at = scenario.inputs()[name]
    return Knob(name, value(low * at, at, high * at, "B/s"), (name,))


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
    assert (times < float(calc.evaluate(inputs, attention)["tpot"])).mean() == pytest.approx(
        0.5, abs=0.02)
