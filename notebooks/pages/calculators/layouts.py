"""Which layouts can be: those that divide a model, and of them those that engines load."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from calc.layouts.feasible import admitted
from catalogue import load_model
from catalogue.deployments.admission.subject import Subject
from notebooks.pages.calculators.offers import MODELS, SIZES, cards, subject

Rows = list[int]  # of each tensor-parallel size, or each pair with data, a bit per expert size


def divided(model: str) -> list[Rows]:
    """By tensor and data parallel size the expert-parallel sizes that divide a model, as bits.

    The sizes are those of ``SIZES``. Pipeline stages divide nothing but the layers; whether
    experts are dealt out evenly is another answer (:func:`dealt`).
    """
    tensor, data, expert = (grid.ravel() for grid in np.meshgrid(*[SIZES] * 3, indexing="ij"))
    asked = subject(cards()[0], model)
    copies = -int(asked.numbers["n_routed_experts"]) % expert
    found = _flags(asked, {"tensor": tensor, "data": data, "expert": expert, "spares": copies},
                   "division")
    return [[_bits(row) for row in rows] for rows in found.reshape([len(SIZES)] * 3)]


def dealt(model: str, expert_parallel: int, copies: int = 0, apart: int = 0) -> bool:
    """Whether experts and their copies are dealt evenly to the ranks that are not apart."""
    ranks = expert_parallel - apart
    routed = load_model(model).n_routed_experts
    return ranks > 0 and ((int(routed.value) if routed else 0) + copies) % ranks == 0


def loaded(model: str, precision: str) -> Rows:
    """By tensor-parallel size the expert-parallel sizes whose slices hold whole blocks, as bits."""
    tensor, expert = (grid.ravel() for grid in np.meshgrid(*[SIZES] * 2, indexing="ij"))
    asked = subject(cards()[0], model, precision)
    whole = (expert > tensor) | (tensor % expert > 0)
    rows = {"tensor": tensor, "expert": np.where(whole, tensor, expert)}
    heads = int(asked.numbers["num_attention_heads"]) % tensor == 0
    found = _flags(asked, {name: column[heads] for name, column in rows.items()}, "blocks")
    flags = np.zeros(len(tensor), bool)  # what cannot be divided at all is told by ``divided``
    flags[heads] = found
    return [_bits(row) for row in flags.reshape([len(SIZES)] * 2)]


def _flags(asked: Subject, rows: Mapping[str, np.ndarray], kind: str) -> np.ndarray:
    return admitted(asked, rows, (kind,))


def _bits(flags: np.ndarray) -> int:
    return sum(1 << place for place, flag in enumerate(flags) if flag)


def every_model() -> dict[str, list[list[int]]]:
    """:func:`divided` by model."""
    return {name: divided(name) for name in MODELS}
