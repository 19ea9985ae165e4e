"""The inputs of every kind of deployment as a table: each column over those axes that move it.

An input is a number of a few of the axes alone: bytes of a weight hang on the precision, a peak on
card and precision. Which ones is found, not declared: an axis is left out if the numbers are the
same whatever it is.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

import numpy as np

from calc.evidence.classes import class_of, errors_of_class
from catalogue import load_model, model_inputs
from catalogue.deployments.physics_inputs import Knob, unstated
from catalogue.entries.calibrations import ALONE, CONCURRENT
from notebooks.pages.calculators.extras import WAYS, extras
from notebooks.pages.calculators.offers import (
    AXES,
    MODELS,
    USUAL,
    Kind,
    cards,
    cores_of,
    engines,
    gathers,
    kinds,
    precisions,
    scenario_of,
    sort_of,
)
from notebooks.pages.calculators.views import ATTENTIONS, MEASURED, input_symbols

NOTHING = -1
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"
# shares of the kinds that are resolved at first, at random: no pattern of the axes; the next where
# others, GLIMPSED of all, are told wrong
RESOLVED = 0.04, 0.15
# the same for what else may be set: most of it moves a few inputs, whatever the kind
GLIMPSED, RESOLVED_BESIDE = 0.005, (0.005, 0.02, 0.15)
MORE = 4.0  # times as many, where those were too few
OWN = "own"  # the formulas' own error, by quantity and side; of a phase alone its own
GATHERS = "value gathers"
CLASS = f"class {OWN}"  # of that error, and of what was measured
# set by the page: numbers of a layout and of a workload
SET = {"tp": "tensor_parallel", "pp": "pipeline_parallel", "dp": "data_parallel",
       "ep": "expert_parallel", "dcp": "decode_context_parallel",
       "users": "concurrency", "input": "input_tokens", "output": "output_tokens",
       "drafts": "draft_tokens", "chunk": "max_num_batched_tokens", "block": "block_size",
       "share": "memory_utilization", "longest": "context_tokens",
       "vary": "prompt_variation", "varyToo": "answer_variation"}
Cell = float | str | None  # a knob by its name


@dataclass(frozen=True)
class Axes:
    """The values of each axis; of models those that stand for their sort."""

    values: tuple[tuple[Any, ...], ...]

    @classmethod
    @functools.cache
    def of_offers(cls) -> Axes:
        """Of everything that is offered."""
        of_cards = cards()
        sorts = {sort_of(name): name for name in reversed(MODELS)}
        stored = dict.fromkeys(name for card in of_cards for model in sorts.values()
                               for name in precisions(card, model))
        running = dict.fromkeys(name for card in of_cards for name in engines(card))
        return cls((tuple(of_cards), tuple(dict.fromkeys(map(cores_of, sorts.values()))),
                    tuple(sorts.values()), tuple(stored), tuple(running),
                    (0, 1), (0, 1, 2), (0, 1, 2), (0, 1), (0, 1)))

    def of(self, axis: str) -> tuple[Any, ...]:
        """The values of one axis by its name."""
        return self.values[AXES.index(axis)]

    @functools.cached_property
    def kinds(self) -> tuple[Kind, ...]:
        """Every kind of deployment that is offered, of each sort of model one."""
        return tuple(Kind(card, model, precision, engine, servers, exchange,
                          sent + (sent and gathers(card, model, precision, engine, drafted)),
                          replicas, drafted)
                     for card in self.of("card") for model in self.of("model")
                     for precision in precisions(card, model) for engine in engines(card)
                     for servers, exchange, sent, replicas, drafted in kinds(card, model))

    @functools.cached_property
    def places(self) -> np.ndarray:
        """Indices of each kind on the axes, shape (kinds, axes)."""
        return np.array([list(map(values.index, map(attrgetter(name), self.kinds)))
                         for name, values in zip(AXES, self.values, strict=True)]).T

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many values each has [1]."""
        return tuple(map(len, self.values))


