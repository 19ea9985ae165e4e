"""Cost of a deployment: per token, by form of ownership, with 80% intervals.

Functions of tokens and ways take arrays as :func:`calc.evaluate` gives them, and plain amounts of
money; which price holds is for ``calc.costing.ownership`` to say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np

from calc.costing.ownership import (
    MILLION,
    PARTS,
    Bill,
    agent_costs,
    around,
    bill,
    card_hour,
    cards_power,
    converted,
    full_power,
    net_present_value,
    own_cards,
    parts_of,
    payback,
    powers_of,
    prices_of,
    return_on,
    server_price,
    servers_of,
    shares_of,
    site_power,
    usual_currency,
)
from calc.physics.arrays import Number, select
from calc.uncertainty import Amount, propagate_uncertainty
from catalogue import Scenario
from catalogue.entries.operation import OWNERSHIPS, Prices, Sold
from catalogue.reading.jsonfile import finite
from catalogue.reading.units import DAY, HOUR, YEAR

DAYS_OF_MONTH = YEAR / DAY / 12


def card_times(inputs: Mapping[str, Number], quantities: Mapping[str, Number]
               ) -> tuple[Number, Number]:
    """Cards times seconds that are busy with the prompt and with the answer of a request [s].

    A prompt has the stages of a replica in turn for its part of a packed chunk; an answer shares
    every step with the other requests of its batch.

    Args:
        inputs: input symbols in SI units.
        quantities: those of ``calc.evaluate`` for them.

    Source: notebooks/cost.md, section Prompts and answers.
    """
    ranks = inputs["tensor_parallel"]
    prompt = (ranks * quantities["burst_step_time"]
              * quantities["new_tokens"] / quantities["burst_tokens"])
    step = quantities["decode_step_time"] + quantities["draft_time"]
    answer = ranks * inputs["output_tokens"] * step / (
        quantities["decode_batch"] * quantities["tokens_per_step"])
    return prompt, answer


def token_costs(inputs: Mapping[str, Number], quantities: Mapping[str, Number],
                card_second: Number, utilisation: Number = 1.0,
                output_throughput: Number | None = None) -> dict[str, Number]:
    """Cost of the tokens of a deployment paid by the time, at a share of its throughput.

    >>> import catalogue
    >>> from calc import evaluate
    >>> inputs = catalogue.load_scenario("s2-910b1-awq").inputs()
    >>> costs = token_costs(inputs, evaluate(inputs, "mla"), 1 / 3600, np.array([0.25, 1.0]))
    >>> (costs["per_output"] * 1e6).round(2)
    array([22.18,  5.55])

    All cards are paid all the time, and what that comes to for a request is divided between its
    prompt and its answer as the busy time of the cards is. Where prompts have a pool of their own,
    its cards are paid besides: those that are stated, else as many as keep up.

    Args:
        inputs: input symbols in SI units.
        quantities: those of ``calc.evaluate`` for them.
        card_second: of one card [money/s].
        utilisation: share of the throughput that is used, over the time that is paid [1].
        output_throughput: that the deployment reaches [token/s]; that of its burst by default.

    Returns ``cards`` [1], ``per_second`` [money/s], ``per_request`` [money/request], ``per_input``
    and ``per_output`` [money/token], and ``per_output_whole``, all of it charged to answers.

    Source: notebooks/cost.md, section Prompts and answers.
    """
    reached = quantities["output_throughput"] if output_throughput is None else output_throughput
    requests = reached / inputs["output_tokens"]
    prompt, answer = card_times(inputs, quantities)
    apart, own = np.greater(inputs["separate_pools"], 0), own_cards(inputs)
    beside = select(apart, select(np.greater(inputs["prefill_pool_devices"], 0),
                                  inputs["prefill_pool_devices"], requests * prompt), 0.0)
    paid = own + beside
    # of a pool of its own a prompt is charged the cards, however busy they are
    times = select(apart, beside, prompt), select(apart, own, answer)
    _, per_request, per_input, per_output = shared_out(
        paid, card_second, utilisation, requests, *times,
        inputs["input_tokens"], inputs["output_tokens"])
    return {"cards": paid, "per_second": paid * card_second, "per_request": per_request,
            "per_input": per_input, "per_output": per_output,
            "per_output_whole": per_request / inputs["output_tokens"]}


def shared_out(paid: Number, card_second: Number, utilisation: Number, requests: Number,
               prompt: Number, answer: Number, input_tokens: Number, output_tokens: Number
               ) -> tuple[Number, Number, Number, Number]:
    """Cost of a request, divided between its prompt and its answer.

    Args:
        paid: cards [1].
        card_second: of one [money/s].
        utilisation: share of the throughput that is used [1].
        requests: that the deployment reaches [request/s].
        prompt, answer: by which the cost is divided, of any one unit.
        input_tokens, output_tokens: of a request [token].

    Returns the prompt's share [1], the request [money], a token of its prompt and of its answer
    [money/token].

    Source: notebooks/cost.md, section Prompts and answers.
    """
    share = prompt / (prompt + answer)
    request = paid * card_second / (utilisation * requests)
    return share, request, share * request / input_tokens, (1 - share) * request / output_tokens


def user_month(per_input: Number, per_output: Number, input_tokens: Number, output_tokens: Number,
               requests_per_day: Number) -> Number:
    """Cost of a user per month [money].

    Args:
        per_input, per_output: of a token [money/token].
        input_tokens, output_tokens: of a request [token].
        requests_per_day: of a user [request].

    Source: notebooks/cost.md, section Prompts and answers.
    """
    request = per_input * input_tokens + per_output * output_tokens
    return DAYS_OF_MONTH * requests_per_day * request


def energy_per_token(busy_power: Number, idle_power: Number, utilisation: Number,
                     output_throughput: Number) -> Number:
    """Energy of an answer's token [J/token], the hours without requests included.

    Args:
        busy_power: at the throughput that the deployment reaches [W].
        idle_power: with weights in memory and no request [W].
        utilisation: share of the throughput that is used [1].
        output_throughput: that it reaches [token/s].

    Source: notebooks/cost.md, section What a card draws.
    """
    mean = utilisation * busy_power + (1 - utilisation) * idle_power
    return mean / (utilisation * output_throughput)


def units_needed(rates: Sequence[float] | np.ndarray, one: float) -> np.ndarray:
    """Deployments that each hour needs [1], whole ones.

    >>> units_needed([1.0, 4.0, 9.0], 4.0).tolist()
    [1.0, 1.0, 3.0]

    Args:
        rates: of each hour [request/s].
        one: that one deployment serves [request/s].

    Source: notebooks/cost.md, section Own, rent by the hour, or use an API.
    """
    return np.maximum(0.0, np.ceil(np.asarray(rates, float) / one - 1e-12))


def utilisation(rates: Sequence[float] | np.ndarray, one: float, units: float) -> float:
    """Mean utilisation over a day of a number of deployments that are paid for all day [1].

    >>> utilisation([1.0, 3.0], 4.0, 1)
    0.5

    Args:
        rates: of each hour [request/s]; what exceeds all deployments is not served.
        one: that one deployment serves [request/s].
        units: deployments [1].

    Source: notebooks/cost.md, section Own, rent by the hour, or use an API.
    """
    most = one * units
    return float(np.minimum(np.asarray(rates, float), most).mean() / most) if most else 0.0


def best_base(needed: np.ndarray, always: float, by_hour: float) -> int:
    """Deployments to have all the time, where more can be rented by the hour [1].

    One more pays as long as it is needed for a larger share of the hours than its price is of the
    price by the hour: the newsvendor's fractile.

    >>> best_base(np.array([1, 1, 2, 3]), 1.0, 2.5)
    2

    Args:
        needed: deployments that each hour needs [1].
        always, by_hour: prices of one, all the time and by the hour [money/s].

    Source: notebooks/cost.md, section Own, rent by the hour, or use an API.
    """
    # the share only changes where some hour needs as many
    worth = [count for count in np.unique(needed)
             if count > 0 and by_hour * (needed >= count).mean() > always]
    return int(max(worth, default=0))


def ways(needed: np.ndarray, own: float | None, always: float | None, by_hour: float | None
         ) -> dict[str, float]:
    """Mean cost of an hour by way of having the cards [money/s].

    >>> costs = ways(np.array([1, 3]), own=1.0, always=1.5, by_hour=2.5)
    >>> costs["own"], costs["rent-by-hour"], costs["own and by the hour"]
    (3.0, 5.0, 3.0)

    Args:
        needed: deployments that each hour needs [1].
        own, always, by_hour: prices of one deployment [money/s]; None where nobody states one.

    Returns those ways whose prices are known: each alone, for the busiest hour or, by the hour, for
    what each needs; and the cheapest base of either that is paid all the time with the rest by the
    hour.

    Source: notebooks/cost.md, section Own, rent by the hour, or use an API.
    """
    result: dict[str, float] = {}
    for name, price in (("own", own), ("rent-always", always)):
        if price is not None:
            result[name] = price * float(needed.max())
    if by_hour is not None:
        result["rent-by-hour"] = by_hour * float(needed.mean())
    for name, price in (("own and by the hour", own), ("rent and by the hour", always)):
        if price is not None and by_hour is not None:
            base = best_base(needed, price, by_hour)
            result[name] = float(price * base + by_hour * np.maximum(needed - base, 0).mean())
    return result


@dataclass(frozen=True)
class Fleet:
    """Deployments that the hours of a day need, and their cost.

    Attributes:
        most, mean: deployments of the busiest hour, and on average [1].
        utilisation: mean over the day, if all run all day [1].
        currency: of the cost; None where no price is known.
        per_hour: mean cost of an hour by way of paying [money/s].
    """

    most: int
    mean: float
    utilisation: float
    currency: str | None
    per_hour: Mapping[str, float]

    def as_json(self) -> dict[str, Any]:
        """The fleet as data, costs by the hour."""
        return {"deployments": {"most": self.most, "mean": self.mean},
                "utilisation": self.utilisation, "currency": self.currency,
                "per_hour": {name: HOUR * price for name, price in self.per_hour.items()}}


def fleet(scenario: Scenario, cards: float, rates: Sequence[float], throughput: float,
          prices: Prices, options: CostOptions) -> Fleet:
    """Compute the deployments that a day needs, and what they cost.

    Args:
        scenario: the deployment.
        cards: paid cards of one deployment [1].
        rates: of each hour [request/s].
        throughput: of one deployment [token/s].
        prices: that hold for its card.
        options: ownership and price of a card's hour.

    Source: notebooks/cost.md, section Own, rent by the hour, or use an API.
    """
    one = throughput / scenario.inputs()["output_tokens"]
    needed = units_needed(rates, one)
    hours = {name: card_hour(scenario.device, name, prices) for name in OWNERSHIPS}
    if options.price:
        hours[options.ownership] = options.price
    currency = next((hour.currency for hour in hours.values() if hour), None)
    fleets = [None if hour is None or currency is None else cards
            * converted(hour, currency, prices.exchange).value for hour in hours.values()]
    most = int(needed.max())
    return Fleet(most, float(needed.mean()), utilisation(rates, one, most), currency,
                 ways(needed, *fleets))


def crossover_of_ways(always: Number, by_hour: Number) -> Number:
    """Share of the hours beyond which having a card all the time is cheaper [1].

    Above 1 it never is.

    Args:
        always, by_hour: prices of a card [money/s].

    Source: notebooks/cost.md, section Own, rent by the hour, or use an API.
    """
    return always / by_hour


def crossover_utilisation(per_second: Number, requests: Number, api: Number) -> Number:
    """Share of a deployment's throughput beyond which it is cheaper than an API [1].

    What it costs by the time is spread over the requests that it serves. Above 1, or infinite, it
    never is.

    >>> crossover_utilisation(1.0, 10.0, 0.25)
    0.4

    Args:
        per_second: that the deployment costs, busy or not [money/s].
        requests: that it serves at most [request/s].
        api: what a service takes for a request [money].

    Source: notebooks/cost.md, section Own, rent by the hour, or use an API.
    """
    margin = np.asarray(api, float)
    pays = margin > 0
    share = np.where(pays, per_second / (requests * np.where(pays, margin, 1.0)), np.inf)
    return share if share.ndim else float(share)


TOKENS = ("per_million_input", "per_million_output", "per_million_output_whole", "per_request",
          "per_million_processed", "per_task", "per_user_month", "per_hour")
OWNED = ("capital", "yearly", "resale", "tco", "tco_undiscounted", "card_hour_of_parts")
RETURNS = ("revenue", "npv", "roi", "payback")
UNITS = {"cards_power": "W", "site_power": "W", "energy_per_token": "J/token",
         "site_energy_per_token": "J/token", "crossover": "1", "roi": "1", "payback": "1"}


@dataclass(frozen=True)
class CostOptions:
    """Options of a cost estimate, besides the deployment.

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
    """Cost of a deployment; amounts with 80% intervals, in SI and one currency.

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

    def as_json(self) -> dict[str, Any]:
        """Prices and amounts as data; an amount without end is null."""
        return {
            "hour": self.hour and self.hour.as_json(),
            "server": self.server and self.server.as_json(),
            "amounts": {name: finite({
                "value": float(amount.value), "low": float(amount.low),
                "high": float(amount.high), "unit": amount.unit})
                for name, amount in self.amounts.items()},
            "owning": self.owned and {
                name: float(value) for name, value in vars(self.owned).items()}}

    @property
    def hour_of_parts(self) -> Amount | None:
        """What a card costs by the time, of the parts of owning [money/s]; None where nobody prices
        a server."""
        hour = self.amounts.get("card_hour_of_parts")
        return hour and hour.scaled(1 / HOUR, f"{self.currency}/s")


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
         options: CostOptions, prefill: PrefillPool | None = None) -> Cost:
    """Cost [money], energy [J/token] and return [1] of a deployment.

    Args:
        scenario: the deployment; of two pools the one that decodes.
        quantities: those of ``calc.evaluate`` for it.
        throughput: that it reaches, with its interval [token/s].
        prices: that hold for its card.
        options: what is asked.
        prefill: the pool that prefills, paid besides; None of a deployment of one pool.

    Raises ParamsError for prices in two currencies with no rate of exchange between them.

    Source: notebooks/cost.md.
    """
    hour = card_hour(scenario.device, options.ownership, prices, options.price)
    currency = hour.currency if hour else usual_currency(prices)
    server = server_price(scenario.device, scenario.node, prices, currency)
    inputs = scenario.inputs()
    if prefill is not None:
        prefill = _priced(prefill, scenario, options, hour, server)
        hour, server = (None if ratio <= 0 else amount for ratio, amount in (
            (prefill.card, hour), (prefill.server, server)))
        inputs |= {"prefill_pool_devices": prefill.scenario.devices * prefill.card}
    uncertain = _uncertain(scenario, prices, options, currency, throughput, hour, server)

    def computed(q: Mapping[str, Any]) -> dict[str, Any]:
        return _amounts(scenario, inputs, quantities, prices, q, options, prefill)

    money = dict.fromkeys((*TOKENS, *OWNED, *RETURNS), currency)
    amounts = propagate_uncertainty(computed, uncertain, money | UNITS, at_once=True)
    if (share := amounts.get("payback")) is not None:  # of the capital, that a year pays back
        years = [1 / value if value > 0 else inf for value in (share.value, share.high, share.low)]
        amounts["payback"] = Amount(years[0], years[1], years[2])
    central = {name: one.value if isinstance(one, Amount) else one
               for name, one in uncertain.items()}
    owned = (_owned(central, _powers(scenario, inputs, quantities, prices, central, prefill))
             if "server" in central and "site_known" in central else None)
    cards = float(own_cards(inputs)) + (inputs["prefill_pool_devices"] if prefill else 0.0)
    return Cost(currency, hour, server, amounts, owned, cards)


def _priced(prefill: PrefillPool, decode: Scenario, options: CostOptions, hour: Amount | None,
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
        card_hour(own.device, options.ownership, prices, options.price), hour))


def cost_of_parts(scenario: Scenario, quantities: Mapping[str, Any], throughput: Amount,
                  prices: Prices, options: CostOptions) -> Cost | None:
    """Cost of a deployment at the price of a card [money/s] that follows from the parts of owning.

    None where nobody prices a server.

    Args:
        scenario, quantities, throughput, prices, options: as of :func:`cost`.

    Source: notebooks/cost.md, section What owning costs, and money over time.
    """
    hour = cost(scenario, quantities, throughput, prices, options).hour_of_parts
    if hour is None:
        return None
    return cost(scenario, quantities, throughput, prices, replace(options, price=hour))


def price_of_request(inputs: Mapping[str, Any], sold: Sold, prices: Prices, currency: str
                     ) -> float:
    """Price of a request at a service with the same prefix hit share [money].

    Args:
        inputs: input symbols of the deployment that is compared.
        sold: a price list of the service.
        prices: that hold for the card, with the rate of exchange.
        currency: that is wanted.

    Raises ParamsError for another currency with no rate of exchange.

    Source: notebooks/cost.md, section Own, rent by the hour, or use an API.
    """
    of_prompt, hit_price, of_answer = (
        converted(Amount.stated(price), currency, prices.exchange).value
        for price in (sold.input, sold.cached_input or sold.input, sold.output))
    hits = inputs["prefix_hit_share"]
    per_input = (1 - hits) * of_prompt + hits * hit_price
    return float(per_input * inputs["input_tokens"] + of_answer * inputs["output_tokens"])


def crossovers(scenario: Scenario, base: Cost, options: CostOptions, service: Prices, prices: Prices
               ) -> dict[str, Amount]:
    """Utilisation beyond which a deployment is cheaper than each price list of a service [1].

    It is inversely proportional to what the list takes for a request. Above 1 it never is.

    Args:
        scenario: the deployment.
        base: what it costs, with the crossover against ``asked.sold``.
        options: what that was asked with.
        service: whose lists they are.
        prices: that hold for the card.

    Source: notebooks/cost.md, section Own, rent by the hour, or use an API.
    """
    if options.sold is None or "crossover" not in base.amounts:
        return {}
    inputs, crossover = scenario.inputs(), base.amounts["crossover"]
    per_request = price_of_request(inputs, options.sold, prices, base.currency)
    return {name: crossover.scaled(per_request / price_of_request(
        inputs, sold, prices, base.currency)) for name, sold in (service.sold or {}).items()}


def _uncertain(scenario: Scenario, prices: Prices, options: CostOptions, currency: str,
               throughput: Amount,
               hour: Amount | None, server: Amount | None) -> dict[str, Amount | Any]:
    """Everything that money and energy rest on, by name; what nobody says is absent."""
    result: dict[str, Amount | Any] = {"rate": throughput, "utilisation": options.utilisation}
    full = full_power(scenario.device)
    if full is not None:
        result |= {name: Amount.stated(value)
                  for name, value in shares_of(powers_of(scenario.device.id)).items()}
        result["full"] = full
        if prices.pue and around(scenario, prices) is not None:
            result |= {"pue": Amount.stated(prices.pue), "site_known": True}
    for name, amount in (("hour", hour), ("server", server)):
        if amount is not None:
            result[name] = amount
    result |= parts_of(prices, currency)
    if options.sold is not None:
        result["sold_request"] = Amount.exactly(price_of_request(
            scenario.inputs(), options.sold, prices, currency))
    return result | dict(options.changes or {})


def _powers(scenario: Scenario, inputs: Mapping[str, Any], quantities: Mapping[str, Any],
            prices: Prices, q: Mapping[str, Any], prefill: PrefillPool | None) -> dict[str, Any]:
    """Power of cards and site, busy and without requests [W], and servers [1], of all pools.

    Servers of another price count as so many of the pool that decodes.
    """
    result = _powers_of_pool(scenario, inputs, quantities, prices, q)
    if prefill is None:
        return result
    first, own = prefill.scenario, dict(q)
    own["rate"] = q["rate"] / inputs["output_tokens"]  # a first token of each request
    if first.device.id != scenario.device.id:
        full = full_power(first.device)
        if full is None:
            return {"count": result["count"] + own_cards(first.inputs())}
        own |= {"full": full.value} | {name: float(value.value) for name, value in shares_of(
            powers_of(first.device.id)).items()}
    beside = _powers_of_pool(first, first.inputs(), prefill.quantities,
                             prices if first.device.id == scenario.device.id
                             else prices_of(first.device), own)
    if "servers" in beside:
        beside["servers"] *= prefill.server
    return {name: result[name] + beside[name] for name in result if name in beside}


def _powers_of_pool(scenario: Scenario, inputs: Mapping[str, Any], quantities: Mapping[str, Any],
                    prices: Prices, q: Mapping[str, Any]) -> dict[str, Any]:
    count = own_cards(inputs)
    busy = cards_power(inputs, quantities, q["rate"], q, q["full"])
    result = {"count": count, "busy": busy, "idle": count * q["loaded"] * q["full"]}
    rest = around(scenario, prices, q.get("pue"))
    if rest is None:
        return result
    return result | {f"site_{name}": site_power(power, count, rest) for name, power in (
        ("busy", busy), ("idle", result["idle"]), ("full", count * q["full"]))} | {
        "servers": servers_of(count, rest.cards)}


def _owned(q: Mapping[str, Any], power: Mapping[str, Any]) -> Bill:
    """Bill of owning, from parts; a part that is not stated costs nothing."""
    nothing = dict.fromkeys(PARTS, 0.0) | {"electricity": 0.0}
    used = q["utilisation"]
    mean = used * power["site_busy"] + (1 - used) * power["site_idle"]
    return bill({**nothing, **q, "servers": power["servers"], "cards": power["count"],
                 "kept_power": power["site_full"], "mean_power": mean})


def _amounts(scenario: Scenario, inputs: Mapping[str, Any], quantities: Mapping[str, Any],
             prices: Prices, q: Mapping[str, Any], options: CostOptions,
             prefill: PrefillPool | None) -> dict[str, Any]:
    """Every amount that can be said, at one point of the uncertain inputs."""
    result: dict[str, Any] = {}
    requests = q["rate"] / inputs["output_tokens"]
    power = _powers(scenario, inputs, quantities, prices, q, prefill) if "full" in q else {}
    for before in ("", "site_"):
        if f"{before}busy" in power:
            result |= {f"{before or 'cards_'}power": power[f"{before}busy"],
                      f"{before}energy_per_token": energy_per_token(
                          power[f"{before}busy"], power[f"{before}idle"], q["utilisation"],
                          q["rate"])}
    api = q.get("sold_request")
    if "hour" in q:
        costs = token_costs(inputs, quantities, q["hour"], q["utilisation"], q["rate"])
        result |= {
            "per_million_input": MILLION * costs["per_input"],
            "per_million_output": MILLION * costs["per_output"],
            "per_million_output_whole": MILLION * costs["per_output_whole"],
            "per_request": costs["per_request"], "per_hour": HOUR * costs["per_second"],
            "per_user_month": user_month(
                costs["per_input"], costs["per_output"], inputs["input_tokens"],
                inputs["output_tokens"], options.requests_per_day)}
        if (agent := scenario.file.workload.agent) is not None:
            of_agent = agent_costs(costs["per_request"], agent.turns, inputs["input_tokens"],
                                   inputs["output_tokens"])
            result |= {"per_million_processed": MILLION * of_agent["per_processed"],
                      "per_task": of_agent["per_task"]}
        if api is not None:
            result["crossover"] = crossover_utilisation(costs["per_second"], requests, api)
    if "server" in q and "site_busy" in power and "years" in q:
        owned = _owned(q, power)
        result |= {"capital": owned.capital, "yearly": owned.yearly, "resale": owned.residual,
                  "tco": owned.present, "tco_undiscounted": owned.nominal,
                  "card_hour_of_parts": HOUR * owned.second / power["count"]}
        if api is not None:
            revenue = YEAR * q["utilisation"] * requests * api  # every request at that price
            surplus = revenue - owned.yearly
            result |= {"revenue": revenue,
                      "npv": net_present_value(owned, revenue, q["discount"], q["years"]),
                      "roi": return_on(owned.capital, surplus, q["years"]),
                      "payback": 1 / payback(owned.capital, surplus, q["discount"])}
    return result
