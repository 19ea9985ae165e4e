"""Parts of a fit by hand: errors, bounds in logarithms, covariance, and how far kinds scatter."""

from __future__ import annotations

import math

import numpy as np
import pytest

from calc.kernels.fitting import (
    Errors,
    _begun,
    _covariance,
    _inside,
    _outside,
    _ranges,
    errors,
    fit,
)
from calc.kernels.law import Bounds, Law

BOUNDS = [Bounds(2.0, 1.0, 16.0), Bounds(1e-5, 1e-6, 1e-3)]
LAW = Law("unnamed", {"latency": Bounds(2.0, 0.1, 90.0), "slope": Bounds(3.0, 0.1, 90.0)},
          lambda columns, values: values["latency"] + values["slope"] * columns["size"],
          begins=[{"slope": 5.0}])


def test_errors_are_of_the_law_over_the_table():
    """Of eleven rows the sixth is the middle, and nine tenths are within the tenth."""
    ratio = 1 + np.array([-0.5, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8])
    assert errors(ratio) == Errors(11, *(pytest.approx(each) for each in (0.2, 0.3, 0.7)))


def test_a_value_lies_by_its_logarithm_between_its_ends():
    """Half of the way from 1 to 16 is 4; a place far off is an end, and no overflow."""
    assert _inside(BOUNDS, np.zeros(2)) == pytest.approx([4, math.sqrt(1e-9)])
    assert _inside(BOUNDS, np.array([1e4, -1e4])) == pytest.approx([16, 1e-6])
    assert _inside(BOUNDS, np.array([-1e4, 1e4])) == pytest.approx([1, 1e-3])
    assert _inside(BOUNDS, _outside(BOUNDS)) == pytest.approx([2, 1e-5])
    assert _outside(BOUNDS) == pytest.approx([-math.log(3), -math.log(2)])


def test_a_fit_begins_at_the_start_of_every_parameter_and_where_its_law_says_so_besides():
    assert [[each.start for each in begun] for begun in _begun(LAW)] == [[2, 3], [2, 5]]
    assert {(each.low, each.high) for begun in _begun(LAW) for each in begun} == {(0.1, 90)}


def test_the_covariance_is_that_of_least_squares_in_logarithms():
    """Two independent slopes of 2 and 3, where a value moves by a quarter of its span or less."""
    slopes = np.array([[2.0, 0], [0, 3], [0, 0], [0, 0]])
    left = np.array([0.1, 0.2, 0.3, 0.4])
    place = np.array([0.0, math.log(3)])
    moved = math.log(16) / 4, math.log(1e3) * 3 / 16
    spread = 0.3 / (4 - 2)
    found = _covariance(BOUNDS, place, slopes, left)
    assert found == pytest.approx(np.diag([spread / 4 * moved[0]**2, spread / 9 * moved[1]**2]))
    lone = _covariance(BOUNDS, place, slopes[:2], left[:2])
    assert lone == pytest.approx(np.diag([0.05 / 4 * moved[0]**2, 0.05 / 9 * moved[1]**2]))


def ranges(sizes, kinds, factor, values):
    """Where kinds of matrices lie whose times are so many times the law's."""
    return _ranges(LAW, values, {"size": np.asarray(sizes, float)}, np.asarray(factor, float),
                   np.asarray(kinds))


def test_a_parameter_lies_beside_its_value_as_times_lie_beside_the_law():
    """Of eleven kinds where the slope decides alone the law is too slow by 0 to 10%.

    The value is smaller by as much: between the second and the tenth 80% of them lie.
    """
    kinds = np.repeat(np.arange(11), 3)
    ratio = 1.01 ** kinds
    found = ranges([1e9] * 33, kinds, ratio, {"latency": 1.0, "slope": 5.0})
    assert found["slope"] == pytest.approx((5 / 1.01**9, 5 / 1.01**1 * 1.01 * math.exp(0.02)),
                                           rel=1e-6)
    assert found["latency"] == (1 / 1.25, 1.25)  # nothing depends on it


def test_ends_are_two_hundredths_off_at_least_and_kinds_of_two_rows_tell_nothing():
    sizes, values = [1e9] * 6, {"slope": 5.0, "latency": 1.0}
    narrow = ranges(sizes, [0, 0, 0, 1, 1, 1], [1.0] * 6, values)["slope"]
    assert narrow == pytest.approx((5 * math.exp(-0.02), 5 * math.exp(0.02)))
    few = ranges(sizes, [0, 0, 1, 1, 2, 2], [9.0] * 6, values)["slope"]
    assert few == pytest.approx((5 * math.exp(-0.2), 5 * math.exp(0.2)), rel=1e-3)
    three = ranges(sizes[:3], [0, 0, 0], [9.0] * 3, values)["slope"]
    assert three == pytest.approx((5 / 9, 5 * math.exp(0.02)), rel=1e-3)


def test_a_parameter_is_told_by_the_quarter_of_rows_that_it_decides_most():
    """Of eight rows two are long: the slope is told by these, whatever the others' times."""
    sizes = [1e-6] * 6 + [1e9] * 2 + [1e9]
    ratio = [7.0] * 6 + [2.0] * 3
    found = ranges(sizes, [0] * 9, ratio, {"latency": 1.0, "slope": 5.0})
    assert found["slope"][0] == pytest.approx(2.5, rel=1e-3)
    assert found["slope"][1] == pytest.approx(5 * math.exp(0.02))


@pytest.mark.parametrize(("share", "told"), [(0.29, False), (0.31, True)])
def test_of_a_parameter_that_times_hardly_depend_on_little_is_known(share, told):
    """Of a time to which it adds less than three tenths of it: a quarter more, or less."""
    sizes = [(1 - share) / share / 5] * 4
    low, high = ranges(sizes, [0] * 4, [2.0] * 4, {"latency": 1.0, "slope": 5.0})["latency"]
    assert ((low, high) == (1 / 1.25, 1.25)) != told


def test_a_law_needs_one_row_more_than_it_has_parameters():
    size = np.array([1.0, 2, 3, 4])
    time, kinds = 2 + 7 * size, np.zeros(4, int)
    with pytest.raises(ValueError, match="2 shapes are too few for 2 parameters"):
        fit(LAW, {"size": size}, time, np.array([1, 1, 0, 0], bool), size, kinds)
    found = fit(LAW, {"size": size}, time, np.array([1, 1, 1, 0], bool), size, kinds)
    assert found.values == pytest.approx({"latency": 2, "slope": 7}, rel=1e-3)
    assert (found.fitted, found.errors.rows, found.before, found.missed) == (3, 1, None, None)


def test_of_very_many_rows_every_so_many_are_fitted():
    """Of 24,001 every second."""
    size = 1.0 + np.arange(24_003) % 97
    chosen = np.arange(24_003) < 24_001
    found = fit(LAW, {"size": size}, 2 + 7 * size, chosen, size, np.zeros(24_003, int))
    assert (found.fitted, found.errors.rows) == (12_001, 2)
