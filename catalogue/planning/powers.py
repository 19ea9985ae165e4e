"""What a file of powers may hold: what a card draws while one kind of work runs on it."""

from __future__ import annotations

from pydantic import model_validator

from catalogue.entries.entry import CatalogueEntry, DeviceName
from catalogue.reading.values import Misplaced, Share

WAITING = ("loaded", "awake")
BUSY = ("memory", "matmul", "experts", "attention", "links")


class Powers(CatalogueEntry):
    """What a card draws, over what it may draw at most (``power.full`` of the device) [1].

    Kernels of one kind were run one after another while the card's own sensor was read, so that a
    share holds for as long as such a kernel runs, at whatever pace it runs. None rests on a
    measurement of a whole serving system.

    Attributes:
        devices: that were measured; none for what holds where nothing was.
        loaded: weights in memory, no request.
        awake: between kernels, and while small ones follow one another.
        memory: weights streamed from memory by matmuls of few rows.
        matmul: dense matmuls of many rows.
        experts: grouped matmuls of a mixture of experts.
        attention: the attention core, of decode or of prompts.
        links: collectives.
    """

    devices: list[DeviceName] = []
    loaded: Share
    awake: Share
    memory: Share
    matmul: Share
    experts: Share
    attention: Share
    links: Share

    @model_validator(mode="after")
    def _ordered(self) -> Powers:
        """Work draws more than waiting."""
        if self.loaded.value > self.awake.value:
            raise Misplaced("'loaded' exceeds 'awake', are they exchanged?", "loaded")
        for name in BUSY:
            if getattr(self, name).value < self.awake.value:
                raise Misplaced(f"'{name}' draws less than 'awake'", name)
        return self
