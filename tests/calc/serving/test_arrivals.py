"""Who asks what when, and what a scheduler takes and gives: arrivals, lengths, requests, limits."""

import math
from statistics import NormalDist

import numpy as np
import pytest

from calc.serving.arrivals import (
    ClosedLoop,
    Conversation,
    Prefixes,
    bursts,
    in_prefix_cache,
    modulated,
    poisson,
    shapes_of,
    sharing,
)
from calc.serving.requests import Contexts, Job, Limits, Outcome, Request, Step
from calc.serving.scheduling import duration, group_duration

SHAPES = [(100, 7), (40, 3, 5)]


def factors(distribution, variation=1.0):
    """Prompts over their mean, in order of length: of a mean so long that rounding is nothing."""
    shapes = shapes_of(1e12, 1e12, distribution, variation)
    return np.sort([prompt for prompt, *_ in shapes]) / 1e12


class TestLengths:
    def test_exponential_ones_are_its_quantiles_at_equal_steps(self):
        found = factors("exponential")
        count = len(found)
        assert found.mean() == pytest.approx(1, rel=1e-9)
        assert found[0] / found[-1] == pytest.approx(
            math.log1p(-0.5 / count) / math.log(0.5 / count), rel=1e-6)

    @pytest.mark.parametrize("variation", [0.5, 1.5])
    def test_lognormal_ones_are_those_of_a_normal_logarithm(self, variation):
        found, sigma = factors("lognormal", variation), math.sqrt(math.log(1 + variation**2))
        count, normal = len(found), NormalDist()
        assert found.mean() == pytest.approx(1, rel=1e-9)
        for one, other in ((0, 500), (500, 1500), (1500, count - 1)):
            apart = normal.inv_cdf((other + 0.5) / count) - normal.inv_cdf((one + 0.5) / count)
            assert math.log(found[other] / found[one]) == pytest.approx(sigma * apart, rel=1e-6)

    def test_prompts_and_answers_vary_each_by_its_own(self):
        shapes = np.array(shapes_of(10_000, 9_000, "lognormal", (0.2, 0.9)), float)
        spreads = shapes.std(axis=0)[:2] / shapes.mean(axis=0)[:2]
        assert spreads == pytest.approx([0.2, 0.9], rel=0.05)

    @pytest.mark.parametrize(("asked", "shape"), [
        ({}, (100, 10, 0)), ({"cached_share": 0.25}, (100, 10, 25)),
        ({"cached_share": 0.259}, (100, 10, 25)), ({"cached_share": 1.0}, (100, 10, 99)),
        ({"longest": 110}, (100, 10, 0)), ({"longest": 105}, (100, 5, 0)),
        ({"longest": 101}, (100, 1, 0)), ({"longest": 60}, (59, 1, 0)),
        ({"longest": 60, "cached_share": 1.0}, (59, 1, 58))])
    def test_a_request_that_may_not_be_so_long_is_cut_at_its_answer_then_at_its_prompt(
            self, asked, shape):
        assert shapes_of(100, 10, **asked) == (shape,)

    def test_a_request_has_a_token_of_each(self):
        assert shapes_of(0.2, 0.3) == ((1, 1, 0),)
        assert min(min(shape[:2]) for shape in shapes_of(2, 3, "lognormal", 3.0)) == 1

    def test_only_who_meets_whom_hangs_on_the_seed(self):
        one, other = (shapes_of(300, 40, "exponential", seed=seed) for seed in (1, 2))
        assert one != other
        for place in (0, 1):
            assert sorted(each[place] for each in one) == sorted(each[place] for each in other)
        assert shapes_of(300, 40, "exponential") == shapes_of(300, 40, "exponential", seed=0)

    def test_a_prompts_last_token_is_never_cached(self):
        prompts = np.array([1, 2, 100, 101])
        assert in_prefix_cache(prompts, 1.0).tolist() == [0, 1, 99, 100]
        assert in_prefix_cache(prompts, 0.5).tolist() == [0, 1, 50, 50]

    @pytest.mark.parametrize("variation", [0.0, -1.0, math.inf, math.nan, (0.5, 0.0), (0.0, 0.5)])
    def test_no_variation_is_told(self, variation):
        with pytest.raises(ValueError, match=r"expected more than 0\.$"):
            shapes_of(100, 10, "lognormal", variation)

    def test_an_unknown_distribution_is_told_with_those_there_are(self):
        with pytest.raises(ValueError, match="'normal', expected one of: constant, exp"):
            shapes_of(100, 10, "normal")


