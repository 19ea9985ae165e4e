"""Break-even points: both plans are equal there, and the better one changes."""

import math

import numpy as np
import pytest

from calc.sensitivity.break_even import (
    CROSSING,
    EQUAL,
    FIRST,
    NEITHER,
    SECOND,
    STEP,
    TIE,
    Turn,
    breakeven,
    doubt,
    solve,
)
from calc.sensitivity.paths import Path, path_of
from calc.sensitivity.plans import against, plan_of, sign_of
from reference.plans import knob, law

NARROW = "parallelism.tensor_parallel=16,parallelism.data_parallel=1"
# scenario, against, path, quantity: some cross, some step, some never turn
CASES = (
    ("s0-scenario-1", NARROW, "all_links", "tpot"),
    ("h200-r1-sglang-mtp", "workload.draft_tokens=0", "mtp_acceptance", "tpot"),
    ("h200-r1-sglang-tp8", "parallelism.expert_parallel=8", "workload.concurrency", "tpot"),
    ("s3-hybrid-910b4", "s3-eight-cards", "concurrency", "card_hours"),
    ("wide-vllm-decode-ep32", "wide-vllm-decode-ep96", "requests_per_card", "card_hours"))
MEMORY = "memory_per_device"  # of whose formulas no error is known


def plans(reference, other, name):
    first = plan_of(reference)
    return first, against(reference, (), other), path_of(first, name)


@pytest.mark.parametrize(("reference", "other", "name", "quantity"), CASES)
def test_at_a_break_even_both_are_equal_and_the_better_one_changes(
        reference, other, name, quantity):
    first, second, path = plans(reference, other, name)
    result = breakeven(first, second, path, quantity)

    def leads(value):
        one, two = (float(plan.at(path.moves(plan, np.array([value])), quantity)[0])
                    for plan in (first, second))
        gap = math.log(one / two) * sign_of(quantity)
        return TIE if abs(gap) <= EQUAL else FIRST if gap < 0 else SECOND, gap

    state = result.start
    assert leads(path.low)[0] == state
    for turn in result.turns:
        beside = 1.0 if path.integer else 1e-6 * turn.at
        assert turn.before == state == leads(turn.at - beside)[0]
        assert turn.after == leads(turn.at + (0 if path.integer else beside))[0]
        if turn.kind == CROSSING:
            assert abs(leads(turn.at)[1]) <= EQUAL
        state = turn.after
    assert leads(path.high)[0] == state
    assert (result.always is None) == bool(result.turns)


def test_all_roots_of_a_range():
    result = solve(np.cos, 0.0, 20.0)
    assert [turn.at for turn in result.turns] == pytest.approx(
        [math.pi * (place + 0.5) for place in range(6)], abs=1e-12)
    assert {turn.kind for turn in result.turns} == {CROSSING}


@pytest.mark.parametrize(("difference", "start", "expected"), [
    # a point that is tried and at which both happen to be equal
    (lambda x: x - 2, FIRST, [(FIRST, 2, SECOND, CROSSING)]),
    (lambda x: np.abs(x - 2), SECOND, []),
    # a stretch on which they are
    (lambda x: np.clip(x - 1, None, 0) + np.clip(x - 3, 0, None), FIRST,
     [(FIRST, 1, TIE, STEP), (TIE, 3, SECOND, STEP)]),
    # equal at an end
    (lambda x: x, TIE, [(TIE, 0, SECOND, STEP)]), (lambda x: x - 4, FIRST, [(FIRST, 4, TIE, STEP)]),
    # a jump, and possible for one of them only
    (lambda x: np.where(x < 2.2, -0.5, 3.0), FIRST, [(FIRST, 2.2, SECOND, STEP)]),
    (lambda x: np.where(x < 2.2, np.nan, -np.inf), NEITHER, [(NEITHER, 2.2, FIRST, STEP)])])
def test_kinds_of_turns(difference, start, expected):
    result = solve(difference, 0.0, 4.0, most=4)
    assert (result.start, [(turn.before, round(turn.at, 6), turn.after, turn.kind)
                           for turn in result.turns]) == (start, expected)


@pytest.mark.parametrize("at", [2, 37, 100, 101, 1000])
def test_a_turn_between_tried_numbers_is_found_to_the_number(at):
    result = solve(lambda x: np.where(x < at, -2.0, 3.0), 1, 1000, integer=True, most=4)
    assert result.turns == (Turn(at, FIRST, SECOND, STEP),)


PATH = Path("x", ("x",), "1", 1.0, 9.0, False)


def laws(quantity, one, other, knobs=()):
    return (law({"x": 2.0, "b": 4.5}, knobs, **{quantity: each}) for each in (one, other))


@pytest.mark.parametrize(("quantity", "start", "even"), [
    ("tpot", FIRST, 5.0), ("throughput_per_card", SECOND, 3.2), ("card_hours", FIRST, 5.0)])
def test_less_time_and_more_throughput_are_better_by_a_margin(quantity, start, even):
    """x against 4; with a margin of a fifth, 4 against x less a fifth, or a fifth less of 4."""
    first, second = laws(quantity, lambda at: at.x, lambda at: 0 * at.x + 4)
    for margin, expected in ((0.0, 4.0), (0.2, even)):
        result = breakeven(first, second, PATH, quantity, margin=margin)
        assert result.start == start
        assert [turn.at for turn in result.turns] == pytest.approx([expected])
    assert breakeven(first, first, PATH, quantity).always == TIE
    assert breakeven(first, first, PATH, quantity, margin=0.1).always == FIRST


def test_signed_quantities_are_compared():
    """Room of x - 6 and -1 is equal at 5."""
    room = "headroom_per_device"
    turn, = breakeven(*laws(room, lambda at: at.x - 6, lambda at: 0 * at.x - 1), PATH, room).turns
    assert (turn.at, turn.before, turn.after) == (pytest.approx(5), SECOND, FIRST)


def test_a_plan_that_is_not_possible_loses():
    first, second = laws("tpot", lambda at: np.where(at.x > 3, at.x, np.nan),
                         lambda at: np.where((at.x > 2) & (at.x < 6), 99.0, np.nan))
    result = breakeven(first, second, PATH, "tpot")
    assert [result.start, *((round(turn.at, 6), turn.after) for turn in result.turns)] == [
        NEITHER, (2, SECOND), (3, FIRST)]


# --- how sure -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("high", "margin", "ends"), [
    (6.75, 0.0, (3.0, 6.75)), (5.4, 0.2, (3.75, 6.75)), (9.0, 0.0, None)])
def test_the_interval_of_a_break_even_is_that_of_the_input(high, margin, ends):
    """x against b, which is drawn: from 3 on in eight of ten cases, with 4.5 in the middle."""
    knobs = [knob("b", 3, 4.5, high), knob("moved", 1, 2, 3, "x")]
    one, other = laws(MEMORY, lambda at: at.x + 0 * at.b, lambda at: at.b + 0 * at.x, knobs)
    result = doubt(one, other, PATH, MEMORY, margin)
    if ends:
        assert (result.low, result.high) == pytest.approx(ends, rel=0.05)
        assert result.first + result.second < 0.1
    else:
        assert result.first == pytest.approx(0.1, abs=0.02)  # x is always less


def test_the_point_of_the_central_values_lies_in_its_interval():
    first, second, path = plans(*CASES[1][:3])
    point = breakeven(first, second, path, "tpot").turns[0].at
    result = doubt(first, second, path, "tpot")
    assert result.low < point < result.high
    assert 0 <= result.first + result.second < 0.5
