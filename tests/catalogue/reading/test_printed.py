"""Printed numbers: which computed values their digits admit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalogue.reading.values import read

NUMBERS = st.floats(1e-3, 1e6)
REWRITTEN = [
    ("46.2 GiB", 2 * 2**30, "2 GiB"), ("80 %", 0.5, "50 %"), ("671e9", 671e9, "6.71×10¹¹"),
    ("51200 token/s", 1711.1, "1,710 token/s"),  # zeros at the end claim nothing
    ("1711.5 token/s", 916.56, "916.56 token/s")]


@pytest.mark.parametrize(("raw", "number", "holds"), [
    ("58000 token/s", 57_856, True), ("58000 token/s", 57_400, False), ("400 W", 404, True),
    ("400 W", 410, False), ("5.7 ms", 0.00571, True), ("5.7 ms", 0.00576, False),
    ("80 %", 0.804, True), ("80 %", 0.81, False), ("0.070 MiB", 0.067 * 2**20, False),
    (["30 %", "50 %"], 0.41, True), (["30 %", "50 %"], 0.52, False), ("80", 84, False)])
def test_digits_decide_which_numbers_agree(raw, number, holds):
    assert read(raw).holds(number) is holds


@given(NUMBERS, st.integers(2, 6))
def test_a_number_holds_what_rounds_to_it(number, digits):
    written = f"{number:.{digits}f}"
    if float(written):
        assert read(written).holds(number)


@pytest.mark.parametrize(("printed", "number", "text"), REWRITTEN)
def test_another_number_is_written_with_the_same_unit_and_digits(printed, number, text):
    assert read(printed).like(number) == text


@pytest.mark.parametrize(("raw", "message"), [
    (["5 ms", "3 ms"], "expected the lower end first"), (["5 ms", "6 GB"], "two units"),
    ("five", "not a quantity"), ([1, 2, 3], "a pair of them"), ("5 parsec", "unknown unit")])
def test_what_is_no_printed_number(raw, message):
    with pytest.raises(ValueError, match=message):
        read(raw)
