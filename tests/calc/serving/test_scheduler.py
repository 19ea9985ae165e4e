"""Steps that an engine plans: batching, preemption, and blocks that requests share."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from _engines import (
    POLICIES,
    affine,
    engines_of_any_kind,
    limits,
    requests_of_any_kind,
    tokens,
)
from hypothesis import assume, given
from hypothesis import strategies as st

from calc.serving.requests import (
    ClosedLoop,
    Job,
    Prefixes,
    Request,
    Step,
    poisson,
    sharing,
)
from calc.serving.scheduler import Engine, duration
from calc.serving.simulation import Pool, simulate
from reference.schedule import schedule

ONE_STEP = affine(1.0, 0.0)


def compositions(requests, engine):
    return [(record.step.prefill, record.step.decode)
            for record in schedule(requests, engine, affine(0.0, 1.0)).steps]


class TestComposition:
    def test_a_prompt_in_chunks(self):
        served = schedule([Request(0.0, 250, 2)], limits(), ONE_STEP, gap=0.25)
        assert [record.step for record in served.steps] == [
            Step(((100, 0),), ()), Step(((100, 100),), ()), Step(((50, 200),), ()),
            Step((), (251,))]
        assert (served.outcomes[0].ttft, served.outcomes[0].tpot) == (3.75, 1.25)
        assert compositions([Request(0.0, 250, 1, 200)], limits()) == [(((50, 200),), ())]

    @pytest.mark.parametrize("policy", POLICIES)
    def test_short_prompts_share_a_chunk(self, policy):
        assert compositions([Request(0.0, 60, 1)] * 3, limits(policy=policy)) == [
            (((60, 0), (40, 0)), ()), (((20, 40), (60, 0)), ())]

    def test_policies_share_the_token_budget(self):
        requests = [Request(0.0, 100, 3), Request(0.0, 150, 1)]
        assert compositions(requests, limits()) == [
            (((100, 0),), ()), (((99, 0),), (101,)), (((51, 99),), (102,))]
        assert compositions(requests, limits(policy="prefill-first")) == [
            (((100, 0),), ()), (((100, 0),), ()), (((50, 100),), ()), ((), (101,)), ((), (102,))]

    def test_arrivals_join_the_next_step(self):
        requests = [Request(0.0, 10, 3), Request(1.0, 10, 1), Request(1.5, 10, 1)]
        served = schedule(requests, limits(), ONE_STEP)
        assert [outcome.started for outcome in served.outcomes] == [0.0, 1.0, 2.0]
        served = schedule([Request(5.0, 10, 1), Request(0.0, 10, 1)], limits(), ONE_STEP)
        assert [outcome.first_token for outcome in served.outcomes] == [6.0, 1.0]

    @pytest.mark.parametrize("policy", POLICIES)
    def test_a_step_that_decodes_brings_the_accepted_drafts_as_well(self, policy):
        """2.5 tokens a step, of 12 that follow the first: five steps, whoever prefills beside."""
        engine = limits(policy=policy, step_tokens=4, tokens_per_step=2.5)
        requests = [Request(0.0, 100, 13), Request(0.5, 250, 1)]
        alone, beside = (schedule(some, engine, ONE_STEP) for some in (requests[:1], requests))
        assert [record.step.decode for record in alone.steps] == [
            (), (101,), (103,), (106,), (108,), (111,)]
        # a step of 100 tokens has room for four of a request that decodes
        assert [record.step.prefill for record in beside.steps if record.step.prefill][1:] == (
            [((96, 0),), ((96, 96),), ((58, 192),)] if policy == "mixed" else
            [((100, 0),), ((100, 100),), ((50, 200),)])
        assert beside.outcomes[0].finished == (6.0 if policy == "mixed" else 9.0)


class TestBlocks:
    """Two prompts of four tokens in nine places: only one of them can feed its first token."""

    def test_mixed_preempts_the_last_request_and_recomputes_it_first(self):
        served = schedule([Request(0.0, 4, 4), Request(0.0, 4, 4)], limits(kv_blocks=9), ONE_STEP)
        assert [record.preempted for record in served.steps][:3] == [(), (1,), ()]
        first, second = served.outcomes
        assert (first.preemptions, second.preemptions, served.preemptions) == (0, 1, 1)

    @pytest.mark.parametrize(("requests", "chunk", "again"), [
        ([Request(0.0, 4, 4)] * 2, 100, ((5, 0),)),  # the prompt and the token that it had
        ([Request(0.0, 4, 4), Request(0.0, 4, 4, 2)], 100, ((3, 2),)),  # a stated prefix stays
        ([Request(0.0, 4, 4)] * 3, 8, ((5, 0), (3, 0)))])  # before those who wait
    def test_what_a_preempted_request_computes_again(self, requests, chunk, again):
        served = schedule(requests, limits(chunk, kv_blocks=9), ONE_STEP)
        end = served.outcomes[0].finished
        assert next(s.step for s in served.steps if s.start >= end).prefill == again

    def test_a_prompt_that_does_not_fit_waits_as_a_whole(self):
        requests = [Request(0.0, 6, 3), Request(0.0, 6, 1)]
        assert schedule(requests, limits(8, kv_blocks=10), ONE_STEP).outcomes[1].started == 3.0

    def test_a_received_cache_is_lost_with_a_preemption(self):
        engine = Engine(limits(kv_blocks=13))
        for number in (0, 1):
            engine.submit(Job(number, Request(0.0, 4, 5, 2), prefilled=True))
        steps = []
        while engine.load:
            steps.append(engine.plan(0.0))
            engine.complete(0.0)
        assert steps[0] == Step((), (5, 5))
        assert [step.prefill for step in steps if step.prefill] == [((7, 0),)]

    def test_prefill_first_sets_room_aside(self):
        engine = limits(policy="prefill-first", kv_blocks=20)
        assert schedule([Request(0.0, 4, 6)] * 8, engine, ONE_STEP).preemptions == 0

    @pytest.mark.parametrize("policy", POLICIES)
    def test_a_request_that_never_fits_is_refused(self, policy):
        engine = limits(policy=policy, kv_blocks=3, block_size=16)
        with pytest.raises(ValueError, match=r"40 \+ 10 tokens needs 4 blocks, the cache has 3"):
            schedule([Request(0.0, 40, 10)], engine, ONE_STEP)
        assert schedule([Request(0.0, 40, 9)], engine, ONE_STEP).outcomes[0].ttft == 1.0


class TestStates:
    @pytest.mark.parametrize("policy", POLICIES)
    def test_a_state_takes_blocks_beside_those_of_tokens(self, policy):
        """Of ten blocks a request of two takes five with its state."""
        run = limits(kv_blocks=10, block_size=16, policy=policy)
        waits = [sum(each.started > 1 for each in schedule(
            [Request(0.0, 15, 4)] * 4, replace(run, state_blocks_per_request=state),
            affine(1.0, 0.01)).outcomes) for state in (0, 3)]
        assert waits == [0, 2]
        small = replace(run, kv_blocks=4, state_blocks_per_request=3)
        with pytest.raises(ValueError, match=r"needs 5 blocks, the cache has 4\."):
            schedule([Request(0.0, 16, 2)], small, ONE_STEP)

    @given(requests_of_any_kind, st.integers(1, 9), st.integers(0, 5), st.sampled_from(POLICIES))
    def test_one_at_a_time_a_state_is_as_many_blocks_fewer(self, requests, state, spare, policy):
        blocks = max(-(-each.most_cached // 4) for each in requests) + spare
        alone = limits(seqs=1, kv_blocks=blocks, block_size=4, policy=policy)
        beside = replace(alone, kv_blocks=blocks + state, state_blocks_per_request=state)
        assert schedule(requests, beside, affine(1.0, 0.01)) == schedule(
            requests, alone, affine(1.0, 0.01))


class TestLaws:
    @given(requests_of_any_kind, engines_of_any_kind)
    def test_requests_and_tokens_are_conserved_in_order_of_arrival(self, requests, engine):
        served = schedule(requests, engine, affine(0.5, 0.01))
        assert [outcome.number for outcome in served.outcomes] == list(range(len(requests)))
        for request, outcome in zip(requests, served.outcomes, strict=True):
            assert request.arrival <= outcome.started < outcome.first_token <= outcome.finished
            assert (outcome.first_token < outcome.finished) == (request.output_tokens > 1)
        computed = sum(tokens(record.step) for record in served.steps)
        once = sum(request.most_cached - request.cached_tokens for request in requests)
        assert computed == once if not served.preemptions else computed > once
        begun = [outcome.started for outcome in sorted(
            served.outcomes, key=lambda outcome: (outcome.arrival, outcome.number))]
        assert begun == sorted(begun)

    @given(requests_of_any_kind, engines_of_any_kind)
    def test_no_step_exceeds_its_limits_and_steps_follow_each_other(self, requests, engine):
        steps = schedule(requests, engine, affine(0.5, 0.01)).steps
        for record in steps:
            step = record.step
            limited = (step.prefill if engine.policy == "prefill-first"
                       else (*step.prefill, *((1, 0) for _ in step.decode)))
            assert tokens(step) > 0
            assert sum(new for new, _ in limited) <= engine.max_num_batched_tokens
            assert len(step.prefill) + len(step.decode) <= engine.max_num_seqs
            assert engine.policy == "mixed" or not (step.prefill and step.decode)
        for before, after in pairwise(steps):
            assert before.end <= after.start < after.end


# --- looking for requests -----------------------------------------------------------------------
BUSY = Request(0.0, 10, 200)  # decodes all the time: a step of a prompt, then tokens, 1 s each


def started(arrival, interval, ahead=0):
    """When work on a prompt begins that arrives beside one request that decodes [s]."""
    engine = limits(policy="prefill-first", recv_interval=interval, steps_ahead=ahead)
    return schedule([BUSY, Request(arrival, 10, 1)], engine, ONE_STEP).outcomes[1].started


@pytest.mark.parametrize(("arrival", "interval", "ahead", "begin"), [
    (0.5, 1, 0, 1), (5.5, 1, 0, 6),  # looks before every step
    (0.5, 4, 0, 1), (1.5, 4, 0, 5), (4.5, 4, 0, 5), (5.5, 4, 0, 9),  # after a prompt, every fourth
    (1.5, 1, 1, 3), (2.5, 1, 1, 4),  # the next step was decided on already
    (7.5, 4, 1, 9), (8.5, 4, 1, 13)])  # the last step before a look
def test_a_prompt_begins_when_the_engine_looks_for_it(arrival, interval, ahead, begin):
    assert started(arrival, interval, ahead) == begin


def test_the_mean_wait_for_a_look_is_half_of_the_interval():
    for interval in (1, 4, 10):
        waits = [started(float(at), interval) - at for at in 1 + np.arange(0.5, 120)]
        assert np.mean(waits) == pytest.approx((interval - 1) / 2 + 0.5)
    engine = limits(recv_interval=30, steps_ahead=1)  # an idle one looks all the time
    served = schedule([Request(0.0, 10, 1), Request(7.0, 10, 1)], engine, ONE_STEP)
    assert [outcome.wait for outcome in served.outcomes] == [0.0, 0.0]


@pytest.mark.parametrize(("make", "message"), [
    (lambda: schedule([Request(0.0, 1, 1)], limits(), affine(-1.0, 0.0)), "takes -1.0 s"),
    (lambda: duration([Step(((1, 0), (1, 1)), (3,))] * 2, math.inf),
     "a step with 4 chunks and 2 decoding requests takes inf s"),
])
def test_invalid_arguments_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@given(st.integers(1, 24), st.integers(1, 90), st.integers(1, 100), st.integers(1, 20),
       st.integers(0, 50), st.integers(0, 9), st.integers(0, 5), st.sampled_from(POLICIES))
def test_a_burst_of_equal_prompts_is_packed_into_full_chunks(c, prompt, chunk, output, t0, t1, gap,
                                                             policy):
    """Of F(j) prompts that are done after step j, F(j - 1) - F(j - o) decode in a mixed step."""
    chunk += c  # a token of each fits
    served = schedule([Request(0.0, prompt, output)] * c, limits(chunk, c, policy),
                      affine(t0, t1), gap)
    done, filled, clock, total = [0], 0, 0, 0
    while filled < c * prompt:
        before = max(0, len(done) - (output if policy == "mixed" else 1))
        decoding = done[-1] - done[before]
        new = min(chunk - decoding, c * prompt - filled)
        filled, clock = filled + new, clock + gap + t0 + t1 * (new + decoding)
        done.append(filled // prompt)
        total += (done[-1] - done[-2]) * clock
    assert sum(outcome.ttft for outcome in served.outcomes) == total


STEP = affine(0.01, 1e-3)
texts_of_any_kind = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 60), st.integers(0, 3)),
                             min_size=12, max_size=12)


def with_texts(requests, drawn):
    """Requests that begin with one of few prefixes, and go on with one of few texts."""
    return [replace(request, cached_tokens=0, texts=(
        ((prefix,), min(length, request.input_tokens)),
        ((prefix, length, text), request.input_tokens + request.output_tokens)))
        for request, (prefix, length, text) in zip(requests, drawn, strict=False)]


def asks(text, arrival=0.0, prompt=8, output=1):
    """A request all of whose tokens are the beginning of a text."""
    return Request(arrival, prompt, output, texts=((text, prompt + output),))


def found(requests, engine, step_time=ONE_STEP):
    return [outcome.hit_tokens for outcome in schedule(requests, engine, step_time).outcomes]


def share(run):
    """Of all prompt tokens, what the cache held, exactly."""
    return Fraction(sum(outcome.hit_tokens for outcome in run.outcomes),
                    sum(outcome.input_tokens for outcome in run.outcomes))


@pytest.mark.parametrize("policy", POLICIES)
class TestRequests:
    def test_whole_blocks_are_found_but_the_last_token_is_computed(self, policy):
        served = schedule([asks("a"), asks("a", 5.0, 12), asks("a", 9.0), asks("a", 19.0, 7)],
                          limits(policy=policy, block_size=4), ONE_STEP)
        assert [outcome.hit_tokens for outcome in served.outcomes] == [0, 8, 4, 4]
        assert served.steps[1].step.prefill == ((4, 8),)

    def test_a_step_shares_what_it_computes(self, policy):
        engine = limits(policy=policy, block_size=4, kv_blocks=5)
        served = schedule([asks("a", prompt=9) for _ in range(3)], engine, ONE_STEP)
        assert [record.step.prefill for record in served.steps] == [((9, 0), (1, 8), (1, 8))]

    def test_answers_are_found_by_the_next_turn(self, policy):
        """Seven of eight tokens are fed after five of prompt: the last answer token never is."""
        engine = limits(policy=policy, block_size=4)
        assert found([asks("a", 0.0, 5, 8), asks("a", 50.0, 20)], engine) == [0, 12]
        assert found([asks("a", 0.0, 5, 7), asks("a", 50.0, 20)], engine) == [0, 8]


def test_requests_evict_and_share_blocks():
    """Room for two texts of two blocks: a is used again, so c takes the end of b, and b a's."""
    order = [asks(text, 2.0 * at, prompt) for at, (text, prompt) in enumerate(
        [("a", 8), ("b", 8), ("a", 8), ("c", 4), ("b", 12), ("a", 8)])]
    outcomes = schedule(order, limits(block_size=4, kv_blocks=4), ONE_STEP).outcomes
    assert [outcome.hit_tokens for outcome in outcomes] == [0, 0, 4, 0, 4, 0]
    assert [outcome.evicted for outcome in outcomes] == [0, 0, 0, 1, 2, 2]
    # three of 3 + 1 blocks at work on a prefix of two: all at once in eight blocks
    shared = [Request(0.0, 12, 4, texts=(("a", 8),)) for _ in range(3)]
    served = schedule(shared, limits(100, block_size=4, kv_blocks=8), ONE_STEP)
    assert [outcome.started for outcome in served.outcomes] == [0.0] * 3
    apart = schedule([replace(request, texts=()) for request in shared],
                     limits(100, block_size=4, kv_blocks=8), ONE_STEP)
    assert max(outcome.started for outcome in apart.outcomes) > 0


