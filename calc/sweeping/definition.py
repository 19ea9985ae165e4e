"""Definition of a sweep: scenario, axes and selection of rows, from a file or from flags."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from itertools import count, islice, takewhile
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, PrivateAttr, ValidationError

from catalogue import ParamsError, units
from catalogue.entries.deployments import Parallelism
from catalogue.entries.entry import Entry
from catalogue.library import refusal
from catalogue.reading import yamlfile
from catalogue.reading.files import is_file
from catalogue.reading.values import Flag, Positive, is_path

CHUNK = 1 << 17  # deployments of a chunk
LARGEST_CHUNK = 1 << 22  # what a core holds of one stays below a GiB
MOST_BEST = MOST_VALUES = 100_000  # rows that are kept; values of an axis
TOGETHER = "+"  # between paths that move together, and their values
FORM = ("LOW..HIGH (whole numbers), LOW..HIGH:+STEP, LOW..HIGH:xFACTOR or LOW..HIGH:/COUNT "
        "(so many, evenly)")
PLAIN = ("concurrency", "input_tokens", "output_tokens", "context_tokens",
         "max_num_batched_tokens", "block_size", "memory_utilization")
WORKLOAD, CUT = "workload.", "parallelism."


def _values(raw: Any) -> Any:
    if raw is None or isinstance(raw, dict):
        raise ValueError("expected a list or a range of values")
    return raw if isinstance(raw, list) else str(raw)


Names = Annotated[list[str], Field(default_factory=list), BeforeValidator(
    lambda raw: [raw] if isinstance(raw, str) else raw)]
Values = Annotated[Any, BeforeValidator(_values)]


class Sweep(Entry):
    """Definition of a sweep; the keys of its file.

    Attributes:
        scenario: what does not vary: identifier or path.
        set: path -> value that holds throughout.
        axes: path, or several with ``+`` between -> its values and ranges; the last runs fastest.
        minimise, maximise: objectives; none: the usual ones.
        best: keep the first so many by one objective; None: the front of all of them.
        all: keep all rows.
        quantities: that are told besides.
        chunk: deployments that are computed at once.
    """

    scenario: str
    set: dict[str, Any] = Field(default_factory=dict)
    axes: dict[str, Values] = Field(default_factory=dict)
    minimise: Names
    maximise: Names
    best: Positive | None = None
    all: Flag = False
    quantities: Names
    chunk: Positive = CHUNK
    _origins: dict[str, str] = PrivateAttr(default_factory=dict)  # of axes in a file

    @property
    def objectives(self) -> dict[str, int]:
        """Quantity -> +1 to have it large, -1 to have it small."""
        return dict.fromkeys(self.minimise, -1) | dict.fromkeys(self.maximise, +1)

    @property
    def settings(self) -> list[str]:
        """``PATH=VALUE`` of what holds throughout."""
        return [f"{path}={_text(value)}" for path, value in self.set.items()]

    def read_axes(self) -> list[Axis]:
        """The axes. Raises ParamsError for one that is none, and for what cannot be asked."""
        axes = [axis(name, values, self._origins.get(name, f"--axis {name[:60]}"))
                for name, values in self.axes.items()]
        if not axes:
            raise ParamsError("a sweep needs an axis, expected --axis PATH=VALUES.")
        paths = Counter([path for axis in axes for path in axis.paths] + [*self.set])
        if twice := next((path for path, times in paths.items() if times > 1), None):
            raise ParamsError(f"{axes[-1].origin}: '{twice}' is given twice.")
        for name, number, most in (("best", self.best, MOST_BEST),
                                   ("chunk", self.chunk, LARGEST_CHUNK)):
            if number is not None and not 1 <= number <= most:
                raise ParamsError(f"{name}: {number} is out of range, expected 1 to {most:,}.")
        if self.best is not None and len(self.objectives) != 1:
            raise ParamsError("the best are those by one objective, expected one --min or --max.")
        if self.all and (self.best is not None or self.objectives):
            raise ParamsError("where all rows are kept no objective decides, expected neither "
                              "--min, --max nor --best beside --all.")
        return axes


@dataclass(frozen=True)
class Axis:
    """An axis of a sweep: paths and their values.

    Attributes:
        paths: what ``--set`` takes, or an input symbol; several move together.
        values: one text per path, for each place on the axis.
        origin: where it was given, for messages.
    """

    paths: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    origin: str


def axis(name: str, values: Any, origin: str) -> Axis:
    """An axis from its paths and its values, a text with commas or a list.

    >>> axis("workload.concurrency", "1, 8..32:x2", "--axis").values
    (('1',), ('8',), ('16',), ('32',))
    >>> axis("device+cluster.node", "ascend-910b2+atlas-800i-a2, nvidia-h20+hgx-h20", "").values[1]
    ('nvidia-h20', 'hgx-h20')

    Args:
        name: path, or several with ``+`` between them; an input symbol of the workload or the
            layout is the path to it.
        values: single ones and ranges.
        origin: where it was given, for messages.

    Raises ParamsError for what is neither.
    """
    paths = _paths(name)
    texts: list[tuple[str, ...]] = []
    for item in values.split(",") if isinstance(values, str) else map(_text, values):
        for text in _range(item.strip(), origin) if len(paths) == 1 else [item.strip()]:
            parts = tuple(part.strip() for part in (
                text.split(TOGETHER) if len(paths) > 1 else [text]))
            if len(parts) != len(paths) or not all(parts):
                raise ParamsError(f"{origin}: '{item[:60]}' is no value of '{name}', expected "
                                  f"{TOGETHER.join(['VALUE'] * len(paths))}.")
            texts.append(parts)
    if len(texts) > MOST_VALUES:
        raise ParamsError(f"{origin}: more than {MOST_VALUES:,} values of '{name}'.")
    value, times = Counter(texts).most_common(1)[0]
    if times > 1:
        raise ParamsError(f"{origin}: '{TOGETHER.join(value)}' is given twice.")
    return Axis(paths, tuple(texts), origin)


def _text(value: Any) -> str:
    """A value of a file as a flag has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _paths(name: str) -> tuple[str, ...]:
    """The paths of an axis; an input symbol of the workload or the layout is the path to it."""
    return tuple((WORKLOAD if path in PLAIN else CUT if path in Parallelism.model_fields else "")
                 + path for path in map(str.strip, name.split(TOGETHER)))


