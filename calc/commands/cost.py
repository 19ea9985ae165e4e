"""``cost``: what tokens, energy and years of a deployment cost, and when it pays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from calc.answer.display import heading
from calc.commands.options import (
    DAILY,
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
from catalogue import load_deployment
from catalogue.deployments.admission import longest_request
from catalogue.entries.operation import OWNERSHIPS
from catalogue.library import COMMAND_LINE
from catalogue.reading.units import DIMENSIONLESS, HOUR, plain

if TYPE_CHECKING:
    from calc.answer.deployment_cost import DeploymentCost

OF_PRICES = "prices."  # what a setting of the prices begins with
LABELS = {"crossover": "share of use from which it is cheaper than the API",
          "card_hour_of_parts": "card-hour, derived from the server",
          "per_user_month": "per user and month, at --requests-per-user a day",
          "per_million_output_whole": "per million output, prompts included",
          "yearly": "running cost of a year", "tco": "total cost of ownership",
          "npv": "net present value", "roi": "return on capital", "payback": "payback [years]"}
"""Amount -> label, where its name is none."""


@cli_command("cost", "h200-r1-vllm-tp8 --utilisation 60%",
             "s2-910b1-awq --price '5..9 CNY/h' --daily-requests 200k",
             "h200-r1-vllm-tp8 --api deepseek-api:v3.2", sections=("details",))
@scenario_argument
@settings_option
@click.option("--price", metavar="MONEY/h", help=(
    "All-in price per card-hour: '2 USD/h' or '1.5..3 USD/h' (default: the catalogue's, else "
    "derived from the price of the server)."))
@click.option("--prices", metavar="NAME|FILE", help=(
    "Price list: a catalogue name or your own file (default: that of the card). "
    "--set prices.KEY=VALUE overrides a key."))
@click.option("--ownership", type=click.Choice(OWNERSHIPS), help=(
    "Cards are purchased, rented around the clock (reserved), or rented only in hours with traffic "
    "(on demand). Default: the first option with a known price."))
@click.option("--utilisation", type=Number(least=1e-3, most=1), metavar="SHARE", help=(
    "Average utilisation, e.g. 60% (default: computed from --daily-requests; without it, from "
    "--load with the busiest hour at 100%; otherwise 100%)."))
@click.option("--load", "day_load", metavar="NAME|FILE", help=(
    "Hourly load profile (`will-it-fit list loads`; default with --daily-requests: "
    "azure-conversation)."))
@click.option("--daily-requests", type=DAILY, help=(
    "Requests per day, e.g. 200k; also prints replicas and their cost by payment option."))
@click.option("--requests-per-user", type=DAILY, default="20", help=(
    "Requests per user per day, for the cost per user per month in --details."))
@click.option("--api", default="deepseek-api", metavar="NAME[:LIST]", help=(
    "API to compare with, optionally one of its price lists, e.g. deepseek-api:v3.2."))
def command(scenario: str, settings: tuple[str, ...], prices: str | None, **given: Any) -> View:
    """What does a token cost? When is self-hosting cheaper than an API?

    Also tells when owning the cards is cheaper than renting them.

    DEPLOYMENT is a catalogue name (`will-it-fit list deployments`) or your own file.
    """
    from calc.answer.deployment_cost import deployment_cost
    from calc.answer.service import estimate_service
    from calc.costing.ownership import prices_of

    of_prices = [one.removeprefix(OF_PRICES) for one in settings if one.startswith(OF_PRICES)]
    service = estimate_service(load_deployment(scenario, overrides=[
        one for one in settings if not one.startswith(OF_PRICES)]))
    pool = service.last
    refuse_too_long(pool.id, pool.model, longest_request(pool))
    answer = deployment_cost(service, prices_of(
        pool.device, prices, dict(one.partition("=")[::2] for one in of_prices)), given)
    caveats = notes(*service.pools)
    data = {**caveats, "scenario": deployment_id(service.pools), **answer.as_json()}
    return View(verdict(answer), data, None if service.fits and answer.cost.hour else False,
                cost_figures(answer),
                [*caveats.values(), *(fleet_blocks(data["fleet"]) if data["fleet"] else ())],
                csv_table(answer.cost.amounts), {"details": [amount_table(answer)]})


def verdict(answer: DeploymentCost) -> str:
    """What a million output tokens cost, and of which deployment."""
    what = pools_line(answer.service.pools)
    if not answer.service.fits:
        return f"DOES NOT FIT: {what}; costs are those of cards with enough memory"
    if answer.cost.hour is None:
        return f"NO PRICE: {what}"
    tokens = answer.cost.amounts["per_million_output_whole"].formatted("en")
    return (f"{tokens} per million output tokens, prompts included, at "
            f"{percent(answer.options.utilisation)} utilisation: {what}")


def cost_figures(answer: DeploymentCost) -> list[tuple[str, str]]:
    """The figures of most interest: tokens, price, a day's use, the API, tasks, energy."""
    from calc.costing.ownership import unpriced

    result, options = answer.cost, answer.options
    amounts = {name: amount.formatted("en") for name, amount in result.amounts.items()}
    used = f"at {percent(options.utilisation)} utilisation"
    if result.hour is None:
        lines = [("price", unpriced(answer.service.last.device.id, options.ownership))]
    else:
        hour = result.hour.scaled(HOUR, result.currency).formatted("en")
        whole, mean = result.amounts["per_million_output_whole"], answer.day.peak
        sold = (answer.api.sold or {})[answer.price_list]
        lines = [
            ("split", f"{amounts['per_million_input']} per million input tokens and "
             f"{amounts['per_million_output']} per million output tokens, {used}"),
            ("price", f"{hour} per card-hour ({origin(result.hour, options.ownership)}); "
             f"{amounts['per_hour']} per hour for {answer.service.devices} cards"),
            ("API", f"{cheaper_from(result.amounts['crossover'])} than "
             f"{sold.model['en'] if sold.model else 'the model'} at {answer.api.id}:"
             f"{answer.price_list} ({sold.hours} hours)")]
        if options.utilisation == 1:
            at_mean = whole.scaled(mean).formatted("en")
            lines.insert(2, ("day", f"{at_mean} per million output tokens at {percent(1 / mean)} "
                             f"utilisation: the mean of a day ({answer.day.id}) whose busiest hour "
                             "is at full load"))
    if "per_task" in amounts:
        lines.append(("agent", f"{amounts['per_task']} per task, all its turns; "
                      f"{amounts['per_million_processed']} per million processed tokens, {used}"))
    if "energy_per_token" in amounts:
        site = (f"; with the site {amounts['site_energy_per_token']} and {amounts['site_power']}"
                if "site_energy_per_token" in amounts else "")
        lines.append(("energy", f"cards {amounts['energy_per_token']} of output {used} and "
                      f"{amounts['cards_power']} under load{site}"))
    return lines


