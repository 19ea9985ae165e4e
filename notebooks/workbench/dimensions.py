"""Dimension check of formulas, from the units of ``params/symbols.yml``.

Bytes, operations, seconds, joules and currencies are *hard*: they must agree in every sum,
minimum, maximum, comparison and branch, and at the formula's boundary. Tokens, requests and blocks
are *counted*: they must agree inside a formula and are reset to the declared unit at its boundary,
because elements per token are plain numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import sympy
from sympy.core.relational import Relational

import params
from workbench.errors import DerivationError
from workbench.symbols import COUNTING
from workbench.trees import Over

Dimensions = dict[str, sympy.Rational]
_SHORT = {"information": "B", "operation": "FLOP", "time": "s", "energy": "J",
          "currency_usd": "USD", "currency_cny": "CNY"}


def of_unit(unit: str) -> Dimensions:
    """Dimensions of a unit: ``B/token`` -> {information: 1, token: -1}."""
    return {name.strip("[]"): sympy.Integer(power)
            for name, power in params.units.dimensions(unit).items()}


def check(name: str, expr: sympy.Expr) -> None:
    """Refuse a formula whose dimensions do not agree with each other or with its unit.

    Raises DerivationError with the formula's name, the two sides and their units.
    """
    found, declared = _hard(of(expr, name)), params.symbols()[name].unit
    if expr != 0 and found != _hard(of_unit(declared)):
        raise DerivationError(f"formula '{name}' comes out in {text(found)}, "
                              f"but its unit in params/symbols.yml is {declared}.")


def of(expr: sympy.Basic, formula: str) -> Dimensions:
    """Dimensions of an expression; ``formula`` names it in errors."""
    if isinstance(expr, sympy.Symbol):
        known = params.symbols()
        return of_unit(known[expr.name].unit) if expr.name in known else {}
    if isinstance(expr, sympy.Mul):
        total: Dimensions = {}
        for arg in expr.args:
            total = _product(total, of(arg, formula))
        return total
    if isinstance(expr, sympy.Pow):
        return _power(expr, formula)
    if isinstance(expr, (sympy.Add, sympy.Max, sympy.Min)):
        return _agree(expr.args, formula)
    if isinstance(expr, (sympy.ceiling, sympy.floor)):
        return _counted(expr.args[0], formula, f"{type(expr).__name__} of")
    if isinstance(expr, (sympy.log, sympy.exp)):
        _counted(expr.args[0], formula, f"{type(expr).__name__} of")
        return {}
    if isinstance(expr, sympy.Piecewise):
        for _, condition in expr.args:
            if isinstance(condition, Relational):
                _agree(condition.args, formula)
        return _agree([value for value, _ in expr.args], formula)
    if isinstance(expr, Over):
        return of(expr.args[2], formula)
    return {}


def text(dimensions: Mapping[str, sympy.Rational]) -> str:
    """Readable form of dimensions, e.g. ``B/s``."""
    def part(name: str, power: sympy.Rational) -> str:
        return _SHORT.get(name, name) + ("" if power == 1 else f"^{power}")

    above = [part(name, power) for name, power in sorted(dimensions.items()) if power > 0]
    below = [part(name, -power) for name, power in sorted(dimensions.items()) if power < 0]
    if not dimensions:
        return "plain numbers"
    return "/".join(["·".join(above) or "1", *below])


def _power(expr: sympy.Pow, formula: str) -> Dimensions:
    base = of(expr.base, formula)
    _counted(expr.exp, formula, "exponent")
    if base and not expr.exp.is_Rational:
        raise DerivationError(f"formula '{formula}' raises {expr.base} [{text(base)}] to the "
                              f"power {expr.exp}, which is not a fixed number.")
    return {name: power * expr.exp for name, power in base.items()}


def _agree(args: Iterable[sympy.Basic], formula: str) -> Dimensions:
    """The common dimensions of arguments; a zero agrees with everything."""
    first: sympy.Basic | None = None
    common: Dimensions = {}
    for arg in args:
        if arg == 0:
            continue
        found = of(arg, formula)
        if first is None:
            first, common = arg, found
        elif found != common:
            raise DerivationError(f"formula '{formula}' puts {first} [{text(common)}] beside "
                                  f"{arg} [{text(found)}].")
    return common


def _counted(arg: sympy.Basic, formula: str, where: str) -> Dimensions:
    found = of(arg, formula)
    if hard := _hard(found):
        raise DerivationError(f"formula '{formula}' takes the {where} {arg}, which is in "
                              f"{text(hard)} and not a count.")
    return found


def _hard(dimensions: Dimensions) -> Dimensions:
    return {name: power for name, power in dimensions.items() if name not in COUNTING}


def _product(left: Dimensions, right: Dimensions) -> Dimensions:
    total = {name: left.get(name, 0) + right.get(name, 0) for name in {**left, **right}}
    return {name: power for name, power in total.items() if power != 0}
