"""Units at the door: text such as ``1.6 TB/s`` becomes an SI number, once, here.

The table holds only what the parameter files may use. Bytes, operations, tokens, requests,
blocks and currencies are dimensions of their own, so ``400 GB`` where a rate belongs is refused.
``GB`` is 10^9 bytes and ``GiB`` is 2^30; ``Gbit`` (or ``Gb``) is 10^9 bits.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Mapping
from fractions import Fraction
from typing import TypeVar

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
    ("minute min", MINUTE, _TIME), ("hour h", HOUR, _TIME), ("year", YEAR, _TIME),
    ("hertz Hz", 1, _PER_TIME),
    ("joule J", 1, _ENERGY), ("watt W", 1, _ENERGY | _PER_TIME), ("Wh", HOUR, _ENERGY),
    ("token", 1, {"token": 1}), ("request", 1, {"request": 1}), ("block", 1, {"block": 1}),
    ("USD", 1, {"currency_usd": 1}), ("CNY", 1, {"currency_cny": 1}),
)
"""Names of a unit, its factor to SI, its dimensions."""
_UNITS = {name: (factor, of) for names, factor, of in _DEFINED for name in names.split()}

_NUMBER = r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?"
_UNIT = r"[A-Za-z]+(?:/[A-Za-z]+)*"
_QUANTITY = re.compile(rf"\s*({_NUMBER})\s*(?:({_UNIT})|1/({_UNIT}))?\s*")
_PREFIX = "|".join(_PREFIXES)
_PATTERN = re.compile(rf"({_PREFIX}|)({'|'.join(_UNITS)})(s?)")
_BITS = re.compile(rf"({_PREFIX}|)(?:b|bit)s?")
_THOUSANDS = re.compile(r"(?<=[0-9]),(?=[0-9]{3}(?![0-9]))")
_COMMA = re.compile(r"(?<=[0-9]),(?=[0-9])")
_TYPES = {list: "a list", dict: "keys and values"}
_PERCENT = re.compile(rf"({_NUMBER})\s*%")
LONGEST = 100  # characters of a quantity

DIMENSIONLESS = "1"
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

    A plain number is accepted where tokens, requests or blocks are counted.

    Raises ValueError (one clause, no file) for a unit of another dimension, an unknown unit, what
    is no number, one that is not finite, and an amount of bytes that is given in bits: ``256 Gib``
    is nearly always meant to be GiB. Rates of links are given in bits, and taken.
    """
    if isinstance(text, bool):
        raise ValueError(f"expected a number{_in(unit)}, found {str(text).lower()}")
    if not isinstance(text, (str, int, float)):
        raise ValueError(f"expected a number{_in(unit)}, found {_TYPES.get(type(text), 'nothing')}")
    return _parsed(text, unit)


@functools.lru_cache(maxsize=4096, typed=True)  # what is written is repeated
def _parsed(text: str | int | float, unit: str) -> float | int:
    try:
        digits, written = split(text)
    except ValueError as error:
        raise ValueError(f"{error}, expected a finite number{_in(unit)}{_near(text)}") from None
    number = Fraction(digits)
    (of_written, powers), (of_unit, expected_powers) = _factor(written), _factor(unit)
    plain_count = written == DIMENSIONLESS and unit in COUNTING
    if powers != expected_powers and not plain_count:
        expected = "a plain number" if unit == DIMENSIONLESS else f"a quantity in {unit}"
        raise ValueError(f"'{text}' has the wrong unit, expected {expected}")
    if unit == "B" and (bits := _BITS.fullmatch(written)):
        raise ValueError(f"'{text}' is in bits, did you mean {bits[1]}B?")
    exact = number * of_written / of_unit
    try:
        value = float(exact)
    except OverflowError:
        raise ValueError(f"'{text}' is not a finite number") from None
    return int(exact) if exact.denominator == 1 else value


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


def split(text: str | int | float) -> tuple[str, str]:
    """Number and unit of a quantity as written: ``64GiB`` -> ``("64", "GiB")``.

    A plain number has the unit ``1``. Raises ValueError for what is not a quantity.
    """
    match = _QUANTITY.fullmatch(str(text)) if len(str(text)) <= LONGEST else None
    if match is None:
        raise ValueError(f"'{str(text)[:60]}' is not a quantity")
    return match[1], match[2] or (f"1/{match[3]}" if match[3] else DIMENSIONLESS)


def unit_of(text: str | int | float) -> str:
    """The SI unit of a quantity as written, e.g. ``22.8 ms`` -> ``s``."""
    return si(split(text)[1])


def factor(unit: str) -> float:
    """What one of a unit is in SI: ``GiB`` -> 2^30, ``ms`` -> 0.001."""
    return float(_factor(unit)[0])


def parse_any(text: str | int | float) -> float | int:
    """The SI number of a quantity in whatever unit it is written."""
    return parse(text, unit_of(text))


def _near(text: str | int | float) -> str:
    """What was meant by a quantity in the signs of another country, or a share in percent."""
    if len(str(text)) > LONGEST:
        return ""
    plain = unicodedata.normalize("NFKC", str(text)).strip().strip("[]()").strip()
    plain = _THOUSANDS.sub("", plain)
    plain = _COMMA.sub(".", plain)
    if percent := _PERCENT.fullmatch(plain):
        plain = f"{float(percent[1]) / 100:g}"
    return f", such as {plain}" if _QUANTITY.fullmatch(plain) else ""


def _in(unit: str) -> str:
    return "" if unit == DIMENSIONLESS else f" with a unit like {unit}"
