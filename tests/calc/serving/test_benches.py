"""A benchmark that begins together: in closed form, simulated, and replayed; what bounds it."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

import catalogue
from calc.answer.simulated import system_of
from calc.closed_form.benches import FEWEST, LARGEST_RUN, WAVES
from calc.closed_form.evaluate import evaluate
from calc.serving import replay
from calc.serving.arrivals import ClosedLoop
from calc.serving.replay import MOST_SEQUENCES, _drawn, serve_all
from calc.serving.requests import Request
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


INPUTS = {"data_parallel": 4.0, "expert_parallel": 2.0, "expert_tensor_parallel": 0.0,
          "tensor_parallel": 1.0, "block_size": 16.0, "decode_context_parallel": 2.0,
          "max_num_batched_tokens": 1000.0, "scheduler_recv_interval": 3.0, "steps_ahead": 1.0,
          "front_end_rate": 10.0, "request_overhead": 0.25, "host_gap_per_step": 0.5,
          "mtp_acceptance": 0.5, "acceptance_decay": 1.0, "draft_tokens": 1.0,
          "accepted_length": 0.0}
ROW = {"requests": 10.0, "concurrency": 30.0, "input_tokens": 100.0, "output_tokens": 7.0}
OUTCOMES = [
    SimpleNamespace(output_tokens=tokens, tpot=tpot, started=started, first_token=first,
                    finished=finished) for tokens, tpot, started, first, finished in (
        (7, 0.1, 1.0, 2.0, 4.0), (5, 0.5, 2.0, 7.0, 9.0), (1, math.nan, 0.5, 0.75, 0.75),
        (3, 0.3, 4.0, 6.0, 20.0))]


def clock(**changed):
    return SimpleNamespace(inputs=INPUTS | changed, state_blocks=2)


class TestAsked:
    @pytest.fixture(autouse=True)
    def served(self, monkeypatch):
        def served(requests, limits, clock, coordination):
            self.requests, self.limits, self.coordination = requests, limits, coordination
            return OUTCOMES

        monkeypatch.setattr(replay, "_served", served)

    def test_one_group_of_ranks_has_its_part_of_the_requests(self):
        """Four replicas in groups of two: of ten requests two each, one after another."""
        serve_all(clock(), ROW, 50.7, "equal", "prefill-first", coordination="delay")
        assert self.requests == [Request(at / 10, 100, 7) for at in range(4)]
        limits = self.limits
        assert (limits.max_num_batched_tokens, limits.max_num_seqs, limits.kv_blocks) == (
            1000, 7, 50)
        assert (limits.block_size, limits.state_blocks_per_request) == (32, 2)
        assert (limits.recv_interval, limits.steps_ahead) == (3, 1)
        assert (limits.policy, self.coordination) == ("prefill-first", "delay")
        serve_all(clock(expert_parallel=1.0), ROW, 50.7, "equal")
        assert (len(self.requests), self.limits.policy, self.coordination) == (
            2, "mixed", "eager")

    @pytest.mark.parametrize(("changed", "count", "places"), [
        ({"requests": 1.0}, 2, 7), ({"requests": 14.1}, 8, 7), ({"concurrency": 3.0}, 4, 1),
        ({"concurrency": 1e6}, 4, MOST_SEQUENCES), ({"concurrency": 4096.0}, 4, 1024)])
    def test_a_replica_has_at_least_one_request_and_one_place(self, changed, count, places):
        serve_all(clock(), ROW | changed, 50, "equal")
        assert (len(self.requests), self.limits.max_num_seqs) == (count, places)

    def test_the_cache_holds_the_longest_request_with_its_state(self):
        """107 tokens are four blocks of 32."""
        for blocks, held in ((0, 6), (5.9, 6), (6, 6), (7.9, 7)):
            serve_all(clock(), ROW, blocks, "equal")
            assert self.limits.kv_blocks == held

    def test_no_length_is_shorter_than_a_token(self):
        serve_all(clock(), ROW | {"input_tokens": 0.2, "output_tokens": 0.0}, 50, "equal")
        assert {(each.input_tokens, each.output_tokens) for each in self.requests} == {(1, 1)}
        drawn = _drawn(np.random.default_rng(1), 0.3, 500, "unknown")
        assert (drawn.min(), drawn.dtype.kind) == (1, "i")

    def test_the_same_row_is_replayed_alike(self):
        serve_all(clock(), ROW, 50, "unknown")
        first = self.requests
        serve_all(clock(), ROW, 50, "unknown")
        assert self.requests == first
        assert len({each.input_tokens for each in first}) > 1


class TestTold:
    def told(self, monkeypatch, outcomes=OUTCOMES, **given):
        monkeypatch.setattr(replay, "_served", lambda *_: outcomes)
        return serve_all(clock(), ROW, 50, "equal", **given)

    def test_means_from_when_all_are_sent(self, monkeypatch):
        """Sixteen tokens of one of two groups in 20 s."""
        assert self.told(monkeypatch) == pytest.approx({
            "tpot": 0.3, "ttft": 0.25 + 15.75 / 4, "e2e": 0.25 + 33.75 / 4,
            "output_throughput": 2 * 16 / 20})

    def test_where_a_client_holds_requests_back_they_begin_with_their_work(self, monkeypatch):
        found = self.told(monkeypatch, queued=False)
        assert (found["ttft"], found["e2e"]) == pytest.approx((
            0.25 + (1 + 5 + 0.25 + 2) / 4, 0.25 + (3 + 7 + 0.25 + 16) / 4))

    def test_medians_where_medians_are_asked(self, monkeypatch):
        means = self.told(monkeypatch)
        middle = {"tpot": 0.3, "ttft": 0.25 + 4.0, "e2e": 0.25 + 6.5}
        for name, value in middle.items():
            found = self.told(monkeypatch, medians=frozenset({name}))
            assert found == pytest.approx(means | {name: value})

    def test_single_tokens_have_no_pace(self, monkeypatch):
        assert math.isnan(self.told(monkeypatch, OUTCOMES[2:3])["tpot"])
        assert self.told(monkeypatch, OUTCOMES[:1])["tpot"] == pytest.approx(0.1)


class TestServed:
    """Half of the drafts of one token are accepted: a step of answers yields 1.5 tokens."""

    def test_ranks_that_share_experts_step_together(self, monkeypatch):
        seen = []
        monkeypatch.setattr(replay, "simulate", lambda requests, pool: seen.append(
            (requests, pool)) or SimpleNamespace(outcomes="together"))
        assert replay._served(["one"], "limits", clock(), "delay") == "together"
        ((requests, pool),) = seen
        paced = pool.step_time
        assert (requests, pool.limits, pool.coordination) == (["one"], "limits", "delay")
        assert (pool.replicas, pool.ranks) == (2, 2)
        assert (paced.gap, paced.tokens) == (0.5, 1.5)
        assert (pool.group_time, pool.coming) == (paced.together, paced.coming)

    def test_a_replica_of_its_own_is_scheduled_alone(self, monkeypatch):
        monkeypatch.setattr(replay, "schedule", lambda *given: SimpleNamespace(outcomes=given))
        requests, limits, paced = replay._served(
            ["one"], "limits", clock(expert_parallel=1.0), "delay")
        assert (requests, limits, paced.gap, paced.tokens) == (["one"], "limits", 0.5, 1.5)
