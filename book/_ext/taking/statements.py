"""Statements of Python code; setuptools, too, loads this without the book's extension."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")  # of statements, what holds others


def statements(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Statements, with those inside of them; expressions, which hold none, are not looked into."""
    for node in body:
        yield node
        for part in BLOCKS:
            yield from statements(getattr(node, part, ()))
