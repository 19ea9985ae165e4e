"""Choices between two computations, of single numbers and of many at once."""

import numpy as np
import pytest

from calc.physics.arrays import ceil_div, either, select

MIXED = np.array([True, False, True])


def refused():
    raise AssertionError("it is computed")


@pytest.mark.parametrize("true", [True, np.True_, np.float64(3) > 2, np.array(True)])
def test_of_a_single_condition_one_of_the_two_is_taken_as_it_is(true):
    yes, no = object(), object()
    assert select(true, yes, no) is yes
    assert select(not true, yes, no) is no
    assert either(true, lambda: yes, refused) is yes
    assert either(not true, refused, lambda: no) is no


def test_of_many_each_by_its_own():
    ones, twos = np.full(3, 1.0), np.full(3, 2.0)
    assert select(MIXED, ones, twos).tolist() == [1, 2, 1]
    assert either(MIXED, lambda: ones, lambda: twos).tolist() == [1, 2, 1]


def test_what_holds_nowhere_is_not_computed():
    ones = np.full(3, 1.0)
    assert either(np.full(3, True), lambda: ones, refused) is ones
    assert either(np.full(3, False), refused, lambda: ones) is ones


@pytest.mark.parametrize(("whole", "part", "count"), [
    (1, 1, 1), (6, 3, 2), (7, 3, 3), (8, 3, 3), (0, 3, 0), (2**52 + 1, 2, 2**51 + 1)])
def test_as_many_parts_as_hold_the_whole(whole, part, count):
    assert ceil_div(whole, part) == count
