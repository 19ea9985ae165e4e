"""Laws of a layer's latent attention in decode, projections and all: what lies between its kernels.

A block is its projections, whose matmuls are fitted apart, its core, and the kernels between them,
which no other law contains. Of engines whose cores are fitted apart too, a block tells how many
kernels there are between; of the others the core as well. Blocks over prompts are not fitted: they
were timed on constant numbers, on which matrix units run faster (their cores would reach 0.9 of the
peak; 0.64 is what cores alone reach on random ones).

A block of sparse attention holds an indexer too: its projections, its scores, its choice.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np

from calc.kernels.cores import DECODE_CORE, decode_time
from calc.kernels.law import Bounds, Column, Columns, Law
from calc.kernels.matmuls import ACTIVATION_BYTES, DENSE, OF_CARD
from calc.physics.attention import MLA
from calc.physics.inputs import Inputs
from calc.physics.kv_cache import cache as cached
from calc.physics.kv_cache import multiplied_positions, selection_bytes
from calc.physics.memory import Weights
from calc.physics.operators import core_time, index_time, matmul_time, matmuls, whole_tiles
from calc.physics.parameters import count_parameters
from calc.physics.work import Composition, attention_work, core_work, index_work
from catalogue import library
from catalogue.deployments.scenario import model_inputs
from catalogue.entries.formulas import neutral

BLOCK_MODEL, SPARSE_MODEL = "deepseek-v3", "deepseek-v3.2"  # whose attention the tables time
# kernels counted for attention that no block contains (the norm before, the sum over the ranks),
# and those that laws of their own contain: three matmuls, the core's splits and what joins them
AROUND, IN_LAWS = 2, 5
INDEX_MATMULS = 2


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
    stored: Any = SimpleNamespace(attention_weights_per_layer=columns["weight_bytes"] * (
        n.attention_divided_parameters + n.attention_kv_parameters
        + n.attention_replicated_parameters))
    batch = Composition(tokens=tokens, logit_rows=0, attended=0, in_window=0, indexed=0, read=0,
                        read_in_window=0, read_keys=0, expanded=0, absorbed=1, decoding=True)
    weights: Weights = stored
    work = attention_work(MLA, q, n, weights, batch)
    several = matmuls(MLA, q, 0, 1, q.tensor_parallel)["attention"]
    worked = matmul_time(q, "attention", work, whole_tiles(q.gemm_tile_rows, tokens),
                         several.waiting(q, "attention"))
    return np.asarray(several.time(q, "attention", worked, tokens), float)


def decode_block_time(columns: Columns, parameters: Mapping[str, float]) -> Column:
    """Time of a layer's latent attention in decode, projections and core [s].

    Args:
        columns: ``heads`` of the rank and requests in a ``batch`` [1], ``context`` [token],
            ``element_bytes`` of the cache [B], what is known of the card, and the values of
            ``DENSE`` and of the core that are not fitted here.
        parameters: of the law.

    Source: notebooks/latency.md, sections The attention core and Between the kernels, and the host.
    """
    held: dict[str, Any] = {name: columns[name] for name in DECODE_CORE.parameters
                            if name not in parameters}
    core = decode_time({**columns, "peak": columns["core_peak"]}, {**held, **parameters})
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
            ``attention_operators`` and ``indexer_operators`` [1], what is known of the card, and
            the values of ``DENSE``.
        parameters: of the law.

    Source: notebooks/latency.md, sections The attention core and Between the kernels, and the host.
    """
    batch, context = np.asarray(columns["batch"], float), np.asarray(columns["context"], float)
    held = {name: columns[name] for name in SPARSE_KNOWN}
    q = Inputs(_layer(SPARSE_MODEL) | held | dict(parameters) | {
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
