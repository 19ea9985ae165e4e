"""Everything at once: from input symbols to every quantity, vectorised."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from types import SimpleNamespace
from typing import Any

import numpy as np

from calc.arrays import Number, ceil_div
from calc.decode import decode_floor
from calc.memory import activations, budget, cache, candidate_stages, weights
from calc.shapes import count_parameters

INPUTS = frozenset({
    "num_hidden_layers", "first_k_dense_replace", "hidden_size", "vocab_size",
    "num_attention_heads", "num_key_value_heads", "head_dim", "q_lora_rank", "kv_lora_rank",
    "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim", "intermediate_size",
    "moe_intermediate_size", "n_routed_experts", "n_shared_experts", "num_experts_per_tok",
    "router_bias", "expert_bias", "separate_head", "attention_bias", "attention_output_bias",
    "qk_norm", "attention_sinks", "index_n_heads", "index_head_dim", "index_topk",
    "sliding_window", "full_attention_layers",
    "tensor_parallel", "pipeline_parallel", "data_parallel", "expert_parallel",
    *(f"{name}_weight_bytes" for name in (
        "embedding", "attention", "norm", "router", "dense_mlp", "shared_expert",
        "routed_expert", "head")),
    *(f"{name}_element_bytes" for name in (
        "kv_cache", "kv_rope", "kv_index", "activation", "logit")),
    "concurrency", "context_tokens", "input_tokens", "output_tokens", "max_num_batched_tokens",
    "block_size", "memory_utilization",
    "memory_capacity", "system_reserve", "memory_bandwidth", "hbm_efficiency", "runtime_reserve",
})
CHUNK = 1 << 14  # deployments per pass of a sweep: its temporaries stay in the cache


def evaluate(inputs: Mapping[str, Number], attention: str, *,
             decode: bool = True) -> dict[str, Number]:
    """Every quantity of a deployment, by its name in ``params/symbols.yml``.

    Args:
        inputs: all input symbols in SI units; any of them may be an array, arrays broadcast.
        attention: ``mla`` or ``gqa``.
        decode: whether to compute the decode floor as well.

    Returns quantities in SI units. ``stage_*`` arrays have the stages of
    ``calc.memory.candidate_stages`` as their first axis. The inputs must be a deployment that can
    be laid out (``params.load_scenario`` checks one; a search checks its own).

    Raises ValueError for an unknown attention, a missing input, or one that is not an input.
    """
    if wrong := sorted(inputs.keys() ^ INPUTS):
        problem = "missing" if wrong[0] in INPUTS else "not an input"
        raise ValueError(f"'{wrong[0]}' is {problem}")
    # floats throughout: integers of a narrow array type would wrap around without a word
    q = SimpleNamespace(**{name: np.asarray(value, dtype=float)[()]
                           for name, value in inputs.items()})
    ndim = max(np.ndim(value) for value in inputs.values())
    counted = count_parameters(attention, q)
    stages = candidate_stages(q.num_hidden_layers, q.pipeline_parallel, ndim)
    held = weights(attention, q, counted, stages)
    cached = cache(attention, q)
    requests = ceil_div(q.concurrency, q.data_parallel)
    active = activations(attention, q, counted.moe_layers, requests)
    parts: list[Any] = [counted, held, cached, active,
                        budget(q, held, cached, active.activations_per_device, requests)]
    if decode:
        parts.append(decode_floor(q, counted, held, cached, requests))
    return {field.name: getattr(part, field.name) for part in parts for field in fields(part)}


def sweep(inputs: Mapping[str, Number], attention: str, names: Iterable[str], *,
          decode: bool = True) -> dict[str, np.ndarray]:
    """Chosen quantities of many deployments, in passes whose temporaries stay small.

    Args:
        inputs: input symbols; scalars, or arrays of one length n.
        attention: ``mla`` or ``gqa``.
        names: quantities to keep, without ``stage_*``.
        decode: as for :func:`evaluate`.

    Returns one array of shape (n,) per name, equal to what :func:`evaluate` gives.

    Raises ValueError for arrays that are not of one length, no array at all, a quantity that does
    not exist or depends on the stage, and as :func:`evaluate` does.
    """
    arrays = {name: np.asarray(value) for name, value in inputs.items() if np.ndim(value)}
    shapes = {array.shape for array in arrays.values()}
    if len(shapes) != 1 or len(next(iter(shapes))) != 1:
        raise ValueError("a sweep takes arrays of one length")
    (count,), = shapes
    names = list(names)
    if staged := [name for name in names if name.startswith("stage_")]:
        raise ValueError(f"'{staged[0]}' depends on the stage, evaluate() gives it")
    result: dict[str, np.ndarray] = {name: np.empty(count) for name in names}
    fixed: dict[str, Any] = {name: value for name, value in inputs.items() if name not in arrays}
    for start in range(0, count, CHUNK):
        part = slice(start, start + CHUNK)
        found = evaluate(fixed | {name: array[part] for name, array in arrays.items()},
                         attention, decode=decode)
        for name in names:
            if name not in found:
                raise ValueError(f"there is no quantity '{name}'")
            result[name][part] = found[name]
    return result
