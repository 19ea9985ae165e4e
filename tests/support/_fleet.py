"""Many random deployments at once, as arrays; steps of one as compositions and rows."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from calc.physics.arrays import ceil_div
from calc.physics.kv_cache import Cache, cache
from calc.physics.operators import decode_contexts
from calc.physics.work import Composition
from calc.serving.burst import chunk, decode_step, prompts
from calc.serving.evaluate import PHASES, evaluate
from catalogue.entries.formulas import input_symbols
from notebooks.derive.formulas.samples import random_inputs
from reference.operators import Row, operator_table
from reference.steps import inputs_of

ATTENTIONS = ("mla", "gqa", "csa")
SIZE = 100
ALPHAS = ("kernel_boundary", "host_time_per_operator", "host_gap_per_step", "host_gap_per_draft",
          "collective_alpha", "second_round_alpha", "pipelined_alpha", "network_alpha",
          "gather_alpha", "gather_step_alpha", "gather_bulk_alpha",
          "exchange_alpha", "host_sync", "request_overhead")
RATES = tuple(sorted(name for name in input_symbols() if name.endswith(("_bandwidth", "_peak"))))
PREFILL = "sparse_prefill_efficiency"  # drawn last, so that what was drawn before stays the same
EFFICIENCIES = tuple(sorted(name for name in input_symbols() if name.endswith("_efficiency")
                            and name != PREFILL))

Inputs = dict[str, Any]


@functools.cache
def sampled(attention: str, alike: bool = False) -> Inputs:
    """The first deployments of ``derive.formulas.samples``; every input is an array of them."""
    rows = [random_inputs(seed, attention, alike) for seed in range(SIZE)]
    return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}


alike = functools.partial(sampled, alike=True)
"""Deployments of models whose layers all attend alike: for hand calculations."""


def fleet(attention: str, seed: int, of: Callable[[str], Inputs] = sampled) -> Inputs:
    """The same shapes and layouts with every rate, latency, share and length drawn anew."""
    rng = np.random.default_rng(seed)
    inputs = dict(of(attention))

    def between(low: float, high: float) -> np.ndarray:
        return np.exp(rng.uniform(np.log(low), np.log(high), SIZE))

    def maybe(values: Any, share: float = 0.7) -> np.ndarray:
        return np.where(rng.random(SIZE) < share, values, 0)

    inputs |= {name: inputs[name] * between(0.1, 10) for name in RATES}
    inputs |= {name: between(0.05, 1) for name in EFFICIENCIES}
    inputs |= {name: maybe(between(1e-7, 1e-2)) for name in ALPHAS}
    inputs["host_gap_per_step"] = between(1e-7, 1e-2)  # no step takes no time at all
    moe = inputs["n_routed_experts"] > 0
    return inputs | {
        "load_overlap": rng.random(SIZE), "clock_factor": between(0.3, 1),
        "clock_spread": maybe(between(0.001, 0.1)),
        "gemm_tile_rows": between(1, 256), "expert_tile_rows": between(1, 256),
        **{f"{name}_tile_growth": maybe(between(0.25, 32)) for name in ("expert", "sliced")},
        **{f"largest_{name}_tile": between(16, 512) for name in ("expert", "sliced")},
        "operators_per_layer": between(1, 60),
        "dequantisation_traffic": maybe(between(0.5, 20)),
        "prefill_dequantisation_traffic": maybe(between(0.5, 20)),
        "routing_skew": maybe(between(0.01, 4)), "placement_residual": maybe(between(0.01, 0.3)),
        "balanced_placement": rng.integers(0, 2, SIZE), "even_routing": rng.integers(0, 2, SIZE),
        "kv_imbalance": between(1, 2), "captured": rng.integers(0, 2, SIZE),
        "offloaded_share": np.where(moe, maybe(rng.random(SIZE), 0.4), 0),
        "fetched_share": maybe(rng.random(SIZE), 0.4), "stored_share": maybe(rng.random(SIZE), 0.4),
        "device_hit_share": rng.random(SIZE), "host_hit_share": rng.random(SIZE),
        "prefix_hit_share": maybe(rng.random(SIZE), 0.5), "mtp_acceptance": rng.random(SIZE),
        "acceptance_decay": rng.random(SIZE),
        "input_tokens": np.floor(between(1, 50_000)),
        "output_tokens": np.floor(between(1, 3000)),
        "max_num_batched_tokens": np.floor(between(1, 30_000)),
        "concurrency": np.floor(between(1, 5000)),
        "exchange_network_alpha": maybe(between(1e-7, 1e-2)),
        "expert_load_overlap": rng.random(SIZE),
        "memory_capacity": np.full(SIZE, 1e18),  # so that no request waits for a place
        # engines that look for requests before every step and send each token
        **dict.fromkeys(("scheduler_recv_interval", "stream_interval"), np.ones(SIZE)),
        **dict.fromkeys(("steps_ahead", "first_token_held", "bench_requests"), np.zeros(SIZE)),
        PREFILL: between(0.05, 1),
        "host_prefix_share": np.zeros(SIZE), "host_cache_memory": np.zeros(SIZE),
    }


fleet_alike = functools.partial(fleet, of=alike)


def one(inputs: Inputs, index: int) -> dict[str, float]:
    """A single deployment of a fleet."""
    return {name: float(values[index]) for name, values in inputs.items()}


def where(wrong: np.ndarray, *shown: Any) -> str:
    """Which deployments of a fleet a law fails for, and numbers of the first of them."""
    index = np.flatnonzero(wrong)
    if not len(index):
        return ""
    numbers = [float(np.broadcast_to(values, np.shape(wrong))[index[0]]) for values in shown]
    return f"deployments {index[:5].tolist()} of {len(index)}: {numbers}"


def compositions(inputs: dict[str, float]) -> dict[str, Composition]:
    """Compositions of the steps of one deployment, by phase."""
    q = inputs_of(inputs)
    requests = ceil_div(q.concurrency, q.data_parallel)
    cut = prompts(q, requests)
    steps = (decode_step(q, decode_contexts(q, requests)), chunk(q, cut, cut.prefill_tokens),
             chunk(q, cut, cut.burst_tokens))
    return dict(zip(PHASES, steps, strict=True))


def tables(inputs: dict[str, float], attention: str) -> dict[str, list[Row]]:
    """The operator table of every phase of one deployment."""
    q = inputs_of(inputs)
    cached: Cache = cache(attention, q)
    return {phase: operator_table(attention, q, cached, composition)
            for phase, composition in compositions(inputs).items()}


def run(inputs: Inputs, attention: str, **changes: Any) -> dict[str, Any]:
    """``evaluate`` with some inputs changed, also to layouts that no deployment has."""
    return evaluate(inputs | changes, attention)
