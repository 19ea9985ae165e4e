"""Two pools of one deployment together: the smaller binds, cards in balance, a closed loop."""

import numpy as np
import pytest

import calc
import catalogue
from calc.answer.service import balanced, combine_pools, whole_groups

NAMES = ("s0-scenario-3", "s0-config-4.3", "wide-lmsys")
PREFILL = {"rate": 4.0, "residual": 0.2, "alone": 0.5, "port": 0.01}
DECODE = {"rate": 10.0, "tpot": 0.03, "port": 0.02, "received": 100.0}
BEFORE, AFTER = 0.5 + 0.02, 199 * 0.03  # of a request that waits for nobody


def pair(prefill=None, decode=None, answer=200.0, **asked):
    one, two = ({name: np.array([value]) for name, value in pool.items()}
                for pool in (PREFILL | (prefill or {}), DECODE | (decode or {})))
    return {name: float(values[0]) for name, values in balanced(
        one, two, answer, **asked).items()}


@pytest.mark.parametrize(("asked", "rate", "wait"), [
    ({}, 3.96, 99 * 0.2),  # a pool that is 99% busy
    ({"ttft": BEFORE + 0.4}, 8 / 3, 0.4),  # 0.4 s are left, of 0.4 + 0.2
    ({"arrivals": 2.0}, 2.0, 0.2), ({"arrivals": 3.0}, 3.0, 0.6),
    ({"arrivals": 2.0, "ttft": BEFORE + 0.4}, 2.0, 0.2)])
def test_prompt_waits_for_the_rest_of_those_before_it(asked, rate, wait):
    assert pair(**asked) == pytest.approx({
        "throughput": 200 * rate, "prefill_busy": rate / 4, "ttft": BEFORE + wait, "tpot": 0.03,
        "e2e": BEFORE + wait + AFTER, "users": rate * (BEFORE + wait + AFTER), "decode rate": 10,
        "transfer rate": 100, "prefill rate": 8 / 3 if "ttft" in asked else 3.96})


@pytest.mark.parametrize(("given", "asked", "throughput"), [
    ({"decode": {"rate": 1.5}}, {}, 300), ({"decode": {"received": 0.5}}, {}, 100),
    ({"decode": {"rate": 2.0}}, {"arrivals": 2.0}, 400), ({}, {"arrivals": 4.0}, 0),
    ({"decode": {"rate": 2.0}}, {"arrivals": 2.001}, 0), ({}, {"arrivals": 3.5}, 700),
    ({"decode": {"rate": 1e-3}}, {"users": 12.0}, 0), ({}, {"ttft": BEFORE}, 0),
    ({}, {"ttft": BEFORE + 1e-3}, 200 * 4 / 201), ({}, {"ttft": 0.1}, 0)])
def test_least_rate_binds_and_more_is_not_served(given, asked, throughput):
    assert pair(**given, **asked)["throughput"] == pytest.approx(throughput)


@pytest.mark.parametrize(("users", "think"), [(1.0, 0.0), (12.0, 3.0), (20.0, 7.0)])
def test_users_ask_again_once_answered(users, think):
    """Rate times turn is their number, and waiting that of a pool so busy."""
    seen = pair(users=users, think=think)
    rate = seen["throughput"] / 200
    assert seen["prefill_busy"] == pytest.approx(rate / 4)
    assert seen["ttft"] == pytest.approx(BEFORE + 0.2 * (rate / 4) / (1 - rate / 4))
    assert rate * (seen["ttft"] + AFTER + think) == pytest.approx(users)
    assert seen["users"] == pytest.approx(users)
    for one, other in ((0.01, 0.7), (0.7, 0.01)):  # the slower ports delay the first token
        late = pair({"port": one}, {"port": other}, arrivals=2.0, think=think)
        assert late["ttft"] == pytest.approx(0.5 + 0.7 + 0.2)
        assert late["users"] == pytest.approx(2 * (late["ttft"] + AFTER + think))


@pytest.mark.parametrize(("devices", "sizes", "rates", "best"), [
    (20, [4, 3], [2.0, 1.0], ((2, 4), 4.0)), (7, [4, 3], [2.0, 1.0], ((1, 1), 1.0)),
    (19, [4, 3], [10.0, 1.0], ((1, 5), 5.0)), (23, [5, 7], [3.0, 4.0], ((2, 1), 4.0))])
