"""Inputs of every formula, and arithmetic on them for scalars and arrays alike.

Records of results are dataclasses with ``eq=False``: arrays are neither equal nor hashable.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

Number = Any  # float or numpy array: every function of calc is vectorised


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Inputs:
    """Input symbols in SI units, numbers or arrays that broadcast against each other.

    Names, units and sentences are those of ``params/symbols.yml``. A symbol that is not given is no
    attribute.

    >>> q = Inputs({"tensor_parallel": 8.0}, data_parallel=2.0)
    >>> q.tensor_parallel, q.data_parallel
    (8.0, 2.0)

    Args:
        symbols, more: by name.
    """

    def __init__(self, symbols: Mapping[str, Number] = MappingProxyType({}), /, **more: Number
                 ) -> None:
        # made: what ``calc.physics.arrays.once`` keeps of them
        vars(self).update(symbols, made={}, **more)

    if TYPE_CHECKING:
        def __getattr__(self, name: str) -> Number: ...


SCALAR = (int, float)  # single numbers, those of NumPy in double precision included
Function = TypeVar("Function", bound=Callable[..., Any])


def double(value: Number) -> Number:
    """Number of an input in double precision [any]: narrow integers would wrap around silently.

    Args:
        value: number or array.

    Source: definition.
    """
    return (np.float64(value) if isinstance(value, SCALAR)
            else np.asarray(value, dtype=float)[()])


def once(function: Function) -> Function:
    """Cache a function of the inputs, so that all steps of an evaluation share its result.

    The result is kept per :class:`Inputs` object and per identity of the other arguments.

    >>> twice = once(lambda q, factor: factor * q.tensor_parallel)
    >>> q, factor = Inputs({"tensor_parallel": np.arange(4.0)}), np.float64(2)
    >>> twice(q, factor) is twice(q, factor)
    True

    Args:
        function: of the inputs and of objects that are the same for every step.
    """
    @wraps(function)
    def cached(q: Inputs, *others: Any) -> Any:
        if not isinstance(q, Inputs):
            return function(q, *others)
        key = (function, *map(id, others)) if others else function
        results = vars(q)["made"]
        entry = results.get(key)
        if entry is None:
            # an object that is kept leaves its identity to no other
            entry = results[key] = function(q, *others), others
        return entry[0]

    return cast("Function", cached)


def select(condition: Number, yes: Number, no: Number) -> Number:
    """Return ``yes`` where the condition holds, else ``no``; for a scalar condition the object.

    Args:
        condition: booleans.
        yes, no: numbers of one unit, which the result has too [any].

    Source: definition; ``numpy.where`` that evaluates neither branch of a scalar anew.
    """
    if getattr(condition, "ndim", 0) == 0:
        return yes if condition else no
    return np.where(condition, yes, no)


def either(condition: Number, yes: Callable[[], Any], no: Callable[[], Any]) -> Any:
    """Return ``yes()`` where the condition holds, else ``no()``; compute only what is needed.

    >>> float(either(np.float64(1) > 0, lambda: 2.0, lambda: 1 / 0))
    2.0

    Args:
        condition: booleans.
        yes, no: functions that return numbers, or tuples of as many numbers, of one unit
            each [any].

    Source: definition, as :func:`select`.
    """
    if getattr(condition, "ndim", 0) == 0:
        return yes() if condition else no()
    if condition.all():
        return yes()
    if not condition.any():
        return no()
    first, second = yes(), no()
    if isinstance(first, tuple):
        return tuple(np.where(condition, *pair) for pair in zip(first, second, strict=True))
    return np.where(condition, first, second)


def largest(number: Number) -> Number:
    """Largest value in any row [any], at least 0.

    Args:
        number: of any unit.

    Source: definition; ``numpy.max``, of a scalar without its cost.
    """
    return number if isinstance(number, SCALAR) else np.max(number, initial=0)


def anywhere(condition: Number) -> bool:
    """Whether a condition holds for at least one deployment.

    Args:
        condition: booleans.

    Source: definition; ``numpy.any``, of a scalar without its cost.
    """
    return bool(condition if getattr(condition, "ndim", 0) == 0 else condition.any())


def maximum(first: Number, second: Number) -> Number:
    """Larger of two numbers, row by row [any].

    >>> float(maximum(np.float64(1), 2)), maximum(np.array([1.0, 3.0]), 2)
    (2.0, array([2., 3.]))

    Args:
        first, second: numbers of one unit.

    Source: definition; ``numpy.maximum``, of scalars without its cost.
    """
    if isinstance(first, SCALAR) and isinstance(second, SCALAR):
        return np.float64(first if first >= second or first != first else second)
    return np.maximum(first, second)


def minimum(first: Number, second: Number) -> Number:
    """Smaller of two numbers, row by row [any].

    Args:
        first, second: numbers of one unit.

    Source: definition; ``numpy.minimum``, of scalars without its cost.
    """
    if isinstance(first, SCALAR) and isinstance(second, SCALAR):
        return np.float64(first if first <= second or first != first else second)
    return np.minimum(first, second)


def clip(number: Number, low: Number, high: Number) -> Number:
    """The number nearest to a given one that is not below ``low`` or above ``high`` [any].

    Args:
        number: of any unit.
        low, high: bounds of the same unit.

    Source: definition; ``numpy.clip``, of scalars without its cost.
    """
    if isinstance(number, SCALAR):
        return minimum(maximum(number, low), high)
    return np.clip(number, low, high)


def is_absent(term: Number) -> bool:
    """Whether a term is the scalar 0: its effect occurs in no deployment and can be skipped.

    Args:
        term: of any unit.

    Source: definition.
    """
    return isinstance(term, SCALAR) and term == 0


def plus(number: Number, term: Number) -> Number:
    """Sum of a number and of a term that may be absent, the number 0 [any].

    >>> rows = np.array([1.0, 2.0])
    >>> plus(rows, 0.0) is rows
    True

    Args:
        number, term: of one unit.

    Source: definition; what is absent costs no operation on rows.
    """
    return number if is_absent(term) else number + term


def minus(number: Number, term: Number) -> Number:
    """Difference of a number and of a term that may be absent, the number 0 [any].

    Args:
        number, term: of one unit.

    Source: definition, as :func:`plus`.
    """
    return number if is_absent(term) else number - term


def scaled(number: Number, factor: Number) -> Number:
    """Product of a number and of a factor that is often the number 1 [any].

    Args:
        number: of any unit.
        factor: of any unit.

    Source: definition; a factor of 1 costs no operation on rows.
    """
    return number if isinstance(factor, SCALAR) and factor == 1 else number * factor


def per(number: Number, parts: Number) -> Number:
    """One of several equal parts of a number [any], of which there is often but 1.

    Args:
        number: of any unit.
        parts: of any unit.

    Source: definition, as :func:`scaled`.
    """
    return number if isinstance(parts, SCALAR) and parts == 1 else number / parts


def whole_power(number: Number, exponent: Number) -> Number:
    """Power of a number [any], by squaring where the exponent is one whole number for all rows.

    >>> float(whole_power(np.float64(3), np.float64(5)))
    243.0

    Args:
        number: base.
        exponent: of the power [1].

    Source: definition; a few products cost less than a logarithm and an exponential.
    """
    if not (isinstance(exponent, SCALAR) and exponent >= 1 and exponent == int(exponent)):
        return number ** exponent
    power, left = None, int(exponent)
    while left:
        if left % 2:
            power = number if power is None else power * number
        number, left = number * number if left > 1 else number, left // 2
    return power


def power(number: Number, exponent: Number) -> Number:
    """Power of a positive number [any].

    >>> float(power(np.float64(9), 0.5).round(9))
    3.0

    Args:
        number: base, above 0.
        exponent: of the power [1].

    Source: definition; NumPy's exponential and logarithm take half as long as its power.
    """
    return np.exp(exponent * np.log(number))


def floor_div(number: Number, part: Number) -> Number:
    """Greatest integer at or below ``whole / part`` [1], exact for whole numbers below 2^53.

    Args:
        number: dividend, of any unit.
        part: divisor, of the same unit.

    Source: definition of the floor function.
    """
    return np.floor(number / part)


def ceil_div(number: Number, part: Number) -> Number:
    """Least integer at or above ``whole / part`` [1], exact for whole numbers below 2^53.

    Args:
        number: dividend, of any unit.
        part: divisor, of the same unit.

    Source: definition of the ceiling function.
    """
    return np.ceil(number / part)


# Bowling, Khasawneh, Kaewkuekool and Cho, A logistic approximation to the cumulative normal
# distribution, JIEM 2 (2009) 114-127: within 1.5e-4
LINEAR, CUBIC = 1.5976, 0.07056
FARTHEST = 8.0  # deviations; nothing lies beyond


def normal_tail(deviations: Number) -> Number:
    """Probability that a standard normal variable exceeds so many deviations [1], to 1.5e-4.

    >>> float(normal_tail(np.float64(2)).round(4))  # 0.02275
    0.0228

    Args:
        deviations: of either sign [1].

    Source: notebooks/memory.md, section How full the cache gets.
    """
    z = clip(deviations, -FARTHEST, FARTHEST)
    return 1 / (1 + np.exp(LINEAR * z + CUBIC * z * z * z))


def product_log(x: Number) -> Number:
    """Lambert's W, whose product with its exponential is x, to 2%; of x >= 0 [1].

    Args:
        x: argument [1].

    Source: Winitzki, Uniform approximations for transcendental functions, ICCSA 2003, LNCS 2667.
    """
    above = np.log1p(x)
    return above * (1 - np.log1p(above) / (2 + above))
