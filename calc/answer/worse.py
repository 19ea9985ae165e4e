"""Inputs that should improve an answer and make it worse, and the mechanism by which they do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from calc.serving.evaluate import evaluate
from catalogue import Scenario
from catalogue.messages import Pair, messages
from catalogue.reading.amounts import human

say = messages("calc/answer/worse")


@dataclass(frozen=True)
class Turn:
    """An input, and what may turn its gain into a loss.

    Attributes:
        without: the input's value where it does nothing.
        metric: what it should shorten.
        mechanism: the input of the physics that is to blame, where one is; it does nothing at 0.
    """

    without: float
    metric: str
    mechanism: str | None = None


TURNS: Mapping[str, Turn] = {
    "prefix_hit_share": Turn(0.0, "ttft", "absorbed_prefix_tokens"),
    "draft_tokens": Turn(0.0, "tpot"), "micro_batches": Turn(1.0, "tpot")}


def worsened(scenario: Scenario) -> list[Pair]:
    """Sentences on inputs that a deployment would be faster without, in both languages.

    Args:
        scenario: the deployment.
    """
    inputs = scenario.inputs()
    turned = {name: turn for name, turn in TURNS.items() if inputs[name] != turn.without}
    ours = evaluate(inputs, scenario.model.attention) if turned else {}
    told = []
    for name, turn in turned.items():
        def without(changed: str, value: float, metric: str = turn.metric) -> float:
            return float(evaluate(inputs | {changed: value}, scenario.model.attention)[metric])

        taken, better = float(ours[turn.metric]), without(name, turn.without)
        if taken > better and (turn.mechanism is None or without(turn.mechanism, 0.0) <= better):
            told.append(say("worse", input=name, metric=turn.metric.upper(),
                            ours=human(taken, "s"), without=human(better, "s")))
    return told