class TestOpen:
    def test_lengths_are_drawn_apart_from_times(self):
        """Each shape as likely as any other, whatever the rate and the number of requests."""
        few, many = poisson(1.0, 10, SHAPES, 5), poisson(3.0, 2000, SHAPES, 5)
        assert [each.input_tokens for each in few] == [each.input_tokens for each in many[:10]]
        assert np.mean([each.cached_tokens == 5 for each in many]) == pytest.approx(0.5, abs=0.05)
        assert {(each.input_tokens, each.output_tokens, each.cached_tokens)
                for each in many} == {(100, 7, 0), (40, 3, 5)}
        assert poisson(1.0, 10, SHAPES) == poisson(1.0, 10, SHAPES, 0) != few

    def test_without_variation_busy_and_quiet_times_are_independent_users(self):
        plain = poisson(2.0, 60, SHAPES, 3)
        for request, same in zip(modulated(2.0, 0.0, 7.0, 60, SHAPES, 3), plain, strict=True):
            assert request.arrival == pytest.approx(same.arrival)
            assert (request.input_tokens, request.cached_tokens) == (
                same.input_tokens, same.cached_tokens)

    def test_rates_of_windows_have_their_mean_and_spread(self):
        """200 a window on average, so that chance within one adds a fourteenth."""
        times = [each.arrival for each in modulated(100.0, 0.5, 2.0, 40_000, [(1, 1)], 1)]
        counts = np.histogram(times, np.arange(0, times[-1], 2.0))[0]
        assert counts.mean() == pytest.approx(200, rel=0.1)
        assert counts.std() / counts.mean() == pytest.approx(math.hypot(0.5, 0.07), rel=0.15)

    def test_groups_come_at_once_and_the_next_one_a_period_later(self):
        found = bursts(3, 2.5, 2, SHAPES, 4)
        assert [each.arrival for each in found] == [0, 0, 0, 2.5, 2.5, 2.5]
        assert {each.input_tokens for each in bursts(20, 1.0, 2, SHAPES)} == {100, 40}
        assert bursts(20, 1.0, 2, SHAPES) != bursts(20, 1.0, 2, SHAPES, 1)
        assert [each.arrival for each in bursts(1, 0.5, 3, SHAPES)] == [0, 0.5, 1.0]

    @pytest.mark.parametrize(("make", "message"), [
        (lambda: poisson(0.0, 1, SHAPES), "rate of arrivals is 0.0"),
        (lambda: poisson(-1.0, 1, SHAPES), "rate of arrivals is -1.0"),
        (lambda: poisson(math.inf, 1, SHAPES), "rate of arrivals is inf"),
        (lambda: poisson(1.0, 0, SHAPES), "0 requests of 2 shapes"),
        (lambda: poisson(1.0, 3, []), "3 requests of 0 shapes"),
        (lambda: modulated(1.0, -0.1, 1.0, 5, SHAPES), "varies by -0.1 in windows of 1.0 s"),
        (lambda: modulated(1.0, math.inf, 1.0, 5, SHAPES), "varies by inf"),
        (lambda: modulated(1.0, 0.1, 0.0, 5, SHAPES), "windows of 0.0 s"),
        (lambda: bursts(0, 1.0, 1, SHAPES), "0 requests every 1.0 s"),
        (lambda: bursts(1, 0.0, 1, SHAPES), "1 requests every 0.0 s"),
        (lambda: bursts(1, math.inf, 1, SHAPES), "1 requests every inf s"),
        (lambda: bursts(2, 1.0, 0, SHAPES), "0 requests of 2 shapes"),
    ])
    def test_what_is_no_arrival_is_told(self, make, message):
        with pytest.raises(ValueError, match=message):
            make()


