"""From when to when the data of a page are: laws over the catalogue, and the sentence."""

from __future__ import annotations

import pytest

import catalogue
from catalogue.reading.shared import sources, stands_on
from catalogue.shipped import values_of
from notebooks.pages.catalogue import dated

CARDS = catalogue.names("devices")


@pytest.mark.parametrize("name", CARDS)
def test_every_date_in_use_lies_between_the_oldest_and_the_newest(name):
    card = catalogue.load_device(name)
    found = dated.dates(card)
    used = [value for keys, value in values_of(card) if "others" not in keys]
    stated = {str(value.date or sources().get(value.source, {}).get("date", found.oldest))
              for value in used}
    assert {found.oldest, found.newest} <= stated
    assert all(found.oldest <= date <= found.newest for date in stated)
    assert found.undated == sum(value.date is None and "read" in sources()[value.source]
                                for value in used)


def test_more_entries_never_narrow_the_dates():
    one, two = (catalogue.load_device(name) for name in ("nvidia-h20", "kunpeng-920"))
    alone, both = dated.dates(one), dated.dates(one, two)
    assert both.oldest <= alone.oldest <= alone.newest <= both.newest
    assert both.undated == alone.undated + dated.dates(two).undated


def test_a_source_without_a_date_is_told_by_the_day_on_which_it_was_read():
    found = dated.dates(catalogue.load_device("kunpeng-920"))
    assert found.undated
    assert found.read == stands_on("llvm-tsv110")


@pytest.fixture
def shown(monkeypatch):
    """What is shown, in both languages."""
    pairs = []
    monkeypatch.setattr(dated, "show", lambda *pair: pairs.append(pair))
    return pairs


@pytest.mark.parametrize(("entry", "en", "zh"), [
    ("deepseek-api-cny", "Data as of 2026-10 (newest source; the oldest is of 2026-06).",
     "数据截至 2026-10（最新来源；最早的来源为 2026-06）。"),
    ("kimi-api-cny", "Data as of 2026-07 (newest source; the oldest is of 2026).",
     "数据截至 2026-07（最新来源；最早的来源为 2026）。"),
])
def test_a_price_list_says_its_newest_and_oldest_source(shown, entry, en, zh):
    dated.as_of(catalogue.load_prices(entry))
    assert shown == [(en, zh)]


@pytest.mark.parametrize(("undated", "en"), [
    (0, "."), (1, "; one value rests on a source without a date, read on 2026-11-20."),
    (3, "; 3 values rest on sources without a date, read by 2026-11-20.")])
def test_what_has_no_date_is_told_apart(shown, monkeypatch, undated, en):
    monkeypatch.setattr(dated, "dates",
                        lambda *_: dated.Dates("2025", "2025", undated, "2026-11-20"))
    dated.as_of()
    [(said, in_chinese)] = shown
    assert said == f"Data as of 2025{en}"
    assert ("未注日期" in in_chinese) == bool(undated)


def test_nothing_is_said_of_what_has_no_date(shown):
    dated.as_of()
    dated.as_of(catalogue.load_model("s0-deepseek-r1"))
    assert not shown
