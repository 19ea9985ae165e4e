"""Conversations and the tiers of their caches: hand calculations, laws, the simulated cache."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import catalogue
from calc.answer.simulated_load import system_of
from calc.capacity.tiers import (
    Population,
    Talk,
    Tier,
    first_prompt,
    host_room,
    shortest_fetch,
)
from calc.serving.evaluate import evaluate
from calc.serving.metrics import summarise
from calc.serving.requests import ClosedLoop, Prefixes
from calc.serving.simulation import simulate
from catalogue import ParamsError

SETTINGS = ["workload.input_tokens=1900 token", "workload.output_tokens=200 token",
            "workload.context_tokens=8192 token"]
# prompts of 100, 210 and 320 tokens; before them 0, 110 and 220 were said, 96 and 208 in blocks
TALK = Talk(100, 10, 3, 60.0, block=16)
# with a prefix of 40, of which 32 stand in whole blocks: of 100, 170 and 240 it is a part
SHARED = Talk(100, 10, 3, 60.0, prefix=40, block=16)
talks = st.builds(Talk, st.integers(1000, 4000), st.integers(1, 500), st.integers(2, 12),
                  st.floats(1, 900), st.integers(0, 900), st.sampled_from([1, 16, 128]))


@pytest.fixture(scope="module")
def scenario():
    return catalogue.load_scenario("s2-910b1-awq", overrides=SETTINGS)


def test_each_prompt_is_all_that_was_said_and_something_new():
    assert TALK.lengths.tolist() == [110, 220, 330]
    assert TALK.prompts.tolist() == [100, 210, 320]
    assert TALK.findable.tolist() == [0, 96, 208]
    assert SHARED.prompts.tolist() == [100, 170, 240]
    assert SHARED.findable.tolist() == [32, 96, 176]
    assert Talk(100, 0, 2, 1.0, prefix=100).findable.tolist() == [99, 99]  # one token is computed
    assert first_prompt(210, 10, 3) == first_prompt(170, 10, 3, 40) == 100


def test_tokens_kept_for_a_time():
    """A conversation each 2 s: for 60 s 110 + 220 tokens with 1 - 1/e of their mean stay, and 330
    for all of it."""
    kept = 0.5 * ((110 + 220) * 60 * (1 - math.exp(-1)) + 330 * 60)
    assert TALK.kept_tokens(0.5, 60.0) == pytest.approx(kept)
    assert TALK.time(0.5, kept) == pytest.approx(60.0)
    assert (TALK.time(0.5, 0.0), TALK.time(0.0, 0.0), TALK.time(0.0, 1.0)) == (0, 0, math.inf)
    assert TALK.returns(60.0) == pytest.approx(1 - math.exp(-1))


def test_shares_of_prompt_tokens_that_are_found():
    assert TALK.hit_share(0.5) == pytest.approx(0.5 * (96 + 208) / 630)
    assert TALK.hit_share(0.0) == 0
    assert SHARED.hit_share(0.25) == pytest.approx((3 * 32 + 0.25 * (64 + 144)) / 510)


@given(talks, st.floats(0.001, 5), st.floats(1e3, 1e8))
@settings(max_examples=25)
def test_a_larger_cache_keeps_longer_and_finds_more(talk, rate, tokens):
    times = [talk.time(rate, size) for size in (tokens, 2 * tokens, 8 * tokens)]
    shares = [talk.hit_share(talk.returns(time)) for time in times]
    assert times == sorted(times)
    assert 0 <= shares[0] <= shares[1] <= shares[2] < 1
    assert talk.kept_tokens(rate, times[0]) == pytest.approx(tokens, rel=1e-6)
    assert talk.time(2 * rate, tokens) <= times[0]  # busier users push each other out
    size = talk.kept_tokens(rate, talk.think * math.log(10))
    assert talk.returns(talk.time(rate, size)) == pytest.approx(0.9, rel=1e-6)


@pytest.mark.parametrize(("latency", "per_token"), [(0, 2e-5), (0.01, 1e-4), (0.1, 1e-6)])
def test_at_the_shortest_length_fetching_takes_as_long_as_computing(latency, per_token):
    tokens = shortest_fetch(latency, per_token, 1e-5, 1e-8)
    assert tokens > 0
    assert latency + per_token * tokens == pytest.approx(1e-5 * tokens + 1e-8 * tokens**2)


def test_the_simulated_cache_finds_as_much(scenario):
    """Whole blocks, evicted one by one, under users of a closed loop."""
    people, system = Population(scenario, 5, 60.0), system_of(scenario)
    talk, limits = people.talk, system.pool.limits
    pool = replace(system.pool, limits=replace(limits, kv_blocks=int(limits.kv_blocks * 0.4)))
    run = summarise(simulate(ClosedLoop(
        40, 3000, [(int(talk.prompt), int(talk.answer))], 60.0, exponential=True, seed=1,
        ramp=300.0, prefixes=Prefixes(turns=5, longest=system.longest)), pool))
    kept = pool.limits.kv_blocks * limits.block_size - run.concurrency * (
        talk.prompts.mean() + talk.answer / 2)
    time = talk.time(run.request_throughput / 5, kept)
    assert talk.hit_share(talk.returns(time)) == pytest.approx(run.hit_share, abs=0.03)


def test_tiers_of_a_replica(scenario):
    """Requests hold a prompt of 1,900 tokens, half of their answer, and a state."""
    people = Population(scenario, 5, 300.0)
    assert people.talk.prompts.mean() == pytest.approx(1900)
    assert people.per_token == pytest.approx(
        float(evaluate(people.inputs, "mla")["kv_bytes_per_token"]))
    device, host, storage = people.tiers(3.0, 8e9, 16e9)
    assert device == Tier("device", people.blocks - 3 * (1900 + 100 + people.state))
    share = scenario.devices / scenario.node.devices_per_node.value  # of a server
    assert [tier.tokens * people.per_token for tier in (host, storage, people.tiers(1e9)[1])
            ] == pytest.approx([8e9 * share, 16e9 * share, host_room(scenario).left * share])


def test_tier_values_by_hand(scenario):
    """Each tier keeps what the one before has no room for; a mean return is fetched or computed."""
    people = Population(scenario, 5, 300.0)
    later, talk = people.talk.findable[1:], people.talk
    slow = Tier("storage", 1e9, bandwidth=people.per_token / people.linear / 10)
    tiers = [Tier("device", 5e4), Tier("host", 1e6, 2e10, 0.001), slow]
    device, host, storage = values = people.tier_values(0.2, tiers)
    assert [each.tokens for each in values] == pytest.approx([5e4, 1.05e6, 1.00105e9])
    shares = [talk.returns(talk.time(0.2, each.tokens)) for each in values]
    assert [each.hits for each in values] == pytest.approx(np.diff([0, *shares]).tolist())
    assert [each.hit_share for each in values] == pytest.approx(
        [talk.hit_share(share) for share in shares])
    again = (people.linear * later + people.quadratic * later**2).mean()
    stored = later.mean() * people.per_token
    assert (device.fetch, host.fetch) == pytest.approx((0, 0.001 + stored / 2e10))
    assert (host.recompute, host.break_even) == pytest.approx((again, stored / (again - 0.001)))
    assert [each.returns for each in values] == pytest.approx(shares)
    assert (host.pays, storage.pays) == (True, False)
    assert slow.bandwidth < storage.break_even
    late, = people.tier_values(0.2, [Tier("storage", 1e3, 2e9, 2 * again)])
    assert (late.break_even, late.pays) == (math.inf, False)


@pytest.mark.parametrize(("turns", "prefix", "least"), [(50, 0.0, "4,926"), (3, 1900.0, "2,100")])
def test_turns_that_leave_no_first_prompt(scenario, turns, prefix, least):
    """50 turns have prompts of (p + 200) × 25.5 - 200 on average, three of p + 200 with a prefix.
    """
    with pytest.raises(ParamsError, match=f"of at least {least} or fewer turns"):
        Population(scenario, turns, 60.0, prefix)
