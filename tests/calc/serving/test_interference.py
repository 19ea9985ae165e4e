"""Interference: prompts per step, chunked prefill between decode steps, and the time they take."""

from dataclasses import replace

import numpy as np
import pytest
from _replica import changed, linear_steps, replica, step_of

from calc.physics.arrays import product_log
from calc.serving.burst import prompts
from calc.serving.interference import (
    busy_time,
    chunks_of,
    deepest,
    experts_of_one,
    largest_of,
    mean_chunks,
    packed_time,
    pieces,
    rates_of,
    soft_minimum,
)


class TestBatches:
    @pytest.mark.parametrize("power", [1, 2, 3])
    def test_few_prompts_never_meet(self, power):
        few, more = (8.0**-4 * share for share in (0.99, 1.01))
        assert soft_minimum(few ** (1 / power), power) ** power == pytest.approx(few, rel=1e-12)
        assert soft_minimum(more ** (1 / power), power) ** power == pytest.approx(
            1 - np.exp(-more), rel=1e-9)
        assert soft_minimum(np.log(4) ** (1 / power), power) == pytest.approx(0.75 ** (1 / power))
        assert soft_minimum(-1.0, 2) == soft_minimum(0.0, 1) == 0

    @pytest.mark.parametrize("variance", [0.04, 0.25])
    def test_the_largest_of_several_loads(self, variance):
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

    @pytest.mark.parametrize(("tokens", "span", "chunks"), [
        (999, 0.999, 1), (1000, 1.0, 1), (1001, 1.001, 2), (2500, 2.5, 3), (1000, 1.1, 1.1)])
    def test_chunks_of_equal_prompts_are_whole(self, tokens, span, chunks):
        """Rounded up to whole chunks, and never fewer than the prompt fills."""
        q = replica(input_tokens=tokens)
        assert mean_chunks(q, prompts(q, 1), span) == pytest.approx(chunks)


SHARED = {"data_parallel": 4, "expert_parallel": 4, "n_routed_experts": 256, "concurrency": 32}
EXPERTS = {"routed_expert_time": 0.04, "exchange_time": 0.03, "rank_imbalance": 0.5,
           "distinct_experts": 192}


