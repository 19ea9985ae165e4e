"""Random deployments of usual models, cards and engines.

A fleet is several deployments of one model in one format on so many cards of one kind under one
engine. Layouts are those that the engine loads and that have room, as a search has them; loads are
those of chats, agents and batches, with no more users than fit and than engines let in.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from calc.layouts.feasible import has_room
from calc.layouts.layout import at
from calc.layouts.space import Base, Cells, Space
from calc.physics.arrays import Inputs
from calc.searching.candidates import CandidateCells
from calc.searching.goal import load_goal
from calc.serving.evaluate import evaluate
from calc.serving.metrics import MOST_SEQUENCES
from catalogue import ParamsError, deployment_names, load_device, load_scenario, names
from catalogue.engine import fitting

ENGINES = ("vllm", "vllm-ascend", "sglang", "tensorrt-llm")
CARDS = (1, 2, 4, 8, 8, 16, 32, 64)
ANY_GOAL = "r1-64-users-8xh20"  # of which nothing is left but its form
WIDE = ("space.any_format=true", "space.staged_groups=true", "space.staged_drafts=true",
        "space.micro_batches=1,2", "space.spares=none,per-rank", "space.pipeline=1,2,3,4",
        "space.memory_utilization=0.8,0.9,0.95")
TRIES = 4  # times as many layouts are looked at as are wanted: some have no room
Columns = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Fleet:
    """Deployments of one kind.

    Attributes:
        base: card, server, engine and format; None of those that are no random ones.
        model: that they serve, or what they are.
        attention: ``mla``, ``gqa`` or ``csa``.
        inputs: input symbols in SI units, each an array of shape (n,).
    """

    base: Base | None
    model: str
    attention: str
    inputs: dict[str, np.ndarray]

    @property
    def size(self) -> int:
        """How many they are."""
        return len(self.inputs["concurrency"])

    @functools.cached_property
    def found(self) -> dict[str, np.ndarray]:
        """Every quantity of them but for those by stage, shape (n,) each."""
        return whole(evaluate(self.inputs, self.attention), self.size)

    def of(self, **changes: Any) -> dict[str, np.ndarray]:
        """The quantities with other inputs."""
        return whole(evaluate(self.inputs | changes, self.attention), self.size)

    def but(self, **changes: Any) -> Fleet:
        """The deployments with other inputs."""
        return replace(self, inputs=self.inputs | changes)

    def each(self, changes: list[dict[str, Any]]
             ) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Inputs and quantities after each of several changes, shape (changes, n) each."""
        shape = (len(changes), self.size)
        inputs = {name: np.broadcast_to(value, shape).copy() if any(
            name in change for change in changes) else np.broadcast_to(value, shape)
            for name, value in self.inputs.items()}
        for row, change in enumerate(changes):
            for name, value in change.items():
                inputs[name][row] = value
        flat = {name: value.ravel() for name, value in inputs.items()}
        found = whole(evaluate(flat, self.attention), len(changes) * self.size)
        return inputs, {name: value.reshape(shape) for name, value in found.items()}

    @property
    def symbols(self) -> Inputs:
        """The input symbols as attributes."""
        return Inputs(self.inputs)

    def told(self, index: int) -> str:
        """A deployment in words."""
        read = {name: self.inputs[name][index] for name in (
            "tensor_parallel", "pipeline_parallel", "data_parallel", "expert_parallel",
            "concurrency", "input_tokens", "output_tokens", "max_num_batched_tokens",
            "prefix_hit_share", "draft_tokens", "separate_pools", "open_arrivals", "think_time",
            "mixed_steps", "micro_batches")}
        where = (f" in {self.base.precision} on {self.base.device} under {self.base.engine}"
                 if self.base else "")
        return f"{self.model}{where}, " + ", ".join(f"{k} {v:g}" for k, v in read.items())


def whole(found: Columns, count: int) -> dict[str, np.ndarray]:
    """Quantities as arrays of one length, without those by stage."""
    return {name: np.broadcast_to(value, count) for name, value in found.items()
            if not name.startswith("stage_")}


def shipped() -> list[Fleet]:
    """Every deployment of the catalogue that says how long its requests are, each by itself."""
    every = (load_scenario(name) for name in deployment_names())
    return [Fleet(None, one.id, one.model.attention, {
        name: np.array([float(value)]) for name, value in one.inputs().items()})
        for one in every if one.file.workload.output_tokens is not None]