class TestShares:
    """A cache that holds everything finds all that repeats, in whole blocks."""

    @pytest.mark.parametrize("policy", POLICIES)
    @pytest.mark.parametrize(("groups", "prefix", "block"), [
        (1, 60, 1), (5, 60, 16), (5, 64, 16), (30, 99, 10), (2, 15, 16)])
    def test_hits_of_groups_with_a_prefix(self, policy, groups, prefix, block):
        """All but the first of each group find its whole blocks."""
        requests = sharing(poisson(3.0, 200, [(101, 5), (130, 20)], seed=2),
                           Prefixes(groups, prefix), seed=2)
        assert len({request.texts[0][0] for request in requests}) == groups
        run = simulate(requests, Pool(limits(130, 40, policy, block_size=block), STEP))
        assert sum(outcome.hit_tokens for outcome in run.outcomes) == (
            len(requests) - groups) * (prefix // block * block)
        assert sum(outcome.evicted for outcome in run.outcomes) == 0

    @pytest.mark.parametrize("turns", [1, 2, 6])
    def test_hits_of_turns(self, turns):
        """Of turn k all of k - 1 turns before it is there: (N-1)(n+o) / ((N+1) n + (N-1) o)."""
        loop = ClosedLoop(4, 12 * turns, [(50, 30)], 0.5, seed=1, prefixes=Prefixes(turns=turns))
        n, o = 50, 30
        # but for the last token of each answer, which is never fed
        lost = Fraction(2 * (turns - 1), turns * ((turns + 1) * n + (turns - 1) * o))
        assert share(simulate(loop, Pool(limits(64, 3), STEP))) + lost == Fraction(
            (turns - 1) * (n + o), (turns + 1) * n + (turns - 1) * o)

    def test_prefix_caches_of_replicas_and_pools(self):
        requests = sharing(poisson(3.0, 60, [(100, 5)]), Prefixes(1, 50))
        for replicas in (1, 2, 5):
            run = simulate(requests, Pool(limits(), STEP, replicas=replicas))
            assert share(run) == Fraction((60 - replicas) * 50, 60 * 100)
        loop, pool = ClosedLoop(1, 4, [(50, 30)], prefixes=Prefixes(turns=4)), Pool(limits(), STEP)
        run = simulate(loop, pool, pool, 0.001)
        assert [outcome.hit_tokens for outcome in run.outcomes] == [0, 50, 130, 210]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("seed", range(2))
def test_more_blocks_find_no_less(policy, seed):
    """Where requests come one after another: LRU is a stack algorithm."""
    requests = sharing(poisson(1.0, 250, [(100, 5), (70, 30), (160, 1)], seed=seed),
                       Prefixes(8, 64), seed=seed)
    runs = [simulate(requests, Pool(limits(60, 1, policy, block_size=16, kv_blocks=blocks),
                                    STEP)) for blocks in (11, 19, 27, 35, 60, 120, 4000)]
    assert all(less <= more for less, more in pairwise(map(share, runs)))
    assert share(runs[0]) < share(runs[-1]) / 2
    evicted = [sum(outcome.evicted for outcome in run.outcomes) for run in runs]
    assert evicted[0] > 0 == evicted[-1]


class TestLawsOfBlocks:
    @given(requests_of_any_kind, engines_of_any_kind)
    def test_texts_that_nobody_shares_change_nothing(self, requests, engine):
        """Until a request is preempted, which may find its own."""
        plain = [replace(request, cached_tokens=0) for request in requests]
        own = [replace(request, texts=((number, request.most_cached),))
               for number, request in enumerate(plain)]
        served = schedule(plain, engine, affine(0.5, 0.01))
        assume(not served.preemptions)
        kept = schedule(own, engine, affine(0.5, 0.01))
        assert kept.steps == served.steps
        assert [replace(outcome, evicted=0) for outcome in kept.outcomes] == list(served.outcomes)

    @given(requests_of_any_kind, engines_of_any_kind, st.one_of(st.none(), texts_of_any_kind),
           st.integers(0, 5), st.integers(0, 12))
    def test_blocks_are_conserved(self, requests, engine_limits, drawn, state, spare):
        """Of a cache that is hardly larger than the longest request with its state."""
        longest = max(engine_limits.blocks(each.most_cached) for each in requests)
        blocks = None if engine_limits.kv_blocks is None else longest + state + spare
        engine = Engine(replace(engine_limits, kv_blocks=blocks, state_blocks_per_request=state))
        for number, request in enumerate(with_texts(requests, drawn) if drawn else requests):
            engine.submit(Job(number, request))
        clock, everything = 0.0, math.inf if blocks is None else blocks

        while engine.load:
            engine.receive(engine.idle)
            engine.plan(clock)
            # so that those in use are not evicted
            assert engine.free >= len(engine.prefix_cache.idle)
            assert all(job.blocks * engine_limits.block_size >= job.computed + new
                       for job, new in engine.planned)
            assert not any(job.blocks for job in engine.waiting)
            clock += 1
            engine.complete(clock)
        assert engine.free == everything

    @given(requests_of_any_kind, engines_of_any_kind, texts_of_any_kind)
    def test_every_token_is_computed_or_found(self, requests, engine, drawn):
        requests = with_texts(requests, drawn)
        served = schedule(requests, engine, affine(0.5, 0.01))
        for request, outcome in zip(requests, served.outcomes, strict=True):
            assert outcome.hit_tokens < request.input_tokens
            assert outcome.hit_tokens % engine.block_size == 0
        computed = sum(tokens(record.step) for record in served.steps)
        left = sum(request.most_cached - outcome.hit_tokens for request, outcome in zip(
            requests, served.outcomes, strict=True))
        assert computed == left if not served.preemptions else computed >= left
