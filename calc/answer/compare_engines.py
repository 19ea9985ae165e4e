"""One deployment under several engines: what differs, and which mechanism makes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from calc.serving.evaluate import evaluate
from catalogue import Scenario

COMPARED = ("tpot", "ttft", "output_throughput", "max_concurrency")
NOTHING = 5e-5  # relative, below what is printed
LABELS = {"mixed_steps": "scheduling"}  # of inputs that are no mechanism


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
    first, *others = scenarios
    here, attention = first.inputs(), first.model.attention
    before = evaluate(here, attention)

    def effects(inputs: Mapping[str, float]) -> dict[str, float]:
        """Ratios to the first engine's quantities; 1 where a quantity is zero before."""
        after = evaluate(inputs, attention)
        return {name: float(after[name] / before[name]) if before[name] > 0 else 1.0
                for name in COMPARED}

    result = []
    for other in others:
        there, replaced = other.inputs(), []
        apart = [key for key in there if here.get(key) != there[key]]
        rows: list[tuple[str, list[str], str | None]] = []
        for knob in other.every_knob():
            if moved := [key for key in knob.symbols if key in apart]:
                rows.append((knob.name, moved, knob.value.source))
                apart = [key for key in apart if key not in moved]
        rows += [(LABELS.get(key, key), [key], None) for key in apart]
        for name, symbols, source in rows:
            ratios = effects(here | {key: there[key] for key in symbols})
            if any(abs(ratio - 1) > NOTHING for ratio in ratios.values()):
                replaced.append(Replaced(name, symbols[0], here[symbols[0]], there[symbols[0]],
                                         source, ratios))
        replaced.sort(key=lambda item: -max(abs(ratio - 1) for ratio in item.effects.values()))
        result.append(Difference(first.engine or "", other.engine or "", tuple(replaced),
                                 effects(there)))
    return result
