"""What a sweep is asked to do: a scenario, its axes, and what is kept of the rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from calc.sweeping.axes import Axis, axis
from catalogue import ParamsError
from catalogue.reading import yamlfile
from catalogue.reading.files import is_file
from catalogue.reading.values import is_path

CHUNK = 1 << 17  # deployments of a chunk
LARGEST_CHUNK = 1 << 22  # what a core holds of one stays below a GiB
MOST_BEST = 100_000
KEYS = ("scenario", "set", "axes", "minimise", "maximise", "best", "all", "quantities", "chunk")


@dataclass(frozen=True)
class Sweep:
    """A sweep as it was asked for.

    Attributes:
        scenario: what does not vary: identifier or path.
        settings: ``PATH=VALUE`` that hold throughout.
        axes: what varies, the last one fastest.
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
        if self.best is not None and not 1 <= self.best <= MOST_BEST:
            raise ParamsError(f"best: {self.best} is out of range, expected 1 to {MOST_BEST:,}.")
        if self.best is not None and len(self.objectives or ()) != 1:
            raise ParamsError("the best are those by one objective, expected one --min or --max.")
        if self.every and (self.best is not None or self.objectives):
            raise ParamsError("where all rows are kept no objective decides, expected neither "
                              "--min, --max nor --best beside --all.")
        if not 1 <= self.chunk <= LARGEST_CHUNK:
            raise ParamsError(f"chunk: {self.chunk} is out of range, expected 1 to "
                              f"{LARGEST_CHUNK:,} deployments.")


def is_sweep(reference: str) -> bool:
    """Whether a reference is that of a sweep's file, not of a scenario."""
    return is_path(reference) and is_file(Path(reference)) and "axes" in yamlfile.read(
        Path(reference)).data


def read(path: Path, **flags: Any) -> Sweep:
    """The sweep of a file, over which flags hold: axes of other paths are added.

    Raises ParamsError with file and line for what it cannot hold.
    """
    file = yamlfile.read(path)
    data = file.data

    def refuse(key: str, expected: str) -> ParamsError:
        return ParamsError(f"{file.where((key,))}: {key}: expected {expected}.")

    if unknown := [key for key in data if key not in KEYS]:
        raise ParamsError(f"{file.where((unknown[0],))}: unknown key '{unknown[0][:60]}', expected "
                          f"one of {', '.join(KEYS)}.")
    scenario = data.get("scenario")
    if not isinstance(scenario, str):
        raise refuse("scenario", "the name or the path of a scenario")
    if is_path(scenario) and is_file(path.parent / scenario):
        scenario = str(path.parent / scenario)
    lists: dict[str, list[str]] = {}
    for key in ("minimise", "maximise", "quantities"):
        names = data.get(key) or []
        lists[key] = [names] if isinstance(names, str) else names
        if not isinstance(lists[key], list) or not all(
                isinstance(name, str) for name in lists[key]):
            raise refuse(key, "names of quantities")
    for key, kind, expected in (("set", dict, "a group of PATH: VALUE"),
                                ("axes", dict, "a group of PATH: VALUES"),
                                ("best", int, "a whole number"), ("all", bool, "true or false"),
                                ("chunk", int, "a whole number")):
        if data.get(key) is not None and (not isinstance(data[key], kind) or (
                kind is int and isinstance(data[key], bool))):
            raise refuse(key, expected)
    axes = []
    for name, values in (data.get("axes") or {}).items():
        origin = f"{file.where(('axes', name))}: {name}"
        if isinstance(values, dict) or values is None:
            raise ParamsError(f"{origin}: expected a list or a range of values.")
        axes.append(axis(name, values if isinstance(values, list) else str(values), origin))
    settings = tuple(f"{name}={_one(value)}" for name, value in (data.get("set") or {}).items())
    objectives = dict.fromkeys(lists["minimise"], -1) | dict.fromkeys(lists["maximise"], +1)
    return overlaid(Sweep(scenario, tuple(axes), settings, objectives or None, data.get("best"),
                          bool(data.get("all")), tuple(lists["quantities"]),
                          CHUNK if data.get("chunk") is None else data["chunk"]), flags)


def _one(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


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
