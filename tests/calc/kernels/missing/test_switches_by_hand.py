"""Which switch is taken of several, where it begins and ends, and what a window gains."""

from __future__ import annotations

import math

import numpy as np
import pytest

from calc.kernels.missing import switches
from calc.kernels.missing.columns import Along, neighbours
from calc.kernels.missing.explained import Judge, Where
from calc.kernels.missing.switches import Edge, Window, _edges, _windows, switch

ROWS = 2.0 ** np.arange(8)
EVERY = np.ones(8, bool)
PLACE = {"rows": Along(ROWS, ("rows",))}
SOME = Where("depth", 32.0, None)


def judge(residual, chosen=None):
    residual = np.asarray(residual, float)
    every = np.ones(len(residual), bool)
    return Judge(residual, every if chosen is None else np.array(chosen, bool), every)


def window(gain, first, last, where=None, side=EVERY, jump=0.4):
    return Window(gain, "rows", first, last, Edge(first, jump, side, where), jump)


@pytest.fixture
def taken(monkeypatch):
    """Whether an explanation holds is said by hand, from the first on; windows are given."""
    def run(*windows, holds=lambda tried: True, residual=ROWS * 0):
        tried = []
        monkeypatch.setattr(switches, "_windows", lambda *given: iter(windows))

        def better(before, after, less):
            tried.append((after, less))
            return holds(len(tried))

        monkeypatch.setattr(switches, "better", better)
        return switch(judge(residual), PLACE, {}), tried

    return run


def test_a_switch_is_told_by_its_first_and_last_value_and_left_open_at_the_end(taken):
    residual = np.where((ROWS >= 4) & (ROWS <= 16), 0.5, 0.1)
    (change, left), tried = taken(window(1, 2, 4), residual=residual)
    assert (change.column, change.first, change.last, change.where) == ("rows", 4, 16, None)
    assert change.factor == pytest.approx(math.exp(0.4))
    assert left.residual == pytest.approx(0)  # a level inside and another outside
    assert [less for _, less in tried] == [0.25]
    (change, _), _ = taken(window(1, 2, 7), residual=residual)
    assert (change.first, change.last) == (4, None)
    (change, _), _ = taken(window(1, 2, 6), residual=residual)
    assert change.last == 64


def test_of_some_shapes_a_level_is_taken_where_they_are(taken):
    side = np.arange(8) % 2 == 0
    residual = np.where(side & (ROWS >= 4), 0.5, 0.1)
    (change, left), _ = taken(window(1, 2, 7, SOME, side), residual=residual)
    assert change.where == SOME
    assert left.residual == pytest.approx(0)


@pytest.mark.parametrize(("gain", "first"), [(1.2, 1), (1.3, 3)])
def test_a_switch_of_all_shapes_is_taken_before_one_of_some_that_gains_little_more(
        taken, gain, first):
    (change, _), _ = taken(window(gain, 3, 4, SOME), window(0.9, 5, 6), window(1.0, 1, 2))
    assert change.first == 2.0 ** first


def test_of_those_that_gain_most_the_first_that_judges_well_is_taken_and_twelve_are_tried(taken):
    many = [window(gain, gain % 7, 7) for gain in range(20)]
    (change, _), tried = taken(*many, holds=lambda tried: tried == 3)
    assert (change.first, len(tried)) == (2.0 ** (17 % 7), 3)
    found, tried = taken(*many, holds=lambda tried: False)
    assert found is None
    assert len(tried) == 12


def table(depths, residual):
    """Rows of every depth, with what lies beside the law by row and depth."""
    rows, depth = (each.ravel() for each in np.meshgrid(ROWS, np.array(depths, float)))
    columns = {"rows": Along(rows, ("rows",)), "depth": Along(depth, ("depth",))}
    shapes = {"rows": rows, "depth": depth}
    lines = {name: neighbours(shapes, ["rows", "depth"], name) for name in shapes}
    return np.array([residual(*each) for each in zip(rows, depth, strict=True)]), columns, lines


