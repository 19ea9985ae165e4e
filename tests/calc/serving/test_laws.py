"""Laws that any run keeps, whoever arrives, however engines schedule; its numbers by hand."""

import math
from dataclasses import replace
from itertools import pairwise
from statistics import NormalDist
from types import SimpleNamespace

import numpy as np
import pytest
from _engines import POLICIES, affine, limits, trace

from calc.serving.arrivals import ClosedLoop, bursts, modulated, poisson, shapes_of
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
from calc.serving.requests import Outcome, Request
from calc.serving.saturation import saturation_rate
from calc.serving.simulation import Pool, simulate

SHAPES = shapes_of(300, 40, "lognormal", (0.96, 0.77))
STEP = affine(0.02, 1e-4)
EDGES = 3  # half-widths of the mean that what lies across the edges of a window may weigh


def pool(policy, **changed):
    return Pool(limits(256, 32, policy, block_size=16, kv_blocks=2000), STEP, **changed)


def recorded():
    draw = np.random.default_rng(4)
    at = np.cumsum(draw.gamma(0.5, 1.2, 2000))
    prompts, answers, _ = np.array(SHAPES)[draw.integers(0, len(SHAPES), 2000)].T
    return trace(at, prompts, answers)


ASKED = {
    "closed loop": ClosedLoop(24, 1200, SHAPES, ramp=5.0),
    "closed loop that thinks": ClosedLoop(60, 1800, SHAPES, 12.0, exponential=True, ramp=15.0),
    "closed loop that begins together": ClosedLoop(24, 1200, SHAPES),
    "equal requests in phase": ClosedLoop(24, 1200, [(300, 40)]),
    "Poisson": poisson(2.5, 2500, SHAPES, seed=1),
    "Poisson in busy and quiet minutes": modulated(1.8, 0.3, 60.0, 2500, SHAPES, seed=1),
    "bursts": bursts(20, 12.0, 80, SHAPES, seed=2),
    "a single burst": bursts(400, 1.0, 1, SHAPES, seed=2),
    "replay": recorded(),
}


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", ASKED)
class TestLittle:
    """Requests in the system are their rate times their stay, in the numbers that are printed."""

    def test_of_the_system(self, name, policy):
        found = summarise(simulate(ASKED[name], pool(policy)))
        error = found.concurrency / (found.request_throughput * found.e2e.mean) - 1
        if not found.steady:  # all of the run is counted, and nothing lies across its edges
            assert error == pytest.approx(0, abs=1e-9)
        # a stay that lies across an edge belongs to the window in part: as uncertain as the mean
        sampling = 0.002 + EDGES * found.e2e.half_width / found.e2e.mean
        assert abs(error) <= sampling
        assert sampling < 0.3 or not found.steady

    def test_of_the_loop(self, name, policy):
        loop = ASKED[name]
        if not isinstance(loop, ClosedLoop):
            pytest.skip("nobody waits for an answer")
        found = summarise(simulate(loop, pool(policy)))
        assert found.steady
        users = found.request_throughput * (found.e2e.mean + loop.think_time)
        assert users == pytest.approx(loop.users, rel=EDGES * found.e2e.half_width
                                      / (found.e2e.mean + loop.think_time) + 0.02)


def test_ranks_in_step_keep_it_however_they_wait():
    for coordination in ("eager", "delay", "balance"):
        several = pool("mixed", replicas=4, ranks=4, coordination=coordination)
        found = summarise(simulate(ClosedLoop(80, 3000, SHAPES, ramp=8.0), several))
        assert found.request_throughput * found.e2e.mean == pytest.approx(80, rel=0.03)


