"""What a short run leaves out of a series, and what fits into a time."""

from __future__ import annotations

from types import SimpleNamespace

import _short as run
import pytest

CASES = [f"tests/test_laws.py::test_law[{number}]" for number in range(98)]


def test_of_a_series_a_tenth_stands_for_all_the_same_each_time() -> None:
    kept = run.drawn(CASES)
    assert len(kept) == 10
    assert kept == run.drawn(reversed(CASES))
    assert kept != run.drawn(CASES, "other")


def test_tests_of_a_file_have_the_same_cases() -> None:
    def chosen(name: str) -> set[str]:
        return {case.partition("[")[2] for case in run.drawn(
            case.replace("test_laws.py::test_law", name) for case in CASES)}

    assert chosen("test_laws.py::test_law") == chosen("test_laws.py::TestOther::test_rule")
    assert chosen("test_laws.py::test_law") != chosen("test_more.py::test_law")


def test_a_few_cases_all_run_unless_one_stands_for_them() -> None:
    assert run.drawn(CASES[:run.SERIES]) == set(CASES[:run.SERIES])
    assert len(run.drawn(CASES[:run.SERIES], one=True)) == 1


def test_every_test_that_is_not_slow_keeps_a_case(request: pytest.FixtureRequest) -> None:
    """Of this run's own tests too."""
    items = request.session.items
    kept = {item.nodeid.partition("[")[0] for item in run.short(items)}
    assert kept == {item.nodeid.partition("[")[0] for item in items if not run.is_slow(item)}


def test_the_shortest_have_the_time_in_their_order() -> None:
    items = [SimpleNamespace(nodeid=name) for name in "abcd"]
    recorded = {"a": 2.0, "b": 9.0, "c": 1.0}
    assert [item.nodeid for item in run.within(items, 3.5, recorded)] == ["a", "c", "d"]


def test_the_longest_file_is_first() -> None:
    items = [SimpleNamespace(nodeid=name, path=name[0]) for name in ("a1", "b1", "a2", "b2")]
    recorded = {"a1": 1.0, "b2": 2.0}
    assert [item.nodeid for item in run.longest_first(items, recorded)] == ["b1", "b2", "a1", "a2"]
