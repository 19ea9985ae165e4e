"""``cost``: what a deployment's tokens, its energy and its years cost, and when it pays."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable
from typing import Any

from rich.table import Table

from calc.commands.arguments import add_scenario, add_settings, refuse_too_long
from calc.commands.printing import (
    OK,
    amount,
    caveats_of,
    console,
    deployment_id,
    deployment_title,
    formatted,
    listing,
    print_json,
    reach_of,
    resting_on,
    spoken,
    tell,
    text_of,
    translated,
)
from calc.uncertainty import Amount
from catalogue import ParamsError, load, load_deployment, load_prices
from catalogue.deployments.admission import longest_request
from catalogue.messages import Pair, messages
from catalogue.planning import OWNERSHIPS, Prices, Sold
from catalogue.reading.units import HOUR, NONE, plain

common = messages("common")
say = messages("calc/commands/deciding/cost")

OF_PRICES = "prices."  # what a setting of the prices begins with
SERVICE, LOAD = "deepseek-api", "azure-conversation"
AMOUNTS = (
    "per_million_input", "per_million_output", "per_million_output_whole",
    "per_million_processed", "per_task", "per_hour", "per_user_month", "energy_per_token",
    "site_energy_per_token", "cards_power", "site_power", "crossover", "capital", "yearly",
    "resale", "tco", "tco_undiscounted", "card_hour_of_parts", "revenue", "npv", "roi", "payback")
"""In the order in which they are told."""
IN_PERCENT, IN_YEARS = ("crossover", "roi"), ("payback",)
PERCENT = 100
OF_SERVICE = ":"  # between a service and one of its price lists
USER_REQUESTS = "20"  # of a day, unless told
LEAST, MOST = 1e-3, 1e12  # of a number that is typed


def add_arguments(command: argparse.ArgumentParser) -> None:
    """What ``cost`` takes, besides ``--json``."""
    add_scenario(command)
    add_settings(command, say("help-set"))
    command.add_argument("--prices", metavar="FILE", help=spoken(say("help-prices")))
    command.add_argument("--price", metavar="AMOUNT", help=spoken(say("help-price")))
    command.add_argument("--ownership", choices=OWNERSHIPS, help=spoken(say("help-ownership")))
    command.add_argument("--utilisation", metavar="SHARE", help=spoken(say("help-utilisation")))
    command.add_argument("--load", default=LOAD, metavar="NAME",
                         help=spoken(say("help-load", load=LOAD)))
    command.add_argument("--day-requests", metavar="N", help=spoken(say("help-day-requests")))
    command.add_argument("--user-requests", default=USER_REQUESTS, metavar="N",
                         help=spoken(say("help-user-requests", count=USER_REQUESTS)))
    command.add_argument("--api", default=SERVICE, metavar="NAME",
                         help=spoken(say("help-api", service=SERVICE, colon=OF_SERVICE)))


def run(args: argparse.Namespace) -> int:
    """Print cost, energy and return of one deployment.

    Raises ParamsError for a deployment, a price or a number that cannot be used.
    """
    from calc.answer.service import estimate_service
    from calc.costing.cost import CostOptions, PrefillPool, cost, crossovers
    from calc.costing.ownership import prices_of, stated, way_of

    of_prices, of_deployment = split_settings(args.settings)
    deployed = estimate_service(load_deployment(args.scenario, overrides=of_deployment))
    scenario, answer, seen = deployed.last, deployed.answers[-1], deployed.seen
    refuse_too_long(scenario.id, scenario.model, longest_request(scenario))
    if scenario.file.workload.output_tokens is None:
        raise ParamsError(spoken(say("no-lengths", scenario=scenario.id)))
    prices = prices_of(scenario.device, args.prices, of_prices)
    day = load("loads", args.load)
    used = _number(args.utilisation, "--utilisation", 1.0) if args.utilisation else 1 / day.peak
    service, sold = service_of(args.api)
    args.ownership = args.ownership or way_of(scenario.device, prices)
    options = CostOptions(args.ownership, stated(args.price) if args.price else None, used,
                        _number(args.user_requests, "--user-requests", MOST), sold)
    reached = seen.throughput if seen else answer.quantities["output_throughput"]
    beside = (PrefillPool(deployed.pools[0], deployed.answers[0].everything)
              if deployed.pair else None)
    result = cost(scenario, answer.everything, reached, prices, options, beside)
    lists = crossovers(scenario, result, options, service, prices)
    fleet = (fleet_costs(scenario, result.cards, day, reached, prices, args) if args.day_requests
             else None)
    if args.json:
        print_json(cost_data(deployed, result, used, fleet) | {"lists": {
            name: price_list_data(service, name) | dict(zip(
                ("value", "low", "high"), map(_finite, share.points), strict=True))
            for name, share in lists.items()}})
    else:
        print_cost(deployed, result, options, fleet)
        print_price_lists(service, lists)
    return OK


def service_of(text: str) -> tuple[Prices, Sold]:
    """A service and the price list of it that is asked for: the first that holds today.

    Raises ParamsError for what sells no tokens, or has no such list.
    """
    name, _, chosen = text.partition(OF_SERVICE)
    service = load_prices(name)
    if service.sold is None:
        raise ParamsError(spoken(say("sells-no-tokens", name=name)))
    lists = service.holding if not chosen else service.sold
    if chosen and chosen not in lists:
        raise ParamsError(spoken(say("no-such-list", name=text[:80], lists=listing(lists))))
    if not lists:
        raise ParamsError(spoken(say("none-today", name=name, example=(
            f"{name}{OF_SERVICE}{next(reversed(service.sold))}"))))
    return service, lists[chosen or next(iter(lists))]


def price_list_data(service: Prices, name: str) -> dict[str, Any]:
    """What a price list is, as plain data."""
    sold = (service.sold or {})[name]
    return {"model": sold.model and sold.model["en"], "since": sold.since, "until": sold.until,
            "hours": sold.hours, "holds": name in service.holding}


def print_price_lists(service: Prices, lists: dict[str, Any]) -> None:
    """From which utilisation on the deployment is cheaper, against each price list."""
    if not lists:
        return
    table = Table(title=spoken(say("cheaper-than", service=translated(service.name))))
    for column in (say("price-list"), common("model"), common("held"), common("hours"), say("from"),
                   common("interval")):
        table.add_column(spoken(column))
    for name, share in lists.items():
        sold = (service.sold or {})[name]
        period = say("held-between", since=str(sold.since or ""), today=not sold.until,
                   until=str(sold.until or ""))
        median, low, high = map(utilisation_words, share.points)
        hours = say("of-hours", name=sold.hours, plain=sold.hours)
        table.add_row(name, translated(sold.model) if sold.model else "", spoken(period),
                      spoken(hours), median, low if low == high else spoken(
                          common("from-low-to-high", low=low, high=high)))
    console().print(table)


def utilisation_words(value: float) -> str:
    """A utilisation; one above 1 is never reached."""
    return spoken(say("never")) if value > 1 else f"{100 * value:.0f}%"


def split_settings(settings: Iterable[str]) -> tuple[dict[str, str], list[str]]:
    """Settings of the prices by key, and those of the deployment."""
    of_prices, others = {}, []
    for setting in settings:
        key, stroke, value = setting.partition("=")
        if not key.startswith(OF_PRICES):
            others.append(setting)
        elif not stroke or not value.strip():
            raise ParamsError(spoken(say("expected-setting", setting=setting[:60])))
        else:
            of_prices[key.removeprefix(OF_PRICES)] = value
    return of_prices, others


def _number(text: str, option: str, most: float) -> float:
    """A number from ``LEAST`` to ``most``. Raises ParamsError for any other."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not LEAST <= number <= most:
        raise ParamsError(spoken(say("no-number", option=option, text=text[:40],
                                     least=f"{LEAST:g}", most=f"{most:g}")))
    return number


