"""Owning, renting, renting by the hour and an API: costs, mixtures and crossovers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import catalogue
from calc.costing.ways import (
    api_request,
    best_base,
    crossover_of_ways,
    crossover_utilisation,
    units_needed,
    utilisation,
    ways,
)

PRICES = st.floats(0.1, 10)
HOURS = st.lists(st.integers(0, 9), min_size=1, max_size=24)


@given(HOURS, PRICES, PRICES)
def test_the_best_base_is_the_cheapest_of_all_bases(hours, always, by_hour):
    needed = np.array(hours)
    costs = [always * base + by_hour * np.maximum(needed - base, 0).mean() for base in range(11)]
    assert costs[best_base(needed, always, by_hour)] == pytest.approx(min(costs))


@pytest.mark.parametrize(("needed", "base"), [
    ([1, 2], 1), ([2, 2], 2), ([0, 0], 0), ([0, 1], 0), ([1, 1, 5, 0, 0], 1), ([3, 3, 0], 3)])
def test_of_bases_of_equal_cost_the_smaller_is_best(needed, base):
    """All day at half the price by the hour: needed in more than half of the hours."""
    assert best_base(np.array(needed), 1.0, 2.0) == base


def test_cost_of_every_way():
    """Of 1, 4, 1 and 2: by the hour 2 on average; two all day and 2 more in a quarter of hours."""
    costs = ways(np.array([1, 4, 1, 2]), own=3.0, always=7.0, by_hour=8.0)
    assert costs == pytest.approx({
        "own": 12.0, "rent-always": 28.0, "rent-by-hour": 16.0,
        "own and by the hour": 6 + 8 * 0.5, "rent and by the hour": 7 + 8 * 1.0})
    assert ways(np.array([1, 2]), 3.0, None, 8.0).keys() == {
        "own", "rent-by-hour", "own and by the hour"}
    assert ways(np.array([1, 2]), None, 1.0, None).keys() == {"rent-always"}


@given(st.floats(0.1, 5), st.floats(5.1, 20), st.floats(0.01, 1))
def test_owning_beats_renting_above_the_crossover(own, by_hour, used):
    hours = np.arange(1000) < round(used * 1000)
    costs, crossover = ways(hours, own, None, by_hour), crossover_of_ways(own, by_hour)
    if abs(hours.mean() - crossover) > 1e-9:
        assert (costs["own"] < costs["rent-by-hour"]) == (hours.mean() > crossover)


def test_an_api_that_costs_no_more_than_the_energy_is_never_beaten():
    shares = crossover_utilisation(1.0, 10.0, np.array([0.5, 0.25, 0.2, 0.1]), 0.2)
    assert shares.tolist() == pytest.approx([1 / 3, 2.0, math.inf, math.inf])
    assert crossover_utilisation(1.0, 1.0, 0.1, 0.2) == math.inf


def test_price_of_a_request_with_and_without_a_cached_part():
    assert api_request(2.0, 3.0, 10, 7, 0.25, 1.0) == 7.5 * 2 + 2.5 * 1 + 21
    assert api_request(2.0, 3.0, 10, 7, 0.25) == api_request(2.0, 3.0, 10, 7) == 41


def test_hours_need_whole_deployments_and_the_excess_is_not_served():
    assert units_needed([0.0, 4.0, 4.001, 8.0, 8 * (1 + 1e-14)], 4.0).tolist() == [0, 1, 2, 2, 2]
    assert utilisation([2.0, 6.0, 20.0], 4.0, 2) == pytest.approx((2 + 6 + 8) / 3 / 8)
    assert utilisation([2.0], 4.0, 0) == 0
    load = catalogue.load("loads", "azure-conversation")
    rates = load.rates(1e6)
    assert units_needed(rates, max(rates)).max() == 1
    assert utilisation(rates, max(rates), 1) == pytest.approx(1 / load.peak)
