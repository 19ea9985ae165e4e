"""Published checkpoints: in which formats a model can be had, and who is shown to start them."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator

from catalogue import library
from catalogue.entries.deployments import Precision
from catalogue.entries.hardware import STACKS, Device
from catalogue.entries.models import Checkpoint, Model


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


def _of_one_maker(device: Device, cards: Iterable[str]) -> bool:
    """Whether the software of a card drives any of some architectures."""
    return device.software is None or any(
        card.startswith(begins) for card in cards for begins, stack in STACKS.items()
        if stack == device.software)


def checkpoint_for(model: Model, precision: Precision, engine: str, device: Device,
                   method: str | None = None) -> Checkpoint | None:
    """The checkpoint that a deployment starts with: one that its engine is shown to start on its
    card, else another engine there, else its engine elsewhere, else any of its format; None where
    none is published, or holds the module that is to draft.

    Args:
        model: that is served.
        precision: whose weights are meant.
        engine: of ``params/profiles/``.
        device: the card.
        method: of the model's drafters, that drafts; None of its own layer, and without drafts.
    """
    drafter = next((each for name, each in model.drafters.items() if name == method), None)
    found = [each for of, each in checkpoints(model) if of.weights == precision.weights
             and (drafter is None or drafter.layers is None or method in each.drafters)]

    def shown(checkpoint: Checkpoint) -> tuple[bool, bool, bool]:
        here = [device.architecture in served.cards for served in checkpoint.served]
        own = [served.engine == engine for served in checkpoint.served]
        return any(map(operator.and_, here, own)), any(here), any(own)

    return max(found, key=shown, default=None)
