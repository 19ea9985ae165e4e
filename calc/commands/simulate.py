"""``simulate``: users in front of a deployment, step by step, with the runtime's step times."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace
from typing import Any, get_args

from rich.table import Table

from calc.answer.simulated import Lengths, System, saturation, system_of
from calc.answer.users import SHARES, UserLoad, cycle, seen_by_users, workload_of
from calc.commands.lengths import add_lengths, lengths_of, listed
from calc.commands.printing import OK, console, deployed_line, print_json
from calc.serving.arrivals import Prefixes, in_prefix_cache, poisson
from calc.serving.metrics import Latency, Objective, Summary, summarise
from calc.serving.replay import MOST_SEQUENCES
from calc.serving.requests import Run
from calc.serving.simulation import Coordination, simulate
from catalogue import ParamsError, Scenario, load_scenario
from catalogue.reading.amounts import human
from catalogue.reading.units import parse

REQUESTS, TURNS = 1000, 8  # at least, unless told otherwise: in all, and of each user
MOST_REQUESTS = 100_000
MOST_TOKENS = 100_000_000  # output tokens of a run; those of a batch take some microseconds
NOTHING = 1e-9
LARGEST = 1e9  # of any option: thirty years, or more users than there are
SETTLED = 3  # times as long as a request has to be what is counted


def add_arguments(command: argparse.ArgumentParser) -> None:
    """What ``simulate`` takes, besides ``--json``."""
    command.add_argument("scenario", help="identifier or path of a scenario file")
    asked = command.add_mutually_exclusive_group(required=True)
    asked.add_argument("--rate", help="mean rate of independent arrivals, e.g. 2 (per second)")
    asked.add_argument("--users", help="users who each wait for an answer and ask again")
    length = command.add_mutually_exclusive_group()
    length.add_argument("--duration", help="time in which requests arrive, e.g. '10 min'")
    length.add_argument("--requests", help=f"how many requests ({REQUESTS:,} by default, and "
                                           f"{TURNS} of each user at least)")
    command.add_argument("--think-time", default="0 s",
                         help="of a user between an answer and the next question, e.g. '5 s'")
    command.add_argument("--begin", choices=("spread", "together"),
                         help="of users: at any moment of one cycle, from a question to the next "
                              "(by default), or all at once, as in a burst")
    command.add_argument("--ramp", help="time over which the users begin, in place of one cycle")
    add_lengths(command)
    command.add_argument("--prefix-tokens", help="tokens of a prefix that prompts begin with and "
                                                 "that the prefix cache may hold, e.g. 1024")
    command.add_argument("--prefix-groups", help="prefixes, each as likely as any other (1 by "
                                                 "default)")
    command.add_argument("--turns", help="of a conversation with one user: each prompt holds all "
                                         "earlier prompts and answers (only with --users)")
    command.add_argument("--ttft", help="objective of goodput: time to first token, e.g. '2 s'")
    command.add_argument("--tpot", help="objective of goodput: time per output token, e.g. '50 ms'")
    command.add_argument("--policy", choices=("mixed", "prefill-first"),
                         help="chunks of prompts beside decode (vLLM) or before it (SGLang); by "
                              "default as the scenario has it")
    command.add_argument("--prefill-coordination", choices=get_args(Coordination),
                         help="of ranks that share experts: each prefills at once, waits for "
                              "the others, or for a place at each; by default as the "
                              "scenario has it")
    command.add_argument("--max-num-seqs", help="requests in work at once in one replica "
                                                f"({MOST_SEQUENCES:,} by default)")
    command.add_argument("--seed", default="0", help="of the random numbers (0 by default)")
    command.add_argument("--set", action="append", default=[], metavar="PATH=VALUE",
                         dest="settings", help="override, as for estimate")


def run(args: argparse.Namespace) -> int:
    """Simulate, and print percentiles, throughput, goodput, utilisation and saturation.

    Raises ParamsError, one sentence, for arguments or a deployment that cannot be used.
    """
    lengths, settings = lengths_of(args)
    scenario = listed(load_scenario(args.scenario, overrides=[*args.settings, *settings]), lengths)
    arguments = _arguments(args)
    system = _system(scenario, lengths, args, arguments)
    prefixes = _prefixes(scenario, system, arguments)
    objective = Objective(ttft=arguments["ttft"] - system.overhead, tpot=arguments["tpot"])
    asked = UserLoad(arguments["users"], arguments["think_time"], arguments["rate"],
                     together=args.begin == "together")
    if arguments["ramp"] is None and asked.users is not None:
        arguments["ramp"] = 0.0 if asked.together else cycle(scenario, asked)
    try:
        run = _run(system, asked, arguments, prefixes)
        summary = summarise(run, objective=objective)
        most = saturation(system if prefixes is None else _as_found(
            scenario, lengths if prefixes.turns == 1 else [], args, arguments, summary))
    except ValueError as error:
        raise ParamsError(str(error).rstrip(".") + ".") from None
    summary = seen_by_users(summary, system.overhead)
    # the queue of a closed loop is never longer than its users
    bounded = arguments["rate"] is None or arguments["rate"] < most[0]
    answer = _answer(scenario, system, arguments, summary, most) | {
        "bounded": bounded,
        "settled": summary.steady and summary.window >= SETTLED * summary.e2e.mean,
        "together": system.pool.ranks, "reasons": [reason.as_json() for reason in system.reasons],
        "prefixes_simulated": prefixes is not None}
    if args.json:
        print_json(answer)
    else:
        _print(scenario, answer, summary)
    return OK


def _system(scenario: Scenario, lengths: Sequence[tuple[int, int]], args: argparse.Namespace,
            given: Mapping[str, Any], found: Mapping[str, float] | None = None) -> System:
    """The deployment as it is simulated, with its own lengths of requests or those of a file."""
    system = system_of(scenario, given["max_num_seqs"], args.policy, args.prefill_coordination,
                       found)
    if not lengths:
        return system
    cached = (scenario.inputs() | dict(found or {}))["prefix_hit_share"]
    return replace(system, lengths=None, shapes=tuple(
        (prompt, answer, int(in_prefix_cache(prompt, cached))) for prompt, answer in lengths))


def _as_found(scenario: Scenario, lengths: Sequence[tuple[int, int]], args: argparse.Namespace,
              given: Mapping[str, Any], summary: Summary) -> System:
    """The deployment with the hit share and the mean prompt of a run, as if they were stated."""
    return _system(scenario, lengths, args, given, {
        "prefix_hit_share": summary.hit_share, "input_tokens": round(summary.input_tokens)})


def _prefixes(scenario: Scenario, system: System, given: Mapping[str, Any]) -> Prefixes | None:
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
        problem = (f"'{scenario.id}' states a prefix_hit_share of {stated:g}, which is an outcome "
                   "where prefixes or turns are simulated, expected mechanisms.prefix_hit_share "
                   "of 0 or none")
    elif groups is not None and not tokens:
        problem = f"--prefix-groups {groups}: expected --prefix-tokens as well"
    elif prefixes.tokens > prompt:
        problem = (f"--prefix-tokens {tokens}: a prompt has {prompt:,} tokens, expected no more "
                   "than that")
    elif prefixes.turns > 1 and given["users"] is None:
        problem = f"--turns {turns}: a turn follows the answer before it, expected --users"
    elif prefixes.turns > 1 and longest > system.longest:
        problem = (f"--turns {turns}: the last one would have {longest:,.0f} tokens, expected at "
                   f"most {system.longest:,.0f} of prompt and answer")
    else:
        return prefixes
    raise ParamsError(problem + ".")


def _arguments(args: argparse.Namespace) -> dict[str, Any]:
    """Arguments as SI numbers; None where one is not given, infinity for no objective."""
    def quantity(name: str, unit: str, least: float = 0.0, whole: bool = False) -> Any:
        text = getattr(args, name)
        if text is None:
            return None
        try:
            number = parse(text, unit) if not _plain(text) or unit == "s" else float(text)
        except ValueError as error:
            raise ParamsError(f"--{name.replace('_', '-')} {text}: {error}.") from None
        if (not math.isfinite(number) or not least <= number <= LARGEST
                or (whole and number != int(number))):
            expected = "a whole number of" if whole else "a number of"
            most = "" if number < least else f" and at most {LARGEST:g}"
            raise ParamsError(f"--{name.replace('_', '-')} {text}: expected {expected} at least "
                              f"{least:g}{most}.")
        return int(number) if whole else float(number)

    arguments = {"rate": quantity("rate", "request/s", 1e-9),
             "users": quantity("users", "request", 1, whole=True),
             "duration": quantity("duration", "s"), "requests": quantity(
                 "requests", "request", 1, whole=True),
             "think_time": quantity("think_time", "s"), "ramp": quantity("ramp", "s"),
             "seed": quantity("seed", "1", whole=True),
             "max_num_seqs": quantity("max_num_seqs", "request", 1, whole=True),
             "prefix_groups": quantity("prefix_groups", "1", 1, whole=True),
             "prefix_tokens": quantity("prefix_tokens", "token", 1, whole=True),
             "turns": quantity("turns", "1", 1, whole=True),
             "ttft": quantity("ttft", "s"), "tpot": quantity("tpot", "s")}
    for name, usual in (("ttft", math.inf), ("tpot", math.inf), ("max_num_seqs", MOST_SEQUENCES)):
        if arguments[name] is None:
            arguments[name] = usual
    if arguments["requests"] is None and arguments["duration"] is None:
        arguments["requests"] = max(REQUESTS, TURNS * (arguments["users"] or 0))
    if arguments["users"] is None and (args.begin or args.ramp):
        raise ParamsError(f"--{'begin' if args.begin else 'ramp'}: requests of a rate come "
                          "independently, expected --users.")
    if args.begin and args.ramp:
        raise ParamsError("--begin and --ramp both say when users begin, expected one of them.")
    return arguments


def _plain(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _run(system: System, asked: UserLoad, given: Mapping[str, Any],
         prefixes: Prefixes | None) -> Run:
    """The run that was asked for; of a duration, with the requests that arrive in it."""
    def serve(count: int) -> Run:
        _check_size(count, system.shape[1])
        workload = workload_of(system, asked, count, given["ramp"] or 0.0, given["seed"], prefixes)
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
            raise ParamsError("no request arrives in this time, expected a longer duration or a "
                              "higher rate.")
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
        raise ParamsError(f"{count:,.0f} requests of {output_tokens:,} output tokens are too many "
                          f"to simulate, expected at most {most:,}.")


def _answer(scenario: Scenario, system: System, given: Mapping[str, Any], summary: Summary,
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
    return {"scenario": scenario.id, "workload": workload, **numbers,
            "saturation_rate": most[0], "saturation_from": most[1]}


def _lengths(answer: Mapping[str, Any]) -> str:
    """How long requests are, in a sentence."""
    of = answer["workload"]["lengths"]
    if of["distribution"] == "listed":
        return "Lengths of requests: those of the file."
    return f"Lengths of requests: {Lengths(**of)}."


def _begin(workload: Mapping[str, Any]) -> str:
    """When users begin, in a sentence."""
    if "users" not in workload:
        return ""
    ramp = workload["ramp"]
    return (f" Users begin at any moment of the first {human(ramp, 's')}." if ramp
            else " Users begin all at once.")


def _print(scenario: Scenario, answer: Mapping[str, Any], summary: Summary) -> None:
    screen = console()
    workload = answer["workload"]
    asked = (human(workload['rate'], 'request/s') if "rate" in workload
             else f"{workload['users']} users")
    screen.print(f"{scenario.heading['en']}: {asked}, {summary.requests} requests counted over "
                 f"{human(summary.window, 's')}, seed {workload['seed']}.")
    screen.print(deployed_line(scenario), highlight=False, soft_wrap=True)
    screen.print(f"{_lengths(answer)}{_begin(workload)}", highlight=False, soft_wrap=True)
    for reason in answer["reasons"]:
        screen.print(reason["text"]["en"], highlight=False, soft_wrap=True)
    table = Table("time", "mean", "95% of the mean", "p50", "p90", "p99")
    for name in ("wait", "ttft", "tpot", "e2e"):
        times: Latency = getattr(summary, name)
        if math.isfinite(times.mean):
            # of equal values only rounding is left
            unequal = times.half_width > NOTHING * times.mean
            half = f"± {human(times.half_width, 's')}" if unequal else ""
            table.add_row(name, human(times.mean, "s"), half,
                          *(human(each, "s") for each in (times.p50, times.p90, times.p99)))
    screen.print(table)
    lines = [f"throughput: {human(summary.request_throughput, 'request/s')}, "
             f"{human(summary.output_throughput, 'token/s')} of answers",
             f"in the system: {human(summary.concurrency)} requests on average"]
    if answer["good"] is not None:
        lines.append(f"goodput: {human(summary.goodput, 'request/s')}, {summary.good:.1%} of the "
                     "requests meet the objective")
    lines += [f"utilisation of the replicas that {pool}: {share:.1%}"
              for pool, share in summary.utilisation.items()]
    if answer["prefixes_simulated"]:
        lines.append(f"prefix cache: {summary.hit_share:.1%} of the prompt tokens found, of "
                     f"{summary.input_tokens:,.0f} per prompt on average; {summary.evicted:,} "
                     "blocks evicted")
    of_what = ", with this share found" if answer["prefixes_simulated"] else ""
    lines.append(f"saturation: {human(answer['saturation_rate'], 'request/s')} "
                 f"({answer['saturation_from']}{of_what})")
    if not answer["bounded"]:
        lines.append("The queue grows without end at this rate; the times depend on how long it "
                     "is simulated.")
    if not summary.steady:
        lines.append("The run is too short for a steady state: all of it is counted, its beginning "
                     "and its end included.")
    elif not answer["settled"]:
        lines.append(f"What is counted lasts {human(summary.window, 's')}, a request "
                     f"{human(summary.e2e.mean, 's')}: throughput, goodput and utilisation "
                     "hang on where it begins, expected a longer run.")
    if answer["together"] > 1 and answer["saturation_from"] == "closed form":
        lines.append(f"{answer['together']} ranks step together and seldom prefill at the same "
                     "time, as the closed form has it: the saturation is an upper bound.")
    if summary.preemptions:
        lines.append(f"preemptions: {summary.preemptions}")
    for line in lines:
        screen.print(line, highlight=False, soft_wrap=True)
