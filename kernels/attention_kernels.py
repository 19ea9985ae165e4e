"""Latent attention: its core in decode and over prompts, and whole blocks of a layer in decode.

Laws call what a step calls (``calc.physics.operators``), for one layer. Columns are those of a
table and of its card: ``peak`` [FLOP/s], ``bandwidth`` [B/s] and mechanisms that are not fitted.

A block is its projections, whose matmuls are fitted apart, its core, and the kernels between them,
which no other law contains. Of engines whose cores are fitted apart too, a block gives the number
of kernels between; of the others the core as well. Blocks over prompts are not fitted: they were
timed on constant numbers, on which matrix units run faster (their cores would reach 0.9 of the
peak; 0.64 is what cores alone reach on random ones). A block of sparse attention contains an
indexer too: its projections, its scores, its choice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np

from calc.physics.arrays import Inputs, ceil_div
from calc.physics.kv_cache import cache as cached
from calc.physics.kv_cache import multiplied_positions, selection_bytes
from calc.physics.operators import core_time, index_time, matmul_time, matmuls, whole_tiles
from calc.physics.parameters import MLA, count_parameters
from calc.physics.work import Composition, Core, attention_work, core_work, index_work
from catalogue import library
from catalogue.deployments.physics_inputs import SPARSE
from catalogue.deployments.scenario import model_inputs
from catalogue.entries.formulas import neutral
from catalogue.entries.profiles import in_order
from catalogue.tables import LATENT, QUERY, ROTATED, VALUE, WIDTHS, Table
from kernels.fitting import Bounds, Column, Columns, Law
from kernels.matmuls import ACTIVATION_BYTES, DENSE, MULTIPLY_ADD, OF_CARD
from kernels.measured_tables import (
    FORMATS,
    LAUNCHED,
    LEAST_SHORT,
    LEAST_TABLE,
    ReleaseTables,
    card_constants,
    cold,
    fit_shapes,
    kernel_label,
    numbers,
)
from kernels.writing import FittedTable

ABSORBED = 2 * LATENT + ROTATED  # elements that a position takes of a head, scores and values
BLOCK_MODEL, SPARSE_MODEL = "deepseek-v3", "deepseek-v3.2"  # whose attention the tables time
# kernels counted for attention that no block contains (the norm before, the sum over the ranks),
# and those that laws of their own contain: three matmuls, the core's splits and what joins them
AROUND, IN_LAWS = 2, 5
INDEX_MATMULS = 2
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


def _time(columns: Columns, values: Mapping[str, Any], core: Core, **batch: Any) -> Column:
    """Time of a core [s], of one layer of dense attention."""
    q = Inputs({
        **neutral(), "num_hidden_layers": 1, "linear_layers": 0, "index_topk": 0,
        "attention_gemm_efficiency": 1, "core_peak": columns["peak"],
        "memory_bandwidth": columns["bandwidth"], "hbm_efficiency": columns["hbm_efficiency"],
        **values})
    step: Any = SimpleNamespace(**batch)
    return np.asarray(core_time(q, core, step, 1), float)


def decode_time(columns: Columns, parameters: Mapping[str, float]) -> Column:
    """Time of a decode core with absorbed projections, its splits joined [s].

    Args:
        columns: ``heads`` of the rank and requests in a ``batch`` [1], ``context`` [token],
            ``element_bytes`` of the cache [B], and constants of the card.
        parameters: of ``DECODE_CORE``.

    Source: notebooks/latency.md, section The attention core.
    """
    heads, batch, positions = (columns[name] for name in ("heads", "batch", "context"))
    rows = ceil_div(heads, columns["core_tile_rows"]) * columns["core_tile_rows"]
    core = Core(MULTIPLY_ADD * rows * ABSORBED * batch * positions,
                batch * (positions * (LATENT + ROTATED) * columns["element_bytes"]
                         + heads * ABSORBED * ACTIVATION_BYTES), rows, 0)
    values = {name: parameters.get(name, columns.get(name)) for name in DECODE_CORE.parameters}
    return _time(columns, values, core, decoding=True, tokens=batch, absorbed=1)


def prefill_time(columns: Columns, parameters: Mapping[str, float]) -> Column:
    """Time of a core over whole prompts, keys and values expanded [s].

    Args:
        columns: ``heads`` of the rank and prompts in a ``batch`` [1], ``tokens`` of each [token],
            and constants of the card.
        parameters: of ``PREFILL_CORE``.

    Source: notebooks/latency.md, section The attention core.
    """
    heads, batch, tokens = (columns[name] for name in ("heads", "batch", "tokens"))
    pairs = batch * tokens * (tokens + 1) / 2
    of_token = heads * (QUERY + VALUE) * ACTIVATION_BYTES
    core = Core(MULTIPLY_ADD * heads * (QUERY + VALUE) * pairs, of_token * batch * tokens, heads,
                of_token)
    missing = batch * np.maximum(columns["prefill_tile_rows"] - tokens, 0)
    return _time(columns, parameters, core, decoding=False, tokens=batch * tokens, absorbed=0,
                 core_missing=missing)


DECODE_CORE = Law("mla_decode", {
    "mla_efficiency": Bounds(0.8, 0.05, 1.0), "mla_compute_efficiency": Bounds(0.6, 0.02, 0.98),
    "latent_core_latency": Bounds(1e-5, 1e-6, 1e-4), "latent_core_fill": Bounds(3e-8, 1e-10, 1e-6)},
    decode_time)
PREFILL_CORE = Law("mla_prefill", {
    "attention_efficiency": Bounds(0.5, 0.02, 0.98),
    "prefill_core_latency": Bounds(1e-5, 1e-7, 1e-4), "core_row_traffic": Bounds(3, 1e-3, 40)},
    prefill_time)


@cache
def _layer(model: str) -> dict[str, Any]:
    """Inputs of one layer of a model, all of its heads on one rank."""
    numbers = model_inputs(library.load("models", model))
    return {**neutral(), **numbers, "num_hidden_layers": 1, "full_attention_layers": 1,
            "sparse_layers": 1, "indexer_layers": min(1, numbers["indexer_layers"]),
            "tensor_parallel": 1, "expert_parallel": 1, "data_parallel": 1,
            "first_k_dense_replace": 0, "multiply_add_flops": 2,
            "activation_element_bytes": ACTIVATION_BYTES, "state_element_bytes": 0,
            "block_size": 1, "clock_factor": 1}


def _projections(columns: Columns, model: str = BLOCK_MODEL) -> Column:
    """Time of a layer's projections [s], with the values that dense matmuls were fitted with."""
    tokens = np.asarray(columns["batch"], float)
    given = {f"{name}_{key}": columns[key] for key in DENSE.parameters
             for name in ("attention", "shared_expert", "dense_mlp", "router", "head")}
    q = Inputs(
        _layer(model) | {key: columns[key] for key in OF_CARD} | given
        | {"num_attention_heads": columns["heads"], "memory_bandwidth": columns["bandwidth"],
           "attention_weight_bytes": columns["weight_bytes"], "attention_peak": columns["peak"],
           "load_overlap": DENSE.fixed["load_overlap"].start, "expert_load_overlap": 0})
    n = count_parameters(MLA, q)
    weights: Any = SimpleNamespace(attention_weights_per_layer=columns["weight_bytes"] * (
        n.attention_divided_parameters + n.attention_kv_parameters
        + n.attention_replicated_parameters))
    batch = Composition(tokens=tokens, logit_rows=0, attended=0, in_window=0, indexed=0, read=0,
                        read_in_window=0, read_keys=0, expanded=0, absorbed=1, decoding=True)
    work = attention_work(MLA, q, n, weights, batch)
    several = matmuls(MLA, q, 0, 1, q.tensor_parallel)["attention"]
    worked = matmul_time(q, "attention", work, whole_tiles(q.gemm_tile_rows, tokens),
                         several.waiting(q, "attention"))
    return np.asarray(several.time(q, "attention", worked, tokens), float)


