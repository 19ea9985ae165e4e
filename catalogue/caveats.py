"""What an answer says of what it rests on: a card that is only announced, a model that is not
derived in full, a release or a kernel that no source is known of."""

from __future__ import annotations

from collections.abc import Iterable

from catalogue.deployments.admission import kernel_words, subject_of
from catalogue.deployments.scenario import Scenario
from catalogue.entries.hardware import Device
from catalogue.entries.models import Model
from catalogue.library import load
from catalogue.messages import Pair, join, messages, pair

say = messages("catalogue/caveats")


def announced(cards: Iterable[Device | str]) -> Pair | None:
    """Which of the cards of an answer are only announced: a sentence each, in English and in
    Chinese; None where all are sold.

    Args:
        cards: entries, or their names or files.
    """
    entries = {card.id: card for card in map(_entry, cards) if card.announced}
    sentences = [say("only-announced", device=card.id, date=str(card.announced.date))
            for card in entries.values() if card.announced]
    return join((" ", ""), sentences) if sentences else None


def underived(models: Iterable[Model | str]) -> Pair | None:
    """What no formula has of the models of an answer: a sentence each; None where all is derived.

    Args:
        models: entries, or their names or files.
    """
    entries: dict[str, Model] = {model.id: model for model in (
        load("models", item) if isinstance(item, str) else item for item in models)}
    sentences = [say("not-derived", name=pair(model.name), missing=pair(model.missing))
            for model in entries.values() if model.missing]
    return join((" ", ""), sentences) if sentences else None


def unsourced(scenarios: Iterable[Scenario]) -> Pair | None:
    """What is computed of an engine and its kernels without a source, a sentence each; None where
    all has one.

    Args:
        scenarios: deployments of an answer.
    """
    notes: list[Pair | None] = []
    for scenario in scenarios:
        if scenario.running is not None:
            notes.append(borrowed(scenario.running.stated, scenario.running.name))
        if words := kernel_words(subject_of(scenario)):
            notes.append(say("kernels", words=words))
    return join((" ", ""), list(dict.fromkeys(filter(None, notes)))) if any(notes) else None


def borrowed(requested: str, nearest: str) -> Pair | None:
    """That a release that is not in the catalogue is answered by its neighbour; None where it is.

    Args:
        requested, nearest: an engine with its release, as it is asked for and as it is known.
    """
    return say("nearest-release", asked=requested, known=nearest) if requested != nearest else None


def marked(card: Device | str, called: Pair | None = None) -> Pair:
    """A card's name in a row of an answer, with a mark where it is only announced.

    Args:
        card: its entry, or its name or file.
        called: what stands for its name; None for that of its entry.
    """
    name = called or ((card, card) if isinstance(card, str) else (card.id, card.id))
    return say("marked", device=name) if _entry(card).announced else name


def _entry(card: Device | str) -> Device:
    entry: Device = load("devices", card) if isinstance(card, str) else card
    return entry
