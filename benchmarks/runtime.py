"""Deployments per second on one core: arrays against a loop over the same function."""

from __future__ import annotations

import time

import numpy as np

import calc
import catalogue

DEPLOYMENTS = 1_000_000
IN_THE_LOOP = 2_000
KEPT = ("weights_per_device", "activations_per_device", "free_for_kv_per_device",
        "max_concurrency", "headroom_per_device")


def random_deployments(count: int, seed: int = 1) -> dict:
    """Mixed deployments of DeepSeek-V3: cut, workload, precision and card all vary."""
    rng = np.random.default_rng(seed)
    base = catalogue.load_scenario("s0-scenario-1").inputs()
    tensor, data = 2 ** rng.integers(0, 5, count), 2 ** rng.integers(0, 4, count)
    context = rng.integers(128, 131_072, count)
    return base | {
        "tensor_parallel": tensor, "data_parallel": data,
        "pipeline_parallel": 2 ** rng.integers(0, 4, count),
        "expert_parallel": np.where(rng.random(count) < 0.5, 1, tensor * data),
        "concurrency": rng.integers(1, 4096, count),
        "context_tokens": context, "input_tokens": context - 1, "output_tokens": 1,
        "max_num_batched_tokens": 2 ** rng.integers(11, 16, count),
        "routed_expert_weight_bytes": rng.choice([2.0, 1.0, 0.5390625], count),
        "memory_capacity": rng.choice([32, 64, 96, 141], count) * 1e9,
    }


def measure() -> dict[str, tuple[float, str]]:
    """Rates of the vectorised and the scalar path, checked to be equal."""
    inputs = random_deployments(DEPLOYMENTS)
    arrays = [name for name, value in inputs.items() if np.ndim(value)]
    start = time.process_time()
    swept = calc.sweep(inputs, "mla", KEPT, decode=False)
    vectorised = DEPLOYMENTS / (time.process_time() - start)
    singles = [inputs | {name: inputs[name][i] for name in arrays} for i in range(IN_THE_LOOP)]
    start = time.process_time()
    answers = [calc.evaluate(single, "mla", decode=False) for single in singles]
    scalar = IN_THE_LOOP / (time.process_time() - start)
    for i, answer in enumerate(answers):
        for name in KEPT:
            if answer[name] != swept[name][i]:
                raise AssertionError(f"{name} of deployment {i}: {answer[name]} alone, "
                                     f"{swept[name][i]} in the array")
    return {
        "memory_vectorised": (vectorised, "deployments/s"),
        "memory_scalar": (scalar, "deployments/s"),
        "memory_vectorised_over_scalar": (vectorised / scalar, "1"),
    }
