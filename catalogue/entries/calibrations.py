"""Calibrations, and how far the formulas are off by class of systems."""

from collections.abc import Iterator
from typing import Annotated, Final, Literal

from pydantic import Field

from catalogue.entries.entry import (
    CatalogueEntry,
    Entry,
    Problem,
    ScenarioName,
)
from catalogue.reading.values import (
    LARGEST,
    LARGEST_COUNT,
    AnyQuantity,
    Date,
    Positive,
    Text,
)

MOST = 4  # mechanisms of one calibration
CONCURRENT: Final = "concurrent"
ALONE: Final = "alone"
QUEUED: Final = "queued"
VARYING: Final = "varying"
Load = Literal["concurrent", "alone", "queued", "varying"]
Metric = Literal["tpot", "ttft", "e2e", "output_throughput", "prefill_throughput"]
Protocol = Literal["halves", "low-concurrency", "short-inputs", "single-request", "leave-one-out",
                   "leave-one-length-out"]
# A fit far outside of these has not converged, or a file was written by hand.
ROUNDED = 1.001  # numbers of a fit are written with six digits
FARTHEST = 50.0  # standard deviations of a prior; those of the catalogue reach 8
WIDEST = 5.0  # logarithmic standard deviation: a factor of 148 either way

Fit = Annotated[float, Field(strict=False, allow_inf_nan=False, ge=0, le=LARGEST)]
Coordinate = Annotated[float, Field(strict=False, allow_inf_nan=False, ge=-FARTHEST, le=FARTHEST)]
Covariance = Annotated[float, Field(strict=False, allow_inf_nan=False, ge=-FARTHEST**2,
                                    le=FARTHEST**2)]
Tally = Annotated[int, Field(strict=True, ge=0, le=LARGEST_COUNT)]
Spread = Annotated[float, Field(strict=False, allow_inf_nan=False, ge=0, le=WIDEST)]


class Fitted(Entry):
    """The result of a fit; written by ``will-it-fit calibrate``, never by hand.

    Attributes:
        values: fitted value of each mechanism (SI), by name.
        coordinates: the same as distances from the prior's median, in its standard deviations [1].
        covariance: of the coordinates.
        noise: standard deviation of the residuals, logarithmic [1].
        rows: how many rows were fitted.
        extent: smallest and largest concurrency, input and output tokens of those rows.
    """

    values: dict[str, Fit]
    coordinates: list[Coordinate]
    covariance: list[list[Covariance]]
    noise: Spread
    rows: Positive
    extent: dict[str, tuple[Fit, Fit]]

    def violations(self) -> Iterator[Problem]:
        """The covariance is one of the values."""
        square = self.covariance
        if {len(self.coordinates), len(square), *map(len, square)} != {len(self.values)}:
            yield "'coordinates' and 'covariance' do not have one entry per value"
        for i, row in enumerate(square):
            for j, both in enumerate(row[:i + 1]):
                if both != square[j][i]:
                    yield "it is not symmetric", "covariance", i, j
                if both * both > row[i] * square[j][j] * ROUNDED or row[i] < 0:
                    yield f"'{both:g}' exceeds what its two variances allow", "covariance", i, j


class CalibrationFile(CatalogueEntry):
    """A calibration: at most four mechanisms fitted to a named subset of one system's rows.

    Attributes:
        scenario: the system that was measured.
        metric: what is fitted.
        mechanisms: what is fitted to it.
        priors: of mechanisms that only this engine is taken to have, in place of the card's.
        subset: which rows, in words; ``without`` are numbers of rows (from 1) that are left out.
        protocols: how its errors are measured, on rows that were not fitted.
        date: of the fit.
    """

    scenario: ScenarioName
    metric: Metric
    mechanisms: Annotated[list[str], Field(min_length=1, max_length=MOST)]
    priors: dict[str, AnyQuantity] = {}
    subset: Text
    without: list[Positive] = []
    protocols: list[Protocol]
    date: Date | None = None
    fitted: Fitted | None = None

    def violations(self) -> Iterator[Problem]:
        """Priors and fitted values are of its mechanisms."""
        if len(set(self.mechanisms)) < len(self.mechanisms):
            yield "a mechanism is named twice", "mechanisms"
        for name, value in self.priors.items():
            if name not in self.mechanisms:
                yield f"'{name}' is none of 'mechanisms'", "priors", name
            if not value.low < value.value < value.high:
                yield "expected a range with the value inside", "priors", name
        if self.fitted is not None and list(self.fitted.values) != self.mechanisms:
            yield "the values are not those of 'mechanisms', in their order", "fitted", "values"


class OwnError(Entry):
    """How far systems of a class are from their predictions, beyond what ranges explain.

    Attributes:
        down, up: standard deviation of a row's error, to either side, logarithmic [1]: that of a
            normal variable with the same 10% and 90% points.
        within: of rows about what their system shares [1].
        systems, rows: how many were measured.
        inside: rows in the 80% interval that their system gets from all the others.
    """

    down: Spread
    up: Spread
    within: Spread
    systems: Positive
    rows: Positive
    inside: Tally


class LeftOut(Entry):
    """What a measured system gets from all the others.

    Attributes:
        of: its class, under any load.
        deviation: standard deviations of a row's logarithm, downwards and upwards [1], by load and
            quantity.
    """

    of: str
    deviation: dict[Load, dict[Metric, tuple[Spread, Spread]]]


class Growth(Entry):
    """How fast the error of a quantity moves away from that of what was measured.

    Errors of two deployments differ by a normal variable whose variance grows with the doublings
    between them, to either side by a size of its own.

    Attributes:
        down, up: standard deviation per doubling, to either side, logarithmic [1].
        systems, pairs: that it was fitted to.
        inside: share of the pairs in the 80% interval that all the other systems give [1].
        without: measured system -> down and up without it [1].
    """

    down: Spread
    up: Spread
    systems: Positive
    pairs: Positive
    inside: Annotated[float, Field(strict=False, ge=0, le=1)]
    without: dict[str, tuple[Spread, Spread]] = {}


class Covered(Entry):
    """What the rows of one measured system cover.

    Attributes:
        of: its class.
        device, precision: entries of the catalogue.
        requests: fewest and most in flight on a card [request].
        tensor, pipeline, expert: ranks of each kind [1].
        drafts: tokens drafted in a step [token].
        pools: 2 where prefill and decode stand apart, else 1.
    """

    of: str
    device: str
    precision: str
    requests: tuple[Fit, Fit]
    tensor: Positive
    pipeline: Positive
    expert: Positive
    drafts: Tally
    pools: Positive


class Discrepancy(CatalogueEntry):
    """How far the formulas themselves are off, beyond what the ranges of their inputs explain.

    What follows ``basis`` is written by ``will-it-fit dev discrepancy --write``.

    Attributes:
        extrapolation: further standard deviation per factor e beyond the rows of a calibration [1].
        borrowed: how many systems those around a class count for in it.
        basis: what the sizes are set on.
        classes: name of a class, load first, each a part of the one before its last ``/`` -> by
            quantity.
        left_out: measured system -> what it gets from the others.
        growth: by load and quantity, how the error grows with the distance from what was measured.
        measured: system -> what its rows cover.
    """

    extrapolation: Spread
    borrowed: Annotated[float, Field(strict=False, gt=0, le=LARGEST)]
    basis: Text
    classes: dict[str, dict[Metric, OwnError]] = {}
    left_out: dict[str, LeftOut] = {}
    growth: dict[Load, dict[Metric, Growth]] = {}
    measured: dict[str, Covered] = {}
