"""Outdated entries of the catalogue, and those that have a newer one."""

from datetime import date

import pytest

from catalogue import shipped

AS_OF = date(2026, 11, 25)


@pytest.fixture(scope="module")
def statements():
    return shipped.statements()


@pytest.mark.parametrize("days", [0, 1, 365, 700, 100_000])
def test_old_statements_are_those_of_at_least_that_age(statements, days):
    old = set(shipped.old(statements, days, AS_OF))
    assert old == {each for each in statements if not each.group and each.age(AS_OF) >= days}
    assert all((AS_OF - shipped.last_day(each.date)).days >= days for each in old if days)
    assert bool(old) == (days < 100_000)


def test_the_newest_of_a_group_supersedes_older_ones(statements):
    newest, superseded = shipped.newest(statements), shipped.superseded(statements)
    assert superseded
    assert not {each.member for each in superseded} & set(newest.values())
    for each in superseded:
        assert not each.member.holds
        assert each.by == newest[each.member.group]
        assert shipped.last_day(each.member.date) < shipped.last_day(each.by.date)


@pytest.mark.parametrize(("stated", "last"), [
    ("2024", date(2024, 12, 31)), ("2024-02", date(2024, 2, 29)), ("2025-03-04", date(2025, 3, 4))])
def test_a_date_counts_from_its_last_day(stated, last):
    assert shipped.last_day(stated) == last
