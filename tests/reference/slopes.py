"""Slopes of the exported formulas: SymPy's derivative of each, put together along their graph.

A formula is differentiated on the piece that holds at a point: of a piecewise the branch, of a
maximum or minimum the argument that decides, and a ceiling or floor is the constant that it comes
to. Where two pieces meet the slope is that of one of them.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import sympy

from catalogue.entries.formulas import Number, Tree, evaluate
from notebooks.derive.formulas.exported import Formula, evaluate_all, order
from notebooks.derive.formulas.symbols import symbol
from notebooks.derive.formulas.trees import from_tree, to_tree

PICKED = {"max": max, "min": min}


class Gradient(NamedTuple):
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
             by: Iterable[str]) -> Gradient:
    """The slope of a quantity by its inputs, through all formulas between them.

    Args:
        formulas: of one attention (``select``).
        inputs: every input symbol, SI numbers.
        name: of a quantity that does not depend on the stage.
        by: inputs whose slopes are wanted. A count may have none at all, such as
            that of chosen experts where every expert is chosen.

    Raises an error for a formula that has no value or no slope at this point.
    """
    needed = order(formulas, [name])
    values = {**inputs, **evaluate_all({one: formulas[one] for one in needed}, inputs)}
    adjoint: dict[str, float] = {name: 1.0}
    unwanted = inputs.keys() - set(by)
    pieces = {}
    for formula in reversed(needed):
        pieces[formula] = json.dumps(local(formulas[formula].tree, values))
        if not (share := adjoint.pop(formula, 0.0)):
            continue
        used = {used.name for used in _expression(pieces[formula]).free_symbols}
        for each in sorted(used - unwanted):
            slope = float(evaluate(_differentiated(pieces[formula], each), values))
            adjoint[each] = adjoint.get(each, 0.0) + share * slope
    return Gradient(float(values[name]), adjoint, pieces)


def local(tree: Tree, values: Mapping[str, Number]) -> Tree:
    """The piece of a tree that holds at a point: no branch, no maximum, no ceiling is left.
    """
    if not isinstance(tree, list) or tree[0] == "rational":
        return tree
    operator, *args = tree
    if operator in ("ceil", "floor"):
        return evaluate(tree, values)
    if operator == "piecewise":
        *branches, default = args
        return local(next((value for condition, value in branches
                           if evaluate(["piecewise", [condition, 1], 0], values)), default), values)
    if operator in ("max_over", "min_over", "sum_over"):
        index, count, body = args
        args = [_substituted(body, index, i) for i in range(int(evaluate(count, values)))]
        operator = {"sum_over": "add"}.get(operator, operator[:3])
    if operator in PICKED:
        return local(PICKED[operator](args, key=lambda arg: evaluate(arg, values)), values)
    return [operator, *(local(arg, values) for arg in args)]


def _substituted(tree: Tree, index: str, value: int) -> Tree:
    if isinstance(tree, list):
        return [_substituted(part, index, value) for part in tree]
    return value if tree == index else tree


@functools.lru_cache(maxsize=1 << 14)
def _differentiated(piece: str, by: str) -> Tree:
    """Return SymPy's derivative of a piece (as JSON) by one of its symbols, as a tree."""
    return to_tree(sympy.diff(_expression(piece), symbol(by)))


@functools.lru_cache(maxsize=1 << 14)
def _expression(piece: str) -> sympy.Expr:
    return from_tree(json.loads(piece))
