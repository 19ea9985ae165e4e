"""How a number is written for people, in one place: its digits, its unit, its interval.

Commands, pages of both languages, reports and files that watch a deployment write with this module;
``book/assets/calculators/numbers.js`` says the same for the calculators, and a test holds both to
the same text. A number is rounded to three digits that count, to four from a thousand on; no
exponent is written, and the unit is chosen by the size. A whole count is written whole.
"""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Context, Decimal

from catalogue.reading import units

NONE = "–"  # where there is no number
MINUS = "−"
DIGITS, MORE = 3, 4  # that count: below a thousand, and from there on
GROUP = 1000
SMALLEST, LARGEST = 1e-4, 1e15  # outside of these a number is a multiple of a power of ten
EXACT_DIGITS = 5  # digits of what is exact
LARGEST_INTEGER = 10**9  # whole counts below it are written whole
WIDE = Context(prec=400)  # digits of any number of floating point
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

Scales = tuple[tuple[str, float], ...]  # units of a dimension and what one of each is in SI

SCALES: dict[str, Scales] = {
    "B": (("B", 1), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12), ("PB", 1e15)),
    "B/token": (("B/token", 1), ("MB/token", 1e6)),
    "B/s": (("B/s", 1), ("kB/s", 1e3), ("MB/s", 1e6), ("GB/s", 1e9), ("TB/s", 1e12)),
    "FLOP": (("FLOP", 1), ("GFLOP", 1e9), ("TFLOP", 1e12)),
    "FLOP/s": (("FLOP/s", 1), ("GFLOPS", 1e9), ("TFLOPS", 1e12)),
    "s": (("ns", 1e-9), ("µs", 1e-6), ("ms", 1e-3), ("s", 1)),
    "W": (("W", 1), ("kW", 1e3), ("MW", 1e6)),
    "J": (("J", 1), ("kJ", 1e3), ("MJ", 1e6)),
}
WORDS: dict[str, Scales] = {  # of what has no larger unit of its own
    "en": ((" million", 1e6), (" billion", 1e9), (" trillion", 1e12)),
    "zh": ((" 万", 1e4), (" 亿", 1e8), (" 万亿", 1e12)),
}
FROM = 1e6  # from where on words are used: three digits are left then, in either language
MONEY = {"USD": "美元", "CNY": "元"}  # in Chinese, after the number and its word
COUNTS = {"request": "个请求", "block": "个块"}  # in Chinese
COUNTED = ("1", *units.COUNTING, "B/token", "token/request")


def human(value: float | int | None, unit: str = "1", lang: str = "en",
          digits: int | None = None) -> str:
    """A number with a readable unit.

    >>> human(28e9, "B/s"), human(37482.7, "token/s"), human(0.030421, "s")
    ('28 GB/s', '37,480 token/s', '30.4 ms')
    >>> human(1.583e6, "USD"), human(1.583e6, "USD", "zh"), human(1000.0, "request")
    ('1.58 million USD', '158 万美元', '1,000 requests')

    Args:
        value: in SI units; None where there is none.
        unit: SI unit, ``1`` for a plain number.
        lang: ``en`` or ``zh``; digits are the same in either.
        digits: that count, three or four unless told.
    """
    if value is None or math.isnan(value):
        return NONE
    name, factor = _scale(value, unit, lang)
    return _of(value, factor, unit, digits) + name


def span(low: float | int, high: float | int, unit: str = "1", lang: str = "en", *,
         of: float | int | None = None) -> str:
    """An interval, both ends in the unit of the larger, or of the number whose interval it is.

    >>> span(0.0279, 0.0553, "s"), span(-2e9, 3e9, "B"), span(0.367, 1.44, "s", of=0.807)
    ('27.9–55.3 ms', '−2 to 3 GB', '367–1,440 ms')
    """
    name, factor = _scale(of or max(low, high, key=abs), unit, lang)
    ends = [_of(end, factor, unit) for end in (low, high)]
    return (" to " if lang == "en" and low < 0 else " ～ " if low < 0 else NONE).join(ends) + name


