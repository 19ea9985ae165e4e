"""The simulation meets queueing theory where that knows the answer, and its own laws everywhere."""

import math
from dataclasses import replace

import numpy as np
import pytest
from _engines import affine, engines_of_any_kind, limits, requests_of_any_kind, trace
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t as student

from calc.serving.arrivals import ClosedLoop, bursts, poisson, shapes_of
from calc.serving.metrics import Objective, batch_means, student_quantile, summarise
from calc.serving.saturation import keeps_up, saturation_rate
from calc.serving.scheduling import Request, Transfer, schedule
from calc.serving.simulation import Pool, simulate
from reference.queueing import closed_loop_throughput, md1_wait, md1_wait_below, mg1_wait, mm1_wait
from reference.rates import largest_rate

SERVICE = 0.25
ONE_BY_ONE = Pool(limits(seqs=1), lambda step: SERVICE)
ONE_TOKEN = [(100, 1)]
BATCHING = Pool(limits(200, 16), affine(0.02, 1e-4))
MIXED_LENGTHS = [(150, 20), (40, 5), (600, 12, 200)]


def closed_loop(**changes):
    return ClosedLoop(**{"users": 12, "count": 600, "shapes": [(150, 20)]} | changes)


class TestTheory:
    """One server that takes one request at a time: M/D/1, M/M/1, M/G/1."""

    @pytest.mark.parametrize("use", [0.3, 0.5, 0.8])
    def test_mean_wait_of_constant_times_is_in_the_interval(self, use):
        rate = use / SERVICE
        found = summarise(simulate(poisson(rate, 20_000, ONE_TOKEN, seed=1), ONE_BY_ONE)).wait
        expected = md1_wait(rate, SERVICE)
        assert abs(found.mean - expected) <= found.half_width
        assert found.half_width < 0.2 * expected

    def test_the_interval_covers_as_often_as_it_says(self):
        """95% of runs, of 40 at least 34."""
        rate = 0.6 / SERVICE
        waits = [summarise(simulate(poisson(rate, 2000, ONE_TOKEN, seed), ONE_BY_ONE)).wait
                 for seed in range(40)]
        assert sum(abs(wait.mean - md1_wait(rate, SERVICE)) <= wait.half_width
                   for wait in waits) >= 34

    def test_percentiles_of_the_wait_are_those_of_erlang(self):
        rate = 0.7 / SERVICE
        found = summarise(simulate(poisson(rate, 40_000, ONE_TOKEN, seed=3), ONE_BY_ONE)).wait
        for percentile, share in ((found.p50, 0.5), (found.p90, 0.9), (found.p99, 0.99)):
            assert md1_wait_below(percentile, rate, SERVICE) == pytest.approx(share, abs=0.01)

    @pytest.mark.parametrize("use", [0.3, 0.6])
    def test_exponential_times_wait_twice_as_long(self, use):
        """Prompts of exponentially distributed length, computed whole: M/M/1. 20 runs, 95% each."""
        pool, rate = Pool(limits(10**9, 1), affine(0.0, SERVICE / 1e6)), use / SERVICE
        waits = []
        for seed in range(20):
            lengths = np.random.default_rng(seed).exponential(1e6, 3000).astype(int) + 1
            arrivals = [request.arrival for request in poisson(rate, 3000, ONE_TOKEN, seed)]
            waits.append(summarise(simulate(trace(arrivals, lengths, 1), pool)).wait)
        expected = mm1_wait(rate, SERVICE)
        assert expected == 2 * md1_wait(rate, SERVICE)
        assert sum(abs(wait.mean - expected) <= wait.half_width for wait in waits) >= 17
        assert np.mean([wait.mean for wait in waits]) == pytest.approx(expected, rel=0.05)

    def test_two_kinds_of_requests(self):
        """M/G/1 with times of 1 and 3 quarters of a second."""
        pool = Pool(limits(10**4, 1), affine(0.0, SERVICE / 100))
        found = summarise(simulate(poisson(1.2, 20_000, [(100, 1), (300, 1)], 6), pool)).wait
        expected = mg1_wait(1.2, 2 * SERVICE, SERVICE**2)
        assert abs(found.mean - expected) <= found.half_width

    def test_closed_forms(self):
        assert math.isinf(md1_wait(4.0, 0.25))
        np.testing.assert_allclose(md1_wait(np.array([0.0, 2.0, 5.0]), 0.25), [0, 0.125, math.inf])
        assert md1_wait_below(0.0, 2.0, 0.25) == pytest.approx(0.5)  # nobody is being served
        times = np.linspace(0, 4, 4001)
        above = [1 - md1_wait_below(time, 2.0, 0.25) for time in times]
        assert np.trapezoid(above, times) == pytest.approx(md1_wait(2.0, 0.25), rel=1e-3)

    def test_use_is_rate_times_service(self):
        for use in (0.2, 0.9):
            run = simulate(poisson(use / SERVICE, 20_000, ONE_TOKEN, seed=7), ONE_BY_ONE)
            assert summarise(run).utilisation["serve"] == pytest.approx(use, rel=0.03)

    def test_saturation_at_the_rate_of_the_server(self):
        assert saturation_rate(ONE_BY_ONE, ONE_TOKEN) == pytest.approx(1 / SERVICE, rel=1e-12)
        two = replace(ONE_BY_ONE, replicas=2)
        assert saturation_rate(two, ONE_TOKEN) == pytest.approx(2 / SERVICE, rel=1e-12)

    @pytest.mark.parametrize(("arrivals", "precision"), [
        (lambda rate: trace(np.arange(2000) / rate, 100, 1), 0.03),
        (lambda rate: poisson(rate, 4000, ONE_TOKEN, seed=8), 0.06)])
    def test_a_bounded_queue_up_to_saturation(self, arrivals, precision):
        found = largest_rate(arrivals, ONE_BY_ONE, 0.5 / SERVICE, 2 / SERVICE)
        assert found == pytest.approx(1 / SERVICE, rel=precision)

    def test_the_two_ways_to_saturation_agree_for_batches(self):
        saturated = saturation_rate(BATCHING, MIXED_LENGTHS)
        found = largest_rate(lambda rate: poisson(rate, 2000, MIXED_LENGTHS, seed=9), BATCHING,
                             0.5 * saturated, 2 * saturated, precision=0.02)
        assert found == pytest.approx(saturated, rel=0.06)


