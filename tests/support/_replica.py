"""A small deployment with stated step times, for hand calculations of the closed form."""

from __future__ import annotations

from typing import Any

import numpy as np

from calc.physics.arrays import Inputs, ceil_div
from calc.physics.step import STEP_NAMES, Step
from calc.serving.burst import Loads, Serving, pool_ratio, prompts, serving
from calc.serving.steady import Steady, steady

# one replica of a dense model on one card: eight users, prompts of a chunk, 101 output tokens
DENSE = dict.fromkeys(
    ("expert_tensor_parallel", "n_routed_experts", "host_overlap", "overlap_efficiency",
     "unequal_streams", "single_batch_overlap", "shared_expert_ranks", "prefix_hit_share",
     "prompt_variation", "answer_variation", "think_time", "request_overhead", "open_arrivals",
     "separate_pools", "mixed_steps", "prefill_together", "prefill_delay_steps", "steps_ahead",
     "least_loaded", "awaited_tokens", "prompt_graph_tokens", "first_token_held",
     "bench_requests", "draft_tokens", "mtp_acceptance", "accepted_length",
     "second_stream_tokens", "index_topk", "sliding_window", "whole_selection", "score_traffic",
     "dense_prefill_tokens", "first_k_dense_replace", "layers_without_mlp", "offloaded_share",
     "routed_expert_latency", "sliced_expert_latency",
     "o_groups", "absorbed_prefix_tokens", "prefill_tile_rows", "prefill_replicas",
     "prefill_pool_rate", "prefill_pool_devices", "prefill_pool_port_time"), 0.0) | dict.fromkeys(
    ("tensor_parallel", "pipeline_parallel", "data_parallel", "expert_parallel", "micro_batches",
     "scheduler_recv_interval", "stream_interval", "draft_block", "acceptance_decay",
     "compress_ratio", "kv_imbalance", "num_hidden_layers", "memory_bandwidth",
     "hbm_efficiency"), 1.0) | {
    "concurrency": 8.0, "input_tokens": 1000.0, "output_tokens": 101.0,
    "max_num_batched_tokens": 1000.0, "front_end_rate": 1e9}


def replica(**changes: Any) -> Inputs:
    """Return the inputs of the deployment as attributes, with changes.

    Raises KeyError for an input that the closed form of a deployment does not read.
    """
    if unknown := changes.keys() - DENSE.keys():
        raise KeyError(*unknown)
    return Inputs({name: np.asarray(value, float)[()]
                   for name, value in (DENSE | changes).items()})


def step_of(device: Any, host: Any = 0.0, gap: Any = 0.0, **times: Any) -> Step:
    """Return a step with stated times.

    Args:
        device, host: busy time of card and host [s].
        gap: from the longer of the two to the next step [s].
        times: other fields of the step.
    """
    device, host, gap = (np.asarray(value, float)[()] for value in (device, host, gap))
    return Step(**dict.fromkeys(STEP_NAMES, np.float64(0)) | {
        "compute_time": device, "device_time": device, "host_time": host,
        "step_time": np.maximum(device, host) + gap} | times)


def linear_steps(q: Inputs, decode: Any, fixed: Any, token: Any) -> tuple[Step, Step, Step]:
    """Return the decode step, the chunk of a prompt and a packed chunk.

    Args:
        q: inputs as attributes.
        decode: time of the decode step [s].
        fixed: time of a chunk independent of its length [s].
        token: additional time per token of a chunk [s/token].
    """
    cut = prompts(q, ceil_div(q.concurrency, q.data_parallel))
    return (step_of(decode), step_of(fixed + token * cut.prefill_tokens),
            step_of(fixed + token * cut.burst_tokens))


def wave_of(q: Inputs, decode: Step, prefill: Step, burst: Step, transfer: Any = 0.0) -> Serving:
    """Return the latencies of a burst with these steps."""
    requests = ceil_div(q.concurrency, q.data_parallel)
    lasting = steady_of(q, decode, prefill, burst, transfer)
    return serving(q, prompts(q, requests), requests, 0.0, lasting.prompt_work,
                   lasting.steady_pace, decode, prefill, burst, transfer, q.request_overhead)


def steady_of(q: Inputs, decode: Step, prefill: Step, burst: Step, transfer: Any = 0.0) -> Steady:
    """Return the steady state with these steps."""
    requests = ceil_div(q.concurrency, q.data_parallel)
    cut = prompts(q, requests)
    ratio = pool_ratio(q, ceil_div(requests, q.pipeline_parallel), cut, decode, prefill)
    return steady(q, cut, requests, 0.0, decode, prefill, burst, transfer, ratio,
                  Loads(0.0, 0.0, q.request_overhead))
