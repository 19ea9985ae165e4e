"""What cards and sites draw: between idle and the limit, more for more, in the right dimensions."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import catalogue
from calc import evaluate
from calc.costing import power
from calc.costing.rates import prices_of
from calc.physics.breakdown import parts
from catalogue.planning.powers import BUSY

DEPLOYMENTS = ["s2-910b1-awq", "h200-v32-vllm-dp8", "h200-r1-vllm-tp8", "b200-energy-chat",
               "wide-lmsys-decode", "h20-qwen3-8b"]


def shares(device: str) -> dict[str, float]:
    return {name: value.value for name, value in power.shares_of(power.powers_of(device)).items()}


@pytest.fixture(params=DEPLOYMENTS)
def deployment(request):
    scenario = catalogue.load_scenario(request.param)
    inputs = scenario.inputs() | {"concurrency": np.array([8.0, 64.0, 256.0])}
    return scenario, inputs, evaluate(inputs, scenario.model.attention)


def test_cards_draw_more_than_awake_and_at_most_their_limit(deployment):
    scenario, inputs, quantities = deployment
    full, count = power.full_power(scenario.device.id).value, power.own_cards(inputs)
    at = shares(scenario.device.id)
    drawn = power.cards_power(inputs, quantities, quantities["output_throughput"], at, full)
    assert (drawn > at["awake"] * full * count).all()
    assert (drawn <= full * count).all()


def test_a_rate_of_nothing_leaves_the_cards_awake_and_more_of_it_draws_more(deployment):
    scenario, inputs, quantities = deployment
    full, at = power.full_power(scenario.device.id).value, shares(scenario.device.id)
    rates = [part * quantities["output_throughput"] for part in (0.0, 0.3, 0.6, 1.0)]
    drawn = [np.asarray(power.cards_power(inputs, quantities, rate, at, full)) for rate in rates]
    assert np.allclose(drawn[0], at["awake"] * full * power.own_cards(inputs))
    for less, more in pairwise(drawn):
        assert (more >= less).all()


@pytest.mark.parametrize("phase", ["decode", "prefill", "burst"])
def test_kernels_of_all_kinds_take_no_longer_than_the_parts_of_the_step(deployment, phase):
    _, inputs, quantities = deployment
    whole = sum(np.maximum(part, 0) for part in parts(inputs, quantities, phase).values())
    times = power.busy_times(inputs, quantities, phase)
    assert set(times) == set(BUSY)
    assert (np.asarray(sum(times.values())) <= whole * (1 + 1e-12)).all()
    assert all((np.asarray(time) >= 0).all() for time in times.values())


def test_the_energy_of_a_step_is_the_sum_of_its_kinds_and_scales_with_the_limit():
    at = shares("nvidia-b200")
    times = {name: 1e-3 * (number + 1) for number, name in enumerate(BUSY)}
    whole = power.step_energy(at, 1000.0, times)
    assert whole == pytest.approx(sum(power.step_energy(at, 1000.0, {name: time})
                                      for name, time in times.items()))
    assert power.step_energy(at, 2000.0, times) == pytest.approx(2 * whole)
    assert power.step_energy(at, 1000.0, dict.fromkeys(BUSY, 0.0)) == 0


def test_a_site_draws_more_than_its_cards_and_grows_with_them():
    scenario = catalogue.load_scenario("h200-v32-vllm-dp8")
    rest = power.around(scenario, prices_of(scenario.device.id))
    cards = np.linspace(800, 5600, 25)
    site = power.site_power(cards, 8, rest)
    assert (site > rest.pue * (cards + rest.host + rest.network)).all()
    assert (np.diff(site) > 0).all()
    assert power.site_power(2 * cards[-1], 16, rest) == pytest.approx(2 * site[-1])
    shared = power.site_power(cards[-1] / 8, 1, rest)
    assert shared == pytest.approx(site[-1] / 8), "a shared server"


def test_fans_turn_with_the_heat_and_no_faster_than_they_can():
    scenario = catalogue.load_scenario("h200-v32-vllm-dp8")
    rest = power.around(scenario, prices_of(scenario.device.id))
    lossless = type(rest)(**{**vars(rest), "loads": (), "pue": 1.0})
    heat = rest.cooling_load - rest.host - rest.network
    assert power.site_power(heat, 8, lossless) == pytest.approx(rest.cooling_load + rest.fans)
    assert power.site_power(2 * heat, 8, lossless) - 2 * heat == pytest.approx(
        rest.host + rest.network + rest.fans)


def test_what_stands_around_falls_back_on_the_server_and_then_on_nothing():
    hopper = catalogue.load_scenario("h20-qwen3-8b")
    rest = power.around(hopper, prices_of(hopper.device.id))
    assert rest is not None
    assert rest.loads == ()
    server = hopper.node.power.full.value
    assert power.site_power(8 * 500.0, 8, rest) == pytest.approx(rest.pue * server)
    bare = catalogue.load_scenario("kt-4090-v03")
    assert power.around(bare, prices_of(bare.device.id)) is None


def test_a_part_of_one_server_or_whole_ones():
    assert power.servers_of(np.array([1, 4, 8, 9, 16]), 8).tolist() == [0.125, 0.5, 1, 2, 2]


class TestTheFiles:
    def test_every_share_lies_between_idle_and_the_limit(self):
        for name in catalogue.names("powers"):
            powers = catalogue.load("powers", name)
            for share in power.SHARES:
                value = getattr(powers, share)
                assert 0 < value.low <= value.value <= value.high <= 1, (name, share)
                if share != "loaded":
                    assert value.value >= powers.awake.value, (name, share)

    def test_no_card_has_two_and_none_rests_on_a_serving_system(self):
        devices = [device for name in catalogue.names("powers")
                   for device in catalogue.load("powers", name).devices]
        assert len(devices) == len(set(devices))
        for name in catalogue.names("powers"):
            powers = catalogue.load("powers", name)
            assert "ml-energy" not in {getattr(powers, share).source for share in power.SHARES}
