"""Metrics of a run: its steady window, means, percentiles, confidence intervals, goodput."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from _engines import affine, limits

from calc.serving.arrivals import bursts
from calc.serving.metrics import (
    Latency,
    Objective,
    Quantile,
    batch_means,
    covered,
    student_quantile,
    summarise,
    window,
)
from calc.serving.requests import Outcome, Run
from calc.serving.simulation import Pool, simulate


def outcome(arrival, started, first_token, finished, prompt=10, answer=2, *, preempted=0, hit=0,
            evicted=0):
    return Outcome(0, arrival, started, first_token, finished, prompt, answer, preempted, hit,
                   evicted)


RUN = Run((
    outcome(0.0, 0.0, 1.0, 1.0), outcome(0.0, 0.0, 1.0, 2.0), outcome(0.0, 0.0, 1.0, 3.0),
    outcome(0.0, 0.5, 2.0, 7.0, 40, 6, preempted=2, hit=8, evicted=3),
    outcome(4.0, 4.0, 4.25, 4.5, 10, 2, evicted=1),
    outcome(5.0, 5.25, 5.5, 5.5, 30, 1, preempted=1, hit=10),
    outcome(6.0, 6.5, 7.0, 8.0, 20, 3, hit=7, evicted=2), outcome(9.0, 9.0, 9.5, 10.0)),
    {"serve": (np.array([[0, 4], [5, 8], [8.5, 12]]), np.array([[0.0, 3.0]]))}, 0.0)
"""Of the first four, three are over when the window begins at 3 s; the last comes at 9 s."""


@pytest.mark.parametrize(("arrivals", "ends", "expected"), [
    # three over and one in flight: as many generations as are asked for
    ([0, 0, 0, 0, 4, 5, 6, 9], [1, 2, 3, 7, 4.5, 5.5, 8, 10], (3, 9)),
    # two over and one in flight are too few
    ([0, 0, 0, 5, 6, 7], [1, 2, 4, 5.5, 8, 9], (4, 7)),
    # nobody ends before the last arrival
    ([0, 0, 0, 5, 6, 7], [1, 2, 4, 8, 8.5, 9], None),
    # of two in flight both end in it, or one
    ([0] * 8 + [20], [1, 2, 3, 4, 5, 6, 7, 8, 30], (6, 20)),
    ([0] * 8 + [20], [1, 2, 3, 4, 5, 6, 7, 21, 30], None),
    # who comes as another ends is in flight
    ([0, 1, 5, 6], [1, 2, 5.5, 7], (2, 6)),
    # who ends as the last one comes is counted, who ends as it begins is not
    ([0, 2, 5], [1, 5, 6], (1, 5)),
    # one by one: a tenth of twenty
    (list(range(20)), [at + 0.5 for at in range(20)], (1.5, 19)),
])
def test_window_from_the_third_generation_and_a_tenth_to_the_last_arrival(
        arrivals, ends, expected):
    assert window(np.array(arrivals, float), np.array(ends, float)) == expected


def test_intervals_count_as_far_as_they_lie_within_the_window():
    starts, ends = np.array([0, 1, 4, 1, 8, 11]), np.array([1, 3.5, 6.5, 12, 12, 13])
    assert covered(starts, ends, 3.0, 10.0) == 0.5 + 2.5 + 7 + 2


class TestSummary:
    def test_every_number_of_a_steady_window(self):
        found = summarise(RUN, Objective(ttft=1.0, tpot=0.5, e2e=2.0))
        assert (found.requests, found.begin, found.window, found.steady) == (4, 3.0, 6.0, True)
        assert (found.request_throughput, found.output_throughput) == (4 / 6, 2.0)
        assert (found.good, found.goodput) == (0.75, 0.5)
        assert found.concurrency == pytest.approx((4 + 0.5 + 0.5 + 2) / 6)
        assert found.utilisation == {"serve": pytest.approx((1 + 3 + 0.5) / 2 / 6)}
        assert (found.preemptions, found.evicted) == (3, 6)
        assert (found.input_tokens, found.hit_share) == (25.0, 0.25)
        # times in the order of ends; one token has no pace
        assert found.ttft.values.tolist() == [0.25, 0.5, 2.0, 1.0]
        assert found.tpot.values.tolist() == [0.25, 1.0, 0.5]
        assert found.e2e.values.tolist() == [0.5, 0.5, 7.0, 2.0]
        assert (found.wait.mean, found.ttft.mean, found.e2e.mean) == (0.3125, 0.9375, 2.5)
        assert found.tpot.mean == pytest.approx(1.75 / 3)
        assert (found.ttft.p50, found.ttft.p90, found.ttft.p99) == pytest.approx((0.75, 1.7, 1.97))
        assert summarise(RUN).good == 1.0

    def test_two_requests_a_batch_have_an_interval_and_fewer_have_none(self):
        """Two batches of means 0.375 and 1.5 s: half their distance, times Student's quantile."""
        found = summarise(RUN, batches=2)
        assert found.ttft.half_width == pytest.approx(0.5625 * student_quantile(0.975, 1))
        assert found.ttft.batches == 2
        assert math.isnan(found.tpot.half_width)
        assert math.isnan(summarise(RUN, batches=3).ttft.half_width)

    def test_a_run_without_a_steady_part_is_counted_whole(self):
        run = Run((outcome(2.0, 2.0, 3.0, 4.0), outcome(2.0, 3.0, 5.0, 6.0)),
                  {"serve": (np.array([[2.0, 6.0]]),)}, 0.0)
        found = summarise(run)
        assert (found.begin, found.window, found.requests, found.steady) == (2.0, 4.0, 2, False)
        assert (found.concurrency, found.utilisation) == (1.5, {"serve": 1.0})
        burst = summarise(simulate(bursts(10, 1.0, 1, [(100, 1)]), Pool(
            limits(seqs=1), affine(0.25, 0.0))))
        assert (burst.window, burst.request_throughput) == (2.5, 4.0)
        with pytest.raises(ValueError, match="all steps take no time"):
            summarise(simulate(bursts(2, 1.0, 1, [(100, 1)]), Pool(limits(), affine(0.0, 0.0))))

    @pytest.mark.parametrize(("limits", "met"), [
        ({}, True), ({"ttft": 1.0}, True), ({"ttft": 0.99}, False), ({"tpot": 0.5}, True),
        ({"tpot": 0.49}, False), ({"e2e": 2.0}, True), ({"e2e": 1.99}, False)])
    def test_an_objective_is_met_up_to_its_limit(self, limits, met):
        assert Objective(**limits).met(outcome(6.0, 6.5, 7.0, 8.0, 20, 3)) is met
        assert Objective(tpot=1e-9).met(outcome(0.0, 0.0, 1.0, 1.0, 10, 1))


