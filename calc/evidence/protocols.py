"""How an error is measured: which rows are fitted, which are predicted, and what is reported.

No error is quoted on rows that were fitted. Each protocol yields splits of the rows of one system
and metric; every held-out prediction of every split counts once.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from calc.evidence.fitting import Calibration, fit, neighbours, side_by_side, slopes
from calc.evidence.systems import VARIED, Asked, System
from calc.uncertainty import Parts, interval, interval_score, normal_interval, width
from catalogue.deployments.physics_inputs import Knob

HALVES = 200
FEW_REQUESTS, MORE_REQUESTS = 4, 6
SHORT_INPUT = 1024
Split = tuple[np.ndarray, np.ndarray]
Predict = Callable[[str, np.ndarray, Mapping[str, np.ndarray | float]], np.ndarray]
Found = TypeVar("Found")


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


def by_split(system: System, splits: Iterable[Split],
             work: Callable[[Split, Predict], Found]) -> list[Found]:
    """What a function finds of each split, with predictions that are made for many splits at once.

    Args:
        system: what was measured.
        splits: fitted and predicted rows.
        work: of a split and what stands in for ``system.predict``.
    """
    def one(split: Split) -> Callable[[Callable[[Asked], np.ndarray]], Found]:
        return lambda ask: work(split, lambda *asked: ask(asked))

    return side_by_side([one(split) for split in splits], system.predict_all)


def calibrate(system: System, metric: str, names: Sequence[str], rows: np.ndarray,
              predict: Predict | None = None) -> Calibration:
    """Fit mechanisms of a system to some of its rows.

    Args:
        system: what was measured.
        metric: the quantity.
        names: mechanisms, at most four.
        rows: indices.
        predict: what stands in for ``system.predict``.

    Protocols share splits, so a system remembers what was fitted to it.

    Raises ValueError for a mechanism that the system does not have, and as ``fitting.fit``.
    """
    key, rule = (metric, tuple(names), rows.tobytes()), predict or system.predict
    if key not in system.fits:
        chosen = [knob_of(system, name) for name in names]
        system.fits[key] = fit(lambda overrides: rule(metric, rows, overrides), chosen,
                               system.rows[metric][rows])
    return system.fits[key]


def knob_of(system: System, name: str) -> Knob:
    """A mechanism of a system; a name without a dtype is all of its dtypes together.

    Args:
        system: what was measured.
        name: of the mechanism.

    Raises ValueError if the system does not have it.
    """
    if name in system.knobs:
        return system.knobs[name]
    several = [knob for key, knob in system.knobs.items() if key.startswith(f"{name}.")]
    if not several:
        raise ValueError(f"'{system.id}' has no mechanism '{name}'")
    symbols = tuple(symbol for knob in several for symbol in knob.symbols)
    return Knob(name, several[0].value, symbols)


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


def predicted(predict: Predict, metric: str, calibration: Calibration, rows: np.ndarray,
              further: np.ndarray | float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Calibrated prediction of rows with its 80% interval.

    The interval has the covariance of what was fitted, the noise of the rows it was fitted to, and
    for rows beyond those a further deviation.

    Args:
        predict: that of a system.
        metric: the quantity.
        calibration: what was fitted.
        rows: indices.
        further: standard deviation of the logarithm that is added, by row [1].

    Returns predicted, low and high.
    """
    points = neighbours(calibration.knobs, calibration.z)
    logs = np.log(predict(metric, rows, points))
    moves = slopes(logs)
    variance = np.einsum("ir,ij,jr->r", moves, calibration.covariance, moves)
    centre = np.exp(logs[0])
    return centre, *normal_interval(centre, np.sqrt(
        variance + calibration.noise**2 + np.square(further)))


def held_out(system: System, metric: str, protocol: str, names: Sequence[str],
             rows: np.ndarray | None = None, extrapolation: float = 0.0,
             most: int | None = None) -> Predictions:
    """Predictions of rows that were not fitted, under a protocol.

    Args:
        system: what was measured.
        metric: the quantity.
        protocol: one of ``PROTOCOLS``.
        names: mechanisms that are fitted.
        rows: indices, all measured ones unless given.
        extrapolation: further deviation per factor e beyond the fitted rows [1].
        most: how many splits, the first ones; None for all [1].

    Raises ValueError if the protocol leaves nothing to fit or to predict.
    """
    rows = system.measured(metric) if rows is None else rows

    def held(split: Split, predict: Predict) -> tuple[Calibration, tuple[np.ndarray, ...]]:
        fitted, left_out = split
        calibration = calibrate(system, metric, names, fitted, predict)
        further = extrapolation * beyond(system, fitted, left_out)
        return calibration, predicted(predict, metric, calibration, left_out, further)

    splits = list(itertools.islice(PROTOCOLS[protocol](system, rows), most))
    if not splits:
        raise ValueError(f"'{protocol}' has no rows of '{system.id}' to predict")
    calibrations, found = zip(*by_split(system, splits, held), strict=True)
    row = np.concatenate([left_out for _, left_out in splits])
    centre, low, high = (np.concatenate(column) for column in zip(*found, strict=True))
    return Predictions(row, system.rows[metric][row], centre, low, high, calibrations,
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
    found = interval(system.at(rows), system.scenario.knobs(), system.scenario.model.attention,
                     [metric], own)[metric]
    if system.scheduled:  # the width of the closed form, around what the scheduler gives
        formed = system.predict(metric, rows, {"micro_batches": system.inputs["micro_batches"]})
        found = found.scaled(system.predict(metric, rows) / formed)
    return Predictions(rows, system.rows[metric][rows], found.value, found.low, found.high)
