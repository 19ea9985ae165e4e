"""``capacity``: replicas for a day of users, spare servers, cache tiers, more cards."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import click

from calc.commands import INTERRUPTED, OK
from calc.commands.options import (
    Number,
    cli_command,
    limit_options,
    refuse_too_long,
    scenario_argument,
    seed_option,
    settings_option,
)
from calc.commands.search import steps
from calc.commands.view import (
    Block,
    Table,
    View,
    deployment_line,
    duration,
    notes,
    progress,
)
from calc.serving.evaluate import doubt_words
from catalogue import ParamsError, Scenario, load_scenario
from catalogue.deployments.admission import longest_request
from catalogue.deployments.cuts import Cut, written
from catalogue.reading.units import human, plain

PERCENT = 100
DOUBTED = " ~"  # marks values of a closed form that is not valid
WORKING = {"day": "replicas of every hour", "tiers": "tiers of caches",
           "cards": "layouts of more cards"}
DAILY = Number("request", 1, 1e12)
BYTES = Number("B", most=1e18)


@cli_command("capacity", "h200-r1-vllm-tp8 --daily-requests 800k --tpot '50 ms'",
             "h200-r1-vllm-tp8 --daily-users 40k --questions 20 --promise 0.99",
             "h200-r1-vllm-tp8 --cards --tpot '60 ms'", sections=("details",))
@scenario_argument
@settings_option
@click.option("--daily-requests", type=DAILY, help="Requests a day, such as 200k.")
@click.option("--daily-users", type=DAILY, help="Users a day, who ask --questions each.")
@click.option("--questions", type=Number("request", above=True), help=(
    "Questions of a user a day, such as 20."))
@click.option("--load", "day_load", default="azure-conversation", show_default=True,
              metavar="NAME|FILE", help="How the requests of a day are spread over its hours.")
@limit_options
@click.option("--percentile", default="99", show_default=True, metavar="NUMBER", help=(
    "Percentile of the requests that the limits hold for, or mean."))
@click.option("--spares", type=Number(most=4096, integer=True), default="0", show_default=True,
              help="Spare servers.")
@click.option("--promise", type=Number(most=1 - 1e-9, above=True), metavar="SHARE", help=(
    "Share of the time in which all replicas run, such as 0.99: prints the spares it takes."))
@click.option("--think-time", type=Number("s"), help=(
    "Pause of a user between an answer and the next question: prints the users online."))
@click.option("--turns", type=Number(least=2, most=1000, integer=True), help=(
    "Turns of a conversation: prints the hits of cache tiers; needs --think-time."))
@click.option("--host-memory", type=BYTES, help=(
    "Memory of a server for caches, such as '512 GiB' (default: all of its entry)."))
@click.option("--storage", type=BYTES, default="0 B", show_default=True, help=(
    "Drives of a server for caches, such as '4 TB'."))
@click.option("--cards", is_flag=True, help=(
    "Print the best layout of 8 to 384 cards, in one pool and two; limits hold for means."))
@seed_option
def command(scenario: str, settings: tuple[str, ...], day_load: str, cards: bool,
            ttft: float | None, tpot: float | None, percentile: str, **given: Any) -> View:
    """How many replicas does a day of users need? What do failures, caches, more cards change?

    DEPLOYMENT is a name of the catalogue (`will-it-fit list scenarios`) or a file of your own.
    """
    from calc.capacity.answers import cards_answer, day_answer, tiers_answer
    from calc.capacity.day import Limits

    pool = load_scenario(scenario, overrides=settings)
    refuse_too_long(pool.id, pool.model, longest_request(pool))
    limits = Limits(ttft or math.inf, tpot or math.inf, share_of(percentile))
    requests = requests_of(given)
    answer: dict[str, Any] = {"scenario": pool.id, **notes(pool)}
    parts: dict[str, Callable[[], dict[str, Any]]] = {}
    if requests is not None:
        parts["day"] = lambda: day_answer(pool, day_load, requests, limits, given)
        if given["turns"]:
            parts["tiers"] = lambda: {"tiers": tiers_answer(pool, answer, limits, given)}
    if cards:
        parts["cards"] = lambda: {"cards": cards_answer(pool, limits)}
    if not parts:
        raise ParamsError("nothing is asked for, expected --daily-requests, --daily-users with "
                          "--questions, or --cards.")
    done = 0
    with progress() as report:
        try:
            for done, (name, compute) in enumerate(parts.items()):
                report(WORKING[name], done, len(parts))
                answer |= compute()
        except KeyboardInterrupt:
            if not done:
                raise
            answer["interrupted"] = name
    return view_of(pool, answer)


def requests_of(given: Mapping[str, Any]) -> float | None:
    """Requests of a day [request]; None without any.

    Raises ParamsError for options that need each other.
    """
    requests, users, questions = (
        given[name] for name in ("daily_requests", "daily_users", "questions"))
    if (users is None) != (questions is None) or (users is not None and requests is not None):
        raise ParamsError("--daily-users: expected --daily-users and --questions together, or "
                          "--daily-requests.")
    if users is not None:
        requests = users * questions
    for name, option, value in (("turns", "--think-time", given["think_time"]),
                                ("turns", "--daily-requests", requests),
                                ("promise", "--daily-requests", requests)):
        if given[name] is not None and value is None:
            raise ParamsError(f"--{name}: expected {option} as well.")
    return None if requests is None else float(requests)


def share_of(text: str) -> float | None:
    """A percentile as a share of the requests [1]; None for the mean. Raises ParamsError."""
    if text == "mean":
        return None
    try:
        percentile = float(text)
    except ValueError:
        percentile = math.nan
    if not 50 <= percentile <= 99.9:
        raise ParamsError(f"--percentile {text[:40]}: expected 'mean', or a number of at least 50 "
                          "and at most 99.9.")
    return percentile / PERCENT


def view_of(scenario: Scenario, answer: Mapping[str, Any]) -> View:
    """The view of an answer."""
    body: list[Block] = [*notes(scenario).values()]
    figures: list[tuple[str, str]] = []
    details: list[Block] = []
    tables: list[Table] = []
    if "day" in answer:
        day = answer["day"]
        verdict = (f"{day['replicas']:,} REPLICA{'S' * (day['replicas'] > 1)} ({day['devices']:,} "
                   f"cards) for {day['requests']:,.0f} requests a day: {deployment_line(scenario)}")
        figures = day_figures(answer)
        tables.append(hour_table(answer))
        details += tables
    else:
        sizes = answer["cards"]["sizes"]
        verdict = f"BEST LAYOUTS of {sizes[0]} to {sizes[-1]} cards: {deployment_line(scenario)}"
    if "tiers" in answer:
        body.append(tier_table(answer["tiers"]))
    if "cards" in answer:
        tables.append(card_table(answer["cards"]))
        body += [tables[-1], *doubt_lines(answer["cards"])]
    if stopped := answer.get("interrupted"):
        body.append("Interrupted: there is no answer on " + (
            "tiers of caches and what follows." if stopped == "tiers" else "more cards."))
    return View(verdict, answer, None, figures, body, tables[0], {"details": details},
                code=INTERRUPTED if stopped else OK)


def _of(answer: Mapping[str, Any]) -> str:
    share = answer["percentile"]
    return "mean" if share is None else f"p{PERCENT * share:g}"


def day_figures(answer: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What a replica serves, latencies of the busiest hour, scaling and failures."""
    day, fleet, of = answer["day"], answer["failures"], _of(answer)
    seen = day["hours"][day["busiest"]]["seen"]
    column = "" if answer["percentile"] is None else "_at"
    lines = [
        ("replica", f"{day['devices_per_replica']} cards serve "
         f"{human(day['rate_within_limits'], 'request/s')} within the limits ({of}), "
         f"{human(day['saturation_rate'], 'request/s')} at most"),
        ("busiest", f"hour {day['busiest']}: {human(day['hours'][day['busiest']]['rate'])} "
         f"request/s, {of} TTFT {human(seen['ttft' + column], 's')}, TPOT "
         f"{human(seen['tpot' + column], 's')}"),
        ("load", f"{answer['load']}: the replicas are used to {day['utilisation']:.0%} of what "
         "they serve within the limits, over the day"),
        ("scaling", f"by the hour, started {duration(day['start'])} ahead, saves "
         f"{day['saved_by_scaling']:.0%} of the cards' time")]
    if day["online"] is not None:
        lines.append(("online", f"{day['online']:,.0f} users in conversation in the busiest hour"))
    groups = f"{fleet['groups']:,} group{'s' * (fleet['groups'] != 1)} of {fleet['servers']}"
    lines += [
        ("failures", f"{fleet['share']:.2%} of the throughput is available "
         f"({fleet['share_low']:.2%}–{fleet['share_high']:.2%}) with {fleet['spares']} spare "
         f"server{'s' * (fleet['spares'] != 1)}"),
        ("servers", f"{groups}; a server fails every {duration(fleet['between_failures'])}, is "
         f"repaired in {duration(fleet['repair'])}, a group restarts in "
         f"{duration(fleet['restart'])} ({fleet['source']})")]
    if fleet["promise"] is not None:
        low, central, high = (
            "no number" if (count := fleet["spares_for_promise"][case]) is None else f"{count}"
            for case in ("high", "central", "low"))
        lines.append(("promise", f"spare servers: {central} ({low} to {high}) keep all groups "
                      f"running {fleet['promise']:.4%} of the time"))
    return lines


