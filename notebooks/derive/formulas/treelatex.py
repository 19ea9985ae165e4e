"""LaTeX of a formula tree as it is written: nothing is simplified, so that a step stays visible.

SymPy would turn a division by t, and again by t, into a division by t²; what a document does twice
should be seen twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Tree = Any

_SUM, _PRODUCT, _ATOM = 1, 2, 3
_FUNCTIONS = {"min": r"\min", "max": r"\max", "log": r"\ln", "exp": r"\exp"}
_OVER = {"max_over": r"\max", "min_over": r"\min", "sum_over": r"\sum"}
_SIGNS = {"eq": "=", "lt": "<", "le": r"\le", "gt": ">", "ge": r"\ge"}
_LARGE = 10**6


def tree_latex(tree: Tree, letters: Mapping[str, str]) -> str:
    """LaTeX of a valid tree.

    Args:
        tree: nested lists over the operators of ``catalogue.entries.formulas``.
        letters: LaTeX of every symbol, by name.

    Raises KeyError for a symbol without a letter.

    >>> tree_latex(["divide", ["divide", ["multiply", "P", 2], "t"], "t"], {"P": "P", "t": "t"})
    '\\\\frac{\\\\frac{P \\\\cdot 2}{t}}{t}'
    """
    return _print(tree, letters)[0]


def _print(tree: Tree, letters: Mapping[str, str]) -> tuple[str, int]:
    """LaTeX, and how tightly it holds together."""
    if isinstance(tree, str):
        return letters[tree], _ATOM
    if not isinstance(tree, list):
        return _number(tree), _ATOM if tree >= 0 else _SUM
    operator, *args = tree
    if operator == "multiply":  # a dot before what begins with a digit and between words
        first, *others = (_held(arg, letters, _PRODUCT) for arg in args)
        return first + "".join(
            (r" \cdot " if text[0].isdigit() or text.startswith(r"\text") else r"\,") + text
            for text in others), _PRODUCT
    if operator == "subtract":
        return f"{_held(args[0], letters, _SUM)} - {_held(args[1], letters, _PRODUCT)}", _SUM
    if operator == "add":
        return " + ".join(_held(arg, letters, _SUM) for arg in args), _SUM
    if operator in ("divide", "rational"):
        above, below = (tree_latex(arg, letters) for arg in args)
        return rf"\frac{{{above}}}{{{below}}}", _ATOM
    if operator == "power":
        base = tree_latex(args[0], letters)
        bracketed = base if isinstance(args[0], int) else rf"\left({base}\right)"
        bracketed = f"{{{base}}}" if isinstance(args[0], str) else bracketed
        return f"{bracketed}^{{{tree_latex(args[1], letters)}}}", _ATOM
    if operator in ("ceil", "floor"):
        left, right = (rf"\left\l{operator} ", rf"\right\r{operator}")
        return f"{left}{tree_latex(args[0], letters)}{right}", _ATOM
    if operator in _FUNCTIONS:
        listed = ", ".join(tree_latex(arg, letters) for arg in args)
        return rf"{_FUNCTIONS[operator]}\left({listed}\right)", _ATOM
    if operator == "piecewise":
        *branches, default = args
        rows = [rf"{tree_latex(value, letters)} & {tree_latex(left, letters)} {_SIGNS[sign]} "
                rf"{tree_latex(right, letters)}" for (sign, left, right), value in branches]
        return (r"\begin{cases} " + r" \\ ".join([*rows, rf"{tree_latex(default, letters)} &"])
                + r" \end{cases}"), _ATOM
    index, count, body = args
    inner = {**letters, index: letters.get(index, index)}
    return (rf"{_OVER[operator]}_{{0 \le {inner[index]} < {tree_latex(count, letters)}}} "
            f"{_held(body, inner, _PRODUCT)}"), _PRODUCT


def _number(number: float) -> str:
    if isinstance(number, int) and abs(number) >= _LARGE:
        digits = str(number).rstrip("0")
        power = len(str(number)) - len(digits)
        if power >= 6:
            return rf"10^{{{power}}}" if digits == "1" else rf"{digits} \cdot 10^{{{power}}}"
    text = f"{number:,}" if isinstance(number, int) else f"{number:.12g}"
    return text.replace(",", "{,}")


def _held(tree: Tree, letters: Mapping[str, str], least: int) -> str:
    text, tightness = _print(tree, letters)
    return text if tightness >= least else rf"\left({text}\right)"
