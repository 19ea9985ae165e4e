"""Failures of a deployment: what its metrics come to in each."""

from __future__ import annotations

import math

import numpy as np
import pytest

import catalogue
from calc.auditing.failures import FAILURES, HEALTHY, LONE, WAITED, simulate
from calc.serving.evaluate import evaluate

INPUTS = catalogue.load_scenario("h200-r1-vllm-tp8").inputs()


def test_failures_of_lengths_graphs_and_replicas():
    for name, key, other in (("prompts", "input_tokens", "output_tokens"),
                             ("answers", "output_tokens", "input_tokens")):
        assert FAILURES[name].worse(INPUTS, 3.0) == {
            key: 3 * INPUTS[key], "context_tokens": 3 * INPUTS[key] + INPUTS[other]}
    assert FAILURES["eager"].worse(INPUTS, 2.0) == {
        "captured": 0.0, "host_time_per_operator": 2 * INPUTS["host_time_per_operator"]}
    assert FAILURES["uneven"].worse(INPUTS, 1.0) == {"even_routing": 0.0}
    assert FAILURES["lost"].worse(INPUTS | {"data_parallel": 3}, 2.0) == {"data_parallel": 2}
    apart = INPUTS | {"data_parallel": 2, "expert_parallel": 8, "prefill_context_parallel": 0}
    assert FAILURES["lost"].possible(apart)
    assert not FAILURES["lost"].possible(apart | {"expert_parallel": 9})


def alone(of, name, by):
    """One failure of one deployment: what its metrics are, and who waits, step by step."""
    changed = {**of, **(FAILURES[name].worse(of, by) if name in FAILURES else
                        {"concurrency": of["data_parallel"]} if name == "lone" else {})}
    asked, replicas = changed["concurrency"], changed["data_parallel"]
    taken = min(asked, of["concurrency"] / of["data_parallel"] * replicas)
    fewer = by if name == "cache" else 1
    found = evaluate(changed | {"concurrency": taken}, "mla")
    room = max(1, math.floor(float(found["max_concurrency"]) / fewer) * replicas)
    if room < taken:
        taken = room
        found = evaluate(changed | {"concurrency": taken}, "mla")
    queue = (asked - taken) / float(found["steady_request_throughput"])
    occupied = 1.0 if room == taken else min(1.0, float(found["cache_occupied"]) * fewer)
    return {key: float(found[key]) + queue for key in WAITED} | {
        "waiting_requests": asked - taken, "tpot": float(found["tpot"]),
        "cache_occupied": occupied}


@pytest.mark.parametrize("concurrency", [600.0, 2400.0])
def test_all_failures_at_once_equal_each_alone(concurrency):
    """Two replicas that may be lost one without the other; a cache that holds all, or not."""
    of = INPUTS | {"data_parallel": 2.0, "concurrency": concurrency, "bench_requests": 0.0}
    found = simulate(of, "mla")
    assert found.points[:2] == (HEALTHY, LONE)
    assert ("lost", 2) in found.points
    assert "lost" not in {name for name, _ in simulate(INPUTS, "mla").points}
    for at, (name, by) in enumerate(found.points):
        if by in (1.0, 64.0) or name in ("cache", "users"):
            for key, value in alone(of, name, by).items():
                assert found.of(key)[at] == pytest.approx(value, rel=1e-9), (name, by, key)
    e2e = found.of("steady_e2e")
    assert all(value > e2e[0] for (name, _), value in zip(found.points, e2e, strict=True)
               if name in ("clock", "memory", "host", "prompts", "users", "eager"))
    assert found.of("cache_occupied").max() <= 1
    assert np.isfinite(e2e).all()
