"""Cost of tokens, ways of having cards, and a deployment's whole answer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import catalogue
from calc import evaluate
from calc.answer.estimate import predicted
from calc.costing.cost import (
    CostOptions,
    best_base,
    card_times,
    cost,
    cost_of_parts,
    crossover_of_ways,
    crossovers,
    price_of_request,
    token_costs,
    units_needed,
    user_month,
    utilisation,
    ways,
)
from calc.costing.ownership import own_cards, prices_of
from catalogue.reading.units import HOUR, YEAR

USED, DAILY, CARDS = 0.45, 20.0, 16


@pytest.fixture(scope="module")
def deployment():
    scenario = catalogue.load_scenario("h200-r1-vllm-tp8", overrides=[
        "cluster.nodes=2", "parallelism.data_parallel=2"])
    quantities = evaluate(scenario.inputs(), scenario.model.attention)
    rate = predicted(scenario, ["output_throughput"])["output_throughput"]
    return scenario, quantities, rate, prices_of(scenario.device)


@pytest.fixture(scope="module")
def service():
    return catalogue.load_prices("deepseek-api")


@pytest.fixture(scope="module")
def options(service):
    return CostOptions("own", utilisation=USED, requests_per_day=DAILY,
                       sold=next(iter(service.sold.values())))


@pytest.fixture(scope="module")
def found(deployment, options):
    return cost(*deployment, options)


def test_amounts_of_an_owned_deployment_add_up(deployment, options, found):
    scenario, _, rate, prices = deployment
    amounts = {name: float(amount.value) for name, amount in found.amounts.items()}
    hour, years = prices.hour.own.value, prices.years.value / YEAR
    requests = rate.value / scenario.inputs()["output_tokens"]
    api = price_of_request(scenario.inputs(), options.sold, prices, "USD")
    assert amounts["per_hour"] == pytest.approx(CARDS * HOUR * hour)
    assert amounts["per_request"] == pytest.approx(CARDS * hour / (USED * requests))
    assert amounts["crossover"] == pytest.approx(CARDS * hour / (requests * api))
    assert amounts["revenue"] == pytest.approx(YEAR * USED * requests * api)
    assert amounts["tco_undiscounted"] == pytest.approx(
        amounts["capital"] + years * amounts["yearly"] - amounts["resale"])
    assert amounts["roi"] == pytest.approx(
        years * (amounts["revenue"] - amounts["yearly"]) / amounts["capital"] - 1)
    assert CARDS * 700 < amounts["site_power"] > amounts["cards_power"]
    assert float(found.owned.present) == pytest.approx(amounts["tco"])
    assert (found.currency, found.hour.value) == ("USD", hour)
    for amount in found.amounts.values():
        assert amount.low <= amount.value <= amount.high


def test_unknown_power_or_price_leaves_amounts_out(deployment, options):
    scenario, quantities, rate, prices = deployment
    bare = prices.model_copy(update={"hour": None, "owning": None})
    left = cost(scenario, quantities, rate, bare, replace(options, ownership="rent-always"))
    assert (left.hour, left.owned, left.hour_of_parts, left.currency) == (None, None, None, "USD")
    assert left.amounts.keys() == {
        "cards_power", "site_power", "energy_per_token", "site_energy_per_token"}
    assert cost_of_parts(scenario, quantities, rate, bare, options) is None
    small = catalogue.load_scenario("kt-4090-v03")  # nobody says what its server draws
    common = prices_of(small.device)
    owning_one = common.owning.model_copy(update={"server": common.owning.chassis})
    left = cost(small, evaluate(small.inputs(), small.model.attention), rate,
                common.model_copy(update={"owning": owning_one}), CostOptions("rent-by-hour"))
    assert left.amounts.keys() == {"cards_power", "energy_per_token"}
    assert left.owned is None


def test_price_of_a_request_with_a_cached_part(deployment, options):
    scenario, _, _, prices = deployment
    inputs = scenario.inputs() | {"input_tokens": 100.0, "output_tokens": 10.0,
                                  "prefix_hit_share": 0.25}
    sold = options.sold
    exact = 75 * sold.input.value + 25 * sold.cached_input.value + 10 * sold.output.value
    assert price_of_request(inputs, sold, prices, "USD") == pytest.approx(exact)
    assert price_of_request(inputs, sold, prices, "CNY") == pytest.approx(
        exact * prices.exchange.value)
    whole = sold.model_copy(update={"cached_input": None})
    assert price_of_request(inputs, whole, prices, "USD") == pytest.approx(
        100 * sold.input.value + 10 * sold.output.value)


def test_crossovers_are_inverse_to_the_price_of_a_list(deployment, service, options, found):
    scenario, _, _, prices = deployment
    shares = crossovers(scenario, found, options, service, prices)
    assert shares.keys() == service.sold.keys()
    for name, sold in service.sold.items():
        ratio = price_of_request(scenario.inputs(), options.sold, prices, "USD") / (
            price_of_request(scenario.inputs(), sold, prices, "USD"))
        assert shares[name].points == pytest.approx(found.amounts["crossover"].scaled(ratio).points)
    assert crossovers(scenario, found, CostOptions(), service, prices) == {}
    assert crossovers(scenario, replace(found, amounts={}), options, service, prices) == {}


INPUTS = {"tensor_parallel": 2, "pipeline_parallel": 3, "data_parallel": 1, "separate_pools": 0,
          "prefill_pool_devices": 0, "input_tokens": 100.0, "output_tokens": 10.0}
QUANTITIES = {"burst_step_time": 6.0, "new_tokens": 70.0, "burst_tokens": 210.0,
              "decode_step_time": 0.9, "draft_time": 0.1, "decode_batch": 4.0,
              "tokens_per_step": 1.25, "output_throughput": 40.0}


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


def test_month_of_requests():
    assert user_month(2.0, 3.0, 5, 7, 2) == pytest.approx(365 / 12 * 2 * (2 * 5 + 3 * 7))


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


PRICES = st.floats(0.1, 10)
HOURS = st.lists(st.integers(0, 9), min_size=1, max_size=24)


@given(HOURS, PRICES, PRICES)
def test_the_best_base_is_the_cheapest_of_all_bases(hours, always, by_hour):
    needed = np.array(hours)
    costs = [always * base + by_hour * np.maximum(needed - base, 0).mean() for base in range(11)]
    assert costs[best_base(needed, always, by_hour)] == pytest.approx(min(costs))


def test_cost_of_every_way():
    """Of 1, 4, 1 and 2: by the hour 2 on average; two all day and 2 more in a quarter of hours."""
    costs = ways(np.array([1, 4, 1, 2]), own=3.0, always=7.0, by_hour=8.0)
    assert costs == pytest.approx({
        "own": 12.0, "rent-always": 28.0, "rent-by-hour": 16.0,
        "own and by the hour": 6 + 8 * 0.5, "rent and by the hour": 7 + 8 * 1.0})
    assert ways(np.array([1, 2]), 3.0, None, 8.0).keys() == {
        "own", "rent-by-hour", "own and by the hour"}
    assert ways(np.array([1, 2]), None, 1.0, None).keys() == {"rent-always"}


@given(st.floats(0.1, 5), st.floats(5.1, 20), st.floats(0.01, 1))
def test_owning_beats_renting_above_the_crossover(own, by_hour, used):
    hours = np.arange(1000) < round(used * 1000)
    costs, crossover = ways(hours, own, None, by_hour), crossover_of_ways(own, by_hour)
    if abs(hours.mean() - crossover) > 1e-9:
        assert (costs["own"] < costs["rent-by-hour"]) == (hours.mean() > crossover)


def test_hours_need_whole_deployments_and_the_excess_is_not_served():
    assert units_needed([0.0, 4.0, 4.001, 8.0, 8 * (1 + 1e-14)], 4.0).tolist() == [0, 1, 2, 2, 2]
    assert utilisation([2.0, 6.0, 20.0], 4.0, 2) == pytest.approx((2 + 6 + 8) / 3 / 8)
    assert utilisation([2.0], 4.0, 0) == 0
    load = catalogue.load("loads", "azure-conversation")
    rates = load.rates(1e6)
    assert units_needed(rates, max(rates)).max() == 1
    assert utilisation(rates, max(rates), 1) == pytest.approx(1 / load.peak)
