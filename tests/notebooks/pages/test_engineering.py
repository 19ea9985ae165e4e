"""Chapters on engineering: both sides of a break-even are equal, promises are kept exactly."""

from __future__ import annotations

import numpy as np
import pytest

from calc.capacity.day import Limits
from calc.capacity.growth import OnePool, Pairing
from notebooks.pages.engineering import (
    experts,
    layouts,
    precision,
    risk,
    separation,
)
from notebooks.pages.engineering.layouts import LIMIT

B2, H20 = "ascend-910b2", "nvidia-h20"


# --- experts -----------------------------------------------------------------------------------


@pytest.mark.parametrize("case", experts.CASES[:2])
def test_expert_parallel_rate_is_the_largest_within_the_promise(case):
    for width in (16, 64):
        found = {mode: experts.wide(case, width, mode) for mode in experts.MODES}
        for each in found.values():
            assert each.paces[each.best(LIMIT)] <= LIMIT
            assert each.rates[each.paces <= LIMIT].max() == each.rate(LIMIT)
            rates = [each.rate(limit) for limit in (0.02, 0.05, 0.2)]
            assert rates == sorted(rates)
        assert found[experts.PLACED].rate(LIMIT) >= found[experts.RANDOM].rate(LIMIT)


def test_wide_and_narrow_expert_parallelism_turn_at_equal_rates():
    case = experts.CASES[0]
    turn = experts.turn(case, 32).turns[-1]
    gains = [experts.wide(case, 32, experts.SPARE, limit=limit).rate(limit)
             / experts.narrow(case).rate(limit) for limit in (0.97 * turn.at, 1.03 * turn.at)]
    assert gains[0] < 1 < gains[1]


# --- precision and pools -----------------------------------------------------------------------


@pytest.mark.parametrize("device", [B2, H20])
def test_fewest_servers_keep_the_promise_and_fewer_do_not(device):
    for weights in precision.WEIGHTS:
        found = precision.fewest_servers(device, weights, precision.MAIN)
        if found is None or not found.within_limit:
            continue
        for servers in range(precision.FEWEST, found.plan.cards // 8):
            for stages in {1, servers}:
                fewer = layouts.plan(device, weights, servers, precision.MAIN, pipeline=stages)
                assert (not layouts.holds(fewer, precision.MAIN)
                        or fewer.median(precision.MAIN, layouts.PACE) > LIMIT)


@pytest.mark.parametrize("case", separation.CASES[:2])
def test_one_pool_and_two_are_those_of_capacity_planning(case):
    made = separation.pool_comparison(*case[:2])
    cards, limits = 2 * made.per_node, Limits(separation.FIRST, LIMIT, None)
    assert made.one(2, LIMIT) == OnePool(made.scenario, [cards]).best(limits)[cards]
    assert made.two(2, LIMIT) == Pairing(made.scenario, [
        count * made.per_node for count in separation.SERVERS_TRIED]).best(limits).get(cards)
    for pools in (made.one(2, LIMIT), made.two(2, LIMIT)):
        assert pools is None or (pools.tpot <= LIMIT
                                 and pools.ttft <= separation.FIRST * (1 + 1e-9))


# --- risk and advice ---------------------------------------------------------------------------


@pytest.mark.parametrize(("stage", "users"), [("2", 80), ("3", 320)])
def test_sampled_rates_have_the_interval_of_the_forecast(stage, users):
    forecast, rates = risk.forecast(stage).throughput, risk.rates(users)
    assert np.quantile(rates, [0.1, 0.9]) == pytest.approx([forecast.low, forecast.high], rel=0.125)
    shares = [risk.reached(users, goal) for goal in (100.0, 1000.0, 2000.0, 1e6)]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > 0.999
    assert shares[-1] == 0
