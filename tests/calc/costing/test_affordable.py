"""How many cards a budget by the hour, a capital or a power supply pays for."""

from __future__ import annotations

import pytest

import catalogue
from calc.costing.affordable import cards_within
from calc.costing.owning import server_price
from calc.costing.power import around_of, site_power
from calc.costing.rates import card_hour, prices_of, stated
from calc.uncertainty.amount import Amount
from catalogue import ParamsError

CARD, NODE = "nvidia-h200-sxm", "hgx-h200"


def amount(value, unit="USD"):
    return Amount.exactly(value, unit)


@pytest.mark.parametrize(("cards", "share"), [(3, 1.0), (3, 1.3), (7, 1 - 1e-15), (0, 0.9)])
def test_a_rent_pays_for_single_cards_and_a_rounded_digit_costs_none(cards, share):
    hour = card_hour(CARD, "rent-always").value
    for rent in (hour, card_hour(CARD, "rent-always").value * 7.33):
        unit = "USD/s" if rent == hour else "CNY/s"
        limits = cards_within(CARD, NODE, rent=amount(max(1, cards) * share * rent, unit),
                              ownership="rent-always")
        assert (limits.cards, limits.binds) == (cards, "rent")
    assert cards_within(CARD, NODE, rent=amount(10.0, "USD/s"), price="1 USD/h").cards == 36_000


def test_a_power_supply_feeds_whole_servers_at_full_load():
    rest = around_of(catalogue.load_device(CARD), catalogue.load_node(NODE), prices_of(CARD))
    server = float(site_power(8 * 700.0, 8, rest))
    for power, cards in ((3 * server, 24), (4 * server - 1, 24), (server - 1, 0), (0.0, 0)):
        assert cards_within(CARD, NODE, power=power).cards == cards


def test_a_capital_buys_servers_with_racks_and_network_after_storage():
    prices = prices_of(CARD)
    owning = prices.owning
    one = (server_price(catalogue.load_device(CARD), catalogue.load_node(NODE), prices, "USD").value
           + owning.racks.value + 8 * owning.network.value)
    for servers, extra, cards in ((2, 0.0, 16), (3, -1.0, 16), (1, -1.0, 0), (0, 0.0, 0)):
        capital = owning.storage.value + servers * one + extra
        assert cards_within(CARD, NODE, capital=amount(capital)).cards == cards
    assert cards_within(CARD, NODE, capital=amount(0.0)).cards == 0


def test_the_lowest_limit_binds_and_each_is_returned():
    given = {"rent": amount(1.0, "USD/s"), "capital": amount(5e6), "power": 1e6}
    limits = cards_within(CARD, NODE, **given)
    assert limits.each == {name: cards_within(CARD, NODE, **{name: limit}).cards
                           for name, limit in given.items()}
    assert (limits.binds, limits.cards) == ("capital", min(limits.each.values()))


@pytest.mark.parametrize(("device", "node", "limits", "message"), [
    (CARD, NODE, {}, "no limit is given"),
    ("ascend-910b2", "atlas-800t-a2", {"rent": stated("9 USD/h")}, "no price of an hour"),
    ("nvidia-b300", "hgx-b300", {"capital": amount(1e9)}, "no price of a server"),
    ("nvidia-rtx-4090", "xeon-6454s-rtx-4090", {"power": 1e6}, "nobody says what a server"),
])
def test_a_missing_limit_price_or_power_is_refused(device, node, limits, message):
    with pytest.raises(ParamsError, match=message):
        cards_within(device, node, **limits)
