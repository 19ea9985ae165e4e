"""A deployment's cost, energy and return in one answer, each with its 80% interval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from calc.costing.owning import Bill, bill, net_present_value, payback, return_on, server_price
from calc.costing.power import (
    around,
    cards_power,
    full_power,
    own_cards,
    powers_of,
    servers_of,
    shares_of,
    site_power,
)
from calc.costing.rates import card_hour, converted, prices_of
from calc.costing.tokens import MILLION, agent_costs, energy_per_token, token_costs, user_month
from calc.costing.ways import api_request, crossover_utilisation
from calc.uncertainty.amount import Amount
from calc.uncertainty.propagate import propagate_uncertainty
from catalogue import Scenario
from catalogue.planning.prices import Prices, Sold
from catalogue.reading.units import HOUR, YEAR

PARTS = ("network", "racks", "storage", "hosting", "people", "spares", "upkeep", "residual")
TOKENS = ("per_million_input", "per_million_output", "per_million_output_whole", "per_request",
          "per_million_processed", "per_task", "per_user_month", "per_hour")
OWNED = ("capital", "yearly", "resale", "tco", "tco_undiscounted", "card_hour_of_parts")
RETURNS = ("revenue", "npv", "roi", "payback")
UNITS = {"cards_power": "W", "site_power": "W", "energy_per_token": "J/token",
         "site_energy_per_token": "J/token", "crossover": "1", "roi": "1", "payback": "1"}


@dataclass(frozen=True)
class CostOptions:
    """What is asked of a deployment's cost, besides the deployment.

    Attributes:
        ownership: ``own``, ``rent-always`` or ``rent-by-hour``.
        price: of a card's hour that a reader sets; None for that of the prices.
        utilisation: share of the throughput that is used, over the time that is paid [1].
        requests_per_day: of a user [request].
        sold: a price list of a service: what an answer is compared with, and could be sold at.
        changes: values by name of what owning is made of, or ``pue``, in place of the prices' own.
    """

    ownership: str = "own"
    price: Amount | None = None
    utilisation: float = 1.0
    requests_per_day: float = 20.0
    sold: Sold | None = None
    changes: Mapping[str, Amount] | None = None


@dataclass(frozen=True)
class Cost:
    """What a deployment costs; amounts with 80% intervals, in SI and one currency.

    Attributes:
        currency: of all money.
        hour: of a card, as it is priced; None where nobody says.
        server: of a server with its cards; None where nobody says.
        amounts: by name; what cannot be said is absent.
        owned: what owning is made of, central values; None where nobody prices a server.
        cards: that are paid, those of another price as so many of the one that decodes [1].
    """

    currency: str
    hour: Amount | None
    server: Amount | None
    amounts: dict[str, Amount]
    owned: Bill | None
    cards: float

    @property
    def hour_of_parts(self) -> Amount | None:
        """What a card costs by the time, of the parts of owning [money/s]; None where nobody prices
        a server."""
        found = self.amounts.get("card_hour_of_parts")
        return found and found.scaled(1 / HOUR, f"{self.currency}/s")


@dataclass(frozen=True)
class PrefillPool:
    """The pool that prefills for a deployment, as it is paid.

    Attributes:
        scenario, quantities: it, and those of ``calc.evaluate`` for it.
        card, server: what one of its own costs, over one of the pool that decodes [1].
    """

    scenario: Scenario
    quantities: Mapping[str, Any]
    card: float = 1.0
    server: float = 1.0


def cost(scenario: Scenario, quantities: Mapping[str, Any], throughput: Amount, prices: Prices,
         asked: CostOptions, prefill: PrefillPool | None = None) -> Cost:
    """Cost [money], energy [J/token] and return [1] of a deployment.

    Args:
        scenario: the deployment; of two pools the one that decodes.
        quantities: those of ``calc.evaluate`` for it.
        throughput: that it reaches, with its interval [token/s].
        prices: that hold for its card.
        asked: what is asked.
        prefill: the pool that prefills, paid besides; None of a deployment of one pool.

    Raises ParamsError for prices in two currencies with no rate of exchange between them.

    Source: notebooks/cost.md.
    """
    hour = card_hour(scenario.device, asked.ownership, prices, asked.price)
    currency = (hour.currency if hour else
                prices.electricity.unit.partition("/")[0] if prices.electricity else "USD")
    server = server_price(scenario.device, scenario.node, prices, currency)
    inputs = scenario.inputs()
    if prefill is not None:
        prefill = _priced(prefill, scenario, asked, hour, server)
        hour, server = (None if ratio <= 0 else amount for ratio, amount in (
            (prefill.card, hour), (prefill.server, server)))
        inputs |= {"prefill_pool_devices": prefill.scenario.devices * prefill.card}
    uncertain = _uncertain(scenario, prices, asked, currency, throughput, hour, server)

    def computed(q: Mapping[str, Any]) -> dict[str, Any]:
        return _amounts(scenario, inputs, quantities, prices, q, asked, prefill)

    money = dict.fromkeys((*TOKENS, *OWNED, *RETURNS), currency)
    amounts = propagate_uncertainty(computed, uncertain, money | UNITS, at_once=True)
    if "payback" in amounts:
        amounts["payback"] = _inverse(amounts["payback"])
    central = {name: one.value if isinstance(one, Amount) else one
               for name, one in uncertain.items()}
    owned = (_owned(central, _powers(scenario, inputs, quantities, prices, central, prefill))
             if "server" in central and "site_known" in central else None)
    cards = float(own_cards(inputs)) + (inputs["prefill_pool_devices"] if prefill else 0.0)
    return Cost(currency, hour, server, amounts, owned, cards)


def _priced(prefill: PrefillPool, decode: Scenario, asked: CostOptions, hour: Amount | None,
            server: Amount | None) -> PrefillPool:
    """The pool with its prices over those of the pool that decodes; 0 where nobody says."""
    own = prefill.scenario
    if own.device.id == decode.device.id and own.node.id == decode.node.id:
        return prefill
    prices = prices_of(own.device)

    def over(amount: Amount | None, other: Amount | None) -> float:
        if amount is None or other is None:
            return 0.0
        return float(converted(amount, other.currency, prices.exchange).value / other.value)

    theirs = server_price(own.device, own.node, prices, server.currency) if server else None
    return replace(prefill, server=over(theirs, server), card=over(
        card_hour(own.device, asked.ownership, prices, asked.price), hour))


def cost_of_parts(scenario: Scenario, quantities: Mapping[str, Any], throughput: Amount,
                  prices: Prices, asked: CostOptions) -> Cost | None:
    """Cost of a deployment at the price of a card [money/s] that follows from the parts of owning.

    None where nobody prices a server.

    Args:
        scenario, quantities, throughput, prices, asked: as of :func:`cost`.

    Source: notebooks/cost.md, section What owning costs, and money over time.
    """
    hour = cost(scenario, quantities, throughput, prices, asked).hour_of_parts
    if hour is None:
        return None
    return cost(scenario, quantities, throughput, prices, replace(asked, price=hour))


def price_of_request(inputs: Mapping[str, Any], sold: Sold, prices: Prices, currency: str
                     ) -> float:
    """What a service takes for a request [money], which finds as much of a prompt in its cache.

    Args:
        inputs: input symbols of the deployment that is compared.
        sold: a price list of the service.
        prices: that hold for the card, with the rate of exchange.
        currency: that is wanted.

    Raises ParamsError for another currency with no rate of exchange.

    Source: notebooks/cost.md, section Own, rent by the hour, or use an API.
    """
    of_prompt, found, of_answer = (
        converted(Amount.stated(price), currency, prices.exchange).value
        for price in (sold.input, sold.cached_input or sold.input, sold.output))
    return float(api_request(of_prompt, of_answer, inputs["input_tokens"],
                             inputs["output_tokens"], inputs["prefix_hit_share"], found))


def crossovers(scenario: Scenario, found: Cost, asked: CostOptions, service: Prices, prices: Prices
               ) -> dict[str, Amount]:
    """Utilisation beyond which a deployment is cheaper than each price list of a service [1].

    It is inversely proportional to what the list takes for a request. Above 1 it never is.

    Args:
        scenario: the deployment.
        found: what it costs, with the crossover against ``asked.sold``.
        asked: what that was asked with.
        service: whose lists they are.
        prices: that hold for the card.

    Source: notebooks/cost.md, section Own, rent by the hour, or use an API.
    """
    if asked.sold is None or "crossover" not in found.amounts:
        return {}
    inputs, known = scenario.inputs(), found.amounts["crossover"]
    per_request = price_of_request(inputs, asked.sold, prices, found.currency)
    return {name: known.scaled(per_request / price_of_request(
        inputs, sold, prices, found.currency)) for name, sold in (service.sold or {}).items()}


def _inverse(per_year: Amount) -> Amount:
    """Years from the share that a year pays back; one that never is takes for ever."""
    def years(share: float) -> float:
        return 1 / share if share > 0 else inf

    return Amount(years(per_year.value), years(per_year.high), years(per_year.low))


def _uncertain(scenario: Scenario, prices: Prices, asked: CostOptions, currency: str,
               throughput: Amount,
               hour: Amount | None, server: Amount | None) -> dict[str, Amount | Any]:
    """Everything that money and energy rest on, by name; what nobody says is absent."""
    found: dict[str, Amount | Any] = {"rate": throughput, "utilisation": asked.utilisation}
    full = full_power(scenario.device)
    if full is not None:
        found |= {name: Amount.stated(value)
                  for name, value in shares_of(powers_of(scenario.device.id)).items()}
        found["full"] = full
        if prices.pue and around(scenario, prices) is not None:
            found |= {"pue": Amount.stated(prices.pue), "site_known": True}
    for name, amount in (("hour", hour), ("server", server)):
        if amount is not None:
            found[name] = amount
    if prices.electricity is not None:
        found["electricity"] = converted(
            Amount.stated(prices.electricity), currency, prices.exchange)
    for name in PARTS if prices.owning else ():
        value = getattr(prices.owning, name)
        if value is not None:
            amount = Amount.stated(value)
            found[name] = (amount if value.unit == "1" else
                           converted(amount, currency, prices.exchange))
    if prices.discount is not None and prices.years is not None:
        found["discount"] = Amount.stated(prices.discount)
        found["years"] = Amount.stated(prices.years).scaled(1 / YEAR)
    if asked.sold is not None:
        found["sold_request"] = Amount.exactly(price_of_request(
            scenario.inputs(), asked.sold, prices, currency))
    return found | dict(asked.changes or {})


def _powers(scenario: Scenario, inputs: Mapping[str, Any], quantities: Mapping[str, Any],
            prices: Prices, q: Mapping[str, Any], prefill: PrefillPool | None) -> dict[str, Any]:
    """Power of cards and site, busy and without requests [W], and servers [1], of all pools.

    Servers of another price count as so many of the pool that decodes.
    """
    found = _powers_of_pool(scenario, inputs, quantities, prices, q)
    if prefill is None:
        return found
    first, own = prefill.scenario, dict(q)
    own["rate"] = q["rate"] / inputs["output_tokens"]  # a first token of each request
    if first.device.id != scenario.device.id:
        full = full_power(first.device)
        if full is None:
            return {"count": found["count"] + own_cards(first.inputs())}
        own |= {"full": full.value} | {name: float(value.value) for name, value in shares_of(
            powers_of(first.device.id)).items()}
    beside = _powers_of_pool(first, first.inputs(), prefill.quantities,
                             prices if first.device.id == scenario.device.id
                             else prices_of(first.device), own)
    if "servers" in beside:
        beside["servers"] *= prefill.server
    return {name: found[name] + beside[name] for name in found if name in beside}


def _powers_of_pool(scenario: Scenario, inputs: Mapping[str, Any], quantities: Mapping[str, Any],
                    prices: Prices, q: Mapping[str, Any]) -> dict[str, Any]:
    count = own_cards(inputs)
    busy = cards_power(inputs, quantities, q["rate"], q, q["full"])
    found = {"count": count, "busy": busy, "idle": count * q["loaded"] * q["full"]}
    rest = around(scenario, prices, q.get("pue"))
    if rest is None:
        return found
    return found | {f"site_{name}": site_power(power, count, rest) for name, power in (
        ("busy", busy), ("idle", found["idle"]), ("full", count * q["full"]))} | {
        "servers": servers_of(count, rest.cards)}


def _owned(q: Mapping[str, Any], power: Mapping[str, Any]) -> Bill:
    """What owning is made of, from parts; what is not stated costs nothing."""
    nothing = dict.fromkeys(PARTS, 0.0) | {"electricity": 0.0}
    used = q["utilisation"]
    mean = used * power["site_busy"] + (1 - used) * power["site_idle"]
    return bill({**nothing, **q, "servers": power["servers"], "cards": power["count"],
                 "kept_power": power["site_full"], "mean_power": mean})


def _amounts(scenario: Scenario, inputs: Mapping[str, Any], quantities: Mapping[str, Any],
             prices: Prices, q: Mapping[str, Any], asked: CostOptions,
             prefill: PrefillPool | None) -> dict[str, Any]:
    """Every amount that can be said, at one point of the uncertain inputs."""
    found: dict[str, Any] = {}
    requests = q["rate"] / inputs["output_tokens"]
    power = _powers(scenario, inputs, quantities, prices, q, prefill) if "full" in q else {}
    for before in ("", "site_"):
        if f"{before}busy" in power:
            found |= {f"{before or 'cards_'}power": power[f"{before}busy"],
                      f"{before}energy_per_token": energy_per_token(
                          power[f"{before}busy"], power[f"{before}idle"], q["utilisation"],
                          q["rate"])}
    api = q.get("sold_request")
    if "hour" in q:
        costs = token_costs(inputs, quantities, q["hour"], q["utilisation"], q["rate"])
        found |= {
            "per_million_input": MILLION * costs["per_input"],
            "per_million_output": MILLION * costs["per_output"],
            "per_million_output_whole": MILLION * costs["per_output_whole"],
            "per_request": costs["per_request"], "per_hour": HOUR * costs["per_second"],
            "per_user_month": user_month(
                costs["per_input"], costs["per_output"], inputs["input_tokens"],
                inputs["output_tokens"], asked.requests_per_day)}
        if (agent := scenario.file.workload.agent) is not None:
            of_agent = agent_costs(costs["per_request"], agent.turns, inputs["input_tokens"],
                                   inputs["output_tokens"])
            found |= {"per_million_processed": MILLION * of_agent["per_processed"],
                      "per_task": of_agent["per_task"]}
        if api is not None:
            found["crossover"] = crossover_utilisation(costs["per_second"], requests, api)
    if "server" in q and "site_busy" in power and "years" in q:
        owned = _owned(q, power)
        found |= {"capital": owned.capital, "yearly": owned.yearly, "resale": owned.residual,
                  "tco": owned.present, "tco_undiscounted": owned.nominal,
                  "card_hour_of_parts": HOUR * owned.second / power["count"]}
        if api is not None:
            found |= _returns(owned, YEAR * q["utilisation"] * requests * api, q)
    return found


def _returns(owned: Bill, revenue: Any, q: Mapping[str, Any]) -> dict[str, Any]:
    """What owning returns where every request is sold at the service's price."""
    surplus = revenue - owned.yearly
    return {"revenue": revenue,
            "npv": net_present_value(owned, revenue, q["discount"], q["years"]),
            "roi": return_on(owned.capital, surplus, q["years"]),
            "payback": 1 / payback(owned.capital, surplus, q["discount"])}
