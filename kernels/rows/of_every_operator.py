"""What rows of every operator have in common: a card as laws read it, and how a table is read."""

from __future__ import annotations

import numpy as np

from calc.kernels.law import Column
from catalogue.entries.hardware import Device
from catalogue.entries.mechanisms import Mechanisms
from catalogue.tables import LATENT, ROTATED, WIDTHS, Shelf, Table, sound

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
LEAST_SUMS = 60  # of all-reduces and of sparse attention, whose tables are short
# a single kernel of a graph takes less at its smallest shape: what takes more was launched by a
# host, one by one, and the launch was timed
LAUNCHED = 40e-6


def of_card(device: Device, priors: Mechanisms, dtype: str, stored: float
             ) -> dict[str, float] | None:
    """What a law reads of a card; None where the card has no peak of the dtype."""
    peak = getattr(device.matrix_peak, dtype, None)
    if peak is None or device.hbm_efficiency is None or priors.operators is None:
        return None
    counted, tile = priors.operators, priors.gemm_tile_rows
    values = {name: getattr(priors, name).value for name in (
        "gemm_tile_rows", "kernel_boundary", "operators_per_layer")}
    return values | {
        "peak": peak.value, "bandwidth": device.memory_bandwidth.value, "weight_bytes": stored,
        "hbm_efficiency": device.hbm_efficiency.value,
        "expert_tile_rows": (priors.expert_tile_rows or tile).value,  # type: ignore[union-attr]
        "reference_operators": counted.reference}


def read(tables: Shelf, operator: str, card: str, engine: str, dtype: str | tuple[str, ...],
         least: int = LEAST_TABLE) -> Table | None:
    """Sound rows of an operator, engine and format on a card; None of fewer than ``least``.

    Raises ParamsError for tables that cannot be read.
    """
    if not any(part.operator == operator and part.card == card and part.engine == engine
               for part in tables.parts()):
        return None
    table = sound(tables.table(operator, card, engine, dtype))
    return table if len(table) >= least else None


def numbers(table: Table, names: tuple[str, ...]) -> dict[str, Column]:
    """Columns of a table as real numbers, by name."""
    return {name: table[name].astype(float) for name in names}


def kinds(columns: list[Column]) -> np.ndarray:
    """A number for each kind of matrix, whatever its tokens."""
    return np.unique(np.stack(columns), axis=1, return_inverse=True)[1].ravel()


def kernels_of(table: Table) -> str:
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
