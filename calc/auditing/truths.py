"""What a claim is held against: a number of the catalogue, of a deployment, or of a measurement."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import catalogue
from calc.answer.estimate import part_count, predicted
from calc.auditing.claims import nearest, quantities_named
from calc.layouts.feasible import Reason, reasons
from calc.serving.evaluate import evaluate
from calc.uncertainty import Amount
from catalogue import ParamsError, Scenario
from catalogue.reading import units
from catalogue.reading.units import YEAR
from catalogue.reading.values import Value

LISTED = ("devices", "links", "nodes", "models", "formats", "precisions", "mechanisms", "prices")
CHANGED = "@"  # behind the name of a deployment, before how it is changed
SOURCES = "sources/"  # before the key of a source, of what has no entry of its own
OVER_ROWS: dict[str, Callable[[list[float]], float]] = {
    "min": min, "max": max, "mean": lambda values: math.fsum(values) / len(values)}


@dataclass(frozen=True)
class Truth:
    """A number that a claim is held against.

    Attributes:
        three: value with its 80% interval, or with the range of an entry, in SI.
        unit: SI unit.
        where: the reference that it was found by.
        scenario: the deployment that it is of, if it is of one.
        listed: whether it is an entry of the catalogue, which a claim restates.
        given: whether it is an input of that deployment, which follows from nothing.
        sources: of the entries that it comes from, keys of ``params/sources/``.
        parts: the references of a formula's inputs.
        spans: it is a range, whose ends are those of the interval.
    """

    three: Amount
    unit: str
    where: str
    scenario: str | None = None
    listed: bool = False
    given: bool = False
    sources: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    spans: bool = False


@functools.cache
def truth_of(reference: str) -> Truth:
    """The number that a reference names, of the catalogue, a deployment or a measurement.

    Raises ParamsError, one clause, where there is none.
    """
    if ":" in reference:
        return _of_deployment(reference)
    kind, name, *keys = reference.split("/")
    finders = {"measurements": _of_rows, "accuracies": _of_scores, "costs": _of_cost}
    return finders.get(kind, functools.partial(_of_entry, kind))(name, keys, reference)


@functools.cache
def deployment(name: str) -> Deployment:
    """A deployment by its name, computed once; behind an @ how it is changed, by ``costs``."""
    plain, changed, how = name.partition(CHANGED)
    if not changed:
        return Deployment(catalogue.load_scenario(name))
    from calc.auditing.costs import changes  # only where a claim asks for it

    return Deployment(catalogue.load_scenario(plain, overrides=list(changes(plain, how))))


class Deployment:
    """A deployment's inputs, and its quantities with intervals, each computed when asked for."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.inputs, self.attention = scenario.inputs(), scenario.model.attention

    @functools.cached_property
    def quantities(self) -> Mapping[str, Any]:
        """All quantities of ``calc.evaluate``."""
        return evaluate(self.inputs, self.attention)

    @functools.cached_property
    def why_not(self) -> tuple[Reason, ...]:
        """Why it does not run as it is written; nothing if it does."""
        return reasons(self.scenario, self.quantities)

    @property
    def fits(self) -> bool:
        """Whether it runs as it is written."""
        return not self.why_not

    @functools.cached_property
    def _amounts(self) -> dict[str, Amount]:
        """Intervals of the quantities that claims name; most others are never looked up."""
        return predicted(self.scenario, quantities_named() & self.quantities.keys())

    def knows(self, name: str) -> bool:
        """Whether it has an input or a quantity of that name."""
        return name in self.inputs or name in self.quantities

    def three(self, name: str) -> Amount:
        """An input or a quantity with its interval. Raises ParamsError where there is none."""
        if name in self.inputs:
            return Amount.exactly(float(self.inputs[name]))
        if name not in self.quantities:
            raise ParamsError(f"'{self.scenario.id}' has no quantity '{name}'"
                              + nearest(name, self.quantities))
        if name not in self._amounts:
            self._amounts.update(predicted(self.scenario, {name}))
        return self._amounts[name]


