"""Switches to another kernel: where time over law jumps, and a factor takes errors away.

From a row to its neighbour, which differs in one column alone, it jumps by about one factor for all
shapes, or for those on one side of another column, and more than it drifts right before and after.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from calc.kernels.law import Column
from calc.kernels.missing.columns import LEAST_JUMP, Along, Line, Mask, jumps, log_scaled, steps
from calc.kernels.missing.explained import Change, Judge, Where, better, sides

ALIKE = 0.75  # of pairs have to jump one way, by half of the least jump at least
LEAST_PAIRS = 3
LEAST_APART = 8  # of shapes on one side of another column
SOME = 0.25  # of pairs that jump where those of some shapes do
LESS = 0.25  # of what errors have above their bars, that a factor has to take away
TRIED = 12  # windows, of those that gain most
ONE_SIDED = 0.8  # of the gain of a window, for which it is taken to be open
PLAINER = 0.8  # of the gain of a switch of some shapes only, beside one of all
LASTS, EXCEEDS = 0.35, 2.0  # least and most of a jump that is left in the mean of its window
CLIPPED = 1.0  # a residual in logarithms, above which it says no more
VALUES = 160  # of a column, at most


class Edge(NamedTuple):
    """Where a column jumps [1, in logarithms], of shapes on one side of another column."""

    place: int
    jump: float
    side: Mask
    where: Where | None


class Window(NamedTuple):
    """Values of a column from one place to another, and what a factor there gains."""

    gain: float
    column: str
    first: int
    last: int
    edge: Edge
    jump: float


def switch(judge: Judge, columns: Mapping[str, Along], lines: Mapping[str, Line]
           ) -> tuple[Change, Judge] | None:
    """The switch that gains most of those that are sharp and judge well, and what it leaves.

    Args:
        judge: of a table.
        columns: that a kernel may be chosen by.
        lines: neighbours by column.
    """
    found: list[Window] = []
    for name in columns:
        found += _windows(judge, name, columns, lines)
    for window in sorted(found, key=lambda each: -each.gain * (
            PLAINER if each.edge.where else 1))[:TRIED]:
        values = columns[window.column].values
        begun = steps(values, VALUES)
        is_open = window.last + 1 == len(begun)
        inside = window.edge.side & (values >= begun[window.first]) & (
            values < (np.inf if is_open else begun[window.last + 1]))
        left = judge.without(_levels(judge, inside))
        if better(judge, left, LESS):
            return Change(window.column, float(np.exp(window.jump)), float(begun[window.first]),
                          None if is_open else float(values[inside].max()),
                          window.edge.where), left
    return None


def _levels(judge: Judge, inside: Mask) -> Column:
    """A level of the residual inside and another outside, from the rows that were fitted."""
    levels = [float(np.median(judge.residual[part])) if (part := judge.chosen & side).any() else 0.0
              for side in (~inside, inside)]
    return np.where(inside, levels[1], levels[0])


def _windows(judge: Judge, name: str, columns: Mapping[str, Along], lines: Mapping[str, Line]
             ) -> Iterator[Window]:
    """Windows of a column with a sharp end, the best by end."""
    values = columns[name].values
    begun = steps(values, VALUES)
    at = np.searchsorted(begun, values, side="right") - 1
    clipped = np.clip(judge.residual, -CLIPPED, CLIPPED)
    end = len(begun) - 1
    for edge in _edges(judge.residual, name, columns, begun, lines):
        used = judge.chosen & edge.side
        counts, sums = (np.concatenate([[0.0], np.cumsum(np.bincount(
            at[used], weights=weights, minlength=len(begun)))])
            for weights in (np.ones(np.count_nonzero(used)), clipped[used]))
        rows, whole = np.count_nonzero(judge.chosen), float(clipped[judge.chosen].sum())
        fitting = []
        for first, last, jump in (
                *((edge.place, last, edge.jump) for last in range(edge.place, end + 1)),
                *((first, edge.place - 1, -edge.jump) for first in range(1, edge.place))):
            inside, total = counts[last + 1] - counts[first], sums[last + 1] - sums[first]
            if not 0 < inside < rows:
                continue
            level = float(total / inside - (whole - total) / (rows - inside))
            if LASTS <= level / jump <= EXCEEDS:
                fitting.append(Window(float(level**2 * inside * (rows - inside) / rows), name,
                                      first, last, edge, jump))
        if fitting:
            best = max(fitting, key=lambda each: each.gain)
            opened = next((each for each in fitting if each.last == end), best)
            yield opened if opened.gain >= ONE_SIDED * best.gain else best


def _edges(residual: Column, name: str, columns: Mapping[str, Along], begun: Column,
           lines: Mapping[str, Line]) -> Iterator[Edge]:
    """Places where pairs of neighbours agree on a jump: all, or those of some shapes."""
    along = columns[name]
    place = log_scaled(along.values)
    low, high, jump, more = (np.concatenate(parts) for parts in zip(*(
        (lines[axis].low, lines[axis].high, *jumps(lines[axis], residual, place))
        for axis in along.axes), strict=True))
    below, above = along.values[low], along.values[high]
    for at, step in enumerate(begun):
        over = np.flatnonzero((below < step) & (above >= step))
        agreed = _agreed(jump[over], more[over], LEAST_PAIRS)
        if agreed:
            yield Edge(at, agreed[0], np.ones(len(residual), bool), None)
        elif _some_agree(more[over]):
            best: tuple[float, Edge] | None = None
            for where, side in sides(name, columns):
                part = over[side[low[over]] & side[high[over]]]
                agreed = _agreed(jump[part], more[part], LEAST_APART)
                if agreed and (best is None or agreed[1] > best[0]):
                    best = agreed[1], Edge(at, agreed[0], side, where)
            if best:
                yield best[1]


def _agreed(jump: Column, more: Column, least: int) -> tuple[float, float] | None:
    """The jump that pairs agree on, and how many more do than do not; None where too few do."""
    if len(jump) < least:
        return None
    size = float(np.median(more))
    alike = float(np.mean(np.sign(size) * jump >= LEAST_JUMP / 2))
    if abs(size) < LEAST_JUMP or alike < ALIKE:
        return None
    return float(np.median(jump)), len(jump) * (2 * alike - 1)


def _some_agree(more: Column) -> bool:
    """Whether a good part of pairs jumps, and nearly all of those one way."""
    far = more[np.abs(more) >= LEAST_JUMP]
    return bool(len(more) >= LEAST_APART and len(far) >= SOME * len(more)
                and max(np.mean(far > 0), np.mean(far < 0)) >= ALIKE)
