"""Branches of scalars and arrays, whole parts, and results that are computed once."""

import numpy as np
import pytest

from calc.physics.arrays import Inputs, ceil_div, once


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
