"""What formulas are derived with: trees, comparison, dimensions, the lock, with known answers."""

from __future__ import annotations

import json
from collections import Counter

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

import catalogue
from notebooks.derive.formulas import dimensions
from notebooks.derive.formulas.compare import points, same_structure, same_value
from notebooks.derive.formulas.derivation import LOCK, Derivation
from notebooks.derive.formulas.errors import DerivationError
from notebooks.derive.formulas.exported import (
    Formula,
    evaluate_all,
    load_formulas,
    order,
    stagewise,
)
from notebooks.derive.formulas.symbols import compared, latex, sym
from notebooks.derive.formulas.trees import MaxOver, MinOver, SumOver, from_tree, to_tree
from notebooks.derive.steps.tensors import Tensor, size
from notebooks.show import display

t, p, s = sym.tensor_parallel, sym.pipeline_parallel, sym.stage
NAMES = ("num_hidden_layers", "hidden_size", "tensor_parallel", "n_routed_experts",
         "memory_bandwidth", "stage_free_for_kv")


def formula(name, tree, variant=None):
    return Formula(name, variant, tree, "1", "", "test", "a")


def test_two_arguments_of_a_maximum_are_compared_once():
    first, second = sym.hidden_size + sym.stage, sym.hidden_size * sym.tensor_parallel
    built = sympy.Max(first, second)
    before = compared.cache_info()
    assert sympy.Max(first, second) == built
    after = compared.cache_info()
    assert (after.misses, after.hits > before.hits) == (before.misses, True)


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


@settings(max_examples=150, deadline=None)
@given(expressions)
def test_a_tree_is_its_expression_and_back(expr):
    tree = json.loads(json.dumps(to_tree(expr)))
    catalogue.trees.validate(tree)
    assert from_tree(tree) == expr
    assert to_tree(from_tree(tree)) == tree


@settings(max_examples=60, deadline=None)
@given(expressions)
def test_a_tree_has_the_value_of_its_expression(expr):
    tree = to_tree(expr)
    for point in list(points(tree))[:4]:
        try:
            value = catalogue.trees.evaluate(tree, point)
        except (ValueError, OverflowError):
            continue
        exact = expr.subs({getattr(sym, name): sympy.Rational(n) for name, n in point.items()})
        if exact.is_Rational:
            assert float(exact) == pytest.approx(float(value), rel=1e-12)


@given(st.integers(1, 10**12), st.integers(1, 10**6))
def test_ceil_and_floor_are_exact_on_their_edges(quotient, divisor):
    names = {"hidden_size": quotient * divisor, "tensor_parallel": divisor}
    for operator, expr in (("ceil", sympy.ceiling(sym.hidden_size / t)),
                           ("floor", sympy.floor(sym.hidden_size / t))):
        tree = to_tree(expr)
        assert tree[0] == operator
        assert catalogue.trees.evaluate(tree, names) == quotient
        off = {**names, "hidden_size": quotient * divisor + (1 if operator == "ceil" else -1)}
        expected = quotient if divisor == 1 else quotient + (1 if operator == "ceil" else -1)
        if divisor > 1:
            assert catalogue.trees.evaluate(tree, off) == expected


@pytest.mark.parametrize(("expr", "says"), [
    (sympy.sin(sym.hidden_size), "sin, which is not an operator"),
    (sympy.Float(0.5) * sym.hidden_size, "Float"),
    (sympy.pi, "Pi"),
    (sympy.Abs(sym.stage_free_for_kv), "Abs"),
    (sympy.Symbol("hiden_size"), "nearest names are hidden_size"),
    (sympy.Piecewise((1, t > 2)), "no default"),
    (sympy.Piecewise((1, (t > 2) & (p > 2)), (0, True)), "not one comparison"),
])
def test_what_is_not_a_formula_is_refused(expr, says):
    with pytest.raises(DerivationError, match=says):
        to_tree(expr)


@pytest.mark.parametrize("tree", [
    ["sin", 1], ["power", 1], [], None, ["add"], "not a name", ["piecewise"], True,
    ["max_over", "stage", 2], float("nan")])
def test_what_is_not_a_tree_is_refused(tree):
    with pytest.raises(DerivationError, match="not a formula"):
        from_tree(tree)