def hour_table(answer: Mapping[str, Any]) -> Table:
    """Rate, needed replicas and latencies of every hour."""
    day, of = answer["day"], _of(answer)
    column = "" if answer["percentile"] is None else "_at"
    rows = [(f"{number}", hour["rate"], hour["replicas"], f"{hour['busy']:.0%}",
             *(hour["seen"][f"{name}{column}"] for name in ("ttft", "tpot")))
            for number, hour in enumerate(day["hours"])]
    columns = ("hour", "rate", "replicas needed", "used", f"TTFT {of}", f"TPOT {of}")
    return Table(columns, rows, units={"rate": "request/s", columns[4]: "s", columns[5]: "s"},
                 title=f"Hours; used, TTFT and TPOT with all {day['replicas']:,} replicas running")


def tier_table(tiers: list[dict[str, Any]]) -> Table:
    """Tiers of caches, each with those before it."""
    return Table(
        ("caches in", "tokens", "kept for", "hits there", "hits in all", "fetch", "recompute",
         "pays from", "replicas"),
        [(tier["tier"], f"{tier['tokens']:,.0f}", duration(tier["time"]), f"{tier['hits']:.1%}",
          f"{tier['hit_share']:.1%}", human(tier["fetch"], "s"), human(tier["recompute"], "s"),
          f"{human(tier['break_even'] or 0.0, 'B')}/s", tier["replicas"] or None)
         for tier in tiers])


