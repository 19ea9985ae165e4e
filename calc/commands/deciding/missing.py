"""Why a goal has no answer, and what comes nearest: of one pool, and of two."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from calc.commands.deciding.answered import amount, head, row_label
from calc.commands.printing import amount as human
from calc.commands.printing import spoken
from catalogue import load_device
from catalogue.deployments.admission import length_words, positions, too_long
from catalogue.messages import Pair, messages
from catalogue.planning.goals import OBJECTIVES

if TYPE_CHECKING:
    from calc.layouts.layout import Row
    from calc.searching.pools import Pairs
    from calc.searching.selection import Answer

common = messages("common")
say = messages("calc/commands/deciding/missing")

SHORT_OF = "memory_capacity"
OF_QUANTITIES = ("ttft", "tpot", "e2e", "throughput", "cost", "power")  # limits of what comes out


def nearest(answer: Answer) -> list[Row]:
    """The nearest in one pool and in two, the nearer first; without what has none."""
    found = [row for row in (answer.nearest_miss, _nearest_pair(answer)) if row is not None]
    return sorted(found, key=lambda row: (not row.over, max(row.over.values(), default=0.0)))


def _nearest_pair(answer: Answer) -> Row | None:
    """Of the pairs of pools, as if there were no limits, the one that is least over them."""
    wishes, found = answer.result.wishes, _without_limits(answer)
    if found is None:
        return None
    rows = []
    for row in found.rows():
        excess = wishes.excess({name: np.array(each) for name, each in row.quantities.items()})
        over = {name: float(each) for name, each in excess.items() if each > 0}
        if over:
            rows.append(replace(row, over=over))
    return min(rows, key=lambda row: max(row.over.values()), default=None)


def _without_limits(answer: Answer) -> Pairs | None:
    """The front of the pairs in what a goal limits, as if it did not; None where it has no pairs.
    """
    from calc.searching.pools import pairs

    wishes = answer.result.wishes
    if answer.result.pairs is None:
        return None
    power = wishes.goal.limits.power and math.inf  # what has no limit is not computed
    free = wishes.goal.limits.model_copy(update=dict.fromkeys(OF_QUANTITIES) | {"power": power})
    limited = {name: OBJECTIVES[name] for name in wishes.limits}
    return pairs(answer.result.space, replace(
        wishes, goal=wishes.goal.model_copy(update={"limits": free}),
        objectives=limited | wishes.objectives))


def sentence(answer: Answer, row: Row) -> str:
    """By how much a deployment misses, and of which limit."""
    wishes, at = answer.result.wishes, answer.binds(row)
    if at == SHORT_OF:
        return spoken(say("short", label=row_label(row),
                          short=human(row.quantities["short"], "B")))
    money = wishes.goal.currency if at == "cost" else None
    return spoken(say(
        "over-a-limit", label=row_label(row), quantity=head(at),
        value=amount(at, row.quantities[at]), priced=money is not None, currency=money or "",
        limit=amount(at, wishes.limits[at]), factor=human(1 + row.over[at])))


def why_none(answer: Answer) -> str:
    """Why nothing that the goal allows can be laid out, in one sentence."""
    return spoken(_why_none(answer))


def _why_none(answer: Answer) -> Pair:
    goal, space = answer.result.wishes.goal, answer.result.space
    demand = goal.demand
    if too_long(demand.longest, positions(space.model)):
        return length_words(demand.longest, space.model)
    found = _without_limits(answer) if "one" not in goal.space.pools else None
    if found is not None and any(found.tried[:2]):
        if not all(found.tried[:2]):
            return say("no-pool-holds", pool="decode" if found.tried[0] else "prefill")
        cards = [min((int(column["devices"].min()) for each in found.pools
                      if (column := getattr(each, pool))), default=0)
                 for pool in ("prefill", "decode")]
        most_cards = max(each.most for each in found.pools)
        if sum(cards) > most_cards:
            return say("smallest-pools", prefill=cards[0], decode=cards[1], most=most_cards)
        return say("no-pair-holds", cards=most_cards, asked=(
            common("so-many-users", users=f"{demand.users:,}") if demand.users is not None else
            (f"{demand.arrival_rate:g} request/s",) * 2 if demand.arrival_rate
            else say("a-request")))
    unknown = [str(each) for each in dict.fromkeys(offer.device for offer in space.offers)
               if load_device(each).architecture is None]
    if unknown and not goal.space.any_engine:
        return say("no-release-known", device=unknown[0])
    if behind := answer.result.funnel.counts["saturated"]:
        return say("all-fall-behind", count=behind)
    return say("no-layout")
