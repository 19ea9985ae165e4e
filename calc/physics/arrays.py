"""Inputs of every formula, and arithmetic on them for scalars and arrays alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import wraps
from types import MappingProxyType
from typing import Any, TypeVar, cast

import numpy as np

Number = Any  # float or numpy array: every function of calc is vectorised
MEANING = ("unit", "en", "zh")  # of a symbol in params/symbols.yml


class _Meaning(Mapping[str, str]):
    """Unit and sentence of a symbol, read from ``params/symbols.yml`` when somebody asks."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getitem__(self, key: str) -> str:
        from catalogue.entries.formulas import symbols  # formulas read no files

        if key not in MEANING:
            raise KeyError(key)
        return str(getattr(symbols()[self.name], key))

    def __iter__(self) -> Iterator[str]:
        return iter(MEANING)

    def __len__(self) -> int:
        return len(MEANING)


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Inputs:
    """Input symbols in SI units, numbers or arrays that broadcast against each other.

    Names, units and sentences are those of ``params/symbols.yml``; a field's metadata has the
    latter two. A symbol that is not given is no attribute.

    >>> from dataclasses import fields
    >>> next(f.metadata["unit"] for f in fields(Inputs) if f.name == "memory_bandwidth")
    'B/s'

    Args:
        symbols, more: by name.
    """

    # model
    num_hidden_layers: Number
    first_k_dense_replace: Number
    hidden_size: Number
    vocab_size: Number
    num_attention_heads: Number
    num_key_value_heads: Number
    head_dim: Number
    q_lora_rank: Number
    kv_lora_rank: Number
    qk_nope_head_dim: Number
    qk_rope_head_dim: Number
    v_head_dim: Number
    intermediate_size: Number
    moe_intermediate_size: Number
    n_routed_experts: Number
    n_shared_experts: Number
    n_group: Number
    topk_group: Number
    num_experts_per_tok: Number
    router_bias: Number
    expert_bias: Number
    attention_bias: Number
    attention_output_bias: Number
    qk_norm: Number
    attention_sinks: Number
    index_n_heads: Number
    index_head_dim: Number
    index_topk: Number
    sparse_layers: Number
    linear_layers: Number
    linear_num_key_heads: Number
    linear_num_value_heads: Number
    linear_key_head_dim: Number
    linear_value_head_dim: Number
    linear_conv_kernel_dim: Number
    linear_decay_rank: Number
    linear_gate_rank: Number
    vision_parameters: Number
    vision_whole_parameters: Number
    vision_heads: Number
    linear_mamba: Number
    layers_without_mlp: Number
    mlp_matrices: Number
    value_from_key: Number
    window_num_attention_heads: Number
    window_num_key_value_heads: Number
    window_head_dim: Number
    window_v_head_dim: Number
    attention_output_gate: Number
    routed_expert_hidden_size: Number
    indexer_layers: Number
    compress_ratio: Number
    compressed_layers: Number
    heavy_compress_ratio: Number
    heavy_layers: Number
    o_groups: Number
    o_lora_rank: Number
    hc_mult: Number
    num_nextn_predict_layers: Number
    sliding_window: Number
    full_attention_layers: Number
    separate_head: Number
    # parallelism
    tensor_parallel: Number
    pipeline_parallel: Number
    data_parallel: Number
    expert_parallel: Number
    expert_tensor_parallel: Number
    redundant_experts: Number
    shared_expert_ranks: Number
    decode_context_parallel: Number
    # precision: bytes per element, scales included
    embedding_weight_bytes: Number
    attention_weight_bytes: Number
    norm_weight_bytes: Number
    router_weight_bytes: Number
    dense_mlp_weight_bytes: Number
    shared_expert_weight_bytes: Number
    routed_expert_weight_bytes: Number
    head_weight_bytes: Number
    kv_cache_element_bytes: Number
    kv_rope_element_bytes: Number
    compressor_weight_bytes: Number
    hyper_weight_bytes: Number
    state_element_bytes: Number
    kv_index_element_bytes: Number
    activation_element_bytes: Number
    logit_element_bytes: Number
    # workload
    concurrency: Number
    input_tokens: Number
    output_tokens: Number
    prompt_variation: Number
    answer_variation: Number
    prefill_delay_steps: Number
    awaited_tokens: Number
    least_loaded: Number
    scheduler_recv_interval: Number
    steps_ahead: Number
    stream_interval: Number
    first_token_held: Number
    bench_requests: Number
    context_tokens: Number
    max_num_batched_tokens: Number
    max_num_seqs: Number
    block_size: Number
    memory_utilization: Number
    share_of_left: Number
    routed_expert_latency: Number
    sliced_expert_latency: Number
    expert_row_traffic: Number
    gathered_row_traffic: Number
    sliced_row_traffic: Number
    activations_in_share: Number
    runtime_in_share: Number
    communicators_in_share: Number
    graphs_in_share: Number
    share_of_free: Number
    page_groups: Number
    retained_batches: Number
    state_pages: Number
    packed_pages: Number
    page_rounding: Number
    compressed_blocks: Number
    window_page_tokens: Number
    state_page_tokens: Number
    heavy_page_tokens: Number
    vision_whole: Number
    text_only: Number
    expert_buffers_freed: Number
    expert_chunk_tokens: Number
    index_every_layer: Number
    plain_rows: Number
    jointly_cut: Number
    window_share: Number
    state_share: Number
    slots_per_request: Number
    state_slots: Number
    slot_window_tokens: Number
    tokens_by_length: Number
    window_blocks_freed: Number
    # device
    memory_capacity: Number
    system_reserve: Number
    memory_bandwidth: Number
    hbm_efficiency: Number
    runtime_reserve: Number
    # mechanisms: efficiencies and fixed costs
    multiply_add_flops: Number
    attention_peak: Number
    core_peak: Number
    index_peak: Number
    dense_mlp_peak: Number
    shared_expert_peak: Number
    routed_expert_peak: Number
    router_peak: Number
    head_peak: Number
    attention_gemm_efficiency: Number
    dense_mlp_gemm_efficiency: Number
    shared_expert_gemm_efficiency: Number
    routed_expert_gemm_efficiency: Number
    sliced_expert_gemm_efficiency: Number
    router_gemm_efficiency: Number
    head_gemm_efficiency: Number
    attention_dequantised: Number
    dense_mlp_dequantised: Number
    shared_expert_dequantised: Number
    routed_expert_dequantised: Number
    attention_matmul_latency: Number
    attention_depth_latency: Number
    dense_mlp_matmul_latency: Number
    dense_mlp_depth_latency: Number
    shared_expert_matmul_latency: Number
    shared_expert_depth_latency: Number
    router_matmul_latency: Number
    router_depth_latency: Number
    head_matmul_latency: Number
    head_depth_latency: Number
    attention_activation_traffic: Number
    dense_mlp_activation_traffic: Number
    shared_expert_activation_traffic: Number
    router_activation_traffic: Number
    head_activation_traffic: Number
    gemm_tile_rows: Number
    expert_tile_growth: Number
    sliced_tile_growth: Number
    largest_expert_tile: Number
    largest_sliced_tile: Number
    expert_tile_rows: Number
    load_overlap: Number
    expert_load_overlap: Number
    clock_factor: Number
    clock_spread: Number
    expert_streaming_efficiency: Number
    sliced_streaming_efficiency: Number
    mla_efficiency: Number
    mla_compute_efficiency: Number
    latent_core_latency: Number
    prefill_core_latency: Number
    core_row_traffic: Number
    prefill_tile_rows: Number
    latent_core_fill: Number
    attention_efficiency: Number
    core_tile_rows: Number
    sparse_tile_rows: Number
    sparse_attention_efficiency: Number
    sparse_prefill_efficiency: Number
    index_efficiency: Number
    loading_overhead: Number
    communicator_reserve: Number
    workspace_reserve: Number
    parallel_reserve: Number
    graph_layer_memory: Number
    sampler_bytes: Number
    index_workspace_rows: Number
    expert_width_multiple: Number
    expert_slice_multiple: Number
    buffers_within_node: Number
    linear_chunk_tokens: Number
    sparse_core_fill: Number
    selection_traffic: Number
    score_traffic: Number
    whole_selection: Number
    dense_prefill_tokens: Number
    absorbed_prefix_tokens: Number
    l2_bandwidth: Number
    dequantisation_traffic: Number
    prefill_dequantisation_traffic: Number
    kernel_boundary: Number
    operators_per_layer: Number
    attention_operators: Number
    hyper_operators: Number
    indexer_operators: Number
    dense_mlp_operators: Number
    routed_expert_operators: Number
    shared_expert_operators: Number
    reference_operators: Number
    attention_timed_operators: Number
    indexer_timed_operators: Number
    dense_mlp_timed_operators: Number
    routed_expert_timed_operators: Number
    shared_expert_timed_operators: Number
    fused_norms: Number
    latent_output_divided: Number
    second_stream_tokens: Number
    host_time_per_operator: Number
    captured: Number
    largest_graph: Number
    prompt_graph_tokens: Number
    host_gap_per_step: Number
    host_gap_per_draft: Number
    single_token_path: Number
    placement_residual: Number
    balanced_placement: Number
    even_routing: Number
    routing_skew: Number
    kv_imbalance: Number
    overlap_efficiency: Number
    micro_batches: Number
    unequal_streams: Number
    single_batch_overlap: Number
    devices_per_node: Number
    full_mesh: Number
    pair_bandwidth: Number
    device_link_bandwidth: Number
    network_bandwidth: Number
    collective_alpha: Number
    collective_efficiency: Number
    second_round_alpha: Number
    pipelined_alpha: Number
    pipelined_efficiency: Number
    switch_adds: Number
    network_alpha: Number
    network_efficiency: Number
    gather_alpha: Number
    gather_step_alpha: Number
    gather_efficiency: Number
    gather_bulk_alpha: Number
    gather_bulk_efficiency: Number
    exchange_expert_time: Number
    exchange_token_time: Number
    exchange_alpha: Number
    exchange_network_alpha: Number
    exchange_efficiency: Number
    exchange_network_efficiency: Number
    exchange_normal: Number
    exchange_gathered: Number
    context_all_to_all: Number
    index_replicated: Number
    prompt_rows_gathered: Number
    prefill_context_parallel: Number
    context_output_cut: Number
    exchange_buffer_tokens: Number
    absorbed_copies: Number
    dispatch_element_bytes: Number
    draft_tokens: Number
    draft_block: Number
    drafter_parameters: Number
    drafter_whole_parameters: Number
    drafter_head_parameters: Number
    drafter_vocab_size: Number
    mtp_acceptance: Number
    accepted_length: Number
    acceptance_decay: Number
    request_overhead: Number
    front_end_rate: Number
    separate_pools: Number
    mixed_steps: Number
    think_time: Number
    open_arrivals: Number
    prefill_together: Number
    prefix_hit_share: Number
    host_prefix_share: Number
    layered_loads: Number
    host_cache_memory: Number
    offloaded_share: Number
    offloaded_weight_bytes: Number
    host_peak: Number
    host_gemm_efficiency: Number
    host_memory_bandwidth: Number
    host_stream_efficiency: Number
    host_link_bandwidth: Number
    host_group_tokens: Number
    host_overlap: Number
    fetched_share: Number
    stored_share: Number
    device_hit_share: Number
    host_hit_share: Number
    host_link_efficiency: Number
    host_sync: Number
    storage_bandwidth: Number
    # serving
    prefill_pool_rate: Number
    prefill_pool_devices: Number
    prefill_replicas: Number
    prefill_pool_port_time: Number

    def __init__(self, symbols: Mapping[str, Number] = MappingProxyType({}), /, **more: Number
                 ) -> None:
        # made: what ``calc.physics.arrays.once`` keeps of them
        vars(self).update(symbols, made={}, **more)


