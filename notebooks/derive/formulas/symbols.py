"""SymPy symbols with the names, letters and signs of ``params/symbols.yml``.

``sym.hidden_size`` is the symbol of a quantity; ``latex(expr)`` prints with the book's letters.
"""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Mapping
from typing import Any

import sympy
from sympy.core.function import Application
from sympy.functions.elementary.miscellaneous import MinMaxBase
from sympy.printing.latex import LatexPrinter

import catalogue
from notebooks.derive.formulas.exported import DerivationError

EULER = sympy.Rational("0.5772156649015329")  # gamma, to the digits of a double; printed as it
LARGEST_DENOMINATOR = 100  # of a multiple of gamma that is printed as one
LINE = 40  # letters of a line of display mathematics
VERY_LONG, PART = 3000, 90  # letters of LaTeX: of an expression, and of a part with a name
_DECIMALS = 5  # that a fraction of tens may have to be printed as 4.91, not as 491/100


@functools.cache
def symbol(name: str) -> sympy.Symbol:
    """The SymPy symbol of a quantity, with the assumptions that its meaning allows.

    Raises DerivationError, with the nearest names, if ``params/symbols.yml`` does not have it.
    """
    known = catalogue.symbols()
    if name not in known:
        near = difflib.get_close_matches(name, known, n=3) or ["none"]
        raise DerivationError(f"'{name}' is not a symbol of params/symbols.yml, "
                              f"the nearest names are {', '.join(near)}.")
    assumptions = {"real": True} | ({"integer": True} if known[name].whole else {})
    if known[name].sign != "signed":
        assumptions[known[name].sign] = True
    return sympy.Symbol(name, **assumptions)


class Symbols:
    """Attribute access to every symbol: ``sym.hidden_size``."""

    def __getattr__(self, name: str) -> sympy.Symbol:
        if name.startswith("_"):
            raise AttributeError(name)
        return symbol(name)

    def __dir__(self) -> list[str]:
        return sorted(catalogue.symbols())


sym = Symbols()


def letter(name: str) -> str:
    """LaTeX of a quantity's symbol."""
    return str(catalogue.symbols()[symbol(name).name].latex)


class _Printer(LatexPrinter):
    """LaTeX without words, so that an equation reads the same in both languages.

    What is subtracted stands after what it is subtracted from. Euler's number stands upright: e is
    also the expert-parallel size.
    """

    def _print_ExpBase(self, expr: sympy.Expr, exp: str | None = None) -> str:
        return self._do_exponent(rf"\mathrm{{e}}^{{{self._print(expr.args[0])}}}", exp)

    def _as_ordered_terms(self, expr: sympy.Add, order: str | None = None) -> list[sympy.Expr]:
        terms = super()._as_ordered_terms(expr, order)
        return sorted(terms, key=lambda term: term.could_extract_minus_sign())

    def doprint(self, expr: sympy.Basic) -> str:
        """LaTeX of an expression, fractions of tens as decimals."""
        return str(super().doprint(_replaced(expr, {
            part: sympy.Float(str(part.p / part.q)) for part in expr.atoms(sympy.Rational)
            if part.q % 5 == 0 and 10 ** _DECIMALS % part.q == 0})))

    def _print_Piecewise(self, expr: sympy.Piecewise) -> str:
        branches = [(value, condition) for value, condition in expr.args
                    if condition != sympy.true]
        rows = [rf"{self._print(value)} & {self._print(condition)}"
                for value, condition in branches]
        otherwise = [self._print(sympy.Not(condition)) for _, condition in branches]
        rows.append(rf"{self._print(expr.args[-1][0])} & " + r",\;".join(otherwise))
        return r"\begin{cases} " + r" \\ ".join(rows) + r" \end{cases}"


def latex(expr: sympy.Basic | int) -> str:
    """LaTeX of an expression with the letters of ``params/symbols.yml``.

    Factors and terms stand in the order of that file: layers and shapes, then bytes, then
    what is computed from them.
    """
    return _printer().doprint(_in_order(expr))


def latex_of_numbers(expr: sympy.Basic, numbers: Mapping[str, str]) -> str:
    """LaTeX of an expression with a text in the place of each letter, in the order of letters.

    Args:
        expr: the expression.
        numbers: name of a symbol -> LaTeX that takes its place.
    """
    texts = {proxy: numbers[name] for name, proxy in _proxies().items() if name in numbers}
    return _Printer({"symbol_names": texts, "mul_symbol": "times"}).doprint(_in_order(expr))


def equation(left: str, expr: sympy.Expr, variant: str | None = None) -> str:
    """Display mathematics; a long sum is broken between its terms, and what a very long expression
    has several times is a part of its own, x_1, x_2 and so on, which follow it.

    Args:
        left: LaTeX of the left-hand side.
        expr: right-hand side.
        variant: kind of attention that it holds for, printed behind it.
    """
    holds = f" \\qquad (\\mathrm{{{variant.upper()}}})" if variant else ""
    whole, parts = _in_parts(expr)
    rows = [(left, _broken(whole)), *((latex(name), _broken(part)) for name, part in parts)]
    rows[0][1][-1] += holds
    if len(rows) == len(rows[0][1]) == 1:
        return f"$$\n{left} ={rows[0][1][0]}\n$$"
    body = " \\\\\n".join(f"{name} ={{}}&" + " \\\\\n&\\quad {}".join(lines)
                           for name, lines in rows)
    return f"$$\n\\begin{{aligned}}\n{body}\n\\end{{aligned}}\n$$"


