"""Closed forms of queues: others on a replica, batches of prompts, waits, overlaps, gathering."""

import numpy as np
import pytest

from calc.closed_form.bunches import largest_of, soft_minimum
from calc.closed_form.dealing import normal_tail, others_in_turn, shorter_of_two
from calc.closed_form.overlaps import Among, decoding_among, overlapping, product_log
from calc.closed_form.steady import gathering, pool_queue


class TestOthers:
    @pytest.mark.parametrize(("others", "replicas"), [(4, 2), (9, 3), (100, 7)])
    def test_random_stays_find_what_a_queue_of_many_servers_does(self, others, replicas):
        """Of exponential stays the shorter of two is half of one: 1 / ((1 + 1/M)^D - 1)."""
        expected = 1 / ((1 + 1 / others) ** replicas - 1)
        assert others_in_turn(others, replicas, 0.5) == pytest.approx(expected)

    @pytest.mark.parametrize("shorter", [0.25, 0.5, 0.75, 1])
    def test_a_single_replica_has_all_of_them_and_many_have_an_even_part_less_an_excess(
            self, shorter):
        """Half of 1/D - 1 for random stays, and b of it for others."""
        assert others_in_turn(7.0, 1, shorter) == pytest.approx(7)
        assert others_in_turn(0.0, 4, shorter) == 0
        excess = others_in_turn(1e6, 4, shorter) - 1e6 / 4
        assert excess == pytest.approx(shorter * (1 / 4 - 1), rel=1e-3)

    def test_equal_stays_find_none_before_there_is_one_for_each(self):
        assert others_in_turn(1.9, 4, 1.0) < 1e-3
        assert others_in_turn(400.0, 4, 1.0) == pytest.approx(100 - 3 / 4, rel=1e-3)

    def test_the_shorter_of_two_stays(self):
        assert shorter_of_two(3.0, 5.0, (0, 0)) == 1
        drawn = np.random.default_rng(3)
        spread = np.log1p((0.5 * 2 / 5) ** 2 + (1.5 * 3 / 5) ** 2) ** 0.5
        two = np.exp(spread * drawn.standard_normal((2, 200_000)) - spread**2 / 2)
        assert shorter_of_two(2.0, 3.0, (0.5, 1.5)) == pytest.approx(
            two.min(axis=0).mean(), rel=5e-3)


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

    @pytest.mark.parametrize("thinking", [0.01, 0.3, 2.0, 30.0])
    def test_decode_steps_go_on_longer_the_more_users_think(self, thinking):
        """Answers end at random, one a step, and their users think for ``a``: the first ends it."""
        draw = np.random.default_rng(2)
        away = draw.exponential(thinking, (2000, 40 + 8 * int(thinking)))
        ended = draw.exponential(1.0, away.shape).cumsum(axis=1)
        assert gathering(thinking) == pytest.approx((ended + away).min(axis=1).mean(), rel=0.06)


@pytest.mark.parametrize(("load", "service", "base"), [
    (0.3, 0.7, 11.0), (5.0, 0.25, 4.0), (40.0, 3.0, 7.0), (2.0, 3.0, 2.0)])
def test_the_wait_for_a_prefill_replica_solves_its_equation(load, service, base):
    """Those who wait find half of a service of the load: W (A + W - κ) = κ S / 2."""
    wait = pool_queue(load, service, base)
    assert wait > 0
    assert wait * (base + wait - load) == pytest.approx(load * service / 2)
    assert pool_queue(0.0, service, base) == 0
    assert pool_queue(1e6, service, base) == pytest.approx(1e6 - base, rel=1e-4)


class TestOverlaps:
    @pytest.mark.parametrize("value", [1e-6, 0.1, 0.5, 1.0, 2.0, 4.0])
    def test_lambert_s_w_and_the_runs_that_it_describes(self, value):
        """e prompts at random for a decode step: a step without any ends the run of N."""
        assert product_log(value * np.exp(value)) == pytest.approx(value, rel=0.02)
        steps = np.exp(product_log(value))
        drawn = np.random.default_rng(1).poisson(value / steps, 100_000)
        assert np.mean(drawn == 0) == pytest.approx(1 / steps, rel=0.06)

    AMONG = Among(own=4.0, first=1.0, load=2.5, chunks=2.0, begun=0.3, rest=0.25, pausing=0.0)

    def test_prompts_in_work_bring_as_much_as_the_load(self):
        """ρ (τ_1 + τ_D(ρ)) is the load of all others; each guess is nearer than the one before."""
        missed = [abs(rho * (1.0 + decoding_among(self.AMONG, rho)) / 2.5 - 1)
                  for rho in overlapping(self.AMONG)]
        assert missed == sorted(missed, reverse=True)
        assert missed[-1] < 1e-3

    def test_decoding_alone_and_among_ever_more_prompts(self):
        times = [float(decoding_among(self.AMONG, rho)) for rho in (1e-9, 0.5, 1.0, 2.0, 16.0)]
        assert times[0] == pytest.approx(4.0)
        assert times == sorted(times)
        # beyond, every step has a prompt, and takes four times as long; what began is over first
        assert times[-1] == pytest.approx(4.0 / 0.25, rel=1e-3)


def test_tail_of_the_normal_distribution():
    assert normal_tail(np.float64(0)) == 0.5
    assert normal_tail(9.0) == normal_tail(8.0) < normal_tail(7.9)
    assert normal_tail(-9.0) == normal_tail(-8.0)
