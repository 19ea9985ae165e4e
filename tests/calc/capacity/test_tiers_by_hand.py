"""Conversations and tiers of caches, by hand: three turns, blocks, and what fetching saves."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from calc.capacity import tiers as tiers_
from calc.capacity.tiers import HostRoom, Population, Talk, Tier, first_prompt, needed
from catalogue import ParamsError

# prompts of 100, 210 and 320 tokens; before them 0, 110 and 220 were said, 96 and 208 in blocks
TALK = Talk(100, 10, 3, 60.0, block=16)
# with a prefix of 40, of which 32 stand in whole blocks: of 100, 170 and 240 it is a part
SHARED = Talk(100, 10, 3, 60.0, prefix=40, block=16)


def test_each_prompt_is_all_that_was_said_and_something_new():
    assert TALK.said.tolist() == [110, 220, 330]
    assert TALK.prompts.tolist() == [100, 210, 320]
    assert TALK.findable.tolist() == [0, 96, 208]
    assert SHARED.said.tolist() == [110, 180, 250]
    assert SHARED.prompts.tolist() == [100, 170, 240]
    assert SHARED.findable.tolist() == [32, 96, 176]
    assert Talk(100, 0, 2, 1.0, prefix=100).findable.tolist() == [99, 99]  # one token is computed


@pytest.mark.parametrize(("talk", "mean"), [(TALK, 210), (SHARED, 170)])
def test_the_first_prompt_follows_from_the_mean(talk, mean):
    assert first_prompt(mean, 10, 3, talk.prefix) == 100


def test_what_comes_back_is_kept_until_it_does_and_the_last_turn_for_nothing():
    """A conversation each 2 s: for 60 s 110 + 220 tokens with 1 - 1/e of their mean stay, and 330
    for all of it."""
    kept = 0.5 * ((110 + 220) * 60 * (1 - math.exp(-1)) + 330 * 60)
    assert TALK.kept_tokens(0.5, 60.0) == pytest.approx(kept)
    assert TALK.time(0.5, kept) == pytest.approx(60.0)
    assert TALK.time(0.5, 40 * kept) > 600
    assert TALK.time(0.5, 0.0) == 0 == TALK.time(0.0, 0.0)
    assert TALK.time(0.0, 1.0) == math.inf
    assert TALK.returns(60.0) == pytest.approx(1 - math.exp(-1))
    assert needed(TALK, 0.5, 1 - math.exp(-1), 7.0) == pytest.approx(7 * kept)


def test_a_share_of_the_returns_finds_its_blocks_and_all_find_the_prefix():
    assert TALK.hit_share(0.5) == pytest.approx(0.5 * (96 + 208) / 630)
    assert TALK.hit_share(0.0) == 0
    assert SHARED.hit_share(0.25) == pytest.approx((3 * 32 + 0.25 * (64 + 144)) / 510)


def people(talk=TALK):
    """A replica of half a server, whose caches have 8 bytes a token."""
    found = Population.__new__(Population)
    found.talk, found.per_token, found.linear, found.quadratic = talk, 8.0, 0.01, 1e-4
    found.blocks, found.state = 1000.0, 7.0
    found.inputs = {"tensor_parallel": 2, "pipeline_parallel": 2}
    speed = SimpleNamespace(value=5e3)
    found.scenario = SimpleNamespace(
        node=SimpleNamespace(devices_per_node=SimpleNamespace(value=8)),
        device=SimpleNamespace(host_bandwidth=speed))
    return found


def test_a_replica_has_what_decoding_leaves_and_its_part_of_the_server(monkeypatch):
    """Two requests hold 210 tokens of a prompt, half of their answer, and a state of 7 each."""
    monkeypatch.setattr(tiers_, "load_link", lambda name: SimpleNamespace(
        device_bandwidth=SimpleNamespace(value=len(name))))
    monkeypatch.setattr(tiers_, "host_room", lambda scenario: SimpleNamespace(left=320.0))
    found = people()
    assert found.tiers(2.0, 160.0, 800.0) == [
        Tier("device", 1000.0 - 2 * 222), Tier("host", 10.0, 5e3),
        Tier("storage", 50.0, float(len(tiers_.STORAGE_LINK)))]
    assert found.tiers(2.0) == [Tier("device", 556.0), Tier("host", 20.0, 5e3)]
    assert found.tiers(99.0, 0.0) == [Tier("device", 0.0)]
    found.scenario.device.host_bandwidth = None
    assert found.tiers(0.0)[1].bandwidth == len(tiers_.HOST_LINK)


def test_what_is_computed_again_has_a_part_by_tokens_and_a_part_by_their_square():
    assert people().recompute(100.0) == pytest.approx(1.0 + 1.0)


def test_each_tier_keeps_what_the_one_before_has_no_room_for():
    """A mean return has 152 tokens: to compute 1.8816 and 6.4064 s, to fetch 0.5 s and 1216 B."""
    found = people().tier_values(0.1, [Tier("device", 1000.0), Tier("host", 5000.0, 2000.0, 0.5)])
    device, host = found
    times = TALK.time(0.1, 1000.0), TALK.time(0.1, 6000.0)
    shares = [1 - math.exp(-time / 60) for time in times]
    assert [(each.tier, each.tokens, each.time) for each in found] == [
        ("device", 1000.0, times[0]), ("host", 6000.0, times[1])]
    assert (device.found, host.found) == pytest.approx((shares[0], shares[1] - shares[0]))
    assert [each.hit_share for each in found] == pytest.approx(
        [share * 304 / 630 for share in shares])
    again = (1.8816 + 6.4064) / 2
    assert (device.fetch, host.fetch) == pytest.approx((0, 0.5 + 1216 / 2000))
    assert (device.recompute, host.recompute) == pytest.approx((again, again))
    assert (device.break_even, host.break_even) == pytest.approx(
        (1216 / again, 1216 / (again - 0.5)))
    assert (device.shortest, device.saved) == pytest.approx((0, 0.1 * 2 * shares[0] * again))
    assert host.saved == pytest.approx(0.1 * 2 * host.found * again)
    # 0.5 + 0.004 S = 0.01 S + 0.0001 S²
    assert 0.5 + 0.004 * host.shortest == pytest.approx(
        0.01 * host.shortest + 1e-4 * host.shortest**2)
    assert host.pays
    assert host.as_json()["pays"] is True


def test_a_tier_whose_first_byte_is_late_never_pays():
    late, = people().tier_values(0.1, [Tier("storage", 1e3, 2e9, 4.144)])
    assert late.break_even == math.inf
    assert not late.pays
    assert late.as_json()["break_even"] is None


def test_conversations_of_one_turn_find_nothing():
    only, = people(Talk(100, 10, 1, 60.0)).tier_values(0.1, [Tier("host", 1e3, 2e3)])
    assert (only.found, only.hit_share, only.fetch, only.recompute, only.saved) == (0, 0, 0, 0, 0)


def test_what_is_left_of_a_server_s_memory():
    assert HostRoom(100.0, 7.0, 11.0, 23.0).left == 59
    assert HostRoom(30.0, 7.0, 11.0, 23.0).left == 0


def asking(monkeypatch, mean, turns, prefix=0.0):
    """Conversations at a deployment whose prompts have a mean and whose answers 10 tokens."""
    def evaluate(inputs, attention):
        lengths = np.asarray(inputs["input_tokens"], float)
        return {"kv_bytes_per_token": 8.0, "kv_blocks": 5.0, "state_blocks_per_request": 0.5,
                "prefill_time": 0.01 * lengths + 1e-4 * lengths**2}

    monkeypatch.setattr(tiers_, "evaluate", evaluate)
    inputs = {"input_tokens": mean, "output_tokens": 10.0, "block_size": 16,
              "decode_context_parallel": 2}
    return Population(SimpleNamespace(inputs=lambda: inputs, model=SimpleNamespace(
        attention="mla")), turns, 60.0, prefix)


def test_a_deployment_s_prompts_are_the_mean_of_all_turns(monkeypatch):
    found = asking(monkeypatch, 210.0, 3)
    assert found.talk == TALK
    assert (found.per_token, found.blocks, found.state) == (8.0, 160.0, 16.0)
    assert (found.linear, found.quadratic) == pytest.approx((0.01, 1e-4))


@pytest.mark.parametrize(("mean", "turns", "prefix", "least"), [
    (111.5, 24, 0.0, "128"), (150.0, 3, 160.0, "170")])
def test_turns_are_refused_that_leave_no_first_prompt(monkeypatch, mean, turns, prefix, least):
    """24 turns have prompts of (p + 10) × 12.5 - 10 on average, three of p + 10 beside a prefix."""
    with pytest.raises(ParamsError, match=f"of at least {least} or fewer turns"):
        asking(monkeypatch, mean, turns, prefix)
    assert asking(monkeypatch, float(least), turns, prefix).talk.prompt >= max(1.0, prefix)
