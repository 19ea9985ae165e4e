"""What a file of loads may hold: how a day's requests are spread over its hours and minutes."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator

from catalogue.entries.entry import CatalogueEntry, Entry
from catalogue.reading.units import HOUR
from catalogue.reading.values import Date, Kind, SourceKey, Unit, Value

HOURS = 24
LARGEST = 1e15  # of any scale; a day's requests times it are a number still

Variation = Annotated[Value, Unit("1", exclusive=False)]


def _hours(raw: Any) -> tuple[float, ...]:
    """24 numbers of any one scale."""
    if not isinstance(raw, list) or len(raw) != HOURS:
        raise ValueError(f"expected {HOURS} numbers, one for each hour of a day")
    try:
        hours = tuple(float(each) for each in raw)
    except (TypeError, ValueError):
        raise ValueError("expected numbers of 0 or more") from None
    if not all(0 <= each <= LARGEST for each in hours):
        raise ValueError(f"expected numbers of 0 or more, at most {LARGEST:g}")
    if not any(hours):
        raise ValueError("no hour has any requests, expected at least one with more than 0")
    return hours


class Lengths(Entry):
    """How the lengths of a service's requests vary: standard deviation over mean [1]."""

    prompts: Variation
    answers: Variation


class Load(CatalogueEntry):
    """A day of arrivals, in proportion: how many there are is asked of the reader.

    Attributes:
        hours: mean rate of each hour from midnight on, of any one scale.
        variation: standard deviation over mean of the rate from minute to minute, within an hour,
            beyond what independent arrivals vary by themselves [1].
        lengths: how those of prompts and answers vary; absent where they are not published.
        source, kind, date: of the hours.
    """

    hours: Annotated[tuple[float, ...], BeforeValidator(_hours)]
    variation: Variation
    lengths: Lengths | None = None
    source: SourceKey
    kind: Kind
    date: Date | None = None

    def rates(self, requests: float) -> tuple[float, ...]:
        """Mean rate of each hour of a day with so many requests [request/s]."""
        whole = sum(self.hours)
        return tuple(requests * hour / whole / HOUR for hour in self.hours)

    @property
    def busiest(self) -> int:
        """The hour with most requests, from 0 on."""
        return self.hours.index(max(self.hours))

    @property
    def peak(self) -> float:
        """Rate of the busiest hour over that of the day [1]."""
        return max(self.hours) * HOURS / sum(self.hours)
