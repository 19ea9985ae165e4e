"""Order: which way an input is better, and named exceptions to the laws of order.

Every input that is no shape, size, switch or count is in one list: more of it never slows anything,
less of it never does, or neither. An exception applies to a change of a deployment after which a
quantity that comes in whole numbers is another one, or an engine takes another kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from _fleet import ALPHAS, EFFICIENCIES, PREFILL, RATES

from calc.physics.arrays import Inputs
from calc.physics.kv_cache import few_cached
from calc.serving.burst import pool_replicas
from calc.serving.evaluate import NEAR
from catalogue.entries.formulas import symbols

# more of it is never slower: every rate and share of a rate, and every share that is hidden
SHARES = (*EFFICIENCIES, PREFILL, "clock_factor", "load_overlap", "expert_load_overlap",
          "host_overlap", "captured", "device_hit_share")
FASTER = (*RATES, *SHARES)
# more of it is never faster: what is paid per kernel, message, step or request, and what is moved
SLOWER = (*ALPHAS, "exchange_network_alpha", "exchange_expert_time", "exchange_token_time",
          "gemm_tile_rows", "expert_tile_rows", "expert_tile_growth", "sliced_tile_growth",
          "largest_expert_tile", "largest_sliced_tile", "operators_per_layer",
          "attention_operators", "hyper_operators", "routed_expert_operators",
          "dequantisation_traffic", "prefill_dequantisation_traffic", "selection_traffic",
          "score_traffic", "placement_residual", "kv_imbalance", "clock_spread",
          "multiply_add_flops",
          *sorted(name for name, symbol in symbols().items() if symbol.kind == "matmul"
                  and name not in EFFICIENCIES),
          *sorted(name for name in symbols() if name.endswith((
              "_weight_bytes", "_element_bytes", "_expert_latency", "_core_latency",
              "_core_fill", "_row_traffic"))))
# how drafts are met: of more that are accepted a token never takes longer
ACCEPTED = ("mtp_acceptance", "acceptance_decay")
# what is in neither list, and why
UNORDERED = (
    # of whole tiles a larger one may fit better
    "core_tile_rows", "sparse_tile_rows", "prefill_tile_rows", "linear_chunk_tokens",
    "routing_skew",  # the fewer experts are hit, the fuller is the rank that has them
    # what lies elsewhere is slower and leaves more room
    "offloaded_share", "fetched_share", "stored_share", "host_group_tokens",
    "host_hit_share",  # storage may be faster than the host's memory
    # room that is kept, which no step waits for
    "memory_capacity", "system_reserve", "runtime_reserve", "loading_overhead",
    "communicator_reserve", "workspace_reserve", "parallel_reserve", "graph_layer_memory",
    "sampler_bytes", "index_workspace_rows",
    "exchange_buffer_tokens", "absorbed_copies",
    "host_cache_memory",  # more of a prompt is found, and loaded: tests/laws/test_host_cache.py
    # 0 or 1, of a format
    "attention_dequantised", "dense_mlp_dequantised", "shared_expert_dequantised",
    "routed_expert_dequantised",
    "devices_per_node", "full_mesh", "switch_adds",  # a network's shape
    "single_token_path",  # time that a token alone is spared, as long as it lasts
    "front_end_rate")  # of a queue, which a wave does not wait in
ORDERED = ("prior", "matmul", "precision", "device", "network", "host", "constant")
"""Kinds of inputs that have a place here; the others are sizes, layouts and switches."""

TIMES = ("decode_step_time", "prefill_step_time", "burst_step_time", "ttft", "tpot", "e2e",
         "kv_transfer_time", "loading_time", "tpot_floor")
RATES_OUT = ("output_throughput", "request_throughput", "input_throughput", "prefill_throughput",
             "throughput_ceiling")

KNOWN = max(NEAR.values())
"""A steady state's closed form is that near to a simulation, nine times in ten: of two that are
nearer to each other it does not say which is the better one."""
Quantities = Mapping[str, Any]


def another(*names: str) -> Callable[..., Any]:
    """Whether one of several quantities is another number after the change."""
    return lambda _, before, __, after: np.logical_or.reduce(
        [before[name] != after[name] for name in names])


def _replicas(inputs: Quantities, found: Quantities) -> Any:
    return np.where(inputs["separate_pools"] > 0,
                    pool_replicas(Inputs(inputs), found["pool_ratio"]), 0)


def _absorbed(inputs: Quantities, found: Quantities) -> Any:
    """Whether a prompt alone, and several together, have few tokens cached: 0 to 2; and more for
    every chunk of a prompt that finds few."""
    several = found["burst_tokens"] / found["prefill_tokens"]
    few = np.ceil((inputs["absorbed_prefix_tokens"] - found["cached_tokens"])
                  / inputs["max_num_batched_tokens"]) - (found["cached_tokens"] <= 0)
    return 3 * np.clip(few, 0, found["prompt_chunks"]) + sum(
        (found["cached_tokens"] > 0) * few_cached(Inputs(inputs), times * found[
            "prefill_cached"]) for times in (1, several))


# name -> inputs and quantities before and after a change -> whether the exception is met
EXCEPTIONS: dict[str, Callable[[Quantities, Quantities, Quantities, Quantities], Any]] = {
    # An engine cuts prompts into whole chunks of equal length: with one less, the stages of a
    # pipeline have less to do at once, and a prompt waits for a longer one.
    "whole chunks": another("prompt_chunks", "burst_chunks"),
    # Some engines expand what is cached of a prompt from a number of tokens on, and multiply more
    # below it.
    "short prefixes": lambda old, before, new, after: (
        _absorbed(old, before) != _absorbed(new, after)),
    # Ranks among which the cache of a request is dealt exchange what its prompt needs of it, as
    # soon as anything is found there.
    "dealt caches": lambda old, before, _, after: (old["decode_context_parallel"] > 1) & (
        before["cached_tokens"] <= 0) & (after["cached_tokens"] > 0),
    # Of a step of more tokens than the largest captured graph the host launches each operator.
    "captured graphs": lambda _, before, __, after: (
        before["decode_host_time"] <= 0) & (after["decode_host_time"] > 0),
    # A state that is no cache of tokens takes whole blocks of it: of larger blocks, fewer.
    "whole blocks": another("request_blocks", "block_tokens"),
    # Where an engine uses a share of what weights leave, what the fullest stage leaves is taken
    # for that of all stages: more on one of them leaves the others a larger share.
    "one share of all stages": lambda old, *_: (
        old["share_of_left"] > 0) & (old["pipeline_parallel"] > 1),
    # Of requests that find no place in the cache others wait less for each other's steps.
    "places in the cache": another("served_requests"),
    # Whoever waits for a place counts in the largest step, for which there has to be room.
    "users who wait": lambda _, __, new, after: after["served_requests"] < new["concurrency"],
    # A pool that prefills has as many whole replicas as keep up: of a faster card one less, which
    # is busier.
    "whole replicas": lambda old, before, new, after: (
        _replicas(old, before) != _replicas(new, after)),
}


def excepted(names: tuple[str, ...], old: Quantities, before: Quantities, new: Quantities,
             after: Quantities) -> Any:
    """Whether one of some exceptions is met."""
    found = np.zeros(np.shape(after["e2e"]), bool)
    for name in names:
        found |= EXCEPTIONS[name](old, before, new, after)
    return found
