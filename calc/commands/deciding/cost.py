"""``cost``: what a deployment's tokens, its energy and its years cost, and when it pays."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable
from typing import Any

from rich.table import Table

from calc.commands.printing import OK, console, print_json
from calc.uncertainty.amount import Amount
from catalogue import ParamsError, load, load_prices, load_scenario
from catalogue.planning.prices import OWNERSHIPS, Prices, Sold
from catalogue.reading.amounts import NONE, human, plain
from catalogue.reading.units import HOUR

OF_PRICES = "prices."  # what a setting of the prices begins with
SERVICE, LOAD = "deepseek-api", "azure-conversation"
AS_IT_IS = ""  # in the unit that it has
ROWS: tuple[tuple[str, str, str], ...] = (
    ("per_million_input", "a million input tokens", AS_IT_IS),
    ("per_million_output", "a million output tokens", AS_IT_IS),
    ("per_million_output_whole", "the same, all charged to answers", AS_IT_IS),
    ("per_hour", "all cards, an hour", AS_IT_IS),
    ("per_user_month", "a user, a month", AS_IT_IS),
    ("energy_per_token", "energy per output token, cards", AS_IT_IS),
    ("site_energy_per_token", "energy per output token, site", AS_IT_IS),
    ("cards_power", "power of the cards, busy", AS_IT_IS),
    ("site_power", "power of the site, busy", AS_IT_IS),
    ("crossover", "utilisation from which it is cheaper than the API", "%"),
    ("capital", "capital", AS_IT_IS),
    ("yearly", "a year besides", AS_IT_IS),
    ("tco", "total cost of ownership, discounted", AS_IT_IS),
    ("tco_undiscounted", "the same, not discounted", AS_IT_IS),
    ("card_hour_of_parts", "a card's hour, from these parts", AS_IT_IS),
    ("revenue", "revenue of a year at the API's price", AS_IT_IS),
    ("npv", "net present value", AS_IT_IS),
    ("roi", "return on the capital, all years", "%"),
    ("payback", "paid back after", "years"),
)
PERCENT = 100
OF_SERVICE = ":"  # between a service and one of its price lists
LEAST, MOST = 1e-3, 1e12  # of a number that is typed


def add_arguments(command: argparse.ArgumentParser) -> None:
    """What ``cost`` takes, besides ``--json``."""
    command.add_argument("scenario", help="identifier or path of a scenario file")
    command.add_argument("--set", action="append", default=[], metavar="PATH=VALUE",
                         dest="settings", help="override, of the deployment as for estimate, or of "
                                               "the prices: prices.years='3 year', prices.pue=1.2")
    command.add_argument("--prices", metavar="FILE", help="prices of your own, or another entry's")
    command.add_argument("--price", metavar="AMOUNT", help="of a card's hour, everything included: "
                                                           "'2 USD/h', or with ends '1.5..3 USD/h'")
    command.add_argument("--ownership", choices=OWNERSHIPS,
                         help="by which an hour is priced; the first with a price, if absent")
    command.add_argument("--utilisation", metavar="SHARE",
                         help="of the throughput that is used; by default what the load leaves of "
                              "a deployment that its busiest hour fills")
    command.add_argument("--load", default=LOAD, metavar="NAME", help=f"a day's load ({LOAD})")
    command.add_argument("--day-requests", metavar="N",
                         help="requests of a day: how many deployments its hours need, and what "
                              "they cost by way of having them")
    command.add_argument("--user-requests", default="20", metavar="N",
                         help="requests of a user in a day (20)")
    command.add_argument("--api", default=SERVICE, metavar="NAME",
                         help=f"prices of a service ({SERVICE}); NAME{OF_SERVICE}LIST "
                              "for one of its price lists")


def run(args: argparse.Namespace) -> int:
    """Print cost, energy and return of one deployment.

    Raises ParamsError for a deployment, a price or a number that cannot be used.
    """
    from calc.answer.estimate import estimate
    from calc.costing.answer import CostOptions, cost, crossovers
    from calc.costing.rates import prices_of, stated, way_of

    of_prices, of_deployment = _apart(args.settings)
    scenario = load_scenario(args.scenario, overrides=of_deployment)
    if scenario.file.workload.output_tokens is None:
        raise ParamsError(f"'{scenario.id}' says how long its requests are at most, not how long "
                          "they are, expected workload.input_tokens and workload.output_tokens.")
    prices = prices_of(scenario.device, args.prices, of_prices)
    day = load("loads", args.load)
    used = _number(args.utilisation, "--utilisation", 1.0) if args.utilisation else 1 / day.peak
    service, sold = _service(args.api)
    args.ownership = args.ownership or way_of(scenario.device, prices)
    asked = CostOptions(args.ownership, stated(args.price) if args.price else None, used,
                        _number(args.user_requests, "--user-requests", MOST), sold)
    answer = estimate(scenario)
    rate = answer.quantities.get("steady_throughput", answer.quantities["output_throughput"])
    reached = rate
    found = cost(scenario, answer.everything, reached, prices, asked)
    lists = crossovers(scenario, found, asked, service, prices)
    fleet = (_fleet(scenario, day, reached, prices, args) if args.day_requests else None)
    if args.json:
        print_json(_plain(scenario, answer, found, used, fleet) | {"lists": {
            name: _of_list(service, name) | dict(zip(
                ("value", "low", "high"), map(_finite, share.points), strict=True))
            for name, share in lists.items()}})
    else:
        _print(scenario, answer, found, asked, fleet)
        _print_lists(service, lists)
    return OK


def _service(text: str) -> tuple[Prices, Sold]:
    """A service and the price list of it that is asked for: the first that holds today.

    Raises ParamsError for what sells no tokens, or has no such list.
    """
    name, _, chosen = text.partition(OF_SERVICE)
    service = load_prices(name)
    if service.sold is None:
        raise ParamsError(f"--api {name}: it sells no tokens, expected prices with 'sold'.")
    lists = service.holding if not chosen else service.sold
    if chosen and chosen not in lists:
        raise ParamsError(f"--api {text[:80]}: there is no such price list, expected one of "
                          f"{', '.join(lists)}.")
    if not lists:
        raise ParamsError(f"--api {name}: no price list holds today, name one: "
                          f"{name}{OF_SERVICE}{next(reversed(service.sold))}.")
    return service, lists[chosen or next(iter(lists))]


def _of_list(service: Prices, name: str) -> dict[str, Any]:
    """What a price list is, as plain data."""
    sold = (service.sold or {})[name]
    return {"model": sold.model and sold.model["en"], "since": sold.since, "until": sold.until,
            "hours": sold.hours, "holds": name in service.holding}


def _print_lists(service: Prices, lists: dict[str, Any]) -> None:
    """From which utilisation on the deployment is cheaper, against each price list."""
    if not lists:
        return
    table = Table(title=f"Cheaper than {service.name['en']} from this utilisation on")
    for column in ("price list", "model", "held", "hours", "from", "80% interval"):
        table.add_column(column)
    for name, share in lists.items():
        told = _of_list(service, name)
        held = f"{told['since'] or ''} to {told['until'] or 'today'}"
        ends = [_share(end) for end in share.points]
        table.add_row(name, told["model"] or "", held, told["hours"], ends[0],
                      ends[1] if ends[1] == ends[2] else f"{ends[1]} to {ends[2]}")
    console().print(table)


def _share(value: float) -> str:
    """A utilisation; one above 1 is never reached."""
    return "never" if value > 1 else f"{100 * value:.0f}%"


def _apart(settings: Iterable[str]) -> tuple[dict[str, str], list[str]]:
    """Settings of the prices by key, and those of the deployment."""
    of_prices, others = {}, []
    for setting in settings:
        key, stroke, value = setting.partition("=")
        if not key.startswith(OF_PRICES):
            others.append(setting)
        elif not stroke or not value.strip():
            raise ParamsError(f"--set {setting[:60]}: expected PATH=VALUE.")
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
        raise ParamsError(f"{option}: '{text[:40]}' is not a number from {LEAST:g} to {most:g}.")
    return number


def _fleet(scenario: Any, day: Any, reached: Any, prices: Any, args: argparse.Namespace
           ) -> dict[str, Any]:
    """Deployments that the hours of a day need, and an hour's cost by way of having them."""
    from calc.costing.power import own_cards
    from calc.costing.rates import card_hour, converted
    from calc.costing.ways import units_needed, utilisation, ways

    inputs = scenario.inputs()
    requests = _number(args.day_requests, "--day-requests", MOST)
    rates, one = day.rates(requests), reached.value / inputs["output_tokens"]
    needed = units_needed(rates, one)
    hours = {name: card_hour(scenario.device, name, prices) for name in OWNERSHIPS}
    if args.price:
        hours[args.ownership] = card_hour(scenario.device, args.ownership, prices, args.price)
    currency = next((hour.currency for hour in hours.values() if hour), None)
    each = [None if hour is None or currency is None else float(own_cards(inputs))
            * converted(hour, currency, prices.exchange).value for hour in hours.values()]
    return {"deployments": {"most": int(needed.max()), "mean": float(needed.mean())},
            "utilisation": utilisation(rates, one, float(needed.max())), "currency": currency,
            "per_hour": {name: HOUR * amount for name, amount in ways(needed, *each).items()}}


