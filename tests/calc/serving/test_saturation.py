"""Saturation: rate of a full server, of ranks that step together, and a queue without a bound."""

from dataclasses import replace
from itertools import count

import numpy as np
import pytest
from _engines import affine, limits

from calc.serving.arrivals import poisson
from calc.serving.metrics import summarise
from calc.serving.requests import Outcome, Run
from calc.serving.saturation import keeps_up, saturation_of_ranks, saturation_rate
from calc.serving.simulation import Pool, simulate

ONE_TOKEN, SERVICE = [(100, 1)], 0.25
ONE_BY_ONE = Pool(limits(seqs=1), lambda step: SERVICE)
MIXED_LENGTHS = [(150, 20), (40, 5), (600, 12, 200)]


def squares(seqs):
    """A server that takes a prompt a step, of which the n-th ends after n squared seconds."""
    number = count(1)
    return Pool(limits(seqs=seqs), lambda step: 2.0 * next(number) - 1)


class TestRate:
    @pytest.mark.parametrize(("seqs", "waves", "first", "last"), [
        (6, 10, 18, 54), (5, 2, 3, 5), (1, 3, 1, 2), (4, 5, 6, 16), (10, 7, 21, 60)])
    def test_from_the_end_of_the_third_wave_to_that_of_the_last_but_one(
            self, seqs, waves, first, last):
        """Of sixty at once, the 18th ends at 324 s and the 54th at 2916 s."""
        assert saturation_rate(squares(seqs), ONE_TOKEN, waves=waves) == pytest.approx(
            (last - first) / (last**2 - first**2))

    @pytest.mark.parametrize("waves", [1, 2])
    def test_a_single_wave_saturates_nothing(self, waves):
        with pytest.raises(ValueError, match="nothing saturates"):
            saturation_rate(ONE_BY_ONE, ONE_TOKEN, waves=waves)

    def test_the_larger_pool_decides_how_many_requests_arrive(self):
        decode = Pool(limits(seqs=6), lambda step: 0.0)
        assert saturation_rate(squares(1), ONE_TOKEN, decode) == pytest.approx(36 / (54**2 - 18**2))
        assert saturation_rate(squares(6), ONE_TOKEN, replace(
            decode, limits=limits(seqs=1))) == pytest.approx(36 / (54**2 - 18**2))

    def test_rate_of_a_server_of_two_and_at_a_rate_of_arrivals(self):
        assert saturation_rate(ONE_BY_ONE, ONE_TOKEN) == pytest.approx(1 / SERVICE, rel=1e-12)
        two = replace(ONE_BY_ONE, replicas=2)
        assert saturation_rate(two, ONE_TOKEN) == pytest.approx(2 / SERVICE, rel=1e-12)
        many = Pool(limits(seqs=200), lambda step: 1e-3)
        assert saturation_rate(many, ONE_TOKEN, rate=25.0) == pytest.approx(25, rel=0.1)

    def test_arrivals_below_saturation_keep_up_in_batches(self):
        batching = Pool(limits(200, 16), affine(0.02, 1e-4))
        saturated = saturation_rate(batching, MIXED_LENGTHS)
        for share in (0.94, 1.06):
            requests = poisson(share * saturated, 2000, MIXED_LENGTHS, seed=9)
            assert keeps_up(simulate(requests, batching)) is (share < 1)


class TestRanks:
    """Random arrivals spread the prefills of a group; a queue at every rank aligns them."""

    POOL = Pool(limits(100, 32, "prefill-first"), lambda step: 0.1 if step.prefill else 0.02,
                replicas=8, ranks=8)

    def test_ranks_keep_up_with_less_than_in_phase(self):
        in_phase = saturation_rate(self.POOL, [(100, 60)])
        spread = saturation_of_ranks(self.POOL, [(100, 60)], in_phase)
        alone = saturation_rate(replace(self.POOL, ranks=1), [(100, 60)])
        assert in_phase == pytest.approx(alone, rel=0.05)
        assert spread < 0.8 * in_phase
        waits = [summarise(simulate(poisson(share * spread, 4000, [(100, 60)]), self.POOL)).wait
                 for share in (0.8, 1.3)]
        assert waits[0].p50 < 1.0 < waits[1].p50

    @pytest.mark.parametrize("ceiling", [2.0, 4.5, 8.0])
    def test_the_rate_falls_by_the_square_of_what_comes_out(self, ceiling):
        rate = ceiling
        for _ in range(5):
            throughput = saturation_rate(ONE_BY_ONE, ONE_TOKEN, waves=100, rate=rate)
            if throughput > 0.98 * rate:
                break
            rate = throughput**2 / rate
        assert saturation_of_ranks(ONE_BY_ONE, ONE_TOKEN, ceiling, 100) == pytest.approx(rate)


def waiting(growth, of_tokens):
    """Arrivals in 1000 s that wait ever longer, by so much a second, for a first token or others.

    Answers have 6 or 16 tokens in turn, 11 on average.
    """
    at = np.arange(1001.0)
    tokens = np.where(at % 2, 6, 16)
    first = at + (0.0 if of_tokens else growth * at)
    last = first + (growth * at * (tokens - 1) / 10 if of_tokens else 0.0)
    return Run(tuple(Outcome(number, *map(float, times), 10, int(tokens[number]), 0)
                     for number, times in enumerate(zip(at, at, first, last, strict=True))), {}, 0)


@pytest.mark.parametrize("of_tokens", [False, True])
@pytest.mark.parametrize(("growth", "bounded"), [
    (0.0, True), (0.0195, True), (0.0205, False), (1.0, False), (-1.0, True)])
def test_a_queue_that_grows_by_a_fiftieth_of_the_arrivals_has_no_bound(of_tokens, growth, bounded):
    assert keeps_up(waiting(growth, of_tokens)) is bounded
    assert keeps_up(waiting(0.29, of_tokens), 0.3)
    assert not keeps_up(waiting(0.31, of_tokens), 0.3)
