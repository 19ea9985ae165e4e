"""``cost``: what tokens, energy and years of a deployment cost, and when it pays."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import click

from calc.commands.options import (
    Number,
    cli_command,
    refuse_too_long,
    scenario_argument,
    settings_option,
)
from calc.commands.view import (
    Block,
    Table,
    View,
    csv_table,
    deployment_id,
    joined,
    notes,
    pools_line,
)
from calc.uncertainty import Amount
from catalogue import ParamsError, load, load_deployment, load_prices
from catalogue.deployments.admission import longest_request
from catalogue.planning import OWNERSHIPS, Prices, Sold
from catalogue.reading.jsonfile import finite
from catalogue.reading.units import HOUR, NONE, human, plain

if TYPE_CHECKING:
    from calc.answer.service import Service
    from calc.costing.cost import Cost, CostOptions, Fleet

OF_PRICES = "prices."  # what a setting of the prices begins with
OF_SERVICE = ":"  # between a service and one of its price lists
NAMES = {
    "per_million_input": "million input tokens", "per_million_output": "million output tokens",
    "per_million_output_whole": "million output tokens, prompts included",
    "per_million_processed": "million processed tokens, cached or not",
    "per_task": "task of an agent, all its turns", "per_hour": "hour of all cards",
    "per_user_month": "user and month", "energy_per_token": "energy of an output token, cards",
    "site_energy_per_token": "energy of an output token, site",
    "cards_power": "busy power of the cards", "site_power": "busy power of the site",
    "crossover": "cheaper than the API from this utilisation on", "capital": "capital",
    "yearly": "running cost of a year", "resale": "resale value at the end",
    "tco": "total cost of ownership, discounted",
    "tco_undiscounted": "total cost of ownership, not discounted",
    "card_hour_of_parts": "hour of a card, of these parts",
    "revenue": "revenue of a year at the API's price", "npv": "net present value",
    "roi": "return on the capital, all years", "payback": "paid back after"}
"""Amount -> heading, in printed order."""


@cli_command("cost", "h200-r1-vllm-tp8 --utilisation 60%",
             "s2-910b1-awq --price '5..9 CNY/h' --daily-requests 200k",
             "h200-r1-vllm-tp8 --api deepseek-api:v3.2", sections=("details",))
@scenario_argument
@settings_option
@click.option("--price", metavar="PRICE", help=(
    "Hour of a card, everything included: '2 USD/h', or with ends '1.5..3 USD/h' (default: the "
    "catalogue's)."))
@click.option("--prices", metavar="NAME|FILE", help=(
    "Prices of the catalogue or a file of your own (default: those of the card); --set "
    "prices.years='3 year' overrides a key."))
@click.option("--ownership", type=click.Choice(OWNERSHIPS), help=(
    "How the cards are paid (default: the first way that has a price)."))
@click.option("--utilisation", type=Number(least=1e-3, most=1), metavar="SHARE", help=(
    "Share of the throughput that is used (default: the mean of a day whose busiest hour is at "
    "full load)."))
@click.option("--load", "day_load", default="azure-conversation", show_default=True,
              metavar="NAME|FILE", help="How the requests of a day are spread over its hours.")
@click.option("--daily-requests", type=Number("request", 1e-3, 1e12), help=(
    "Requests a day: adds the number of deployments and their cost by way of paying."))
@click.option("--user-requests", type=Number("request", 1e-3, 1e12), default="20",
              show_default=True, help="Requests of a user a day.")
@click.option("--api", default="deepseek-api", show_default=True, metavar="NAME[:LIST]", help=(
    "Prices of an API to compare with, and one of its price lists (default: the first in force)."))
def command(scenario: str, settings: tuple[str, ...], price: str | None, prices: str | None,
            ownership: str | None, utilisation: float | None, day_load: str,
            daily_requests: float | None, user_requests: float, api: str) -> View:
    """What does a token cost? When is it cheaper than an API, or rented cards?

    DEPLOYMENT is a name of the catalogue (`will-it-fit list scenarios`) or a file of your own.
    """
    from calc.answer.service import estimate_service
    from calc.costing.cost import CostOptions, PrefillPool, cost, crossovers, fleet
    from calc.costing.ownership import prices_of, stated, way_of

    of_prices, of_deployment = split_settings(settings)
    deployed = estimate_service(load_deployment(scenario, overrides=of_deployment))
    pool, answer, seen = deployed.last, deployed.answers[-1], deployed.seen
    refuse_too_long(pool.id, pool.model, longest_request(pool))
    if pool.file.workload.output_tokens is None:
        raise ParamsError(f"'{pool.id}' says how long its requests are at most, not how long they "
                          "are, expected workload.input_tokens and workload.output_tokens.")
    price_list = prices_of(pool.device, prices, of_prices)
    day = load("loads", day_load)
    service, name, sold = service_of(api)
    options = CostOptions(
        ownership or way_of(pool.device, price_list), stated(price) if price else None,
        utilisation or 1 / day.peak, user_requests, sold)
    reached = seen.throughput if seen else answer.quantities["output_throughput"]
    beside = (PrefillPool(deployed.pools[0], deployed.answers[0].everything)
              if deployed.pair else None)
    result = cost(pool, answer.everything, reached, price_list, options, beside)
    shares = crossovers(pool, result, options, service, price_list)
    needed = None if daily_requests is None else fleet(
        pool, result.cards, day.rates(daily_requests), reached.value, price_list, options)
    body = [*notes(*deployed.pools).values(), *(fleet_tables(needed) if needed else ())]
    return View(verdict(deployed, result, options),
                {**notes(*deployed.pools), "scenario": deployment_id(deployed.pools),
                 "fits": deployed.fits, "devices": deployed.devices,
                 "currency": result.currency, "utilisation": options.utilisation,
                 **result.as_json(), "fleet": needed and needed.as_json(),
                 "lists": list_data(service, shares)},
                None if deployed.fits and result.hour else False,
                cost_figures(deployed, result, options, f"{service.id}{OF_SERVICE}{name}"), body,
                csv_table({key: result.amounts[key] for key in NAMES if key in result.amounts}),
                {"details": detail_tables(result, service, shares)})


def service_of(text: str) -> tuple[Prices, str, Sold]:
    """A service, and the name and price list that is asked for: the first in force.

    Raises ParamsError for prices without price lists, or a list that they do not have.
    """
    name, _, chosen = text.partition(OF_SERVICE)
    service = load_prices(name)
    if service.sold is None:
        raise ParamsError(f"--api {name}: it sells no tokens, expected prices with 'sold'.")
    if chosen and chosen not in service.sold:
        raise ParamsError(f"--api {text[:80]}: there is no such price list, expected one of "
                          f"{joined(service.sold)}.")
    if not chosen and not service.holding:
        raise ParamsError(f"--api {name}: no price list is in force today, name one: "
                          f"{name}{OF_SERVICE}{next(reversed(service.sold))}.")
    chosen = chosen or next(iter(service.holding))
    return service, chosen, service.sold[chosen]


def split_settings(settings: Iterable[str]) -> tuple[dict[str, str], list[str]]:
    """Settings of the prices by key, and those of the deployment."""
    of_prices, others = {}, []
    for setting in settings:
        key, stroke, value = setting.partition("=")
        if not key.startswith(OF_PRICES):
            others.append(setting)
        elif not stroke or not value.strip():
            raise ParamsError(f"--set {setting[:60]}: expected KEY=VALUE.")
        else:
            of_prices[key.removeprefix(OF_PRICES)] = value
    return of_prices, others


def verdict(deployed: Service, result: Cost, options: CostOptions) -> str:
    """What a million output tokens cost, and of which deployment."""
    what = pools_line(deployed.pools)
    if not deployed.fits:
        return f"DOES NOT FIT: {what}; costs are those of cards with enough memory"
    if result.hour is None:
        return f"NO PRICE: {what}"
    tokens = result.amounts["per_million_output"].formatted("en")
    return f"{tokens} per million output tokens: {what}, {options.utilisation:.0%} utilised"


def cost_figures(deployed: Service, result: Cost, options: CostOptions, api: str
                 ) -> list[tuple[str, str]]:
    """The figures of most interest: tokens, hour, energy, the API and owning."""
    from calc.costing.ownership import unpriced

    amounts = {name: amount.formatted("en") for name, amount in result.amounts.items()}
    if result.hour is None:
        lines = [("price", unpriced(deployed.last.device.id, options.ownership))]
    else:
        hour = result.hour.scaled(HOUR, result.currency).formatted("en")
        lines = [
            ("tokens", f"{amounts['per_million_input']} per million input, "
             f"{amounts['per_million_output_whole']} per million output, prompts included"),
            ("hour", f"{amounts['per_hour']} for {deployed.devices} cards: a card's hour "
             f"({options.ownership}) is {hour}, {origin(result.hour)}"),
            ("user", f"{amounts['per_user_month']} a month at "
             f"{plain(options.requests_per_day)} requests a day"),
            ("API", f"{crossover_words(result.amounts['crossover'])} {api}")]
    for name in ("per_task", "per_million_processed"):
        if name in amounts:
            lines.append(("agent", f"{amounts[name]} per {NAMES[name]}"))
    if "energy_per_token" in amounts:
        site = (f"; site {amounts['site_energy_per_token']} and {amounts['site_power']}"
                if "site_energy_per_token" in amounts else "")
        lines.append(("energy", f"cards {amounts['energy_per_token']} of output and "
                      f"{amounts['cards_power']} busy{site}"))
    if "capital" in amounts:
        lines += [("owning", f"{amounts['capital']} of capital, {amounts['yearly']} a year"),
                  ("TCO", amounts["tco"] + payback_words(result.amounts.get("payback")))]
    return lines


def crossover_words(share: Amount) -> str:
    """From which utilisation a deployment is cheaper than an API, in words before its name."""
    start = ("never cheaper" if share.value > 1
             else f"cheaper from {share.value:.0%} utilisation on")
    reach = "" if share.low > 1 else f" ({share_span(share)})"
    return f"{start}{reach} than"


def payback_words(years: Amount | None) -> str:
    """When the API's price has paid the capital back."""
    if years is None:
        return ""
    when = (f"paid back after {years.text_in('en')} years" if math.isfinite(years.value)
            else "never paid back")
    return f"; {when} at the API's price"