def test_whole_groups_that_finish_most(devices, sizes, rates, best):
    assert whole_groups(devices, sizes, rates) == best


@pytest.fixture(scope="module", params=NAMES)
def pools(request):
    return catalogue.load_pools(request.param)


@pytest.fixture(scope="module")
def both(pools):
    return combine_pools(*pools)


class TestCombined:
    def test_rates_of_both_pools_and_of_transfers(self, pools, both):
        prefill, decode = pools
        alone = calc.evaluate(prefill.inputs() | {"output_tokens": 1}, "mla")
        decoded = calc.evaluate(decode.inputs() | {"separate_pools": 1}, "mla")
        sending, receiving = (calc.evaluate(pool.inputs() | {
            "input_tokens": both.prompt}, "mla")["kv_port_time"] for pool in pools)
        assert both.transfer_time == max(sending, receiving)
        assert both.rates["transfer"] == pytest.approx(min(
            prefill.replicas / sending, decode.replicas / receiving))
        for name, finished in (("prefill", alone), ("decode", decoded)):
            assert both.rates[name] <= float(finished["request_throughput"]) * (1 + 1e-12)
        assert both.rates[both.binds] == min(both.rates.values()) == pytest.approx(both.rate)
        assert both.prompt == prefill.inputs()["input_tokens"]
        assert (both.prefill_devices, both.decode_devices, both.devices) == (
            prefill.devices, decode.devices, prefill.devices + decode.devices)

    def test_in_balance_both_finish_the_same_and_more_than_as_they_are(self, pools, both):
        """Cards in proportion, whatever the front ends of a pool's servers let in."""
        decoded = calc.evaluate(pools[1].inputs() | {"separate_pools": 1}, "mla")
        cards = both.best_prefill_devices, both.devices - both.best_prefill_devices
        each = [both.rates["prefill"] / both.prefill_devices,
                float(decoded["request_throughput"]) / both.decode_devices]
        rates = [rate * count for rate, count in zip(each, cards, strict=True)]
        assert rates == pytest.approx([both.best_rate] * 2)
        assert both.rate <= both.whole_rate <= both.best_rate

    @pytest.mark.parametrize("users", [None, 1.0, 100.0])
    def test_closed_loop(self, pools, both, users):
        """Little's law over both pools and over decode; a step is as long as its batch takes."""
        loop, after = combine_pools(*pools, users=users).loop, both.answer - 1
        inputs = pools[1].inputs() | {"separate_pools": 1}
        assert loop.users == (users or inputs["concurrency"])
        assert loop.users == pytest.approx(loop.rate * (loop.ttft + after * loop.tpot))
        pace = calc.evaluate(inputs | {"concurrency": np.array([1, loop.users])}, "mla")["tpot"]
        assert pace[0] * (1 - 1e-9) <= loop.tpot <= pace[1] * (1 + 1e-9)
        assert loop.decoding <= loop.users
        assert loop.rate <= min(both.rates["prefill"], both.rates["decode"]) * (1 + 1e-9)
        # the mean rest of a prompt for each of the others that is found at the pool
        first = pools[0].inputs() | {"output_tokens": 1}
        alone = float(calc.evaluate(first, "mla")["prefill_time"])
        rate = min(both.rates["prefill"], pools[0].replicas / both.transfer_time)
        service = first["data_parallel"] / rate * (1 + first["prompt_variation"] ** 2)
        load, turn = (loop.users - 1) / rate, loop.users / loop.rate
        wait = loop.ttft - inputs["request_overhead"] - alone - both.transfer_time
        assert wait * (turn - load) == pytest.approx(load * service / 2, rel=0.01, abs=1e-9)


def test_first_token_comes_with_the_first_piece_of_the_pool_that_decodes():
    """Ten tokens sent together: nine paces later, which the tokens after it are spared."""
    prefill, decode = catalogue.load_family("wide-lmsys").pools
    plain, held = (combine_pools(prefill, catalogue.load_scenario(
        f"{decode.path}#{decode.id.rpartition('-')[2]}", overrides=[
            f"mechanisms.first_token_held={held}", "workload.stream_interval=10 token"])).loop
        for held in (0, 1))
    after = float(decode.inputs()["output_tokens"]) - 1
    assert held.rate == pytest.approx(plain.rate)
    assert held.ttft == pytest.approx(plain.ttft + 9 * plain.tpot)
    assert held.ttft + after * held.tpot == pytest.approx(plain.ttft + after * plain.tpot)
