"""Every prediction held against every measurement: the table that is printed, and its details."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from calc.evidence.classes import UNCALIBRATED, class_of, deviations, discrepancy, under
from calc.evidence.protocols import Predictions, held_out, uncalibrated
from calc.evidence.systems import METRICS, System, system
from catalogue import library, load_scenario
from catalogue.deployments import loading
from catalogue.entries.calibrations import CalibrationFile
from catalogue.reading import units


@dataclass(frozen=True)
class Result:
    """Errors of one system and metric under one protocol, on rows that were not fitted.

    Attributes:
        system: scenario's identifier.
        metric: quantity.
        protocol: how rows were held out.
        parameters: mechanisms that were fitted, by name.
        predictions: the rows themselves.
        inside: share of fits whose values all lie in their ranges [1]; None if nothing is fitted.
        left_out: numbers of rows (from 1) that were neither fitted nor predicted.
        blind: what was predicted of its rows before they were known; None if nothing was.
        of: class of the own error that each row's interval has, where nothing was fitted.
    """

    system: str
    metric: str
    protocol: str
    parameters: tuple[str, ...]
    predictions: Predictions
    inside: float | None = None
    left_out: tuple[int, ...] = ()
    blind: Predictions | None = None
    of: tuple[str, ...] = ()

    def as_json(self) -> dict[str, object]:
        """Plain data; errors are fractions."""
        numbers = _rounded(self.predictions)
        return {"system": self.system, "metric": self.metric, "protocol": self.protocol,
                "parameters": list(self.parameters), **numbers,
                "seeds": [self.predictions.seeds[0], self.predictions.seeds[-1]]
                if self.predictions.seeds else None, "inside": self.inside,
                "left_out": list(self.left_out),
                "blind": None if self.blind is None else _rounded(self.blind)}


def _rounded(predictions: Predictions) -> dict[str, float | int]:
    """The summary of predictions, to six digits."""
    return {name: round(value, 6) if isinstance(value, float) else value
            for name, value in predictions.summary().items()}


@functools.cache
def measured_system(name: str) -> System:
    """A measured system by its scenario's identifier, prepared once."""
    return system(load_scenario(name))


@functools.cache
def calibrated_system(name: str) -> System:
    """The system of a calibration, by the calibration's identifier, with the priors of that."""
    chosen: CalibrationFile = library.load("calibrations", name)
    return measured_system(chosen.scenario).with_priors(chosen.priors)


def measured_systems() -> list[System]:
    """Every measured system of the repository: what was measured of it bears its name.

    The other deployments are not read, so that a page about these does not depend on them.
    """
    return [measured_system(name) for name in measured_names()]


def measured_names() -> list[str]:
    """Identifiers of the measured systems."""
    return [name for name in library.names("measurements") if loading.describes(name)]


def uncalibrated_results(systems: Iterable[System],
                         metrics: Sequence[str] = METRICS) -> Iterator[Result]:
    """Systems and metrics predicted from micro-measurements alone; own errors from the others."""
    for case in systems:
        for metric in metrics:
            rows = case.measured(metric)
            if len(rows):
                yield Result(case.id, metric, UNCALIBRATED, (),
                             uncalibrated(case, metric, own_parts(case, rows), rows),
                             blind=blind(case, metric), of=classes_of(case, rows))


def classes_of(case: System, rows: np.ndarray) -> tuple[str, ...]:
    """The class of the own error of each row.

    Args:
        case: what was measured.
        rows: indices.
    """
    of = class_of(case.scenario)
    return tuple(under(load, of) for load in case.loads[rows].tolist())


def own_parts(case: System, rows: np.ndarray) -> dict[str, tuple[np.ndarray, ...]]:
    """The own error of each quantity of some rows, as an interval takes it, shape (rows,) each [1].

    Args:
        case: what was measured.
        rows: indices.
    """
    requests, loads = case.rows["concurrency"][rows], case.loads[rows]
    each = {load: deviations(case.scenario, requests, load) for load in set(loads.tolist())}
    return {name: tuple(np.select([loads == load for load in each], parts)
                        for parts in zip(*(of[name] for of in each.values()), strict=True))
            for name in next(iter(each.values()))}


def blind(case: System, metric: str) -> Predictions | None:
    """What was predicted of a system before it was known; None if nothing was.

    Args:
        case: what was measured.
        metric: the quantity.
    """
    kept = case.scenario.measured.blind if case.scenario.measured else None
    made = [one for one in kept.predictions if one.metric == metric] if kept else []
    if not made or case.scenario.measured is None:
        return None
    unit = units.factor(case.scenario.measured.columns[metric])
    rows = np.array([one.row - 1 for one in made])
    value, low, high = (unit * np.array([getattr(one, name) for one in made])
                        for name in ("value", "low", "high"))
    return Predictions(rows, case.rows[metric][rows], value, low, high)


def calibrated_results(systems: Collection[str] | None = None,
                       metrics: Collection[str] = METRICS) -> Iterator[Result]:
    """The calibrations of the repository under each of their protocols."""
    for chosen, protocol, case, rows in calibrations(systems, metrics):
        predictions = held_out(case, chosen.metric, protocol, chosen.mechanisms, rows,
                               discrepancy().extrapolation)
        inside = float(np.mean([fit.inside for fit in predictions.calibrations]))
        yield Result(case.id, chosen.metric, protocol, tuple(chosen.mechanisms), predictions,
                     inside, tuple(chosen.without))


def calibrations(systems: Collection[str] | None = None, metrics: Collection[str] = METRICS,
                 ) -> Iterator[tuple[CalibrationFile, str, System, np.ndarray]]:
    """The calibrations of the repository: each with its protocols in turn, its system and rows.

    Args:
        systems: only those fitted to one of these, by the scenario's identifier.
        metrics: only those of one of these.
    """
    for name in library.names("calibrations"):
        chosen: CalibrationFile = library.load("calibrations", name)
        if chosen.metric in metrics and (systems is None or chosen.scenario in systems):
            case = calibrated_system(name)
            for protocol in chosen.protocols:
                yield chosen, protocol, case, calibrated_rows(case, chosen)


def calibrated_rows(case: System, chosen: CalibrationFile) -> np.ndarray:
    """Indices of the rows that a calibration is about."""
    left_out = {number - 1 for number in chosen.without}
    return np.array([row for row in case.measured(chosen.metric) if row not in left_out], int)


def results(system: str | None = None, metric: str | None = None) -> list[Result]:
    """What is validated, in the order in which it is printed.

    Args:
        system: only this one, by its scenario's identifier.
        metric: only this one.
    """
    metrics = METRICS if metric is None else (metric,)
    chosen = measured_systems() if system is None else [measured_system(system)]
    return [*uncalibrated_results(chosen, metrics),
            *calibrated_results(None if system is None else {system}, metrics)]


def as_json(found: list[Result]) -> dict[str, object]:
    """``{"results": [...]}``, one entry per system, metric and protocol, with all measured rows.

    What was calibrated without suspect rows stands apart, under ``without_suspect_rows``.
    """
    return {"results": [case.as_json() for case in found if not case.left_out],
            "without_suspect_rows": [case.as_json() for case in found if case.left_out]}
