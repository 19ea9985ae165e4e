"""Replicas at a percentile: laws, and what a simulation of the same steps gives."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import catalogue
from calc.answer.simulated import system_of
from calc.capacity.day import check, day, online, simulated
from calc.capacity.first_tokens import Steps, first_tokens
from calc.capacity.replicas import Limits, Replica, fewest
from calc.capacity.waits import pace_spread, percentile, rates_met, skewed_above
from calc.serving.arrivals import modulated, poisson
from calc.serving.simulation import simulate
from catalogue import ParamsError

LENGTHS = ["workload.input_tokens=2000 token", "workload.output_tokens=200 token",
           "workload.concurrency=64 request", "workload.requests=64 request",
           "workload.length_distribution=constant"]
LIMITS = Limits(1.0, 0.06)
WITHIN = {"ttft": 0.25, "tpot": 0.08}


@pytest.fixture(scope="module")
def scenario():
    return catalogue.load_scenario("h200-r1-vllm-tp8", overrides=LENGTHS)


@pytest.fixture(scope="module")
def replica(scenario):
    return Replica(scenario)


class TestWaits:
    @given(st.floats(0.05, 0.8), st.floats(0.05, 1.0))
    @settings(max_examples=20, deadline=None)
    def test_one_prompt_a_step_is_the_queue_of_pollaczek_and_khinchine(self, busy, time):
        """Of constant steps with a prompt each: mean stay D + ρ D / (2 (1 - ρ))."""
        steps = Steps(time / 512, time, 1.0, 0.0, 0.0, 1.0, 0.0)
        times, likely = first_tokens(busy / time, np.array([1.0]), steps)
        assert (np.diff(times) >= 0).all()
        assert likely.sum() == pytest.approx(1)
        assert times @ likely == pytest.approx(time * (1 + busy / (2 * (1 - busy))), rel=0.03)

    def test_of_no_load_a_first_token_is_the_own_prompt(self):
        steps = Steps(0.01, 0.1, 1000.0, 1e-4, 0.0, 8000.0, 0.02)
        times, likely = first_tokens(0.0, np.array([1000.0, 3000.0]), steps)
        assert times @ likely == pytest.approx(0.02 + 0.005 + 0.2, rel=1e-6)

    def test_a_percentile_is_where_the_tail_is_what_is_left(self):
        found = percentile(lambda t: math.exp(-t / 3), 0.95, 0.1)
        assert found == pytest.approx(3 * math.log(20), rel=1e-6)

    def test_the_spread_of_the_pace_is_that_of_drawn_arrivals(self):
        """Campbell's theorem, by drawing: who came before and who comes while an answer lasts."""
        draw, rate, time, stall, slope = np.random.default_rng(1), 2.0, 10.0, 0.01, 0.004
        totals = []
        for _ in range(20_000):
            before, during = (draw.uniform(0, 1, draw.poisson(rate * time)) for _ in range(2))
            totals.append((slope * before).sum() + (stall + slope * during).sum())
        sigma, skewness = pace_spread(rate * time, stall, slope, 1.0)
        assert np.std(totals) == pytest.approx(sigma, rel=0.02)
        centred = (np.array(totals) - np.mean(totals)) / np.std(totals)
        assert (centred**3).mean() == pytest.approx(skewness, abs=0.08)

    @given(st.floats(0, 1))
    def test_a_skewed_tail_falls_from_one_to_nothing(self, skewness):
        tail = skewed_above(np.linspace(-3, 6, 50), skewness)
        assert (np.diff(tail) <= 0).all()
        assert tail[0] > 0.9
        assert tail[-1] < 0.02

    @given(st.floats(0.1, 50), st.floats(0.05, 1))
    @settings(max_examples=30)
    def test_requests_meet_higher_rates_than_minutes_have(self, rate, variation):
        """The mean rate that a request meets is that of a minute times 1 + variation²."""
        met, shares = rates_met(rate, variation)
        assert shares.sum() == pytest.approx(1)
        assert met @ shares == pytest.approx(rate * (1 + variation**2), rel=5e-3)


