"""The prefix cache: what is found is what was kept, what is kept is what there is room for.

And a state, which a request holds from admission to its end and no other finds.
"""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest
from _engines import POLICIES, affine, engines_of_any_kind, limits, requests_of_any_kind, tokens
from hypothesis import assume, given
from hypothesis import strategies as st

from calc.serving.arrivals import ClosedLoop, Prefixes, bursts, poisson, sharing
from calc.serving.batching import Engine
from calc.serving.metrics import summarise
from calc.serving.requests import Job
from calc.serving.scheduling import Request, Transfer, schedule
from calc.serving.simulation import Pool, simulate

ONE_STEP = affine(1.0, 0.0)
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


def hit_share(run):
    """Of the prompt tokens of a whole run, what the cache held."""
    return (sum(outcome.hit_tokens for outcome in run.outcomes)
            / sum(outcome.input_tokens for outcome in run.outcomes))


def found(requests, engine, step_time=ONE_STEP):
    return [outcome.hit_tokens for outcome in schedule(requests, engine, step_time).outcomes]


def share(run):
    """Of all prompt tokens, exactly."""
    return Fraction(sum(outcome.hit_tokens for outcome in run.outcomes),
                    sum(outcome.input_tokens for outcome in run.outcomes))


class TestByHand:
    """A few requests, block by block."""

    def test_what_one_request_left_the_next_one_finds(self):
        served = schedule([asks("a"), asks("a", 5.0, 12)], limits(block_size=4), ONE_STEP)
        assert [outcome.hit_tokens for outcome in served.outcomes] == [0, 8]
        assert served.steps[1].step.prefill == ((4, 8),)

    @pytest.mark.parametrize("policy", POLICIES)
    def test_the_last_token_of_a_prompt_is_computed_with_its_block(self, policy):
        engine = limits(policy=policy, block_size=4)
        assert found([asks("a"), asks("a", 5.0), asks("a", 9.0, 7)], engine) == [0, 4, 4]

    @pytest.mark.parametrize("policy", POLICIES)
    def test_a_step_shares_what_it_computes(self, policy):
        engine = limits(policy=policy, block_size=4, kv_blocks=5)
        served = schedule([asks("a", prompt=9) for _ in range(3)], engine, ONE_STEP)
        assert [record.step.prefill for record in served.steps] == [((9, 0), (1, 8), (1, 8))]

    @pytest.mark.parametrize("policy", POLICIES)
    def test_answers_are_found_by_the_next_turn(self, policy):
        """Seven of eight tokens are fed after five of prompt: the last answer token never is."""
        requests = [asks("a", 0.0, 5, 8), asks("a", 50.0, 20)]
        assert found(requests, limits(policy=policy, block_size=4)) == [0, 12]
        assert found([asks("a", 0.0, 5, 7), asks("a", 50.0, 20)],
                     limits(policy=policy, block_size=4)) == [0, 8]

    def test_the_least_recently_used_goes_first_its_end_before_its_beginning(self):
        """Room for two texts of two blocks: a is used again, so c takes the end of b, and b a's."""
        order = [asks(text, 2.0 * at, prompt) for at, (text, prompt) in enumerate(
            [("a", 8), ("b", 8), ("a", 8), ("c", 4), ("b", 12), ("a", 8)])]
        outcomes = schedule(order, limits(block_size=4, kv_blocks=4), ONE_STEP).outcomes
        assert [outcome.hit_tokens for outcome in outcomes] == [0, 0, 4, 0, 4, 0]
        assert [outcome.evicted for outcome in outcomes] == [0, 0, 0, 1, 2, 2]

    def test_what_others_have_is_not_evicted_and_takes_no_room(self):
        """Three of 3 + 1 blocks are at work on a prefix of two: all at once in eight blocks."""
        shared = [Request(0.0, 12, 4, texts=(("a", 8),)) for _ in range(3)]
        served = schedule(shared, limits(100, block_size=4, kv_blocks=8), ONE_STEP)
        assert served.preemptions == 0
        assert [outcome.started for outcome in served.outcomes] == [0.0] * 3
        alone = [replace(request, texts=()) for request in shared]
        apart = schedule(alone, limits(100, block_size=4, kv_blocks=8), ONE_STEP)
        assert max(outcome.started for outcome in apart.outcomes) > 0

    def test_what_a_preempted_request_had_it_may_find_again(self):
        """As without texts, but two tokens are left of it when the other one is done."""
        requests = [asks("a", 0.0, 4, 4), asks("b", 0.0, 4, 4)]
        served = schedule(requests, limits(kv_blocks=9), ONE_STEP)
        first, second = served.outcomes
        assert (first.preemptions, second.preemptions) == (0, 1)
        again = next(s.step for s in served.steps if s.start >= first.finished)
        assert again.prefill == ((3, 2),)
        assert second.hit_tokens == 0  # counted when it came to its turn first

    def test_a_stated_share_is_what_was_found(self):
        run = simulate(bursts(2, 1.0, 5, [(100, 3, 25)]), Pool(limits(), ONE_STEP))
        assert (summarise(run).hit_share, summarise(run).evicted) == (0.25, 0)