@dataclass(frozen=True)
class Column:
    """One column: over some axes, the number of each place.

    Attributes:
        name: ``value SYMBOL``, ``low SYMBOL``, ``high SYMBOL``, ``knob SYMBOL``, or of ``OWN``,
            whose class is one too.
        axes: indices of the axes.
        values: the numbers that occur.
        at: of which of them each place has, the last axis fastest; ``NOTHING`` where no kind is.
    """

    name: str
    axes: tuple[int, ...]
    values: tuple[Cell, ...]
    at: tuple[int, ...]

    def at_places(self, places: np.ndarray, sizes: tuple[int, ...]) -> list[Cell]:
        """The numbers of some kinds, by their places on all axes."""
        if not self.axes:
            return [self.values[0]] * len(places)
        return [self.values[self.at[place]] for place in _flat(places, self.axes, sizes)]

    def as_json(self) -> list[Any]:
        """Plain data; the places as one text where they have one digit each."""
        if not self.axes:
            return [self.name, [], self.values[:1]]
        places = ("".join(DIGITS[place] for place in self.at)  # of nothing, the last digit
                  if len(self.values) < len(DIGITS) else list(self.at))
        return [self.name, self.axes, self.values, places]


@functools.cache
def _symbols(wanted: tuple[str, ...] = ()) -> dict[str, tuple[str, ...]]:
    """Inputs that the table has, all but shapes of a model and what the page sets: each with the
    names of its columns, its value first.

    Args:
        wanted: columns; none: all.
    """
    shapes = model_inputs(load_model(USUAL))
    every = frozenset[str]().union(*map(input_symbols, ATTENTIONS))
    found = {name: tuple(f"{what} {name}" for what in ("value", "low", "high", "knob"))
             for name in every - shapes.keys() - set(SET.values())}
    return {name: named for name, named in found.items() if not wanted or {*named} & {*wanted}}


def row(kind: Kind, wanted: tuple[str, ...] = ()) -> dict[str, Cell]:
    """Every column of a kind: inputs, ends of those that have a range, and the own errors.

    Args:
        kind: of deployment.
        wanted: columns, if no others are; there may be more.
    """
    scenario = scenario_of(kind)
    inputs, symbols, settable = scenario.inputs(), _symbols(wanted), extras()
    found: dict[str, Cell] = {named[0]: inputs[name] for name, named in symbols.items()}
    values = scenario.values()
    plain = [Knob(name, values[name], (name,)) for name in symbols.keys() & values.keys()]
    for knob in (*plain, *scenario.mechanism_knobs):
        low, high = knob.value.low, knob.value.high
        if knob.name in settable or low < high:
            for name in knob.symbols:
                if name in symbols:
                    _, found_low, found_high, found_knob = symbols[name]
                    found[found_low], found[found_high], found[found_knob] = low, high, knob.name
    for knob_name, moved in unstated(scenario).items():
        if knob_name in settable:  # which inputs it moves, once it is set
            for name in moved:
                if name in symbols:
                    found.setdefault(symbols[name][-1], knob_name)
    found[CLASS] = class_of(scenario)
    # a pool apart and an answer of one token are a phase alone: the page knows which
    for what, errors in ((OWN, errors_of_class(scenario, CONCURRENT)),
                         (ALONE, errors_of_class(scenario, ALONE))):
        for name, own in errors.items():
            if name in MEASURED:  # the page adds what the distance from what was measured does
                found |= {f"{what} {name} {side}": size
                          for side, size in zip(("down", "up"), own.of_class, strict=True)}
    return found


Row = Callable[[Kind], dict[str, Cell]]


def _some(axes: Axes, share: float, seed: int = 0) -> list[int]:
    """Numbers of a share of the kinds, at random and always the same."""
    chosen = np.random.default_rng(seed).random(len(axes.kinds)) < share
    return [int(number) for number in np.flatnonzero(chosen)]


def gathering(axes: Axes) -> Column:
    """Whether the engine of a kind has ranks gather tokens, which is one of its axes: the page
    reads it where nothing is sent."""
    found, = columns(axes, (1.0,), lambda kind: {GATHERS: int(gathers(
        kind.card, kind.model, kind.precision, kind.engine, kind.drafted))})
    return found


def switched(axes: Axes) -> dict[str, list[Column]]:
    """The columns that each way of ``extras.WAYS`` moves, and what it makes of them.

    None is what it takes away.
    """
    some, found = [axes.kinds[number] for number in _some(axes, GLIMPSED)], {}
    plain = [row(kind) for kind in some]
    for name, (_, ways) in WAYS.items():
        for way in ways:
            key = name, way
            known = {kind: row(replace(kind, ways=(key,))) for kind in some}
            pairs = zip(plain, known.values(), strict=True)
            moved = tuple(sorted({column for pair in pairs for column in _differing(*pair)}))

            def of(kind: Kind, key: tuple[str, str] = key, moved: tuple[str, ...] = moved,
                   known: dict[Kind, dict[str, Cell]] = known) -> dict[str, Cell]:
                after = known.get(kind) or row(replace(kind, ways=(key,)), moved)
                return {column: after.get(column) for column in moved}

            found[f"{name}={way}"] = columns(axes, RESOLVED_BESIDE, of) if moved else []
    return found


