"""``simulate``: users in front of a deployment, step by step, with the runtime's step times."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, fields, replace
from typing import Any, get_args

from rich.table import Table

from calc.answer.request_lengths import Lengths
from calc.answer.simulated_load import (
    SHARES,
    System,
    UserLoad,
    cycle,
    saturation,
    stated_load,
    system_of,
    with_overhead,
    workload_of,
)
from calc.commands.arguments import (
    add_lengths,
    add_scenario,
    add_settings,
    lengths_of,
    listed,
    quantity,
)
from calc.commands.printing import (
    OK,
    amount,
    caveats_of,
    console,
    deployed_line,
    deployment_id,
    deployment_title,
    print_json,
    resting_on,
    spoken,
    tell,
    translated,
)
from calc.serving.metrics import MOST_SEQUENCES, Latency, Objective, Summary, summarise
from calc.serving.requests import Prefixes, Run, in_prefix_cache, poisson
from calc.serving.simulation import Coordination, simulate
from catalogue import ParamsError, Scenario, load_deployment
from catalogue.messages import messages

common = messages("common")
say = messages("calc/commands/simulate")

REQUESTS, TURNS = 1000, 8  # at least, unless told otherwise: in all, and of each user
MOST_REQUESTS = 100_000
MOST_TOKENS = 100_000_000  # output tokens of a run; those of a batch take some microseconds
NOTHING = 1e-9
LARGEST = 1e9  # of any option: thirty years, or more users than there are
SETTLED = 3  # times as long as a request has to be what is counted


def add_arguments(command: argparse.ArgumentParser) -> None:
    """What ``simulate`` takes, besides ``--json``."""
    add_scenario(command)
    load = command.add_mutually_exclusive_group()
    load.add_argument("--rate", help=spoken(say("help-rate")))
    load.add_argument("--users", help=spoken(say("help-users")))
    length = command.add_mutually_exclusive_group()
    length.add_argument("--duration", help=spoken(say("help-duration")))
    length.add_argument("--requests", help=spoken(say("help-requests", requests=f"{REQUESTS:,}",
                                                      turns=TURNS)))
    command.add_argument("--think-time", help=spoken(say("help-think-time")))
    command.add_argument("--begin", choices=("spread", "together"),
                         help=spoken(say("help-begin")))
    command.add_argument("--ramp", help=spoken(say("help-ramp")))
    add_lengths(command)
    for name, meaning in (
            ("prefix-tokens", say("help-prefix-tokens")),
            ("prefix-groups", say("help-prefix-groups")), ("turns", say("help-turns")),
            ("ttft", say("help-ttft")), ("tpot", say("help-tpot"))):
        command.add_argument(f"--{name}", help=spoken(meaning))
    command.add_argument("--policy", choices=("mixed", "prefill-first"),
                         help=spoken(say("help-policy")))
    command.add_argument("--prefill-coordination", choices=get_args(Coordination),
                         help=spoken(say("help-coordination")))
    command.add_argument("--max-num-seqs",
                         help=spoken(say("help-max-num-seqs", count=f"{MOST_SEQUENCES:,}")))
    command.add_argument("--seed", default="0", help=spoken(common("help-seed")))
    add_settings(command)


def run(args: argparse.Namespace) -> int:
    """Simulate, and print percentiles, throughput, goodput, utilisation and saturation.

    Raises ParamsError, one sentence, for arguments or a deployment that cannot be used.
    """
    lengths, settings = lengths_of(args)
    pools = [listed(pool, lengths) for pool in load_deployment(
        args.scenario, overrides=[*args.settings, *settings])]
    scenario = pools[-1]
    take_stated_load(args, scenario)
    arguments = numbers_of(args)
    system = _system(pools, lengths, args, arguments)
    prefixes = prefixes_of(scenario, system, arguments)
    objective = Objective(ttft=arguments["ttft"] - system.overhead, tpot=arguments["tpot"])
    load = UserLoad(arguments["users"], arguments["think_time"], arguments["rate"],
                     together=args.begin == "together")
    if arguments["ramp"] is None and load.users is not None:
        arguments["ramp"] = 0.0 if load.together else cycle(scenario, load)
    try:
        run = run_load(system, load, arguments, prefixes)
        summary = summarise(run, objective=objective)
        most = saturation(system if prefixes is None else _system(
            pools, lengths if prefixes.turns == 1 else [], args, arguments, {  # as the run has it
                "prefix_hit_share": summary.hit_share,
                "input_tokens": round(summary.input_tokens)}))
    except ValueError as error:
        raise ParamsError(str(error).rstrip(".") + ".") from None
    summary = with_overhead(summary, system.overhead)
    # the queue of a closed loop is never longer than its users
    bounded = arguments["rate"] is None or arguments["rate"] < most[0]
    answer = answer_of(pools, system, arguments, summary, most) | {
        "bounded": bounded,
        "settled": summary.steady and summary.window >= SETTLED * summary.e2e.mean,
        "together": system.pool.ranks, "reasons": [reason.as_json() for reason in system.reasons],
        "prefixes_simulated": prefixes is not None}
    if args.json:
        print_json(answer)
    else:
        _print(pools, answer, summary)
    return OK


def take_stated_load(args: argparse.Namespace, scenario: Scenario) -> None:
    """The load that the deployment states, where the command line states none."""
    if args.rate is not None or args.users is not None:
        return
    stated = stated_load(scenario)
    if stated.rate is not None:
        args.rate = str(stated.rate)
        return
    args.users = str(stated.users)
    if args.think_time is None:
        args.think_time = f"{stated.think_time} s"
    if stated.together and not args.begin and not args.ramp:
        args.begin = "together"


def _system(pools: Sequence[Scenario], lengths: Sequence[tuple[int, int]],
            args: argparse.Namespace, given: Mapping[str, Any],
            measured: Mapping[str, float] | None = None) -> System:
    """The deployment as it is simulated, with its own lengths of requests or those of a file."""
    system = system_of(pools[-1], given["max_num_seqs"], args.policy, args.prefill_coordination,
                       measured, pools[0] if len(pools) > 1 else None)
    if not lengths:
        return system
    cached = (pools[-1].inputs() | dict(measured or {}))["prefix_hit_share"]
    return replace(system, lengths=None, shapes=tuple(
        (prompt, answer, int(in_prefix_cache(prompt, cached))) for prompt, answer in lengths))


def prefixes_of(scenario: Scenario, system: System, given: Mapping[str, Any]) -> Prefixes | None:
    """What requests have in common, None where nothing is said of it.

    Raises ParamsError, one sentence, where the options contradict each other or the deployment.
    """
    groups, tokens, turns = (given[name] for name in ("prefix_groups", "prefix_tokens", "turns"))
    if groups is tokens is turns is None:
        return None
    stated = float(scenario.inputs()["prefix_hit_share"])
    prompt, answer = system.shape[0], system.shape[1]
    prefixes = Prefixes(groups or 1, tokens or 0, turns or 1, system.longest)
    longest = prefixes.conversation_tokens(prompt, answer)
    if stated:
        problem = common("states-hit-share", scenario=scenario.id, stated=f"{stated:g}",
                         turns=False)
    elif groups is not None and not tokens:
        problem = say("needs-prefix-tokens", groups=groups)
    elif prefixes.tokens > prompt:
        problem = say("prompt-is-shorter", tokens=tokens, prompt=f"{prompt:,}")
    elif prefixes.turns > 1 and given["users"] is None:
        problem = say("needs-users", turns=turns)
    elif prefixes.turns > 1 and longest > system.longest:
        problem = say("last-turn", turns=turns, tokens=f"{longest:,.0f}",
                      most=f"{system.longest:,.0f}")
    else:
        return prefixes
    raise ParamsError(spoken(problem))


def numbers_of(args: argparse.Namespace) -> dict[str, Any]:
    """Arguments as SI numbers; None where one is not given, infinity for no objective."""
    def number_of(name: str, unit: str, least: float = 0.0, integer: bool = False) -> Any:
        text = getattr(args, name)
        option = f"--{name.replace('_', '-')} {text}"
        if text is None:
            return None
        plain: float | None = None
        with suppress(ValueError):
            plain = float(text)
        number = quantity(option, text, unit) if plain is None or unit == "s" else plain
        if (not math.isfinite(number) or not least <= number <= LARGEST
                or (integer and number != int(number))):
            raise ParamsError(spoken(say(
                "out-of-range", option=option, whole=integer, least=f"{least:g}",
                above=not number < least, most=f"{LARGEST:g}")))
        return int(number) if integer else float(number)

    arguments = {"rate": number_of("rate", "request/s", 1e-9),
             "users": number_of("users", "request", 1, integer=True),
             "duration": number_of("duration", "s"), "requests": number_of(
                 "requests", "request", 1, integer=True),
             "think_time": number_of("think_time", "s"), "ramp": number_of("ramp", "s"),
             "seed": number_of("seed", "1", integer=True),
             "max_num_seqs": number_of("max_num_seqs", "request", 1, integer=True),
             "prefix_groups": number_of("prefix_groups", "1", 1, integer=True),
             "prefix_tokens": number_of("prefix_tokens", "token", 1, integer=True),
             "turns": number_of("turns", "1", 1, integer=True),
             "ttft": number_of("ttft", "s"), "tpot": number_of("tpot", "s")}
    for name, usual in (("ttft", math.inf), ("tpot", math.inf), ("think_time", 0.0),
                        ("max_num_seqs", MOST_SEQUENCES)):
        if arguments[name] is None:
            arguments[name] = usual
    if arguments["requests"] is None and arguments["duration"] is None:
        arguments["requests"] = max(REQUESTS, TURNS * (arguments["users"] or 0))
    if arguments["users"] is None and (args.begin or args.ramp):
        raise ParamsError(spoken(say("of-a-rate", option="begin" if args.begin else "ramp")))
    if args.begin and args.ramp:
        raise ParamsError(spoken(say("both-say")))
    return arguments


def run_load(system: System, load: UserLoad, given: Mapping[str, Any],
         prefixes: Prefixes | None) -> Run:
    """The run that was asked for; of a duration, with the requests that arrive in it."""
    def serve(count: int) -> Run:
        _check_size(count, system.shape[1])
        workload = workload_of(system, load, count, given["ramp"] or 0.0, given["seed"], prefixes)
        return simulate(workload, system.pool, system.decode, system.transfer,
                        system.front_end_rate)

    if given["duration"] is None:
        return serve(given["requests"])
    if given["rate"] is not None:
        expected = given["rate"] * given["duration"]
        _check_size(expected, system.shape[1])
        drawn = poisson(given["rate"], int(expected + 10 * math.sqrt(expected) + 10),
                        system.shapes, given["seed"])
        arrived = sum(request.arrival <= given["duration"] for request in drawn)
        if not arrived:
            raise ParamsError(spoken(say("nothing-arrives")))
        return serve(arrived)
    count = 10 * given["users"]
    while True:  # a run of more requests begins as one of fewer does
        run = serve(count)
        arrived = sum(outcome.arrival <= given["duration"] for outcome in run.outcomes)
        if arrived < count:
            return serve(max(arrived, given["users"]))
        count *= 2


def _check_size(count: float, output_tokens: int) -> None:
    most = min(MOST_REQUESTS, MOST_TOKENS // max(1, output_tokens))
    if count > most:
        raise ParamsError(spoken(say("too-many", count=f"{count:,.0f}",
                                     tokens=f"{output_tokens:,}", most=f"{most:,}")))


def answer_of(pools: Sequence[Scenario], system: System, given: Mapping[str, Any], summary: Summary,
            most: tuple[float, str]) -> dict[str, Any]:
    """Plain data, SI units; what does not exist is null."""
    def plain(value: Any) -> Any:
        if isinstance(value, Latency):
            return {"mean": plain(value.mean), "half_width": plain(value.half_width)} | {
                f"p{share * 100:g}": plain(value.at(share).value) for share in SHARES} | {
                "intervals": {f"p{share * 100:g}": [plain(end) for end in (
                    value.at(share).low, value.at(share).high)] for share in SHARES}}
        if isinstance(value, float) and not math.isfinite(value):
            return None
        return value

    limits, lengths = system.pool.limits, system.lengths
    workload = {name: plain(value) for name, value in given.items() if value is not None} | {
        "arrivals": "poisson" if given["rate"] is not None else "closed-loop",
        "lengths": asdict(lengths) if lengths else {"distribution": "listed"},
        "mean_tokens": list(system.shape), "longest_tokens": plain(system.longest),
        "policy": limits.policy, "prefill_coordination": system.pool.coordination}
    numbers = {field.name: plain(getattr(summary, field.name)) for field in fields(summary)}
    objective = any(math.isfinite(given[name]) for name in ("ttft", "tpot"))
    if not objective:
        numbers |= {"goodput": None, "good": None}
    return {"scenario": deployment_id(pools), **caveats_of(*pools), "workload": workload, **numbers,
            "saturation_rate": most[0], "saturation_from": most[1]}


def _print(pools: Sequence[Scenario], answer: Mapping[str, Any], summary: Summary) -> None:
    screen = console()
    workload = answer["workload"]
    stated = (amount(workload["rate"], "request/s") if "rate" in workload
             else common("so-many-users", users=workload["users"]))
    screen.print(spoken(say(
        "heading", title=translated(deployment_title(pools)), asked=stated,
        requests=summary.requests, window=amount(summary.window, "s"), seed=workload["seed"])))
    for line in (*map(deployed_line, pools), *resting_on(*pools)):
        tell(screen, line)
    of = workload["lengths"]
    listed = of["distribution"] == "listed"
    lengths = spoken(say("lengths", listed=listed,
                         lengths="" if listed else Lengths(**of).words()))
    begin = "" if "users" not in workload else spoken(
        say("begin", ramp=bool(workload["ramp"]), time=amount(workload["ramp"], "s")))
    tell(screen, f"{lengths}{begin}")
    for reason in answer["reasons"]:
        tell(screen, translated(reason["text"]))
    table = Table(*map(spoken, (common("time"), common("mean"), say("of-the-mean"))),
                  "p50", "p90", "p99")
    for name in ("wait", "ttft", "tpot", "e2e"):
        times: Latency = getattr(summary, name)
        if math.isfinite(times.mean):
            # of equal values only rounding is left
            unequal = times.half_width > NOTHING * times.mean
            half = f"± {amount(times.half_width, 's')}" if unequal else ""
            table.add_row(spoken(say("time", name=name)), amount(times.mean, "s"), half,
                          *(amount(times.at(share).value, "s") for share in SHARES))
    screen.print(table)
    for line in [*_numbers(answer, summary), *_doubts(answer, summary)]:
        tell(screen, line)


def _numbers(answer: Mapping[str, Any], summary: Summary) -> list[str]:
    """Throughput, goodput, utilisation, saturation: a line each."""
    lines = [say("throughput", requests=amount(summary.request_throughput, "request/s"),
                 tokens=amount(summary.output_throughput, "token/s")),
             say("in-the-system", count=amount(summary.concurrency))]
    if answer["good"] is not None:
        lines.append(say("goodput", rate=amount(summary.goodput, "request/s"),
                         share=f"{summary.good:.1%}"))
    lines += [say("utilisation", pool=pool, share=f"{share:.1%}")
              for pool, share in summary.utilisation.items()]
    if answer["prefixes_simulated"]:
        lines.append(say("prefix-cache", share=f"{summary.hit_share:.1%}",
                         tokens=f"{summary.input_tokens:,.0f}", evicted=f"{summary.evicted:,}"))
    lines.append(say("saturation", rate=amount(answer["saturation_rate"], "request/s"),
                     source=answer["saturation_from"], found=answer["prefixes_simulated"]))
    return list(map(spoken, lines))


def _doubts(answer: Mapping[str, Any], summary: Summary) -> list[str]:
    """What the numbers should not be taken for; sentences."""
    lines = []
    if not answer["bounded"]:
        lines.append(say("unbounded"))
    if not summary.steady:
        lines.append(say("too-short"))
    elif not answer["settled"]:
        lines.append(say("unsettled", window=amount(summary.window, "s"),
                         request=amount(summary.e2e.mean, "s")))
    if answer["together"] > 1 and answer["saturation_from"] == "closed form":
        lines.append(say("together", ranks=answer["together"]))
    if summary.preemptions:
        lines.append(say("preemptions", count=summary.preemptions))
    return list(map(spoken, lines))