def test_an_index_is_bound_and_unrolls_when_its_count_is_known():
    assert MaxOver(s, 4, 2 * s + 1) == 7
    assert MinOver(s, 3, (s - 1)**2) == 0
    assert SumOver(s, 5, s) == 10
    body = MaxOver(s, p, s * t)
    assert body.free_symbols == {p, t}
    assert body.subs(s, 3) == body
    assert body.subs(p, 3) == 2 * t
    kept = MaxOver(s, 4, sym.stage_weights)  # what depends on the index only by its name
    assert kept.func is MaxOver
    assert r"\max_{0 \le s < p}" in latex(body)


def test_fractions_of_tens_are_printed_as_decimals_and_others_as_they_are():
    fitted, exact = sympy.Rational("4.91"), sympy.Rational(1, 3)
    assert latex(fitted * sym.tpot - exact * sym.ttft) == r"4.91\,\tau - \frac{\tau_{1}}{3}"


def test_documents_may_subtract_and_divide():
    assert from_tree(["subtract", ["divide", "hidden_size", 2], 0.1]) == (
        sym.hidden_size / 2 - sympy.Rational(1, 10))


# --- comparison --------------------------------------------------------------------------------

def test_order_does_not_matter_but_form_does():
    one = ["multiply", 2, ["add", "hidden_size", "vocab_size"]]
    other = ["multiply", ["add", "vocab_size", "hidden_size"], 2]
    spread = ["add", ["multiply", "hidden_size", "hidden_size"], "hidden_size"]
    factored = ["multiply", "hidden_size", ["add", "hidden_size", 1]]
    assert same_structure(one, other)
    assert not same_structure(spread, factored)
    assert same_value(spread, factored)


def test_values_are_compared_on_edges():
    up = ["ceil", ["divide", "context_tokens", "block_size"]]
    down = ["add", ["floor", ["divide", "context_tokens", "block_size"]], 1]  # not on edges
    assert not same_value(up, down)
    assert not same_value(["add", "stage", 1], ["add", "stage", 2])


# --- dimensions --------------------------------------------------------------------------------

@pytest.mark.parametrize(("name", "expr", "says"), [
    ("usable_memory", sym.memory_capacity + sym.memory_bandwidth, r"'usable_memory' puts "
     r"memory_(capacity|bandwidth) \[B(/s)?\] beside memory_(capacity|bandwidth)"),
    ("output_throughput", sympy.Min(sym.request_throughput, sym.output_throughput),
     r"'output_throughput' puts .*(request/s|token/s).* beside"),
    ("tpot", sym.decode_dense_bytes, r"'tpot' comes out in B, .* is s"),
    ("moe_layers", sympy.ceiling(sym.memory_capacity), "ceiling of memory_capacity, .* in B"),
    ("distinct_experts", 2 ** sym.tpot, "exponent tpot, which is in s"),
    ("total_parameters", sympy.log(sym.memory_capacity), "log of"),
    ("usable_memory", sym.memory_capacity ** t, "not a fixed number"),
    ("kv_blocks", sympy.Piecewise((1, sym.context_tokens > sym.block_size), (0, True)),
     "beside"),
    ("requests_per_rank", sym.concurrency + sym.data_parallel, "plain numbers"),
])
def test_dimensions_that_disagree_are_refused(name, expr, says):
    with pytest.raises(DerivationError, match=says):
        dimensions.check(name, expr)


@pytest.mark.parametrize(("name", "expr"), [
    ("kv_layer_bytes_per_token", sym.kv_lora_rank * sym.kv_cache_element_bytes),
    ("blocks_per_request", sympy.ceiling(sym.context_tokens / sym.block_size)),
    ("layer_activations", sym.max_num_batched_tokens * sym.activation_element_bytes),
    ("stage_kv_blocks", sympy.Max(0, sympy.floor(sym.stage_free_for_kv / sym.stage_block_bytes))),
    ("decode_dense_time", sym.decode_dense_bytes / (sym.memory_bandwidth * sym.hbm_efficiency)),
    ("tpot", sympy.sqrt(sym.tpot**2 + sym.ttft**2)),
])
def test_dimensions_that_agree_pass(name, expr):
    dimensions.check(name, expr)