def _finite(number: Any) -> float | None:
    value = float(number)
    return value if math.isfinite(value) else None


def _plain(scenario: Any, answer: Any, found: Any, used: float, fleet: Any) -> dict[str, Any]:
    """The answer as data; an amount that is without end is null."""
    return {
        "scenario": scenario.id, "fits": answer.fits, "currency": found.currency,
        "utilisation": used,
        "hour": None if found.hour is None else found.hour.as_json(),
        "server": None if found.server is None else found.server.as_json(),
        "amounts": {name: {end: _finite(getattr(amount, end))
                           for end in ("value", "low", "high", "central")} | {"unit": amount.unit}
                    for name, amount in found.amounts.items()},
        "owning": None if found.owned is None else {
            name: float(value) for name, value in vars(found.owned).items()},
        "fleet": fleet}


def _print(scenario: Any, answer: Any, found: Any, asked: Any, fleet: Any) -> None:
    """What rests on what; amounts with their intervals; ways of having the cards."""
    from calc.costing.rates import unpriced

    screen = console()
    if not answer.fits:
        screen.print("It does not fit: the times are those of the same cut on cards with enough "
                     "memory.", soft_wrap=True)
    screen.print(f"{scenario.heading['en']}: {scenario.device.name['en']}, "
                 f"{100 * asked.utilisation:.0f}% of the throughput used.", soft_wrap=True)
    if found.hour is None:
        screen.print(unpriced(scenario.device.id, asked.ownership), soft_wrap=True)
    else:
        hour = found.hour.scaled(HOUR, found.currency)
        screen.print(f"A card's hour ({asked.ownership}): {hour.said('en')}, "
                     f"{_origin(found.hour)}.", soft_wrap=True)
    if found.server is not None:
        screen.print(f"A server: {found.server.text}, "
                     f"{_origin(found.server)}.", soft_wrap=True)
    table = Table()
    for column in ("what", "median", "80% interval"):
        table.add_column(column)
    for name, title, unit in ROWS:
        if name in found.amounts:
            table.add_row(title, *_shown(found.amounts[name], unit))
    screen.print(table)
    if fleet is not None:
        most, mean = fleet["deployments"]["most"], fleet["deployments"]["mean"]
        screen.print(f"Deployments that the day needs: {most} at most, {plain(mean)} on average; "
                     f"{100 * fleet['utilisation']:.0f}% used where all are kept.", soft_wrap=True)
        for name, amount in sorted(fleet["per_hour"].items(), key=lambda item: item[1]):
            screen.print(f"  {name}: {human(amount, fleet['currency'])} an hour", soft_wrap=True)


def _origin(amount: Any) -> str:
    """Where a price comes from."""
    return f"{amount.source}, {amount.kind}" + (f", {amount.date}" if amount.date else "")


def _shown(amount: Amount, unit: str) -> tuple[str, str]:
    """Value and interval as text, in per cent or years where that is asked."""
    if not math.isfinite(amount.value):
        return "never" if amount.value > 0 else NONE, ""
    if unit == AS_IT_IS:
        return amount.text, amount.reach
    shown = amount.scaled(PERCENT) if unit == "%" else amount
    gap = "" if unit == "%" else " "
    return f"{shown.text}{gap}{unit}", f"{shown.reach}{gap}{unit}"