def fleet_costs(scenario: Any, cards: float, day: Any, reached: Any, prices: Any,
           args: argparse.Namespace) -> dict[str, Any]:
    """Deployments that the hours of a day need, and an hour's cost by way of having them."""
    from calc.costing.cost import units_needed, utilisation, ways
    from calc.costing.ownership import card_hour, converted

    inputs = scenario.inputs()
    requests = _number(args.day_requests, "--day-requests", MOST)
    rates, one = day.rates(requests), reached.value / inputs["output_tokens"]
    needed = units_needed(rates, one)
    hours = {name: card_hour(scenario.device, name, prices) for name in OWNERSHIPS}
    if args.price:
        hours[args.ownership] = card_hour(scenario.device, args.ownership, prices, args.price)
    currency = next((hour.currency for hour in hours.values() if hour), None)
    hourly = [None if hour is None or currency is None else cards
            * converted(hour, currency, prices.exchange).value for hour in hours.values()]
    return {"deployments": {"most": int(needed.max()), "mean": float(needed.mean())},
            "utilisation": utilisation(rates, one, float(needed.max())), "currency": currency,
            "per_hour": {name: HOUR * amount for name, amount in ways(needed, *hourly).items()}}


def _finite(number: Any) -> float | None:
    value = float(number)
    return value if math.isfinite(value) else None


