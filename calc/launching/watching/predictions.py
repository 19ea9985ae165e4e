"""What a deployment is watched by: its predictions with their intervals, and what they rest on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import calc
from calc.answer.estimate import Estimate
from calc.answer.service import Service, service_level, unloaded
from calc.answer.steady_state import CACHE
from calc.layouts.layout import set_line
from calc.serving.evaluate import evaluate
from calc.uncertainty import Amount
from catalogue import ParamsError, Scenario
from catalogue.deployments.scenario import unasked

RAREST = 1e-3  # share of the steps; the tail of the occupancy is known to a seventh of it
FARTHEST = 64.0  # times the planned length that are tried
POINTS = 400
FASTER = ("requests arrive faster than they are answered, the queue grows without end; nothing can "
          "be predicted of it.")


class Overloaded(ParamsError):
    """A deployment of which more is asked than it serves."""


@dataclass(frozen=True)
class Predicted:
    """What is predicted of a pool under the load that its scenario states.

    Attributes:
        ttft, tpot, e2e: means over requests [s].
        throughput: of output tokens [token/s].
        requests: that are answered [request/s].
        planned: requests in flight at most [request].
        in_flight: of them in the state that is predicted [request].
        occupied: share of the cache's blocks, on average [1]; None where nothing is said.
        overflow: share of the steps in which the cache does not suffice [1].
        prompt, answer: mean lengths [token].
        limits: of what the predictions rest on: mean length of prompts and answers, share of
            prompts that is found, tokens of a step, at which a prediction itself leaves its
            interval; absent where it never does.
        burst: whether all requests arrive at once.
    """

    ttft: Amount
    tpot: Amount
    e2e: Amount
    throughput: Amount
    requests: Amount
    planned: float
    in_flight: float
    occupied: Amount | None
    overflow: float
    prompt: float
    answer: float
    limits: Mapping[str, float]
    burst: bool

    def as_json(self) -> dict[str, Any]:
        """Plain data, SI."""
        return {name: each.as_json() if isinstance(each, Amount) else each
                for name, each in vars(self).items()}


def runs(scenario: Scenario, answer: Estimate) -> None:
    """Refuse what cannot be launched: it does not run as asked, or its load is not said.

    Raises ParamsError, one sentence.
    """
    if not answer.fits and not answer.suffices_steadily:
        why = answer.reasons[0].text["en"].rstrip(".")
        nearest = answer.nearest
        hint = f" The nearest that runs: {set_line(nearest.settings)}." if nearest else ""
        raise ParamsError(f"{scenario.id}: does not run as asked: {why}.{hint}")
    if answer.lasting is None:
        raise ParamsError(f"'{scenario.id}' does not say how long its requests are, expected "
                          "--set workload.input_tokens=N --set workload.output_tokens=N.")
    if not answer.lasting.keeps_up and not unasked(scenario.inputs()):
        raise Overloaded(f"'{scenario.id}': {FASTER}")


def predicted(scenario: Scenario, answer: Estimate | None = None) -> Predicted:
    """The predictions by which a pool is watched.

    >>> import catalogue
    >>> found = predicted(catalogue.load_scenario("h200-r1-vllm-tp8"))
    >>> found.tpot.low < found.tpot.value < found.tpot.high
    True

    Raises ParamsError, one sentence, for a deployment that does not run as asked.
    """
    answer = answer or calc.estimate(scenario)
    runs(scenario, answer)
    seen, lasting = service_level(answer), answer.lasting
    assert seen is not None
    assert lasting is not None
    numbers = scenario.inputs()
    length = float(numbers["output_tokens"])
    return Predicted(**seen.amounts, requests=seen.throughput.scaled(1 / length, "request/s"),
                     planned=float(numbers["concurrency"]), in_flight=seen.in_flight,
                     occupied=_occupied(answer, lasting.cache),
                     overflow=lasting.cache.get("cache_overflow", 0.0),
                     prompt=float(numbers["input_tokens"]), answer=length,
                     limits=_limits(scenario, seen.ttft, seen.tpot, seen.burst), burst=seen.burst)


def predicted_pools(of: Service) -> tuple[Predicted, ...]:
    """The predictions by which each pool is watched, under the load of all of them.

    Args:
        of: the deployment.

    Raises ParamsError, one sentence, as :func:`predicted`.
    """
    pair = of.pair
    if pair is None:
        return (predicted(of.last, of.answers[0]),)
    for scenario, answer in zip(of.pools, of.answers, strict=True):
        runs(scenario, answer)
    if (seen := of.seen) is None:
        raise Overloaded(f"'{of.last.id}': {FASTER}")
    decoding = pair.loop.decoding
    requests = seen.throughput.scaled(1 / pair.answer, "request/s")
    found = []
    for scenario, answer, in_flight in zip(
            (unloaded(of.pools[0]), of.last), of.answers,
            (seen.in_flight - decoding, decoding), strict=True):
        inputs = scenario.inputs() | {"concurrency": max(1.0, in_flight)}
        everything = evaluate(inputs, scenario.model.attention)
        cache = {name: float(everything[name]) for name in CACHE}
        found.append(Predicted(
            **seen.amounts, requests=requests, in_flight=in_flight,
            planned=max(answer.in_flight, math.ceil(seen.in_flight)),
            occupied=_occupied(answer, cache), overflow=cache["cache_overflow"],
            prompt=pair.prompt, answer=pair.answer,
            limits=_limits(scenario, seen.ttft, seen.tpot, True), burst=False))
    return tuple(found)


def _occupied(answer: Estimate, cache: Mapping[str, float]) -> Amount | None:
    """Share of the blocks that requests take; fewer blocks are fuller."""
    blocks = answer.quantities["kv_blocks"]
    if not cache or blocks.value <= 0:
        return None
    share = cache["cache_occupied"]
    return Amount(share, share * blocks.value / max(blocks.high, 1),
                    share * blocks.value / max(blocks.low, 1), "1")


def _limits(scenario: Scenario, ttft: Amount, tpot: Amount, burst: bool) -> dict[str, float]:
    """Where what was assumed of requests alone moves a prediction to the end of its interval."""
    numbers = scenario.inputs()
    factors = np.geomspace(1, FARTHEST, POINTS)
    ahead = "" if burst else "steady_"
    found = {}
    for name, watched, interval, values in (
            ("input_tokens", "ttft", ttft, numbers["input_tokens"] * factors),
            ("output_tokens", "tpot", tpot, numbers["output_tokens"] * factors),
            ("prefix_hit_share", "ttft", ttft,
             numbers["prefix_hit_share"] * (1 - np.linspace(0, 1, POINTS))),
            ("accepted_length", "tpot", tpot, numbers["accepted_length"] ** (
                1 - np.linspace(0, 1, POINTS)) if numbers["accepted_length"] else None)):
        if values is None or not values[0]:
            continue
        varied: dict[str, Any] = {**numbers, name: values}
        longer = varied["input_tokens"] + varied["output_tokens"]
        varied["context_tokens"] = np.maximum(numbers["context_tokens"], longer)
        times = evaluate(varied, scenario.model.attention)[ahead + watched]
        times = np.broadcast_to(times, values.shape)
        beyond = np.flatnonzero(times > times[0] * interval.high / interval.value)
        if beyond.size:
            found[name] = float(values[beyond[0]])
    return found
