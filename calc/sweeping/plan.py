"""A sweep resolved: for every choice of entries its inputs, and along the other axes columns.

An axis is *outer* where an entry has to be loaded for each of its values (a device, a precision, an
engine, a cluster), and *inner* where its values are numbers that stay numbers: of the workload, of
the parallelism, or input symbols themselves. Rows are numbered with the inner axes fastest. What
comes out holds nothing but numbers and names, so that a chunk is the same on any machine.
"""

from __future__ import annotations

import difflib
import hashlib
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from calc.answer.steady_state import STEADILY, seen_of_burst
from calc.layouts.feasible import KINDS, Judge
from calc.serving.evaluate import evaluate
from calc.sweeping.axes import Axis
from calc.sweeping.definition import Sweep
from catalogue import LayoutError, ParamsError, Scenario, Value, load_scenario, symbols
from catalogue.deployments.admission import (
    CONTEXT,
    OF_PRECISION,
    cut_of,
    kind_words,
    positions,
    subject_of,
)
from catalogue.deployments.admission import problems as refused
from catalogue.deployments.cuts import Cut, Subject
from catalogue.deployments.layout import DEGREES, SHARED_RANKS, SLICES, mechanism_units, rule_of
from catalogue.deployments.layout import SHARED_CACHE as SHARED
from catalogue.entries.deployments import Parallelism, Workload
from catalogue.entries.formulas import input_symbols
from catalogue.entries.hardware import Device
from catalogue.entries.models import Model
from catalogue.library import COMMAND_LINE
from catalogue.reading.amounts import human
from catalogue.reading.values import Unit, si_number

WORKLOAD, CUT = "workload.", "parallelism."
PLAIN = ("concurrency", "input_tokens", "output_tokens", "context_tokens",
         "max_num_batched_tokens", "block_size", "memory_utilization")
SHARE = "memory_utilization"
LARGEST_FIRST = ("context_tokens", SHARE)  # whose largest value is the easiest
NUMBERS_OF_CUT = (*DEGREES, SLICES, "redundant_experts", SHARED_RANKS, SHARED)
CUT_NAMES = dict(zip(("tensor", "pipeline", "data", "expert", "slices", "spares", "shared_ranks",
                      "context"), NUMBERS_OF_CUT, strict=True))
OF_CUT = tuple(kind for kind in KINDS if kind not in (*OF_PRECISION, CONTEXT, "stages"))
PER_DEVICE = {f"{name}_per_device": name for name in ("output_throughput", "steady_throughput")}
DEVICES = "devices"
STEADY = {"steady_tpot": -1, "steady_ttft": -1, "steady_throughput_per_device": +1}
BURST = {"tpot": -1, "ttft": -1, "output_throughput_per_device": +1}
SEEN = STEADILY | {"output_throughput_per_device": "steady_throughput_per_device"}
MOST_ROWS = 1 << 53  # whose numbers are exact
MOST_OUTER = 100_000
OTHER_DEVICES = "its parallel sizes do not multiply to the devices of the cluster"
PROGRAM = ("physics", "serving", "many", "layouts", "sweeping")


@dataclass(frozen=True)
class Choice:
    """One choice of entries: what it is at every place of the inner axes.

    Attributes:
        problem: why it is no deployment at all; then nothing else is meant.
        attention: ``mla`` or ``gqa``.
        fixed: inputs that are one number.
        columns: inputs that vary: the inner axis, and a value for each place on it.
        cut_axes: inner axes that say how the model is cut.
        cuts: for each place on these, 0, or one more than the place of a problem in ``problems``.
        problems: why a cut is none.
        requests: most that may be in flight; None where nothing says so.
        summed: whether the longest context is that of the request.
        positions: that the model knows [token].
    """

    problem: str | None = None
    attention: str = ""
    fixed: Mapping[str, float] | None = None
    columns: Mapping[str, tuple[int, np.ndarray]] | None = None
    cut_axes: tuple[int, ...] = ()
    cuts: np.ndarray | None = None
    problems: tuple[str, ...] = ()
    requests: float | None = None
    summed: bool = False
    positions: float = math.inf


