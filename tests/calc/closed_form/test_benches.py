"""A benchmark that begins together: number of requests, and its mean time to first token."""

import numpy as np
import pytest
from _replica import linear_steps, replica, steady_of, wave_of

import catalogue
from calc.answer.simulated import system_of
from calc.closed_form.benches import bench_count, benched
from calc.closed_form.evaluate import evaluate
from calc.closed_form.waves import prompts
from calc.physics.arrays import Inputs
from calc.serving.arrivals import ClosedLoop
from calc.serving.simulation import simulate

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
def test_the_mean_is_that_of_a_simulation(name, spread):
    given = inputs(name, spread)
    system = system_of(catalogue.load_scenario(name), found=given)
    draw = np.random.default_rng(1)
    shapes = [tuple(np.rint(mean * (1 + spread * draw.uniform(-1, 1))).astype(int).tolist()
                    for mean in (PROMPT, ANSWER)) for _ in range(1000)]
    found = evaluate(given, "mla")
    loop = ClosedLoop(USERS, int(found["bench_count"]), shapes, system.overhead)
    run = simulate(loop, system.pool, front_end_rate=system.front_end_rate)
    mean = np.mean([outcome.ttft for outcome in run.outcomes]) + system.overhead
    assert found["bench_ttft"] == pytest.approx(mean, rel=0.15)


@pytest.mark.parametrize("name", SERVERS)
def test_it_lies_between_the_steady_state_and_the_burst(name):
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


@pytest.mark.parametrize(("changes", "wave", "again"), [
    # prefill first: eight prompts of 150 ms, and again after each round
    ({}, 4.5 * 0.15, 4.5 * 0.15),
    # mixed steps: later requests wait for a full chunk and take one
    ({"mixed_steps": 1, "max_num_batched_tokens": 1008}, 4.5 * 0.15, 2 * 0.15),
    # ranks in lockstep: seven of eight also wait for the first chunk
    ({"data_parallel": 8, "expert_parallel": 8, "n_routed_experts": 8}, (1 + 7 / 8) * 0.15,
     (1 + 7 / 8) * 0.15),
    # two chunks of 85 ms in three slots of two stages, after the whole of the first chunk
    ({"data_parallel": 8, "expert_parallel": 8, "n_routed_experts": 8, "pipeline_parallel": 2,
      "max_num_batched_tokens": 500}, (3 / 2 + 7 / 8) * 0.085, (3 / 2 + 7 / 8) * 0.085)])
def test_benchmark_by_hand(changes, wave, again):
    q = replica(**changes, bench_requests=20)
    steps = decode, _, burst = linear_steps(q, 0.02, 0.02, 1.3e-4)
    lasting = steady_of(q, *steps)
    ranks = q.data_parallel
    found = benched(q, prompts(q, 8 / ranks), 0.0, wave_of(q, *steps), lasting, decode, burst)
    assert (found.bench_count, found.wave_ttft) == (20, pytest.approx(wave))
    assert found.later_ttft == pytest.approx(again)
    assert found.bench_ttft == pytest.approx((8 * wave + 12 * again) / 20)
    # equal lengths: every round is a burst; its stay gives the rate
    assert found.bench_tpot == pytest.approx(wave_of(q, *steps).tpot)
    stay = found.bench_ttft + (q.output_tokens - 1) * found.bench_tpot
    assert found.bench_throughput == pytest.approx(8 * q.output_tokens / stay)
    # think times of four steps, or answers that end at different steps, separate requests
    for more, together in (({"think_time": 0.08}, 1 / 5), ({"answer_variation": 0.8}, 1 / (
            1 + 12**0.5 * 0.8 * 100))):
        q = replica(**changes | more)
        lasting = steady_of(q, *steps)
        found = benched(q, prompts(q, 8 / ranks), 0.0, wave_of(q, *steps), lasting, decode, burst)
        assert found.later_ttft == pytest.approx(
            lasting.steady_ttft + together * (again - lasting.steady_ttft))
        begun = 8 / found.bench_count
        assert found.bench_tpot == pytest.approx(lasting.steady_tpot + (
            begun + (1 - begun) * together) * (wave_of(q, *steps).tpot - lasting.steady_tpot))
