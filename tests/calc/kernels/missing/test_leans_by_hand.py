"""What is still missed beside switches: a lean along a column and scatter, worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from calc.kernels.missing import Change, Missed, Where, explained, miss_summary
from calc.kernels.missing.causes import SHAPE, _lean, _scatter, _told, _trend
from calc.kernels.missing.columns import Along, Line
from calc.kernels.missing.explained import Judge

VALUES = np.array([1.0, 2, 4, 8, 16, 32, 64])
EVERY = np.ones(7, bool)


def judge(residual, chosen=None):
    residual = np.asarray(residual, float)
    every = np.ones(len(residual), bool)
    return Judge(residual, every if chosen is None else np.array(chosen, bool), every)


@pytest.mark.parametrize(("slope", "factor"), [(0.2, 64**0.2), (-0.2, 64**-0.2)])
def test_a_lean_is_told_by_both_its_ends(slope, factor):
    left, change = _lean(judge(slope * np.log(VALUES / 8)), "rows", VALUES, EVERY, None)
    assert left == pytest.approx(0, abs=1e-9)
    assert change == Change("rows", pytest.approx(factor), 1, 64, None)


def test_a_lean_that_turns_is_told_from_its_least_to_its_most():
    """From 4 on it rises with the square of the logarithm, before it falls by less."""
    residual = 0.1 * np.log(VALUES / 4)**2
    _, change = _lean(judge(residual), "rows", VALUES, EVERY, None)
    assert change == Change("rows", pytest.approx(math.exp(0.1 * math.log(16)**2)), 4, 64, None)
    _, change = _lean(judge(-residual), "rows", VALUES, EVERY, None)
    assert change == Change("rows", pytest.approx(math.exp(-0.1 * math.log(16)**2)), 4, 64, None)


def test_a_lean_is_taken_from_the_fitted_rows_and_each_residual_counts_up_to_one():
    """Of what was not fitted the lean knows nothing; factors beyond e are cut off."""
    residual = 0.2 * np.log(VALUES)
    wild = np.concatenate([residual, residual + 0.5])
    chosen = [1] * 7 + [0] * 7
    _, change = _lean(judge(wild, chosen), "rows", np.tile(VALUES, 2), np.ones(14, bool), None
                      ) or (0, None)
    assert change is None or change.factor == pytest.approx(64**0.2)
    flat = _lean(judge(np.where(VALUES > 4, 9.0, 1.0)), "rows", VALUES, EVERY, None)
    assert flat is None  # all of them are cut off at one, which is no lean


@pytest.mark.parametrize(("values", "told"), [([1, 1, 2, 2, 4, 4], True),
                                              ([1, 1, 1, 2, 2, 2], False)])
def test_two_values_are_no_trend(values, told):
    values = np.array(values, float)
    found = _lean(judge(np.log(values)), "rows", values, np.ones(6, bool), None)
    assert (found is not None) == told


@pytest.mark.parametrize(("jump", "told"), [(1.11, True), (1.09, False)])
def test_a_lean_of_less_than_a_tenth_is_none(jump, told):
    """Beside errors that it takes away by itself: a bar is kept by seven of eight rows."""
    place = np.log(VALUES) / math.log(64)
    residual = math.log(jump) * place + math.log(1.08)
    found = _lean(judge(residual), "rows", VALUES, EVERY, None)
    assert (found is not None) == told


def test_a_lean_of_shapes_on_one_side_leaves_a_level_or_a_lean_of_its_own_to_the_others():
    rows, depth = np.tile(VALUES, 2), np.repeat([16.0, 32.0], 7)
    residual = np.where(depth == 16, 0.2 * np.log(rows), 0.1 * np.log(rows))
    where = Where("depth", None, 16)
    left, change = _lean(judge(residual), "rows", rows, depth == 16, where)
    assert left == pytest.approx(0, abs=1e-9)
    assert change == Change("rows", pytest.approx(64**0.2), 1, 64, where)


def test_a_trend_of_all_shapes_is_told_before_one_of_some():
    """Of several that which leaves least; of some shapes where none of all takes half away."""
    rows, depth = (each.ravel() for each in np.meshgrid(VALUES, 16 * VALUES))
    columns = {"rows": Along(rows, ("rows",)), "depth": Along(depth, ("depth",))}
    plain = _trend(judge(0.2 * np.log(rows) + 0.02 * np.log(depth / 16)), columns)
    assert (plain.column, plain.where) == ("rows", None)
    some = _trend(judge(np.where(depth > 128, 0.3, -0.3) * np.log(rows / 8)), columns)
    assert (some.column, some.where) == ("rows", Where("depth", None, 128))
    assert some.factor == pytest.approx(64**-0.3)
    assert _trend(judge(np.zeros(49)), columns) is None


def scattered(residual, kinds, chosen=None, **lines):
    found = {name: Line(*(np.array(each) for each in zip(*pairs, strict=True)), *[
        np.full(len(pairs), -1)] * 2) for name, pairs in lines.items()}
    return _scatter(judge(residual, chosen), found, np.array(kinds))


def test_shapes_scatter_by_the_middle_size_of_what_their_fitted_rows_lie_beside_the_law():
    """Of three kinds at -0.3, 0.1 and 0.2 half lie farther than 0.2; rows apart do not count."""
    residual = [-0.3, -0.3, 0.1, 0.1, 0.2, 0.2, 9, 9]
    found = scattered(residual, [0, 0, 1, 1, 2, 2, 2, 3], [1] * 6 + [0] * 2)
    assert found == Change(SHAPE, pytest.approx(math.exp(0.2)))


@pytest.mark.parametrize(("pairs", "factor"), [
    ([(0, 1), (2, 1), (2, 3), (4, 3)], None),  # all of them one way
    ([(0, 1), (1, 2), (2, 3), (3, 4)], 0.4),  # up and down in turn
    ([(0, 1), (2, 1), (2, 3), (3, 4)], 0.4),  # one of four down
    ([(0, 1), (2, 1), (2, 3), (4, 3), (3, 4)], None),  # one of five
    ([(0, 1), (1, 2)], None),  # of two pairs nothing is said
    ([(0, 1), (1, 2), (2, 3)], 0.4)])
def test_neighbours_scatter_where_a_quarter_of_their_jumps_go_the_other_way(pairs, factor):
    residual = [0.1, 0.5, 0.1, 0.5, 0.1]
    found = scattered(residual, [0, 1, 2, 3, 4], rows=pairs)
    assert found == (Change("rows", pytest.approx(math.exp(factor))) if factor else
                     Change(SHAPE, pytest.approx(math.exp(0.1))))


def test_neighbours_of_few_rows_are_passed_over_and_the_next_column_is_not():
    """Three pairs are too few of thirteen rows, a quarter of which is more."""
    residual = [0.1, 0.5] * 6 + [0.1]
    few, many = [(0, 1), (1, 2), (2, 3)], [(at, at + 1) for at in range(4)]
    assert scattered(residual, [0] * 13, rows=few, depth=many).column == "depth"
    assert scattered(residual[:12], [0] * 12, rows=few).column == "rows"
    lesser = scattered([0.1, 0.5, 0.1, 0.5, 0.1, 0.4], range(6), rows=[
        (0, 1), (1, 2), (2, 3)], depth=[(4, 5), (5, 4), (4, 5)])
    assert lesser == Change("rows", pytest.approx(math.exp(0.4)))


@pytest.mark.parametrize(("judging", "told"), [(8, True), (7, False)])
def test_of_fewer_than_eight_rows_that_judge_nothing_is_said(judging, told):
    columns = {"rows": np.arange(1.0, 21), "columns": np.full(20, 64.0), "depth": np.full(20, 64.0)}
    chosen = np.arange(20) < 20 - judging
    assert (explained("gemm", columns, np.full(20, 1.5), chosen) is not None) == told


@pytest.mark.parametrize(("first", "last", "told"), [
    (None, None, "rows"), (None, 8.0, "rows up to 8"), (4.0, None, "rows from 4"),
    (4.0, 8.0, "rows 4 to 8"), (4.0, 4.0, "rows 4")])
def test_ends_of_a_column_in_words(first, last, told):
    assert _told(Where("rows", first, last)) == told
    change = Change("rows", 1.5, first, last, Where("depth", None, 512))
    assert miss_summary(Missed((change,))) == f"x1.50 at {told} where depth up to 512"
    assert miss_summary(Missed((), change, "trend")) == (
        f"trend of x1.50 along {told} where depth up to 512")


def test_of_very_many_rows_every_so_many_give_the_lean():
    """Of six thousand every second: what lies between does not turn it."""
    values = np.repeat(VALUES, 860)
    odd = np.arange(len(values)) % 2 == 1
    made = Judge(np.where(odd, 0, 0.2 * np.log(values)), np.ones(len(values), bool), ~odd)
    _, change = _lean(made, "rows", values, np.ones(len(values), bool), None)
    assert change.factor == pytest.approx(64**0.2)
    few = Judge(made.residual[::2][:2000], np.ones(2000, bool), np.ones(2000, bool))
    assert _lean(few, "rows", values[::2][:2000], np.ones(2000, bool), None) is not None
