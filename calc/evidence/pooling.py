"""The formulas' own error by class, estimated from all measured systems; few borrow from many.

log(measured / predicted) is an error of the whole system and one of the row. Neither is taken off
a prediction: a class whose systems are all slower has an interval that reaches farther up.

Source: notebooks/validation.md, section Are the intervals honest?
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import cast

import numpy as np

from calc.evidence.classes import (
    ALL,
    NORMAL_MIDDLE,
    STAND_IN,
    class_of,
    grown_without,
    ladder,
    near,
    taken,
)
from calc.evidence.nearness import widened
from calc.evidence.protocols import uncalibrated
from calc.evidence.systems import METRICS, System
from calc.intervals.uncertainty import Sides
from catalogue.deployments.physics_inputs import NORMAL_90
from catalogue.entries.calibrations import Covered, Growth, LeftOut, Metric, OwnError

DIGITS = 4
TINY = 1e-12  # a variance in place of none


@dataclass(frozen=True)
class Residuals:
    """Errors of one system's rows in one quantity.

    Attributes:
        system: the scenario's identifier.
        of: its class.
        metric: the quantity.
        error: log(measured / middle of what the ranges of inputs explain), shape (rows,).
        explained: standard deviation that these ranges explain, shape (rows,).
        requests: in flight on a card, shape (rows,) [request].
    """

    system: str
    of: str
    metric: str
    error: np.ndarray
    explained: np.ndarray
    requests: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @property
    def shared(self) -> float:
        """What all rows of the system share [1]."""
        return float(np.median(self.error))

    @property
    def unexplained(self) -> float:
        """Variance that would make its shared error a median one, beyond what ranges explain [1].

        Negative where ranges explain more than that.
        """
        return (self.shared / NORMAL_MIDDLE) ** 2 - self._explained**2

    @property
    def scatter(self) -> float:
        """Variance of its rows about what they share, as their median distance has it [1]."""
        return float(np.median(np.abs(self.error - self.shared)) / NORMAL_MIDDLE) ** 2

    @property
    def slower(self) -> float:
        """How much it says of errors upwards, the rest of those downwards [1].

        The probability that it is off upwards: within what ranges explain it speaks for both.
        """
        return (1 + math.erf(self.shared / (self._explained * math.sqrt(2)))) / 2

    @property
    def _explained(self) -> float:
        return math.sqrt(float(np.square(self.explained).mean()) or TINY)


@dataclass(frozen=True)
class Pooled:
    """A class's estimate: variances of a system's error to either side, and of its rows [1]."""

    below: float
    above: float
    rows: float

    @property
    def down(self) -> float:
        """Standard deviation of a system's error, downwards [1]."""
        return math.sqrt(self.below)

    @property
    def up(self) -> float:
        """Standard deviation of a system's error, upwards [1]."""
        return math.sqrt(self.above)

    @property
    def within(self) -> float:
        """Standard deviation of rows about their system's error [1]."""
        return math.sqrt(self.rows)


Estimates = dict[str, dict[str, Pooled]]  # class -> quantity


def seen(systems: Iterable[System]) -> list[System]:
    """The systems of sources of which nothing was predicted blind."""
    tables = [(system, system.scenario.measured) for system in systems]
    blind = {table.source for _, table in tables if table is not None and table.blind}
    return [system for system, table in tables if table is not None and table.source not in blind]


def residuals(systems: Iterable[System]) -> list[Residuals]:
    """Errors of every measured row of some systems, with nothing fitted.

    What is of a source that was predicted blind is left out: it tests what is estimated here.

    Raises ValueError, one sentence, if a prediction is no positive number.
    """
    found = []
    for system in seen(systems):
        for metric in METRICS:
            rows = system.measured(metric)
            if not len(rows):
                continue
            told = uncalibrated(system, metric, {}, rows)
            if not (np.isfinite(told.predicted).all() and (told.predicted > 0).all()):
                raise ValueError(f"'{system.id}' has no prediction of {metric} for every row")
            found.append(Residuals(
                system.id, class_of(system.scenario), metric,
                np.log(told.measured / np.sqrt(told.low * told.high)),
                np.log(told.high / told.low) / (2 * NORMAL_90),
                system.rows["concurrency"][rows] / system.scenario.devices))
    return found