def cheaper_from(share: Amount) -> str:
    """From which utilisation a deployment is cheaper, with its interval."""
    low, high = map(percent, share.ends)
    return (f"cheaper from {percent(share.value)} utilisation ({low}–{high})"
            if share.value <= 1 else "not cheaper at any utilisation")


def percent(share: float | None) -> str:
    """A utilisation; above 1 it is never reached.

    >>> percent(0.0437), percent(0.74), percent(1.0), percent(1.2)
    ('4.4%', '74%', '100%', 'never')
    """
    return "never" if share is None or share > 1 else f"{plain(100 * share, digits=2)}%"


def fleet_blocks(needed: Mapping[str, Any]) -> list[Block]:
    """Deployments that a day needs, and the cost of an hour of them by way of paying."""
    most, mean = needed["deployments"].values()
    return [f"Deployments that the day needs: {most} at most, {plain(mean)} on average; "
            f"{percent(needed['utilisation'])} utilised if all run all day.",
            Table(("way of paying", "mean hour"), sorted(needed["per_hour"].items(), key=(
                lambda way: way[1])), units={"mean hour": needed["currency"] or DIMENSIONLESS})]


def amount_table(answer: DeploymentCost) -> Table:
    """All amounts with their intervals, those of owning where the cards are owned at no price by
    the hour from the command line."""
    from calc.costing.cost import OWNED, RETURNS

    hour = answer.cost.hour
    rented = answer.options.ownership != OWNERSHIPS[0] or (hour and hour.source == COMMAND_LINE)
    return Table(("amount", "value", "80% interval"), [
        (LABELS.get(name, heading(name)), amount.text, amount.reach)
        for name, amount in answer.cost.amounts.items()
        if not (rented and name in (*OWNED, *RETURNS))])


def origin(price: Amount, ownership: str) -> str:
    """How a card is paid for, and where its price comes from."""
    if price.source == COMMAND_LINE:
        return "as given"
    return joined(filter(None, (ownership, price.kind, price.source, price.date)))