class TestLaws:
    """What holds for any run."""

    @settings(max_examples=50)
    @given(requests_of_any_kind, engines_of_any_kind, st.integers(1, 3),
           st.sampled_from(["round-robin", "least-loaded"]), st.booleans())
    def test_littles_law_no_request_lost_tokens_conserved(self, requests, engine, replicas,
                                                          routing, apart):
        pool = Pool(engine, affine(0.5, 0.01), 0.1, replicas, routing)
        run = (simulate(requests, pool, pool, Transfer(lambda tokens: 0.01 * tokens, 1)) if apart
               else simulate(requests, pool))
        assert run.request_seconds == pytest.approx(
            sum(outcome.e2e for outcome in run.outcomes), rel=1e-12)
        assert [outcome.number for outcome in run.outcomes] == list(range(len(requests)))
        in_order = sorted(requests, key=lambda request: request.arrival)
        for request, outcome in zip(in_order, run.outcomes, strict=True):
            assert (request.arrival, request.input_tokens, request.output_tokens) == (
                outcome.arrival, outcome.input_tokens, outcome.output_tokens)
            assert outcome.arrival <= outcome.started < outcome.first_token <= outcome.finished

    @settings(max_examples=50)
    @given(requests_of_any_kind, engines_of_any_kind, st.sampled_from([1, 7]),
           st.sampled_from([(0.3, 0.01, 0.0), (1.0, 0.0, 0.0), (1.0, 0.0, 2.0)]))
    def test_one_replica_does_what_the_scheduler_does(self, requests, engine, part, times):
        """Also where arrivals meet the ends of steps."""
        requests = [replace(request, arrival=request.arrival / part) for request in sorted(
            requests, key=lambda request: request.arrival)]
        t0, t1, gap = times
        run = simulate(requests, Pool(engine, affine(t0, t1), gap))
        alone = schedule(requests, engine, affine(t0, t1), gap)
        assert run.outcomes == alone.outcomes
        assert run.steps["serve"][0].tolist() == [[s.start, s.end] for s in alone.steps]

    @pytest.mark.parametrize("policy", ["mixed", "prefill-first"])
    def test_a_burst_is_exactly_the_schedulers(self, policy):
        requests = bursts(40, 3.0, 3, [(333, 17)])
        pool = replace(BATCHING, limits=limits(200, 16, policy, kv_blocks=4000))
        served = schedule(requests, pool.limits, pool.step_time)
        assert simulate(requests, pool).outcomes == served.outcomes

    def test_a_seed_is_a_run(self):
        one, same, other = (simulate(poisson(8, 300, MIXED_LENGTHS, seed), BATCHING).outcomes
                            for seed in (1, 1, 2))
        assert one == same
        assert one != other

    @pytest.mark.parametrize(("think_time", "exponential"), [
        (0.0, False), (3.0, False), (3.0, True)])
    def test_users_times_tokens_over_the_loop_is_throughput(self, think_time, exponential):
        """X (TTFT + (n - 1) TPOT + Z) / n = c, and c users are there."""
        loop = closed_loop(count=2000, think_time=think_time, exponential=exponential, ramp=1.0)
        found = summarise(simulate(loop, BATCHING))
        expected = closed_loop_throughput(12, found.ttft.mean, found.tpot.mean, 20, think_time)
        assert found.output_throughput == pytest.approx(expected, rel=0.05 if exponential else 0.01)
        if not think_time:
            assert found.concurrency == pytest.approx(12, rel=1e-9)
        else:
            assert found.concurrency < 12

    def test_who_asks_again_at_once_joins_the_next_step(self):
        loop = closed_loop(users=3, count=30, shapes=[(10, 2), (10, 5)])
        outcomes = simulate(loop, Pool(limits(), lambda step: 1.0)).outcomes
        assert {outcome.wait for outcome in outcomes} == {0.0}

    def test_eighty_users_at_fifty_milliseconds(self):
        """1,600 tokens per second, whatever else is claimed."""
        pool = Pool(limits(10**6, 80), lambda step: 0.05)
        found = summarise(simulate(closed_loop(users=80, count=800, shapes=[(10, 512)]), pool))
        assert found.output_throughput == pytest.approx(1600, rel=0.01)

    def test_latency_grows_with_load(self):
        found = [summarise(simulate(poisson(rate, 1500, MIXED_LENGTHS, seed=3), BATCHING))
                 for rate in (2.0, 5.0, 8.0, 11.0)]
        for name in ("p50", "p90", "p99", "mean"):
            values = [getattr(summary.ttft, name) for summary in found]
            assert values == sorted(values)
        assert [s.utilisation["serve"] for s in found] == sorted(
            s.utilisation["serve"] for s in found)

    def test_least_loaded_waits_less_than_taking_turns(self):
        pool = Pool(limits(4000, 1), affine(0.0, 1e-3), replicas=4)
        requests = poisson(7.0, 4000, [(100, 1), (900, 1)], seed=2)
        turns, least = (summarise(simulate(requests, replace(pool, routing=routing))).wait.mean
                        for routing in ("round-robin", "least-loaded"))
        assert least < turns

    def test_replicas_in_turn_serve_every_second_request(self):
        requests = poisson(6.0, 1000, ONE_TOKEN, seed=2)
        both = simulate(requests, replace(ONE_BY_ONE, replicas=2)).outcomes
        for start in (0, 1):
            alone = simulate(requests[start::2], ONE_BY_ONE).outcomes
            assert [o.finished for o in alone] == [o.finished for o in both[start::2]]


