"""Published checkpoints: in which formats a model can be had, and who is shown to start them."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator

from catalogue import library
from catalogue.entries.deployments import Precision
from catalogue.entries.hardware import STACKS, Device
from catalogue.entries.models import OWN_LAYER, Checkpoint, Model
from catalogue.messages import Pair, messages

say = messages("catalogue/kernels/checkpoints")

SEVERAL = " / "  # between the names of models that an entry is of


def checkpoints(model: Model) -> Iterator[tuple[Precision, Checkpoint]]:
    """Every checkpoint of a model that has a repository, with the precision of its weights."""
    for name in library.names("precisions"):
        precision: Precision = library.load("precisions", name)
        for checkpoint in precision.checkpoints:
            if checkpoint.model == model.id and checkpoint.repository:
                yield precision, checkpoint


def published(model: Model, precision: Precision, engine: str | None = None,
              device: Device | None = None) -> bool:
    """Whether a model can be had in the weights of a precision, whatever is cached.

    So it can in the format of its own weights, and in any where nothing is known of it. Checkpoints
    that are shown to start under other engines, or on the cards of other makers, are not had.

    Args:
        model: of the catalogue, or a reader's own.
        precision: an entry of ``params/precisions/``.
        engine: of ``params/profiles/``; None for any.
        device: whose maker's cards they are shown on; None for any.
    """
    found = [*checkpoints(model)]
    own = model.weights and library.load("precisions", model.weights.precision).weights
    if precision.weights == own or not (found or own):
        return True
    of_format = [checkpoint for of, checkpoint in found if of.weights == precision.weights]
    return any(not checkpoint.served or any(
        (engine is None or served.engine == engine) and (device is None or _of_one_maker(
            device, served.cards)) for served in checkpoint.served) for checkpoint in of_format)


def shown(model: Model, precision: Precision, engine: str | None, device: Device) -> bool:
    """Whether a checkpoint of a format is shown to start under an engine on a card's architecture.

    Args:
        model, precision, device: as of :func:`published`.
        engine: likewise; None for any.
    """
    return any(engine in (None, served.engine) and device.architecture in served.cards
               for of, checkpoint in checkpoints(model) if of.weights == precision.weights
               for served in checkpoint.served)


def _of_one_maker(device: Device, cards: Iterable[str]) -> bool:
    """Whether the software of a card drives any of some architectures."""
    return device.software is None or any(
        card.startswith(begins) for card in cards for begins, stack in STACKS.items()
        if stack == device.software)


def checkpoint_for(model: Model, precision: Precision, engine: str, device: Device,
                   drafts: str | None = None) -> Checkpoint | None:
    """The checkpoint that a deployment starts with; None where none is published.

    Of several that drafts as it does, then one of the very model, then an official release, then
    one that its engine is shown to start on its card, else another engine there, else its engine
    elsewhere.

    Args:
        model: that is served.
        precision: whose weights are meant.
        engine: of ``params/profiles/``.
        device: the card.
        drafts: ``own`` by the model's own layer, or one of its drafters; None without.
    """
    return next(iter(_preferred(model, precision, engine, device, drafts)), None)


def _preferred(model: Model, precision: Precision, engine: str, device: Device,
               drafts: str | None) -> list[Checkpoint]:
    """Checkpoints of a format, the one to start with first; none without a module that drafts."""
    drafter = model.drafter(drafts)
    held = drafter is not None and drafter.layers is not None  # in the model's own files

    def rank(checkpoint: Checkpoint) -> tuple[bool, ...]:
        here = [device.architecture in served.cards for served in checkpoint.served]
        own = [served.engine == engine for served in checkpoint.served]
        suits = drafts != OWN_LAYER or (checkpoint.drafts and not checkpoint.drafters)
        return (suits, _is_own(model, checkpoint), not checkpoint.preview,
                any(map(operator.and_, here, own)), any(here), any(own))

    return sorted((each for of, each in checkpoints(model) if of.weights == precision.weights
                   and (not held or drafts in each.drafters)), key=rank, reverse=True)


def _is_own(model: Model, checkpoint: Checkpoint) -> bool:
    """Whether a checkpoint is of the very model: an entry may be named after several."""
    return checkpoint.of is None or checkpoint.of in model.name["en"].split(SEVERAL)


def checkpoint_words(model: Model, precision: Precision, engine: str, device: Device,
                     drafts: str | None = None) -> Pair | None:
    """What a deployment starts with, in words: both repositories where the entry is of two models,
    the official release beside a preview, the sister whose weights are meant. None for none.

    Arguments as of :func:`checkpoint_for`.
    """
    found = _preferred(model, precision, engine, device, drafts)
    if not found:
        return None
    first = found[0]
    one = str(first.repository)
    if not _is_own(model, first):
        return say("of-sister", one=one, of=str(first.of))
    other = next((each for each in found[1:] if _is_own(model, each) and each.of != first.of), None)
    if other:
        return say("either", one=one, other=str(other.repository))
    official = next((each for each in found[1:] if first.preview and not each.preview
                     and _is_own(model, each)), None)
    if official:
        return say("preview", one=one, other=str(official.repository))
    return one, one
