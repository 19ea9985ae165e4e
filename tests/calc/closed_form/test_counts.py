"""Counts of a wave and a steady state by hand: tokens of a step, requests, replicas, others."""

from types import SimpleNamespace

import numpy as np
import pytest

from calc.closed_form.benches import bench_count
from calc.closed_form.bunches import largest_of, soft_minimum
from calc.closed_form.dealing import normal_tail, others_in_turn, shorter_of_two
from calc.closed_form.overlaps import product_log
from calc.closed_form.planning import pool_replicas
from calc.closed_form.waves import first_held
from calc.physics.decode_floor import tokens_per_step

HALF, EIGHTH = 0.5, 0.5 * 0.25  # of the first draft; of the second, taken half as often


@pytest.mark.parametrize(("drafts", "tokens"), [
    (0, 1), (1, 1 + HALF), (1.5, 1 + HALF + EIGHTH / 2), (2, 1 + HALF + EIGHTH),
    (3, 1 + HALF + EIGHTH + EIGHTH / 8)])
def test_a_draft_counts_with_all_before_it(drafts, tokens):
    assert tokens_per_step(0.5, 0.5, drafts) == tokens
    assert tokens_per_step(0.5, 0.5, np.array([drafts, 3.0]))[0] == tokens


@pytest.mark.parametrize(("drafts", "tokens"), [(7, 8), (8, 9), (9, 9)])
def test_drafts_that_are_all_accepted_are_counted_up_to_eight(drafts, tokens):
    assert tokens_per_step(1.0, 1.0, drafts) == tokens


@pytest.mark.parametrize(("stated", "tokens"), [(0, 1.75), (1.25, 1.25), (3, 3), (4, 3)])
def test_a_length_that_is_stated_holds_up_to_what_there_can_be(stated, tokens):
    assert tokens_per_step(0.5, 1.0, 2, stated) == tokens


@pytest.mark.parametrize(("users", "output", "stated", "count"), [
    (2, 10, 0, 16),  # at least sixteen
    (4, 10, 0, 16), (5, 10, 0, 20),  # four waves
    (100, 2500, 0, 400), (100, 2501, 0, 100),  # of a million tokens at most
    (5, 10, 7, 7), (5, 10, 5, 5), (5, 10, 3, 5), (5, 10, 1, 5)])  # never fewer than are in flight
def test_requests_of_a_benchmark(users, output, stated, count):
    q = SimpleNamespace(concurrency=users, output_tokens=output, bench_requests=stated)
    assert bench_count(q) == count


@pytest.mark.parametrize(("ratio", "data", "ranks", "replicas"), [
    (3.0, 1, 1, 3), (3.1, 1, 1, 4), (0.2, 1, 1, 1), (0.5, 5, 1, 3), (1.0, 8, 4, 8), (1.1, 8, 4, 12),
    (3 * (1 + 5e-9), 1, 1, 3), (3 * (1 + 1e-8), 1, 1, 4)])  # one that keeps up but for rounding
def test_as_many_replicas_prefill_as_keep_up_in_whole_groups(ratio, data, ranks, replicas):
    q = SimpleNamespace(prefill_replicas=0, data_parallel=data, tensor_parallel=1,
                        expert_parallel=ranks, expert_tensor_parallel=0)
    assert pool_replicas(q, ratio) == replicas
    q.prefill_replicas = 0.5
    assert pool_replicas(q, ratio) == 0.5


@pytest.mark.parametrize(("interval", "output", "held", "apart", "time"), [
    (1, 9, 1, 0, 0), (5, 9, 1, 0, 4 * 0.3), (5, 9, 0.5, 0, 2 * 0.3), (5, 3, 1, 0, 2 * 0.3),
    (5, 9, 0, 0, 0), (5, 9, 1, 1, 0)])
def test_a_first_token_waits_for_those_that_are_sent_with_it(interval, output, held, apart, time):
    q = SimpleNamespace(stream_interval=interval, output_tokens=output, first_token_held=held,
                        separate_pools=apart)
    assert first_held(q, 0.3) == pytest.approx(time)


