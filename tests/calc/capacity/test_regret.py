"""Least regret: laws of the table, and the cases of a deployment."""

import numpy as np
import pytest
from hypothesis import given
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


@given(tables)
def test_nobody_regrets_less_than_nothing_and_the_best_nothing(costs):
    found = regret(costs)
    assert (found >= 0).all()
    assert (found.min(axis=0) == 0).all()


@given(tables)
def test_the_choice_of_least_regret_has_it(costs):
    names = [f"c{row}" for row in range(costs.shape[0])]
    one = choose(names, [f"s{column}" for column in range(costs.shape[1])], costs)
    worst = one.regrets.max(axis=1)
    assert worst[names.index(one.least_regret)] == worst.min()
    assert costs.mean(axis=1)[names.index(one.least_cost)] == pytest.approx(
        costs.mean(axis=1).min())


def test_what_cannot_serve_is_never_chosen_where_another_can():
    one = choose(["a", "b"], ["x", "y"], np.array([[1.0, np.inf], [5.0, 5.0]]))
    assert one.least_regret == one.least_cost == "b"
    assert one.central == "a"
    assert one.as_json()["costs"][0] == [1.0, None]


def test_a_table_of_another_shape_is_refused():
    with pytest.raises(ValueError, match="expected one cost for each"):
        choose(["a"], ["x", "y"], np.ones((2, 1)))


def test_slow_and_fast_are_the_ends_of_the_interval():
    scenario = catalogue.load_scenario("s2-910b1-awq")
    inputs = scenario.inputs()
    low, high = interval(inputs, scenario.knobs(), "mla", ["tpot"])["tpot"].ends
    cases = at_ends(scenario)
    paces = {name: float(evaluate(inputs | given, "mla")["tpot"]) for name, given in cases.items()}
    assert paces["low"] == pytest.approx(high, rel=1e-4)
    assert paces["high"] == pytest.approx(low, rel=1e-4)
    assert cases["central"] == {}


class TestBuying:
    LAYOUTS = (Layout("narrow", 8, {"low": 1.0, "central": 2.0, "high": 2.5}),
               Layout("wide", 32, {"low": 6.0, "central": 9.0, "high": 10.0}))
    GROWTH = {"low": 0.7, "central": 1.0, "high": 1.5}  # noqa: RUF012

    def test_the_dearer_it_is_later_the_more_is_bought_now(self):
        load = catalogue.load("loads", "azure-conversation")
        counts = []
        for late in (1.0, 1.25, 2.0, 4.0):
            one = decision_table(self.LAYOUTS[:1], load, 1e6, self.GROWTH, late)
            counts.append(int(one.least_regret.split(" ")[0]))
        assert counts == sorted(counts)
        assert counts[0] < counts[-1]

    def test_without_a_later_price_each_case_runs_what_it_needs(self):
        load = catalogue.load("loads", "azure-conversation")
        one = decision_table(self.LAYOUTS, load, 1e6, self.GROWTH)
        assert one.costs.shape == (2, 9)
        peak = max(load.rates(1e6))
        row = one.costs[0].tolist()
        assert row[one.cases.index("central, central")] == 24 * 8 * np.ceil(peak / 2.0)

    def test_regret_in_money_is_that_in_hours_at_every_end_of_the_price(self):
        load = catalogue.load("loads", "azure-conversation")
        slow = Layout("slow", 8, {"low": 0.0, "central": 2.0, "high": 2.0})
        one = decision_table([*self.LAYOUTS, slow], load, 1e6, self.GROWTH)
        *priced, never = in_money(one, stated("1..4 USD/h"))
        assert never is None
        for row, ends in zip(one.regrets, priced, strict=False):
            assert ends == pytest.approx((2 * row.max(), row.max(), 4 * row.max()))
        assert max(ends[0] for ends in priced) > 0

    def test_a_layout_that_misses_in_a_case_costs_without_end_there(self):
        load = catalogue.load("loads", "azure-conversation")
        slow = Layout("slow", 8, {"low": 0.0, "central": 2.0, "high": 2.0})
        one = decision_table([*self.LAYOUTS, slow], load, 1e6, self.GROWTH)
        assert np.isinf(one.costs[2]).sum() == 3
        assert one.least_regret != "slow"
