"""How pages name cards and deployments of a search: a card, how many of them, weights and cut."""

from __future__ import annotations

import math
from functools import cache

import catalogue
from calc.layouts.layout import UTILIZATION, Choice
from catalogue.deployments.admission import marked
from catalogue.messages import Pair, join, pair
from notebooks.pages.catalogue.tables.hardware import dies_of
from notebooks.show.numbers import fmt_int

DRAFTERS = {"eagle3": "EAGLE-3", "dspark": "DSpark"}  # otherwise the model's own layers, MTP


def plan(choice: Choice) -> Pair:
    """Weights, cut and what else is chosen: ```fp8-block`, 2 replicas of TP8/EP8+8, 3 drafts``."""
    parts = [(f"`{choice.precision}`",) * 2, pair(choice.layouts)]
    if choice.drafts:
        drafter = DRAFTERS.get(choice.draft_method or "", "MTP")
        parts.append((f"{choice.drafts} {drafter} token{'s' * (choice.drafts > 1)}",
                      f"{drafter} 投机 {choice.drafts} 个 token"))
    if choice.prefill_context:
        parts.append(("prefill CP", "预填充 CP"))
    if choice.micro_batches > 1:
        parts.append(("two micro-batches (TBO/DBO)", "双 micro-batch"))
    if choice.utilization != UTILIZATION:
        share = f"{choice.utilization}%"
        parts.append((f"{share} of the memory", f"显存上限 {share}"))
    return join((", ", "，"), parts)


@cache
def device_label(device: str) -> Pair:
    """A device by its name in both languages, marked where it is only announced."""
    card = catalogue.load_device(device)
    return marked(card, pair(card.name))


def so_many(devices: int, device: str, column: bool = False, brief: bool = False) -> Pair:
    """How many cards, and of dies how many of those: ``8 cards``, ``16 dies (8 cards)``.

    Args:
        devices: as software counts them.
        device: by the name of its file.
        column: below a heading that says cards: ``8``.
        brief: where there is little room: ``16 dies``.
    """
    count = fmt_int(devices)
    if (dies := dies_of(device)) > 1:
        cards_ = math.ceil(devices / dies)
        said = f"{count} die{'s' * (devices != 1)}", f"{count} die"
        whole = f" ({fmt_int(cards_)} card{'s' * (cards_ != 1)})", f"（{fmt_int(cards_)} 卡）"
        return said if brief else (said[0] + whole[0], said[1] + whole[1])
    return (count, count) if column else (f"{count} cards", f"{count} 卡")


def cards(choice: Choice) -> Pair:
    """How many of which: ``8 × Ascend 910B1``."""
    return join((" × ", " × "), ((fmt_int(choice.devices),) * 2, device_label(choice.device)))