class TestArrivals:
    def test_minutes_that_do_not_vary_are_independent_arrivals(self):
        shapes = [(100, 10)]
        even, same = modulated(3.0, 0.0, 60.0, 500, shapes, 1), poisson(3.0, 500, shapes, 1)
        assert [one.arrival for one in even] == pytest.approx([one.arrival for one in same])

    def test_counts_of_minutes_vary_as_is_said(self):
        rate, variation, window = 20.0, 0.3, 60.0
        times = np.array([one.arrival for one in modulated(rate, variation, window, 400_000,
                                                           [(1, 1)], 3)])
        found = np.histogram(times, np.arange(0, times[-1], window))[0]
        mean = rate * window
        assert found.mean() == pytest.approx(mean, rel=0.05)
        expected = mean + (variation * mean) ** 2
        assert found.var() == pytest.approx(expected, rel=0.25)

    @pytest.mark.parametrize(("variation", "window"), [(-0.1, 60.0), (math.nan, 60.0), (0.1, 0.0)])
    def test_what_is_no_variation_is_refused(self, variation, window):
        with pytest.raises(ValueError, match="expected 0 or more"):
            modulated(1.0, variation, window, 10, [(1, 1)])


class TestReplica:
    def test_percentiles_are_those_of_a_simulation(self, scenario, replica):
        system = system_of(scenario)
        for share in (0.3, 0.6):
            rate = share * replica.saturation
            seen = replica.seen(rate)
            run = simulate(poisson(rate, 5000, system.shapes, 2), system.pool).outcomes[500:-500]
            for name, added in (("ttft", system.overhead), ("tpot", 0.0)):
                values = np.array([getattr(each, name) for each in run]) + added
                assert getattr(seen, name) == pytest.approx(values.mean(), rel=0.05)
                assert getattr(seen, f"{name}_at") == pytest.approx(
                    np.quantile(values, 0.99), rel=WITHIN[name])

    def test_within_limits_at_the_rate_and_not_above_it(self, replica):
        for limits in (LIMITS, Limits(1.0, 0.06, None), Limits(0.4, math.inf)):
            most = replica.most(limits)
            assert replica.seen(0.99 * most, limits.share).meets(limits)
            assert not replica.seen(1.02 * most, limits.share).meets(limits)

    @pytest.mark.parametrize("variation", [0.0, 0.3])
    def test_a_stricter_promise_takes_less(self, replica, variation):
        rates = [replica.most(Limits(1.0, 0.06, share), variation)
                 for share in (0.5, 0.9, 0.99, 0.999)]
        assert rates == sorted(rates, reverse=True)
        paces = [replica.most(Limits(1.0, limit), variation) for limit in (0.03, 0.05, 0.08)]
        assert paces == sorted(paces)

    def test_a_rate_that_varies_takes_less(self, replica):
        rates = [replica.most(LIMITS, variation) for variation in (0.0, 0.1, 0.3, 0.8)]
        assert rates == sorted(rates, reverse=True)
        assert rates[-1] < rates[0]

    def test_replicas_grow_with_the_load_and_with_the_promise(self, replica):
        rates = (0.1, 2.0, 5.0, 40.0)
        loads = list(fewest(dict(enumerate(rates)), replica.most(LIMITS)).values())
        assert loads == sorted(loads)
        assert loads[0] == 1
        most = [replica.most(Limits(1.0, 0.06, share)) for share in (0.5, 0.9, 0.99)]
        assert most == sorted(most, reverse=True)

    def test_beyond_saturation_nothing_is_promised(self, replica):
        seen = replica.seen(1.01 * replica.saturation)
        assert math.isinf(seen.ttft)
        assert math.isinf(seen.tpot_at)
        assert seen.busy > 1

    def test_a_request_that_misses_alone_is_not_mended_by_replicas(self, scenario, replica):
        limits = Limits(0.01, math.inf)
        assert replica.most(limits) == 0
        with pytest.raises(ParamsError, match="which more replicas do not mend"):
            day(replica, catalogue.load("loads", "azure-coding"), 1e5, limits)

    def test_ranks_that_share_experts_are_one_replica(self):
        scenario = catalogue.load_scenario("h200-r1-sglang-tp8", overrides=[
            *LENGTHS, "parallelism.tensor_parallel=1", "parallelism.data_parallel=8",
            "parallelism.expert_parallel=8"])
        found = Replica(scenario)
        assert found.ranks == 8
        assert found.devices == 8

    def test_a_deployment_that_does_not_fit_has_no_replica(self):
        with pytest.raises(ParamsError, match="does not hold one request"):
            Replica(catalogue.load_scenario("h200-r1-vllm-tp8", overrides=[
                *LENGTHS, "device=nvidia-h20", "precision=bf16"]))


