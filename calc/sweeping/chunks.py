"""One chunk of a sweep: a pure function of its plan and its number."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from calc.layouts.feasible import HEADROOM, has_room
from calc.many.fronts import Best, Front, Rows
from calc.many.sweeps import decode_sweep, sweep
from calc.serving.evaluate import SERVED_NAMES, STEADY_NAMES
from calc.sweeping.plan import DEVICES, PER_DEVICE, Choice, Plan
from catalogue.deployments.admission import too_long
from catalogue.entries.formulas import input_symbols

ROW = "row"
TOO_LONG = "context_tokens is less than input_tokens + output_tokens"
TOO_MANY = "concurrency is more than the requests that there are"
TOO_LARGE = "does not fit in memory"  # decided by calc.layouts.feasible.has_room
ENDLESS = "has no finite answer"
BEYOND = "is longer than the model knows positions"
OF_MEMORY = frozenset({
    HEADROOM, "memory_per_device", "usable_memory", "weights_per_device", "kv_per_device",
    "activations_per_device", "exchange_buffers", "free_for_kv_per_device", "max_concurrency"})


@dataclass
class RowCounts:
    """Rows of a sweep that were computed, and those that were left out.

    Attributes:
        rows: all of them.
        left: reason -> how many were left out for it, and the first of them.
    """

    rows: int = 0
    left: dict[str, tuple[int, int]] = field(default_factory=dict)

    def without(self, reason: str, rows: np.ndarray) -> None:
        """Leave rows out, if there are any."""
        if len(rows):
            self.merge(RowCounts(0, {reason: (len(rows), int(rows.min()))}))

    def merge(self, other: RowCounts) -> None:
        """Take in what was counted elsewhere."""
        self.rows += other.rows
        for reason, (count, first) in other.left.items():
            before, earliest = self.left.get(reason, (0, first))
            self.left[reason] = before + count, min(earliest, first)


def reducer(plan: Plan) -> Front | Best | None:
    """What takes in the rows of this sweep; None where all are kept."""
    if plan.every:
        return None
    if plan.best is None:
        return Front(plan.objectives)
    (name, sign), = plan.objectives.items()
    return Best(name, plan.best, sign)


def computed(plan: Plan, number: int) -> tuple[Rows, RowCounts]:
    """The rows of a chunk that are kept, with their numbers and quantities, and what was counted.

    Args:
        plan: of the sweep.
        number: of the chunk, from 0.
    """
    start = number * plan.chunk
    rows = np.arange(start, min(plan.count, start + plan.chunk))
    counted = RowCounts(len(rows))
    size = math.prod(plan.shape[plan.outer:])
    found = []
    for at in range(start // size, int(rows[-1]) // size + 1):
        part = rows[(rows >= at * size) & (rows < (at + 1) * size)]
        choice = plan.choices[at]
        if choice.problem is not None:
            counted.without(choice.problem, part)
            continue
        columns = _quantities(plan, choice, part, part - at * size, counted)
        if columns is not None:
            found.append(columns)
    names = (ROW, *plan.names)
    whole = {name: np.concatenate([columns[name] for columns in found]) if found
             else np.empty(0, dtype=np.int64 if name == ROW else float) for name in names}
    kept = reducer(plan)
    if kept is None or not found:
        return whole, counted
    return kept.add(whole).rows, counted


def _quantities(plan: Plan, choice: Choice, rows: np.ndarray, places: np.ndarray,
                counted: RowCounts) -> Rows | None:
    """Row numbers and quantities of what fits, of one choice of entries; None if nothing does."""
    inner = plan.shape[plan.outer:]
    at = np.unravel_index(places, inner) if inner else ()
    inputs: dict[str, Any] = dict(choice.inputs) | {
        name: values[at[axis]] for name, (axis, values) in plan.columns.items()}
    inputs["concurrency"] = np.broadcast_to(inputs["concurrency"], rows.shape)
    if choice.bounded and "context_tokens" in plan.columns:
        inputs["input_tokens"] = inputs["context_tokens"] - 1
    needed = inputs["input_tokens"] + inputs["output_tokens"]
    if choice.summed and {"input_tokens", "output_tokens"} & plan.columns.keys():
        inputs["context_tokens"] = needed
    kept = np.ones(rows.shape, dtype=bool)
    for reason, wrong in _refused(choice, inputs, needed):
        counted.without(reason, rows[kept & wrong])
        kept &= np.logical_not(wrong)
    rows, inputs = _only(kept, rows, inputs)
    if not len(rows):
        return None
    memory = sweep(inputs, choice.attention, sorted(OF_MEMORY), decode=False)
    fits = has_room(memory)
    counted.without(TOO_LARGE, rows[~fits])
    rows, inputs = _only(fits, rows, inputs)
    if not len(rows):
        return None
    columns = _told(plan.names, choice.attention, inputs,
                    {name: column[fits] for name, column in memory.items()}, len(rows))
    finite = np.logical_and.reduce([np.isfinite(column) for column in columns.values()])
    counted.without(ENDLESS, rows[~finite])
    return {ROW: rows[finite]} | {name: column[finite] for name, column in columns.items()}


def _refused(choice: Choice, inputs: Mapping[str, Any], needed: Any) -> Iterator[tuple[str, Any]]:
    """What ``catalogue`` refuses of a workload, as it depends on several of its numbers."""
    if choice.requests is not None:
        yield TOO_MANY, inputs["concurrency"] > choice.requests
    yield TOO_LONG, np.less(inputs["context_tokens"], needed)
    if choice.positions < math.inf:
        yield BEYOND, too_long(inputs["context_tokens"], choice.positions)


def _only(kept: np.ndarray, rows: np.ndarray, inputs: dict[str, Any],
          ) -> tuple[np.ndarray, dict[str, Any]]:
    if kept.all():
        return rows, inputs
    return rows[kept], {name: value[kept] if np.ndim(value) else value
                        for name, value in inputs.items()}


def _told(names: Sequence[str], attention: str, inputs: Mapping[str, Any], memory: Rows,
          count: int) -> Rows:
    """Quantities of deployments that fit, by the shortest way to each."""
    asked = ({PER_DEVICE.get(name, name) for name in names} - memory.keys() - input_symbols()
             - {DEVICES})
    steps = asked & (SERVED_NAMES | STEADY_NAMES)
    found: dict[str, Any] = dict(inputs) | memory
    if steps:
        found |= decode_sweep(inputs, attention, sorted(steps), threads=1)
    if rest := asked - steps:
        found |= sweep(inputs, attention, sorted(rest))
    found[DEVICES] = (inputs["tensor_parallel"] * inputs["pipeline_parallel"]
                      * inputs["data_parallel"])
    for name in set(names) & PER_DEVICE.keys():
        found[name] = found[PER_DEVICE[name]] / found[DEVICES]
    return {name: np.broadcast_to(found[name], (count,)).astype(float) for name in names}
