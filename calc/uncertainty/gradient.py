"""Slopes of every formula of this package, exact, without a second set of formulas.

A number that remembers how it was made passes through the formulas in place of an input; walking
back from the result gives its slope by all such inputs at once (reverse accumulation). Formulas are
elementwise, so with arrays of deployments every slope is an array of one value per deployment.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from calc.physics.arrays import Number

Rule = Callable[..., Number]

# ufunc -> for each argument: its share of a slope, from the slope s, the result y, the arguments.
# At a kink of max and min the first argument's side is taken.
RULES: dict[Any, tuple[Rule, ...]] = {
    np.add: (lambda s, y, a, b: s, lambda s, y, a, b: s),
    np.subtract: (lambda s, y, a, b: s, lambda s, y, a, b: -s),
    np.multiply: (lambda s, y, a, b: s * b, lambda s, y, a, b: s * a),
    np.true_divide: (lambda s, y, a, b: s / b, lambda s, y, a, b: -s * y / b),
    # a root has no slope where its argument is nothing
    np.power: (lambda s, y, a, b: s * b * np.where(a == 0, b == 1, np.where(a == 0, 1, a)
                                                   ** (b - 1)),
               lambda s, y, a, b: s * y * np.log(a)),
    np.negative: (lambda s, y, a: -s,),
    np.exp: (lambda s, y, a: s * y,), np.log: (lambda s, y, a: s / a,),
    np.log2: (lambda s, y, a: s / (a * np.log(2)),),
    np.expm1: (lambda s, y, a: s * (y + 1),), np.log1p: (lambda s, y, a: s / (1 + a),),
    np.absolute: (lambda s, y, a: s * np.sign(a),),
    np.sqrt: (lambda s, y, a: s / (2 * y),),
    np.maximum: (lambda s, y, a, b: s * (a >= b), lambda s, y, a, b: s * (a < b)),
    np.minimum: (lambda s, y, a, b: s * (a <= b), lambda s, y, a, b: s * (a > b)),
}
# what steps or compares has no slope: its result is a plain number again
FLAT = frozenset({
    np.greater, np.greater_equal, np.less, np.less_equal, np.equal, np.not_equal,
    np.floor_divide, np.floor, np.ceil, np.remainder})
CHOICE: tuple[Rule, ...] = (  # of np.where; a condition has no slope
    lambda s, y, condition, a, b: 0.0, lambda s, y, condition, a, b: s * condition,
    lambda s, y, condition, a, b: s * np.logical_not(condition))


class Traced(NDArrayOperatorsMixin):
    """A number, or an array of them, that remembers how it was made.

    Attributes:
        value: the number.
        made: how: the rules of its operation, and the arguments as they came.
        tape: all traced numbers of a computation in the order of their making.
    """

    __slots__ = ("made", "place", "tape", "value")

    def __init__(self, value: Number, tape: list[Traced],
                 made: tuple[tuple[Rule, ...], tuple[Any, ...]] = ((), ())) -> None:
        self.value, self.tape, self.made, self.place = value, tape, made, len(tape)
        tape.append(self)

    def __array_ufunc__(self, ufunc: Any, method: str, *arguments: Any, **options: Any) -> Any:
        """An elementwise function of it: computed, and remembered where it has a slope."""
        if method != "__call__" or options:
            return NotImplemented
        value = ufunc(*map(_value, arguments))
        if ufunc in FLAT:
            return value
        rules = RULES.get(ufunc)
        return NotImplemented if rules is None else Traced(value, self.tape, (rules, arguments))

    def __array_function__(self, function: Any, types: Any, arguments: tuple[Any, ...],
                           options: dict[str, Any]) -> Any:
        """``np.where`` and ``np.clip``, the only other functions that the formulas need."""
        if function is np.clip and not options:
            number, low, high = arguments
            return np.minimum(np.maximum(number, low), high)
        if function is not np.where or options:
            return NotImplemented
        condition, yes, no = arguments
        if np.ndim(condition) == 0:
            return yes if condition else no
        return Traced(np.where(condition, _value(yes), _value(no)), self.tape, (CHOICE, arguments))


def _value(number: Any) -> Number:
    """The number without its history."""
    return number.value if isinstance(number, Traced) else number


def traced(values: Sequence[Number]) -> list[Traced]:
    """Inputs to be followed through one computation."""
    tape: list[Traced] = []
    return [Traced(value, tape) for value in values]


def slopes(result: Any, inputs: Sequence[Traced]) -> list[Number]:
    """Slope of a result by each traced input, at the values that they have.

    >>> x, y = traced([2.0, 3.0])
    >>> [round(float(slope), 3) for slope in slopes(np.expm1(x) * y, [x, y])]
    [22.167, 6.389]
    >>> [float(slope) for slope in slopes(np.maximum(x * y, x) / x**2, [x, y])]
    [-0.75, 0.5]

    Args:
        result: what formulas made of the inputs; without a trace, nothing depends on them.
        inputs: as :func:`traced` gave them.

    Returns one slope per input: scalars, or arrays of one value per deployment. Where a formula
    steps (a ceiling) or bends (a maximum) it is the slope of the piece that holds.
    """
    if not isinstance(result, Traced):
        return [0.0 for _ in inputs]
    found: list[Any] = [None] * (result.place + 1)
    found[result.place] = 1.0
    for number in reversed(result.tape[:result.place + 1]):
        rules, arguments = number.made
        slope = found[number.place]
        if slope is None or not rules:
            continue
        found[number.place] = None
        plain = [_value(argument) for argument in arguments]
        for argument, rule in zip(arguments, rules, strict=True):
            if isinstance(argument, Traced):
                part = rule(slope, number.value, *plain)
                before = found[argument.place]
                found[argument.place] = part if before is None else before + part
    return [0.0 if number.place > result.place or found[number.place] is None
            else found[number.place] for number in inputs]
