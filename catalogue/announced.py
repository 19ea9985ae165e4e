"""Cards that are only announced, and what an answer that rests on one says of it."""

from __future__ import annotations

from collections.abc import Iterable

from catalogue.entries.hardware import Device
from catalogue.library import load
from catalogue.messages import Pair, join, messages

say = messages("catalogue/announced")


def announced(cards: Iterable[Device | str]) -> Pair | None:
    """Which of the cards of an answer are only announced: a sentence each, in English and in
    Chinese; None where all are sold.

    Args:
        cards: entries, or their names or files.
    """
    found = {card.id: card for card in map(_entry, cards) if card.announced}
    told = [say("only-announced", device=card.id, date=str(card.announced.date))
            for card in found.values() if card.announced]
    return join((" ", ""), told) if told else None


def marked(card: Device | str, called: Pair | None = None) -> Pair:
    """A card's name in a row of an answer, with a mark where it is only announced.

    Args:
        card: its entry, or its name or file.
        called: what stands for its name; None for that of its entry.
    """
    name = called or ((card, card) if isinstance(card, str) else (card.id, card.id))
    return say("marked", device=name) if _entry(card).announced else name


def _entry(card: Device | str) -> Device:
    found: Device = load("devices", card) if isinstance(card, str) else card
    return found
