"""A sweep resolved: the inputs of every choice of entries, and columns along the other axes.

An axis is *outer* where a deployment has to be loaded for each of its values (a device, a
precision, an engine, a layout), and *inner* where its values are numbers that stay numbers: of the
workload, or input symbols themselves. Rows are numbered with the inner axes fastest. A plan
consists of nothing but numbers and names, so that a chunk is the same on any machine.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from functools import cache
from itertools import count, islice, product, takewhile
from pathlib import Path
from typing import Any

import numpy as np

from calc.answer.steady_state import STEADILY, is_burst
from calc.serving.evaluate import evaluate
from catalogue import LayoutError, ParamsError, load_scenario, symbols, units
from catalogue.deployments.admission import (
    CONTEXT,
    KINDS,
    OF_PRECISION,
    cut_of,
    kind_words,
    positions,
    problems,
    subject_of,
)
from catalogue.deployments.loading import SHORT
from catalogue.deployments.physics_inputs import mechanism_units, rule_of
from catalogue.entries.deployments import Parallelism, Workload
from catalogue.entries.formulas import input_symbols
from catalogue.entries.hardware import Device
from catalogue.entries.models import Model
from catalogue.reading.near import nearest_names
from catalogue.reading.units import human
from catalogue.reading.values import Unit, si_number

CHUNK = 1 << 17  # deployments of a chunk
LARGEST_CHUNK = 1 << 22  # what a core holds of one stays below a GiB
MOST_BEST = MOST_VALUES = 100_000  # rows that are kept; values of an axis
MOST_ROWS = 1 << 53  # whose numbers are exact
MOST_OUTER = 100_000
TOGETHER = "+"  # between paths that move together, and their values
FORM = ("LOW..HIGH (whole numbers), LOW..HIGH:+STEP, LOW..HIGH:xFACTOR or LOW..HIGH:/COUNT "
        "(so many, evenly)")
PLAIN = ("concurrency", "input_tokens", "output_tokens", "context_tokens",
         "max_num_batched_tokens", "block_size", "memory_utilization")
WORKLOAD, CUT = "workload.", "parallelism."
LARGEST_FIRST = ("context_tokens", "memory_utilization")  # whose largest value is the easiest
PER_DEVICE = {f"{name}_per_device": name for name in ("output_throughput", "steady_throughput")}
DEVICES = "devices"
STEADY = {"steady_tpot": -1, "steady_ttft": -1, "steady_throughput_per_device": +1}
BURST = {"tpot": -1, "ttft": -1, "output_throughput_per_device": +1}
SEEN = STEADILY | {"output_throughput_per_device": "steady_throughput_per_device"}
OTHER_DEVICES = "its parallel sizes do not multiply to the devices of the cluster"
PROGRAM = ("physics", "serving", "many", "layouts", "sweeping")


@dataclass(frozen=True)
class Sweep:
    """Definition of a sweep.

    Attributes:
        scenario: what does not vary: identifier or path.
        axes: path, or several with ``+`` between -> its values and ranges, with commas between; an
            input symbol of the workload or the layout is the path to it; the last runs fastest.
        settings: ``PATH=VALUE`` of what holds throughout.
        objectives: quantity -> +1 to have it large, -1 to have it small; none: the usual ones.
        best: keep the first so many by one objective; None: the front of all of them.
        every: keep all rows.
        quantities: of a row besides.
        chunk: deployments that are computed at once.
    """

    scenario: str
    axes: Mapping[str, str]
    settings: Sequence[str] = ()
    objectives: Mapping[str, int] = field(default_factory=dict)
    best: int | None = None
    every: bool = False
    quantities: Sequence[str] = ()
    chunk: int = CHUNK


@dataclass(frozen=True)
class Axis:
    """An axis of a sweep: paths and their values.

    Attributes:
        name: of the axis, as it was given.
        paths: what ``--set`` takes, or an input symbol; several move together.
        values: one text per path, for each place on the axis.
    """

    name: str
    paths: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Choice:
    """One choice of entries.

    Attributes:
        problem: why it is no deployment at all; then nothing else is meant.
        attention: ``mla`` or ``gqa``.
        inputs: that no inner axis moves, SI.
        requests: most that may be in flight; None where nothing says so.
        summed: whether the longest context is that of the request.
        bounded: whether the longest context is all that is known of a request.
        positions: that the model knows [token].
        burst: whether users see what a burst gives.
    """

    problem: str | None = None
    attention: str = ""
    inputs: Mapping[str, float] = field(default_factory=dict)
    requests: float | None = None
    summed: bool = False
    bounded: bool = False
    positions: float = math.inf
    burst: bool = False


@dataclass(frozen=True)
class Plan:
    """Everything that a chunk needs.

    Attributes:
        axes: outer axes, then inner ones.
        outer: how many are outer.
        choices: one for each place on the outer axes.
        columns: inputs along the inner axes: which of these, and a value for each place on it (SI).
        objectives, best, every, chunk: as of the sweep.
        names: quantities of a row.
        key: of all of it, and of the program that computes it.
    """

    axes: tuple[Axis, ...]
    outer: int
    choices: tuple[Choice, ...]
    columns: Mapping[str, tuple[int, np.ndarray]]
    objectives: Mapping[str, int]
    best: int | None
    every: bool
    names: tuple[str, ...]
    chunk: int
    key: str = ""

    @property
    def shape(self) -> tuple[int, ...]:
        """Places on each axis."""
        return tuple(len(axis.values) for axis in self.axes)

    @property
    def count(self) -> int:
        """Number of rows [1]."""
        return math.prod(self.shape)

    @property
    def chunks(self) -> int:
        """Chunks in all."""
        return -(-self.count // self.chunk)

    def settings(self, row: int) -> dict[str, str]:
        """Path -> value of a row."""
        return _settings(self.axes, np.unravel_index(row, self.shape))


# --- axes -----------------------------------------------------------------------------------------


def axis(name: str, values: str) -> Axis:
    """An axis from its paths and its values, single ones and ranges with commas between.

    >>> axis("workload.concurrency", "1, 8..32:x2").values
    (('1',), ('8',), ('16',), ('32',))
    >>> axis("device+cluster.node", "ascend-910b2+atlas-800i-a2, nvidia-h20+hgx-h20").values[1]
    ('nvidia-h20', 'hgx-h20')

    Raises ParamsError for what is neither.
    """
    paths = tuple(SHORT[path] if path in SHORT else
                  (WORKLOAD if path in PLAIN else CUT if path in Parallelism.model_fields else "")
                  + path for path in map(str.strip, name.split(TOGETHER)))
    origin, texts = f"--axis {name[:60]}", list[tuple[str, ...]]()
    for item in map(str.strip, values.split(",")):
        if len(paths) == 1:
            texts += [(text,) for text in range_values(item, origin)]
        else:
            texts.append(tuple(map(str.strip, item.split(TOGETHER))))
        if len(texts[-1]) != len(paths) or not all(texts[-1]):
            raise ParamsError(f"{origin}: '{item[:60]}' is no value of '{name}', expected "
                              f"{TOGETHER.join(['VALUE'] * len(paths))}.")
    if len(texts) > MOST_VALUES:
        raise ParamsError(f"{origin}: more than {MOST_VALUES:,} values of '{name}'.")
    value, times = Counter(texts).most_common(1)[0]
    if times > 1:
        raise ParamsError(f"{origin}: '{TOGETHER.join(value)}' is given twice.")
    return Axis(name, paths, tuple(texts))


def range_values(text: str, origin: str) -> Iterator[str]:
    """The values of a range, in its unit; anything else is itself.

    Args:
        text: the range, all of it decimal.
        origin: where it was given, for messages.

    Raises ParamsError for a range whose ends are in two units, or whose step leads nowhere.
    """
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
        start, end, kind = Decimal(first), Decimal(last), step[:1]
        size = Decimal(step[1:] if step else 1)
        if kind == "/" and size > 1 and size % 1 == 0:
            numbers = iter([start + (end - start) * i / (size - 1) for i in range(min(
                int(size), MOST_VALUES + 1))])
        elif kind in ("+", "") and 0 < size < Decimal("inf"):
            numbers = takewhile(lambda number: number <= end, (start + i * size for i in count()))
        elif kind == "x" and 1 < size < Decimal("inf") and start > 0:
            numbers = takewhile(lambda number: number <= end, (start * size**i for i in count()))
        else:
            raise ValueError(step)
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


def checked_axes(sweep: Sweep) -> list[Axis]:
    """The axes. Raises ParamsError for one that is none, and for options that contradict."""
    axes = [axis(name, values) for name, values in sweep.axes.items()]
    if not axes:
        raise ParamsError("a sweep needs an axis, expected --axis KEY=VALUES.")
    paths = Counter([path for axis in axes for path in axis.paths]
                    + [setting.partition("=")[0].strip() for setting in sweep.settings])
    if twice := next((path for path, times in paths.items() if times > 1), None):
        raise ParamsError(f"--axis {axes[-1].name[:60]}: '{twice}' is given twice.")
    for name, number, most in (("best", sweep.best, MOST_BEST),
                               ("chunk", sweep.chunk, LARGEST_CHUNK)):
        if number is not None and not 1 <= number <= most:
            raise ParamsError(f"{name}: {number} is out of range, expected 1 to {most:,}.")
    if sweep.best is not None and len(sweep.objectives) != 1:
        raise ParamsError("the best are those by one objective, expected one --min or --max.")
    if sweep.every and (sweep.best is not None or sweep.objectives):
        raise ParamsError("where all rows are kept no objective decides, expected neither "
                          "--min, --max nor --best beside --all.")
    return axes


# --- plans ----------------------------------------------------------------------------------------


def planned(sweep: Sweep) -> Plan:
    """Load what a sweep names, once for each choice of entries.

    Raises ParamsError for what no scenario can be; what cannot be laid out is an answer.
    """
    given = checked_axes(sweep)
    inner = [axis for axis in given if all(
        path in input_symbols() or path.removeprefix(WORKLOAD) in PLAIN for path in axis.paths)]
    outer = [axis for axis in given if axis not in inner]
    for what, axes, most in (("combinations", [*outer, *inner], MOST_ROWS),
                             ("combinations of entries to load", outer, MOST_OUTER)):
        if (size := math.prod(len(axis.values) for axis in axes)) > most:
            paths = ", ".join(TOGETHER.join(axis.paths) for axis in axes)
            raise ParamsError(f"{paths}: {human(float(size))} {what}, expected at most "
                              f"{human(most)}.")
    columns, easiest = dict[str, tuple[int, np.ndarray]](), list[str]()
    for index, axis in enumerate(inner):
        for path, texts in zip(axis.paths, zip(*axis.values, strict=True), strict=True):
            name = path.rpartition(".")[2]
            try:
                numbers = np.array([float(si_number(text, value_rule(name))) for text in texts])
            except ValueError as error:
                raise ParamsError(f"--axis {axis.name[:60]}: {path}: {error}.") from None
            columns[name] = index, numbers
            if path.startswith(WORKLOAD):  # the value that no other one can be too much for
                best = numbers.argmax() if name in LARGEST_FIRST else numbers.argmin()
                easiest.append(f"{path}={texts[best]}")
    choices = tuple(choice_of(sweep, easiest, columns, _settings(outer, places))
                    for places in product(*(range(len(axis.values)) for axis in outer)))
    usual, seen = (BURST, {}) if any(choice.burst for choice in choices) else (STEADY, SEEN)
    objectives = {seen.get(name, name): sign for name, sign in (
        sweep.objectives or (usual if not sweep.every else {})).items()}
    names = tuple(dict.fromkeys((
        *objectives, *(seen.get(name, name) for name in sweep.quantities),
        *(usual if sweep.every and not sweep.quantities else ()))))
    check_names(names, choices, columns)
    plan = Plan((*outer, *inner), len(outer), choices, columns, objectives, sweep.best, sweep.every,
                names, sweep.chunk)
    data = json.dumps(vars(plan) | {"program": program()}, sort_keys=True, default=lambda item: (
        item.tolist() if isinstance(item, np.ndarray) else vars(item) | {"name": ""}))
    return replace(plan, key=hashlib.sha256(data.encode()).hexdigest()[:16])


@cache
def program() -> str:
    """What tells the formulas of one state of this program, and of NumPy, from another."""
    digest = hashlib.sha256(np.__version__.encode())
    room = Path(__file__).resolve().parents[1]
    for path in sorted(path for name in PROGRAM for path in (room / name).rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _settings(axes: Sequence[Axis], places: Sequence[Any]) -> dict[str, str]:
    """Path -> value at a place on each axis."""
    return {path: text for axis, index in zip(axes, places, strict=True)
            for path, text in zip(axis.paths, axis.values[int(index)], strict=True)}


def value_rule(name: str) -> Unit:
    """What a value along an inner axis may be."""
    own = (rule_of(entry, name) for entry in (Workload, Device, Model))
    return (next(filter(None, own), None) or mechanism_units().get(name)
            or Unit(symbols()[name].unit, exclusive=False))


def choice_of(sweep: Sweep, easiest: Sequence[str], columns: Mapping[str, object],
              settings: Mapping[str, str]) -> Choice:
    """What is known where the outer axes have these values."""
    raw = {path: text for path, text in settings.items() if path in input_symbols()}
    overrides = [f"{path}={text}" for path, text in settings.items() if path not in raw]
    try:
        scenario = load_scenario(sweep.scenario, cut=False,
                                 overrides=[*sweep.settings, *overrides, *easiest])
    except LayoutError as error:
        return Choice(str(error).rstrip("."))
    burst, cut = is_burst(scenario), cut_of(scenario)
    if cut.tensor * cut.pipeline * cut.data != scenario.devices:
        return Choice(OTHER_DEVICES, burst=burst)
    moved = any(path.startswith(CUT) for path in settings)  # layouts are counted by kind
    for problem in problems(subject_of(scenario), cut, [kind for kind in KINDS if kind != CONTEXT]):
        return Choice(kind_words()[problem.kind][0] if moved and problem.kind not in OF_PRECISION
                      else problem.text["en"].split(". ")[0], burst=burst)
    inputs = {name: float(value) for name, value in scenario.inputs().items()} | {
        path: float(si_number(text, value_rule(path))) for path, text in raw.items()}
    workload = scenario.file.workload
    return Choice(
        None, scenario.model.attention,
        {name: value for name, value in inputs.items() if name not in columns},
        float(workload.requests.value) if workload.requests else None,
        workload.context_tokens is None, workload.output_tokens is None, positions(scenario.model),
        burst)


def check_names(names: Sequence[str], choices: Sequence[Choice],
                columns: Mapping[str, tuple[int, np.ndarray]]) -> None:
    """Raises ParamsError for a quantity that there is not."""
    choice = next((choice for choice in choices if choice.problem is None), None)
    if choice is None:
        return
    first = {name: values[0] for name, (_, values) in columns.items()}
    quantities = evaluate({**choice.inputs, **first}, choice.attention)
    existing = [name for name in (*quantities, *input_symbols(), *PER_DEVICE, DEVICES)
             if not name.startswith("stage_")]
    for name in names:
        if name not in existing:
            near = nearest_names(name, existing, cutoff=0.4) or ["tpot", "ttft"]
            raise ParamsError(f"there is no quantity '{name[:60]}', the nearest names are "
                              f"{', '.join(near)}.")