def _range(text: str, origin: str) -> Iterator[str]:
    """The values of a range, in its unit; anything else is itself."""
    low, dots, rest = text.partition("..")
    try:
        first, unit = units.split(low)
    except ValueError:  # a path has dots as well
        dots = ""
    if not dots:
        yield text
        return
    high, _, step = (part.strip() for part in rest.partition(":"))
    try:
        last, other = units.split(high)
        start, end = Decimal(first), Decimal(last)
        numbers = _numbers(start, end, step or "+1")
    except (ValueError, InvalidOperation):
        raise ParamsError(f"{origin}: '{text[:60]}' is not a range, expected {FORM}.") from None
    if unit == units.DIMENSIONLESS:
        unit = other
    if unit != other or not start < end:
        raise ParamsError(f"{origin}: '{text[:60]}' is not a range, expected two ends in one unit, "
                          "the lower one first.")
    for number in islice(numbers, MOST_VALUES + 1):
        plain = f"{number.normalize():f}"
        yield plain if unit == units.DIMENSIONLESS else f"{plain} {unit}"


def _numbers(start: Decimal, end: Decimal, step: str) -> Iterator[Decimal]:
    """From start to end by a step, all decimal. Raises ValueError for a step that leads nowhere."""
    kind, size = step[:1], Decimal(step[1:])
    if kind == "/" and size > 1 and size % 1 == 0:
        return (start + (end - start) * i / (size - 1) for i in range(int(size)))
    if kind == "+" and 0 < size < Decimal("inf"):
        return takewhile(lambda number: number <= end, (start + i * size for i in count()))
    if kind == "x" and 1 < size < Decimal("inf") and start > 0:
        return takewhile(lambda number: number <= end, (start * size**i for i in count()))
    raise ValueError(step)


def is_sweep(reference: str) -> bool:
    """Whether a reference is that of a sweep's file, not of a scenario."""
    return is_path(reference) and is_file(Path(reference)) and "axes" in yamlfile.read(
        Path(reference)).data


def read(reference: str, flags: Mapping[str, Any]) -> Sweep:
    """The sweep of a scenario and flags, or of a file over which flags hold: an axis or a setting
    of a path takes the place of the one that the file has, axes of other paths are added.

    Args:
        reference: scenario or file.
        flags: keys of ``Sweep`` that are stated besides.

    Raises ParamsError with file and line for what it cannot hold.
    """
    if not is_sweep(reference):
        return Sweep.model_validate({"scenario": reference, **flags})
    path = Path(reference)
    file = yamlfile.read(path)
    try:
        stated = Sweep.model_validate(file.data)
    except ValidationError as error:
        raise ParamsError(refusal(Sweep, file, error, {})) from None
    axes, settings = flags.get("axes", {}), flags.get("set", {})
    taken = {path for name in axes for path in _paths(name)} | settings.keys()
    more = {**flags,
            "axes": {name: values for name, values in stated.axes.items()
                     if taken.isdisjoint(_paths(name))} | axes,
            "set": {name: value for name, value in stated.set.items() if name not in taken}
            | settings}
    if is_path(stated.scenario) and is_file(path.parent / stated.scenario):
        more["scenario"] = str(path.parent / stated.scenario)
    if flags.keys() & {"minimise", "maximise"}:
        more = {"all": False, "minimise": [], "maximise": [], **more}
    elif "best" in flags:
        more = {"all": False, **more}
    sweep = stated.model_copy(update=more)
    sweep._origins.update({name: f"{file.where(('axes', name))}: {name}"
                           for name in stated.axes.keys() - axes.keys()})
    return sweep
