"""Prices as data: a service's lists through time, dates on every price, and one sentence if not."""

from itertools import pairwise

import pytest

import catalogue
from catalogue import ParamsError

CARD = """\
name: {en: ours, zh: 自有}
like: common
device: ascend-910b2
hour: {own: {value: 8 CNY/h, source: An offer of a dealer, kind: assumed, date: 2026-03}}
"""
SERVICE = """\
name: {en: a service, zh: 某服务}
defaults: {source: Their page, kind: vendor, date: 2026-03}
sold:
  old: {since: 2025-01, until: 2026-02, input: 4 CNY/Mtoken, output: 16 CNY/Mtoken}
  day: {since: 2026-03, hours: peak, input: 2 CNY/Mtoken, output: 8 CNY/Mtoken}
  night: {since: 2026-03, hours: off-peak, input: 1 CNY/Mtoken, output: 4 CNY/Mtoken}
"""


@pytest.fixture
def load(tmp_path):
    """Prices from the text of a file."""
    def load(text):
        path = tmp_path / "mine.yml"
        path.write_text(text, encoding="utf-8")
        return catalogue.load_prices(str(path))

    return load


def test_lists_without_an_end_hold_today(load):
    assert list(load(SERVICE).sold) == ["old", "day", "night"]
    assert list(load(SERVICE).holding) == ["day", "night"]


def test_a_service_may_have_one_list_without_a_name(load):
    prices = load("name: {en: a, zh: 甲}\nsold:\n  input: {value: 4 CNY/Mtoken, source: A page, "
                  "kind: vendor, date: 2026-03}\n  output: {value: 8 CNY/Mtoken, source: A page, "
                  "kind: vendor, date: 2026-03}\n")
    assert list(prices.holding) == ["now"]


def test_the_maker_s_lists_follow_one_another():
    """Of each model that is sold at all hours no two lists hold on one day."""
    lists = catalogue.load_prices("deepseek-api").sold.values()
    starts = [sold.since for sold in lists if sold.hours != "peak"]
    assert len(starts) == len([start for start in starts if start])
    by_model = {}
    for sold in lists:
        by_model.setdefault((sold.model["en"], sold.hours), []).append(sold)
    for several in by_model.values():
        assert all(before.until and before.until <= after.since
                   for before, after in pairwise(several))
    assert any(sold.until is None for sold in lists)


@pytest.mark.parametrize(("old", "new", "said"), [
    (", date: 2026-03", "", "a price without a date"),
    ("8 CNY/h", "8", "USD/s"),
    ("8 CNY/h", "8 EUR/h", "EUR"),
])
def test_a_price_of_a_card_without_currency_or_date_is_a_sentence(load, old, new, said):
    with pytest.raises(ParamsError, match=said) as failed:
        load(CARD.replace(old, new))
    assert "mine.yml:4" in str(failed.value)
    assert "\n" not in str(failed.value)


@pytest.mark.parametrize(("old", "new", "said"), [
    ("until: 2026-02", "until: 2024-02", "before 'since'"),
    ("output: 4 CNY", "output: 4 USD", "several currencies"),
    ("hours: peak", "hours: lunch", "hours"),
    ("date: 2026-03}\nsold:\n  old: {since: 2025-01, ", "}\nsold:\n  old: {", "without a date"),
])
def test_a_list_that_cannot_be_is_a_sentence(load, old, new, said):
    assert old in SERVICE
    with pytest.raises(ParamsError, match=said) as failed:
        load(SERVICE.replace(old, new))
    assert "\n" not in str(failed.value)
