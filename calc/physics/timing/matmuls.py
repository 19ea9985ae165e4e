"""The time of the matmuls of a step, class by class, and of a single one.

What each class has to do is ``calc.physics.work``; what it reaches of peak and bandwidth are
mechanisms. The same functions are held against tables of measured kernels (``calc.kernels``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from calc.physics.arrays import (
    Number,
    either,
    is_absent,
    maximum,
    minimum,
    once,
    plus,
    scaled,
)
from calc.physics.experts import (
    EXPECTED_MAXIMUM,
    expert_group,
    expert_tile,
    normal_quantile,
    sliced,
    streaming,
)
from calc.physics.shapes import Matmuls, Parameters, layers_with_experts, matmuls
from calc.physics.work import Attention, Composition, Routed, Work

MATMULS_OF_DRAFTER = 5  # joined states, queries with keys and values, outputs, two of the MLP


def operator_time(compute: Number, memory: Number, exposed: Number) -> Number:
    """Time of an operator [s] from that of its arithmetic and of its bytes.

    max + exposed min: with complete overlap the longer one decides, without any they add.

    Args:
        compute, memory: times of arithmetic and of bytes alone [s].
        exposed: share of the shorter one that is not hidden [1].

    Source: notebooks/latency.md, section The time of one operator.
    """
    longer = maximum(compute, memory)
    return longer if is_absent(exposed) else longer + exposed * minimum(compute, memory)


@once
def slowest_clock(q: Any) -> Number:
    """Clock of the slowest of the cards that wait for one another, over nominal [1].

    They are the ranks that share experts, those of tensor parallelism at least.

    Args:
        q: input symbols as attributes.

    Source: notebooks/latency.md, section The classes of a step.
    """
    return q.clock_factor / (1 + q.clock_spread * normal_quantile(
        EXPECTED_MAXIMUM / expert_group(q)))


def whole_tiles(tile: Number, rows: Number) -> Number:
    """Rows that are multiplied over rows that there are, where tiles are multiplied whole [1].

    Args:
        tile: rows of a tile [1].
        rows: of a matmul [1].

    Source: notebooks/latency.md, section The classes of a step.
    """
    return maximum(1, tile / maximum(rows, 1))


def tiles_of_experts(tile: Number, rows: Number) -> Number:
    """The same of experts whose rows differ: x / (1 - exp(-x)), with x = tile / mean rows [1].

    Rows of an expert are about geometrically distributed where its popularity is exponentially.

    >>> tiles_of_experts(16.0, 1600.0).round(3), tiles_of_experts(16.0, 1.0).round(3)
    (np.float64(1.005), np.float64(16.0))

    Args:
        tile: rows of a tile [1].
        rows: mean of the experts that have any [1].

    Source: notebooks/latency.md, section The classes of a step.
    """
    share = tile / maximum(rows, 1)
    return share / -np.expm1(-share)


def matmul_times(attention: str, q: Any, n: Parameters, classes: dict[str, Work],
                 batch: Composition, routed: Routed) -> dict[str, Number]:
    """Time of every class of matmuls [s]; tiles of rows are multiplied whole.

    What is expanded of the cache has rows of its own, far more than a tile.

    Args:
        attention: ``mla`` or ``gqa``.
        q: input symbols as attributes.
        n: the model's parameters.
        classes: what each has to do.
        batch: composition of the micro-batch.
        routed: how tokens meet the routed experts.

    Source: notebooks/latency.md, sections The time of one operator, The fixed cost of a matmul and
    The classes of a step.
    """
    own = batch.own(q)
    rows = dict.fromkeys(classes, batch.tokens) | {
        "head": batch.logit_rows, "shared_expert": batch.of_shared(q),
        "attention": own.tokens, "router": own.tokens}
    usual = whole_tiles(q.gemm_tile_rows, batch.tokens)
    padded = {name: usual if rows[name] is batch.tokens
              else whole_tiles(q.gemm_tile_rows, rows[name]) for name in classes} | {
        "routed_expert": tiles_of_experts(
            expert_tile(q, routed.slowest, routed.tokens), routed.rows_of_one(q))}
    dense = matmuls(attention, q, n.moe_layers, batch.absorbed, own.cut(q))
    times = {name: matmul_time(q, name, work, padded[name],
                               dense[name].waiting(q, name) if name in dense else 0)
             for name, work in classes.items()}
    for name, several in dense.items():
        times[name] = several.time(q, name, times[name], rows[name])
    times["routed_expert"] = plus(times["routed_expert"], expert_fixed_time(q))
    # where shared experts have ranks of their own, all wait for the slower kind
    times["shared_expert"] = either(
        q.shared_expert_ranks > 0,
        lambda: maximum(0, times["shared_expert"] - times["routed_expert"]),
        lambda: times["shared_expert"])
    return times


@once
def expert_latency(q: Any) -> Number:
    """What the experts of a layer take, however few their rows [s]: whole ones, or slices.

    Args:
        q: input symbols as attributes.

    Source: notebooks/latency.md, section The classes of a step.
    """
    return sliced(q, q.routed_expert_latency, q.sliced_expert_latency)


@once
def expert_fixed_time(q: Any) -> Number:
    """What the experts of all layers take, however few their rows [s].

    Args:
        q: input symbols as attributes.

    Source: notebooks/latency.md, section The classes of a step.
    """
    return (1 - q.offloaded_share) * layers_with_experts(q) * expert_latency(q)


def matmul_time(q: Any, name: str, work: Work, padded: Number, waiting: Number = 0) -> Number:
    """Loading and arithmetic of a class of matmuls [s].

    Arithmetic takes as long as outputs wait for their inputs, if that is longer; what is loaded
    meanwhile is hidden as beside any arithmetic.

    Args:
        q: input symbols as attributes.
        name: the class.
        work: operations [FLOP] and bytes [B].
        padded: rows that are multiplied over rows that there are [1].
        waiting: for inputs one after another, along the depth [s].

    Source: notebooks/latency.md, sections The fixed cost of a matmul and The classes of a step.
    """
    flops = scaled(work.flops, padded)
    if isinstance(work, Attention) and not is_absent(work.expanded_flops):
        flops = (work.flops - work.expanded_flops) * padded + work.expanded_flops
    peak, bandwidth, exposed = _reached(q, name)
    computed = flops / peak
    return operator_time(computed if is_absent(waiting) else maximum(computed, waiting),
                         work.bytes / bandwidth, exposed)


def busy_time(q: Any, name: str, work: Work) -> Number:
    """Time in which a class of matmuls keeps memory or matrix units busy at what they reach [s].

    Args:
        q: input symbols as attributes.
        name: the class.
        work: operations [FLOP] and bytes [B].

    Source: notebooks/latency.md, section One step.
    """
    peak, bandwidth, _ = _reached(q, name)
    return maximum(work.flops / peak, work.bytes / bandwidth)


@once
def dense_bandwidth(q: Any) -> Number:
    """Rate at which everything but experts and caches is read [B/s].

    Args:
        q: input symbols as attributes.

    Source: notebooks/latency.md, section The time of one operator.
    """
    return q.memory_bandwidth * q.hbm_efficiency


@once
def _reached(q: Any, name: str) -> tuple[Number, Number, Number]:
    """What a class of matmuls reaches: operations [FLOP/s], bytes [B/s], what of the shorter of the
    two is not hidden [1].

    Source: notebooks/latency.md, section The classes of a step.
    """
    efficiency, exposed = getattr(q, f"{name}_gemm_efficiency"), 1 - q.load_overlap
    if name == "routed_expert":
        efficiency = sliced(q, efficiency, q.sliced_expert_gemm_efficiency)
        bandwidth = q.memory_bandwidth * streaming(q)
        exposed = sliced(q, 1 - q.expert_load_overlap, exposed)
    else:
        bandwidth = dense_bandwidth(q)
    return getattr(q, f"{name}_peak") * efficiency * slowest_clock(q), bandwidth, exposed


def joining_time(q: Any, rows: Number) -> Number:
    """The projection that joins a hidden state with an embedding, before a layer that drafts [s].

    Args:
        q: input symbols as attributes.
        rows: tokens [token].

    Source: notebooks/latency.md, section One step.
    """
    d, width = q.hidden_size, q.activation_element_bytes
    flops = q.multiply_add_flops * 2 * d * d * maximum(rows, q.gemm_tile_rows)
    moved = 2 * d * d * width + 3 * d * width * rows
    one = Matmuls(1, 2 * d)
    alone = matmul_time(q, "head", Work(flops, moved), 1, one.waiting(q, "head"))
    return one.time(q, "head", alone, rows)


def drafter_time(q: Any, rows: Number) -> Number:
    """The matmuls of a drafter of its own but for its head [s]: of its inputs, of attention and of
    a dense network, in 16 bits, as the head multiplies.

    Args:
        q: input symbols as attributes.
        rows: tokens [token].

    Source: notebooks/latency.md, section One step.
    """
    held = q.drafter_parameters / q.tensor_parallel + q.drafter_whole_parameters
    flops = q.multiply_add_flops * held * maximum(rows, q.gemm_tile_rows)
    alone = matmul_time(q, "head", Work(flops, held * q.activation_element_bytes), 1)
    return alone + MATMULS_OF_DRAFTER * q.head_matmul_latency
