"""The formulas' own error by class, estimated from all measured systems; few borrow from many.

log(measured / predicted) of a row is what the ranges of inputs explain, and an own error. That is a
variable of Student with heavy tails, so that a row far off says that there are such rows, and not
that all are. It counts as no farther than a few deviations of the class above, so that none moves
an estimate beyond a bound. Nothing is taken off a prediction, which is the median of the error: a
class whose systems are all slower has an interval that reaches as far down as up.

Sources: notebooks/validation.md, section Are the intervals honest?; Lange, Little and Taylor,
Robust statistical modeling using the t distribution (1989).
"""

from __future__ import annotations

import functools
from collections import UserDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np
from scipy.optimize import minimize
from scipy.special import stdtrit

from calc.evidence.classes import (
    ALL,
    LOADS,
    NORMAL_MIDDLE,
    STAND_IN,
    applied_error,
    class_of,
    estimated_from,
    grown_without,
    growth_under,
    ladder,
    near,
    under,
)
from calc.evidence.nearness import widened
from calc.evidence.protocols import uncalibrated
from calc.evidence.systems import METRICS, System
from calc.uncertainty import TAIL, Sides
from catalogue.deployments.physics_inputs import NORMAL_90
from catalogue.entries.calibrations import Covered, Growth, LeftOut, Load, Metric, OwnError

DIGITS = 4
FREEDOM = 4  # degrees of freedom; with 2 or 8 left-out systems are predicted no better
HEAVY = float(stdtrit(FREEDOM, 1 - TAIL)) / NORMAL_90  # 90% point over that of a normal variable
FAR = 3.0  # deviations of the class above that an error counts as at most
TINY = 1e-6  # a deviation in place of none
STARTS = (0.05, 0.3)  # of the search for the size [1]


@dataclass(frozen=True)
class Residuals:
    """Errors of one system's rows in one quantity, under one load.

    Attributes:
        system: the scenario's identifier.
        of: its class, load first.
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
    def load(self) -> Load:
        """Under which its rows were measured."""
        return cast("Load", self.of.partition("/")[0])

    @property
    def scatter(self) -> float:
        """Deviation of its rows about what they share, as their median distance has it [1]."""
        apart = np.abs(self.error - np.median(self.error))
        return float(np.median(apart)) / NORMAL_MIDDLE


Weighted = list[tuple[Residuals, float]]  # systems with how much each counts; together 1


@dataclass(frozen=True)
class Pooled:
    """A class's estimate: deviations of a row to either side, of rows about their system [1]."""

    down: float
    up: float
    within: float


class ByQuantity(UserDict[str, Pooled]):
    """The estimates of a class by quantity, each made when it is read."""

    def __init__(self, metrics: Iterable[str], estimate: Callable[[str], Pooled]) -> None:
        super().__init__(dict.fromkeys(metrics))  # type: ignore[arg-type]
        self.estimate = estimate

    def __getitem__(self, metric: str) -> Pooled:
        if metric not in self.data:
            raise KeyError(metric)
        return self.estimate(metric)


def estimates(found: Iterable[Residuals], borrowed: float) -> dict[str, ByQuantity]:
    """The estimate of every class that has a system, by quantity.

    Args:
        found: what was measured.
        borrowed: how many systems the classes around a class count for in it.
    """
    found = list(found)
    metrics: dict[str, dict[str, None]] = {}
    for each in found:
        for step in ladder(each.of):
            metrics.setdefault(step, {})[each.metric] = None

    @functools.cache
    def estimate(name: str, metric: str) -> Pooled:
        of = estimated_from(name.split("/")[0], metric)
        above = ladder(name)[1:2]
        return estimated(chain(found, name, of, borrowed),
                         estimate(above[0], of) if above else None)

    return {name: ByQuantity(some, functools.partial(estimate, name))
            for name, some in metrics.items()}


