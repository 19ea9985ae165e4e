"""Loads of a day and failures of servers: what a file holds, and one sentence where it may not."""

import pytest

import catalogue
from catalogue import ParamsError

LOAD = """name: {{en: Mine, zh: 我的}}
hours: {hours}
source: "counted by hand"
kind: measured
variation: {variation}
"""
VARIATION = "{value: 0.2, source: 'counted by hand', kind: measured}"


def written(tmp_path, hours="[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19,"
                            " 20, 21, 22, 23, 24]", variation=VARIATION):
    path = tmp_path / "mine.yml"
    path.write_text(LOAD.format(hours=hours, variation=variation), encoding="utf-8")
    return path


def test_every_load_spreads_a_day_over_its_hours():
    for name in catalogue.names("loads"):
        load = catalogue.load("loads", name)
        rates = load.rates(86_400)
        assert sum(rates) * 3600 == pytest.approx(86_400)
        assert rates[load.busiest] == max(rates) == pytest.approx(load.peak)


def test_a_readers_own_load(tmp_path):
    load = catalogue.load("loads", written(tmp_path))
    assert load.busiest == 23
    assert load.peak == pytest.approx(24 / 12.5)


@pytest.mark.parametrize(("hours", "problem"), [
    ("[1, 2]", "expected 24 numbers"), ("many", "expected 24 numbers"),
    (str([0] * 24), "no hour has any requests"), (str([-1] * 24), "expected numbers of 0 or more"),
    ("[" + "a, " * 23 + "b]", "expected numbers of 0 or more"),
    ("[" + ".inf, " * 23 + "1]", "expected numbers of 0 or more"),
    ("[" + "1, " * 23 + "3.0e+303]", "expected numbers of 0 or more, at most 1e")])
def test_hours_that_are_none_are_one_sentence(tmp_path, hours, problem):
    with pytest.raises(ParamsError, match=problem) as told:
        catalogue.load("loads", written(tmp_path, hours=hours))
    assert "mine.yml:2" in str(told.value)


def test_a_variation_needs_a_source(tmp_path):
    with pytest.raises(ParamsError, match="a source is missing"):
        catalogue.load("loads", written(tmp_path, variation="0.2"))


def test_failures_are_of_known_cards_and_have_ranges():
    seen = []
    for name in catalogue.names("failures"):
        entry = catalogue.load("failures", name)
        seen += entry.devices
        for value in (entry.between_failures, entry.repair, entry.start):
            assert value.low < value.value < value.high
    assert len(seen) == len(set(seen))