for _field in fields(Inputs):
    _field.metadata = MappingProxyType(_Meaning(_field.name))


SCALAR = (int, float)  # single numbers, those of NumPy in double precision included
Function = TypeVar("Function", bound=Callable[..., Any])


def double(value: Number) -> Number:
    """Number of an input in double precision [any]: narrow integers would wrap around silently.

    Args:
        value: number or array.

    Source: definition.
    """
    return (np.float64(value) if isinstance(value, SCALAR)
            else np.asarray(value, dtype=float)[()])


def once(function: Function) -> Function:
    """Cache a function of the inputs, so that all steps of an evaluation share its result.

    The result is kept per :class:`Inputs` object and per identity of the other arguments.

    >>> twice = once(lambda q, factor: factor * q.tensor_parallel)
    >>> q, factor = Inputs({"tensor_parallel": np.arange(4.0)}), np.float64(2)
    >>> twice(q, factor) is twice(q, factor)
    True

    Args:
        function: of the inputs and of objects that are the same for every step.
    """
    @wraps(function)
    def cached(q: Inputs, *others: Any) -> Any:
        if not isinstance(q, Inputs):
            return function(q, *others)
        key = (function, *map(id, others)) if others else function
        results = vars(q)["made"]
        entry = results.get(key)
        if entry is None:
            # an object that is kept leaves its identity to no other
            entry = results[key] = function(q, *others), others
        return entry[0]

    return cast("Function", cached)


