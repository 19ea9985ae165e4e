"""The standard question, answered once for every page: which servers, how fast, what cost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import catalogue
from calc.answer.estimate import Estimate, estimate
from calc.costing.cost import Cost, CostOptions, cost, cost_of_parts, price_of_request
from calc.costing.ownership import prices_of
from calc.layouts.layout import Choice, scenario
from calc.searching.goal import load_goal
from calc.uncertainty import Amount
from catalogue import Scenario
from catalogue.messages import Pair, join
from catalogue.planning import Question
from notebooks.pages.deciding.matrix import GOAL, Cell, cells_of

QUESTION, R1 = "serve", "deepseek-v3"
CARDS = ("nvidia-b300", "nvidia-b200", "nvidia-h200-sxm", "nvidia-h20-141gb", "nvidia-h20",
         "ascend-910c-die", "ascend-910b2", "ascend-910b4")
# as published, else dequantised without loss, else eight bits: what a card has a kernel for
FORMATS = (("fp8-mxfp4", "fp8-mxfp4-w4a16"), ("fp8-block", "fp8-block-fp8-latent"))
EIGHT_BITS = {True: "w8a8-int8-index8", False: "w8a8-int8"}  # of models with an indexer, without
SHORT = {"fp8-mxfp4": "MXFP4", "fp8-mxfp4-w4a16": "MXFP4", "fp8-block": "FP8",
         "fp8-block-fp8-latent": "FP8", "w8a8-int8-index8": "INT8", "w8a8-int8": "INT8"}


def question() -> Question:
    """The standard question."""
    found: Question = catalogue.load("questions", QUESTION)
    return found


def sizes(choice: Choice) -> str:
    """Parallel sizes of more than one, behind strokes those that take no cards: ``TP8/EP8``."""
    taken = {"TP": choice.tensor, "PP": choice.pipeline, "DP": choice.data}
    shared = {"DCP": choice.context, "EP": choice.expert}
    cards = "×".join(f"{name}{size}" for name, size in taken.items() if size > 1) or "TP1"
    return cards + "".join(f"/{name}{size}" for name, size in shared.items() if size > 1)


def layout(choice: Choice) -> Pair:
    """A layout with the tokens that it drafts: ``TP8/EP8, 1 MTP token``."""
    count = choice.drafts
    drafts = [(f"{count} MTP token", f"MTP 投机 {count} 个 token")] if count else []
    return join((", ", "，"), [(sizes(choice),) * 2, *drafts])


class Priced(NamedTuple):
    """A deployment of the question with its estimate, and what it costs by which options."""

    scenario: Scenario
    answer: Estimate
    cost: Cost
    asked: CostOptions

    @property
    def rate(self) -> Amount:
        """Output tokens per second in a steady state."""
        return self.answer.quantities["steady_throughput"]

    @property
    def api_per_output(self) -> float:
        """What the service takes for a request, by the token of its answer [money/token]."""
        assert self.asked.sold is not None
        inputs = self.scenario.inputs()
        return price_of_request(inputs, self.asked.sold, prices_of(self.scenario.device.id),
                                self.cost.currency) / float(inputs["output_tokens"])

    def of_parts(self) -> Cost | None:
        """The same at the hour that prices of hardware come to; None where nobody prints one."""
        return cost_of_parts(self.scenario, self.answer.everything, self.rate,
                             prices_of(self.scenario.device.id), self.asked)


@dataclass(frozen=True)
class Served:
    """A model on a card: on the fewest whole servers that a release starts it on, the fastest.

    Attributes:
        model: of the catalogue.
        cell: what is chosen, with the release that starts it and what it comes to.
    """

    model: str
    cell: Cell

    @property
    def device(self) -> str:
        """Its card, of the catalogue."""
        return self.cell.device

    @property
    def choice(self) -> Choice:
        """What is chosen."""
        assert self.cell.best is not None
        return self.cell.best.row.choice

    @property
    def sizes(self) -> str:
        """Parallel sizes of more than one."""
        return sizes(self.choice)

    @property
    def layout(self) -> Pair:
        """Its layout in short."""
        return layout(self.choice)

    @property
    def scenario(self) -> Scenario:
        """The deployment, as the search has it: under no engine's own profile."""
        goal = load_goal(GOAL, [f"model={self.model}", f"demand.users={question().users}"])
        return scenario(goal, self.choice)

    def priced(self) -> Priced:
        """What it costs as the question has it: owned, used as a day leaves it."""
        asked, deployed = question(), self.scenario
        answer = estimate(deployed)
        used = 1 / catalogue.load("loads", asked.day).peak
        service = catalogue.load_prices(asked.api) if asked.api else None
        options = CostOptions(asked.ownership, utilisation=used,
                              sold=service.current if service else None)
        found = cost(deployed, answer.everything, answer.quantities["steady_throughput"],
                     prices_of(deployed.device.id), options)
        return Priced(deployed, answer, found, options)


def served() -> list[Served]:
    """Each model of the question on each card of the front page that holds it."""
    return [found for model in question().models for device in CARDS
            if (found := serve(model, device))]


def served_by(model: str, device: str) -> Served:
    """One of them. Raises StopIteration for a card that does not hold the model."""
    return next(each for each in served() if (each.model, each.device) == (model, device))


@cache  # a page asks it again for each of its tables, numbers and pictures
def serve(model: str, device: str) -> Served | None:
    """The question asked of one model on one card: of the fewest servers the first format."""
    found = [cell for cell in cells_of(device, _formats(model), (question().users,),
                                       [f"model={model}"]) if cell.best]
    best = min(found, key=lambda cell: cell.servers, default=None)
    return Served(model, best) if best else None


def _formats(model: str) -> Iterable[str]:
    """Formats that are asked of a model, its own first."""
    entry = catalogue.load_model(model)
    assert entry.weights
    own = [name for formats in FORMATS if entry.weights.precision in formats for name in formats]
    return [*own, EIGHT_BITS[bool(entry.index_topk)]]
