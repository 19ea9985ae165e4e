"""A printed number: what its digits can be held to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalogue.reading.printed import read

NUMBERS = st.floats(1e-3, 1e6)


@pytest.mark.parametrize(("raw", "number", "held"), [
    ("58000 token/s", 57_856, True), ("58000 token/s", 57_400, False), ("400 W", 404, True),
    ("400 W", 410, False), ("5.7 ms", 0.00571, True), ("5.7 ms", 0.00576, False),
    ("80 %", 0.804, True), ("80 %", 0.81, False), ("2.75e15 FLOP", 2.748e15, True),
    ("0.070 MiB", 0.067 * 2**20, False), (["30 %", "50 %"], 0.41, True),
    (["30 %", "50 %"], 0.52, False), ("-4 %", -0.04, True), ("80", 84, False)])
def test_digits_are_what_a_number_can_be_held_to(raw, number, held):
    assert read(raw).holds(number) is held


@given(NUMBERS, st.integers(2, 6))
def test_a_number_holds_what_rounds_to_it(number, digits):
    written = f"{number:.{digits}f}"
    if float(written):
        assert read(written).holds(number)


@given(NUMBERS, NUMBERS)
def test_two_numbers_are_the_same_either_way_about(one, other):
    first, second = read(f"{one:.3g}"), read(f"{other:.3g}")
    assert first.same(second) == second.same(first)
    assert first.same(first)


def test_another_number_is_written_in_its_unit():
    assert read("46.2 GiB").like(2 * 2**30) == "2 GiB"
    assert read("80 %").like(0.5) == "50 %"
    assert read("51200 token/s").like(1711.1) == "1,710 token/s"  # zeros at the end claim nothing
    assert read("1711.5 token/s").like(916.56) == "916.56 token/s"
    assert read("671e9").like(671e9) == "6.71×10¹¹"
    assert read(["30 %", "50 %"]).text == "30–50 %"


@pytest.mark.parametrize(("raw", "says"), [
    (["5 ms", "3 ms"], "expected the lower end first"), (["5 ms", "6 GB"], "two units"),
    ("five", "not a quantity"), ([1, 2, 3], "a pair of them"), ("5 parsec", "unknown unit"),
    ({"value": 3}, "a pair of them")])
def test_what_is_no_printed_number(raw, says):
    with pytest.raises(ValueError, match=says):
        read(raw)
