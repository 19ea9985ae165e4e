"""Slopes of the exported formulas: SymPy's derivative of each, put together along their graph.

A formula is differentiated on the piece that holds at a point: of a piecewise the branch, of a
maximum or minimum the argument that decides, and a ceiling or floor is the constant that it comes
to. Where two pieces meet the slope is that of one of them.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import sympy

from catalogue.entries.trees import Number, Tree, evaluate
from notebooks.derive.formulas.exported import DerivationError, Formula, evaluate_all, order
from notebooks.derive.formulas.trees import from_tree, to_tree

PICKED = {"max": max, "min": min, "max_over": max, "min_over": min}
STEPS = ("ceil", "floor")
OVER = ("max_over", "min_over", "sum_over")


@dataclass(frozen=True)
class Gradient:
    """A quantity at a point and how it depends on every input there.

    Attributes:
        value: of the quantity [SI].
        slopes: by input, d quantity / d input [SI]; inputs that it does not depend on are absent.
        pieces: by formula, the piece that holds; between points whose pieces differ is a kink.
    """

    value: float
    slopes: Mapping[str, float]
    pieces: Mapping[str, str]


def gradient(formulas: Mapping[str, Formula], inputs: Mapping[str, Number], name: str,
             by: Iterable[str] | None = None) -> Gradient:
    """The slope of a quantity by its inputs, through all formulas between them.

    Args:
        formulas: of one attention (``select``).
        inputs: every input symbol, SI numbers.
        name: of a quantity that does not depend on the stage.
        by: inputs whose slopes are wanted; all unless told. A count may have none at all, such as
            that of chosen experts where every expert is chosen.

    Raises DerivationError for a formula that has no value or no slope at this point.
    """
    needed = closure(formulas, name)
    values: dict[str, Number] = {**inputs, **evaluate_all(needed, inputs)}
    adjoint: dict[str, float] = {name: 1.0}
    unwanted = inputs.keys() - set(inputs if by is None else by)
    pieces = {}
    for formula in reversed(order(needed)):
        pieces[formula] = json.dumps(local(needed[formula].tree, values))
        share = adjoint.pop(formula, 0.0)
        if not share:
            continue
        for symbol in symbols(pieces[formula]):
            if symbol in unwanted:
                continue
            try:
                slope = float(evaluate(differentiated(pieces[formula], symbol), values))
            except ValueError as error:
                raise DerivationError(
                    f"formula '{formula}' has no slope by '{symbol}': {error}.") from None
            adjoint[symbol] = adjoint.get(symbol, 0.0) + share * slope
    return Gradient(float(values[name]), adjoint, pieces)


def closure(formulas: Mapping[str, Formula], name: str) -> dict[str, Formula]:
    """A formula and all that it is made of. Raises DerivationError if there is none."""
    if name not in formulas:
        raise DerivationError(f"there is no formula of '{name}'.")
    found: dict[str, Formula] = {}
    waiting = [name]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found[one] = formulas[one]
            waiting += formulas[one].needs & formulas.keys()
    return found


def local(tree: Tree, values: Mapping[str, Number]) -> Tree:
    """The piece of a tree that holds at a point: no branch, no maximum, no ceiling is left.

    >>> local(["max", ["multiply", "a", 2], ["ceil", "b"]], {"a": 1, "b": 2.5})
    3
    >>> local(["max", ["multiply", "a", 2], ["ceil", "b"]], {"a": 2, "b": 2.5})
    ['multiply', 'a', 2]
    """
    if not isinstance(tree, list):
        return tree
    operator, *args = tree
    if operator in STEPS:
        return evaluate(tree, values)
    if operator == "rational":
        return tree
    if operator == "piecewise":
        return local(_branch(tree, values), values)
    if operator in OVER:
        args, operator = list(_unrolled(tree, values)), operator.removesuffix("_over")
        operator = "add" if operator == "sum" else operator
    if operator in PICKED:
        return local(PICKED[operator](args, key=lambda arg: evaluate(arg, values)), values)
    return [operator, *(local(arg, values) for arg in args)]


def symbols(piece: str) -> list[str]:
    """What a piece (as JSON) depends on.

    >>> symbols('["multiply", "hidden_size", 3]')
    ['hidden_size']
    """
    return sorted(symbol.name for symbol in _expression(piece).free_symbols)


@functools.lru_cache(maxsize=1 << 14)
def differentiated(piece: str, by: str) -> Tree:
    """SymPy's derivative of a piece (as JSON) by one of its symbols, as a tree.

    >>> differentiated('["multiply", "hidden_size", 3]', "hidden_size")
    3
    """
    expression = _expression(piece)
    (symbol,) = (one for one in expression.free_symbols if one.name == by)
    return to_tree(sympy.diff(expression, symbol))


@functools.lru_cache(maxsize=1 << 14)
def _expression(piece: str) -> sympy.Expr:
    return from_tree(json.loads(piece))


def _branch(tree: Tree, values: Mapping[str, Number]) -> Tree:
    """The branch of a piecewise that holds: its default is asked last."""
    *branches, default = tree[1:]
    for condition, value in branches:
        if evaluate(["piecewise", [condition, 1], 0], values):
            return value
    return default


def _unrolled(tree: Tree, values: Mapping[str, Number]) -> Iterator[Tree]:
    """The bodies of an operator over an index, with each value of the index put in."""
    _, index, count, body = tree
    for i in range(int(evaluate(count, values))):
        yield _put(body, index, i)


def _put(tree: Tree, index: str, value: int) -> Tree:
    if isinstance(tree, list):
        return [tree[0], *(_put(part, index, value) for part in tree[1:])] \
            if isinstance(tree[0], str) else [_put(part, index, value) for part in tree]
    return value if tree == index else tree
