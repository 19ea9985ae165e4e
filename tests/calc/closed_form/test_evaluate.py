"""Evaluation of inputs: completeness, degrees of parallelism, arrays of deployments."""

import numpy as np
import pytest
from _fleet import ATTENTIONS, fleet, one, run

from calc.closed_form.evaluate import check_ranks, evaluate_asked
from catalogue.deployments.layout import DEGREES
from catalogue.entries.formulas import input_symbols

NAMES = dict.fromkeys(input_symbols(), 1.0)
RANKS = dict.fromkeys(DEGREES, 1) | {"num_attention_heads": 12}


@pytest.mark.parametrize(("inputs", "message"), [
    ({name: 1.0 for name in NAMES if name != "concurrency"}, "'concurrency' is missing"),
    (NAMES | {"zebra": 1.0}, "'zebra' is not an input"),
    ({name: 1.0 for name in NAMES if name != "vocab_size"} | {"zebra": 1.0},
     "'vocab_size' is missing"),
    (NAMES | {"tensor_parallel": 1.5}, "'tensor_parallel' is 1.5, expected a whole number"),
    (NAMES | {"num_attention_heads": 12, "tensor_parallel": 5}, "'tensor_parallel' is 5, expected"),
])
def test_incomplete_inputs_and_impossible_layouts_are_refused(inputs, message):
    with pytest.raises(ValueError, match=message):
        evaluate_asked(inputs, "mla")


@pytest.mark.parametrize("name", DEGREES)
@pytest.mark.parametrize(("value", "shown"), [
    (0, "0"), (0.5, "0.5"), (-1, "-1"), (np.array([1, 2, 0, -3]), "0"),
    (np.array([1.0, 3.5, 0.0]), "3.5"), (np.inf, "inf")])
@pytest.mark.filterwarnings("ignore:invalid value")
def test_a_degree_is_a_whole_number_of_at_least_one(name, value, shown):
    check_ranks(RANKS | {name: np.array([1.0, 2.0, 3.0, 12.0])})
    with pytest.raises(ValueError, match=f"^'{name}' is {shown}, expected a whole number of at "
                                         "least 1$"):
        check_ranks(RANKS | {name: value})


@pytest.mark.parametrize(("heads", "tensor", "shown"), [
    (12, np.array([1, 4, 8, 5]), ("8", "12")), (np.array([12, 9, 7]), 3, ("3", "7")),
    (np.array([[12], [15]]), np.array([3, 4]), ("4", "15"))])
def test_tensor_ranks_divide_the_heads(heads, tensor, shown):
    message = "'tensor_parallel' is {}, expected a divisor of the {} attention heads"
    with pytest.raises(ValueError, match=message.format(*shown)):
        check_ranks(RANKS | {"num_attention_heads": heads, "tensor_parallel": tensor})


@pytest.mark.parametrize("attention", ATTENTIONS)
def test_an_array_of_deployments_is_each_by_itself(attention):
    inputs = fleet(attention, 5)
    together = run(inputs, attention)
    for index in (0, 17, 42, 64, 99):
        alone = run(one(inputs, index), attention)
        for name, value in together.items():
            stages = name.startswith("stage_")
            column = value[:len(alone[name]), index] if stages else np.broadcast_to(
                value, 100)[index]
            np.testing.assert_allclose(column, alone[name], rtol=1e-9, atol=1e-300, err_msg=name)
