"""Layouts and replicas chosen for several cases: hand calculations, and laws of regret."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import catalogue
from calc.capacity.options import Layout, decision_table, in_money
from calc.capacity.regret import at_ends, choose, regret
from calc.closed_form.evaluate import evaluate
from calc.costing.rates import stated
from calc.uncertainty.interval import interval

tables = hnp.arrays(float, st.tuples(st.integers(1, 5), st.integers(1, 6)),
                    elements=st.floats(0, 1e6))
LOAD = catalogue.load("loads", "azure-conversation")
SIXTH = max(LOAD.rates(1e6)) / 6  # of the busiest hour's rate
LAYOUTS = (Layout("narrow", 8, {"low": SIXTH, "central": 2 * SIXTH}),
           Layout("wide", 16, {"low": 3 * SIXTH, "central": 3 * SIXTH}))
NEVER = Layout("never", 8, {"low": 0.0, "central": SIXTH})


@given(tables)
@settings(max_examples=40)
def test_least_regret_and_least_cost_of_any_table(costs):
    regrets = regret(costs)
    assert (regrets >= 0).all()
    assert (regrets.min(axis=0) == 0).all()
    names = [f"c{row}" for row in range(costs.shape[0])]
    table = choose(names, [f"s{column}" for column in range(costs.shape[1])], costs)
    worst = regrets.max(axis=1)
    assert worst[names.index(table.least_regret)] == worst.min()
    assert costs.mean(axis=1)[names.index(table.least_cost)] == pytest.approx(
        costs.mean(axis=1).min())


def test_a_candidate_that_cannot_serve_is_not_chosen_where_another_can():
    table = choose(["a", "b"], ["x", "y"], np.array([[1.0, np.inf], [5.0, 5.0]]))
    assert (table.least_regret, table.least_cost, table.central) == ("b", "b", "a")
    assert table.as_json()["costs"][0] == [1.0, None]
    assert regret(np.array([[np.inf, 3.0], [np.inf, np.inf]])).tolist() == [[0, 0], [0, math.inf]]


def test_card_hours_of_a_day_are_those_of_the_replicas_that_each_case_needs():
    """Peaks of 6 and 9: of the narrow one 6, 3, 9 and 5 replicas, of the wide one 2, 2, 3, 3."""
    table = decision_table(LAYOUTS, LOAD, 1e6, {"more": 1.5, "central": 1.0})
    assert table.candidates == ("narrow", "wide")
    assert table.cases == ("more, low", "more, central", "central, low", "central, central")
    assert table.costs.tolist() == [[24 * 8 * count for count in (9, 5, 6, 3)],
                                    [24 * 16 * count for count in (3, 3, 2, 2)]]
    assert table.central == "narrow"  # 24 cards are fewer than 32
    assert table.least_regret == table.least_cost == "wide"
    # without a central case the first one counts: 3 slow replicas of 8 cards, or one of 16
    assert decision_table(LAYOUTS, LOAD, 1e6, {"less": 0.5, "more": 1.5}).central == "wide"


def test_replicas_bought_later_cost_more():
    """Of 3 or 6 replicas bought now: 3 + 2 × 3 of six, and six where three suffice."""
    table = decision_table(LAYOUTS[:1], LOAD, 1e6, {"central": 1.0}, late=2.0)
    assert table.candidates == ("3 × narrow", "6 × narrow")
    assert table.costs.tolist() == [[192 * 9, 192 * 3], [192 * 6, 192 * 6]]
    assert table.regrets.tolist() == [[192 * 3, 0], [0, 192 * 3]]
    assert in_money(table, stated("1..4 USD/h")) == [pytest.approx((1152, 576, 2304))] * 2


def test_slow_and_fast_are_the_ends_of_the_interval():
    scenario = catalogue.load_scenario("s2-910b1-awq")
    inputs = scenario.inputs()
    low, high = interval(inputs, scenario.knobs(), "mla", ["tpot"])["tpot"].ends
    cases = at_ends(scenario)
    paces = {name: float(evaluate(inputs | given, "mla")["tpot"]) for name, given in cases.items()}
    assert (paces["low"], paces["high"]) == pytest.approx((high, low), rel=1e-4)
    assert cases["central"] == {}
