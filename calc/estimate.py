"""A scenario's answer: does it fit, what bounds it, each quantity with its 80% interval."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from calc.evaluate import evaluate
from calc.shapes import count_parameters
from params import Scenario, model_inputs, symbols
from params.entries import Model
from params.units import COUNTING

EXACT, ESTIMATE, LOWER_BOUND, UPPER_BOUND = "exact", "estimate", "lower_bound", "upper_bound"
CAPACITY, BANDWIDTH = "memory_capacity", "memory_bandwidth"

TAILS = (0.1, 0.9)  # an 80% interval leaves a tenth out on either side

QUANTITIES: dict[str, str] = {
    "weights_per_device": EXACT,
    "replicated_weights_per_device": EXACT,
    "kv_bytes_per_token": EXACT,
    "activations_per_device": ESTIMATE,
    "usable_memory": ESTIMATE,
    "free_for_kv_per_device": ESTIMATE,
    "kv_per_device": EXACT,
    "memory_per_device": ESTIMATE,
    "headroom_per_device": ESTIMATE,
    "kv_blocks": ESTIMATE,
    "max_concurrency": ESTIMATE,
    "tpot": LOWER_BOUND,
    "output_throughput": UPPER_BOUND,
}
WINDOWED = ("kv_bytes_per_token", "kv_per_device")  # charged for the whole context in every layer
TPOT_PARTS = {"weights": "decode_dense_time", "experts": "decode_expert_time",
              "kv_cache": "decode_kv_time"}


@dataclass(frozen=True)
class Quantity:
    """One result: SI value, unit, 80% interval, and what kind of statement it is."""

    value: float | int
    unit: str
    low: float | int
    high: float | int
    kind: str


@dataclass(frozen=True)
class Comparison:
    """A documented result beside what its formula gives on its own inputs, and ours (SI)."""

    quantity: str
    unit: str
    section: str | None
    printed: float | int
    recomputed: float | int | None
    derived: float | int | None


@dataclass(frozen=True)
class Estimate:
    """The answer for one scenario; :meth:`as_json` is the interface for programs."""

    scenario: str
    fits: bool
    bottleneck: dict[str, str]
    quantities: dict[str, Quantity]
    parts: dict[str, dict[str, float]]
    documented: tuple[Comparison, ...]
    everything: dict[str, Any]

    def as_json(self) -> dict[str, Any]:
        """Plain data, SI units. What is not computed is absent."""
        return {
            "scenario": self.scenario,
            "fits": self.fits,
            "bottleneck": self.bottleneck,
            "quantities": {name: vars(quantity) for name, quantity in self.quantities.items()},
            "parts": self.parts,
            "documented": [vars(comparison) for comparison in self.documented],
        }


def interval(inputs: Mapping[str, Any], ranges: Mapping[str, tuple[float, float]],
             attention: str, values: Mapping[str, float]) -> dict[str, tuple[float, float]]:
    """80% intervals of quantities, from the ranges of their inputs, in closed form.

    Each range is log-uniform and independent of the others. Every input is moved alone, from the
    geometric middle of its range to its 10% and 90% points, with the others at their middles; the
    moves of a quantity add as squares, downwards and upwards apart, in logarithms where the
    quantity is positive throughout. With one range this is the exact 80% of a monotonic quantity.
    Points rather than derivatives, because block counts and maxima have steps and kinks. The
    interval is widened to hold ``values``; how far the formulas themselves are off is not in it.

    Args:
        inputs: input symbols in SI units.
        ranges: (low, high) of the inputs that have a range, low > 0.
        attention: ``mla`` or ``gqa``.
        values: the quantities wanted, with their values at ``inputs``.
    """
    if not ranges:
        return {name: (value, value) for name, value in values.items()}
    rows = 1 + 2 * len(ranges)
    moved: dict[str, Any] = dict(inputs)
    for i, (name, (low, high)) in enumerate(ranges.items()):
        column = np.full(rows, math.sqrt(low * high))
        column[2 * i + 1:2 * i + 3] = low * (high / low) ** np.array(TAILS)
        moved[name] = column
    found = evaluate(moved, attention)
    result = {}
    for name, value in values.items():
        points = np.broadcast_to(found[name], (rows,))
        in_log = bool((points > 0).all())
        scale = np.log(points) if in_log else points
        moves = scale[1:].reshape(-1, 2) - scale[0]
        down = math.sqrt((np.minimum(moves, 0).min(axis=1) ** 2).sum())
        up = math.sqrt((np.maximum(moves, 0).max(axis=1) ** 2).sum())
        if not down and not up:
            result[name] = (value, value)
            continue
        low, high = scale[0] - down, scale[0] + up
        if in_log:
            low, high = math.exp(low), math.exp(high)
        result[name] = (min(low, value), max(high, value))
    return result


def parameters(model: Model) -> dict[str, int]:
    """Total, active and routed parameters of a model [1], counted from its shapes."""
    counted = count_parameters(model.attention, SimpleNamespace(**model_inputs(model)))
    return {"total": int(counted.total_parameters), "active": int(counted.active_parameters),
            "routed": int(counted.routed_parameters)}


def parameters_by_class(model: Model) -> dict[str, int]:
    """Parameters of a whole model [1] by class of tensors; the values sum to its total."""
    shapes = model_inputs(model)
    counted = count_parameters(model.attention, SimpleNamespace(**shapes))
    layers, dense = shapes["num_hidden_layers"], shapes["first_k_dense_replace"]
    found = {
        "embedding": counted.embedding_parameters,
        "head": counted.head_parameters,
        "attention_divided": layers * counted.attention_divided_parameters,
        "attention_kv": layers * counted.attention_kv_parameters,
        "attention_replicated": layers * counted.attention_replicated_parameters,
        "norm": layers * counted.norm_parameters + shapes["hidden_size"],
        "dense_mlp": dense * counted.dense_mlp_parameters,
        "router": counted.moe_layers * counted.router_parameters,
        "shared_expert": counted.moe_layers * counted.shared_expert_parameters,
        "routed_expert": counted.routed_parameters,
    }
    return {name: int(count) for name, count in found.items()}


def kinds(inputs: Mapping[str, Any]) -> dict[str, str]:
    """What kind of statement each quantity is, for a deployment.

    The cache is counted to the byte, but for layers that look back over a window shorter than the
    context an engine may keep less.

    Args:
        inputs: input symbols in SI units.
    """
    windowed = (inputs["full_attention_layers"] < inputs["num_hidden_layers"]
                and inputs["sliding_window"] < inputs["context_tokens"])
    return QUANTITIES | (dict.fromkeys(WINDOWED, UPPER_BOUND) if windowed else {})


def estimate(scenario: Scenario) -> Estimate:
    """Evaluate a scenario.

    A deployment that does not fit is an answer (``fits`` is False and ``headroom_per_device``
    says by how much), not an error. Decode figures are then those of the same cut on cards with
    enough memory.
    """
    inputs, attention = scenario.inputs(), scenario.model.attention
    everything = evaluate(inputs, attention)
    values = {name: _number(everything[name]) for name in QUANTITIES}
    bounds = interval(inputs, scenario.ranges(), attention, values)
    known = symbols()
    quantities = {}
    for name, kind in kinds(inputs).items():
        low, high = bounds[name]
        if known[name].unit in COUNTING:
            low, high = max(0, math.floor(low)), max(0, math.floor(high))
        quantities[name] = Quantity(values[name], known[name].unit, low, high, kind)
    fits = bool(everything["headroom_per_device"] >= 0)
    bottleneck = {"decode": BANDWIDTH} if fits else {"prefill": CAPACITY, "decode": CAPACITY}
    parts = {"tpot": {part: float(everything[name]) for part, name in TPOT_PARTS.items()}}
    return Estimate(scenario.id, fits, bottleneck, quantities, parts,
                    _comparisons(scenario, everything), everything)


def _comparisons(scenario: Scenario, everything: Mapping[str, Any]) -> tuple[Comparison, ...]:
    documented = scenario.documented
    if documented is None:
        return ()
    return tuple(
        Comparison(
            claim.quantity, claim.value.unit, claim.value.section, claim.value.value,
            documented.recomputed(claim),
            _number(everything[claim.quantity]) if claim.quantity in everything else None)
        for claim in documented.claims)


def _number(value: Any) -> float | int:
    number = float(value)
    return int(number) if number.is_integer() else number
