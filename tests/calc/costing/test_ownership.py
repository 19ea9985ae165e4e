"""Prices of cards, the bill of owning them, and what a budget buys."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import catalogue
from calc.costing.ownership import (
    YEAR,
    annuity,
    around_of,
    bill,
    card_hour,
    cards_within,
    converted,
    net_present_value,
    payback,
    prices_of,
    server_price,
    site_power,
    stated,
    way_of,
)
from calc.uncertainty import Amount
from catalogue import ParamsError
from catalogue.entries.operation import OWNERSHIPS
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


def test_net_present_value_limits():
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


AMOUNTS = st.floats(0.01, 1000)


def test_on_demand_price_falls_back_to_the_card():
    card, prices = catalogue.load_device("nvidia-h200-sxm"), prices_of("nvidia-h200-sxm")
    rent = card.price.usd_rent
    assert prices.hour.rent_by_hour is None
    assert card_hour(card, "rent-by-hour").value == rent.value
    unlisted = card.model_copy(update={"price": None})
    assert card_hour(unlisted, "rent-by-hour", prices) is None
    assert card_hour(unlisted, "rent-always", prices).value == prices.hour.rent_always.value
    bare = prices.model_copy(update={"hour": None})
    assert card_hour(card, "own", bare) is None
    assert (way_of(card, prices), way_of(card, bare)) == ("own", "rent-by-hour")
    with pytest.raises(ParamsError, match="there is no way 'borrow'"):
        card_hour(card, "borrow")


@given(AMOUNTS, AMOUNTS)
def test_a_price_with_ends_has_their_geometric_mean(one, other):
    low, high = sorted((one, other))
    amount = stated(f"{low:.6f}..{high:.6f} CNY/h")
    assert amount.ends == pytest.approx((low / 3600, high / 3600), rel=1e-4)
    assert amount.value == pytest.approx(math.sqrt(amount.low * amount.high))


@pytest.mark.parametrize("text", ["", "free", "2", "2 EUR/h", "2 USD", "2 USD/token", "-1 USD/h",
                                  "0 USD/h", "0..1 USD/h", "3..1 USD/h", "1..2..3 USD/h",
                                  "nan USD/h", "1e999 USD/h"])
def test_a_text_that_is_no_price_is_refused(text):
    with pytest.raises(ParamsError, match=r"^price: "):
        stated(text)


def test_currency_conversion_of_intervals():
    money = Amount(70.0, 35.0, 210.0, "USD/s")
    yuan = converted(money, "CNY", RATE)
    assert (yuan.points, yuan.unit) == ((490.0, 175.0, 2100.0), "CNY/s")
    dollars = converted(Amount(70.0, 35.0, 210.0, "CNY/s"), "USD", RATE)
    assert dollars.points == pytest.approx((10.0, 3.5, 42.0))
    assert dollars.unit == "USD/s"
    assert converted(money, "USD", None) is money
    with pytest.raises(ParamsError, match="expected one currency"):
        converted(money, "CNY", None)


def test_price_files_inherit_and_are_replaced(tmp_path):
    ours, common = catalogue.load_prices("nvidia-h200-sxm"), catalogue.load_prices("common")
    assert ours.electricity == common.electricity
    assert prices_of("ascend-910b2").id == "common"
    path = tmp_path / "mine.yml"
    path.write_text("name: {en: mine, zh: mine}\nlike: common\ndevice: nvidia-h20\nhour: {own: "
                    "{value: 1 USD/h, source: my own, kind: assumed, date: 2026-03, "
                    "range: [1 USD/h, 2 USD/h]}}\n", encoding="utf-8")
    prices = prices_of("nvidia-h20", str(path), {"years": "3 year"})
    assert card_hour("nvidia-h20", prices=prices).per("USD/h") == pytest.approx((1, 1, 2))
    assert prices.years.value == 3 * 365 * 86_400
    with pytest.raises(ParamsError, match="the deployment runs on 'ascend-910b2'"):
        prices_of("ascend-910b2", str(path))


CARD, NODE = "nvidia-h200-sxm", "hgx-h200"


def amount(value, unit="USD"):
    return Amount.exactly(value, unit)


@pytest.mark.parametrize(("cards", "share"), [(3, 1.0), (3, 1.3), (7, 1 - 1e-15), (0, 0.9)])
def test_a_rent_pays_for_single_cards_and_a_rounded_digit_costs_none(cards, share):
    hour = card_hour(CARD, "rent-always").value
    for rent in (hour, card_hour(CARD, "rent-always").value * 7.33):
        unit = "USD/s" if rent == hour else "CNY/s"
        assert cards == cards_within(
            CARD, NODE, rent=amount(max(1, cards) * share * rent, unit), ownership="rent-always")
    assert cards_within(CARD, NODE, rent=amount(10.0, "USD/s"), price="1 USD/h") == 36_000


def test_a_power_supply_feeds_whole_servers_at_full_load():
    rest = around_of(catalogue.load_device(CARD), catalogue.load_node(NODE), prices_of(CARD))
    server = float(site_power(8 * 700.0, 8, rest))
    for power, cards in ((3 * server, 24), (4 * server - 1, 24), (server - 1, 0), (0.0, 0)):
        assert cards_within(CARD, NODE, power=power) == cards


def test_a_capital_buys_servers_with_racks_and_network_after_storage():
    prices = prices_of(CARD)
    owning = prices.owning
    one = (server_price(catalogue.load_device(CARD), catalogue.load_node(NODE), prices, "USD").value
           + owning.racks.value + 8 * owning.network.value)
    for servers, extra, cards in ((2, 0.0, 16), (3, -1.0, 16), (1, -1.0, 0), (0, 0.0, 0)):
        capital = owning.storage.value + servers * one + extra
        assert cards_within(CARD, NODE, capital=amount(capital)) == cards
    assert cards_within(CARD, NODE, capital=amount(0.0)) == 0


@pytest.mark.parametrize(("device", "node", "limits", "message"), [
    (CARD, NODE, {}, "no limit is given"),
    ("intel-gaudi-3", "gaudi-3-8card", {"rent": stated("9 USD/h")}, "no price of an hour"),
    ("nvidia-b300", "hgx-b300", {"capital": amount(1e9)}, "no price of a server"),
    ("nvidia-rtx-4090", "xeon-6454s-rtx-4090", {"power": 1e6}, "power of a server of"),
])
def test_a_missing_limit_price_or_power_is_refused(device, node, limits, message):
    with pytest.raises(ParamsError, match=message):
        cards_within(device, node, **limits)


@pytest.mark.parametrize("device", ["ascend-910b2", "nvidia-h20", "ascend-910c-die"])
@pytest.mark.parametrize("ownership", OWNERSHIPS)
def test_a_card_without_a_price_has_that_of_a_reader_alone(device, ownership):
    assert card_hour(device, ownership) is None
    assert card_hour(device, ownership, reader="1..4 USD/h").per("USD/h") == pytest.approx(
        (2, 1, 4))
    assert way_of(device) == "own"
