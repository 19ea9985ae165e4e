"""What explains a miss, and whether it does: errors of the half that judges, before and after."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from calc.kernels.law import Column
from calc.kernels.missing.columns import Along, Mask, steps

MEDIAN, MOST = 0.08, 0.25  # of the error that judges: half of the rows within, and nine of ten
LEAST_LESS = 0.03  # of an error itself: of one just above its bar a share of the excess is nothing
HIGH = 0.9
SIDES = 8  # values of another column that shapes are told apart by, at most


class Where(NamedTuple):
    """Values of a column, both ends included; None where it is open."""

    column: str
    first: float | None
    last: float | None


@dataclass(frozen=True)
class Change:
    """Where time over law changes along a column, and by which factor.

    Attributes:
        column: of the table, or what is made of its columns (``shapes``).
        factor: of time over law [1]: the jump of a switch, that between both ends of a trend, the
            size of half of the jumps of scatter.
        first, last: values of the column, both included: of a switch where the other kernel runs,
            of a trend its ends; None of scatter, and where it is open.
        where: of which shapes it is so; None of all.
    """

    column: str
    factor: float
    first: float | None = None
    last: float | None = None
    where: Where | None = None


class Judge(NamedTuple):
    """Logarithms of time over law [rows]; which of them a factor is taken from, and which judge."""

    residual: Column
    chosen: Mask
    judging: Mask

    @property
    def errors(self) -> tuple[float, float]:
        """Median and 90% point of the errors of the rows that judge."""
        size = np.abs(np.exp(-self.residual[self.judging]) - 1)
        return float(np.median(size)), float(np.quantile(size, HIGH))

    @property
    def keeps_bars(self) -> bool:
        """Whether both errors keep their bars."""
        return within_bars(*self.errors)

    def without(self, model: Column) -> Judge:
        """The same beside a model of the residual."""
        return self._replace(residual=self.residual - model)


def within_bars(median: float, most: float) -> bool:
    """Whether both errors keep their bars."""
    return median <= MEDIAN and most <= MOST


def score(errors: tuple[float, float]) -> float:
    """Both errors in units of their bars."""
    return errors[0] / MEDIAN + errors[1] / MOST


def better(before: Judge, after: Judge, less: float) -> bool:
    """Whether so much of what errors have above their bars went away.

    Args:
        before, after: judged without and with an explanation.
        less: share that has to go [1].
    """
    over, left = (sum(max(0.0, error / bar - 1) for error, bar in zip(
        judge.errors, (MEDIAN, MOST), strict=True)) for judge in (before, after))
    return (left <= (1 - less) * over
            and score(after.errors) <= (1 - LEAST_LESS) * score(before.errors))


def sides(name: str, columns: Mapping[str, Along]) -> Iterator[tuple[Where, Mask]]:
    """Rows below and above some values of every column that moves without another.

    Args:
        name: the other.
        columns: all of them.
    """
    for other, along in columns.items():
        if set(along.axes) & set(columns[name].axes):
            continue
        for step in steps(along.values, SIDES)[1:]:
            below = along.values < step
            yield Where(other, None, float(along.values[below].max())), below
            yield Where(other, float(step), None), ~below
