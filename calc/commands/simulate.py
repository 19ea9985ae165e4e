"""``simulate``: requests in front of a deployment, step by step."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace
from typing import Any, get_args

import click

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
from calc.commands.options import (
    Number,
    cli_command,
    lengths_of,
    lengths_options,
    limit_options,
    scenario_argument,
    seed_option,
    settings_option,
    with_lengths,
)
from calc.commands.view import Table, View, deployment_id, heading, joined, notes, pools_line
from calc.serving.metrics import MOST_SEQUENCES, Latency, Objective, Summary, summarise
from calc.serving.requests import Prefixes, Run, in_prefix_cache, poisson
from calc.serving.simulation import Coordination, simulate
from catalogue import ParamsError, Scenario, load_deployment
from catalogue.reading.units import human

REQUESTS, TURNS = 1000, 8  # of a run at least by default: in all, and of each user
MOST_REQUESTS = 100_000
MOST_TOKENS = 100_000_000  # output tokens of a run; those of a batch take some microseconds
NEGLIGIBLE = 1e-9
SETTLED = 3  # times the mean latency that a run has to last
LATENCIES = ("ttft", "tpot", "e2e", "wait")
COUNT = Number("request", 1, whole=True)


@cli_command("simulate", "s2-910b1-awq --rate 0.5 --ttft '2 s' --tpot '100 ms'",
             "s2-910b1-awq --users 30 --turns 5 --think-time '20 s'",
             "h200-r1-vllm-tp8 --users 64 --lengths exponential")
@scenario_argument
@settings_option
@click.option("--rate", type=Number("request/s", 1e-9), help=(
    "Mean rate of independent arrivals, such as 2 per second (default: the load of the file)."))
@click.option("--users", type=COUNT, help=(
    "Concurrent users, who each wait for an answer and ask again."))
@click.option("--think-time", type=Number("s"), help=(
    "Pause of a user between an answer and the next request (default 0 s)."))
@click.option("--requests", type=COUNT, help=(
    f"Requests of the run (default {REQUESTS:,}, and at least {TURNS} of each user)."))
@click.option("--duration", type=Number("s"), help=(
    "Time in which requests arrive, such as '10 min', in place of --requests."))
@limit_options
@lengths_options
@click.option("--prefix-tokens", type=Number("token", 1, whole=True), help=(
    "Tokens of a prefix that prompts share (default: none)."))
@click.option("--prefix-groups", type=Number("1", 1, whole=True), help=(
    "Number of such prefixes, equally likely (default 1)."))
@click.option("--turns", type=Number("1", 1, whole=True), help=(
    "Turns of a conversation, whose prompts repeat earlier turns; needs --users (default 1)."))
@click.option("--begin", type=click.Choice(("spread", "together")), help=(
    "Users begin spread over one cycle of a request (default), or all at once."))
@click.option("--ramp", type=Number("s"), help="Time over which the users begin.")
@click.option("--policy", type=click.Choice(("mixed", "prefill-first")), help=(
    "Steps mix prompts and decode as in vLLM, or prefill first (default: as the file says)."))
@click.option("--prefill-coordination", type=click.Choice(get_args(Coordination)), help=(
    "When ranks that share experts prefill (default: as the file says)."))
@click.option("--max-num-seqs", type=COUNT, default=MOST_SEQUENCES, show_default=True,
              help="Most requests in flight of one replica.")
@seed_option
def command(scenario: str, settings: tuple[str, ...], lengths: str | None, variation: str | None,
            begin: str | None, policy: str | None, prefill_coordination: str | None,
            **given: Any) -> View:
    """What latencies do users see? Which share of requests meets the limits?

    Requests are simulated step by step, under a rate of arrivals or a number of users. DEPLOYMENT
    is a name of the catalogue (`will-it-fit list scenarios`) or a file of your own.
    """
    rows, of_lengths = lengths_of(lengths, variation)
    pools = [with_lengths(pool, rows)
             for pool in load_deployment(scenario, overrides=[*settings, *of_lengths])]
    given, load = loaded(pools[-1], given, begin)

    def system_for(listed: Sequence[tuple[int, int]],
                   measured: Mapping[str, float] | None = None) -> System:
        system = system_of(pools[-1], given["max_num_seqs"], policy, prefill_coordination,
                           measured, pools[0] if len(pools) > 1 else None)
        if not listed:
            return system
        cached = (pools[-1].inputs() | dict(measured or {}))["prefix_hit_share"]
        return replace(system, lengths=None, shapes=tuple(
            (prompt, answer, int(in_prefix_cache(prompt, cached))) for prompt, answer in listed))

    system = system_for(rows)
    prefixes = prefixes_of(pools[-1], system, given)
    objective = Objective(ttft=given["ttft"] - system.overhead, tpot=given["tpot"])
    try:
        run = run_load(system, load, given, prefixes)
        summary = summarise(run, objective=objective)
        most = saturation(system if prefixes is None else system_for(  # hits as the run has them
            rows if prefixes.turns == 1 else [], {
                "prefix_hit_share": summary.hit_share,
                "input_tokens": round(summary.input_tokens)}))
    except ValueError as error:
        raise ParamsError(str(error).rstrip(".") + ".") from None
    summary = with_overhead(summary, system.overhead)
    data = answer_of(pools, system, given, summary, most) | {
        # the queue of a closed loop is never longer than its users
        "bounded": given["rate"] is None or given["rate"] < most[0],
        "settled": summary.steady and summary.window >= SETTLED * summary.e2e.mean,
        "together": system.pool.ranks, "reasons": [reason.as_json() for reason in system.reasons],
        "prefixes_simulated": prefixes is not None}
    asked = (f"{human(given['rate'], 'request/s')}" if given["rate"] is not None
             else f"{given['users']:,} users")
    start = "QUEUE GROWS WITHOUT BOUND at" if not data["bounded"] else (
        "KEEPS UP with" if data["good"] is None
        else f"{summary.good:.1%} OF REQUESTS WITHIN THE LIMITS with")
    return View(f"{start} {asked}: {pools_line(pools)}", data, None if data["bounded"] else False,
                body=[latency_table(summary), *number_lines(data, summary),
                      *doubt_lines(data, summary), *load_lines(data),
                      *notes(*pools).values(), *(reason.text["en"] for reason in system.reasons)])


def loaded(scenario: Scenario, given: dict[str, Any], begin: str | None
           ) -> tuple[dict[str, Any], UserLoad]:
    """Complete the options with the load of the deployment and defaults.

    Raises ParamsError, one sentence, for options that contradict each other.
    """
    for one, other in (("rate", "users"), ("duration", "requests")):
        if given[one] is not None and given[other] is not None:
            raise ParamsError(f"--{one} and --{other}: expected one of them.")
    if given["rate"] is None and given["users"] is None:
        stated = stated_load(scenario)
        if stated.rate is not None:
            given["rate"] = stated.rate
        else:
            given["users"] = stated.users
            if given["think_time"] is None:
                given["think_time"] = stated.think_time
            if stated.together and not begin and not given["ramp"]:
                begin = "together"
    if given["users"] is None and (begin or given["ramp"]):
        raise ParamsError(f"--{'begin' if begin else 'ramp'}: requests of a rate come "
                          "independently, expected --users.")
    if begin and given["ramp"]:
        raise ParamsError("--begin and --ramp both say when users begin, expected one of them.")
    usual = {"ttft": math.inf, "tpot": math.inf, "think_time": 0.0}
    given |= {name: value for name, value in usual.items() if given[name] is None}
    if given["requests"] is None and given["duration"] is None:
        given["requests"] = max(REQUESTS, TURNS * (given["users"] or 0))
    load = UserLoad(given["users"], given["think_time"], given["rate"],
                    together=begin == "together")
    if given["ramp"] is None and load.users is not None:
        given["ramp"] = 0.0 if load.together else cycle(scenario, load)
    return given, load


def prefixes_of(scenario: Scenario, system: System, given: Mapping[str, Any]) -> Prefixes | None:
    """Prefixes that requests share; None without any.

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
                   "where prefixes or turns are simulated, expected mechanisms.prefix_hit_share of "
                   "0 or none")
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
    raise ParamsError(f"{problem}.")