def _of_deployment(reference: str) -> Truth:
    name, _, rest = reference.partition(":")
    quantity, _, part = rest.partition("/")
    deployed = deployment(name)
    symbol = catalogue.symbols().get(quantity)
    if symbol is None:
        raise ParamsError(f"'{quantity}' is no name of params/symbols.yml"
                          + nearest(quantity, catalogue.symbols()))
    replicas = catalogue.load_scenario(name.partition(CHANGED)[0])  # as the document counts them
    share = part_count(replicas if part == "replica" else deployed.scenario, part or "deployment")
    return Truth(deployed.three(quantity).scaled(1 / share), symbol.unit, reference,
                 name, given=quantity in deployed.inputs)


def _of_entry(kind: str, name: str, keys: list[str], reference: str) -> Truth:
    item: Any = catalogue.load(kind, name)
    for key in keys:
        keys_of = item if isinstance(item, Mapping) else getattr(type(item), "model_fields", {})
        if key not in keys_of:
            raise ParamsError(f"'{reference}': there is no '{key}'" + nearest(key, keys_of))
        item = item[key] if isinstance(item, Mapping) else getattr(item, key)
    if not isinstance(item, Value):
        raise ParamsError(f"'{reference}' is no number of the catalogue")
    return Truth(Amount.stated(item), item.unit, reference, listed=kind in LISTED,
                 sources=(item.source,))


def _of_rows(name: str, keys: list[str], reference: str) -> Truth:
    """``measurements/NAME/COLUMN/key=value,…``, or with ``min``, ``max`` or ``mean`` at the end;
    both, of the rows that match."""
    table = catalogue.load("measurements", name)
    column, *rest = keys or [""]
    if column not in table.columns:
        raise ParamsError(f"'{name}' has no column '{column}', expected one of "
                          f"{', '.join(table.columns)}")
    where = dict(part.partition("=")[::2] for key in rest if "=" in key for part in key.split(","))
    over = [OVER_ROWS[key] for key in rest if key in OVER_ROWS]
    names = list(table.columns)
    if lost := [key for key in where if key not in names]:
        raise ParamsError(f"'{name}' has no column '{lost[0]}'" + nearest(lost[0], names))
    rows = [row for row in table.rows
            if all(row[names.index(key)] == float(value) for key, value in where.items())
            and row[names.index(column)] is not None]
    if not rows or (len(rows) > 1 and not over):
        raise ParamsError(f"'{reference}' names {len(rows)} rows, expected one")
    values = [float(row[names.index(column)]) for row in rows]
    unit = table.columns[column]
    value = (over[0](values) if over else values[0]) * units.factor(unit)
    return Truth(Amount.exactly(value), units.si(unit), reference, listed=False)


def _of_scores(name: str, keys: list[str], reference: str) -> Truth:
    """``accuracies/NAME/SYSTEM/BENCHMARK``: the printed score [1], of one hundred."""
    scores = catalogue.load("accuracies", name).scores
    matches = [score for score in scores if [score.system, score.benchmark] == keys]
    if len(matches) != 1:
        raise ParamsError(f"'{reference}' names {len(matches)} scores, expected one")
    return Truth(Amount.exactly(float(matches[0].solved.value)), "1", reference)


def _of_cost(name: str, keys: list[str], reference: str) -> Truth:
    """``costs/PLAN/AMOUNT``: of a document's plan as it can run."""
    from calc.auditing import costs

    if name != costs.PLAN:
        raise ParamsError(f"'{reference}': only '{costs.PLAN}' has a cost")
    plan = costs.plan()
    amounts = plan.corrected.amounts | plan.amounts()
    if len(keys) != 1 or keys[0] not in amounts:
        raise ParamsError(f"'{reference}': expected one of {', '.join(sorted(amounts))}")
    unit = costs.UNITS.get(keys[0], "USD")
    scale = YEAR if keys[0] == "payback" else 1.0
    return Truth(amounts[keys[0]].scaled(scale), unit, reference)