class TestOthers:
    @pytest.mark.parametrize(("others", "replicas"), [(4, 2), (9, 3), (100, 7)])
    def test_stays_of_random_length_find_what_a_queue_of_many_servers_does(self, others, replicas):
        """Of exponential stays the shorter of two is half of one: 1 / ((1 + 1/M)^D - 1)."""
        expected = 1 / ((1 + 1 / others) ** replicas - 1)
        assert others_in_turn(others, replicas, 0.5) == pytest.approx(expected)

    @pytest.mark.parametrize("shorter", [0.25, 0.5, 1])
    def test_a_single_replica_has_all_of_them_and_nobody_meets_nobody(self, shorter):
        assert others_in_turn(7.0, 1, shorter) == pytest.approx(7)
        assert others_in_turn(0.0, 4, shorter) == 0

    @pytest.mark.parametrize("shorter", [0.5, 0.75, 1])
    def test_of_very_many_the_excess_over_an_even_part(self, shorter):
        """Half of 1/D - 1 for random stays, and b of it for others."""
        found = others_in_turn(1e6, 4, shorter) - 1e6 / 4
        assert found == pytest.approx(shorter * (1 / 4 - 1), rel=1e-3)

    def test_stays_that_are_all_equal_find_none_before_there_is_one_for_each(self):
        assert others_in_turn(1.9, 4, 1.0) < 1e-3
        assert others_in_turn(400.0, 4, 1.0) == pytest.approx(100 - 3 / 4, rel=1e-3)

    def test_the_shorter_of_two_equal_stays_is_either_and_of_varied_ones_less(self):
        assert shorter_of_two(3.0, 5.0, (0, 0)) == 1
        drawn = np.random.default_rng(3)
        spread = np.log1p((0.5 * 2 / 5) ** 2 + (1.5 * 3 / 5) ** 2) ** 0.5
        two = np.exp(spread * drawn.standard_normal((2, 200_000)) - spread**2 / 2)
        assert shorter_of_two(2.0, 3.0, (0.5, 1.5)) == pytest.approx(
            two.min(axis=0).mean(), rel=5e-3)

    def test_nothing_lies_beyond_eight_deviations(self):
        assert normal_tail(9.0) == normal_tail(8.0) < normal_tail(7.9)
        assert normal_tail(-9.0) == normal_tail(-8.0)


class TestMany:
    @pytest.mark.parametrize("power", [1, 2, 3])
    def test_few_prompts_never_meet(self, power):
        few, more = (8.0**-4 * share for share in (0.99, 1.01))
        assert soft_minimum(few ** (1 / power), power) ** power == pytest.approx(few, rel=1e-12)
        assert soft_minimum(more ** (1 / power), power) ** power == pytest.approx(
            1 - np.exp(-more), rel=1e-9)

    def test_of_any_number_it_is_less_than_both(self):
        assert soft_minimum(-1.0, 2) == soft_minimum(0.0, 1) == 0
        assert soft_minimum(np.log(4), 1) == pytest.approx(3 / 4)
        assert soft_minimum(np.log(4) ** 0.5, 2) == pytest.approx((3 / 4) ** 0.5)

    @pytest.mark.parametrize("variance", [0.04, 0.25])
    def test_the_largest_of_one_is_it_and_of_more_what_drawing_gives(self, variance):
        spread = np.log1p(variance) ** 0.5
        draw = np.random.default_rng(4).standard_normal((40_000, 16))
        loads = np.exp(spread * draw - spread**2 / 2)
        assert largest_of(1, variance) == pytest.approx(1, abs=3e-3)
        for number in (2, 4, 16):
            assert largest_of(number, variance) == pytest.approx(
                loads[:, :number].max(axis=1).mean(), rel=0.05)
        assert largest_of(16, 0.0) == 1

    @pytest.mark.parametrize("value", [1e-6, 0.1, 0.5, 1.0, 2.0, 4.0])
    def test_the_product_with_its_exponential_is_what_was_given(self, value):
        assert product_log(value * np.exp(value)) == pytest.approx(value, rel=0.02)
