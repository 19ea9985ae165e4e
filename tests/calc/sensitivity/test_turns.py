"""Where a better one changes along a range: which points are tried, and what a turn is."""

import math

import numpy as np
import pytest

from calc.sensitivity.breakeven import (
    CROSSING,
    EVERY,
    FIRST,
    NEITHER,
    PIECES,
    SECOND,
    STEP,
    TIE,
    BreakEven,
    Turn,
    breakeven,
    solve,
)
from calc.sensitivity.paths import MOST_TOKENS, Path
from calc.sensitivity.plans import Limit
from reference.plans import law


def tried(low, high, *, whole, most):
    points = []
    solve(lambda x: points.append(x) or np.ones_like(x), low, high, whole=whole, most=most)
    return points[0].tolist()


@pytest.mark.parametrize(("low", "high", "most", "points"), [
    (2.5, 7.5, 5, [3, 4, 5, 6, 7]),  # as many as are tried
    (3, 7, 4, [3, 4, 6, 7]),  # one too many: as evenly as whole numbers are
    (1, 1000, 4, [1, 10, 100, 1000]),  # evenly in the logarithm
    (1, 10, 4, [1, 4, 7, 10]),  # a factor of ten is not
    (0, 30, 4, [0, 10, 20, 30])])
def test_whole_numbers_are_tried_one_by_one_unless_there_are_too_many(low, high, most, points):
    assert tried(low, high, whole=True, most=most) == points


def test_a_range_of_ten_is_cut_evenly_and_a_wider_one_in_its_logarithm():
    assert tried(1.0, 10.0, whole=False, most=2) == pytest.approx([1, 5.5, 10])
    assert tried(1.0, 16.0, whole=False, most=2) == pytest.approx([1, 4, 16])
    assert tried(-4.0, 4.0, whole=False, most=2) == pytest.approx([-4, 0, 4])


def test_every_number_of_tokens_of_the_usual_range_is_tried():
    def ones(points):
        return np.ones_like(points)

    found = solve(ones, 1, MOST_TOKENS, whole=True)
    assert (found.low, found.high, found.tried) == (1, MOST_TOKENS, MOST_TOKENS)
    assert solve(ones, 1, EVERY + 1, whole=True).tried < EVERY
    assert solve(ones, 1.0, 9.0).tried == PIECES + 1


@pytest.mark.parametrize(("gap", "state"), [
    (1e-9, TIE), (-1e-9, TIE), (2e-9, SECOND), (-2e-9, FIRST), (math.nan, NEITHER)])
def test_two_are_alike_up_to_a_billionth(gap, state):
    assert solve(lambda x: np.full_like(x, gap), 1.0, 2.0).always == state


def turns(difference, low=0.0, high=4.0, **given):
    found = solve(difference, low, high, **given)
    return found.start, [(turn.before, round(turn.at, 6), turn.after, turn.kind)
                         for turn in found.turns]


@pytest.mark.parametrize(("difference", "start", "expected"), [
    # a point that is tried and at which both happen to be equal
    (lambda x: x - 2, FIRST, [(FIRST, 2, SECOND, CROSSING)]),
    (lambda x: np.abs(x - 2), SECOND, []),
    # a stretch on which they are
    (lambda x: np.clip(x - 1, None, 0) + np.clip(x - 3, 0, None), FIRST,
     [(FIRST, 1, TIE, STEP), (TIE, 3, SECOND, STEP)]),
    # equal at an end, which says so
    (lambda x: x, TIE, [(TIE, 0, SECOND, STEP)]),
    (lambda x: x - 4, FIRST, [(FIRST, 4, TIE, STEP)]),
    # a jump, and possible for one of them only
    (lambda x: np.where(x < 2.2, -0.5, 3.0), FIRST, [(FIRST, 2.2, SECOND, STEP)]),
    (lambda x: np.where(x < 2.2, -1.0, np.inf), FIRST, [(FIRST, 2.2, SECOND, STEP)]),
    (lambda x: np.where(x < 2.2, np.nan, -np.inf), NEITHER, [(NEITHER, 2.2, FIRST, STEP)])])
def test_what_a_turn_is(difference, start, expected):
    assert turns(difference, most=4) == (start, expected)


def test_between_numbers_that_are_tried_a_turn_is_found_to_the_number():
    """The first whole number at which the other is better, though only powers of ten are tried."""
    for at in (2, 37, 100, 101, 1000):
        found = solve(lambda x, at=at: np.where(x < at, -2.0, 3.0), 1, 1000, whole=True, most=4)
        assert found.turns == (Turn(at, FIRST, SECOND, STEP, 3.0),)