def non_blind_systems(systems: Iterable[System]) -> list[System]:
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
    for system in non_blind_systems(systems):
        for metric in METRICS:
            for load, rows in by_load(system, metric):
                told = uncalibrated(system, metric, {}, rows)
                if not (np.isfinite(told.predicted).all() and (told.predicted > 0).all()):
                    raise ValueError(f"'{system.id}' has no prediction of {metric} for every row")
                found.append(Residuals(
                    system.id, under(load, class_of(system.scenario)), metric,
                    np.log(told.measured / np.sqrt(told.low * told.high)),
                    np.log(told.high / told.low) / (2 * NORMAL_90),
                    system.rows["concurrency"][rows] / system.scenario.devices))
    return found


def by_load(system: System, metric: str) -> Iterator[tuple[Load, np.ndarray]]:
    """The rows of a system that have a quantity, by load; indices, where there are any."""
    rows = system.measured(metric)
    loads = system.loads[rows]
    for load in LOADS:
        if (under_it := loads == load).any():
            yield load, rows[under_it]


def chain(found: Iterable[Residuals], name: str, metric: str, borrowed: float) -> Weighted:
    """What the estimate of a class rests on: its own systems, and those of classes around it.

    Of a class that has ``n`` systems each counts ``1 / (n + borrowed)``; the rest is that of the
    others of the class above it, shared out in the same way. Latency, which few systems state,
    borrows from the time per token of its own class first.

    Args:
        found: what was measured.
        name: of the class.
        metric: the quantity.
        borrowed: how many systems the classes around a class count for in it.
    """
    steps = [(metric, step) for step in ladder(name)]
    if metric in STAND_IN:
        steps[1:1] = [(STAND_IN[metric], step) for step in ladder(name)]
    left, groups = list(found), []
    for of, step in steps:
        some = [each for each in left if each.metric == of and step in ladder(each.of)]
        if some:
            groups.append(some)
            left = [each for each in left if all(each is not one for one in some)]
    weighted, rest = Weighted(), 1.0
    for place, some in enumerate(groups):
        last = place == len(groups) - 1
        share = rest if last else rest * len(some) / (len(some) + borrowed)
        weighted += [(each, share / len(some)) for each in some]
        rest -= share
    return weighted


def estimated(members: Weighted, above: Pooled | None = None) -> Pooled:
    """A class's deviations: the likeliest one, to both sides, and the median scatter of rows.

    Args:
        members: what it rests on, see :func:`chain`.
        above: the estimate of the class above; None of all systems.
    """
    error, explained = (np.concatenate([getattr(each, name) for each, _ in members])
                        for name in ("error", "explained"))
    weight = np.concatenate([np.full(len(each.error), share / len(each.error))
                             for each, share in members])

    if above is not None:
        error = np.clip(error, -FAR * np.hypot(above.down, explained),
                        FAR * np.hypot(above.up, explained))

    def missed(size: np.ndarray) -> float:
        both = np.hypot(size[0], explained) + TINY
        return unlikely(error, both, both, weight)

    best = min((minimize(missed, [start], method="Nelder-Mead") for start in STARTS),
               key=lambda made: float(made.fun))
    size = float(np.abs(best.x[0]))
    rows = [(each.scatter, share) for each, share in members if len(each.error) > 1]
    return Pooled(size, size, _median(*zip(*rows, strict=True)) if rows else 0.0)


def unlikely(error: np.ndarray, down: np.ndarray, up: np.ndarray, weight: np.ndarray) -> float:
    """Less the logarithm of how likely errors are, but for a constant [1].

    Args:
        error: each of a variable of Student, shape (n,).
        down, up: the normal deviations with its 10% and 90% points to either side, likewise [1].
        weight: how much each counts, likewise.
    """
    own = np.where(error < 0, down, up) / HEAVY
    tail = np.log1p(np.square(error / own) / FREEDOM) * (FREEDOM + 1) / 2
    return float((weight * (np.log(down + up) + tail)).sum())


