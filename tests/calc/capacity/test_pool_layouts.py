"""Two pools on so many cards: a search of the same question, and laws."""

import pytest

import catalogue
from calc.capacity.pool_layouts import Pairing
from calc.capacity.replicas import Limits
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
    found = pairing.best(LIMITS)
    assert found[32].rate >= 2 * found[16].rate * (1 - 1e-9)
    for devices, pools in Pairing(scenario, SIZES, narrow=True).best(LIMITS).items():
        assert pools.decode.expert <= 8
        assert pools.rate <= found[devices].rate * (1 + 1e-9)


def test_a_search_of_the_same_question_has_the_same_answer():
    """One group of each on two servers; prompts bind, so that several pools decode fast enough."""
    goal = load_goal("million-tokens", [
        "devices=nvidia-h200-sxm", "engines=vllm@0.11.0", "cards.most=16", "cards.fewest=16",
        "demand.input_tokens=4000 token", "demand.output_tokens=1000 token",
        "precisions=fp8-block", "space.pools=two", "space.chunks=8192", "space.drafts=0,1",
        "space.spares=none", "space.decode_context=1", "limits.tpot=50 ms", "limits.ttft=2 s",
        "objectives=throughput"])
    best, demand = search(goal).pairs.rows()[0], goal.demand
    block = int(deployed(goal, best.choice).inputs()["block_size"])
    asked = catalogue.load_scenario("h200-r1-vllm-tp8", overrides=[
        f"workload.input_tokens={demand.input_tokens} token",
        f"workload.output_tokens={demand.output_tokens} token", *SETTINGS[2:],
        f"workload.length_distribution={demand.length_distribution}",
        f"workload.length_variation={demand.length_variation}",
        f"workload.context_tokens={demand.input_tokens + demand.output_tokens} token",
        f"workload.max_num_batched_tokens={best.prefill.chunk} token",
        f"workload.memory_utilization={best.choice.utilization / 100}",
        f"workload.block_size={block} token"])
    found = Pairing(asked, (8, 16)).best(Limits(2.0, 0.05, None))[16]
    assert found.prefill.layout == best.prefill.layout
    assert found.per_device == pytest.approx(best.quantities["throughput_per_card"], rel=0.04)
