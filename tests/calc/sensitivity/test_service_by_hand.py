"""From which use on cards are cheaper than a service, of a price and a rate written down."""

from statistics import NormalDist
from types import SimpleNamespace as Made

import numpy as np
import pytest

from calc.sensitivity import against_service as module
from calc.sensitivity.breakeven import FIRST, SECOND
from calc.uncertainty.amount import Amount
from catalogue.reading.values import Value
from reference.plans import knob, law


@pytest.fixture(autouse=True)
def sold(monkeypatch):
    """A request costs 0.02 at the service; formulas are off by nothing."""
    monkeypatch.setattr(module, "price_of_request", lambda inputs, sold, service, currency: 0.02)
    monkeypatch.setattr("calc.sensitivity.tornado.own_errors", lambda scenario: {})


SERVICE = Made(id="service", current=Made(output=Value(
    2.0, "USD/token", "2 USD/token", "somebody", "vendor", 2.0, 2.0)))


def used(rate, *, price=(0.001, 0.001, 0.001), knobs=()):
    """8 cards with answers of 50 tokens; a card's price by the second: low, value, high."""
    low, value, high = price
    plan = law({"output_tokens": 50.0, "a": 1.0}, knobs, cards=8,
               output_throughput=lambda at: rate * at.a)
    return module.utilisation(plan, Amount(value, low, high, "USD/s"), SERVICE)


def test_where_cards_cost_what_a_request_does():
    """0.008 a second against 2 requests a second at 0.02: a fifth of them pays."""
    found, sure = used(100.0)
    turn, = found.turns
    assert turn.at == pytest.approx(0.2)
    assert (turn.before, turn.after) == (SECOND, FIRST)
    assert (found.low, found.high) == (0.001, 1)
    assert (sure.low, sure.high, sure.first, sure.second, sure.draws) == (
        pytest.approx(0.2), pytest.approx(0.2), 0, 0, 256)


def test_the_interval_is_that_of_the_price_and_of_the_rate():
    """A dearer card moves it up, a faster one down; ends of a range are those of the interval."""
    _, price = used(100.0, price=(0.0005, 0.001, 0.0015))
    assert (price.low, price.high) == pytest.approx((0.1, 0.3), rel=0.05)
    _, rate = used(100.0, knobs=[knob("a", 0.5, 1.0, 2.0)])
    assert (rate.low, rate.high) == pytest.approx((0.1, 0.4), rel=0.05)


def test_cases_in_which_the_whole_throughput_does_not_pay_are_told_apart():
    """It takes 0.8 of it at the price, more than all above a price a quarter higher: a tenth.

    The interval is of the others: its ends are the 9% and the 81% points of all.
    """
    found, sure = used(25.0, price=(0.0008, 0.001, 0.00125))
    assert found.turns[0].at == pytest.approx(0.8)
    assert sure.second == pytest.approx(0.1, abs=0.02)
    ends = [0.8 * 1.25 ** (NormalDist().inv_cdf(share) / NormalDist().inv_cdf(0.9))
            for share in (0.09, 0.81)]
    assert (sure.low, sure.high) == pytest.approx(ends, rel=0.01)
    never, dear = used(10.0)
    assert (never.always, dear.low, dear.high, dear.second) == (SECOND, None, None, 1)


def test_where_all_of_it_just_pays_no_case_is_left_without(monkeypatch):
    """Exactly 1 is reached; of fewer than sixteen cases that are no interval is told."""
    _, sure = used(20.0)
    assert (sure.low, sure.high, sure.second) == (1, 1, 0)
    rates = np.where(np.arange(module.DRAWS) < module.LEAST, 40.0, 1.0)
    monkeypatch.setattr(module, "sample_quantity", lambda *given: rates)
    _, few = used(20.0)
    assert (few.low, few.high) == pytest.approx((0.5, 0.5))
    assert few.second == 1 - module.LEAST / module.DRAWS
    rates[0] = 1.0
    assert used(20.0)[1].low is None