def run_load(system: System, load: UserLoad, given: Mapping[str, Any],
             prefixes: Prefixes | None) -> Run:
    """Simulate the requests; of a duration those that arrive in it."""
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


def plain(value: Any) -> Any:
    """A number or latency as JSON data; what is not finite is null."""
    if isinstance(value, Latency):
        points = {f"p{share * 100:g}": value.at(share) for share in SHARES}
        return {"mean": plain(value.mean), "half_width": plain(value.half_width)} | {
            name: plain(point.value) for name, point in points.items()} | {"intervals": {
                name: [plain(point.low), plain(point.high)] for name, point in points.items()}}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def answer_of(pools: Sequence[Scenario], system: System, given: Mapping[str, Any],
              summary: Summary, most: tuple[float, str]) -> dict[str, Any]:
    """The answer as data, SI units."""
    lengths = system.lengths
    workload = {name: plain(value) for name, value in given.items() if value is not None} | {
        "arrivals": "poisson" if given["rate"] is not None else "closed-loop",
        "lengths": asdict(lengths) if lengths else {"distribution": "listed"},
        "mean_tokens": list(system.shape), "longest_tokens": plain(system.longest),
        "policy": system.pool.limits.policy, "prefill_coordination": system.pool.coordination}
    numbers = {field.name: plain(getattr(summary, field.name)) for field in fields(summary)}
    if not any(math.isfinite(given[name]) for name in ("ttft", "tpot")):
        numbers |= {"goodput": None, "good": None}
    return {"scenario": deployment_id(pools), **notes(*pools), "workload": workload, **numbers,
            "saturation_rate": most[0], "saturation_from": most[1]}