class TestCapacity:
    @pytest.mark.parametrize("policy", POLICIES)
    def test_prompts_and_answers_take_no_less_than_their_steps(self, policy):
        """A step takes 20 ms and 0.1 ms per token of a prompt: neither is ever exceeded."""
        for users in (4, 24, 200):
            run = simulate(ClosedLoop(users, 8 * users + 400, SHAPES, ramp=3.0), pool(policy))
            found = summarise(run)
            rate = found.request_throughput
            assert rate * found.input_tokens * 1e-4 <= 1 + 1e-9
            # a step brings a token of each request in work at most, of which there are 32
            assert found.output_throughput <= 32 / 0.02

    @pytest.mark.parametrize("policy", POLICIES)
    def test_the_server_never_rests_while_somebody_waits(self, policy):
        run = simulate(poisson(1.0, 400, SHAPES, seed=5), pool(policy))
        (steps,) = run.steps["serve"]
        for (_, end), (begin, _) in pairwise(steps.tolist()):
            if begin > end + 1e-9:  # idle in between: nobody was in the system
                assert not [o for o in run.outcomes if o.arrival < begin - 1e-9
                            and o.finished > end + 1e-9]

    @pytest.mark.parametrize("policy", POLICIES)
    def test_a_faster_or_larger_engine_takes_no_less(self, policy):
        one = replace(pool(policy), limits=limits(256, 8, policy))
        rates = [saturation_rate(replace(one, step_time=affine(slow, slow / 200)), SHAPES[::40])
                 for slow in (0.04, 0.02, 0.01)]
        assert rates == pytest.approx([rates[0], 2 * rates[0], 4 * rates[0]], rel=1e-6)
        wider = [saturation_rate(replace(one, limits=limits(256, most, policy)), SHAPES[::40],
                                 waves=20) for most in (2, 8, 32)]
        assert wider == sorted(wider)


class TestParts:
    @pytest.mark.parametrize("policy", POLICIES)
    def test_waiting_prefill_and_decode_are_the_whole_stay(self, policy):
        run = simulate(ASKED["Poisson"], pool(policy))
        for outcome in run.outcomes:
            later = 0.0 if outcome.output_tokens == 1 else (
                outcome.output_tokens - 1) * outcome.tpot
            assert outcome.arrival <= outcome.started < outcome.first_token <= outcome.finished
            assert outcome.ttft + later == pytest.approx(outcome.e2e)

    @pytest.mark.parametrize("policy", POLICIES)
    def test_preemptions_are_counted_where_the_cache_is_too_small(self, policy):
        def preempted(blocks):
            engine = limits(256, 32, policy, block_size=16, kv_blocks=blocks,
                            reserved_output=0.0 if policy == "prefill-first" else 1.0)
            run = simulate(ClosedLoop(32, 300, [(100, 200)]), Pool(engine, STEP))
            return sum(outcome.preemptions for outcome in run.outcomes)

        assert preempted(200) > 0 == preempted(32 * 19)


class TestPercentiles:
    def test_an_interval_holds_the_percentile_as_often_as_it_says(self):
        """Of independent waits: those of single requests on an empty server, drawn again."""
        draw, inside = np.random.default_rng(7), 0
        for _ in range(200):
            times = draw.exponential(1.0, 800)
            run = simulate([Request(10.0 * at, 1, 1) for at in range(1)], Pool(
                limits(), affine(1.0, 0.0)))
            at = replace(summarise(run).ttft, values=times).at(0.9)
            inside += at.low <= math.log(10) <= at.high
        assert inside >= 0.9 * 200

    def test_its_share_is_known_less_where_requests_depend_on_each_other(self):
        draw = np.random.default_rng(1)
        alike = np.repeat(draw.exponential(1.0, 100), 40)
        of = summarise(simulate([Request(0.0, 1, 1)], Pool(limits(), affine(1.0, 0.0)))).ttft
        free = replace(of, values=draw.exponential(1.0, 4000)).at(0.9)
        bound = replace(of, values=alike).at(0.9)
        assert bound.error > 2 * free.error
        assert batch_means(alike) > 2 * batch_means(draw.permutation(alike))

    def test_too_few_requests_leave_it_open(self):
        found = summarise(simulate(bursts(30, 1.0, 1, SHAPES), pool("mixed"))).ttft.at(0.99)
        assert (found.low, found.high) == (0.0, math.inf)


NAN = math.nan


def outcome(arrival, started, first_token, finished, prompt=10, answer=2, *, preempted=0, hit=0,
            evicted=0):
    return Outcome(0, arrival, started, first_token, finished, prompt, answer, preempted, hit,
                   evicted)


