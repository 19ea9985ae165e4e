"""Buy: for so many users within a limit, how many of which card, how sure, and what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import catalogue
from calc.answer.estimate import estimate
from calc.costing.cost import CostOptions, cost
from calc.costing.ownership import prices_of
from calc.evidence.classes import evidence, own_errors
from calc.launching.starting import start
from calc.layouts.layout import scenario
from calc.layouts.space import Space
from calc.searching.goal import load_goal
from calc.searching.ranking import SURE, SampledRow, surely
from calc.searching.search import search
from calc.uncertainty import Amount
from catalogue import Scenario
from catalogue.messages import Pair, join, messages
from catalogue.planning import Goal
from notebooks.pages.calculators.offers import MOST_CARDS
from notebooks.pages.catalogue.tables.deployments import HELD
from notebooks.pages.deciding.front.r1 import WHOLE
from notebooks.pages.deciding.front.standard import R1, layout, question
from notebooks.pages.deciding.goals import device_label, so_many
from notebooks.pages.deciding.matrix import GOAL
from notebooks.show.columns import Column
from notebooks.show.display import number, numbers, table
from notebooks.show.numbers import fmt_fixed, fmt_percent, fmt_sig, fmt_time

common = messages("common")
say = messages("pages/ways/buy")

CARDS = {"nvidia-b300": "fp8-block", "nvidia-h200-sxm": "fp8-block", "nvidia-h20": "fp8-block",
         "ascend-910c-die": "w8a8-int8", "ascend-910b2": "w8a8-int8"}  # in eight bits
SLOWER = ("nvidia-h20", "ascend-910c-die", "ascend-910b2")  # which a wider limit helps most
USERS = (16, 64, 256, 512, 1024)
LIMIT, WIDER = 0.05, 0.1  # s per token
EXAMPLE, ASKED = "nvidia-h200-sxm", 512  # card and users of the example in the text
MILLI = 1e3


@dataclass(frozen=True)
class Bought:
    """What serves so many users of R1 within the limit, on the fewest whole servers.

    Attributes:
        device: of the catalogue.
        users: at once.
        limit: of the time per token [s].
        best: the deployment; None where not even ``MOST_CARDS`` are sure to.
    """

    device: str
    users: int
    limit: float
    best: SampledRow | None

    @property
    def scenario(self) -> Scenario:
        """The deployment, as the search has it."""
        assert self.best is not None
        return scenario(_goal(self.device, self.users, self.limit), self.best.row.choice)

    @property
    def tpot(self) -> Amount:
        """Its time per token [s]."""
        assert self.best is not None
        return self.best.amounts["tpot"]

    def million(self) -> Amount | None:
        """A million output tokens, prompts included, as the standard question has cards used; None
        where nobody prints a price."""
        asked, deployed = question(), self.scenario
        answer = estimate(deployed)
        used = 1 / catalogue.load("loads", asked.day).peak
        found = cost(deployed, answer.everything, answer.quantities["steady_throughput"],
                     prices_of(self.device), CostOptions(asked.ownership, utilisation=used))
        return found.amounts.get(WHOLE)


@cache
def bought(devices: tuple[str, ...] = tuple(CARDS), limit: float = LIMIT) -> tuple[Bought, ...]:
    """Each number of users on each card.

    Args:
        devices: of ``CARDS``.
        limit: of the time per token [s].
    """
    return tuple(buy(device, users, limit) for device in devices for users in USERS)


def _goal(device: str, users: int, limit: float) -> Goal:
    node = catalogue.load_device(device).node
    assert node
    size = int(catalogue.load_node(node).devices_per_node.value)
    return load_goal(GOAL, [
        f"model={R1}", f"devices={device}", f"precisions={CARDS[device]}",
        f"demand.users={users}", f"cards.fewest={size}", f"cards.most={MOST_CARDS}",
        f"limits.tpot={MILLI * limit:g} ms", f"limits.sure={SURE:g}"])


@cache
def _space(device: str) -> Space:
    """What is tried on a card, however many the users and whatever the limit."""
    return Space(_goal(device, USERS[0], LIMIT))


def buy(device: str, users: int, limit: float = LIMIT) -> Bought:
    """What serves so many users on a card of ``CARDS`` within a limit of the time per token [s]."""
    goal = _goal(device, users, limit)
    sure = surely(search(goal, space=_space(device)), SURE,
                  lambda row: start(goal, row).engine is not None)
    return Bought(device, users, limit, next(iter(sure), None))


def answer() -> None:
    """What to buy: a row per card, a column per number of users, and what such runs did."""
    asked = question()
    numbers({"bu-input": asked.demand.input_tokens, "bu-output": asked.demand.output_tokens,
             "bu-most": MOST_CARDS, "bu-users": ASKED, "bu-few": asked.demand.users})
    numbers({"bu-limit": LIMIT, "bu-wider": WIDER}, fmt_time)
    numbers({"bu-sure": SURE, "bu-used": 1 / catalogue.load("loads", asked.day).peak},
            fmt_percent, digits=0)
    number("bu-example", next(each.best.row.devices for each in bought() if each.best and (
        each.device, each.users) == (EXAMPLE, ASKED)))
    shown(bought())


def shown(found: Sequence[Bought]) -> None:
    """A row per card, a column per number of users."""
    rows: dict[str, dict[str, Pair]] = {}
    for each in found:
        rows.setdefault(each.device, {"card": device_label(each.device)})[
            str(each.users)] = _cell(each)
    table(rows.values(), {"card": common("card"), **{
        str(users): common("so-many-users", users=users) for users in USERS}}, wide=True)


def _cell(each: Bought) -> Pair:
    """Cards, time per token with its interval, layout, money."""
    if each.best is None:
        return say("more-than", cards=so_many(MOST_CARDS, each.device))
    choice, (value, low, high) = each.best.row.choice, (
        fmt_fixed(MILLI * point, 0) for point in each.tpot.points)
    cards = so_many(choice.devices, each.device)
    lines = [(f"**{cards[0]}**", f"**{cards[1]}**"), (f"{value} ms ({low}–{high})",) * 2,
             layout(choice)]
    if million := each.million():
        shown, *ends = (fmt_sig(point, 2) for point in million.points)
        lines.append((f"{shown} USD ({'–'.join(ends)})",) * 2)
    return join(("<br>",) * 2, lines)


def certainty() -> None:
    """How predictions of similar systems did: a row per card at the standard question's users."""
    rows = [each for each in bought() if each.users == question().users and each.best]
    table(rows, [
        Column(lambda each: device_label(each.device), common("card")),
        Column(lambda each: so_many(each.best.row.devices, each.device, column=True),
               common("number-of-cards")),
        Column(lambda each: "{} ({}–{})".format(*(
            fmt_fixed(MILLI * point, 0) for point in each.tpot.points)), common("ms-per-token")),
        Column(lambda each: evidence(own_errors(each.scenario)), HELD)])
