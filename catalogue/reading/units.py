"""Units: text such as ``1.6 TB/s`` as an SI number, and numbers as text with a unit.

The table holds only what the parameter files may use. Bytes, operations, tokens, requests,
blocks and currencies are dimensions of their own, so ``400 GB`` where a rate belongs is refused.
``GB`` is 10^9 bytes and ``GiB`` is 2^30; ``Gbit`` (or ``Gb``) is 10^9 bits.
"""

from __future__ import annotations

import functools
import math
import re
import unicodedata
from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from typing import Any, TypeVar

MINUTE, HOUR, DAY, YEAR = 60, 3600, 86400, 31536000  # s

_PREFIXES = {"k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15,
             "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40, "Pi": 1 << 50}
_INFORMATION, _OPERATION, _TIME, _ENERGY = (
    {name: 1} for name in ("information", "operation", "time", "energy"))
_PER_TIME = {"time": -1}
_DEFINED: tuple[tuple[str, int | Fraction, dict[str, int]], ...] = (
    ("byte B", 1, _INFORMATION), ("bit b", Fraction(1, 8), _INFORMATION),
    ("FLOP", 1, _OPERATION), ("FLOPS OPS", 1, _OPERATION | _PER_TIME),
    ("second s", 1, _TIME), ("millisecond ms", Fraction(1, 10**3), _TIME),
    ("microsecond us", Fraction(1, 10**6), _TIME), ("nanosecond ns", Fraction(1, 10**9), _TIME),
    ("minute min", MINUTE, _TIME), ("hour h", HOUR, _TIME), ("day", DAY, _TIME),
    ("year", YEAR, _TIME),
    ("hertz Hz", 1, _PER_TIME),
    ("joule J", 1, _ENERGY), ("watt W", 1, _ENERGY | _PER_TIME), ("Wh", HOUR, _ENERGY),
    ("token", 1, {"token": 1}), ("request", 1, {"request": 1}), ("block", 1, {"block": 1}),
    ("USD", 1, {"currency_usd": 1}), ("CNY", 1, {"currency_cny": 1}),
)
"""Names of a unit, its factor to SI, its dimensions."""
_UNITS = {name: (factor, of) for names, factor, of in _DEFINED for name in names.split()}

_NUMBER = r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?"
_UNIT = r"[A-Za-zµμ]+(?:/[A-Za-zµμ]+)*"
_QUANTITY = re.compile(
    rf"\s*({_NUMBER})\s*(?:(%)|([kKM])(?:\s+({_UNIT}))?|({_UNIT})|1/({_UNIT}))?\s*")
_PREFIX = "|".join(_PREFIXES)
_PATTERN = re.compile(rf"({_PREFIX}|)({'|'.join(_UNITS)})(s?)")
_BITS = re.compile(rf"({_PREFIX}|)(?:b|bit)s?")
_THOUSANDS = re.compile(r"(?<=[0-9])[,_](?=[0-9]{3}(?![0-9]))")
_AROUND = " []()~≈<>≤≥="  # signs that people write about a number
_COMMA = re.compile(r"(?<=[0-9]),(?=[0-9])")
_CURRENCIES = {"$": "USD", "¥": "CNY"}
_CURRENCY = re.compile(rf"(?:([$¥])\s*({_NUMBER})|({_NUMBER})\s*([$¥]))(?=/|$)")
_TYPES: dict[type, str] = {list: "a list", dict: "keys and values", type(None): "nothing"}
_SPELLINGS = {"tok": "token", "toks": "token", "req": "request", "reqs": "request",
              "user": "request", "users": "request", "sec": "s", "secs": "s", "msec": "ms",
              "µs": "us", "μs": "us", "usec": "us", "hr": "h", "hrs": "h",
              "RMB": "CNY", "usd": "USD", "cny": "CNY", "rmb": "CNY",
              "t": "token", "tps": "token/s", "rps": "request/s", "qps": "request/s",
              **{f"{prefix}bps": f"{prefix}b/s" for prefix in "kMGT"}}
LONGEST = 100  # characters of a quantity
MOST_SHOWN = 40  # characters of a value in a message

DIMENSIONLESS = "1"
TIME_PER_TOKEN = "s/token"  # also written as its inverse, 30 token/s, or as a time alone
BITS_PER_BYTE = 8
COUNTING = ("token", "request", "block")
SIGNS = {"us": "µs"}  # of units that files write otherwise than readers do
Power = TypeVar("Power")

SI = {
    "information": "B", "operation": "FLOP", "time": "s", "energy": "J", "token": "token",
    "request": "request", "block": "block", "currency_usd": "USD", "currency_cny": "CNY",
}


@functools.cache
def _factor(unit: str) -> tuple[Fraction, tuple[tuple[str, int], ...]]:
    """Factor to SI and dimensions of a unit, e.g. ``TB/s`` -> (10^12, information/time)."""
    if unit == DIMENSIONLESS:
        return Fraction(1), ()
    product = Fraction(1)
    dimensions: dict[str, int] = {}
    for position, part in enumerate(unit.split("/")):
        if position == 0 and part == DIMENSIONLESS:
            continue
        match = _PATTERN.fullmatch(part)
        if match is None or (match[3] and len(match[2]) == 1):  # a letter has no plural
            raise ValueError(f"unknown unit '{unit[:60]}'")
        sign = 1 if position == 0 else -1
        factor, of = _UNITS[match[2]]
        product *= Fraction(_PREFIXES.get(match[1], 1) * factor) ** sign
        for name, power in of.items():
            dimensions[name] = dimensions.get(name, 0) + sign * power
    return product, tuple(sorted((n, p) for n, p in dimensions.items() if p))


def dimensions(unit: str) -> dict[str, int]:
    """Dimensions of a unit as ``{name: power}``, e.g. ``B/s`` -> information 1, time -1.

    Raises ValueError for a unit that is not known.
    """
    return dict(_factor(unit)[1])


def uncounted(of: Mapping[str, Power]) -> dict[str, Power]:
    """Dimensions without what is merely counted: tokens per second is one over a time.

    >>> uncounted(dimensions("token/s"))
    {'time': -1}
    """
    return {name: power for name, power in of.items() if name not in COUNTING}


def parse(text: str | int | float, unit: str) -> float | int:
    """The SI number of a quantity written as text, checked against the expected ``unit``.

    Integral results come back as int, so that counts and byte capacities stay exact.

    >>> parse("1.6 TB/s", "B/s")
    1600000000000
    >>> parse("64 GiB", "B")
    68719476736
    >>> parse("4k", "token"), parse("75%", "1"), parse("25 tok/s", "s/token")
    (4000, 0.75, 0.04)

    A plain number is accepted where tokens, requests or blocks are counted, and a time or a rate of
    tokens where the time of one token is expected.

    Raises ValueError (one clause, no file) for a unit of another dimension, an unknown unit, what
    is no number, one that is not finite, and an amount of bytes that is given in bits: ``256 Gib``
    is nearly always meant to be GiB. Rates of links are given in bits, and taken.
    """
    if isinstance(text, bool) or not isinstance(text, (str, int, float)):
        raise ValueError(f"expected {quantity(unit)}, found {shown(text)}")
    return _parsed(text, unit)


@functools.lru_cache(maxsize=4096, typed=True)  # what is written is repeated
def _parsed(text: str | int | float, unit: str) -> float | int:
    try:
        digits, written = split(text)
    except ValueError as error:
        raise ValueError(f"{error}, expected {quantity(unit)}{_near(text, unit)}") from None
    try:
        of_written, powers = _factor(written)
    except ValueError as error:
        raise ValueError(f"{error} for {_spelling(written, unit)}") from None
    number, (of_unit, expected_powers) = Fraction(digits), _factor(unit)
    plain_count = written == DIMENSIONLESS and unit in COUNTING
    if unit == TIME_PER_TOKEN and powers == _factor("token/s")[1]:
        if number <= 0:
            raise ValueError(f"'{text}' is out of range, expected more than 0")
        number, of_written = 1 / number, 1 / of_written
    elif unit == TIME_PER_TOKEN and powers == _factor("s")[1]:
        pass
    elif powers != expected_powers and not plain_count:
        raise ValueError(_wrong_dimensions(str(text), digits, written, unit))
    if unit == "B" and (bits := _BITS.fullmatch(written)):
        raise ValueError(f"'{text}' is in bits, did you mean {bits[1]}B?")
    exact = number * of_written / of_unit
    try:
        value = float(exact)
    except OverflowError:
        raise ValueError(f"'{text}' is too large, expected {quantity(unit)}") from None
    return int(exact) if exact.denominator == 1 else value


def shown(value: Any) -> str:
    """A value of a file in a message: its text, cut where it is long, else its type."""
    if isinstance(value, bool):
        return str(value).lower()
    if type(value) in _TYPES:
        return _TYPES[type(value)]
    text = str(value)
    return f"'{text}'" if len(text) <= MOST_SHOWN else f"'{text[:MOST_SHOWN]}…'"


SPREAD = ".."  # between the ends of a price that a reader sets: 1.5..2.5 USD/h


def price_ends(text: str, unit: str) -> tuple[float, float, str]:
    """Ends of a price as a reader writes it, and its SI unit.

    >>> price_ends("7200 USD/h", "USD/s"), price_ends("1..2 CNY", "USD")
    ((2.0, 2.0, 'USD/s'), (1.0, 2.0, 'CNY'))

    Args:
        text: the price, or both ends of its range.
        unit: SI unit, in whatever currency.

    Raises ValueError (one clause) for what is no price of these dimensions above 0.
    """
    ends, per = text.split(SPREAD), unit.partition("/")[2]
    usual = unit.replace("/s", "/h")
    try:
        _, written = split(ends[-1])
        currency = written.partition("/")[0]
        if currency not in MONEY:
            raise ValueError(f"'{text[:60]}' names no currency")
        si_unit = f"{currency}/{per}" if per else currency
        high = float(parse(ends[-1], si_unit))
        low = float(parse(f"{ends[0]} {written}", si_unit)) if ends[1:] else high
    except ValueError as error:
        cause = str(error).partition(", expected")[0]
        such = _near(text, unit) or f" such as 2 {usual} or 1.5{SPREAD}2.5 {usual}"
        raise ValueError(f"{cause}, expected a price in USD or CNY{such}") from None
    if len(ends) > 2 or not 0 < low <= high:
        raise ValueError(f"'{text[:60]}' is out of range, expected one above 0, or both ends, the "
                         f"lower first, such as 1.5{SPREAD}2.5 {usual}")
    return low, high, si_unit


@functools.cache
def si(unit: str) -> str:
    """The SI unit of a unit's dimensions, e.g. ``ms`` -> ``s``, ``GB/s`` -> ``B/s``.

    Raises ValueError for an unknown unit, or one that is not a quantity per others.
    """
    powers = dimensions(unit)
    if any(power not in (-1, 1) for power in powers.values()) or list(powers.values()).count(1) > 1:
        raise ValueError(f"the unit '{unit}' is not one quantity per others")
    above = [SI[name] for name, power in powers.items() if power > 0]
    below = [SI[name] for name, power in powers.items() if power < 0]
    return "/".join([above[0] if above else DIMENSIONLESS, *below])


@functools.lru_cache(maxsize=4096, typed=True)
def split(text: str | int | float) -> tuple[str, str]:
    """Number and unit of a quantity as written: ``64GiB`` -> ``("64", "GiB")``.

    A plain number has the unit ``1``. Percentages, thousands (``4k token``) and common spellings of
    units are understood:

    >>> split("64 users"), split("4k token"), split("75%"), split("30 tok/s")
    (('64', 'request'), ('4000', 'token'), ('0.75', '1'), ('30', 'token/s'))

    Raises ValueError for what is not a quantity.
    """
    match = _QUANTITY.fullmatch(re.sub(r"\s+per\s+", "/", str(text))) if (
        len(str(text)) <= LONGEST) else None
    if match is None:
        raise ValueError(f"'{str(text)[:60]}' is not a quantity")
    number, percent, thousands, *named, inverse = match.groups()
    if percent or thousands:
        scale = Decimal("0.01") if percent else _PREFIXES[thousands.replace("K", "k")]
        number = f"{Decimal(number) * scale:f}"
    unit = next(filter(None, named), f"1/{inverse}" if inverse else DIMENSIONLESS)
    return number, "/".join(_SPELLINGS.get(part, part) for part in unit.split("/"))


def unit_of(text: str | int | float) -> str:
    """The SI unit of a quantity as written, e.g. ``22.8 ms`` -> ``s``."""
    return si(split(text)[1])


def in_bytes(text: str | int | float) -> str | None:
    """A quantity in bits, such as ``3 Tb/s``, as if it were in bytes; None for any other.

    >>> in_bytes("3 Tb/s"), in_bytes("3 TB/s")
    ('3 TB/s', None)
    """
    number, unit = split(text)
    amount, stroke, per = unit.partition("/")
    bits = _BITS.fullmatch(amount)
    return f"{number} {bits[1]}B{stroke}{per}" if bits else None


def factor(unit: str) -> float:
    """What one of a unit is in SI: ``GiB`` -> 2^30, ``ms`` -> 0.001."""
    return float(_factor(unit)[0])


def parse_any(text: str | int | float) -> float | int:
    """The SI number of a quantity in whatever unit it is written."""
    try:
        return parse(text, unit_of(text))
    except ValueError as error:
        raise ValueError(f"{str(error).partition(', expected')[0]}, expected a number, with its "
                         "unit if it has one, such as 5.7 ms") from None


def _is_unit(text: str) -> bool:
    try:
        return bool(_factor(text))
    except ValueError:
        return False


def _near(text: str | int | float, unit: str) -> str:
    """What was meant by a quantity in the signs of another country, or a share in percent."""
    if len(str(text)) > LONGEST:
        return ""
    plain = unicodedata.normalize("NFKC", str(text)).replace(MINUS, "-").strip(_AROUND)
    plain = _THOUSANDS.sub("", plain)
    if (turned := re.fullmatch(r"([A-Za-z/]+)\s*([0-9.]+)", plain)) and _is_unit(turned[1]):
        plain = f"{turned[2]} {turned[1]}"
    plain = plain if unit in COUNTING else _COMMA.sub(".", plain)
    plain = _CURRENCY.sub(lambda sign: f"{sign[2] or sign[3]} {_CURRENCIES[sign[1] or sign[4]]}",
                          plain)
    return f", such as {plain}" if plain != str(text) and _QUANTITY.fullmatch(plain) else ""


_USUAL = {  # SI unit -> its quantity, and the units in which people state it
    "B": ("an amount of memory", "GB", "GiB"), "B/s": ("a bandwidth", "GB/s", "TB/s"),
    "FLOP/s": ("a rate of operations", "TFLOPS", "PFLOPS"), "s": ("a time", "ms", "s"),
    TIME_PER_TOKEN: ("a time per token", "ms", "token/s"), "W": ("a power", "W", "kW"),
    "Hz": ("a frequency", "MHz", "GHz"), "USD": ("a purchase price", "USD"),
    "CNY": ("a purchase price", "CNY"),
    "USD/s": ("a rent", "USD/h"), "token": ("a number of tokens",),
    "request": ("a number of requests",), "block": ("a number of blocks",),
    DIMENSIONLESS: ("a plain number",)}


def quantity(unit: str) -> str:
    """The quantity that a unit is of, with the units in which people state it."""
    noun, *usual = _USUAL.get(unit, ("a quantity", unit))
    return f"{noun} in {' or '.join(usual)}" if usual else noun


def _spelling(written: str, unit: str) -> str:
    """What to write in place of an unknown unit: the same in other case, or the usual ones."""
    noun, *usual = _USUAL.get(unit, ("a quantity", unit))
    meant = re.sub("ps$", "/s", written.casefold())
    same = [name for name, _ in SCALES.get(unit, ()) if name.casefold() == meant
            or (written in _PREFIXES and name.startswith(written))]
    return f"{noun}: write {' or '.join(same or usual) or 'the number alone'}"


def _wrong_dimensions(text: str, digits: str, written: str, unit: str) -> str:
    """Message for a quantity of another kind than expected, or a number without a unit."""
    usual = _USUAL.get(unit, ("", unit))[1:]
    if written != DIMENSIONLESS or not usual:
        rents = (f", rents are given to `will-it-fit cost --price '{text}'`"
                 if unit in MONEY and "/" in written else "")
        return f"'{text}' has the wrong unit, expected {quantity(unit)}{rents}"
    amount, factors = float(digits), [factor(name) for name in usual]
    if usual[0] == "ms" and amount < 1:  # meant in seconds
        return f"'{text}' has no unit: write {amount * 1000:g} ms"
    if amount >= LARGE:  # as it stands in SI units
        return f"'{text}' has no unit: write {human(amount, si(unit))}"
    is_larger = amount >= GROUP and factors[-1] == GROUP * factors[0]
    other = f"{amount / GROUP:g}" if is_larger else digits
    return (f"'{text}' has no unit: write {digits} {usual[0]}"
            + (f" or {other} {usual[1]}" if len(usual) > 1 else ""))


NONE = "–"  # where there is no number
MINUS = "−"
DIGITS, MORE = 3, 4  # that count: below a thousand, and from there on
GROUP = 1000
LARGE = 1e6  # from where on a number without a unit is taken to be in SI units
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
COUNTED = ("1", *COUNTING, "B/token", "token/request")


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
    first, stroke, rest = unit.partition("/")
    if unit == DIMENSIONLESS:
        named = ""
    elif unit in COUNTING:  # what is counted has a plural in English, and a name in Chinese
        named = COUNTS.get(unit, unit) if lang == "zh" else unit + ("s" if abs(value) != 1 else "")
    else:
        named = f"{MONEY.get(first, first) if lang == 'zh' else first}{stroke}{rest}"
    gap = "" if not named or (word and lang == "zh" and not named[0].isascii()) else " "
    return f"{word}{gap}{named}", factor
