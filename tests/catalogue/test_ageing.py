"""What is old in the catalogue, and what has a newer one: laws over all of it."""

from __future__ import annotations

from datetime import date

import pytest

from catalogue import ParamsError, ageing
from catalogue.reading import shared
from catalogue.reading.shared import sources, stands_on

AS_OF = date(2026, 11, 25)
BOUNDS = (0, 1, 365, 700, 100_000)


@pytest.fixture(scope="module")
def found():
    return ageing.statements()


@pytest.mark.parametrize("days", BOUNDS)
def test_all_that_is_as_old_is_listed_and_nothing_younger(found, days):
    old = ageing.old(found, days, AS_OF)
    assert all((AS_OF - ageing.last_day(each.date)).days >= days for each in old if days)
    left = set(found) - set(old)
    assert all(each.age(AS_OF) < days for each in left if not each.group)
    assert {each for each in found if not each.group} == set(old) or days
    assert days < 100_000 or not old


def test_a_later_day_lists_no_less(found):
    assert set(ageing.old(found, 365, AS_OF)) <= set(ageing.old(found, 365, date(2027, 3, 1)))


def test_the_newest_of_a_group_is_never_superseded(found):
    newest, passed = ageing.newest(found), ageing.superseded(found)
    assert passed
    assert not {each.member for each in passed} & set(newest.values())
    for each in passed:
        assert not each.member.holds
        assert each.by == newest[each.member.group]
        assert ageing.last_day(each.member.date) < ageing.last_day(each.by.date)


@pytest.mark.parametrize(("stated", "last"), [
    ("2024", date(2024, 12, 31)), ("2024-02", date(2024, 2, 29)), ("2025-03-04", date(2025, 3, 4))])
def test_a_date_counts_from_its_last_day(stated, last):
    assert ageing.last_day(stated) == last


def test_each_source_has_a_date_or_the_day_on_which_it_was_read():
    """Arithmetic alone has neither: it is as old as what it adds."""
    assert {key for key in sources() if stands_on(key) is None} == {"arithmetic"}
    assert not {key for key, entry in sources().items() if "date" in entry and "read" in entry}


def test_what_prints_no_date_is_as_old_as_the_day_on_which_it_was_read(found):
    undated = {key: entry for key, entry in sources().items() if "read" in entry}
    of_them = [each for each in found if each.what in undated]
    assert of_them
    assert any(each.date == str(undated[each.what]["read"]) for each in of_them)


@pytest.mark.parametrize(("line", "said"), [
    ("date: 2026-02-30", "mine.yml:3: '2026-02-30' is not a date"),
    ("read: lately", "mine.yml:3: 'lately' is not a date"),
    ("seen: 2026", "mine.yml:3: unknown key 'seen', expected title, url, date, read or note."),
])
def test_a_source_whose_day_is_none_is_refused_with_its_line(tmp_path, line, said):
    (tmp_path / "mine.yml").write_text(f"mine:\n  title: Mine\n  {line}\n", encoding="utf-8")
    with pytest.raises(ParamsError) as refused:
        shared._sources(tmp_path)
    assert said in str(refused.value)