class TestPercentile:
    def latency(self, values, batches):
        return Latency(0.0, 0.0, 0.0, 0.0, 0.0, np.array(values, float), batches)

    @pytest.mark.parametrize("share", [0.3, 0.5, 0.6])
    def test_equal_batches_leave_the_interval_of_independent_values(self, share):
        values = [1, 2, 3, 4, 5] * 2
        half = NormalDist().inv_cdf(0.975) * math.sqrt(share * (1 - share) / 10)
        found = self.latency(values, 2).at(share)
        assert (found.value, found.low, found.high) == pytest.approx(
            [float(np.quantile(values, at)) for at in (share, share - half, share + half)])

    def test_ends_beyond_all_requests_and_batches_that_differ(self):
        found = [self.latency([1, 2, 3, 4, 5] * 2, 2).at(share) for share in (0.1, 0.9)]
        assert (found[0].low, found[1].high) == (0.0, math.inf)
        assert found[0].high < 5
        assert found[1].low > 1
        assert self.latency([1] * 5 + [5] * 5, 2).at(0.5) == Quantile(3.0, 0.0, math.inf)
        enough, few = (self.latency([1, 5] * 5, batches).at(0.5) for batches in (5, 6))
        assert few == Quantile(3.0, 0.0, math.inf)
        assert (enough.low, enough.high) == (1.0, 5.0)
        assert math.isnan(self.latency([], 2).at(0.5).value)

class TestIntervals:
    @pytest.mark.parametrize(("x", "terms"), [
        (1, (2 / 4, 24 / 96, 24 / 384, -528 / 92160)),
        (2, (10 / 4, 294 / 96, 1098 / 384, 169950 / 92160)),
    ])
    def test_student_s_series_term_by_term(self, x, terms):
        """Polynomials of the normal quantile, which is 1 or 2 here, over powers of ten."""
        expected = x + sum(term / 10**power for power, term in enumerate(terms, 1))
        assert student_quantile(NormalDist().cdf(x), 10) == pytest.approx(expected, rel=1e-9)

    @pytest.mark.parametrize("confidence", [0.95, 0.8])
    def test_batch_means(self, confidence):
        """Means of 2, 7 and 3, whose variance is 7; the first value fills no batch."""
        half = student_quantile(0.5 + confidence / 2, 2) * math.sqrt(7 / 3)
        assert batch_means([99, 1, 3, 5, 9, 2, 4], 3, confidence) == pytest.approx(half)
        values = np.random.default_rng(1).normal(size=20_000)
        assert batch_means(values) == pytest.approx(2.093 / math.sqrt(20_000), rel=0.4)

    @pytest.mark.parametrize(("count", "batches"), [(3, 2), (10, 1), (59, 30)])
    def test_fewer_than_two_batches_of_two_are_refused(self, count, batches):
        with pytest.raises(ValueError, match=f"{count} values in {batches} batches"):
            batch_means([1.0] * count, batches)
        assert batch_means([1.0] * 4, 2) == 0.0
