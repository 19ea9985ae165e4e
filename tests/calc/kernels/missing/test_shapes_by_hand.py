"""Shapes of a table by hand: neighbours, jumps beyond a drift, and what is made of columns."""

from __future__ import annotations

import math

import numpy as np
import pytest

from calc.kernels.missing.columns import (
    Along,
    Line,
    _rounded,
    columns_of,
    jumps,
    log_scaled,
    neighbours,
    steps,
)
from calc.kernels.missing.explained import Judge, Where, better, score, sides, within_bars
from calc.kernels.missing.switches import _agreed, _levels, _some_agree


def column(*values):
    return np.array(values, float)


def test_neighbours_differ_in_one_column_alone_and_in_it_the_least():
    """Of depth 1 there are rows of 1, 2 and 4 in another order, of depth 2 those of 1 and 8."""
    shapes = {"rows": column(4, 1, 2, 1, 8, 8), "depth": column(1, 1, 1, 2, 2, 2)}
    line = neighbours(shapes, ["rows", "depth"], "rows")
    assert list(zip(*(each.tolist() for each in line), strict=True)) == [
        (1, 2, -1, 0), (2, 0, 1, -1), (3, 4, -1, -1)]
    line = neighbours(shapes, ["rows", "depth"], "depth")
    assert list(zip(line.low.tolist(), line.high.tolist(), strict=True)) == [(1, 3)]


@pytest.mark.parametrize("way", [1, -1])
@pytest.mark.parametrize(("beside", "residual", "more"), [
    # 0.05 a step before and 0.1 over two after: a trend may steepen to 0.1
    ((0, 3), (0, 0.05, 0.5, 0.6), 0.35),
    ((0, 3), (0, 0.1, 0.55, 0.6), 0.25),
    ((0, 3), (0.3, 0.05, 0.5, 0.4), 0.45),  # the other way before and after: no drift
    ((0, 3), (0, 0.3, 0.7, 0.7), 0.0),
    # where a column ends a trend may end: what is beyond a half, less a tenth
    ((-1, 3), (9, 0.05, 0.5, 0.6), 0.45 - math.log(1.5 / 1.1)),
    ((0, -1), (0, 0.05, 0.5, 9), 0.45 - math.log(1.5 / 1.1))])
def test_what_of_a_jump_no_drift_explains(way, beside, residual, more):
    one = [np.array([each]) for each in (1, 2, *beside)]
    jump, left = jumps(Line(*one), way * column(*residual), column(0, 1, 2, 4))
    assert jump.tolist() == pytest.approx([way * (residual[2] - residual[1])])
    assert left.tolist() == pytest.approx([way * more])


@pytest.mark.parametrize(("most", "found"), [
    (10, [*range(1, 11)]), (9, [1, 3, 5, 7, 9]), (5, [1, 3, 5, 7, 9]), (4, [1, 4, 7, 10]),
    (1, [1])])
def test_every_so_many_values_of_a_column(most, found):
    assert steps(column(*range(10, 0, -1), 3, 4), most).tolist() == found


def test_what_is_made_of_columns_has_three_digits():
    assert _rounded(column(123456, 0.0123456, 1, 99.96, 0)).tolist() == pytest.approx(
        [123000, 0.0123, 1, 100, 0])


def test_a_column_lies_by_its_logarithm_unless_it_holds_none():
    assert log_scaled(column(1, math.e)).tolist() == pytest.approx([0, 1])
    assert log_scaled(column(0, 2)).tolist() == [0, 2]
    assert log_scaled(column(-1, 2)).tolist() == [-1, 2]


@pytest.mark.parametrize(("operator", "shapes", "made"), [
    ("gemm", {"rows": (2, 3), "columns": (5, 7), "depth": (11, 13)}, {
        "weights": ((55, 91), ("columns", "depth")),
        "outputs": ((10, 21), ("rows", "columns"))}),
    ("experts", {"tokens": (1, 2), "tensor_parallel": (1, 2), "expert_rows": (60, 70),
                 "experts_read": (20, 7), "inside": (8, 4)}, {
        "rows_of_expert": ((3, 10), ("tokens",)), "rows_of_rank": ((60, 70), ("tokens",)),
        "width": ((8, 4), ("tensor_parallel",))}),
    ("all_reduce", {"bytes": (3, 5), "ranks": (2, 8)}, {"bytes_of_all": ((6, 40), ("bytes",))}),
    ("mla_decode", {"batch": (2, 3), "heads": (8, 16), "context": (5, 7)}, {
        "positions": ((10, 21), ("batch", "context"))}),
    ("mla_prefill", {"batch": (2, 3), "heads": (8, 16), "tokens": (5, 7)}, {
        "positions": ((10, 21), ("batch", "tokens"))}),
    ("dsa_decode_block", {"batch": (2, 3), "heads": (8, 16), "context": (5, 7),
                          "element_bytes": (1, 2)}, {
        "positions": ((10, 21), ("batch", "context"))}),
    ("exchange", {"tokens": (1, 2)}, {})])
def test_columns_that_a_kernel_may_be_chosen_by(operator, shapes, made):
    every = {name: column(*values) for name, values in shapes.items()}
    found = columns_of(operator, every)
    plain = {name for name in shapes if name not in ("expert_rows", "experts_read", "inside")}
    assert set(found) == plain | made.keys()
    for name in plain:
        assert (found[name].values.tolist(), found[name].axes) == (list(shapes[name]), (name,))
    for name, (values, axes) in made.items():
        assert found[name].values.tolist() == pytest.approx(values)
        assert found[name].axes == axes
    first, *others = plain
    still = columns_of(operator, every | {first: np.full(2, every[first][0])})
    assert first not in still
    assert set(others) <= still.keys()


