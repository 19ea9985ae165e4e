"""Where values lie in what their ranges give: laws of one input, and of a whole deployment."""

import dataclasses
import json
import math

import numpy as np
import pytest

import calc
import catalogue
from calc.commands.main import main
from calc.uncertainty.interval import quantiles
from calc.uncertainty.leaning import leaning, middle, percentile, position, sampled
from catalogue.deployments.knobs import NORMAL_90
from catalogue.reading.values import Value

SHARES = [(0.5, 0.6, 0.9), (0.1, 0.2, 0.95), (0.5, 0.8, 0.81)]


def value(low, at, high, unit="1"):
    return Value(at, unit, str(at), "made up", "assumed", low, high)


def moves(*pairs):
    return np.array(pairs, float)[:, :, None]


# --- ends of an interval ------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 10])
def test_moves_that_are_alike_on_both_sides_add_as_squares(count):
    low, _, high = quantiles(moves(*[(-0.2, 0.2)] * count))
    assert (-low[0], high[0]) == pytest.approx([0.2 * math.sqrt(count)] * 2)


@pytest.mark.parametrize(("down", "up"), [(-0.1, 0.2), (0.0, 0.3), (-0.3, 0.1), (-0.1, 0.0)])
def test_one_move_has_the_ends_that_it_has(down, up):
    low, _, high = quantiles(moves((down, up)))
    assert low[0] == pytest.approx(down, abs=0.15 * (up - down))
    assert high[0] == pytest.approx(up, abs=0.15 * (up - down))
    assert down <= low[0] <= 0 <= high[0] <= up


def test_many_moves_have_the_points_of_their_sampled_sum():
    rng = np.random.default_rng(1)
    pairs = np.stack([-rng.uniform(0, 0.2, 30), rng.uniform(0, 0.3, 30)], axis=1)
    scores = rng.standard_normal((30, 100_000)) / NORMAL_90
    sums = (np.where(scores > 0, pairs[:, 1:], -pairs[:, :1]) * scores).sum(axis=0)
    low, _, high = quantiles(moves(*pairs))
    assert (low[0], high[0]) == pytest.approx(tuple(np.quantile(sums, [0.1, 0.9])), rel=0.02)


def test_upside_down_it_is_the_same():
    pairs = moves((-0.1, 0.3), (-0.05, 0.2), (-0.3, 0.1))
    low, _, high = quantiles(pairs)
    turned_low, _, turned_high = quantiles(-pairs[:, ::-1])
    assert (low, high) == (pytest.approx(-turned_high), pytest.approx(-turned_low))


def test_what_nothing_moves_has_no_interval():
    assert [end[0] for end in quantiles(moves((0, 0)))] == [0, 0, 0]


# --- what leans ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("low", "at", "high"), SHARES)
def test_a_position_is_that_between_the_ends(low, at, high):
    assert position(value(low, low, high)) == 0
    assert position(value(low, high, high)) == 1
    assert 0 < position(value(low, at, high)) < 1
    assert position(value(low, middle(value(low, at, high)), high)) == pytest.approx(0.5)


def test_a_range_from_zero_is_taken_as_it_is():
    assert middle(value(0, 1, 4, "s")) == 2
    assert middle(value(1, 1, 4, "s")) == 2  # in logarithms


def test_one_input_leaves_the_value_at_the_median():
    scenario = catalogue.load_scenario("s2-910b1-awq")
    inputs, attention = scenario.inputs(), scenario.model.attention
    (gap,) = (knob for knob in scenario.knobs() if knob.name == "host_gap_per_step")
    drawn = sampled(inputs, [gap], attention, 4_000)["tpot"]
    assert percentile(drawn, float(calc.evaluate(inputs, attention)["tpot"])) == pytest.approx(
        0.5, abs=0.02)


def test_an_input_that_reaches_farther_up_shifts_what_grows_with_it_upwards():
    scenario = catalogue.load_scenario("s2-910b1-awq")
    (gap,) = (knob for knob in scenario.knobs() if knob.name == "host_gap_per_step")
    far = dataclasses.replace(gap, value=dataclasses.replace(gap.value, high=10 * gap.value.high))
    near, farther = (leaning(scenario.inputs(), [knob], scenario.model.attention,
                             ["tpot", "output_throughput"]) for knob in (gap, far))
    assert farther["tpot"][0].shift > near["tpot"][0].shift
    assert farther["output_throughput"][0].shift < near["output_throughput"][0].shift


def test_the_command_tells_of_each_quantity(capsys):
    assert main(["discrepancy", "--leaning", "s2-910b1-awq", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["leaning"]["s2-910b1-awq"]
    assert found.keys() == {"tpot", "output_throughput", "ttft", "e2e"}
    for answer in found.values():
        assert 0 < answer["percentile"] < 1
        assert len(answer["knobs"]) == 3


@pytest.mark.parametrize("seed", range(12))
def test_the_median_of_a_sum_is_that_of_its_draws(seed):
    """Between 45 and 55% of the draws lie below it, also where one move outweighs the others."""
    draw = np.random.default_rng(seed)
    count = int(draw.integers(1, 40))
    down, up = -draw.lognormal(-2.5, 1, count), draw.lognormal(-2.5, 1, count)
    if seed % 2:
        down[0], up[0] = -0.13, 1.1  # far to one side only
    _, middle, _ = quantiles(moves(*zip(down, up, strict=True)))
    scores = draw.standard_normal((50_000, count)) / NORMAL_90
    drawn = np.where(scores < 0, -scores * down, scores * up).sum(axis=1)
    assert 0.45 <= float((drawn < middle[0]).mean()) <= 0.55