@functools.cache
def offers() -> tuple[tuple[str, str], ...]:
    """Cards that stand in a server, each with every engine that reaches it."""
    cards = (load_device(name) for name in names("devices"))
    return tuple((card.id, engine) for card in cards
                 if card.type != "host" and card.node and not card.dies
                 for engine in fitting(card) if engine in ENGINES)


@st.composite
def fleets(draw: st.DrawFn, size: int) -> Fleet:
    """Fleets of so many deployments of any model on any card that has room for it."""
    found = fleet(size, draw(st.sampled_from(offers())), draw(st.sampled_from(names("models"))),
                  draw(st.sampled_from(CARDS)), draw(st.integers(0, 2**32 - 1)))
    assume(found is not None)
    return found


@functools.cache
def fleet(size: int, offer: tuple[str, str], model: str, cards: int, seed: int) -> Fleet | None:
    """So many deployments of a model on its cards; None where none is loaded or has room."""
    draw = np.random.default_rng(seed)
    device, engine = offer
    try:
        space = Space(load_goal(ANY_GOAL, [
            *WIDE, f"model={model}", f"devices={device}", f"engines={engine}",
            f"cards.fewest={cards}", f"cards.most={cards}"]))
        if not (bases := space.bases()):
            return None
        base = bases[draw.integers(len(bases))]
        if not (kinds := space.cells(base)):
            return None
        first, shared = space.inputs(base, kinds)
    except ParamsError:
        return None
    inputs = _chosen(CandidateCells(shared, first.model.attention, space.goal.demand), kinds,
                     size, draw)
    return inputs and Fleet(base, model, first.model.attention, inputs)


def _chosen(space: CandidateCells, kinds: list[Cells], size: int, draw: np.random.Generator
            ) -> dict[str, np.ndarray] | None:
    """Inputs of deployments that fit, with their loads; None where hardly any does."""
    count = TRIES * size
    cells = {name: np.concatenate([cells[name] for cells in kinds]) for name in kinds[0]}
    sizes = [len(cells["data"]) for cells in kinds]
    cells["kind"] = np.repeat(np.arange(len(kinds)), sizes)
    some = at(cells, draw.integers(0, sum(sizes), count))
    inputs = space.columns(some | {"concurrency": some["data"]}) | loads(draw, count)
    inputs = {name: np.broadcast_to(np.asarray(value, float), count)
              for name, value in inputs.items()}
    alone = evaluate(inputs, space.attention, decode=False)
    most = np.broadcast_to(alone["max_concurrency"], count) // inputs["data_parallel"]
    most = np.minimum(most, MOST_SEQUENCES)
    per_rank = np.floor(np.maximum(1, most) ** draw.random(count))
    inputs["concurrency"] = np.maximum(1, np.floor(per_rank * inputs["data_parallel"] * (
        1 - 0.3 * draw.random(count) * draw.integers(0, 2, count))))
    room = np.broadcast_to(has_room(evaluate(inputs, space.attention, decode=False)), count)
    fit = np.flatnonzero(room & (most > 0))[:size]
    return at(inputs, fit) if len(fit) == size else None


def loads(draw: np.random.Generator, count: int) -> dict[str, np.ndarray]:
    """Lengths, hits and arrivals of requests, shape (count,) each."""
    def between(low: float, high: float) -> np.ndarray:
        return np.floor(np.exp(draw.uniform(np.log(low), np.log(high), count)))

    def sometimes(share: float, values: Any) -> np.ndarray:
        return np.where(draw.random(count) < share, values, 0.0)

    prompts, answers = between(64, 32_768), between(8, 4096)
    opened = sometimes(0.25, 1.0)
    return {
        "input_tokens": prompts, "output_tokens": answers, "context_tokens": prompts + answers,
        # the last token of a prompt is always computed
        "prefix_hit_share": np.minimum(1 - 1 / prompts, sometimes(0.5, draw.random(count))),
        "prompt_variation": sometimes(0.7, draw.choice((0.5, 1.0, 1.5), count)),
        "answer_variation": sometimes(0.7, draw.choice((0.5, 1.0, 1.5), count)),
        "open_arrivals": opened,
        "think_time": np.where(opened > 0, 0.0, sometimes(0.4, 10 ** draw.uniform(-1, 2, count))),
        "separate_pools": sometimes(0.2, 1.0)}
