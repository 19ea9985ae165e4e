"""The one exception a reader of parameter files can meet."""

from __future__ import annotations


class ParamsError(Exception):
    """Bad input, told in one sentence: file, line, what is wrong, what was expected.

    What a sentence repeats of a file may hold anything; it stays on one line, printable.
    """

    def __init__(self, sentence: str) -> None:
        super().__init__("".join(char if char.isprintable() else ascii(char)[1:-1]
                                 for char in sentence))
