"""Laws of operators, fitted to one half of a table's shapes and judged on the other half.

A law calls the function that a step calls (``calc.physics``); there is no second formula. A shape
is in one half or the other by a checksum of its numbers: the same in every run, and no shape of the
half that judges was ever fitted. Residuals are logarithms, and large ones count less than their
squares.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

Column = NDArray[np.float64]
Columns = Mapping[str, Column | float]

SCALE = 0.1  # of a residual in logarithms, from which on it counts less than its square
MOST_ROWS = 12_000  # fitted of one table; more move no digit that is written
EVALUATIONS = 60
LITTLE, UNCERTAIN = 0.3, 1.25  # slope of a parameter that hardly matters, and its range then
NEAR = 1e-3  # of an end of its bounds, at which a value is there
FURTHEST = 30.0  # of a logit
LOW, HIGH = 0.1, 0.9  # points between which 80% lie
REGIONS = (1, 16, 64, 256, 1024, 4096)


class Bounds(NamedTuple):
    """Where a parameter of a law begins in a fit, and between which values it lies."""

    start: float
    low: float
    high: float


@dataclass(frozen=True)
class Law:
    """A physical law of one operator.

    Attributes:
        operator: of ``catalogue.tables``.
        parameters: by the name of the mechanism, six at most (SI).
        time: of the rows of a table [s], from their columns (SI, constants of the card among
            them) and a value of each parameter.
        fixed: mechanisms that stay at a value while the others are fitted, with the range in which
            they fit as well.
        begins: values at which a fit begins as well, of a law that takes the least of several:
            from one start alone it may end where a table shows only some of them.
    """

    operator: str
    parameters: Mapping[str, Bounds]
    time: Callable[[Columns, Mapping[str, float]], Column]
    fixed: Mapping[str, Bounds] = field(default_factory=dict)
    begins: Sequence[Mapping[str, float]] = ()


@dataclass(frozen=True)
class Errors:
    """Law over table, less one, of some rows: how many, median, size of the median and 90%."""

    rows: int
    leaning: float
    median: float
    most: float


@dataclass(frozen=True)
class Fitted:
    """A law with the values that a table gives it.

    Attributes:
        law: that was fitted.
        values: of its parameters (SI).
        ranges: of them, where 80% of kinds of matrices lie, by parameter.
        fitted: rows that were fitted [1].
        errors: of the rows that were not fitted.
        regions: the same by the least number of tokens of a region.
    """

    law: Law
    values: Mapping[str, float]
    ranges: Mapping[str, tuple[float, float]]
    fitted: int
    errors: Errors
    regions: Mapping[int, Errors]


def select(columns: Columns, at: NDArray[Any]) -> dict[str, Column | float]:
    """Some rows of columns, by their numbers or a mask; single numbers stay."""
    return {name: column[at] if isinstance(column, np.ndarray) and column.ndim else column
            for name, column in columns.items()}


def halves(shapes: Sequence[Column]) -> NDArray[np.bool_]:
    """Which rows are fitted; the others judge.

    Args:
        shapes: columns of numbers that identify a shape.
    """
    together = zip(*(column.tolist() for column in shapes), strict=True)
    return np.array([zlib.crc32(repr(shape).encode()) % 2 == 0 for shape in together])


def fit(law: Law, columns: Columns, time: Column, chosen: NDArray[np.bool_], tokens: Column,
        kinds: NDArray[np.int64]) -> Fitted:
    """A law with the values that fit some rows of a table, judged on the others.

    Args:
        law: to be fitted.
        columns: of all rows, and constants of the card.
        time: as measured, by row [s].
        chosen: the rows to be fitted.
        tokens: by row, for the regions.
        kinds: number of the kind of matrix of each row, whatever its tokens.

    Raises ValueError if fewer rows are to be fitted than the law has parameters.
    """
    rows = np.flatnonzero(chosen)
    if len(rows) <= len(law.parameters):
        raise ValueError(f"{len(rows)} shapes are too few for {len(law.parameters)} parameters")
    rows = rows[:: max(1, len(rows) // MOST_ROWS)]
    some = select(columns, rows)
    start, low, high = np.log(list(law.parameters.values())).T

    def named(logits: Column) -> dict[str, float]:
        values = np.exp(low + (high - low) / (1 + np.exp(-np.clip(logits, -FURTHEST, FURTHEST))))
        return dict(zip(law.parameters, values.tolist(), strict=True))

    def residual(logits: Column) -> Column:
        return np.asarray(np.log(law.time(some, named(logits)) / time[rows]))

    starts = [start, *(np.log([begin.get(name, bounds.start) for name, bounds in
                               law.parameters.items()]) for begin in law.begins)]
    shares = ((one - low) / (high - low) for one in starts)
    best = min((least_squares(residual, np.log(share / (1 - share)), loss="soft_l1",
                              f_scale=SCALE, max_nfev=EVALUATIONS) for share in shares),
               key=lambda solution: float(solution.cost))
    values = {name: at_end(law.parameters[name], value) for name, value in named(best.x).items()}
    ratio = np.asarray(law.time(columns, values)) / time
    return Fitted(law, values, parameter_ranges(law, values, columns, ratio, kinds), len(rows),
                  errors(ratio[~chosen]), by_region(ratio[~chosen], tokens[~chosen]))


def errors(ratio: Column) -> Errors:
    """Errors of some rows, from law over table [1]."""
    size = np.abs(ratio - 1)
    return Errors(len(ratio), float(np.median(ratio) - 1), float(np.median(size)),
                  float(np.quantile(size, HIGH)))


def by_region(ratio: Column, tokens: Column) -> dict[int, Errors]:
    """The same by the least number of tokens of a region, of those that have any rows."""
    region = np.searchsorted(REGIONS, tokens, "right") - 1
    return {least: errors(ratio[region == index]) for index, least in enumerate(REGIONS)
            if (region == index).any()}


def at_end(bounds: Bounds, value: float) -> float:
    """A value, or the end of its bounds that it is near: a fit never reaches an end."""
    return next((end for end in (bounds.high, bounds.low) if np.isclose(
        value, end, rtol=NEAR, atol=0)), value)


def parameter_ranges(law: Law, values: Mapping[str, float], columns: Columns, ratio: Column,
            kinds: NDArray[np.int64]) -> dict[str, tuple[float, float]]:
    """Where 80% of kinds of matrices lie, by parameter: those whose time it decides.

    A kind's times differ from the law by a factor; where a parameter decides, it is the parameter
    that differs from its value. Kinds of fewer than three rows are left out.
    """
    ranges = {}
    for name, value in values.items():
        moved = np.log(np.asarray(law.time(columns, {**values, name: value * 1.1}))
                       / np.asarray(law.time(columns, values)))
        weight = np.abs(moved)
        decided = weight >= max(np.quantile(weight, 1 - 1 / 4), 1e-9)
        slope = np.median(moved[decided]) / np.log(1.1) if decided.any() else 0.0
        down, up = 1 / UNCERTAIN, UNCERTAIN
        if abs(slope) >= LITTLE:
            off = [np.median(np.log(ratio[inside])) for kind in np.unique(kinds[decided])
                   if np.count_nonzero(inside := decided & (kinds == kind)) >= 3]
            low, high = sorted(np.divide(np.quantile(off, (LOW, HIGH)) if off else (-0.2, 0.2),
                                         -slope))
            down, up = float(np.exp(min(low, -0.02))), float(np.exp(max(high, 0.02)))
        ranges[name] = (value * down, value * up)
    return ranges
