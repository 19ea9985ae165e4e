"""All quantities at once, those of steps alone, benchmarks, occupancy of the cache, and doubts."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from _fleet import ATTENTIONS, fleet, one, run
from hypothesis import given, settings
from hypothesis import strategies as st

import catalogue
from calc.answer.simulated_load import system_of
from calc.physics.arrays import Inputs
from calc.serving.evaluate import (
    bench_count,
    check_ranks,
    doubts,
    evaluate,
    evaluate_asked,
)
from calc.serving.requests import ClosedLoop, shapes_of
from calc.serving.simulation import simulate
from catalogue.deployments.physics_inputs import DEGREES
from catalogue.entries.formulas import input_symbols

NAMES = dict.fromkeys(input_symbols(), 1.0)
RANKS = dict.fromkeys(DEGREES, 1) | {"num_attention_heads": 12}


@pytest.mark.parametrize(("inputs", "message"), [
    ({name: 1.0 for name in NAMES if name != "concurrency"}, "'concurrency' is missing"),
    (NAMES | {"zebra": 1.0}, "'zebra' is not an input"),
    ({name: 1.0 for name in NAMES if name != "vocab_size"} | {"zebra": 1.0},
     "'vocab_size' is missing"),
    (NAMES | {"tensor_parallel": 1.5}, "'tensor_parallel' is 1.5, expected a whole number"),
])
def test_incomplete_inputs_and_impossible_layouts_are_refused(inputs, message):
    with pytest.raises(ValueError, match=message):
        evaluate_asked(inputs, "mla")


@pytest.mark.parametrize("name", DEGREES)
@pytest.mark.parametrize(("value", "shown"), [
    (0, "0"), (0.5, "0.5"), (-1, "-1"), (np.array([1, 2, 0, -3]), "0"),
    (np.array([1.0, 3.5, 0.0]), "3.5"), (np.inf, "inf")])
@pytest.mark.filterwarnings("ignore:invalid value")
def test_a_degree_is_a_whole_number_of_at_least_one(name, value, shown):
    check_ranks(RANKS | {name: np.array([1.0, 2.0, 3.0, 12.0])})
    with pytest.raises(ValueError, match=f"^'{name}' is {shown}, expected a whole number of at "
                                         "least 1$"):
        check_ranks(RANKS | {name: value})


@pytest.mark.parametrize(("heads", "tensor", "shown"), [
    (12, np.array([1, 4, 8, 5]), ("8", "12")), (np.array([12, 9, 7]), 3, ("3", "7")),
    (np.array([[12], [15]]), np.array([3, 4]), ("4", "15"))])
def test_tensor_ranks_divide_the_heads(heads, tensor, shown):
    message = "'tensor_parallel' is {}, expected a divisor of the {} attention heads"
    with pytest.raises(ValueError, match=message.format(*shown)):
        check_ranks(RANKS | {"num_attention_heads": heads, "tensor_parallel": tensor})


@pytest.mark.parametrize("attention", ATTENTIONS)
@settings(max_examples=4)
@given(st.integers(0, 2**32 - 1))
def test_arrays_of_deployments_equal_single_ones(attention, seed):
    inputs = fleet(attention, seed)
    every = run(inputs, attention)
    for row in (seed % 100, (seed + 37) % 100):
        alone = evaluate(one(inputs, row), attention)
        for name, value in alone.items():
            if np.ndim(every[name]) == 1 and not isinstance(value, str):
                np.testing.assert_allclose(value, every[name][row], rtol=1e-9, err_msg=name)


SERVERS = ("h200-r1-sglang-tp8", "h200-r1-vllm-tp8")  # prompts first, and mixed steps
PROMPT, ANSWER, USERS = 1000, 400, 16


def inputs(name, spread=0.0, **more):
    """Of a server whose lengths are uniform about their means, at most so far from them."""
    varies = spread / 3**0.5
    return catalogue.load_scenario(name).inputs() | {
        "input_tokens": float(PROMPT), "output_tokens": float(ANSWER), "context_tokens": 2800.0,
        "concurrency": float(USERS), "bench_requests": 0.0,
        "prompt_variation": varies, "answer_variation": varies} | more


@pytest.mark.parametrize("name", SERVERS)
@pytest.mark.parametrize("spread", [0.0, 0.2, 0.8])
def test_benchmark_ttft_equals_a_simulation(name, spread):
    given = inputs(name, spread)
    system = system_of(catalogue.load_scenario(name), given=given)
    draw = np.random.default_rng(1)
    shapes = [tuple(np.rint(mean * (1 + spread * draw.uniform(-1, 1))).astype(int).tolist()
                    for mean in (PROMPT, ANSWER)) for _ in range(1000)]
    found = evaluate(given, "mla")
    loop = ClosedLoop(USERS, int(found["bench_count"]), shapes, system.overhead)
    run = simulate(loop, system.pool, front_end_rate=system.front_end_rate)
    mean = np.mean([outcome.ttft for outcome in run.outcomes]) + system.overhead
    assert found["bench_ttft"] == pytest.approx(mean, rel=0.15)


@pytest.mark.parametrize("name", SERVERS)
def test_benchmark_lies_between_steady_state_and_burst(name):
    for count in (USERS, 5 * USERS, 1000 * USERS):
        found = evaluate(inputs(name, 0.2, bench_requests=count), "mla")
        assert found["steady_ttft"] < found["bench_ttft"] <= found["wave_ttft"]
    assert found["bench_ttft"] == pytest.approx(found["later_ttft"], rel=0.05)
    single = evaluate(inputs(name, bench_requests=USERS), "mla")
    assert single["bench_ttft"] == single["wave_ttft"] == single["ttft"]
    arriving = evaluate(inputs(name, bench_requests=USERS, open_arrivals=1.0), "mla")
    assert arriving["bench_ttft"] == arriving["steady_ttft"]


@pytest.mark.parametrize(("users", "output", "stated", "count"), [
    (2, 10, 0, 16),  # at least sixteen
    (4, 10, 0, 16), (5, 10, 0, 20),  # four waves
    (100, 2500, 0, 400), (100, 2501, 0, 100),  # of a million tokens at most
    (5, 10, 7, 7), (5, 10, 5, 5), (5, 10, 3, 5)])  # never fewer than are in flight
def test_requests_of_a_benchmark(users, output, stated, count):
    q = Inputs({"concurrency": users, "output_tokens": output, "bench_requests": stated})
    assert bench_count(q, q.concurrency) == count


class TestOccupancy:
    def test_cache_overflow_equals_sampling(self):
        """Gamma-distributed contexts of a number that is Poisson's."""
        inputs = catalogue.load_scenario("s2-910b1-awq").inputs() | {
            "open_arrivals": 1, "prompt_variation": 1, "answer_variation": 1}
        found = evaluate(inputs | {"concurrency": np.arange(8, 240, 8)}, "mla")
        draw, room = np.random.default_rng(3), found["kv_blocks"] * inputs["block_size"]
        often = found["cache_overflow"]
        for at in np.flatnonzero((often > 0.01) & (often < 0.9)):
            mean = float(found["held_tokens"])
            shape = (mean / float(found["context_deviation"])) ** 2
            numbers = draw.poisson(found["holding_requests"][at], 20_000)
            held = draw.gamma(shape * np.maximum(numbers, 1e-9), mean / shape)
            assert often[at] == pytest.approx((held > room[at]).mean(), abs=0.03)

    @pytest.mark.parametrize(("policy", "prompt", "answer", "users", "drawn"), [
        ("mixed", 300, 100, 12, "exponential"), ("mixed", 4000, 200, 8, "constant"),
        ("prefill-first", 1500, 80, 20, "exponential")])
    def test_cache_occupancy_equals_a_simulation(self, policy, prompt, answer, users, drawn):
        scenario = catalogue.load_scenario("h200-r1-sglang-tp8", overrides=[
            f"workload.input_tokens={prompt} token", f"workload.output_tokens={answer} token",
            f"workload.context_tokens={prompt + answer} token",
            f"workload.concurrency={users}", f"workload.requests={users}"])
        given = scenario.inputs() | {"mixed_steps": float(policy == "mixed")}
        system = system_of(scenario, policy=policy)
        lengths = (sorted({shape[i] for shape in shapes_of(
            given["input_tokens"], given["output_tokens"], drawn)})[::10] for i in (0, 1))
        shapes = list(product(*lengths))  # every prompt with every answer: independent
        run = simulate(ClosedLoop(users, 1500, shapes, system.overhead, ramp=10.0),
                       system.pool).outcomes
        prompts, answers = (np.array([getattr(each, name) for each in run], dtype=float)
                            for name in ("input_tokens", "output_tokens"))
        found = evaluate(given | {
            "input_tokens": prompts.mean(), "output_tokens": answers.mean(),
            "prompt_variation": prompts.std() / prompts.mean(),
            "answer_variation": answers.std() / answers.mean()}, scenario.model.attention)
        assert found["holding_requests"] * found["decode_context_tokens"] == pytest.approx(
            held_on_average(run), rel=0.05)


