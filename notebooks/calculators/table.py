"""The inputs of every kind of deployment as a table: each column over those axes that move it.

An input is a number of a few of the axes alone: bytes of a weight hang on the precision, a peak on
card and precision. Which ones is found, not declared: an axis is left out if the numbers are the
same whatever it is.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calc.evidence.classes import deviations
from calculators.offers import (
    AXES,
    MODELS,
    Kind,
    cards,
    engines,
    kinds,
    precisions,
    scenario_of,
    sort_of,
)
from calculators.views import ATTENTIONS, RANGED, taken
from catalogue import load_model, model_inputs
from catalogue.reading.values import Value

NOTHING = -1
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"
RESOLVED = 0.1  # share of the kinds that are resolved at first, at random: no pattern of the axes
OWN = "own"  # the formulas' own error, by quantity and side
# set by the page: numbers of a layout and of a workload
SET = {"tp": "tensor_parallel", "pp": "pipeline_parallel", "dp": "data_parallel",
       "ep": "expert_parallel", "users": "concurrency", "input": "input_tokens",
       "output": "output_tokens", "drafts": "draft_tokens", "chunk": "max_num_batched_tokens",
       "block": "block_size", "share": "memory_utilization", "longest": "context_tokens"}
Number = float | None


@dataclass(frozen=True)
class Axes:
    """The values of each axis; of models those that stand for their sort."""

    values: tuple[tuple[Any, ...], ...]

    @classmethod
    def of_offers(cls) -> Axes:
        """Of everything that is offered."""
        of_cards = [card.id for card in cards()]
        stored = dict.fromkeys(name for card in of_cards for name in precisions(card))
        running = dict.fromkeys(name for card in of_cards for name in engines(card))
        sorts = {sort_of(name): name for name in reversed(MODELS)}
        return cls((tuple(of_cards), tuple(sorts.values()), tuple(stored), tuple(running),
                    (0, 1), (0, 1, 2), (0, 1), (0, 1)))

    def place(self, kind: Kind) -> tuple[int, ...]:
        """Indices of a kind."""
        return tuple(values.index(getattr(kind, name))
                     for name, values in zip(AXES, self.values, strict=True))

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many values each has [1]."""
        return tuple(map(len, self.values))


@dataclass(frozen=True)
class Column:
    """One column: over some axes, the number of each place.

    Attributes:
        name: ``value SYMBOL``, ``low SYMBOL``, ``high SYMBOL``, ``knob SYMBOL``, or of ``OWN``.
        axes: indices of the axes.
        values: the numbers that occur.
        at: of which of them each place has, the last axis fastest; ``NOTHING`` where no kind is.
    """

    name: str
    axes: tuple[int, ...]
    values: tuple[Number, ...]
    at: tuple[int, ...]

    def as_json(self) -> list[Any]:
        """Plain data; the places as one text where they have one digit each."""
        if not self.axes:
            return [self.name, [], self.values[:1]]
        places = ("".join(DIGITS[place] for place in self.at)  # of nothing, the last digit
                  if len(self.values) < len(DIGITS) else list(self.at))
        return [self.name, self.axes, self.values, places]


def every_kind(axes: Axes) -> list[Kind]:
    """Every kind of deployment that is offered, of each sort of model one."""
    return [Kind(card, model, precision, engine, *rest)
            for card in axes.values[0] for model in axes.values[1]
            for precision in precisions(card) for engine in engines(card)
            for rest in kinds(card, model)]


@functools.cache
def _symbols() -> tuple[str, ...]:
    """Inputs that the table has: all but shapes of a model and what the page sets."""
    shapes = model_inputs(load_model(MODELS[0]))
    every = frozenset[str]().union(*map(taken, ATTENTIONS))
    return tuple(sorted(every - shapes.keys() - set(SET.values())))


def row(kind: Kind) -> dict[str, Number]:
    """Every column of a kind: inputs, ends of those that have a range, and the own errors."""
    scenario = scenario_of(kind)
    inputs, symbols = scenario.inputs(), _symbols()
    found: dict[str, Number] = {f"value {name}": inputs[name] for name in symbols}
    for knob in scenario.every_knob():
        value: Value = knob.value
        if value.low < value.high:
            moved = [name for name in knob.symbols if name in symbols]
            for name in moved:
                found |= {f"low {name}": value.low, f"high {name}": value.high,
                          f"knob {name}": symbols.index(moved[0])}
    for name, sides in deviations(scenario).items():
        if name in RANGED:
            found |= {f"{OWN} {name} {side}": size
                      for side, size in zip(("down", "up"), sides, strict=True)}
    return found


def columns(axes: Axes, offered: Sequence[Kind]) -> list[Column]:
    """The table of what is offered, each column over the axes that move it.

    Not every kind is resolved: some of them show what moves a column, and where a place of it
    is left without a number, so are those that have one.
    """
    every = np.array([axes.place(kind) for kind in offered])
    chosen = np.random.default_rng(0).random(len(offered)) < RESOLVED
    rows = {number: row(offered[number]) for number in np.flatnonzero(chosen).tolist()}
    while True:
        numbers = sorted(rows)
        names = sorted({name for one in rows.values() for name in one})
        found = [_column(name, [rows[number].get(name) for number in numbers], every[numbers],
                         axes.sizes) for name in names]
        lacking = sorted({int(number) for column in found
                          for number in _unfilled(column, every, axes.sizes)})
        if not lacking:
            return found
        rows |= {number: row(offered[number]) for number in lacking}


def _unfilled(column: Column, places: np.ndarray, sizes: tuple[int, ...]) -> np.ndarray:
    """Of each place that a column lacks the number of one kind that has it."""
    if not column.axes:
        return np.array([], int)
    flat = _flat(places, column.axes, sizes)
    _, first = np.unique(flat, return_index=True)
    return first[np.array(column.at)[flat[first]] == NOTHING]


def _flat(places: np.ndarray, axes: Sequence[int], sizes: tuple[int, ...]) -> np.ndarray:
    """Places on some axes as one number each."""
    found: np.ndarray = np.ravel_multi_index(places[:, list(axes)].T,
                                             [sizes[axis] for axis in axes])
    return found


def _column(name: str, numbers: Iterable[Number], places: np.ndarray,
            sizes: tuple[int, ...]) -> Column:
    known: dict[Number, int] = {}
    codes = np.array([known.setdefault(number, len(known)) for number in numbers])
    kept = list(range(len(sizes))) if len(known) > 1 else []
    for axis in reversed(kept):
        fewer = [other for other in kept if other != axis]
        if fewer and _suffices(codes, places, fewer, sizes):
            kept = fewer
    at = np.full(math.prod(sizes[axis] for axis in kept), NOTHING)
    if kept:
        at[_flat(places, kept, sizes)] = codes
    return Column(name, tuple(kept), tuple(known), tuple(at.tolist()))


def _suffices(codes: np.ndarray, places: np.ndarray, axes: list[int],
              sizes: tuple[int, ...]) -> bool:
    """Whether the places on some axes say what each code is."""
    flat = _flat(places, axes, sizes)
    first = np.full(math.prod(sizes[axis] for axis in axes), NOTHING)
    first[flat] = codes
    return bool((first[flat] == codes).all())