def card_table(layouts: Mapping[str, Any]) -> Table:
    """The best layout of every number of cards."""
    rows = []
    for size, one, two in zip(layouts["sizes"], layouts["best"], layouts["two_pools"], strict=True):
        cells: list[Any] = [None] * 6 if one is None else [
            written(Cut(*one["cut"]))["en"] + steps(one["draft_tokens"], one["micro_batches"])
            + DOUBTED * bool(one["doubts"]), plain(one["per_device"]), human(one["ttft"], "s"),
            human(one["tpot"], "s"), one["binds"].replace("_", " "),
            one["resource"].replace("_", " ")]
        rows.append((f"{size}", *cells, None if two is None else (
            f"{plain(two['per_device'])} ({pools_label(two)})")))
    return Table(("cards", "best layout", "token/s per card", "TTFT", "TPOT", "limit", "bound by",
                  "two pools, token/s per card"), rows)


def doubt_lines(layouts: Mapping[str, Any]) -> list[str]:
    """Why marked layouts are not certain."""
    why = dict.fromkeys(name for one in layouts["best"] if one for name in one["doubts"])
    reasons = "; ".join(dict.fromkeys(doubt_words()[name][0] for name in why))
    return [f"{DOUBTED.strip()} closed form, not valid here: {reasons}."] if why else []


def pools_label(two: Mapping[str, Any]) -> str:
    """Groups that prefill and that decode, by cards, and how the latter step: ``2×8 + 1×32``."""
    groups = " + ".join(f"{count}×{two[pool]['devices']}" for count, pool in zip(
        two["groups"], ("prefill", "decode"), strict=True))
    return groups + steps(two["decode"]["drafts"], two["decode"]["micro_batches"])
