"""What tokens cost: parts sum to the whole, less for more use, more for a higher price."""

from __future__ import annotations

import numpy as np
import pytest

import catalogue
from calc import evaluate
from calc.costing.power import own_cards
from calc.costing.tokens import DAYS_OF_MONTH, card_times, energy_per_token, token_costs, user_month
from calc.uncertainty.amount import Amount
from calc.uncertainty.propagate import propagate_uncertainty
from catalogue.reading.units import DAY, YEAR

DEPLOYMENTS = ["s2-910b1-awq", "h200-r1-vllm-tp8", "s1-launch", "wide-lmsys-decode"]


def deployment(name: str, concurrency: object = None):
    scenario = catalogue.load_scenario(name)
    inputs = scenario.inputs()
    if concurrency is not None:
        inputs["concurrency"] = concurrency
    return inputs, evaluate(inputs, scenario.model.attention)


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_prompt_and_answer_sum_to_the_request_and_requests_to_what_is_paid(name):
    inputs, quantities = deployment(name, np.array([8.0, 32.0]))
    costs = token_costs(inputs, quantities, 2.0, 0.4)
    parts = (costs["per_input"] * inputs["input_tokens"]
             + costs["per_output"] * inputs["output_tokens"])
    assert np.allclose(parts, costs["per_request"])
    requests = 0.4 * quantities["output_throughput"] / inputs["output_tokens"]
    assert np.allclose(requests * costs["per_request"], costs["per_second"])
    assert (costs["per_output"] <= costs["per_output_whole"]).all()


def test_cost_falls_with_use_and_rises_with_the_price():
    inputs, quantities = deployment("s2-910b1-awq")
    used = np.linspace(0.1, 1, 10)
    costs = token_costs(inputs, quantities, 1.0, used)["per_output"]
    assert (np.diff(costs) < 0).all()
    assert np.allclose(costs * used, costs[-1]), "what is not used is paid all the same"
    assert token_costs(inputs, quantities, 3.0)["per_output"] == pytest.approx(3 * costs[-1])


def test_shares_follow_the_busy_time_of_the_cards():
    inputs, quantities = deployment("s2-910b1-awq")
    prompt, answer = card_times(inputs, quantities)
    costs = token_costs(inputs, quantities, 1.0)
    of_prompt = costs["per_input"] * inputs["input_tokens"] / costs["per_request"]
    assert of_prompt == pytest.approx(prompt / (prompt + answer))
    busy = (prompt + answer) * quantities["output_throughput"] / inputs["output_tokens"]
    assert busy <= own_cards(inputs) * (1 + 1e-9), "cards are busy no longer than all the time"


def test_a_prefill_pool_is_paid_besides():
    inputs, quantities = deployment("wide-lmsys-decode")
    costs = token_costs(inputs, quantities, 1.0)
    assert costs["cards"] > own_cards(inputs)
    own = own_cards(inputs) / quantities["output_throughput"]
    assert costs["per_output"] == pytest.approx(own)
    stated = inputs | {"prefill_pool_devices": 16}
    assert token_costs(stated, quantities, 1.0)["cards"] == own_cards(inputs) + 16


def test_a_user_s_month_is_as_many_requests():
    assert user_month(2.0, 3.0, 5, 7, 2) == pytest.approx(DAYS_OF_MONTH * 2 * (2 * 5 + 3 * 7))


def test_twelve_months_of_a_request_a_day_are_the_days_of_a_year():
    assert 12 * user_month(1.0, 0.0, 1, 1, 1) == pytest.approx(YEAR / DAY) == 365



def test_energy_is_that_of_the_busy_cards_where_they_are_always_busy_and_more_where_not():
    assert energy_per_token(5000.0, 1000.0, 1.0, 1000.0) == 5.0
    used = np.array([1.0, 0.5, 0.1])
    energy = energy_per_token(5000.0, 1000.0, used, 1000.0)
    assert (np.diff(energy) > 0).all()
    assert energy[1] == pytest.approx(6.0)


class TestSpread:
    def test_nothing_uncertain_gives_no_interval(self):
        assert propagate_uncertainty(lambda q: {"sum": q["a"] + 1},
                                     {"a": 2.0, "b": Amount.exactly(3.0)}) == {
            "sum": Amount.exactly(3.0)}

    def test_more_that_is_uncertain_is_wider_and_the_value_stays_inside(self):
        def product(q):
            return {"p": q["a"] * q["b"]}

        one = propagate_uncertainty(product, {"a": Amount(2.0, 1.0, 4.0), "b": 5.0})["p"]
        both = propagate_uncertainty(product,
                                     {"a": Amount(2.0, 1.0, 4.0), "b": Amount(5.0, 4.0, 6.0)})["p"]
        assert both.low < one.low < one.value == 10 < one.high < both.high
        assert both.low < both.value < both.high
        assert both.central == 10
        assert both.low > 4.0, "both ends at once are rarer than either"

    def test_arrays_keep_their_shape(self):
        found = propagate_uncertainty(lambda q: {"x": q["a"] * np.ones((2, 3))},
                                      {"a": Amount(1.0, 0.5, 2.0)})["x"]
        assert found.low.shape == found.high.shape == (2, 3)
