"""What a file of failures may hold: how often servers of a kind of card fail and for how long."""

from __future__ import annotations

from catalogue.entries.entry import CatalogueEntry, DeviceName
from catalogue.reading.values import Time, Whole


class Failures(CatalogueEntry):
    """Failures of servers, their cards and links included, that stop what runs on them.

    Attributes:
        devices: cards that it holds for; none for those that no other file names.
        cards: of a server [1].
        between_failures: of a server, from being mended to the next failure [s].
        repair: until a server is back [s].
        start: of an engine, besides reading its weights: noticing, placing, capturing graphs [s].
    """

    devices: list[DeviceName] = []
    cards: Whole
    between_failures: Time
    repair: Time
    start: Time

