"""A deployment on more and more cards: the best layout of each number, what binds it, two pools.

Every valid cut of so many cards is evaluated at every number of requests that is tried: what is
best here is best of all that the runtime can lay out. Users come independently of each other, and
limits hold for the means of a steady state in closed form. Where prompts are prefilled beside
decode, ranks that step together in a pipeline are left out: there the closed form is too fast near
saturation (by a third, held against the simulation). A decode pool has no prompts, and all cuts.
A step may draft a token, and overlap two half-batches; redundant experts are not tried.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from calc.choosing.advice import changed
from calc.choosing.layouts import Cut, cuts, staged_group
from calc.choosing.sweeps import sweep
from calc.deciding.replicas import MOST_OVERFLOW, Limits
from calc.physics.breakdown import bottleneck
from calc.quantities.everything import evaluate
from calc.serving.replay import MOST_SEQUENCES
from catalogue import Scenario
from catalogue.deployments.blocks import block_problem
from catalogue.deployments.fabric import scale_up_domain
from catalogue.deployments.layout import DEGREES
from catalogue.deployments.profiles import drafts_in_stages

SIZES = (8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 320, 384)  # cards that are tried
REQUESTS = 48  # numbers of requests that are tried of each layout
STEADY = ("headroom_per_device", "cache_overflow", "steady_ttft", "steady_tpot",
          "steady_request_throughput")
MOST_BUSY = 0.99  # of a prefill rank, where no TTFT is promised
Way = tuple[int, int]  # drafted tokens of a step, and the half-batches that it is run in
TTFT, TPOT, MEMORY, ENGINE = "ttft", "tpot", "memory_capacity", "max_num_seqs"


@dataclass(frozen=True)
class Best:
    """The layout of so many cards that finishes most requests within limits.

    Attributes:
        devices: cards [1].
        cut: tensor, pipeline, data and expert parallel size.
        requests: in flight [request].
        rate: that it finishes [request/s].
        per_device: output tokens per card [token/s].
        ttft, tpot: means of a steady state [s].
        binds: what more requests would break: ``ttft``, ``tpot``, ``memory_capacity`` or
            ``max_num_seqs``.
        resource: that binds the largest part of its decode step.
        wide: whether its experts lie on more cards than one server has.
        tried: layouts and numbers of requests that were evaluated [1].
        way: drafted tokens of a step, and the half-batches that it is run in [1].
    """

    devices: int
    cut: Cut
    requests: int
    rate: float
    per_device: float
    ttft: float
    tpot: float
    binds: str
    resource: str
    wide: bool
    tried: int
    way: Way

    @property
    def layout(self) -> str:
        """``TP8×DP2, EP16``."""
        tp, pp, dp, ep = self.cut
        return f"TP{tp}" + f"×PP{pp}" * (pp > 1) + f"×DP{dp}" * (dp > 1) + f", EP{ep}"

    def as_json(self) -> dict[str, Any]:
        """Plain data, SI units."""
        return {**vars(self), "cut": list(self.cut), "layout": self.layout,
                **_told(self.way)}


def on(scenario: Scenario, devices: int, cut: Cut) -> Scenario:
    """A deployment on so many cards of its kind, cut so; what it states of copies goes along."""
    per_node = int(scenario.node.devices_per_node.value)
    nodes = max(1, -(-devices // per_node))
    settings: dict[str, str | int] = {"cluster.nodes": nodes}
    if scenario.file.cluster.devices is not None or devices < nodes * per_node:
        settings["cluster.devices"] = devices
    return changed(scenario, settings | {
        f"parallelism.{name}": size for name, size in zip(DEGREES, cut, strict=True)})


def layouts(scenario: Scenario, devices: int, narrow: bool = False, mixed: bool = False
            ) -> list[Cut]:
    """Every cut of so many cards that an engine loads, and in which it drafts if it is to.

    Args:
        scenario: the deployment.
        devices: cards [1].
        narrow: whether the experts of a replica stay in one server.
        mixed: whether prompts are prefilled beside decode, without ranks that step together in a
            pipeline.
    """
    inputs, attention = scenario.inputs(), scenario.model.attention
    per_node = int(scenario.node.devices_per_node.value)
    found = cuts(inputs, attention, scenario.model.id, devices, scale_up_domain(scenario.node))
    staged = not inputs["draft_tokens"] or drafts_in_stages(
        scenario.device, scenario.model, scenario.engine)
    return [cut for cut in found if (not narrow or cut[3] <= per_node)
            and (staged or cut[1] == 1)
            and not (mixed and staged_group(cut[0], cut[1], cut[3]))
            and block_problem(inputs, attention, scenario.model.id, scenario.precision,
                              cut) is None]


def ways(scenario: Scenario, cut: Cut) -> list[Way]:
    """How steps of a cut are tried: with the deployment's own drafts, none, and one where the model
    has a layer that drafts; in half-batches where ranks exchange tokens that they may hide.
    """
    layers = scenario.model.num_nextn_predict_layers
    drafts = {int(scenario.inputs()["draft_tokens"])} | ({0, 1} if layers and layers.value
                                                         else set())
    return list(itertools.product(sorted(drafts), (1, 2) if cut[3] > cut[0] else (1,)))


def _own(scenario: Scenario) -> Way:
    inputs = scenario.inputs()
    return int(inputs["draft_tokens"]), int(inputs["micro_batches"])


def _told(way: Way) -> dict[str, Any]:
    return {"way": {"draft_tokens": way[0], "micro_batches": way[1]}}


def _requests(cut: Cut) -> np.ndarray:
    """Numbers of requests in flight that are tried: as many on each rank [request]."""
    return np.unique(np.geomspace(1, MOST_SEQUENCES, REQUESTS).round()) * cut[2]


def _table(scenario: Scenario, devices: int, choices: Sequence[tuple[Cut, Way]],
           names: Sequence[str], **given: float
           ) -> tuple[np.ndarray, dict[str, np.ndarray], list[dict[str, Any]]]:
    """Quantities of every cut and way (rows) at every number of requests (columns).

    Returns the requests, shape (choices, numbers), the quantities, and the inputs of each choice.
    """
    of_cuts = {cut: on(scenario, devices, cut).inputs() for cut in dict(choices)}
    rows = [{**of_cuts[cut], "draft_tokens": drafts, "micro_batches": batches} | given
            for cut, (drafts, batches) in choices]
    counts = np.array([_requests(cut) for cut, _ in choices])
    columns: dict[str, Any] = {}
    for name in rows[0]:
        values = np.array([row[name] for row in rows], float)
        columns[name] = values[0] if (values == values[0]).all() else np.repeat(
            values, counts.shape[1])
    columns["concurrency"] = counts.ravel()
    found = sweep(columns, scenario.model.attention, names)
    return counts, {name: column.reshape(counts.shape) for name, column in found.items()}, rows


def best(scenario: Scenario, devices: int, limits: Limits, narrow: bool = False,
         own: bool = False) -> Best | None:
    """The best layout of so many cards; None where none holds the model within limits.

    Args:
        scenario: the deployment: its model, card, server, precision and workload hold.
        devices: cards [1].
        limits: of the means; ``limits.share`` is not looked at.
        narrow: whether the experts of a replica stay in one server.
        own: whether steps are the deployment's own: neither drafts nor half-batches are tried.
    """
    choices = [(cut, way) for cut in layouts(scenario, devices, narrow, mixed=True)
               for way in ([_own(scenario)] if own else ways(scenario, cut))]
    if not choices:
        return None
    counts, found, rows = _table(scenario, devices, choices, STEADY, open_arrivals=1,
                                 think_time=0)
    rates = found["steady_request_throughput"]
    room = (found["headroom_per_device"] >= 0) | (
        (found["cache_overflow"] <= MOST_OVERFLOW) & (found["headroom_per_device"][:, :1] >= 0))
    good = room & (found["steady_ttft"] <= limits.ttft) & (found["steady_tpot"] <= limits.tpot)
    if not (good & (rates > 0)).any():
        return None
    row, column = (int(at) for at in np.unravel_index(
        np.where(good, rates, -1.0).argmax(), rates.shape))
    inputs = {**rows[row], "concurrency": float(counts[row, column])}
    answer = float(inputs["output_tokens"])
    ttft, tpot, rate = (float(found[name][row, column]) for name in (
        "steady_ttft", "steady_tpot", "steady_request_throughput"))
    cut, way = choices[row]
    return Best(devices, cut, int(counts[row, column]), rate, rate * answer / devices,
                ttft, tpot, _binding(found, room, row, column, limits),
                bottleneck(inputs, evaluate(inputs, scenario.model.attention)),
                cut[3] > int(scenario.node.devices_per_node.value), counts.size, way)


def _binding(found: Mapping[str, np.ndarray], room: np.ndarray, row: int, column: int,
             limits: Limits) -> str:
    """What the next number of requests of a layout would break."""
    if column + 1 == room.shape[1]:
        return ENGINE
    after = column + 1
    if found["steady_tpot"][row, after] > limits.tpot:
        return TPOT
    if found["steady_ttft"][row, after] > limits.ttft:
        return TTFT
    return ENGINE if room[row, after] else MEMORY


@dataclass(frozen=True)
class TwoPools:
    """Cards in a prefill and a decode pool, in whole groups.

    Attributes:
        devices: cards that are there [1].
        prefill, decode: groups of either, cards of a group, and its layout.
        rate: that both finish together [request/s].
        per_device: output tokens per card of all of them [token/s].
        ttft, tpot: means [s].
        binds: ``prefill`` or ``decode``.
        way: drafted tokens of a step of the decode pool, and its half-batches [1].
    """

    devices: int
    prefill: tuple[int, int, Cut]
    decode: tuple[int, int, Cut]
    rate: float
    per_device: float
    ttft: float
    tpot: float
    binds: str
    way: Way

    def as_json(self) -> dict[str, Any]:
        """Plain data, SI units."""
        return vars(self) | _told(self.way)


@dataclass(frozen=True)
class _Group:
    devices: int
    cut: Cut
    rate: float
    time: float
    way: Way = (0, 1)


def _decoders(scenario: Scenario, sizes: Sequence[int], limits: Limits, narrow: bool
              ) -> list[_Group]:
    """Of each size the group that decodes most requests within TPOT."""
    groups = []
    for size in sizes:
        if choices := [(cut, way) for cut in layouts(scenario, size, narrow)
                       for way in ways(scenario, cut)]:
            counts, found, rows = _table(
                scenario, size, choices, ("headroom_per_device", "decode_step_time",
                                          "tokens_per_step", "draft_time"), separate_pools=1)
            gap = np.array([[row["host_gap_per_step"]] for row in rows])
            pace = found["decode_step_time"] + found["draft_time"] + gap
            pace /= found["tokens_per_step"]
            later = max(1.0, float(rows[0]["output_tokens"]) - 1)
            good = (found["headroom_per_device"] >= 0) & (pace <= limits.tpot)
            rates = np.where(good, counts / (later * pace), -1.0)
            row, column = np.unravel_index(rates.argmax(), rates.shape)
            if rates[row, column] > 0:
                cut, way = choices[row]
                groups.append(_Group(size, cut, float(rates[row, column]),
                                     float(pace[row, column]), way))
    return groups


def _prefillers(scenario: Scenario, sizes: Sequence[int], limits: Limits, transfer: float,
                narrow: bool) -> list[_Group]:
    """Of each size the group that prefills most prompts of independent users within TTFT.

    A rank works on one prompt after the other, all equal: M/D/1; stages on different ones.
    """
    best_of: dict[int, _Group] = {}
    for size in sizes:
        for cut in layouts(scenario, size, narrow):
            found = evaluate(on(scenario, size, cut).inputs() | {
                "separate_pools": 0, "output_tokens": 1, "concurrency": cut[2]},
                scenario.model.attention)
            alone = float(found["ttft"])
            service = float(found["prefill_step_time"] * found["prompt_chunks"]) / cut[1]
            spare = limits.ttft - alone - transfer
            if found["headroom_per_device"] < 0 or spare < 0:
                continue
            busy = spare / (spare + service / 2) if math.isfinite(spare) else MOST_BUSY
            group = _Group(size, cut, busy * cut[2] / service,
                           alone + transfer + busy * service / (2 * (1 - busy)))
            if size not in best_of or group.rate > best_of[size].rate:
                best_of[size] = group
    return list(best_of.values())


def two_pools(scenario: Scenario, sizes: Sequence[int], limits: Limits,
              narrow: bool = False) -> dict[int, TwoPools]:
    """Two pools on each number of cards, the best whole groups of any sizes up to it.

    Args:
        scenario: the deployment.
        sizes: numbers of cards; groups have one of them each.
        limits: of the means.
        narrow: whether the experts of a group stay in one server.
    """
    inputs = scenario.inputs()
    transfer = float(evaluate(dict(inputs) | {"separate_pools": 1},
                              scenario.model.attention)["kv_transfer_time"])
    first = _prefillers(scenario, sizes, limits, transfer, narrow)
    second = _decoders(scenario, sizes, limits, narrow)
    found = {}
    for devices in sizes:
        pairs = [(min(a * p.rate, b * d.rate), a, p, b, d) for p in first for d in second
                 for a in range(1, (devices - d.devices) // p.devices + 1)
                 if (b := (devices - a * p.devices) // d.devices) > 0]
        if pairs:
            rate, a, p, b, d = max(pairs, key=lambda pair: pair[0])
            found[devices] = TwoPools(
                devices, (a, p.devices, p.cut), (b, d.devices, d.cut), rate,
                rate * float(inputs["output_tokens"]) / devices, p.time, d.time,
                "prefill" if a * p.rate < b * d.rate else "decode", d.way)
    return found


@cache
def sizes_of(per_node: int, most: int = SIZES[-1]) -> tuple[int, ...]:
    """Numbers of cards that are whole servers, up to the most [1]."""
    return tuple(size for size in SIZES if size <= most and size % per_node == 0)