class TestPools:
    """Prefill and decode apart."""

    def test_one_request_step_by_step(self):
        prefill, decode = Pool(limits(), lambda step: 2.0), Pool(limits(), lambda step: 0.5)
        run = simulate([Request(1.0, 250, 4)], prefill, decode, Transfer(lambda n: n / 1000))
        outcome, = run.outcomes
        assert (outcome.started, outcome.first_token) == (1.0, 1 + 3 * 2.0 + 0.25)
        assert outcome.finished == outcome.first_token + 3 * 0.5
        assert {pool: len(steps[0]) for pool, steps in run.steps.items()} == {
            "prefill": 3, "decode": 3}

    def test_decoding_never_stalls_for_prompts(self):
        requests = poisson(6.0, 600, [(300, 20)], seed=1)
        pool = Pool(limits(300, 64, "prefill-first"), lambda s: 0.1 if s.prefill else 0.01)
        together, apart = (summarise(run) for run in (
            simulate(requests, pool), simulate(requests, pool, pool)))
        assert apart.tpot.p99 == pytest.approx(0.01, rel=0.2)
        assert together.tpot.p90 > 2 * apart.tpot.p90

    def test_transfers_one_at_a_time_queue(self):
        requests = bursts(4, 1.0, 1, [(100, 2)])
        pool = Pool(limits(400), lambda step: 1.0)
        together, queued = (simulate(requests, pool, pool, Transfer(lambda n: 5.0, at_once))
                            for at_once in (None, 1))
        assert [o.first_token for o in together.outcomes] == [6.0] * 4
        assert [o.first_token for o in queued.outcomes] == [6.0, 11.0, 16.0, 21.0]

    def test_one_token_ends_with_the_transfer(self):
        pool = Pool(limits(), lambda step: 1.0)
        outcome, = simulate([Request(0.0, 10, 1)], pool, pool, Transfer(lambda n: 3.0)).outcomes
        assert (outcome.ttft, outcome.e2e) == (4.0, 4.0)

    def test_the_slower_pool_saturates_first(self):
        prefill, decode = Pool(limits(100, 4), lambda step: 1.0), Pool(limits(), lambda step: 0.01)
        assert saturation_rate(prefill, [(100, 10)], decode) == pytest.approx(1.0, rel=0.01)


