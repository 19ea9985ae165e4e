"""Smallest measured steps: upper bounds of what the kernels of a step take, never fitted to."""

from __future__ import annotations

from catalogue.entries.entry import (
    CatalogueEntry,
    DeviceName,
    Entry,
    ModelName,
    PrecisionName,
)
from catalogue.entries.mechanisms import Number
from catalogue.reading.values import Count, Flag, Time, Words


class MeasuredStep(Entry):
    """The shortest step that was measured of a model on a card.

    Attributes:
        model, device, precision: of it.
        engine: that ran it, with its release if it is known.
        tensor_parallel: ranks of one replica, the only kind of parallelism [1].
        users: requests in the step [1].
        tpot: time per output token without drafts [s].
        gate: whether it is a row of ``params/gates/``.
    """

    model: ModelName
    device: DeviceName
    precision: PrecisionName
    engine: Words
    tensor_parallel: Count
    users: Number
    tpot: Time
    gate: Flag = False


class StepBounds(CatalogueEntry):
    """Steps of several models; each bounds the laws of its card and format."""

    steps: list[MeasuredStep]
