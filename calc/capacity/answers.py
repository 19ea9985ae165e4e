"""Plans of capacity as data: a day of users, cache tiers, more cards."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from calc.answer.load_test import refuse_stated_hits
from calc.capacity.availability import failures_of, fleet_of, spares_for
from calc.capacity.day import Limits, Replica, day
from calc.capacity.growth import OnePool, Pairing, sizes_of
from calc.capacity.tiers import Population, with_tiers
from calc.many.processes import OnProgress
from calc.serving.evaluate import evaluate
from catalogue import ParamsError, Scenario, load
from catalogue.entries.entry import MEAN, PERCENTILES
from catalogue.reading.jsonfile import finite

WORKING = {"day": "replicas of every hour", "tiers": "tiers of caches",
           "cards": "layouts of more cards"}


def limits_of(scenario: Scenario, given: Mapping[str, float | None],
              percentile: float | str | None) -> Limits:
    """Limits that are given, else those of the deployment.

    Args:
        scenario: the deployment.
        given: limits on ``ttft`` and ``tpot`` [s]; None for that of the deployment.
        percentile: of the requests that they hold for, or ``mean``; None likewise.
    """
    stated = scenario.file.latency_limits
    of_file = {name: stated[name] for name, time in given.items() if not time and name in stated}
    ttft, tpot = (time or of_file.get(name, (MEAN, math.inf))[1] for name, time in given.items())
    if percentile is None:
        bases = {basis for basis, _ in of_file.values()}
        return Limits(ttft, tpot, PERCENTILES.get(bases.pop() if len(bases) == 1 else "p99"))
    return Limits(ttft, tpot, None if isinstance(percentile, str) else percentile / 100)


def capacity_answer(scenario: Scenario, day_load: str, requests: float | None, limits: Limits,
                    given: Mapping[str, Any], scaling: bool, report: OnProgress) -> dict[str, Any]:
    """Replicas of a day, tiers of caches and layouts of more cards, as far as they are asked for.

    Args:
        scenario: the deployment.
        day_load: how requests are spread over the day.
        requests: of a day; None for no day [request].
        limits: on latency.
        given: options of the day and of the tiers, SI units.
        scaling: whether layouts of more cards are searched.
        report: of progress.

    Of an interruption after the first part the answer has ``interrupted``, the part under way.
    """
    answer: dict[str, Any] = {}
    parts: dict[str, Callable[[], dict[str, Any]]] = {}
    if requests is not None:
        parts["day"] = lambda: day_answer(scenario, day_load, requests, limits, given)
        if given["turns"]:
            parts["tiers"] = lambda: {"tiers": tiers_answer(scenario, answer, limits, given)}
    if scaling:
        parts["cards"] = lambda: {"cards": cards_answer(scenario, limits)}
    for done, (name, compute) in enumerate(parts.items()):
        try:
            report(WORKING[name], done, len(parts))
            answer |= compute()
        except KeyboardInterrupt:
            if not done:
                raise
            return answer | {"interrupted": name}
    return answer


def day_answer(scenario: Scenario, day_load: str, requests: float, limits: Limits,
               given: Mapping[str, Any]) -> dict[str, Any]:
    """Replicas by the hour, and their servers."""
    replica = Replica(scenario, seed=given["seed"])
    failures = failures_of(scenario.device.id)
    loading = float(evaluate(replica.inputs, scenario.model.attention)["loading_time"])
    answer = day(replica, load("loads", day_load), requests, limits,
                 start=loading + float(failures.start.value), think=given["think_time"])
    per_server, promise = int(scenario.node.devices_per_node.value), given["availability"]
    fleets = {case: fleet_of(answer.replicas, replica.devices, per_server, failures, loading,
                             given["spares"], case) for case in ("low", "central", "high")}
    spares = promise and {case: spares_for(promise, fleet) for case, fleet in fleets.items()}
    return {"load": day_load, "percentile": limits.share, "day": finite(asdict(answer)),
            "failures": {
                **asdict(fleets["central"]), "restarting": fleets["central"].restarting,
                "share": fleets["central"].share, "source": failures.id,
                "share_low": fleets["low"].share, "share_high": fleets["high"].share,
                "promise": promise, "spares_for_promise": spares}}


def tiers_answer(scenario: Scenario, answer: Mapping[str, Any], limits: Limits,
                 given: Mapping[str, Any]) -> list[Any]:
    """Each tier of caches with those before it, and the replicas that it leaves."""
    refuse_stated_hits(scenario, "turns are given")
    population = Population(scenario, given["turns"], given["think_time"])
    rate = max(hour["rate"] for hour in answer["day"]["hours"])
    cached = with_tiers(scenario, population, rate, limits,
                        float(load("loads", answer["load"]).variation.value),
                        answer["day"]["replicas"], given["host_memory"], given["storage"])
    return [finite(asdict(tier)) for tier in cached]


def cards_answer(scenario: Scenario, limits: Limits) -> dict[str, Any]:
    """The best layout by number of cards, in one pool and in two."""
    sizes = sizes_of(int(scenario.node.devices_per_node.value))
    single, pools = (pool(scenario, sizes).best(limits) for pool in (OnePool, Pairing))
    if not single and not pools:
        raise ParamsError(f"'{scenario.id}': no layout of {sizes[0]} to {sizes[-1]} cards meets "
                          "the limits, expected higher ones.")
    return {"best": [asdict(single[size]) if size in single else None for size in sizes],
            "sizes": list(sizes),
            "two_pools": [asdict(pools[size]) | {name: getattr(pools[size], name).as_json()
                                                 for name in ("prefill", "decode")}
                          if size in pools else None for size in sizes]}
