"""A load test of a deployment: requests simulated step by step, latencies, goodput, saturation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

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
from calc.serving.metrics import Latency, Objective, Summary, summarise
from calc.serving.requests import Prefixes, Run, in_prefix_cache, poisson
from calc.serving.simulation import simulate
from catalogue import ParamsError, Scenario
from catalogue.reading.jsonfile import finite

MOST_REQUESTS = 100_000
MOST_TOKENS = 100_000_000  # output tokens of a run; those of a batch take some microseconds
SETTLED = 3  # times the mean latency that a run has to last
REQUESTS, TURNS = 1000, 8  # of a run at least by default: in all, and of each user
EXCLUSIVE = (("rate", "users"), ("duration", "requests"), ("begin", "ramp"))


@dataclass(frozen=True)
class LoadTest:
    """Result of a load test.

    Attributes:
        system: what was simulated.
        summary: latencies and rates of the counted requests.
        saturation: rate beyond which the queue grows without bound [request/s].
        saturation_from: ``simulation`` or ``closed form``.
        prefixes: whether prefixes were simulated.
        given: the load, SI units.
    """

    system: System
    summary: Summary
    saturation: float
    saturation_from: str
    prefixes: bool
    given: Mapping[str, Any]

    def as_json(self) -> dict[str, Any]:
        """The result as data, SI units, with the load that was simulated."""
        system, summary, lengths = self.system, self.summary, self.system.lengths
        given = self.given
        workload = {name: value for name, value in given.items() if value is not None} | {
            "arrivals": "poisson" if given["rate"] is not None else "closed-loop",
            "lengths": asdict(lengths) if lengths else {"distribution": "listed"},
            "mean_tokens": list(system.shape), "longest_tokens": system.longest,
            "policy": system.pool.limits.policy, "prefill_coordination": system.pool.coordination}
        numbers = {name: latency_data(value) if isinstance(value, Latency) else value
                   for name, value in vars(summary).items()}
        if not any(math.isfinite(given[name]) for name in ("ttft", "tpot")):
            numbers |= {"goodput": None, "good": None}
        return finite({
            "workload": workload, **numbers, "saturation_rate": self.saturation,
            "saturation_from": self.saturation_from,
            # the queue of a closed loop is never longer than its users
            "bounded": given["rate"] is None or given["rate"] < self.saturation,
            "settled": summary.steady and summary.window >= SETTLED * summary.e2e.mean,
            "together": system.pool.ranks,
            "reasons": [reason.as_json() for reason in system.reasons],
            "prefixes_simulated": self.prefixes})


def load_test(pools: Sequence[Scenario], lengths: Sequence[tuple[int, int]],
              options: Mapping[str, Any]) -> LoadTest:
    """Simulate a deployment under load.

    Args:
        pools: one, or those that prefill and that decode.
        lengths: listed input and output tokens of requests [token]; empty for a distribution.
        options: ``rate`` or ``users`` with ``think_time``, ``begin`` and ``ramp``, ``requests`` or
            ``duration`` of the run, ``seed``, ``max_num_seqs``, limits ``ttft`` and ``tpot``,
            ``prefix_groups``, ``prefix_tokens``, ``turns``, ``policy`` and
            ``prefill_coordination``, SI units; None for the deployment's own or the default.

    Raises ParamsError, one sentence, for what cannot be simulated.
    """
    given = dict(options)
    policy, coordination = given.pop("policy"), given.pop("prefill_coordination")
    load = complete_load(pools[-1], given)

    def system_for(listed: Sequence[tuple[int, int]],
                   measured: Mapping[str, float] | None = None) -> System:
        system = system_of(pools[-1], given["max_num_seqs"], policy, coordination, measured,
                           pools[0] if len(pools) > 1 else None)
        if not listed:
            return system
        cached = (pools[-1].inputs() | dict(measured or {}))["prefix_hit_share"]
        return replace(system, lengths=None, shapes=tuple(
            (prompt, answer, int(in_prefix_cache(prompt, cached))) for prompt, answer in listed))

    system = system_for(lengths)
    prefixes = prefixes_of(pools[-1], system, given)
    objective = Objective(ttft=given["ttft"] - system.overhead, tpot=given["tpot"])
    try:
        run = run_load(system, load, given, prefixes)
        summary = summarise(run, objective=objective)
        most = saturation(system if prefixes is None else system_for(  # hits as the run has them
            lengths if prefixes.turns == 1 else [], {
                "prefix_hit_share": summary.hit_share,
                "input_tokens": round(summary.input_tokens)}))
    except ValueError as error:
        raise ParamsError(str(error).rstrip(".") + ".") from None
    return LoadTest(system, with_overhead(summary, system.overhead), *most, prefixes is not None,
                    given)


def complete_load(scenario: Scenario, given: dict[str, Any]) -> UserLoad:
    """Complete the options of a load with that of the deployment and defaults.

    Raises ParamsError, one sentence, for options that contradict each other.
    """
    for one, other in EXCLUSIVE:
        if given[one] is not None and given[other] is not None:
            raise ParamsError(f"--{one} and --{other}: expected one of them.")
    begin = given.pop("begin")
    if given["rate"] is None and given["users"] is None:
        stated = stated_load(scenario)
        given |= {"rate": stated.rate, "users": stated.users}
        if given["think_time"] is None:
            given["think_time"] = stated.think_time
        if stated.together and given["ramp"] is None:
            begin = begin or "together"
    if given["users"] is None and (begin or given["ramp"] is not None):
        raise ParamsError(f"--{'begin' if begin else 'ramp'}: requests of a rate come "
                          "independently, expected --users.")
    usual = {"ttft": math.inf, "tpot": math.inf, "think_time": 0.0} | {
        name: limit for name, (_, limit) in scenario.file.latency_limits.items() if name != "e2e"}
    given |= {name: value for name, value in usual.items() if given[name] is None}
    if given["requests"] is None and given["duration"] is None:
        given["requests"] = max(REQUESTS, TURNS * (given["users"] or 0))
    load = UserLoad(given["users"], given["think_time"], given["rate"],
                    together=begin == "together")
    if given["ramp"] is None and load.users is not None:
        given["ramp"] = 0.0 if load.together else cycle(scenario, load)
    return load


def latency_data(value: Latency) -> dict[str, Any]:
    """A latency as data [s]."""
    points = {f"p{share * 100:g}": value.at(share) for share in SHARES}
    return {"mean": value.mean, "half_width": value.half_width} | {
        name: point.value for name, point in points.items()} | {"intervals": {
            name: [point.low, point.high] for name, point in points.items()}}


def refuse_stated_hits(scenario: Scenario, where: str) -> None:
    """Raise ParamsError for a deployment that states the hits that are computed.

    Args:
        scenario: the deployment.
        where: hits are an outcome.
    """
    if stated := float(scenario.inputs()["prefix_hit_share"]):
        raise ParamsError(f"'{scenario.id}' states a prefix_hit_share of {stated:g}, which is an "
                          f"outcome where {where}, expected mechanisms.prefix_hit_share of 0 or "
                          "none.")


def prefixes_of(scenario: Scenario, system: System, given: Mapping[str, Any]) -> Prefixes | None:
    """Prefixes that requests share; None without any.

    Raises ParamsError, one sentence, where the options contradict each other or the deployment.
    """
    groups, tokens, turns = (given[name] for name in ("prefix_groups", "prefix_tokens", "turns"))
    if groups is tokens is turns is None:
        return None
    refuse_stated_hits(scenario, "prefixes or turns are simulated")
    prompt, answer = system.shape[0], system.shape[1]
    prefixes = Prefixes(groups or 1, tokens or 0, turns or 1, system.longest)
    longest = prefixes.conversation_tokens(prompt, answer)
    if groups is not None and not tokens:
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