def cost_data(deployed: Any, result: Any, used: float, fleet: Any) -> dict[str, Any]:
    """The answer as data; an amount that is without end is null."""
    return caveats_of(*deployed.pools) | {
        "scenario": deployment_id(deployed.pools), "fits": deployed.fits,
        "devices": deployed.devices, "currency": result.currency,
        "utilisation": used,
        "hour": None if result.hour is None else result.hour.as_json(),
        "server": None if result.server is None else result.server.as_json(),
        "amounts": {name: {end: _finite(getattr(amount, end))
                           for end in ("value", "low", "high")} | {"unit": amount.unit}
                    for name, amount in result.amounts.items()},
        "owning": None if result.owned is None else {
            name: float(value) for name, value in vars(result.owned).items()},
        "fleet": fleet}


def print_cost(deployed: Any, result: Any, options: Any, fleet: Any) -> None:
    """What rests on what; amounts with their intervals; ways of having the cards."""
    from calc.costing.ownership import unpriced

    screen, scenario = console(), deployed.last
    lines = [] if deployed.fits else [say("does-not-fit")]
    lines.append(say("utilised", title=translated(deployment_title(deployed.pools)),
                     device=translated(scenario.device.name),
                     share=f"{100 * options.utilisation:.0f}%"))
    if result.hour is None:
        lines.append(unpriced(scenario.device.id, options.ownership))
    else:
        lines.append(say("card-hour", ownership=options.ownership,
                         price=formatted(result.hour.scaled(HOUR, result.currency)),
                         origin=_origin(result.hour)))
    if result.server is not None:
        lines.append(say("server", price=text_of(result.server), origin=_origin(result.server)))
    for line in (*map(spoken, lines), *resting_on(*deployed.pools)):
        tell(screen, line)
    table = Table()
    for column in (common("what"), common("value-2"), common("interval")):
        table.add_column(spoken(column))
    for name in AMOUNTS:
        if name in result.amounts:
            table.add_row(spoken(say("amount", name=name)),
                          *amount_words(result.amounts[name], name))
    screen.print(table)
    for line in fleet_words(fleet) if fleet is not None else ():
        tell(screen, line)


def fleet_words(fleet: dict[str, Any]) -> list[str]:
    """How many deployments a day needs, and what an hour of them costs; sentences."""
    most, mean = fleet["deployments"]["most"], fleet["deployments"]["mean"]
    return [spoken(say("deployments-needed", most=most, mean=plain(mean),
                       share=f"{100 * fleet['utilisation']:.0f}%")), *(
        spoken(say("way-an-hour", plain=name, way=name.replace(" ", "-"),
                   price=amount(price, fleet["currency"])))
        for name, price in sorted(fleet["per_hour"].items(), key=lambda item: item[1]))]


def _origin(price: Any) -> Pair:
    """Where a price comes from."""
    return say("origin", source=price.source, kind=price.kind, dated=bool(price.date),
               date=str(price.date or ""))


def amount_words(value: Amount, name: str) -> tuple[str, str]:
    """Value and interval as text, in per cent or years where that is asked."""
    if not math.isfinite(value.value):
        return spoken(say("never")) if value.value > 0 else NONE, ""
    if name in IN_PERCENT:
        shown = value.scaled(PERCENT)
        return f"{text_of(shown)}%", f"{reach_of(shown)}%"
    if name in IN_YEARS:
        return tuple(spoken(say("in-years", number=number))  # type: ignore[return-value]
                     for number in (text_of(value), reach_of(value)))
    return text_of(value), reach_of(value)
