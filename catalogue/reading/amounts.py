"""Numbers for people: four significant digits and a readable unit."""

from __future__ import annotations

_SCALES = {
    "B": [("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1)],
    "B/token": [("MB/token", 1e6), ("B/token", 1)],
    "B/s": [("TB/s", 1e12), ("GB/s", 1e9), ("B/s", 1)],
    "FLOP/s": [("TFLOPS", 1e12), ("FLOP/s", 1)],
    "s": [("s", 1), ("ms", 1e-3), ("us", 1e-6)],
}


def human(value: float | int | None, unit: str) -> str:
    """A number with four significant digits and a readable unit.

    >>> human(28e9, "B/s")
    '28 GB/s'

    Args:
        value: in SI units; None where there is none.
        unit: SI unit, ``1`` for a plain number.
    """
    if value is None:
        return "–"
    for name, factor in _SCALES.get(unit, []):
        if abs(value) >= factor:
            return f"{_digits(value / factor)} {name}"
    text = _digits(value)
    return text if unit == "1" else f"{text} {unit}"


def _digits(number: float) -> str:
    return f"{number:,.0f}" if float(number).is_integer() else f"{number:,.4g}"
