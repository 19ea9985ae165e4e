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
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

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
from calc.yamltext import Flow, dump, rounded
from catalogue.deployments.physics_inputs import NORMAL_90
from catalogue.entries.calibrations import (
    Covered,
    Discrepancy,
    Growth,
    LeftOut,
    Load,
    Metric,
    OwnError,
)

DIGITS = 4
WRITTEN = re.compile(r"^classes:.*\Z", re.MULTILINE | re.DOTALL)  # estimates in their file
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

    @property
    def load(self) -> Load:
        """The load under which the rows were measured."""
        return cast("Load", self.of.partition("/")[0])


Weighted = list[tuple[Residuals, float]]  # systems with how much each counts; together 1


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


def residuals(systems: Iterable[System]) -> list[Residuals]:
    """Errors of every measured row of some systems, with nothing fitted.

    Rows of a source that was predicted blind are left out: they test what is estimated here.

    Raises ValueError, one sentence, if a prediction is no positive number.
    """
    result, tables = [], [(system, system.scenario.measured) for system in systems]
    blind = {table.source for _, table in tables if table and table.blind}
    for system in (system for system, table in tables if table and table.source not in blind):
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


# --- deviations of a class ------------------------------------------------------------------------


def estimates(measured: Iterable[Residuals], borrowed: float) -> dict[str, dict[str, Pooled]]:
    """The estimate of every class that has a system, by quantity.

    Args:
        measured: errors of all systems.
        borrowed: how many systems the classes around a class count for in it.
    """
    measured, result = list(measured), dict[str, dict[str, Pooled]]()

    @functools.cache
    def estimate(name: str, metric: str) -> Pooled:
        of = estimated_from(name.split("/")[0], metric)
        above = ladder(name)[1:2]
        return estimated(chain(measured, name, of, borrowed),
                         estimate(above[0], of) if above else None)

    for one in measured:
        for step in ladder(one.of):
            result.setdefault(step, {})[one.metric] = estimate(step, one.metric)
    return result


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
    groups: dict[int, list[Residuals]] = {}
    for one in measured:
        around = ladder(one.of)
        if (step := next((number for number, (of, step) in enumerate(steps)
                          if one.metric == of and step in around), None)) is not None:
            groups.setdefault(step, []).append(one)
    weighted, rest = Weighted(), 1.0
    for step in sorted(groups):
        count = len(groups[step])
        share = rest if step == max(groups) else rest * count / (count + borrowed)
        weighted += [(one, share / count) for one in groups[step]]
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


def pairs(measured: Iterable[Residuals]) -> pd.DataFrame:
    """Every two rows of a system that differ in the requests in flight.

    Args:
        measured: errors of one quantity.

    Returns a row per pair: the ``system``, ``change`` of log(measured / predicted) from the row
    with fewer requests, and ``doublings`` of the requests in flight.
    """
    frames = [pd.DataFrame({"system": [], "change": [], "doublings": []})]
    for one in measured:
        order = np.argsort(one.requests, kind="stable")
        load, error = np.log2(one.requests[order]), one.error[order]
        near, far = np.triu_indices(len(load), 1)
        frames.append(pd.DataFrame({"system": one.system, "change": error[far] - error[near],
                                    "doublings": load[far] - load[near]}))
    return pd.concat(frames).query("doublings > 0").astype({"change": float})


def growth_per_doubling(measured: pd.DataFrame) -> tuple[Sides, float]:
    """Deviations per doubling to either side, and of equal rows: the likeliest ones [1].

    Every system counts once, however many pairs of rows it has.
    """
    change, apart = measured["change"].to_numpy(), measured["doublings"].to_numpy()
    weight = 1 / measured.groupby("system")["change"].transform("size").to_numpy()

    def missed(sizes: np.ndarray) -> float:
        down, up = (np.sqrt(sizes[2]**2 + size**2 * apart) + TINY for size in sizes[:2])
        return unlikely(change, down, up, weight)

    down, up, level = np.abs(minimize(missed, GROWTH_START, method="Nelder-Mead").x)
    return (float(down), float(up)), float(level)


