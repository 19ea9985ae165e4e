"""Conversations and the tiers of their caches: laws, and the simulated prefix cache."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import catalogue
from calc.answer.simulated import system_of
from calc.capacity.tiers import (
    HostRoom,
    Population,
    Talk,
    Tier,
    first_prompt,
    needed,
    shortest_fetch,
)
from calc.closed_form.evaluate import evaluate
from calc.serving.arrivals import ClosedLoop, Conversation, Prefixes
from calc.serving.metrics import summarise
from calc.serving.simulation import simulate
from catalogue import ParamsError

SETTINGS = ["workload.input_tokens=1900 token", "workload.output_tokens=200 token",
            "workload.context_tokens=8192 token"]
talks = st.builds(Talk, st.integers(1000, 4000), st.integers(1, 500), st.integers(2, 12),
                  st.floats(1, 900), st.integers(0, 900), st.sampled_from([1, 16, 128]))


@pytest.fixture(scope="module")
def scenario():
    return catalogue.load_scenario("s2-910b1-awq", overrides=SETTINGS)


@given(talks)
@settings(max_examples=40)
def test_turns_are_those_that_the_simulated_users_ask(talk):
    user = Conversation(Prefixes(tokens=int(talk.prefix), turns=talk.turns), iter([(0, 0)]))
    asked = [user.ask(0.0, (int(talk.prompt), int(talk.answer))).input_tokens
             for _ in range(talk.turns)]
    assert talk.prompts.tolist() == asked
    assert first_prompt(float(talk.prompts.mean()), talk.answer, talk.turns,
                        talk.prefix) == pytest.approx(talk.prompt)


@given(talks, st.floats(0.001, 5), st.floats(1e3, 1e8))
@settings(max_examples=60)
def test_a_larger_cache_keeps_longer_and_finds_more(talk, rate, tokens):
    times = [talk.time(rate, size) for size in (tokens, 2 * tokens, 8 * tokens)]
    shares = [talk.hit_share(talk.returns(time)) for time in times]
    assert times == sorted(times)
    assert shares == sorted(shares)
    assert shares[0] >= 0
    assert shares[-1] < 1
    assert talk.kept_tokens(rate, times[0]) == pytest.approx(tokens, rel=1e-6)


@given(talks, st.floats(0.001, 5), st.floats(0.001, 1))
@settings(max_examples=20)
def test_no_room_keeps_nothing_and_for_nobody_all_is_kept(talk, rate, tokens):
    assert talk.time(rate, 0) == 0
    assert talk.time(0, tokens) == np.inf
    assert talk.kept_tokens(rate, talk.time(rate, tokens)) == pytest.approx(tokens, rel=1e-6)


@given(*[st.floats(0, 1e12)] * 4)
def test_who_holds_a_server_s_memory_and_what_is_left_fill_it(system, processes, files, left):
    room = HostRoom(system + processes + files + left, system, processes, files)
    assert room.left == pytest.approx(left, abs=1e-3, rel=1e-9)
    assert HostRoom(0, system, processes, files).left == 0


@given(talks, st.floats(0.001, 5))
@settings(max_examples=30)
def test_busier_users_push_each_other_out(talk, rate):
    assert talk.time(2 * rate, 1e6) <= talk.time(rate, 1e6)


@given(st.floats(0, 0.1), st.floats(1e-7, 1e-3), st.floats(1e-6, 1e-3), st.floats(1e-11, 1e-7))
def test_at_the_shortest_length_both_take_as_long(latency, per_token, linear, quadratic):
    tokens = shortest_fetch(latency, per_token, linear, quadratic)
    fetch, again = latency + per_token * tokens, linear * tokens + quadratic * tokens**2
    assert tokens >= 0
    if tokens > 1:
        assert fetch == pytest.approx(again, rel=1e-4)


@pytest.mark.parametrize("share", [0.15, 0.4, 0.8])
def test_the_simulated_cache_finds_as_much(scenario, share):
    """Whole blocks, evicted one by one, under users of a closed loop."""
    people, system = Population(scenario, 5, 60.0), system_of(scenario)
    talk, limits = people.talk, system.pool.limits
    pool = replace(system.pool, limits=replace(limits, kv_blocks=int(limits.kv_blocks * share)))
    run = summarise(simulate(ClosedLoop(
        40, 4000, [(int(talk.prompt), int(talk.answer))], 60.0, exponential=True, seed=1,
        ramp=300.0, prefixes=Prefixes(turns=5, longest=system.longest)), pool))
    kept = pool.limits.kv_blocks * limits.block_size - run.concurrency * (
        talk.prompts.mean() + talk.answer / 2)
    time = talk.time(run.request_throughput / 5, kept)
    assert talk.hit_share(talk.returns(time)) == pytest.approx(run.hit_share, abs=0.03)


def test_tiers_add_up_and_say_from_which_bandwidth_they_pay(scenario):
    people = Population(scenario, 5, 300.0)
    slow = Tier("storage", 1e9, bandwidth=people.per_token / people.linear / 10)
    found = people.tier_values(0.2, [Tier("device", 5e4), Tier("host", 1e6, 2e10), slow])
    assert [one.tokens for one in found] == pytest.approx([5e4, 1.05e6, 1.00105e9])
    assert sum(one.found for one in found) <= 1
    shares = [one.hit_share for one in found]
    assert shares == sorted(shares)
    host, storage = found[1:]
    assert host.pays
    assert host.break_even < 2e10
    assert not storage.pays
    assert slow.bandwidth < storage.break_even


def test_what_is_computed_again_is_the_runtimes_own_prefill(scenario):
    people = Population(scenario, 2, 60.0)
    lengths = np.array([4096.0, 16384.0, 32768.0])
    times = evaluate(people.inputs | {
        "concurrency": 1, "input_tokens": lengths, "context_tokens": lengths + 200,
        "prefix_hit_share": 0}, "mla")["prefill_time"]
    assert [people.recompute(length) for length in lengths] == pytest.approx(
        np.asarray(times).tolist(), rel=0.1)  # a square through two lengths


@given(talks, st.floats(0.001, 5))
@settings(max_examples=20)
def test_what_keeps_a_share_keeps_it(talk, rate):
    size = needed(talk, rate, 0.9, 2.0)
    assert talk.returns(talk.time(rate, size / 2.0)) == pytest.approx(0.9, rel=1e-6)


def test_turns_that_cannot_have_such_short_prompts_are_one_sentence(scenario):
    with pytest.raises(ParamsError, match="of at least"):
        Population(scenario, 50, 60.0)