class TestShares:
    """A cache that holds everything finds all that repeats, in whole blocks."""

    @pytest.mark.parametrize("policy", POLICIES)
    @pytest.mark.parametrize(("groups", "prefix", "block"), [
        (1, 60, 1), (5, 60, 16), (5, 64, 16), (3, 100, 7), (30, 99, 10)])
    def test_of_groups(self, policy, groups, prefix, block):
        """All but the first of each group find its whole blocks."""
        requests = sharing(poisson(3.0, 200, [(101, 5), (130, 20)], seed=2),
                           Prefixes(groups, prefix), seed=2)
        assert len({request.texts[0][0] for request in requests}) == groups
        engine = limits(130, 40, policy, block_size=block)
        run = simulate(requests, Pool(engine, affine(0.01, 1e-3)))
        assert sum(outcome.hit_tokens for outcome in run.outcomes) == (
            len(requests) - groups) * (prefix // block * block)
        assert sum(outcome.evicted for outcome in run.outcomes) == 0

    @pytest.mark.parametrize("policy", POLICIES)
    @pytest.mark.parametrize("turns", [1, 2, 6])
    def test_of_turns(self, policy, turns):
        """Of turn k all of k - 1 turns before it is there: (N-1)(n+o) / ((N+1) n + (N-1) o)."""
        loop = ClosedLoop(4, 12 * turns, [(50, 30)], 0.5, seed=1, prefixes=Prefixes(turns=turns))
        run = simulate(loop, Pool(limits(64, 3, policy), affine(0.01, 1e-3)))
        n, o = 50, 30
        # but for the last token of each answer, which is never fed
        lost = Fraction(2 * (turns - 1), turns * ((turns + 1) * n + (turns - 1) * o))
        assert share(run) + lost == Fraction((turns - 1) * (n + o),
                                             (turns + 1) * n + (turns - 1) * o)

    @pytest.mark.parametrize("block", [1, 4, 16, 100])
    def test_of_turns_in_whole_blocks(self, block):
        loop = ClosedLoop(1, 8, [(50, 30)], prefixes=Prefixes(groups=1, tokens=20, turns=8))
        run = simulate(loop, Pool(limits(64, block_size=block), affine(0.01, 1e-3)))
        prompts = [50 + turn * (30 + 30) for turn in range(8)]  # 20 of the 50 are said once
        assert [outcome.input_tokens for outcome in run.outcomes] == prompts
        assert [outcome.hit_tokens for outcome in run.outcomes] == [
            0, *((prompt + 29) // block * block for prompt in prompts[:-1])]

    def test_a_prefix_of_less_than_a_block_is_never_found(self):
        requests = sharing(poisson(3.0, 100, [(100, 5)]), Prefixes(2, 15))
        run = simulate(requests, Pool(limits(block_size=16, kv_blocks=40), affine(0.01, 1e-3)))
        assert share(run) == 0
        requests = sharing(poisson(3.0, 100, [(100, 5)]), Prefixes(2, 16))
        assert share(simulate(requests, Pool(limits(block_size=16), affine(0.01, 1e-3)))) > 0

    def test_each_replica_has_a_cache_of_its_own(self):
        requests = sharing(poisson(3.0, 60, [(100, 5)]), Prefixes(1, 50))
        for replicas in (1, 2, 5):
            run = simulate(requests, Pool(limits(), affine(0.01, 1e-3), replicas=replicas))
            assert share(run) == Fraction((60 - replicas) * 50, 60 * 100)

    def test_a_prefill_pool_keeps_prompts_and_no_answers(self):
        loop = ClosedLoop(1, 4, [(50, 30)], prefixes=Prefixes(turns=4))
        pool = Pool(limits(), affine(0.01, 1e-3))
        run = simulate(loop, pool, pool, Transfer(lambda tokens: 0.1))
        assert [outcome.hit_tokens for outcome in run.outcomes] == [0, 50, 130, 210]

    def test_what_is_found_comes_sooner(self):
        requests = poisson(1.0, 300, [(400, 10)])
        pool = Pool(limits(400, 8, block_size=16), affine(0.01, 1e-3))
        none, half, all_but_one = (
            summarise(simulate(sharing(requests, Prefixes(1, prefix)), pool)).ttft.mean
            for prefix in (0, 200, 400))
        assert none > 1.5 * half > 1.5 * all_but_one


class TestMemory:
    """Less memory finds less, where requests come one after another; LRU is a stack algorithm."""

    @pytest.mark.parametrize("policy", POLICIES)
    @pytest.mark.parametrize("seed", range(4))
    def test_more_blocks_find_no_less(self, policy, seed):
        requests = sharing(poisson(1.0, 250, [(100, 5), (70, 30), (160, 1)], seed=seed),
                           Prefixes(8, 64), seed=seed)
        hits, evicted = [], []
        for blocks in (*range(11, 60, 4), 80, 120, 4000):
            engine = limits(60, 1, policy, block_size=16, kv_blocks=blocks)
            run = simulate(requests, Pool(engine, affine(0.01, 1e-3)))
            hits.append(hit_share(run))
            evicted.append(sum(outcome.evicted for outcome in run.outcomes))
        assert all(less <= more for less, more in pairwise(hits))
        assert hits[0] < 0.5 * hits[-1]
        assert evicted[0] > 0 == evicted[-1]

    def test_turns_of_many_users_push_each_other_out(self):
        def share(users, blocks):
            loop = ClosedLoop(users, 200, [(64, 32)], 1.0, prefixes=Prefixes(turns=5))
            engine = limits(512, 4, block_size=16, kv_blocks=blocks)
            return hit_share(simulate(loop, Pool(engine, affine(0.01, 1e-3))))

        assert share(20, 150) < 0.5 * share(20, 2000)
        assert share(2, 150) == share(2, 2000)


class TestLaws:
    """What holds for any requests, any texts and any engine."""

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

    @given(requests_of_any_kind, engines_of_any_kind, texts_of_any_kind)
    def test_blocks_are_neither_lost_nor_invented(self, requests, engine_limits, drawn):
        engine = Engine(engine_limits)
        for number, request in enumerate(with_texts(requests, drawn)):
            engine.submit(Job(number, request))
        everything = math.inf if engine_limits.kv_blocks is None else engine_limits.kv_blocks

        def in_use():
            own = sum(job.blocks - sum(max(0, min(end, job.held) - begin)
                                       for _, begin, end in job.spans) for job in engine.running)
            return own + engine.prefix_cache.in_use

        clock = 0.0
        while engine.load:
            engine.plan(clock)
            assert engine.free >= engine.prefix_cache.idle  # so that those in use are not evicted
            assert engine.free + in_use() == everything
            assert all(job.blocks * engine_limits.block_size >= job.computed + new
                       for job, new in engine.planned)
            assert not any(job.blocks for job in engine.waiting)
            clock += 1
            engine.complete(clock)
        assert engine.free == everything
        assert engine.prefix_cache.in_use == 0

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
        assert computed >= left
        if not served.preemptions:
            assert computed == left

    @given(requests_of_any_kind, engines_of_any_kind, texts_of_any_kind, st.integers(1, 3))
    def test_a_group_of_ranks_serves_everybody(self, requests, engine, drawn, ranks):
        pool = Pool(engine, affine(0.5, 0.01), replicas=ranks, ranks=ranks, coordination="delay",
                    delay_steps=3)
        run = simulate(with_texts(requests, drawn), pool)
        assert len(run.outcomes) == len(requests)

    def test_prefixes_do_not_change_who_asks_what_when(self):
        plain = poisson(2.0, 100, [(100, 5), (20, 60)], seed=4)
        with_prefix = sharing(plain, Prefixes(7, 30), seed=4)
        assert [replace(request, texts=()) for request in with_prefix] == list(plain)
        assert all(request.texts[0][1] == min(30, request.input_tokens) for request in with_prefix)

    def test_a_conversation_that_would_be_too_long_begins_anew(self):
        loop = ClosedLoop(1, 6, [(50, 30)], prefixes=Prefixes(turns=10, longest=250))
        run = simulate(loop, Pool(limits(), ONE_STEP))
        assert [outcome.input_tokens for outcome in run.outcomes] == [50, 130, 210] * 2


class TestMisuse:
    """One clear sentence."""

    @pytest.mark.parametrize(("make", "message"), [
        (lambda: Prefixes(groups=0), "0 prefixes of 0 tokens"),
        (lambda: Prefixes(turns=0), "conversations of 0 turns"),
        (lambda: Prefixes(tokens=-1), "-1 tokens"),
        (lambda: sharing(poisson(1.0, 3, [(9, 9)]), Prefixes(turns=2)), "users who wait"),
        (lambda: sharing(poisson(1.0, 3, [(9, 9, 4)]), Prefixes()), "4 prompt tokens are stated"),
        (lambda: Request(0.0, 9, 9, 4, (("a", 4),)), "4 prompt tokens are stated to be cached"),
    ])
    def test_is_told(self, make, message):
        with pytest.raises(ValueError, match=message) as caught:
            make()
        assert str(caught.value).endswith(".")
        assert "\n" not in str(caught.value)


def _ends(requests, engine):
    return [(each.started, each.first_token, each.finished, each.preemptions)
            for each in schedule(requests, engine, affine(1.0, 0.01)).outcomes]


@pytest.mark.parametrize("policy", POLICIES)
class TestStates:
    def test_fewer_requests_are_at_work_at_once(self, policy):
        """Of ten blocks a request of two takes five with its state."""
        several = [Request(0.0, 15, 4) for _ in range(4)]
        run = limits(kv_blocks=10, block_size=16, policy=policy)
        waits = [sum(started > 1 for started, *_ in _ends(several, replace(
            run, state_blocks_per_request=state))) for state in (0, 3)]
        assert waits == [0, 2]

    @given(st.data())
    def test_one_at_a_time_they_are_as_many_blocks_fewer(self, policy, data):
        requests = data.draw(requests_of_any_kind)
        state = data.draw(st.integers(1, 9))
        most = max(-(-each.most_cached // 4) for each in requests)
        blocks = data.draw(st.integers(most, most + 5))
        alone = limits(seqs=1, kv_blocks=blocks, block_size=4, policy=policy)
        assert _ends(requests, replace(alone, kv_blocks=blocks + state,
                                      state_blocks_per_request=state)) == _ends(requests, alone)

    @given(st.data())
    def test_all_blocks_are_free_in_the_end(self, policy, data):
        """And never more are taken than there are, whoever is preempted meanwhile."""
        requests = data.draw(requests_of_any_kind)
        state = data.draw(st.integers(0, 5))
        blocks = state + max(-(-each.most_cached // 4) for each in requests) + data.draw(
            st.integers(0, 12))
        engine = Engine(limits(kv_blocks=blocks, block_size=4, policy=policy,
                               state_blocks_per_request=state))
        for number, request in enumerate(requests):
            engine.submit(Job(number, request))
        now = 0.0
        while not engine.idle:
            engine.plan(now)
            now += 1
            engine.complete(now)
            engine.receive(True)
            held = sum(job.blocks + state for job in engine.running if job.blocks)
            assert engine.free + held == blocks
            assert engine.free >= 0
        assert engine.free == blocks
        assert engine.most == 0

    def test_a_request_that_never_fits_is_refused(self, policy):
        engine = Engine(limits(kv_blocks=4, block_size=16, policy=policy,
                               state_blocks_per_request=3))
        engine.submit(Job(0, Request(0.0, 15, 2)))
        with pytest.raises(ValueError, match=r"needs 5 blocks, the cache has 4\."):
            engine.submit(Job(1, Request(0.0, 16, 2)))


def test_no_state_has_fewer_blocks_than_none():
    with pytest.raises(ValueError, match="state_blocks_per_request is -1, expected 0 or more"):
        limits( state_blocks_per_request=-1)
