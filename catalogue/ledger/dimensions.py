"""What unit a formula of a claim comes out in, from the units of what goes in.

What is merely counted (tokens, requests, blocks) is passed over: documents leave it out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from catalogue.reading import units

Dimensions = dict[str, Fraction]
_SAME = ("add", "subtract", "min", "max")
_PLAIN = ("log", "exp")


def of_unit(unit: str) -> Dimensions:
    """Dimensions of a unit, without what is counted.

    >>> of_unit("GB/token")
    {'information': Fraction(1, 1)}
    """
    return {name: Fraction(power)
            for name, power in units.uncounted(units.dimensions(unit)).items()}


def text(of: Mapping[str, Any]) -> str:
    """Readable form of dimensions: ``B/s``, ``a plain number``."""
    def part(name: str, power: Any) -> str:
        return units.SI.get(name, name) + ("" if power == 1 else f"^{power}")

    above = [part(name, power) for name, power in sorted(of.items()) if power > 0]
    below = [part(name, -power) for name, power in sorted(of.items()) if power < 0]
    return "/".join(["·".join(above) or "1", *below]) if of else "a plain number"


def of_tree(tree: Any, given: Mapping[str, str]) -> Dimensions:
    """Dimensions of a valid tree.

    Args:
        tree: as ``catalogue.entries.trees`` has them.
        given: unit by the name of a symbol; an index of ``*_over`` is a plain number.

    Raises ValueError where two units are added or compared, or one is an exponent.
    """
    if isinstance(tree, str):
        return of_unit(given.get(tree, units.DIMENSIONLESS))
    if not isinstance(tree, list):
        return {}
    operator, *args = tree
    if operator == "piecewise":
        *branches, default = args
        for (_, left, right), _value in branches:
            _agree((left, right), given)
        return _agree([*(value for _, value in branches), default], given)
    if operator.endswith("_over"):
        return of_tree(args[2], given)
    if operator in _SAME:
        return _agree(args, given)
    if operator == "multiply":
        return _product([(of_tree(arg, given), 1) for arg in args])
    if operator in ("divide", "rational"):
        return _product([(of_tree(args[0], given), 1), (of_tree(args[1], given), -1)])
    if operator == "power":
        return _raised(args[0], args[1], given)
    found = of_tree(args[0], given)
    if operator in _PLAIN and found:
        raise ValueError(f"{operator} of a quantity in {text(found)}, expected a plain number")
    return found  # of ceil and floor


def _product(factors: Iterable[tuple[Dimensions, int]]) -> Dimensions:
    total: Dimensions = {}
    for of, sign in factors:
        for name, power in of.items():
            total[name] = total.get(name, Fraction(0)) + sign * power
    return {name: power for name, power in total.items() if power}


def _raised(base: Any, exponent: Any, given: Mapping[str, str]) -> Dimensions:
    of = of_tree(base, given)
    if (power := of_tree(exponent, given)):
        raise ValueError(f"an exponent in {text(power)}, expected a plain number")
    if of and not isinstance(exponent, (int, float, Fraction)):
        raise ValueError(f"a quantity in {text(of)} to a power that is no fixed number")
    return {name: power * Fraction(exponent) for name, power in of.items()} if of else {}


def _agree(args: Iterable[Any], given: Mapping[str, str]) -> Dimensions:
    found = [of_tree(arg, given) for arg in args if arg != 0]
    for of in found[1:]:
        if of != found[0]:
            raise ValueError(f"a quantity in {text(found[0])} beside one in {text(of)}")
    return found[0] if found else {}
