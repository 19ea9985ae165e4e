"""From few cards to many: what is best of each size, by brute force and by its laws."""

import itertools
from functools import cache

import numpy as np
import pytest

import catalogue
from calc.capacity.growth import best
from calc.capacity.pool_layouts import Pairing
from calc.capacity.replicas import Limits
from calc.capacity.tables import is_wide, layouts, on, requests_of
from calc.closed_form.evaluate import evaluate

SETTINGS = ("workload.input_tokens=2000 token", "workload.output_tokens=500 token",
            "workload.concurrency=64 request", "workload.requests=64 request")
LIMITS = Limits(2.0, 0.05, None)
SLOW = 4  # request/s of a front end: less than eight of these cards would finish


@cache
def scenario_of(*more):
    return catalogue.load_scenario("h200-r1-vllm-tp8", overrides=[*SETTINGS, *more])


@pytest.fixture(scope="module")
def scenario():
    return scenario_of()


def run(scenario, devices, cut, way, counts):
    """Quantities of a layout with numbers of requests on all of its ranks."""
    return evaluate(on(scenario, devices, cut).inputs() | {
        "open_arrivals": 1, "concurrency": np.asarray(counts, float), "draft_tokens": way[0],
        "micro_batches": way[1]}, "mla")


def test_no_other_layout_finishes_more_within_limits(scenario):
    best_rate = 0.0
    for cut, drafts, batches in itertools.product(layouts(scenario, 8, mixed=True), (0, 1), (1, 2)):
        found = run(scenario, 8, cut, (drafts, batches), cut[2] * np.array(
            [1, 2, 4, 8, 16, 29, 64, 83, 128, 174, 256]))
        good = ((found["headroom_per_device"] >= 0) & (found["steady_ttft"] <= LIMITS.ttft)
                & (found["steady_tpot"] <= LIMITS.tpot))
        best_rate = max(best_rate, *np.where(good, found["steady_request_throughput"], 0))
    found = best(scenario, 8, LIMITS)
    assert found.rate >= 0.9 * best_rate > 0  # between the numbers of requests that are tried
    assert found.ttft <= LIMITS.ttft
    assert found.tpot <= LIMITS.tpot


def test_the_best_equals_the_closed_form_of_its_layout(scenario):
    found = best(scenario, 16, LIMITS)
    again = run(scenario, 16, found.cut, found.way, [found.requests])
    assert found.tpot == pytest.approx(float(again["steady_tpot"][0]))
    assert found.per_device == pytest.approx(
        float(again["steady_request_throughput"][0]) * 500 / 16)


@pytest.mark.parametrize(("limits", "binds"), [
    (LIMITS, "tpot"), (Limits(0.25, 1.0, None), "ttft"),
    (Limits(1e3, 1e3, None), "memory_capacity")])
def test_the_next_number_of_requests_breaks_what_binds(scenario, limits, binds):
    found = best(scenario, 8, limits)
    tried = requests_of([(found.cut, found.way)])[0]
    after = run(scenario, 8, found.cut, found.way, tried[tried > found.requests][:1])
    assert found.binds == binds
    assert {"tpot": after["steady_tpot"] > limits.tpot, "ttft": after["steady_ttft"] > limits.ttft,
            "memory_capacity": after["headroom_per_device"] < 0}[binds].all()


def test_higher_limits_never_give_less_and_staying_narrow_never_more(scenario):
    rates = [best(scenario, 16, Limits(2.0, limit, None)).rate for limit in (0.03, 0.05, 0.1)]
    assert rates == sorted(rates)
    narrow = best(scenario, 16, LIMITS, narrow=True)
    assert narrow.rate <= rates[1]
    assert not is_wide(scenario, narrow.cut)
    assert [is_wide(scenario, (1, 1, 16, expert)) for expert in (1, 8, 16)] == [False, False, True]


def test_limits_that_nothing_meets_have_no_best(scenario):
    assert best(scenario, 8, Limits(1e-3, 0.05, None)) is None
    assert Pairing(scenario, (8, 16)).best(Limits(1e-3, 0.05, None)) == {}


def test_more_servers_bring_front_ends_of_their_own(scenario):
    """A card of many yields no less than one of few, in one pool and in two."""
    slow = scenario_of(f"mechanisms.front_end_rate={SLOW} request/s")
    one, two, many = (best(slow, devices, LIMITS) for devices in (8, 16, 64))
    assert one.rate < best(scenario, 8, LIMITS).rate  # there the front end is what binds
    assert two.per_device >= one.per_device * (1 - 1e-6)
    assert many.per_device >= two.per_device * (1 - 1e-6)
    pairs = Pairing(slow, (8, 16, 32)).best(LIMITS)
    assert pairs[32].per_device >= pairs[16].per_device * (1 - 1e-6)
    for pair in pairs.values():
        for count, pool in zip(pair.groups, (pair.prefill, pair.decode), strict=True):
            servers = pool.data * pool.tensor // max(pool.expert, pool.tensor)
            assert pair.rate <= SLOW * count * servers * (1 + 1e-9)