# --- formulas and the lock ---------------------------------------------------------------------

def test_a_circle_of_formulas_is_named():
    circle = {name: formula(name, tree) for name, tree in (
        ("tpot", ["add", "ttft", 1]), ("ttft", ["multiply", 2, "e2e"]), ("e2e", "tpot"))}
    with pytest.raises(DerivationError, match="e2e → tpot → ttft → e2e"):
        order(circle)


def test_formulas_come_after_what_they_use():
    formulas = {name: formula(name, tree) for name, tree in (
        ("e2e", ["add", "ttft", "tpot"]), ("tpot", ["multiply", "stage_weights", 2]),
        ("stage_weights", "stage"))}
    names = order(formulas)
    assert names.index("stage_weights") < names.index("tpot") < names.index("e2e")
    assert stagewise(formulas) == {"stage_weights", "tpot", "e2e"}
    with pytest.raises(DerivationError, match=r"'e2e' has no value: .*'ttft'"):
        evaluate_all(formulas, {}, stage=3)


def test_fractions_carry_exactness_from_formula_to_formula():
    formulas = {name: formula(name, tree) for name, tree in (
        ("stage_block_bytes", ["multiply", "kv_cache_element_bytes", 49]),
        ("stage_kv_blocks", ["floor", ["multiply", "memory_capacity",
                                       ["power", "stage_block_bytes", -1]]]))}
    for blocks in range(1, 200):
        inputs = {"kv_cache_element_bytes": 0.5390625, "memory_capacity": 0.5390625 * 49 * blocks}
        assert evaluate_all(formulas, inputs)["stage_kv_blocks"] == blocks


@pytest.fixture
def lock(tmp_path, monkeypatch):
    """A lock file of two notebooks, and a way to derive one formula of ours."""
    path = tmp_path / "formulas.json"

    def derive(expr, mode="", name="usable_memory", **options):
        monkeypatch.setenv(LOCK, mode)
        derivation = Derivation("ours", path)
        derivation.export(name, expr, **options)
        derivation.close()

    monkeypatch.setenv(LOCK, "write")
    other = Derivation("theirs", path)
    other.export("moe_layers", sym.num_hidden_layers - sym.first_k_dense_replace)
    other.close()
    derive(sym.memory_capacity * sym.memory_utilization, "write")
    return path, derive


def test_the_lock_is_stable_and_keeps_the_formulas_of_others(lock):
    path, derive = lock
    before = path.read_bytes()
    derive(sym.memory_capacity * sym.memory_utilization)
    derive(sym.memory_capacity * sym.memory_utilization, "write")
    assert path.read_bytes() == before
    assert list(load_formulas(path)) == ["moe_layers", "usable_memory"]
    assert [entry.name for entry in path.parent.iterdir()] == ["formulas.json"]


@pytest.mark.parametrize(("expr", "options", "says"), [
    (sym.memory_capacity, {}, "'usable_memory' of notebook 'ours' has another value .* make lock"),
    (sym.memory_capacity * sym.memory_utilization, {"anchor": "eq-x"}, "in its anchor"),
    (sym.memory_capacity - sym.runtime_reserve, {"name": "stage_free_for_kv"},
     "only those, depend on the pipeline stage"),
    (sym.memory_capacity, {"variant": "mqa"}, "no variant 'mqa'"),
])
def test_drift_from_the_lock_is_one_sentence(lock, expr, options, says):
    path, derive = lock
    before = path.read_bytes()
    with pytest.raises(DerivationError, match=says):
        derive(expr, **options)
    assert path.read_bytes() == before


def test_a_form_that_changes_without_the_value_is_drift_too(lock):
    _, derive = lock
    derive(sym.memory_capacity * (sym.memory_utilization + 1), "write")
    with pytest.raises(DerivationError, match=r"another form .* with the same value"):
        derive(sym.memory_capacity * sym.memory_utilization + sym.memory_capacity)


def test_formulas_that_appear_or_vanish_are_drift(lock):
    _, derive = lock
    with pytest.raises(DerivationError, match=r"'usable_memory' of .* but no longer derived"):
        derive(sym.memory_capacity, variant="mla")
    with pytest.raises(DerivationError, match=r"'runtime_reserve' of .* is derived but not in"):
        derive(sym.memory_capacity, name="runtime_reserve")