class TestConversations:
    def talk(self, prefixes, count=9):
        return Conversation(prefixes, iter([(number, 10 + number) for number in range(count)]))

    def test_a_turn_asks_all_that_was_said_and_what_is_new(self):
        """Of 50 tokens 20 are the prefix: 30 more a turn, after an answer of 7."""
        user = self.talk(Prefixes(99, 20, 3))
        asked = [user.ask(float(at), (50, 7)) for at in range(4)]
        assert [(each.arrival, each.input_tokens, each.output_tokens) for each in asked] == [
            (0, 50, 7), (1, 87, 7), (2, 124, 7), (3, 50, 7)]
        assert [each.texts for each in asked] == [
            (((10,), 20), ((10, 0), 57)), (((10,), 20), ((10, 0), 94)),
            (((10,), 20), ((10, 0), 131)), (((11,), 20), ((11, 1), 57))]

    def test_a_prompt_no_longer_than_the_prefix_is_all_prefix_and_then_says_one_token(self):
        user = self.talk(Prefixes(99, 50, 3))
        asked = [user.ask(0.0, (30, 7)) for _ in range(2)]
        assert [each.input_tokens for each in asked] == [30, 38]
        assert [each.texts[0] for each in asked] == [((10,), 30)] * 2

    @pytest.mark.parametrize(("longest", "prompts"), [
        (94, [50, 87, 50]), (93, [50, 50, 50]), (131, [50, 87, 124]), (math.inf, [50, 87, 124])])
    def test_a_turn_may_be_as_long_as_the_longest(self, longest, prompts):
        user = self.talk(Prefixes(99, 20, 9, longest))
        assert [user.ask(0.0, (50, 7)).input_tokens for _ in range(3)] == prompts

    @pytest.mark.parametrize("tokens", [0, 20, 50, 70])
    @pytest.mark.parametrize("turns", [1, 2, 5])
    def test_the_last_turn_is_as_long_as_is_said_beforehand(self, tokens, turns):
        prefixes = Prefixes(99, tokens, turns)
        user = self.talk(prefixes)
        last = [user.ask(0.0, (50, 7)) for _ in range(turns)][-1]
        assert prefixes.conversation_tokens(50, 7) == last.input_tokens + last.output_tokens

    def test_every_prefix_is_as_likely_and_conversations_are_counted(self):
        drawn = list(Prefixes(groups=4).drawn(4000, 1))
        assert [number for number, _ in drawn] == list(range(4000))
        assert np.bincount([group for _, group in drawn]) == pytest.approx([1000] * 4, rel=0.1)
        assert list(Prefixes(groups=1).drawn(3, 1)) == [(0, 0), (1, 0), (2, 0)]

    def test_open_arrivals_keep_their_times_and_lengths(self):
        plain = poisson(1.0, 30, [(50, 7)], 2)
        found = sharing(plain, Prefixes(3, 20), 2)
        assert [(each.arrival, each.input_tokens, each.output_tokens) for each in found] == [
            (each.arrival, 50, 7) for each in plain]
        assert len({each.texts[1][0] for each in found}) == 30
        assert sharing(plain, Prefixes(3, 20)) == sharing(plain, Prefixes(3, 20), 0)