def edges(depths, residual):
    beside, columns, lines = table(depths, residual)
    return list(_edges(beside, "rows", columns, ROWS, lines))


def test_an_edge_is_where_pairs_of_all_shapes_jump():
    (edge,) = edges([16, 32, 64], lambda rows, depth: 0.5 * (rows >= 16))
    assert (edge.place, edge.where) == (4, None)
    assert edge.jump == pytest.approx(0.5)
    assert edge.side.all()
    assert edges([16, 32], lambda rows, depth: 0.5 * (rows >= 16)) == []  # two pairs are too few


def test_an_edge_of_some_shapes_needs_eight_of_them_on_one_side():
    """Of sixteen depths half jump: that side is told by its first value, or by its last."""
    depths = [*range(16, 32)]
    (edge,) = edges(depths, lambda rows, depth: 0.5 * (rows >= 16 and depth >= 24))
    assert (edge.place, edge.where) == (4, Where("depth", 24.0, None))
    assert edge.jump == pytest.approx(0.5)
    assert edge.side.sum() == 8 * len(ROWS)
    (edge,) = edges(depths, lambda rows, depth: -0.5 * (rows >= 16 and depth < 24))
    assert (edge.where, edge.jump) == (Where("depth", None, 23.0), pytest.approx(-0.5))
    assert edges(depths[:10], lambda rows, depth: 0.5 * (rows >= 16 and depth >= 21)) == []


def windows(residual, chosen=None):
    beside, columns, lines = table([16, 32, 64, 128], residual)
    made = judge(beside, chosen)
    return [(each.first, each.last, pytest.approx(each.jump), each.gain, each.column)
            for each in _windows(made, "rows", columns, lines)]


def test_a_window_gains_what_a_factor_takes_from_squares():
    """Half of 32 rows lie 0.5 above the others: a factor takes 0.5² · 16 · 16 / 32 away."""
    (found,) = windows(lambda rows, depth: 0.5 * (rows >= 16))
    assert found == (4, 7, 0.5, pytest.approx(0.25 * 16 * 16 / 32), "rows")


def test_a_window_has_a_begin_and_an_end_and_neither_is_the_whole_column():
    """Rows of 8 and 16 alone; its end is a jump down, behind which a window ends as well."""
    found = windows(lambda rows, depth: 0.5 * (8 <= rows <= 16))
    assert [each[:3] for each in found] == [(3, 4, 0.5), (3, 4, 0.5)]
    assert all(each[3] == pytest.approx(0.25 * 8 * 24 / 32) for each in found)


def test_a_window_that_gains_nearly_as_much_open_is_left_open():
    found = windows(lambda rows, depth: 0.5 * (rows >= 8) - 0.11 * (rows == 128))
    assert found[0][:2] == (3, 7)


def test_only_fitted_rows_are_counted_and_none_beyond_a_factor_of_e():
    chosen = np.arange(32) % 2 == 0  # every other value of rows, of all depths
    (found,) = windows(lambda rows, depth: 0.5 * (rows >= 16), chosen)
    assert found[3] == pytest.approx(0.25 * 8 * 8 / 16)
    (found,) = windows(lambda rows, depth: 2.0 * (rows >= 16))
    assert found[3] == pytest.approx(1.0 * 16 * 16 / 32)


@pytest.mark.parametrize(("kept", "told"), [(0.36, True), (0.34, False)])
def test_a_jump_that_does_not_last_is_no_switch(kept, told):
    """Of rows of 16, where it is, nothing is known: those behind are above by a third at least."""
    chosen = np.tile(ROWS != 16, 4)
    found = windows(lambda rows, depth: 0.5 * (rows == 16) + kept * 0.5 * (rows > 16), chosen)
    assert ((4, 7) in [each[:2] for each in found if each[2] == 0.5]) is told
