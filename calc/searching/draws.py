"""A deployment under many draws of what is uncertain: of the ranges of its inputs, of the formulas'
own error, of what an hour of a card costs. What two deployments share is drawn once for both."""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np

from calc.answer.request_lengths import longest_served
from calc.costing.ownership import powers_of, shares_of
from calc.evidence.classes import Own, class_of, own_errors
from calc.layouts.layout import Choice, Row, scenario
from calc.many.sweeps import decode_sweep, sweep
from calc.searching.candidates import (
    POWER_NAMES,
    as_asked,
    hits_left,
    seen_by_users,
    site_draws,
)
from calc.searching.goal import Wishes
from calc.searching.pools import RATED, as_served, combined, rated
from calc.searching.search import SearchResult
from calc.serving.evaluate import evaluate
from catalogue import Scenario
from catalogue.deployments.physics_inputs import NORMAL_90, Knob, moved
from catalogue.planning import Demand

SEED = 20_260_101
AT_ONCE = 20  # pools of one base: the numbers of a pass stay in the cache
LOW, HIGH = 0.1, 0.9  # ends of an 80% interval
OBSERVED: Literal["inverted_cdf"] = "inverted_cdf"
"""Percentiles are observed draws, never interpolated: the cost of an unserved draw is infinite."""


class Drawn(NamedTuple):
    """Draws of a deployment, or of a pool.

    Attributes:
        quantities: name -> draws, SI units.
        deployed: whose they are.
        capacity: of the cache over what has to fit, as of :func:`_cache_capacity`, of two pools
            the smaller, shape (DRAWS,) [1].
    """

    quantities: dict[str, np.ndarray]
    deployed: Scenario
    capacity: np.ndarray


OWN = {"ttft": "ttft", "tpot": "tpot", "e2e": "e2e", "throughput": "output_throughput"}


def draws_of(result: SearchResult, rows: Sequence[Row]) -> list[Drawn]:
    """Draws of all quantities of deployments by name, shape (DRAWS,) each; of two pools with the
    one that decodes, and the requests that the cache of either holds. Those of one base are drawn
    at once; a pool stands in many pairs."""
    choices = dict.fromkeys(choice for row in rows for choice in row.choices)
    drawn = {choice: pool for choice in choices if (pool := result.drawn_pools.get(choice))}
    alike = defaultdict[tuple[Any, ...], list[Choice]](list)
    for choice in choices:
        if choice not in drawn:
            alike[choice.device, choice.node, choice.engine, choice.precision, choice.pool
                  ].append(choice)
    for several in alike.values():
        for start in range(0, len(several), AT_ONCE):
            drawn |= draws_of_base(result, several[start:start + AT_ONCE])
    result.drawn_pools |= {choice: pool for choice, pool in drawn.items() if choice.pool}
    return [draws_of_row(result, row, [drawn[choice] for choice in row.choices]) for row in rows]


def draws_of_row(result: SearchResult, row: Row, pools: Sequence[Drawn]) -> Drawn:
    """Draws of one deployment, of those of its pools."""
    goal, wishes = result.wishes.goal, result.wishes
    if row.prefill is None:
        (quantities, deployed, capacity), = pools
        prefills = deployed
        served = np.ones((1, DRAWS), bool)
        if ENOUGH in quantities:
            served = quantities[ENOUGH] >= (goal.demand.arrival_rate or goal.demand.users)
        quantities = least({name: column for name, column in quantities.items()
                            if name != ENOUGH}, served)
    else:
        (first, prefills, one), (then, deployed, other) = pools
        capacity = np.minimum(one, other)
        shape = np.broadcast_shapes(*map(np.shape, then.values()))
        columns = ({name: np.broadcast_to(value, shape) for name, value in pool.items()}
                 for pool in (first, then))
        quantities = combined(next(columns), next(columns), wishes, False)
        if wishes.powered:
            quantities["power"] = first["power"] + then["power"]
        quantities = as_served(least(quantities, quantities["throughput"] > 0), goal.demand)
    of, own = class_of(deployed), own_errors(deployed)
    first_own = own if prefills is deployed else own_errors(prefills)
    quantities |= own_error_draws(of, own, first_own, quantities, row.prefill is None)
    if row.prefill is None and of_load(goal.demand):
        quantities = as_asked(goal.demand, quantities)
    return Drawn(with_cost(wishes, row, quantities), deployed, capacity)


