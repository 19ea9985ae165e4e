"""The request that every derivation takes up: its bytes, operations, times, energy and money."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import catalogue
from calc.answer.estimate import Estimate, estimate
from calc.costing.ownership import (
    busy_times,
    card_hour,
    full_power,
    powers_of,
    prices_of,
    shares_of,
    step_energy,
)
from calc.physics.step import CLASSES, parts
from calc.serving.evaluate import evaluate
from calc.uncertainty import Amount
from catalogue import Scenario
from catalogue.planning import Question

QUESTION, STANDARD = "one-request", "serve"
CENTS = 100
OF_A_LAYER = 2  # collectives: behind attention, and behind the MLP or the experts
OF_EMBEDDING = 1  # collective, of its rows that are split over the ranks
PHASES = {"prefill": "prompt", "decode": "answer"}


@dataclass(frozen=True)
class Taken:
    """What a part of the request takes; parts sum to the whole.

    Attributes:
        bytes: that one card reads and writes [B].
        flops: of all cards [FLOP].
        collectives: that a card takes part in [1].
        time: from its beginning to its end [s].
        joules: of all cards [J].
        cents: of all cards, at the price of the question [cent].
    """

    bytes: float
    flops: float
    collectives: float
    time: float
    joules: float
    cents: float

    def __add__(self, other: Taken) -> Taken:
        """Both together."""
        return Taken(*(getattr(self, name) + getattr(other, name) for name in NAMES))


NAMES = tuple(Taken.__dataclass_fields__)


@functools.cache
def asked() -> Question:
    """The question of one request."""
    found: Question = catalogue.load("questions", QUESTION)
    return found


@functools.cache
def scenario() -> Scenario:
    """The deployment, with this request alone on it."""
    return _alone(asked())


@functools.cache
def measured_release() -> Scenario:
    """The same under the release under which the server was measured."""
    return _alone(asked().model_copy(update={"engine": None}))


def _alone(question: Question) -> Scenario:
    return _deployed([*question.settings, f"workload.requests={question.users} request",
                      f"workload.draft_tokens={max(question.draft_tokens)}"])


def _deployed(settings: list[str]) -> Scenario:
    found = asked().scenario
    assert found
    return catalogue.load_scenario(found, overrides=settings)


def engine() -> str:
    """The engine that runs it, with its release."""
    found = scenario().engine
    assert found
    return found


@functools.cache
def told() -> Estimate:
    """Medians with their intervals."""
    return estimate(scenario())


@functools.cache
def standard() -> Scenario:
    """The same server under the load of the standard question."""
    return _deployed([*catalogue.load("questions", STANDARD).settings,
                      f"engine={asked().engine}"])


@functools.cache
def shared() -> Amount:
    """What the users of the standard question get together there [token/s]."""
    return estimate(standard()).quantities["steady_throughput"]


def values() -> Mapping[str, Any]:
    """Every input and quantity, at central values."""
    return {**scenario().inputs(), **told().everything}


def steps() -> dict[str, float]:
    """Steps of either phase: prompts that fit one chunk, and a step per further token [1]."""
    found = values()
    return {"prompt": float(found["prompt_chunks"]), "answer": float(found["output_tokens"]) - 1}


@functools.cache
def bill() -> dict[str, Taken]:
    """What prompt and answer take, by their names; times as every page reports them."""
    found = told().quantities
    times = {"prompt": found["ttft"].value, "answer": found["e2e"].value - found["ttft"].value}
    money = _price()
    return {name: Taken(
        steps()[name] * moved(phase), steps()[name] * operations(phase),
        steps()[name] * collectives(), times[name], _energy(phase, times[name]),
        CENTS * money * times[name]) for phase, name in PHASES.items()}


def whole() -> Taken:
    """The whole request."""
    first, *others = bill().values()
    return functools.reduce(Taken.__add__, others, first)


def moved(phase: str) -> float:
    """What one card reads and writes in a step [B]."""
    return sum(float(values()[f"{phase}_{name}_bytes"]) for name in CLASSES)


def operations(phase: str) -> float:
    """What all cards multiply in a step [FLOP]."""
    found = values()
    return scenario().devices * sum(float(found[f"{phase}_{name}_flops"]) for name in CLASSES)


def collectives() -> float:
    """Collectives of a step [1]."""
    return OF_A_LAYER * float(values()["num_hidden_layers"]) + OF_EMBEDDING


def message() -> float:
    """What each rank brings to an all-reduce of a decode step [B]."""
    found = values()
    return float(found["hidden_size"] * found["activation_element_bytes"])


def step_parts(phase: str = "decode") -> dict[str, float]:
    """What a step of a phase is made of, by name of ``calc.physics.step`` [s]."""
    found = parts(scenario().inputs(), told().everything, phase)
    return {name: float(part) for name, part in found.items() if part}


def by_release() -> dict[str, dict[str, float]]:
    """A decode step by its parts [s], under the measured release and under that of the request."""
    found = {}
    for each in (measured_release(), scenario()):
        inputs = each.inputs()
        found[str(each.engine)] = {name: float(part) for name, part in parts(
            inputs, evaluate(inputs, each.model.attention)).items()}
    return found


def _energy(phase: str, time: float) -> float:
    """What all cards draw in the steps of a phase, awake for so long [J]."""
    full, deployed = full_power(scenario().device), scenario()
    assert full is not None
    shares = {name: value.value for name, value in shares_of(powers_of(deployed.device.id)).items()}
    busy = busy_times(deployed.inputs(), told().everything, phase)
    beyond = float(step_energy(shares, full.value, busy))
    return deployed.devices * (float(shares["awake"]) * float(full.value) * time
                               + steps()[PHASES[phase]] * beyond)


def _price() -> float:
    """What all cards cost [USD/s]."""
    hour = card_hour(scenario().device, asked().ownership, prices_of(scenario().device.id))
    assert hour
    return scenario().devices * float(hour.value)
