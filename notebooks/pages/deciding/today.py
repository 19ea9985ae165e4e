"""What the cards of a document's plan give with another model, for the users that it states.

The cards decode alone, as in the chapter from V3 to V4. They are dealt to equal replicas of a power
of two of cards. Attention is cut over all cards of a replica, or over groups of them that have
their own requests; experts are spread over all, or cut where attention is. Of the layouts that hold
the users the fastest is taken. Times are medians.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import catalogue
from calc.answer.estimate import predicted
from calc.costing.cost import Cost, CostOptions, cost
from calc.costing.ownership import card_hour, prices_of
from calc.layouts.feasible import reasons
from calc.sensitivity.plans import BATCHES, Plan, plan_of
from calc.sensitivity.sobol import priors, scores_of
from calc.serving.evaluate import evaluate
from calc.uncertainty import Amount
from catalogue import Scenario
from catalogue.deployments.physics_inputs import nearest
from catalogue.entries.deployments import BLOCKS
from catalogue.kernels import expert_bytes
from notebooks.pages.deciding.generations.models import (
    CHUNK,
    CUT,
    EIGHT,
    LIMIT,
    WIDENED,
    asked,
    published,
    within_limit,
)

PLANNED = "deepseek-v3"  # and R1, which has its shapes
MODELS = ("deepseek-v4-flash", "minimax-m2.5", "qwen3.5-397b-a17b", "minimax-m3", "deepseek-v3.2",
          "glm-5.2", "kimi-k2.5", "deepseek-v4-pro")
# one deployment of each set of cards and demand of the documents, in their order
PLANS = (
    "s0-config-4.1-bf16", "s0-recommended", "s0-config-4.2",
    "s0-config-4.3-decode", "s0-scenario-2", "s0-scenario-3-decode", "s1-plan-a", "s1-plan-b",
    "s1-plan-c", "s1-launch-single", "s1-phases-1", "s1-scale-24", "s1-scale-32", "s1-scale-48",
    "s1-scale-64", "s2-910b1-awq", "s3-eight-cards", "s3-hybrid-910b4")
# what runs where the published weights do not fit, or no engine runs them, the widest first
INSTEAD = {"npu": (EIGHT, "w4a8-int8"), "gpu": ("fp8-block", "w4afp8")}
NARROWER = 0.9  # bytes of experts; less is another width
FP4 = "fp8-mxfp4"  # without a matrix unit for it, vLLM widens the experts: nothing is lost
WIDEST = 16  # cards of tensor parallelism, over two servers
MEMORY = 0.9  # that an engine may use, of every plan
DRAWS = 512  # a power of two
RATE = "output_throughput"

Key = tuple[str, tuple[str, ...]]


@cache
def document(reference: str) -> Scenario:
    """A document's plan as it stands there."""
    return catalogue.load_scenario(reference)


def demanded(reference: str) -> tuple[int, int]:
    """Requests at once [1], and how long each is at most [token]."""
    inputs = document(reference).inputs()
    return int(inputs["concurrency"]), int(inputs["context_tokens"])


def hosted(reference: str) -> bool:
    """Whether the host of a plan holds the experts."""
    return document(reference).file.offload is not None


def as_written(reference: str) -> float | None:
    """Median time per token of a document's plan as it stands there [s]; None if it cannot run."""
    plan = document(reference)
    return None if reasons(plan, asked(plan_of(reference))) else float(
        predicted(plan, ["tpot"])["tpot"].value)


@cache
def formats(model: str, device: str) -> tuple[str, ...]:
    """The precisions that are tried of a model on a card, the widest first.

    The published one where a release runs it and it has at most eight bits, then narrower ones;
    what runs instead where none does.

    Args:
        model, device: entries of the catalogue.
    """
    card = catalogue.load_device(device)
    runs = {entry.id: expert_bytes(entry)
            for entry in nearest(card, model=catalogue.load_model(model))}
    own = published(model)
    if own == FP4 and WIDENED in runs:
        return (WIDENED,)
    instead = [name for name in INSTEAD[card.type] if name in runs]
    if runs.get(own, np.inf) > 1:  # no release runs it, or it takes more than a byte
        return tuple(instead)
    return own, *(name for name in instead if runs[name] < NARROWER * runs[own])


