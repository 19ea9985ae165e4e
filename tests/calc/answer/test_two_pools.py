"""Two pools of one deployment together: the smaller binds, cards in balance, a closed loop."""

import json

import numpy as np
import pytest

import calc
import catalogue
from calc.answer.simulated import system_of
from calc.answer.two_pools import balanced, combine_pools

NAMES = ("s0-scenario-3", "s0-config-4.3", "wide-lmsys")


@pytest.fixture(scope="module", params=NAMES)
def pools(request):
    return catalogue.load_pools(request.param)


@pytest.fixture(scope="module")
def pair(pools):
    return combine_pools(*pools)


class TestBalance:
    def test_the_least_rate_binds(self, pair):
        assert pair.rates[pair.binds] == min(pair.rates.values()) == pytest.approx(pair.rate)

    def test_in_balance_both_finish_the_same_and_more_than_as_they_are(self, pools, pair):
        """Cards in proportion, whatever the front ends of a pool's servers let in."""
        decoded = calc.evaluate(pools[1].inputs() | {"separate_pools": 1}, "mla")
        cards = pair.best_prefill_devices, pair.devices - pair.best_prefill_devices
        each = [pair.rates["prefill"] / pair.prefill_devices,
                float(decoded["request_throughput"]) / pair.decode_devices]
        rates = [rate * count for rate, count in zip(each, cards, strict=True)]
        assert rates == pytest.approx([pair.best_rate] * 2)
        assert pair.rate <= pair.whole_rate <= pair.best_rate

    def test_twice_the_cards_on_either_side_are_twice_the_rate_in_balance(self, pools, pair):
        inputs = pools[1].inputs() | {"separate_pools": 1, "concurrency": pair.loop.users}
        counted = np.array([1, 2])
        found = calc.evaluate(inputs | {
            "prefill_pool_rate": pair.rates["prefill"] * counted,
            "prefill_pool_devices": pair.prefill_devices * counted}, "mla")
        share = found["best_prefill_devices"] / (
            pair.prefill_devices * counted + pair.decode_devices)
        assert share == pytest.approx([share[0]] * 2)

    def test_without_a_pool_beside_it_prefill_keeps_up(self, pools):
        found = calc.evaluate(pools[1].inputs(), "mla")
        assert found["pools_rate"] == found["best_pools_rate"] == found["request_throughput"]
        assert found["best_prefill_devices"] == 0


class TestTransfer:
    def test_the_side_with_the_slower_ports_decides(self, pools, pair):
        sending, receiving = (calc.evaluate(pool.inputs() | {
            "input_tokens": pair.prompt}, "mla")["kv_port_time"] for pool in pools)
        assert pair.transfer_time == max(sending, receiving)
        assert pair.rates["transfer"] == pytest.approx(min(
            pools[0].replicas / sending, pools[1].replicas / receiving))

    def test_a_latent_is_whole_on_every_rank(self):
        """Four cards prefill for eight of the same card that decode: each moves all of it."""
        prefill, decode = catalogue.load_pools("s0-config-4.3")
        received = calc.evaluate(decode.inputs(), "mla")["kv_port_time"]
        assert combine_pools(prefill, decode).transfer_time == pytest.approx(received)

    def test_only_what_a_prefill_replica_adds_to_its_own_ports_delays(self, pools):
        inputs = pools[1].inputs() | {"separate_pools": 1}
        own = calc.evaluate(inputs, "mla")
        sent = own["kv_port_time"] * np.array([0, 0.5, 1, 2])
        found = calc.evaluate(inputs | {"prefill_pool_port_time": sent}, "mla")
        assert found["ttft"] - own["ttft"] == pytest.approx(
            own["kv_port_time"] * np.array([0, 0, 0, 1]))


class TestClosedLoop:
    def test_what_comes_out_is_no_more_than_what_either_pool_finishes(self, pair):
        loop = pair.loop
        assert loop.rate < pair.rates["prefill"] * loop.users / (loop.users - 1)
        assert loop.decoding <= loop.users

    def test_littles_law_over_both_pools_and_over_decode(self, pair):
        loop, after = pair.loop, pair.answer - 1
        assert loop.users == pytest.approx(loop.rate * (loop.ttft + after * loop.tpot))
        assert loop.decoding == pytest.approx(loop.rate * after * loop.tpot, rel=1e-6)


