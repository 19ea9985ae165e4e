"""Two pools of one deployment, worked out by hand: rates, whole groups, a loop over both."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from calc.answer import two_pools
from calc.answer.two_pools import _loop, balanced, combine_pools, whole_groups

PREFILL = {"rate": 4.0, "residual": 0.2, "alone": 0.5, "port": 0.01}
DECODE = {"rate": 10.0, "tpot": 0.03, "port": 0.02, "received": 100.0}
BEFORE, AFTER = 0.5 + 0.02, 199 * 0.03  # of a request that waits for nobody


def found(prefill=None, decode=None, answer=200.0, **asked):
    one, two = ({name: np.array([value]) for name, value in pool.items()}
                for pool in (PREFILL | (prefill or {}), DECODE | (decode or {})))
    return {name: float(values[0]) for name, values in balanced(
        one, two, answer, **asked).items()}


class TestBalanced:
    @pytest.mark.parametrize(("asked", "rate", "wait"), [
        ({}, 3.96, 99 * 0.2),  # a pool that is 99% busy
        ({"ttft": BEFORE + 0.4}, 8 / 3, 0.4),  # 0.4 s are left, of 0.4 + 0.2
        ({"arrivals": 2.0}, 2.0, 0.2), ({"arrivals": 3.0}, 3.0, 0.6),
        ({"arrivals": 2.0, "ttft": BEFORE + 0.4}, 2.0, 0.2),
    ])
    def test_a_prompt_waits_for_the_rest_of_those_before_it(self, asked, rate, wait):
        seen = found(**asked)
        assert seen["throughput"] == pytest.approx(200 * rate)
        assert seen["prefill_busy"] == pytest.approx(rate / 4)
        assert seen["ttft"] == pytest.approx(BEFORE + wait)
        assert seen["e2e"] == pytest.approx(BEFORE + wait + AFTER)
        assert seen["tpot"] == 0.03
        assert seen["users"] == pytest.approx(rate * seen["e2e"])
        assert seen["decode rate"] == 10
        assert seen["transfer rate"] == 100
        assert seen["prefill rate"] == pytest.approx(8 / 3 if "ttft" in asked else 3.96)

    def test_of_two_pools_and_their_ports_the_least_binds(self):
        assert found(decode={"rate": 1.5})["throughput"] == pytest.approx(300)
        assert found(decode={"received": 0.5})["throughput"] == pytest.approx(100)
        assert found(decode={"rate": 1.5})["prefill_busy"] == pytest.approx(1.5 / 4)

    def test_the_slower_ports_delay_the_first_token(self):
        for one, other in ((0.01, 0.7), (0.7, 0.01)):
            assert found({"port": one}, {"port": other}, arrivals=2.0)["ttft"] == pytest.approx(
                0.5 + 0.7 + 0.2)

    def test_what_is_thought_counts_as_users(self):
        assert found(arrivals=2.0, think=7.0)["users"] == pytest.approx(
            2 * (BEFORE + 0.2 + AFTER + 7))

    @pytest.mark.parametrize("users", [1.0, 12.0])
    def test_users_ask_again_as_soon_as_they_are_answered(self, users):
        """Rate times turn is their number, and waiting that of a pool so busy."""
        seen = found(users=users, think=3.0)
        rate = seen["throughput"] / 200
        assert seen["prefill_busy"] == pytest.approx(rate / 4)
        assert seen["ttft"] == pytest.approx(BEFORE + 0.2 * (rate / 4) / (1 - rate / 4))
        assert rate * (seen["ttft"] + AFTER + 3) == pytest.approx(users)
        assert seen["users"] == pytest.approx(users)

    def test_what_is_asked_is_served_up_to_what_both_finish(self):
        assert found(decode={"rate": 2.0}, arrivals=2.0)["throughput"] == pytest.approx(400)
        assert found(decode={"rate": 2.0}, arrivals=2.001)["throughput"] == 0
        assert found(decode={"rate": 1e-3}, users=12.0)["throughput"] == 0

    def test_a_limit_that_leaves_no_time_to_wait_is_kept_by_none(self):
        assert found(ttft=BEFORE)["throughput"] == 0
        assert found(ttft=BEFORE + 1e-3)["throughput"] > 0
        assert found(ttft=0.1)["throughput"] == 0

    def test_a_single_token_is_all_first(self):
        seen = found(answer=1.0, arrivals=2.0)
        assert seen["e2e"] == seen["ttft"]
        assert seen["throughput"] == 2


@pytest.mark.parametrize(("devices", "sizes", "rates", "best"), [
    (20, [4, 3], [2.0, 1.0], ((2, 4), 4.0)), (7, [4, 3], [2.0, 1.0], ((1, 1), 1.0)),
    (19, [4, 3], [1.0, 10.0], ((4, 1), 4.0)), (19, [4, 3], [10.0, 1.0], ((1, 5), 5.0)),
    (23, [5, 7], [3.0, 4.0], ((2, 1), 4.0)), (24, [5, 7], [3.0, 4.0], ((2, 2), 6.0))])
def test_of_as_many_cards_the_whole_groups_that_finish_most(devices, sizes, rates, best):
    assert whole_groups(devices, sizes, rates) == best


class TestLoop:
    """A step takes 10 ms for each request that decodes; answers have 201 tokens."""

    SERVICE, RATE = 0.3, 4.0

    @pytest.fixture(autouse=True)
    def paced(self, monkeypatch):
        monkeypatch.setattr(two_pools, "evaluate", lambda inputs, attention: {
            "tpot": 0.01 * inputs["concurrency"], "of": attention})

    def loop(self, users=None, let_in=math.inf):
        inputs = {"concurrency": 50.0, "output_tokens": 201.0, "request_overhead": 0.1,
                  "prefill_pool_rate": self.RATE}
        return _loop(inputs, "gqa", 0.5, {"kv_transfer_time": 0.2}, self.SERVICE, users, let_in)

    @pytest.mark.parametrize("users", [5.0, 30.0, None])
    def test_who_waits_prefills_or_decodes(self, users):
        found, count = self.loop(users), users or 50.0
        assert found.users == count
        assert found.tpot == pytest.approx(0.01 * found.decoding, rel=1e-3)
        assert found.decoding == pytest.approx(found.rate * 200 * found.tpot, rel=1e-6)
        assert found.rate * (found.ttft + 200 * found.tpot) == pytest.approx(count)
        # the mean rest of a prompt for each of the others that is found at the pool
        wait, load = found.ttft - 0.1 - 0.5 - 0.2, (count - 1) / self.RATE
        turn = found.ttft + 200 * found.tpot
        assert wait * (turn - load) == pytest.approx(load * self.SERVICE / 2)

    def test_what_front_ends_let_in_holds_users_back_before_their_first_token(self):
        free, held = self.loop(30.0), self.loop(30.0, 0.5)
        assert free.rate > 0.5
        assert held.rate == pytest.approx(0.5)
        assert held.ttft - free.ttft == pytest.approx(30 / 0.5 - 30 / free.rate)
        assert (held.tpot, held.decoding) == (free.tpot, free.decoding)
        assert self.loop(30.0, 1e9) == free


def pool(replicas, devices, **inputs):
    """Of ranks of one card, of which several share experts."""
    return SimpleNamespace(
        model=SimpleNamespace(attention="gqa"), replicas=replicas, devices=devices,
        inputs=lambda: {"input_tokens": 100.0, "output_tokens": 9.0, "data_parallel": replicas,
                        "tensor_parallel": 1, "expert_tensor_parallel": 0} | inputs)


class TestCombined:
    """Four prefill in groups of two, nine decode in groups of three."""

    FIRST = pool(4, 8, expert_parallel=2, prompt_variation=0.5)
    SECOND = pool(9, 27, expert_parallel=3, prompt_variation=7.0)

    def pools(self, monkeypatch, sending=0.5, users=None):
        def evaluate(inputs, attention):
            if not inputs["separate_pools"]:
                assert (inputs["output_tokens"], inputs["data_parallel"]) == (1, 4)
                return {"kv_port_time": sending, "request_throughput": 6.0, "prefill_time": 0.7}
            self.given = inputs["prefill_pool_rate"]
            assert (inputs["prefill_pool_devices"], inputs["prefill_pool_port_time"],
                    inputs["output_tokens"]) == (8, sending, 9)
            return {"request_throughput": 5.0, "kv_port_time": 1.5, "pools_rate": 4.5,
                    "kv_transfer_time": 1.25, "best_prefill_devices": 7.5, "best_pools_rate": 5.75}

        monkeypatch.setattr(two_pools, "evaluate", evaluate)
        monkeypatch.setattr(two_pools, "front_ends_rate", lambda q: 20 if q.separate_pools else 5.5)
        monkeypatch.setattr(two_pools, "_loop", lambda asked, *rest: rest)
        return combine_pools(self.FIRST, self.SECOND, users=users)

    def test_every_number_of_both(self, monkeypatch):
        found = self.pools(monkeypatch, users=12.0)
        assert self.given == 6
        assert found.rates == {"prefill": 5.5, "decode": 5.0, "transfer": 6.0}
        assert (found.binds, found.rate, found.transfer_time) == ("decode", 4.5, 1.25)
        assert (found.prompt, found.answer) == (100, 9)
        assert (found.prefill_devices, found.decode_devices, found.devices) == (8, 27, 35)
        assert (found.best_prefill_devices, found.best_rate) == (7.5, 5.75)
        # groups of 4 cards at 2.75 request/s and of 9 cards at 5/3
        assert (found.whole, found.whole_rate) == ((2, 3), 5.0)
        attention, prefill_time, _, service, users, let_in = found.loop
        assert (attention, prefill_time, users, let_in) == ("gqa", 0.7, 12.0, 5.5)
        assert service == pytest.approx(4 / 6 * 1.25)  # second moment of prompts over their mean

    def test_what_is_sent_may_be_the_least(self, monkeypatch):
        """Of four replicas at 2 s a cache two a second go out, and so many prompts count."""
        found = self.pools(monkeypatch, sending=2.0)
        assert self.given == 2
        assert (found.rates["transfer"], found.binds) == (2.0, "transfer")
        assert found.whole_rate == pytest.approx(min(count * rate for count, rate in zip(
            found.whole, (1.0, 5 / 3), strict=True)))
        assert found.whole == (4, 2)
        assert found.loop[4] is None
