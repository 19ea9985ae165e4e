"""What a law that misses a table misses: switches to another kernel, a trend, or scatter.

What is taken away is judged on the half of the shapes that was not fitted. A *switch* is a sharp
jump. Time over law that *leans* along a column without one is the law's own limit. Where neighbours
jump both ways, or each shape lies elsewhere, tiles are chosen shape by shape, which no law follows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from calc.kernels.law import Column
from calc.kernels.missing.columns import (
    AXES,
    LEAST_JUMP,
    Along,
    Line,
    Mask,
    columns_of,
    log_scaled,
    neighbours,
)
from calc.kernels.missing.explained import Change, Judge, Where, better, score, sides
from calc.kernels.missing.switches import CLIPPED, LEAST_PAIRS, switch
from catalogue.reading.amounts import plain

LEAST_ROWS = 8  # that judge; of fewer nothing is said
SEVERAL = 2  # switches of a table, at most
HALF = 0.5  # of what errors have above their bars, that a trend has to take away
FEWEST = 3  # values along which there is a trend
MOST_ROWS = 3000  # that a trend is fitted to
MANY = 0.25  # of rows that have a neighbour along a column
BOTH_WAYS = 0.25  # of neighbours that jump have to do so the other way
SHAPE = "shape"  # a column's name, of scatter from shape to shape


@dataclass(frozen=True)
class Missed:
    """Why a law misses a table.

    Attributes:
        switches: two at most, those that explain most first.
        rest: what is still missed beside them; None if with their factors both bars are kept.
        how: what the rest is.
    """

    switches: tuple[Change, ...] = ()
    rest: Change | None = None
    how: Literal["trend", "scatter"] | None = None


def explained(operator: str, columns: Mapping[str, Column | float], ratio: Column, chosen: Mask
              ) -> Missed | None:
    """Why a law misses a table; None where it does not, or where too few rows judge.

    Args:
        operator: of the table; of those without ``AXES`` nothing is said.
        columns: that tell a shape, and those that a law makes of them [rows]; single numbers are
            passed over.
        ratio: law over table [1].
        chosen: rows that were fitted; where none was, every other row gives the factors.
    """
    judging = ~chosen
    if not chosen.any():
        chosen = np.arange(len(ratio)) % 2 == 0
    judge = Judge(-np.log(ratio), chosen, judging)
    if operator not in AXES or np.count_nonzero(judging) < LEAST_ROWS or judge.keeps_bars:
        return None
    shapes = {name: column for name, column in columns.items()
              if isinstance(column, np.ndarray) and column.ndim}
    axes = [name for name in AXES[operator] if name in shapes]
    lines = {name: neighbours(shapes, axes, name) for name in axes}
    along = columns_of(operator, shapes)
    switches: list[Change] = []
    while len(switches) < SEVERAL and not judge.keeps_bars:
        found = switch(judge, along, lines)
        if found is None:
            break
        switches.append(found[0])
        judge = found[1]
    if judge.keeps_bars:
        return Missed(tuple(switches))
    trend = _trend(judge, along)
    if trend:
        return Missed(tuple(switches), trend, "trend")
    kinds = np.unique(np.stack([np.zeros(len(ratio)), *(shapes[name] for name in axes[1:])]),
                      axis=1, return_inverse=True)[1].ravel()
    return Missed(tuple(switches), _scatter(judge, lines, kinds), "scatter")


def _trend(judge: Judge, columns: Mapping[str, Along]) -> Change | None:
    """A smooth lean along a column: of all shapes, or one of shapes on each side of another."""
    every = np.ones(len(judge.residual), bool)
    plain = ((name, every, None) for name in columns)
    apart = ((name, side, where) for name in columns for where, side in sides(name, columns))
    for candidates in (plain, apart):
        leans = [lean for name, side, where in candidates
                 if (lean := _lean(judge, name, columns[name].values, side, where))]
        if leans:
            return min(leans, key=lambda each: each[0])[1]
    return None


def _lean(judge: Judge, name: str, values: Column, side: Mask, where: Where | None
          ) -> tuple[float, Change] | None:
    """What is left of errors beside a smooth lean along a column, and the lean."""
    place, model = log_scaled(values), np.zeros_like(judge.residual)
    leans: dict[bool, tuple[Column, Column]] = {}
    for at in (True, False):
        inside = side == at
        used = np.flatnonzero(inside & judge.chosen)
        used = used[:: max(1, len(used) // MOST_ROWS)]
        if len(np.unique(values[used])) < FEWEST:
            continue
        curve = np.polynomial.Polynomial.fit(
            place[used], np.clip(judge.residual[used], -CLIPPED, CLIPPED), 2)
        model[inside] = curve(place[inside])
        known, first = np.unique(values[inside], return_index=True)
        leans[at] = known, model[inside][first]
    left = judge.without(model)
    if True not in leans or not better(judge, left, HALF):
        return None
    known, lean = leans[True]
    begin, end = sorted((int(lean.argmin()), int(lean.argmax())))
    change = Change(name, float(np.exp(lean[end] - lean[begin])), float(known[begin]),
                    float(known[end]), where)
    return (score(left.errors), change) if np.ptp(lean) >= LEAST_JUMP else None


def _scatter(judge: Judge, lines: Mapping[str, Line], kinds: np.ndarray) -> Change:
    """Where neighbours jump most, both ways, or how far shapes lie from each other."""
    beside = [float(np.median(judge.residual[judge.chosen & (kinds == kind)]))
              for kind in np.unique(kinds[judge.chosen])]
    best = Change(SHAPE, float(np.exp(np.median(np.abs(beside)))))
    for name, line in lines.items():
        size = judge.residual[line.high] - judge.residual[line.low]
        if len(size) < max(LEAST_PAIRS, MANY * len(judge.residual)):
            continue
        ways = min(np.mean(size > 0), np.mean(size < 0))
        factor = float(np.exp(np.median(np.abs(size))))
        if ways >= BOTH_WAYS and factor > best.factor:
            best = Change(name, factor)
    return best


def miss_summary(missed: Missed) -> str:
    """Why a law misses a table, in a few words.

    >>> from calc.kernels.missing.explained import Where
    >>> miss_summary(Missed((Change("rows", 1.65, 160, 192, Where("depth", None, 512)),),
    ...             Change("columns", 1.06), "scatter"))
    'x1.65 at rows 160 to 192 where depth up to 512; scatter of x1.06 along columns'

    Args:
        missed: as ``explained`` found it.
    """
    parts = [f"x{each.factor:.2f} at {_told(each)}" for each in missed.switches]
    if missed.rest:
        parts.append(f"{missed.how} of x{missed.rest.factor:.2f} along {_told(missed.rest)}")
    return "; ".join(parts)


def _told(of: Change | Where) -> str:
    """A column and its ends, and of which shapes."""
    first, last = (None if end is None else plain(end) for end in (of.first, of.last))
    ends = {(False, False): "", (False, True): f" up to {last}", (True, False): f" from {first}",
            (True, True): f" {first} to {last}" if first != last else f" {first}"}
    where = of.where if isinstance(of, Change) else None
    return (of.column + ends[first is not None, last is not None]
            + (f" where {_told(where)}" if where else ""))
