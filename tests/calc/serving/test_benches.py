"""A benchmark that begins together: the closed form beside its simulation, and what bounds it."""

from types import SimpleNamespace

import numpy as np
import pytest

import catalogue
from calc.answer.simulated import system_of
from calc.closed_form.benches import FEWEST, LARGEST_RUN, WAVES
from calc.closed_form.evaluate import evaluate
from calc.serving import replay
from calc.serving.arrivals import ClosedLoop
from calc.serving.replay import _drawn, serve_all
from calc.serving.simulation import simulate
from calc.serving.step_times import Clock

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


def test_a_single_wave_is_a_burst_and_open_arrivals_have_none():
    found = evaluate(inputs(SERVERS[0], bench_requests=USERS), "mla")
    assert found["bench_ttft"] == found["wave_ttft"] == found["ttft"]
    arriving = evaluate(inputs(SERVERS[0], bench_requests=USERS, open_arrivals=1.0), "mla")
    assert arriving["bench_ttft"] == arriving["steady_ttft"]


def test_its_requests_are_stated_or_some_waves_or_one_long_one():
    asked = {"few": (1, ANSWER), "usual": (100, ANSWER), "long": (20, LARGEST_RUN / 20)}
    counts = {name: float(evaluate(inputs(SERVERS[0], concurrency=users, output_tokens=answer,
                                          context_tokens=60_000.0), "mla")["bench_count"])
              for name, (users, answer) in asked.items()}
    assert counts == {"few": FEWEST, "usual": WAVES * 100, "long": 20}
    assert evaluate(inputs(SERVERS[0], bench_requests=640), "mla")["bench_count"] == 640


@pytest.mark.parametrize(("lengths", "spread"), [
    ("equal", 0.0), ("even", 1 / 3**0.5), ("unknown", 1.0)])
def test_lengths_have_their_mean_and_the_spread_of_how_they_are_drawn(lengths, spread):
    found = _drawn(np.random.default_rng(0), 1000.0, 20_000, lengths)
    assert found.mean() == pytest.approx(1000, rel=0.02)
    assert found.std() / found.mean() == pytest.approx(spread, abs=0.02)
    assert found.min() >= 1
    assert lengths != "even" or found.max() <= 2000


def test_a_median_is_told_where_a_median_was_printed():
    """Answers that are held up once raise the mean more than the median, if many are short."""
    scenario = catalogue.load_scenario(SERVERS[0])
    row = {"requests": 200.0, "concurrency": 32.0, "input_tokens": 1000.0, "output_tokens": 100.0}
    clock = Clock(scenario.inputs(), scenario.model.attention)
    mean, middle = (serve_all(clock, row, 1e6, "unknown", medians=frozenset(names))
                    for names in ((), ("tpot",)))
    assert middle["tpot"] < mean["tpot"]
    assert {**middle, "tpot": 0.0} == {**mean, "tpot": 0.0}


def test_accepted_drafts_divide_the_time_of_a_token():
    """Of steps of answers alone, which are most of them here; prompts take what they take."""
    scenario = catalogue.load_scenario("h200-r1-sglang-mtp")
    row = {"requests": 32.0, "concurrency": 32.0, "input_tokens": 100.0, "output_tokens": 400.0}

    def tpot(accepted):
        clock = Clock(scenario.inputs() | {"accepted_length": accepted}, "mla", drafting=True)
        return serve_all(clock, row, 1e6, "equal")["tpot"]

    assert 0.5 <= tpot(2.0) / tpot(1.0) < 0.52


def test_ranks_that_share_a_cache_make_its_blocks_larger(monkeypatch):
    """A block of the allocator spans the same tokens of every rank of a group."""
    asked = []
    monkeypatch.setattr(replay, "_served", lambda requests, limits, *_: asked.append(limits) or
                        [SimpleNamespace(output_tokens=2, tpot=1.0, started=0.0, first_token=1.0,
                                         finished=2.0)])
    row = {"requests": 1, "concurrency": 1, "input_tokens": 1000, "output_tokens": 100}
    for ranks in (1, 2, 4):
        given = inputs("h200-r1-vllm-tp8", block_size=64.0, decode_context_parallel=float(ranks))
        serve_all(Clock(given, "mla"), row, 0, "equal")
        assert (asked[-1].block_size, asked[-1].kv_blocks) == (64 * ranks, -(-1100 // (64 * ranks)))
