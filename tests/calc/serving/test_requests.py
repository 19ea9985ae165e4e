"""Arrivals: lengths, rates, bursts, conversations and closed loops."""

import math
from statistics import NormalDist

import numpy as np
import pytest

from calc.serving.requests import (
    ClosedLoop,
    Conversation,
    Prefixes,
    poisson,
    shapes_of,
)

SHAPES = [(100, 7), (40, 3, 5)]


class TestLengths:
    @pytest.mark.parametrize("variation", [0.5, 1.5])
    def test_lognormal_lengths_are_quantiles_at_equal_steps(self, variation):
        """Of a mean so long that rounding is nothing."""
        found = np.sort(np.array(shapes_of(1e12, 1e12, "lognormal", variation))[:, 0]) / 1e12
        sigma = math.sqrt(math.log(1 + variation**2))
        count, normal = len(found), NormalDist()
        assert found.mean() == pytest.approx(1, rel=1e-9)
        for one, other in ((0, 500), (500, 1500), (1500, count - 1)):
            apart = normal.inv_cdf((other + 0.5) / count) - normal.inv_cdf((one + 0.5) / count)
            assert math.log(found[other] / found[one]) == pytest.approx(sigma * apart, rel=1e-6)

    def test_prompts_and_answers_vary_independently(self):
        shapes = np.array(shapes_of(10_000, 9_000, "lognormal", (0.2, 0.9)), float)
        assert shapes.std(axis=0)[:2] / shapes.mean(axis=0)[:2] == pytest.approx(
            [0.2, 0.9], rel=0.05)
        assert abs(np.corrcoef(shapes[:, 0], shapes[:, 1])[0, 1]) < 0.1
        one, other = (shapes_of(300, 40, "exponential", seed=seed) for seed in (1, 2))
        assert one != other  # only which prompt has which answer depends on the seed
        for column in (0, 1):
            assert sorted(each[column] for each in one) == sorted(each[column] for each in other)

    @pytest.mark.parametrize(("options", "shape"), [
        ({}, (100, 10, 0)), ({"cached_share": 0.259}, (100, 10, 25)),
        ({"cached_share": 1.0}, (100, 10, 99)), ({"longest": 110}, (100, 10, 0)),
        ({"longest": 105}, (100, 5, 0)), ({"longest": 101}, (100, 1, 0)),
        ({"longest": 60}, (59, 1, 0)), ({"longest": 60, "cached_share": 1.0}, (59, 1, 58))])
    def test_a_longest_request_cuts_the_answer_then_the_prompt(self, options, shape):
        assert shapes_of(100, 10, **options) == (shape,)
        assert shapes_of(0.2, 0.3) == ((1, 1, 0),)


def test_poisson_arrivals():
    requests = poisson(5.0, 50_000, SHAPES, 5)
    gaps = np.diff([request.arrival for request in requests])
    assert (gaps.mean(), gaps.std()) == pytest.approx((0.2, 0.2), rel=0.02)
    cached = np.mean([each.cached_tokens == 5 for each in requests])
    assert cached == pytest.approx(0.5, abs=0.02)
    assert {(each.input_tokens, each.output_tokens, each.cached_tokens)
            for each in requests} == {(100, 7, 0), (40, 3, 5)}
    few, fast = poisson(1.0, 10, SHAPES, 5), poisson(4.0, 10, SHAPES, 5)
    assert [each.arrival for each in few] == pytest.approx([4 * each.arrival for each in fast])
    assert [each.input_tokens for each in few] == [each.input_tokens for each in requests[:10]]
    assert poisson(1.0, 10, SHAPES) == poisson(1.0, 10, SHAPES, 0) != few


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
        short = self.talk(Prefixes(99, 50, 3))  # a prompt that is all prefix, then one token more
        assert [short.ask(0.0, (30, 7)).input_tokens for _ in range(2)] == [30, 38]

    @pytest.mark.parametrize(("longest", "prompts"), [
        (94, [50, 87, 50]), (93, [50, 50, 50]), (131, [50, 87, 124]), (math.inf, [50, 87, 124])])
    def test_a_turn_is_at_most_as_long_as_the_longest(self, longest, prompts):
        user = self.talk(Prefixes(99, 20, 9, longest))
        assert [user.ask(0.0, (50, 7)).input_tokens for _ in range(3)] == prompts


def test_users_of_a_loop_begin_during_its_ramp_and_think():
    begins = ClosedLoop(500, 500, SHAPES, ramp=8.0, seed=2).begins()
    assert begins == sorted(begins)
    assert np.quantile(begins, [0, 0.5, 1]) == pytest.approx([0, 4, 8], abs=0.4)
    assert ClosedLoop(3, 9, SHAPES).begins() == [0.0, 0.0, 0.0]
    shapes, thinking = ClosedLoop(3, 5000, SHAPES, 2.5, exponential=True, seed=1).draw()
    assert len(shapes) == len(thinking) == 5000
    assert (np.mean(thinking), np.std(thinking)) == pytest.approx((2.5, 2.5), rel=0.05)
    same, constant = ClosedLoop(3, 5000, SHAPES, 2.5, seed=1).draw()
    assert (same, set(constant)) == (shapes, {2.5})
    assert ClosedLoop(3, 9, SHAPES).draw()[1] == [0.0] * 9