def select(condition: Number, yes: Number, no: Number) -> Number:
    """Return ``yes`` where the condition holds, else ``no``; for a scalar condition the object.

    Args:
        condition: booleans.
        yes, no: numbers of one unit, which the result has too [any].

    Source: definition; ``numpy.where`` that evaluates neither branch of a scalar anew.
    """
    if getattr(condition, "ndim", 0) == 0:
        return yes if condition else no
    return np.where(condition, yes, no)


def either(condition: Number, yes: Callable[[], Any], no: Callable[[], Any]) -> Any:
    """Return ``yes()`` where the condition holds, else ``no()``; compute only what is needed.

    >>> float(either(np.float64(1) > 0, lambda: 2.0, lambda: 1 / 0))
    2.0

    Args:
        condition: booleans.
        yes, no: functions that return numbers, or tuples of as many numbers, of one unit
            each [any].

    Source: definition, as :func:`select`.
    """
    if getattr(condition, "ndim", 0) == 0:
        return yes() if condition else no()
    if condition.all():
        return yes()
    if not condition.any():
        return no()
    first, second = yes(), no()
    if isinstance(first, tuple):
        return tuple(np.where(condition, *pair) for pair in zip(first, second, strict=True))
    return np.where(condition, first, second)


def largest(number: Number) -> Number:
    """Largest value in any row [any], at least 0.

    Args:
        number: of any unit.

    Source: definition; ``numpy.max``, of a scalar without its cost.
    """
    return number if isinstance(number, SCALAR) else np.max(number, initial=0)


