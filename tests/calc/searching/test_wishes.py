"""What a goal asks of columns of deployments, by numbers that are worked out by hand."""

from types import SimpleNamespace as Made

import numpy as np
import pytest

from calc.layouts.choice import Choice, Row
from calc.searching.goal import Wishes, stated_limits
from calc.searching.load_goal import load_goal
from calc.uncertainty.amount import Amount

CHOICE = Choice("nvidia-h20", "hgx-h20", None, "fp8-block", 16, 8, 1, 2, 8, 0, 0, 1, 8192, 1, 0, 90,
                1024)
HOUR = Amount.exactly(0.5, "USD/s")  # a price that leaves plain numbers


def goal(*settings):
    return load_goal("r1-80-users-h20", ["limits.tpot=null", "limits.ttft=null", *settings])


def wishes(*settings, **more):
    return Wishes(**{"goal": goal(*settings), "objectives": {"cards": -1, "tpot": -1}, "own": 1,
                     "hours": {"nvidia-h20": HOUR}, "unpriced": ()} | more)


def columns(**more):
    return {name: np.array(values, float) for name, values in (
        {"devices": [8, 16], "throughput": [400, 3200]} | more).items()}


def test_energy_cost_and_throughput_of_a_card():
    """8 cards at 0.5 USD/s that give 400 tokens a second take 0.01 USD a token."""
    found = wishes().with_derived(columns(power=[4000, 8000]), "nvidia-h20")
    assert found["throughput_per_card"].tolist() == [50, 200]
    assert found["energy"].tolist() == [10, 2.5]
    assert found["cost"] == pytest.approx([1e4, 2.5e3])
    assert found["cards"].tolist() == [8, 16]


def test_a_card_without_a_price_costs_without_end_where_others_have_one():
    assert wishes().with_derived(columns(), "ascend-910b2")["cost"].tolist() == [np.inf] * 2
    none = wishes(hours={}).with_derived(columns(), "ascend-910b2")
    assert "cost" not in none
    assert "energy" not in none


def test_two_pools_are_paid_each_at_the_price_of_its_own_cards():
    """3 cards at 2 USD/s and 5 at 0.5 USD/s for 100 tokens a second."""
    dear = Amount.exactly(2.0, "USD/s")
    asked = wishes(hours={"nvidia-h20": HOUR, "nvidia-h200-sxm": dear})
    pair = columns(devices=[8], throughput=[100]) | {
        "prefill devices": np.array([3.0]), "decode devices": np.array([5.0])}
    assert asked.of_pair(pair, "nvidia-h200-sxm", "nvidia-h20")["cost"] == pytest.approx([8.5e4])
    assert asked.of_pair(pair, "nvidia-h20", "nvidia-h200-sxm")["cost"] == pytest.approx([11.5e4])
    assert asked.of_pair(pair, "ascend-910b2", "nvidia-h20")["cost"].tolist() == [np.inf]
    assert "cost" not in wishes(hours={}).of_pair(pair, "nvidia-h20", "nvidia-h20")


def test_what_serves_nothing_costs_without_end_and_is_over_by_any_factor():
    """A rate may be so small that none is left; nothing is said on the terminal of a reader."""
    asked, none = wishes("limits.throughput=100 token/s"), columns(devices=[8], throughput=[0])
    pools = none | {"prefill devices": np.array([3.0]), "decode devices": np.array([5.0])}
    with np.errstate(all="raise"):
        assert asked.of_pair(pools, "nvidia-h20", "nvidia-h20")["cost"].tolist() == [np.inf]
        assert asked.with_derived(none, "nvidia-h20")["cost"].tolist() == [np.inf]
        assert asked.excess(none)["throughput"].tolist() == [np.inf]


def test_at_best_a_request_takes_its_steps_after_the_first_token():
    """101 tokens at 20 ms take two seconds; 8 in flight give 404 tokens a second."""
    asked = wishes("demand.output_tokens=101 token")
    found = asked.at_best(columns(concurrency=[8, 16]), np.array([0.02, 0.01]), "nvidia-h20")
    assert found["e2e"] == pytest.approx([2, 1])
    assert found["throughput"] == pytest.approx([404, 1616])
    assert (found["ttft"].tolist(), found["energy"].tolist()) == ([0, 0], [0, 0])
    one = wishes("demand.output_tokens=1 token").at_best(
        columns(concurrency=[8, 16]), np.array([0.02, 0.01]), "nvidia-h20")
    assert one["e2e"] == pytest.approx([0.02, 0.01])


LIMITS = ("limits.tpot=50 ms", "limits.throughput=1000 token/s")


def test_how_far_a_deployment_is_over_its_limits():
    found = wishes(*LIMITS).excess(columns(tpot=[0.05, 0.06], throughput=[500, 1000]))
    assert found["tpot"] == pytest.approx([0, 0.2])
    assert found["throughput"] == pytest.approx([1, 0])


@pytest.mark.parametrize(("quantities", "over", "binds"), [
    ({"tpot": 0.0401, "throughput": 2000.0}, {}, "tpot"),  # within a fifth of it
    ({"tpot": 0.0399, "throughput": 2000.0}, {}, ""),
    ({"tpot": 0.01, "throughput": 1250.0}, {}, "throughput"),
    ({"tpot": 0.045, "throughput": 1050.0}, {}, "throughput"),
    ({"tpot": 0.01}, {}, ""), ({}, {}, ""),
    ({"short": 1e9, "tpot": 0.01}, {}, "memory_capacity"),
    ({"tpot": 0.1, "throughput": 100.0}, {"tpot": 1.0, "throughput": 9.0}, "throughput"),
])
def test_the_limit_that_binds(quantities, over, binds):
    assert wishes(*LIMITS).binds(Row(CHOICE, quantities, over=over)) == binds


@pytest.mark.parametrize(("times", "stated"), [
    ({"ttft": {"p90": 4.0, "p50": 1.0}}, {"ttft": 4.0}),
    ({"ttft": {"p90": 4.0, "mean": 3.0}}, {"ttft": 3.0}),
    ({"ttft": {"p99": 4.0, "mean": 5.0}, "tpot": {"p75": 0.06}}, {"ttft": 4.0, "tpot": 0.06}),
    ({"tpot": {"p50": 0.06}}, {}), ({}, {})])
def test_the_mean_is_held_against_percentiles_from_the_upper_quartile_on(times, stated):
    limits = Made(times=times, throughput=None, cost=None, power=5)
    assert stated_limits(Made(limits=limits)) == stated | {"power": 5.0}


def test_which_of_the_objectives_are_the_goal_s_and_what_is_bounded():
    assert wishes().chosen == {"cards": -1}
    assert wishes().bounded
    assert not wishes(objectives={"ttft": -1}).bounded
    assert wishes(objectives={"energy": -1}).powered
    assert wishes("limits.power=100 kW").powered
    assert not wishes().powered
