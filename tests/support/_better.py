"""Which way is better: inputs of which more never slows anything, and of which less never does.

Every input that is no shape, size, switch or count has its place here, and one place alone.
"""

from __future__ import annotations

from _fleet import ALPHAS, EFFICIENCIES, PREFILL, RATES

from catalogue.entries.formulas import symbols

# more of it is never slower: every rate and share of a rate, and every share that is hidden
SHARES = (*EFFICIENCIES, PREFILL, "clock_factor", "load_overlap", "expert_load_overlap",
          "host_overlap", "captured", "device_hit_share")
FASTER = (*RATES, *SHARES)
# more of it is never faster: what is paid per kernel, message, step or request, and what is moved
SLOWER = (*ALPHAS, "exchange_network_alpha", "exchange_expert_time", "exchange_token_time",
          "operators_per_layer", "dequantisation_traffic",
          "gemm_tile_rows", "expert_tile_rows", "expert_tile_growth", "sliced_tile_growth",
          "largest_expert_tile", "largest_sliced_tile",
          "attention_operators", "hyper_operators", "routed_expert_operators",
          "prefill_dequantisation_traffic",
          "selection_traffic", "score_traffic", "placement_residual", "kv_imbalance",
          "clock_spread", "multiply_add_flops",
          *sorted(name for name, symbol in symbols().items() if symbol.kind == "matmul"
                  and name not in EFFICIENCIES),
          *sorted(name for name in symbols() if name.endswith((
              "_weight_bytes", "_element_bytes", "_expert_latency", "_core_latency",
              "_core_fill", "_row_traffic"))))
# how drafts are met: of more that are accepted a token never takes longer
ACCEPTED = ("mtp_acceptance", "acceptance_decay")
# what is in neither list, and why
UNORDERED = {
    "of whole tiles a larger one may fit better": (
        "core_tile_rows", "sparse_tile_rows", "prefill_tile_rows", "linear_chunk_tokens"),
    "the fewer experts are hit, the fuller is the rank that has them": ("routing_skew",),
    "what lies elsewhere is slower and leaves more room": (
        "offloaded_share", "fetched_share", "stored_share", "host_group_tokens"),
    "storage may be faster than the host's memory": ("host_hit_share",),
    "room that is kept, which no step waits for": (
        "memory_capacity", "system_reserve", "runtime_reserve", "state_blocks",
        "exchange_buffer_tokens", "absorbed_copies"),
    "0 or 1, of a format": tuple(f"{name}_dequantised" for name in (
        "attention", "dense_mlp", "shared_expert", "routed_expert")),
    "a network's shape": ("devices_per_node", "full_mesh", "switch_adds"),
    "time that a token alone is spared, as long as it lasts": ("single_token_path",),
    "rate of a queue, which a wave does not wait in": ("front_end_rate",)}
ORDERED = ("prior", "matmul", "precision", "device", "network", "host", "constant")
"""Kinds of inputs that have a place here; the others are sizes, layouts and switches."""

TIMES = ("decode_step_time", "prefill_step_time", "burst_step_time", "ttft", "tpot", "e2e",
         "kv_transfer_time", "loading_time", "tpot_floor")
RATES_OUT = ("output_throughput", "request_throughput", "input_throughput", "prefill_throughput",
             "throughput_ceiling")
