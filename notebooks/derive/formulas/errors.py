"""Errors of a derivation: sentences that a reader can act on."""

from __future__ import annotations

import ast
import linecache
from types import FrameType
from typing import Any

LONGEST = 200  # characters of one side of a comparison


class DerivationError(Exception):
    """A formula that cannot stand: unknown symbol, wrong dimension, drift from the lock."""


def explain(error: AssertionError, frame: FrameType, line: int) -> None:
    """Let a failed assertion say its sentence, and then what stood on either side."""
    error.args = (" ".join(filter(None, (str(error), _sides(frame, line)))),)


def _sides(frame: FrameType, line: int) -> str:
    """What an assertion compares, or hands to what decides, evaluated again where it failed.

    Of several joined by ``and`` it is the first that fails. Empty for a line without an assertion.
    """
    tree = ast.parse("".join(linecache.getlines(frame.f_code.co_filename, frame.f_globals)))
    tests = [node.test for node in ast.walk(tree) if isinstance(node, ast.Assert)
             and node.lineno <= line <= (node.end_lineno or node.lineno)]

    def value(part: ast.expr) -> Any:
        return eval(compile(ast.Expression(part), "<side>", "eval"),
                    frame.f_globals, frame.f_locals)

    if not tests:
        return ""
    test = tests[-1]
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        test = next((part for part in test.values if not value(part)), test)
    parts = ([test.left, *test.comparators] if isinstance(test, ast.Compare)
             else test.args if isinstance(test, ast.Call) else [])
    return "; ".join([f"{ast.unparse(part)} is {str(value(part))[:LONGEST]}" for part in parts
                      if not isinstance(part, (ast.Constant, ast.GeneratorExp, ast.Starred))]
                     + [f"not so: {ast.unparse(test)}"])
