"""One replica under a load and days of users: laws, limits and queueing theory."""

import math

import numpy as np
import pytest

import catalogue
from calc.capacity.day import (
    Limits,
    Replica,
    ReplicaMetrics,
    arrivals,
    card_seconds,
    day,
    rates_met,
)
from catalogue import ParamsError

LENGTHS = ["workload.input_tokens=2000 token", "workload.output_tokens=50 token",
           "workload.concurrency=64 request", "workload.requests=64 request",
           "workload.length_distribution=constant"]
LIMITS = Limits(1.0, 0.06)
CODING = catalogue.load("loads", "azure-coding")


@pytest.fixture(scope="module")
def replica():
    return Replica(catalogue.load_scenario("h200-r1-vllm-tp8", overrides=LENGTHS))


@pytest.mark.parametrize("variation", [0.0, 0.05, 0.3])
def test_requests_meet_higher_rates_than_minutes_have(variation):
    """The mean rate that a request meets is that of a minute times 1 + variation²."""
    met, shares = rates_met(3.0, variation)
    assert shares.sum() == pytest.approx(1)
    assert met @ shares == pytest.approx(3 * (1 + variation**2), rel=5e-3)


def test_arrivals_have_their_rate_and_lengths():
    shapes = [(length, 7) for length in range(1, 1001)]
    requests = arrivals(2.0, 4000, shapes, 0)
    assert requests[-1].arrival == pytest.approx(2000, rel=0.05)
    block = np.sort([request.input_tokens for request in requests[100:200]])
    assert (block // 10.01 == np.arange(100)).all()  # one of every hundredth


@pytest.mark.parametrize(("limits", "meets"), [
    (Limits(3.0, 4.0, None), True), (Limits(2.9, 4.0, None), False),
    (Limits(3.0, 3.9, None), False), (Limits(5.0, math.inf), True), (Limits(4.9, math.inf), False),
    (Limits(5.0, 9.0), False), (Limits(), True)])
def test_limits_hold_for_the_mean_or_at_the_percentile(limits, meets):
    assert ReplicaMetrics(1.0, 2.0, 3.0, 4.0, 5.0, math.inf, 0.5).meets(limits) is meets


@pytest.mark.parametrize("share", [0.2, 0.5])
def test_means_are_those_of_the_steady_state(replica, share):
    rate = share * replica.saturation
    seen = replica.metrics(rate)
    for name in ("ttft", "tpot"):
        assert getattr(seen, name) == pytest.approx(replica.closed(name, rate), rel=0.15)
    assert seen.in_flight == pytest.approx(rate * replica.closed("e2e", rate), rel=0.15)  # Little
    assert seen.ttft <= seen.ttft_at
    assert seen.tpot <= seen.tpot_at


@pytest.mark.parametrize("limits", [LIMITS, Limits(1.0, 0.06, None), Limits(0.7, math.inf)])
def test_limits_hold_at_the_sustained_rate_and_not_above_it(replica, limits):
    rate = replica.sustained(limits)
    assert replica.metrics(0.99 * rate, limits.share).meets(limits)
    assert not replica.metrics(1.05 * rate, limits.share).meets(limits)


@pytest.mark.parametrize("variation", [0.0, 0.3])
def test_stricter_limits_sustain_less(replica, variation):
    rates = [replica.sustained(Limits(1.0, 0.06, share), variation) for share in (0.5, 0.9, 0.99)]
    assert rates == sorted(rates, reverse=True)
    rates = [replica.sustained(Limits(1.0, limit), variation) for limit in (0.03, 0.05, 0.08)]
    assert rates == sorted(rates)
    assert replica.sustained(LIMITS, variation) < replica.stable(0.99, variation)


def test_no_more_requests_than_allowed_meet_a_rate_above_saturation(replica):
    assert replica.sustained(Limits()) == pytest.approx(replica.saturation, rel=2e-3)
    met, shares = rates_met(replica.sustained(Limits(), 0.3), 0.3)
    assert shares[met >= replica.saturation].sum() == pytest.approx(0.01, abs=0.006)


def test_time_is_unbounded_beyond_saturation(replica):
    seen = replica.metrics(1.01 * replica.saturation)
    assert (seen.ttft, seen.tpot_at) == (math.inf, math.inf)
    assert seen.busy > 1


@pytest.mark.parametrize(("limits", "message"), [
    (Limits(0.01), "has a TTFT of"), (Limits(tpot=1e-3), "a TPOT of")])
def test_more_replicas_do_not_help_a_request_that_misses_alone(replica, limits, message):
    assert replica.sustained(limits) == 0
    with pytest.raises(ParamsError, match=message):
        day(replica, CODING, 1e5, limits)


def test_slow_front_end_lowers_the_rate(replica):
    slow = Replica(catalogue.load_scenario("h200-r1-vllm-tp8", overrides=[
        *LENGTHS, "mechanisms.front_end_rate=4 request/s"]))
    assert 0 < slow.sustained(LIMITS) < min(4, replica.sustained(LIMITS))


def test_every_hour_has_what_it_needs(replica):
    answer = day(replica, CODING, 3e5, LIMITS, start=600.0, think=60.0)
    for hour in answer.hours:
        assert hour.rate <= hour.replicas * answer.rate_within_limits * (1 + 1e-9)
        assert hour.replicas == 1 or hour.rate > (hour.replicas - 1) * answer.rate_within_limits
        assert hour.seen.meets(LIMITS)
    assert answer.replicas == max(hour.replicas for hour in answer.hours)
    assert sum(hour.rate for hour in answer.hours) * 3600 == pytest.approx(3e5)
    assert answer.utilisation == pytest.approx(
        3e5 / 86_400 / answer.replicas / answer.rate_within_limits)
    assert answer.saved_by_scaling == pytest.approx(
        1 - answer.card_seconds_scaled / answer.card_seconds_fixed)
    hour = answer.hours[answer.busiest]
    assert answer.online == pytest.approx(hour.rate * (hour.seen.in_flight / hour.seen.rate + 60))


@pytest.mark.parametrize(("counts", "started"), [
    ([1, 4, 2], 3), ([4, 1, 1], 3), ([1, 1, 4], 3), ([2, 2, 2], 0), ([1, 3, 1, 2], 3)])
def test_card_seconds_of_a_scaled_day(counts, started):
    """Three cards a replica, 50 s to start; the first hour comes after the last."""
    assert card_seconds(counts, 3, 50.0) == 3 * (3600 * sum(counts) + 50 * started)