@dataclass(frozen=True)
class Replica:
    """Some cards of a plan that serve a model by themselves.

    Attributes:
        key: the plan that it was made of, and what was set.
        made: as a function of its inputs.
        held: requests that all of them hold at their longest [1].
        count: how many there are.
    """

    key: Key
    made: Plan
    held: int
    count: int

    @property
    def tpot(self) -> Amount:
        """Time per token, its median with its interval [s]."""
        return _paced(self.key)

    def within_limit(self) -> tuple[float, int]:
        """Tokens of all of them with the most users in the limit [token/s], and those users [1]."""
        users = np.union1d(BATCHES * float(self.made.inputs["data_parallel"]),
                           self.made.inputs["concurrency"])
        most = self.made.most_users(users, "tpot", LIMIT)
        return (self.count * self.made.median(most, RATE), self.count * most) if most else (0.0, 0)


_made = cache(plan_of)


@cache
def _evaluated(key: Key) -> tuple[Plan, Mapping[str, Any]] | None:
    """A deployment with its memory; None of one that cannot be cut so."""
    try:
        made = _made(*key)
        return made, evaluate(made.inputs, made.scenario.model.attention, decode=False)
    except catalogue.LayoutError:
        return None


@cache
def _paced(key: Key) -> Amount:
    return predicted(_made(*key).scenario, ["tpot"])["tpot"]


def _dealt(reference: str, settings: tuple[str, ...], count: int) -> Iterator[Replica]:
    key = reference, settings
    if found := _evaluated(key):
        made, quantities = found
        yield Replica(key, made, int(quantities["max_concurrency"]) * count, count)


def replicas(reference: str, model: str, precision: str) -> Iterator[Replica]:
    """Every way of dealing a plan's cards to replicas, of which a cut exists.

    Args:
        reference: the plan.
        model, precision: of the catalogue.
    """
    plan = document(reference)
    users, _ = demanded(reference)
    settings = (f"model={model}", f"precision={precision}", f"workload.memory_utilization={MEMORY}",
                f"workload.max_num_batched_tokens={CHUNK}", "mechanisms.separate_pools=1",
                f"workload.block_size={BLOCKS[plan.device.type]}")
    if hosted(reference):
        yield from _dealt(reference, settings, 1)
        return
    per_node = int(plan.node.devices_per_node.value)
    for cards in _powers(plan.devices):
        count, held = plan.devices // cards, 0
        for tensor, expert in _cuts(cards):
            data = cards // tensor
            for made in _dealt(_alike(reference), (
                    *settings, f"cluster.nodes={-(-cards // per_node)}",
                    f"cluster.devices={cards}", f"parallelism.tensor_parallel={tensor}",
                    f"parallelism.data_parallel={data}", "parallelism.pipeline_parallel=1",
                    f"parallelism.expert_parallel={expert}",
                    f"workload.concurrency={max(data, -(-users // count))}"), count):
                held += made.held
                yield made
        if cards <= CUT and not held:
            return  # fewer hold no more


def _powers(cards: int) -> list[int]:
    """The powers of two that divide a number of cards, the largest first."""
    return [2**power for power in range(cards.bit_length()) if cards % 2**power == 0][::-1]


def _cuts(cards: int) -> Iterator[tuple[int, int]]:
    """Ranks that cut attention, and that experts are spread over; 1 where each is cut as well.

    >>> list(_cuts(4))
    [(4, 1), (4, 4), (2, 4), (1, 4)]
    """
    for tensor in _powers(cards):
        if 1 < tensor == cards <= WIDEST:
            yield tensor, 1
        if tensor <= WIDEST:
            yield tensor, cards


