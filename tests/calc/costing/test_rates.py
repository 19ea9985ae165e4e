"""Prices of a card by the hour: sources, ranges, currencies, and a reader's own."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import catalogue
from calc.costing.rates import card_hour, converted, prices_of, stated, way_of
from calc.uncertainty.amount import Amount
from catalogue import ParamsError
from catalogue.planning.prices import OWNERSHIPS
from catalogue.reading.values import Value

AMOUNTS = st.floats(0.01, 1000)
RATE = Value(7.0, "CNY/USD", "7 CNY/USD", "arithmetic", "assumed", 5.0, 10.0)


@pytest.mark.parametrize("device", ["ascend-910b2", "nvidia-h20", "ascend-910c-die"])
@pytest.mark.parametrize("ownership", OWNERSHIPS)
def test_a_card_without_a_price_has_that_of_a_reader_alone(device, ownership):
    assert card_hour(device, ownership) is None
    assert card_hour(device, ownership, reader="1..4 USD/h").per("USD/h") == pytest.approx(
        (2, 1, 4))
    assert way_of(device) == "own"


def test_an_hour_on_demand_is_that_of_the_card_if_its_prices_have_none():
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


def test_a_price_without_ends_is_exact_and_may_be_of_money_alone():
    assert stated("2 USD/h").exact
    assert stated("2..2 USD/h").per("USD/h") == pytest.approx((2, 2, 2))
    price = stated("20..80 CNY", "USD")
    assert (price.points, price.unit, price.kind) == ((40.0, 20.0, 80.0), "CNY", "assumed")


@pytest.mark.parametrize("text", ["", "free", "2", "2 EUR/h", "2 USD", "2 USD/token", "-1 USD/h",
                                  "0 USD/h", "0..1 USD/h", "3..1 USD/h", "1..2..3 USD/h",
                                  "nan USD/h", "1e999 USD/h"])
def test_a_text_that_is_no_price_is_refused(text):
    with pytest.raises(ParamsError, match=r"^price: "):
        stated(text)


def test_the_highest_rate_of_exchange_makes_most_yuan_and_fewest_dollars():
    money = Amount(70.0, 35.0, 210.0, "USD/s")
    yuan = converted(money, "CNY", RATE)
    assert (yuan.points, yuan.unit) == ((490.0, 175.0, 2100.0), "CNY/s")
    dollars = converted(Amount(70.0, 35.0, 210.0, "CNY/s"), "USD", RATE)
    assert dollars.points == pytest.approx((10.0, 3.5, 42.0))
    assert dollars.unit == "USD/s"
    assert converted(money, "USD", None) is money
    with pytest.raises(ParamsError, match="expected one currency"):
        converted(money, "CNY", None)


def test_a_file_inherits_from_another_and_a_reader_s_file_takes_its_place(tmp_path):
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