def test_a_crossing_is_told_without_a_gap_and_a_jump_with_that_beyond_it():
    crossing, = solve(lambda x: np.log(x / 3), 1.0, 9.0).turns
    assert (crossing.at, crossing.gap) == pytest.approx((3, 0), rel=1e-12, abs=1e-12)
    jump, = solve(lambda x: np.where(x < 3, -0.5, x), 1.0, 9.0).turns
    assert (jump.at, jump.gap) == pytest.approx((3, 3), rel=1e-9)
    assert jump.kind == STEP


def test_as_data_a_gap_without_end_is_none():
    one, other = (Turn(2.0, FIRST, SECOND, STEP, gap) for gap in (0.25, math.inf))
    told = BreakEven(FIRST, (one, other), 1.0, 9.0, 5).as_json()
    assert [turn["gap"] for turn in told["turns"]] == [0.25, None]
    assert (told["always"], BreakEven(FIRST, (), 1.0, 9.0, 5).as_json()["always"]) == (None, FIRST)


# --- of two plans ---------------------------------------------------------------------------------

PATH = Path("x", ("x",), "1", 1.0, 9.0, False)


def plans(quantity, one, other):
    return (law({"x": 2.0}, **{quantity: made}) for made in (one, other))


@pytest.mark.parametrize(("quantity", "start"), [
    ("tpot", FIRST), ("throughput_per_card", SECOND), ("card_hours", FIRST),
    ("headroom_per_device", SECOND)])
def test_less_time_and_more_throughput_are_better(quantity, start):
    first, second = plans(quantity, lambda at: at.x, lambda at: 0 * at.x + 4)
    found = breakeven(first, second, PATH, quantity)
    assert found.start == start
    assert [turn.at for turn in found.turns] == pytest.approx([4])


@pytest.mark.parametrize(("quantity", "even"), [("tpot", 5.0), ("throughput_per_card", 3.2)])
def test_the_second_has_to_be_better_by_the_margin(quantity, even):
    """Of a fifth: where 4 is a fifth less than what the first takes, or what it gives is."""
    first, second = plans(quantity, lambda at: at.x, lambda at: 0 * at.x + 4)
    assert breakeven(first, second, PATH, quantity, margin=0.2).turns[0].at == pytest.approx(even)


def test_two_that_are_equal_are_not_so_with_a_margin():
    first, second = plans("tpot", lambda at: at.x, lambda at: at.x)
    assert breakeven(first, second, PATH, "tpot").always == TIE
    assert breakeven(first, second, PATH, "tpot", margin=0.1).always == FIRST


def test_what_may_be_negative_is_compared_by_the_larger_of_both():
    """Room of x - 6 and -1 is equal at 5; 9 against -3 is 12 apart, of 9."""
    first, second = plans("headroom_per_device", lambda at: at.x - 6, lambda at: 0 * at.x - 1)
    found = breakeven(first, second, PATH, "headroom_per_device")
    assert [(turn.at, turn.before, turn.after) for turn in found.turns] == [
        (pytest.approx(5), SECOND, FIRST)]
    first, second = plans("headroom_per_device", lambda at: np.where(at.x < 5, -2.0, 9.0),
                          lambda at: np.where(at.x < 5, -2.0, -3.0))
    assert breakeven(first, second, PATH, "headroom_per_device").turns[0].gap == pytest.approx(
        -12 / 9)


def test_a_plan_that_is_not_possible_loses():
    first, second = plans("tpot", lambda at: np.where(at.x > 3, at.x, np.nan),
                          lambda at: np.where((at.x > 2) & (at.x < 6), 99.0, np.nan))
    found = breakeven(first, second, PATH, "tpot")
    assert found.start == NEITHER
    assert [(round(turn.at, 6), turn.after, turn.kind) for turn in found.turns] == [
        (2, SECOND, STEP), (3, FIRST, STEP)]


def test_under_a_limit_both_are_asked_for_what_it_lets_them_have():
    """Then at fewer points, each of which is a search."""
    first, second = (law({"x": 2.0}) for _ in range(2))
    asked = []

    def within(of, moves, name, limit):
        asked.append((name, limit))
        return moves["x"] if of is first else 0 * moves["x"] + 7

    limit = Limit("tpot", 0.05)
    for plan in (first, second):
        object.__setattr__(plan, "within", lambda *given, of=plan: within(of, *given))
    found = breakeven(first, second, PATH, "card_hours", limit=limit)
    assert (found.start, found.tried) == (FIRST, 1025)
    assert found.turns[0].at == pytest.approx(7)
    assert set(asked) == {("card_hours", limit)}