class TestPieces:
    """Chunks of 150 ms for 1,000 tokens, decode steps of 20 ms for eight requests."""

    def piece(self, q, decode=None, prefill=None, burst=None, u=4.0, requests=8):
        times = linear_steps(q, 0.02, 0.05, 1e-4)
        return pieces(q, prompts(q, requests), requests, u, *(
            given or made for given, made in zip((decode, prefill, burst), times, strict=True)))

    def test_a_replica_by_itself(self):
        found = self.piece(replica())
        assert (found.mixed, found.ranks, found.units) == (False, 1, 1)
        assert found.alone == found.chunk == pytest.approx(0.15)
        assert (found.experts, found.sent, found.exchange, found.riding) == (0, 0, 0, 0)
        # from eight tokens in 20 ms to 1,000 in 150 ms
        assert found.token == pytest.approx((0.15 - 0.02) / (1000 - 8))
        assert found.room == 1000
        drafted = self.piece(replica(draft_tokens=2))  # three tokens per request
        assert drafted.token == pytest.approx((0.15 - 0.02) / (1000 - 24))

    def test_time_per_prompt_token_is_bounded(self):
        """At least 0, at most the chunk divided by its tokens."""
        q = replica(concurrency=2)
        made = self.piece(q, decode=step_of(0), burst=step_of(0.3), requests=2)
        assert made.token == pytest.approx(0.15 / 1000)
        slow = self.piece(q, decode=step_of(1), requests=2)  # longer than the chunk
        assert slow.token == 0
        # a decode step of 1,500 tokens: the difference counts as half of the chunk
        wide = self.piece(replica(concurrency=1500), prefill=step_of(0.3), requests=1500)
        assert wide.token == pytest.approx((0.15 - 0.02) / 500)

    def test_mixed_steps_include_decoding_requests(self):
        """Five of eight requests decode in the step; attention of all eight takes 4 ms."""
        decode = step_of(0.02, core_time=0.003, index_time=0.001)
        q = replica(mixed_steps=1)
        found = self.piece(q, decode=decode, u=5.0)
        assert found.riding == pytest.approx(0.004 * 5 / 8)
        assert found.room == 1000 - 5
        assert found.token == pytest.approx((0.15 - 0.016) / (1000 - 8))  # without their attention
        assert self.piece(q, decode=decode, u=900.0).room == 1000 / 8
        apart = replica(mixed_steps=1, separate_pools=1)
        assert self.piece(apart, decode=decode, u=5.0).room == 1000
        stages = replica(mixed_steps=1, pipeline_parallel=2)  # four requests in a stage's batch
        assert self.piece(stages, decode=decode, u=3.0).riding == pytest.approx(0.004 * 3 / 4)
        assert self.piece(replica(**SHARED | {"data_parallel": 8}, pipeline_parallel=3)).units == 6

    def test_launches_of_the_host_bound_a_chunk(self):
        found = self.piece(replica(), prefill=step_of(0.15, host=0.2, gap=0.01))
        assert (found.alone, found.host) == (0.15, 0.2)
        assert found.around == pytest.approx(0.01)
        assert found.chunk == pytest.approx(0.21)
        assert found.waiting == pytest.approx(0.05)
        eager = self.piece(replica(), prefill=step_of(0.15, host=0.1, gap=0.01))
        assert (eager.chunk, eager.waiting) == (pytest.approx(0.16), 0)

    @pytest.mark.parametrize(("riding", "read", "time"), [
        # share of experts that one rank's chunk misses: (1/4)^(1/4); a decode step misses 3/4
        (0.0, 0.01, (1 - 0.25**0.25) * 0.04), (0.5, 0.01, (1 - 0.25**0.25 * 0.75**0.5) * 0.04),
        (0.0, 0.1, (1 - 0.25**0.25) * 0.04 / 0.75),  # at most the time per expert of the step
        (0.0, 0.001, 0.01)])  # at least a quarter of the step's experts
    def test_experts_of_one_of_four_ranks(self, riding, read, time):
        decode = step_of(0.02, distinct_experts=64, routed_expert_time=read)
        prefill = step_of(0.15, **EXPERTS)
        q = replica(**SHARED)
        assert experts_of_one(q, 4, riding, decode, prefill) == pytest.approx(time)
        # three layers take 1 ms each, however few the rows
        fixed = replica(**SHARED, routed_expert_latency=0.001, num_hidden_layers=3)
        more = [changed(step, routed_expert_time=step.routed_expert_time + 0.003)
                for step in (decode, prefill)]
        assert experts_of_one(fixed, 4, riding, *more) == pytest.approx(0.003 + time)

    def test_one_rank_of_a_group_with_a_prompt(self):
        """The other three ranks decode: fewer experts, and an exchange with one sender."""
        q = replica(**SHARED)
        decode = step_of(0.02, distinct_experts=64, routed_expert_time=0.01)
        prefill = step_of(0.15, **EXPERTS)
        found = self.piece(q, decode=decode, prefill=prefill, burst=prefill)
        by_one = experts_of_one(q, 4, 0.5, decode, prefill)  # four of eight decode along
        assert (found.ranks, found.units) == (4, 1)
        assert found.experts == pytest.approx(0.04 - by_one)
        assert (found.exchange, found.sent) == (pytest.approx(0.03), pytest.approx(0.02))
        assert found.alone == pytest.approx(0.15 - found.experts - 0.01)
        # a full chunk: a quarter of the experts, an exchange without imbalance
        of_one = 0.15 - 0.04 * 3 / 4 - 0.03 * 1 / 3
        assert found.token == pytest.approx((of_one - 0.02) / (1000 - 8))
        rows = changed(prefill, routed_row_bytes=0.02)  # at 1 B/s
        with_rows = self.piece(q, decode=decode, prefill=rows, burst=prefill)
        assert with_rows.experts == pytest.approx(found.experts + 0.02 * 3 / 4)
        busy = changed(prefill, routed_expert_time=0.2, exchange_time=0.2)
        assert self.piece(q, decode=decode, prefill=busy).alone == pytest.approx(0.15 / 4)

    def test_step_time_by_tokens_of_the_fullest_rank_and_of_all(self):
        q = replica(**SHARED)
        prefill = step_of(0.15, **EXPERTS)
        s = self.piece(q, decode=step_of(0.02, distinct_experts=64, routed_expert_time=0.01),
                    prefill=prefill, burst=prefill)
        cut = prompts(q, 8)
        assert busy_time(s, cut, 1000, 1000, 0) == pytest.approx(s.alone)  # one rank
        assert busy_time(s, cut, 1000, 4000, 0) == pytest.approx(0.15)  # all four
        assert busy_time(s, cut, 1000, 9000, 0) == busy_time(s, cut, 1000, 4000, 0)
        assert busy_time(s, cut, 600, 600, 0) == pytest.approx(s.alone - 400 * s.token)
        # two of four: (2/4 - 1/4)/(1 - 1/4) of the additional experts; exchange below 20 ms
        assert busy_time(s, cut, 1000, 2000, 0) == pytest.approx(s.alone + s.experts / 3)
        assert busy_time(s, cut, 500, 1000, 0, 0.004) == pytest.approx(
            s.alone - 500 * s.token + (s.experts / 3 + 0.004) / 2)
        assert busy_time(s, cut, 1000, 1000, 0.01) == pytest.approx(s.alone + 0.01)
        pair = self.piece(replica(**SHARED | {"data_parallel": 2, "expert_parallel": 2}),
                          prefill=prefill)
        assert busy_time(pair, cut, 1000, 2000, 0) == pytest.approx(0.15)  # both of two ranks
        # no longer than full chunks of a burst on every rank
        short = replace(s, full=0.12)
        assert busy_time(short, cut, 1000, 4000, 0.01, 0.004) == pytest.approx(0.134)
        late = replace(s, host=0.5, around=0.02)
        assert busy_time(late, cut, 1000, 4000, 0.01) == pytest.approx(0.52)

    @pytest.mark.parametrize(("hit", "variation", "span"), [
        (0, 0, 50), (0, 0.3, 4), (0, 0.3, 50), (0.5, 0, 50), (0.5, 0.3, 4), (1, 0.3, 50)])
    def test_longest_context_of_several_chunks(self, hit, variation, span):
        """Sampled: a random chunk of a prompt behind its prefix; long prompts have more chunks."""
        q = replica(prefix_hit_share=hit, prompt_variation=variation,
                    input_tokens=1000 * span / max(1 - hit, 1e-3))
        s, cut = self.piece(q, prefill=step_of(0.15, core_time=1, index_time=0)), prompts(q, 8)
        draw, width = np.random.default_rng(2), np.log1p(variation**2) ** 0.5
        lengths = np.exp(width * draw.standard_normal((20_000, 4)) + width**2 / 2)
        places = (np.floor(draw.random(lengths.shape) * span) + 0.5) / span
        contexts = lengths * (hit + (1 - hit) * places)
        longest = contexts.max(axis=1).mean() / contexts.mean() - 1
        assert 1 + deepest(q, cut, s, span, 4) == pytest.approx(1 + longest, rel=0.04)
        assert deepest(q, cut, s, span, 1) == pytest.approx(0, abs=0.01)

    def test_longest_context_is_bounded_by_prompt_and_index(self):
        """At most twice the mean context; an indexer bounds attention, not its own work."""
        q = replica(input_tokens=50_000)
        s = self.piece(q, prefill=step_of(0.15, core_time=1, index_time=0))
        assert deepest(q, prompts(q, 8), s, 50, 1e4) == pytest.approx(2 - 1)
        half = replica(input_tokens=100_000, prefix_hit_share=0.5)  # 0.75 of a prompt on average
        assert deepest(half, prompts(half, 8), s, 50, 1e4) == pytest.approx(1 / 0.75 - 1)
        sparse = replica(input_tokens=50_000, index_topk=2000)
        cut = prompts(sparse, 8)
        both = self.piece(sparse, prefill=step_of(0.15, core_time=1, index_time=10))
        beyond = 2000 / cut.prefill_attended - 1  # mean over tokens, of which the first see fewer
        assert deepest(sparse, cut, both, 50, 1e4) == pytest.approx(beyond + 10 * (2 - 1))


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

    def test_random_prompts_arrive_during_prefill_too(self):
        """N prefill steps per decode step: one of 1 + N steps has no arrival."""
        q = replica(output_tokens=2)
        after = self.rates(q, 2.0, span=0.1, thought=1.0).chunks_between
        assert after == pytest.approx(np.exp(product_log(2.0)) - 1)
        assert np.exp(-2 / (1 + after)) == pytest.approx(1 / (1 + after), rel=0.04)
        half = self.rates(q, 2.0, span=0.1, thought=0.5).chunks_between
        assert half == pytest.approx((after + 1 - np.exp(-2)) / 2)
        few = self.rates(replica(), 0.01, span=0.1, thought=1.0).chunks_between
        assert few == pytest.approx(0.0001, rel=1e-3)

    def test_polling_every_tenth_step_batches_prompts(self):
        """Prompts of ten decode steps share a chunk."""
        found = self.rates(replica(scheduler_recv_interval=10), 7.0, span=1e-9)
        assert found.chunks_between == pytest.approx((1 - np.exp(-0.7)) / 10)
        # prompts wait 4.5 steps on average, 5.5 with a step scheduled ahead
        assert found.prompts_per_step == pytest.approx(
            found.unheld_prompts * (100 + 1) / (100 + 1 + 4.5))
        ahead = self.rates(replica(scheduler_recv_interval=10, steps_ahead=1), 7.0, span=1e-9)
        assert ahead.prompts_per_step == pytest.approx(
            ahead.unheld_prompts * (100 + 1) / (100 + 1 + 5.5))

    def test_share_of_steps_with_a_prompt_on_any_rank(self):
        found = self.rates(replica(**SHARED), 7.0, span=1.0)
        nowhere_else = np.exp(-3 * found.prompts_per_step)
        assert found.group_busy == pytest.approx(1 - (1 - found.rank_busy) * nowhere_else)
        # short prompts assigned in turn to four ranks meet on one less often than at random
        turns = self.rates(replica(**SHARED), 7.0, span=1e-9)
        assert turns.chunks_between == pytest.approx((1 - np.exp(-(0.07**2))) ** (1 / 2))
        # polling every ten steps: prompts of other ranks in at most one of ten
        seldom = self.rates(replica(**SHARED, scheduler_recv_interval=10), 7.0, span=1.0)
        elsewhere = (1 - np.exp(-3 * 10 * seldom.prompts_per_step)) / 10
        assert seldom.group_busy == pytest.approx(1 - (1 - seldom.rank_busy) * (1 - elsewhere))

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

    def test_requests_to_the_rank_with_the_fewest_are_held_until_each_has_one(self):
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

    def test_an_answer_of_twice_the_tokens_takes_as_many_steps_of_two(self):
        given = SHARED | {"prefill_delay_steps": 30, "scheduler_recv_interval": 11}
        drafted = self.rates(replica(**given, draft_tokens=1, mtp_acceptance=1,
                                     output_tokens=201), 7.0)
        assert drafted == self.rates(replica(**given), 7.0)

    def test_a_replica_by_itself_holds_prompts_back_for_so_many_tokens(self):
        """Three prompts of 1,000 tokens, of which few come; or 40 steps at most."""
        given = {"mixed_steps": 1, "prefill_delay_steps": 1e6, "awaited_tokens": 3000,
                 "output_tokens": 10_001}
        held = self.rates(replica(**given), 50.0)
        assert held.hold_steps == pytest.approx(2 / held.released_prompts, rel=0.02)
        most = self.rates(replica(**given | {"prefill_delay_steps": 40}), 50.0)
        assert most.hold_steps == pytest.approx(40, rel=0.02)
        assert self.rates(replica(**given | {"awaited_tokens": 1000}), 50.0).hold_steps < 1

    def test_prompts_that_are_held_begin_together_and_end_with_the_longest(self):
        """Of equal prompts a group is as busy as a rank, of others for longer."""
        q = replica(**SHARED, prefill_delay_steps=30, mixed_steps=1)
        equal = self.rates(q, 1.0, span=2.0)
        assert equal.group_busy == pytest.approx(2 * equal.releases)
        varied = self.rates(replica(**SHARED, prefill_delay_steps=30, mixed_steps=1,
                                    prompt_variation=0.5), 1.0, span=2.0)
        assert varied.group_busy * equal.releases > 1.2 * equal.group_busy * varied.releases

    @pytest.mark.parametrize(("variation", "most"), [(0, 50), (1, 100)])
    def test_prompts_are_held_only_while_others_decode(self, variation, most):
        """Others decode a fifth of the time; what remains of an answer is n (1 + δ²)/2."""
        q = replica(data_parallel=2, expert_parallel=2, n_routed_experts=8, concurrency=2,
                    prefill_delay_steps=1e6, answer_variation=variation)
        found = self.rates(q, 0.1, requests=1, span=1.0)
        both = 2 / found.released_prompts - 1 / 2 - 1 / np.expm1(found.released_prompts)
        assert found.hold_steps == pytest.approx(0.2 * both * (1 - np.exp(-most / both)))

    def test_no_prompt_is_held_without_a_delay_or_a_group(self):
        for q in (replica(**SHARED), replica(prefill_delay_steps=30)):
            found = self.rates(q, 7.0)
            assert (found.hold_steps, found.hold_wait) == (0, 0)
            assert found.prompts_per_step == found.unheld_prompts


