"""The one exception a reader of parameter files can meet."""

from __future__ import annotations

import re

LONGEST = 160  # characters that a sentence repeats of one word or one quoted text
LONGEST_SENTENCE = 900  # of all that it says; names that are expected take most of it
_LONG = re.compile(rf"'[^']{{{LONGEST - 1},}}'|\S{{{LONGEST + 1},}}")


def printable(text: str) -> str:
    """Any text as it may stand in a sentence or on a terminal: one line, nothing invisible."""
    return "".join(char if char.isprintable() or char == "\u3000" else ascii(char)[1:-1]
                   for char in text)


def sentence(text: str) -> str:
    """Any text as one sentence that a reader reads to its end, whatever of a file it repeats.

    It stays on one line, printable, and what is longer than a name, a path or a sentence should be
    loses its middle. A sentence stays as it is.
    """
    return _shortened(_LONG.sub(lambda long: _shortened(long[0], LONGEST), printable(text)),
                      LONGEST_SENTENCE)


def _shortened(text: str, most: int) -> str:
    """A text of at most so many characters.

    >>> _shortened("abcdefgh", 5)
    'ab…gh'
    """
    half = (most - 1) // 2
    return text if len(text) <= most else f"{text[:half]}…{text[-half:]}"


class ParamsError(Exception):
    """Bad input, told in one :func:`sentence`: file, line, what is wrong, what was expected."""

    def __init__(self, text: str) -> None:
        super().__init__(sentence(text))


class LayoutError(ParamsError):
    """A deployment that is well described and cannot be laid out: an answer, where many are tried.
    """