class TestSummary:
    """From a run to numbers."""

    def test_by_hand(self):
        requests = trace([0.0, 1.0, 2.0, 3.5], 100, [1, 1, 3, 1])
        run = simulate(requests, Pool(limits(), lambda step: 0.5))
        found = summarise(run, Objective(ttft=0.5, tpot=0.4))
        # the first is over at 0.5 s, and nothing is in flight then; the last comes at 3.5 s
        assert (found.begin, found.window, found.requests, found.steady) == (0.5, 3.0, 2, True)
        assert (found.ttft.mean, found.tpot.mean, found.e2e.p90) == (0.5, 0.5, 1.4)
        assert found.good == 0.5  # the other one is too slow per token
        assert found.goodput == pytest.approx(1 / 3)
        assert (found.request_throughput, found.output_throughput) == pytest.approx((2 / 3, 4 / 3))
        assert (found.concurrency, found.utilisation["serve"]) == pytest.approx((2 / 3, 2 / 3))
        assert math.isnan(found.ttft.half_width)

    def test_a_single_burst_has_a_window_to_its_end(self):
        found = summarise(simulate(bursts(10, 1.0, 1, ONE_TOKEN), ONE_BY_ONE))
        assert not found.steady
        assert (found.window, found.request_throughput) == (10 * SERVICE, 1 / SERVICE)
        assert math.isnan(found.tpot.mean)

    def test_students_quantiles(self):
        table = {4: 2.776, 9: 2.262, 19: 2.093, 29: 2.045, 99: 1.984}
        for degrees, quantile in table.items():
            assert student_quantile(0.975, degrees) == pytest.approx(quantile, rel=5e-3)

    @pytest.mark.parametrize("degrees", [5, 8, 10, 19, 40])
    def test_four_terms_of_students_series_leave_the_fifth(self, degrees):
        missed = student_quantile(0.975, degrees) - student.ppf(0.975, degrees)
        assert abs(missed) * degrees**5 < 1

    def test_batch_means_of_independent_values(self):
        values = np.random.default_rng(1).normal(size=20_000)
        assert batch_means(values) == pytest.approx(2.093 / math.sqrt(20_000), rel=0.4)

    def test_a_rate_within_an_objective_is_below_saturation(self):
        objective = Objective(ttft=1.0)
        found = largest_rate(lambda rate: poisson(rate, 1500, ONE_TOKEN, seed=5), ONE_BY_ONE,
                             0.1, 1 / SERVICE,
                             accept=lambda run: summarise(run, objective=objective).good >= 0.9)
        assert 0.5 / SERVICE < found < 0.95 / SERVICE
        # 90% of the requests are within 1 s: of the wait, 1 s less the service itself
        assert md1_wait_below(1 - SERVICE, found, SERVICE) == pytest.approx(0.9, abs=0.03)

    def test_a_queue_that_grows_is_seen(self):
        for use, bounded in ((0.7, True), (1.15, False)):
            run = simulate(poisson(use / SERVICE, 3000, ONE_TOKEN, seed=1), ONE_BY_ONE)
            assert keeps_up(run) is bounded


