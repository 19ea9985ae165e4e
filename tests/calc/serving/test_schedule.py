"""The scheduler: known compositions, laws of any schedule, and the closed form of a burst."""

import math
from dataclasses import replace

import numpy as np
import pytest
from _engines import POLICIES, affine, engines_of_any_kind, limits, requests_of_any_kind, tokens
from hypothesis import given
from hypothesis import strategies as st

from calc.serving.batching import Engine
from calc.serving.requests import Job
from calc.serving.scheduling import Limits, Request, Step, schedule
from reference.bursts import burst_ttft, floor_sum


def compositions(requests, engine):
    return [(record.step.prefill, record.step.decode)
            for record in schedule(requests, engine, affine(0.0, 1.0)).steps]


class TestComposition:
    """Small cases, worked out by hand."""

    def test_a_prompt_is_cut_into_chunks_and_its_last_chunk_gives_the_first_token(self):
        served = schedule([Request(0.0, 250, 2)], limits(), affine(1.0, 0.0))
        assert [record.step for record in served.steps] == [
            Step(((100, 0),), ()), Step(((100, 100),), ()), Step(((50, 200),), ()),
            Step((), (251,))]
        assert (served.outcomes[0].ttft, served.outcomes[0].tpot) == (3.0, 1.0)

    @pytest.mark.parametrize("policy", POLICIES)
    def test_short_prompts_share_a_chunk(self, policy):
        assert compositions([Request(0.0, 60, 1)] * 3, limits(policy=policy)) == [
            (((60, 0), (40, 0)), ()), (((20, 40), (60, 0)), ())]

    def test_mixed_decodes_beside_chunks_within_one_budget(self):
        assert compositions([Request(0.0, 100, 3), Request(0.0, 150, 1)], limits()) == [
            (((100, 0),), ()), (((99, 0),), (101,)), (((51, 99),), (102,))]

    def test_prefill_first_pauses_decoding(self):
        requests = [Request(0.0, 100, 3), Request(0.0, 150, 1)]
        assert compositions(requests, limits(policy="prefill-first")) == [
            (((100, 0),), ()), (((100, 0),), ()), (((50, 100),), ()), ((), (101,)), ((), (102,))]

    def test_cached_tokens_are_not_computed_but_attended_to(self):
        assert compositions([Request(0.0, 250, 1, 200)], limits()) == [(((50, 200),), ())]

    def test_the_number_in_work_is_bounded(self):
        served = schedule([Request(0.0, 10, 4)] * 5, limits(seqs=2), affine(1.0, 0.0))
        assert max(len(s.step.prefill) + len(s.step.decode) for s in served.steps) == 2

    def test_an_arrival_joins_the_step_that_begins_at_that_instant(self):
        requests = [Request(0.0, 10, 3), Request(1.0, 10, 1), Request(1.5, 10, 1)]
        served = schedule(requests, limits(), affine(1.0, 0.0))
        assert [outcome.started for outcome in served.outcomes] == [0.0, 1.0, 2.0]

    def test_an_idle_engine_waits_for_the_next_arrival(self):
        served = schedule([Request(5.0, 10, 1), Request(0.0, 10, 1)], limits(), affine(1.0, 0.0))
        assert [outcome.first_token for outcome in served.outcomes] == [6.0, 1.0]
        assert served.steps[-1].end == 6.0

    def test_the_gap_comes_before_every_step(self):
        served = schedule([Request(0.0, 10, 3)], limits(), affine(1.0, 0.0), gap=0.25)
        assert [record.end for record in served.steps] == [1.25, 2.5, 3.75]