def with_cost(wishes: Wishes, row: Row, quantities: Mapping[str, np.ndarray]
            ) -> dict[str, np.ndarray]:
    """Draws with what follows from them, and what an hour of a card costs."""
    columns = {**quantities, "devices": np.full(DRAWS, row.devices)}
    if row.prefill is None:
        columns = wishes.with_derived(columns, row.choice.device)
    else:
        columns |= {f"{pool} devices": np.full(DRAWS, choice.devices) for pool, choice in zip(
            ("prefill", "decode"), row.choices, strict=True)}
        columns = wishes.of_pair(columns, *(wishes.hour(choice.device) for choice in row.choices))
    hour = wishes.hours.get(row.choice.device)
    if hour is not None:
        scores = scores_of(f"hour {row.choice.device}")
        end = np.where(scores < 0, hour.low, hour.high) / hour.value
        columns["cost"] = columns["cost"] * end ** (np.abs(scores) / NORMAL_90)
    return columns


def draws_of_base(result: SearchResult, choices: Sequence[Choice]) -> dict[Choice, Drawn]:
    """Draws of pools of one base from the ranges of their inputs, without the formulas' own error.
    """
    demand, pool = result.wishes.goal.demand, choices[0].pool
    names = seen_by_users(demand)
    powered = POWER_NAMES if result.wishes.powered else ()
    loaded = {} if pool or not of_load(demand) else {
        ENOUGH: "steady_request_throughput" if demand.arrival_rate is not None else "steady_users"}
    scenarios = [scenario(result.wishes.goal, choice) for choice in choices]
    fixed = pool == "prefill" or not (pool or loaded)
    inputs = [input_draws(deployed, fixed) for deployed in scenarios]
    inputs = [with_hits(demand, columns, deployed) if choice.hits is not None else columns
              for choice, columns, deployed in zip(choices, inputs, scenarios, strict=True)]
    wanted = [*(names.values() if pool is None else RATED[pool]), *loaded.values(), *powered]
    attention = scenarios[0].model.attention
    swept = decode_sweep(_joined(inputs), attention, wanted)
    ends = np.cumsum([columns["concurrency"].size for columns in inputs])[:-1]
    parts = zip(*(np.split(column, ends) for column in swept.values()), strict=True)
    drawn: dict[Choice, Drawn] = {}
    capacities = _cache_capacity(demand, choices, scenarios[0], inputs)
    for choice, deployed, own, part, capacity in zip(
            choices, scenarios, inputs, parts, capacities, strict=True):
        shape = own["concurrency"].shape
        seen = {name: column.reshape(shape) for name, column in zip(swept, part, strict=True)}
        if pool is None:
            quantities = {name: seen[symbol] for name, symbol in (names | loaded).items()}
            rate = quantities["throughput"]
        else:
            quantities = {name: np.asarray(value) for name, value in rated(
                pool, own, seen, attention, demand).items()}
            rate = quantities["rate"] * own["output_tokens"]
        if powered:
            device = deployed.device.id
            shares = {name: Knob(name, share, ()).at(scores_of(f"{device} {name}"))
                      for name, share in shares_of(powers_of(device)).items()}
            quantities["power"] = site_draws(own, seen, deployed, rate, shares)
        drawn[choice] = Drawn(quantities, deployed, capacity)
    return drawn


def _cache_capacity(demand: Demand, choices: Sequence[Choice], deployed: Scenario,
          inputs: Sequence[Mapping[str, Any]]) -> np.ndarray:
    """Capacity of each pool's cache over what has to fit, shape (n, DRAWS) [1]: 1 or more fits.

    One request at its longest has to fit, or at its mean length where even the median draw holds no
    longest one; infinite where the lower end of the 80% interval holds it. Where requests arrive by
    themselves, all in flight have to fit at their mean length too: there the draws of times are not
    stretched to the interval of an estimate.

    Args:
        demand: that they serve.
        choices: the pools.
        deployed: one of them.
        inputs: draws of each, shape (k, DRAWS), those with the fewest requests in flight first.
    """
    first = [{name: value[:1] if isinstance(value, np.ndarray) else value
              for name, value in columns.items()} for columns in inputs]
    joined, attention, lengths = _joined(first), deployed.model.attention, deployed.inputs()

    def of(name: str, length: float) -> np.ndarray:
        values = sweep(joined | {"context_tokens": length}, attention, [name], decode=False)[name]
        return values.reshape(len(inputs), DRAWS)

    mean = lengths["input_tokens"] + lengths["output_tokens"]
    capacity = of("longest_requests", longest_served(deployed))
    short = np.median(capacity, axis=1) < 1
    if short.any():
        capacity[short] = of("longest_requests", mean)[short]
    capacity[np.quantile(capacity, LOW, axis=1, method=OBSERVED) >= 1] = np.inf
    if not of_load(demand):
        return capacity
    return np.minimum(capacity, of("mean_requests", mean) / np.array(
        [[choice.concurrency / choice.data] for choice in choices]))


