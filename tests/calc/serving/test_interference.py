"""Interference: prompts per step, chunked prefill between decode steps, and the time they take."""

import numpy as np
import pytest
from _replica import linear_steps, replica, step_of

from calc.serving.burst import prompts
from calc.serving.interference import (
    deepest,
    largest_of,
    mean_chunks,
    pieces,
    rates_of,
)


class TestBatches:
    @pytest.mark.parametrize("variance", [0.04, 0.25])
    def test_largest_of_log_normal_loads_equals_sampling(self, variance):
        spread = np.log1p(variance) ** 0.5
        draw = np.random.default_rng(4).standard_normal((40_000, 16))
        loads = np.exp(spread * draw - spread**2 / 2)
        assert largest_of(1, variance) == pytest.approx(1, abs=3e-3)
        for number in (2, 4, 16):
            assert largest_of(number, variance) == pytest.approx(
                loads[:, :number].max(axis=1).mean(), rel=0.05)
        assert largest_of(16, 0.0) == 1

    @pytest.mark.parametrize("span", [0.2, 1.3, 1.5, 2.5, 3.2, 5.75])
    @pytest.mark.parametrize("variation", [0.05, 0.2, 0.5])
    def test_chunks_of_prompts_of_varying_length(self, span, variation):
        """Mean number of whole chunks of sampled lengths, normal or gamma-distributed."""
        draw = np.random.default_rng(6)
        lengths = span * (draw.normal(1, variation, 40_000) if variation < 0.4 else
                          draw.gamma(variation**-2, variation**2, 40_000))
        q = replica(prompt_variation=variation, input_tokens=1000 * span)
        assert mean_chunks(q, prompts(q, 1), span) == pytest.approx(
            np.ceil(np.maximum(lengths, 1e-9)).mean(), rel=0.03)


@pytest.mark.parametrize(("hit", "variation", "span"), [
    (0, 0, 50), (0, 0.3, 4), (0, 0.3, 50), (0.5, 0, 50), (0.5, 0.3, 4), (1, 0.3, 50)])
def test_longest_context_of_several_chunks(hit, variation, span):
    """Sampled: a random chunk of a prompt behind its prefix; long prompts have more chunks."""
    q = replica(prefix_hit_share=hit, prompt_variation=variation,
                input_tokens=1000 * span / max(1 - hit, 1e-3))
    cut, (decode, _, burst) = prompts(q, 8), linear_steps(q, 0.02, 0.05, 1e-4)
    s = pieces(q, cut, 8, 4.0, decode, step_of(0.15, core_time=1, index_time=0), burst)
    draw, width = np.random.default_rng(2), np.log1p(variation**2) ** 0.5
    lengths = np.exp(width * draw.standard_normal((20_000, 4)) + width**2 / 2)
    places = (np.floor(draw.random(lengths.shape) * span) + 0.5) / span
    contexts = lengths * (hit + (1 - hit) * places)
    longest = contexts.max(axis=1).mean() / contexts.mean() - 1
    assert 1 + deepest(q, cut, s, span, 4) == pytest.approx(1 + longest, rel=0.04)
    assert deepest(q, cut, s, span, 1) == pytest.approx(0, abs=0.01)


