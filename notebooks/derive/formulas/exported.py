"""The formulas that the derivations export: the file, their order, their values.

``formulas.json`` is committed like a lock file: a change of physics is a diff of it.
Formulas form a directed graph without cycles: a symbol of a tree is an input or another formula.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from catalogue.entries.formulas import Cache, Number, evaluate, shared, symbols_of
from catalogue.reading.files import write_whole

FORMULAS = Path(__file__).with_name("formulas.json")
VARIANTS = ("mla", "gqa", "csa")
REMEMBERED = 256  # values of a formula; a page needs fewer
COST = "cost"
DECIDING = (COST, "day", "scale")  # notebooks of decisions, not of a step of a deployment


class DerivationError(Exception):
    """A formula that cannot stand: unknown symbol, wrong dimension, drift from the lock."""


@dataclass(frozen=True)
class Formula:
    """One exported formula.

    Attributes:
        name: quantity of ``params/symbols.yml``.
        variant: attention that it holds for; None for every one.
        tree: nested lists over the operators of ``catalogue.entries.formulas``.
        unit: SI unit of the quantity.
        latex: the right-hand side as the page prints it.
        notebook, anchor: where it is derived, and the label there.
    """

    name: str
    variant: str | None
    tree: Any
    unit: str
    latex: str
    notebook: str
    anchor: str

    @functools.cached_property
    def needs(self) -> frozenset[str]:
        """Symbols that the formula needs."""
        return frozenset(symbols_of(self.tree))

    @functools.cached_property
    def remembered(self) -> dict[tuple[Number | None, ...], Number]:
        """Its values (SI) by those of what it needs, as :class:`Evaluated` finds them.

        A page changes one or two inputs at a time, and most formulas need neither.
        """
        return {}

    @property
    def key(self) -> str:
        """``name``, or ``name@variant``."""
        return f"{self.name}@{self.variant}" if self.variant else self.name


def load_formulas(path: Path = FORMULAS) -> dict[str, Formula]:
    """Every formula by key; empty if there is no file yet."""
    if not path.is_file():
        return {}
    now = path.stat()
    return dict(_read(path, now.st_ino, now.st_size, now.st_mtime_ns))


@functools.lru_cache(maxsize=4)
def _read(path: Path, *_version: int) -> dict[str, Formula]:
    """Return the formulas of a version of the file; another version is a new file."""
    made: dict[tuple[Any, ...], Any] = {}
    return {key: Formula(**{**entry, "tree": shared(entry["tree"], made)})
            for key, entry in json.loads(path.read_bytes()).items()}


def save_formulas(formulas: Iterable[Formula], path: Path = FORMULAS) -> None:
    """Write the file at once or not at all: sorted, one line per field, the same on every run."""
    blocks = []
    for formula in sorted(formulas, key=lambda f: f.key):
        lines = [f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"
                 for key, value in asdict(formula).items()]
        blocks.append(f"{json.dumps(formula.key)}: {{\n" + ",\n".join(lines) + "\n}")
    write_whole(path, ("{\n" + ",\n".join(blocks) + "\n}\n").encode())


def formula_of(name: str, attention: str) -> Formula | None:
    """The stored formula of a quantity, that of an attention where it has one of its own."""
    stored = load_formulas()
    return stored.get(name) or stored.get(f"{name}@{attention}")


def select(formulas: Mapping[str, Formula], attention: str) -> dict[str, Formula]:
    """The formulas of a deployment that hold for an attention, by name."""
    return {f.name: f for f in formulas.values()
            if f.variant in (None, attention) and f.notebook not in DECIDING}


def of_notebook(formulas: Mapping[str, Formula], notebook: str) -> dict[str, Formula]:
    """The formulas that one notebook exports, by name."""
    return {f.name: f for f in formulas.values() if f.notebook == notebook}


def order(formulas: Mapping[str, Formula], wanted: Iterable[str] | None = None) -> list[str]:
    """Return names such that each formula comes after those that it uses.

    Args:
        formulas: by name.
        wanted: quantities that are computed with what they need, all unless given.

    Raises DerivationError naming the formulas of a cycle.
    """
    needs = frozenset((name, formula.needs) for name, formula in formulas.items())
    return list(ordered(needs, tuple(sorted(formulas) if wanted is None else wanted)))


@functools.lru_cache(maxsize=1024)
def ordered(needs: frozenset[tuple[str, frozenset[str]]], wanted: tuple[str, ...]
            ) -> tuple[str, ...]:
    """Return names and what they need, each after what it needs, from pairs of a name and its
    symbols."""
    uses, graph, open_names = dict(needs), dict[str, list[str]](), list(wanted)
    while open_names:
        if (name := open_names.pop()) in uses and name not in graph:
            graph[name] = sorted(uses[name] & uses.keys())
            open_names += graph[name]
    try:
        return tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        cycle = " → ".join(reversed(error.args[1]))
        raise DerivationError(f"formulas need each other in a circle: {cycle}.") from None


def stagewise(formulas: Mapping[str, Formula]) -> set[str]:
    """Names of the formulas that depend on the pipeline stage."""
    found: set[str] = set()
    for name in order(formulas):
        used = formulas[name].needs
        if "stage" in used or used & found:
            found.add(name)
    return found


def computable(formulas: Mapping[str, Formula], inputs: Iterable[str]) -> dict[str, Formula]:
    """The formulas for which some inputs suffice."""
    known, found = {*inputs, "stage"}, {}
    for name in order(formulas):
        if formulas[name].needs <= known:
            known.add(name)
            found[name] = formulas[name]
    return found


class Evaluated(Mapping[str, Number]):
    """Inputs and the value of every formula (SI), each evaluated when it is first asked for.

    Numbers are carried as fractions, so that ceil and floor are right on exact multiples of bytes
    too. Asking raises DerivationError naming a formula that has no value.
    """

    def __init__(self, formulas: Mapping[str, Formula], inputs: Mapping[str, Number],
                 stage: int = 0) -> None:
        """Take formulas of one attention (``select``), the stage-wise ones at ``stage``."""
        self.formulas, self._inputs = formulas, inputs
        self._found: dict[str, Number] = {}
        self._known: dict[str, Number] = {**inputs, "stage": stage}  # what is found besides
        self._exact = {name: _exact(value) for name, value in self._known.items()}
        self._parts: Cache = {}  # what parts come to that formulas have in common

    def __getitem__(self, name: str) -> Number:
        if name not in self.formulas:
            return self._inputs[name]
        if name not in self._found:
            formula = self.formulas[name]
            for other in formula.needs & self.formulas.keys():
                self[other]
            needed = tuple(map(self._known.get, formula.needs))
            if needed not in formula.remembered:
                if len(formula.remembered) == REMEMBERED:
                    formula.remembered.clear()
                try:
                    formula.remembered[needed] = evaluate(formula.tree, self._exact, self._parts)
                except ValueError as error:
                    raise DerivationError(f"formula '{name}' has no value: {error}.") from None
            self._found[name] = self._known[name] = formula.remembered[needed]
            self._exact[name] = _exact(self._found[name])
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter({**self._inputs, **self.formulas})

    def __len__(self) -> int:
        return len({*self})


def evaluate_all(formulas: Mapping[str, Formula], inputs: Mapping[str, Number],
                 stage: int = 0) -> dict[str, Number]:
    """Value of every formula (SI), the stage-wise ones at ``stage``.

    ``formulas`` are those of one attention (``select``). Raises DerivationError naming the formula
    that has no value.
    """
    values = Evaluated(formulas, inputs, stage)
    return {name: values[name] for name in order(formulas)}


def all_values(inputs: Mapping[str, Number], attention: str) -> dict[str, Number]:
    """Inputs of a deployment, and the value of every formula for which they suffice (SI)."""
    formulas = computable(select(load_formulas(), attention), inputs)
    return {**inputs, **evaluate_all(formulas, inputs)}


def _exact(number: Number) -> int | Fraction:
    """The number itself, whole where it is: whole numbers are quicker than fractions."""
    if isinstance(number, int):
        return number
    fraction = Fraction(number)
    return fraction.numerator if fraction.denominator == 1 else fraction