@cache
def _alike(reference: str) -> str:
    """The first plan with the same cards and lengths: replicas of theirs are computed once."""
    def of(name: str) -> tuple[Any, ...]:
        plan, inputs = document(name), document(name).inputs()
        return (plan.device.id, plan.node.id, inputs["input_tokens"], inputs["output_tokens"],
                inputs["context_tokens"], hosted(name), plan.file.graphs)

    return next(name for name in PLANS if of(name) == of(reference))


@dataclass(frozen=True)
class Served:
    """What the cards of a plan give with a model.

    Attributes:
        model: of the catalogue.
        precision: the widest that holds the plan's users within the limit, else the fastest that
            holds them; where none does, that holds most.
        held: requests that fit [1]; 0 where not one does.
        best: the layout in which the plan's users fit and a token takes least; None where they do
            not fit.
        users, rate: requests and output tokens of all cards where most are given within the limit
            [1], [token/s].
        tpot: time per token of the plan's users [s]; None where they do not fit.
        cost: of a million output tokens of theirs, on all cards [USD]; None where they do not fit,
            or nobody prices the card.
    """

    model: str
    precision: str
    held: int
    best: Replica | None
    users: int = 0
    rate: float = 0.0
    tpot: Amount | None = None
    cost: Amount | None = None


@cache
def hour_of(reference: str) -> Amount | None:
    """What a card of a plan costs by the time [USD/s]: as printed, else as its parts come to."""
    plan = document(reference)
    return card_hour(plan.device) or _costs(plan, CostOptions()).hour_of_parts


def _costs(made: Scenario, options: CostOptions) -> Cost:
    return cost(made, evaluate(made.inputs(), made.model.attention), predicted(made, [RATE])[RATE],
                prices_of(made.device), options)


def _million(reference: str, best: Replica) -> Amount | None:
    hour = hour_of(reference)
    if hour is None:
        return None
    ranged = _costs(best.made.scenario, CostOptions(price=hour)).amounts["per_million_output"]
    places = best.count * float(best.made.inputs["concurrency"])
    return ranged.scaled(places / demanded(reference)[0])  # some may stay empty


@cache
def served(reference: str, model: str) -> Served:
    """What the cards of a plan give with a model, in the layouts and formats that are tried.

    Args:
        reference: the plan.
        model: of the catalogue.
    """
    users, _ = demanded(reference)
    plan = document(reference)
    names = (plan.precision.id,) if hosted(reference) else formats(model, plan.device.id)
    tried = {name: tuple(replicas(reference, model, name)) for name in names}
    held = {name: max((each.held for each in layouts), default=0)
            for name, layouts in tried.items()}
    fastest = {name: min(able, key=lambda each: each.tpot.value) for name, layouts in tried.items()
               if (able := [each for each in layouts if each.held >= users])}
    precision = next((name for name, each in fastest.items() if each.tpot.value <= LIMIT), "") or (
        min(fastest, key=lambda name: fastest[name].tpot.value) if fastest
        else max(names, key=held.__getitem__))
    most = max((each for each in tried[precision] if each.held),
               key=lambda each: each.count * within_limit(each.made)[0], default=None)
    best = fastest.get(precision)
    either = {each.key: each for each in (most, best) if each}
    rate, most_users = max((each.within_limit() for each in either.values()), default=(0.0, 0))
    return Served(model, precision, held[precision], best, most_users, rate,
                  best.tpot if best else None, _million(reference, best) if best else None)


def ranking(reference: str) -> list[Served]:
    """The models of today that hold a plan's users, the least time per token first.

    The cards are the same, so that a token of the first also costs least.
    """
    return sorted((each for model in MODELS if (each := served(reference, model)).tpot),
                  key=lambda each: each.tpot.value if each.tpot else np.inf)


def wins(reference: str) -> float:
    """In which share of the draws the fastest model of a plan is faster than the next [1].

    What both share, the cards' kernels and links above all, is drawn once for both.

    Args:
        reference: the plan.
    """
    two = [each.best.made for each in ranking(reference)[:2] if each.best]
    found = priors(two, "tpot")
    scores = scores_of(len(found.names), DRAWS)
    first, second = (found.sample(plan, scores, "tpot", which) for which, plan in enumerate(two))
    return float((first < second).mean())
