"""Where a value lies in its own sampled distribution, and which inputs make it lean.

A range that reaches farther on one side than on the other moves the median of what is sampled away
from the value that is printed.

Source: notebooks/validation.md, section Are the intervals honest?
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calc.closed_form.evaluate import evaluate
from calc.uncertainty.interval import HALF_MEAN
from catalogue import Scenario
from catalogue.deployments.knobs import NORMAL_90, Knob
from catalogue.reading.values import Value

SEED = 3
DRAWS, MOST = 2_000, 3  # samples; inputs that are told of each quantity
LATENCIES, RATES = ("ttft", "e2e"), ("tpot", "output_throughput")
SHIFT = HALF_MEAN / 2 / NORMAL_90  # of the mean, per unit of the sum of both moves [1]


@dataclass(frozen=True)
class Lean:
    """What one input's range does to one quantity.

    Attributes:
        knob: the input.
        down, up: log(quantity at the low end, at the high end / at the value) [1].
        middle: the same with the input in the middle of its range [1].
    """

    knob: Knob
    down: float
    up: float
    middle: float

    @property
    def shift(self) -> float:
        """By how much the mean of the logarithm lies off the value's [1]."""
        return SHIFT * (self.down + self.up)


def sampled(inputs: Mapping[str, Any], knobs: Sequence[Knob], attention: str,
            count: int) -> dict[str, Any]:
    """Every quantity, with inputs drawn from their priors; shape (count,) where one of them moves.

    Args:
        inputs: input symbols in SI units, scalars.
        knobs: what has a range.
        attention: ``mla`` or ``gqa``.
        count: of draws.
    """
    rng, drawn = np.random.default_rng(SEED), dict(inputs)
    for knob in knobs:
        column = knob.at(rng.standard_normal(count))
        drawn |= dict.fromkeys(knob.symbols, column)
    return evaluate(drawn, attention)


def percentile(found: np.ndarray, value: float) -> float:
    """Share of a sampled quantity that is below its value; of what equals it, half [1].

    >>> percentile(np.array([1.0, 2.0, 2.0, 3.0]), 2.0)
    0.5

    Args:
        found: the samples, or one number that none of them moves.
        value: what is printed.
    """
    return float((found < value).mean() + (found == value).mean() / 2)


def middle(value: Value) -> float:
    """Middle of a range: of a share in its logit, else in its logarithm, from zero as it is."""
    low, high = float(value.low), float(value.high)
    if low <= 0:
        return (low + high) / 2
    if _is_share(value):
        odds = math.sqrt(low / (1 - low) * high / (1 - high))
        return odds / (1 + odds)
    return math.sqrt(low * high)


def position(value: Value) -> float:
    """Where a value lies between the ends of its range, on the scale of :func:`middle` [1]."""
    def scale(number: float) -> float:
        if value.low <= 0:
            return number
        return math.log(number / (1 - number) if _is_share(value) else number)

    low, high = scale(float(value.low)), scale(float(value.high))
    return (scale(float(value.value)) - low) / (high - low)


def _is_share(value: Value) -> bool:
    """Whether a range is one of shares, without either end."""
    return value.unit == "1" and 0 < value.low < value.high < 1


def leaning(inputs: Mapping[str, Any], knobs: Sequence[Knob], attention: str,
            names: Sequence[str]) -> dict[str, list[Lean]]:
    """What each input's range does to some quantities, the largest shift first.

    Args:
        inputs: input symbols in SI units, scalars.
        knobs: what has a range.
        attention: ``mla`` or ``gqa``.
        names: positive quantities.
    """
    points: dict[str, Any] = dict(inputs)
    count = 1 + 3 * len(knobs)
    for i, knob in enumerate(knobs):
        column = np.full(count, inputs[knob.symbols[0]], float)
        column[3 * i + 1:3 * i + 4] = knob.value.low, knob.value.high, middle(knob.value)
        points |= dict.fromkeys(knob.symbols, column)
    quantities = evaluate(points, attention)
    found = {}
    for name in names:
        column = np.broadcast_to(np.asarray(quantities[name], float), (count,))
        with np.errstate(divide="ignore", invalid="ignore"):
            moves = np.log(column[1:] / column[0]).reshape(-1, 3)
        found[name] = sorted((Lean(knob, *map(float, move))
                              for knob, move in zip(knobs, moves, strict=True)),
                             key=lambda lean: -abs(lean.shift))
    return found


def of_deployment(scenario: Scenario) -> dict[str, Any]:
    """By quantity: its percentile [1], and the inputs that move its median most; plain data.

    Of a deployment that states no prompts there is no latency, nor of pools that are apart.

    Args:
        scenario: the deployment.
    """
    inputs, knobs, attention = scenario.inputs(), scenario.knobs(), scenario.model.attention
    apart = inputs["separate_pools"] or scenario.file.workload.output_tokens is None
    names = RATES if apart else RATES + LATENCIES
    values, drawn = evaluate(inputs, attention), sampled(inputs, knobs, attention, DRAWS)
    leans = leaning(inputs, knobs, attention, names)
    return {name: {"percentile": percentile(np.asarray(drawn[name]), float(values[name])),
                   "knobs": [_told(lean) for lean in leans[name][:MOST]]} for name in names}


def _told(lean: Lean) -> dict[str, Any]:
    """An input, where its value lies in its range, and by how much that moves the median [1]."""
    value = lean.knob.value
    return {"name": lean.knob.name, "value": value.value, "low": value.low, "high": value.high,
            "position": position(value), "shift": lean.shift}
