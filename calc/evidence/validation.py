"""Validation: how an error is measured, and every prediction beside every measurement.

No error is quoted on rows that were fitted. Each protocol yields splits of the rows of one system
and metric: which are fitted, which are predicted. Every held-out prediction of every split counts
once. Baselines of the same predictions are in ``calc.evidence.baselines``.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from calc.evidence.calibration import Calibration, fit, knob_of, neighbours, slopes
from calc.evidence.classes import UNCALIBRATED, class_of, deviations, discrepancy, under
from calc.evidence.systems import METRICS, VARIED, System, measured_system, measured_systems
from calc.uncertainty import Parts, interval, interval_score, normal_interval, width
from catalogue import library
from catalogue.entries.measurements import CalibrationFile
from catalogue.reading import units

HALVES = 200
FEW_REQUESTS, MORE_REQUESTS = 4, 6
SHORT_INPUT = 1024
Split = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Predictions:
    """Held-out predictions of one protocol; arrays of one length.

    Attributes:
        row: index of the row.
        measured, predicted, low, high: values in SI units.
        calibrations: what was fitted, one per split.
        seeds: of the random splits.
    """

    row: np.ndarray
    measured: np.ndarray
    predicted: np.ndarray
    low: np.ndarray
    high: np.ndarray
    calibrations: tuple[Calibration, ...] = ()
    seeds: tuple[int, ...] = field(default=())

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


def halves(system: System, rows: np.ndarray) -> Iterator[Split]:
    """Random halves, one per seed 0 … 199: the first half is fitted, the second predicted."""
    for seed in range(HALVES):
        order = np.random.default_rng(seed).permutation(rows)
        cut = len(rows) // 2
        yield np.sort(order[:cut]), np.sort(order[cut:])


def low_concurrency(system: System, rows: np.ndarray) -> Iterator[Split]:
    """Fitted at up to 4 requests, predicted at 6 and more."""
    requests = system.rows["concurrency"][rows]
    yield rows[requests <= FEW_REQUESTS], rows[requests >= MORE_REQUESTS]


def short_inputs(system: System, rows: np.ndarray) -> Iterator[Split]:
    """Fitted on prompts of up to 1,024 tokens, predicted on longer ones."""
    lengths = system.rows["input_tokens"][rows]
    yield rows[lengths <= SHORT_INPUT], rows[lengths > SHORT_INPUT]


def single_request(system: System, rows: np.ndarray) -> Iterator[Split]:
    """Random halves of all rows; of the predicted half, the rows of a single request."""
    for fitted, left_out in halves(system, rows):
        alone = left_out[system.rows["concurrency"][left_out] == 1]
        if len(alone):
            yield fitted, alone


def leave_one_out(system: System, rows: np.ndarray) -> Iterator[Split]:
    """Each row in turn is predicted from all others."""
    for row in rows:
        yield rows[rows != row], np.array([row])


def leave_one_length_out(system: System, rows: np.ndarray) -> Iterator[Split]:
    """Each input length in turn is predicted from the rows of all others."""
    lengths = system.rows["input_tokens"][rows]
    for length in np.unique(lengths):
        yield rows[lengths != length], rows[lengths == length]


PROTOCOLS: dict[str, Callable[[System, np.ndarray], Iterator[Split]]] = {
    "halves": halves, "low-concurrency": low_concurrency, "short-inputs": short_inputs,
    "single-request": single_request, "leave-one-out": leave_one_out,
    "leave-one-length-out": leave_one_length_out,
}
DRAWN = ("halves", "single-request")  # protocols whose splits are random


def seeds_of(protocol: str) -> tuple[int, ...]:
    """Seeds of a protocol's splits; none where they are not drawn."""
    return tuple(range(HALVES)) if protocol in DRAWN else ()


def calibrate(system: System, metric: str, names: Sequence[str], rows: np.ndarray) -> Calibration:
    """Fit mechanisms of a system to some of its rows, once.

    Args:
        system: measured.
        metric: the quantity.
        names: mechanisms, at most four.
        rows: indices.

    Raises ValueError for a mechanism that the system does not have, and as ``calibration.fit``.
    """
    key = (metric, tuple(names), rows.tobytes())
    if key not in system.fits:
        system.fits[key] = fit(lambda overrides: system.predict(metric, rows, overrides),
                               [knob_of(system.id, system.knobs, name) for name in names],
                               system.rows[metric][rows])
    return system.fits[key]


