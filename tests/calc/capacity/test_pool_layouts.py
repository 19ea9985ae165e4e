"""Two pools on so many cards: what a search makes of the same question, and its laws."""

from types import SimpleNamespace

import pytest

import catalogue
from calc.capacity.pool_layouts import Pairing
from calc.capacity.replicas import Limits
from calc.closed_form.evaluate import evaluate
from calc.layouts.choice import scenario as deployed
from calc.searching.load_goal import load_goal
from calc.searching.search import search

SETTINGS = ["workload.input_tokens=2000 token", "workload.output_tokens=500 token",
            "workload.concurrency=64 request", "workload.requests=64 request"]
LIMITS = Limits(2.0, 0.05, None)
SIZES = (8, 16, 32)


@pytest.fixture(scope="module")
def scenario():
    return catalogue.load_scenario("h200-r1-vllm-tp8", overrides=SETTINGS)


@pytest.fixture(scope="module")
def pairing(scenario):
    return Pairing(scenario, SIZES)


def test_both_pools_hold_the_cards_and_the_limits(pairing):
    found = pairing.best(LIMITS)
    assert set(found) == {16, 32}
    for devices, pools in found.items():
        a, b = pools.groups
        assert a * pools.prefill.devices + b * pools.decode.devices <= devices
        assert pools.ttft <= LIMITS.ttft * (1 + 1e-9)
        assert pools.per_device == pytest.approx(pools.rate * 500 / devices)


def test_a_group_that_decodes_takes_what_the_runtime_gives_for_it(pairing):
    """Nothing is added to a step that holds it already."""
    pools = pairing.best(LIMITS)[16]
    inputs = pairing._resolved(pools.decode).inputs() | {
        "concurrency": float(pools.decode.concurrency), "draft_tokens": pools.decode.drafts,
        "micro_batches": pools.decode.micro_batches}
    found = evaluate(inputs, "mla")
    assert pools.tpot == pytest.approx(float(found["tpot"]))
    assert pools.groups[1] * float(found["request_throughput"]) >= pools.rate * (1 - 1e-9)


def test_wider_limits_and_more_cards_never_give_less(pairing):
    rates = [pairing.best(Limits(2.0, limit, None))[32].rate for limit in (0.03, 0.05, 0.1)]
    assert rates == sorted(rates)
    rates = [pairing.best(Limits(limit, 0.05, None))[32].rate for limit in (0.6, 1.0, 2.0)]
    assert rates == sorted(rates)
    found = pairing.best(LIMITS)
    assert found[32].rate >= 2 * found[16].rate * (1 - 1e-9)


def test_groups_within_a_server_are_no_better(scenario, pairing):
    narrow = Pairing(scenario, SIZES, narrow=True).best(LIMITS)
    for devices, pools in narrow.items():
        assert pools.decode.expert <= 8
        assert pools.rate <= pairing.best(LIMITS)[devices].rate * (1 + 1e-9)


def test_a_search_of_the_same_question_has_the_same_answer():
    """One group of each on two servers: the same law, the same pool that binds, as much of it.

    Prompts bind here, so that more than one pool decodes fast enough.
    """
    goal = load_goal("million-tokens", [
        "devices=nvidia-h200-sxm", "engines=vllm@0.11.0", "cards.most=16",
        "demand.input_tokens=4000 token", "demand.output_tokens=1000 token",
        "precisions=fp8-block", "space.pools=two", "space.chunks=8192",
        "space.drafts=0,1", "space.spares=none", "cards.fewest=16",
        "space.decode_context=1",
        "limits.tpot=50 ms", "limits.ttft=2 s", "objectives=throughput"])
    best = search(goal).pairs.rows()[0]
    demand = goal.demand
    asked = deployed(goal, best.choice)
    asked = catalogue.load_scenario("h200-r1-vllm-tp8", overrides=[
        f"workload.input_tokens={demand.input_tokens} token",
        f"workload.output_tokens={demand.output_tokens} token",
        "workload.concurrency=64 request", "workload.requests=64 request",
        f"workload.length_distribution={demand.length_distribution}",
        f"workload.length_variation={demand.length_variation}",
        f"workload.context_tokens={demand.input_tokens + demand.output_tokens} token",
        f"workload.max_num_batched_tokens={best.prefill.chunk} token",
        f"workload.memory_utilization={best.choice.utilization / 100}",
        f"workload.block_size={int(asked.inputs()['block_size'])} token"])
    found = Pairing(asked, (8, 16)).best(Limits(2.0, 0.05, None))[16]
    assert found.prefill.layout == best.prefill.layout
    assert found.per_device == pytest.approx(best.quantities["throughput_per_card"], rel=0.04)


@pytest.mark.parametrize(("prefill", "decode"), [({}, {}), ({}, {"port": 1}), ({"rate": 1}, {})])
def test_where_one_pool_holds_nothing_no_group_prefills(prefill, decode):
    asked = SimpleNamespace(pools=SimpleNamespace(prefill=prefill, decode=decode))
    assert Pairing._prefilling(asked, LIMITS) == []
    assert decode or Pairing._decoding(asked, LIMITS) == []
