"""How counts are told from what is published."""

import pytest

from notebooks.derive.formulas.derivation import Derivation
from notebooks.derive.formulas.symbols import sym
from notebooks.derive.steps.tensors import Tensor
from notebooks.pages.derivations import architecture as page

STORED = Derivation("of-no-notebook")  # so that every formula is as stored


@pytest.mark.parametrize(("counted", "printed", "text"), [
    (671, 671, "0"), (671_000_001, 671_000_000, "< 0.001%"), (670_999_999, 671_000_000, "< 0.001%"),
    (102, 100, "+2.000%"), (98, 100, "−2.000%")])
def test_equal_numbers_are_told_from_those_that_round_to_equal_ones(counted, printed, text):
    assert page.difference(counted, printed) == text


def test_a_tensor_of_some_layers_counts_so_often():
    v3 = page.count(STORED, "deepseek-v3")
    (row,) = page.in_numbers([(Tensor(("", ""), (sym.hidden_size, 2)), sym.num_hidden_layers)], v3)
    assert row.shape == (7168, 2)
    assert row.parameters == 7168 * 2 * 61


def test_what_one_token_uses_is_part_of_the_routed_parameters():
    v3 = page.count(STORED, "deepseek-v3")
    share = v3.inputs["num_experts_per_tok"] / v3.inputs["n_routed_experts"]
    assert v3.used == pytest.approx(share * v3.values["routed_parameters"])
    dense = page.count(STORED, "llama-3.1-8b")
    assert dense.used == 0
