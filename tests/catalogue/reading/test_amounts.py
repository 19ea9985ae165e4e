"""Numbers written for people: readable back, monotone, without exponents."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalogue.reading.units import MONEY, SCALES, WORDS, human, plain, rounded, span

UNITS = [*SCALES, *MONEY, "token/s", "request/s", "1"]
SIZES = st.floats(1e-3, 1e12)
FACTORS = {name: factor for scales in SCALES.values() for name, factor in scales}
HALF = 0.5 * 10**-2  # of the last of three digits, at its largest beside the number
EXAMPLES = [
    (37482.7, "token/s", "37,480 token/s", "37,480 token/s"),
    (1.583e6, "USD", "1.58 million USD", "158 万美元"),
    (1000.0, "request", "1,000 requests", "1,000 个请求"), (1, "request", "1 request", "1 个请求"),
    (2.5e8, "CNY", "250 million CNY", "2.5 亿元"), (0.99996, "s", "1 s", "1 s"),
    (-3.2e9, "B", "−3.2 GB", "−3.2 GB"), (70_272, "B/token", "70,272 B/token", "70,272 B/token"),
    (3e-6, "s", "3 µs", "3 µs"), (None, "s", "–", "–"), (math.inf, "1", "∞", "∞")]


def read_back(text, lang):
    number, rest = re.fullmatch(r"([−\d,.]+)(.*)", text).groups()
    value = float(number.replace(",", "").replace("−", "-"))
    for word, factor in WORDS[lang][::-1]:
        if rest.startswith(word):
            return value * factor
    return value * FACTORS.get(rest.strip(), 1.0)


@pytest.mark.parametrize(("value", "unit", "en", "zh"), EXAMPLES)
def test_examples(value, unit, en, zh):
    assert (human(value, unit), human(value, unit, "zh")) == (en, zh)


@given(SIZES, st.sampled_from(UNITS), st.sampled_from(["en", "zh"]))
def test_a_number_reads_back_within_half_its_last_digit(value, unit, lang):
    text = human(value, unit, lang)
    assert "e+" not in text
    assert read_back(text, lang) == pytest.approx(value, rel=HALF)


@given(SIZES, SIZES, st.sampled_from(UNITS))
def test_formatting_is_monotone(one, other, unit):
    less, more = sorted((one, other))
    assert read_back(human(less, unit), "en") <= read_back(human(more, unit), "en") * (1 + 1e-12)
    assert span(less, more, unit).endswith(human(more, unit))


@given(st.floats(1e-300, 1e300))
def test_rounding_to_three_or_four_digits(value):
    assert rounded(value) == pytest.approx(value, rel=HALF)
    assert rounded(rounded(value)) == rounded(value)
    assert "e" not in plain(value)