class TestLoop:
    def test_users_begin_in_order_at_any_moment_of_the_ramp(self):
        begins = ClosedLoop(500, 500, SHAPES, ramp=8.0, seed=2).begins()
        assert begins == sorted(begins)
        assert len(begins) == 500
        assert np.quantile(begins, [0, 0.5, 1]) == pytest.approx([0, 4, 8], abs=0.4)
        assert ClosedLoop(3, 9, SHAPES).begins() == [0.0, 0.0, 0.0]

    def test_thinking_is_constant_or_has_that_mean(self):
        shapes, thinking = ClosedLoop(3, 5000, SHAPES, 2.5, exponential=True, seed=1).draw()
        assert len(shapes) == len(thinking) == 5000
        assert np.mean(thinking) == pytest.approx(2.5, rel=0.05)
        assert np.std(thinking) == pytest.approx(2.5, rel=0.05)
        same, constant = ClosedLoop(3, 5000, SHAPES, 2.5, seed=1).draw()
        assert (same, set(constant)) == (shapes, {2.5})
        assert ClosedLoop(3, 9, SHAPES).draw()[1] == [0.0] * 9

    @pytest.mark.parametrize(("asked", "message"), [
        ((0, 5), "0 users and 5 requests"), ((3, 2), "3 users and 2 requests"),
        ((1, 1, SHAPES, -1.0), "think_time is -1.0 s"),
        ((1, 1, SHAPES, math.inf), "think_time is inf s"),
        ((1, 1, SHAPES, 0.0, False, -2.0), "ramp is -2.0 s"),
        ((1, 1, SHAPES, 0.0, False, math.nan), "ramp is nan s")])
    def test_what_is_no_loop_is_told(self, asked, message):
        with pytest.raises(ValueError, match=message):
            ClosedLoop(*asked, *(() if len(asked) > 2 else (SHAPES,)))
        assert ClosedLoop(2, 2, SHAPES).users == 2


class TestContexts:
    def test_every_request_is_a_token_further_each_step(self):
        some = Contexts((3, 5, 11))
        assert (tuple(some.next()), some.next().total) == ((4, 6, 12), 22)
        assert (tuple(some.next(4)), some.next(4).total) == ((7, 9, 15), 31)
        later = some.next(4).next(2)
        assert (tuple(later), later.total, len(later)) == ((9, 11, 17), 37, 3)
        assert (later[0], later[-1], later[1:]) == (9, 17, (11, 17))
        assert (Contexts((3, 5), 2).total, tuple(Contexts((3, 5), 2))) == (12, (5, 7))

    def test_it_is_its_numbers(self):
        assert Contexts((3, 5), 1) == (4, 6) == Contexts((4, 6))
        assert Contexts((3, 5)) != (3, 6)
        assert Contexts((3, 5)) != 8
        assert hash(Contexts((3, 5), 1)) == hash(Contexts((4, 6)))
        assert repr(Contexts((3, 5), 1)) == "(4, 6)"


class TestRequests:
    def test_the_last_token_is_never_fed(self):
        assert Request(0.0, 7, 3).most_cached == 9
        assert Request(0.0, 1, 1, 0).most_cached == 1

    @pytest.mark.parametrize("wrong", [
        (-0.1, 1, 1), (math.inf, 1, 1), (0.0, 0, 1), (0.0, 1, 0), (0.0, 5, 1, 5), (0.0, 5, 1, -1),
        (0.0, 5, 1, 1, (("a", 3),))])
    def test_what_is_no_request_is_refused(self, wrong):
        with pytest.raises(ValueError, match="expected"):
            Request(*wrong)
        assert Request(0.0, 5, 1, 4).cached_tokens == 4
        assert Request(0.0, 5, 1, 0, (("a", 3),)).texts == (("a", 3),)

    def test_who_comes_with_a_cache_has_a_first_token_and_loses_all_with_it(self):
        fresh, sent = (Job(2, Request(0.0, 7, 3, 4), prefilled=sent) for sent in (False, True))
        assert (fresh.generated, fresh.known, fresh.computed, fresh.base) == (0, 7, 4, 4)
        assert (sent.generated, sent.known, sent.computed, sent.base) == (1, 8, 7, 0)
        assert (fresh.decodes, sent.decodes) == (False, True)
        assert (fresh.hit_tokens, fresh.held, fresh.preemptions, fresh.evicted) == (4, 0, 0, 0)
        sent.known = 9
        assert not sent.decodes

    def test_times_of_an_outcome(self):
        found = Outcome(5, 1.0, 1.5, 3.0, 7.5, 20, 4, 0)
        assert (found.wait, found.ttft, found.tpot, found.e2e) == (0.5, 2.0, 1.5, 6.5)
        assert math.isnan(Outcome(5, 1.0, 1.5, 3.0, 3.0, 20, 1, 0).tpot)
        assert Outcome(5, 1.0, 1.5, 3.0, 4.0, 20, 2, 0).tpot == 1.0