@dataclass(frozen=True)
class Plan:
    """Everything that a chunk needs.

    Attributes:
        axes: outer axes, then inner ones.
        outer: how many are outer.
        choices: one for each place on the outer axes.
        objectives, best, every, chunk: as of the sweep.
        names: quantities of a row.
        key: of all of it, and of the program that computes it.
    """

    axes: tuple[Axis, ...]
    outer: int
    choices: tuple[Choice, ...]
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
        return int(np.prod(self.shape, dtype=object))

    @property
    def chunks(self) -> int:
        """Chunks in all."""
        return -(-self.count // self.chunk)

    def settings(self, row: int) -> dict[str, str]:
        """Path -> value of a row."""
        places = np.unravel_index(row, self.shape)
        return {path: text for axis, place in zip(self.axes, places, strict=True)
                for path, text in axis.settings(int(place)).items()}


def planned(sweep: Sweep) -> Plan:
    """Load what a sweep names, once for each choice of entries.

    Raises ParamsError for what no scenario can be; what cannot be laid out is an answer.
    """
    axes = sorted((_canonical(axis) for axis in sweep.axes), key=_is_inner)
    outer = sum(not _is_inner(axis) for axis in axes)
    shape = [len(axis.values) for axis in axes]
    if np.prod(shape, dtype=object) > MOST_ROWS:
        raise ParamsError(f"the axes have {human(float(np.prod(shape, dtype=object)))} "
                          f"combinations, expected at most {human(MOST_ROWS)}.")
    if np.prod(shape[:outer], dtype=object) > MOST_OUTER:
        raise ParamsError(f"{', '.join(axis.name for axis in axes[:outer])}: "
                          f"{np.prod(shape[:outer], dtype=object):,} combinations of entries to "
                          f"load, expected at most {MOST_OUTER:,}.")
    loader = _Loader(sweep, tuple(axes[outer:]))
    choices = tuple(loader.choice(dict(sum((tuple(axis.settings(place).items())
                                            for axis, place in zip(axes, places, strict=False)),
                                           ())))
                    for places in product(*map(range, shape[:outer])))
    objectives = {loader.seen(name): sign for name, sign in (
        sweep.objectives or (loader.usual if not sweep.every else {})).items()}
    names = tuple(dict.fromkeys((*objectives, *map(loader.seen, sweep.quantities), *(
        loader.usual if sweep.every and not sweep.quantities else ()))))
    _check_names(names, choices)
    plan = Plan(tuple(axes), outer, choices, objectives, sweep.best, sweep.every, names,
                sweep.chunk)
    return replace(plan, key=_key(plan))


def program() -> str:
    """What tells the formulas of one state of this program, and of NumPy, from another."""
    digest = hashlib.sha256(np.__version__.encode())
    room = Path(__file__).resolve().parents[1]
    for path in sorted(path for name in PROGRAM for path in (room / name).rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _key(plan: Plan) -> str:
    digest = hashlib.sha256()
    for piece in _pieces((plan, program())):
        digest.update(piece)
    return digest.hexdigest()[:16]


def _pieces(item: Any) -> Iterator[bytes]:
    """Bytes of plain data, the same for the same data."""
    if isinstance(item, np.ndarray):
        yield f"{item.dtype.str}{item.shape}".encode()
        yield item.tobytes()
    elif isinstance(item, Axis):
        yield from _pieces((item.paths, item.values))  # wherever it was given
    elif isinstance(item, (Plan, Choice, Mapping)):
        found = item if isinstance(item, Mapping) else vars(item)
        for name in sorted(found):
            yield f"{name}=".encode()
            yield from _pieces(found[name])
    elif isinstance(item, (tuple, list)):
        yield f"({len(item)}".encode()
        for part in item:
            yield from _pieces(part)
    else:
        yield f"{item!r};".encode()


def _canonical(axis: Axis) -> Axis:
    """An input of the workload is its path."""
    return replace(axis, paths=tuple(
        WORKLOAD + path if path in PLAIN else path for path in axis.paths))


def _is_inner(axis: Axis) -> bool:
    return all(path in input_symbols() or path.removeprefix(WORKLOAD) in PLAIN
               or (path.startswith(CUT) and _field(path) in NUMBERS_OF_CUT) for path in axis.paths)


def _field(path: str) -> str:
    return path.rpartition(".")[2]


def _rule(path: str) -> Unit:
    """What a value along an inner axis may be."""
    name = _field(path)
    own = (rule_of(entry, name) for entry in (Workload, Parallelism, Device, Model))
    return (next(filter(None, own), None) or mechanism_units().get(name)
            or Unit(symbols()[name].unit, exclusive=False))


def _numbers(axis: Axis) -> dict[str, np.ndarray]:
    """Path -> values along an inner axis (SI). Raises ParamsError for one that it cannot have."""
    found = {}
    for at, path in enumerate(axis.paths):
        rule, numbers = _rule(path), []
        for texts in axis.values:
            try:
                numbers.append(float(si_number(texts[at], rule)))
            except ValueError as error:
                raise ParamsError(f"{axis.origin}: {path}: {error}.") from None
        found[path] = np.array(numbers)
    return found


class _Loader:
    """Loads the choices of one sweep."""

    def __init__(self, sweep: Sweep, inner: tuple[Axis, ...]) -> None:
        self.sweep = sweep
        self.inner = inner
        self.values = [_numbers(axis) for axis in inner]
        self.paths = {path for numbers in self.values for path in numbers}
        self.usual: dict[str, int] = STEADY

    def seen(self, name: str) -> str:
        """What users see under the name of a latency or a throughput."""
        return name if self.usual is BURST else SEEN.get(name, name)

    def choice(self, settings: Mapping[str, str]) -> Choice:
        """What is known where the outer axes have these values."""
        raw = {path: text for path, text in settings.items() if path in input_symbols()}
        overrides = [f"{path}={text}" for path, text in settings.items() if path not in raw]
        freely = any(_field(path) in NUMBERS_OF_CUT for path in (*self.paths, *raw))
        try:
            scenario = load_scenario(self.sweep.scenario, cut=not freely, overrides=[
                *self.sweep.settings, *overrides, *self._easiest()])
        except LayoutError as error:
            return Choice(str(error).rstrip("."))
        if seen_of_burst(scenario):
            self.usual = BURST
        cut_free = [kind for kind in KINDS if not freely or kind not in OF_CUT]
        if lacking := list(refused(subject_of(scenario), cut_of(scenario), [
                kind for kind in cut_free if kind != CONTEXT])):
            return Choice(lacking[0].text["en"].split(". ")[0])
        numbers = {name: float(value) for name, value in scenario.inputs().items()}
        for path, text in raw.items():
            numbers[path] = float(si_number(text, _rule(path)))
        columns = self._columns(scenario, numbers)
        workload = scenario.file.workload
        if workload.output_tokens is None and "context_tokens" in columns:
            place, contexts = columns["context_tokens"]
            columns["input_tokens"] = place, contexts - 1
        fixed = {name: value for name, value in numbers.items() if name not in columns}
        cut_axes = tuple(sorted({columns[name][0] for name in NUMBERS_OF_CUT if name in columns}))
        cuts, problems = self._cuts(scenario, fixed, columns, cut_axes)
        return Choice(
            None, scenario.model.attention, fixed, columns, cut_axes, cuts, problems,
            float(workload.requests.value) if workload.requests else None,
            workload.context_tokens is None, positions(scenario.model))

    def _easiest(self) -> list[str]:
        """Of each axis of the workload the value that no other one can be too much for."""
        found = []
        for axis, numbers in zip(self.inner, self.values, strict=True):
            for at, (path, values) in enumerate(numbers.items()):
                if path.startswith(WORKLOAD):
                    place = (values.argmax() if _field(path) in LARGEST_FIRST else values.argmin())
                    found.append(f"{path}={axis.values[int(place)][at]}")
        return found

    def _columns(self, scenario: Scenario, numbers: Mapping[str, float],
                 ) -> dict[str, tuple[int, np.ndarray]]:
        """Inputs along the inner axes; of a parallel size also what the catalogue makes of it.

        The share of the memory is that of the deployment, also where the engine's default is
        another for a cut.
        """
        columns: dict[str, tuple[int, np.ndarray]] = {}
        for place, along in enumerate(self.values):
            found = {_field(path): values for path, values in along.items()}
            sizes = [path for path in along if path.startswith(CUT)]
            if sizes:
                rows = [_cut(scenario, {_field(path): along[path][i] for path in sizes}).inputs()
                        for i in range(len(along[sizes[0]]))]
                found |= {name: np.array([float(row[name]) for row in rows]) for name in numbers
                          if name not in (*found, SHARE)
                          and any(row[name] != numbers[name] for row in rows)}
            for name, values in found.items():
                if name in columns:
                    raise ParamsError(f"{self.inner[place].origin}: moves '{name}', as "
                                      f"'{self.inner[columns[name][0]].name}' does, expected one "
                                      "axis of it.")
                columns[name] = place, values
        return columns

    def _cuts(self, scenario: Scenario, fixed: Mapping[str, float],
              columns: Mapping[str, tuple[int, np.ndarray]], axes: tuple[int, ...],
              ) -> tuple[np.ndarray, tuple[str, ...]]:
        """Which places cannot be laid out, and why; as ``catalogue.load_scenario`` has it."""
        shape = tuple(len(self.inner[axis].values) for axis in axes)
        found, problems = np.zeros(shape, dtype=np.int32), dict[str, int]()
        devices = None if self.paths & set(DEGREES) else scenario.devices
        if not axes:
            return found, ()
        subject, own = subject_of(scenario), cut_of(scenario)
        rows: dict[str, list[int]] = {name: [] for name in CUT_NAMES}
        for places in np.ndindex(shape):
            at = dict(zip(axes, places, strict=True))
            for name, key in CUT_NAMES.items():
                axis, values = columns.get(key, (None, np.array([fixed.get(key, 0)])))
                rows[name].append(int(values[0 if axis is None else at[axis]]))
        table = {name: np.array(values) for name, values in rows.items()}
        table |= {name: np.full(len(table["tensor"]), getattr(own, name))
                  for name in ("drafts", "drafter")}
        kinds = Judge().kinds(subject, table, asked=OF_CUT)
        whole = table["tensor"] * table["pipeline"] * table["data"]
        for number, places in enumerate(np.ndindex(shape)):
            problem = (OTHER_DEVICES if devices is not None and whole[number] != devices
                       else self._why(subject, Cut(**{name: int(column[number])
                                                      for name, column in table.items()}))
                       if kinds[number] >= 0 else None)
            if problem:
                found[places] = problems.setdefault(problem, len(problems) + 1)
        return found, tuple(problems)

    def _why(self, subject: Subject, cut: Cut) -> str:
        """What is told of a cut that is not loaded, the same of all that are alike."""
        problem = next(refused(subject, cut, OF_CUT))
        if problem.kind == "division":
            return f"{problem.key} does not divide the model"
        if problem.kind == "blocks":
            return f"{problem.key} cuts blocks of '{subject.precision.id}'"
        if problem.kind == "dealt":
            return f"{SHARED} does not fit"
        return kind_words()[problem.kind][0]


def _cut(scenario: Scenario, sizes: Mapping[str, float]) -> Scenario:
    """A deployment in other parallel sizes."""
    values = {name: Value(int(size), "1", f"{size:g}", COMMAND_LINE, "assumed", int(size),
                          int(size)) for name, size in sizes.items()}
    file = scenario.file
    return replace(scenario, file=file.model_copy(update={
        "parallelism": file.parallelism.model_copy(update=values)}))


def _check_names(names: tuple[str, ...], choices: tuple[Choice, ...]) -> None:
    """Raises ParamsError for a quantity that there is not."""
    if not any(choice.problem is None for choice in choices):
        return
    choice = next(choice for choice in choices if choice.problem is None)
    fixed, columns = choice.fixed or {}, choice.columns or {}
    found = evaluate({**fixed, **{name: values[0] for name, (_, values) in columns.items()}},
                     choice.attention)
    known = [name for name in (*found, *input_symbols(), *PER_DEVICE, DEVICES)
             if not name.startswith("stage_")]
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=3, cutoff=0.4) or ["tpot", "ttft"]
            raise ParamsError(f"there is no quantity '{name[:60]}', the nearest names are "
                              f"{', '.join(near)}.")
