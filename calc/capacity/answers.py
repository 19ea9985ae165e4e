"""Plans of capacity as data: a day of users, cache tiers, more cards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from calc.answer.load_test import refuse_stated_hits
from calc.capacity.availability import failures_of, fleet_of, spares_for
from calc.capacity.day import Limits, Replica, day
from calc.capacity.growth import OnePool, Pairing, sizes_of
from calc.capacity.tiers import Population, with_tiers
from calc.serving.evaluate import evaluate
from catalogue import ParamsError, Scenario, load
from catalogue.reading.jsonfile import finite


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
