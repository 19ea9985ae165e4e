"""The tables that stand where a browser runs no scripts: what a row and a heading say."""

from __future__ import annotations

import re

import pytest

from catalogue.messages import LANGUAGES
from notebooks.pages.calculators import page
from notebooks.pages.calculators.words import WORDS
from notebooks.show.numbers import fmt_bytes

LAYOUT = re.compile(r"TP\d+(×DP\d+)?/EP\d+$")


@pytest.mark.parametrize("view", [page.MEMORY, page.SPEED, page.COST])
def test_a_row_names_cards_in_its_language_and_how_they_are_laid_out(view):
    head, rows = page.TABLES[view]()
    assert head[0] == page.say("row")
    for name, *_ in rows:
        for place, text in enumerate(name):
            assert LAYOUT.search(text), text
            assert ("Ascend" in text) <= (LANGUAGES[place] == "en")
            assert ("昇腾" in text) <= (LANGUAGES[place] == "zh")


def test_the_cache_is_that_of_requests_of_mean_length_at_their_end():
    for scenario, answer in page.table_estimates():
        found = {**scenario.inputs(), **answer.everything}
        assert found["context_tokens"] == found["input_tokens"] + found["output_tokens"]
    head, rows = page.TABLES[page.MEMORY]()
    place = head.index(page.say("of-one-card", what=WORDS["cache"]))
    assert [row[place] for row in rows] == [
        fmt_bytes(float(answer.everything["kv_per_device"]), digits=1)
        for _, answer in page.table_estimates()]
    assert "mean" in WORDS["cache"][0]
    assert "平均" in WORDS["cache"][1]


def test_times_and_rates_are_told_as_the_medians_that_they_are():
    head, rows = page.TABLES[page.SPEED]()
    assert all("median" in en and "中位数" in zh for en, zh in head[1:])
    for (_, *told), (_, answer) in zip(
            rows, [each for each in page.table_estimates() if each[1].fits], strict=True):
        for pair, name in zip(told, ("steady_tpot", "steady_ttft", "steady_throughput"),
                              strict=True):
            value = answer.quantities[name].value
            number = float(re.match(r"[\d,.]+", pair[0])[0].replace(",", ""))
            assert number == pytest.approx(value * (1 if name.endswith("put") else 1e3), rel=0.01)
