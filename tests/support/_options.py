"""Absurd values of an option, and how a command ends."""

from __future__ import annotations

import json

ABSURD = ("inf", "-inf", "nan", "-1", "1e300", "1e-300", "", "9" * 40, "text", "1e3 GB", "\x1b[2J")


def finite(text: str):
    """Parsed JSON; NaN and infinity are no JSON."""
    def refuse(constant: str):
        raise AssertionError(f"{constant} is no JSON")
    return json.loads(text, parse_constant=refuse)


def ended_well(result: tuple[int, str, str]) -> bool:
    """An answer, or one printable sentence."""
    code, out, err = result
    if code == 0:
        return bool(finite(out))
    line, = err.splitlines()
    return code == 2 and line.endswith(".") and line.isprintable() and len(line) < 600
