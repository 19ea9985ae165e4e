"""``simulate``: requests in front of a deployment, step by step."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, get_args

import click

from calc.answer.load_test import load_test
from calc.answer.request_lengths import Lengths, listed_lengths, with_lengths
from calc.answer.simulated_load import (
    SHARES,
    UserLoad,
    cycle,
    stated_load,
)
from calc.commands.options import (
    Number,
    cli_command,
    lengths_options,
    limit_options,
    scenario_argument,
    seed_option,
    settings_option,
)
from calc.commands.view import Table, View, deployment_id, heading, joined, notes, pools_line
from calc.serving.metrics import MOST_SEQUENCES, Latency, Summary
from calc.serving.simulation import Coordination
from catalogue import ParamsError, Scenario, load_deployment
from catalogue.reading.units import human

REQUESTS, TURNS = 1000, 8  # of a run at least by default: in all, and of each user
MOST_REQUESTS = 100_000
MOST_TOKENS = 100_000_000  # output tokens of a run; those of a batch take some microseconds
NEGLIGIBLE = 1e-9
SETTLED = 3  # times the mean latency that a run has to last
LATENCIES = ("ttft", "tpot", "e2e", "wait")
COUNT = Number("request", 1, integer=True)


@cli_command("simulate", "s2-910b1-awq --rate 0.5 --ttft '2 s' --tpot '100 ms'",
             "s2-910b1-awq --users 30 --turns 5 --think-time '20 s'",
             "h200-r1-vllm-tp8 --users 64 --lengths exponential")
@scenario_argument
@settings_option
@click.option("--rate", type=Number("request/s", 1e-9), help=(
    "Mean rate of Poisson arrivals, in requests per second, e.g. 0.5 (default: from the "
    "deployment)."))
@click.option("--users", type=COUNT, help=(
    "Concurrent users, each with one request at a time; replaces --rate."))
@click.option("--think-time", type=Number("s"), help=(
    "Think time between an answer and the user's next request, e.g. '30 s' (default: 0 s)."))
@click.option("--requests", type=COUNT, help=(
    f"Number of requests to simulate (default: {REQUESTS:,}, at least {TURNS} per user)."))
@click.option("--duration", type=Number("s"), help=(
    "Duration of the arrivals, e.g. '10 min'; replaces --requests."))
@limit_options
@lengths_options
@click.option("--prefix-tokens", type=Number("token", 1, integer=True), help=(
    "Length in tokens of the shared prompt prefix (default: none)."))
@click.option("--prefix-groups", type=Number("1", 1, integer=True), help=(
    "Number of different prefixes, all equally likely (default: 1)."))
@click.option("--turns", type=Number("1", 1, integer=True), help=(
    "Turns per conversation; each prompt repeats the earlier turns. Requires --users "
    "(default: 1)."))
@click.option("--begin", type=click.Choice(("spread", "together")), help=(
    "Stagger user starts over one request cycle (spread, the default), or start all at once "
    "(together)."))
@click.option("--ramp", type=Number("s"), help=(
    "Ramp-up time over which users start, e.g. '1 min'; replaces --begin."))
@click.option("--policy", type=click.Choice(("mixed", "prefill-first")), help=(
    "Scheduling: mix prefill and decode in a step (as vLLM), or run prefill first (default: from "
    "the deployment)."))
@click.option("--prefill-coordination", type=click.Choice(get_args(Coordination)), help=(
    "Prefill on data-parallel ranks that share experts: eager starts at once, delay waits for the "
    "other ranks, balance admits no request while a rank is full (default: from the "
    "deployment)."))
@click.option("--max-num-seqs", type=COUNT, default=MOST_SEQUENCES,
              help=f"Maximum concurrent requests per replica (default: {MOST_SEQUENCES:,}).")
@seed_option
def command(scenario: str, settings: tuple[str, ...], lengths: str | None, variation: str | None,
            begin: str | None, policy: str | None, prefill_coordination: str | None,
            **given: Any) -> View:
    """What latencies do users see? What share of requests meets the limits?

    Simulates requests step by step at a given arrival rate or number of concurrent users.
    DEPLOYMENT is a catalogue name (`will-it-fit list deployments`) or your own file.
    """
    rows, of_lengths = listed_lengths(lengths, variation)
    pools = [with_lengths(pool, rows)
             for pool in load_deployment(scenario, overrides=[*settings, *of_lengths])]
    given, load = loaded(pools[-1], given, begin)
    test = load_test(pools, rows, load, given, policy, prefill_coordination)
    summary, reasons = test.summary, test.system.reasons
    data = {"scenario": deployment_id(pools), **notes(*pools), **test.as_json(given)}
    load_words = (f"{human(given['rate'], 'request/s')}" if given["rate"] is not None
                  else f"{given['users']:,} users")
    start = "QUEUE GROWS WITHOUT BOUND at" if not data["bounded"] else (
        "KEEPS UP with" if data["good"] is None
        else f"{summary.good:.1%} OF REQUESTS WITHIN THE LIMITS with")
    return View(f"{start} {load_words}: {pools_line(pools)}", data,
                None if data["bounded"] else False,
                body=[latency_table(summary), *number_lines(data, summary),
                      *doubt_lines(data, summary), *load_lines(data),
                      *notes(*pools).values(), *(reason.text["en"] for reason in reasons)])


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
    limits = scenario.file.limits.stated if scenario.file.limits else {}
    usual = {"ttft": math.inf, "tpot": math.inf, "think_time": 0.0} | {
        name: limit for name, (_, limit) in limits.items() if name != "e2e"}
    given |= {name: value for name, value in usual.items() if given[name] is None}
    if given["requests"] is None and given["duration"] is None:
        given["requests"] = max(REQUESTS, TURNS * (given["users"] or 0))
    load = UserLoad(given["users"], given["think_time"], given["rate"],
                    together=begin == "together")
    if given["ramp"] is None and load.users is not None:
        given["ramp"] = 0.0 if load.together else cycle(scenario, load)
    return given, load


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
    hits = ", at this hit share" if data["prefixes_simulated"] else ""
    lines.append(f"Saturates at {human(data['saturation_rate'], 'request/s')} "
                 f"({data['saturation_from']}{hits}).")
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
