"""What users see at a load: laws of the simulated steady state, and how long a run is."""

import functools
from dataclasses import replace

import pytest

import catalogue
from calc.answer.simulated import system_of
from calc.answer.users import (
    COUNTED,
    CYCLES,
    EVERY,
    FEW_CHUNKS,
    FEWEST,
    OF_A_CHUNK,
    PRECISION,
    SHARES,
    UserLoad,
    asked_of,
    cost,
    cost_of_chunks,
    cycle,
    seen_by_users,
    users_see,
    workload_of,
)
from calc.closed_form.evaluate import evaluate
from calc.serving.arrivals import ClosedLoop, Prefixes

AWQ = "s2-910b1-awq"
SETTINGS = ("workload.input_tokens=500 token", "workload.output_tokens=60 token")
THINKING = UserLoad(users=16, think_time=2.0)
MEAN = {"tpot": (None,)}


@functools.cache
def loaded(*settings):
    return catalogue.load_scenario(AWQ, overrides=[*SETTINGS, *settings])


@functools.cache
def seen(load, *settings, seed=0):
    """A run whose mean time per token is known well enough."""
    return users_see(loaded(*settings), load, wanted=MEAN, seed=seed)


def test_littles_law_holds_between_throughput_and_times():
    found = seen(THINKING)
    assert found.summary.steady
    assert found.summary.request_throughput * (found.e2e.mean + 2.0) == pytest.approx(16, rel=0.05)
    assert found.summary.request_throughput * found.e2e.mean == pytest.approx(
        found.summary.concurrency, rel=0.05)


def test_percentiles_lie_in_their_intervals_and_in_order():
    found = seen(THINKING)
    for times in (found.ttft, found.tpot, found.e2e):
        points = [times.at(share) for share in SHARES]
        assert [each.value for each in points] == [times.p50, times.p90, times.p99]
        assert times.p50 <= times.p90 <= times.p99
        assert all(each.low <= each.value <= each.high for each in points)


def test_run_is_as_long_as_what_is_wanted_needs():
    found = users_see(loaded(), THINKING, wanted=dict.fromkeys(EVERY, (0.9,)))
    assert found.precise
    for times in (found.ttft, found.tpot, found.e2e):
        assert times.at(0.9).error <= PRECISION
    assert found.summary.requests > seen(THINKING).summary.requests > FEWEST
    assert seen(THINKING).precise
    assert seen(THINKING).tpot.half_width <= PRECISION * seen(THINKING).tpot.mean


def test_seed_repeats_a_run_and_another_one_agrees():
    again, other = users_see(loaded(), THINKING, wanted=MEAN), seen(THINKING, seed=1)
    assert again.summary == seen(THINKING).summary
    for name in ("ttft", "tpot", "e2e"):
        one, two = (getattr(each, name).at(0.5) for each in (again, other))
        assert one.low <= two.high
        assert two.low <= one.high
    assert again.as_json()["seed"] == 0 != other.as_json()["seed"]


def test_more_users_wait_longer():
    few, some, many = (seen(UserLoad(users=users)) for users in (4, 16, 64))
    assert few.ttft.p90 < some.ttft.p90 < many.ttft.p90
    assert few.tpot.mean < some.tpot.mean < many.tpot.mean


@pytest.mark.parametrize(("rate", "keeps_up"), [(0.5, True), (30.0, False)])
def test_rate_beyond_capacity_does_not_keep_up(rate, keeps_up):
    assert users_see(loaded(), UserLoad(rate=rate), wanted={}).keeps_up is keeps_up


def test_burst_is_counted_whole():
    found = users_see(loaded(), UserLoad(30, together=True, requests=30))
    assert (found.summary.requests, found.summary.steady) == (30, False)
    assert found.ttft.p99 > 2 * seen(UserLoad(16)).ttft.p50


def test_part_of_equal_replicas_stands_for_all():
    wide = ("parallelism.data_parallel=8", "cluster.nodes=8", "workload.concurrency=400",
            "workload.requests=400")
    found = users_see(loaded(*wide), wanted={})
    one = users_see(loaded("workload.concurrency=50", "workload.requests=50"), wanted={})
    kept = 8 * COUNTED // (CYCLES * 400)
    assert (found.share, one.share) == (kept / 8, 1.0)
    assert found.tpot.mean == pytest.approx(one.tpot.mean, rel=0.1)
    apart = users_see(loaded(*wide), UserLoad(rate=1.0), wanted={})
    assert apart.share == 1.0


