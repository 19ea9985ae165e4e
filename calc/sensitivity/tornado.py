"""What each input does alone: moved to either end of its range, all others at their values.

The formulas' own error, which no input moves, is a bar among them: it is what only a measurement of
the deployment itself takes away.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calc.evidence.classes import Own, own_errors
from calc.sensitivity.plans import CARD_HOURS, PER_CARD, Plan
from calc.uncertainty import Sides
from catalogue.deployments.physics_inputs import NORMAL_90, Knob
from catalogue.reading.units import DIMENSIONLESS

OWN = "own_error"  # the formulas' own
NONE: Sides = (0.0, 0.0)


@dataclass(frozen=True)
class Bar:
    """What one input's range does to a quantity.

    Attributes:
        name: of the mechanism or input; ``own_error`` for what no input moves.
        value, low, high: of the input, SI; of the own error factors [1].
        at_low, at_high: the quantity with the input there, SI.
        unit: of the input, SI.
    """

    name: str
    value: float
    low: float
    high: float
    at_low: float
    at_high: float
    unit: str = DIMENSIONLESS

    @property
    def swing(self) -> float:
        """How far apart the ends are, in the unit of the quantity."""
        return abs(self.at_high - self.at_low)


@dataclass(frozen=True)
class Tornado:
    """All bars of a quantity, the widest first.

    Attributes:
        value: of the quantity as the deployment is, SI.
        bars: of what moves it.
    """

    value: float
    bars: tuple[Bar, ...]

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"value": self.value, "bars": [vars(bar) | {"swing": bar.swing}
                                              for bar in self.bars]}


def own_error(plan: Plan, name: str) -> Own | None:
    """The formulas' own error of a quantity; None where nothing is known to be wrong.

    What is derived from the throughput has that of the throughput, a steady state that of a wave.
    """
    asked = ("output_throughput" if name in (CARD_HOURS, PER_CARD, "steady_throughput")
             else name.removeprefix("steady_"))
    return own_errors(plan.scenario).get(asked)


def own_sides(plan: Plan, name: str) -> Sides:
    """The formulas' own error of a quantity: deviations of its logarithm, down and up [1].

    A cost is the inverse of a rate, so its sides are exchanged. Of memory, nothing is known to be
    wrong.
    """
    known = own_error(plan, name)
    sides = known.sides if known else NONE
    return (sides[1], sides[0]) if name == CARD_HOURS else sides


def tornado(plan: Plan, name: str) -> Tornado:
    """A quantity with each input at either end of its 80% range, alone.

    >>> from calc.sensitivity.plans import plan_of
    >>> found = tornado(plan_of("s2-910b1-awq"), "tpot")
    >>> found.bars[0].swing >= found.bars[1].swing > 0
    True

    Args:
        plan: the deployment.
        name: of a quantity, see :func:`calc.sensitivity.plans.check_quantity`.
    """
    bars = _bars(plan, name, plan.knobs)
    value = float(plan.at({}, name)[0])
    sides = own_sides(plan, name)
    if any(sides):
        low, high = math.exp(-NORMAL_90 * sides[0]), math.exp(NORMAL_90 * sides[1])
        bars.append(Bar(OWN, 1.0, low, high, value * low, value * high))
    return Tornado(value, tuple(sorted((bar for bar in bars if bar.swing),
                                       key=lambda bar: -bar.swing)))


def _bars(plan: Plan, name: str, knobs: Sequence[Knob]) -> list[Bar]:
    columns: dict[str, np.ndarray] = {}
    for place, knob in enumerate(knobs):
        column = np.full(2 * len(knobs), float(plan.inputs[knob.symbols[0]]))
        column[2 * place:2 * place + 2] = knob.value.low, knob.value.high
        columns |= dict.fromkeys(knob.symbols, column)
    if not columns:
        return []
    found = np.broadcast_to(plan.at(columns, name), (2 * len(knobs),)).reshape(-1, 2)
    return [Bar(knob.name, float(knob.value.value), float(knob.value.low), float(knob.value.high),
                float(low), float(high), knob.value.unit)
            for knob, (low, high) in zip(knobs, found, strict=True)]