class TestWorkload:
    """Arrivals from a seed."""

    def test_only_the_times_scale_with_the_rate(self):
        slow, fast = (poisson(rate, 100, MIXED_LENGTHS, seed=1) for rate in (1.0, 4.0))
        for one, other in zip(slow, fast, strict=True):
            assert one.arrival == pytest.approx(4 * other.arrival)
            assert (one.input_tokens, one.output_tokens, one.cached_tokens) == (
                other.input_tokens, other.output_tokens, other.cached_tokens)

    def test_poisson_has_the_rate_and_the_variance(self):
        gaps = np.diff([request.arrival for request in poisson(5.0, 50_000, ONE_TOKEN)])
        assert gaps.mean() == pytest.approx(0.2, rel=0.02)
        assert gaps.std() == pytest.approx(0.2, rel=0.02)

    @pytest.mark.parametrize(("distribution", "variation", "spread"), [
        ("exponential", 1.0, 1.0), ("lognormal", 0.5, 0.5), ("lognormal", 1.5, 1.5)])
    def test_lengths_have_the_mean_and_the_variation(self, distribution, variation, spread):
        shapes = np.array(shapes_of(3000, 400, distribution, variation))
        for column, mean in ((0, 3000), (1, 400)):
            assert shapes[:, column].mean() == pytest.approx(mean, rel=2e-3)
            assert shapes[:, column].std() / mean == pytest.approx(spread, rel=0.1)
        assert abs(np.corrcoef(shapes[:, 0], shapes[:, 1])[0, 1]) < 0.1
        assert shapes.min(axis=0)[:2].min() >= 1

    def test_no_request_is_longer_than_it_may_be(self):
        shapes = np.array(shapes_of(3000, 400, "exponential", cached_share=0.5, longest=4000))
        assert (shapes[:, 0] + shapes[:, 1]).max() <= 4000
        assert shapes.min(axis=0)[:2].min() >= 1
        assert (shapes[:, 2] < shapes[:, 0]).all()

    def test_bursts_come_together(self):
        assert [r.arrival for r in bursts(2, 1.5, 3, ONE_TOKEN)] == [0, 0, 1.5, 1.5, 3, 3]

    def test_a_loop_asks_as_often_as_told(self):
        run = simulate(closed_loop(users=5, count=23), BATCHING)
        assert len(run.outcomes) == 23
        assert [outcome.arrival for outcome in run.outcomes][:5] == [0.0] * 5


class TestMisuse:
    """One clear sentence."""

    @pytest.mark.parametrize(("make", "message"), [
        (lambda: Pool(limits(), affine(1.0, 0.0), replicas=0), "0 replicas"),
        (lambda: Pool(limits(), affine(1.0, 0.0), gap=-1.0), "gap between steps is -1.0 s"),
        (lambda: Pool(limits(), affine(1.0, 0.0), gap=math.inf), "gap between steps is inf s"),
        (lambda: Pool(limits(), affine(1.0, 0.0), ranks=0), "1 replicas in groups of 0"),
        (lambda: Pool(limits(), affine(1.0, 0.0), routing="random"), "no routing 'random'"),
        (lambda: simulate([], BATCHING), "nothing to simulate"),
        (lambda: simulate(bursts(1, 1.0, 1, ONE_TOKEN), BATCHING, None, Transfer(float)),
         "without a decode pool"),
        (lambda: simulate(bursts(1, 1.0, 1, ONE_TOKEN), BATCHING, BATCHING,
                          Transfer(lambda tokens: -1.0)), "sent in -1.0 s"),
        (lambda: simulate(bursts(1, 1.0, 1, ONE_TOKEN), replace(BATCHING, step_time=affine(
            math.nan, 0.0))), "takes nan s"),
        (lambda: poisson(0.0, 1, ONE_TOKEN), "rate of arrivals is 0.0"),
        (lambda: poisson(1.0, 0, ONE_TOKEN), "0 requests of 1 shapes"),
        (lambda: poisson(1.0, 1, []), "1 requests of 0 shapes"),
        (lambda: bursts(0, 1.0, 1, ONE_TOKEN), "0 requests every 1.0 s"),
        (lambda: shapes_of(1, 1, "uniform"), "no distribution 'uniform'"),
        (lambda: shapes_of(1, 1, "lognormal", -0.5), "variation of lengths is -0.5"),
        (lambda: closed_loop(users=0), "0 users and 600 requests"),
        (lambda: closed_loop(think_time=-1.0), "think_time is -1.0 s"),
        (lambda: md1_wait(-1.0, 1.0), "negative"),
        (lambda: md1_wait_below(1.0, 2.0, 1.0), "2 times its capacity"),
        (lambda: md1_wait_below(100.0, 0.5, 1.0), "lost its digits"),
        (lambda: batch_means([1.0] * 10, 20), "10 values in 20 batches"),
        (lambda: summarise(simulate(bursts(2, 1.0, 1, ONE_TOKEN), Pool(
            limits(), lambda step: 0.0))), "all steps take no time"),
        (lambda: largest_rate(lambda rate: poisson(rate, 100, ONE_TOKEN), BATCHING, 2.0, 1.0),
         "not between 2 and 1 request/s"),
        (lambda: saturation_rate(replace(ONE_BY_ONE, step_time=lambda step: 0.0), ONE_TOKEN),
         "nothing saturates"),
    ])
    def test_is_told(self, make, message):
        with pytest.raises(ValueError, match=message) as caught:
            make()
        assert str(caught.value).endswith(".")
        assert "\n" not in str(caught.value)
