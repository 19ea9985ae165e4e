"""The largest of many: where it lies, and what a normal variable exceeds, in SymPy."""

from __future__ import annotations

import sympy

from notebooks.derive.formulas.symbols import EULER

# the largest of n is about what one of them exceeds with probability exp(-gamma)/n, Gumbel's mean
LARGEST = sympy.exp(-EULER)
TUKEY = sympy.Rational(491, 100), sympy.Rational(14, 100)


def normal_quantile(exceeded: sympy.Expr) -> sympy.Expr:
    """What a standard normal variable exceeds with a probability, in Tukey's form; at least 0."""
    scale, power = TUKEY
    return sympy.Max(0, scale * ((1 - exceeded) ** power - exceeded ** power))


def normal_tail(z: sympy.Expr) -> sympy.Expr:
    """Probability that a standard normal variable exceeds so many deviations [1].

    Bowling, Khasawneh, Kaewkuekool and Cho, JIEM 2 (2009) 114-127: within 1.5e-4.
    """
    z = sympy.Max(-8, sympy.Min(8, z))  # nothing lies beyond
    linear, cubic = sympy.Rational(15976, 10**4), sympy.Rational(7056, 10**5)
    return 1 / (1 + sympy.exp(linear * z + cubic * z**3))
