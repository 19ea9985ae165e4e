"""Branches of scalars and arrays, whole parts, and results that are computed once."""

import numpy as np
import pytest

from calc.physics.arrays import ceil_div, either, once, select
from calc.physics.inputs import Inputs


def refused():
    raise AssertionError("it is computed")


@pytest.mark.parametrize("true", [True, np.True_, np.array(True)])
def test_a_scalar_condition_takes_one_branch_as_it_is(true):
    yes, no = object(), object()
    assert select(true, yes, no) is yes
    assert select(not true, yes, no) is no
    assert either(true, lambda: yes, refused) is yes
    assert either(not true, refused, lambda: no) is no


def test_an_array_of_conditions_takes_both_branches_where_they_hold():
    mixed, ones, twos = np.array([True, False, True]), np.full(3, 1.0), np.full(3, 2.0)
    assert select(mixed, ones, twos).tolist() == [1, 2, 1]
    assert either(mixed, lambda: ones, lambda: twos).tolist() == [1, 2, 1]
    assert either(np.full(3, True), lambda: ones, refused) is ones
    assert either(np.full(3, False), refused, lambda: ones) is ones


@pytest.mark.parametrize(("whole", "part", "count"), [
    (1, 1, 1), (6, 3, 2), (7, 3, 3), (0, 3, 0), (2**52 + 1, 2, 2**51 + 1)])
def test_whole_parts(whole, part, count):
    assert ceil_div(whole, part) == count


@once
def product(q, factor):
    """Of an input and of something made of inputs."""
    q.calls.append(factor)
    return q.tensor_parallel * factor


def test_a_function_of_the_same_inputs_and_objects_is_computed_once():
    q, factor = Inputs({"tensor_parallel": np.arange(3.0), "calls": []}), np.float64(2)
    assert product(q, factor) is product(q, factor)
    assert len(q.calls) == 1
    first, second = (Inputs({"tensor_parallel": cards, "calls": []}) for cards in (2.0, 3.0))
    assert [product(q, factor) for q in (first, second) for factor in (5.0, 7.0)] == [
        10, 14, 15, 21]
    for number in range(100):  # objects that nobody else keeps are not taken for one another
        assert product(q, np.full(3, float(number)))[1] == number
