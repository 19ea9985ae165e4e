"""From few cards to many: what is best of each size, by brute force and by its laws."""

import itertools

import pytest

import catalogue
from calc.capacity.growth import best, sizes_of
from calc.capacity.pool_layouts import Pairing
from calc.capacity.replicas import Limits
from calc.capacity.tables import layouts, on, ways
from calc.closed_form.evaluate import evaluate

SETTINGS = ["workload.input_tokens=2000 token", "workload.output_tokens=500 token",
            "workload.concurrency=64 request", "workload.requests=64 request"]
LIMITS = Limits(2.0, 0.05, None)
SLOW = 4  # request/s of a front end: less than eight of these cards would finish


@pytest.fixture(scope="module")
def scenario():
    return catalogue.load_scenario("h200-r1-vllm-tp8", overrides=SETTINGS)


@pytest.mark.one
@pytest.mark.parametrize("devices", [8, 16])
def test_no_other_layout_finishes_more_within_limits(scenario, devices):
    found = best(scenario, devices, LIMITS)
    rates = []
    for cut in layouts(scenario, devices, mixed=True):
        inputs = on(scenario, devices, cut).inputs() | {"open_arrivals": 1}
        for requests, drafts, batches in itertools.product(
                (1, 2, 4, 8, 16, 29, 64, 83, 128, 174, 256), (0, 1), (1, 2)):
            one = evaluate(inputs | {"concurrency": float(requests * cut[2]),
                                     "draft_tokens": drafts, "micro_batches": batches}, "mla")
            if (one["headroom_per_device"] >= 0 and one["steady_ttft"] <= LIMITS.ttft
                    and one["steady_tpot"] <= LIMITS.tpot):
                rates.append(float(one["steady_request_throughput"]))
    assert found.rate >= max(rates) * (1 - 0.1)  # between the numbers of requests that are tried
    assert found.ttft <= LIMITS.ttft
    assert found.tpot <= LIMITS.tpot


def test_the_best_is_what_the_runtime_gives_for_it(scenario):
    found = best(scenario, 16, LIMITS)
    drafts, batches = found.way
    inputs = on(scenario, 16, found.cut).inputs() | {
        "open_arrivals": 1, "concurrency": float(found.requests), "draft_tokens": drafts,
        "micro_batches": batches}
    again = evaluate(inputs, "mla")
    assert found.tpot == pytest.approx(float(again["steady_tpot"]))
    assert found.per_device == pytest.approx(
        float(again["steady_request_throughput"]) * 500 / 16)


def test_higher_limits_never_give_less_and_staying_narrow_never_more(scenario):
    rates = [best(scenario, 16, Limits(2.0, limit, None)).rate for limit in (0.03, 0.05, 0.1)]
    assert rates == sorted(rates)
    assert best(scenario, 16, LIMITS, narrow=True).rate <= best(scenario, 16, LIMITS).rate


def test_limits_that_nothing_meets_have_no_best(scenario):
    assert best(scenario, 8, Limits(1e-3, 0.05, None)) is None
    assert Pairing(scenario, (8, 16)).best(Limits(1e-3, 0.05, None)) == {}


def test_a_draft_is_tried_where_a_model_drafts_and_halves_where_ranks_exchange(scenario):
    alone, exchanging = (8, 1, 1, 1), (1, 1, 8, 8)
    assert ways(scenario, [alone, exchanging]) == [(alone, way) for way in ((0, 1), (1, 1))] + [
        (exchanging, way) for way in ((0, 1), (0, 2), (1, 1), (1, 2))]
    dense = catalogue.load_scenario("h20-qwen3-8b")
    assert ways(dense, [(1, 1, 1, 1)]) == [((1, 1, 1, 1), (0, 1))]
    own, any_way = (best(scenario, 16, LIMITS, own=each) for each in (True, False))
    assert own.way == (0, 1)
    assert own.rate <= any_way.rate


def test_sizes_are_whole_servers():
    assert sizes_of(8, 32) == (8, 16, 24, 32)
    assert sizes_of(16, 64) == (16, 32, 48, 64)


def test_a_best_says_where_its_closed_form_may_be_off(scenario):
    assert not best(scenario, 8, Limits(2.0, 0.03, None)).doubts
    assert best(scenario, 8, Limits(2.0, 0.06, None)).doubts == ("shared",)
    busy = best(with_front_ends_of(SLOW), 8, LIMITS)
    assert "front_end" in busy.doubts
    assert all(busy.as_json()["doubts"].values())


def with_front_ends_of(rate):
    return catalogue.load_scenario("h200-r1-vllm-tp8", overrides=[
        *SETTINGS, f"mechanisms.front_end_rate={rate} request/s"])


def test_more_servers_bring_front_ends_of_their_own(scenario):
    """A card of many yields no less than one of few, in one pool and in two."""
    slow = with_front_ends_of(SLOW)
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
