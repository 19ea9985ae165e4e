"""Which tests run a line, as ``make lines`` recorded it (coverage.py, one context per test)."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from coverage import CoverageData

UNKNOWN = 1.0  # seconds of a test whose time is not recorded
ANSWERS = "tests/tools/answers/"  # see that something moved; a law sees that it is wrong
OF_ANSWERS = 0.25  # as much more of the time


@cache
def contexts(record: Path, path: str) -> dict[int, list[str]]:
    """Line of a file -> contexts in which it ran; none for a file that is not in the record."""
    data = CoverageData(record)
    data.read()
    name = next((name for name in data.measured_files()
                 if Path(name).as_posix().endswith(f"/{path}") or name == path), None)
    return data.contexts_by_lineno(name) if name else {}


def statement(text: str, line: int) -> range:
    """Lines of the smallest statement that a line lies in, of a compound one those of its head."""
    found = range(line, line + 1)
    smallest = len(text)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.stmt) and node.end_lineno and node.lineno <= line:
            body = getattr(node, "body", None)
            end = body[0].lineno - 1 if body and body[0].lineno > node.lineno else node.end_lineno
            if line <= end and end - node.lineno < smallest:
                smallest, found = end - node.lineno, range(node.lineno, end + 1)
    return found


def tests_of(record: Path, path: str, text: str, line: int, seconds: Mapping[str, float],
             most: float) -> list[str]:
    """Tests that run a line, the quickest first, as many as take so many seconds.

    Recorded answers come last, in a quarter as much time again.

    Args:
        record: what ``make lines`` left.
        path: of the file in the project.
        text: of the file.
        line: in it.
        seconds: that each test took when last recorded.
        most: seconds that they may take in all.
    """
    ran = contexts(record, path)
    tests = {context.rpartition("|")[0] for one in statement(text, line)
             for context in ran.get(one, ()) if "|" in context}
    answers = {test for test in tests if test.startswith(ANSWERS)}
    return [*_quickest(tests - answers, seconds, most),
            *_quickest(answers, seconds, OF_ANSWERS * most)]


def _quickest(tests: set[str], seconds: Mapping[str, float], most: float) -> list[str]:
    chosen: list[str] = []
    for test in sorted(tests, key=lambda test: (seconds.get(test, UNKNOWN), test)):
        most -= seconds.get(test, UNKNOWN)
        if most < 0 and chosen:
            break
        chosen.append(test)
    return chosen
