"""One row of what was tried: what, what was seen, what was expected."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

FOLDERS = re.compile(r"(?<![\w.])/(?:[\w.+-]+/)+")


@dataclass(frozen=True)
class Row:
    """What was tried and seen.

    Attributes:
        key: by which it is found again.
        what, saw, expected: words and numbers.
        ok: whether it was as expected.
        numbers: those of it that the book tells.
        notes: what is worth knowing one by one.
        alerts: names of those that fired.
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
        """As it is kept, which is without folders of this machine."""
        told = asdict(self) | {"notes": [FOLDERS.sub("", note) for note in self.notes]}
        return {name: value for name, value in told.items() if value or name == "ok"}