def anywhere(condition: Number) -> bool:
    """Whether a condition holds for at least one deployment.

    Args:
        condition: booleans.

    Source: definition; ``numpy.any``, of a scalar without its cost.
    """
    return bool(condition if getattr(condition, "ndim", 0) == 0 else condition.any())


def maximum(first: Number, second: Number) -> Number:
    """Larger of two numbers, row by row [any].

    >>> float(maximum(np.float64(1), 2)), maximum(np.array([1.0, 3.0]), 2)
    (2.0, array([2., 3.]))

    Args:
        first, second: numbers of one unit.

    Source: definition; ``numpy.maximum``, of scalars without its cost.
    """
    if isinstance(first, SCALAR) and isinstance(second, SCALAR):
        return np.float64(first if first >= second or first != first else second)
    return np.maximum(first, second)


def minimum(first: Number, second: Number) -> Number:
    """Smaller of two numbers, row by row [any].

    Args:
        first, second: numbers of one unit.

    Source: definition; ``numpy.minimum``, of scalars without its cost.
    """
    if isinstance(first, SCALAR) and isinstance(second, SCALAR):
        return np.float64(first if first <= second or first != first else second)
    return np.minimum(first, second)


def clip(number: Number, low: Number, high: Number) -> Number:
    """The number nearest to a given one that is not below ``low`` or above ``high`` [any].

    Args:
        number: of any unit.
        low, high: bounds of the same unit.

    Source: definition; ``numpy.clip``, of scalars without its cost.
    """
    if isinstance(number, SCALAR):
        return minimum(maximum(number, low), high)
    return np.clip(number, low, high)


