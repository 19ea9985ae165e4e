"""Sliders beside a formula: its own letters, moved in the browser by the generated function."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

from docutils.utils.math.latex2mathml import tex2mathml
from IPython.display import HTML, display

import catalogue
from catalogue.messages import messages
from catalogue.reading.units import COUNTING
from notebooks.derive.formulas.errors import DerivationError
from notebooks.derive.formulas.exported import formula_of
from notebooks.show.display import LANGUAGES, spoken
from notebooks.show.numbers import fmt_int, fmt_sig

say = messages("show/sliders")

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

    Raises DerivationError for a quantity that is not offered, or a letter without a value.
    """
    formula = formula_of(name, attention)
    if formula is None or name not in OFFERED:
        raise DerivationError(f"there are no sliders for '{name}', expected one of "
                              f"{', '.join(OFFERED)}.")
    if missing := sorted(formula.needs - values.keys()):
        raise DerivationError(f"the sliders of '{name}' need '{missing[0]}'.")
    known = {letter: values[letter] for letter in formula.needs}
    result = catalogue.trees.evaluate(formula.tree, known)
    moving = _moving(formula.tree, known)
    for place, lang in enumerate(LANGUAGES):
        if lang in spoken():
            rows = "".join(_letter(letter, values[letter], lang, letter in moving)
                           for letter in sorted(formula.needs))
            text = _said(name, result, lang)
            display(HTML(
                f'<formula-sliders name="{name}" attention="{attention}"><fieldset '
                f'class="calculator"><legend>{TITLE[place]}</legend>'
                f'<div class="fields">{rows}</div>'
                f'<p class="answer">{text}</p></fieldset></formula-sliders>'),
                metadata={"lang": lang})


def _moving(tree: Any, known: Mapping[str, Any]) -> set[str]:
    """Letters that move a formula where all stand, or where the others are at their smallest."""
    small = {letter: value / REACH for letter, value in known.items()}
    return {letter for letter, value in known.items() for others in (known, small)
            if catalogue.trees.evaluate(tree, {**others, letter: value * REACH})
            != catalogue.trees.evaluate(tree, {**others, letter: value})}


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
    return (f"<label><span>{_named(name, lang)}: <output>{_number(value)}</output>{_unit(name)}"
            f'</span><input type="range" min="0" max="{PLACES}" step="1" {data}></label>')


def _said(name: str, result: Any, lang: str) -> str:
    return (f'{_named(name, lang)}: <output aria-live="polite">{_number(result)}</output>'
            f"{_unit(name)}")


def _named(name: str, lang: str) -> str:
    symbol = catalogue.symbols()[name]
    return f"{tex2mathml(symbol.latex)} {html.escape(getattr(symbol, lang))}"


def _number(value: Any) -> str:
    return fmt_int(value) if value == int(value) else fmt_sig(float(value), 4)


def _unit(name: str) -> str:
    unit = catalogue.symbols()[name].unit
    return "" if unit == "1" else f" {html.escape(unit)}"