def share_span(share: Amount) -> str:
    """The interval of a utilisation; above 1 it is never reached."""
    return "–".join("never" if end > 1 else f"{end:.0%}" for end in share.ends)


def fleet_tables(needed: Fleet) -> list[Block]:
    """Deployments that a day needs, and the cost of an hour of them by way of paying."""
    ways = sorted(needed.per_hour.items(), key=lambda item: item[1])
    return [f"Deployments that the day needs: {needed.most} at most, {plain(needed.mean)} on "
            f"average; {needed.utilisation:.0%} utilised if all run all day.",
            Table(("way of paying", "mean hour"), [
                (name, human(price * HOUR, needed.currency or "1")) for name, price in ways])]


def detail_tables(result: Cost, service: Prices, shares: Mapping[str, Amount]) -> list[Block]:
    """All amounts with their intervals, and every price list of the API."""
    blocks: list[Block] = [Table(("amount", "value", "80% interval"), [
        (NAMES[name], *amount_words(name, result.amounts[name]))
        for name in NAMES if name in result.amounts])]
    if result.server is not None:
        blocks.append(f"A server: {result.server.text_in('en')}, {origin(result.server)}.")
    rows = []
    for name, share in shares.items():
        sold: Sold = (service.sold or {})[name]
        ends = share_span(share)
        rows.append((name, _model(sold) or "", sold.since or "",
                     "in force" if name in service.holding else f"expired {sold.until}", sold.hours,
                     "never" if share.value > 1 else f"{share.value:.0%}",
                     "" if ends == "never–never" else ends))
    if rows:
        blocks.append(Table(("price list", "model", "since", "state", "hours", "from", (
            "80% interval")), rows, title=(
                f"Utilisation from which it is cheaper than {service.name['en']}")))
    return blocks


