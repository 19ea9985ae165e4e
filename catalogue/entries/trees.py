"""Formulas as data: nested lists over a closed set of operators, evaluated without ``eval``.

A leaf is a number or the name of a symbol; a node is ``[operator, argument, ...]``, e.g.
``["divide", ["multiply", "total_parameters", 2], "tensor_parallel"]``. Conditions stand only in
``piecewise``: ``["piecewise", [["eq", "stage", 0], value], ..., default]``. The ``*_over``
operators run an index from 0 to count - 1: ``["max_over", "stage", count, body]``.

Integers stay exact (fractions where needed), so that ``ceil`` and ``floor`` are right on exact
multiples.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

Number = Any  # int, float or Fraction
Tree = Any
Cache = dict[Any, Any]  # values of parts, see ``evaluate``

MAX_DEPTH = 200
MAX_STEPS = 1_000_000
_EXACT_BITS = 4096

_COMPARE: dict[str, Callable[[Number, Number], bool]] = {
    "eq": operator.eq, "lt": operator.lt, "le": operator.le, "gt": operator.gt,
    "ge": operator.ge}


def _divide(a: Number, b: Number) -> Number:
    if b == 0:
        raise ValueError("division by zero")
    if isinstance(a, float) or isinstance(b, float):
        return float(a) / float(b)
    return a / b if isinstance(a, Fraction) else Fraction(a, b)


def _power(base: Number, exponent: Number) -> Number:
    if base == 0 and exponent < 0:
        raise ValueError("division by zero")
    if (not isinstance(exponent, float) and exponent.denominator == 1
            and not isinstance(base, float) and abs(exponent) * max(
                1, base.numerator.bit_length(), base.denominator.bit_length()) <= _EXACT_BITS):
        power = base ** abs(int(exponent))
        return power if exponent >= 0 else _divide(1, power)
    result = float(base) ** float(exponent)
    if isinstance(result, complex):
        raise ValueError("power of a negative number with a fractional exponent")
    return result


def _log(number: Number) -> float:
    if number <= 0:
        raise ValueError("logarithm of a number that is not positive")
    return math.log(number)


_FIXED: dict[str, tuple[int, Callable[..., Number]]] = {  # operators by number of arguments
    "ceil": (1, math.ceil), "floor": (1, math.floor), "log": (1, _log), "exp": (1, math.exp),
    "power": (2, _power), "divide": (2, _divide), "rational": (2, _divide),
    "subtract": (2, operator.sub)}
_MANY: dict[str, Callable[[list[Number]], Number]] = {
    "add": sum, "multiply": math.prod, "min": min, "max": max}
_OVER: dict[str, Callable[[list[Number]], Number]] = {
    "max_over": max, "min_over": min, "sum_over": sum}

OPERATORS = frozenset({*_FIXED, *_MANY, *_OVER, "piecewise"})


def validate(tree: Tree, _depth: int = 0) -> None:
    """Check the form of a tree. Raises ValueError with one clause when it is not one."""
    if _depth > MAX_DEPTH:
        raise ValueError(f"formula nested deeper than {MAX_DEPTH} levels")
    if isinstance(tree, str):
        if not tree.isidentifier():
            raise ValueError(f"'{tree}' is not the name of a symbol")
    elif isinstance(tree, (int, float)) and not isinstance(tree, bool):
        if not math.isfinite(tree):
            raise ValueError("a number in a formula must be finite")
    elif not isinstance(tree, list) or not tree or not isinstance(tree[0], str):
        raise ValueError("expected a number, a symbol or [operator, argument, ...]")
    else:
        for part in _parts(*tree):
            validate(part, _depth + 1)


def _parts(name: str, *args: Tree) -> Sequence[Tree]:
    """Trees inside of a node. Raises ValueError for what is none."""
    if name not in OPERATORS:
        raise ValueError(f"unknown operator '{name}', expected one of "
                         f"{', '.join(sorted(OPERATORS))}")
    if name == "piecewise" and args:
        *branches, default = args
        parts = [default]
        for branch in branches:
            match branch:
                case [[str(compare), left, right], value] if compare in _COMPARE:
                    parts += [left, right, value]
                case _:
                    raise ValueError("a branch of 'piecewise' is [[comparison, a, b], value]")
        return parts
    if name in _OVER and len(args) == 3 and isinstance(args[0], str):
        return args[1:]
    if args and (name in _MANY or (name in _FIXED and len(args) == _FIXED[name][0])):
        return args
    raise ValueError(f"'{name}' does not take {len(args)} arguments, or not such")


def symbols_of(tree: Tree) -> set[str]:
    """Names of the free symbols of a tree (indices of ``*_over`` are bound)."""
    if isinstance(tree, str):
        return {tree}
    if not isinstance(tree, list):
        return set()
    if tree[0] in _OVER:
        return symbols_of(tree[2]) | (symbols_of(tree[3]) - {tree[1]})
    # others are those of a program made of a tree, such as log2
    return set().union(*map(symbols_of, _parts(*tree) if tree[0] in OPERATORS else tree[1:]))


def numbers(tree: Tree) -> Tree:
    """The tree with numbers written as text (``0.85``, ``1e9``) turned into numbers."""
    if isinstance(tree, list):
        return [numbers(part) for part in tree]
    if isinstance(tree, str) and not tree.isidentifier():
        try:
            return float(tree)
        except ValueError:
            return tree
    return tree


def shared(tree: Tree, cache: dict[tuple[Any, ...], Tree]) -> Tree:
    """The tree with one list for all equal parts of it, and of the trees that were made before.

    Args:
        tree: a valid tree.
        cache: what was made before, by operator and arguments; new parts are added.
    """
    if not isinstance(tree, list):
        return tree
    parts = [shared(part, cache) for part in tree]
    key = tuple(id(part) if isinstance(part, list) else (type(part), part) for part in parts)
    return cache.setdefault(key, parts)


def evaluate(tree: Tree, values: Mapping[str, Number], cache: Cache | None = None) -> Number:
    """The value of a valid tree; integral results come back as int.

    Args:
        tree: what is evaluated.
        values: of its symbols.
        cache: values of its lists by identity, and such of a body by index; what is found is added.
            For trees that share lists (:func:`shared`), have the same values and outlive it.

    Raises ValueError for a symbol without a value, arithmetic that has no result or too large
    a one, and a formula of more than ``MAX_STEPS`` steps.
    """
    try:
        result = _evaluated(tree, values, {} if cache is None else cache, itertools.count(1))
        if isinstance(result, Fraction):
            result = int(result) if result.denominator == 1 else float(result)
        if not math.isfinite(result):
            raise ValueError("the formula has no finite value")
    except OverflowError:
        raise ValueError("a number in the formula is too large") from None
    return result


def _evaluated(tree: Tree, values: Mapping[str, Number], cache: Cache, steps: Iterator[int]
               ) -> Number:
    """The value of a tree, as an exact number where its parts are; every part takes a step."""
    if next(steps) > MAX_STEPS:
        raise ValueError(f"the formula takes more than {MAX_STEPS} steps")
    if isinstance(tree, str):
        if tree not in values:
            raise ValueError(f"the formula needs '{tree}', which has no value")
        return values[tree]
    if not isinstance(tree, list):
        return tree
    if id(tree) not in cache:
        cache[id(tree)] = _applied(tree, values, cache, steps)
    return cache[id(tree)]


def _applied(tree: list[Tree], values: Mapping[str, Number], cache: Cache, steps: Iterator[int]
             ) -> Number:
    name, *args = tree
    at = partial(_evaluated, values=values, cache=cache, steps=steps)
    if name == "piecewise":
        *branches, default = args
        for (compare, left, right), value in branches:
            if _COMPARE[compare](at(left), at(right)):
                return at(value)
        return at(default)
    if name in _OVER:
        index, count_tree, body = args
        count = at(count_tree)
        if not 1 <= count <= MAX_STEPS or count != int(count):
            raise ValueError(f"'{name}' cannot run over {count} values")
        return _OVER[name](
            [_evaluated(body, {**values, index: i}, cache.setdefault((index, i), {}), steps)
             for i in range(int(count))])
    numbers = list(map(at, args))
    return _MANY[name](numbers) if name in _MANY else _FIXED[name][1](*numbers)
