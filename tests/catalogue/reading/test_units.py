"""Units: exact conversion to SI, and refusal of what is not the quantity."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import catalogue
from catalogue import units

FACTORS = {"kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "PB": 10**15,
           "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50}


@pytest.mark.parametrize(("text", "unit", "value"), [
    ("64 GB", "B", 64_000_000_000), ("64 GiB", "B", 68_719_476_736),
    ("200 Gb/s", "B/s", 25_000_000_000), ("200 GB/s", "B/s", 200_000_000_000),
    ("1.6 TB/s", "B/s", 1.6e12), ("1 TiB/s", "B/s", 2**40),
    ("353.9 TFLOPS", "FLOP/s", 353_900_000_000_000), ("707.8 TOPS", "FLOP/s", 707.8e12),
    ("22.8 ms", "s", 0.0228), ("5 us", "s", 5e-6), ("7 ns", "s", 7e-9), ("2 min", "s", 120),
    ("1 h", "s", 3600), ("1 kWh", "J", 3_600_000), ("2.6 GHz", "Hz", 2_600_000_000),
    ("4096", "token", 4096), (0.5, "1", 0.5), ("31k", "token", 31_000), ("2 sec", "s", 2),
    ("4k token", "token", 4000), ("64 users", "request", 64), ("75%", "1", 0.75),
    ("400 Gbps", "B/s", 50_000_000_000), ("8 µs", "s", 8e-6),
    ("50 ms", "s/token", 0.05), ("25 tok/s", "s/token", 0.04)])
def test_conversion_is_exact(text, unit, value):
    assert units.parse(text, unit) == value


@given(st.integers(1, 10**6), st.sampled_from(list(FACTORS)))
def test_integral_bytes_stay_integers(number, unit):
    value = units.parse(f"{number} {unit}", "B")
    assert value == number * FACTORS[unit]
    assert isinstance(value, int)


@pytest.mark.parametrize("text", ["256 Gib", "64 Gbit", "8 bits", "1 b"])
def test_bits_are_refused_as_an_amount_of_bytes(text):
    with pytest.raises(ValueError, match="is in bits"):
        units.parse(text, "B")


@pytest.mark.parametrize(("text", "unit"), [
    ("400 GB", "B/s"), ("400 GB/s", "B"), ("3 token", "request"), ("3", "B"), ("3 W", "J"),
    ("64 mB", "B"), ("1 USD", "CNY"), ("3 USD/h", "USD"), ("3 ms", "USD"), ("5 parsecs", "1"),
    ("nan", "1"), ("inf", "1"), ("1e999", "1"), ("1e400 B", "B"), ("__import__('os')", "1"),
    ("2**99 B", "B"), (True, "1"), ("", "1"), ("5 dimensionless", "1"), ("1" * 5000, "1"),
    ("٦٤ GiB", "B"), ("64 " + "B/" * 20_000 + "B", "B")])
def test_what_is_not_the_quantity_is_refused_in_one_short_clause(text, unit):
    with pytest.raises(ValueError, match=r"^[^\n]{1,200}$"):
        units.parse(text, unit)


@pytest.mark.parametrize(("text", "unit", "expected"), [
    ("3000 GBps", "B/s", "for a bandwidth: write GB/s"), ("128 gb", "B", "write GB"),
    ("128G", "B", "write GB"), ("900 T", "FLOP/s", "write TFLOPS"),
    ("3000", "B/s", "has no unit: write 3000 GB/s or 3 TB/s"),
    ("9e14", "FLOP/s", "has no unit: write 900 TFLOPS"), ("2", "s", "write 2 ms or 2 s"),
    ("1,5 s", "s", "such as 1.5 s"), ("$2/h", "USD/s", "such as 2 USD/h"),
    ("0 token/s", "s/token", "expected more than 0")])
def test_a_refusal_says_what_to_write(text, unit, expected):
    with pytest.raises(ValueError, match=f"{re.escape(expected)}$"):
        units.parse(text, unit)


@pytest.mark.parametrize("unit", ["", "s**2", "9**9**9**9", "((", "s/0", "s\n", "@", "nan"])
def test_unknown_unit(unit):
    with pytest.raises(ValueError, match="unknown unit"):
        units.dimensions(unit)


def test_symbols_have_registered_units_and_only_costs_a_currency():
    for name, symbol in catalogue.symbols().items():
        units.dimensions(symbol.unit)
        currency = any(part in symbol.unit for part in ("USD", "CNY"))
        assert currency == name.startswith(("cost", "price", "money")), name
