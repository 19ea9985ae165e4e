"""Risks of S1's plan: probabilities are those of the interval, costs move as they must."""

import math

import numpy as np
import pytest

import catalogue
from calc.auditing.costs import PLAN, RUNS
from calc.sensitivity.information import measured
from calc.uncertainty.amount import Amount
from notebooks.pages.engineering import risk


@pytest.mark.parametrize(("stage", "users"), [("2", 80), ("3", 320)])
def test_the_draws_and_the_interval_say_the_same(stage: str, users: int) -> None:
    of, found = risk.forecast(stage).throughput, risk.rates(users, stage)
    low, high = np.quantile(found, [0.1, 0.9])
    assert low == pytest.approx(of.low, rel=0.125)
    assert high == pytest.approx(of.high, rel=0.125)


def test_what_captured_graphs_alone_make_of_the_plan_is_the_rate_that_cost_names() -> None:
    """Why the chapter's rate is not that of plan C: the production script starts without them."""
    here = risk.stage("3").inputs()
    there = catalogue.load_scenario(PLAN, overrides=list(RUNS)).inputs()
    assert {name for name in here if here[name] != there[name]} == {"captured"}


def test_more_is_reached_with_more_users_and_less_surely() -> None:
    for users in (80, 320):
        shares = [risk.reached(users, goal) for goal in (100.0, 1000.0, 2000.0, 1e6)]
        assert shares == sorted(shares, reverse=True)
        assert shares[0] > 0.999
        assert shares[-1] == 0
    assert risk.reached(320, 2000.0) > risk.reached(80, 2000.0)


def test_what_the_plan_asks_for_is_reached_in_no_draw() -> None:
    _, alert, plan = risk.goals()
    assert risk.reached(risk.MOST_USERS, alert) == risk.reached(risk.MOST_USERS, plan) == 0


def test_every_risk_costs_and_the_missed_throughput_outweighs_all_others_together() -> None:
    found = risk.factors()
    assert all(factor > 1 for factor in found.values())
    others = math.prod(factor for name, factor in found.items() if name != "S1-264")
    assert found["S1-264"] > others


def test_a_failure_within_a_year_is_that_of_four_servers() -> None:
    one = risk.fleet()
    assert one.groups == 1
    assert one.servers == 4
    year = risk.failing()
    assert 1 - year == pytest.approx(math.exp(-4 * risk.YEAR / one.between_failures))
    assert risk.failing(2.0) == pytest.approx(1 - (1 - year) ** 2)


def test_dearer_servers_and_shorter_use_cost_more_and_the_same_costs_the_same() -> None:
    same, server = risk.server(), risk.server()
    assert risk.dearer(server=Amount.exactly(same.value)) == pytest.approx(1)
    costs = [risk.dearer(server=Amount.exactly(factor * server.value)) for factor in (1, 1.2, 1.5)]
    assert costs == sorted(costs)
    assert costs[1] < 1.2  # the rest of the bill does not grow
    years = [risk.dearer(years=Amount.exactly(each)) for each in (3.0, 2.75, 2.0)]
    assert years == sorted(years)
    assert years[0] == pytest.approx(1)
    assert years[-1] < 3 / 2  # what a year costs besides does not double


def test_the_dearer_a_card_is_later_the_more_are_bought_now_and_the_more_knowing_is_worth() -> None:
    found = [risk.bought(late) for late in risk.LATER]
    cards = [int(each.options[each.taken].split()[0]) for each in found]
    assert cards == sorted(cards)
    perfect = [each.perfect for each in found]
    assert perfect == sorted(perfect)
    for each in found:
        assert all(worth.value <= each.perfect for worth in each.worths)
        assert measured(each.worths[0].name)


def test_the_rows_of_the_matrix_are_those_of_the_document_with_their_claims() -> None:
    found = risk.risks()
    assert set(found) == set(risk.factors())
    for name, row in found.items():
        listed = risk.claim(name).case.listed.claim
        assert (row.line, row.section) == (listed.line, listed.section)
