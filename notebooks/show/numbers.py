"""How pages ask for numbers: by digits, by unit, or like a document's. All is written by
``catalogue.reading.units``. GB is 10^9 bytes, GiB is 2^30, and each is named."""

from __future__ import annotations

import math
import re

from catalogue import units
from catalogue.reading.units import NONE, fixed, human, plain, power_of_ten

BIG = (12, 9)  # powers of ten that counts are multiples of


def fmt_int(value: float) -> str:
    """A whole number with thousands separators: ``671,026,419,200``.

    Raises ValueError for a number that is not whole, but for what floating point leaves of a mean
    over layers: it would be rounded unseen.
    """
    whole = round(value)
    if not math.isclose(value, whole, rel_tol=1e-12):
        raise ValueError(f"{value} is not a whole number")
    return fixed(whole, 0)


def fmt_fixed(value: float, digits: int = 2) -> str:
    """A number with so many decimals and thousands separators; halves are rounded up."""
    return fixed(value, digits)


def fmt_in(value: float, unit: str, digits: int = 2) -> str:
    """A number (SI) in a unit that its heading names, with so many decimals: ``30.4`` of ms."""
    return fixed(value / units.factor(unit), digits)


def fmt_sig(value: float, digits: int | None = None) -> str:
    """A number with so many significant digits, three or four unless told, without an exponent."""
    return plain(value, digits)


def fmt_bytes(value: float, unit: str = "GB", digits: int = 2) -> str:
    """Bytes in a named unit, never a guessed one: ``169.56 GB``."""
    return f"{fixed(value / units.factor(unit), 0 if unit == 'B' else digits)} {unit}"


def fmt_count(value: float, digits: int = 2) -> str:
    """A large count as a multiple of 10⁹ (or 10¹²): ``36.63×10⁹``, the same in both languages."""
    return power_of_ten(value, digits + 1, next((n for n in BIG if abs(value) >= 10**n), BIG[-1]))


def fmt_power(value: float, power: int, digits: int) -> str:
    """A number as a multiple of a power of ten."""
    return power_of_ten(value, digits + 1, power)


def fmt_percent(value: float, digits: int = 1) -> str:
    """A share as a percentage: ``97.4%``."""
    return f"{fixed(100 * value, digits)}%"


def fmt_time(value: float) -> str:
    """Seconds in a unit of their size."""
    return human(value, "s")


def fmt_quantity(value: float | None, unit: str, lang: str = "en") -> str:
    """A quantity in the unit that readers use for it; what is counted has none."""
    return human(value, units.DIMENSIONLESS if unit in _COUNTED else unit, lang)


def fmt_written(written: str) -> str:
    """A quantity as a document writes it, with thousands separators and without a counted unit."""
    number, unit = units.split(written)
    grouped = fixed(int(number), 0) if number.isdigit() else number
    return grouped if unit in _COUNTED else f"{grouped} {units.SIGNS.get(unit, unit)}".rstrip()


def fmt_like(value: float | None, written: str) -> str:
    """A number (SI) in the unit in which a document wrote another, so that the two compare, and
    with no fewer digits than it has."""
    if value is None:
        return NONE
    number, unit = units.split(written)
    if unit in units.COUNTING:
        return fmt_int(round(value))
    scaled, of_theirs = value / units.factor(unit), sum(map(str.isdigit, number.lstrip("0.")))
    shown = max(plain(scaled), plain(scaled, of_theirs or None), key=len)
    return shown if unit == units.DIMENSIONLESS else f"{shown} {units.SIGNS.get(unit, unit)}"


def signed(text: str) -> str:
    """Values of a file with the signs of their units as readers write them.

    >>> signed("3.82 us (3.13 us – 5.45 us)")
    '3.82 µs (3.13 µs – 5.45 µs)'
    """
    return re.sub(rf"(?<=\d )({'|'.join(units.SIGNS)})\b", lambda unit: units.SIGNS[unit[0]], text)


_COUNTED = ("1", "request", "token", "token/request", "block")
