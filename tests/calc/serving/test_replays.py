"""A benchmark's run as the scheduler is asked to replay it, and what is told of it: by hand."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from calc.serving import replay
from calc.serving.prefix_blocks import PrefixCache
from calc.serving.replay import MOST_SEQUENCES, _drawn, serve_all
from calc.serving.requests import Request

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


class TestBlocks:
    """A text of three blocks and one that goes on for two, block by block."""

    SPANS = (("a", 0, 3), ("b", 3, 5))

    def test_what_is_held_is_shared_and_found(self):
        cache = PrefixCache()
        assert cache.find(self.SPANS, 9) == (0, 0)
        assert cache.hold(self.SPANS, 0, 4) == 0
        assert (cache.in_use, cache.idle) == (4, 0)
        assert [cache.find(self.SPANS, most) for most in (0, 2, 3, 9)] == [
            (0, 0), (2, 2), (3, 3), (4, 4)]
        assert cache.find((("c", 0, 3), ("b", 3, 5)), 9) == (0, 0)
        assert cache.hold(self.SPANS, 0, 5) == 4
        assert (cache.in_use, cache.drop(self.SPANS, 5)) == (5, 4)
        assert (cache.in_use, cache.idle) == (4, 1)
        assert cache.find(self.SPANS, 9) == (5, 4)

    def test_the_end_is_forgotten_before_the_beginning(self):
        cache = PrefixCache()
        cache.hold(self.SPANS, 0, 5)
        assert cache.drop(self.SPANS, 5) == 0
        left = []
        for count in (1, 1, 2, 1):
            left.append(cache.find(self.SPANS, 9))
            cache.evict(count)
        assert left == [(5, 0), (4, 0), (3, 0), (1, 0)]
        assert (cache.find(self.SPANS, 9), cache.idle) == ((0, 0), 0)

    def test_who_takes_kept_blocks_again_has_them(self):
        cache = PrefixCache()
        cache.hold(self.SPANS, 0, 5)
        cache.drop(self.SPANS, 5)
        assert cache.hold(self.SPANS, 0, 2) == 0
        assert (cache.in_use, cache.idle, cache.find(self.SPANS, 9)) == (2, 3, (5, 2))
        assert cache.hold(self.SPANS, 2, 4) == 0
        assert (cache.in_use, cache.idle) == (4, 1)
        assert cache.drop(self.SPANS, 4) == 0

    def test_the_least_recently_used_text_goes_first(self):
        cache = PrefixCache()
        texts = [((name, 0, 2),) for name in "abc"]
        for text in texts:
            cache.hold(text, 0, 2)
        for text in (texts[1], texts[2], texts[0]):
            cache.drop(text, 2)
        cache.evict(3)
        assert [cache.find(text, 9) for text in texts] == [(2, 0), (0, 0), (1, 0)]
