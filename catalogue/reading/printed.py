"""A number as a document prints it: its digits are what it can be held to."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

from catalogue.reading import amounts, units
from catalogue.reading.values import Value

PERCENT = "%"
COUNTED = 2  # digits of a whole number that count, be they zeros
MOST = 5  # digits that are shown of a computed number
UNGROUPED = 10_000  # from where on the thousands of a count stand apart; years lie below
ROUNDED = 0.01  # of itself, the most by which an end of a range is taken to be rounded
PER_CENT = 0.01  # the digit to which both ends of a share are printed, however they are written
SLACK = 1e-6  # of half a digit, lost in the arithmetic of floating point


@dataclass(frozen=True)
class Printed:
    """A printed number, or the two ends of a printed range, in SI.

    Attributes:
        low, high: ends, equal where one number is printed.
        unit: SI unit, ``1`` of plain numbers and of percentages.
        written: both ends as written, one where they are equal.
        last: value of the last digit that counts, of either end.
    """

    low: float
    high: float
    unit: str
    written: tuple[str, ...]
    last: tuple[float, ...]

    @property
    def value(self) -> float:
        """The number; of a range the middle of its ends."""
        return self.low if self.low == self.high else (self.low + self.high) / 2

    @property
    def text(self) -> str:
        """As written: ``30–50 %``, ``2–5 µs``."""
        parts = [text.partition(" ") for text in self.written]
        digits = [_written(part[0], part[2]) for part in parts]
        unit = "" if parts[-1][2] in units.COUNTING else parts[-1][2]
        return f"{'–'.join(digits)} {units.SIGNS.get(unit, unit)}".rstrip()

    def like(self, number: float) -> str:
        """Another number (SI) in the unit of this one, with three digits or as many."""
        text = self.written[-1].strip()
        if text.endswith(PERCENT):
            return f"{amounts.plain(number * 100)} {PERCENT}"
        mantissa, unit = units.split(text)
        sign = units.SIGNS.get(unit, unit)
        integer, dot, decimals = mantissa.lower().partition("e")[0].strip("+-").partition(".")
        counted = len((integer + decimals if dot else integer.rstrip("0")).lstrip("0"))
        if "e" in mantissa.lower() and unit not in amounts.MONEY:
            shown = amounts.power_of_ten(number / units.factor(unit))
            return shown if unit == units.DIMENSIONLESS else f"{shown} {sign}"
        amount = number / units.factor(unit)
        exact = float(amount).is_integer() and abs(amount) < amounts.LARGEST
        if counted > amounts.DIGITS and exact:
            shown = f"{amount:.0f}" if abs(amount) < UNGROUPED else f"{amount:,.0f}"  # a count
        else:
            shown = amounts.plain(amount, max(amounts.DIGITS, min(counted, MOST)))
        return shown if unit in (units.DIMENSIONLESS, *units.COUNTING) else f"{shown} {sign}"

    def holds(self, number: float) -> bool:
        """Whether a number (SI) rounds to what is printed, or lies in the printed range, whose
        ends are rounded by no more than a hundredth of themselves: 0.8–0.9 is 80–90 %."""
        first, final = (digit / 2 * (1 + SLACK) for digit in (self.last[0], self.last[-1]))
        if self.low != self.high:
            share = PER_CENT if self.unit == units.DIMENSIONLESS and self.high <= 1 else math.inf
            first = min(first, share / 2, ROUNDED * abs(self.low))
            final = min(final, share / 2, ROUNDED * abs(self.high))
        return bool(self.low - first <= number <= self.high + final)


def read(raw: Any) -> Printed:
    """What a file has of a printed number: a quantity, a percentage, or a pair of them.

    >>> read(["30 %", "50 %"]).text, read("58000 token/s").last
    ('30–50 %', (1000.0,))

    The zeros that end a whole number do not count as digits beyond the second: 58,000 stands for
    57,500 to 58,500, and 400 for 395 to 405.

    Raises ValueError for what is none, for a pair in two units or out of order.
    """
    ends = raw if isinstance(raw, list) else [raw]
    if not 1 <= len(ends) <= 2 or any(isinstance(end, (list, dict, bool)) for end in ends):
        raise ValueError("expected a number with its unit, or a pair of them")
    parts = [_parsed(end) for end in ends]
    if len({unit for _, unit, _ in parts}) > 1:
        raise ValueError(f"'{ends[0]}' and '{ends[-1]}' are in two units")
    if parts[0][0] > parts[-1][0]:
        raise ValueError(f"'{ends[0]}' is above '{ends[-1]}', expected the lower end first")
    return Printed(parts[0][0], parts[-1][0], parts[0][1], tuple(str(end) for end in ends),
                   tuple(last for _, _, last in parts))


def _written(mantissa: str, unit: str) -> str:
    """Digits as they stand; money in full, else a power of ten where there is an exponent."""
    if unit in amounts.MONEY and float(mantissa).is_integer():
        return f"{float(mantissa):,.0f}"
    return amounts.power_of_ten(float(mantissa)) if "e" in mantissa.lower() else mantissa


def of_value(value: Value, percent: bool = False) -> Printed:
    """A value of a file as a printed number; ``percent`` of a share that is printed as one."""
    if percent:
        ends = [value.written] if value.low == value.high else [value.low, value.high]
        return read([f"{Decimal(share) * 100:.{max(0, len(share.partition('.')[2]) - 2)}f} "
                     f"{PERCENT}" for share in map(str, ends)])
    unit = units.split(value.written)[1]
    if value.low == value.high:
        return Printed(float(value.low), float(value.high), value.unit, (value.written,),
                       (_last(value.written, 1.0),))
    written = tuple(f"{end / units.factor(unit):.6g} {unit}".removesuffix(" 1")
                    for end in (value.low, value.high))
    return Printed(float(value.low), float(value.high), value.unit, written, (0.0, 0.0))


def _parsed(raw: Any) -> tuple[float, str, float]:
    """Number (SI), unit and value of the last digit."""
    text = str(raw).strip()
    if text.endswith(PERCENT):
        share = text.removesuffix(PERCENT).strip()
        return float(_number(share)) / 100, units.DIMENSIONLESS, _last(share, 0.01)
    negative = text.startswith("-")
    number = _number(text.lstrip("+-"))
    return (-number if negative else number), units.unit_of(raw), _last(text.lstrip("+-"), 1.0)


def _number(text: str) -> float:
    try:
        return float(units.parse_any(text))
    except ValueError as error:
        raise ValueError(f"{error}, expected a number with its unit such as '5.7 ms'") from None


def _last(text: str, scale: float) -> float:
    """What one step of the last digit that counts comes to in SI."""
    digits, unit = units.split(text)
    mantissa, _, power = digits.lower().partition("e")
    integer, _, decimals = mantissa.lstrip("+-").partition(".")
    zeros = len(integer) - max(len(integer.rstrip("0")), min(COUNTED, len(integer)))
    step = -len(decimals) if decimals or not integer.strip("0") else zeros
    return float(10.0 ** (step + int(power or 0)) * units.factor(unit) * scale)


PrintedNumber = Annotated[
    Any, BeforeValidator(lambda raw: raw if isinstance(raw, Printed) else read(raw)),
    WithJsonSchema({"type": ["number", "string", "array"],
                    "description": "a number with its unit, a percentage, or a pair of them"})]