def beyond(system: System, fitted: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """How far rows lie beyond the fitted ones: logarithm of the factor, over all axes [1].

    Args:
        system: what was measured.
        fitted, rows: indices.
    """
    far = np.zeros(len(rows))
    for name in VARIED:
        column = np.log(np.maximum(system.rows[name], 1))
        low, high = column[fitted].min(), column[fitted].max()
        far += np.maximum(column[rows] - high, 0) + np.maximum(low - column[rows], 0)
    return far


def calibrated(system: System, metric: str, fitted: Calibration, rows: np.ndarray,
               further: np.ndarray | float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Calibrated prediction of rows with its 80% interval.

    The interval has the covariance of the fit, the noise of the rows it was fitted to, and for rows
    beyond those a further deviation.

    Args:
        system: measured.
        metric: the quantity.
        fitted: the calibration.
        rows: indices.
        further: standard deviation of the logarithm that is added, by row [1].

    Returns predicted, low and high.
    """
    logs = np.log(system.predict(metric, rows, neighbours(fitted.knobs, fitted.z)))
    moves = slopes(logs)
    variance = np.einsum("ir,ij,jr->r", moves, fitted.covariance, moves)
    centre = np.exp(logs[0])
    return centre, *normal_interval(centre, np.sqrt(
        variance + fitted.noise**2 + np.square(further)))


def held_out(system: System, metric: str, protocol: str, names: Sequence[str],
             rows: np.ndarray | None = None, extrapolation: float = 0.0,
             most: int | None = None) -> Predictions:
    """Predictions of rows that were not fitted, under a protocol.

    Args:
        system: measured.
        metric: the quantity.
        protocol: one of ``PROTOCOLS``.
        names: mechanisms that are fitted.
        rows: indices, all measured ones unless given.
        extrapolation: further deviation per factor e beyond the fitted rows [1].
        most: how many splits, the first ones; None for all [1].

    Raises ValueError if the protocol leaves nothing to fit or to predict.
    """
    rows = system.measured(metric) if rows is None else rows
    splits = list(itertools.islice(PROTOCOLS[protocol](system, rows), most))
    if not splits:
        raise ValueError(f"'{protocol}' has no rows of '{system.id}' to predict")
    fits = [calibrate(system, metric, names, fitted) for fitted, _ in splits]
    parts = [calibrated(system, metric, one, left_out,
                        extrapolation * beyond(system, fitted, left_out))
             for one, (fitted, left_out) in zip(fits, splits, strict=True)]
    row = np.concatenate([left_out for _, left_out in splits])
    centre, low, high = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Predictions(row, system.rows[metric][row], centre, low, high, tuple(fits),
                       seeds_of(protocol)[:most])


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


@functools.cache
def calibrated_system(name: str) -> System:
    """The system of a calibration, by the calibration's identifier, with the priors of that."""
    chosen: CalibrationFile = library.load("calibrations", name)
    return measured_system(chosen.scenario).with_priors(chosen.priors)


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
    stated = [one for one in measured.blind.predictions if one.metric == metric] if (
        measured and measured.blind) else []
    if measured is None or not stated:
        return None
    unit = units.factor(measured.columns[metric])
    rows = np.array([one.row - 1 for one in stated])
    value, low, high = (unit * np.array([getattr(one, name) for one in stated])
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


def as_json(results: Iterable[Result]) -> dict[str, object]:
    """``{"results": [...]}``, one entry per system, metric and protocol, with all measured rows.

    Calibrations without suspect rows are listed under ``without_suspect_rows``.
    """
    def plain(result: Result) -> dict[str, object]:
        seeds = result.predictions.seeds
        return {"system": result.system, "metric": result.metric, "protocol": result.protocol,
                "parameters": list(result.parameters), **rounded(result.predictions),
                "seeds": [seeds[0], seeds[-1]] if seeds else None, "inside": result.inside,
                "left_out": list(result.left_out),
                "blind": None if result.blind is None else rounded(result.blind)}

    def rounded(predictions: Predictions) -> dict[str, float | int]:
        return {name: round(value, 6) for name, value in predictions.summary().items()}

    results = list(results)
    return {"results": [plain(result) for result in results if not result.left_out],
            "without_suspect_rows": [plain(result) for result in results if result.left_out]}
