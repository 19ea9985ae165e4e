"""Tables of one release of an engine on a card: which rows are read, and constants of the card."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from catalogue.entries.hardware import Device, Mechanisms
from catalogue.tables import LATENT, ROTATED, WIDTHS, Shelf, Table
from kernels.fitting import Column, Columns, Fitted, Law, fit, halves
from kernels.lint import sound

# format of a table -> dtype that is multiplied, bytes of a weight with its scales, and the formats
# of the catalogue that routed experts are stored in so
FORMATS: dict[str, tuple[str, float, tuple[str, ...]]] = {
    "bf16": ("bf16", 2, ("bf16", "fp16")), "fp8-block": ("fp8", 1, ("fp8-block128",)),
    "nvfp4": ("fp4", 1 / 2 + 1 / 16, ("nvfp4", "nvfp4-output")),
    "w4a16": ("bf16", 1 / 2 + 1 / 64, (
        "int4-group128", "int4-group128-sym", "int4-group128-cutlass", "int4-group64",
        "int4-group64-sym", "int4-group32-sym", "mxfp4")),  # Marlin widens all of them alike
    "mxfp4-w4a16": ("bf16", 1 / 2 + 1 / 32, ("mxfp4",)),
    "mxfp4-w4a8": ("fp8", 1 / 2 + 1 / 32, ("mxfp4",)),
}
LEAST_TABLE = 100  # rows that are worth a fit
LITTLE_READ = 0.05  # of a core's time
LEAST_SHORT = 60  # of all-reduces and of sparse attention, whose tables are short
# a single kernel of a graph takes less at its smallest shape: what takes more was launched by a
# host, one by one, and the launch was timed
LAUNCHED = 40e-6


class FormatTable(NamedTuple):
    """A table in one format, with constants of its card, by name as in ``FORMATS``."""

    dtype: str
    multiplied: str
    experts: tuple[str, ...]
    card: dict[str, float]
    table: Table


@dataclass(frozen=True)
class ReleaseTables:
    """Tables of a release on a card.

    Attributes:
        shelf: all tables.
        device: the card.
        mechanisms: of the card.
        engine: its name.
        release: of the engine.
    """

    shelf: Shelf
    device: Device
    mechanisms: Mechanisms
    engine: str
    release: str

    def formats(self, operator: str, dtypes: Iterable[str]) -> Iterator[FormatTable]:
        """Tables of an operator that the card has, format by format.

        Raises ParamsError for tables that cannot be read.
        """
        for dtype in dtypes:
            multiplied, stored, experts = FORMATS[dtype]
            card = card_constants(self.device, self.mechanisms, multiplied, stored)
            table = self.read(operator, dtype) if card else None
            if card and table is not None:
                yield FormatTable(dtype, multiplied, experts, card, table)

    def read(self, operator: str, dtype: str | tuple[str, ...], least: int = LEAST_TABLE
             ) -> Table | None:
        """Sound rows of an operator and format; None of fewer than ``least``.

        Raises ParamsError for tables that cannot be read.
        """
        engine = f"{self.engine}@{self.release}"
        if not any(part.operator == operator and part.card == self.device.id
                   and part.engine == engine for part in self.shelf.parts()):
            return None
        table = sound(self.shelf.table(operator, self.device.id, engine, dtype))
        return table if len(table) >= least else None


def card_constants(device: Device, mechanisms: Mechanisms, dtype: str, stored: float
                   ) -> dict[str, float] | None:
    """Constants of a card that laws read; None where it has no peak of the dtype.

    Args:
        device: the card.
        mechanisms: of the card.
        dtype: that is multiplied.
        stored: bytes of a weight [B].
    """
    peak = getattr(device.matrix_peak, dtype, None)
    if peak is None or device.hbm_efficiency is None or mechanisms.operators is None:
        return None
    values = {name: getattr(mechanisms, name).value for name in (
        "gemm_tile_rows", "kernel_boundary", "operators_per_layer")}
    expert_tile = mechanisms.expert_tile_rows
    return values | {
        "peak": peak.value, "bandwidth": device.memory_bandwidth.value, "weight_bytes": stored,
        "hbm_efficiency": device.hbm_efficiency.value,
        "expert_tile_rows": expert_tile.value if expert_tile else values["gemm_tile_rows"],
        "reference_operators": mechanisms.operators.reference}


def fit_shapes(law: Law, table: Table, shapes: Mapping[str, Column], constants: Columns,
               tokens: Column, kind: Sequence[str]) -> Fitted:
    """A law with the values that fit one half of a table's shapes, judged on the other half.

    Args:
        law: to be fitted.
        table: the rows.
        shapes: columns that tell shapes apart.
        constants: of the card, and further columns.
        tokens: by row, for the regions.
        kind: names of the columns that tell kinds of matrices apart.
    """
    return fit(law, {**constants, **shapes}, table["time"], halves(list(shapes.values())), tokens,
               kinds([shapes[name] for name in kind]))


def numbers(table: Table, names: tuple[str, ...]) -> dict[str, Column]:
    """Columns of a table as real numbers, by name."""
    return {name: table[name].astype(float) for name in names}


def kinds(columns: list[Column]) -> np.ndarray:
    """A number for each kind of matrix, whatever its tokens."""
    return np.unique(np.stack(columns), axis=1, return_inverse=True)[1].ravel()


def kernel_label(table: Table) -> str:
    """The kernel of a table by its name, or how many there are."""
    kernels = table.distinct("kernel")
    return kernels[0] if len(kernels) == 1 else f"{len(kernels)} kernels, chosen by shape"


def l2_resident_bytes(device: Device) -> float:
    """Bytes that stay in a card's L2 from one run of a kernel to the next; 0 where unknown [B]."""
    return device.l2_cache.value if device.l2_cache else 0.0


def cold(table: Table, device: Device) -> np.ndarray:
    """Rows of decode that take as long as in a step, where the L2 never has the cache.

    Tables read one cache again and again; in a step all layers' weights come in between. So the
    cache is larger than the L2, or reading it takes so little of the time that it does not matter.
    """
    read = table["batch"].astype(float) * table["context"] * (LATENT + ROTATED) * WIDTHS["bf16"]
    little = read / device.memory_bandwidth.value <= LITTLE_READ * table["time"]
    return np.asarray((read > l2_resident_bytes(device)) | little)
