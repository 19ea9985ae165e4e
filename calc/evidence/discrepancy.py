"""The formulas' own error by class, and how it grows with distance, from all measured systems.

log(measured / predicted) of a row is what the ranges of inputs explain, and an own error. That is a
variable of Student with heavy tails, so that a row far off means that there are such rows, and not
that all are. It counts as no farther than a few deviations of the class above, so that none moves
an estimate beyond a bound. Few systems of a class borrow from the many around it. Nothing is taken
off a prediction, which is the median of the error: a class whose systems are all slower has an
interval that reaches as far down as up.

Growth is fitted to rows of the same system, which share all but how many requests are in flight.
Of every two rows, the change of log(measured / predicted) from the one with fewer requests is a
variable of Student about zero, stretched differently to either side, whose variance is that of
equal rows and as much again for each doubling between them. That an error walks at random with the
logarithm of the load is an assumption; that it takes independent steps, not one direction,
predicted left-out systems better. Runs of many requests that are sent at once differ in lengths as
well, and determine no growth.

Sources: notebooks/validation.md, section Are the intervals honest?; Lange, Little and Taylor,
Robust statistical modeling using the t distribution (1989).
"""

from __future__ import annotations

import functools
from collections import UserDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import stdtrit

from calc.evidence.classes import (
    ALL,
    LOADS,
    NORMAL_MIDDLE,
    STAND_IN,
    applied_error,
    class_of,
    covered,
    estimated_from,
    grown_without,
    growth_under,
    ladder,
    near,
    under,
    widened,
)
from calc.evidence.systems import METRICS, System
from calc.evidence.validation import uncalibrated
from calc.uncertainty import TAIL, Sides
from catalogue.deployments.physics_inputs import NORMAL_90
from catalogue.entries.measurements import Covered, Growth, LeftOut, Load, Metric, OwnError

DIGITS = 4
FREEDOM = 4  # degrees of freedom; with 2 or 8 left-out systems are predicted no better
HEAVY = float(stdtrit(FREEDOM, 1 - TAIL)) / NORMAL_90  # 90% point over that of a normal variable
FAR = 3.0  # deviations of the class above that an error counts as at most
TINY = 1e-6  # a deviation in place of none
STARTS = (0.05, 0.3)  # of the search for the size [1]
GROWTH_START = (0.1, 0.1, 0.1)  # per doubling downwards, upwards, and of equal rows [1]
FEWEST = 3  # systems; a quantity with fewer takes the growth of its stand-in


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
        rows: indices of the rows, shape (rows,).
    """

    system: str
    of: str
    metric: str
    error: np.ndarray
    explained: np.ndarray
    requests: np.ndarray = field(default_factory=lambda: np.zeros(0))
    rows: np.ndarray = field(default_factory=lambda: np.zeros(0, int))


Weighted = list[tuple[Residuals, float]]  # systems with how much each counts; together 1


def load_under(residuals: Residuals) -> Load:
    """The load under which rows were measured."""
    return cast("Load", residuals.of.partition("/")[0])


def scatter(residuals: Residuals) -> float:
    """Deviation of a system's rows about what they share, as their median distance has it [1]."""
    apart = np.abs(residuals.error - np.median(residuals.error))
    return float(np.median(apart)) / NORMAL_MIDDLE


@dataclass(frozen=True)
class Pooled:
    """A class's estimate: deviations of a row to either side, of rows about their system [1]."""

    down: float
    up: float
    within: float


class ByQuantity(UserDict[str, Pooled]):
    """The estimates of a class by quantity, each computed when it is read."""

    def __init__(self, metrics: Iterable[str], estimate: Callable[[str], Pooled]) -> None:
        super().__init__(dict.fromkeys(metrics))  # type: ignore[arg-type]
        self.estimate = estimate

    def __getitem__(self, metric: str) -> Pooled:
        if metric not in self.data:
            raise KeyError(metric)
        return self.estimate(metric)


