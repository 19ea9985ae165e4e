"""Replicas at a percentile and days of users: laws, and what a simulation of the same steps gives.
"""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import catalogue
from calc.answer.simulated_load import system_of
from calc.capacity.day import Checked, Day, Hour, check, day
from calc.capacity.first_tokens import Steps, first_tokens
from calc.capacity.replicas import Limits, Replica, ReplicaMetrics
from calc.capacity.waits import percentile, rates_met
from calc.serving.requests import poisson
from calc.serving.simulation import simulate
from catalogue import ParamsError

LENGTHS = ["workload.input_tokens=2000 token", "workload.output_tokens=200 token",
           "workload.concurrency=64 request", "workload.requests=64 request",
           "workload.length_distribution=constant"]
LIMITS = Limits(1.0, 0.06)
WITHIN = {"ttft": 0.25, "tpot": 0.08}
CODING = catalogue.load("loads", "azure-coding")


@pytest.fixture(scope="module")
def scenario():
    return catalogue.load_scenario("h200-r1-vllm-tp8", overrides=LENGTHS)


@pytest.fixture(scope="module")
def replica(scenario):
    return Replica(scenario)


class TestWaits:
    @given(st.floats(0.05, 0.8), st.floats(0.05, 1.0))
    @settings(max_examples=15, deadline=None)
    def test_one_prompt_a_step_is_the_queue_of_pollaczek_and_khinchine(self, busy, time):
        """Of constant steps with a prompt each: mean stay D + ρ D / (2 (1 - ρ))."""
        steps = Steps(time / 512, time, 1.0, 0.0, 0.0, 1.0, 0.0)
        times, likely = first_tokens(busy / time, np.array([1.0]), steps)
        assert (np.diff(times) >= 0).all()
        assert likely.sum() == pytest.approx(1)
        assert times @ likely == pytest.approx(time * (1 + busy / (2 * (1 - busy))), rel=0.03)

    def test_a_percentile_of_an_exponential_tail(self):
        assert percentile(lambda t: math.exp(-t / 3), 0.95, 0.1) == pytest.approx(
            3 * math.log(20), rel=1e-6)

    @pytest.mark.parametrize("variation", [0.0, 0.05, 0.3, 1])
    def test_requests_meet_higher_rates_than_minutes_have(self, variation):
        """The mean rate that a request meets is that of a minute times 1 + variation²."""
        met, shares = rates_met(3.0, variation)
        assert shares.sum() == pytest.approx(1)
        assert met @ shares == pytest.approx(3 * (1 + variation**2), rel=5e-3)


SEEN = ReplicaMetrics(1.0, 2.0, 3.0, 4.0, 5.0, math.inf, 0.5)


@pytest.mark.parametrize(("limits", "meets"), [
    (Limits(3.0, 4.0, None), True), (Limits(2.9, 4.0, None), False),
    (Limits(3.0, 3.9, None), False), (Limits(5.0, math.inf), True), (Limits(4.9, math.inf), False),
    (Limits(5.0, 9.0), False), (Limits(), True)])
def test_limits_hold_for_the_mean_or_at_the_percentile(limits, meets):
    assert SEEN.meets(limits) is meets


