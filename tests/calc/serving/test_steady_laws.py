"""Laws that every steady state keeps in closed form: of shipped deployments and of random ones."""

import random

import numpy as np
import pytest

import catalogue
from calc.closed_form.evaluate import evaluate

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


SEEN = ("steady_ttft", "steady_tpot", "steady_e2e", "steady_throughput", "steady_users")
# An engine's steps: whole chunks of a prompt and of a burst, requests of the fullest rank and of a
# stage's batch (which choose the captured graph), the kernel of a prompt's attention.
STEPS = ("prompt_chunks", "burst_chunks", "requests_per_rank", "decode_batch", "prefill_absorbed")
COUNTED = ("input_tokens", "output_tokens", "concurrency")
LESS_ONE = {"output_tokens", "concurrency"}  # the first token and one's own request come anyway
CONTINUOUS = (
    "think_time", "prefix_hit_share", "prompt_variation", "answer_variation", "front_end_rate",
    "memory_bandwidth", "hbm_efficiency", "kernel_boundary", "network_bandwidth",
    "device_link_bandwidth", "host_gap_per_step", "host_time_per_operator", "request_overhead",
    "mla_efficiency", "attention_efficiency", "routed_expert_peak", "kv_imbalance", "clock_factor",
    "exchange_alpha", "collective_alpha", "overlap_efficiency", "mtp_acceptance")
MORE = 1.01  # times a continuous input
JUMP = 0.03
KNEE = 4 / 3  # of what a cycle takes at least: a queue at 3/4 moves by 4% for one of its load
ANSWER = 16  # tokens at least: the time per token of fewer is a mean over few steps
SQUARED = 2  # of an answer: a longer one spreads its stalls wider, and has fewer prompts beside it


def numbers(value):
    return np.asarray(value, dtype=float)


def moved(inputs, name):
    """Inputs with a little more of one, and how much that is itself (logarithm)."""
    old = numbers(inputs[name])
    new = old + 1 if name in COUNTED else old * MORE
    if name in ("prefix_hit_share", "mtp_acceptance", "overlap_efficiency"):
        new = np.minimum(new, 1)
    change = {name: new}
    if name in COUNTED[:2]:
        change["context_tokens"] = numbers(inputs["context_tokens"]) + 1
    of, to = (each - (name in LESS_ONE) for each in (old, new))
    itself = np.where(of > 0, np.log(np.where(of > 0, to, 1) / np.where(of > 0, of, 1)), np.inf)
    if name == "prefix_hit_share":  # what is computed is the rest
        left = np.maximum(1e-9, 1 - old) / np.maximum(1e-9, 1 - new)
        itself = np.maximum(itself, np.log(left))
    return inputs | change, np.where(old == new, 0, itself) * (
        SQUARED if name == "output_tokens" else 1)


def replicas_of(inputs, got):
    """Replicas of a pool that prefills, of which there are whole ones."""
    return np.ceil(numbers(got["pool_ratio"]) * numbers(inputs["data_parallel"])) * numbers(
        inputs["separate_pools"])


def is_saturated(inputs, got):
    """Whether a cycle is hardly more than the narrowest part needs for all, so that TTFT is what
    decoding leaves of it: a small difference of long times."""
    needed = np.maximum((1 + got["steady_others"]) * got["least_work"],
                        numbers(inputs["concurrency"]) / inputs["front_end_rate"])
    return numbers(got["steady_e2e"]) <= needed * KNEE


@pytest.mark.parametrize("name", [*COUNTED, *CONTINUOUS])
def test_a_little_more_moves_nothing_by_much(found, name):
    """One token, one request, one per cent of an input: no more than 3% beyond the change itself,
    between two steps of the engine."""
    for inputs, attention, got in found:
        if name not in inputs:
            continue
        more, itself = moved(inputs, name)
        then = evaluate(more, attention)
        shape = np.broadcast_shapes(*(np.shape(got[each]) for each in SEEN))
        per_rank = numbers(inputs["concurrency"]) / numbers(inputs["data_parallel"])
        # fewer requests than ranks: one more is on a rank that had none
        usual = (numbers(inputs["output_tokens"]) >= ANSWER) & (per_rank >= 1)
        # dealt in turn to replicas that hardly have one each: of one more it hangs which meet
        replicas = (numbers(inputs["data_parallel"]) * numbers(inputs["pipeline_parallel"])
                    / ranks(inputs))
        usual = usual & ((replicas == 1) | (numbers(inputs["concurrency"]) >= 2 * replicas))
        same = np.broadcast_to(replicas_of(inputs, got) == replicas_of(more, then), shape)
        for step in STEPS:
            same = same & (numbers(got[step]) == numbers(then[step]))
        for each in SEEN:
            held = same & usual
            if each == "steady_ttft":
                held = held & ~is_saturated(inputs, got) & ~is_saturated(more, then)
            before, after = (np.broadcast_to(numbers(of[each]), shape) for of in (got, then))
            held = held & (before > 0)
            change = np.abs(np.log(np.where(held, after, 1) / np.where(held, before, 1)))
            assert np.all(change <= np.where(held, itself, 0) + JUMP), each