def residuals(systems: Iterable[System]) -> list[Residuals]:
    """Errors of every measured row of some systems, with nothing fitted.

    Rows of a source that was predicted blind are left out: they test what is estimated here.

    Raises ValueError, one sentence, if a prediction is no positive number.
    """
    result = []
    for system in non_blind_systems(systems):
        of_system = class_of(system.scenario)
        for metric in METRICS:
            measured = system.measured(metric)
            loads = system.loads[measured]
            for load in (load for load in LOADS if (loads == load).any()):
                rows = measured[loads == load]
                plain = uncalibrated(system, metric, {}, rows)
                if not (np.isfinite(plain.predicted).all() and (plain.predicted > 0).all()):
                    raise ValueError(f"'{system.id}' has no prediction of {metric} for every row")
                result.append(Residuals(
                    system.id, under(load, of_system), metric,
                    np.log(plain.measured / np.sqrt(plain.low * plain.high)),
                    np.log(plain.high / plain.low) / (2 * NORMAL_90),
                    system.rows["concurrency"][rows] / system.scenario.devices, rows))
    return result


def non_blind_systems(systems: Iterable[System]) -> list[System]:
    """The systems of sources of which nothing was predicted blind."""
    tables = [(system, system.scenario.measured) for system in systems]
    blind = {table.source for _, table in tables if table is not None and table.blind}
    return [system for system, table in tables if table is not None and table.source not in blind]


# --- deviations of a class ------------------------------------------------------------------------


def estimates(measured: Iterable[Residuals], borrowed: float) -> dict[str, ByQuantity]:
    """The estimate of every class that has a system, by quantity.

    Args:
        measured: errors of all systems.
        borrowed: how many systems the classes around a class count for in it.
    """
    measured = list(measured)
    metrics: dict[str, dict[str, None]] = {}
    for one in measured:
        for step in ladder(one.of):
            metrics.setdefault(step, {})[one.metric] = None

    @functools.cache
    def estimate(name: str, metric: str) -> Pooled:
        of = estimated_from(name.split("/")[0], metric)
        above = ladder(name)[1:2]
        return estimated(chain(measured, name, of, borrowed),
                         estimate(above[0], of) if above else None)

    return {name: ByQuantity(some, functools.partial(estimate, name))
            for name, some in metrics.items()}


def chain(measured: Iterable[Residuals], name: str, metric: str, borrowed: float) -> Weighted:
    """Weights of the systems that an estimate of a class rests on, its own and those around it.

    Of a class that has ``n`` systems each counts ``1 / (n + borrowed)``; the rest is that of the
    others of the class above it, shared out in the same way. Latency, which few systems state,
    borrows from the time per token of its own class first.

    Args:
        measured: errors of all systems.
        name: of the class.
        metric: the quantity.
        borrowed: how many systems the classes around a class count for in it.
    """
    steps = [(metric, step) for step in ladder(name)]
    if metric in STAND_IN:
        steps[1:1] = [(STAND_IN[metric], step) for step in ladder(name)]
    left, groups = list(measured), []
    for of, step in steps:
        some = [one for one in left if one.metric == of and step in ladder(one.of)]
        if some:
            groups.append(some)
            left = [one for one in left if all(one is not other for other in some)]
    weighted, rest = Weighted(), 1.0
    for number, some in enumerate(groups, 1):
        share = rest if number == len(groups) else rest * len(some) / (len(some) + borrowed)
        weighted += [(one, share / len(some)) for one in some]
        rest -= share
    return weighted


def estimated(members: Weighted, above: Pooled | None = None) -> Pooled:
    """A class's deviations: the likeliest one, to both sides, and the median scatter of rows.

    Args:
        members: systems that it rests on, see :func:`chain`.
        above: the estimate of the class above; None of all systems.
    """
    error, explained = (np.concatenate([getattr(one, name) for one, _ in members])
                        for name in ("error", "explained"))
    weight = np.concatenate([np.full(len(one.error), share / len(one.error))
                             for one, share in members])
    if above is not None:
        error = np.clip(error, -FAR * np.hypot(above.down, explained),
                        FAR * np.hypot(above.up, explained))

    def missed(size: np.ndarray) -> float:
        both = np.hypot(size[0], explained) + TINY
        return unlikely(error, both, both, weight)

    best = min((minimize(missed, [start], method="Nelder-Mead") for start in STARTS),
               key=lambda solution: float(solution.fun))
    size = float(np.abs(best.x[0]))
    scatters = [(scatter(one), share) for one, share in members if len(one.error) > 1]
    return Pooled(size, size, weighted_median(*zip(*scatters, strict=True)) if scatters else 0.0)


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


