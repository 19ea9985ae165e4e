"""Quantities with their inputs drawn, against which intervals are held."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from calc.serving.evaluate import evaluate
from catalogue.deployments.physics_inputs import Knob

SEED = 3


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
