"""A sweep resolved: the inputs of every choice of entries, and columns along the other axes.

An axis is *outer* where a deployment has to be loaded for each of its values (a device, a
precision, an engine, a layout), and *inner* where its values are numbers that stay numbers: of the
workload, or input symbols themselves. Rows are numbered with the inner axes fastest. A plan
consists of nothing but numbers and names, so that a chunk is the same on any machine.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from calc.answer.steady_state import STEADILY, is_burst
from calc.serving.evaluate import evaluate
from calc.sweeping.definition import CUT, PLAIN, TOGETHER, WORKLOAD, Axis, Sweep
from catalogue import LayoutError, ParamsError, load_scenario, symbols
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
from catalogue.deployments.physics_inputs import mechanism_units, rule_of
from catalogue.entries.deployments import Workload
from catalogue.entries.formulas import input_symbols
from catalogue.entries.hardware import Device
from catalogue.entries.models import Model
from catalogue.reading.units import human
from catalogue.reading.values import Unit, si_number

LARGEST_FIRST = ("context_tokens", "memory_utilization")  # whose largest value is the easiest
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


def planned(sweep: Sweep) -> Plan:
    """Load what a sweep names, once for each choice of entries.

    Raises ParamsError for what no scenario can be; what cannot be laid out is an answer.
    """
    axes = sorted(sweep.read_axes(), key=_is_inner)
    outer = sum(not _is_inner(axis) for axis in axes)
    shape = [len(axis.values) for axis in axes]
    for what, of, most in (("combinations", axes, MOST_ROWS),
                           ("combinations of entries to load", axes[:outer], MOST_OUTER)):
        if (size := math.prod(shape[:len(of)])) > most:
            paths = ", ".join(TOGETHER.join(axis.paths) for axis in of)
            raise ParamsError(f"{paths}: {human(float(size))} {what}, expected at most "
                              f"{human(most)}.")
    columns = {_field(path): (index, _numbers(axis, at)) for index, axis in enumerate(axes[outer:])
               for at, path in enumerate(axis.paths)}
    easiest = _easiest(axes[outer:], columns)
    choices = tuple(_choice(sweep, easiest, columns, _settings(axes[:outer], places))
                    for places in product(*map(range, shape[:outer])))
    usual, seen = (BURST, {}) if any(choice.burst for choice in choices) else (STEADY, SEEN)
    objectives = {seen.get(name, name): sign for name, sign in (
        sweep.objectives or (usual if not sweep.all else {})).items()}
    names = tuple(dict.fromkeys((
        *objectives, *(seen.get(name, name) for name in sweep.quantities),
        *(usual if sweep.all and not sweep.quantities else ()))))
    _check_names(names, choices, columns)
    plan = Plan(tuple(axes), outer, choices, columns, objectives, sweep.best, sweep.all, names,
                sweep.chunk)
    data = json.dumps(vars(plan) | {"program": program()}, default=_plain, sort_keys=True)
    return replace(plan, key=hashlib.sha256(data.encode()).hexdigest()[:16])


@cache
def program() -> str:
    """What tells the formulas of one state of this program, and of NumPy, from another."""
    digest = hashlib.sha256(np.__version__.encode())
    room = Path(__file__).resolve().parents[1]
    for path in sorted(path for name in PROGRAM for path in (room / name).rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _plain(item: Any) -> Any:
    """An array, an axis wherever it was given, or a choice as plain data."""
    return item.tolist() if isinstance(item, np.ndarray) else vars(item) | {"origin": ""}


def _settings(axes: Sequence[Axis], places: Sequence[Any]) -> dict[str, str]:
    """Path -> value at a place on each axis."""
    return {path: text for axis, index in zip(axes, places, strict=True)
            for path, text in zip(axis.paths, axis.values[int(index)], strict=True)}


def _is_inner(axis: Axis) -> bool:
    return all(path in input_symbols() or path.removeprefix(WORKLOAD) in PLAIN
               for path in axis.paths)


def _field(path: str) -> str:
    return path.rpartition(".")[2]


def _rule(path: str) -> Unit:
    """What a value along an inner axis may be."""
    name = _field(path)
    own = (rule_of(entry, name) for entry in (Workload, Device, Model))
    return (next(filter(None, own), None) or mechanism_units().get(name)
            or Unit(symbols()[name].unit, exclusive=False))


def _numbers(axis: Axis, at: int) -> np.ndarray:
    """Values of a path along an inner axis, SI. Raises ParamsError for one that it cannot have."""
    path = axis.paths[at]
    try:
        return np.array([float(si_number(texts[at], _rule(path))) for texts in axis.values])
    except ValueError as error:
        raise ParamsError(f"{axis.origin}: {path}: {error}.") from None


def _easiest(inner: list[Axis], columns: Mapping[str, tuple[int, np.ndarray]]) -> list[str]:
    """Of each axis of the workload the value that no other one can be too much for."""
    indices = []
    for axis in inner:
        for at, path in enumerate(axis.paths):
            if path.startswith(WORKLOAD):
                numbers = columns[_field(path)][1]
                index = (numbers.argmax() if _field(path) in LARGEST_FIRST else numbers.argmin())
                indices.append(f"{path}={axis.values[int(index)][at]}")
    return indices


def _choice(sweep: Sweep, easiest: list[str], columns: Mapping[str, Any],
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
        path: float(si_number(text, _rule(path))) for path, text in raw.items()}
    workload = scenario.file.workload
    return Choice(
        None, scenario.model.attention,
        {name: value for name, value in inputs.items() if name not in columns},
        float(workload.requests.value) if workload.requests else None,
        workload.context_tokens is None, workload.output_tokens is None, positions(scenario.model),
        burst)


def _check_names(names: tuple[str, ...], choices: tuple[Choice, ...],
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
            near = difflib.get_close_matches(name, existing, n=3, cutoff=0.4) or ["tpot", "ttft"]
            raise ParamsError(f"there is no quantity '{name[:60]}', the nearest names are "
                              f"{', '.join(near)}.")
