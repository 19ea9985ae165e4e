"""A line of arithmetic under a formula: the formula with the numbers of one deployment in it."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping

import sympy

import catalogue
from notebooks.derive.formulas.exported import evaluate_all, formula_of, load_formulas, select
from notebooks.derive.formulas.symbols import latex_of_numbers, symbol
from notebooks.derive.formulas.trees import from_tree
from notebooks.show.display import show
from notebooks.show.numbers import fmt_quantity

PLAIN = 10**7  # numbers below are written out, others as a power of ten
DIGITS = 4
LINE = 150  # signs of LaTeX that still stand on one line


@functools.lru_cache(maxsize=8)
def _values(scenario: str) -> Mapping[str, float]:
    """Inputs and every formula of a deployment, by name (SI)."""
    chosen = catalogue.load_scenario(scenario)
    inputs = chosen.inputs()
    formulas = select(load_formulas(), chosen.model.attention)
    return {name: float(value)
            for name, value in {**inputs, **evaluate_all(formulas, inputs)}.items()}


def in_latex(number: float) -> str:
    """A number in a formula.

    >>> in_latex(70272), in_latex(8.06e11), in_latex(0.25)
    ('70{,}272', '8.06\\\\times 10^{11}', '0.25')
    """
    if number == 0 or 10 ** -DIGITS <= abs(number) < PLAIN:
        text = f"{number:,.{DIGITS}g}" if abs(number) < 10**DIGITS else f"{number:,.0f}"
        return text.replace(",", "{,}")
    power = math.floor(math.log10(abs(number)))
    return rf"{number / 10**power:.{DIGITS}g}\times 10^{{{power}}}"


def _decided(expr: sympy.Expr, values: Mapping[str, float]) -> sympy.Expr:
    """An expression with only those cases left that hold for the values.

    Cases that hang on an index, such as the stage, stay.
    """
    at = {letter: values.get(letter.name, 0) for letter in expr.free_symbols}

    def holding(cases: sympy.Piecewise) -> sympy.Expr:
        for value, condition in cases.args:
            holds = condition.xreplace(at)
            if holds not in (sympy.true, sympy.false):
                return cases
            if holds:
                return value
        return cases

    return expr.replace(lambda node: isinstance(node, sympy.Piecewise), holding)


def worked(name: str, scenario: str, what: tuple[str, str] | None = None,
           through: Mapping[str, sympy.Expr] | None = None) -> None:
    """The formula of a quantity with the numbers of a deployment, and what it comes to.

    Of a formula that is longer than a line, only what it comes to.

    Args:
        name: a quantity that has a formula.
        scenario: the deployment, by the name of its file.
        what: whose numbers these are, English and Chinese; the deployment's model if left out.
        through: name of a symbol -> what stands in its place, in other symbols or numbers.

    Raises ValueError if the quantity has no formula.
    """
    chosen = catalogue.load_scenario(scenario)
    stored = formula_of(name, chosen.model.attention)
    if stored is None:
        raise ValueError(f"{name} has no formula of its own")
    values = _values(scenario)
    expr = from_tree(stored.tree)
    expr = expr.xreplace({symbol(inner): other for inner, other in (through or {}).items()})
    expr = _decided(expr, values)
    filled = latex_of_numbers(expr, {symbol.name: in_latex(values.get(symbol.name, 0))
                                     for symbol in expr.free_symbols})
    en, zh = what or (chosen.model.name["en"], chosen.model.name["zh"])
    shown = f"${filled} =$ " if len(filled) <= LINE else ""
    show(*(f"{what}{colon}{shown}**{fmt_quantity(values[name], stored.unit, lang)}**"
           for what, colon, lang in ((en, ": ", "en"), (zh, "：", "zh"))))