def is_absent(term: Number) -> bool:
    """Whether a term is the scalar 0: its effect occurs in no deployment and can be skipped.

    Args:
        term: of any unit.

    Source: definition.
    """
    return isinstance(term, SCALAR) and term == 0


def plus(number: Number, term: Number) -> Number:
    """Sum of a number and of a term that may be absent, the number 0 [any].

    >>> rows = np.array([1.0, 2.0])
    >>> plus(rows, 0.0) is rows
    True

    Args:
        number, term: of one unit.

    Source: definition; what is absent costs no operation on rows.
    """
    return number if is_absent(term) else number + term


def minus(number: Number, term: Number) -> Number:
    """Difference of a number and of a term that may be absent, the number 0 [any].

    Args:
        number, term: of one unit.

    Source: definition, as :func:`plus`.
    """
    return number if is_absent(term) else number - term


def scaled(number: Number, factor: Number) -> Number:
    """Product of a number and of a factor that is often the number 1 [any].

    Args:
        number: of any unit.
        factor: of any unit.

    Source: definition; a factor of 1 costs no operation on rows.
    """
    return number if isinstance(factor, SCALAR) and factor == 1 else number * factor


def per(number: Number, parts: Number) -> Number:
    """One of several equal parts of a number [any], of which there is often but 1.

    Args:
        number: of any unit.
        parts: of any unit.

    Source: definition, as :func:`scaled`.
    """
    return number if isinstance(parts, SCALAR) and parts == 1 else number / parts


def whole_power(number: Number, exponent: Number) -> Number:
    """Power of a number [any], by squaring where the exponent is one whole number for all rows.

    >>> float(whole_power(np.float64(3), np.float64(5)))
    243.0

    Args:
        number: base.
        exponent: of the power [1].

    Source: definition; a few products cost less than a logarithm and an exponential.
    """
    if not (isinstance(exponent, SCALAR) and exponent >= 1 and exponent == int(exponent)):
        return number ** exponent
    power, left = None, int(exponent)
    while left:
        if left % 2:
            power = number if power is None else power * number
        number, left = number * number if left > 1 else number, left // 2
    return power


def power(number: Number, exponent: Number) -> Number:
    """Power of a positive number [any].

    >>> float(power(np.float64(9), 0.5).round(9))
    3.0

    Args:
        number: base, above 0.
        exponent: of the power [1].

    Source: definition; NumPy's exponential and logarithm take half as long as its power.
    """
    return np.exp(exponent * np.log(number))


def floor_div(number: Number, part: Number) -> Number:
    """Greatest integer at or below ``whole / part`` [1], exact for whole numbers below 2^53.

    Args:
        number: dividend, of any unit.
        part: divisor, of the same unit.

    Source: definition of the floor function.
    """
    return np.floor(number / part)


def ceil_div(number: Number, part: Number) -> Number:
    """Least integer at or above ``whole / part`` [1], exact for whole numbers below 2^53.

    Args:
        number: dividend, of any unit.
        part: divisor, of the same unit.

    Source: definition of the ceiling function.
    """
    return np.ceil(number / part)


# Bowling, Khasawneh, Kaewkuekool and Cho, A logistic approximation to the cumulative normal
# distribution, JIEM 2 (2009) 114-127: within 1.5e-4
LINEAR, CUBIC = 1.5976, 0.07056
FARTHEST = 8.0  # deviations; nothing lies beyond


def normal_tail(deviations: Number) -> Number:
    """Probability that a standard normal variable exceeds so many deviations [1], to 1.5e-4.

    >>> float(normal_tail(np.float64(2)).round(4))  # 0.02275
    0.0228

    Args:
        deviations: of either sign [1].

    Source: notebooks/memory.md, section How full the cache gets.
    """
    z = clip(deviations, -FARTHEST, FARTHEST)
    return 1 / (1 + np.exp(LINEAR * z + CUBIC * z * z * z))


def product_log(x: Number) -> Number:
    """Lambert's W, whose product with its exponential is x, to 2%; of x >= 0 [1].

    Args:
        x: argument [1].

    Source: Winitzki, Uniform approximations for transcendental functions, ICCSA 2003, LNCS 2667.
    """
    above = np.log1p(x)
    return above * (1 - np.log1p(above) / (2 + above))