RUN = SimpleNamespace(
    outcomes=(
        outcome(0.0, 0.0, 1.0, 1.0), outcome(0.0, 0.0, 1.0, 2.0), outcome(0.0, 0.0, 1.0, 3.0),
        outcome(0.0, 0.5, 2.0, 7.0, 40, 6, preempted=2, hit=8, evicted=3),
        outcome(4.0, 4.0, 4.25, 4.5, 10, 2, evicted=1),
        outcome(5.0, 5.25, 5.5, 5.5, 30, 1, preempted=1, hit=10),
        outcome(6.0, 6.5, 7.0, 8.0, 20, 3, hit=7, evicted=2),
        outcome(9.0, 9.0, 9.5, 10.0)),
    steps={"serve": (np.array([[0, 4], [5, 8], [8.5, 12]]), np.array([[0.0, 3.0]]))})
"""Of the first four, three are over when the window begins at 3 s; the last comes at 9 s."""


class TestWindow:
    @pytest.mark.parametrize(("arrivals", "ends", "found"), [
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
    def test_from_the_third_generation_and_a_tenth_to_the_last_arrival(self, arrivals, ends, found):
        assert window(np.array(arrivals, float), np.array(ends, float)) == found

    def test_an_interval_counts_as_far_as_it_lies_within(self):
        """Before, across the beginning, inside, over all of it, across the end, and after."""
        starts, ends = np.array([0, 1, 4, 1, 8, 11]), np.array([1, 3.5, 6.5, 12, 12, 13])
        assert covered(starts, ends, 3.0, 10.0) == 0.5 + 2.5 + 7 + 2


class TestByHand:
    def test_every_number_of_a_steady_window(self):
        found = summarise(RUN, Objective(ttft=1.0, tpot=0.5, e2e=2.0))
        assert (found.requests, found.begin, found.window, found.steady) == (4, 3.0, 6.0, True)
        assert (found.request_throughput, found.output_throughput) == (4 / 6, 2.0)
        assert (found.good, found.goodput) == (0.75, 0.5)
        assert found.concurrency == pytest.approx((4 + 0.5 + 0.5 + 2) / 6)
        assert found.utilisation == {"serve": pytest.approx((1 + 3 + 0.5) / 2 / 6)}
        assert (found.preemptions, found.evicted) == (3, 6)
        assert (found.input_tokens, found.hit_share) == (25.0, 0.25)

    def test_times_are_in_the_order_of_ends_and_one_token_has_no_pace(self):
        found = summarise(RUN)
        assert found.good == 1.0
        assert found.ttft.values.tolist() == [0.25, 0.5, 2.0, 1.0]
        assert found.tpot.values.tolist() == [0.25, 1.0, 0.5]
        assert found.e2e.values.tolist() == [0.5, 0.5, 7.0, 2.0]
        assert (found.wait.mean, found.ttft.mean, found.e2e.mean) == (0.3125, 0.9375, 2.5)
        assert found.tpot.mean == pytest.approx(1.75 / 3)
        assert (found.ttft.p50, found.ttft.p90, found.ttft.p99) == pytest.approx((0.75, 1.7, 1.97))

    def test_two_requests_a_batch_have_an_interval_and_fewer_have_none(self):
        """Two batches of means 0.375 and 1.5 s: half their distance, times Student's quantile."""
        found = summarise(RUN, batches=2)
        assert found.ttft.half_width == pytest.approx(0.5625 * student_quantile(0.975, 1))
        assert (found.ttft.batches, found.requests) == (2, 4)
        assert math.isnan(found.tpot.half_width)
        assert math.isnan(summarise(RUN, batches=3).ttft.half_width)

    def test_without_a_steady_part_all_of_it_is_counted(self):
        run = SimpleNamespace(outcomes=(outcome(2.0, 2.0, 3.0, 4.0), outcome(2.0, 3.0, 5.0, 6.0)),
                              steps={"serve": (np.array([[2.0, 6.0]]),)})
        found = summarise(run)
        assert (found.begin, found.window, found.requests, found.steady) == (2.0, 4.0, 2, False)
        assert (found.concurrency, found.utilisation) == (1.5, {"serve": 1.0})

    @pytest.mark.parametrize(("limits", "met"), [
        ({}, True), ({"ttft": 1.0}, True), ({"ttft": 0.99}, False), ({"tpot": 0.5}, True),
        ({"tpot": 0.49}, False), ({"e2e": 2.0}, True), ({"e2e": 1.99}, False)])
    def test_a_limit_is_met_up_to_the_limit_itself(self, limits, met):
        assert Objective(**limits).met(outcome(6.0, 6.5, 7.0, 8.0, 20, 3)) is met

    def test_a_single_token_misses_no_limit_on_the_pace(self):
        assert Objective(tpot=1e-9).met(outcome(0.0, 0.0, 1.0, 1.0, 10, 1))


class TestPercentile:
    def latency(self, values, batches):
        return Latency(0.0, 0.0, 0.0, 0.0, 0.0, np.array(values, float), batches)

    @pytest.mark.parametrize("share", [0.3, 0.5, 0.6])
    def test_batches_that_are_all_alike_leave_the_interval_of_independent_ones(self, share):
        values = [1, 2, 3, 4, 5] * 2
        half = NormalDist().inv_cdf(0.975) * math.sqrt(share * (1 - share) / 10)
        found = self.latency(values, 2).at(share)
        assert (found.value, found.low, found.high) == pytest.approx(
            [float(np.quantile(values, at)) for at in (share, share - half, share + half)])

    def test_what_is_beyond_all_requests_has_no_upper_end_and_below_them_none_but_zero(self):
        found = [self.latency([1, 2, 3, 4, 5] * 2, 2).at(share) for share in (0.1, 0.9)]
        assert (found[0].low, found[1].high) == (0.0, math.inf)
        assert found[0].high < 5
        assert found[1].low > 1

    def test_batches_that_differ_widen_it(self):
        """All of the first half are below the median and none of the second."""
        found = self.latency([1] * 5 + [5] * 5, 2).at(0.5)
        assert found == Quantile(3.0, 0.0, math.inf)

    def test_fewer_requests_than_two_a_batch_leave_it_open(self):
        enough, few = (self.latency([1, 5] * 5, batches).at(0.5) for batches in (5, 6))
        assert few == Quantile(3.0, 0.0, math.inf)
        assert (enough.low, enough.high) == (1.0, 5.0)

    def test_nobody_has_no_percentile(self):
        found = self.latency([], 2).at(0.5)
        assert all(math.isnan(each) for each in (found.value, found.low, found.high))

    def test_its_error_is_that_of_the_further_end(self):
        assert Quantile(4.0, 3.0, 6.0).error == 0.5
        assert Quantile(4.0, 1.0, 6.0).error == 0.75

    def test_all_of_it_may_come_later(self):
        found = Latency(1.0, 0.25, 2.0, 3.0, 5.0, np.array([1.0, 7.0])).later(0.5)
        assert (found.mean, found.half_width, found.p50, found.p90, found.p99) == (
            1.5, 0.25, 2.5, 3.5, 5.5)
        assert found.values.tolist() == [1.5, 7.5]


class TestIntervals:
    @pytest.mark.parametrize(("x", "terms"), [
        (1, (2 / 4, 24 / 96, 24 / 384, -528 / 92160)),
        (2, (10 / 4, 294 / 96, 1098 / 384, 169950 / 92160)),
    ])
    def test_students_series_term_by_term(self, x, terms):
        """Polynomials of the normal quantile, which is 1 or 2 here, over powers of ten."""
        expected = x + sum(term / 10**power for power, term in enumerate(terms, 1))
        assert student_quantile(NormalDist().cdf(x), 10) == pytest.approx(expected, rel=1e-9)

    @pytest.mark.parametrize("confidence", [0.95, 0.8])
    def test_batch_means_by_hand(self, confidence):
        """Means of 2, 7 and 3, whose variance is 7; the first value fills no batch."""
        found = batch_means([99, 1, 3, 5, 9, 2, 4], 3, confidence)
        t = student_quantile(0.5 + confidence / 2, 2)
        assert found == pytest.approx(t * math.sqrt(7 / 3))

    @pytest.mark.parametrize(("count", "batches"), [(3, 2), (10, 1), (10, 0), (59, 30)])
    def test_fewer_than_two_batches_of_two_are_told(self, count, batches):
        with pytest.raises(ValueError, match=f"{count} values in {batches} batches"):
            batch_means([1.0] * count, batches)
        assert batch_means([1.0] * 4, 2) == 0.0
