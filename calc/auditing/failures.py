"""What may go wrong with a deployment, and what its metrics come to then: a steady state each."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from calc.serving.evaluate import evaluate

Inputs = Mapping[str, float]
MOST = 64.0  # severity that is tried
AS_USERS_SEE = "steady_e2e"
HEALTHY, LONE = ("", 1.0), ("lone", 1.0)  # as planned, and in a quiet hour
WAITED = ("ttft", "steady_ttft", "e2e", "steady_e2e", "steady_queue")  # that a queue adds to


@dataclass(frozen=True)
class Failure:
    """What may go wrong.

    Attributes:
        severity: by how much, as it may well happen.
        worse: inputs and a severity -> what differs from the inputs.
        grows: whether it may be worse than that.
        possible: whether a deployment can suffer it.
    """

    severity: float
    worse: Callable[[Inputs, Any], dict[str, Any]]
    grows: bool = True
    possible: Callable[[Inputs], bool] = lambda of: True

    @property
    def severities(self) -> tuple[float, ...]:
        """That are tried, each twice the one before."""
        doublings = int(math.log2(MOST / self.severity)) if self.grows else 0
        return tuple(self.severity * 2**power for power in range(doublings + 1))


def _slower(*names: str) -> Callable[[Inputs, Any], dict[str, Any]]:
    return lambda of, by: {name: of[name] / by for name in names}


def _more(*names: str) -> Callable[[Inputs, Any], dict[str, Any]]:
    return lambda of, by: {name: of[name] * by for name in names}


def _longer(name: str) -> Callable[[Inputs, Any], dict[str, Any]]:
    return lambda of, by: {name: of[name] * by, "context_tokens": (
        of["input_tokens"] + of["output_tokens"] + of[name] * (by - 1))}


FAILURES: dict[str, Failure] = {
    "clock": Failure(2, _slower("clock_factor")),
    "memory": Failure(2, _slower("memory_bandwidth")),
    "links": Failure(4, _slower("device_link_bandwidth", "pair_bandwidth")),
    "network": Failure(4, _slower("network_bandwidth")),
    "alpha": Failure(4, _more("collective_alpha")),
    "host": Failure(4, _more("host_gap_per_step")),
    "eager": Failure(2, lambda of, by: {
        "captured": 0.0, "host_time_per_operator": of["host_time_per_operator"] * by}, grows=False),
    "uneven": Failure(1, lambda of, by: {"even_routing": 0.0}, grows=False),
    "prompts": Failure(2, _longer("input_tokens")),
    "answers": Failure(2, _longer("output_tokens")),
    "users": Failure(2, _more("concurrency")),
    "cache": Failure(2, lambda of, by: {}),
    "lost": Failure(  # where replicas share no experts, so that one is lost without the others
        2, lambda of, by: {"data_parallel": math.ceil(of["data_parallel"] / by)}, grows=False,
        possible=lambda of: of["data_parallel"] > 1 and of["expert_parallel"] <= (
            of["tensor_parallel"] * max(1.0, of["prefill_context_parallel"]))),
}
"""Causes by name: clock, memory, links, network (in one server or between several), start of a
collective, host between steps, no captured graphs, uneven experts, longer prompts or answers, more
requests, fewer blocks of the cache, half of the replicas lost. A server that others share experts
with takes them along: nothing is exported then, and no rule on a metric fires."""


@dataclass(frozen=True)
class Simulated:
    """Metrics of a deployment, healthy and in each failure.

    Attributes:
        points: what fails and by how much; before that ``HEALTHY``, and ``LONE``, a single request
            in each replica with nothing amiss.
        values: quantity or input -> its value at each point, SI; ``waiting_requests`` are those
            that find no place.
    """

    points: tuple[tuple[str, float], ...]
    values: Mapping[str, Any]

    def of(self, name: str) -> np.ndarray:
        """A quantity at each point. Raises KeyError for one that there is not."""
        return np.broadcast_to(np.asarray(self.values[name], dtype=float), len(self.points))


def simulate(of: Inputs, attention: str) -> Simulated:
    """What the metrics of a deployment come to, healthy and in each failure.

    An engine takes as many requests at once as are planned (``max_num_seqs``), and as its cache
    holds; those beyond wait, by Little's law as long as it takes to answer so many.

    Args:
        of: inputs of the deployment.
        attention: the kind of its model's.
    """
    points = (HEALTHY, LONE, *(
        (name, by) for name, failure in FAILURES.items() if failure.possible(of)
        for by in failure.severities))
    healthy: list[dict[str, Any]] = [{}, {"concurrency": of["data_parallel"]}]
    changes = healthy + [FAILURES[name].worse(of, by) for name, by in points[len(healthy):]]
    varied: dict[str, Any] = {**of}
    for name in {key for change in changes for key in change}:
        varied[name] = np.array([change.get(name, of.get(name, 1.0)) for change in changes])
    fewer = np.array([by if name == "cache" else 1.0 for name, by in points])
    load = np.asarray(varied["concurrency"])
    replicas = np.asarray(varied["data_parallel"], dtype=float)
    places = of["concurrency"] / of["data_parallel"] * replicas
    varied["concurrency"] = np.minimum(load, places)
    quantities = evaluate(varied, attention)
    holds = np.maximum(1.0, np.floor(np.asarray(quantities["max_concurrency"]) / fewer) * replicas)
    full = holds < varied["concurrency"]
    if np.any(full):
        varied["concurrency"] = np.minimum(varied["concurrency"], holds)
        quantities = evaluate(varied, attention)
    waiting = load - varied["concurrency"]
    queue = waiting / np.asarray(quantities["steady_request_throughput"])
    values = {**varied, **quantities, "waiting_requests": waiting,
              "cache_occupied": np.where(full, 1.0, np.minimum(
                  1.0, np.asarray(quantities["cache_occupied"]) * fewer))}
    return Simulated(points, values | {name: quantities[name] + queue for name in WAITED})