def decode_block_time(columns: Columns, parameters: Mapping[str, float]) -> Column:
    """Time of a layer's latent attention in decode, projections and core [s].

    Args:
        columns: ``heads`` of the rank and requests in a ``batch`` [1], ``context`` [token],
            ``element_bytes`` of the cache [B], constants of the card, and the values of
            ``DENSE`` and of the core that are not fitted here.
        parameters: of the law.

    Source: notebooks/latency.md, sections The attention core and Between the kernels, and the host.
    """
    core = decode_time({**columns, "peak": columns["core_peak"]}, parameters)
    return _projections(columns) + core + _between(
        columns, parameters["attention_operators"] - IN_LAWS)


def _between(columns: Columns, operators: float | Column) -> Column:
    """Boundaries of a block's kernels that no other law contains [s]."""
    launched = columns["operators_per_layer"] / columns["reference_operators"]
    return np.asarray(launched * (operators - AROUND) * columns["kernel_boundary"], float)


def sparse_block_time(columns: Columns, parameters: Mapping[str, float]) -> Column:
    """Time of a layer's sparse attention in decode, its indexer included [s].

    Args:
        columns: ``heads`` of the rank and requests in a ``batch`` [1], ``context`` [token],
            ``element_bytes`` of a latent and ``index_bytes`` of an index key's element [B],
            ``attention_operators`` and ``indexer_operators`` [1], constants of the card, and
            the values of ``DENSE``.
        parameters: of the law.

    Source: notebooks/latency.md, sections The attention core and Between the kernels, and the host.
    """
    batch, context = np.asarray(columns["batch"], float), np.asarray(columns["context"], float)
    constants = {name: columns[name] for name in SPARSE_KNOWN}
    q = Inputs(_layer(SPARSE_MODEL) | constants | dict(parameters) | {
        "num_attention_heads": columns["heads"], "memory_bandwidth": columns["bandwidth"],
        "kv_cache_element_bytes": columns["element_bytes"],
        "kv_rope_element_bytes": ACTIVATION_BYTES, "kv_index_element_bytes": columns["index_bytes"],
        "mla_compute_efficiency": 1, "attention_efficiency": 1})
    picked = np.minimum(context, q.index_topk)
    step = Composition(
        tokens=batch, logit_rows=0, attended=batch * multiplied_positions(q, picked, context, 1),
        in_window=0, indexed=batch * context, read=batch * picked, read_in_window=0,
        read_keys=batch * context, expanded=0, absorbed=1, decoding=True)
    entry = cached(MLA, q)
    chosen = selection_bytes(q, step.indexed) / (q.memory_bandwidth * q.hbm_efficiency)
    time = (_projections(columns, SPARSE_MODEL)
            + core_time(q, core_work(MLA, q, entry, step), step, 1)
            + index_time(q, index_work(q, entry, step), True, 1) + chosen
            + _between(columns, columns["attention_operators"] - IN_LAWS
                       + columns["indexer_operators"] - INDEX_MATMULS))
    return np.asarray(time, float)


