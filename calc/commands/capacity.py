"""``capacity``: replicas for a day of users, spare servers, cache tiers, more cards."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import click

from calc.answer.display import deployment_line
from calc.commands import INTERRUPTED, OK
from calc.commands.options import (
    DAILY,
    Number,
    cli_command,
    limit_options,
    refuse_too_long,
    require,
    scenario_argument,
    seed_option,
    settings_option,
    think_time_option,
)
from calc.commands.view import Block, Table, View, notes, progress
from calc.layouts.layout import steps
from calc.physics.arrays import Inputs
from calc.physics.experts import ranks_in_step
from calc.serving.evaluate import doubt_words
from catalogue import ParamsError, Scenario, load_scenario
from catalogue.deployments.admission import longest_request
from catalogue.deployments.cuts import Cut, written
from catalogue.messages import plural
from catalogue.reading.units import DAY, human, plain

DOUBTED = " ~"  # marks values of a closed form that is not valid
TIER_COLUMNS = {"caches in": "tier", "tokens": "tokens", "hits there": "hits",
                "hits in all": "hit_share", "fetch": "fetch", "recompute": "recompute",
                "pays from": "break_even", "replicas": "replicas"}
TIER_UNITS = {"tokens": "token", "fetch": "s", "recompute": "s", "pays from": "B/s"}
NEEDED = (("daily_users", "requests_per_user"), ("requests_per_user", "daily_users"),
          ("turns", "think_time"), ("turns", "daily_requests"), ("availability", "daily_requests"))
"""Options, and the other that each needs."""
BYTES = Number("B", most=1e18)


class Percentile(Number):
    """Type of an option: a percentile, or the mean."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Parse a text. Raises ParamsError, one sentence, for what is neither."""
        return value if value == "mean" else super().convert(value, param, ctx)


@cli_command("capacity", "h200-r1-vllm-tp8 --daily-requests 800k --tpot '50 ms'",
             "h200-r1-vllm-tp8 --daily-users 40k --requests-per-user 20 --availability 0.99",
             "h200-r1-vllm-tp8 --scaling --tpot '60 ms'", sections=("details",))
@scenario_argument
@settings_option
@click.option("--daily-requests", type=DAILY, help="Requests per day, e.g. 200k.")
@click.option("--daily-users", type=DAILY, help="Users per day; requires --requests-per-user.")
@click.option("--requests-per-user", type=DAILY, help="Requests per user per day, e.g. 20.")
@click.option("--load", "day_load", default="azure-conversation", metavar="NAME|FILE", help=(
    "Hourly load profile (`will-it-fit list loads`)."))
@partial(limit_options, at="at --percentile")
@click.option("--percentile", type=Percentile(least=50, most=99.9), metavar="NUMBER|mean", help=(
    "Percentile at which the limits apply, or 'mean' (default: the deployment's, else 99)."))
@click.option("--spares", type=Number(most=4096, integer=True), default="0", help="Spare servers.")
@click.option("--availability", type=Number(most=1 - 1e-9, above=True), metavar="SHARE", help=(
    "Print how many spare servers keep all replicas up with this probability, e.g. 0.99."))
@think_time_option
@click.option("--turns", type=Number(least=2, most=1000, integer=True), help=(
    "Turns per conversation; also prints hit rates of the cache tiers. Requires --think-time."))
@click.option("--host-memory", type=BYTES,
              help="Host memory per server for KV cache (default: all).")
@click.option("--storage", type=BYTES, default="0 B", help="SSD per server for KV cache.")
@click.option("--scaling", is_flag=True, help=(
    "Print the best aggregated and disaggregated layouts for 8 to 384 cards. Latency limits then "
    "apply to means."))
@seed_option
def command(scenario: str, settings: tuple[str, ...], day_load: str, scaling: bool,
            ttft: float | None, tpot: float | None, percentile: Any, **given: Any) -> View:
    """How many replicas does a day's traffic need? How do failures and KV-cache tiers change that?

    Requires --daily-requests, --daily-users or --scaling. DEPLOYMENT is a catalogue name
    (`will-it-fit list deployments`) or your own file.
    """
    from calc.capacity.answers import capacity_answer, limits_of

    pool = load_scenario(scenario, overrides=settings)
    refuse_too_long(pool.id, pool.model, longest_request(pool))
    limits = limits_of(pool, {"ttft": ttft, "tpot": tpot}, percentile)
    requests = requests_of(given)
    if requests is None and not scaling:
        raise ParamsError("nothing is asked for, expected --daily-requests, --daily-users with "
                          "--requests-per-user, or --scaling.")
    with progress() as report:
        answer = {"scenario": pool.id, **notes(pool), **capacity_answer(
            pool, day_load, requests, limits, given, scaling, report)}
    return view_of(pool, answer)


def requests_of(given: Mapping[str, Any]) -> float | None:
    """Requests of a day [request]; None without any.

    Raises ParamsError for options that exclude or need each other.
    """
    users, per_user, requests = (
        given[name] for name in ("daily_users", "requests_per_user", "daily_requests"))
    if users and requests:
        raise ParamsError("--daily-users and --daily-requests: expected one of them.")
    if users and per_user:
        requests = users * per_user
    require({**given, "daily_requests": requests}, NEEDED)
    return requests


