"""A line of arithmetic under a formula: the formula with the numbers of one deployment in it."""

from __future__ import annotations

import functools
import html
import math
from collections.abc import Mapping
from typing import Any

import sympy
from docutils.utils.math.latex2mathml import tex2mathml
from IPython.display import HTML

import catalogue
from catalogue.messages import messages
from catalogue.reading.units import COUNTING
from notebooks.derive.formulas.exported import DerivationError, all_values, formula_of
from notebooks.derive.formulas.symbols import latex_of_numbers, symbol
from notebooks.derive.formulas.trees import from_tree
from notebooks.show.display import display_each, markdown
from notebooks.show.numbers import fmt_int, fmt_quantity, fmt_sig

PLAIN = 10**7  # numbers below are written out, others as a power of ten
DIGITS = 4
LINE = 150  # signs of LaTeX that still stand on one line


@functools.lru_cache(maxsize=8)
def _values(scenario: str) -> Mapping[str, float]:
    """Inputs and every formula of a deployment, by name (SI)."""
    chosen = catalogue.load_scenario(scenario)
    values = all_values(chosen.inputs(), chosen.model.attention)
    return {name: float(value) for name, value in values.items()}


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
    markdown(*(f"{what}{colon}{shown}**{fmt_quantity(values[name], stored.unit, lang)}**"
           for what, colon, lang in ((en, ": ", "en"), (zh, "：", "zh"))))


say = messages("show/arithmetic")

OFFERED = ("kv_layer_bytes_per_token", "distinct_experts", "decode_step_time", "pipeline_bubble")
REACH = 8  # times as small and as large as the value
PLACES = 1000  # of a slider
TITLE = say("move-letters")


def sliders(name: str, values: Mapping[str, Any], attention: str = "mla") -> None:
    """A slider for each letter of a formula that moves it, and what the formula gives.

    Without scripts the values stand there, and what they give. On a page outside of the book there
    is nothing that could move them.

    Args:
        name: quantity, one of ``OFFERED``: the browser has a function of these.
        values: of its letters, SI units; each reaches from an eighth of it to eight times as much.
        attention: whose formula it is, where it has one of its own.

    Raises DerivationError for a quantity that is not offered.
    """
    formula = formula_of(name, attention)
    if formula is None or name not in OFFERED:
        raise DerivationError(f"there are no sliders for '{name}', expected one of "
                              f"{', '.join(OFFERED)}.")
    known = {letter: values[letter] for letter in formula.needs}
    small = {letter: value / REACH for letter, value in known.items()}
    # where the other letters stand, or where they are at their smallest
    moving = {letter for letter, value in known.items() for others in (known, small)
              if catalogue.formulas.evaluate(formula.tree, {**others, letter: value * REACH})
              != catalogue.formulas.evaluate(formula.tree, {**others, letter: value})}
    result = catalogue.formulas.evaluate(formula.tree, known)

    def shown(lang: str) -> HTML:
        rows = "".join(_letter(letter, values[letter], lang, letter in moving)
                       for letter in sorted(formula.needs))
        text = _quantity(name, result, lang, ' aria-live="polite"')
        return HTML(f'<formula-sliders name="{name}" attention="{attention}"><fieldset '
                    f'class="calculator"><legend>{TITLE[lang == "zh"]}</legend>'
                    f'<div class="fields">{rows}</div>'
                    f'<p class="answer">{text}</p></fieldset></formula-sliders>')

    display_each(shown)


def _letter(name: str, value: Any, lang: str, moving: bool) -> str:
    """A letter's slider; one that moves nothing stays as it is, unseen."""
    low, high = value / REACH, value * REACH
    whole = float(value).is_integer() and catalogue.symbols()[name].unit in ("1", *COUNTING)
    if whole:
        low, high = max(1, round(low)), max(REACH, round(high))
    data = (f'data-symbol="{name}" data-value="{float(value)!r}" data-low="{low!r}" '
            f'data-high="{high!r}"' + ' data-whole=""' * whole)
    if not moving:
        return f'<input type="hidden" {data}>'
    return (f'<label><span>{_quantity(name, value, lang)}</span><input type="range" min="0" '
            f'max="{PLACES}" step="1" {data}></label>')


def _quantity(name: str, value: Any, lang: str, attributes: str = "") -> str:
    """A letter, its name, and its value in a unit."""
    symbol = catalogue.symbols()[name]
    number = fmt_int(value) if value == int(value) else fmt_sig(float(value), 4)
    unit = "" if symbol.unit == "1" else f" {html.escape(symbol.unit)}"
    return (f"{tex2mathml(symbol.latex)} {html.escape(getattr(symbol, lang))}: "
            f"<output{attributes}>{number}</output>{unit}")
