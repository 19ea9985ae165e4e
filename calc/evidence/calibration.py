"""Calibration: a few mechanisms fitted to measured rows, and applied to other deployments.

The fit is the maximum a posteriori, with ranges as priors. Each mechanism is a coordinate z of unit
variance under its prior: 0 at its value, which is the prior's median, and ±1.28 at the ends of its
range, which holds 80%. Residuals are logarithms of predicted over measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from calc.evidence.classes import discrepancy
from calc.evidence.systems import VARIED, calibrated_system
from calc.serving.evaluate import evaluate
from calc.uncertainty import Amount
from catalogue import ParamsError, Scenario, library
from catalogue.deployments.physics_inputs import DEGREES, NORMAL_90, Knob
from catalogue.entries.calibrations import MOST, CalibrationFile
from catalogue.reading.near import nearest_names

STEP = 1e-4  # of z, for derivatives
LEAST_NOISE = 0.01  # documents print three digits; measurements scatter more
FIRST_NOISE = 0.05
NORMAL_MEDIAN = 1.4826  # standard deviation of a normal variable over its median distance
FIXED = (*DEGREES, "total_parameters")  # of which a calibration has seen one value each
PARTS = ("ttft", "tpot")  # of end-to-end latency
MOVED = 1e-3  # relative: a fitted value that its coordinate no longer gives

Predict = Callable[[Mapping[str, np.ndarray]], np.ndarray]


@dataclass(frozen=True)
class Calibration:
    """Mechanisms fitted to rows.

    Attributes:
        knobs: the mechanisms.
        z: their coordinates, shape (parameters,).
        covariance: of the coordinates, shape (parameters, parameters).
        noise: standard deviation of the residuals [1], logarithmic.
        values: of the mechanisms, by name.
        inputs: the same, by input symbol.
        inside: whether every value lies in its range.
    """

    knobs: tuple[Knob, ...]
    z: np.ndarray
    covariance: np.ndarray
    noise: float
    values: dict[str, float]
    inputs: dict[str, float]
    inside: bool


def calibration(knobs: Sequence[Knob], z: np.ndarray, covariance: np.ndarray, noise: float
                ) -> Calibration:
    """A calibration by its coordinates, their covariance and the noise of the rows."""
    values = {knob.name: knob.at(float(at)) for knob, at in zip(knobs, z, strict=True)}
    inputs = {symbol: values[knob.name] for knob in knobs for symbol in knob.symbols}
    return Calibration(tuple(knobs), z, covariance, noise, values, inputs,
                       bool((np.abs(z) <= NORMAL_90 + 1e-9).all()))


def neighbours(knobs: Sequence[Knob], z: np.ndarray) -> dict[str, np.ndarray]:
    """Inputs at a point and one small step along each coordinate, shape (1 + parameters, 1).

    Args:
        knobs: the mechanisms.
        z: coordinates of the point, shape (parameters,).
    """
    points = np.vstack([z, z + STEP * np.eye(len(z))])
    return {symbol: knob.at(np.asarray(column, float))[:, None]
            for knob, column in zip(knobs, points.T, strict=True) for symbol in knob.symbols}


def slopes(logs: np.ndarray) -> np.ndarray:
    """Derivatives by the coordinates, shape (parameters, ...).

    Args:
        logs: logarithms at :func:`neighbours`, shape (1 + parameters, ...).
    """
    return np.asarray((logs[1:] - logs[0]) / STEP)


def fit(predict: Predict, knobs: Sequence[Knob], measured: np.ndarray) -> Calibration:
    """Fit mechanisms to measured rows.

    The noise is not known beforehand: a first fit with 5% gives residuals, whose median gives that
    of the second. A row far off weighs less than its square (soft L1), so that one outlier neither
    bends the fit nor loosens it.

    Args:
        predict: predicted rows for overridden inputs; an override has shape (n, 1), the result
            (n, rows).
        knobs: what to fit, at most four.
        measured: measured rows, positive, shape (rows,).

    Raises ValueError for more than four mechanisms, none, or no rows.

    Source: notebooks/validation.md, section How an error is measured.
    """
    from scipy.optimize import least_squares  # a plan of measurements takes other parts of this

    if not 1 <= len(knobs) <= MOST:
        raise ValueError(f"{len(knobs)} mechanisms, expected 1 to {MOST}")
    if not len(measured):
        raise ValueError("there are no rows to fit")
    logs = np.log(measured)
    evaluated: dict[bytes, tuple[np.ndarray, np.ndarray]] = {}

    def errors_and_slopes(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if z.tobytes() not in evaluated:
            moved = np.log(predict(neighbours(knobs, z)))
            evaluated[z.tobytes()] = moved[0] - logs, slopes(moved).T
        return evaluated[z.tobytes()]

    def residuals(z: np.ndarray, noise: float) -> np.ndarray:
        return np.concatenate([errors_and_slopes(z)[0] / noise, z])

    def jacobian(z: np.ndarray, noise: float) -> np.ndarray:
        return np.vstack([errors_and_slopes(z)[1] / noise, np.eye(len(z))])

    dilution = math.sqrt(len(measured) / max(1, len(measured) - len(knobs)))
    noise, z = FIRST_NOISE, np.zeros(len(knobs))
    for _ in range(2):
        z = least_squares(residuals, z, jac=jacobian, loss="soft_l1", args=(noise,),
                          xtol=1e-6, ftol=1e-6).x
        errors, moves = errors_and_slopes(z)
        noise = max(LEAST_NOISE, NORMAL_MEDIAN * float(np.median(np.abs(errors))) * dilution)
    curvature = moves.T @ moves / noise**2 + np.eye(len(z))
    scatter = max(LEAST_NOISE, math.sqrt(float(np.mean(errors**2))) * dilution)
    return calibration(knobs, z, np.linalg.inv(curvature), scatter)


def knob_of(scenario: str, knobs: Mapping[str, Knob], name: str) -> Knob:
    """A mechanism of a deployment; a name without a dtype is all of its dtypes together.

    Args:
        scenario: identifier of the deployment.
        knobs: its mechanisms by name.
        name: of the mechanism.

    Raises ValueError if the deployment does not have it.
    """
    if name in knobs:
        return knobs[name]
    several = [knob for key, knob in knobs.items() if key.startswith(f"{name}.")]
    if not several:
        near = nearest_names(name, knobs) or knobs
        raise ValueError(f"'{scenario}' has no mechanism '{name}', the nearest names are "
                         f"{', '.join(near)}")
    return Knob(name, several[0].value,
                tuple(symbol for knob in several for symbol in knob.symbols))


# --- a fitted calibration on another deployment ---------------------------------------------------


@dataclass(frozen=True)
class Outside:
    """A quantity of a deployment that lies outside the rows of a calibration (SI units).

    Attributes:
        quantity: its name.
        value: of the deployment.
        fitted_range: of the fitted rows.
        far: logarithm of the factor beyond the range [1].
    """

    quantity: str
    value: float
    fitted_range: tuple[float, float]
    far: float


def outside(quantity: str, value: float, fitted_range: tuple[float, float]) -> Outside:
    """A quantity beside the range of the fitted rows; nothing counts as one."""
    positive = max(value, 1.0)
    far = abs(math.log(positive / np.clip(positive, *fitted_range)))
    return Outside(quantity, value, fitted_range, far)


@dataclass(frozen=True)
class Applied:
    """A calibration on a deployment.

    Attributes:
        name: entry of ``params/calibrations/``.
        metric: that it was fitted to.
        scenario: the system that it was fitted on.
        inputs: input symbols with their fitted values.
        outside: quantities outside the fitted rows.
        calibration: the fit.
        deployment: that it is applied to.
    """

    name: str
    metric: str
    scenario: str
    inputs: dict[str, float]
    outside: tuple[Outside, ...]
    calibration: Calibration = field(repr=False)
    deployment: Scenario = field(repr=False)

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"name": self.name, "metric": self.metric, "fitted_on": self.scenario,
                "values": self.calibration.values,
                "outside": [{"quantity": item.quantity, "value": item.value,
                             "fitted_range": list(item.fitted_range)} for item in self.outside]}

    def bounds(self, others: Mapping[str, Amount]) -> dict[str, Amount]:
        """Medians and 80% intervals of the fitted deployment.

        The metric that was fitted has the covariance, the noise of the rows, and a deviation that
        grows with the distance from them; nothing else, since the fit took the other mechanisms as
        they are. What contains it takes the intervals of its parts: end-to-end latency is TTFT and
        the later tokens. Every other quantity keeps the interval of the other ranges and of the
        formulas' own error, and takes the covariance on top.

        Args:
            others: quantities with their intervals from everything that was not fitted.
        """
        further = discrepancy().extrapolation * sum(item.far for item in self.outside)
        fitted = self.calibration
        inputs = self.deployment.inputs() | self.inputs
        points = evaluate(inputs | neighbours(fitted.knobs, fitted.z),
                          self.deployment.model.attention)
        intervals = {}
        for name, amount in others.items():
            moved = np.ravel(np.asarray(points[name], float))
            if name == self.metric:
                moved = np.broadcast_to(moved, len(fitted.z) + 1)
            elif moved.size < 2 or not (moved > 0).all():
                continue
            moves = slopes(np.log(moved))
            variance, value = float(moves @ fitted.covariance @ moves), amount.value
            if name == self.metric:
                value = float(moved[0])
                down = up = NORMAL_90 * math.sqrt(variance + fitted.noise**2 + further**2)
            else:
                spread = NORMAL_90 * math.sqrt(variance + further**2 * bool(moves.any()))
                down, up = (math.hypot(math.log(value / end), spread) for end in amount.ends)
            intervals[name] = replace(amount, value=value, low=value * math.exp(-down),
                                      high=value * math.exp(up))
        if self.metric in PARTS:
            intervals |= combined({**others, **intervals}, bool(inputs["separate_pools"]))
        return intervals


def combined(amounts: Mapping[str, Amount], apart: bool) -> dict[str, Amount]:
    """End-to-end latency and output throughput from TTFT and TPOT, with their intervals.

    Args:
        amounts: by name, of the fitted inputs.
        apart: whether throughput is that of a decode pool of its own, where TTFT has no part.
    """
    def ends(name: str, shares: Mapping[str, float], sign: int) -> Amount:
        """A quantity that moves with its parts, in their shares of its logarithm."""
        value = amounts[name].value
        down, up = (math.hypot(*(share * math.log(amounts[part].ends[end] / amounts[part].value)
                                 for part, share in shares.items())) for end in (0, 1)[::sign])
        return replace(amounts[name], low=value * math.exp(-down), high=value * math.exp(up))

    first = amounts["ttft"].value / amounts["e2e"].value
    both = {"ttft": first, "tpot": 1 - first}
    return {"e2e": ends("e2e", both, 1),
            "output_throughput": ends("output_throughput", {"tpot": 1.0} if apart else both, -1)}


def apply(scenario: Scenario, reference: str | Path) -> Applied:
    """Apply a fitted calibration to a deployment.

    Args:
        scenario: the deployment.
        reference: identifier or path of an entry of ``params/calibrations/``.

    Raises ParamsError, one sentence, for a calibration that is not fitted, of another device or
    precision, or of a mechanism that the deployment does not have.
    """
    chosen: CalibrationFile = library.load("calibrations", str(reference))
    name, fitted = chosen.id, chosen.fitted
    try:
        system = calibrated_system(str(reference))
        if fitted is None:
            raise ValueError(f"nothing is fitted yet, run will-it-fit calibrate {name} --write")
        own = {knob.name: knob for knob in scenario.mechanism_knobs}
        for mechanism in chosen.mechanisms:
            knob_of(scenario.id, own, mechanism)
        knobs = [knob_of(system.id, system.knobs, mechanism) for mechanism in chosen.mechanisms]
    except ValueError as error:
        raise ParamsError(f"calibration '{name}': {error}.") from None
    for kind in ("device", "precision"):
        there, here = getattr(system.scenario, kind), getattr(scenario, kind)
        if there.id != here.id:
            raise ParamsError(f"calibration '{name}' is of the {kind} '{there.id}', it says "
                              f"nothing of '{here.id}'.")
    if system.scenario.precision != scenario.precision:
        raise ParamsError(f"calibration '{name}' is of the precision "
                          f"'{scenario.precision.id}' as it stands, not of a changed one.")
    for knob, value, z in zip(knobs, fitted.values.values(), fitted.coordinates, strict=True):
        if not math.isclose(knob.at(z), value, rel_tol=MOVED, abs_tol=1e-12):
            raise ParamsError(f"calibration '{name}': the range of '{knob.name}' has changed since "
                              f"it was fitted, run will-it-fit calibrate {name} --write.")
    stored = calibration(knobs, np.array(fitted.coordinates), np.array(fitted.covariance),
                       fitted.noise)
    fitted_on, applied_to = ({**inputs, "total_parameters": float(evaluate(
        inputs, of.model.attention, decode=False)["total_parameters"])} for of, inputs in (
            (system.scenario, system.inputs), (scenario, scenario.inputs() | stored.inputs)))
    items = [outside(key, float(applied_to[key]), fitted.extent[key] if key in VARIED
                     else (float(fitted_on[key]), float(fitted_on[key])))
             for key in (*VARIED, *FIXED)]
    return Applied(name, chosen.metric, chosen.scenario, stored.inputs,
                   tuple(item for item in items if item.far > 0), stored, scenario)