def view_of(scenario: Scenario, answer: Mapping[str, Any]) -> View:
    """The view of an answer."""
    body: list[Block] = [*notes(scenario).values()]
    tables: list[Table] = []
    what = deployment_line(scenario)
    if day := answer.get("day"):
        verdict = (f"{day['replicas']:,} REPLICA{'S' * (day['replicas'] > 1)} ({day['devices']:,} "
                   f"cards) for {day['requests']:,.0f} requests a day: {what}")
        tables.append(hour_table(answer))
        if (together := int(ranks_in_step(Inputs(scenario.inputs())))) > 1:
            body.append(f"{together} ranks step together and seldom prefill at the same time as "
                        "the closed form assumes: its largest rate is an upper bound; `simulate` "
                        "gives the rate of random arrivals.")
    else:
        sizes = answer["cards"]["sizes"]
        verdict = f"BEST LAYOUTS of {sizes[0]} to {sizes[-1]} cards: {what}"
    if "tiers" in answer:
        body.append(Table(tuple(TIER_COLUMNS), [
            [f"{tier[key]:.1%}" if "hit" in key else tier[key] for key in TIER_COLUMNS.values()]
            for tier in answer["tiers"]], units=TIER_UNITS))
    if "cards" in answer:
        tables.append(card_table(answer["cards"]))
        body.append(tables[-1])
        if why := dict.fromkeys(doubt_words()[name][0] for one in answer["cards"]["best"] if one
                                for name in one["doubts"]):
            body.append(f"{DOUBTED.strip()} closed form, not valid here: {'; '.join(why)}.")
    if stopped := answer.get("interrupted"):
        body.append(f"Interrupted: no answer on {stopped}.")
    return View(verdict, answer, None, day_figures(answer) if day else (), body, tables[0],
                {"details": tables[:1] if day else []}, code=INTERRUPTED if stopped else OK)


def percentile_of(answer: Mapping[str, Any]) -> tuple[str, str]:
    """Percentile that limits hold for, and the ending of its keys."""
    share = answer["percentile"]
    return ("mean", "") if share is None else (f"p{100 * share:g}", "_at")


def day_figures(answer: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What a replica serves, latencies of the busiest hour, scaling and failures."""
    day, fleet, (of, at) = answer["day"], answer["failures"], percentile_of(answer)
    busiest = day["hours"][day["busiest"]]
    ttft, tpot = (human(busiest["seen"][name + at], "s") for name in ("ttft", "tpot"))
    online = "" if day["online"] is None else f", {day['online']:,.0f} users in conversation"
    lines = [
        ("replica", f"{day['devices_per_replica']} cards serve "
         f"{human(day['rate_within_limits'], 'request/s')} within the limits ({of}), "
         f"{human(day['saturation_rate'], 'request/s')} at most (closed form)"),
        ("busiest", f"hour {day['busiest']}: {human(busiest['rate'], 'request/s')}{online}, {of} "
         f"TTFT {ttft}, TPOT {tpot}"),
        ("load", f"{answer['load']}: {day['utilisation']:.0%} utilised; scaling by the hour saves "
         f"{day['saved_by_scaling']:.0%} of the cards' time"),
        ("failures", f"{fleet['share']:.2%} of the throughput is available "
         f"({fleet['share_low']:.2%}–{fleet['share_high']:.2%}) with "
         f"{plural(fleet['spares'], 'spare server')}; a server fails every "
         f"{plain(fleet['between_failures'] / DAY)} days ({fleet['source']})")]
    if fleet["promise"] is not None:
        low, central, high = (
            "no number" if (count := fleet["spares_for_promise"][case]) is None else f"{count}"
            for case in ("high", "central", "low"))
        lines.append(("spares", f"spare servers: {central} ({low} to {high}) keep all groups "
                      f"running {fleet['promise']:.4%} of the time"))
    return lines


def hour_table(answer: Mapping[str, Any]) -> Table:
    """Rate, needed replicas and latencies of every hour."""
    of, at = percentile_of(answer)
    rows = [(f"{number}", *(hour[key] for key in ("rate", "replicas", "busy")),
             *(hour["seen"][name + at] for name in ("ttft", "tpot")))
            for number, hour in enumerate(answer["day"]["hours"])]
    return Table(("hour", "rate", "replicas", "used", "ttft", "tpot"), rows,
                 units={"rate": "request/s"}, title=f"Hours; TTFT and TPOT {of}, all running")


def card_table(layouts: Mapping[str, Any]) -> Table:
    """The best layout of every number of cards."""
    rows: list[list[Any]] = []
    for size, one, two in zip(layouts["sizes"], layouts["best"], layouts["two_pools"], strict=True):
        row: list[Any] = [f"{size}", *[None] * 8]
        if one is not None:
            row[1] = (written(Cut(*one["cut"]))["en"] + DOUBTED * bool(one["doubts"])
                      + steps(one["draft_tokens"], one["micro_batches"]))
            row[2:5] = [one[name] for name in ("per_device", "ttft", "tpot")]
            row[5:7] = [one[name].replace("_", " ") for name in ("binds", "resource")]
        if two is not None:
            row[7:] = pools_label(two), two["per_device"]
        rows.append(row)
    return Table(("cards", "best layout", "per card", "ttft", "tpot", "limit", "bound by",
                  "two pools", "their rate per card"), rows,
                 units=dict.fromkeys(("per card", "their rate per card"), "token/s"))


def pools_label(two: Mapping[str, Any]) -> str:
    """Groups that prefill and that decode, by cards, and how the latter step: ``2×8 + 1×32``."""
    groups = " + ".join(f"{count}×{two[pool]['devices']}" for count, pool in zip(
        two["groups"], ("prefill", "decode"), strict=True))
    return groups + steps(two["decode"]["drafts"], two["decode"]["micro_batches"])
