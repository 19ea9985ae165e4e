"""Names of entries of the catalogue."""

from __future__ import annotations

from typing import Any

from catalogue.messages import Pair


def entry_label(entry: Any) -> Pair:
    """The name of an entry of the catalogue."""
    return entry.name["en"], entry.name["zh"]
