"""What users see at a load: laws of the simulated steady state, and how long a run is."""

import functools

import pytest

import catalogue
from calc.answer.simulated_load import (
    COUNTED,
    CYCLES,
    EVERY,
    PRECISION,
    SHARES,
    UserLoad,
    cycle,
    simulate_load,
    stated_load,
    with_overhead,
)
from calc.serving.evaluate import evaluate

SETTINGS = ("workload.input_tokens=500 token", "workload.output_tokens=60 token")
THINKING = UserLoad(users=16, think_time=2.0)


@functools.cache
def loaded(*settings):
    return catalogue.load_scenario("s2-910b1-awq", overrides=[*SETTINGS, *settings])


@functools.cache
def seen(load, *settings, seed=0):
    """A run whose mean time per token is known well enough."""
    return simulate_load(loaded(*settings), load, wanted={"tpot": (None,)}, seed=seed)


def test_littles_law_and_percentiles():
    found = seen(THINKING).summary
    assert found.steady
    assert found.request_throughput * (found.e2e.mean + 2.0) == pytest.approx(16, rel=0.05)
    for times in (found.ttft, found.tpot, found.e2e):
        points = [times.at(share) for share in SHARES]
        assert all(each.low <= each.value <= each.high for each in points)
    later = with_overhead(found, 0.5)  # with the time before the scheduler
    assert later.ttft.mean == pytest.approx(found.ttft.mean + 0.5)
    assert later.concurrency == pytest.approx(
        found.concurrency + 0.5 * found.request_throughput)


def test_run_is_as_long_as_what_is_wanted_needs():
    mean = seen(THINKING)
    found = simulate_load(loaded(), THINKING, wanted=dict.fromkeys(EVERY, (0.9,)))
    assert found.precise is mean.precise is True
    times = found.summary
    assert max(time.at(0.9).error for time in (times.ttft, times.tpot, times.e2e)) <= PRECISION
    assert mean.summary.tpot.half_width <= PRECISION * mean.summary.tpot.mean
    assert found.summary.requests >= mean.summary.requests


def test_seed_repeats_a_run_and_another_one_agrees():
    again = simulate_load(loaded(), THINKING, wanted={"tpot": (None,)})
    other = seen(THINKING, seed=1)
    assert again.summary == seen(THINKING).summary != other.summary
    one, two = (each.summary.tpot.at(0.5) for each in (again, other))
    assert max(one.low, two.low) <= min(one.high, two.high)


def test_more_users_wait_longer():
    few, some, many = (seen(UserLoad(users=users)).summary for users in (4, 16, 64))
    assert few.ttft.at(0.9).value < some.ttft.at(0.9).value < many.ttft.at(0.9).value
    assert few.tpot.mean < some.tpot.mean < many.tpot.mean
    burst = simulate_load(loaded(), UserLoad(30, together=True, requests=30))
    assert (burst.summary.requests, burst.summary.steady) == (30, False)
    assert burst.summary.ttft.at(0.99).value > 2 * some.ttft.at(0.5).value


@pytest.mark.parametrize(("rate", "keeps_up"), [(0.5, True), (30.0, False)])
def test_rate_beyond_capacity_does_not_keep_up(rate, keeps_up):
    assert simulate_load(loaded(), UserLoad(rate=rate), wanted={}).keeps_up is keeps_up


def test_part_of_equal_replicas_stands_for_all():
    wide = ("parallelism.data_parallel=8", "cluster.nodes=8", "workload.concurrency=400",
            "workload.requests=400")
    found = simulate_load(loaded(*wide), wanted={})
    one = simulate_load(loaded(), UserLoad(50), wanted={})
    assert (found.share, one.share) == (8 * COUNTED // (CYCLES * 400) / 8, 1.0)
    assert found.summary.tpot.mean == pytest.approx(one.summary.tpot.mean, rel=0.1)
    assert simulate_load(loaded(*wide), UserLoad(rate=1.0), wanted={}).share == 1.0


@pytest.mark.parametrize(("settings", "expected"), [
    ((), UserLoad(32)), (("workload.arrivals=burst", "workload.requests=70"), UserLoad(
        32, together=True, requests=70)),
    (("workload.arrivals=burst",), UserLoad(32, together=True, requests=32)),
    (("workload.arrivals=closed-loop", "workload.think_time=3 s"), UserLoad(32, 3.0)),
    (("workload.arrivals=poisson", "workload.arrival_rate=0.2 request/s"), UserLoad(rate=0.2))])
def test_load_is_that_of_the_workload(settings, expected):
    """A cycle is a stay of so many, and the thinking."""
    assert stated_load(loaded(*settings)) == expected
    stay = evaluate(loaded().inputs() | {"concurrency": 32}, "mla")["e2e"]
    assert cycle(loaded(*settings), expected) == pytest.approx(float(stay) + expected.think_time)
