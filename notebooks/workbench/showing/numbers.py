"""How numbers are written, in one place. GB is 10^9 bytes, GiB is 2^30, and each is named."""

from __future__ import annotations

import math

from catalogue import units

_BYTES = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
          "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def fmt_int(value: float) -> str:
    """A whole number with thousands separators: ``671,026,419,200``.

    Raises ValueError for a number that is not whole: it would be rounded unseen.
    """
    if value != int(value):
        raise ValueError(f"{value} is not a whole number")
    return f"{int(value):,}".replace("-", "−")


def fmt_bytes(value: float, unit: str = "GB", digits: int = 2) -> str:
    """Bytes in a named unit, never a guessed one: ``169.56 GB``."""
    return f"{fmt_fixed(value / _BYTES[unit], 0 if unit == 'B' else digits)} {unit}"


def fmt_fixed(value: float, digits: int = 2) -> str:
    """A number with so many decimals and thousands separators; halves are rounded up."""
    # 3.675 is 3.68, 120.5 is 121, -0.3 is 0
    return f"{value * (1 + 1e-12):z,.{digits}f}".replace("-", "−")


def fmt_sig(value: float, digits: int = 3) -> str:
    """A number with so many significant digits, without an exponent up to a million."""
    if value == 0:
        return "0"
    power = math.floor(math.log10(abs(float(f"{value:.{digits - 1}e}"))))
    if -4 <= power < 6:
        return fmt_fixed(value, max(0, digits - 1 - power))
    return fmt_power(value, power, digits - 1)


def fmt_count(value: float, digits: int = 2) -> str:
    """A large count as a multiple of 10⁹ (or 10¹²): ``36.63×10⁹``, the same in both languages."""
    return fmt_power(value, 12 if abs(value) >= 10**12 else 9, digits)


def fmt_power(value: float, power: int, digits: int) -> str:
    """A number as a multiple of a power of ten."""
    return f"{fmt_fixed(value / 10**power, digits)}×10{str(power).translate(_SUPERSCRIPT)}"


def fmt_percent(value: float, digits: int = 1) -> str:
    """A share as a percentage: ``97.4%``."""
    return f"{fmt_fixed(100 * value, digits)}%"


def fmt_time(value: float, digits: int = 1) -> str:
    """Seconds as milliseconds below one second, else as seconds."""
    return f"{fmt_fixed(value * 1e3, digits)} ms" if value < 1 else f"{fmt_fixed(value)} s"


def fmt_quantity(value: float | None, unit: str) -> str:
    """A quantity of ours in the unit that readers use for it; a dash where there is none.

    Bytes as GB, times as ms or s, bandwidth as TB/s, compute as TFLOPS; counts stay whole.
    """
    if value is None:
        return "–"
    if unit == "s":
        return fmt_time(value)
    if unit in _READABLE:
        name, factor, digits = _READABLE[unit]
        return f"{fmt_fixed(value / factor, digits)} {name}"
    text = fmt_int(value) if value == int(value) and abs(value) < 1e15 else fmt_sig(value, 4)
    return text if unit in _COUNTED else f"{text} {unit}"


def fmt_written(written: str) -> str:
    """A quantity as a document writes it, with thousands separators and without a counted unit."""
    number, unit = units.split(written)
    grouped = f"{int(number):,}" if number.isdigit() else number
    return grouped if unit in _COUNTED else f"{grouped} {_SIGNS.get(unit, unit)}".rstrip()


def fmt_like(value: float | None, written: str) -> str:
    """A number (SI) in the unit in which a document wrote another, so that the two compare."""
    if value is None:
        return "–"
    number, unit = units.split(written)
    if unit in units.COUNTING:
        return fmt_int(round(value))
    scaled = value / units.factor(unit)
    unit = "" if unit == units.DIMENSIONLESS else _SIGNS.get(unit, unit)
    if abs(scaled) < 1 and scaled:
        return f"{fmt_sig(scaled)} {unit}".rstrip()
    decimals = len(number.partition(".")[2])
    digits = 2 if abs(scaled) < 100 else min(decimals, 2)
    return f"{fmt_fixed(scaled, digits)} {unit}".rstrip()


_SIGNS = {"us": "µs"}
_COUNTED = ("1", "request", "token", "token/request", "block")
_READABLE = {
    "B": ("GB", 1e9, 2), "B/s": ("TB/s", 1e12, 2), "FLOP/s": ("TFLOPS", 1e12, 1),
    "token/s": ("token/s", 1, 0),
}
