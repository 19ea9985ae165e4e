"""Random deployments that can be laid out, for tests: any shape, any parallelism, many edges."""

from __future__ import annotations

import random

from notebooks.derive.formulas.exported import computable, evaluate_all, load_formulas, select

Number = int | float
_BYTES = (0.5, 0.5390625, 1, 1.03125, 2, 4)
_POWERS = (1, 2, 4, 8, 16)
_MEMORY = ("architecture", "memory")


def random_inputs(seed: int, attention: str) -> dict[str, Number]:
    """Every input symbol (SI) of a random valid deployment, the same for the same seed.

    Dense and MoE; experts over fewer and more ranks than tensor parallelism; more ranks than key
    and value heads; uneven pipelines; tied heads; biases, norms of queries and keys, sinks and
    indexers; picks and windows that are met before, on, during and after decode, or never; and,
    every other time, quotients that are whole, so that ceil and floor are met on their edges.
    """
    draw = random.Random(f"{attention} {seed}")
    edge = bool(seed % 2)
    inputs = _model(draw, attention) | _details(draw, attention)
    inputs |= _limits(draw, inputs)
    t = inputs["tensor_parallel"] = draw.choice(_POWERS)
    per_rank = draw.choice((1, 2, 3)) if not edge else draw.choice((1, 2))
    inputs["num_attention_heads"] = t * per_rank
    inputs["num_key_value_heads"] = draw.choice(
        [n for n in range(1, t * per_rank + 1)
         if (t * per_rank) % n == 0 and (n % t == 0 or t % n == 0)])
    inputs["intermediate_size"] = t * draw.randint(1, 400)
    inputs["moe_intermediate_size"] *= t
    data = inputs["data_parallel"] = draw.choice((1, 2, 3, 4))
    inputs["pipeline_parallel"] = draw.randint(1, min(int(inputs["num_hidden_layers"]), 12))
    _experts(draw, inputs, int(t * data))
    inputs |= {f"{name}_weight_bytes": draw.choice(_BYTES) for name in (
        "embedding", "attention", "norm", "router", "dense_mlp", "shared_expert",
        "routed_expert", "head")}
    inputs |= {f"{name}_element_bytes": draw.choice(_BYTES[2:]) for name in (
        "kv_cache", "kv_rope", "kv_index", "activation", "logit")}
    block = inputs["block_size"] = draw.choice((1, 16, 64, 128))
    inputs |= {
        "concurrency": data * draw.randint(1, 64) if edge else draw.randint(1, 256),
        "context_tokens": block * draw.randint(1, 99) if edge else draw.randint(1, 20_000),
        "input_tokens": draw.choice((0, 1, 128, 4096)),
        "output_tokens": draw.choice((1, 2, 512)),
        "max_num_batched_tokens": draw.choice((1, 512, 8192)),
        "memory_bandwidth": draw.choice((8e11, 1.6e12, 4e12)),
        "hbm_efficiency": draw.choice((0.5, 0.72, 1)),
        "runtime_reserve": draw.choice((0, 2**31)), "system_reserve": draw.choice((0, 2**30)),
        "memory_capacity": draw.choice((32, 64, 80, 96)) * 2**30,
        "memory_utilization": draw.choice((0.85, 0.9, 1)),
        "activations_in_share": draw.randint(0, 1), "window_blocks_freed": draw.randint(0, 1),
    }
    inputs |= _mechanisms(draw) | _network(draw) | _requests(draw)
    inputs |= _arrivals(random.Random(f"arrivals {attention} {seed}"))
    inputs |= _plain(random.Random(f"plain {attention} {seed}"))
    inputs |= _passes(random.Random(f"passes {attention} {seed}"))
    inputs |= _collectives(random.Random(f"collectives {attention} {seed}"))
    inputs |= _context(random.Random(f"context {attention} {seed}"), inputs, attention)
    apart = _apart(random.Random(f"apart {attention} {seed}"), inputs)
    apart |= _sliced(random.Random(f"sliced {attention} {seed}"), inputs | apart)
    inputs |= apart
    if edge:
        _fill_exactly(draw, inputs, attention)
    steps = _steps(random.Random(f"steps {attention} {seed}"))
    return inputs | _kernels(draw) | _exchange(draw) | apart | steps


