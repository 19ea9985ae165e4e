"""The interval score by hand: width, and ten times the distance by which it is missed."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calc.uncertainty.interval import interval_score, normal_interval, width

LEVEL = 0.8  # of the intervals: 10% lie beyond each end
positive = st.floats(1e-3, 1e3)


def score(low, high, seen):
    return interval_score(np.array([low]), np.array([high]), np.array([seen]))


@pytest.mark.parametrize(("seen", "missed"), [
    (2.0, 0), (1.0, 0), (4.0, 0),  # inside, and on either end
    (0.5, math.log(2)), (8.0, math.log(2)), (0.25, math.log(4)), (16.0, math.log(4)),
])
def test_by_hand(seen, missed):
    """Of the interval 1 to 4: Gneiting and Raftery (2007), equation 43, in logarithms."""
    assert score(1.0, 4.0, seen) == pytest.approx(math.log(4) + 2 / (1 - LEVEL) * missed)


@given(positive, positive, positive)
def test_a_wider_interval_never_pays_where_the_narrower_one_holds(low, more, seen):
    high = low * (1 + more)
    if low <= seen <= high:
        assert score(low / 2, high, seen) > score(low, high, seen)
        assert score(low, high * 2, seen) > score(low, high, seen)


@given(positive, st.floats(0.01, 2))
def test_a_normal_interval_is_centred_in_logarithms_and_as_wide_as_its_deviation(middle, deviation):
    low, high = normal_interval(np.array([middle]), np.array([deviation]))
    assert float(low[0] * high[0]) == pytest.approx(middle**2)
    assert math.log(width(low, high)) == pytest.approx(2 * 1.2815515655446004 * deviation)