_OPERATORS = {"attention_operators": Bounds(14, AROUND + IN_LAWS, 80)}
DECODE_BETWEEN = Law("mla_decode_block", _OPERATORS, decode_block_time)
"""Of an engine whose decode core is fitted apart."""
DECODE_BLOCK = Law("mla_decode_block", _OPERATORS | {
    name: DECODE_CORE.parameters[name] for name in (
        "mla_efficiency", "mla_compute_efficiency", "latent_core_fill")}, decode_block_time)
"""Of one without: what its core takes however few the positions is not told from the rest."""
SPARSE_KNOWN = ("core_peak", "index_peak", "hbm_efficiency", "core_tile_rows", "sparse_tile_rows",
                "sparse_attention_efficiency", "index_efficiency", "selection_traffic")
"""What a card says of sparse attention, and a block does not tell apart."""
SPARSE_BLOCK = Law("dsa_decode_block", {
    # of all kernels of the layer, besides those that are counted: some engines' index is many
    "latent_core_latency": Bounds(2e-5, 1e-8, 6e-4),
    "mla_efficiency": DECODE_CORE.parameters["mla_efficiency"],
    "latent_core_fill": DECODE_CORE.parameters["latent_core_fill"]}, sparse_block_time)


def fitted_cores(tables: ReleaseTables) -> Iterator[FittedTable]:
    """Cores in 16 bits of caches in 16 bits: others are other kernels."""
    for law, lengths, least in ((DECODE_CORE, "context", LEAST_CONTEXT),
                                (PREFILL_CORE, "tokens", 1)):
        for read in tables.formats(law.operator, ("bf16",)):
            table = read.table.select(
                (read.table["heads"] >= LEAST_HEADS) & (read.table["cache_dtype"] == "bf16")
                & (read.table[lengths] >= least))
            if not len(table) or table["time"].min() > LAUNCHED or (
                    tables.engine, table["kernel"][0], law.operator) in OTHERWISE:
                continue
            if law is DECODE_CORE:
                table = table.select(cold(table, tables.device))
            if len(table) < LEAST_TABLE:
                continue
            columns = numbers(table, ("heads", "batch", lengths))
            constants = read.card | {"element_bytes": WIDTHS["bf16"]} | {
                name: stated.value if (stated := getattr(tables.mechanisms, name)) else 1.0
                for name in ("core_tile_rows", "prefill_tile_rows")}
            fitted = fit_shapes(law, table, columns, constants,
                                columns["batch"] * columns.get("tokens", 1), ("heads",))
            yield FittedTable(tables.release, law.operator, table["kernel"][0], read.dtype,
                              read.multiplied, fitted, attention="mla")


