"""Laws that every steady state keeps in closed form: of shipped deployments and of random ones."""

import random

import numpy as np
import pytest

import catalogue
from calc.quantities.everything import evaluate

COUNT = 10_000
WITHIN = 0.01
BASES = ("h200-r1-vllm-tp8", "h200-r1-sglang-tp8", "h200-v32-vllm-dp8", "s2-910b1-awq",
         "h20-qwen3-30b")
ROUNDING = 1e-6  # of replicas
FULL = 1 << 22  # requests, of which every chunk is full


def shipped():
    """Shipped deployments that say how long their requests are: inputs and attention, by name."""
    found = {}
    for name in catalogue.deployment_names():
        scenario = catalogue.load_scenario(name)
        if scenario.file.workload.output_tokens is not None:
            found[name] = scenario.inputs(), scenario.model.attention
    return found


EACH = COUNT // len(BASES)


def drawn(base, count=EACH):
    """Random deployments of a base as columns: layouts, loads, lengths and scheduling."""
    scenario = catalogue.load_scenario(base)
    draw = np.random.default_rng([random.Random(base).getrandbits(32)])
    inputs = scenario.inputs()

    def powers(low, high):
        return np.floor(2 ** draw.uniform(low, high, count))

    data, tensor = 2 ** draw.integers(0, 6, count), 2 ** draw.integers(0, 4, count)
    shared = draw.integers(0, 2, count)
    prompts, answers = powers(0, 17), powers(0, 12)
    some = {
        "data_parallel": data, "tensor_parallel": tensor, "expert_tensor_parallel": 0,
        "expert_parallel": np.where(shared, tensor * data, tensor),
        "pipeline_parallel": np.where(shared, 1, 2 ** draw.integers(0, 3, count)),
        "decode_context_parallel": 1, "redundant_experts": 0, "shared_expert_ranks": 0,
        "input_tokens": prompts, "output_tokens": answers, "context_tokens": prompts + answers,
        "concurrency": powers(0, 13), "max_num_batched_tokens": 2 ** draw.integers(9, 16, count),
        "prefix_hit_share": draw.choice((0, 1), count) * draw.random(count),
        "prompt_variation": draw.choice((0, 0.5, 1.5), count),
        "answer_variation": draw.choice((0, 0.5, 1.5), count),
        "mixed_steps": draw.integers(0, 2, count), "open_arrivals": draw.choice((0, 0, 1), count),
        "think_time": draw.choice((0, 0, 1), count) * 10 ** draw.uniform(-3, 3, count),
        "separate_pools": draw.choice((0, 0, 0, 1), count),
        "prefill_delay_steps": draw.choice((0, 0, 30), count),
        "front_end_rate": 10 ** draw.uniform(0, 5, count)}
    some["think_time"] = np.where(some["open_arrivals"], 0, some["think_time"])
    return inputs | some, scenario.model.attention


def ranks(inputs):
    """Ranks that share experts."""
    slices = np.maximum(1, np.asarray(inputs["expert_tensor_parallel"]))
    return np.maximum(1, np.asarray(inputs["expert_parallel"]) * slices // np.asarray(
        inputs["tensor_parallel"]))


@pytest.fixture(scope="module", params=["shipped", *BASES])
def found(request):
    """Deployments, each with inputs and quantities of its steady state."""
    every = shipped().values() if request.param == "shipped" else [drawn(request.param)]
    return [(inputs, attention, evaluate(inputs, attention)) for inputs, attention in every]


def test_littles_law(found):
    """Users are rate times time from a question to the next; of arrivals at random, the others
    that one of them finds."""
    for inputs, _, got in found:
        loop = np.where(np.greater(inputs["open_arrivals"], 0), 1, 0)
        stay = got["steady_e2e"] + inputs["think_time"]
        assert np.broadcast_to(got["steady_users"], np.shape(stay + loop)) == pytest.approx(
            got["steady_request_throughput"] * stay + loop, rel=WITHIN)


def test_a_stay_is_its_parts(found):
    for inputs, _, got in found:
        after = np.asarray(inputs["output_tokens"]) - 1
        np.testing.assert_allclose(got["steady_e2e"],
                                   got["steady_ttft"] + after * got["steady_tpot"], rtol=1e-9)
        assert np.all(got["steady_ttft"] > 0)
        assert np.all(np.isfinite(got["steady_e2e"]))


def test_capacity_of_decode(found):
    """No more tokens than all requests in flight get where nothing but decode steps is done."""
    for inputs, _, got in found:
        tokens = got["steady_request_throughput"] * (np.asarray(inputs["output_tokens"]) - 1)
        apart = np.greater(inputs["separate_pools"], 0)
        pace = np.where(apart, got["steady_tpot"], got["steady_pace"])
        assert np.all(tokens * pace <= np.asarray(inputs["concurrency"]) * (1 + WITHIN))


def test_capacity_of_prefill(found):
    """No more prompt tokens than full chunks bring without a pause, where nothing is decoded."""
    for inputs, attention, got in found:
        full = evaluate(inputs | {"concurrency": FULL, "separate_pools": 0}, attention)
        new = np.maximum(1, np.asarray(inputs["input_tokens"]) * (
            1 - np.asarray(inputs["prefix_hit_share"])))
        data = np.asarray(inputs["data_parallel"])
        apart = np.greater(inputs["separate_pools"], 0)
        groups = ranks(inputs)
        replicas = np.where(apart, groups * np.maximum(1, np.ceil(
            got["pool_ratio"] * data / groups - ROUNDING)), data)
        most = full["prefill_throughput"] * replicas / data
        excess = got["steady_request_throughput"] * new / most
        assert np.all(excess <= 1 + WITHIN)


def test_front_end(found):
    for inputs, _, got in found:
        assert np.all(got["steady_request_throughput"]
                      <= np.asarray(inputs["front_end_rate"]) * (1 + WITHIN))
