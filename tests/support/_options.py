"""JSON answers of commands."""

from __future__ import annotations

import json


def finite(text: str):
    """Parsed JSON; NaN and infinity are no JSON."""
    def refuse(constant: str):
        raise AssertionError(f"{constant} is no JSON")
    return json.loads(text, parse_constant=refuse)
