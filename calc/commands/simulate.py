"""``simulate``: requests in front of a deployment, step by step."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, get_args

import click

from calc.answer.display import heading
from calc.answer.load_test import REQUESTS, TURNS, load_test
from calc.answer.request_lengths import Lengths, listed_lengths, with_lengths
from calc.commands.options import (
    Number,
    cli_command,
    lengths_options,
    limit_options,
    scenario_argument,
    seed_option,
    settings_option,
    think_time_option,
)
from calc.commands.view import Table, View, deployment_id, joined, notes, pools_line
from calc.serving.metrics import MOST_SEQUENCES
from calc.serving.simulation import Coordination
from catalogue import load_deployment
from catalogue.reading.units import human

DIGITS = 12  # of seconds: what is smaller is rounding
LATENCIES = ("ttft", "tpot", "e2e", "wait")
COUNT = Number("request", 1, integer=True)


@cli_command("simulate", "s2-910b1-awq --rate 0.5 --ttft '2 s' --tpot '100 ms'",
             "s2-910b1-awq --users 30 --turns 5 --think-time '20 s'",
             "h200-r1-vllm-tp8 --users 64 --lengths exponential")
@scenario_argument
@settings_option
@click.option("--rate", type=Number("request/s", above=True), help=(
    "Mean rate of Poisson arrivals [request/s], e.g. 0.5 (default: from the deployment)."))
@click.option("--users", type=COUNT, help=(
    "Concurrent users, each with one request at a time; cannot be combined with --rate."))
@think_time_option
@click.option("--requests", type=COUNT, help=(
    f"Number of requests to simulate (default: {REQUESTS:,}, or {TURNS} per user if more)."))
@click.option("--duration", type=Number("s"), help=(
    "Time during which requests arrive; cannot be combined with --requests."))
@partial(limit_options, at="for each request")
@lengths_options
@click.option("--prefix-tokens", type=Number("token", 1, integer=True), help=(
    "Length in tokens of the shared prompt prefix (default: none)."))
@click.option("--prefix-groups", type=Number("1", 1, integer=True), help=(
    "Number of different prefixes, all equally likely (default: 1)."))
@click.option("--turns", type=Number("1", 1, integer=True), help=(
    "Turns per conversation (default: 1); each prompt includes all earlier turns. Cannot be "
    "combined with --rate."))
@click.option("--begin", type=click.Choice(("spread", "together")), help=(
    "Stagger the users' starts over the time of one request, or start all at once (default: "
    "spread)."))
@click.option("--ramp", type=Number("s"), help=(
    "Time over which users start; cannot be combined with --begin."))
@click.option("--policy", type=click.Choice(("mixed", "prefill-first")), help=(
    "Mix prefill and decode in one engine step, or run prefill first, in separate steps "
    "(default: from the deployment)."))
@click.option("--prefill-coordination", type=click.Choice(get_args(Coordination)), help=(
    "When expert-parallel ranks start prefill: immediately (eager), when all ranks have a prompt "
    "(delay), or only while every rank has a free slot (balance) (default: from the deployment)."))
@click.option("--max-num-seqs", type=COUNT, default=f"{MOST_SEQUENCES}",
              help="Maximum concurrent requests per replica.")
@seed_option
def command(scenario: str, settings: tuple[str, ...], lengths: str | None, variation: str | None,
            **options: Any) -> View:
    """What latencies do users see? What share of requests meets the limits?

    Simulates requests step by step at a given arrival rate or number of concurrent users.
    DEPLOYMENT is a catalogue name (`will-it-fit list deployments`) or your own file.
    """
    rows, of_lengths = listed_lengths(lengths, variation)
    pools = [with_lengths(pool, rows)
             for pool in load_deployment(scenario, overrides=[*settings, *of_lengths])]
    data: dict[str, Any] = {"scenario": deployment_id(pools), **notes(*pools),
                            **(test := load_test(pools, rows, options)).as_json()}
    load = data["workload"]
    users = f"{load['users']:,} users" if "users" in load else human(load["rate"], "request/s")
    start = "QUEUE GROWS WITHOUT BOUND at" if not data["bounded"] else (
        "KEEPS UP with" if data["good"] is None
        else f"{data['good']:.1%} OF REQUESTS WITHIN THE LIMITS with")
    return View(f"{start} {users}: {pools_line(pools)}", data, None if data["bounded"] else False,
                [("lengths", length_words(load))],
                [latency_table(data), *number_lines(data), *doubt_lines(data),
                 *notes(*pools).values(),
                 *(reason.text["en"] for reason in test.system.reasons)])


def latency_table(data: Mapping[str, Any]) -> Table:
    """Mean and percentiles of every latency."""
    columns = {"mean": "mean", "± 95%": "half_width", "p50": "p50", "p90": "p90", "p99": "p99"}
    return Table(("time", *columns), [
        (heading(name), *(value and round(value, DIGITS) for value in (
            data[name][key] for key in columns.values())))
        for name in LATENCIES if data[name]["mean"] is not None], units=dict.fromkeys(columns, "s"))


def number_lines(data: Mapping[str, Any]) -> list[str]:
    """Throughput, goodput, saturation, hits of the prefix cache, and the requests counted."""
    load = data["workload"]
    lines = [f"Throughput {human(data['request_throughput'], 'request/s')}, "
             f"{human(data['output_throughput'], 'token/s')}; {human(data['concurrency'])} "
             f"requests in flight; saturates at {human(data['saturation_rate'], 'request/s')} "
             f"({data['saturation_from']}); busy: " + joined(
                 f"{pool} {share:.1%}" for pool, share in data["utilisation"].items()) + "."]
    if data["good"] is not None:
        limits = joined(f"{heading(name)} {human(load[name], 's')}"
                        for name in ("ttft", "tpot") if load[name] is not None)
        lines.append(f"Goodput {human(data['goodput'], 'request/s')} within {limits}.")
    if data["prefixes_simulated"]:
        lines.append(f"Prefix cache: {data['hit_share']:.1%} of {data['input_tokens']:,.0f} prompt "
                     f"tokens a request hit; {data['evicted']:,} blocks evicted.")
    if data["preemptions"]:
        lines.append(f"Preemptions: {data['preemptions']:,}.")
    return [*lines, f"Counted: {data['requests']:,} requests over {human(data['window'], 's')}, "
            f"seed {load['seed']}."]


def length_words(load: Mapping[str, Any]) -> str:
    """Mean lengths of the simulated requests, and how they vary."""
    prompt, answer = load["mean_tokens"][:2]
    return f"{prompt:,.0f} input + {answer:,.0f} output tokens on average; " + (
        "as listed in the file" if load["lengths"]["distribution"] == "listed"
        else Lengths(**load["lengths"]).words())


def doubt_lines(data: Mapping[str, Any]) -> list[str]:
    """Why the numbers may not hold for a longer run."""
    lines = []
    if not data["steady"]:
        lines.append("The run is too short for a steady state: its beginning and end are counted.")
    elif not data["settled"]:
        lines.append("The run is short beside the latency of a request: throughput, goodput and "
                     "utilisation depend on where it begins; simulate more requests.")
    if data["together"] > 1 and data["saturation_from"] == "closed form":
        lines.append(f"{data['together']} ranks step together and seldom prefill at the same time "
                     "as the closed form assumes: the saturation is an upper bound.")
    return lines
