"""Why a goal has no answer, and what comes nearest: of one pool, and of two."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from calc.commands.deciding.answered import HEADS, amount, row_label
from catalogue import load_device
from catalogue.deployments.admission.rules import too_long
from catalogue.planning.goals import OBJECTIVES
from catalogue.reading.amounts import human

if TYPE_CHECKING:
    from calc.layouts.choice import Row
    from calc.searching.pool_pairs import Pairs
    from calc.searching.result import Answer

SHORT_OF = "memory_capacity"
OF_QUANTITIES = ("ttft", "tpot", "e2e", "throughput", "cost", "power")  # limits of what comes out


def nearest(answer: Answer) -> list[Row]:
    """The nearest in one pool and in two, the nearer first; without what has none."""
    found = [row for row in (answer.nearest_miss, _nearest_pair(answer)) if row is not None]
    return sorted(found, key=lambda row: (not row.over, max(row.over.values(), default=0.0)))


def _nearest_pair(answer: Answer) -> Row | None:
    """Of the pairs of pools, as if there were no limits, the one that is least over them."""
    wishes, found = answer.found.wishes, _without_limits(answer)
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
    from calc.searching.pool_pairs import pairs

    wishes = answer.found.wishes
    if answer.found.pairs is None:
        return None
    power = wishes.goal.limits.power and math.inf  # what has no limit is not computed
    free = wishes.goal.limits.model_copy(update=dict.fromkeys(OF_QUANTITIES) | {"power": power})
    limited = {name: OBJECTIVES[name] for name in wishes.limits}
    return pairs(answer.found.space, replace(
        wishes, goal=wishes.goal.model_copy(update={"limits": free}),
        objectives=limited | wishes.objectives))


def sentence(answer: Answer, row: Row) -> str:
    """By how much a deployment misses, and of which limit."""
    wishes, at = answer.found.wishes, answer.binds(row)
    if at == SHORT_OF:
        return f"{row_label(row)}: {human(row.quantities['short'], 'B')} per device short"
    unit = f" {wishes.goal.currency}" if at == "cost" else ""
    return (f"{row_label(row)}: {HEADS[at]} {amount(at, row.quantities[at])}{unit}, the limit is "
            f"{amount(at, wishes.limits[at])}{unit}, off by a factor of {human(1 + row.over[at])}")


def why_none(answer: Answer) -> str:
    """Why nothing that the goal allows can be laid out, in one sentence."""
    goal, space = answer.found.wishes.goal, answer.found.space
    demand = goal.demand
    longest = demand.context_tokens or demand.input_tokens + demand.output_tokens
    most: Any = space.model.max_position_embeddings
    if most is not None and too_long(longest, most.value):
        return (f"requests of {longest:,} tokens are longer than the {most.value:,} positions of "
                f"'{space.model.id}', expected shorter ones")
    found = _without_limits(answer) if "one" not in goal.space.pools else None
    if found is not None and any(found.tried[:2]):
        if not all(found.tried[:2]):
            pool = "prefill" if not found.tried[0] else "decode"
            return f"no {pool} pool holds the model and its requests, expected more cards"
        cards = [min((int(column["devices"].min()) for each in found.pools
                      if (column := getattr(each, pool))), default=0)
                 for pool in ("prefill", "decode")]
        most_cards = max(each.most for each in found.pools)
        if sum(cards) > most_cards:
            return (f"the smallest prefill pool takes {cards[0]} cards and the smallest decode "
                    f"pool {cards[1]}, more than the {most_cards} of the goal")
        asked = (f"{demand.users:,} users" if demand.users is not None else
                 f"{demand.arrival_rate:g} request/s" if demand.arrival_rate else "a request")
        return (f"no pair of pools on {most_cards} cards holds {asked}, expected more cards, less "
                "demand or space.pools=one")
    unknown = [str(each) for each in dict.fromkeys(offer.device for offer in space.offers)
               if load_device(each).architecture is None]
    if unknown and not goal.space.any_engine:
        return (f"no release is known to run on '{unknown[0]}', whose file states no "
                "'architecture', expected one there, or --any-engine")
    return ("no layout of the cards that are allowed holds the model, divides it and is loaded in "
            "one of the precisions, expected more of 'cards', 'space' or 'precisions'")