class TestRates:
    """Prompts per step of a rank, and the share of steps that have any."""

    def rates(self, q, u, requests=8, span=None, often=0.0, thought=0.0):
        cut = prompts(q, requests)
        s = pieces(q, cut, requests, u, *linear_steps(q, 0.02, 0.05, 1e-4))
        span = cut.new_tokens / s.room if span is None else span
        return rates_of(q, cut, s, u, span, often, thought)

    @pytest.mark.parametrize("users", [0.1, 1.0, 20.0, 400.0])
    @pytest.mark.parametrize(("span", "variation"), [(0.2, 0), (1.0, 0.5), (1.5, 0), (3.0, 1.0)])
    def test_queue_of_mixed_steps(self, users, span, variation):
        """All other requests decode, are in their chunks, or wait in a queue of load ρ."""
        q = replica(mixed_steps=1, prompt_variation=variation, input_tokens=1000 * span,
                    max_num_batched_tokens=1000 + users)
        found = self.rates(q, users, span=span)
        load, longer = found.queue_filled, 1 + variation**2
        decoding = load / span * (100 + found.mean_chunks)
        waiting = load**2 * longer / (2 * (1 - load))
        assert 0 < load < 1
        assert decoding + waiting == pytest.approx(users)
        assert found.unheld_prompts == pytest.approx(load / span)
        # wait at random [steps]: prompts ahead in the queue, less the rest of the current chunk
        ahead, left = load * longer * span / (2 * (1 - load)), load * min(1, span) / 2
        assert found.random_queue == pytest.approx(max(0, ahead - left))
        # after an answer: a step has just ended, but a long prompt may be between two chunks
        assert found.queue_steps == pytest.approx(max(0, ahead - left * min(1, max(0, 2 - span))))

    @pytest.mark.parametrize(("span", "between"), [
        (1.0, 0.07), (3.0, 3 * 0.07), (1e-9, 1 - np.exp(-0.07))])
    def test_prompt_chunks_between_decode_steps(self, span, between):
        """7/100 prompts arrive per decode step: a chunk for each, or one chunk for all."""
        found = self.rates(replica(), 7.0, span=span)
        assert found.chunks_between == pytest.approx(between)
        assert found.prompts_per_step == pytest.approx(0.07 / (1 + between))
        assert found.rank_busy == pytest.approx(between / (1 + between))
        assert found.group_busy == pytest.approx(found.rank_busy)

    @pytest.mark.parametrize("limit", [1, 30, 1e6])
    def test_two_ranks_hold_prompts_until_both_have_one(self, limit):
        """Prompts come as a Poisson number a step; the other rank's is there, or comes later."""
        q = replica(data_parallel=2, expert_parallel=2, n_routed_experts=8, concurrency=16,
                    prefill_delay_steps=limit)
        found = self.rates(q, 7.0, span=0.1)
        rate = found.released_prompts  # of both ranks in a decode step
        assert found.released_prompts < found.coming_prompts == pytest.approx(2 * 7 / 100)
        most = min(limit, 100 / 2 * 14)  # half of an answer per decoding request
        draw = np.random.default_rng(4)
        first = draw.poisson(rate, 400_000)
        later = np.minimum(draw.geometric(1 - np.exp(-rate), first.size), most)
        holds = np.where(first > 1, 0, later)[first > 0]
        assert found.hold_steps == pytest.approx(holds.mean(), rel=0.02)
        # to the next release: steps without a prompt, the one that brings it, the wait, the chunk
        steps = 1 / np.expm1(rate) + 1 + found.hold_steps
        assert 1 / found.releases == pytest.approx(steps + 1)
        assert found.group_busy == pytest.approx(1 / (steps + 1))
        assert found.prompts_per_step == pytest.approx(rate / 2 * steps / (steps + 1))
        # mean over the prompts of a release, of which only the first waits all of it
        assert found.hold_wait == pytest.approx(found.hold_steps / (1 + rate * found.hold_steps))

    def test_least_loaded_requests_are_held_until_each_rank_has_one(self):
        """Of three ranks any gets the next one: all have one after 3 (1 + 1/2 + 1/3) on average."""
        q = replica(data_parallel=3, expert_parallel=3, n_routed_experts=9, concurrency=24,
                    prefill_delay_steps=1e6, least_loaded=1)
        found = self.rates(q, 7.0, span=0.1)
        draw = np.random.default_rng(4)
        ranks, steps = np.zeros((20_000, 3)), np.zeros(20_000)
        ranks[np.arange(20_000), draw.integers(0, 3, 20_000)] = 1  # the first, at step 0
        for _ in range(1000):
            waiting = (ranks == 0).any(axis=1)
            steps += waiting
            ranks += draw.poisson(found.released_prompts / 3, ranks.shape)
        assert found.hold_steps == pytest.approx(steps.mean(), rel=0.05)
        in_turn = self.rates(replica(data_parallel=3, expert_parallel=3, n_routed_experts=9,
                                     concurrency=24, prefill_delay_steps=1e6), 7.0, span=0.1)
        assert found.hold_steps > 1.5 * in_turn.hold_steps
