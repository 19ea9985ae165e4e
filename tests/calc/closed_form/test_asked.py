"""What is evaluated for anybody who asks: every input once, and ranks that divide what they cut."""

import numpy as np
import pytest

from calc.closed_form.evaluate import _first, check_names, check_ranks, evaluate
from catalogue.deployments.layout import DEGREES
from catalogue.entries.formulas import input_symbols

NAMES = dict.fromkeys(input_symbols(), 1.0)
RANKS = dict.fromkeys(DEGREES, 1) | {"num_attention_heads": 12}


def without(*names):
    return {name: value for name, value in NAMES.items() if name not in names}


@pytest.mark.parametrize(("inputs", "told"), [
    (without("concurrency"), "'concurrency' is missing"),
    (NAMES | {"zebra": 1.0}, "'zebra' is not an input"),
    (without("concurrency", "vocab_size"), "'concurrency' is missing"),
    (without("vocab_size") | {"aardvark": 1.0}, "'aardvark' is not an input"),
    (without("vocab_size") | {"zebra": 1.0}, "'vocab_size' is missing")])
def test_of_several_wrong_names_the_first_is_told(inputs, told):
    for asked in (check_names, lambda given: evaluate(given, "mla")):
        with pytest.raises(ValueError, match=f"^{told}$"):
            asked(inputs)


def test_all_names_and_whole_numbers_of_ranks_pass():
    check_names(NAMES)
    check_ranks(RANKS)
    check_ranks(RANKS | dict.fromkeys(DEGREES, np.array([1.0, 2.0, 3.0, 12.0])))


@pytest.mark.parametrize("name", DEGREES)
@pytest.mark.parametrize(("value", "shown"), [
    (0, "0"), (0.5, "0.5"), (1.5, "1.5"), (-1, "-1"), (np.array([1, 2, 0, -3]), "0"),
    (np.array([1.0, 3.5, 0.0]), "3.5"), (np.inf, "inf")])
@pytest.mark.filterwarnings("ignore:invalid value")
def test_a_degree_is_a_whole_number_of_at_least_one(name, value, shown):
    with pytest.raises(ValueError, match=f"^'{name}' is {shown}, expected a whole number of at "
                                         "least 1$"):
        check_ranks(RANKS | {name: value})


@pytest.mark.parametrize(("heads", "tensor", "shown"), [
    (12, 5, ("5", "12")), (12, np.array([1, 4, 8, 5]), ("8", "12")),
    (np.array([12, 9, 7]), 3, ("3", "7")), (np.array([[12], [15]]), np.array([3, 4]), ("4", "15"))])
def test_tensor_ranks_divide_the_heads(heads, tensor, shown):
    told = "'tensor_parallel' is {}, expected a divisor of the {} attention heads"
    with pytest.raises(ValueError, match=told.format(*shown)):
        check_ranks(RANKS | {"num_attention_heads": heads, "tensor_parallel": tensor})


def test_the_first_of_those_for_which_something_holds():
    assert _first(np.array([7, 11, 13]), np.array([False, True, True])) == "11"
    assert _first(0.5, np.array([False, True])) == "0.5"