def test_a_formula_is_exported_once(tmp_path):
    derivation = Derivation("ours", tmp_path / "formulas.json")
    derivation.export("moe_layers", 3, "mla")
    derivation.export("moe_layers", 3, "gqa")
    with pytest.raises(DerivationError, match="twice"):
        derivation.export("moe_layers", 3)


def test_an_index_is_written_out_in_what_is_stored(tmp_path):
    derivation = Derivation("ours", tmp_path / "formulas.json")
    derivation.export("stage_layers", sympy.ceiling((sym.num_hidden_layers - s) / p))
    derivation.export("stage_weights", sym.stage_layers * sym.moe_layer_weights)
    derivation.export("weights_per_device", MaxOver(s, p, sym.stage_weights))
    stored = derivation.formulas["weights_per_device"]
    assert stored.latex == r"\max_{0 \le s < p} W_s"
    values = {"num_hidden_layers": 7, "pipeline_parallel": 3, "moe_layer_weights": 10}
    assert catalogue.trees.evaluate(stored.tree, values) == 30
    assert catalogue.trees.evaluate(
        derivation.formulas["stage_weights"].tree, {**values, "stage_layers": 2}) == 20


def test_a_missing_symbol_is_told_with_the_nearest_names():
    with pytest.raises(DerivationError, match=r"'hiden_size' .* hidden_size"):
        print(sym.hiden_size)


def test_tensors_add_up_by_how_they_are_cut():
    tensors = [Tensor(("a", "甲"), (3, sym.hidden_size)), Tensor(("b", "乙"), (t, t), "whole")]
    assert size(tensors) == 3 * sym.hidden_size + t**2
    assert size(tensors, "whole") == t**2
    assert tensors[0].latex == r"$3 \times d$"


@pytest.fixture
def shown(monkeypatch):
    """What is displayed on a page of its own."""
    found: list[str] = []
    monkeypatch.setattr(display, "display", lambda item, **_: found.append(item.data))
    monkeypatch.setattr(display, "_introduced", {})
    return found


def test_a_letter_is_introduced_once_on_a_page(shown):
    assert display.introduce(["tensor_parallel", "U", "hidden_size", "tensor_parallel"]) == [
        "tensor_parallel", "hidden_size"]
    assert display.introduce(["vocab_size", "hidden_size"]) == ["vocab_size"]
    assert shown == []


def test_an_equation_of_the_page_names_only_the_books_letters(shown):
    payload = sympy.Symbol("Q")
    display.law(r"\mathcal{A}", payload / t, label="eq-sum")
    display.law("x", payload * t, of="hidden_size")
    assert shown == ["$$\n\\mathcal{A} = \\frac{Q}{t}\n$$ (eq-sum)",
                     "$t$: tensor-parallel size.", "$t$：张量并行度。",
                     "$$\nx = Q\\,t\n$$", "$d$: hidden size.", "$d$：隐藏维度。"]


def test_the_letters_of_a_page_stand_before_the_books(shown):
    display.introduce(["tensor_parallel"])
    display.symbol_table([("Q", "payload", "数据量", "B")])
    english, chinese = shown
    assert english.index("| $Q$ | payload | B | – |") < english.index("| $t$ | tensor-parallel")
    assert "| $Q$ | 数据量 | B | – |" in chinese


def test_symbols_and_terms_are_named_once_in_each_language():
    symbols = catalogue.symbols()
    for column in ("latex", "en", "zh"):
        texts = [getattr(symbol, column) for symbol in symbols.values()]
        assert len(set(texts)) == len(texts), column
    for symbol in symbols.values():
        catalogue.units.dimensions(symbol.unit)
    called = []
    for term in catalogue.glossary().values():
        assert set(term) <= {"en", "zh", "abbr", "definition", "also", "at", "everyday"}
        assert set(term["definition"]) == {"en", "zh"}
        called += {term["en"], term["zh"], term.get("abbr", term["en"]), *term.get("also", ())}
    assert [name for name, count in Counter(map(str.lower, called)).items() if count > 1] == []