def _steps(draw: random.Random) -> dict[str, Number]:
    """What matmuls take whatever their rows, and what runs side by side."""
    dense = ("attention", "dense_mlp", "shared_expert", "router", "head")
    return {"unequal_streams": draw.choice((0, 0, 1)), "single_batch_overlap": draw.choice((0, 1)),
            **{f"{name}_matmul_latency": draw.choice((0, 3e-6)) for name in dense},
            **{f"{name}_depth_latency": draw.choice((0, 1e-9)) for name in dense},
            **{f"{name}_activation_traffic": draw.choice((0, 4)) for name in dense},
            "sliced_expert_latency": draw.choice((0, 3e-5)),
            "latent_core_latency": draw.choice((0, 1e-5)),
            "latent_core_fill": draw.choice((0, 3e-8)),
            "prefill_core_latency": draw.choice((0, 1e-5)),
            "core_row_traffic": draw.choice((0, 3)),
            "prefill_tile_rows": draw.choice((1, 64, 4096)),
            "expert_row_traffic": draw.choice((0, 1, 2.5)),
            "sliced_row_traffic": draw.choice((0, 1, 4)),
            "gathered_row_traffic": draw.choice((0, 1.5)),
            **{f"{name}_tile_growth": draw.choice((0, 0.5, 2)) for name in ("expert", "sliced")},
            **{f"largest_{name}_tile": draw.choice((64, 128)) for name in ("expert", "sliced")}}


