"""Power of cards and sites: energy of a step by kind of work, limits, fans, supplies, servers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import catalogue
from calc import evaluate
from calc.costing import ownership
from calc.costing.ownership import Around, prices_of

DEPLOYMENTS = ["s2-910b1-awq", "h200-r1-vllm-tp8", "wide-lmsys-decode", "h20-qwen3-8b"]
TIMES = ("vector", "dequantisation", "all_reduce", "exchange", "pipeline", "context_exchange",
         "routed_expert", "core", "index")
# 50 B/s and 250 operations a second of every kind, in two micro-batches
CARD = {"micro_batches": 2, "memory_bandwidth": 100.0, "hbm_efficiency": 0.5} | {
    f"{name}_peak": 1000.0 for name in ownership.MATMULS} | {
    f"{name}_gemm_efficiency": 0.25 for name in ownership.MATMULS}


def step(phase, **times):
    """Quantities of a step that is nothing but what is given."""
    names = [*(f"{name}_{kind}" for name in ownership.MATMULS
               for kind in ("bytes", "flops", "time")),
             *(f"{name}_time" for name in TIMES)]
    return {f"{phase}_{name}": times.get(name, 0.0) for name in names}


@pytest.mark.parametrize(("separate", "rate", "drawn"), [
    (0, 6.0, 480 + 2 * (1.5 * 1.5 * 30 + 0.5 * 3 * 70)), (1, 6.0, 480 + 2 * 1.5 * 1.5 * 30),
    (0, 0.0, 480), (0, 600.0, 2400)])
def test_power_of_steps_and_chunks(separate, rate, drawn):
    """24 cards of 100 W in pairs: 6 tokens a second are 1.5 steps of 4 tokens, half as much again
    for drafts, each of 1 s of streaming; and half a request, of 3 chunks of 1 s of multiplying.
    """
    shares = {"awake": 0.2, "loaded": 0.1} | dict.fromkeys(ownership.BUSY, 0.2) | {
        "memory": 0.5, "matmul": 0.9}
    inputs = CARD | {"micro_batches": 1, "tensor_parallel": 2, "pipeline_parallel": 3,
                     "data_parallel": 4, "separate_pools": separate, "output_tokens": 12.0}
    quantities = step("decode", vector_time=1.0) | step(
        "prefill", head_flops=250.0, head_time=1.0) | {
        "draft_time": 0.2, "decode_step_time": 0.4, "decode_batch": 2.0, "tokens_per_step": 2.0,
        "prompt_chunks": 3.0}
    assert ownership.own_cards(inputs) == 24
    assert float(ownership.cards_power(
        inputs, quantities, rate, shares, 100.0)) == pytest.approx(drawn)


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_power_is_monotone_between_idle_and_limit(name):
    scenario = catalogue.load_scenario(name)
    inputs = scenario.inputs() | {"concurrency": np.array([8.0, 64.0, 256.0])}
    quantities = evaluate(inputs, scenario.model.attention)
    full, count = ownership.full_power(scenario.device.id).value, ownership.own_cards(inputs)
    shares = {kind: share.value for kind, share in ownership.shares_of(
        ownership.powers_of(scenario.device.id)).items()}
    drawn = [ownership.cards_power(inputs, quantities, part * quantities["output_throughput"],
                                   shares, full) for part in (0.0, 0.3, 1.0)]
    assert np.allclose(drawn[0], shares["awake"] * full * count)
    assert (np.diff(drawn, axis=0) > 0).all()
    assert (drawn[-1] <= full * count).all()


REST = Around(8, 300.0, 100.0, 80.0, 2000.0, (0.25, 0.75), (0.8, 0.96), 1000.0, 1.25)


def test_power_at_the_meter():
    """600 W of cards make 1000 W of heat, and 10 W of fans at half speed; 1010 W are more than the
    last point of the supplies, 96%. Of 160 W, 560 W of heat, between two points, 89.9%.
    """
    assert ownership.heat_of_server(1200.0, 2.0, REST) == (1000.0, 10.0)
    assert ownership.heat_of_server(1600.0, 0.5, REST) == (3600.0, 80.0)
    assert float(ownership.site_power(600.0, 8, REST)) == pytest.approx(1010 / 0.96 * 1.25)
    taken = 560 + 80 * 0.28**3
    efficiency = 0.8 + 0.16 * (taken / 1000 - 0.25) / 0.5
    assert float(ownership.site_power(320.0, 16, REST)) == pytest.approx(
        2 * taken / efficiency * 1.25)
    assert float(ownership.site_power(160.0 / 8, 1, REST)) == pytest.approx(
        taken / efficiency * 1.25 / 8)
    assert ownership.site_power(600.0, 8, replace(REST, loads=())) == pytest.approx(1010 * 1.25)
    assert ownership.servers_of(np.array([1, 4, 8, 9, 16]), 8).tolist() == [0.125, 0.5, 1, 2, 2]


class TestAround:
    CARD, NODE = catalogue.load_device("nvidia-h200-sxm"), catalogue.load_node("hgx-h200")
    PRICES = prices_of("nvidia-h200-sxm")

    @pytest.mark.parametrize("missing", ["host", "network", "fans", "cooling_load", "capacity"])
    def test_without_a_part_all_beyond_the_cards_is_drawn_at_any_load(self, missing):
        """Of the site's 1.73 kW a card the PUE leaves 1,330.8 W, of which the card draws 700."""
        given = self.PRICES.around.model_copy(update={missing: None})
        prices = self.PRICES.model_copy(update={"around": given})
        whole = ownership.around_of(self.CARD, self.NODE, prices)
        assert whole == Around(8, pytest.approx(8 * (1730 / 1.3 - 700)), 0.0, 0.0, 1.0, (), (),
                               1.0, 1.3)
        unsupplied = self.PRICES.model_copy(update={"supply": None})
        assert ownership.around_of(self.CARD, self.NODE, unsupplied) == whole