class TestChunks:
    """Times of steps with prompts if a chunk takes 50 ms + 0.1 ms per token."""

    def chunks(self, q, u, requests=8, prefill=None, pace=0.02, burst=None):
        cut = prompts(q, requests)
        decode, made, full = linear_steps(q, 0.02, 0.05, 1e-4)
        burst = burst or full
        s = pieces(q, cut, requests, u, decode, prefill or made, burst)
        span = cut.new_tokens / s.room
        riding = s.riding + (u * s.token if s.mixed else 0)
        r = rates_of(q, cut, s, u, span, 0.0, 0.0)
        return s, r, chunks_of(q, cut, s, r, requests, span, decode, burst, riding, pace)

    def test_prompts_that_fill_a_chunk(self):
        _, _, found = self.chunks(replica(), 7.0)
        assert found.fullest_chunk == found.own_chunk_tokens == 1000
        assert found.busy_step == found.own_chunk == found.steady_prefill == pytest.approx(0.15)
        assert found.deeper_chunk == 0
        assert found.least_work == pytest.approx(0.15)

    def test_chunks_through_a_pipeline(self):
        """Four chunks of 75 ms through two stages: five slots of 37.5 ms."""
        q = replica(max_num_batched_tokens=250, pipeline_parallel=2)
        _, _, found = self.chunks(q, 3.0)
        assert found.own_chunk == pytest.approx(0.075)
        assert found.steady_prefill == pytest.approx(5 * 0.075 / 2)
        assert found.least_work == pytest.approx(4 * 0.075)

    def test_prompts_that_share_a_chunk(self):
        """Prompts of a tenth of the budget, several per step that has any."""
        q = replica(input_tokens=100)
        s, r, found = self.chunks(q, 70.0, requests=71)
        on_rank = r.prompts_per_step / r.rank_busy
        assert on_rank > 1
        assert found.fullest_chunk == pytest.approx(100 * on_rank)
        assert found.busy_step == pytest.approx(0.06 + s.token * 100 * (on_rank - 1))
        joined = 100 * (on_rank + r.prompts_per_step)  # plus arrivals during the step before
        assert found.own_chunk_tokens == pytest.approx(joined)
        assert found.own_chunk == pytest.approx(0.06 + s.token * (joined - 100))

    @pytest.mark.parametrize(("budget", "variation"), [(1000, 0), (500, 0), (3000, 0.5)])
    def test_prompts_on_several_ranks(self, budget, variation):
        """Experts for the tokens of all ranks, and the longest chunk and context of any."""
        q = replica(**SHARED, max_num_batched_tokens=budget, prompt_variation=variation)
        full = step_of(0.15 * max(1, budget / 1000))
        s, r, found = self.chunks(
            q, 7.0, prefill=step_of(0.15, core_time=0.05, **EXPERTS), burst=full)
        cut, span, meet = prompts(q, 8), 1000 / budget, 4 * r.rank_busy / r.group_busy
        # tokens of a rank that has any, of the fullest of those that meet, and of all ranks
        on_rank = max(1, r.prompts_per_step / r.rank_busy)
        whole = min(budget, 1000 * r.prompts_per_step / r.rank_busy)
        fullest = min(budget - (budget - whole) / meet,
                      whole * largest_of(meet, variation**2 / on_rank))
        in_step = 4 * r.prompts_per_step * 1000 / r.group_busy
        assert meet > 1
        assert found.fullest_chunk == pytest.approx(fullest)
        assert found.deeper_chunk == pytest.approx(deepest(q, cut, s, span, meet))
        assert found.busy_step == pytest.approx(
            busy_time(s, cut, fullest, max(fullest, in_step), 0, found.deeper_chunk))
        # a quarter of the chunks that all ranks prefill at once
        assert found.least_work == pytest.approx(max(
            packed_time(q, cut, 8, full), span * busy_time(s, cut, budget, 4 * budget, 0)) / 4)
        # with one's own prompt: a mean chunk, and on other ranks what arrives in a step
        mean = 1000 / r.mean_chunks
        joined = min(budget, mean + (on_rank - 1) * mean + r.prompts_per_step * 1000)
        assert found.own_chunk == pytest.approx(busy_time(
            s, cut, max(joined, fullest), mean + 4 * r.prompts_per_step * 1000, 0,
            deepest(q, cut, s, span, 1 + 3 * r.rank_busy)))

    def test_mixed_steps_are_no_shorter_than_decode_steps(self):
        """Mixed steps contain the decoding requests, prefill steps do not."""
        quick = step_of(0.01)
        assert self.chunks(replica(mixed_steps=1), 1.0, prefill=quick)[2].busy_step == 0.02
        assert self.chunks(replica(), 1.0, prefill=quick)[2].busy_step == pytest.approx(0.01)

    @pytest.mark.parametrize(("users", "prompt", "share"), [
        (8, 1000, 1), (1, 1000, 1), (5, 100, 4 / 5), (2, 400, 1 / 2), (2, 900, 0.9)])
    def test_packed_time_per_prompt(self, users, prompt, share):
        """A single packed chunk lacks the prompt of the first request, unless it is full anyway."""
        q = replica(concurrency=users, input_tokens=prompt)
        cut, packed = prompts(q, users), step_of(0.3)
        found = packed_time(q, cut, users, packed)
        assert found == pytest.approx(share * 0.3 * prompt / cut.burst_tokens)
