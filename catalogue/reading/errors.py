"""The one exception a reader of parameter files can meet."""

from __future__ import annotations

import re

LONGEST = 160  # characters that a sentence repeats of one word or one quoted text
_LONG = re.compile(rf"'[^']{{{LONGEST + 1},}}'|\S{{{LONGEST + 1},}}")


def printable(text: str) -> str:
    """Any text as it may stand in a sentence or on a terminal: one line, nothing invisible."""
    return "".join(char if char.isprintable() or char == "\u3000" else ascii(char)[1:-1]
                   for char in text)


def _shortened(long: re.Match[str]) -> str:
    text, half = long[0], LONGEST // 2
    return f"{text[:half]}…{text[-half:]}"


class ParamsError(Exception):
    """Bad input, told in one sentence: file, line, what is wrong, what was expected.

    What a sentence repeats of a file may hold anything; it stays on one line, printable, and what
    is longer than a name or a path should be loses its middle.
    """

    def __init__(self, sentence: str) -> None:
        super().__init__(_LONG.sub(_shortened, printable(sentence)))


class LayoutError(ParamsError):
    """A deployment that is well described and cannot be laid out: an answer, where many are tried.
    """