def judged(residual, chosen=None):
    """Rows that all judge, and half of which give a factor unless it is said."""
    some = np.arange(len(residual)) % 2 == 0 if chosen is None else np.array(chosen, bool)
    return Judge(np.asarray(residual, float), some, np.ones(len(residual), bool))


def off(*errors):
    """Times beside a law that is too slow by so much."""
    return judged(-np.log1p(errors))


def test_errors_are_those_of_the_law_over_the_table_among_the_rows_that_judge():
    """Half of eleven rows lie within 0.05, nine tenths within 0.09; it may be too quick too."""
    sizes = [0.01 * number for number in range(11)]
    assert off(*sizes).errors == pytest.approx((0.05, 0.09))
    assert off(*(-size for size in sizes)).errors == pytest.approx((0.05, 0.09))
    half = Judge(off(*sizes, 9, 9).residual, np.ones(13, bool), np.arange(13) < 11)
    assert half.errors == pytest.approx((0.05, 0.09))
    assert half.without(half.residual).errors == (0, 0)


@pytest.mark.parametrize(("median", "most", "kept"), [
    (0.08, 0.25, True), (0.0801, 0.25, False), (0.08, 0.2501, False), (0, 0, True)])
def test_a_law_that_is_held_keeps_both_bars(median, most, kept):
    assert within_bars(median, most) is kept
    assert score((median, most)) == pytest.approx(median / 0.08 + most / 0.25)


@pytest.mark.parametrize(("before", "after", "less", "gone"), [
    # above its bars 0.4 has 4 and 0.6: a quarter of it leaves 3.45
    (0.4, 0.33, 0.25, True), (0.4, 0.331, 0.25, False), (0.4, 0.24, 0.5, True),
    (0.4, 0.27, 0.5, False),
    # just above its bar all of it may go, and yet the error is hardly less
    (0.0804, 0.079, 0.25, False), (0.0804, 0.0779, 0.25, True), (0.0804, 0.0804, 0.0, False)])
def test_an_explanation_takes_away_what_lies_above_the_bars_and_some_of_the_error(
        before, after, less, gone):
    found = better(off(*[before] * 5), off(*[after] * 5), less)
    assert found == gone


def test_sides_are_of_columns_that_move_without_the_other():
    rows, depth = column(1, 2, 4, 8), column(16, 16, 32, 64)
    columns = {"rows": Along(rows, ("rows",)), "outputs": Along(rows, ("rows", "columns")),
               "depth": Along(depth, ("depth",))}
    found = [(where, side.tolist()) for where, side in sides("rows", columns)]
    assert found == [
        (Where("depth", None, 16.0), [True, True, False, False]),
        (Where("depth", 32.0, None), [False, False, True, True]),
        (Where("depth", None, 32.0), [True, True, True, False]),
        (Where("depth", 64.0, None), [False, False, False, True])]
    many = {"rows": columns["rows"], "depth": Along(np.arange(17.0), ("depth",))}
    assert [where.first for where, _ in sides("rows", many)][1::2] == [3, 6, 9, 12, 15]


def test_levels_are_medians_of_the_fitted_rows_on_either_side():
    judge = judged([1, 2, 9, 4, 5, 50], [1, 1, 1, 1, 1, 0])
    inside = np.array([0, 0, 0, 1, 1, 1], bool)
    assert _levels(judge, inside).tolist() == [2, 2, 2, 4.5, 4.5, 4.5]
    none = judged([1, 2, 9, 4, 5, 50], [1, 1, 1, 0, 0, 0])
    assert _levels(none, inside).tolist() == [2, 2, 2, 0, 0, 0]


LEAST = math.log(1.1)


@pytest.mark.parametrize(("jump", "more", "least", "agreed"), [
    ([0.3, 0.2, 0.25], [0.1, 0.2, 0.3], 3, (0.25, 3)),
    ([-0.3, -0.2, -0.25], [-0.1, -0.2, -0.3], 3, (-0.25, 3)),
    ([0.3, 0.2], [0.1, 0.2], 3, None),
    ([0.3, 0.3, 0.3, 0.0], [0.2] * 4, 3, (0.3, 2)),  # three of four are enough
    ([0.3, 0.3, 0.0, 0.0], [0.2] * 4, 3, None),
    ([0.3, 0.3, 0.3, -0.3], [0.2] * 4, 3, (0.3, 2)),
    ([LEAST / 2] * 3, [LEAST] * 3, 3, (LEAST / 2, 3)),
    ([0.3] * 3, [0.99 * LEAST] * 3, 3, None),
    ([0.99 * LEAST / 2] * 3, [LEAST] * 3, 3, None)])
def test_pairs_agree_on_a_jump_where_three_of_four_make_it(jump, more, least, agreed):
    found = _agreed(column(*jump), column(*more), least)
    assert found == (None if agreed is None else pytest.approx(agreed))


@pytest.mark.parametrize(("more", "some"), [
    ([0.2] * 2 + [0] * 6, True), ([-0.2] * 2 + [0] * 6, True), ([0.2] + [0] * 7, False),
    ([0.2] * 2 + [0] * 5, False), ([0.2, 0.2, 0.2, -0.2] + [0] * 4, True),
    ([0.2, 0.2, -0.2, -0.2] + [0] * 4, False), ([LEAST] * 2 + [0] * 6, True),
    ([0.99 * LEAST] * 8, False)])
def test_some_shapes_alone_jump_where_a_quarter_of_eight_do_one_way(more, some):
    assert _some_agree(column(*more)) is some