def latency_table(summary: Summary) -> Table:
    """Mean and percentiles of every latency."""
    columns = ("time", "mean", "± 95%", *(f"p{share * 100:g}" for share in SHARES))
    rows = []
    for name in LATENCIES:
        times: Latency = getattr(summary, name)
        if math.isfinite(times.mean):
            # of equal values only rounding is left
            half = times.half_width if times.half_width > NEGLIGIBLE * times.mean else None
            rows.append((heading(name), times.mean, half,
                         *(float(times.at(share).value) for share in SHARES)))
    return Table(columns, rows, units=dict.fromkeys(columns[1:], "s"))


def number_lines(data: Mapping[str, Any], summary: Summary) -> list[str]:
    """Throughput, goodput, saturation, utilisation and hits of the prefix cache."""
    lines = [f"Throughput {human(summary.request_throughput, 'request/s')}, "
             f"{human(summary.output_throughput, 'token/s')}; "
             f"{human(summary.concurrency)} requests in flight on average."]
    if data["good"] is not None:
        limits = joined(f"{heading(name)} {human(data['workload'][name], 's')}"
                        for name in ("ttft", "tpot") if data["workload"][name] is not None)
        lines.insert(0, f"{summary.good:.1%} of the requests meet the limits ({limits}): goodput "
                     f"{human(summary.goodput, 'request/s')}.")
    found = ", at this hit share" if data["prefixes_simulated"] else ""
    lines.append(f"Saturates at {human(data['saturation_rate'], 'request/s')} "
                 f"({data['saturation_from']}{found}).")
    if data["prefixes_simulated"]:
        lines.append(f"Prefix cache: {summary.hit_share:.1%} of {summary.input_tokens:,.0f} prompt "
                     f"tokens a request hit; {summary.evicted:,} blocks evicted.")
    busy = joined(f"{pool} {share:.1%}" for pool, share in summary.utilisation.items())
    return [*lines, f"Busy replicas: {busy}."]


def doubt_lines(data: Mapping[str, Any], summary: Summary) -> list[str]:
    """Why the numbers may not hold for a longer run."""
    lines = []
    if not data["bounded"]:
        lines.append("The rate exceeds saturation: latencies depend on the length of the run.")
    if not summary.steady:
        lines.append("The run is too short for a steady state: its beginning and end are counted.")
    elif not data["settled"]:
        lines.append(f"The counted {human(summary.window, 's')} are short beside a request of "
                     f"{human(summary.e2e.mean, 's')}: throughput, goodput and utilisation depend "
                     "on where they begin; simulate more requests.")
    if data["together"] > 1 and data["saturation_from"] == "closed form":
        lines.append(f"{data['together']} ranks step together and seldom prefill at the same time "
                     "as the closed form assumes: the saturation is an upper bound.")
    if summary.preemptions:
        lines.append(f"Preemptions: {summary.preemptions:,}.")
    return lines


def load_lines(data: Mapping[str, Any]) -> list[str]:
    """Counted requests, their lengths and how users begin."""
    workload, lengths = data["workload"], data["workload"]["lengths"]
    words = ("as listed in the file" if lengths["distribution"] == "listed"
             else Lengths(**lengths).words())
    begin = "" if "users" not in workload else (
        f" Users begin within {human(workload['ramp'], 's')}." if workload["ramp"]
        else " Users begin all at once.")
    return [f"Counted: {data['requests']:,} requests over {human(data['window'], 's')}, seed "
            f"{workload['seed']}. Lengths: {words}.{begin}"]
