"""The prefix cache: what is found is what was kept, what is kept is what there is room for."""

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
from calc.serving.requests import Job, Request
from calc.serving.scheduling import Transfer, schedule
from calc.serving.simulation import Pool, simulate

ONE_STEP, STEP = affine(1.0, 0.0), affine(0.01, 1e-3)
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


def test_a_preempted_request_finds_its_own_blocks_and_a_stated_share_is_a_hit():
    served = schedule([asks("a", 0.0, 4, 4), asks("b", 0.0, 4, 4)], limits(kv_blocks=9), ONE_STEP)
    first, second = served.outcomes
    assert (first.preemptions, second.preemptions, second.hit_tokens) == (0, 1, 0)
    again = next(s.step for s in served.steps if s.start >= first.finished)
    assert again.prefill == ((3, 2),)
    summary = summarise(simulate(bursts(2, 1.0, 5, [(100, 3, 25)]), Pool(limits(), ONE_STEP)))
    assert (summary.hit_share, summary.evicted) == (0.25, 0)


class TestShares:
    """A cache that holds everything finds all that repeats, in whole blocks."""

    @pytest.mark.parametrize("policy", POLICIES)
    @pytest.mark.parametrize(("groups", "prefix", "block"), [
        (1, 60, 1), (5, 60, 16), (5, 64, 16), (30, 99, 10), (2, 15, 16)])
    def test_of_groups_with_a_prefix(self, policy, groups, prefix, block):
        """All but the first of each group find its whole blocks."""
        requests = sharing(poisson(3.0, 200, [(101, 5), (130, 20)], seed=2),
                           Prefixes(groups, prefix), seed=2)
        assert len({request.texts[0][0] for request in requests}) == groups
        run = simulate(requests, Pool(limits(130, 40, policy, block_size=block), STEP))
        assert sum(outcome.hit_tokens for outcome in run.outcomes) == (
            len(requests) - groups) * (prefix // block * block)
        assert sum(outcome.evicted for outcome in run.outcomes) == 0

    @pytest.mark.parametrize("turns", [1, 2, 6])
    def test_of_turns(self, turns):
        """Of turn k all of k - 1 turns before it is there: (N-1)(n+o) / ((N+1) n + (N-1) o)."""
        loop = ClosedLoop(4, 12 * turns, [(50, 30)], 0.5, seed=1, prefixes=Prefixes(turns=turns))
        n, o = 50, 30
        # but for the last token of each answer, which is never fed
        lost = Fraction(2 * (turns - 1), turns * ((turns + 1) * n + (turns - 1) * o))
        assert share(simulate(loop, Pool(limits(64, 3), STEP))) + lost == Fraction(
            (turns - 1) * (n + o), (turns + 1) * n + (turns - 1) * o)

    def test_each_replica_has_a_cache_and_a_prefill_pool_keeps_no_answers(self):
        requests = sharing(poisson(3.0, 60, [(100, 5)]), Prefixes(1, 50))
        for replicas in (1, 2, 5):
            run = simulate(requests, Pool(limits(), STEP, replicas=replicas))
            assert share(run) == Fraction((60 - replicas) * 50, 60 * 100)
        loop, pool = ClosedLoop(1, 4, [(50, 30)], prefixes=Prefixes(turns=4)), Pool(limits(), STEP)
        run = simulate(loop, pool, pool, Transfer(lambda tokens: 0.1))
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


class TestLaws:
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

        def in_use():
            own = sum(job.blocks + state - sum(max(0, min(end, job.held) - begin)
                                               for _, begin, end in job.spans)
                      for job in engine.running if job.blocks)
            return own + engine.prefix_cache.in_use

        while engine.load:
            engine.receive(engine.idle)
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
        assert computed == left if not served.preemptions else computed >= left
