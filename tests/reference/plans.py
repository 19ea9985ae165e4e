"""Plans whose quantities are laws that a test writes down, and knobs of numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from calc.sensitivity.plans import Plan
from catalogue.deployments.knobs import Knob
from catalogue.reading.values import Value


@dataclass(frozen=True)
class Law(Plan):
    """A plan; ``laws`` gives each quantity of all inputs by name."""

    laws: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)

    def at(self, moves: Mapping[str, Any], name: str) -> np.ndarray:
        """The quantity by its law, shape (n,)."""
        return np.atleast_1d(np.asarray(
            self.laws[name](SimpleNamespace(**{**self.inputs, **moves})), float))


def law(inputs: Mapping[str, float], knobs: Sequence[Knob] = (), *, label: str = "law",
        cards: int = 8, tokens: int | None = 100, **laws: Callable[[Any], Any]) -> Law:
    """A plan by its inputs and the law of each of its quantities."""
    scenario: Any = SimpleNamespace(
        id=label, devices=cards, every_knob=lambda: list(knobs),
        file=SimpleNamespace(workload=SimpleNamespace(output_tokens=tokens)))
    return Law(label, scenario, inputs, tuple(knobs), laws=laws)


def knob(name: str, low: float, value: float, high: float, *symbols: str, unit: str = "1") -> Knob:
    """A mechanism with its range, and the inputs that it sets: of its own name unless told."""
    return Knob(name, Value(value, unit, f"{value:g}", "somebody", "assumed", low, high),
                symbols or (name,))
