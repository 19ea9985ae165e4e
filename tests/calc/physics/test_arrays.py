"""Whole parts of numbers, and results that are computed once."""

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
    return q.tensor_parallel * factor


def test_objects_that_nobody_else_keeps_are_not_taken_for_one_another():
    q = Inputs({"tensor_parallel": np.arange(3.0)})
    for number in range(100):
        assert product(q, np.full(3, float(number)))[1] == number
