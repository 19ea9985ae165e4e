"""A row of the results: what was tried, seen and expected."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

FOLDERS = re.compile(r"(?<![\w.])/(?:[\w.+-]+/)+")


@dataclass(frozen=True)
class Row:
    """One trial.

    Attributes:
        key: identifier of the row in its part.
        what, saw, expected: words and numbers.
        ok: whether the result is as expected.
        numbers: those that the book shows.
        notes: details, a line each.
        alerts: names of the alerts that fired.
    """

    key: str
    what: str
    saw: str
    expected: str
    ok: bool
    numbers: Mapping[str, float] | None = None
    notes: Sequence[str] = ()
    alerts: Sequence[str] = ()

    def as_json(self) -> dict[str, Any]:
        """As recorded, without folders of this machine."""
        values = asdict(self) | {"notes": [FOLDERS.sub("", note) for note in self.notes]}
        return {name: value for name, value in values.items() if value or name == "ok"}