def _median(values: Sequence[float], weights: Sequence[float]) -> float:
    """Median of values that count so much each; between two of them, in proportion."""
    order = np.argsort(values)
    weight = np.array(weights)[order]
    return float(np.interp(weight.sum() / 2, np.cumsum(weight) - weight / 2,
                           np.array(values)[order]))


def left_out(found: list[Residuals], borrowed: float) -> dict[str, dict[str, dict[str, Sides]]]:
    """What each system gets, by load and quantity, from all the others.

    Args:
        found: what was measured.
        borrowed: how many systems the classes around a class count for in it.
    """
    sides: dict[str, dict[str, dict[str, Sides]]] = {}
    for system, of in {each.system: each.of.partition("/")[2] for each in found}.items():
        others = estimates([each for each in found if each.system != system], borrowed)
        for load in LOADS:
            known = {metric: applied_error(others, under(load, of), metric) for metric in METRICS}
            sides.setdefault(system, {})[load] = {
                metric: (round(got[2][0], DIGITS), round(got[2][1], DIGITS))
                for metric, got in known.items() if got is not None}
    return sides


@dataclass(frozen=True)
class Written:
    """What is stored in ``params/discrepancies/``, see ``catalogue.entries.calibrations``.

    ``width`` is not: the median of high over low of a class's rows, by class and quantity [1].
    """

    classes: dict[str, dict[str, OwnError]]
    left_out: dict[str, LeftOut]
    growth: Mapping[Load, Mapping[str, Growth]]
    measured: Mapping[str, Covered]
    width: dict[tuple[str, str], float]


def estimate(systems: Iterable[System], borrowed: float,
             growth: Mapping[Load, Mapping[str, Growth]],
             measured: Mapping[str, Covered]) -> Written:
    """Estimates of all classes, and of each system's class without the system.

    Args:
        systems: what was measured.
        borrowed: how many systems the classes around a class count for in it.
        growth: of the error with distance, by load and quantity.
        measured: what each measured system covers.

    Raises ValueError as :func:`residuals` does.
    """
    by_id = {system.id: system for system in systems}
    found = residuals(by_id.values())
    without, whole = left_out(found, borrowed), estimates(found, borrowed)
    inside: dict[tuple[str, str], list[np.ndarray]] = {}
    ratios: dict[tuple[str, str], list[np.ndarray]] = {}
    for each in found:
        system = by_id[each.system]
        rows = dict(by_load(system, each.metric))[each.load]
        told = uncalibrated(system, each.metric, {each.metric: widened(
            without[each.system][each.load][each.metric],
            grown_without(growth_under(growth, each.load), each.metric, each.system),
            near(system.scenario, system.rows["concurrency"][rows], measured).distance)}, rows)
        for step in ladder(each.of):
            inside.setdefault((step, each.metric), []).append(
                (told.low <= told.measured) & (told.measured <= told.high))
            ratios.setdefault((step, each.metric), []).append(told.high / told.low)
    counts = {(step, metric): len({each.system for each in found
                                   if each.metric == metric and step in ladder(each.of)})
              for step, metric in inside}
    classes: dict[str, dict[str, OwnError]] = {}
    for name in sorted(whole, key=lambda name: (name != ALL, name)):
        for metric in (metric for metric in METRICS if metric in whole[name]):
            of, held = whole[name][metric], inside[name, metric]
            classes.setdefault(name, {})[metric] = OwnError(
                down=round(of.down, DIGITS), up=round(of.up, DIGITS),
                within=round(of.within, DIGITS), systems=counts[name, metric],
                rows=sum(map(len, held)), inside=sum(int(each.sum()) for each in held))
    of_system = {each.system: each.of.partition("/")[2] for each in found}
    return Written(
        classes,
        {name: LeftOut(of=of_system[name],
                       deviation=cast("dict[Load, dict[Metric, Sides]]", sizes))
         for name, sizes in without.items()},
        growth, measured,
        {key: float(np.median(np.concatenate(each))) for key, each in ratios.items()})
