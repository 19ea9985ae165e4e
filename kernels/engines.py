"""The laws of an engine's kernels on a card, fitted release by release to the tables there are."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from calc.kernels.before import values_alone
from calc.kernels.communication import ALL_REDUCE
from calc.kernels.exchanges import exchanges
from calc.kernels.fitting import fit, halves
from calc.kernels.matmuls import DENSE
from calc.kernels.rows.attention import blocks, cores
from calc.kernels.rows.experts import (
    LEAST_CHOSEN,
    LEAST_EXPERTS,
    LEAST_HIDDEN,
    LIKE_V3,
    MOST_TOKENS,
    experts,
)
from calc.kernels.rows.of_every_operator import (
    FORMATS,
    LAUNCHED,
    LEAST_SUMS,
    LEAST_TABLE,
    kernels_of,
    kinds,
    numbers,
    of_card,
    read,
)
from calc.kernels.writing import Table as FittedTable
from catalogue import library
from catalogue.deployments.physics_inputs import inside_inputs
from catalogue.entries.hardware import Device
from catalogue.entries.mechanisms import Mechanisms
from catalogue.entries.profiles import in_order
from catalogue.tables import WIDTHS, Shelf

DENSE_FORMATS = ("bf16", "fp8-block", "nvfp4")
# of a dense matmul that engines' kernels take whole: of others, which models of this class do not
# have, vLLM and SGLang call a slower kernel
BLOCK_COLUMNS, BLOCK_DEPTH = 64, 128
# rows of a graph or of a full chunk: for others scales are laid out anew, by a kernel of 4 to 6 us
# on B200 under vLLM
GRAPH_ROWS, FEWEST = 4, 2
EAGER = "_eager"  # the end of a kernel's name, outside of a graph: decode is in one
TOKEN_BYTES = 2 * LIKE_V3["hidden_size"]  # of a row that is summed


def fitted(tables: Shelf, card: str, engine: str) -> Iterator[FittedTable]:
    """Every law that an engine's tables of a card can be held against, release by release.

    Args:
        tables: where they lie.
        card: a device of the catalogue.
        engine: its name, without a release.

    Raises ParamsError for tables that cannot be read.
    """
    device: Device = library.load("devices", card)
    priors: Mechanisms = library.load("mechanisms", str(device.mechanisms))
    releases = {release: named for named in tables.engines(card=card)
                for name, _, release in [named.partition("@")]
                if name == engine and _is_release(release)}
    found: list[FittedTable] = []
    for release in sorted(releases, key=in_order):
        named, before = releases[release], len(found)
        found += _dense(tables, device, priors, named, release)
        found += experts(tables, device, priors, named, release)
        found += cores(tables, device, priors, named, release)
        found += _sums(tables, device, priors, named, release)
        found += blocks(tables, device, priors, named, release, found)
        found += _exchanges(tables, device, priors, named, release)
        yield from found[before:]


def _is_release(release: str) -> bool:
    try:
        in_order(release)
    except ValueError:
        return False
    return True


def _dense(tables: Shelf, device: Device, priors: Mechanisms, engine: str, release: str
           ) -> Iterator[FittedTable]:
    for dtype in DENSE_FORMATS:
        multiplied, stored, _ = FORMATS[dtype]
        card = of_card(device, priors, multiplied, stored)
        table = read(tables, "gemm", device.id, engine, dtype) if card else None
        if table is None or card is None:
            continue
        table = table.select((table["rows"] <= MOST_TOKENS) & (
            (table["rows"] % GRAPH_ROWS == 0) | (table["rows"] <= FEWEST))
            & (table["columns"] % BLOCK_COLUMNS == 0) & (table["depth"] % BLOCK_DEPTH == 0))
        if len(table) < LEAST_TABLE or table["time"].min() > LAUNCHED or (
                table["rows"].min() > FEWEST):  # it says nothing of decode
            continue
        columns = numbers(table, ("rows", "columns", "depth"))
        found = fit(DENSE, {**columns, **card}, table["time"], halves(list(columns.values())),
                    columns["rows"], kinds([columns["columns"], columns["depth"]]),
                    values_alone(DENSE, device, priors, multiplied, stored))
        yield FittedTable(release, "gemm", None, kernels_of(table), dtype, multiplied, None, (),
                          found)


def _sums(tables: Shelf, device: Device, priors: Mechanisms, engine: str, release: str
          ) -> Iterator[FittedTable]:
    """All-reduces of an engine's own kernels within a server."""
    node = library.load("nodes", str(device.node)) if device.node else None
    if node is None:
        return
    links = inside_inputs(library.load("links", node.device_link)) | {
        "devices_per_node": node.devices_per_node.value}
    table = read(tables, ALL_REDUCE.operator, device.id, engine, (), LEAST_SUMS)
    if table is None:
        return
    in_graphs = ~np.char.endswith(table["kernel"].astype(str), EAGER)
    table = table.select(in_graphs) if in_graphs.any() else table
    columns = numbers(table, ("ranks", "bytes"))
    found = fit(ALL_REDUCE, {**columns, **links}, table["time"], halves(list(columns.values())),
                columns["bytes"] / TOKEN_BYTES, kinds([columns["ranks"]]),
                values_alone(ALL_REDUCE, device, priors, "bf16", WIDTHS["bf16"]))
    kernels = table.distinct("kernel")
    yield FittedTable(release, ALL_REDUCE.operator, None, ", ".join(kernels), "bf16", "bf16", None,
                      (), found)


def _exchanges(tables: Shelf, device: Device, priors: Mechanisms, engine: str, release: str
               ) -> Iterator[FittedTable]:
    """All-to-alls of experts, of models with many of them."""
    there, back = (read(tables, operator, device.id, engine, (), LEAST_SUMS)
                   for operator in ("dispatch", "combine"))
    if there is None or back is None or device.node is None:
        return
    there, back = (table.select((table["n_routed_experts"] >= LEAST_EXPERTS)
                                & (table["num_experts_per_tok"] >= LEAST_CHOSEN)
                                & (table["hidden_size"] >= LEAST_HIDDEN))
                   for table in (there, back))
    yield from exchanges(there, back, device, priors, release)
