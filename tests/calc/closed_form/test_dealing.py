"""Round-robin: other requests on the same replica, the shorter of two stays, normal tail."""

import heapq
import math

import numpy as np
import pytest

from calc.closed_form.dealing import normal_tail, others_in_turn, shorter_of_two


def log_normal(variation, count, seed=7):
    """Log-normal stays of mean 1."""
    spread = np.log1p(variation**2) ** 0.5
    return np.exp(spread * np.random.default_rng(seed).standard_normal(count) - spread**2 / 2)


def in_a_loop(stays, others):
    """Start of each stay in a closed loop of ``others + 1`` requests."""
    starts, ends = [], []
    for stay in stays.tolist():
        starts.append(heapq.heappop(ends) if len(ends) > others else 0.0)
        heapq.heappush(ends, starts[-1] + stay)
    return np.array(starts)


def beside(starts, stays, replicas):
    """Mean number of others on the same replica over a stay: ∫ N (N - 1) dt over all stays."""
    met = 0.0
    for which in range(replicas):
        begin, stay = starts[which::replicas], stays[which::replicas]
        moments = np.concatenate([begin, begin + stay])
        order = np.argsort(moments)
        there = np.where(order < len(begin), 1, -1).cumsum()[:-1]
        met += (there * (there - 1) * np.diff(moments[order])).sum()
    return met / stays.sum()


class TestOthers:
    @pytest.mark.parametrize(("others", "replicas"), [(4, 2), (9, 3), (16, 8), (40, 8)])
    @pytest.mark.parametrize("variation", [0.2, 0.5, 2.0])
    def test_closed_loop_of_log_normal_stays(self, others, replicas, variation):
        stays = log_normal(variation, 20_000)
        shorter = shorter_of_two(1.0, 0.0, (variation, variation))
        assert others_in_turn(others, replicas, shorter) == pytest.approx(
            beside(in_a_loop(stays, others), stays, replicas), rel=0.02)

    @pytest.mark.parametrize("replicas", [2, 5])
    def test_independent_arrivals(self, replicas):
        """Exponential stays, four at a time; random assignment would give 4/D others."""
        draw = np.random.default_rng(8)
        starts, stays = draw.exponential(1 / 4, 40_000).cumsum(), draw.exponential(1, 40_000)
        found = others_in_turn(4.0, replicas, 0.5)
        assert found == pytest.approx(beside(starts, stays, replicas), rel=0.03)
        assert found < 4 / replicas

    @pytest.mark.parametrize(("others", "replicas"), [(1.0, 2), (6.0, 2), (50.0, 4)])
    def test_continuous_where_the_exponent_vanishes(self, others, replicas):
        """(1 + D x / M)^(1/x) tends to e^(D/M) for x -> 0, i.e. b = 1/2 / (1 - 1/D)."""
        middle = 0.5 / (1 - 1 / replicas)
        expected = 1 / (math.exp(replicas / others) - 1)
        for off in (0, 1e-9, -1e-5, 1e-4):
            assert others_in_turn(others, replicas, middle + off) == pytest.approx(
                expected, rel=2e-3)

    def test_monotone_in_requests_and_replicas(self):
        replicas, shorter, others = np.ix_([1, 2, 8], [0.3, 0.5, 0.9], np.linspace(0, 100, 201))
        found = others_in_turn(others, replicas, shorter)
        assert (np.diff(found) >= 0).all()
        assert (found <= others / replicas * (1 + 1e-9)).all()
        assert (others_in_turn(others, replicas + 1, shorter) <= found + 1e-12).all()

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

    def test_shorter_stay_is_symmetric_and_decreases_with_variation(self):
        assert shorter_of_two(2.0, 3.0, (0.4, 0.7)) == shorter_of_two(3.0, 2.0, (0.7, 0.4))
        assert shorter_of_two(2.0, 3.0, (0.4, 0.7)) == pytest.approx(
            shorter_of_two(20.0, 30.0, (0.4, 0.7)))
        assert shorter_of_two(5.0, 0.0, (0.4, 9.0)) == shorter_of_two(0.0, 1.0, (9.0, 0.4))
        varied = shorter_of_two(1.0, 1.0, (np.linspace(0, 5, 50), 0.3))
        assert (np.diff(varied) < 0).all()
        assert shorter_of_two(1.0, 0.0, (1e6, 0)) < 1e-3


def test_tail_of_the_normal_distribution():
    """Within 1.5e-4, the error that its source states."""
    deviations = np.linspace(-7.9, 7.9, 500)
    exact = [math.erfc(z / 2**0.5) / 2 for z in deviations]
    assert np.abs(normal_tail(deviations) - exact).max() < 1.5e-4
    assert (np.diff(normal_tail(deviations)) <= 0).all()
    assert normal_tail(deviations) + normal_tail(-deviations) == pytest.approx(1)
    assert normal_tail(np.float64(0)) == 0.5
    assert normal_tail(9.0) == normal_tail(8.0) < normal_tail(7.9)
    assert normal_tail(-9.0) == normal_tail(-8.0)
