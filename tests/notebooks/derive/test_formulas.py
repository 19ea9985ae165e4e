"""Tools of the derivations: expression trees, comparison, dimensions and evaluation order."""

from __future__ import annotations

import json
import random

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

import catalogue
from catalogue.entries.formulas import symbols_of
from notebooks.derive.formulas.derivation import check_dimensions
from notebooks.derive.formulas.exported import (
    DerivationError,
    Formula,
    evaluate_all,
    order,
    stagewise,
)
from notebooks.derive.formulas.symbols import sym
from notebooks.derive.formulas.trees import MaxOver, from_tree, to_tree

t, p, s = sym.tensor_parallel, sym.pipeline_parallel, sym.stage
NAMES = ("num_hidden_layers", "hidden_size", "tensor_parallel", "n_routed_experts",
         "memory_bandwidth", "stage_free_for_kv")


def formula(name, tree, variant=None):
    return Formula(name, variant, tree, "1", "", "test", "a")


# --- trees -------------------------------------------------------------------------------------


leaves = st.one_of(
    st.sampled_from(NAMES).map(lambda name: getattr(sym, name)),
    st.integers(-9, 9).map(sympy.Integer),
    st.fractions(min_value=-3, max_value=3, max_denominator=9).map(sympy.Rational))


def deeper(inner):
    pairs = st.tuples(inner, inner)
    return st.one_of(
        pairs.map(lambda ab: ab[0] + ab[1]), pairs.map(lambda ab: ab[0] * ab[1]),
        pairs.map(lambda ab: sympy.Max(*ab)), pairs.map(lambda ab: sympy.Min(*ab)),
        st.tuples(inner, st.integers(-2, 3)).filter(lambda ab: ab[0] != 0)
        .map(lambda ab: ab[0] ** ab[1]),
        inner.map(sympy.ceiling), inner.map(sympy.floor),
        st.tuples(inner, leaves, leaves, inner).map(lambda a: sympy.Piecewise(
            (a[0], sympy.Lt(a[1], a[2])), (a[3], True))),
        inner.map(lambda body: MaxOver(s, p, body + s)))


expressions = st.recursive(leaves, deeper, max_leaves=8).filter(lambda e: not e.has(sympy.zoo,
                                                                                      sympy.nan))


@settings(max_examples=50, deadline=None)
@given(expressions)
def test_tree_round_trip(expr):
    tree = json.loads(json.dumps(to_tree(expr)))
    catalogue.formulas.validate(tree)
    assert from_tree(tree) == expr
    assert to_tree(from_tree(tree)) == tree


@settings(max_examples=25, deadline=None)
@given(expressions)
def test_tree_has_the_value_of_its_expression(expr):
    tree = to_tree(expr)
    for seed in range(4):
        draw = random.Random(seed)
        point = {name: draw.choice((1, 2, 3, 4, 8, 12)) for name in sorted(
            symbols_of(tree) | {"stage"})}
        try:
            value = catalogue.formulas.evaluate(tree, point)
        except (ValueError, OverflowError):
            continue
        exact = expr.subs({getattr(sym, name): sympy.Rational(n) for name, n in point.items()})
        if exact.is_Rational:
            assert float(exact) == pytest.approx(float(value), rel=1e-12)


@given(st.integers(1, 10**12), st.integers(2, 10**6))
def test_ceil_and_floor_are_exact_at_edges(quotient, divisor):
    for step, expr in ((1, sympy.ceiling(sym.hidden_size / t)),
                       (-1, sympy.floor(sym.hidden_size / t))):
        for off in (0, step):
            names = {"hidden_size": quotient * divisor + off, "tensor_parallel": divisor}
            assert catalogue.formulas.evaluate(to_tree(expr), names) == quotient + off


@pytest.mark.parametrize(("expr", "says"), [
    (sympy.sin(sym.hidden_size), "sin, which is not an operator"),
    (sympy.Float(0.5) * sym.hidden_size, "Float"),
    (sympy.pi, "Pi"),
    (sympy.Abs(sym.stage_free_for_kv), "Abs"),
    (sympy.Symbol("hiden_size"), "nearest names are hidden_size"),
    (sympy.Piecewise((1, t > 2)), "no default"),
    (sympy.Piecewise((1, (t > 2) & (p > 2)), (0, True)), "not one comparison"),
])
def test_unsupported_expressions_are_refused(expr, says):
    with pytest.raises(DerivationError, match=says):
        to_tree(expr)


def test_malformed_trees_are_refused():
    with pytest.raises(DerivationError, match="not a formula"):
        from_tree(["sin", 1])


# --- dimensions --------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "expr", "says"), [
    ("usable_memory", sym.memory_capacity + sym.memory_bandwidth,
     r"'usable_memory': a quantity in B(/s)? beside one in B"),
    ("tpot", sym.decode_dense_bytes, r"'tpot' comes out in B, .* is s")])
def test_inconsistent_dimensions_are_refused(name, expr, says):
    with pytest.raises(DerivationError, match=says):
        check_dimensions(name, to_tree(expr))


# --- evaluation order ---------------------------------------------------------------------------


def test_cyclic_formulas_are_named():
    circle = {name: formula(name, tree) for name, tree in (
        ("tpot", ["add", "ttft", 1]), ("ttft", ["multiply", 2, "e2e"]), ("e2e", "tpot"))}
    with pytest.raises(DerivationError, match="ttft → e2e → tpot → ttft"):
        order(circle)


def test_formulas_are_ordered_by_dependency():
    formulas = {name: formula(name, tree) for name, tree in (
        ("e2e", ["add", "ttft", "tpot"]), ("tpot", ["multiply", "stage_weights", 2]),
        ("stage_weights", "stage"))}
    names = order(formulas)
    assert names.index("stage_weights") < names.index("tpot") < names.index("e2e")
    assert stagewise(formulas) == {"stage_weights", "tpot", "e2e"}
    with pytest.raises(DerivationError, match=r"'e2e' has no value: .*'ttft'"):
        evaluate_all(formulas, {}, stage=3)


def test_unknown_symbol_names_the_nearest():
    with pytest.raises(DerivationError, match=r"'hiden_size' .* hidden_size"):
        print(sym.hiden_size)


@pytest.mark.parametrize("column", ["latex", "en", "zh"])
def test_letters_and_names_of_symbols_are_unique(column):
    texts = [getattr(symbol, column) for symbol in catalogue.symbols().values()]
    assert [text for text in texts if texts.count(text) > 1] == []
