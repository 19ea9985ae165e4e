"""Layouts and replicas chosen by hand-made tables: ties, what binds, and what is found later."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from calc.capacity import growth, regret
from calc.capacity.growth import sizes_of
from calc.capacity.options import Layout, _needed, decision_table, in_money
from calc.capacity.regret import choose
from calc.capacity.replicas import Limits
from calc.capacity.tables import is_wide, requests_of
from calc.uncertainty.amount import Amount

LAYOUTS = (Layout("narrow", 8, {"low": 1.0, "central": 2.0}),
           Layout("wide", 16, {"low": 3.0, "central": 3.0}))
LOAD = SimpleNamespace(rates=lambda requests: (1.0, requests, 2.0))


@pytest.mark.parametrize(("rate", "most", "needed"), [
    (0.0, 2.0, 1), (2.0, 2.0, 1), (2.0 * (1 + 1e-9), 2.0, 1), (2.001, 2.0, 2), (4.0, 2.0, 2),
    (1.0, 0.0, math.inf)])
def test_a_rate_needs_whole_replicas_and_at_least_one(rate, most, needed):
    assert _needed(rate, most) == needed


def test_cards_hours_of_a_day_are_those_of_as_many_replicas_as_each_case_needs():
    """Peaks of 6 and 9: of the narrow one 6, 3, 9 and 5 replicas, of the wide one 2, 2, 3, 3."""
    found = decision_table(LAYOUTS, LOAD, 6.0, {"more": 1.5, "central": 1.0})
    assert found.candidates == ("narrow", "wide")
    assert found.cases == ("more, low", "more, central", "central, low", "central, central")
    assert found.costs.tolist() == [[24 * 8 * count for count in (9, 5, 6, 3)],
                                    [24 * 16 * count for count in (3, 3, 2, 2)]]
    assert found.central == "narrow"  # 24 cards are fewer than 32
    assert found.least_regret == found.least_cost == "wide"


def test_without_a_central_case_the_first_is_taken_as_expected():
    found = decision_table(LAYOUTS, LOAD, 6.0, {"less": 0.5, "more": 1.5})
    assert found.central == "wide"  # 3 slow replicas of 8 cards are more than one of 16


def test_what_is_needed_beyond_what_is_bought_costs_as_much_more_later():
    """Of 3 or 6 replicas bought now: 3 + 2 × 3 of six, and six where three suffice."""
    found = decision_table(LAYOUTS[:1], LOAD, 6.0, {"central": 1.0}, late=2.0)
    assert found.candidates == ("3 × narrow", "6 × narrow")
    assert found.costs.tolist() == [[192 * 9, 192 * 3], [192 * 6, 192 * 6]]
    assert found.regrets.tolist() == [[192 * 3, 0], [0, 192 * 3]]
    assert in_money(found, Amount(2.0 / 3600, 1.0 / 3600, 4.0 / 3600, "USD/s")) == [
        pytest.approx((1152, 576, 2304))] * 2


def test_the_expected_case_is_the_one_that_is_named():
    costs = np.array([[1.0, 9.0, 2.0], [3.0, 4.0, 2.0]])
    found = choose(["narrow", "wide"], ["a", "b", "c"], costs, central=1)
    assert (found.central, found.least_regret, found.least_cost) == ("wide", "wide", "wide")
    assert choose(["narrow", "wide"], ["a", "b", "c"], costs).central == "narrow"
    assert choose(["narrow", "wide"], ["a", "b", "c"], costs, central=2).central == "narrow"
    for names, cases in (([], ["a"]), (["a"], [])):
        with pytest.raises(ValueError, match="expected one cost for each"):
            choose(names, cases, np.ones((len(names), len(cases))))


def test_where_nobody_can_serve_nobody_regrets():
    assert regret.regret(np.array([[np.inf, 3.0], [np.inf, np.inf]])).tolist() == [
        [0, 0], [0, math.inf]]


# --- what binds ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("ttft", "tpot", "room", "binds"), [
    (1.0, 0.05, True, "max_num_seqs"), (1.0, 0.05, False, "memory_capacity"),
    (1.1, 0.05, False, "ttft"), (1.0, 0.051, True, "tpot"), (1.1, 0.051, False, "tpot")])
def test_what_the_next_number_of_requests_breaks_binds(ttft, tpot, room, binds):
    """What lies exactly on a limit holds it."""
    found = {"steady_ttft": np.array([[9.0, 9.0, 9.0], [0.5, 0.5, ttft]]),
             "steady_tpot": np.array([[9.0, 9.0, 9.0], [0.01, 0.01, tpot]])}
    rooms = np.array([[False, False, False], [True, True, room]])
    limits = Limits(1.0, 0.05, None)
    assert growth._binding(found, rooms, 1, 1, limits) == binds
    assert growth._binding(found, rooms, 1, 2, limits) == "max_num_seqs"


def test_sizes_that_are_tried_are_whole_servers_up_to_the_most():
    assert sizes_of(8)[-1] == sizes_of(8, 384)[-1] == 384
    assert sizes_of(16, 96) == (16, 32, 48, 64, 96)
    assert sizes_of(16, 95) == (16, 32, 48, 64)
    assert sizes_of(48) == (48, 96, 192, 384)


def test_as_many_requests_are_tried_on_each_rank_from_one_on():
    counts = requests_of([((8, 1, 1, 1), (0, 1)), ((1, 1, 4, 4), (0, 1))])
    assert counts[1].tolist() == (4 * counts[0]).tolist()
    assert counts[0, 0] == 1
    assert (np.diff(counts[0]) >= 1).all()
    assert (counts[0] == counts[0].round()).all()


@pytest.mark.parametrize(("expert", "wide"), [(1, False), (8, False), (9, True)])
def test_experts_are_wide_on_more_cards_than_a_server_has(expert, wide):
    scenario = SimpleNamespace(node=SimpleNamespace(devices_per_node=SimpleNamespace(value=8)))
    assert is_wide(scenario, (1, 1, 9, expert)) is wide


@pytest.mark.parametrize("narrow", [False, True])
def test_layouts_of_any_mixture_are_tried_on_so_many_cards(monkeypatch, narrow):
    asked = []
    monkeypatch.setattr(growth, "layouts", lambda *given, **more: asked.append((given, more)) or [])
    monkeypatch.setattr(growth, "ways", lambda scenario, cuts: cuts)
    assert growth.best("plan", 24, Limits(2.0, 0.05, None), narrow) is None
    assert asked == [(("plan", 24, narrow), {"mixed": True})]