def weighted_median(values: Sequence[float], weights: Sequence[float]) -> float:
    """Weighted median; between two values, in proportion.

    Args:
        values: of any unit.
        weights: likewise [1].
    """
    order = np.argsort(values)
    weight = np.array(weights)[order]
    return float(np.interp(weight.sum() / 2, np.cumsum(weight) - weight / 2,
                           np.array(values)[order]))


def left_out(measured: list[Residuals], borrowed: float) -> dict[str, dict[str, dict[str, Sides]]]:
    """Deviations that each system gets, by load and quantity, from all the others.

    Args:
        measured: errors of all systems.
        borrowed: how many systems the classes around a class count for in it.
    """
    sides: dict[str, dict[str, dict[str, Sides]]] = {}
    for system, of in {one.system: one.of.partition("/")[2] for one in measured}.items():
        others = estimates([one for one in measured if one.system != system], borrowed)
        for load in LOADS:
            errors = {metric: applied_error(others, under(load, of), metric) for metric in METRICS}
            sides.setdefault(system, {})[load] = {
                metric: (round(error[2][0], DIGITS), round(error[2][1], DIGITS))
                for metric, error in errors.items() if error is not None}
    return sides


# --- growth with distance -------------------------------------------------------------------------


@dataclass(frozen=True)
class Pairs:
    """Pairs of rows of one system.

    Attributes:
        system: identifier.
        change: of log(measured / predicted) from the row with fewer requests, shape (pairs,).
        doublings: of the requests in flight, shape (pairs,).
    """

    system: str
    change: np.ndarray
    doublings: np.ndarray


def pairs(measured: Iterable[Residuals]) -> list[Pairs]:
    """Every two rows of a system that differ in the requests in flight.

    Args:
        measured: errors of one quantity.
    """
    result = []
    for one in measured:
        order = np.argsort(one.requests, kind="stable")
        load, error = np.log2(one.requests[order]), one.error[order]
        near, far = np.triu_indices(len(load), 1)
        apart = load[far] - load[near]
        if (apart > 0).any():
            result.append(Pairs(one.system, (error[far] - error[near])[apart > 0],
                                apart[apart > 0]))
    return result


def growth_per_doubling(measured: Sequence[Pairs]) -> tuple[Sides, float]:
    """Deviations per doubling to either side, and of equal rows: the likeliest ones [1].

    Every system counts once, however many rows it has.
    """
    change, apart = (np.concatenate([getattr(one, name) for one in measured])
                     for name in ("change", "doublings"))
    weight = np.concatenate([np.full(len(one.change), 1 / len(one.change)) for one in measured])

    def missed(sizes: np.ndarray) -> float:
        down, up = (np.sqrt(sizes[2]**2 + size**2 * apart) + TINY for size in sizes[:2])
        return unlikely(change, down, up, weight)

    down, up, level = np.abs(minimize(missed, GROWTH_START, method="Nelder-Mead").x)
    return (float(down), float(up)), float(level)


def growth(measured: Mapping[str, Sequence[Residuals]]) -> dict[str, Growth]:
    """The growth of each quantity that was measured with several numbers of requests.

    Its interval is checked on each system in turn, fitted to all the others.

    Args:
        measured: errors by quantity, under one load.
    """
    def inside(one: Pairs, sizes: tuple[Sides, float]) -> float:
        """Share of pairs in their 80% interval [1]."""
        sides, level = sizes
        down, up = (NORMAL_90 * np.hypot(level, size * np.sqrt(one.doublings)) for size in sides)
        return float(((-down <= one.change) & (one.change <= up)).mean())

    result = {}
    for metric, errors in measured.items():
        every = pairs(errors)
        if len(every) < FEWEST:
            continue
        (down, up), _ = growth_per_doubling(every)
        others = {one.system: growth_per_doubling([other for other in every if other is not one])
                  for one in every}
        result[metric] = Growth(
            down=round(down, DIGITS), up=round(up, DIGITS), systems=len(every),
            pairs=sum(len(one.change) for one in every),
            inside=round(float(np.mean([inside(one, others[one.system]) for one in every])),
                         DIGITS),
            without={name: (round(sides[0], DIGITS), round(sides[1], DIGITS))
                     for name, (sides, _) in others.items()})
    return result