def _broken(expr: sympy.Basic) -> list[str]:
    """Lines of an expression, a sum broken between its terms, each with its sign."""
    expr, printer, lines = _in_order(expr), _printer(), [""]
    terms = printer._as_ordered_terms(expr) if isinstance(expr, sympy.Add) else [expr]
    for place, term in enumerate(map(printer.doprint, terms)):
        text = f"+ {term}" if place and not term.startswith("-") else term
        if lines[-1] and _width(lines[-1]) + _width(text) > LINE:
            lines.append("")
        lines[-1] += f" {text}"
    return lines


def _in_parts(expr: sympy.Expr) -> tuple[sympy.Expr, list[tuple[sympy.Symbol, sympy.Expr]]]:
    """A very long expression without what it has several times, and what that is."""
    if len(latex(expr)) <= VERY_LONG:
        return expr, []
    found, (whole,) = sympy.cse([expr], sympy.numbered_symbols("x_", start=1), order="none")
    short, parts = dict[sympy.Symbol, sympy.Expr](), list[tuple[sympy.Symbol, sympy.Expr]]()
    for name, part in found:
        part = part.xreplace(short)
        if len(latex(part)) <= PART:
            short[name] = part
        else:
            new = sympy.Symbol(f"x_{len(parts) + 1}")
            short[name] = new
            parts.append((new, part))
    return whole.xreplace(short), parts


def _width(text: str) -> float:
    """Rough width of LaTeX in letters: commands and braces apart, subscripts smaller."""
    text = re.sub(r"[_^]\{\\mathrm\{(\w+)\}\}", lambda m: "x" * (len(m[1]) // 2), text)
    text = re.sub(r"\\(left|right|mathrm|frac|begin|end|,|;)|[{}_^ ]", "", text)
    return len(re.sub(r"\\[a-z]+", "x", text))


@functools.lru_cache
def _in_order(expr: sympy.Basic | int) -> sympy.Basic:
    """The expression with symbols renamed so that SymPy's own sorting gives the file's order.

    Powers of exp(gamma) are given back their letter.
    """
    expr = sympy.Integer(expr) if isinstance(expr, int) else expr
    letters = {power: sympy.exp(times * sympy.EulerGamma) for power in expr.atoms(sympy.exp)
               if power.exp.is_Rational and (times := power.exp / EULER).q <= LARGEST_DENOMINATOR}
    return _replaced(expr, {s: proxy for s in expr.atoms(sympy.Symbol)
                            if (proxy := _proxies().get(s.name))} | letters)


def _replaced(expr: sympy.Basic, parts: Mapping[sympy.Basic, sympy.Basic]) -> sympy.Basic:
    """An expression with others in place of some parts, each of which means the same.

    Sums and products are sorted again; nothing else is evaluated, which it has been.
    """
    if expr in parts:
        return parts[expr]
    args = [_replaced(arg, parts) for arg in expr.args]
    if args == [*expr.args]:
        return expr
    if isinstance(expr, (sympy.Add, sympy.Mul)):
        return expr._from_args(sorted(args, key=functools.cmp_to_key(sympy.Basic.compare)))
    if isinstance(expr, (sympy.Pow, Application)) and not isinstance(expr, sympy.Piecewise):
        return expr.func(*args, evaluate=False)
    return expr.func(*args)


@functools.cache
def _proxies() -> dict[str, sympy.Symbol]:
    return {name: sympy.Symbol(f"s{place:03d}", **symbol(name).assumptions0)
            for place, name in enumerate(catalogue.symbols())}


def _printer() -> _Printer:
    known = catalogue.symbols()
    letters = {proxy: known[name].latex for name, proxy in _proxies().items()}
    return _Printer({"symbol_names": letters, "mul_symbol": r"\,"})


# Whenever a maximum or a minimum is built, SymPy asks of every two arguments whether one is never
# below the other; if it cannot tell, it factors their difference and asks again, which was most of
# the time of a chapter and tells of no two arguments of the book. So it is asked once, and of the
# same two only once in a process.
@functools.cache
def compared(first: sympy.Expr, second: sympy.Expr) -> Any:
    """Of two arguments the class that chooses the first, if it always does; True if they are one.

    False if nothing is known, which leaves both to stand.
    """
    if first == second:
        return True
    try:
        for left, right, above, below in ((first, second, sympy.Max, sympy.Min),
                                          (second, first, sympy.Min, sympy.Max)):
            if (is_above := left >= right) in (sympy.true, sympy.false):
                return above if is_above else below
    except TypeError:  # one of them is not real
        pass
    return False


MinMaxBase._is_connected = staticmethod(compared)