class TestReplica:
    def test_percentiles_are_those_of_a_simulation(self, scenario, replica):
        system, rate = system_of(scenario), 0.5 * replica.saturation
        seen = replica.seen(rate)
        outcomes = simulate(poisson(rate, 4000, system.shapes, 2), system.pool).outcomes[400:-400]
        for name, added in (("ttft", system.overhead), ("tpot", 0.0)):
            values = np.array([getattr(each, name) for each in outcomes]) + added
            assert getattr(seen, name) == pytest.approx(values.mean(), rel=0.05)
            assert getattr(seen, f"{name}_at") == pytest.approx(
                np.quantile(values, 0.99), rel=WITHIN[name])

    def test_limits_hold_at_the_rate_and_not_above_it(self, replica):
        for limits in (LIMITS, Limits(1.0, 0.06, None), Limits(0.4, math.inf)):
            most = replica.most(limits)
            assert replica.promised(limits) == most  # where the closed form holds
            assert replica.seen(0.99 * most, limits.share).meets(limits)
            assert not replica.seen(1.02 * most, limits.share).meets(limits)

    @pytest.mark.parametrize("variation", [0.0, 0.3])
    def test_a_stricter_promise_takes_less(self, replica, variation):
        rates = [replica.most(Limits(1.0, 0.06, share), variation)
                 for share in (0.5, 0.9, 0.99, 0.999)]
        assert rates == sorted(rates, reverse=True)
        paces = [replica.most(Limits(1.0, limit), variation) for limit in (0.03, 0.05, 0.08)]
        assert paces == sorted(paces)

    def test_beyond_saturation_nothing_is_promised(self, replica):
        seen = replica.seen(1.01 * replica.saturation)
        assert (seen.ttft, seen.tpot_at) == (math.inf, math.inf)
        assert seen.busy > 1

    def test_more_replicas_do_not_mend_a_request_that_misses_alone(self, replica):
        for limits, message in ((Limits(0.01), "has a TTFT of"), (Limits(tpot=1e-3), "a TPOT of")):
            assert replica.most(limits) == 0
            with pytest.raises(ParamsError, match=message):
                day(replica, CODING, 1e5, limits)

    def test_a_rate_is_simulated_where_the_closed_form_is_in_doubt(self):
        """Four requests per second pass a front end, about which the closed form is off."""
        slow = Replica(catalogue.load_scenario("h200-r1-vllm-tp8", overrides=[
            *LENGTHS, "mechanisms.front_end_rate=4 request/s"]))
        closed, rate = slow.most(LIMITS), slow.promised(LIMITS)
        assert slow.in_doubt(closed)
        assert not slow.metrics(closed).meets(LIMITS)
        assert 0 < rate < closed
        assert slow.metrics(rate).meets(LIMITS)


def a_day(counts, *checked):
    return Day(864_000.0, 4.0, 9.0, 3, tuple(Hour(1.0, count, 0.5, SEEN) for count in counts),
               max(counts), 50.0, checked)


@pytest.fixture(scope="module")
def found(replica):
    return day(replica, CODING, 3e5, LIMITS, start=600.0, think=60.0)


class TestDay:
    def test_every_hour_has_what_it_needs(self, found):
        for hour in found.hours:
            assert hour.rate <= hour.replicas * found.most * (1 + 1e-9)
            assert hour.replicas == 1 or hour.rate > (hour.replicas - 1) * found.most
            assert hour.seen.meets(LIMITS)
        assert found.replicas == max(hour.replicas for hour in found.hours)
        assert sum(hour.rate for hour in found.hours) * 3600 == pytest.approx(3e5)

    def test_the_busiest_hour_is_simulated_until_limits_hold(self, scenario, found):
        checked = check(found, scenario, CODING, LIMITS)
        tried = range(found.replicas, checked.bought + 1)
        assert [(each.replicas, each.met) for each in checked.checked] == [
            (count, count == checked.bought) for count in tried]

    @pytest.mark.parametrize(("counts", "started"), [
        ([1, 4, 2], 3), ([4, 1, 1], 3), ([1, 1, 4], 3), ([2, 2, 2], 0), ([1, 3, 1, 2], 3)])
    def test_card_seconds_of_a_scaled_day(self, counts, started):
        """Three cards a replica, 50 s to start; the first hour comes after the last."""
        found = a_day(counts)
        assert found.scaled == 3 * (3600 * sum(counts) + 50 * started)
        assert found.saved == pytest.approx(1 - found.scaled / (max(counts) * 3 * 86_400))

    def test_the_simulation_may_take_more_replicas(self):
        missed, met = (Checked(number, 10, 1.0, 1.0, number == 6) for number in (5, 6))
        found = a_day([1, 4], missed, met)
        assert (found.replicas, found.bought, a_day([1, 4], missed).bought) == (4, 6, 4)
        assert found.fixed == 6 * 3 * 86_400
        assert found.utilisation == pytest.approx(10 / (6 * 4))
