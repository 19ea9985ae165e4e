"""Prices, powers, loads and failures: what a file may say, and what follows from it."""

from itertools import pairwise

import pytest
from _door import sentence
from pydantic import TypeAdapter, ValidationError

import catalogue
from catalogue.entries.operation import LARGEST, Curve

SAID = "source: An offer of a dealer, kind: assumed"
SOLD = """\
defaults: {source: Their page, kind: vendor, date: 2026-03}
sold:
  one: {since: 2026-03, until: 2026-03, input: 2 CNY/Mtoken, output: 8 CNY/Mtoken}
  two: {since: 2026-04, input: 1 CNY/Mtoken, cached_input: 0.5 CNY/Mtoken, output: 4 CNY/Mtoken}
  three: {since: 2026-05, input: 3 CNY/Mtoken, output: 9 CNY/Mtoken}
"""
SHARES = {"loaded": 0.2, "awake": 0.3, "memory": 0.3, "matmul": 0.9, "experts": 0.8,
          "attention": 0.7, "links": 0.4}
CHAIN = ("host", "network", "fans", "cooling_load", "capacity")


@pytest.fixture
def load(tmp_path):
    """An entry of a kind from the text of a file."""
    def load(kind, text):
        path = tmp_path / "mine.yml"
        path.write_text("name: {en: ours, zh: 自有}\n" + text, encoding="utf-8")
        return catalogue.load(kind, path)
    return load


def watts(*names):
    return "around:\n  cards: {value: 8, " + SAID + "}\n" + "".join(
        f"  {name}: {{value: {700 + number} W, {SAID}}}\n" for number, name in enumerate(names))


def money(group, *prices):
    return f"{group}:\n" + "".join(
        f"  {name}: {{value: {price}, {SAID}, date: 2026-03}}\n" for name, price in prices)


def drawn(**changed):
    return "".join(f"{name}: {{value: {share}, {SAID}}}\n"
                   for name, share in (SHARES | changed).items())


@pytest.mark.parametrize(("points", "valid"), [
    ([[0, 0.5], [1, 1]], True), ([["0.1", "0.5"], [0.2, 0.4]], True), ("all", False),
    ([[0.5, 0.9]], False), ([[0.5, 0.9], [0.5, 0.8]], False), ([[-0.01, 0.9], [1, 0.8]], False),
    ([[0, 0.9], [1.01, 0.8]], False), ([[0, 0.9], [1, 1.01]], False)])
def test_efficiency_curves_of_supplies(points, valid):
    if valid:
        assert TypeAdapter(Curve).validate_python(points) == tuple(
            (float(load), float(share)) for load, share in points)
    else:
        with pytest.raises(ValidationError):
            TypeAdapter(Curve).validate_python(points)


def test_power_around_cards_is_complete_where_a_host_is_stated(load):
    assert load("prices", watts(*CHAIN)).around.cooling_load.value == 703
    assert load("prices", watts("network", "whole")).around.host is None
    for missing in CHAIN[1:]:
        stated = watts(*(name for name in CHAIN if name != missing))
        assert f"'{missing}' is missing" in sentence(load, "prices", stated)


def test_the_first_price_list_without_an_end_is_current(load):
    prices = load("prices", SOLD)
    assert list(prices.holding) == ["two", "three"]
    assert prices.current.output.value == pytest.approx(4e-6)
    assert prices.sold["two"].cached_input.value == pytest.approx(0.5e-6)
    assert load("prices", money("hour", ("own", "8 CNY/h"))).current is None


def test_lists_of_a_model_follow_one_another():
    lists = catalogue.load_prices("deepseek-api").sold.values()
    by_model = {}
    for sold in lists:
        by_model.setdefault((sold.model["en"], sold.hours), []).append(sold)
    for several in by_model.values():
        assert all(before.until and before.until <= after.since
                   for before, after in pairwise(several))
    assert any(sold.until is None for sold in lists)


def test_work_draws_at_least_what_waiting_does(load):
    powers = load("powers", drawn())
    assert {name: getattr(powers, name).value for name in SHARES} == SHARES
    assert load("powers", drawn(loaded=0.3)).loaded.value == 0.3
    for name in SHARES:
        if name != "awake":
            sentence(load, "powers", drawn(**{name: 0.31 if name == "loaded" else 0.29}))


@pytest.mark.parametrize(("hours", "valid"), [
    ([0] * 23 + [1], True), ([LARGEST] * 24, True), ([1.01 * LARGEST] + [1] * 23, False),
    ([-0.01] + [1] * 23, False), ([0] * 24, False)])
def test_hours_of_a_load(load, hours, valid):
    text = (f"hours: {[float(hour) for hour in hours]}\nsource: counted by hand\nkind: measured\n"
            f"variation: {{value: 0, {SAID}}}\n")
    if valid:
        assert load("loads", text).hours == tuple(hours)
    else:
        assert "mine.yml:2: hours" in sentence(load, "loads", text)


@pytest.mark.parametrize("name", catalogue.names("loads"))
def test_shipped_loads(name):
    load = catalogue.load("loads", name)
    rates = load.rates(86_400)
    assert sum(rates) * 3600 == pytest.approx(86_400)
    assert rates[load.busiest] == max(rates) == pytest.approx(load.peak)