def fitted_blocks(tables: ReleaseTables, fits: Sequence[FittedTable]) -> Iterator[FittedTable]:
    """Blocks in decode, with projections of the dense matmuls that were fitted last.

    Args:
        tables: of a release.
        fits: of the engine on the card so far, from the oldest release on.
    """
    dense = next((table for dtype in BLOCK_FORMATS for table in reversed(fits)
                  if table.operator == DENSE.operator and table.dtype == dtype), None)
    if dense is None or in_order(tables.release) <= in_order(SLOWER.get(tables.engine, "0")):
        return
    card, wide = (card_constants(tables.device, tables.mechanisms, dtype, FORMATS[table][1])
                  for dtype, table in ((dense.multiplied, dense.dtype), ("bf16", "bf16")))
    if card is None or wide is None:
        return
    core, between = (next((table.fit.values for table in reversed(fits)
                           if table.operator == operator), {})
                     for operator in (DECODE_CORE.operator, DECODE_BLOCK.operator))
    mechanisms = tables.mechanisms
    constants: dict[str, Any] = {
        **({"attention_operators": mechanisms.operators.latent_attention.value}
           if mechanisms.operators else {}),
        **between, **card, **dense.fit.values,
        "core_peak": wide["peak"], "core_tile_rows": 1.0, "latent_core_latency": 0.0,
        **{name: stated.value for name in ("core_tile_rows", "latent_core_latency")
           if (stated := getattr(mechanisms, name))}, **core}
    for law, attention, rows in (
            (DECODE_BETWEEN if core else DECODE_BLOCK, "mla", dense_rows(tables, dense.dtype)),
            (SPARSE_BLOCK, "sparse", sparse_rows(tables, dense.dtype))):
        if rows is None:
            continue
        table, more = rows
        shapes = numbers(table, ("heads", "batch", "context"))
        fitted = fit_shapes(law, table, shapes, {**constants, **more}, shapes["batch"], ("heads",))
        yield FittedTable(tables.release, law.operator, kernel_label(table), dense.dtype,
                          dense.multiplied, fitted, attention=attention)
        constants |= fitted.values


def _rows(tables: ReleaseTables, operator: str, dtype: str, model: str, least: int
          ) -> Table | None:
    """Decode blocks of a model in one format, of requests with that many tokens at least."""
    table = tables.read(operator, dtype)
    if table is None:
        return None
    like = np.char.find(np.char.lower(table["model"].astype(str)), model) >= 0
    return table.select(like & (table["core_dtype"] == "bf16") & (table["heads"] >= LEAST_HEADS)
                        & (table["context"] >= least))


def dense_rows(tables: ReleaseTables, dtype: str) -> tuple[Table, Columns] | None:
    """Blocks with a cache in 16 bits, and constants besides their shapes."""
    table = _rows(tables, DECODE_BLOCK.operator, dtype, BLOCK_MODEL, LEAST_CONTEXT)
    if table is None:
        return None
    table = table.select((table["cache_dtype"] == "bf16") & cold(table, tables.device))
    if len(table) < LEAST_TABLE:
        return None
    kernel = Counter(table["kernel"].tolist()).most_common(1)[0][0]
    return table.select(table["kernel"] == kernel), {"element_bytes": WIDTHS["bf16"]}


def sparse_rows(tables: ReleaseTables, dtype: str) -> tuple[Table, Columns] | None:
    """Blocks with an indexer that chooses, of either cache; None of a card without its laws.

    What they read of a cache is little, so that it matters little whether the L2 had it.
    """
    mechanisms = tables.mechanisms
    share = mechanisms.sparse_attention_efficiency
    index_peak = getattr(tables.device.matrix_peak, "fp8", None)
    stated = {name: getattr(mechanisms, name) for name in SPARSE}
    if (share is None or index_peak is None or mechanisms.operators is None
            or None in stated.values()):
        return None
    table = _rows(tables, SPARSE_BLOCK.operator, dtype, SPARSE_MODEL, LEAST_CHOICE)
    if table is None:
        return None
    table = table.select((table["indexer"] == "runs") & np.isin(table["cache_dtype"], CACHES))
    if len(table) < LEAST_SHORT:
        return None
    narrow = table["cache_dtype"] == CACHES[-1]
    of_key = library.load("formats", LATENTS).bytes_per_element
    return table, {name: value.value for name, value in stated.items()} | {
        "index_peak": index_peak.value, "index_bytes": of_key,
        "indexer_operators": mechanisms.operators.indexer.value,
        "element_bytes": np.where(narrow, of_key, WIDTHS["bf16"]),
        "sparse_attention_efficiency": np.where(narrow, share.narrow.value, share.wide.value)}
