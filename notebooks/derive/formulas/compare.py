"""Whether two formula trees are the same: by structure, and by value at exact points."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction

import catalogue
from catalogue.entries.trees import Number, Tree, evaluate, symbols_of
from notebooks.derive.formulas.symbols import symbol
from notebooks.derive.formulas.trees import from_tree, to_tree

# Small numbers with many common divisors: quotients are whole often enough to stand on the
# edges of ceil and floor.
_WHOLE = (1, 2, 3, 4, 5, 6, 8, 12, 16, 24)
_BROKEN = tuple(Fraction(n, d) for d in (1, 2, 4, 8) for n in (1, 3, 5, 12, 24))
POINTS = 24
EDGE_TRIES = 400


def same_structure(left: Tree, right: Tree) -> bool:
    """Whether two trees are one expression, whatever the order in which they were written."""
    return bool(left == right or to_tree(from_tree(left)) == to_tree(from_tree(right)))


def same_value(left: Tree, right: Tree) -> bool:
    """Whether two trees agree, exactly, at every point tried, edges of ceil and floor included.

    Trees that have a value at none of the points agree on nothing.
    """
    pairs = [(_value(left, point), _value(right, point)) for point in points(left, right)]
    return all(a == b for a, b in pairs) and any(not isinstance(a, str) for a, _ in pairs)


def points(*trees: Tree) -> Iterator[dict[str, Number]]:
    """Points for the symbols of some trees, the same on every run.

    For each argument of a ceil or floor there is a point at which it is whole, if one is found.
    """
    names = sorted(set().union(*map(symbols_of, trees)) | {"stage"})
    draw = random.Random(len(names))
    for _ in range(POINTS):
        yield _point(names, draw)
    for argument in {str(a): a for tree in trees for a in _rounded(tree)}.values():
        for _ in range(EDGE_TRIES):
            point = _point(names, draw)
            value = _value(argument, point)
            if not isinstance(value, str) and value == int(value):
                yield point
                break


def _point(names: list[str], draw: random.Random) -> dict[str, Number]:
    known = catalogue.symbols()
    return {name: draw.choice(_WHOLE if name not in known or symbol(name).is_integer else _BROKEN)
            for name in names}


def _value(tree: Tree, point: dict[str, Number]) -> Number | str:
    """Value at a point; a text where there is none, so that two failures compare equal."""
    try:
        return evaluate(tree, point)
    except (ValueError, OverflowError) as error:
        return str(error)


def _rounded(tree: Tree) -> Iterator[Tree]:
    if isinstance(tree, list):
        if tree[0] in ("ceil", "floor"):
            yield tree[1]
        for part in tree[1:]:
            yield from _rounded(part)
