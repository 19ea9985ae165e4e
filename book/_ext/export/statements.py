"""Iterate over statements of Python code; setuptools loads this without the book's extension."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")  # fields with nested statements


def statements(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield statements and those nested in them."""
    for node in body:
        yield node
        for part in BLOCKS:
            yield from statements(getattr(node, part, ()))
