"""Cost of tokens: card time of prompts and answers, what is paid, users, energy."""

from __future__ import annotations

import numpy as np
import pytest

import catalogue
from calc import evaluate
from calc.costing.power import own_cards
from calc.costing.tokens import card_times, energy_per_token, token_costs, user_month
from catalogue.reading.units import DAY, YEAR

INPUTS = {"tensor_parallel": 2, "pipeline_parallel": 3, "data_parallel": 1, "separate_pools": 0,
          "prefill_pool_devices": 0, "input_tokens": 100.0, "output_tokens": 10.0}
QUANTITIES = {"burst_step_time": 6.0, "new_tokens": 70.0, "burst_tokens": 210.0,
              "decode_step_time": 0.9, "draft_time": 0.1, "decode_batch": 4.0,
              "tokens_per_step": 1.25, "output_throughput": 40.0}


def test_card_time_of_a_prompt_and_of_an_answer():
    """Two cards for a third of 6 s; two cards for 10 tokens of 5 a second."""
    assert card_times(INPUTS, QUANTITIES) == pytest.approx((4.0, 4.0))
    assert card_times(INPUTS, QUANTITIES | {"burst_step_time": 3.0}) == pytest.approx((2.0, 4.0))


@pytest.mark.parametrize(("inputs", "cards", "of_prompt"), [
    ({}, 6, 1 / 2), ({"separate_pools": 1}, 6 + 16, 16 / 22),
    ({"separate_pools": 1, "prefill_pool_devices": 2}, 8, 2 / 8), ({"prefill_pool_devices": 2},
                                                                   6, 1 / 2)])
@pytest.mark.parametrize(("rate", "used"), [(None, 1.0), (40.0, 0.5), (20.0, 1.0)])
def test_what_is_paid_is_divided_by_the_card_time(inputs, cards, of_prompt, rate, used):
    """4 requests a second at 3 a card and second; a pool that is not stated keeps up with them."""
    requests = (rate or 40.0) / 10
    if inputs == {"separate_pools": 1}:
        cards, of_prompt = 6 + 4 * requests, 4 * requests / (6 + 4 * requests)
    costs = {name: float(value) for name, value in token_costs(
        INPUTS | inputs, QUANTITIES, 3.0, used, rate).items()}
    request = 3 * cards / (used * requests)
    assert costs == pytest.approx({
        "cards": cards, "per_second": 3 * cards, "per_request": request,
        "per_input": of_prompt * request / 100, "per_output": (1 - of_prompt) * request / 10,
        "per_output_whole": request / 10})


def test_a_month_of_requests_and_energy_with_idle_hours():
    assert user_month(2.0, 3.0, 5, 7, 2) == pytest.approx(365 / 12 * 2 * (2 * 5 + 3 * 7))
    assert 12 * user_month(1.0, 0.0, 1, 1, 1) == pytest.approx(YEAR / DAY) == 365
    assert energy_per_token(700.0, 100.0, 0.25, 8.0) == pytest.approx((175 + 75) / 2)
    assert energy_per_token(5000.0, 1000.0, 1.0, 1000.0) == 5.0


@pytest.mark.parametrize("name", ["s2-910b1-awq", "h200-r1-vllm-tp8", "wide-lmsys-decode"])
def test_cards_are_busy_no_longer_than_they_are_paid(name):
    scenario = catalogue.load_scenario(name)
    inputs = scenario.inputs() | {"concurrency": np.array([8.0, 32.0])}
    quantities = evaluate(inputs, scenario.model.attention)
    prompt, answer = card_times(inputs, quantities)
    apart = inputs["separate_pools"] > 0
    busy = ((0 if apart else prompt) + answer) * quantities["request_throughput"]
    assert (busy <= own_cards(inputs) * (1 + 1e-9)).all()
    used = np.array([[0.1], [1.0]])
    costs = token_costs(inputs, quantities, 1.0, used)["per_output"]
    assert np.allclose(costs[0] * 0.1, costs[1])  # unused time is paid too
