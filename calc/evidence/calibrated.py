"""A fitted calibration applied to a deployment: its values, and intervals that widen beyond it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from calc.evidence.classes import discrepancy
from calc.evidence.fitting import Calibration, neighbours, slopes
from calc.evidence.protocols import beyond, knob_of, predicted
from calc.evidence.systems import VARIED, System
from calc.evidence.validation import measured_system
from calc.serving.evaluate import evaluate
from calc.uncertainty import Amount
from catalogue import ParamsError, Scenario, library
from catalogue.deployments.layout import DEGREES
from catalogue.deployments.physics_inputs import NORMAL_90
from catalogue.entries.calibrations import CalibrationFile

FIXED = (*DEGREES, "total_parameters")  # of which a calibration has seen one value each
PARTS = ("ttft", "tpot")  # of end-to-end latency
MOVED = 1e-3  # relative: a fitted value that its coordinate no longer gives


class Deployment(System):
    """A deployment in the place of a measured system: any lengths, and what is asked of it."""

    def predict(self, metric: str, rows: np.ndarray,
                overrides: Mapping[str, np.ndarray | float] | None = None) -> np.ndarray:
        """A metric of the deployment as it is, shape (1,) or that of the overrides."""
        quantities = evaluate(self.inputs | dict(overrides or {}), self.scenario.model.attention)
        return np.atleast_1d(np.asarray(quantities[metric], dtype=float))


@dataclass(frozen=True)
class Outside:
    """A quantity that lies outside what a calibration was fitted to (SI units)."""

    quantity: str
    value: float
    fitted_range: tuple[float, float]

    @property
    def far(self) -> float:
        """Logarithm of the factor beyond the range [1]."""
        low, high = self.fitted_range
        value = max(self.value, 1.0)
        return max(math.log(value / high), math.log(low / value), 0.0)


@dataclass(frozen=True)
class Applied:
    """A calibration on a deployment.

    Attributes:
        name: entry of ``params/calibrations/``.
        metric: what it was fitted to.
        scenario: the system that it was fitted on.
        inputs: input symbols with their fitted values.
        outside: what lies outside the fitted rows.
    """

    name: str
    metric: str
    scenario: str
    inputs: dict[str, float]
    outside: tuple[Outside, ...]
    _calibration: Calibration = field(repr=False)
    _deployment: Deployment = field(repr=False)
    _distance: float = field(repr=False)

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"name": self.name, "metric": self.metric, "fitted_on": self.scenario,
                "values": self._calibration.values,
                "outside": [vars(item) | {"fitted_range": list(item.fitted_range)}
                            for item in self.outside]}

    def bounds(self, others: Mapping[str, Amount]) -> dict[str, Amount]:
        """Medians and 80% intervals with what was fitted.

        The metric that was fitted has the covariance, the noise of the rows, and a deviation that
        grows with the distance from them; nothing else, since the fit took the other mechanisms as
        they are. What contains it takes the intervals of its parts: end-to-end latency is TTFT and
        the later tokens. Every other quantity keeps the interval of the other ranges and of the
        formulas' own error, and takes the covariance on top.

        Args:
            others: quantities with their intervals from everything that was not fitted.
        """
        further = discrepancy().extrapolation * self._distance
        row = np.zeros(1, int)
        fit = self._calibration
        made = predicted(self._deployment.predict, self.metric, fit, row, further)
        value, low, high = (float(each[0]) for each in made)
        intervals = {self.metric: replace(others[self.metric], value=value, low=low, high=high)}
        points = evaluate(self._deployment.inputs | neighbours(fit.knobs, fit.z),
                          self._deployment.scenario.model.attention)
        for name, amount in others.items():
            moved = np.ravel(np.asarray(points[name], float))
            if name == self.metric or moved.size < 2 or not (moved > 0).all():
                continue
            moves = slopes(np.log(moved))
            own = NORMAL_90 * math.sqrt(float(moves @ fit.covariance @ moves)
                                     + further**2 * bool(moves.any()))
            down, up = (math.hypot(math.log(amount.value / end), own) for end in amount.ends)
            intervals[name] = replace(amount, low=amount.value * math.exp(-down),
                                      high=amount.value * math.exp(up))
        if self.metric in PARTS:
            apart = bool(self._deployment.inputs["separate_pools"])
            intervals |= _combined({**others, **intervals}, apart)
        return intervals


def _combined(amounts: Mapping[str, Amount], apart: bool) -> dict[str, Amount]:
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
        return replace(amounts[name], low=value * math.exp(-down),
                       high=value * math.exp(up))

    first = amounts["ttft"].value / amounts["e2e"].value
    whole = {"ttft": first, "tpot": 1 - first}
    return {"e2e": ends("e2e", whole, 1),
            "output_throughput": ends("output_throughput", {"tpot": 1.0} if apart else whole, -1)}


def apply(scenario: Scenario, reference: str | Path) -> Applied:
    """Take a fitted calibration for a deployment.

    Args:
        scenario: the deployment.
        reference: identifier or path of an entry of ``params/calibrations/``.

    Raises ParamsError, one sentence, for a calibration that is not fitted, of another device or
    precision, or of a mechanism that the deployment does not have.
    """
    chosen: CalibrationFile = library.load("calibrations", str(reference))
    fitted, name = chosen.fitted, chosen.id
    try:
        system = measured_system(chosen.scenario).with_priors(chosen.priors)
    except ValueError as error:
        raise ParamsError(f"calibration '{name}': {error}.") from None
    if fitted is None:
        raise ParamsError(f"calibration '{name}': nothing is fitted yet, run python -m calc "
                          f"calibrate {name} --write.")
    for kind in ("device", "precision"):
        there, here = getattr(system.scenario, kind), getattr(scenario, kind)
        if there.id != here.id:
            raise ParamsError(f"calibration '{name}' is of the {kind} '{there.id}', it says "
                              f"nothing of '{here.id}'.")
    if system.scenario.precision != scenario.precision:
        raise ParamsError(f"calibration '{name}' is of the precision "
                          f"'{scenario.precision.id}' as it stands, not of a changed one.")
    lengths = {key: np.array([*fitted.extent[key], scenario.inputs()[key]]) for key in VARIED}
    deployment = Deployment(scenario, lengths, {})
    knobs = []
    for mechanism in chosen.mechanisms:
        try:
            knob_of(deployment, mechanism)
        except ValueError as error:
            raise ParamsError(f"calibration '{name}': {error}.") from None
        knobs.append(knob_of(system, mechanism))
    calibration = Calibration(tuple(knobs), np.array(fitted.coordinates),
                              np.array(fitted.covariance), fitted.noise)
    for knob, value, z in zip(knobs, fitted.values.values(), fitted.coordinates, strict=True):
        if not math.isclose(knob.at(z), value, rel_tol=MOVED, abs_tol=1e-12):
            raise ParamsError(f"calibration '{name}': the range of '{knob.name}' has changed since "
                              f"it was fitted, run python -m calc calibrate {name} --write.")
    deployment = deployment.with_inputs(calibration.inputs)
    outside = _outside(system, deployment, fitted.extent)
    further = sum(item.far for item in outside if item.quantity not in VARIED)
    ends, here = np.array([0, 1]), np.array([2])
    return Applied(name, chosen.metric, chosen.scenario, calibration.inputs, outside, calibration,
                   deployment, further + float(beyond(deployment, ends, here)[0]))


def _outside(system: System, deployment: Deployment,
             extent: Mapping[str, tuple[float, float]]) -> tuple[Outside, ...]:
    """What of a deployment lies outside the fitted rows, or differs from the measured system."""
    outside = [Outside(key, float(deployment.inputs[key]), extent[key]) for key in VARIED]
    theirs, ours = (
        side.inputs | {"total_parameters": float(evaluate(
            side.inputs, side.scenario.model.attention, decode=False)["total_parameters"])}
        for side in (system, deployment))
    outside += [Outside(key, float(ours[key]), (float(theirs[key]), float(theirs[key])))
              for key in FIXED]
    return tuple(item for item in outside if item.far > 0)
