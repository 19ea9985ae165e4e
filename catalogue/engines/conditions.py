"""Conditions of a release's checks, in Python's own words, decided without running them.

What is not known makes a condition neither true nor false, as in Kleene's logic: ``False and x`` is
false whatever ``x`` is.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

LONGEST = 400


class Unknown:
    """A value that nobody states."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = Unknown()
_COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    ast.In: lambda value, listed: value in listed,
    ast.NotIn: lambda value, listed: value not in listed}
_COMPUTED: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod}


class Condition:
    """A condition over names: comparisons, ``and``, ``or``, ``not``, lists and whole numbers.

    ``and`` and ``or`` give truth values, not one of their operands as Python has it.

    >>> even = Condition("tp % dp == 0 or not dp")
    >>> even({"tp": 8, "dp": 2}), even({"tp": 8, "dp": UNKNOWN}), even({"tp": 8, "dp": 0})
    (True, UNKNOWN, True)

    Args:
        text: of it.

    Raises ValueError, a clause, for a text that says anything else.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        if len(text) > LONGEST:
            raise ValueError(f"a condition of {len(text)} signs, expected at most {LONGEST}")
        try:
            self._body = ast.parse(text, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise ValueError(f"'{text[:60]}' is no condition") from None
        for node in ast.walk(self._body):
            if not isinstance(node, _ALLOWED):
                raise ValueError(f"'{ast.unparse(node)[:60]}' is nothing that a condition may say, "
                                 "expected names, numbers, texts, comparisons, and, or, not")

    @property
    def names(self) -> frozenset[str]:
        """The names that it asks for, of a dotted one the first part."""
        return frozenset(node.id for node in ast.walk(self._body) if isinstance(node, ast.Name))

    def __call__(self, known: Mapping[str, Any]) -> Any:
        """True, False, or UNKNOWN.

        Args:
            known: values by name; a name that is missing is unknown. Of a mapping, and of None,
                an attribute that is missing is None.
        """
        found = _value(self._body, known)
        return found if isinstance(found, Unknown) else bool(found)


_ALLOWED = (ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub, ast.Compare, ast.BinOp,
            ast.Name, ast.Load, ast.Attribute, ast.Constant, ast.List, ast.Tuple,
            *_COMPARED, *_COMPUTED)


def _value(node: ast.expr, known: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return known.get(name, UNKNOWN)
        case ast.Attribute(value=owner, attr=name):
            return _attribute(_value(owner, known), name)
        case ast.List(elts=items) | ast.Tuple(elts=items):
            values = [_value(item, known) for item in items]
            return UNKNOWN if any(isinstance(each, Unknown) for each in values) else values
        case ast.BoolOp(op=op, values=parts):
            return _joined([_value(part, known) for part in parts], isinstance(op, ast.And))
        case ast.UnaryOp(op=op, operand=operand):
            value = _value(operand, known)
            return _tried(operator.not_ if isinstance(op, ast.Not) else operator.neg, value)
        case ast.BinOp(left=left, op=op, right=right):
            return _tried(_COMPUTED[type(op)], _value(left, known), _value(right, known))
        case ast.Compare(left=left, ops=ops, comparators=others):
            return _compared([_value(each, known) for each in (left, *others)], ops)
    return UNKNOWN


def _attribute(owner: Any, name: str) -> Any:
    if isinstance(owner, Mapping):
        return owner.get(name)
    return None if owner is None else UNKNOWN


def _joined(values: list[Any], every: bool) -> Any:
    """``and`` of all, or ``or``: what decides does so whatever the others are."""
    if any(bool(each) is not every for each in values if not isinstance(each, Unknown)):
        return not every
    return UNKNOWN if any(isinstance(each, Unknown) for each in values) else every


def _compared(values: list[Any], ops: list[ast.cmpop]) -> Any:
    found = [_tried(_COMPARED[type(op)], one, other)
             for op, one, other in zip(ops, values[:-1], values[1:], strict=True)]
    return _joined(found, every=True)


def _tried(act: Callable[..., Any], *values: Any) -> Any:
    """What comes of known values; of two that do not go together nothing is known."""
    if any(isinstance(each, Unknown) for each in values):
        return UNKNOWN
    try:
        return act(*values)
    except (TypeError, ZeroDivisionError):
        return UNKNOWN