class TestDay:
    @pytest.fixture
    def found(self, replica):
        return day(replica, catalogue.load("loads", "azure-coding"), 3e5, LIMITS, start=600.0,
                   think=60.0)

    def test_every_hour_has_what_it_needs(self, found):
        for hour in found.hours:
            assert hour.rate <= hour.replicas * found.most * (1 + 1e-9)
            assert hour.replicas == 1 or hour.rate > (hour.replicas - 1) * found.most
            assert hour.seen.meets(LIMITS)
        assert found.replicas == max(hour.replicas for hour in found.hours)
        assert sum(hour.rate for hour in found.hours) * 3600 == pytest.approx(3e5)

    def test_scaling_saves_a_share_and_starting_earlier_saves_less(self, replica, found):
        later = day(replica, catalogue.load("loads", "azure-coding"), 3e5, LIMITS, start=0.0)
        assert 0 < found.saved < later.saved < 1
        assert 0 < found.utilisation < 1

    def test_users_in_conversation_are_littles(self, found):
        busiest = max(found.hours, key=lambda hour: hour.rate)
        stay = busiest.seen.in_flight / busiest.seen.rate
        assert found.online == pytest.approx(online(busiest.rate, stay, 60.0))

    def test_more_requests_never_need_fewer(self, replica):
        load = catalogue.load("loads", "azure-conversation")
        counts = [day(replica, load, requests, LIMITS).replicas for requests in (1e4, 1e5, 1e6)]
        assert counts == sorted(counts)

    def test_the_busiest_hour_is_checked_until_limits_hold(self, scenario, replica):
        load = catalogue.load("loads", "azure-conversation")
        found = check(day(replica, load, 2e5, LIMITS), scenario, load, LIMITS)
        assert found.checked[-1].met
        assert found.bought >= found.replicas
        again = check(day(replica, load, 2e5, LIMITS), scenario, load, LIMITS)
        assert again.checked == found.checked  # the same seed

    def test_a_busier_replica_is_slower_in_the_simulation_too(self, scenario):
        system = system_of(scenario)
        slow, fast = (simulated(system, rate, 1, LIMITS, 0.2) for rate in (4.0, 1.0))
        assert slow.tpot > fast.tpot

    def test_no_rate_takes_less_than_one_replica(self):
        assert fewest({"a": 0.0, "b": 2.0}, 2.0) == {"a": 1, "b": 1}


class TestInDoubt:
    """Where the closed form does not hold, replicas are counted with what is simulated."""

    def test_a_rate_within_limits_is_that_of_the_simulation(self):
        replica = Replica(catalogue.load_scenario("wide-lmsys-prefill"))
        alone = replica.seen(0.0, None)
        limits = Limits(tpot=200 * alone.tpot)
        closed, rate = replica.most(limits), replica.promised(limits)
        assert replica.in_doubt(closed)
        assert not replica.metrics(closed, limits.share).meets(limits)
        assert 0 < rate < closed
        assert replica.metrics(rate, limits.share).meets(limits)

    def test_where_the_closed_form_holds_nothing_is_simulated(self, replica, monkeypatch):
        monkeypatch.setattr("calc.capacity.replicas.users_see", None)
        assert replica.promised(LIMITS) == replica.most(LIMITS)