class TestBlocks:
    """Too few blocks: who is let in, who goes, and what has to be computed again."""

    def test_mixed_preempts_the_request_admitted_last_and_recomputes_it_first(self):
        """Two prompts of four tokens, nine places: only one of them can feed its first token."""
        served = schedule([Request(0.0, 4, 4), Request(0.0, 4, 4)], limits(kv_blocks=9),
                          affine(1.0, 0.0))
        assert [record.preempted for record in served.steps][:3] == [(), (1,), ()]
        first, second = served.outcomes
        assert (first.preemptions, second.preemptions, served.preemptions) == (0, 1, 1)
        assert first.finished < second.finished
        again = next(s.step for s in served.steps if s.start >= first.finished)
        assert again.prefill == ((5, 0),)  # the prompt and the token that it had

    def test_a_cached_prefix_outlasts_preemption(self):
        requests = [Request(0.0, 4, 4), Request(0.0, 4, 4, 2)]
        served = schedule(requests, limits(kv_blocks=9), affine(1.0, 0.0))
        assert served.outcomes[1].preemptions == 1
        again = next(s.step for s in served.steps if s.start >= served.outcomes[0].finished)
        assert again.prefill == ((3, 2),)

    def test_a_prompt_that_does_not_fit_waits_as_a_whole(self):
        requests = [Request(0.0, 6, 3), Request(0.0, 6, 1)]
        waits = schedule(requests, limits(8, kv_blocks=10), affine(1.0, 0.0))
        chunk = schedule(requests, limits(8, kv_blocks=10, whole_prompt_fits=False),
                         affine(1.0, 0.0))
        assert waits.outcomes[1].started == 3.0
        assert chunk.steps[0].step.prefill == ((6, 0), (2, 0))

    def test_nobody_is_admitted_in_a_step_that_preempts(self):
        engine = limits(4, kv_blocks=9, whole_prompt_fits=False)
        served = schedule([Request(0.0, 4, 4), Request(0.0, 4, 4)], engine, affine(1.0, 0.0))
        record, = (record for record in served.steps if record.preempted)
        assert record.step == Step((), (6,))  # three tokens of the other prompt would fit

    def test_who_is_preempted_goes_before_those_who_wait(self):
        served = schedule([Request(0.0, 4, 4)] * 3, limits(8, kv_blocks=9), affine(1.0, 0.0))
        again = next(s.step for s in served.steps if s.start >= served.outcomes[0].finished)
        assert again.prefill == ((5, 0), (3, 0))

    @pytest.mark.parametrize("policy", POLICIES)
    def test_a_cache_that_was_sent_is_lost_with_a_preemption(self, policy):
        """All of the prompt is computed, also what was cached where it came from."""
        engine = Engine(limits(policy=policy, kv_blocks=13, reserved_output=0.0))
        for number in (0, 1):
            engine.submit(Job(number, Request(0.0, 4, 5, 2), prefilled=True))
        steps = []
        while engine.load:
            steps.append(engine.plan(0.0))
            engine.complete(0.0)
        assert steps[0] == Step((), (5, 5))
        assert [step.prefill for step in steps if step.prefill] == [((7, 0),)]

    def test_prefill_first_with_room_set_aside_never_retracts(self):
        requests = [Request(0.0, 4, 6)] * 8
        engine = limits(policy="prefill-first", kv_blocks=20)
        assert schedule(requests, engine, affine(1.0, 0.0)).preemptions == 0
        optimist = replace(engine, reserved_output=0.0)
        assert schedule(requests, optimist, affine(1.0, 0.0)).preemptions > 0

    def test_prefill_first_retracts_the_one_with_the_fewest_output_tokens(self):
        engine = limits(policy="prefill-first", kv_blocks=18, reserved_output=0.0)
        late, equal = (schedule(requests, engine, affine(1.0, 0.0)) for requests in (
            [Request(0.0, 4, 9), Request(1.5, 4, 9)], [Request(0.0, 6, 9), Request(0.0, 4, 9)]))
        assert [outcome.preemptions for outcome in late.outcomes] == [0, 1]
        assert [outcome.preemptions for outcome in equal.outcomes] == [1, 0]  # the longer prompt

    @pytest.mark.parametrize("policy", POLICIES)
    def test_what_never_fits_is_refused(self, policy):
        engine = limits(policy=policy, kv_blocks=3, block_size=16)
        with pytest.raises(ValueError, match=r"40 \+ 10 tokens needs 4 blocks, the cache has 3"):
            schedule([Request(0.0, 40, 10)], engine, affine(1.0, 0.0))
        assert schedule([Request(0.0, 40, 9)], engine, affine(1.0, 0.0)).outcomes[0].ttft == 1.0

    @given(requests_of_any_kind, engines_of_any_kind)
    def test_blocks_are_neither_lost_nor_invented(self, requests, engine_limits):
        engine = Engine(engine_limits)
        for number, request in enumerate(requests):
            engine.submit(Job(number, request))
        clock = 0.0
        while engine.load:
            engine.plan(clock)
            held = sum(job.blocks for job in engine.running)
            assert engine.free >= 0
            assert engine_limits.kv_blocks is None or engine.free + held == engine_limits.kv_blocks
            assert all(job.blocks * engine_limits.block_size >= job.computed + new
                       for job, new in engine.planned)
            assert not any(job.blocks for job in engine.waiting)
            clock += 1
            engine.complete(clock)
        assert engine_limits.kv_blocks is None or engine.free == engine_limits.kv_blocks


