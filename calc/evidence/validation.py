"""Validation: how an error is measured, and every prediction beside every measurement.

No error is quoted on rows that were fitted. Each protocol yields splits of the rows of one system
and metric: which are fitted, which are predicted. Every held-out prediction of every split counts
once. Baselines of the same predictions are in ``calc.evidence.baselines``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np

from calc.evidence.calibration import Calibration, fit, knob_of, neighbours, slopes
from calc.evidence.classes import UNCALIBRATED, class_of, deviations, discrepancy, under
from calc.evidence.systems import (
    METRICS,
    VARIED,
    System,
    calibrated_system,
    measured_system,
    measured_systems,
)
from calc.uncertainty import Parts, interval, interval_score, normal_interval, width
from catalogue import library
from catalogue.entries.calibrations import CalibrationFile, Protocol
from catalogue.reading import units

HALVES = 200
FEW_REQUESTS, MORE_REQUESTS = 4, 6
SHORT_INPUT = 1024
PROTOCOLS: tuple[str, ...] = get_args(Protocol)
RANDOM = ("halves", "single-request")  # protocols whose splits are drawn
# what was fitted to the first rows, and the value, low and high ends that it predicts of the others
Predict = Callable[[np.ndarray, np.ndarray], tuple[Any, np.ndarray, np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Predictions:
    """Held-out predictions of one protocol; arrays of one length.

    Attributes:
        row: index of the row.
        measured, predicted, low, high: values in SI units.
        calibrations: what was fitted, one per split.
    """

    row: np.ndarray
    measured: np.ndarray
    predicted: np.ndarray
    low: np.ndarray
    high: np.ndarray
    calibrations: tuple[Any, ...] = ()

    @property
    def errors(self) -> np.ndarray:
        """Signed relative errors [1]."""
        return self.predicted / self.measured - 1

    @property
    def bias(self) -> float:
        """Geometric mean of predicted over measured [1]."""
        return float(np.exp(np.log(self.predicted / self.measured).mean()))

    def summary(self) -> dict[str, float | int]:
        """Rows, errors as fractions, bias, coverage and width of 80% intervals, interval score."""
        size = np.abs(self.errors)
        inside = (self.low <= self.measured) & (self.measured <= self.high)
        return {
            "rows": len(set(self.row.tolist())), "mean": float(size.mean()),
            "median": float(np.median(size)), "bias": self.bias, "worst": float(size.max()),
            "coverage": float(inside.mean()), "width": width(self.low, self.high),
            "interval_score": interval_score(self.low, self.high, self.measured)}

    @property
    def worst_row(self) -> int:
        """Index of the row with the largest error."""
        return int(self.row[int(np.abs(self.errors).argmax())])


def splits(system: System, rows: np.ndarray, protocol: str
           ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Which rows are fitted and which are predicted, split by split.

    ``halves`` draws a random half of the rows for each of the seeds 0 … 199; ``single-request``
    predicts those rows of the other half that have a single request. ``low-concurrency`` fits rows
    of up to 4 requests and predicts those of 6 and more, ``short-inputs`` fits prompts of up to
    1,024 tokens and predicts longer ones. ``leave-one-out`` predicts each row in turn from all
    others, ``leave-one-length-out`` the rows of each input length.

    Args:
        system: measured.
        rows: indices.
        protocol: one of ``PROTOCOLS``.
    """
    requests, lengths = (system.rows[name][rows] for name in ("concurrency", "input_tokens"))
    if protocol in RANDOM:
        for seed in range(HALVES):
            order = np.random.default_rng(seed).permutation(rows)
            fitted, left_out = np.sort(order[:len(rows) // 2]), np.sort(order[len(rows) // 2:])
            if protocol == "single-request":
                left_out = left_out[system.rows["concurrency"][left_out] == 1]
            if len(left_out):
                yield fitted, left_out
    elif protocol == "low-concurrency":
        yield rows[requests <= FEW_REQUESTS], rows[requests >= MORE_REQUESTS]
    elif protocol == "short-inputs":
        yield rows[lengths <= SHORT_INPUT], rows[lengths > SHORT_INPUT]
    else:
        groups = rows if protocol == "leave-one-out" else lengths
        yield from ((rows[groups != group], rows[groups == group]) for group in np.unique(groups))


def held_out(system: System, metric: str, protocol: str, predict: Predict,
             rows: np.ndarray | None = None) -> Predictions:
    """Predictions of rows that were not fitted, under a protocol.

    Args:
        system: measured.
        metric: the quantity.
        protocol: one of ``PROTOCOLS``.
        predict: fits rows and predicts others.
        rows: indices, all measured ones unless given.

    Raises ValueError if the protocol leaves nothing to fit or to predict.
    """
    rows = system.measured(metric) if rows is None else rows
    chosen = list(splits(system, rows, protocol))
    if not chosen:
        raise ValueError(f"'{protocol}' has no rows of '{system.id}' to predict")
    fits, *ends = zip(*(predict(*split) for split in chosen), strict=True)
    row = np.concatenate([left_out for _, left_out in chosen])
    centre, low, high = map(np.concatenate, ends)
    return Predictions(row, system.rows[metric][row], centre, low, high, fits)


@functools.cache
def calibrate(system: System, metric: str, names: tuple[str, ...], rows: tuple[int, ...]
              ) -> Calibration:
    """Fit mechanisms of a system to some of its rows, once: protocols share splits.

    Args:
        system: measured.
        metric: the quantity.
        names: mechanisms, at most four.
        rows: indices.

    Raises ValueError for a mechanism that the system does not have, and as ``calibration.fit``.
    """
    chosen = np.array(rows, int)
    return fit(lambda overrides: system.predict(metric, chosen, overrides),
               [knob_of(system.id, system.knobs, name) for name in names],
               system.rows[metric][chosen])


def calibrated(system: System, metric: str, names: Sequence[str], extrapolation: float,
               fitted: np.ndarray, rows: np.ndarray
               ) -> tuple[Calibration, np.ndarray, np.ndarray, np.ndarray]:
    """Calibrated prediction of rows with its 80% interval.

    The interval has the covariance of the fit, the noise of the rows it was fitted to, and for rows
    beyond those a further deviation.

    Args:
        system: measured.
        metric: the quantity.
        names: mechanisms that are fitted.
        extrapolation: further deviation per factor e beyond the fitted rows, over all axes [1].
        fitted, rows: indices of the rows that are fitted and of those that are predicted.

    Returns what was fitted, and predicted, low and high.
    """
    fit = calibrate(system, metric, tuple(names), tuple(fitted.tolist()))
    logs = np.log(system.predict(metric, rows, neighbours(fit.knobs, fit.z)))
    moves = slopes(logs)
    columns = [np.log(np.maximum(system.rows[name], 1)) for name in VARIED]
    beyond = sum(np.abs(column[rows] - np.clip(
        column[rows], column[fitted].min(), column[fitted].max())) for column in columns)
    variance = np.einsum("ir,ij,jr->r", moves, fit.covariance, moves)
    centre = np.exp(logs[0])
    return fit, centre, *normal_interval(centre, np.sqrt(
        variance + fit.noise**2 + np.square(extrapolation * beyond)))


def uncalibrated(system: System, metric: str, own: Mapping[str, Parts],
                 rows: np.ndarray | None = None) -> Predictions:
    """Predictions from micro-measurements and ranges alone; nothing of the system is fitted.

    Args:
        system: what was measured.
        metric: the quantity.
        own: the formulas' own error, by quantity.
        rows: indices, all measured ones unless given.
    """
    rows = system.measured(metric) if rows is None else rows
    amount = interval(system.at(rows), system.scenario.knobs(), system.scenario.model.attention,
                      [metric], own)[metric]
    if system.scheduled:  # the width of the closed form, around the value of the scheduler
        closed = system.predict(metric, rows, {"micro_batches": system.inputs["micro_batches"]})
        amount = amount.scaled(system.predict(metric, rows) / closed)
    return Predictions(rows, system.rows[metric][rows], amount.value, amount.low, amount.high)


@dataclass(frozen=True)
class Result:
    """Errors of one system and metric under one protocol, on rows that were not fitted.

    Attributes:
        system: scenario's identifier.
        metric: quantity.
        protocol: how rows were held out.
        parameters: what was fitted, by name.
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


def own_parts(case: System, rows: np.ndarray) -> dict[str, tuple[np.ndarray, ...]]:
    """The own error of each quantity of some rows, as an interval takes it, shape (rows,) each [1].

    Args:
        case: what was measured.
        rows: indices.
    """
    requests, loads = case.rows["concurrency"][rows], case.loads[rows]
    by_load = {load: deviations(case.scenario, requests, load) for load in set(loads.tolist())}
    return {name: tuple(np.select([loads == load for load in by_load], sides)
                        for sides in zip(*(of[name] for of in by_load.values()), strict=True))
            for name in next(iter(by_load.values()))}


def blind(case: System, metric: str) -> Predictions | None:
    """What was predicted of a system before it was known; None if nothing was.

    Args:
        case: what was measured.
        metric: the quantity.
    """
    measured = case.scenario.measured
    if measured is None or measured.blind is None:
        return None
    stated = [one for one in measured.blind.predictions if one.metric == metric]
    if not stated:
        return None
    rows = np.array([one.row - 1 for one in stated])
    ends = np.array([(one.value, one.low, one.high) for one in stated]).T
    return Predictions(rows, case.rows[metric][rows],
                       *(units.factor(measured.columns[metric]) * ends))


def calibrations(system: str | None = None, metric: str | None = None
                 ) -> Iterator[tuple[CalibrationFile, str, System, np.ndarray]]:
    """The calibrations of the repository: each with its protocols in turn, its system and rows.

    Args:
        system: only those fitted to this one, by the scenario's identifier.
        metric: only those of this one.
    """
    for name in library.names("calibrations"):
        chosen: CalibrationFile = library.load("calibrations", name)
        if metric in (None, chosen.metric) and system in (None, chosen.scenario):
            case = calibrated_system(name)
            for protocol in chosen.protocols:
                yield chosen, protocol, case, calibrated_rows(case, chosen)


def calibrated_rows(case: System, chosen: CalibrationFile) -> np.ndarray:
    """Indices of the rows that a calibration is about."""
    return np.setdiff1d(case.measured(chosen.metric), np.array(chosen.without, int) - 1)


def results(system: str | None = None, metric: str | None = None) -> list[Result]:
    """Every system and metric with nothing fitted, then the calibrations under their protocols.

    Args:
        system: only this one, by its scenario's identifier.
        metric: only this one.
    """
    validated = []
    for case in measured_systems() if system is None else [measured_system(system)]:
        for one in METRICS if metric is None else (metric,):
            if len(rows := case.measured(one)):
                of = class_of(case.scenario)
                validated.append(Result(
                    case.id, one, UNCALIBRATED, (),
                    uncalibrated(case, one, own_parts(case, rows), rows), blind=blind(case, one),
                    of=tuple(under(load, of) for load in case.loads[rows].tolist())))
    for chosen, protocol, case, rows in calibrations(system, metric):
        predictions = held_out(case, chosen.metric, protocol, functools.partial(
            calibrated, case, chosen.metric, chosen.mechanisms, discrepancy().extrapolation), rows)
        inside = float(np.mean([fit.inside for fit in predictions.calibrations]))
        validated.append(Result(case.id, chosen.metric, protocol, tuple(chosen.mechanisms),
                                predictions, inside, tuple(chosen.without)))
    return validated


def as_json(results: Sequence[Result]) -> dict[str, list[dict[str, Any]]]:
    """``{"results": [...]}``, one entry per system, metric and protocol, with all measured rows.

    Calibrations without suspect rows are listed under ``without_suspect_rows``.
    """
    def rounded(predictions: Predictions) -> dict[str, float | int]:
        return {name: round(value, 6) for name, value in predictions.summary().items()}

    data = [{"system": result.system, "metric": result.metric, "protocol": result.protocol,
             "parameters": list(result.parameters), **rounded(result.predictions),
             "seeds": [0, HALVES - 1] if result.protocol in RANDOM else None,
             "inside": result.inside, "left_out": list(result.left_out),
             "blind": None if result.blind is None else rounded(result.blind)}
            for result in results]
    return {"results": [row for row in data if not row["left_out"]],
            "without_suspect_rows": [row for row in data if row["left_out"]]}