@pytest.mark.parametrize(("settings", "expected"), [
    ((), UserLoad(32)), (("workload.arrivals=burst",), UserLoad(32, together=True, requests=32)),
    (("workload.arrivals=burst", "workload.requests=70"),
     UserLoad(32, together=True, requests=70)),
    (("workload.arrivals=closed-loop", "workload.think_time=3 s"), UserLoad(32, 3.0)),
    (("workload.arrivals=poisson", "workload.arrival_rate=0.2 request/s"), UserLoad(rate=0.2))])
def test_load_is_that_of_the_workload(settings, expected):
    assert asked_of(loaded(*settings)) == expected


@pytest.mark.parametrize("given", [{}, {"users": 3, "rate": 1.0}])
def test_load_is_of_users_or_a_rate(given):
    with pytest.raises(ValueError, match="expected one of them"):
        UserLoad(**given)


def test_requests_of_a_load():
    """Users wait for what comes before the scheduler as well; a rate is that of its arrivals."""
    system, some = system_of(loaded()), Prefixes(2, 5)
    thinking = workload_of(system, UserLoad(7, 2.0), 30, 9.0, 4, some)
    assert thinking == ClosedLoop(7, 30, system.shapes, 2.0 + system.overhead, True, 9.0, 4, some)
    together = workload_of(system, UserLoad(7, together=True), 5, 9.0)
    assert together == ClosedLoop(7, 7, system.shapes, system.overhead)
    plain, shared = (workload_of(system, UserLoad(rate=5.0), 2000, 9.0, 1, prefixes)
                     for prefixes in (None, some))
    assert plain[-1].arrival == pytest.approx(400, rel=0.1)
    assert [each.arrival for each in shared] == [each.arrival for each in plain]
    assert {each.texts[0] for each in shared} == {((0,), 5), ((1,), 5)}


@pytest.mark.parametrize(("load", "users"), [(UserLoad(50, 2.0), 50), (UserLoad(rate=3.0), 32)])
def test_cycle_is_stay_and_thinking(load, users):
    stay = evaluate(loaded().inputs() | {"concurrency": users}, "mla")["e2e"]
    assert cycle(loaded(), load) == pytest.approx(float(stay) + load.think_time)


def test_users_see_the_time_before_the_scheduler():
    summary = seen(THINKING).summary
    later = seen_by_users(summary, 0.5)
    for name in ("ttft", "e2e"):
        assert getattr(later, name).mean == pytest.approx(getattr(summary, name).mean + 0.5)
    assert (later.tpot, later.wait) == (summary.tpot, summary.wait)
    assert later.concurrency == pytest.approx(
        summary.concurrency + 0.5 * summary.request_throughput)


def test_cost_of_a_run_shares_steps_and_counts_further_chunks():
    """Those beside a request share its steps; ranks that wait for each other cost four times."""
    system = system_of(loaded("workload.input_tokens=2048"))
    one, four, crowd = (cost(system, UserLoad(users), 0.0) for users in (1, 4, 10**6))
    assert one - 1e-4 == pytest.approx(1e-6 + 4e-6 * 60)
    assert four - 1e-4 == pytest.approx(4e-6 + 4e-6 * 60 / 4)
    assert crowd == pytest.approx(cost(system, UserLoad(system.at_once), 0.0))
    assert cost(system, UserLoad(rate=2.0), 2.0) == pytest.approx(four)
    ranks = replace(system, pool=replace(system.pool, ranks=2, replicas=2))
    assert cost(ranks, UserLoad(8), 0.0) == pytest.approx(4 * four)
    for chunk, further in ((2048, 0), (256, 0), (255, 1), (64, 32 - FEW_CHUNKS)):
        cut = replace(system, pool=replace(system.pool, limits=replace(
            system.pool.limits, max_num_batched_tokens=chunk)))
        assert cost_of_chunks(cut) == pytest.approx(OF_A_CHUNK * further)
