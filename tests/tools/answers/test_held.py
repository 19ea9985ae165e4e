"""Two sets of answers are held value by value."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.answers.held import held

NUMBERS = st.floats(allow_nan=False, allow_infinity=False, min_value=1e-300, max_value=1e300)


@given(NUMBERS, st.floats(-1e-6, 1e-6))
def test_two_numbers_are_the_same_to_a_billionth_of_the_larger(number: float, by: float) -> None:
    other = number * (1 + by)
    found = held({"a": [number]}, {"a": [other]})
    assert found.values == 1
    assert found.largest == pytest.approx(abs(number - other) / max(number, other), abs=1e-15)
    assert found.same is (found.largest <= 1e-9)
    assert found == held({"a": [number]}, {"a": [other]})


@pytest.mark.parametrize(("one", "other", "at"), [
    ({"a": {"b": "fits"}}, {"a": {"b": "does not"}}, "/a/b"), ({"a": 1}, {"b": 1}, ""),
    ({"a": [1, 2]}, {"a": [1]}, "/a"), ({"a": True}, {"a": False}, "/a"),
    ({"a": 1.0}, {"a": None}, "/a"), ({"a": 1}, {"a": True}, "/a"),
])
def test_what_is_no_number_is_the_same_or_it_differs(one: object, other: object, at: str) -> None:
    found = held(one, other)
    if isinstance(one, dict) and one == other:  # in Python 1 is True
        return
    assert found.others == (at,)
    assert not found.same


@pytest.mark.parametrize(("one", "other", "same"), [
    (0.0, 0.0, True), (0.0, 1e-300, False), (math.nan, math.nan, True), (math.inf, math.inf, True),
    (math.inf, 1.0, False), (-1.0, 1.0, False),
])
def test_numbers_at_the_edge(one: float, other: float, same: bool) -> None:
    assert held(one, other).same is same


def test_the_place_of_the_largest_difference_is_said() -> None:
    found = held({"a": 1.0, "b": [1.0, 2.0]}, {"a": 1.0, "b": [1.0, 2.5]})
    assert (found.values, found.largest, found.at) == (3, 0.2, "/b/1")
