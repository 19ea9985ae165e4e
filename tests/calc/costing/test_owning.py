"""Owning hardware: parts of the bill, discounting, payback, return, and the price of a server."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import catalogue
from calc.costing.owning import (
    YEAR,
    annuity,
    bill,
    net_present_value,
    payback,
    return_on,
    server_price,
)
from catalogue.reading.values import Value

ONE = {"servers": 2.0, "cards": 16.0, "server": 1e5, "network": 1e3, "racks": 500.0, "storage": 7e3,
       "spares": 0.1, "upkeep": 0.05, "residual": 0.2, "discount": 0.1, "years": 4.0,
       "people": 1e-3, "hosting": 5e-8, "electricity": 3e-8, "kept_power": 2e4, "mean_power": 1e4}


def test_parts_of_the_bill():
    """A year of 365 days has 31,536,000 s; four payments of 1 at 10% are worth 3.169865 today."""
    owned = bill(ONE)
    assert (owned.hardware, owned.around) == (pytest.approx(220e3), 16e3 + 2 * 500 + 7e3)
    assert owned.energy == pytest.approx(31_536_000 * 3e-8 * 1e4)
    assert owned.hosting == pytest.approx(31_536_000 * 5e-8 * 2e4)
    assert (owned.upkeep, owned.people) == pytest.approx((11e3, 63_072))
    assert owned.residual == pytest.approx(44e3)
    assert owned.capital == pytest.approx(244e3)
    assert owned.yearly == pytest.approx(9_460.8 + 31_536 + 11e3 + 63_072)
    assert owned.nominal == pytest.approx(244e3 + 4 * 115_068.8 - 44e3)
    assert owned.present == pytest.approx(244e3 + 3.1698654 * 115_068.8 - 44e3 / 1.4641)
    assert owned.second == pytest.approx(owned.present / 3.1698654 / 31_536_000)


def test_a_revenue_equal_to_the_cost_is_worth_nothing_and_no_discount_is_nominal():
    owned = bill(ONE)
    assert net_present_value(owned, owned.second * YEAR, 0.1, 4.0) == pytest.approx(0, abs=1e-6)
    free = bill(ONE | {"discount": 0.0})
    assert free.present == pytest.approx(free.nominal)
    assert bill(ONE | {"discount": 1e-9}).present == pytest.approx(free.present)


@given(st.floats(0.01, 0.9), st.integers(1, 10))
def test_an_annuity_is_a_sum_of_discounted_payments(discount, years):
    assert float(annuity(discount, years)) == pytest.approx(
        sum((1 + discount) ** -year for year in range(1, years + 1)))


@pytest.mark.parametrize(("surplus", "discount", "years"), [
    (50.0, 0.0, 2.0), (10.0, 0.1, math.inf), (10.1, 0.1, math.log(101) / math.log(1.1)),
    (50.0, 0.1, -math.log(0.8) / math.log(1.1)), (0.0, 0.0, math.inf), (0.0, 0.1, math.inf),
    (-1.0, 0.1, math.inf)])
def test_a_hundred_is_paid_back_if_the_surplus_exceeds_its_interest(surplus, discount, years):
    assert float(payback(100.0, surplus, discount)) == pytest.approx(years)
    assert payback(np.full(2, 100.0), np.array([surplus, 50.0]), discount)[0] == pytest.approx(
        years)


def test_the_return_is_the_surplus_of_all_years_over_the_capital():
    assert return_on(100.0, 50.0, 3) == pytest.approx(0.5)
    assert return_on(734_000, 2_904_787, 3) == pytest.approx(10.8725, abs=1e-4)


def money(at, unit="USD", low=None, high=None):
    return Value(at, unit, f"{at} {unit}", "arithmetic", "assumed", low or at, high or at)


RATE = money(7.0, "CNY/USD", 5.0, 10.0)


@pytest.fixture(scope="module")
def hopper():
    """A card of 10 dollars, its server of eight, and prices without any of a server."""
    card, prices = catalogue.load_device("nvidia-h200-sxm"), catalogue.load_prices("common")
    card = card.model_copy(update={"price": card.price.model_copy(update={
        "usd": money(10.0, low=9.0, high=12.0), "cny": None})})
    owning = prices.owning.model_copy(update={"chassis": money(100.0), "server": None})
    node = catalogue.load_node("hgx-h200").model_copy(update={"price": None})
    return card, node, prices.model_copy(update={"owning": owning, "exchange": RATE})


def test_a_server_costs_its_chassis_and_cards_unless_it_has_a_price(hopper):
    card, node, prices = hopper
    parts = server_price(card, node, prices, "USD")
    assert (parts.points, parts.kind) == ((180.0, 172.0, 196.0), "derived")
    assert server_price(card, node, prices, "CNY").points == (1260.0, 860.0, 1960.0)
    listed = catalogue.load_node("hgx-h20").price
    h20 = node.model_copy(update={"price": listed})
    assert server_price(card, h20, prices, "CNY").value == 1_400_000
    assert server_price(card, h20, prices, "USD").value == 190_000  # not converted
    yuan = node.model_copy(update={"price": listed.model_copy(update={"usd": None})})
    assert server_price(card, yuan, prices, "USD").points == pytest.approx(
        (200_000, listed.cny.low / 10, listed.cny.high / 5))
    stated = prices.owning.model_copy(update={"server": money(300.0)})
    own = prices.model_copy(update={"owning": stated})
    assert server_price(card, h20, own, "USD").value == 300
    bare = prices.model_copy(update={"owning": stated.model_copy(
        update={"server": None, "chassis": None})})
    assert server_price(card, node, bare, "USD") is None
    assert server_price(card.model_copy(update={"price": None}), node, prices, "USD") is None
