"""What a sweep is asked to do: a scenario, its axes, and what is kept of the rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError

from calc.sweeping.axes import Axis, axis, written
from catalogue import ParamsError
from catalogue.entries.entry import Entry
from catalogue.library import refusal
from catalogue.reading import yamlfile
from catalogue.reading.files import is_file
from catalogue.reading.values import Flag, Whole, is_path

CHUNK = 1 << 17  # deployments of a chunk
LARGEST_CHUNK = 1 << 22  # what a core holds of one stays below a GiB
MOST_BEST = 100_000


@dataclass(frozen=True)
class Sweep:
    """A sweep as it was asked for.

    Attributes:
        scenario: what does not vary: identifier or path.
        axes: what varies, the last one fastest.
        settings: ``PATH=VALUE`` that hold throughout.
        objectives: quantity -> +1 to have it large, -1 to have it small; none: the usual ones.
        best: keep the first so many by one objective; None: the front of all of them.
        every: keep all rows.
        quantities: that are told besides.
        chunk: deployments that are computed at once.
    """

    scenario: str
    axes: tuple[Axis, ...]
    settings: tuple[str, ...] = ()
    objectives: Mapping[str, int] | None = None
    best: int | None = None
    every: bool = False
    quantities: tuple[str, ...] = ()
    chunk: int = CHUNK

    def __post_init__(self) -> None:
        """Raises ParamsError for what cannot be asked together."""
        if not self.axes:
            raise ParamsError("a sweep needs an axis, expected --axis PATH=VALUES.")
        paths = [path for axis in self.axes for path in axis.paths]
        paths += map(_path, self.settings)
        if twice := next((path for path in paths if paths.count(path) > 1), None):
            raise ParamsError(f"{self.axes[-1].origin}: '{twice}' is given twice.")
        for name, number, most in (("best", self.best, MOST_BEST),
                                   ("chunk", self.chunk, LARGEST_CHUNK)):
            if number is not None and not 1 <= number <= most:
                raise ParamsError(f"{name}: {number} is out of range, expected 1 to {most:,}.")
        if self.best is not None and len(self.objectives or ()) != 1:
            raise ParamsError("the best are those by one objective, expected one --min or --max.")
        if self.every and (self.best is not None or self.objectives):
            raise ParamsError("where all rows are kept no objective decides, expected neither "
                              "--min, --max nor --best beside --all.")


def _values(raw: Any) -> Any:
    if raw is None or isinstance(raw, dict):
        raise ValueError("expected a list or a range of values")
    return raw if isinstance(raw, list) else str(raw)


Names = Annotated[list[str], Field(default_factory=list), BeforeValidator(
    lambda raw: [raw] if isinstance(raw, str) else raw)]
Values = Annotated[Any, BeforeValidator(_values)]


class SweepFile(Entry):
    """A sweep's file."""

    scenario: str
    set: dict[str, Any] = Field(default_factory=dict)
    axes: dict[str, Values] = Field(default_factory=dict)
    minimise: Names
    maximise: Names
    best: Whole | None = None
    all: Flag = False
    quantities: Names
    chunk: Whole = CHUNK


def is_sweep(reference: str) -> bool:
    """Whether a reference is that of a sweep's file, not of a scenario."""
    return is_path(reference) and is_file(Path(reference)) and "axes" in yamlfile.read(
        Path(reference)).data


def read(path: Path, **flags: Any) -> Sweep:
    """The sweep of a file, over which flags hold: axes of other paths are added.

    Raises ParamsError with file and line for what it cannot hold.
    """
    file = yamlfile.read(path)
    try:
        stated = SweepFile.model_validate(file.data)
    except ValidationError as error:
        raise ParamsError(refusal(SweepFile, file, error, {})) from None
    beside = is_path(stated.scenario) and is_file(path.parent / stated.scenario)
    axes = tuple(axis(name, values, f"{file.where(('axes', name))}: {name}")
                 for name, values in stated.axes.items())
    objectives = dict.fromkeys(stated.minimise, -1) | dict.fromkeys(stated.maximise, +1)
    return overlaid(Sweep(
        str(path.parent / stated.scenario) if beside else stated.scenario, axes,
        tuple(f"{name}={written(value)}" for name, value in stated.set.items()),
        objectives or None, stated.best, stated.all, tuple(stated.quantities), stated.chunk), flags)


def _path(setting: str) -> str:
    """What a setting ``PATH=VALUE`` sets."""
    return setting.partition("=")[0].strip()


def overlaid(sweep: Sweep, flags: Mapping[str, Any]) -> Sweep:
    """A sweep with what flags say in place of it; an axis or a setting of a path takes the place
    of the one that the file has."""
    given = dict(flags)
    new, more = given.pop("axes", ()), given.pop("settings", ())
    taken = {*(path for axis in new for path in axis.paths), *map(_path, more)}
    given["axes"] = (*(axis for axis in sweep.axes if taken.isdisjoint(axis.paths)), *new)
    given["settings"] = (*(each for each in sweep.settings if _path(each) not in taken), *more)
    if "best" in given or "objectives" in given:
        given.setdefault("every", False)
    return replace(sweep, **given)
