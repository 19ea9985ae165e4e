"""The laws of an engine's kernels on a card, fitted release by release to the tables there are."""

from __future__ import annotations

from collections.abc import Iterator

from catalogue import library
from catalogue.entries.hardware import Device, Mechanisms
from catalogue.entries.profiles import in_order
from catalogue.tables import Shelf
from kernels.attention_kernels import fitted_blocks, fitted_cores
from kernels.collectives import fitted_all_reduces, fitted_exchanges
from kernels.expert_kernels import fitted_experts
from kernels.matmuls import fitted_matmuls
from kernels.measured_tables import ReleaseTables
from kernels.writing import FittedTable


def fitted_tables(shelf: Shelf, card: str, engine: str) -> Iterator[FittedTable]:
    """Every law that an engine's tables of a card determine, release by release.

    Args:
        shelf: tables.
        card: a device of the catalogue.
        engine: its name, without a release.

    Raises ParamsError for tables that cannot be read.
    """
    device: Device = library.load("devices", card)
    mechanisms: Mechanisms = library.load("mechanisms", str(device.mechanisms))
    releases = [release for name, _, release in (
        named.partition("@") for named in shelf.engines(card=card))
        if name == engine and is_release(release)]
    fits: list[FittedTable] = []
    for release in sorted(releases, key=in_order):
        tables, count = ReleaseTables(shelf, device, mechanisms, engine, release), len(fits)
        for fitted in (fitted_matmuls, fitted_experts, fitted_cores, fitted_all_reduces):
            fits += fitted(tables)
        fits += fitted_blocks(tables, tuple(fits))
        fits += fitted_exchanges(tables)
        yield from fits[count:]


def is_release(release: str) -> bool:
    """Whether a text is the name of a release."""
    try:
        in_order(release)
    except ValueError:
        return False
    return True