class TestLaws:
    """What holds for any requests and any engine."""

    @given(requests_of_any_kind, engines_of_any_kind)
    def test_no_request_is_lost_and_tokens_are_conserved(self, requests, engine):
        served = schedule(requests, engine, affine(0.5, 0.01))
        assert [outcome.number for outcome in served.outcomes] == list(range(len(requests)))
        for request, outcome in zip(requests, served.outcomes, strict=True):
            assert (request.arrival <= outcome.started < outcome.first_token <= outcome.finished)
            assert (outcome.first_token < outcome.finished) == (request.output_tokens > 1)
        computed = sum(tokens(record.step) for record in served.steps)
        once = sum(request.most_cached - request.cached_tokens for request in requests)
        assert computed == once if not served.preemptions else computed > once

    @given(requests_of_any_kind, engines_of_any_kind)
    def test_no_step_exceeds_its_limits(self, requests, engine):
        for record in schedule(requests, engine, affine(0.5, 0.01)).steps:
            step = record.step
            limited = (step.prefill if engine.policy == "prefill-first"
                       else (*step.prefill, *((1, 0) for _ in step.decode)))
            assert tokens(step) > 0
            assert sum(new for new, _ in limited) <= engine.max_num_batched_tokens
            assert len(step.prefill) + len(step.decode) <= engine.max_num_seqs
            assert engine.policy == "mixed" or not (step.prefill and step.decode)

    @given(requests_of_any_kind, engines_of_any_kind)
    def test_steps_follow_each_other_and_a_run_repeats_itself(self, requests, engine):
        served = schedule(requests, engine, affine(0.5, 0.01))
        for before, after in zip(served.steps, served.steps[1:], strict=False):
            assert before.end <= after.start < after.end
        assert schedule(requests, engine, affine(0.5, 0.01)) == served

    @given(requests_of_any_kind, engines_of_any_kind)
    def test_first_come_is_first_begun(self, requests, engine):
        outcomes = sorted(schedule(requests, engine, affine(0.5, 0.01)).outcomes,
                          key=lambda outcome: (outcome.arrival, outcome.number))
        begun = [outcome.started for outcome in outcomes]
        assert begun == sorted(begun)


