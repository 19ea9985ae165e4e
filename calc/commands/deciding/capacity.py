"""``capacity``: replicas for a day of users, servers that fail, tiers of a cache, more cards."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from rich.table import Table

from calc.commands.arguments import add_scenario, add_settings, quantity, refuse_too_long
from calc.commands.printing import (
    INTERRUPTED,
    OK,
    amount,
    caveats_of,
    console,
    lasting,
    print_json,
    resting_on,
    spoken,
    tell,
    translated,
)
from calc.commands.progress import progress
from calc.commands.search import steps
from calc.serving.evaluate import doubt_words, evaluate
from catalogue import ParamsError, Scenario, load, load_scenario
from catalogue.deployments.admission import longest_request
from catalogue.deployments.cuts import Cut, written
from catalogue.messages import messages
from catalogue.reading.units import NONE, plain

common = messages("common")
say = messages("calc/commands/deciding/capacity")

USUAL_SHARE = "99"  # percentile, unless told otherwise
MOST_REQUESTS = 1e12  # of a day
LARGEST = 1e18  # of any other option, in SI units
PERCENT = 100
DOUBTED = " ~"  # beside what the closed form may be off for
# of an answer: its name, the function that computes it, those that print it
Part = tuple[str, Callable[[], dict[str, Any]], list[Callable[..., None]]]


def add_arguments(command: argparse.ArgumentParser) -> None:
    """What ``capacity`` takes, besides ``--json``."""
    add_scenario(command)
    command.add_argument("--load", help=spoken(say("help-load")))
    amount_group = command.add_mutually_exclusive_group()
    amount_group.add_argument("--requests", help=spoken(say("help-requests")))
    amount_group.add_argument("--users", help=spoken(say("help-users")))
    for name, meaning in (
            ("questions", say("help-questions")), ("think-time", say("help-think-time")),
            ("ttft", say("help-ttft")), ("tpot", say("help-tpot"))):
        command.add_argument(f"--{name}", help=spoken(meaning))
    command.add_argument("--percentile", default=USUAL_SHARE,
                         help=spoken(say("help-percentile", share=USUAL_SHARE)))
    command.add_argument("--spares", default="0", help=spoken(say("help-spares")))
    for name, meaning in (("promise", say("help-promise")), ("turns", say("help-turns")),
                          ("host-memory", say("help-host-memory"))):
        command.add_argument(f"--{name}", help=spoken(meaning))
    command.add_argument("--storage", default="0 B", help=spoken(say("help-storage")))
    command.add_argument("--cards", action="store_true", help=spoken(say("help-cards")))
    command.add_argument("--seed", default="0", help=spoken(common("help-seed")))
    add_settings(command)


def run(args: argparse.Namespace) -> int:
    """Answer what was asked for, as text or as JSON.

    Raises ParamsError, one sentence, for arguments or a deployment that cannot be used.
    """
    scenario = load_scenario(args.scenario, overrides=args.settings)
    refuse_too_long(scenario.id, scenario.model, longest_request(scenario))
    given = numbers_of(args)
    answer: dict[str, Any] = {"scenario": scenario.id} | caveats_of(scenario)
    parts: list[Callable[..., None]] = []
    wanted = parts_of(scenario, args, given, answer)
    if not wanted:
        raise ParamsError(spoken(say("nothing-asked")))
    with progress() as report:
        try:
            for number, (part, compute, shown) in enumerate(wanted):
                report(spoken(say("working", part=part)), number, len(wanted))
                answer |= compute()
                parts += shown
        except KeyboardInterrupt:
            if not parts:
                raise
            answer["interrupted"] = part
    if args.json:
        print_json(answer)
    else:
        screen = console()
        for line in resting_on(scenario):
            tell(screen, line)
        for show in parts:
            show(screen, answer, given)
        if "interrupted" in answer:
            tell(screen, spoken(say("interrupted", part=answer["interrupted"])))
    return INTERRUPTED if "interrupted" in answer else OK


def parts_of(scenario: Scenario, args: argparse.Namespace, given: dict[str, Any],
           answer: dict[str, Any]) -> list[Part]:
    """The parts of the answer that the options ask for, in their order.

    Args:
        scenario: the deployment.
        args, given: what is asked, as text and as numbers.
        answer: of the parts before.
    """
    parts: list[Part] = []
    if given["requests"] is not None:
        parts.append(("day", lambda: day_answer(scenario, args, given),
                      [print_day, print_failures]))
        if given["turns"]:
            parts.append(("tiers", lambda: {"tiers": tiers_answer(scenario, given, answer)},
                          [print_tiers]))
    if args.cards:
        parts.append(("cards", lambda: {"cards": cards_answer(scenario, given)}, [print_cards]))
    return parts


def numbers_of(args: argparse.Namespace) -> dict[str, Any]:
    """Arguments as SI numbers; None where one is not given.

    Raises ParamsError for what is no number, and for options that need each other.
    """
    numbers = {
        "requests": _number(args, "requests", "request", 1, most=MOST_REQUESTS),
        "users": _number(args, "users", "request", 1, most=MOST_REQUESTS),
        "questions": _number(args, "questions", "request", 0, above=True),
        "think_time": _number(args, "think_time", "s", 0),
        "ttft": _number(args, "ttft", "s", 0, above=True) or math.inf,
        "tpot": _number(args, "tpot", "s", 0, above=True) or math.inf,
        "spares": _number(args, "spares", "1", 0, most=4096, integer=True),
        "promise": _number(args, "promise", "1", 0, above=True, most=1 - 1e-9),
        "turns": _number(args, "turns", "1", 2, most=1000, integer=True),
        "host_memory": _number(args, "host_memory", "B", 0),
        "storage": _number(args, "storage", "B", 0),
        "seed": _number(args, "seed", "1", 0, most=2**31, integer=True),
        "share": None if args.percentile == "mean" else share_of(args.percentile)}
    if (numbers["users"] is None) != (numbers["questions"] is None):
        raise ParamsError(spoken(say("users-and-questions")))
    if numbers["users"] is not None:
        numbers["requests"] = numbers["users"] * numbers["questions"]
    if (numbers["requests"] is None) != (args.load is None):
        raise ParamsError(spoken(say("load-and-requests")))
    for name, needs in (("turns", "think_time"), ("turns", "requests"), ("promise", "requests")):
        if numbers[name] is not None and numbers[needs] is None:
            raise ParamsError(spoken(say("expected-as-well", name=name,
                                         needed=f"--{needs.replace('_', '-')}")))
    return numbers


def _number(args: argparse.Namespace, name: str, unit: str, least: float, *, above: bool = False,
            most: float = LARGEST, integer: bool = False) -> Any:
    """An option as an SI number; None where it is not given."""
    text = getattr(args, name)
    if text is None:
        return None
    option = f"--{name.replace('_', '-')} {text[:40]}"
    number = quantity(option, text, unit)
    if number < least or number > most or (above and number == least) or (
            integer and number != int(number)):
        raise ParamsError(spoken(say(
            "out-of-range", option=option, whole=integer, above=above, least=f"{least:g}",
            most=f"{most:g}" if most < LARGEST else "none")))
    return int(number) if integer else float(number)


def share_of(text: str) -> float:
    """A percentile as a share of the requests [1]. Raises ParamsError."""
    try:
        percentile = float(text)
    except ValueError:
        percentile = math.nan
    if not 50 <= percentile <= 99.9:
        raise ParamsError(spoken(say("no-percentile", text=text[:40])))
    return percentile / PERCENT


def finite(value: Any) -> Any:
    """Plain data in which what has no end is null."""
    if isinstance(value, dict):
        return {name: finite(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and math.isinf(value) else value


def _limits(given: dict[str, Any]) -> Any:
    from calc.capacity.day import Limits

    return Limits(given["ttft"], given["tpot"], given["share"])


def day_answer(scenario: Scenario, args: argparse.Namespace, given: dict[str, Any]
               ) -> dict[str, Any]:
    """Replicas by the hour, and the servers that they stand in."""
    from calc.capacity.availability import failures_of, fleet_of, spares_for
    from calc.capacity.day import Replica, day

    replica = Replica(scenario, seed=given["seed"])
    failures = failures_of(scenario.device.id)
    loading = float(evaluate(replica.inputs, scenario.model.attention)["loading_time"])
    answer = day(replica, load("loads", args.load), given["requests"], _limits(given),
                 start=loading + float(failures.start.value), think=given["think_time"])
    per_server, promise = int(scenario.node.devices_per_node.value), given["promise"]
    fleets = {case: fleet_of(answer.replicas, replica.devices, per_server, failures, loading,
                             given["spares"], case) for case in ("low", "central", "high")}
    spares = promise and {case: spares_for(promise, fleet) for case, fleet in fleets.items()}
    return {"load": args.load, "percentile": given["share"], "day": finite(asdict(answer)),
            "failures": {
                **asdict(fleets["central"]), "restarting": fleets["central"].restarting,
                "share": fleets["central"].share, "source": failures.id,
                "share_low": fleets["low"].share, "share_high": fleets["high"].share,
                "promise": promise, "spares_for_promise": spares}}


def tiers_answer(scenario: Scenario, given: dict[str, Any], answer: dict[str, Any]) -> list[Any]:
    """Each tier of caches with those before it, and the replicas that it leaves."""
    from calc.capacity.tiers import Population, with_tiers

    if stated := float(scenario.inputs()["prefix_hit_share"]):
        raise ParamsError(spoken(common("states-hit-share", scenario=scenario.id,
                                        stated=f"{stated:g}", turns=True)))
    population = Population(scenario, given["turns"], given["think_time"])
    rate = max(hour["rate"] for hour in answer["day"]["hours"])
    cached = with_tiers(scenario, population, rate, _limits(given),
                        float(load("loads", answer["load"]).variation.value),
                        answer["day"]["replicas"], given["host_memory"], given["storage"])
    return [finite(asdict(tier)) for tier in cached]


def cards_answer(scenario: Scenario, given: dict[str, Any]) -> dict[str, Any]:
    """The best layout by number of cards, in one pool and in two."""
    from calc.capacity.growth import OnePool, Pairing, sizes_of

    limits, sizes = _limits(given), sizes_of(int(scenario.node.devices_per_node.value))
    single, pools = (pool(scenario, sizes).best(limits) for pool in (OnePool, Pairing))
    if not single and not pools:
        raise ParamsError(spoken(say("no-layout-of", scenario=scenario.id, most=sizes[-1])))
    return {"best": [asdict(single[size]) if size in single else None for size in sizes],
            "sizes": list(sizes),
            "two_pools": [asdict(pools[size]) | {name: getattr(pools[size], name).as_json()
                                                 for name in ("prefill", "decode")}
                          if size in pools else None for size in sizes]}


def print_day(screen: Any, answer: dict[str, Any], given: dict[str, Any]) -> None:
    """Print the day by the hour."""
    day, share = answer["day"], given["share"]
    of = spoken(common("mean")) if share is None else f"p{PERCENT * share:g}"
    column = "" if share is None else "_at"
    tell(screen, spoken(say(
        "day", scenario=answer["scenario"], load=answer["load"], requests=f"{day['requests']:,.0f}",
        cards=day["devices_per_replica"], rate=amount(day["rate_within_limits"], "request/s"),
        of=of, most=plain(day["saturation_rate"]))))
    table = Table(spoken(say("hour")), "request/s", spoken(common("replicas")), spoken(say("busy")),
                  f"TTFT {of}", f"TPOT {of}")
    for number, hour in enumerate(day["hours"]):
        times = (hour["seen"][f"{name}{column}"] for name in ("ttft", "tpot"))
        table.add_row(f"{number}", plain(hour['rate']), f"{hour['replicas']}",
                      f"{hour['busy']:.0%}", *(NONE if time is None else amount(time, "s")
                                               for time in times))
    screen.print(table)
    lines = [say("needed", replicas=day["replicas"], cards=day["devices"],
                     share=f"{day['utilisation']:.0%}"),
             say("scaled", ahead=amount(day["start"], "s"),
                 share=f"{day['saved_by_scaling']:.0%}")]
    if day["online"] is not None:
        lines.append(say("online", users=f"{day['online']:,.0f}"))
    for line in lines:
        tell(screen, spoken(line))


def print_failures(screen: Any, answer: dict[str, Any], given: dict[str, Any]) -> None:
    """Print servers, spares and the throughput that failures leave."""
    fleet = answer["failures"]
    lines = [say("servers", groups=f"{fleet['groups']:,}", one=fleet["groups"] == 1,
                 size=fleet["servers"], spares=fleet["spares"],
                 between=lasting(fleet["between_failures"]), repair=lasting(fleet["repair"]),
                 restart=lasting(fleet["restart"]), source=fleet["source"]),
             say("throughput-there", share=f"{fleet['share']:.2%}",
                 low=f"{fleet['share_low']:.2%}", high=f"{fleet['share_high']:.2%}")]
    if fleet["promise"] is not None:
        counts = {case: say("no-number") if spares is None else f"{spares}"
                  for case, spares in fleet["spares_for_promise"].items()}
        lines.append(say("promised", promise=f"{fleet['promise']:.4%}", central=counts["central"],
                         high=counts["high"], low=counts["low"]))
    for line in lines:
        tell(screen, spoken(line))


def print_tiers(screen: Any, answer: dict[str, Any], given: dict[str, Any]) -> None:
    """Print tiers of caches."""
    table = Table(*map(spoken, (
        say("caches-kept-in"), common("tokens"), say("kept-for"), say("found-there"),
        say("hits-all"), common("fetch"), say("recompute"), say("pays-from"), common("replicas"))))
    for tier in answer["tiers"]:
        table.add_row(spoken(say("tier", name=tier["tier"])), f"{tier['tokens']:,.0f}",
                      lasting(tier["time"]), f"{tier['hits']:.1%}", f"{tier['hit_share']:.1%}",
                      amount(tier["fetch"], "s"), amount(tier["recompute"], "s"),
                      f"{amount(tier['break_even'] or 0.0, 'B')}/s", f"{tier['replicas'] or NONE}")
    screen.print(table)


def print_cards(screen: Any, answer: dict[str, Any], given: dict[str, Any]) -> None:
    """Print layouts by number of cards."""
    table = Table(*map(spoken, (
        common("cards"), say("best-layout"), common("token-s-per-card"), ("TTFT", "TTFT"),
        ("TPOT", "TPOT"), common("limit"), common("bound-by"), say("two-pools"))))
    layouts = answer["cards"]
    for size, one, two in zip(layouts["sizes"], layouts["best"], layouts["two_pools"], strict=True):
        cells = [NONE] * 6 if one is None else [
            translated(written(Cut(*one["cut"]))) + steps(
                one["draft_tokens"], one["micro_batches"]) + DOUBTED * bool(one["doubts"]),
            plain(one["per_device"]), amount(one["ttft"], "s"), amount(one["tpot"], "s"),
            spoken(say("binds", name=one["binds"])),
            spoken(say("resource", name=one["resource"], plain=one["resource"]))]
        table.add_row(f"{size}", *cells, NONE if two is None else spoken(say(
            "two-pools-of", rate=plain(two["per_device"]), pools=pools_label(two))))
    screen.print(table)
    why = dict.fromkeys(name for one in layouts["best"] if one for name in one["doubts"])
    if why:
        reasons = "; ".join(dict.fromkeys(spoken(doubt_words()[name]) for name in why))
        tell(screen, spoken(say("doubted", mark=DOUBTED.strip(), why=reasons)))


def pools_label(two: dict[str, Any]) -> str:
    """``2×8 + 1×32``: groups that prefill and that decode, by cards; how the latter step."""
    groups = " + ".join(f"{count}×{two[pool]['devices']}" for count, pool in zip(
        two["groups"], ("prefill", "decode"), strict=True))
    return groups + steps(two["decode"]["drafts"], two["decode"]["micro_batches"])
