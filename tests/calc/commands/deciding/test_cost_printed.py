"""What ``cost`` prints of numbers that are written down here: each in its place and unit."""

import math
from types import SimpleNamespace as Made

import pytest

import catalogue
from calc.commands.deciding import cost as command
from calc.uncertainty.amount import Amount
from catalogue import ParamsError


def sold(**more):
    return Made(**{"model": None, "since": None, "until": None, "hours": "all"} | more)


SERVICE = Made(name={"en": "a service", "zh": "某服务"}, sold={
    "old": sold(model={"en": "A", "zh": "A"}, since="2025-01", until="2025-06"),
    "new": sold(since="2025-06", hours="off-peak")})


def test_from_which_use_each_price_list_is_dearer(told):
    """A share above the whole is never reached; what is exact has one end."""
    lists = {"old": Amount(0.5, 0.25, 0.755), "new": Amount(1.5, 0.9, 2.0)}
    assert told(command._print_lists, SERVICE, lists) == [
        "Cheaper than a service from this utilisation on",
        "price list | model | in force | hours | from | 80% interval",
        "old | A | 2025-01 to 2025-06 | all | 50% | 25% to 76%",
        "new |  | 2025-06 to today | off-peak | never | 90% to never"]
    assert told(command._print_lists, SERVICE, {"old": Amount.exactly(1.0)})[-1].endswith(
        "| 100% | 100%")
    assert told(command._print_lists, SERVICE, {}) == []


SCENARIO = catalogue.load_scenario("h200-r1-vllm-tp8")
HOUR = Amount(2 / 3600, 1.5 / 3600, 2.5 / 3600, "USD/s", source="somebody", kind="measured")
FLEET = {"deployments": {"most": 7, "mean": 3.25}, "utilisation": 0.456, "currency": "USD",
         "per_hour": {"own": 12.5, "rent-by-hour": 11.0}}


def test_what_it_rests_on_and_what_it_comes_to(told):
    found = Made(hour=HOUR, currency="USD", server=Amount.exactly(3e5, "USD"), amounts={
        "tco": Amount(2.5, 2, 3, "USD"), "payback": Amount(2.5, 2, 3),
        "crossover": Amount(0.256, 0.2, 0.3)})
    lines = told(command._print, SCENARIO, Made(fits=False), found,
                 Made(utilisation=0.256, ownership="own"), FLEET)
    assert lines[0].startswith("It does not fit")
    assert lines[1].endswith(": NVIDIA H200 SXM, 26% of the throughput used.")
    assert lines[2:4] == ["A card's hour (own): 2 USD (1.5–2.5 USD), somebody, measured.",
                          "A server: 300,000 USD, , exact."]
    assert lines[4:] == [
        "what | median | 80% interval",
        "utilisation from which it is cheaper than the API | 25.6% | 20–30%",
        "total cost of ownership, discounted | 2.5 USD | 2–3 USD",
        "paid back after | 2.5 years | 2–3 years",
        "Deployments that the day needs: 7 at most, 3.25 on average; 46% used where all are kept.",
        "rent-by-hour: 11 USD an hour", "own: 12.5 USD an hour"]


def test_without_a_price_it_says_so(told):
    bare = Made(hour=None, server=None, amounts={})
    lines = told(command._print, SCENARIO, Made(fits=True), bare,
                 Made(utilisation=1.0, ownership="own"), None)
    assert lines[0].endswith("100% of the throughput used.")
    assert lines[1].startswith("no price of an hour of 'nvidia-h200-sxm' (own) was found")
    assert lines[2:] == ["what | median | 80% interval"]


def test_an_amount_without_end_is_never_reached_and_one_below_all_is_none():
    assert command._shown(Amount(math.inf, 2, 3), "payback") == ("never", "")
    assert command._shown(Amount(-math.inf, 2, 3), "roi") == ("–", "")
    assert (command._finite(math.inf), command._finite(2)) == (None, 2.0)


def test_settings_of_prices_are_told_from_those_of_the_deployment():
    assert command._apart(["prices.pue=1.2", "model=x", "prices.hour.own=2 USD/h"]) == (
        {"pue": "1.2", "hour.own": "2 USD/h"}, ["model=x"])
    for setting in ("prices.pue", "prices.pue=", "prices.pue= "):
        with pytest.raises(ParamsError, match="PATH=VALUE"):
            command._apart([setting])


@pytest.mark.parametrize(("text", "number"), [("0.001", 1e-3), ("1e12", 1e12), ("5", 5.0)])
def test_a_number_that_is_typed_may_lie_at_either_end(text, number):
    assert command._number(text, "--x", 1e12) == number


@pytest.mark.parametrize("text", ["0.00099", "1.1e12", "nan", "x", "-1"])
def test_a_number_beyond_is_refused(text):
    with pytest.raises(ParamsError, match="--x"):
        command._number(text, "--x", 1e12)


def test_a_price_says_where_it_comes_from():
    dated = Made(source="somebody", kind="measured", date="2026-01")
    assert command._origin(dated)[0] == "somebody, measured, 2026-01"
    assert command._origin(Made(source="somebody", kind="measured", date=None))[0] == (
        "somebody, measured")


# --- a day ----------------------------------------------------------------------------------------


def fleet(monkeypatch, price=None, **hours):
    """Of 4 cards and answers of 50 tokens at 200 token/s: 4 requests a second each.

    Hours with 3, 9 and 12 requests a second; a card's hour by way of having it.
    """
    rates = "calc.costing.rates"
    asked = []

    def card_hour(device, name, prices, reader=None):
        asked.append((name, reader))
        told = reader or hours.get(name)
        return told and Amount.exactly(told / 3600, "USD/s")

    monkeypatch.setattr(f"{rates}.card_hour", card_hour)
    monkeypatch.setattr("calc.costing.power.own_cards", lambda inputs: 4)
    day = Made(rates=lambda requests: [part * requests for part in (3, 9, 12)])
    found = command._fleet(
        Made(inputs=lambda: {"output_tokens": 50}, device="card"), day, Made(value=200.0),
        Made(exchange=None), Made(day_requests="1", price=price, ownership="own"))
    return found, asked


def test_what_the_hours_of_a_day_need_and_cost_by_way_of_having_the_cards(monkeypatch):
    """1, 3 and 3 deployments; 24 of 36 requests are what three serve. Own at 1.5, by the hour 2."""
    found, asked = fleet(monkeypatch, **{"own": 1.5, "rent-by-hour": 2.0})
    assert found["deployments"] == {"most": 3, "mean": pytest.approx(7 / 3)}
    assert (found["utilisation"], found["currency"]) == (pytest.approx(24 / 36), "USD")
    assert found["per_hour"] == {
        "own": pytest.approx(3 * 4 * 1.5), "rent-by-hour": pytest.approx(7 / 3 * 4 * 2),
        # of two of three hours a deployment is by the hour 1.33, less than 1.5 all the time
        "own and by the hour": pytest.approx(4 * (1.5 + 2 * (0 + 2 + 2) / 3))}
    assert asked == [("own", None), ("rent-always", None), ("rent-by-hour", None)]


def test_a_price_that_is_stated_is_that_of_the_way_that_is_asked_for(monkeypatch):
    found, asked = fleet(monkeypatch, 0.5, **{"own": 1.5, "rent-always": 1.0})
    assert asked[-1] == ("own", 0.5)
    assert found["per_hour"] == {"own": pytest.approx(6), "rent-always": pytest.approx(12)}
    bare, _ = fleet(monkeypatch)
    assert (bare["per_hour"], bare["currency"]) == ({}, None)
