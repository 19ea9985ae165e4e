"""Which layouts can be: those that divide a model, and of them those that engines load."""

from __future__ import annotations

import functools
from typing import Any

from calculators.extras import COPIES
from calculators.offers import MODELS, SIZES
from catalogue import load_model, load_precision, model_inputs
from catalogue.deployments.blocks import block_problem
from catalogue.deployments.layout import cut_problem

Rows = list[int]  # of each tensor-parallel size, or each pair with data, a bit per expert size


def divided(model: str) -> list[Rows]:
    """By tensor and data parallel size the expert-parallel sizes that divide a model, as bits.

    The sizes are those of ``SIZES``. Pipeline stages divide nothing but the layers; whether
    experts are dealt out evenly is another answer (:func:`dealt`).
    """
    entry = load_model(model)
    numbers: dict[str, Any] = dict(model_inputs(entry))
    routed = int(numbers["n_routed_experts"])
    return [[_bits(cut_problem(numbers | {COPIES: -routed % ep}, entry.attention, model,
                               (tp, 1, dp, ep)) is None
                   for ep in SIZES) for dp in SIZES] for tp in SIZES]


def dealt(model: str, expert_parallel: int, copies: int = 0, apart: int = 0) -> bool:
    """Whether experts and their copies are dealt evenly to the ranks that are not apart."""
    ranks = expert_parallel - apart
    routed = load_model(model).n_routed_experts
    return ranks > 0 and ((int(routed.value) if routed else 0) + copies) % ranks == 0


def loaded(model: str, precision: str) -> Rows:
    """By tensor-parallel size the expert-parallel sizes whose slices hold whole blocks, as bits."""
    entry, stored = load_model(model), load_precision(precision)
    numbers: dict[str, Any] = dict(model_inputs(entry))

    @functools.cache
    def loads(tp: int, slices: int) -> bool:
        cut = tp, 1, 1, tp // slices
        return block_problem(numbers, entry.attention, model, stored, cut) is None

    return [_bits(loads(tp, tp // ep) if ep <= tp and tp % ep == 0 else loads(tp, 1)
                  for ep in SIZES) if _heads(numbers, tp) else 0 for tp in SIZES]


def _heads(numbers: dict[str, Any], tp: int) -> bool:
    """Whether heads can be dealt so; what cannot be divided at all is told by :func:`divided`."""
    return int(numbers["num_attention_heads"]) % tp == 0


def _bits(flags: Any) -> int:
    return sum(1 << place for place, flag in enumerate(flags) if flag)


def every_model() -> dict[str, list[list[int]]]:
    """:func:`divided` by model."""
    return {name: divided(name) for name in MODELS}