def rounded(value: float | int, digits: int | None = None) -> float:
    """A number with so many digits that count, halves away from zero; three or four unless told."""
    if not value or not math.isfinite(value):
        return float(value)
    if digits is None:
        digits = DIGITS if abs(rounded(value, DIGITS)) < GROUP else MORE
    number = Decimal(repr(float(value)))
    step = Decimal(1).scaleb(number.adjusted() - digits + 1)
    return float((number / step).quantize(Decimal(1), ROUND_HALF_UP, context=WIDE) * step)


def plain(value: float | int, digits: int | None = None) -> str:
    """A number without a unit: ``37,480``, ``0.0304``, ``−2``, ``6.71×10¹⁶``; three or four digits
    that count unless told, and no zeros behind its last one."""
    if not math.isfinite(value):
        return "∞" if value > 0 else f"{MINUS}∞"
    number = rounded(value, digits)
    if number and not SMALLEST <= abs(number) < LARGEST:
        return power_of_ten(number, digits or DIGITS)
    decimals = -int(Decimal(repr(number)).normalize().as_tuple().exponent)
    return fixed(number, max(0, decimals))


def fixed(value: float, decimals: int) -> str:
    """A number with so many decimals and thousands apart; halves are rounded away from zero."""
    # 3.675 is 3.68, 120.5 is 121, -0.3 is 0
    exact = Decimal(value if isinstance(value, int) else repr(float(value)))
    number = exact.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP, context=WIDE)
    return f"{number:z,f}".replace("-", MINUS)


def power_of_ten(value: float, digits: int = DIGITS, power: int | None = None) -> str:
    """With so many digits that count, or as a multiple of a stated power.

    >>> power_of_ten(671e9), power_of_ten(1e-320)
    ('6.71×10¹¹', '1.00×10⁻³²⁰')
    """
    if power is None:
        power = Decimal(repr(float(rounded(value, digits)))).adjusted()
    of_ten = float(Decimal(repr(float(value))).scaleb(-power))  # 10.0**-324 is zero
    return f"{fixed(of_ten, digits - 1)}×10{str(power).translate(RAISED)}"


def _of(value: float | int, factor: float, unit: str, digits: int | None = None) -> str:
    """Digits of a number in a unit or word of that size."""
    is_count = (factor == 1 and unit in COUNTED and abs(value) < LARGEST_INTEGER
                and float(value).is_integer())
    if is_count:
        return fixed(value, 0)
    return plain(value / factor, digits or (None if unit in SCALES or factor == 1 else DIGITS))


def _scale(value: float | int, unit: str, lang: str) -> tuple[str, float]:
    """What stands behind a number, and the size of that: of unit and word."""
    size = abs(rounded(value)) if math.isfinite(value) else 0.0
    if unit in SCALES:
        scales = SCALES[unit]
        if not size:
            return f" {unit}", 1.0
        fitting = [pair for pair in scales if size >= pair[1]] or [scales[0]]
        return f" {fitting[-1][0]}", fitting[-1][1]
    counted = unit in COUNTED and size < LARGEST_INTEGER and float(value).is_integer()
    fitting = [] if counted or size < FROM else [
        pair for pair in WORDS[lang] if size >= pair[1]]
    word, factor = fitting[-1] if fitting else ("", 1.0)
    named = "" if unit == units.DIMENSIONLESS else _named(unit, lang, value)
    gap = "" if not named or (word and lang == "zh" and not named[0].isascii()) else " "
    return f"{word}{gap}{named}", factor


def _named(unit: str, lang: str, value: float) -> str:
    """A unit as it is read; what is counted has a plural in English; requests and money have
    their own names in Chinese."""
    if unit in units.COUNTING:
        return COUNTS.get(unit, unit) if lang == "zh" else unit + "s" * (abs(value) != 1)
    first, stroke, rest = unit.partition("/")
    return f"{MONEY.get(first, first) if lang == 'zh' else first}{stroke}{rest}"
