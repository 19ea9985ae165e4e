"""Whole parts of numbers."""

import pytest

from calc.physics.arrays import ceil_div


@pytest.mark.parametrize(("whole", "part", "count"), [
    (1, 1, 1), (6, 3, 2), (7, 3, 3), (0, 3, 0), (2**52 + 1, 2, 2**51 + 1)])
def test_whole_parts(whole, part, count):
    assert ceil_div(whole, part) == count
