"""What parameter files share: their keys checked, names, references to other files, limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, WithJsonSchema, model_validator

from catalogue.reading import units
from catalogue.reading.values import Date, Identifier, Kind, Ref, SourceKey, Text, Words

MEAN = "mean"
PERCENT = 100
PERCENTILES = {"p50": 0.5, "p75": 0.75, "p90": 0.9, "p95": 0.95, "p99": 0.99}

AcceptanceName = Annotated[str, Ref("acceptances")]
ModelName = Annotated[str, Ref("models")]
DeviceName = Annotated[str, Ref("devices")]
LinkName = Annotated[str, Ref("links")]
NodeName = Annotated[str, Ref("nodes")]
FormatName = Annotated[str, Ref("formats")]
PrecisionName = Annotated[str, Ref("precisions")]
MeasurementsName = Annotated[str, Ref("measurements")]
MicrobenchmarksName = Annotated[str, Ref("microbenchmarks")]
MechanismsName = Annotated[str, Ref("mechanisms")]
ProfileName = Annotated[str, Ref("profiles")]
ScenarioName = Annotated[str, Ref("scenarios")]


class Entry(BaseModel):
    """Base of everything: frozen, and an unknown key is an error.

    What validates a class is built with the first file of its kind: a program reads few kinds.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True,
                              defer_build=True)

    @classmethod
    def model_rebuild(cls, **given: Any) -> bool | None:
        """Build what validates the class, from the names of its module and of nothing else.

        Pydantic would look for names in the caller's variables as well; every class is of a module,
        and Python 3.13.0 ends with a segmentation fault where a caller's comprehension has cells.
        """
        return super().model_rebuild(**{**given, "_types_namespace": {}})


class Sourced(Entry):
    """What one source says."""

    source: SourceKey
    kind: Kind
    date: Date | None = None
    note: Text | None = None


class CatalogueEntry(Entry):
    """A catalogue entry; ``id`` is its file's name, ``defaults`` the provenance of bare numbers."""

    id: Identifier
    name: Text
    note: Text | None = None
    defaults: dict[str, Any] | None = None


class Called(CatalogueEntry):
    """An entry that people call by several names: ``also`` are those besides its file's, each of
    one entry of its kind alone."""

    also: list[Words] = []


def _time(raw: Any) -> float:
    """A time [s] that needs no source: it is the promise of whoever states it."""
    time = units.parse(raw, "s")
    if not 0 < time < float("inf"):
        raise ValueError(f"'{raw}' is out of range, expected more than 0 s")
    return float(time)


Promised = Annotated[float, BeforeValidator(_time), WithJsonSchema(
    {"type": ["string", "number"], "description": "a time, such as '50 ms'"})]


class TimeLimit(Entry):
    """A time at most [s], of the mean or of one percentile of the requests."""

    mean: Promised | None = None
    p50: Promised | None = None
    p75: Promised | None = None
    p90: Promised | None = None
    p95: Promised | None = None
    p99: Promised | None = None

    @model_validator(mode="before")
    @classmethod
    def _of_the_mean(cls, raw: Any) -> Any:
        """A time alone is one of the mean."""
        return raw if isinstance(raw, (dict, cls)) else {MEAN: raw}

    @model_validator(mode="after")
    def _one(self) -> TimeLimit:
        if len(self.stated) != 1:
            raise ValueError(f"{len(self.stated)} limits, expected one, of the mean or of one of "
                             f"{', '.join(PERCENTILES)}")
        return self

    @property
    def stated(self) -> dict[str, float]:
        """Times that are given: ``mean`` or a percentile -> time [s]."""
        return {name: time for name in (MEAN, *PERCENTILES)
                if (time := getattr(self, name)) is not None}


def watched(stated: Mapping[str, float]) -> dict[str, float]:
    """Of limits of one time the one that a scenario can promise; none below all ``PERCENTILES``.

    It is that of the highest percentile, at one of ``PERCENTILES`` that it implies.

    >>> watched({"p90": 2.0, "p99": 5.0}), watched({"mean": 1.0, "p97": 3.0}), watched({"p10": 1.0})
    ({'p99': 5.0}, {'p95': 3.0}, {})

    Args:
        stated: times by ``mean`` or percentile [s].
    """
    shares = {name: 0.0 if name == MEAN else float(name[1:]) / PERCENT for name in stated}
    highest = max(stated, key=lambda name: shares[name])
    if highest == MEAN:
        return {MEAN: stated[MEAN]}
    implied = [name for name, share in PERCENTILES.items() if share <= shares[highest]]
    return {implied[-1]: stated[highest]} if implied else {}


class ServiceLimits(Entry):
    """What a service promises its users: times at most, in the mean or at a percentile of requests.

    Attributes:
        ttft, tpot, e2e: of each; None, nothing is promised.
    """

    ttft: TimeLimit | None = None
    tpot: TimeLimit | None = None
    e2e: TimeLimit | None = None