class TestBurst:
    """Equal prompts at once: the closed form and the scheduler are two ways to one number."""

    @given(st.integers(1, 24), st.integers(1, 90), st.integers(1, 100), st.integers(0, 50),
           st.integers(0, 9), st.integers(0, 5), st.sampled_from(POLICIES))
    def test_one_token_each(self, c, prompt, chunk, t0, t1, gap, policy):
        served = schedule([Request(0.0, prompt, 1)] * c, limits(chunk, c, policy),
                          affine(t0, t1), gap)
        mean = sum(outcome.ttft for outcome in served.outcomes) / c
        assert burst_ttft(c, prompt, chunk, t0, t1, gap, 1, policy) == mean

    @given(st.integers(1, 24), st.integers(1, 90), st.integers(0, 80), st.integers(2, 20),
           st.integers(0, 50), st.integers(0, 9), st.sampled_from(POLICIES))
    def test_with_decoding(self, c, prompt, more, output, t0, t1, policy):
        served = schedule([Request(0.0, prompt, output)] * c, limits(c + more, c, policy),
                          affine(t0, t1))
        mean = sum(outcome.ttft for outcome in served.outcomes) / c
        assert burst_ttft(c, prompt, c + more, t0, t1, 0, output, policy) == mean

    @pytest.mark.parametrize("policy", POLICIES)
    def test_arrays_give_what_scalars_give(self, policy):
        rng = np.random.default_rng(5)
        c, prompt, output, chunk = (rng.integers(low, high, 50) for low, high in (
            (1, 40), (1, 900), (1, 9), (40, 600)))
        t0 = rng.random(50)
        swept = burst_ttft(c, prompt, chunk, t0, 1e-3, 0.01, output, policy)
        alone = [burst_ttft(c[i], prompt[i], chunk[i], t0[i], 1e-3, 0.01, output[i], policy)
                 for i in range(50)]
        np.testing.assert_allclose(swept, alone, rtol=1e-12)
        grid = burst_ttft(c[:, None], 512, chunk[None, :], 0.1, 1e-3, 0, 4, policy)
        assert grid.shape == (50, 50)

    @pytest.mark.parametrize("chunks", [1, 2, 3])
    @given(c=st.integers(1, 1000))
    def test_half_of_c_plus_1_prefills_where_each_prompt_fills_its_chunks(self, c, chunks):
        prefill = burst_ttft(1, chunks * 8192, 8192, 1.0, 0.25)
        assert burst_ttft(c, chunks * 8192, 8192, 1.0, 0.25) == (c + 1) / 2 * prefill

    def test_half_of_c_plus_1_prefills_is_wrong_where_prompts_share_a_chunk(self):
        """Eight prompts of an eighth of a chunk all wait for the whole of it."""
        prefill = burst_ttft(1, 1024, 8192, 0.0, 1.0)
        assert burst_ttft(8, 1024, 8192, 0.0, 1.0) == 8 * prefill

    def test_decoding_in_the_same_steps_delays_the_prompts_behind(self):
        apart, mixed = (burst_ttft(16, 1000, 1000, 1.0, 1e-3, 0, 50, policy)
                        for policy in ("prefill-first", "mixed"))
        assert mixed > apart

    def test_stalls_are_in_the_time_per_token_of_one_wave(self):
        """(c - 1)/2 prefills over the n - 1 later tokens, where prompts are served one by one."""
        c, output, prefill, decode = 8, 5, 3.0, 0.5
        served = schedule([Request(0.0, 100, output)] * c, limits(100, c, "prefill-first"),
                          lambda step: prefill if step.prefill else decode)
        mean = sum(outcome.tpot for outcome in served.outcomes) / c
        assert mean == pytest.approx(decode + (c - 1) / 2 * prefill / (output - 1))

    @given(st.integers(0, 60), st.integers(1, 50), st.integers(0, 70), st.integers(0, 70))
    def test_lattice_points(self, count, divisor, slope, offset):
        assert floor_sum(count, divisor, slope, offset) == sum(
            (slope * i + offset) // divisor for i in range(count))

    def test_a_large_burst_costs_no_more(self):
        assert floor_sum(10**6, 8192, 3000, 11191) == ((3000 * np.arange(10**6) + 11191)
                                                       // 8192).sum()


class TestMisuse:
    """One clear sentence."""

    @pytest.mark.parametrize(("make", "message"), [
        (lambda: Request(-1.0, 1, 1), "arrives at -1.0 s"),
        (lambda: Request(math.nan, 1, 1), "arrives at nan s"),
        (lambda: Request(0.0, 0, 1), "0 input and 1 output tokens"),
        (lambda: Request(0.0, 5, 0), "5 input and 0 output tokens"),
        (lambda: Request(0.0, 5, 1, 5), "5 of 5 prompt tokens are cached"),
        (lambda: Limits(0, 1), "max_num_batched_tokens is 0"),
        (lambda: Limits(1, 0), "max_num_seqs is 0"),
        (lambda: Limits(1, 1, 0), "kv_blocks is 0"),
        (lambda: Limits(1, 1, policy="fifo"), "no policy 'fifo'"),
        (lambda: Limits(1, 1, reserved_output=2.0), "reserved_output is 2.0"),
        (lambda: schedule([], limits(), affine(1.0, 0.0)), "nothing to schedule"),
        (lambda: schedule([Request(0.0, 1, 1)], limits(), affine(-1.0, 0.0)), "takes -1.0 s"),
        (lambda: schedule([Request(0.0, 1, 1)], limits(), affine(math.inf, 0.0)), "takes inf s"),
        (lambda: burst_ttft(0, 1, 1, 1.0, 0.0), "expected at least 1"),
        (lambda: burst_ttft(1, 1, 1, 1.0, 0.0, policy="fifo"), "no policy 'fifo'"),
        (lambda: burst_ttft(9, 1, 8, 1.0, 0.0, 0, 2, "mixed"), "more requests decode"),
    ])
    def test_is_told(self, make, message):
        with pytest.raises(ValueError, match=message) as caught:
            make()
        assert str(caught.value).endswith(".")
        assert "\n" not in str(caught.value)