class TestLimits:
    def test_blocks_are_whole_and_a_state_lies_beside_them(self):
        some = Limits(64, 1, kv_blocks=10, block_size=16, state_blocks_per_request=3)
        assert [some.blocks(tokens) for tokens in (0, 1, 16, 17, 33)] == [0, 1, 1, 2, 3]
        assert [some.with_state(tokens) for tokens in (16, 17)] == [4, 5]
        assert some.longest == 7 * 16
        assert Limits(64, 1, kv_blocks=2, block_size=16, state_blocks_per_request=3).longest == 0
        assert Limits(64, 1, kv_blocks=2, block_size=16).longest == 32

    def test_each_text_has_the_whole_blocks_that_those_before_it_leave(self):
        some = Limits(64, 1, block_size=4)
        assert some.spans((("a", 9), ("b", 11), ("c", 22))) == (("a", 0, 2), ("c", 2, 5))
        assert some.spans((("a", 3),)) == ()
        assert some.spans((("a", 4), ("b", 8))) == (("a", 0, 1), ("b", 1, 2))

    @pytest.mark.parametrize("wrong", [
        {"max_num_batched_tokens": 0}, {"max_num_seqs": 0}, {"kv_blocks": 0}, {"block_size": 0},
        {"recv_interval": 0}, {"policy": "fifo"}, {"reserved_output": -0.1},
        {"reserved_output": 1.1}, {"steps_ahead": -1}, {"state_blocks_per_request": -1}])
    def test_under_what_nothing_runs_is_refused(self, wrong):
        (name,) = wrong
        with pytest.raises(ValueError, match=f"{name} is|no {name}"):
            Limits(**{"max_num_batched_tokens": 1, "max_num_seqs": 1} | wrong)
        least = Limits(1, 1, 1, 1, reserved_output=0.0)
        assert (least.reserved_output, Limits(1, 1, reserved_output=1.0).reserved_output) == (0, 1)

    def test_what_an_engine_does_unless_it_is_told(self):
        usual = Limits(1, 1)
        assert (usual.kv_blocks, usual.block_size, usual.policy, usual.whole_prompt_fits) == (
            None, 1, "mixed", True)
        assert (usual.reserved_output, usual.recv_interval, usual.steps_ahead,
                usual.state_blocks_per_request) == (1.0, 1, 0, 0)


class TestDuration:
    STEP = Step(((5, 0), (6, 1)), (7, 8, 9))

    def test_the_gap_is_a_part_of_it(self):
        assert duration(self.STEP, lambda step: 2.0, 0.25) == 2.25
        assert group_duration([self.STEP] * 2, lambda steps: float(len(steps)), 0.5) == 2.5
        assert duration(self.STEP, lambda step: 0.0, 0.0) == 0.0

    @pytest.mark.parametrize("taken", [-1.0, math.inf, math.nan])
    def test_no_time_is_told_with_what_the_step_has(self, taken):
        with pytest.raises(ValueError, match=(
                r"^a step with 2 chunks and 3 decoding requests takes .* s, expected a time")):
            duration(self.STEP, lambda step: taken, 0.25)
        with pytest.raises(ValueError, match=r"^a step with 4 chunks and 4 decoding requests"):
            group_duration([self.STEP, Step(((1, 0), (1, 1)), (3,))], lambda steps: taken, 0.25)
