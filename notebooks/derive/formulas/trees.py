"""Formulas as data: SymPy to nested lists over a closed set of operators, and back.

The operators are those of ``catalogue.entries.formulas``. What comes out of ``to_tree`` uses only
``add multiply power min max ceil floor log exp piecewise rational max_over min_over sum_over``;
``from_tree`` also reads ``subtract`` and ``divide``. Everything else is refused, and nothing is
ever parsed from text.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from operator import sub, truediv
from typing import Any

import sympy

import catalogue
from notebooks.derive.formulas.exported import DerivationError
from notebooks.derive.formulas.symbols import symbol

Tree = Any


class Over(sympy.Function):
    """A body combined over an index = 0 .. count - 1: ``MaxOver(stage, p, body)``.

    Unrolls when the count is a positive integer and the body holds the index. The index is
    bound: it is no free symbol and no substitution reaches it.
    """

    nargs = (3,)
    combine: Callable[..., sympy.Expr]
    command: str

    @classmethod
    def eval(cls, index: sympy.Symbol, count: sympy.Expr, body: sympy.Expr) -> sympy.Expr | None:
        """Unroll where possible; None leaves the function as it stands."""
        if count.is_Integer and count > 0 and body.has(index):
            return cls.combine(*(body.subs(index, i) for i in range(int(count))))
        return None

    @property
    def free_symbols(self) -> set[sympy.Basic]:
        """Free symbols of count and body, without the bound index."""
        index, count, body = self.args
        return set(count.free_symbols | (body.free_symbols - {index}))

    def _eval_subs(self, old: sympy.Basic, new: sympy.Basic) -> sympy.Expr | None:
        return self if old == self.args[0] else None

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        index, count, body = self.args
        letter = printer._print(index)
        text = (rf"{self.command}_{{0 \le {letter} < {printer._print(count)}}} "
                rf"{printer.parenthesize(body, sympy.printing.precedence.PRECEDENCE['Mul'])}")
        return text if exp is None else rf"\left({text}\right)^{{{exp}}}"


class MaxOver(Over):
    """Maximum of a body over an index."""

    combine, command = sympy.Max, r"\max"


class MinOver(Over):
    """Minimum of a body over an index."""

    combine, command = sympy.Min, r"\min"


class SumOver(Over):
    """Sum of a body over an index."""

    combine, command = sympy.Add, r"\sum"


_OVER = {"max_over": MaxOver, "min_over": MinOver, "sum_over": SumOver}
_MANY = {"add": sympy.Add, "multiply": sympy.Mul, "min": sympy.Min, "max": sympy.Max}
_CLASSES = {**_MANY, **_OVER, "ceil": sympy.ceiling, "floor": sympy.floor, "log": sympy.log,
            "exp": sympy.exp, "power": sympy.Pow}
_COMPARE = {"eq": sympy.Eq, "lt": sympy.Lt, "le": sympy.Le, "gt": sympy.Gt, "ge": sympy.Ge}
_NAMES: dict[type, str] = {cls: name for table in (_CLASSES, _COMPARE)
                           for name, cls in table.items()}


def to_tree(expr: sympy.Basic) -> Tree:
    """Return the tree of an expression: the same for the same expression, on every run.

    Raises DerivationError for anything outside the closed set of operators.
    """
    if isinstance(expr, sympy.Integer):
        return int(expr)
    if isinstance(expr, sympy.Rational):
        return ["rational", int(expr.p), int(expr.q)]
    if isinstance(expr, sympy.Symbol):
        return symbol(expr.name).name
    if expr is sympy.E:
        return ["exp", 1]
    if isinstance(expr, sympy.Piecewise):
        return _piecewise(expr)
    name = _NAMES.get(type(expr))
    if name is None:
        raise DerivationError(f"'{expr}' is a {type(expr).__name__}, which is not an operator "
                              "of formulas.")
    args = [to_tree(arg) for arg in expr.args]
    return [name, *(sorted(args, key=json.dumps) if name in _MANY else args)]


def _piecewise(expr: sympy.Piecewise) -> Tree:
    *branches, (default, always) = expr.args
    if always != sympy.true:
        raise DerivationError(f"'{expr}' has no default branch.")
    for _, condition in branches:
        if _NAMES.get(type(condition)) not in _COMPARE:
            raise DerivationError(f"'{condition}' is not one comparison of two expressions.")
    return ["piecewise", *([to_tree(condition), to_tree(value)] for value, condition in branches),
            to_tree(default)]


def from_tree(tree: Tree) -> sympy.Expr:
    """The expression of a tree. Raises DerivationError when the tree is not a valid one."""
    try:
        catalogue.formulas.validate(tree)
    except ValueError as error:
        raise DerivationError(f"not a formula: {error}.") from None
    return _expression(tree)


def _expression(tree: Tree) -> sympy.Expr:
    if isinstance(tree, str):
        return symbol(tree)
    if isinstance(tree, int):
        return sympy.Integer(tree)
    if isinstance(tree, float):
        return sympy.Rational(repr(tree))
    operator, *args = tree
    if operator == "piecewise":
        *branches, default = args
        pairs = [(_expression(value), _COMPARE[how](_expression(left), _expression(right)))
                 for (how, left, right), value in branches]
        return sympy.Piecewise(*pairs, (_expression(default), True))
    operation = _CLASSES.get(operator) or (sub if operator == "subtract" else truediv)
    return operation(*map(_expression, args))
