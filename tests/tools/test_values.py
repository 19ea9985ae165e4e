"""Nested values are compared number by number."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.values import MISSING, Difference, differences, relative_difference

NUMBERS = st.floats(min_value=1e-300, max_value=1e300)


@given(NUMBERS, st.floats(-1e-6, 1e-6))
def test_tolerance_is_relative_and_symmetric(number: float, change: float) -> None:
    other = number * (1 + change)
    relative = relative_difference(number, other)
    assert relative == pytest.approx(abs(number - other) / max(number, other), abs=1e-15)
    assert bool([*differences([number], [other], 1e-9)]) is (relative > 1e-9)
    assert relative == relative_difference(other, number)


@pytest.mark.parametrize(("old", "new", "path"), [
    ({"a": {"b": "fits"}}, {"a": {"b": "refused"}}, "a/b"), ({"a": [1, 2]}, {"a": [1, 3]}, "a/1"),
    ({"a": True}, {"a": False}, "a"), ({"a": True}, {"a": 1}, "a"), ({"a": 1.0}, {"a": None}, "a"),
    ({"a": 1}, {"a": "1"}, "a"), ([{"a": 1}], [{"a": []}], "0/a"),
])
def test_path_of_a_difference(old: object, new: object, path: str) -> None:
    assert [each.path for each in differences(old, new, 1e-9)] == [path]


def test_keys_and_items_that_one_side_lacks() -> None:
    assert [*differences({"a": 1, "b": 2}, {"a": 1, "c": [3]}, 0)] == [
        Difference("b", 2, MISSING), Difference("c", MISSING, [3])]
    assert [*differences([1, 2], [1], 0)] == [Difference("1", 2, MISSING)]


@pytest.mark.parametrize(("one", "other", "equal"), [
    (0.0, 0.0, True), (0.0, 1e-300, False), (math.nan, math.nan, True), (math.inf, math.inf, True),
    (math.inf, 1.0, False), (math.nan, 1.0, False), (-1.0, 1.0, False), (2, 2.0, True),
])
def test_limits_of_numbers(one: float, other: float, equal: bool) -> None:
    assert (not [*differences(one, other, 1e-9)]) is equal
