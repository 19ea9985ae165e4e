"""``capacity``: replicas for a day of users, servers that fail, tiers of a cache, more cards."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from typing import Any

from rich.table import Table

from calc.commands.deciding.answered import steps
from calc.commands.printing import OK, console, count_phrase, print_json
from catalogue import ParamsError, Scenario, load, load_scenario
from catalogue.reading.amounts import human, plain
from catalogue.reading.units import DAY, HOUR, MINUTE, parse

USUAL_SHARE = "99"  # percentile, unless told otherwise
GROWTH = (0.7, 1.0, 1.5)  # of the load, low, as expected and high, unless told otherwise
MOST_REQUESTS = 1e12  # of a day
LARGEST = 1e18  # of any other option, in SI units
PERCENT = 100
DOUBTED = " ~"  # beside what the closed form may be off for


def add_arguments(command: argparse.ArgumentParser) -> None:
    """What ``capacity`` takes, besides ``--json``."""
    command.add_argument("scenario", help="identifier or path of a scenario file")
    command.add_argument("--load", help="how a day is spread over its hours: identifier or path of "
                                        "a file of loads, e.g. azure-conversation")
    asked = command.add_mutually_exclusive_group()
    asked.add_argument("--requests", help="of a day, e.g. 200000")
    asked.add_argument("--users", help="of a day, who each ask --questions")
    command.add_argument("--questions", help="of a user and day, e.g. 20")
    command.add_argument("--think-time", help="of a user between an answer and the next question")
    command.add_argument("--ttft", help="limit of the time to first token, e.g. '2 s'")
    command.add_argument("--tpot", help="limit of the time per output token, e.g. '50 ms'")
    command.add_argument("--percentile", default=USUAL_SHARE,
                         help="of the requests for which limits hold, or 'mean' "
                              f"({USUAL_SHARE} by default)")
    command.add_argument("--no-check", action="store_true",
                         help="leave out the simulation of the busiest hour")
    command.add_argument("--spares", default="0", help="servers that stand by (none by default)")
    command.add_argument("--promise", help="share of the time for which all replicas are promised, "
                                           "e.g. 0.99: how many servers stand by")
    command.add_argument("--turns", help="of a conversation: what caches keep between them")
    command.add_argument("--host-memory", help="of a server for caches, e.g. '512 GiB' (all that "
                                               "its entry states by default)")
    command.add_argument("--storage", default="0 B",
                         help="of a server's drives for caches, e.g. '4 TB'")
    command.add_argument("--regret", action="store_true",
                         help="layouts compared where inputs are slow or fast and the load grows "
                              "less or more")
    command.add_argument("--growth", default=",".join(map(str, GROWTH)),
                         help="low, expected and high load, over the one that is given")
    command.add_argument("--late", help="price of a card's hour found later over one bought now: "
                                        "how many replicas to buy")
    command.add_argument("--price", help="of a card's hour, in place of the catalogue's, for the "
                                         "regret in money: '2 USD/h' or '1.5..2.5 USD/h'")
    command.add_argument("--cards", action="store_true",
                         help="the best layout of 8 to 384 cards, and two pools; limits hold "
                              "for means")
    command.add_argument("--seed", default="0", help="of the random numbers (0 by default)")
    command.add_argument("--set", action="append", default=[], metavar="PATH=VALUE",
                         dest="settings", help="override, as for estimate")


def run(args: argparse.Namespace) -> int:
    """Answer what was asked for, as text or as JSON.

    Raises ParamsError, one sentence, for arguments or a deployment that cannot be used.
    """
    scenario = load_scenario(args.scenario, overrides=args.settings)
    given = _given(args)
    answer: dict[str, Any] = {"scenario": scenario.id}
    parts: list[Callable[..., None]] = []
    if given["requests"] is not None:
        answer |= _day(scenario, args, given)
        parts += [_print_day, _print_failures]
        if given["turns"]:
            answer["tiers"] = _tiers(scenario, given, answer)
            parts.append(_print_tiers)
        if args.regret:
            answer["regret"] = _regret(scenario, args, given)
            parts.append(_print_regret)
    if args.cards:
        answer["cards"] = _cards(scenario, given)
        parts.append(_print_cards)
    if not parts:
        raise ParamsError("nothing is asked for, expected --load with --requests or --users, or "
                          "--cards.")
    if args.json:
        print_json(answer)
        return OK
    screen = console()
    for part in parts:
        part(screen, answer, given)
    return OK


def _given(args: argparse.Namespace) -> dict[str, Any]:
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
        "spares": _number(args, "spares", "1", 0, most=4096, whole=True),
        "promise": _number(args, "promise", "1", 0, above=True, most=1 - 1e-9),
        "turns": _number(args, "turns", "1", 2, most=1000, whole=True),
        "host_memory": _number(args, "host_memory", "B", 0),
        "storage": _number(args, "storage", "B", 0),
        "late": _number(args, "late", "1", 1),
        "seed": _number(args, "seed", "1", 0, most=2**31, whole=True),
        "share": None if args.percentile == "mean" else _percentile(args.percentile),
        "growth": _growth(args.growth)}
    if (numbers["users"] is None) != (numbers["questions"] is None):
        raise ParamsError("--users: expected --users and --questions together, or --requests.")
    if numbers["users"] is not None:
        numbers["requests"] = numbers["users"] * numbers["questions"]
    if (numbers["requests"] is None) != (args.load is None):
        raise ParamsError("--load: expected --load and how many requests a day has, by --requests "
                          "or by --users and --questions.")
    for name, needs in (("turns", "think_time"), ("turns", "requests"), ("promise", "requests"),
                        ("late", "requests")):
        if numbers[name] is not None and numbers[needs] is None:
            raise ParamsError(f"--{name}: expected --{needs.replace('_', '-')} as well.")
    if args.price is not None and not args.regret:
        raise ParamsError("--price: expected --regret as well.")
    if args.regret and numbers["requests"] is None:
        raise ParamsError("--regret: expected --load and --requests as well.")
    return numbers


def _number(args: argparse.Namespace, name: str, unit: str, least: float, *, above: bool = False,
            most: float = LARGEST, whole: bool = False) -> Any:
    """An option as an SI number; None where it is not given."""
    text = getattr(args, name)
    if text is None:
        return None
    option = f"--{name.replace('_', '-')} {text[:40]}"
    try:
        number = parse(text, unit)
    except ValueError as error:
        raise ParamsError(f"{option}: {error}.") from None
    if number < least or number > most or (above and number == least) or (
            whole and number != int(number)):
        raise ParamsError(f"{option}: expected {'a whole number' if whole else 'a number'} "
                          f"{'above' if above else 'of at least'} {least:g}"
                          f"{f' and at most {most:g}' if most < LARGEST else ''}.")
    return int(number) if whole else float(number)


def _percentile(text: str) -> float:
    try:
        share = float(text) / PERCENT
    except ValueError:
        share = math.nan
    if not 0.5 <= share <= 0.999:
        raise ParamsError(f"--percentile {text[:40]}: expected 'mean', or a number of at least 50 "
                          "and at most 99.9.")
    return share


def _growth(text: str) -> dict[str, float]:
    parts = text.split(",")
    try:
        numbers = [float(part) for part in parts]
    except ValueError:
        numbers = []
    if len(numbers) != len(GROWTH) or not all(
            0 < each < LARGEST for each in numbers) or numbers != sorted(numbers):
        raise ParamsError(f"--growth {text[:40]}: expected three rising numbers above 0 for a low, "
                          "an expected and a high load, e.g. 0.7,1,1.5.")
    return dict(zip(("low", "central", "high"), numbers, strict=True))


def _limits(given: dict[str, Any]) -> Any:
    from calc.capacity.replicas import Limits

    return Limits(given["ttft"], given["tpot"], given["share"])


def _day(scenario: Scenario, args: argparse.Namespace, given: dict[str, Any]) -> dict[str, Any]:
    """Replicas by the hour and the servers that they stand in."""
    from calc.capacity.availability import failures_of, fleet_of, spares_for
    from calc.capacity.day import check, day
    from calc.capacity.replicas import Replica
    from calc.closed_form.evaluate import evaluate

    curve, limits, replica = load("loads", args.load), _limits(given), Replica(scenario)
    failures = failures_of(scenario.device.id)
    loading = float(evaluate(replica.inputs, replica.attention)["loading_time"])
    start = loading + float(failures.start.value)
    try:
        found = day(replica, curve, given["requests"], limits, start=start,
                    think=given["think_time"])
        if not args.no_check:
            found = check(found, scenario, curve, limits, seed=given["seed"])
    except ValueError as error:
        raise ParamsError(str(error).rstrip(".") + ".") from None
    per_server = int(scenario.node.devices_per_node.value)
    fleets = {case: fleet_of(found.bought, replica.devices, per_server, failures, loading,
                             given["spares"], case) for case in ("low", "central", "high")}
    promise = given["promise"]
    return {"load": args.load, "percentile": given["share"], "day": found.as_json(), "failures": {
        **fleets["central"].as_json(), "source": failures.id,
        "share_low": fleets["low"].share, "share_high": fleets["high"].share,
        "promise": promise, "spares_for_promise": promise and {
            case: spares_for(promise, fleet) for case, fleet in fleets.items()}}}


def _tiers(scenario: Scenario, given: dict[str, Any], answer: dict[str, Any]) -> list[Any]:
    from calc.capacity.day import with_tiers
    from calc.capacity.tiers import Population

    if stated := float(scenario.inputs()["prefix_hit_share"]):
        raise ParamsError(f"'{scenario.id}' states a prefix_hit_share of {stated:g}, which is an "
                          "outcome where turns are given, expected mechanisms.prefix_hit_share of "
                          "0 or none.")
    population = Population(scenario, given["turns"], given["think_time"])
    rate = max(hour["rate"] for hour in answer["day"]["hours"])
    found = with_tiers(scenario, population, rate, _limits(given),
                       float(load("loads", answer["load"]).variation.value),
                       answer["day"]["replicas"], given["host_memory"], given["storage"])
    return [{**each.kept[-1].as_json(), "replicas": each.replicas} for each in found]


def _regret(scenario: Scenario, args: argparse.Namespace, given: dict[str, Any]) -> dict[str, Any]:
    from calc.capacity.options import decision_table, in_money, layouts
    from calc.costing.rates import card_hour

    hour = card_hour(scenario.device, reader=args.price)
    curve, limits = load("loads", args.load), _limits(given)
    found = layouts(scenario, limits, float(curve.variation.value))
    if not any(layout.most["central"] for layout in found):
        raise ParamsError(f"'{scenario.id}': no layout meets the limits, expected higher ones.")
    made = decision_table(found, curve, given["requests"], given["growth"], given["late"])
    return made.as_json() | {"money": hour and {
        "currency": hour.currency, "hour": hour.per(f"{hour.currency}/h"), "source": hour.source,
        "largest": in_money(made, hour)}}


def _cards(scenario: Scenario, given: dict[str, Any]) -> dict[str, Any]:
    from calc.capacity.growth import best, sizes_of
    from calc.capacity.pool_layouts import Pairing
    from calc.capacity.tables import Tables

    limits, sizes = _limits(given), sizes_of(int(scenario.node.devices_per_node.value))
    tables = Tables(scenario)
    found = {size: best(scenario, size, limits, tables=tables) for size in sizes}
    pools = Pairing(scenario, sizes).best(limits)
    if not any(found.values()) and not pools:
        raise ParamsError(f"'{scenario.id}': no layout of 8 to {sizes[-1]} cards meets the limits, "
                          "expected higher ones.")
    return {"best": [each and each.as_json() for each in found.values()], "sizes": list(sizes),
            "two_pools": [pools[size].as_json() if size in pools else None for size in sizes]}


def span(seconds: float | None) -> str:
    """A time as people tell it: seconds, minutes, hours or days.

    >>> span(86400.0 * 264), span(404.8), span(None)
    ('264 days', '6.75 min', '–')
    """
    if seconds is None:
        return "–"
    for name, length in (("days", DAY), ("h", HOUR), ("min", MINUTE)):
        if seconds >= 2 * length:
            return f"{plain(seconds / length)} {name}"
    return human(seconds, "s")


def _print_day(screen: Any, answer: dict[str, Any], given: dict[str, Any]) -> None:
    day = answer["day"]
    of = "mean" if given["share"] is None else f"p{PERCENT * given['share']:g}"
    column = "" if given["share"] is None else "_at"
    screen.print(f"{answer['scenario']}, {answer['load']}: {day['requests']:,.0f} requests a day, "
                 f"one replica of {day['devices_per_replica']} cards takes "
                 f"{human(day['rate_within_limits'], 'request/s')} within limits ({of}), "
                 f"{plain(day['saturation_rate'])} at most.", highlight=False, soft_wrap=True)
    table = Table("hour", "request/s", "replicas", "busy", f"TTFT {of}", f"TPOT {of}")
    for number, hour in enumerate(day["hours"]):
        times = (hour[f"{name}{column}"] for name in ("ttft", "tpot"))
        table.add_row(f"{number}", plain(hour['rate']), f"{hour['replicas']}",
                      f"{hour['busy']:.0%}", *("–" if each is None else human(each, "s")
                                               for each in times))
    screen.print(table)
    if not day["closed_form_holds"]:
        screen.print("The closed form does not hold at these rates: they are simulated, and the "
                     "percentiles move along with the means.", highlight=False, soft_wrap=True)
    lines = [f"replicas: {day['replicas']} ({day['devices']} cards), busy {day['utilisation']:.0%} "
             "of what they take, over the day",
             f"scaled by the hour, started {human(day['start'], 's')} ahead: "
             f"{day['saved_by_scaling']:.0%} of the cards' time is saved"]
    lines += [f"busiest hour simulated with {run['replicas']} replicas: TTFT "
              f"{human(run['ttft'], 's')}, TPOT {human(run['tpot'], 's')} ({of}), "
              f"{'within' if run['met'] else 'not within'} limits" for run in day["checked"]]
    if day["checked"] and not day["checked"][-1]["met"]:
        lines.append("The simulation met the limits with none of these: the first number is too "
                     "hopeful.")
    if day["online"] is not None:
        lines.append(f"in conversation in the busiest hour: {day['online']:,.0f} users")
    for line in lines:
        screen.print(line, highlight=False, soft_wrap=True)


def _print_failures(screen: Any, answer: dict[str, Any], given: dict[str, Any]) -> None:
    fleet = answer["failures"]
    lines = [f"servers: {count_phrase(fleet['groups'], 'group')} of {fleet['servers']}, "
             f"{fleet['spares']} stand by; one fails every {span(fleet['between_failures'])}, is "
             f"mended in {span(fleet['repair'])}, a group restarts in {span(fleet['restart'])} "
             f"({fleet['source']})",
             f"throughput that is there: {fleet['share']:.2%} ({fleet['share_low']:.2%} to "
             f"{fleet['share_high']:.2%})"]
    if fleet["promise"] is not None:
        counts = {case: "no number" if each is None else f"{each}"
                  for case, each in fleet["spares_for_promise"].items()}
        lines.append(f"servers that stand by for all groups in {fleet['promise']:.4%} of the time: "
                     f"{counts['central']} ({counts['high']} to {counts['low']})")
    for line in lines:
        screen.print(line, highlight=False, soft_wrap=True)


def _print_tiers(screen: Any, answer: dict[str, Any], given: dict[str, Any]) -> None:
    table = Table("caches kept in", "tokens", "for", "found there", "hits, all", "fetch",
                  "recompute", "pays from", "replicas")
    for tier in answer["tiers"]:
        table.add_row(tier["tier"], f"{tier['tokens']:,.0f}", span(tier["time"]),
                      f"{tier['found']:.1%}", f"{tier['hit_share']:.1%}", human(tier["fetch"], "s"),
                      human(tier["recompute"], "s"), f"{human(tier['break_even'] or 0.0, 'B')}/s",
                      f"{tier['replicas'] or '–'}")
    screen.print(table)


def _print_regret(screen: Any, answer: dict[str, Any], given: dict[str, Any]) -> None:
    found = answer["regret"]
    table = Table("candidate", *found["cases"], "largest regret")
    shown = {found["least_regret"], found["least_cost"], found["central"]}
    for name, costs, regrets in zip(found["candidates"], found["costs"], found["regrets"],
                                    strict=True):
        if name in shown or given["late"] is None:
            table.add_row(name, *("–" if each is None else f"{each:,.0f}" for each in costs),
                          "–" if None in regrets else f"{max(regrets):,.0f}")
    screen.print("card-hours of a day, by load and speed:", highlight=False)
    screen.print(table)
    screen.print(f"least regret: {found['least_regret']}; least mean cost: {found['least_cost']}; "
                 f"best as expected: {found['central']}", highlight=False, soft_wrap=True)
    money = found["money"]
    lines = ["no price of this card's hour is known, see --price"] if money is None else [
        f"a card's hour at {_amount(money['hour'], '.3g')} {money['currency']} "
        f"({money['source']}); largest regret of a day, with both ends of the price:",
        *(f"  {name}: {_amount(largest, ',.0f')} {money['currency']}"
          for name, largest in zip(found["candidates"], money["largest"], strict=True)
          if name in shown and largest)]
    for line in lines:
        screen.print(line, highlight=False, soft_wrap=True)


def _amount(ends: Sequence[float], style: str) -> str:
    value, low, high = (format(each, style) for each in ends)
    return f"{value} ({low}–{high})" if low != high else value


def _print_cards(screen: Any, answer: dict[str, Any], given: dict[str, Any]) -> None:
    table = Table("cards", "best layout", "token/s per card", "TTFT", "TPOT", "limit", "bound by",
                  "two pools, token/s per card")
    found = answer["cards"]
    for size, one, two in zip(found["sizes"], found["best"], found["two_pools"], strict=True):
        cells = ["–"] * 6 if one is None else [
            one["layout"] + _way(one) + DOUBTED * bool(one["doubts"]),
            plain(one["per_device"]), human(one["ttft"], "s"), human(one["tpot"], "s"),
            one["binds"], one["resource"]]
        table.add_row(f"{size}", *cells, "–" if two is None else
                      f"{plain(two['per_device'])} ({_pools(two)})")
    screen.print(table)
    why = dict.fromkeys(text for one in found["best"] if one for text in one["doubts"].values())
    if why:
        screen.print(f"{DOUBTED.strip()} in closed form, which a simulation need not confirm "
                     f"there: {'; '.join(why)}.", highlight=False, soft_wrap=True)


def _pools(two: dict[str, Any]) -> str:
    """``2×8 + 1×32``: groups that prefill and that decode, by cards; how the latter step."""
    groups = " + ".join(f"{count}×{two[pool]['devices']}" for count, pool in zip(
        two["groups"], ("prefill", "decode"), strict=True))
    return groups + _way({"way": {"draft_tokens": two["decode"]["drafts"],
                                  "micro_batches": two["decode"]["micro_batches"]}})


def _way(found: dict[str, Any]) -> str:
    """How a step runs, where it drafts or is cut in two: ``, 1 draft, two half-batches``."""
    return steps(found["way"]["draft_tokens"], found["way"]["micro_batches"])
