"""Rows of latent attention: its cores, and whole blocks with projections, sparse ones too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from calc.kernels.before import values_alone
from calc.kernels.blocks import (
    BLOCK_MODEL,
    DECODE_BETWEEN,
    DECODE_BLOCK,
    SPARSE_BLOCK,
    SPARSE_MODEL,
)
from calc.kernels.cores import DECODE_CORE, PREFILL_CORE
from calc.kernels.fitting import fit, halves
from calc.kernels.law import Columns, Law
from calc.kernels.matmuls import DENSE
from calc.kernels.rows.of_every_operator import (
    FORMATS,
    LAUNCHED,
    LEAST_SUMS,
    LEAST_TABLE,
    cold,
    kernels_of,
    kinds,
    numbers,
    of_card,
    read,
)
from calc.kernels.writing import Table as FittedTable
from catalogue import library
from catalogue.deployments.physics_inputs import SPARSE
from catalogue.entries.hardware import Device
from catalogue.entries.mechanisms import Mechanisms
from catalogue.entries.profiles import in_order
from catalogue.tables import WIDTHS, Shelf, Table

# up to this release its blocks take 35 to 57 us more than a release later in every shape on H200,
# more than all of their kernels; those of the next one, and of other engines, are their sum
SLOWER = {"vllm": "0.24.0"}
BLOCK_FORMATS = ("fp8-block", "bf16")  # of projections, the first that there is
LEAST_HEADS, LEAST_CONTEXT = 8, 256  # of a core that a rank has
# from half as many again as an indexer picks: with fewer no choice is made, with one more than it
# picks TensorRT-LLM takes twice the time
LEAST_CHOICE = 3072
# tables of another kernel than serving takes: of whole prompts SGLang expands keys and values, its
# table on Hopper has them absorbed, 3.4 times the arithmetic
OTHERWISE = {("sglang", "flash_attention", "mla_prefill")}
CACHES, LATENTS = ("bf16", "fp8"), "fp8-latent128"  # of sparse attention; of the narrow one


def cores(tables: Shelf, device: Device, priors: Mechanisms, engine: str, release: str
          ) -> Iterator[FittedTable]:
    """Cores of latent attention in 16 bits, and of caches in 16 bits: others are other kernels."""
    card = of_card(device, priors, "bf16", FORMATS["bf16"][1])
    for law, lengths in ((DECODE_CORE, "context"), (PREFILL_CORE, "tokens")):
        table = read(tables, law.operator, device.id, engine, "bf16") if card else None
        if table is None or card is None:
            continue
        decoding = law is DECODE_CORE
        table = table.select((table["heads"] >= LEAST_HEADS) & (table["cache_dtype"] == "bf16") & (
            table[lengths] >= (LEAST_CONTEXT if decoding else 1)))
        if not len(table) or table["time"].min() > LAUNCHED or (
                engine.partition("@")[0], table["kernel"][0], law.operator) in OTHERWISE:
            continue
        table = table.select(cold(table, device)) if decoding else table
        if len(table) < LEAST_TABLE:
            continue
        columns = numbers(table, ("heads", "batch", lengths))
        known = card | {name: stated.value if (stated := getattr(priors, name)) else 1.0
                        for name in ("core_tile_rows", "prefill_tile_rows")}
        found = fit(law, {**columns, **known, "element_bytes": WIDTHS["bf16"]}, table["time"],
                    halves(list(columns.values())),
                    columns["batch"] * (1 if decoding else columns["tokens"]),
                    kinds([columns["heads"]]),
                    values_alone(law, device, priors, "bf16", WIDTHS["bf16"]))
        yield FittedTable(release, law.operator, None, table["kernel"][0], "bf16", "bf16", None, (),
                          found, "mla")


def blocks(tables: Shelf, device: Device, priors: Mechanisms, engine: str, release: str,
           found: list[FittedTable]) -> Iterator[FittedTable]:
    """Latent attention with its projections: of dense matmuls that were fitted, newest first."""
    dense = next((table for dtype in BLOCK_FORMATS for table in reversed(found)
                  if table.operator == DENSE.operator and table.dtype == dtype), None)
    if dense is None or _slower(engine):
        return
    card = of_card(device, priors, dense.multiplied, FORMATS[dense.dtype][1])
    wide = of_card(device, priors, "bf16", FORMATS["bf16"][1])
    if card is None or wide is None:
        return
    core, between = (next((dict(table.fit.values) for table in reversed(found)
                           if table.operator == operator), None)
                     for operator in (DECODE_CORE.operator, DECODE_BLOCK.operator))
    counted = {"attention_operators": priors.operators.latent_attention.value
               } if priors.operators else {}
    known = counted | (between or {}) | card | dict(dense.fit.values) | {
        "core_peak": wide["peak"], "core_tile_rows": 1.0, "latent_core_latency": 0.0} | {
        name: stated.value for name in ("core_tile_rows", "latent_core_latency")
        if (stated := getattr(priors, name))} | (core or {})
    for law, attention, block in (
            (DECODE_BETWEEN if core else DECODE_BLOCK, "mla", _dense_block),
            (SPARSE_BLOCK, "sparse", _sparse_block)):
        of_table = block(tables, device, priors, engine, dense.dtype)
        if of_table is None:
            continue
        table, more = of_table
        shapes = numbers(table, ("heads", "batch", "context"))
        fitted = fit(law, {**known, **shapes, **more}, table["time"],
                     halves(list(shapes.values())), shapes["batch"], kinds([shapes["heads"]]))
        yield FittedTable(release, law.operator, None, kernels_of(table), dense.dtype,
                          dense.multiplied, None, (), fitted, attention)
        known |= fitted.values


def _slower(engine: str) -> bool:
    """Whether the blocks of an engine's release take more than all of their kernels."""
    name, _, release = engine.partition("@")
    return name in SLOWER and in_order(release) <= in_order(SLOWER[name])