# --- everything that is stored --------------------------------------------------------------------


@dataclass(frozen=True)
class Written:
    """Contents of ``params/discrepancies/``, see ``catalogue.entries.measurements``.

    ``width`` is not stored: the median of high over low of a class's rows, by class and quantity
    [1].
    """

    classes: dict[str, dict[str, OwnError]]
    left_out: dict[str, LeftOut]
    growth: Mapping[Load, Mapping[str, Growth]]
    measured: Mapping[str, Covered]
    width: dict[tuple[str, str], float]


def estimate(systems: Iterable[System], borrowed: float) -> Written:
    """Estimates of all classes, of each system's class without the system, and the growth.

    Args:
        systems: every measured one. Rows of sources that were predicted blind are near others, and
            nothing is fitted to them.
        borrowed: how many systems the classes around a class count for in it.

    Raises ValueError as :func:`residuals` does.
    """
    by_id = {system.id: system for system in systems}
    measured = residuals(by_id.values())
    coverage = {system.id: covered(system.scenario, class_of(system.scenario), (
        float(system.rows["concurrency"].min()), float(system.rows["concurrency"].max())))
        for system in by_id.values()}
    grown = {load: of_load for load in LOADS if (of_load := growth({
        metric: [one for one in measured if one.metric == metric and load_under(one) == load]
        for metric in METRICS if estimated_from(load, metric) == metric}))}
    without, own = left_out(measured, borrowed), estimates(measured, borrowed)
    counts = interval_counts(measured, by_id, without, grown, coverage)
    classes: dict[str, dict[str, OwnError]] = {}
    for name in sorted(own, key=lambda name: (name != ALL, name)):
        for metric in (metric for metric in METRICS if metric in own[name]):
            of, count = own[name][metric], counts.loc[name, metric]
            classes.setdefault(name, {})[metric] = OwnError(
                down=round(of.down, DIGITS), up=round(of.up, DIGITS),
                within=round(of.within, DIGITS), systems=int(count["systems"]),
                rows=int(count["rows"]), inside=int(count["inside"]))
    of_system = {one.system: one.of.partition("/")[2] for one in measured}
    return Written(
        classes,
        {name: LeftOut(of=of_system[name],
                       deviation=cast("dict[Load, dict[Metric, Sides]]", sizes))
         for name, sizes in without.items()},
        grown, coverage, counts["width"].to_dict())


def interval_counts(measured: Iterable[Residuals], systems: Mapping[str, System],
                    without: Mapping[str, Mapping[str, Mapping[str, Sides]]],
                    grown: Mapping[Load, Mapping[str, Growth]], coverage: Mapping[str, Covered]
                    ) -> pd.DataFrame:
    """Systems, rows, rows inside their intervals and median width, by class and quantity.

    Args:
        measured: errors of all systems.
        systems: by identifier.
        without: deviations that each system gets from the others.
        grown: the growth by load and quantity.
        coverage: what the rows of each system cover.
    """
    frames = []
    for one in measured:
        system, load, metric = systems[one.system], load_under(one), one.metric
        sides = widened(without[one.system][load][metric],
                        grown_without(growth_under(grown, load), metric, one.system),
                        near(system.scenario, system.rows["concurrency"][one.rows],
                             coverage).distance)
        predicted = uncalibrated(system, metric, {metric: sides}, one.rows)
        frame = pd.DataFrame({
            "metric": metric, "system": one.system, "width": predicted.high / predicted.low,
            "inside": (predicted.low <= predicted.measured)
            & (predicted.measured <= predicted.high)})
        frames += [frame.assign(name=step) for step in ladder(one.of)]
    return pd.concat(frames).groupby(["name", "metric"]).agg(
        systems=("system", "nunique"), rows=("inside", "size"), inside=("inside", "sum"),
        width=("width", "median"))