def input_draws(deployed: Scenario, fixed: bool) -> dict[str, Any]:
    """Draws of the inputs of a pool, shape (k, DRAWS) for as many numbers of requests in flight, of
    what has a range or, where there are several, of all that has."""
    inputs: dict[str, Any] = dict(deployed.inputs())
    for knob in deployed.knobs():
        value = knob.value  # two statements differ in what is stated, of what, by whom
        inputs |= dict.fromkeys(knob.symbols, knob_draws(
            f"{knob.name} {value.written} {value.low} {value.high} {value.source}",
            float(value.low), float(value.value), float(value.high)))
    counts = in_flight(deployed, inputs, fixed)
    shape = len(counts), DRAWS
    return {name: np.broadcast_to(value, shape) if isinstance(value, np.ndarray) else value
            for name, value in inputs.items()} | {
                "concurrency": np.broadcast_to(counts[:, np.newaxis], shape)}


def with_hits(demand: Demand, inputs: dict[str, Any], deployed: Scenario) -> dict[str, Any]:
    """Draws of inputs with what the cache has in each of the prefixes of users who think."""
    quantities = evaluate(inputs, deployed.model.attention, decode=False)
    shares = hits_left(demand, inputs["data_parallel"], quantities["mean_requests"],
                       quantities["host_requests"], inputs["concurrency"])
    names = ("prefix_hit_share", "host_prefix_share")
    return inputs | {name: np.broadcast_to(share, inputs["concurrency"].shape)
                     for name, share in zip(names, shares, strict=True)}


def _joined(inputs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Inputs of several pools one after the other, those that are one number of all as that."""
    joined: dict[str, Any] = {}
    for name in inputs[0]:
        values = [columns[name] for columns in inputs]
        if any(isinstance(value, np.ndarray) for value in values) or len({*values}) > 1:
            joined[name] = np.concatenate([
                np.broadcast_to(value, columns["concurrency"].shape).ravel()
                for value, columns in zip(values, inputs, strict=True)])
        else:
            joined[name] = values[0]
    return joined


def own_error_draws(of: str, own: Mapping[str, Own], first: Mapping[str, Own],
                quantities: Mapping[str, np.ndarray], inversely: bool) -> dict[str, np.ndarray]:
    """Draws with the formulas' own error: that which a class shares, and that of the distance from
    what was measured of it. A first token is as far from that as what prefills it, whose own error
    is ``first``. That of throughput may be the inverse of that of latency."""
    draws = {}
    drawn = OWN if not inversely else {name: OWN[name] for name in OWN if name != "throughput"}
    for name, metric in drawn.items():
        error = (first if name == "ttft" else own).get(metric)
        sides = ((error.of_class, ""), (error.beyond, " beyond")) if error else ()
        logs = np.zeros(DRAWS)
        for (down, up), which in sides:
            scores = scores_of(f"{of} {metric}{which}")
            logs = logs + scores * np.where(scores < 0, down, up)
        draws[name] = quantities[name] * np.exp(logs)
    if inversely:
        draws["throughput"] = quantities["throughput"] * quantities["e2e"] / draws["e2e"]
    return draws


@lru_cache(maxsize=4096)
def knob_draws(key: str, low: float, value: float, high: float) -> np.ndarray:
    """Draws of what is stated within a range, shape (DRAWS,)."""
    return moved(low, value, high, scores_of(key))


@cache
def scores_of(key: str) -> np.ndarray:
    """Standard normal draws of one thing, the same for all deployments, shape (DRAWS,)."""
    return np.random.default_rng([SEED, zlib.crc32(key.encode())]).standard_normal(DRAWS)


DRAWS = 400  # of everything that is known within a range only
ENOUGH = "enough"  # what tells whether a deployment serves the load that is given
MORE = (1.0, 1.1, 1.25, 1.5, 2.0, 3.0)  # requests in flight, of those that its median takes


def of_load(demand: Demand) -> bool:
    """Whether requests arrive by themselves, so that a slower deployment has more of them."""
    return demand.arrival_rate is not None or bool(demand.think_time)


def least(quantities: Mapping[str, np.ndarray], served: np.ndarray) -> dict[str, np.ndarray]:
    """Of each draw what is seen with the fewest requests in flight that serve what is asked, with
    the most where none do, shape (DRAWS,) each.

    Args:
        quantities: by requests in flight, shape (k, DRAWS) each.
        served: with which of them it is, shape (k, DRAWS).
    """
    position = np.where(served.any(axis=0), served.argmax(axis=0), len(served) - 1)
    return {name: np.broadcast_to(column, served.shape)[position, np.arange(DRAWS)]
            for name, column in quantities.items()}


def in_flight(deployed: Scenario, inputs: Mapping[str, Any], fixed: bool) -> np.ndarray:
    """Requests in flight that a draw may need: those that were found, and, where it is the load
    that is given, more of them, as far as the memory goes; shape (k,) [request]."""
    usual = float(inputs["concurrency"])
    if fixed:
        return np.array([usual])
    room = max(usual, float(evaluate(deployed.inputs(), deployed.model.attention, decode=False)[
        "max_concurrency"]))
    return np.unique(np.minimum(np.ceil(usual * np.array(MORE)), room))
