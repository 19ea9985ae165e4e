"""What follows from a deployment's inputs alone: computed once, and the same as every time."""

from types import SimpleNamespace

import numpy as np
import pytest
from _fleet import ATTENTIONS, fleet

import calc
from calc.closed_form.evaluate import PHASES
from calc.physics.arrays import Inputs, once
from calc.physics.experts import fullest
from calc.physics.timing.collectives import group


@once
def product(q, factor):
    """Of an input and of something made of inputs."""
    q.calls.append(factor)
    return q.tensor_parallel * factor


class TestOnce:
    def test_for_the_same_inputs_and_objects_it_is_computed_once(self):
        q, factor = Inputs({"tensor_parallel": np.arange(3.0), "calls": []}), np.float64(2)
        assert product(q, factor) is product(q, factor)
        assert len(q.calls) == 1

    def test_other_objects_and_other_inputs_have_results_of_their_own(self):
        first, second = (Inputs({"tensor_parallel": cards, "calls": []}) for cards in (2.0, 3.0))
        assert [product(q, factor) for q in (first, second) for factor in (5.0, 7.0)] == [
            10, 14, 15, 21]

    def test_objects_that_nobody_else_keeps_are_not_taken_for_one_another(self):
        q = Inputs({"tensor_parallel": np.ones(64), "calls": []})
        for factor in range(100):
            assert product(q, np.full(64, float(factor)))[0] == factor

    def test_inputs_that_may_change_are_read_each_time(self):
        q = SimpleNamespace(tensor_parallel=2.0, calls=[])
        assert product(q, 5.0) == 10
        q.tensor_parallel = 3.0
        assert product(q, 5.0) == 15


@pytest.mark.parametrize("attention", ATTENTIONS)
def test_what_is_kept_is_what_the_inputs_give(attention):
    """In every step of an evaluation, which all ask for it."""
    inputs = fleet(attention, seed=1) | {"shared_expert_ranks": 0}
    found, q = calc.evaluate(inputs, attention), SimpleNamespace(**inputs)
    nodes = group(q, q.expert_parallel).across
    for phase in PHASES:
        tokens = found[f"{phase}_group_tokens"]
        for name, ranks in (("rank", q.expert_parallel), ("node", nodes)):
            np.testing.assert_array_equal(
                fullest(q, ranks, tokens) - 1, found[f"{phase}_{name}_imbalance"])
