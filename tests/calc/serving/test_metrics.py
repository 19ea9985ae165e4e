"""Metrics of a run, saturation of a pool, and a benchmark's run replayed."""

import math
from dataclasses import replace
from itertools import count
from statistics import NormalDist

import numpy as np
import pytest
from _engines import affine, limits
from scipy.stats import t

import catalogue
from calc.serving.metrics import (
    Latency,
    Objective,
    batch_means,
    keeps_up,
    saturation_of_ranks,
    saturation_rate,
    serve_all,
    student_quantile,
    summarise,
    window,
)
from calc.serving.requests import Outcome, Run, Step, poisson
from calc.serving.simulation import IDLE, Pool, simulate
from calc.serving.step_times import Clock


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
    {"serve": (np.array([[0, 4], [5, 8], [8.5, 12]]), np.array([[0.0, 3.0]]))})
"""Of the first four, three are over when the window begins at 3 s; the last comes at 9 s."""


@pytest.mark.parametrize(("arrivals", "ends", "expected"), [
    # three over and one in flight: as many generations as are asked for
    ([0, 0, 0, 0, 4, 5, 6, 9], [1, 2, 3, 7, 4.5, 5.5, 8, 10], (3, 9)),
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
def test_measurement_window(arrivals, ends, expected):
    assert window(np.array(arrivals, float), np.array(ends, float)) == expected


class TestSummary:
    def test_every_number_of_a_steady_window(self):
        found = summarise(RUN, Objective(ttft=1.0, tpot=0.5))
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
        assert [found.ttft.at(share).value for share in (0.5, 0.9, 0.99)] == pytest.approx(
            [0.75, 1.7, 1.97])
        assert summarise(RUN).good == 1.0
        assert math.isnan(found.ttft.half_width)  # fewer than two requests a batch

    def test_a_run_without_a_steady_part_is_counted_whole(self):
        run = Run((outcome(2.0, 2.0, 3.0, 4.0), outcome(2.0, 3.0, 5.0, 6.0)),
                  {"serve": (np.array([[2.0, 6.0]]),)})
        found = summarise(run)
        assert (found.begin, found.window, found.requests, found.steady) == (2.0, 4.0, 2, False)
        assert (found.concurrency, found.utilisation) == (1.5, {"serve": 1.0})
        burst = summarise(simulate(poisson(math.inf, 10, [(100, 1)]), Pool(
            limits(seqs=1), affine(0.25, 0.0))))
        assert (burst.window, burst.request_throughput) == (2.5, 4.0)
        with pytest.raises(ValueError, match="all steps take no time"):
            summarise(simulate(poisson(math.inf, 2, [(100, 1)]), Pool(limits(), affine(0.0, 0.0))))

    @pytest.mark.parametrize(("limits", "met"), [
        ({}, True), ({"ttft": 1.0}, True), ({"ttft": 0.99}, False), ({"tpot": 0.5}, True),
        ({"tpot": 0.49}, False)])
    def test_an_objective_is_met_up_to_its_limit(self, limits, met):
        assert Objective(**limits).met(outcome(6.0, 6.5, 7.0, 8.0, 20, 3)) is met
        assert Objective(tpot=1e-9).met(outcome(0.0, 0.0, 1.0, 1.0, 10, 1))


@pytest.mark.parametrize("share", [0.3, 0.5, 0.6])
def test_equal_batches_leave_the_interval_of_independent_values(share):
    values = np.array([1.0, 2, 3, 4, 5] * 20)
    half = NormalDist().inv_cdf(0.975) * math.sqrt(share * (1 - share) / 100)
    found = Latency(0.0, 0.0, values).at(share)
    assert (found.value, found.low, found.high) == pytest.approx(
        np.quantile(values, [share, share - half, share + half]).tolist())


class TestIntervals:
    @pytest.mark.parametrize("degrees", [10, 19, 60])
    def test_student_quantile(self, degrees):
        assert student_quantile(0.975, degrees) == pytest.approx(t.ppf(0.975, degrees), rel=1e-4)

    def test_batch_means(self):
        """Means of 2, 7 and 3, whose variance is 7; the first value fills no batch."""
        half = student_quantile(0.975, 2) * math.sqrt(7 / 3)
        assert batch_means([99, 1, 3, 5, 9, 2, 4], 3) == pytest.approx(half)
        values = np.random.default_rng(1).normal(size=20_000)
        assert batch_means(values) == pytest.approx(2.093 / math.sqrt(20_000), rel=0.4)

    @pytest.mark.parametrize(("count", "batches"), [(3, 2), (10, 1), (59, 30)])
    def test_fewer_than_two_batches_of_two_are_refused(self, count, batches):
        with pytest.raises(ValueError, match=f"{count} values in {batches} batches"):
            batch_means([1.0] * count, batches)
        assert batch_means([1.0] * 4, 2) == 0.0


ONE_TOKEN, SERVICE = [(100, 1)], 0.25
ONE_BY_ONE = Pool(limits(seqs=1), lambda step: SERVICE)


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

    def test_rate_of_a_server_of_two_and_at_a_rate_of_arrivals(self):
        assert saturation_rate(ONE_BY_ONE, ONE_TOKEN) == pytest.approx(1 / SERVICE, rel=1e-12)
        two = replace(ONE_BY_ONE, replicas=2)
        assert saturation_rate(two, ONE_TOKEN) == pytest.approx(2 / SERVICE, rel=1e-12)
        many = Pool(limits(seqs=200), lambda step: 1e-3)
        assert saturation_rate(many, ONE_TOKEN, rate=25.0) == pytest.approx(25, rel=0.1)


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
        assert waits[0].at(0.5).value < 1.0 < waits[1].at(0.5).value


def waiting(growth, of_tokens):
    """Arrivals in 1000 s that wait ever longer, by so much a second, for a first token or others.

    Answers have 6 or 16 tokens in turn, 11 on average.
    """
    at = np.arange(1001.0)
    tokens = np.where(at % 2, 6, 16)
    first = at + (0.0 if of_tokens else growth * at)
    last = first + (growth * at * (tokens - 1) / 10 if of_tokens else 0.0)
    return Run(tuple(Outcome(number, *map(float, times), 10, int(tokens[number]), 0)
                     for number, times in enumerate(zip(at, at, first, last, strict=True))), {})


@pytest.mark.parametrize("of_tokens", [False, True])
@pytest.mark.parametrize(("growth", "bounded"), [
    (0.0, True), (0.0195, True), (0.0205, False), (1.0, False), (-1.0, True)])
def test_queue_growth_limit(of_tokens, growth, bounded):
    assert keeps_up(waiting(growth, of_tokens)) is bounded
    assert keeps_up(waiting(0.29, of_tokens), 0.3)
    assert not keeps_up(waiting(0.31, of_tokens), 0.3)


ALONE, DRAFTS, RANKS = "h200-r1-vllm-tp8", "h200-r1-sglang-mtp", "h200-v32-sglang-dp8"
PROMPT, ANSWER = 1000, 50


def at_once(requests, **changes):
    """A row of a benchmark whose requests are all in flight together."""
    return {"requests": float(requests), "concurrency": float(requests),
            "input_tokens": float(PROMPT), "output_tokens": float(ANSWER)} | changes


def clock(name=ALONE, **changed):
    scenario = catalogue.load_scenario(name)
    return Clock(scenario.inputs() | changed, scenario.model.attention)


def alone(taken, tokens=1.0):
    """Time to first token and of all others of a request that has a replica to itself [s]."""
    gap, steps = taken.inputs["host_gap_per_step"], round((ANSWER - 1) / tokens)
    return gap + taken(Step(((PROMPT, 0),), ())), sum(
        gap + taken(Step((), (PROMPT + 1 + int(tokens * step),))) for step in range(steps))


@pytest.mark.parametrize("replicas", [1, 4])
def test_one_request_for_each_replica(replicas):
    taken = clock(data_parallel=float(replicas), request_overhead=0.25)
    first, others = alone(taken)
    assert serve_all(taken, at_once(replicas), 1e5, "equal") == pytest.approx({
        "ttft": 0.25 + first, "tpot": others / (ANSWER - 1), "e2e": 0.25 + first + others,
        "output_throughput": replicas * ANSWER / (first + others)})


@pytest.mark.parametrize(("users", "blocks", "rate"), [
    (1.0, 1e5, math.inf), (2.0, 0.0, math.inf),  # one place; room for the longest request
    (2.0, 1e5, 1.0)])  # a slow front end
def test_second_request_waits_for_slot_blocks_or_front_end(users, blocks, rate):
    row = at_once(2, concurrency=users)
    taken = clock(front_end_rate=rate, request_overhead=0.25)
    first, others = alone(taken)
    assert first + others < 1.0
    wait = first + others if rate == math.inf else 1.0
    told = serve_all(taken, row, blocks, "equal")
    assert told == pytest.approx({
        "ttft": 0.25 + first + wait / 2, "tpot": others / (ANSWER - 1),
        "e2e": 0.25 + first + others + wait / 2,
        "output_throughput": 2 * ANSWER / (first + others + wait)})
    held = serve_all(taken, row, blocks, "equal", queued=False)
    assert (held["ttft"], held["e2e"]) == pytest.approx((0.25 + first, 0.25 + first + others))


@pytest.mark.parametrize("accepted", [1.0, 1.5, 2.0])
def test_accepted_drafts_divide_the_time_of_a_token(accepted):
    taken = clock(DRAFTS, accepted_length=accepted, draft_tokens=1.0)
    first, others = alone(taken, accepted)
    told = serve_all(taken, at_once(1), 1e5, "equal")
    # contexts are rounded up to blocks, by their mean
    assert told["tpot"] == pytest.approx(others / (ANSWER - 1), rel=1e-5)
    assert told["ttft"] == pytest.approx(first + taken.inputs["request_overhead"])


def test_ranks_that_share_experts_step_together():
    taken = clock(RANKS, front_end_rate=math.inf, request_overhead=0.0)
    gap = taken.inputs["host_gap_per_step"]
    told = serve_all(taken, at_once(8), 1e5, "equal")
    assert told["ttft"] == pytest.approx(
        gap + taken.together([Step(((PROMPT, 0),), ())] * 8))
    assert told["output_throughput"] == pytest.approx(8 * ANSWER / told["e2e"])
    assert serve_all(taken, at_once(3), 1e5, "equal") == told  # every rank has one at least
    slow = clock(RANKS, front_end_rate=1e-3, request_overhead=0.0)
    apart = serve_all(slow, at_once(8), 1e5, "equal", queued=False)
    assert apart["ttft"] == pytest.approx(
        gap + slow.together([Step(((PROMPT, 0),), ()), *[IDLE] * 7]))


GAP = 1e6  # s between steps, beside which a step takes no time: latencies count steps


@pytest.mark.parametrize(("lengths", "median"), [
    ("equal", 1.0), ("even", 1.0), ("unknown", math.log(2))])
def test_length_distributions(lengths, median):
    """All at once, with every prompt in the first step: an answer takes as many steps as tokens."""
    taken = clock(host_gap_per_step=GAP, max_num_batched_tokens=1e9, front_end_rate=math.inf)
    row = at_once(600, input_tokens=20.0)
    mean, middle = (serve_all(taken, row, 1e6, lengths, medians=frozenset(names))
                    for names in ((), ("e2e",)))
    assert mean["e2e"] / GAP == pytest.approx(ANSWER, rel=0.1)
    assert middle["e2e"] / GAP == pytest.approx(median * ANSWER, rel=0.1)
    assert middle | {"e2e": 0.0} == mean | {"e2e": 0.0}
    longest = round(600 * ANSWER / mean["output_throughput"] / GAP)
    if lengths != "unknown":
        assert longest <= (1 if lengths == "equal" else 2) * ANSWER * 1.1
    assert serve_all(taken, row, 1e6, lengths) == mean