def _differing(before: Mapping[str, Cell], after: Mapping[str, Cell]) -> set[str]:
    return {name for name, _ in before.items() ^ after.items()}


def columns(axes: Axes, shares: Sequence[float] = RESOLVED, of: Row = row) -> list[Column]:
    """The table of what is offered, each column over the axes that move it.

    As few kinds are resolved as will do: the table has to tell the numbers of others. A column over
    no axis needs no others: its number was the same in every kind that was resolved.

    Args:
        axes: with every kind on them.
        shares: of the kinds that are resolved at first [1], one after another until one will do.
        of: the numbers of a kind by column.
    """
    others = _some(axes, GLIMPSED, seed=1)
    told: list[dict[str, Cell]] = []
    rows: dict[int, dict[str, Cell]] = {}
    for share in shares:
        rows |= {number: of(axes.kinds[number]) for number in _some(axes, share)
                 if number not in rows}
        found = _filled(axes, share, rows, of)
        fitted = [column for column in found if column.axes]
        if fitted and not told:
            told = [of(axes.kinds[number]) for number in others]
        if all(column.at_places(axes.places[others], axes.sizes)
               == [each.get(column.name) for each in told] for column in fitted):
            break
    return found


def _filled(axes: Axes, share: float, rows: dict[int, dict[str, Cell]], of: Row) -> list[Column]:
    """The columns by rows of some kinds, and of those that have a place without a number.

    Places without a number that outnumber the kinds are of a column that too few kinds let hang on
    too many axes: more are resolved then.

    Args:
        axes, share, of: as of :func:`columns`.
        rows: by the numbers of kinds; those that are resolved besides are added.
    """
    while True:
        numbers = sorted(rows)
        found = _columns([rows[number] for number in numbers], axes.places[numbers], axes.sizes)
        one_of_each = {column.axes: column for column in found}
        lacking = sorted({int(number) for column in one_of_each.values()
                          for number in _unfilled(column, axes.places, axes.sizes)})
        if not lacking:
            return found
        if len(lacking) > len(rows):
            share *= MORE
            lacking = _some(axes, share)
        rows |= {number: of(axes.kinds[number]) for number in lacking if number not in rows}


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


def _columns(rows: Sequence[Mapping[str, Cell]], places: np.ndarray, sizes: tuple[int, ...]
             ) -> list[Column]:
    """The columns of some rows, each over the axes that its numbers depend on."""
    names = sorted(set[str]().union(*rows))
    values, codes = [], np.empty((len(names), len(rows)), np.int32)
    for name, own in zip(names, codes, strict=True):
        cells = [each.get(name) for each in rows]
        known = {cell: code for code, cell in enumerate(dict.fromkeys(cells))}
        own[:] = [*map(known.__getitem__, cells)]
        values.append(tuple(known))
    found = {}
    for axes, those in _axes(codes, places, sizes).items():
        at = np.full(math.prod(sizes[axis] for axis in axes), NOTHING)
        for number in those:
            if axes:
                at[_flat(places, axes, sizes)] = codes[number]
            found[number] = Column(names[number], axes, values[number], tuple(at.tolist()))
    return [found[number] for number in range(len(names))]


def _axes(codes: np.ndarray, places: np.ndarray, sizes: tuple[int, ...]
          ) -> dict[tuple[int, ...], list[int]]:
    """Numbers of columns by the axes that say what each of their codes is.

    Args:
        codes: by column and row.
        places: of each row on all axes.
        sizes: of the axes.
    """
    vary = codes.any(axis=1)  # the first code is 0
    found = {tuple(range(len(sizes))): np.flatnonzero(vary).tolist()}
    for axis in reversed(range(len(sizes))):
        for axes, those in [*found.items()]:
            fewer = tuple(other for other in axes if other != axis)
            if fewer:
                _, first, of = np.unique(_flat(places, fewer, sizes), return_index=True,
                                         return_inverse=True)
                same = [number for number in those
                        if (codes[number, first[of]] == codes[number]).all()]
                found[axes] = sorted({*those} - {*same})
                found.setdefault(fewer, []).extend(same)
        found = {axes: those for axes, those in found.items() if those}
    return found | {(): np.flatnonzero(~vary).tolist()}
