"""A value with its 80% interval: the one type of what is predicted, priced or derived here.

What a file states is ``catalogue.reading.values.Value``: its source says it, and nothing is
predicted. What follows from such values is an :class:`Amount`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from catalogue.reading import amounts, units
from catalogue.reading.values import Value

EXACT, ESTIMATE, LOWER_BOUND, UPPER_BOUND = "exact", "estimate", "lower_bound", "upper_bound"


@dataclass(frozen=True)
class Amount:
    """A value with its 80% interval, SI; numbers, or arrays of one shape.

    The value is what the formulas give with every input at its own value, the same number as the
    sum of its parts and as a simulation takes. The ends are the 10% and 90% points of what the
    inputs' ranges and the formulas' own error give; they contain the value.

    >>> pace = Amount(0.0304, 0.0279, 0.0553, "s")
    >>> pace.text, pace.reach, pace.said("zh"), str(pace)
    ('30.4 ms', '27.9–55.3 ms', '30.4 ms（27.9–55.3 ms）', '30.4 ms (80%: 27.9–55.3 ms)')

    Attributes:
        value, low, high: of the formulas, and 10% and 90% points.
        unit: SI unit, ``1`` for a plain number.
        kind: what kind of statement it is: exact, estimate or a bound; of what is stated, its kind.
        own_error: that of the formulas, with the class that it is of; None where there is none.
        source, date: of what is stated; empty and None of what is derived.
        name: of a quantity of ``params/symbols.yml``, else empty.
    """

    value: Any
    low: Any
    high: Any
    unit: str = units.DIMENSIONLESS
    kind: str = ESTIMATE
    own_error: Any = None
    source: str = ""
    date: str | None = None
    name: str = ""

    @classmethod
    def exactly(cls, value: Any, unit: str = units.DIMENSIONLESS) -> Amount:
        """An amount that is known."""
        return cls(value, value, value, unit, EXACT)

    @classmethod
    def stated(cls, value: Value) -> Amount:
        """What a file states, with its range."""
        return cls(float(value.value), float(value.low), float(value.high), value.unit,
                   value.kind, source=value.source, date=value.date)

    @property
    def exact(self) -> bool:
        """Whether nothing moves it."""
        return bool(np.all(self.low == self.high))

    @property
    def points(self) -> tuple[Any, Any, Any]:
        """Value, 10% and 90% points."""
        return self.value, self.low, self.high

    @property
    def ends(self) -> tuple[Any, Any]:
        """10% and 90% points."""
        return self.low, self.high

    def scaled(self, factor: Any, unit: str | None = None) -> Amount:
        """It times a positive factor, in the same unit unless told."""
        return self.over(lambda number: number * factor, unit)

    def over(self, function: Callable[[Any], Any], unit: str | None = None) -> Amount:
        """What a growing function makes of it."""
        return replace(self, value=function(self.value), low=function(self.low),
                       high=function(self.high), unit=unit or self.unit)

    def at(self, place: int) -> Amount:
        """One of the numbers of arrays."""
        return self.over(lambda number: float(np.ravel(number)[place]))

    def per(self, unit: str) -> tuple[float, float, float]:
        """Value and ends in another unit of the same dimensions.

        >>> Amount(0.0005, 0.00025, 0.001, "USD/s").per("USD/h")
        (1.8, 0.9, 3.6)
        """
        factor = units.factor(unit) / units.factor(self.unit)
        return self.value / factor, self.low / factor, self.high / factor

    @property
    def currency(self) -> str:
        """Of money: what stands before the first stroke of the unit."""
        return self.unit.partition("/")[0]

    @property
    def text(self) -> str:
        """The value for people; of money and what is counted in English."""
        return self.text_in("en")

    def text_in(self, lang: str) -> str:
        """The value for people, in a language."""
        digits = amounts.KNOWN if self.kind == EXACT else None
        return amounts.human(self.value, self.unit, lang, digits)

    @property
    def texts(self) -> tuple[str, str]:
        """The value for people, in English and in Chinese."""
        return self.text_in("en"), self.text_in("zh")

    @property
    def reach(self) -> str:
        """The interval for people, empty of what is exact; as :attr:`text`."""
        return self.reach_in("en")

    def reach_in(self, lang: str) -> str:
        """The interval for people in a language, in the unit of the value; empty where exact."""
        return "" if self.exact else amounts.span(
            self.low, self.high, self.unit, lang, of=self.value)

    def said(self, lang: str) -> str:
        """Value and interval for people, in a language."""
        text, left, right = self.text_in(lang), *((" (", ")") if lang == "en" else ("（", "）"))
        return text if self.exact else f"{text}{left}{self.reach_in(lang)}{right}"

    def __str__(self) -> str:
        return self.text if self.exact else f"{self.text} (80%: {self.reach})"

    def as_json(self) -> dict[str, Any]:
        """Plain data, SI; without what is not known of it. An end that has none is None."""
        data = {key: None if isinstance(item, float) and not math.isfinite(item) else item
                for key, item in vars(self).items()
                if key != "name" and item is not None and not (isinstance(item, str) and not item)}
        return data if self.own_error is None else data | {"own_error": self.own_error.as_json()}
