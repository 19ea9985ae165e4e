"""The one exception a reader of parameter files can meet."""

from __future__ import annotations


class ParamsError(Exception):
    """Bad input, told in one sentence: file, line, what is wrong, what was expected."""
