"""A deployment under the arrivals that its scenario names: how many requests are in flight, and so
what a steady state comes to; in closed form, and where that does not hold, simulated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from calc.physics.arrays import Inputs, double
from calc.physics.experts import ranks_in_step
from calc.physics.memory import found_shares
from calc.serving.burst import pool_replicas
from calc.serving.evaluate import doubts, evaluate
from calc.uncertainty import Amount
from catalogue import Scenario
from catalogue.deployments.scenario import unasked

if TYPE_CHECKING:
    from calc.answer.simulated_load import LoadResult

THROUGHPUT = "steady_throughput"
STEADY = {"steady_ttft": "ttft", "steady_tpot": "tpot", "steady_e2e": "e2e",
          THROUGHPUT: "output_throughput"}
"""Quantities of a steady state, and what each is of a burst."""

STEADILY = {burst: steady for steady, burst in STEADY.items()}
"""The quantity of a steady state for that of a burst."""

SEEN_STEADILY = {"ttft": "steady_ttft", "tpot": "steady_tpot", "e2e": "steady_e2e",
                 "throughput": THROUGHPUT}
SEEN_OF_BURST = {name: STEADY[symbol] for name, symbol in SEEN_STEADILY.items()}
"""Times and rate that users see, and the quantity of each in a steady state and in a burst."""

BENCH = "bench_ttft"
OF_BENCHES = {BENCH: "ttft", "bench_tpot": "tpot", "bench_throughput": "output_throughput"}
"""Of a burst and the steady state after it, as a client reports them."""

CACHE = ("cache_occupied", "cache_deviation", "cache_overflow")

POINTS = 200  # numbers of requests in flight that are tried
FEWEST = 1 / 128  # other requests in flight, of those tried
DEAREST = 10.0  # simulation of a steady state that is told, at the least [s]
CACHED_RUNS = 64  # simulations that a process remembers


@dataclass(frozen=True)
class SteadyState:
    """A steady state.

    Attributes:
        arrivals: ``burst``, ``closed-loop`` or ``poisson``; None where the scenario names none.
        in_flight: requests, of a burst and without thinking all of them [request].
        values: by name of ``STEADY``, SI; none where requests arrive faster than they can leave.
        cache: by name of ``CACHE``, shares of the blocks and of the steps [1]; none likewise.
        doubts: why a simulation may give others, by name of
            ``calc.serving.evaluate.doubt_words``;
            empty where the closed form holds.
        keeps_up: whether the queue has a bound.
        most: rate of arrivals beyond which it has none [request/s], where that is exceeded.
    """

    arrivals: str | None
    in_flight: float
    values: dict[str, float]
    cache: dict[str, float]
    doubts: tuple[str, ...] = ()
    keeps_up: bool = True
    most: float | None = None


def steady_state(scenario: Scenario, inputs: Mapping[str, Any], everything: Mapping[str, Any]
            ) -> SteadyState:
    """The steady state of a deployment.

    Of users who think, and of independent arrivals, only some are in flight: so many that as many
    users, or as high a rate, belong to them. Both grow with the requests in flight.

    Args:
        scenario: the deployment, for what its workload says of arrivals.
        inputs: every input symbol, scalars in SI units.
        everything: what ``calc.evaluate`` gives for them.
    """
    workload, attention = scenario.file.workload, scenario.model.attention
    most = float(inputs["concurrency"])
    if not inputs["open_arrivals"] and not inputs["think_time"]:
        values, cache = ({name: float(everything[name]) for name in names}
                         for names in (STEADY, CACHE))
        return SteadyState(workload.arrivals, most, values, cache,
                       _doubts(scenario, inputs, everything, 0))
    rate = workload.arrival_rate if inputs["open_arrivals"] else None
    others = most - 1  # that one of so many users meets; who comes from elsewhere meets all of them
    if rate is not None:
        others = most
        if inputs["separate_pools"]:
            others += float(everything["steady_request_throughput"] * everything["steady_ttft"])
    counts = 1 + np.append(0.0, np.geomspace(FEWEST, max(FEWEST, others), POINTS))
    swept = {**inputs, "concurrency": counts}
    if inputs["separate_pools"]:  # the prefill pool stays when fewer requests are in flight
        q = Inputs({name: np.float64(value) for name, value in inputs.items()})
        swept["prefill_replicas"] = float(pool_replicas(q, everything["pool_ratio"]))
    if rate is None and inputs["prefix_hit_share"]:  # those who think keep what the cache has left
        swept["prefix_hit_share"], swept["host_prefix_share"] = found_shares(
            Inputs(inputs), everything["mean_requests"], everything["host_requests"], counts,
            most - counts)
    results = evaluate(swept, attention)
    wanted, name = ((most, "steady_users") if rate is None else
                    (float(rate.value), "steady_request_throughput"))
    rates, stays, firsts = (np.broadcast_to(results[key], counts.shape) for key in (
        "steady_request_throughput", "steady_e2e", "steady_ttft"))
    # a prompt in another pool takes no place of those that decode
    placed = rates * (stays - (firsts if inputs["separate_pools"] else 0.0))
    reached = np.maximum.accumulate(np.broadcast_to(results[name], counts.shape))
    largest = float(np.interp(most, placed, reached))
    if wanted > largest:
        return SteadyState(workload.arrivals, most, {}, {}, keeps_up=False, most=largest)
    values, cache = (
        {key: float(np.interp(wanted, reached, np.broadcast_to(results[key], counts.shape)))
         for key in names} for names in (STEADY, CACHE))
    # of times between two numbers of requests, rates follow by Little's law
    answer = float(inputs["output_tokens"])
    stay = values["steady_ttft"] + (answer - 1) * values["steady_tpot"]
    finished = (float(rate.value) if rate is not None
                else most / (stay + float(inputs["think_time"])))
    values |= {"steady_e2e": stay, THROUGHPUT: finished * answer}
    return SteadyState(workload.arrivals, finished * stay, values, cache,
                   _doubts(scenario, swept, results,
                           int(np.argmax(reached >= wanted))))


def _doubts(scenario: Scenario, inputs: Mapping[str, Any], quantities: Mapping[str, Any], at: int
            ) -> tuple[str, ...]:
    """Names of the doubts at one of the numbers of requests in flight."""
    q = Inputs({name: double(value) for name, value in inputs.items()})
    met = {name: bool(np.ravel(values)[min(at, np.size(values) - 1)])
           for name, values in doubts(q, quantities).items()}
    # lengths of which nothing is stated are those of public traffic, which vary
    met["equal"] = met["equal"] and scenario.file.workload.length_distribution == "constant"
    met["balanced"] = bool(scenario.file.prefill_coordination == "balance"
                           and ranks_in_step(q) > 1)
    return tuple(name for name, is_met in met.items() if is_met)


@dataclass(frozen=True)
class _Run:
    """A simulation by everything that it is made of."""

    key: str
    scenario: Scenario = field(compare=False)
    given: Mapping[str, Any] = field(compare=False)


def simulate_steady_state(scenario: Scenario, steady: SteadyState,
                          given: Mapping[str, Any] | None = None) -> LoadResult | None:
    """What users see in a steady state whose closed form does not hold; None where it does.

    Neither two pools, of many replicas, are simulated, nor what takes longer than ``DEAREST`` or
    leaves nothing of a steady state in its run. A process simulates a deployment once.

    Args:
        scenario: the deployment; it fits.
        steady: its steady state in closed form.
        given: inputs in place of its own, in SI units.

    Raises ParamsError for a deployment that cannot be simulated.
    """
    inputs = scenario.inputs()
    if not steady.doubts or not steady.keeps_up or inputs["separate_pools"]:
        return None
    given, file = dict(given or {}), scenario.file
    return _simulated(_Run(repr((
        scenario.id, scenario.model.attention, file.scheduling, file.prefill_coordination,
        file.prefill_delay_steps, file.workload.model_dump_json(exclude={"text"}),
        scenario.variations, sorted((inputs | given).items()))), scenario, given))


@lru_cache(maxsize=CACHED_RUNS)
def _simulated(run: _Run) -> LoadResult | None:
    from calc.answer import simulated_load as simulated  # most deployments are not

    system = simulated.system_of(run.scenario, given=run.given)
    # of a burst: who ask again
    load = replace(simulated.stated_load(run.scenario), together=False, requests=None)
    ramp = simulated.cycle(run.scenario, load)
    users = load.users if load.users is not None else (load.rate or 0.0) * ramp
    # by either alone: prompts in a few dozen chunks are simulated, too
    dearest = max(simulated.request_run_time(system, load, ramp), simulated.chunks_run_time(system))
    if dearest * (simulated.CYCLES * users + simulated.FEWEST) > DEAREST:
        return None
    seen = simulated.simulate_load(run.scenario, load, system=system, wanted=simulated.MEANS)
    return seen if seen.summary.steady and seen.keeps_up else None


def with_simulation(quantities: Mapping[str, Amount], steady: SteadyState | None,
                    seen: LoadResult | None) -> dict[str, Amount]:
    """Quantities whose steady state is that of a simulation, where the closed form does not hold.

    Intervals move along: they are those of the inputs and of the formulas of steps.

    Args:
        quantities: by name, in closed form.
        steady: the steady state in closed form.
        seen: simulated; None where that is not to be.
    """
    if steady is None or seen is None:
        return dict(quantities)
    return {**quantities, **{
        name: quantities[name].scaled(mean / steady.values[name])
        for name, mean in _means(seen).items()
        if name in quantities and not quantities[name].exact}}


def _means(seen: LoadResult) -> dict[str, float]:
    """Means of a simulation by name of ``STEADY``, SI units; without those of which it has none."""
    means = {"steady_ttft": seen.summary.ttft.mean, "steady_tpot": seen.summary.tpot.mean,
             "steady_e2e": seen.summary.e2e.mean,
             THROUGHPUT: seen.summary.output_throughput / seen.share}
    return {name: mean for name, mean in means.items() if mean > 0}


def is_burst(scenario: Scenario, steady: SteadyState | None = None) -> bool:
    """Whether latency and throughput of a deployment are reported for a burst of simultaneous
    requests instead of a steady state: it states a burst or no answer lengths, is one pool of two,
    or its requests arrive faster than they are served.

    Args:
        scenario: the deployment.
        steady: its steady state, where it is at hand.
    """
    workload = scenario.file.workload
    return bool(workload.arrivals == "burst" or workload.output_tokens is None
                or unasked(scenario.inputs()) or (steady is not None and not steady.keeps_up))


def central_values(scenario: Scenario, names: Iterable[str]) -> dict[str, float]:
    """Quantities of a deployment at the inputs' values, SI units; latency and throughput are those
    that its users see, under the names of a burst.

    Args:
        scenario: the deployment.
        names: of ``calc.evaluate``.
    """
    inputs = scenario.inputs()
    everything = evaluate(inputs, scenario.model.attention)
    values = {name: float(everything[name]) for name in names}
    if is_burst(scenario):
        return values
    steady = steady_state(scenario, inputs, everything)
    result = simulate_steady_state(scenario, steady)
    means = steady.values | (_means(result) if result else {})
    return values | {STEADY[name]: value for name, value in means.items() if STEADY[name] in values}