def held_on_average(outcomes):
    """Tokens in the cache over the middle of a run: a prompt, then one more with each token."""
    ends = sorted(each.finished for each in outcomes)
    begin, end = (ends[int(share * len(ends))] for share in (0.05, 0.95))
    times = np.linspace(begin, end, 3000)
    held = np.zeros_like(times)
    for each in outcomes:
        here = (each.started <= times) & (times < each.finished)
        come = (times[here] - each.first_token) / max(each.finished - each.first_token, 1e-12)
        held[here] += each.input_tokens + np.clip(come, 0, 1) * each.output_tokens
    return held.mean()


DOUBTFUL = {"tensor_parallel": 1, "expert_parallel": 8, "expert_tensor_parallel": 0,
            "data_parallel": 8, "separate_pools": 0, "prompt_variation": 0, "mixed_steps": 1,
            "prefill_delay_steps": 0, "least_loaded": 0, "front_end_rate": 100,
            "output_tokens": 101, "answer_variation": 0.5}
STEADY = {"steady_stall": 0.0, "tokens_per_step": 1.0, "steady_tpot": 0.25, "prompt_span": 0.25,
          "random_share": 0.0, "meeting_share": 0.0, "mean_chunks": 2.0, "busy_step": 0.0,
          "group_busy": 0.0, "rank_busy": 0.0,
          "steady_request_throughput": 2.0, "steady_e2e": 5.0}
