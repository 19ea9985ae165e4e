"""Where prices, powers and loads contradict themselves: at the numbers at which they begin to."""

import pytest
from _door import sentence
from pydantic import TypeAdapter, ValidationError

import catalogue
from catalogue.planning.loads import LARGEST, Load
from catalogue.planning.prices import Curve

SAID = "source: An offer of a dealer, kind: assumed"


def curve(points):
    return TypeAdapter(Curve).validate_python(points)


@pytest.mark.parametrize("points", [
    [[0, 0.5], [1, 1]], [[0.2, 0.9], [0.5, 0.94], [0.9, 0.91]], [["0.1", "0.5"], [0.2, 0.4]]])
def test_supplies_have_an_efficiency_at_loads_that_rise(points):
    assert curve(points) == tuple((float(load), float(share)) for load, share in points)


@pytest.mark.parametrize(("points", "says"), [
    ("all", "list of pairs"), ([0.5, 0.9], "list of pairs"), ([[0, 0.5, 1], [1, 1, 1]], "pairs"),
    ([[0, 0.5], "ab"], "pairs"), ([[0, "much"], [1, 1]], "pairs"), ([[0, None], [1, 1]], "pairs"),
    ([], "loads rise"), ([[0.5, 0.9]], "loads rise"), ([[0.5, 0.9], [0.5, 0.8]], "loads rise"),
    ([[0.5, 0.9], [0.4, 0.8]], "loads rise"), ([[-0.01, 0.9], [1, 0.8]], "loads rise"),
    ([[0, 0.9], [1.01, 0.8]], "loads rise"), ([[0, 0], [1, 0.8]], "an efficiency is"),
    ([[0, 0.9], [1, 1.01]], "an efficiency is")])
def test_a_curve_that_is_none_is_told(points, says):
    with pytest.raises(ValidationError, match=says):
        curve(points)


@pytest.fixture
def loaded(tmp_path):
    """An entry of a kind from the text of a file."""
    def load(kind, text):
        path = tmp_path / "mine.yml"
        path.write_text("name: {en: ours, zh: 自有}\n" + text, encoding="utf-8")
        return catalogue.load(kind, path)
    return load


def watts(*names):
    return "around:\n  cards: {value: 8, " + SAID + "}\n" + "".join(
        f"  {name}: {{value: {700 + number} W, {SAID}}}\n" for number, name in enumerate(names))


def test_what_stands_around_cards_is_whole_where_a_host_is_stated(loaded):
    chain = ("host", "network", "fans", "cooling_load", "capacity")
    assert loaded("prices", watts(*chain)).around.cooling_load.value == 703
    assert loaded("prices", watts("network", "whole")).around.host is None
    assert loaded("prices", watts()).around.cards.value == 8
    for lost in chain[1:]:
        told = sentence(loaded, "prices", watts(*(name for name in chain if name != lost)))
        assert f"'{lost}' is missing" in told


def money(group, *prices):
    return f"{group}:\n" + "".join(
        f"  {name}: {{value: {price}, {SAID}, date: 2026-03}}\n" for name, price in prices)


def test_prices_that_are_added_are_in_one_currency(loaded):
    both = money("hour", ("own", "8 CNY/h"), ("rent_always", "2 USD/h"))
    told = sentence(loaded, "prices", both)
    assert "mine.yml:2: the prices of 'hour' are in several currencies, expected one" in told
    apart = money("hour", ("own", "8 CNY/h"), ("rent_by_hour", "9 CNY/h")) + money(
        "owning", ("server", "2 USD"), ("network", "1 USD"), ("spares", "0.1"))
    found = loaded("prices", apart)
    assert (found.hour.rent_by_hour.unit, found.owning.network.unit) == ("CNY/s", "USD")
    mixed = apart.replace("value: 1 USD", "value: 1 CNY")
    assert "mine.yml:5: the prices of 'owning'" in sentence(loaded, "prices", mixed)


def test_of_a_card_something_is_priced(loaded):
    nothing = f"discount: {{value: 0.1, {SAID}}}\n"
    assert "nothing is priced" in sentence(loaded, "prices", nothing)
    for text in (f"pue: {{value: 1, {SAID}}}\n", f"electricity: {{value: 1 CNY/kWh, {SAID}}}\n",
                 "device: nvidia-h20\n", money("owning", ("server", "2 USD"))):
        assert loaded("prices", text + nothing).discount.value == 0.1
    assert "out of range" in sentence(loaded, "prices", f"pue: {{value: 0.99, {SAID}}}\n")


SOLD = """\
defaults: {source: Their page, kind: vendor, date: 2026-03}
sold:
  one: {since: 2026-03, until: 2026-03, input: 2 CNY/Mtoken, output: 8 CNY/Mtoken}
  two: {since: 2026-04, input: 1 CNY/Mtoken, cached_input: 0.5 CNY/Mtoken, output: 4 CNY/Mtoken}
  three: {since: 2026-05, input: 3 CNY/Mtoken, output: 9 CNY/Mtoken}
"""


def test_the_first_list_that_holds_today_is_compared_with(loaded):
    found = loaded("prices", SOLD)
    assert list(found.holding) == ["two", "three"]
    assert found.current.output.value == pytest.approx(4e-6)
    assert found.sold["two"].cached_input.value == pytest.approx(0.5e-6)
    assert loaded("prices", money("hour", ("own", "8 CNY/h"))).current is None
    assert "several currencies" in sentence(loaded, "prices", SOLD.replace("0.5 CNY", "0.5 USD"))


SHARES = {"loaded": 0.2, "awake": 0.3, "memory": 0.3, "matmul": 0.9, "experts": 0.8,
          "attention": 0.7, "links": 0.4}


def drawn(**changed):
    return "".join(f"{name}: {{value: {share}, {SAID}}}\n"
                   for name, share in (SHARES | changed).items())


def test_work_draws_at_least_what_waiting_does(loaded):
    found = loaded("powers", drawn())
    assert {name: getattr(found, name).value for name in SHARES} == SHARES
    assert loaded("powers", drawn(loaded=0.3)).loaded.value == 0.3
    assert "mine.yml:2: 'loaded' exceeds 'awake', are they exchanged?" in sentence(
        loaded, "powers", drawn(loaded=0.31))
    for line, name in enumerate(SHARES, 2):
        if name not in ("loaded", "awake"):
            assert f"mine.yml:{line}: '{name}' draws less than 'awake'" in sentence(
                loaded, "powers", drawn(**{name: 0.29}))


def test_a_day_is_spread_over_its_hours_in_proportion():
    hours = [1] * 20 + [7, 3, 7, 3]  # forty in all
    day = Load.model_construct(hours=tuple(hours))
    assert day.rates(144_000) == pytest.approx(hours)
    assert day.busiest == 20  # the first of two as busy
    assert day.peak == pytest.approx(7 * 24 / 40)


@pytest.mark.parametrize(("hours", "taken"), [
    ([0] * 23 + [1], True), ([LARGEST] * 24, True), ([1.01 * LARGEST] + [1] * 23, False),
    ([-0.01] + [1] * 23, False), ([0] * 24, False), ([1] * 23, False), ([1] * 25, False)])
def test_hours_are_numbers_of_any_scale_from_zero_on(loaded, hours, taken):
    text = (f"hours: {[float(hour) for hour in hours]}\nsource: counted by hand\nkind: measured\n"
            f"variation: {{value: 0, {SAID}}}\n")
    if taken:
        assert loaded("loads", text).hours == tuple(hours)
    else:
        assert "mine.yml:2: hours: " in sentence(loaded, "loads", text)
