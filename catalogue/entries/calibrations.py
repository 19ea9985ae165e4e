"""What a file of a calibration may hold: what is fitted to what, and what came out."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from catalogue.entries.entry import Entry, Named, ScenarioName
from catalogue.reading.values import Date, Misplaced, Text

MOST = 4  # mechanisms of one calibration
Metric = Literal["tpot", "ttft", "e2e", "output_throughput"]
Protocol = Literal["halves", "low-concurrency", "short-inputs", "single-request", "leave-one-out",
                   "leave-one-length-out"]
Number = Annotated[float, Field(strict=False, allow_inf_nan=False)]


class Fitted(Entry):
    """The result of a fit; written by ``python -m calc calibrate``, never by hand.

    Attributes:
        values: fitted value of each mechanism (SI), by name.
        coordinates: the same as distances from the middle of the range, in standard deviations of
            its prior [1].
        covariance: of the coordinates.
        noise: standard deviation of the residuals, logarithmic [1].
        rows: how many rows were fitted.
        extent: smallest and largest concurrency, input and output tokens of those rows.
    """

    values: dict[str, Number]
    coordinates: list[Number]
    covariance: list[list[Number]]
    noise: Number
    rows: int
    extent: dict[str, tuple[Number, Number]]

    @model_validator(mode="after")
    def _square(self) -> Fitted:
        sizes = {len(self.coordinates), len(self.covariance), *map(len, self.covariance)}
        if sizes != {len(self.values)}:
            raise ValueError("'coordinates' and 'covariance' do not have one entry per value")
        return self


class CalibrationFile(Named):
    """A calibration: at most four mechanisms fitted to a named subset of one system's rows.

    Attributes:
        scenario: the system that was measured.
        metric: what is fitted.
        mechanisms: what is fitted to it.
        subset: which rows, in words; ``without`` are numbers of rows (from 1) that are left out.
        protocols: how its errors are measured, on rows that were not fitted.
        date: of the fit.
    """

    scenario: ScenarioName
    metric: Metric
    mechanisms: list[str]
    subset: Text
    without: list[int] = []
    protocols: list[Protocol]
    date: Date | None = None
    fitted: Fitted | None = None

    @model_validator(mode="after")
    def _few(self) -> CalibrationFile:
        if not 1 <= len(self.mechanisms) <= MOST:
            raise Misplaced(f"{len(self.mechanisms)} mechanisms, expected 1 to {MOST}",
                            "mechanisms")
        if len(set(self.mechanisms)) < len(self.mechanisms):
            raise Misplaced("a mechanism is named twice", "mechanisms")
        if self.fitted is not None and list(self.fitted.values) != self.mechanisms:
            raise Misplaced("the values are not those of 'mechanisms', in their order", "fitted",
                            "values")
        return self


class Discrepancy(Named):
    """How far the formulas themselves are off, beyond what the ranges of their inputs explain.

    Attributes:
        deviation: standard deviation of the logarithm of a quantity [1], by quantity.
        extrapolation: further standard deviation per factor e beyond the rows of a calibration [1].
        basis: what the sizes were set on.
    """

    deviation: dict[Metric, Number]
    extrapolation: Number
    basis: Text

    @property
    def by_quantity(self) -> dict[str, float]:
        """The deviations by the quantity's name."""
        return {str(name): size for name, size in self.deviation.items()}
