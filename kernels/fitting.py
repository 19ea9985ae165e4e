"""Laws fitted to one half of a table's shapes and judged on the other, robustly and in logarithms.

A shape is in one half or the other by a checksum of its numbers: the same in every run, and no
shape of the half that judges was ever fitted.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from calc.kernels.law import Bounds, Column, Columns, Law, select

SCALE = 0.1  # of a residual in logarithms, from which on it counts less than its square
MOST_ROWS = 12_000  # fitted of one table; more move no digit that is kept
EVALUATIONS = 60
LITTLE, UNTOLD = 0.3, 1.25  # of a slope that tells nothing, and the range of a value then
NEAR = 1e-3  # of an end of its bounds, at which a value is there
LOW, HIGH = 0.1, 0.9  # points between which 80% lie


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
        covariance: of the logarithms of the values, in the order of the law.
        fitted: rows that were fitted [1].
        errors: of the rows kept apart.
        regions: the same by the least number of tokens of a region.
        before: of the same rows with the values of the card alone; None where it has none.
    """

    law: Law
    values: Mapping[str, float]
    ranges: Mapping[str, tuple[float, float]]
    covariance: NDArray[np.float64]
    fitted: int
    errors: Errors
    regions: Mapping[int, Errors]
    before: Errors | None = None


REGIONS = (1, 16, 64, 256, 1024, 4096)


def halves(shapes: Sequence[Column]) -> NDArray[np.bool_]:
    """Which rows are fitted; the others judge.

    Args:
        shapes: columns of numbers that tell a shape.
    """
    together = zip(*(column.tolist() for column in shapes), strict=True)
    return np.array([zlib.crc32(repr(shape).encode()) % 2 == 0 for shape in together])


def fit(law: Law, columns: Columns, time: Column, chosen: NDArray[np.bool_], tokens: Column,
        kinds: NDArray[np.int64], alone: Mapping[str, float] | None = None) -> Fitted:
    """A law with the values that fit some rows of a table, judged on the others.

    Args:
        law: to be fitted.
        columns: of all rows, and what is known of the card.
        time: as measured, by row [s].
        chosen: the rows to be fitted.
        tokens: by row, for the regions.
        kinds: number of the kind of matrix of each row, whatever its tokens.
        alone: values of the card, which are judged on the same rows; None where it has none.

    Raises ValueError if fewer rows are to be fitted than the law has parameters.
    """
    taken = np.flatnonzero(chosen)
    if len(taken) <= len(law.parameters):
        raise ValueError(f"{len(taken)} shapes are too few for {len(law.parameters)} parameters")
    taken = taken[:: max(1, len(taken) // MOST_ROWS)]
    some = select(columns, taken)
    bounds = list(law.parameters.values())

    def residual(place: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.log(law.time(some, _named(law, _inside(bounds, place)))
                                 / time[taken]))

    found = min((least_squares(residual, _outside(begun), loss="soft_l1", f_scale=SCALE,
                               max_nfev=EVALUATIONS) for begun in _begun(law)),
                key=lambda each: float(each.cost))
    best = _ended(bounds, _inside(bounds, found.x))
    values = _named(law, best)
    ratio = np.asarray(law.time(columns, values)) / time
    apart = ~chosen
    return Fitted(
        law, values, _ranges(law, values, columns, ratio, kinds),
        _covariance(bounds, found.x, found.jac, found.fun), len(taken),
        errors(ratio[apart]), by_region(ratio[apart], tokens[apart]),
        errors((np.asarray(law.time(columns, alone)) / time)[apart]) if alone else None)


def errors(ratio: Column) -> Errors:
    """Errors of some rows, from law over table [1]."""
    size = np.abs(ratio - 1)
    return Errors(len(ratio), float(np.median(ratio) - 1), float(np.median(size)),
                  float(np.quantile(size, HIGH)))


def by_region(ratio: Column, tokens: Column) -> dict[int, Errors]:
    """The same by the least number of tokens of a region, of those that have any rows."""
    return {least: errors(ratio[inside])
            for least, most in zip(REGIONS, (*REGIONS[1:], np.inf), strict=True)
            if (inside := (tokens >= least) & (tokens < most)).any()}


def _begun(law: Law) -> list[list[Bounds]]:
    """Bounds of the parameters, once for every place where a fit begins."""
    return [[bounds._replace(start=values.get(name, bounds.start))
             for name, bounds in law.parameters.items()] for values in ({}, *law.begins)]


def _named(law: Law, values: NDArray[np.float64]) -> dict[str, float]:
    return dict(zip(law.parameters, map(float, values), strict=True))


def _inside(bounds: Sequence[Bounds], place: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values inside their bounds, in logarithms, from any real numbers."""
    low, high = (np.log([getattr(bound, end) for bound in bounds]) for end in ("low", "high"))
    return np.asarray(np.exp(low + (high - low) / (1 + np.exp(-np.clip(place, -30, 30)))))


def _ended(bounds: Sequence[Bounds], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values as they are, those near an end of their bounds at it: a fit only comes near."""
    for end in ("low", "high"):
        ends = np.array([getattr(bound, end) for bound in bounds])
        values = np.where(np.isclose(values, ends, rtol=NEAR, atol=0), ends, values)
    return values


def _outside(bounds: Sequence[Bounds]) -> NDArray[np.float64]:
    low, start, high = (np.log([getattr(bound, end) for bound in bounds])
                        for end in ("low", "start", "high"))
    share = (start - low) / (high - low)
    return np.asarray(np.log(share / (1 - share)))


def _covariance(bounds: Sequence[Bounds], place: NDArray[np.float64], slopes: NDArray[np.float64],
                left: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of the logarithms of the values, from the slopes where the fit ended."""
    share = 1 / (1 + np.exp(-np.clip(place, -30, 30)))
    span = np.log([bound.high / bound.low for bound in bounds])
    moved = span * share * (1 - share)  # of the logarithm of a value, by its place
    inverse = np.linalg.pinv(slopes.T @ slopes)
    spread = float(np.sum(left**2)) / max(1, len(left) - len(bounds))
    return np.asarray(spread * inverse * np.outer(moved, moved))


def _ranges(law: Law, values: Mapping[str, float], columns: Columns, ratio: Column,
            kinds: NDArray[np.int64]) -> dict[str, tuple[float, float]]:
    """Where 80% of kinds of matrices lie, by parameter: those whose time it decides.

    A kind's times lie beside the law by a factor; where a parameter decides, it is the parameter
    that lies beside its value. Kinds of few rows tell nothing.
    """
    found = {}
    for name, value in values.items():
        moved = np.log(np.asarray(law.time(columns, {**values, name: value * 1.1}))
                       / np.asarray(law.time(columns, values)))
        weight = np.abs(moved)
        decided = weight >= max(np.quantile(weight, 1 - 1 / 4), 1e-9)
        slope = np.median(moved[decided]) / np.log(1.1) if decided.any() else 0.0
        if not decided.any() or abs(slope) < LITTLE:
            found[name] = (value / UNTOLD, value * UNTOLD)  # the times hardly depend on it
            continue
        beside = [np.median(np.log(ratio[inside])) for kind in np.unique(kinds[decided])
                  if np.count_nonzero(inside := decided & (kinds == kind)) >= 3]
        low, high = np.quantile(beside, (LOW, HIGH)) if beside else (-0.2, 0.2)
        ends = sorted((-low / slope, -high / slope))
        found[name] = (value * float(np.exp(min(ends[0], -0.02))),
                       value * float(np.exp(max(ends[1], 0.02))))
    return found