def _context(draw: random.Random, inputs: dict[str, Number], attention: str) -> dict[str, Number]:
    """Over how many ranks a cache is dealt: of MLA any that divides, of GQA those with copies.

    Also what was added since, from a stream of its own: the other draws stay as they are.
    """
    t, kv = int(inputs["tensor_parallel"]), int(inputs["num_key_value_heads"])
    copies = t if attention == "mla" else max(1, t // kv)
    possible = [n for n in range(1, copies + 1) if copies % n == 0]
    return {"decode_context_parallel": 1 if inputs["index_n_heads"] else draw.choice(possible),
            "context_all_to_all": draw.choice((0, 1)),
            "largest_graph": draw.choice((1, 64, 512)),
            "accepted_length": draw.choice((0, 0, 1.5))}


def _apart(draw: random.Random, inputs: dict[str, Number]) -> dict[str, Number]:
    """Shared experts on ranks of their own, in some layouts that can be cut so, or none."""
    ranks, routed = inputs["tensor_parallel"] * inputs["data_parallel"], inputs["n_routed_experts"]
    if not routed or not inputs["n_shared_experts"] or ranks < 2 or draw.random() < 0.5:
        return {"shared_expert_ranks": 0}
    shared = draw.randint(1, int(ranks) - 1)
    copies = -routed % (ranks - shared) + draw.choice((0, ranks - shared))
    return {"tensor_parallel": 1, "data_parallel": ranks, "expert_parallel": ranks,
            "decode_context_parallel": 1, "redundant_experts": copies, "exchange_normal": 0,
            "exchange_gathered": 0, "shared_expert_ranks": shared}


def _sliced(draw: random.Random, inputs: dict[str, Number]) -> dict[str, Number]:
    """Slices of experts that are asked for, over data-parallel ranks too, in some layouts, or none.

    Expert parallelism is a divisor of what it was, so that experts can still be dealt out; the
    ranks are a power of two: bytes are the same numbers in whatever order they are divided.
    """
    t, data = int(inputs["tensor_parallel"]), int(inputs["data_parallel"])
    if not inputs["n_routed_experts"] or inputs["shared_expert_ranks"] or draw.random() < 0.6:
        return {"expert_tensor_parallel": 0}
    ranks, before = t * data, int(inputs["expert_parallel"])
    cuts = [(e, group // e) for group in range(t, ranks + 1, t)
            if ranks % group == 0 and group.bit_count() == 1
            for e in range(1, before + 1) if before % e == 0 and group % e == 0]
    e, slices = draw.choice(cuts)
    found = {"expert_parallel": e, "expert_tensor_parallel": slices,
             "moe_intermediate_size": inputs["moe_intermediate_size"] * e * slices // t}
    return found | ({"exchange_normal": 0} if slices > 1 and e * slices > t else {})


def _exchange(draw: random.Random) -> dict[str, Number]:
    """How tokens get to their experts: all to all, gathered; from groups of them, or from all."""
    groups, picked = draw.choice(((1, 1), (1, 1), (8, 4), (8, 1), (4, 2), (3, 2), (16, 8), (6, 6)))
    return {"exchange_network_alpha": draw.choice((0, 2e-5)),
            "exchange_gathered": draw.choice((0, 0, 1)), "n_group": groups, "topk_group": picked}


def _mechanisms(draw: random.Random) -> dict[str, Number]:
    """Peaks, efficiencies and fixed costs; every switch on and off."""
    dense = ("attention", "dense_mlp", "shared_expert", "routed_expert")
    matrices = (*dense, "router", "head")
    found: dict[str, Number] = {f"{name}_peak": draw.choice((1.48e14, 3.5e14, 1e15))
                                for name in (*matrices, "core", "index")}
    found |= {f"{name}_gemm_efficiency": draw.choice((0.5, 0.75, 1)) for name in matrices}
    found |= {f"{name}_dequantised": draw.randint(0, 1) for name in dense}
    return found | {
        "multiply_add_flops": 2, "gemm_tile_rows": draw.choice((1, 16, 64)),
        "load_overlap": draw.choice((0, 0.5, 1)), "clock_factor": draw.choice((0.75, 1)),
        "clock_spread": draw.choice((0, 0.02, 0.1)),
        "expert_streaming_efficiency": draw.choice((0.4, 0.8)),
        "mla_efficiency": draw.choice((0.4, 0.8)),
        "attention_efficiency": draw.choice((0.4, 0.7)),
        "mla_compute_efficiency": draw.choice((0.3, 0.6)),
        "core_tile_rows": draw.choice((1, 16, 64)), "sparse_tile_rows": draw.choice((1, 16, 128)),
        "sparse_attention_efficiency": draw.choice((0.4, 0.6)),
        "index_efficiency": draw.choice((0.2, 0.5)), "whole_selection": draw.randint(0, 1),
        "dense_prefill_tokens": draw.choice((0, 0, 1, 2048, 10_000)),
        "absorbed_prefix_tokens": draw.choice((0, 0, 512, 8192)),
        "l2_bandwidth": draw.choice((5e12, 8e12)),
        "dequantisation_traffic": draw.choice((0, 4, 5.5)),
        "prefill_dequantisation_traffic": draw.choice((0, 4, 17)),
        "kernel_boundary": draw.choice((0, 2e-6)),
        "operators_per_layer": draw.choice((20, 26.5)),
        "host_time_per_operator": draw.choice((0, 6e-6, 1e-4)),
        "captured": draw.randint(0, 1), "host_gap_per_step": draw.choice((0, 3e-3)),
        "single_token_path": draw.choice((0, 3e-3)),
        "placement_residual": draw.choice((0, 0.05, 0.3)),
        "balanced_placement": draw.randint(0, 1), "even_routing": draw.choice((0, 0, 0, 1)),
        "routing_skew": draw.choice((0, 0.5, 1.3)),
        "kv_imbalance": draw.choice((1, 1.25)), "overlap_efficiency": draw.choice((0.5, 1)),
        "micro_batches": draw.choice((1, 1, 2)),
    }


def _kernels(draw: random.Random) -> dict[str, Number]:
    """Slices of experts, tiles of their rows, operators of the parts of a layer."""
    return {
        "expert_tile_rows": draw.choice((1, 16, 64)),
        "sliced_expert_gemm_efficiency": draw.choice((0.3, 0.6, 1)),
        "sliced_streaming_efficiency": draw.choice((0.5, 0.9)),
        "attention_operators": draw.choice((8, 14)), "indexer_operators": draw.choice((0, 11)),
        "dense_mlp_operators": draw.choice((5, 7)), "routed_expert_operators": 10,
        "shared_expert_operators": draw.choice((0, 4)), "reference_operators": 28,
        "expert_load_overlap": draw.choice((0, 0.5, 1)),
    }


def _network(draw: random.Random) -> dict[str, Number]:
    """Topologies: full mesh and switch, nodes smaller and larger than the groups."""
    return {
        "devices_per_node": draw.choice((1, 2, 4, 8, 16)), "full_mesh": draw.randint(0, 1),
        "pair_bandwidth": 2.8e10, "device_link_bandwidth": draw.choice((1.96e11, 4.5e11)),
        "network_bandwidth": draw.choice((2.5e10, 5e10)),
        "collective_alpha": draw.choice((0, 1e-5)), "collective_efficiency": draw.choice((0.6, 1)),
        "network_alpha": draw.choice((0, 2e-5)), "network_efficiency": draw.choice((0.5, 1)),
        "exchange_alpha": draw.choice((0, 5e-5)), "exchange_efficiency": draw.choice((0.4, 1)),
        "exchange_network_efficiency": draw.choice((0.4, 1)),
        "exchange_normal": draw.randint(0, 1), "absorbed_copies": draw.choice((0, 0.5, 1)),
        "exchange_buffer_tokens": draw.choice((0, 128, 256)),
        "dispatch_element_bytes": draw.choice((1, 2)),
        "storage_bandwidth": 2e9,
    }


def _requests(draw: random.Random) -> dict[str, Number]:
    """How requests are served: drafts, cached prefixes, experts on the host or fetched."""
    return {
        "draft_tokens": draw.choice((0, 0, 1, 3)), "mtp_acceptance": draw.choice((0, 0.85, 1)),
        "acceptance_decay": draw.choice((0.75, 1)),
        "request_overhead": draw.choice((0, 0.02)),
        "front_end_rate": draw.choice((100, 2000)), "prefill_together": draw.randint(0, 1),
        "separate_pools": draw.choice((0, 0, 1)),
        "prefill_pool_rate": draw.choice((0, 0.5, 1e6)), "prefill_pool_devices": 16,
        "prefill_replicas": draw.choice((0, 0, 3)),
        "prefill_pool_port_time": draw.choice((0, 1e-3, 1)),
        "prefill_delay_steps": draw.choice((0, 0, 10, 30)),
        "prefix_hit_share": draw.choice((0, 0.5, 1)),
        "offloaded_share": draw.choice((0, 0, 0.5, 1)),
        "offloaded_weight_bytes": 0.5, "host_peak": 1e13, "host_gemm_efficiency": 0.4,
        "host_memory_bandwidth": 3e11, "host_stream_efficiency": 0.75,
        "host_link_bandwidth": 3.2e10, "host_sync": draw.choice((0, 2e-5)),
        "host_overlap": draw.choice((0, 0, 0.5, 1)),
        "fetched_share": draw.choice((0, 0, 0.6, 1)), "stored_share": draw.choice((0, 0, 0.4, 1)),
        "device_hit_share": draw.choice((0, 0.5, 1)), "host_hit_share": draw.choice((0.2, 1)),
        "host_link_efficiency": draw.choice((0.8, 1)),
    }


def _collectives(draw: random.Random) -> dict[str, Number]:
    """How a library sums and gathers, and what an exchange takes besides its bytes."""
    return {
        "second_round_alpha": draw.choice((0, 1e-5, 3e-5)),
        "pipelined_alpha": draw.choice((1e-5, 1e6)), "pipelined_efficiency": draw.choice((0.7, 1)),
        "switch_adds": draw.randint(0, 1), "gather_alpha": draw.choice((0, 1e-5)),
        "gather_step_alpha": draw.choice((0, 1e-6)), "gather_efficiency": draw.choice((0.3, 1)),
        "gather_bulk_alpha": draw.choice((1e-5, 1e6)), "gather_bulk_efficiency": 0.7,
        "exchange_expert_time": draw.choice((0, 1e-8)),
        "exchange_token_time": draw.choice((0, 1e-8)),
    }


def _passes(draw: random.Random) -> dict[str, Number]:
    """What a pass of drafting and of widened experts takes, and what a share is of."""
    return {"host_gap_per_draft": draw.choice((0, 5e-4)),
            "routed_expert_latency": draw.choice((0, 2e-5)),
            "share_of_left": draw.choice((0, 0, 1)),
            "bench_requests": draw.choice((0, 0, 5, 4000)),
            "scheduler_recv_interval": draw.choice((1, 1, 10)),
            "steps_ahead": draw.choice((0, 1)), "stream_interval": draw.choice((1, 1, 10)),
            "first_token_held": draw.choice((0, 0, 1))}


def _plain(draw: random.Random) -> dict[str, Number]:
    """Kernels that are not fused, take a prompt in groups, or are other ones for prompts."""
    return {"score_traffic": draw.choice((0, 0, 32)),
            "host_group_tokens": draw.choice((0, 0, 64, 1000)),
            "sparse_prefill_efficiency": draw.choice((0.2, 0.5))}


def _arrivals(draw: random.Random) -> dict[str, Number]:
    """How requests arrive in a steady state, what a step may hold, how lengths vary."""
    return {"mixed_steps": draw.randint(0, 1), "think_time": draw.choice((0, 0, 0.02, 5)),
            "open_arrivals": draw.choice((0, 0, 1)),
            "prompt_variation": draw.choice((0, 0, 0.5, 1)),
            "answer_variation": draw.choice((0, 0, 1, 1.7))}


def _model(draw: random.Random, attention: str) -> dict[str, Number]:
    layers = draw.randint(1, 40)
    inputs: dict[str, Number] = {
        "num_hidden_layers": layers, "hidden_size": 64 * draw.randint(1, 64),
        "vocab_size": draw.randint(100, 50_000), "router_bias": draw.randint(0, 1),
        "separate_head": draw.randint(0, 1), "first_k_dense_replace": layers,
        "n_routed_experts": 0, "n_shared_experts": 0, "num_experts_per_tok": 0,
        "moe_intermediate_size": 0, "head_dim": 0, "q_lora_rank": 0, "kv_lora_rank": 0,
        "qk_nope_head_dim": 0, "qk_rope_head_dim": 0, "v_head_dim": 0}
    if attention == "gqa":
        inputs["head_dim"] = draw.choice((32, 64, 128))
    else:
        inputs |= {"q_lora_rank": draw.choice((0, 192, 1536)), "kv_lora_rank": 128,
                   "qk_nope_head_dim": 32, "qk_rope_head_dim": 16,
                   "v_head_dim": draw.choice((32, 48))}
    if draw.random() < 0.7:
        inputs |= {"first_k_dense_replace": draw.randint(0, layers),
                   "n_shared_experts": draw.randint(0, 2),
                   "moe_intermediate_size": 16 * draw.randint(1, 16)}
        inputs["n_routed_experts"] = -1  # chosen once the parallelism is
    return inputs


def _details(draw: random.Random, attention: str) -> dict[str, Number]:
    """What some models have and others lack; an indexer goes with a query latent."""
    switches = ("attention_bias", "attention_output_bias", "qk_norm", "attention_sinks")
    inputs: dict[str, Number] = dict.fromkeys(switches, 0)
    inputs |= {"expert_bias": draw.randint(0, 1), "index_n_heads": 0, "index_head_dim": 0,
               "selection_traffic": 0}
    if attention == "gqa":
        inputs |= {name: draw.randint(0, 1) for name in switches}
    elif draw.random() < 0.5:
        inputs |= {"q_lora_rank": draw.choice((192, 1536)), "index_n_heads": draw.choice((4, 64)),
                   "index_head_dim": draw.choice((32, 128)),
                   "selection_traffic": draw.choice((0, 12))}
    return inputs


def _limits(draw: random.Random, inputs: dict[str, Number]) -> dict[str, Number]:
    """How much attention sees: what an indexer picks, a window in some or all of the layers."""
    layers = int(inputs["num_hidden_layers"])
    lengths = (1, 64, 128, 129, 130, 300, 4100, 4608, 9000)
    found: dict[str, Number] = {"index_topk": 0, "sliding_window": 0,
                                "full_attention_layers": layers}
    if inputs["index_head_dim"]:
        found["index_topk"] = draw.choice(lengths)
    if draw.random() < 0.5:
        found |= {"sliding_window": draw.choice(lengths),
                  "full_attention_layers": draw.randint(0, layers)}
    return found


def _experts(draw: random.Random, inputs: dict[str, Number], ranks: int) -> None:
    """Number of experts and expert parallelism; both are multiples that can be laid out."""
    inputs |= {"expert_parallel": 1, "redundant_experts": 0}
    if not inputs["n_routed_experts"]:
        return
    t = int(inputs["tensor_parallel"])
    e = draw.choice([n for n in range(1, ranks + 1)
                     if ranks % n == 0 and (n % t == 0 or t % n == 0)])
    inputs["expert_parallel"] = e
    physical = e * draw.randint(1, 32)
    copies = inputs["redundant_experts"] = draw.choice((0, 0, draw.randint(0, physical - 1)))
    inputs["n_routed_experts"] = physical - copies
    inputs["num_experts_per_tok"] = draw.randint(1, min(8, int(inputs["n_routed_experts"])))


def _fill_exactly(draw: random.Random, inputs: dict[str, Number], attention: str) -> None:
    """Choose the capacity so that the first stage has room for a whole number of blocks."""
    inputs |= {"memory_utilization": 1, "window_blocks_freed": 0}  # parts of a block are not exact
    # of the memory budget only: a chapter that is being changed does not stop the others
    formulas = select(load_formulas(), attention)
    memory = {name: formulas[name] for name in formulas if formulas[name].notebook in _MEMORY}
    budget = evaluate_all(computable(memory, inputs), inputs)
    lacking = budget["stage_block_bytes"] * draw.randint(0, 5000) - budget["stage_free_for_kv"]
    inputs["memory_capacity"] += float(lacking)
