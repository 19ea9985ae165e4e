"""Formulas as JavaScript: the trees of the lock file as functions of plain numbers, for a browser.

The browser works in double precision, so the form matters where a formula steps: a negative power
is a division and a fraction a numerator over a denominator, since ``7 * x / 100`` is whole
wherever it should be and ``0.07 * x`` is not (SymPy's ``jscode`` prints ``(7/100) * x``); a
logarithm over that of two is ``Math.log2``, which is exact at powers of two; a sum or maximum over
an index is a loop. A repeated part of a formula is computed once, outside of loops that it does
not depend on.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from catalogue.entries.formulas import symbols_of

_PRODUCTS = ("multiply", "divide", "rational", "power")
_FUNCTIONS = {"min": "Math.min", "max": "Math.max", "ceil": "Math.ceil", "floor": "Math.floor",
              "log": "Math.log", "exp": "Math.exp", "log2": "Math.log2", "power": "Math.pow"}
_OVER = {"max_over": "maxOver", "min_over": "minOver", "sum_over": "sumOver"}
_COMPARE = {"eq": "===", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
HELPERS = Path(__file__).with_name("loops.js").read_text("utf-8").rstrip()  # of loops


def factors(tree: Any) -> tuple[list[Any], list[Any]]:
    """Return the factors of a product above and below the fraction line.

    >>> factors(["multiply", ["rational", 7, 100], "a", ["power", "b", -2]])
    ([7, 'a'], [100, 'b', 'b'])
    """
    operator, *args = tree if isinstance(tree, list) else ("", tree)
    if operator == "multiply":
        pairs = [factors(arg) for arg in args]
    elif operator in ("divide", "rational"):
        pairs = [factors(args[0]), factors(args[1])[::-1]]
    elif operator == "power" and isinstance(args[1], int) and args[1] not in (0, 1):
        base, times = args[0], abs(args[1])
        part = [base] * times if times <= 2 else [["power", base, times]]
        if part == [tree]:
            return part, []
        pairs = [(part, []) if args[1] > 0 else ([], part)]
    else:
        return [tree], []
    above, below = ([part for pair in pairs for part in pair[side]] for side in (0, 1))
    logarithm = next((part for part in above if isinstance(part, list) and part[0] == "log"), None)
    if logarithm and ["log", 2] in below:
        below.remove(["log", 2])
        above[above.index(logarithm)] = ["log2", logarithm[1]]
    return above, below


def parts(tree: Any) -> list[Any]:
    """Return the parts of a tree that are written inside it."""
    if not isinstance(tree, list):
        return []
    operator, *args = tree
    if operator in _PRODUCTS and (split := factors(tree))[0] != [tree]:
        return [*split[0], *split[1]]
    if operator == "piecewise":
        return [args[-1], *(part for (_, *sides), value in args[:-1] for part in (*sides, value))]
    return args[1:] if operator in _OVER else args


class _Function:
    """A JavaScript function under construction: a list of constants per enclosing loop."""

    def __init__(self, slot: Callable[[str], str]) -> None:
        self.slot, self.indices = slot, list[str]()
        self.lines: list[list[str]] = [[]]
        self.names: list[dict[str, str]] = [{}]
        self.often = Counter[str]()

    def count(self, tree: Any) -> None:
        if isinstance(tree, list):
            self.often[json.dumps(tree)] += 1
            if self.often[json.dumps(tree)] == 1:
                for part in parts(tree):
                    self.count(part)

    def write(self, tree: Any) -> str:
        """Return JavaScript of a tree, a constant's name where it is repeated."""
        if isinstance(tree, str):
            return (f"i{self.indices.index(tree) + 1}" if tree in self.indices
                    else self.slot(tree))
        if not isinstance(tree, list):
            return f"({tree})" if tree < 0 else str(tree)
        key, used = json.dumps(tree), symbols_of(tree)
        depth = max((place for place, index in enumerate(self.indices, 1) if index in used),
                    default=0)
        if key not in self.names[depth]:
            text = self.form(*tree)
            if self.often[key] < 2 and depth == len(self.indices):
                return text
            self.names[depth][key] = f"{'abcdefg'[depth]}{len(self.lines[depth])}"
            self.lines[depth].append(f"const {self.names[depth][key]} = {text};")
        return self.names[depth][key]

    def form(self, operator: str, *args: Any) -> str:
        """Return JavaScript of an operator and its arguments, in parentheses if needed."""
        tree = [operator, *args]
        if operator in _PRODUCTS and (split := factors(tree))[0] != [tree]:
            signs = split[0].count(-1)
            top = " * ".join(self.write(part) for part in split[0] if part != -1) or "1"
            bottom = " * ".join(map(self.write, split[1]))
            bottom = f" / ({bottom})" if len(split[1]) > 1 else f" / {bottom}" if bottom else ""
            return f"({'-' * (signs % 2)}{top}{bottom})"
        if operator in ("add", "subtract"):
            return f"({(' + ' if operator == 'add' else ' - ').join(map(self.write, args))})"
        if operator == "piecewise":
            text = self.write(args[-1])
            for (how, left, right), value in reversed(args[:-1]):
                text = (f"({self.write(left)} {_COMPARE[how]} {self.write(right)} ? "
                        f"{self.write(value)} : {text})")
            return text
        if operator in _OVER:
            index, count, body = args
            times = self.write(count)
            self.indices.append(index)
            self.lines.append([])
            self.names.append({})
            result, lines = self.write(body), "".join(f"{line} " for line in self.lines.pop())
            loop = f"(i{len(self.indices)}) => {{ {lines}return {result}; }}"
            self.indices.pop()
            self.names.pop()
            return f"{_OVER[operator]}({times}, {loop})"
        return f"{_FUNCTIONS[operator]}({', '.join(map(self.write, args))})"


def function(tree: Any, slot: Callable[[str], str]) -> str:
    """Return a tree as a JavaScript function of ``v``.

    >>> function(["ceil", ["multiply", ["rational", 7, 100], "tokens"]], "v.{}".format)
    '(v) => Math.ceil((7 * v.tokens / 100))'

    Args:
        tree: nested lists over the operators of ``catalogue.entries.formulas``.
        slot: returns where the value of a symbol is found, as JavaScript.
    """
    body = _Function(slot)
    body.count(tree)
    result, lines = body.write(tree), " ".join(body.lines[0])
    return f"(v) => {{ {lines} return {result}; }}" if lines else f"(v) => {result}"