def _block(tables: Shelf, law: Law, device: Device, engine: str, dtype: str, model: str,
           least: int) -> Table | None:
    """Decode blocks of a model in one format, of requests with that many tokens at least."""
    table = read(tables, law.operator, device.id, engine, dtype)
    if table is None:
        return None
    like = np.array([model in name.lower() for name in table["model"].tolist()], bool)
    return table.select(like & (table["core_dtype"] == "bf16") & (table["heads"] >= LEAST_HEADS)
                        & (table["context"] >= least))


def _dense_block(tables: Shelf, device: Device, priors: Mechanisms, engine: str, dtype: str
                 ) -> tuple[Table, Columns] | None:
    """Blocks with a cache in 16 bits, and what they have besides their shapes."""
    table = _block(tables, DECODE_BLOCK, device, engine, dtype, BLOCK_MODEL, LEAST_CONTEXT)
    if table is None:
        return None
    table = table.select((table["cache_dtype"] == "bf16") & cold(table, device))
    if len(table) < LEAST_TABLE:
        return None
    kernel = Counter(table["kernel"].tolist()).most_common(1)[0][0]
    table = table.select(table["kernel"] == kernel)
    return table, {"element_bytes": WIDTHS["bf16"]}


def _sparse_block(tables: Shelf, device: Device, priors: Mechanisms, engine: str, dtype: str
                  ) -> tuple[Table, Columns] | None:
    """Blocks with an indexer that chooses, of either cache; None of a card without its laws.

    What they read of a cache is little, so that it matters little whether the L2 had it.
    """
    share, index_peak = priors.sparse_attention_efficiency, getattr(device.matrix_peak, "fp8", None)
    known = {name: getattr(priors, name) for name in SPARSE}
    if share is None or index_peak is None or priors.operators is None or None in known.values():
        return None
    table = _block(tables, SPARSE_BLOCK, device, engine, dtype, SPARSE_MODEL, LEAST_CHOICE)
    if table is None:
        return None
    table = table.select((table["indexer"] == "runs") & np.isin(table["cache_dtype"], CACHES))
    if len(table) < LEAST_SUMS:
        return None
    narrow = table["cache_dtype"] == CACHES[-1]
    of_key = library.load("formats", LATENTS).bytes_per_element
    constant = {name: value.value for name, value in known.items()} | {
        "index_peak": index_peak.value, "index_bytes": of_key,
        "indexer_operators": priors.operators.indexer.value}
    return table, constant | {
        "element_bytes": np.where(narrow, of_key, WIDTHS["bf16"]),
        "sparse_attention_efficiency": np.where(narrow, share.narrow.value, share.wide.value)}
