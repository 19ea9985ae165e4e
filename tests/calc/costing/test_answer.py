"""Cost of a deployment: each amount at the central inputs, its return, and crossovers."""

from __future__ import annotations

from dataclasses import replace

import pytest

import catalogue
from calc import evaluate
from calc.answer.estimate import predicted
from calc.costing import owning, power
from calc.costing.answer import CostOptions, cost, cost_of_parts, crossovers, price_of_request
from calc.costing.rates import prices_of
from calc.costing.tokens import energy_per_token, token_costs, user_month
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


def test_every_amount_at_the_central_inputs(deployment, options, found):
    scenario, quantities, rate, prices = deployment
    inputs, q = scenario.inputs(), rate.value
    price = prices.hour.own.value
    costs = token_costs(inputs, quantities, price, USED, q)
    api = price_of_request(inputs, options.sold, prices, "USD")
    shares = {name: share.value for name, share in power.shares_of(
        power.powers_of(scenario.device.id)).items()}
    busy = power.cards_power(inputs, quantities, q, shares, 700.0)
    idle = CARDS * shares["loaded"] * 700
    rest = power.around(scenario, prices)
    site = {name: power.site_power(drawn, CARDS, rest) for name, drawn in (
        ("busy", busy), ("idle", idle), ("full", CARDS * 700.0))}
    parts = {name: getattr(prices.owning, name).value for name in (
        "network", "racks", "storage", "hosting", "people", "spares", "upkeep", "residual")}
    owned = owning.bill(parts | {
        "servers": 2.0, "cards": CARDS, "kept_power": site["full"],
        "discount": prices.discount.value,
        "server": owning.server_price(scenario.device, scenario.node, prices, "USD").value,
        "electricity": prices.electricity.value, "years": prices.years.value / YEAR,
        "mean_power": USED * site["busy"] + (1 - USED) * site["idle"]})
    requests = q / inputs["output_tokens"]
    revenue, years = YEAR * USED * requests * api, prices.years.value / YEAR
    surplus = revenue - owned.yearly
    expected = {
        "per_million_input": 1e6 * costs["per_input"],
        "per_million_output": 1e6 * costs["per_output"],
        "per_million_output_whole": 1e6 * costs["per_output_whole"],
        "per_request": costs["per_request"], "per_hour": CARDS * HOUR * price,
        "per_user_month": user_month(costs["per_input"], costs["per_output"],
                                     inputs["input_tokens"], inputs["output_tokens"], DAILY),
        "crossover": CARDS * price / (requests * api), "cards_power": busy,
        "site_power": site["busy"],
        "energy_per_token": energy_per_token(busy, idle, USED, q),
        "site_energy_per_token": energy_per_token(site["busy"], site["idle"], USED, q),
        "capital": owned.capital, "yearly": owned.yearly, "tco": owned.present,
        "resale": owned.residual, "tco_undiscounted": owned.nominal,
        "card_hour_of_parts": HOUR * owned.second / CARDS,
        "revenue": revenue, "roi": owning.return_on(owned.capital, surplus, years),
        "npv": owning.net_present_value(owned, revenue, prices.discount.value, years),
        "payback": float(owning.payback(owned.capital, surplus, prices.discount.value))}
    amounts = {name: float(amount.value) for name, amount in found.amounts.items()}
    assert amounts == pytest.approx(expected, rel=1e-9)
    # what is shown adds up
    assert amounts["tco_undiscounted"] == pytest.approx(
        amounts["capital"] + years * amounts["yearly"] - amounts["resale"])
    assert float(found.owned.present) == pytest.approx(owned.present)
    assert (found.currency, found.hour.value) == ("USD", price)
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


def test_cost_at_the_price_of_the_parts_of_owning(deployment, options, found):
    own = cost_of_parts(*deployment, options)
    per_second = found.amounts["card_hour_of_parts"].value / HOUR
    assert own.hour.value == pytest.approx(per_second)
    assert own.amounts["per_hour"].value == pytest.approx(CARDS * HOUR * own.hour.value)


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