OFTEN, TWO_GROUPS = {"random_share": 0.51, "meeting_share": 0.51}, {"data_parallel": 16}
CUT, ALONE, HOLDING = {"prompt_span": 1.01}, {"expert_parallel": 1}, {"prefill_delay_steps": 1}
ONE = ALONE | {"data_parallel": 1}
EQUAL = {"answer_variation": 0, "stalled": 0.11}


def met(given):
    """Names of the doubts that are met; ``stalled`` is a share of a token's time."""
    given = dict(given)
    found = STEADY | {"steady_stall": given.pop("stalled", 0) * STEADY["steady_tpot"]}
    inputs = DOUBTFUL | {name: value for name, value in given.items() if name in DOUBTFUL}
    found |= {name: value for name, value in given.items() if name in STEADY}
    return {name for name, doubted in doubts(Inputs(inputs), found).items() if doubted}


@pytest.mark.parametrize(("given", "name", "limit", "beyond", "names"), [
    # prompts of several chunks that come at random, or so many that they take nearly all the time
    (OFTEN | CUT, "stalled", 0.4, 0.41, {"shared"}),
    (OFTEN | ALONE, "stalled", 0.5, 0.51, {"in_turn"}),  # eight replicas, each by itself
    # nearly all steps have a prompt, and nearly half of those of a rank
    ({"rank_busy": 0.45}, "group_busy", 0.875, 0.876, {"shared"}),
    # no more requests in flight than ranks, 8 of them: 1.6 a second for five seconds
    (OFTEN | {"stalled": 0.41}, "steady_request_throughput", 1.7, 1.6, {"few"}),
    # one or two at a time, of long prompts
    (OFTEN | {"steady_request_throughput": 0.3}, "prompt_span", 5.0, 5.1, {"few"}),
    # answers that all have 100 steps end in step; not if one more or less is usual
    (EQUAL, "stalled", 0.1, 0.11, {"equal"}), (EQUAL, "answer_variation", 0.01, 0.009, {"equal"}),
    # prompts that are held back: of more than a chunk, or most of the time
    (HOLDING | {"stalled": 0.41}, "prompt_span", 1.0, 1.01, {"held"}),
    (HOLDING, "stalled", 0.57, 0.58, {"held"}), (HOLDING, "least_loaded", 0, 1, {"held"}),
    # one replica, where prompts that come at random take most of the time
    (OFTEN | ONE, "stalled", 0.6, 0.61, {"saturated"}),
    # two chunks of a prompt take as long as an answer of 100 tokens after the first
    ({"busy_step": 12.6}, "stalled", 0.1, 0.11, {"shared"}),
    # requests are dealt to two groups of ranks in turn
    (TWO_GROUPS, "stalled", 0.5, 0.51, {"in_turn"}),
    # half of what the front ends let in, of one server or of two
    ({}, "steady_request_throughput", 50.0, 50.1, {"front_end"}),
    (TWO_GROUPS, "steady_request_throughput", 100.0, 100.1, {"front_end"})])
def test_doubts_apply_beyond_their_limits(given, name, limit, beyond, names):
    assert met(given | {name: limit}) == set()
    assert met(given | {name: beyond}) == names
