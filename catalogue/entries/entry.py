"""What every parameter file has: its keys checked, its name, and references to other files."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict

from catalogue.reading.values import Identifier, Ref, Text, Words

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
ScenarioName = Annotated[str, Ref("scenarios")]


class Entry(BaseModel):
    """Base of everything: frozen, and an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


class Named(Entry):
    """A catalogue entry; ``id`` is its file's name, ``defaults`` the provenance of bare numbers."""

    id: Identifier
    name: Text
    note: Text | None = None
    defaults: dict[str, Any] | None = None


class Called(Named):
    """An entry that people call by several names: ``also`` are those besides its file's, each of
    one entry of its kind alone."""

    also: list[Words] = []