def origin(price: Amount) -> str:
    """Where a price comes from."""
    return joined(filter(None, (price.source, price.kind, price.date)))


def amount_words(name: str, amount: Amount) -> tuple[str, str]:
    """Value and interval of an amount; of a share in per cent, of a time in years."""
    if name == "crossover":
        return ("never" if amount.value > 1 else f"{amount.value:.0%}"), share_span(amount)
    if not math.isfinite(amount.value):
        return ("never" if amount.value > 0 else NONE), ""
    if name == "payback":
        return f"{amount.text_in('en')} years", f"{amount.reach_in('en')} years"
    if name == "roi":
        shown = amount.scaled(100)
        return f"{shown.text_in('en')}%", f"{shown.reach_in('en')}%"
    return amount.text_in("en"), amount.reach_in("en")


def _model(sold: Sold) -> str | None:
    return sold.model["en"] if sold.model else None


def list_data(service: Prices, shares: Mapping[str, Amount]) -> dict[str, Any]:
    """Price lists of an API with the utilisation from which a deployment is cheaper."""
    lists = service.sold or {}
    return {name: {
        "model": _model(lists[name]), "since": lists[name].since,
        "until": lists[name].until, "hours": lists[name].hours, "holds": name in service.holding,
        **finite(dict(zip(("value", "low", "high"), map(float, share.points), strict=True)))}
        for name, share in shares.items()}
