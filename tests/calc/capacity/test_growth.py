"""From few cards to many, in one pool and in two: brute force, laws, a search of the same."""

import itertools
from functools import cache

import numpy as np
import pytest

import catalogue
from calc.capacity.day import Limits
from calc.capacity.growth import OnePool, Pairing, layouts, on
from calc.layouts.layout import scenario as deployed
from calc.searching.goal import load_goal
from calc.searching.search import search
from calc.serving.evaluate import evaluate

SETTINGS = ("workload.input_tokens=2000 token", "workload.output_tokens=500 token",
            "workload.concurrency=64 request", "workload.requests=64 request")
LIMITS = Limits(2.0, 0.05, None)
SIZES = (8, 16, 32)
SLOW = 4  # request/s of a front end: less than eight of these cards would finish


@cache
def scenario_of(*more):
    return catalogue.load_scenario("h200-r1-vllm-tp8", overrides=[*SETTINGS, *more])


@pytest.fixture(scope="module")
def scenario():
    return scenario_of()


def best(scenario, devices, limits):
    """The best layout of one number of cards."""
    return OnePool(scenario, [devices]).best(limits).get(devices)


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
    way = found.draft_tokens, found.micro_batches
    again = run(scenario, 16, found.cut, way, [found.requests])
    assert found.tpot == pytest.approx(float(again["steady_tpot"][0]))
    assert found.per_device == pytest.approx(
        float(again["steady_request_throughput"][0]) * 500 / 16)


@pytest.mark.parametrize(("limits", "binds"), [
    (LIMITS, "tpot"), (Limits(0.25, 1.0, None), "ttft"),
    (Limits(1e3, 1e3, None), "memory_capacity")])
def test_the_next_number_of_requests_breaks_what_binds(scenario, limits, binds):
    pool = OnePool(scenario, [8])
    found = pool.best(limits)[8]
    way = found.draft_tokens, found.micro_batches
    tried = pool.counts[pool.options.index((8, found.cut, way))]
    after = run(scenario, 8, found.cut, way, tried[tried > found.requests][:1])
    assert found.binds == binds
    assert {"tpot": after["steady_tpot"] > limits.tpot, "ttft": after["steady_ttft"] > limits.ttft,
            "memory_capacity": after["headroom_per_device"] < 0}[binds].all()


def test_higher_limits_never_give_less(scenario):
    pool = OnePool(scenario, [16])
    rates = [pool.best(Limits(2.0, limit, None))[16].rate for limit in (0.03, 0.05, 0.1)]
    assert rates == sorted(rates)


def test_limits_that_nothing_meets_have_no_best(scenario):
    assert best(scenario, 8, Limits(1e-3, 0.05, None)) is None
    assert Pairing(scenario, (8, 16)).best(Limits(1e-3, 0.05, None)) == {}


def test_more_servers_bring_front_ends_of_their_own(scenario):
    """A card of many yields no less than one of few, in one pool and in two."""
    slow = scenario_of(f"mechanisms.front_end_rate={SLOW} request/s")
    one, two, many = OnePool(slow, (8, 16, 64)).best(LIMITS).values()
    assert one.rate < best(scenario, 8, LIMITS).rate  # there the front end is what binds
    assert two.per_device >= one.per_device * (1 - 1e-6)
    assert many.per_device >= two.per_device * (1 - 1e-6)
    pairs = Pairing(slow, SIZES).best(LIMITS)
    assert pairs[32].per_device >= pairs[16].per_device * (1 - 1e-6)
    for pair in pairs.values():
        for count, pool in zip(pair.groups, (pair.prefill, pair.decode), strict=True):
            servers = pool.data * pool.tensor // max(pool.expert, pool.tensor)
            assert pair.rate <= SLOW * count * servers * (1 + 1e-9)


# --- two pools ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pairing(scenario):
    return Pairing(scenario, SIZES)


def test_both_pools_keep_cards_and_limits(pairing):
    found = pairing.best(LIMITS)
    assert set(found) == {16, 32}
    for devices, pools in found.items():
        a, b = pools.groups
        assert a * pools.prefill.devices + b * pools.decode.devices <= devices
        assert pools.ttft <= LIMITS.ttft * (1 + 1e-9)
        assert pools.per_device == pytest.approx(pools.rate * 500 / devices)


def test_wider_limits_and_more_cards_never_give_less(scenario, pairing):
    for limits in ([Limits(2.0, limit, None) for limit in (0.03, 0.05, 0.1)],
                   [Limits(limit, 0.05, None) for limit in (0.6, 1.0, 2.0)]):
        rates = [pairing.best(each)[32].rate for each in limits]
        assert rates == sorted(rates)
    found, narrow = pairing.best(LIMITS), Pairing(scenario, SIZES, narrow=True).best(LIMITS)
    assert found[32].rate >= 2 * found[16].rate * (1 - 1e-9)
    assert narrow[32].decode.expert <= 8
    assert narrow[32].rate <= found[32].rate * (1 + 1e-9)


def test_a_search_of_the_same_question_has_the_same_answer():
    """One group of each on two servers; prompts bind, so that several pools decode fast enough."""
    goal = load_goal("million-tokens", [
        "devices=nvidia-h200-sxm", "engines=vllm@0.11.0", "cards.most=16", "cards.fewest=16",
        "demand.input_tokens=4000 token", "demand.output_tokens=1000 token",
        "precisions=fp8-block", "space.pools=two", "space.chunks=8192", "space.drafts=0,1",
        "space.spares=none", "space.micro_batches=1,2", "space.decode_context=1",
        "limits.tpot=50 ms", "limits.ttft=2 s",
        "objectives=throughput"])
    best, demand = search(goal).pairs.rows()[0], goal.demand
    asked = catalogue.load_scenario("h200-r1-vllm-tp8", overrides=[*SETTINGS[2:], *(
        f"workload.{name}={value}" for name, value in {
            "input_tokens": 4000, "output_tokens": 1000, "context_tokens": 5000,
            "length_distribution": demand.length_distribution,
            "length_variation": demand.length_variation, "max_num_batched_tokens": 8192,
            "memory_utilization": best.choice.utilization / 100,
            "block_size": int(deployed(goal, best.choice).inputs()["block_size"])}.items())])
    found = Pairing(asked, (8, 16)).best(Limits(2.0, 0.05, None))[16]
    assert found.prefill.layout == best.prefill.layout
    assert found.per_device == pytest.approx(best.quantities["throughput_per_card"], rel=0.04)
