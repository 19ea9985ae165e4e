"""Prices: a number only where somebody printed one, currencies apart, sentences for what is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import catalogue
from calc.costing.rates import card_hour, converted, prices_of, stated
from calc.uncertainty.amount import Amount
from catalogue import ParamsError
from catalogue.planning.prices import OWNERSHIPS, currency_of

AMOUNTS = st.floats(0.01, 1000)


@pytest.mark.parametrize("device", ["ascend-910b1", "ascend-910b2", "ascend-910b4", "nvidia-h20",
                                    "ascend-910c-die"])
@pytest.mark.parametrize("ownership", OWNERSHIPS)
def test_no_hour_of_an_ascend_or_an_h20_is_priced_until_a_reader_does(device, ownership):
    assert card_hour(device, ownership) is None
    theirs = card_hour(device, ownership, reader="1..4 USD/h")
    assert theirs.per("USD/h") == pytest.approx((2, 1, 4))


@pytest.mark.parametrize("device", ["nvidia-h100-sxm", "nvidia-h200-sxm", "nvidia-b200",
                                    "amd-mi300x"])
def test_owning_costs_less_than_a_contract_and_both_less_than_an_hour_on_demand(device):
    hours = [card_hour(device, ownership) for ownership in OWNERSHIPS]
    assert hours[0].low <= hours[1].value < hours[2].value
    for hour in hours:
        assert hour.low <= hour.value <= hour.high
        assert hour.source in catalogue.sources()
        assert hour.date


@given(AMOUNTS, AMOUNTS)
def test_a_price_with_ends_lies_between_them(one, other):
    low, high = sorted((one, other))
    amount = stated(f"{low:.6f}..{high:.6f} CNY/h")
    assert amount.low <= amount.value * (1 + 1e-12)
    assert amount.value <= amount.high * (1 + 1e-12)
    assert amount.value ** 2 == pytest.approx(amount.low * amount.high)


@pytest.mark.parametrize("text", ["", "free", "2", "2 EUR/h", "2 USD", "2 USD/token", "-1 USD/h",
                                  "0 USD/h", "3..1 USD/h", "1..2..3 USD/h", "nan USD/h",
                                  "1e999 USD/h"])
def test_what_is_no_price_gets_one_sentence(text):
    with pytest.raises(ParamsError) as raised:
        stated(text)
    assert str(raised.value).endswith(".")
    assert "\n" not in str(raised.value)


@given(AMOUNTS)
def test_there_and_back_is_where_it_began(amount):
    common = catalogue.load_prices("common")
    dollars = Amount(amount, amount, amount, "USD/s")
    exact = type(common.exchange)(7.0, "CNY/USD", "7 CNY/USD", "arithmetic", "assumed", 7.0, 7.0)
    yuan = converted(dollars, "CNY", exact)
    assert (yuan.unit, yuan.value) == ("CNY/s", pytest.approx(7 * amount))
    assert converted(yuan, "USD", exact).value == pytest.approx(amount)
    uncertain = converted(dollars, "CNY", common.exchange)
    assert uncertain.low < uncertain.value < uncertain.high


def test_two_currencies_without_a_rate_are_refused():
    with pytest.raises(ParamsError, match="expected one currency"):
        converted(Amount(1, 1, 1, "USD"), "CNY", None)


class TestFiles:
    def test_every_card_s_prices_name_it_and_are_of_one_currency(self):
        for name in catalogue.names("prices"):
            prices = catalogue.load_prices(name)
            hour = prices.hour
            for ownership in ("own", "rent_always", "rent_by_hour") if hour else ():
                if (value := getattr(hour, ownership)) is not None:
                    assert currency_of(value) in ("USD", "CNY")
                    assert prices.device == name

    def test_what_a_file_leaves_out_is_that_of_the_one_it_is_like(self):
        ours, common = catalogue.load_prices("nvidia-h200-sxm"), catalogue.load_prices("common")
        assert ours.electricity == common.electricity
        assert ours.owning == common.owning
        assert prices_of("ascend-910b2").id == "common"

    @pytest.mark.parametrize(("text", "says"), [
        ("hour: {own: 2 EUR/h}", "unknown unit"),
        ("hour: {own: {value: 2 USD/h, source: arithmetic, kind: derived}, "
         "rent_always: {value: 9 CNY/h, source: arithmetic, kind: derived}}", "several currencies"),
        ("pue: {value: 0.9, source: arithmetic, kind: derived}", "at least 1"),
        ("supply: {points: [[0.5, 0.9]], source: x}", "two of them or more"),
        ("supply: {points: [[0.5, 0.9], [0.4, 0.9]], source: x}", "rise"),
        ("supply: {points: [[0.1, 0.9], [0.4, 1.9]], source: x}", "at most 1"),
        ("around: {cards: {value: 8, source: arithmetic, kind: derived}, "
         "host: {value: 1 kW, source: arithmetic, kind: derived}}", "'network' is missing"),
        ("", "nothing is priced"),
    ])
    def test_what_cannot_be_gets_one_sentence(self, text, says, tmp_path):
        path = tmp_path / "mine.yml"
        path.write_text(f"name: {{en: mine, zh: 我的}}\n{text}\n", encoding="utf-8")
        with pytest.raises(ParamsError, match=says) as raised:
            catalogue.load_prices(path)
        assert str(raised.value).startswith(str(path))

    def test_a_reader_s_prices_are_those_of_their_card(self, tmp_path):
        path = tmp_path / "mine.yml"
        path.write_text("name: {en: mine, zh: 我的}\nlike: common\ndevice: nvidia-h20\nhour: {own: "
                        "{value: 1 USD/h, source: my own, kind: assumed, date: 2026-03, "
                        "range: [1 USD/h, 2 USD/h]}}\n", encoding="utf-8")
        prices = prices_of("nvidia-h20", str(path))
        assert card_hour("nvidia-h20", prices=prices).per("USD/h") == pytest.approx((1, 1, 2))
        with pytest.raises(ParamsError, match="the deployment runs on 'ascend-910b2'"):
            prices_of("ascend-910b2", str(path))
