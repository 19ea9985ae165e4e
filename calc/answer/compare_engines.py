"""One deployment under several engines: what differs, and which mechanism makes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from calc.serving.evaluate import evaluate
from catalogue import Scenario

COMPARED = ("tpot", "ttft", "output_throughput", "max_concurrency")
NOTHING = 5e-5  # relative, below what is printed


@dataclass(frozen=True)
class Replaced:
    """What one value of another engine does in place of the first engine's.

    Attributes:
        name: of a mechanism, or of an input of the workload.
        symbol: an input symbol that holds it.
        first, other: the two values (SI).
        source: of the other; None where it is how an engine works.
        effects: quantity -> what it becomes over what it was [1].
    """

    name: str
    symbol: str
    first: float
    other: float
    source: str | None
    effects: dict[str, float]


@dataclass(frozen=True)
class Difference:
    """A deployment under another engine than the first.

    Attributes:
        first, other: engines with their releases.
        replaced: one value at a time, that of most effect first; without effect, left out.
        together: quantity -> all of them at once over the first engine's [1].
    """

    first: str
    other: str
    replaced: tuple[Replaced, ...]
    together: dict[str, float]


def differences(scenarios: Sequence[Scenario]) -> list[Difference]:
    """What makes a deployment another under each engine than under the first.

    >>> from catalogue import load_scenario
    >>> pair = [load_scenario("h200-r1-vllm-tp8", overrides=[f"engine={name}"])
    ...         for name in ("vllm@0.11.0", "sglang@0.5.6")]
    >>> found = differences(pair)[0]
    >>> found.other, "collective_efficiency" in [item.name for item in found.replaced]
    ('sglang@0.5.6.post2', True)

    Args:
        scenarios: one deployment under several engines, the first of which is held against.
    """
    first = scenarios[0]
    return [_difference(first, other) for other in scenarios[1:]]


def _difference(first: Scenario, other: Scenario) -> Difference:
    here, there, attention = first.inputs(), other.inputs(), first.model.attention
    before = evaluate(here, attention)
    replaced = []
    for name, symbols, source in _named(here, there, other):
        effects = _effects(before, evaluate(here | {key: there[key] for key in symbols},
                                            attention))
        if any(abs(effect - 1) > NOTHING for effect in effects.values()):
            replaced.append(Replaced(name, symbols[0], here[symbols[0]], there[symbols[0]],
                                     source, effects))
    replaced.sort(key=lambda item: -max(abs(effect - 1) for effect in item.effects.values()))
    return Difference(first.engine or "", other.engine or "", tuple(replaced),
                      _effects(before, evaluate(there, attention)))


def _named(here: Mapping[str, float], there: Mapping[str, float],
           other: Scenario) -> list[tuple[str, list[str], str | None]]:
    """Inputs that differ, by what moves them: (name, input symbols, source)."""
    apart = [key for key in there if here.get(key) != there[key]]
    rows: list[tuple[str, list[str], str | None]] = []
    for knob in other.every_knob():
        if moved := [key for key in knob.symbols if key in apart]:
            rows.append((knob.name, moved, knob.value.source))
            apart = [key for key in apart if key not in moved]
    ways = {"mixed_steps": "scheduling"}
    return rows + [(ways.get(key, key), [key], None) for key in apart]


def _effects(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, float]:
    """Of what there is none before there is nothing to compare: 1."""
    return {name: float(after[name] / before[name]) if before[name] > 0 else 1.0
            for name in COMPARED}
