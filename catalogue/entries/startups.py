"""Start-up logs of engines: what they print of memory, and the deployment that printed it."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, model_validator

from catalogue.entries.entry import CatalogueEntry, Entry
from catalogue.reading import units
from catalogue.reading.values import Date, Flag, Misplaced, Words

PRINTED_UNITS: dict[str, str] = {
    "free_before_load": "B", "weights": "B", "free_after_load": "B", "activations": "B",
    "runtime": "B", "graphs": "B", "available": "B", "cache": "B", "tokens": "token",
    "window_tokens": "token", "blocks": "block", "requests": "request", "request_memory": "B",
    "longest": "token"}
"""What engines print of memory, each with its SI unit."""
JUDGED = ("weights", "available", "tokens", "requests", "request_memory", "longest")
"""Printed figures that predictions are compared with; the others explain them."""
RECORDED = 3  # numbers of a recorded prediction
Excluded = Literal["fork", "shared-card", "layout", "release", "offload", "contradictory",
                   "no-figure", "card", "model",
                   "repeat"]


def _number(raw: Any) -> float:
    number = units.parse(raw, units.DIMENSIONLESS)
    if not 0 <= number < math.inf:
        raise ValueError(f"'{raw}' is out of range, expected at least 0")
    return float(number)


Number = Annotated[float, BeforeValidator(_number)]


class StartupLog(Entry):
    """What one engine printed at its start.

    Attributes:
        id: unique among all logs.
        source: address of the report.
        date: of the report.
        deployment: as a file of ``params/scenarios/`` states it, where it is known well enough.
        settings: of parts of its entries, by path, as ``--set`` takes them.
        excluded: why nothing is compared with it; None if it is compared.
        detail: what an excluded log lacks, or what was assumed of the deployment.
        longest_context: tokens of a request in ``requests`` and ``request_memory`` [token].
        printed: figures by name of ``PRINTED_UNITS``, with units.
        recorded: predictions by the same names, value and both ends of the 80% interval in SI
            units, made before any rule was changed after the log was found; never recomputed.
        fitted: whether a value of the catalogue was set on it.
        blind: whether it was found after the rules were written, which made ``recorded``.
    """

    id: str
    source: Words
    date: Date
    deployment: dict[str, Any] | None = None
    settings: dict[str, str] = {}
    excluded: Excluded | None = None
    detail: Words | None = None
    longest_context: int | None = None
    fitted: Flag = False
    blind: Flag = False
    printed: dict[str, str | int | float]
    recorded: dict[str, list[Number]] = {}

    @model_validator(mode="after")
    def _usable(self) -> StartupLog:
        for name, raw in self.printed.items():
            if name not in PRINTED_UNITS:
                raise Misplaced(f"'{name[:60]}' is not a printed figure, expected one of "
                                f"{', '.join(PRINTED_UNITS)}", "printed")
            try:
                units.parse(raw, PRINTED_UNITS[name])
            except ValueError as error:
                raise Misplaced(str(error), "printed", name) from None
        for name, numbers in self.recorded.items():
            if name not in JUDGED or len(numbers) != RECORDED:
                raise Misplaced("expected value, low and high of a figure that is judged",
                                "recorded", name)
        if self.excluded is None and self.deployment is None:
            raise Misplaced("a log without a deployment needs a reason in 'excluded'", "id")
        if {"requests", "request_memory"} & self.printed.keys() and self.longest_context is None:
            raise Misplaced("'longest_context' is missing: of how many tokens are the requests?",
                            "printed")
        return self

    @property
    def figures(self) -> dict[str, float]:
        """Printed figures in SI units by name."""
        return {name: float(units.parse(raw, PRINTED_UNITS[name]))
                for name, raw in self.printed.items()}

    def rounded_by(self, name: str) -> float:
        """Half of the last digit that a printed figure has, in SI units.

        Args:
            name: of the figure.
        """
        number, _, unit = str(self.printed[name]).partition(" ")
        half = 0.5 / 10 ** len(number.partition(".")[2])
        return float(units.parse(f"{half} {unit}".strip(), PRINTED_UNITS[name]))


class StartupLogs(CatalogueEntry):
    """Start-up logs of one engine."""

    kind: Literal["measured"]
    logs: list[StartupLog]

    @model_validator(mode="after")
    def _unique(self) -> StartupLogs:
        seen: set[str] = set()
        for number, log in enumerate(self.logs):
            if log.id in seen:
                raise Misplaced(f"a second log '{log.id[:60]}'", "logs", number)
            seen.add(log.id)
        return self