def pool(found: Iterable[Residuals], borrowed: float) -> Estimates:
    """The estimate of every class that has a system, from the widest to the narrowest.

    A class borrows from the one above it; latency, which few systems state, from the time per
    token of its own class.

    Args:
        found: what was measured.
        borrowed: how many systems the class above counts for.
    """
    groups: dict[tuple[str, str], list[Residuals]] = {}
    for each in found:
        for step in ladder(each.of):
            groups.setdefault((step, each.metric), []).append(each)
    estimates: Estimates = {}
    for name, metric in sorted(groups, key=lambda key: (
            key[0] != ALL, key[0].count("/"), key[1] in STAND_IN)):
        stand_in = estimates.get(name, {}).get(STAND_IN.get(metric, ""))
        above = stand_in or next((estimates[step][metric] for step in ladder(name)[1:]
                                  if metric in estimates.get(step, {})), None)
        estimates.setdefault(name, {})[metric] = _estimated(
            groups[name, metric], above, borrowed)
    return estimates


def _estimated(members: list[Residuals], above: Pooled | None, borrowed: float) -> Pooled:
    """A class's variances: medians over its systems, each with so many of the class above."""
    def of(variances: list[float], weights: list[float], other: float | None) -> float:
        count = sum(weights)
        own = max(0.0, _median(variances, weights)) if count else 0.0
        return own if other is None else (count * own + borrowed * other) / (count + borrowed)

    between = [each.unexplained for each in members]
    slower = [each.slower for each in members]
    within = [each.scatter for each in members if len(each.error) > 1]
    return Pooled(of(between, [1 - share for share in slower], above.below if above else None),
                  of(between, slower, above.above if above else None),
                  of(within, [1.0] * len(within), above.rows if above else None))


def _median(values: list[float], weights: list[float]) -> float:
    """Median of values that count so much each; between two of them, in proportion."""
    order = np.argsort(values)
    weight = np.array(weights)[order]
    return float(np.interp(weight.sum() / 2, np.cumsum(weight) - weight / 2,
                           np.array(values)[order]))


def left_out(found: list[Residuals], borrowed: float) -> dict[str, dict[str, Sides]]:
    """What each system gets of each of its quantities from all the others.

    Args:
        found: what was measured.
        borrowed: how many systems the class above counts for.
    """
    sides: dict[str, dict[str, Sides]] = {}
    for system in dict.fromkeys(each.system for each in found):
        others = pool([each for each in found if each.system != system], borrowed)
        sides[system] = {
            each.metric: (round(known[2][0], DIGITS), round(known[2][1], DIGITS))
            for each in found if each.system == system
            if (known := taken(others, each.of, each.metric)) is not None}
    return sides


@dataclass(frozen=True)
class Written:
    """What is stored in ``params/discrepancies/``, see ``catalogue.entries.calibrations``.

    ``width`` is not: the median of high over low of a class's rows, by class and quantity [1].
    """

    classes: dict[str, dict[str, OwnError]]
    left_out: dict[str, LeftOut]
    growth: Mapping[Metric, Growth]
    measured: Mapping[str, Covered]
    width: dict[tuple[str, str], float]


def estimate(systems: Iterable[System], borrowed: float, growth: Mapping[Metric, Growth],
             measured: Mapping[str, Covered]) -> Written:
    """Estimates of all classes, and of each system's class without the system.

    Args:
        systems: what was measured.
        borrowed: how many systems the class above counts for.
        growth: of the error with distance, by quantity.
        measured: what each measured system covers.

    Raises ValueError as :func:`residuals` does.
    """
    by_id = {system.id: system for system in systems}
    found = residuals(by_id.values())
    without, whole = left_out(found, borrowed), pool(found, borrowed)
    inside: dict[tuple[str, str], list[np.ndarray]] = {}
    ratios: dict[tuple[str, str], list[np.ndarray]] = {}
    for each in found:
        system = by_id[each.system]
        told = uncalibrated(system, each.metric, {each.metric: widened(
            without[each.system][each.metric],
            grown_without(growth, each.metric, each.system),
            near(system.scenario, system.rows["concurrency"][system.measured(each.metric)],
                 measured).distance)})
        for step in ladder(each.of):
            inside.setdefault((step, each.metric), []).append(
                (told.low <= told.measured) & (told.measured <= told.high))
            ratios.setdefault((step, each.metric), []).append(told.high / told.low)
    classes: dict[str, dict[str, OwnError]] = {}
    for name in sorted(whole, key=lambda name: (name != ALL, name)):
        for metric in (metric for metric in METRICS if metric in whole[name]):
            of, rows = whole[name][metric], inside[name, metric]
            classes.setdefault(name, {})[metric] = OwnError(
                down=round(of.down, DIGITS), up=round(of.up, DIGITS),
                within=round(of.within, DIGITS), systems=len(rows),
                rows=sum(map(len, rows)), inside=sum(int(each.sum()) for each in rows))
    of_system = {each.system: each.of for each in found}
    return Written(
        classes,
        {name: LeftOut(of=of_system[name], deviation=cast("dict[Metric, Sides]", sizes))
         for name, sizes in without.items()},
        growth, measured,
        {key: float(np.median(np.concatenate(each))) for key, each in ratios.items()})
