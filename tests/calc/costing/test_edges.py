"""What lies on a limit of money: ties, nothing earned, prices both ways, never paid back."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from calc.costing import answer
from calc.costing.answer import Cost, CostOptions
from calc.costing.owning import annuity, net_present_value, payback, return_on, server_price
from calc.costing.rates import card_hour, converted, stated
from calc.costing.ways import (
    best_base,
    crossover_of_ways,
    crossover_utilisation,
    units_needed,
    utilisation,
    ways,
)
from calc.uncertainty.amount import Amount
from catalogue import ParamsError
from catalogue.reading.values import Value


def value(at, unit="USD/token", low=None, high=None):
    return Value(at, unit, str(at), "a list", "vendor", at if low is None else low,
                 at if high is None else high)


# --- through time -------------------------------------------------------------------------------


@pytest.mark.parametrize(("surplus", "discount", "years"), [
    (50.0, 0.0, 2.0), (10.0, 0.1, math.inf), (10.1, 0.1, math.log(101) / math.log(1.1)),
    (50.0, 0.1, -math.log(0.8) / math.log(1.1)), (0.0, 0.0, math.inf), (0.0, 0.1, math.inf),
    (-1.0, 0.1, math.inf)])
def test_a_hundred_is_paid_back_where_more_is_earned_than_its_interest(surplus, discount, years):
    assert float(payback(100.0, surplus, discount)) == pytest.approx(years)
    assert payback(np.full(2, 100.0), np.array([surplus, 50.0]), discount)[0] == pytest.approx(
        years)


def test_a_worth_and_a_return_by_hand():
    """Two years at 10%: 1/1.1 + 1/1.21 of 300, less 200; three years of 50 on 100."""
    assert float(annuity(0.1, 2)) == pytest.approx(1 / 1.1 + 1 / 1.21)
    assert annuity(np.array([0.0, 0.1]), 2).tolist() == pytest.approx([2, 1 / 1.1 + 1 / 1.21])
    worth = net_present_value(SimpleNamespace(present=200.0), 300.0, 0.1, 2)
    assert float(worth) == pytest.approx(300 / 1.1 + 300 / 1.21 - 200)
    assert return_on(100.0, 50.0, 3) == pytest.approx(0.5)


@pytest.mark.parametrize(("share", "years"), [(0.5, 2.0), (0.0, math.inf), (-0.1, math.inf)])
def test_what_a_year_pays_back_upside_down_is_how_long_it_takes(share, years):
    found = answer._inverse(Amount(share, share - 0.25, share + 0.3, central=share / 2))
    assert found.value == years
    assert found.low == pytest.approx(1 / (share + 0.3))
    assert found.high == (4.0 if share == 0.5 else math.inf)
    assert found.central == 2 * years


# --- ways ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("needed", "base"), [
    ([1, 2], 1), ([2, 2], 2), ([0, 0], 0), ([0, 1], 0), ([1, 1, 5, 0, 0], 1), ([3, 3, 0], 3)])
def test_of_bases_that_cost_alike_it_is_the_smaller(needed, base):
    """All day at half of the price by the hour: needed in more than half of the hours."""
    assert best_base(np.array(needed), 1.0, 2.0) == base


def test_every_way_by_hand():
    """Of 1, 4, 1 and 2: by the hour 2 on average; two all day with 2 in a quarter of the hours."""
    found = ways(np.array([1, 4, 1, 2]), own=3.0, always=7.0, by_hour=8.0)
    assert found == pytest.approx({
        "own": 12.0, "rent-always": 28.0, "rent-by-hour": 16.0,
        "own and by the hour": 6 + 8 * 0.5, "rent and by the hour": 7 + 8 * 1.0})
    assert crossover_of_ways(3.0, 8.0) == 0.375
    assert ways(np.array([1, 2]), 3.0, None, 8.0).keys() == {
        "own", "rent-by-hour", "own and by the hour"}


def test_hours_need_whole_deployments_and_what_is_more_is_not_served():
    assert units_needed([0.0, 4.0, 4.001, 8.0, 8 * (1 + 1e-14)], 4.0).tolist() == [0, 1, 2, 2, 2]
    assert utilisation([2.0, 6.0, 20.0], 4.0, 2) == pytest.approx((2 + 6 + 8) / 3 / 8)
    assert utilisation([2.0], 4.0, 0) == 0


def test_a_service_that_takes_no_more_than_the_energy_is_never_beaten():
    found = crossover_utilisation(1.0, 10.0, np.array([0.5, 0.25, 0.2, 0.1]), 0.2)
    assert found.tolist() == pytest.approx([1 / 3, 2.0, math.inf, math.inf])


# --- prices -------------------------------------------------------------------------------------


def test_a_price_may_have_ends_that_are_the_same_and_none_of_nothing():
    assert stated("2..2 USD/h").per("USD/h") == pytest.approx((2, 2, 2))
    found = stated("20..80 CNY", "USD")
    assert (found.points, found.unit, found.kind) == ((40.0, 20.0, 80.0), "CNY", "assumed")
    for text in ("0..1 USD/h", "2..1.9 USD/h", "1..2..3 USD/h"):
        with pytest.raises(ParamsError, match="is out of range"):
            stated(text)


RATE = value(7.0, "CNY/USD", 5.0, 10.0)


def test_the_dearest_dollar_makes_most_yuan_and_the_cheapest_most_dollars():
    money = Amount(70.0, 35.0, 210.0, "USD/s", central=14.0)
    yuan = converted(money, "CNY", RATE)
    assert (yuan.points, yuan.central, yuan.unit) == ((490.0, 175.0, 2100.0), 98.0, "CNY/s")
    dollars = converted(Amount(70.0, 35.0, 210.0, "CNY/s", central=14.0), "USD", RATE)
    assert dollars.points == pytest.approx((10.0, 3.5, 42.0))
    assert (dollars.central, dollars.unit) == (pytest.approx(2.0), "USD/s")
    assert converted(money, "USD", None) is money


def test_an_hour_on_demand_is_that_of_the_card_where_no_prices_have_one():
    card = SimpleNamespace(price=SimpleNamespace(usd_rent=value(3.0, "USD/s")))
    bare, own = (SimpleNamespace(hour=hour) for hour in (None, SimpleNamespace(
        own=value(1.0, "USD/s"), rent_always=None, rent_by_hour=None)))
    for prices in (bare, own):
        assert card_hour(card, "rent-by-hour", prices).value == 3
        assert card_hour(card, "rent-always", prices) is None
        assert card_hour(SimpleNamespace(price=None), "rent-by-hour", prices) is None
    assert card_hour(card, "own", own).value == 1
    assert card_hour(card, "own", bare) is None
    with pytest.raises(ParamsError, match="there is no way 'borrow' of having a card"):
        card_hour(card, "borrow", own)


def server(node=None, card=None, owning=None, currency="USD"):
    prices = SimpleNamespace(exchange=RATE, owning=None if owning is None else (
        SimpleNamespace(**{"server": None, "chassis": None} | owning)))
    return server_price(SimpleNamespace(price=card), SimpleNamespace(
        price=node, devices_per_node=SimpleNamespace(value=4)), prices, currency)


def test_a_server_s_price_is_the_reader_s_its_own_or_that_of_its_parts():
    both = SimpleNamespace(usd=value(9.0, "USD"), cny=value(50.0, "CNY"))
    yuan = SimpleNamespace(usd=None, cny=value(70.0, "CNY"))
    dollars = value(100.0, "USD", 90.0, 120.0)
    assert server(both, both, {"server": dollars}).points == (100.0, 90.0, 120.0)
    assert server(both).value == 9
    assert server(both, currency="CNY").value == 50  # no need to convert
    assert server(yuan).points == pytest.approx((10.0, 7.0, 14.0))
    parts = server(None, both, {"chassis": dollars})
    assert (parts.points, parts.unit, parts.kind) == ((136.0, 126.0, 156.0), "USD", "derived")
    for missing in (server(None, both), server(None, None, {"chassis": dollars}),
                    server(None, both, {})):
        assert missing is None


def test_a_request_finds_a_part_of_its_prompt_in_the_cache_of_a_service():
    """A quarter of 100 tokens at 1, the rest at 2; 10 tokens at 5; a dollar is 7 yuan."""
    inputs = {"input_tokens": 100.0, "output_tokens": 10.0, "prefix_hit_share": 0.25}
    prices = SimpleNamespace(exchange=RATE)
    sold = SimpleNamespace(input=value(2.0), output=value(5.0), cached_input=value(1.0))
    assert answer.price_of_request(inputs, sold, prices, "USD") == 75 * 2 + 25 + 50
    assert answer.price_of_request(inputs, sold, prices, "CNY") == 7 * 225
    sold.cached_input = None
    assert answer.price_of_request(inputs, sold, prices, "USD") == 250


def test_a_list_that_takes_twice_as_much_is_beaten_at_half_of_the_use(monkeypatch):
    monkeypatch.setattr(answer, "price_of_request", lambda inputs, sold, prices, currency: sold)
    found = Cost("USD", None, None, {"crossover": Amount(0.4, 0.2, 0.8)}, None)
    scenario = SimpleNamespace(inputs=dict)
    service = SimpleNamespace(sold={"dear": 6.0, "own": 3.0})
    told = answer.crossovers(scenario, found, CostOptions(sold=3.0), service, None)
    assert {name: each.points for name, each in told.items()} == {
        "dear": (0.2, 0.1, 0.4), "own": (0.4, 0.2, 0.8)}
    assert answer.crossovers(scenario, found, CostOptions(), service, None) == {}
    nothing = Cost("USD", None, None, {}, None)
    assert answer.crossovers(scenario, nothing, CostOptions(sold=3.0), service, None) == {}


def test_the_cost_of_parts_is_that_at_the_hour_that_parts_come_to(monkeypatch):
    asked = []

    def cost(scenario, quantities, throughput, prices, options):
        asked.append(options)
        return Cost("CNY", None, None, parts, None)

    monkeypatch.setattr(answer, "cost", cost)
    parts = {"card_hour_of_parts": Amount(7200.0, 3600.0, 10_800.0, "CNY")}
    assert answer.cost_of_parts(1, 2, 3, 4, CostOptions(utilisation=0.5)).currency == "CNY"
    assert asked[1].price.points == (2.0, 1.0, 3.0)
    assert (asked[1].price.unit, asked[1].utilisation) == ("CNY/s", 0.5)
    parts = {}
    assert answer.cost_of_parts(1, 2, 3, 4, CostOptions()) is None