def growth(measured: Iterable[Residuals]) -> Growth | None:
    """The growth of a quantity; None of one that few systems were measured of under several loads.

    Its interval is checked on each system in turn, fitted to all the others.

    Args:
        measured: errors of one quantity, under one load.
    """
    every = pairs(measured)
    if every["system"].nunique() < FEWEST:
        return None
    (down, up), _ = growth_per_doubling(every)
    without, inside = {}, []
    for name, own in every.groupby("system", sort=False):
        sides, level = growth_per_doubling(every[every["system"] != name])
        without[str(name)] = (round(sides[0], DIGITS), round(sides[1], DIGITS))
        least, most = (NORMAL_90 * np.hypot(level, size * np.sqrt(own["doublings"]))
                       for size in sides)
        inside.append(own["change"].between(-least, most).mean())
    return Growth(down=round(down, DIGITS), up=round(up, DIGITS), systems=len(without),
                  pairs=len(every), inside=round(float(np.mean(inside)), DIGITS), without=without)


# --- everything that is stored --------------------------------------------------------------------


def estimate(systems: Iterable[System], stored: Discrepancy
             ) -> tuple[Discrepancy, dict[tuple[str, str], float]]:
    """Estimates of all classes, of each system's class without the system, and the growth.

    Args:
        systems: every measured one. Rows of sources that were predicted blind are near others, and
            nothing is fitted to them.
        stored: the entry of ``params/discrepancies`` whose estimates are replaced.

    Returns the entry, and the median of high over low of a class's rows, by class and quantity [1].

    Raises ValueError as :func:`residuals` does.
    """
    by_id = {system.id: system for system in systems}
    measured = residuals(by_id.values())
    coverage = {system.id: covered(system.scenario, class_of(system.scenario), (
        float(system.rows["concurrency"].min()), float(system.rows["concurrency"].max())))
        for system in by_id.values()}
    grown: dict[Load, dict[str, Growth]] = {}
    for load in LOADS:
        for metric in METRICS:
            if estimated_from(load, metric) == metric and (of_load := growth(
                    one for one in measured if (one.metric, one.load) == (metric, load))):
                grown.setdefault(load, {})[metric] = of_load
    without, own = left_out(measured, stored.borrowed), estimates(measured, stored.borrowed)
    counts = interval_counts(measured, by_id, without, grown, coverage)
    classes: dict[str, dict[str, OwnError]] = {}
    for name in sorted(own, key=lambda name: (name != ALL, name)):
        for metric in (metric for metric in METRICS if metric in own[name]):
            of, count = own[name][metric], counts.loc[name, metric]
            classes.setdefault(name, {})[metric] = OwnError(
                down=round(of.down, DIGITS), up=round(of.up, DIGITS),
                within=round(of.within, DIGITS), systems=int(count["systems"]),
                rows=int(count["rows"]), inside=int(count["inside"]))
    return stored.model_copy(update={
        "classes": classes, "growth": grown, "measured": coverage, "left_out": {
            name: LeftOut(of=class_of(by_id[name].scenario),
                          deviation=cast("dict[Load, dict[Metric, Sides]]", sizes))
            for name, sizes in without.items()}}), counts["width"].to_dict()


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
        system, load, metric = systems[one.system], one.load, one.metric
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


def as_json(estimates: Discrepancy) -> dict[str, Any]:
    """The estimates as plain data, as their file stores them."""
    data: dict[str, Any] = estimates.model_dump(
        mode="json", include={"classes", "left_out", "growth", "measured"})
    return data


def with_estimates(text: str, estimates: Discrepancy) -> str:
    """The file with what was estimated at its end; all before it as it stands.

    >>> from catalogue.entries.calibrations import LeftOut, OwnError
    >>> own = OwnError(down=0.1, up=0.3, within=0.1, systems=2, rows=9, inside=7)
    >>> made = Discrepancy.model_construct(id="x", classes={"all": {"tpot": own}}, left_out={
    ...     "mine": LeftOut(of="all", deviation={"queued": {"tpot": (0.2, 0.4)}})},
    ...     growth={}, measured={})
    >>> print(with_estimates("borrowed: 2  # kept\\n", made), end="")
    borrowed: 2  # kept
    classes:
      all:
        tpot: {down: 0.1, up: 0.3, within: 0.1, systems: 2, rows: 9, inside: 7}
    left_out:
      mine: {of: all, deviation: {queued: {tpot: [0.2, 0.4]}}}
    growth: {}
    measured: {}

    Args:
        text: of the file.
        estimates: of all classes.
    """
    data = as_json(estimates)
    for part in ("left_out", "measured"):
        data[part] = {name: Flow(fields) for name, fields in data[part].items()}
    rest = WRITTEN.sub("", text)
    return rest + "\n" * (not rest.endswith("\n")) + dump(rounded(data, DIGITS))