class TestAnswer:
    def test_the_command_says_which_binds_and_the_best_ratio(self, cli):
        _, out, _ = cli("estimate", "wide-lmsys")
        pair = combine_pools(*catalogue.load_pools("wide-lmsys"))
        assert f"{pair.binds} binds" in out
        assert f"In balance {pair.best_prefill_devices:.3g} of 104 cards prefill" in out
        _, out, _ = cli("estimate", "wide-lmsys", "--json")
        assert json.loads(out)["pools"]["binds"] == pair.binds

    def test_a_variant_alone_has_no_pools(self, cli):
        assert catalogue.load_pools("wide-lmsys-decode") is None
        assert "Two pools" not in cli("estimate", "wide-lmsys-decode")[1]

    def test_both_serve_the_requests_of_the_one_that_decodes(self):
        prefill, decode = catalogue.load_pools("wide-lmsys")
        assert prefill.inputs()["input_tokens"] == decode.inputs()["input_tokens"] == 2000

    @pytest.mark.parametrize(("settings", "says"), [
        ({"    workload:\n      concurrency: {value: 128":
          "    model: deepseek-v2-lite\n    workload:\n      concurrency: {value: 128"},
         "'prefill' serves 'deepseek-v3' and 'decode' serves 'deepseek-v2-lite', expected one"),
        ({"  input_tokens: {value: 2048 token": "  context_tokens: {value: 4096 token",
          "  output_tokens:\n    value: 1 token\n": "  requests:\n    value: 128 request\n",
          "      output_tokens: {value: 512 token": "      context_tokens: {value: 4096 token"},
         "'decode' does not say how long its requests are"),
    ])
    def test_pools_that_do_not_belong_together_are_one_sentence(self, tmp_path, settings, says):
        text = (catalogue.ROOT / "scenarios" / "s0-config-4.3.yml").read_text(encoding="utf-8")
        for old, new in settings.items():
            assert text.count(old) == 1
            text = text.replace(old, new)
        path = tmp_path / "mine.yml"
        path.write_text(text, encoding="utf-8")
        with pytest.raises(catalogue.ParamsError) as error:
            catalogue.load_pools(path)
        assert str(error.value).startswith(f"{path}:33: pools: ")
        assert "\n" not in str(error.value)
        assert says in str(error.value)


PREFILL = {"rate": np.array([4.0]), "residual": np.array([0.2]), "alone": np.array([0.5]),
           "port": np.array([0.01])}
DECODE = {"rate": np.array([10.0]), "tpot": np.array([0.03]), "port": np.array([0.02]),
          "received": np.array([100.0])}
ANSWER = 200


class TestBalanced:
    """Pairs in a steady state, by laws and beside the simulation of the same pools."""

    def balanced(self, **asked):
        return {name: float(values[0]) for name, values in balanced(
            PREFILL, DECODE, ANSWER, **asked).items()}

    @pytest.mark.parametrize("limit", [0.55, 0.8, 1.5, 10.0])
    def test_the_prefill_pool_is_as_busy_as_the_limit_leaves_it(self, limit):
        seen = self.balanced(ttft=limit)
        assert seen["ttft"] == pytest.approx(limit) or seen["prefill_busy"] == pytest.approx(0.99)

    def test_a_limit_below_a_prompt_alone_is_kept_by_none(self):
        assert self.balanced(ttft=0.51)["throughput"] == 0

    @pytest.mark.parametrize("users", [1, 5, 20])
    @pytest.mark.parametrize("think", [0.0, 7.0])
    def test_users_are_rate_times_turn(self, users, think):
        seen = self.balanced(users=users, think=think)
        rate = seen["throughput"] / ANSWER
        assert rate * (seen["e2e"] + think) == pytest.approx(users)
        assert seen["prefill_busy"] < 1

    def test_more_users_wait_longer(self):
        waits = [self.balanced(users=users)["ttft"] for users in (1, 5, 10, 20, 25)]
        assert waits == sorted(waits)

    def test_more_than_both_serve_is_not_served(self):
        assert self.balanced(arrivals=4.0)["throughput"] == 0
        assert self.balanced(arrivals=3.5)["throughput"] == pytest.approx(3.5 * ANSWER)

    def test_waiting_is_that_of_the_simulation(self):
        """One replica that prefills equal prompts one by one: M/D/1."""
        service, rate, count = 0.4, 1.5, 40_000
        seen = balanced(
            {"rate": np.array([1 / service]), "residual": np.array([service / 2]),
             "alone": np.array([service]), "port": np.array([0.0])},
            DECODE | {"port": np.array([0.0])}, 2, arrivals=rate)
        draws = np.random.default_rng(1).exponential(1 / rate, count).cumsum()
        free, first = 0.0, []
        for at in draws:
            free = max(free, at) + service
            first.append(free - at)
        assert float(np.mean(first)) == pytest.approx(float(seen["ttft"][0]), rel=0.03)


@pytest.mark.parametrize("prefill", [False, True])
def test_a_cache_takes_as_long_to_the_other_pool_as_it_has_tokens(prefill):
    other, decode = catalogue.load_pools("wide-lmsys")
    inputs = decode.inputs() | {"separate_pools": 1}
    system = system_of(decode, found={"separate_pools": 1}, prefill=other if prefill else None)
    whole = float(calc.evaluate(inputs, "mla")["kv_transfer_time"])
    prompt = int(inputs["input_tokens"])
    assert system.transfer.time(prompt) >= whole * (1 - 1e-9)
    assert system.transfer.time(prompt) == pytest.approx(whole) or prefill
    assert system.transfer.time(2 * prompt) == pytest.approx(2 * system.transfer.time(prompt))
