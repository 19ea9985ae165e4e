"""Everything at once: from input symbols to every quantity, vectorised."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from calc.closed_form.benches import benched
from calc.closed_form.occupancy import occupancy
from calc.closed_form.planning import planning, transfer_time
from calc.closed_form.steady import steady
from calc.closed_form.waves import (
    chunk,
    decode_step,
    fullest_cache,
    prefill_throughput,
    prompts,
    serving,
)
from calc.physics.arrays import Inputs, Number, ceil_div
from calc.physics.communication import spread
from calc.physics.decode_floor import decode_floor
from calc.physics.fetching import distances
from calc.physics.memory import activations, added, budget, cache, candidate_stages, weights
from calc.physics.shapes import count_parameters
from calc.physics.step import step
from calc.physics.timing.matmuls import slowest_clock
from catalogue.deployments.layout import DEGREES

INPUTS = frozenset({
    "num_hidden_layers", "first_k_dense_replace", "hidden_size", "vocab_size",
    "num_attention_heads", "num_key_value_heads", "head_dim", "q_lora_rank", "kv_lora_rank",
    "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim", "intermediate_size",
    "moe_intermediate_size", "n_routed_experts", "n_shared_experts", "num_experts_per_tok",
    "n_group", "topk_group",
    "router_bias", "expert_bias", "separate_head", "attention_bias", "attention_output_bias",
    "qk_norm", "attention_sinks", "index_n_heads", "index_head_dim", "index_topk",
    "sliding_window", "full_attention_layers",
    "tensor_parallel", "pipeline_parallel", "data_parallel", "expert_parallel",
    "expert_tensor_parallel", "redundant_experts", "shared_expert_ranks",
    "decode_context_parallel", "context_all_to_all",
    *(f"{name}_weight_bytes" for name in (
        "embedding", "attention", "norm", "router", "dense_mlp", "shared_expert",
        "routed_expert", "head")),
    *(f"{name}_element_bytes" for name in (
        "kv_cache", "kv_rope", "kv_index", "activation", "logit")),
    "concurrency", "context_tokens", "input_tokens", "output_tokens", "prompt_variation",
    "answer_variation", "max_num_batched_tokens",
    "block_size", "memory_utilization", "activations_in_share", "share_of_left",
    "window_blocks_freed", "absorbed_copies", "exchange_buffer_tokens",
    "memory_capacity", "system_reserve", "memory_bandwidth", "hbm_efficiency", "runtime_reserve",
    *(f"{name}_peak" for name in (
        "attention", "core", "index", "dense_mlp", "shared_expert", "routed_expert", "router",
        "head")),
    *(f"{name}_gemm_efficiency" for name in (
        "attention", "dense_mlp", "shared_expert", "routed_expert", "router", "head")),
    *(f"{name}_{kind}" for kind in ("matmul_latency", "depth_latency", "activation_traffic")
      for name in ("attention", "dense_mlp", "shared_expert", "router", "head")),
    *(f"{name}_dequantised" for name in (
        "attention", "dense_mlp", "shared_expert", "routed_expert")),
    "sliced_expert_gemm_efficiency", "routed_expert_latency", "sliced_expert_latency",
    "expert_row_traffic", "sliced_row_traffic", "gathered_row_traffic",
    "expert_tile_growth", "sliced_tile_growth", "largest_expert_tile", "largest_sliced_tile",
    "latent_core_latency", "latent_core_fill", "prefill_core_latency", "core_row_traffic",
    "prefill_tile_rows",
    "multiply_add_flops", "gemm_tile_rows", "expert_tile_rows", "load_overlap",
    "expert_load_overlap", "clock_factor", "clock_spread",
    "expert_streaming_efficiency", "sliced_streaming_efficiency",
    "mla_efficiency", "mla_compute_efficiency",
    "attention_efficiency", "core_tile_rows", "sparse_tile_rows", "sparse_attention_efficiency",
    "sparse_prefill_efficiency", "index_efficiency", "selection_traffic", "dense_prefill_tokens",
    "whole_selection", "absorbed_prefix_tokens", "score_traffic",
    "l2_bandwidth", "dequantisation_traffic",
    "prefill_dequantisation_traffic", "kernel_boundary",
    "operators_per_layer", "host_time_per_operator", "captured", "largest_graph",
    *(f"{name}_operators" for name in (
        "attention", "indexer", "dense_mlp", "routed_expert", "shared_expert", "reference")),
    "host_gap_per_step", "host_gap_per_draft",
    "single_token_path", "routing_skew", "placement_residual", "balanced_placement",
    "even_routing", "kv_imbalance",
    "overlap_efficiency", "micro_batches", "unequal_streams", "single_batch_overlap",
    "devices_per_node", "full_mesh", "pair_bandwidth", "device_link_bandwidth",
    "network_bandwidth", "collective_alpha", "collective_efficiency", "second_round_alpha",
    "pipelined_alpha", "pipelined_efficiency", "switch_adds", "gather_alpha", "gather_step_alpha",
    "gather_efficiency", "gather_bulk_alpha", "gather_bulk_efficiency", "exchange_expert_time",
    "exchange_token_time", "network_alpha",
    "network_efficiency", "exchange_alpha", "exchange_network_alpha", "exchange_efficiency",
    "exchange_network_efficiency", "exchange_normal", "exchange_gathered", "dispatch_element_bytes",
    "draft_tokens", "mtp_acceptance", "acceptance_decay", "accepted_length",
    "request_overhead", "front_end_rate",
    "prefill_together", "separate_pools", "prefill_pool_rate",
    "prefill_pool_devices", "prefill_pool_port_time", "prefill_replicas",
    "mixed_steps", "think_time", "open_arrivals",
    "prefix_hit_share", "prefill_delay_steps",
    "bench_requests", "scheduler_recv_interval", "steps_ahead", "stream_interval",
    "first_token_held",
    "offloaded_share", "offloaded_weight_bytes", "host_peak", "host_gemm_efficiency",
    "host_memory_bandwidth", "host_stream_efficiency", "host_link_bandwidth", "host_sync",
    "host_overlap", "host_group_tokens",
    "fetched_share", "stored_share", "device_hit_share", "host_hit_share", "host_link_efficiency",
    "storage_bandwidth",
})
PHASES = ("decode", "prefill", "burst")


def check_names(inputs: Mapping[str, Number]) -> None:
    """Raises ValueError for a missing input or one that is not an input."""
    if wrong := sorted(inputs.keys() ^ INPUTS):
        problem = "missing" if wrong[0] in INPUTS else "not an input"
        raise ValueError(f"'{wrong[0]}' is {problem}")


def check_ranks(inputs: Mapping[str, Number]) -> None:
    """Raises ValueError for degrees that are no whole numbers of ranks or divide no heads."""
    for name in DEGREES:
        wrong = ~(np.asarray(inputs[name], float) % 1 == 0) | (np.asarray(inputs[name]) < 1)
        if wrong.any():
            raise ValueError(f"'{name}' is {_first(inputs[name], wrong)}, expected a whole number "
                             "of at least 1")
    heads, tensor = inputs["num_attention_heads"], inputs["tensor_parallel"]
    if (uneven := np.asarray(heads) % np.asarray(tensor) != 0).any():
        raise ValueError(f"'tensor_parallel' is {_first(tensor, uneven)}, expected a divisor of "
                         f"the {_first(heads, uneven)} attention heads")


def _first(values: Any, which: np.ndarray) -> str:
    """The first of some numbers for which something holds."""
    return f"{np.broadcast_to(values, which.shape)[which].ravel()[0]:g}"


def evaluate_asked(inputs: Mapping[str, Number], attention: str, *,
                   decode: bool = True) -> dict[str, Number]:
    """Every quantity of a deployment that nobody has checked yet; as :func:`evaluate`.

    >>> import catalogue
    >>> inputs = catalogue.load_scenario("s2-910b1-awq").inputs()
    >>> quantities = evaluate_asked(inputs | {"concurrency": np.array([1, 8, 32])}, "mla")
    >>> (1e3 * quantities["tpot"]).round(1)
    array([20.4, 41.2, 79.7])

    Args:
        inputs: all input symbols in SI units; any of them may be an array, arrays broadcast.
        attention: ``mla`` or ``gqa``.
        decode: whether to compute the decode floor and what follows from it as well.

    Returns quantities in SI units, by their names in ``params/symbols.yml``.

    Raises ValueError for ranks that nothing is cut into, besides what that raises it for.
    """
    check_names(inputs)
    check_ranks(inputs)
    return evaluate(inputs, attention, decode=decode)


def evaluate(inputs: Mapping[str, Number], attention: str, *,
             decode: bool = True) -> dict[str, Number]:
    """Every quantity of a deployment, by its name in ``params/symbols.yml``.

    >>> import catalogue
    >>> inputs = catalogue.load_scenario("s2-910b1-awq").inputs()
    >>> quantities = evaluate(inputs | {"concurrency": np.array([1, 8, 32])}, "mla")
    >>> (1e3 * quantities["tpot"]).round(1)
    array([20.4, 41.2, 79.7])

    Args:
        inputs: all input symbols in SI units; any of them may be an array, arrays broadcast.
        attention: ``mla`` or ``gqa``.
        decode: whether to compute the decode floor as well.

    Returns quantities in SI units. ``stage_*`` arrays have the stages of
    ``calc.physics.memory.candidate_stages`` as their first axis. The inputs must be a deployment
    that can be laid out (``catalogue.load_scenario`` checks one; a search checks its own).

    Raises ValueError for an unknown attention, a missing input, or one that is not an input.
    """
    check_names(inputs)
    # floats throughout: integers of a narrow array type would wrap around without a word
    numbers = {name: np.asarray(value, dtype=float)[()] for name, value in inputs.items()}
    q, ndim = Inputs(numbers), max(value.ndim for value in numbers.values())
    counted = count_parameters(attention, q)
    stages = candidate_stages(q.num_hidden_layers, q.pipeline_parallel, ndim)
    stored = weights(attention, q, counted, stages)
    cached = cache(attention, q)
    requests = ceil_div(q.concurrency, q.data_parallel)
    active = activations(attention, q, counted.moe_layers, requests)
    kept = added(attention, q, counted, stored, stages)
    memory = budget(q, stored, kept, cached, stages, active.activations_per_device, requests)
    quantities = _named(counted, stored, kept, cached, active, memory)
    if not decode:
        return quantities
    floor = decode_floor(q, counted, stored, cached, requests)
    cut = prompts(q, requests)
    compositions = (decode_step(q, floor), chunk(q, cut, cut.prefill_tokens),
            chunk(q, cut, cut.burst_tokens))
    steps = [step(attention, q, counted, stored, cached, composition)
             for composition in compositions]
    decoding, alone, rest = steps
    through_ports, transfer = transfer_time(q, cached)
    served = serving(q, cut, requests, decoding, alone, rest, transfer)
    planned = planning(q, counted, stored, memory, floor, cut, decoding, alone, served,
                       through_ports, transfer)
    lasting = steady(q, cut, requests, decoding, alone, rest, transfer, planned.pool_ratio)
    quantities |= {"decode_tokens": compositions[0].tokens, "slowest_clock": slowest_clock(q),
                   "fullest_cache": fullest_cache(q, floor),
                   "prefill_throughput": prefill_throughput(q, cut, rest)}
    for phase, done in zip(PHASES, steps, strict=True):
        quantities |= {f"{phase}_{name}": value for name, value in _named(done).items()}
    bench = benched(q, cut, served, lasting, decoding, rest)
    return quantities | _named(floor, cut, served, bench, distances(q, counted), spread(q), planned,
                               lasting, occupancy(q, memory, floor, lasting))


def _named(*parts: Any) -> dict[str, Number]:
    """Fields of dataclasses by name."""
    return {name: getattr(part, name) for part in parts for name in _fields(part.__class__)}


@functools.cache
def _fields(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))
