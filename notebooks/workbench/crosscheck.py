"""Where the two codings meet: every formula against ``calc``, number by number.

The only module of the workbench that imports ``calc``. Formulas are evaluated on fractions,
``calc`` works in floating point.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import calc
from workbench.formulas.derivatives import Gradient, gradient
from workbench.formulas.errors import DerivationError
from workbench.formulas.exported import Formula, evaluate_all, load_formulas, select, stagewise

TOLERANCE = 1e-9
ASIDE = 1e-7  # relative, to either side of a kink
# Differences of large numbers: what they are of the same size as.
_DIFFERENCES = ("stage_free_for_kv", "free_for_kv_per_device", "headroom_per_device")
_SCALE = "usable_memory"


@dataclass(frozen=True)
class Row:
    """One quantity computed twice; ``stage`` is None where it does not depend on the stage."""

    name: str
    stage: int | None
    formula: float
    calc: float
    difference: float


@dataclass(frozen=True)
class Report:
    """Every comparison of one deployment."""

    rows: tuple[Row, ...]

    @property
    def worst(self) -> float:
        """Largest relative difference."""
        return max(row.difference for row in self.rows)


def crosscheck(inputs: Mapping[str, Any], attention: str,
               formulas: Mapping[str, Formula] | None = None) -> Report:
    """Evaluate every formula and ``calc`` on one deployment and compare them.

    Args:
        inputs: every input symbol, SI numbers.
        attention: ``mla`` or ``gqa``.
        formulas: those of ``notebooks/formulas.json`` unless given.

    Raises DerivationError naming the quantities that only one of the two has, or on which they
    differ by more than a relative 1e-9.
    """
    chosen = select(load_formulas() if formulas is None else formulas, attention)
    computed = calc.evaluate(inputs, attention)
    if lonely := chosen.keys() ^ computed.keys():
        sides = [f"{name} (only {'derived' if name in chosen else 'in calc'})"
                 for name in sorted(lonely)]
        raise DerivationError(f"formulas and calc have different quantities: {', '.join(sides)}.")
    rows = tuple(_compare(chosen, computed, inputs))
    if wrong := [row for row in rows if not row.difference <= TOLERANCE]:
        raise DerivationError("formulas and calc disagree: " + "; ".join(map(_told, wrong)) + ".")
    return Report(rows)


def crosscheck_slopes(inputs: Mapping[str, Any], attention: str,
                      names: Sequence[str]) -> dict[str, Gradient]:
    """Differentiate some quantities in both codings and compare every elasticity.

    Where a deployment stands on a kink, ``calc`` may have any slope between those of both sides.

    Args:
        inputs: every input symbol, SI numbers.
        attention: ``mla`` or ``gqa``.
        names: quantities that have elasticities.

    Returns the gradients by name. Raises DerivationError for the input by which they differ, by
    more than 1e-9 of the largest elasticity.
    """
    chosen = select(load_formulas(), attention)
    computed = calc.elasticities(inputs, attention, names)
    found = {}
    for name in names:
        found[name] = gradient(chosen, inputs, name, computed[name])
        left = _elasticities(found[name], inputs, name)
        tolerance = TOLERANCE * max(map(abs, left.values()), default=0.0)
        for key, value in computed[name].items():
            if abs(value - left.get(key, 0.0)) <= tolerance:
                continue
            low, high = _sides(chosen, inputs, name, key)
            if not low - tolerance <= value <= high + tolerance:
                raise DerivationError(f"formulas and calc disagree: {name} answers to {key} with "
                                      f"{left.get(key, 0.0)!r} derived and {value!r} in calc.")
    return found


def _elasticities(of: Gradient, inputs: Mapping[str, Any], name: str) -> dict[str, float]:
    """d ln(quantity) / d ln(input), or d quantity / d ln(input) of what may be negative."""
    scale = 1.0 if name in _DIFFERENCES else of.value
    return {key: slope * float(inputs[key]) / scale
            for key, slope in of.slopes.items() if key in inputs}


def _sides(formulas: Mapping[str, Formula], inputs: Mapping[str, Any], name: str,
           key: str) -> tuple[float, float]:
    """The elasticities by an input a little below and a little above it, the smaller first.

    Not a number where no formula has another piece there: that is no kink.
    """
    below, above = (gradient(formulas, {**inputs, key: float(inputs[key]) * (1 + move)}, name,
                             [key]) for move in (-ASIDE, ASIDE))
    if below.pieces == above.pieces:
        return math.nan, math.nan
    low, high = sorted(_elasticities(side, inputs, name).get(key, 0.0) for side in (below, above))
    return low - ASIDE * abs(low), high + ASIDE * abs(high)


def _compare(formulas: Mapping[str, Formula], computed: Mapping[str, Any],
             inputs: Mapping[str, Any]) -> Iterator[Row]:
    indexed = stagewise(formulas)
    stages = range(int(inputs["pipeline_parallel"]))
    # calc keeps a few stages; a stage is known by its first layer
    first_layer = {name: formulas[name] for name in formulas if name == "stage_first_layer"}
    place = {int(evaluate_all(first_layer, inputs, stage)["stage_first_layer"]): stage
             for stage in stages}
    kept = {place.get(int(first), -1): position for position, first
            in enumerate(np.atleast_1d(computed["stage_first_layer"]))}
    if -1 in kept:
        raise DerivationError("formulas and calc disagree: no stage begins with one of the "
                              f"layers {computed['stage_first_layer']} that calc gives.")
    first = evaluate_all(formulas, inputs)
    by_stage = {name: formulas[name] for name in indexed}
    values = {**inputs, **{name: value for name, value in first.items() if name not in indexed}}
    derived = {stage: first | evaluate_all(by_stage, values, stage) for stage in kept} | {0: first}
    for name in formulas:
        if name not in indexed:
            yield _row(name, None, derived[0], computed[name])
            continue
        for stage, position in kept.items():
            yield _row(name, stage, derived[stage], np.atleast_1d(computed[name])[position])


def _row(name: str, stage: int | None, derived: Mapping[str, Any], value: Any) -> Row:
    left, right = float(derived[name]), float(value)
    size = max(abs(left), abs(right), derived[_SCALE] if name in _DIFFERENCES else 0)
    return Row(name, stage, left, right, float(abs(left - right) / size) if size else 0.0)


def _told(row: Row) -> str:
    where = "" if row.stage is None else f" on stage {row.stage}"
    return f"{row.name}{where} is {row.formula!r} derived and {row.calc!r} in calc"
