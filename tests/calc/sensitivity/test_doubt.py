"""How sure a break-even is, in cases whose break-evens are written down."""

from types import SimpleNamespace as Made

import numpy as np
import pytest

from calc.sensitivity import probability as module
from calc.sensitivity.paths import Path
from calc.sensitivity.probability import DRAWS, LEAST, doubt
from reference.plans import knob, law

PLANS = law({"x": 2.0}), law({"x": 2.0})


@pytest.fixture
def turning(monkeypatch):
    """Along a path the first is x and the second, case by case, what is given; fills up with 99."""
    def given(at, rest=99.0):
        second = np.r_[at, np.full(DRAWS - len(at), rest)]

        def each(plans, found, scores, name, along):
            moved = along(plans[0])["x"]
            return [np.tile(moved, (DRAWS, 1)), np.tile(second[:, None], (1, len(moved)))]

        monkeypatch.setattr(module, "priors", lambda plans, name: Made(names=("x",)))
        monkeypatch.setattr(module, "scores_of", lambda inputs, draws: np.zeros((draws, inputs)))
        monkeypatch.setattr(module, "sample_each", each)
    return given


def path(low=1.0, high=9.0, *, whole=False):
    return Path("x", ("x",), "1", low, high, whole)


def test_shares_of_the_cases_and_an_interval_of_those_that_turn(turning):
    """64 turn at 3 to 6, 160 never do since x is less than 99, 32 since it is more than a half."""
    at = np.linspace(3, 6, 64)
    turning(np.r_[at, np.full(32, 0.5)])
    found = doubt(*PLANS, path(), "tpot")
    assert (found.first, found.second, found.draws) == (160 / 256, 32 / 256, 256)
    assert (found.low, found.high) == pytest.approx((3.3, 5.7), rel=1e-3)
    # more of it being better the second is ahead where it was the first
    rate = doubt(*PLANS, path(), "throughput_per_card")
    assert (rate.first, rate.second) == (32 / 256, 160 / 256)
    assert (rate.low, rate.high) == pytest.approx((3.3, 5.7), rel=1e-3)


def test_with_a_margin_it_turns_where_the_second_is_better_by_that(turning):
    turning(np.full(DRAWS, 4.0))
    found = doubt(*PLANS, path(), "tpot", 0.2)
    assert (found.low, found.high) == pytest.approx((5, 5), rel=1e-3)


@pytest.mark.parametrize(("count", "told"), [(LEAST, True), (LEAST - 1, False)])
def test_of_too_few_cases_no_interval_is_told(turning, count, told):
    turning(np.full(count, 4.0))
    found = doubt(*PLANS, path(), "tpot")
    assert (found.low is not None, found.high is not None) == (told, told)
    assert found.first == 1 - count / DRAWS


def test_two_that_are_equal_at_first_have_not_the_first_ahead(turning):
    turning([], rest=1.0)
    found = doubt(*PLANS, path(), "tpot")
    assert (found.first, found.second) == (0, 1)


@pytest.mark.parametrize(("path", "points"), [
    (path(1.0, 4.0), np.geomspace(1, 4, 129)), (path(0.0, 128.0), np.arange(129.0)),
    (path(1, 5, whole=True), np.arange(1.0, 6))])
def test_points_of_a_path_are_even_in_the_logarithm_but_from_zero_and_whole_where_it_is(
        turning, monkeypatch, path, points):
    seen = []
    turning(np.full(DRAWS, 4.0))
    asked = module.sample_each

    def each(plans, found, scores, name, along):
        seen.append(along(plans[0])["x"])
        return [each + 1 for each in asked(plans, found, scores, name, along)]

    monkeypatch.setattr(module, "sample_each", each)
    doubt(*PLANS, path, "tpot")
    assert seen[0] == pytest.approx(points)


def test_between_two_points_a_gap_is_taken_as_straight():
    """From -3 to 1 between 1 and 2; from 2 to -6 between 2 and 10."""
    gap = np.array([[-3.0, 1.0, 1.0], [5.0, 2.0, -6.0]])
    found = module._interpolated(np.array([1.0, 2.0, 10.0]), gap, np.array([0, 1]))
    assert found.tolist() == [1.75, 4.0]


def test_the_first_turn_counts(turning, monkeypatch):
    """The first is ahead up to 2, and from 5 on again."""
    def each(plans, found, scores, name, along):
        moved = along(plans[0])["x"]
        other = np.where(moved < 2, 2, np.where(moved < 5, moved / 2, 99))
        return [np.tile(part, (DRAWS, 1)) for part in (moved, other)]

    turning([])
    monkeypatch.setattr(module, "sample_each", each)
    found = doubt(*PLANS, path(), "tpot")
    assert found.high == pytest.approx(2, abs=0.05)
    assert (found.first, found.second) == (0, 0)


def test_what_moves_along_the_path_is_not_drawn(turning, monkeypatch):
    seen = []
    turning(np.full(DRAWS, 4.0))
    monkeypatch.setattr(module, "priors", lambda plans, name: seen.append(plans) or Made(
        names=("x",)))
    moved, other = knob("a", 1, 2, 3, "z", "x"), knob("b", 1, 2, 3)
    doubt(*(law({"x": 2.0}, [moved, other]) for _ in range(2)), path(), "tpot")
    assert [plan.knobs for plan in seen[0]] == [(other,), (other,)]
