"""A formula with numbers in it: the arithmetic on the page comes to what the runtime says."""

import pytest
import sympy

import calc
import catalogue
from notebooks.derive.formulas.symbols import sym
from notebooks.show import arithmetic

R1 = "h200-r1-vllm-tp8"


@pytest.fixture
def shown(monkeypatch):
    """What was shown, as pairs of languages."""
    found = []
    monkeypatch.setattr(arithmetic, "show", lambda en, zh: found.append((en, zh)))
    return found


def test_the_cache_of_a_token_is_counted_in_sight(shown):
    two = sympy.Integer(2)
    arithmetic.worked("kv_bytes_per_token", R1, through={"kv_layer_bytes_per_token": sympy.Mul(
        sym.kv_lora_rank + sym.qk_rope_head_dim, two, evaluate=False)})
    ((en, zh),) = shown
    scenario = catalogue.load_scenario(R1)
    value = calc.evaluate(scenario.inputs(), "mla")["kv_bytes_per_token"]
    assert f"{value:,.0f} B/token" in en
    for number in ("61", "512", "64", "2"):
        assert number in en
    assert "70,272" in zh


def test_large_counts_are_in_the_words_of_either_language(shown):
    arithmetic.worked("total_parameters", R1)
    ((en, zh),) = shown
    assert "671 billion" in en
    assert "6,710 亿" in zh


def test_a_formula_longer_than_a_line_shows_what_it_comes_to(shown):
    arithmetic.worked("weights_per_device", R1)
    assert "$" not in shown[0][0]
    assert "GB**" in shown[0][0]


def test_of_cases_only_the_one_that_holds_is_shown(shown):
    arithmetic.worked("expert_link_time", "s1-expert-tiers")
    assert "cases" not in shown[0][0]
    assert r"\frac" in shown[0][0]


def test_a_quantity_without_formula_is_refused():
    with pytest.raises(ValueError, match="no formula"):
        arithmetic.worked("num_hidden_layers", R1)
