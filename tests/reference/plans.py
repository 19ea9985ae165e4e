"""Plans whose quantities are laws that a test writes down, and knobs of numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np

from calc.sensitivity.plans import Plan
from catalogue import load_scenario
from catalogue.deployments.physics_inputs import Knob
from catalogue.reading.values import Value

scenario_of = cache(load_scenario)


@dataclass(frozen=True)
class Law(Plan):
    """A plan; ``laws`` gives each quantity of all inputs by name."""

    laws: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)

    def at(self, moves: Mapping[str, Any], name: str) -> np.ndarray:
        """The quantity by its law, shape (n,)."""
        return np.atleast_1d(np.asarray(
            self.laws[name](SimpleNamespace(**{**self.inputs, **moves})), float))


def law(inputs: Mapping[str, float], knobs: Sequence[Knob] = (), *, label: str = "law",
        **laws: Callable[[Any], Any]) -> Law:
    """A plan of eight cards by its inputs and the law of each of its quantities.

    Its formulas' own error is that of the deployment below; of memory there is none.
    """
    return Law(label, scenario_of("h200-r1-vllm-tp8"), inputs, tuple(knobs), laws=laws)


def knob(name: str, low: float, value: float, high: float, *symbols: str) -> Knob:
    """A mechanism with its range, and the inputs that it sets: of its own name by default."""
    return Knob(name, Value(value, "1", f"{value:g}", "somebody", "assumed", low, high),
                symbols or (name,))
