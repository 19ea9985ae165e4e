"""Layouts of a deployment on more and more cards, in one pool and in two, and what limits them.

One pool: every valid layout of so many cards is evaluated at every number of requests that is
tried, so the best here is the best that the runtime can lay out. Requests come independently of
each other, and limits hold for the means of a steady state in closed form, with its doubts. Where
prompts are prefilled beside decode, ranks that step together in a pipeline are left out: there the
closed form is too fast near saturation (by a third, compared with the simulation). A step may draft
a token, and overlap two micro-batches; redundant experts are not tried.

Two pools: those that a search tries, and a pair of them as a search combines it; as many groups of
each stand side by side as the cards hold.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calc.answer.service import balanced
from calc.capacity.day import MOST_OVERFLOW, Limits
from calc.layouts.feasible import HEADROOM, admitted, has_room
from calc.layouts.layout import (
    Choice,
    Sizes,
    at,
    changed,
    enumerate_layouts,
    iter_rows,
    of_pool,
    placement,
)
from calc.layouts.space import AXES, Base, Cells, Space, choice_at
from calc.many.sweeps import sweep
from calc.physics.arrays import Inputs
from calc.physics.step import bottleneck
from calc.searching.alternatives import default_share, goal_of
from calc.searching.goal import wishes
from calc.searching.pools import FIRST, THEN, pools
from calc.serving.evaluate import doubts, evaluate
from calc.serving.metrics import MOST_SEQUENCES
from catalogue import Scenario, load_node
from catalogue.deployments.admission import (
    CONTEXT,
    KINDS,
    OF_PRECISION,
    cut_of,
    subject_of,
)
from catalogue.deployments.cuts import Cut as Laid
from catalogue.deployments.cuts import written
from catalogue.deployments.physics_inputs import DEGREES
from catalogue.planning import CardRange

REQUESTS = 48  # numbers of requests that are tried of each layout
Cut = tuple[int, int, int, int]  # tensor, pipeline, data and expert parallel size
Way = tuple[int, int]  # drafted tokens of a step, and the micro-batches that it is run in
SIZES = (8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 320, 384)  # cards that are tried
STEADY = (HEADROOM, "cache_overflow", "steady_ttft", "steady_tpot",
          "steady_request_throughput")
TTFT, TPOT, MEMORY, ENGINE = "ttft", "tpot", "memory_capacity", "max_num_seqs"
HALVES = [1, 2]  # micro-batches of a step
LAID = ("parallelism.", "cluster.nodes", "cluster.devices")  # settings of how cards are cut
IDEAL = {"rate": np.inf, "tpot": 0.0, "port": 0.0, "received": np.inf}  # a pool that never binds


def on(scenario: Scenario, devices: int, cut: Cut) -> Scenario:
    """A deployment on so many cards of its kind, cut so; what it states of copies goes along."""
    per_node = int(scenario.node.devices_per_node.value)
    nodes = max(1, -(-devices // per_node))
    settings: dict[str, str | int] = {"cluster.nodes": nodes}
    if scenario.file.cluster.devices is not None or devices < nodes * per_node:
        settings["cluster.devices"] = devices
    return changed(scenario, settings | {
        f"parallelism.{name}": size for name, size in zip(DEGREES, cut, strict=True)})


def layouts(scenario: Scenario, devices: int, mixed: bool = False) -> list[Cut]:
    """Every cut of so many cards that an engine loads, and in which it drafts if it is to.

    Args:
        scenario: the deployment.
        devices: cards [1].
        mixed: whether prompts are prefilled beside decode, without ranks that step together in a
            pipeline.
    """
    own = cut_of(scenario)
    rows, _ = enumerate_layouts((devices,),
                                Sizes(slices=(own.slices,), spares=lambda _: (own.spares,),
                                      context=(own.context,)))
    alike = {"shared_ranks": own.shared_ranks, "drafts": own.drafts, "drafter": own.drafter}
    rows |= {name: np.full(len(rows["tensor"]), value) for name, value in alike.items()}
    # what it is stored in, and how long its requests are, is the deployment's own
    keep = admitted(replace(subject_of(scenario), staged_groups=not mixed), rows, [
        kind for kind in KINDS if kind not in (*OF_PRECISION, CONTEXT)])
    return [(row["tensor"], row["pipeline"], row["data"], row["expert"])
            for row in iter_rows(at(rows, keep))]


def drafts_of(scenario: Scenario) -> list[int]:
    """Drafted tokens of a step that are tried: the deployment's own, and none or one where the
    model has a layer that drafts."""
    layers, own = scenario.model.num_nextn_predict_layers, scenario.inputs()["draft_tokens"]
    return sorted({int(own), *((0, 1) if layers and layers.value else ())})


def ways(scenario: Scenario, cuts: Sequence[Cut]) -> list[tuple[Cut, Way]]:
    """How steps of cuts are tried: with so many drafts, in micro-batches where ranks exchange
    tokens that they may hide."""
    drafts = drafts_of(scenario)
    return [(cut, (drafted, batches)) for cut in cuts for drafted in drafts
            for batches in (HALVES if cut[3] > cut[0] else HALVES[:1])]


@dataclass(frozen=True)
class Best:
    """The layout of so many cards that finishes most requests within limits.

    Attributes:
        devices: cards [1].
        cut: tensor, pipeline, data and expert parallel size.
        draft_tokens, micro_batches: drafted tokens of a step, and the parts that it is run in [1].
        requests: in flight [request].
        rate: that it finishes [request/s].
        per_device: output tokens per card [token/s].
        ttft, tpot: means of a steady state [s].
        binds: what more requests would break: ``ttft``, ``tpot``, ``memory_capacity`` or
            ``max_num_seqs``.
        resource: that binds the largest part of its decode step.
        doubts: why a simulation may give others, by name of
            ``calc.serving.evaluate.doubt_words``;
            of so many requests it takes too long to be made here.
        layout: the cut as ``TP8×DP2/EP16``.
    """

    devices: int
    cut: Cut
    draft_tokens: int
    micro_batches: int
    requests: int
    rate: float
    per_device: float
    ttft: float
    tpot: float
    binds: str
    resource: str
    doubts: tuple[str, ...]
    layout: str


class OnePool:
    """What the runtime gives for every layout of some numbers of cards, whatever the limits.

    Args:
        scenario: the deployment: its model, card, server, precision and workload hold.
        sizes: numbers of cards [1].
    """

    def __init__(self, scenario: Scenario, sizes: Sequence[int]) -> None:
        self.scenario = scenario
        self.options = [(devices, *option) for devices in sizes
                        for option in ways(scenario, layouts(scenario, devices, mixed=True))]
        slices, alike = cut_of(scenario).slices, dict[tuple[Any, ...], dict[str, Any]]()
        self.rows = list[dict[str, Any]]()
        for devices, cut, (drafts, batches) in self.options:
            kind = placement(scenario.node, {"devices": devices, "tensor": cut[0], "data": cut[2],
                                             "expert": cut[3], "slices": slices})
            if kind not in alike:  # inputs of cuts that lie on servers in the same way
                alike[kind] = on(scenario, devices, cut).inputs()
            self.rows.append({**alike[kind], **dict(zip(DEGREES, cut, strict=True)),
                              "draft_tokens": drafts, "micro_batches": batches,
                              "open_arrivals": 1, "think_time": 0})
        of_rank = np.unique(np.geomspace(1, MOST_SEQUENCES, REQUESTS).round())
        self.counts = np.array([of_rank * cut[2] for _, cut, _ in self.options])
        columns = {name: np.array([row[name] for row in self.rows], float)
                   for name in (self.rows[0] if self.rows else ())}
        columns = {name: values[0] if (values == values[0]).all() else
                   np.repeat(values, of_rank.size) for name, values in columns.items()}
        self.swept = {name: column.reshape(self.counts.shape) for name, column in sweep(
            columns | {"concurrency": self.counts.ravel()}, scenario.model.attention,
            STEADY).items()} if self.rows else {}

    def best(self, limits: Limits) -> dict[int, Best]:
        """The best layout by number of cards, of those that hold the model within limits.

        Args:
            limits: of the means; ``limits.share`` is not looked at.
        """
        if not self.rows:
            return {}
        swept, result = self.swept, {}
        fits = has_room(swept)
        room = fits | ((swept["cache_overflow"] <= MOST_OVERFLOW) & fits[:, :1])
        good = room & (swept["steady_ttft"] <= limits.ttft) & (swept["steady_tpot"] <= limits.tpot)
        rates = np.where(good, swept["steady_request_throughput"], 0.0)
        sizes = np.array([devices for devices, *_ in self.options])
        for devices in np.unique(sizes).tolist():
            rows = np.flatnonzero(sizes == devices)
            place, column = np.unravel_index(rates[rows].argmax(), rates[rows].shape)
            row = int(rows[place])
            if rates[row, column] > 0:
                result[devices] = self._at(row, int(column), binding(
                    swept, room, row, int(column), limits))
        return result

    def _at(self, row: int, column: int, binds: str) -> Best:
        """A layout with a number of requests, which ``binds`` keeps from more."""
        devices, cut, way = self.options[row]
        inputs = {**self.rows[row], "concurrency": float(self.counts[row, column])}
        ttft, tpot, rate = (float(self.swept[name][row, column]) for name in (
            "steady_ttft", "steady_tpot", "steady_request_throughput"))
        everything = evaluate(inputs, self.scenario.model.attention)
        q = Inputs({name: np.float64(value) for name, value in inputs.items()})
        return Best(devices, cut, *way, int(inputs["concurrency"]), rate,
                    rate * float(inputs["output_tokens"]) / devices, ttft, tpot, binds,
                    bottleneck(inputs, everything),
                    tuple(name for name, is_met in doubts(q, everything).items() if is_met),
                    written(Laid(*cut))["en"])


def binding(swept: Mapping[str, np.ndarray], room: np.ndarray, row: int, column: int,
            limits: Limits) -> str:
    """What the next number of requests of a layout would break.

    Args:
        swept: quantities by layout (rows) and number of requests (columns).
        room: whether the cache suffices, likewise.
        row, column: of the layout and its requests.
        limits: of the means.
    """
    after = column + 1
    if after == room.shape[1]:
        return ENGINE
    if swept["steady_tpot"][row, after] > limits.tpot:
        return TPOT
    if swept["steady_ttft"][row, after] > limits.ttft:
        return TTFT
    return ENGINE if room[row, after] else MEMORY


def sizes_of(per_node: int) -> tuple[int, ...]:
    """Numbers of cards that are tried: whole servers [1]."""
    return tuple(size for size in SIZES if size % per_node == 0)


@dataclass(frozen=True)
class TwoPools:
    """Cards in a prefill and a decode pool, in whole groups.

    Attributes:
        devices: cards that are there [1].
        groups: of those that prefill and of those that decode [1].
        prefill, decode: a group of either, as a search chooses it.
        rate: that both finish together [request/s].
        per_device: output tokens per card of all of them [token/s].
        ttft, tpot: means of a steady state [s].
        binds: ``prefill``, ``decode`` or ``transfer``.
    """

    devices: int
    groups: tuple[int, int]
    prefill: Choice
    decode: Choice
    rate: float
    per_device: float
    ttft: float
    tpot: float
    binds: str


class Pairing:
    """The pools of a deployment that are paired, whatever the limits.

    Args:
        scenario: the deployment: its model, card, server, precision and workload hold.
        sizes: cards of a group [1].
        narrow: whether the experts of a group stay in one server.
        space: of another pairing of the same deployment and sizes, whose layouts are judged once.
    """

    def __init__(self, scenario: Scenario, sizes: Sequence[int], narrow: bool = False,
                 space: Space | None = None) -> None:
        self.scenario, self.sizes, self.narrow = scenario, tuple(sizes), narrow
        self.answer = float(scenario.inputs()["output_tokens"])
        if space is None:
            goal = goal_of(
                scenario, {"drafts": sorted({0, *drafts_of(scenario)}),
                           "micro_batches": HALVES, "pools": ["two"]},
                cards=CardRange.model_construct(fewest=1, most=max(sizes)),
                objectives=["throughput"], precisions=[scenario.precision.id],
                engines=[scenario.engine] if scenario.engine else None)
            space = Space(goal, resolve=self._resolved, share=default_share(scenario))
            space.model = scenario.model  # with what was changed in it
        self.space = space
        self.pools, = pools(space, wishes(space), self._of_sizes)  # that none of as many beats

    def _resolved(self, choice: Choice) -> Scenario:
        """The deployment in the layout of a choice, as the pool that it is."""
        settings = {key: value for key, value in choice.settings().items()
                    if key.startswith(LAID)}
        settings |= {"workload.draft_tokens": choice.drafts,
                     "workload.max_num_batched_tokens": choice.chunk}
        prompt = int(self.scenario.inputs()["input_tokens"])
        return changed(self.scenario, settings | of_pool(choice, prompt))

    def _of_sizes(self, base: Base, cells: Cells) -> np.ndarray:
        """Whether groups have one of the sizes, and lie within a server where they have to."""
        per_node = int(load_node(base.node).devices_per_node.value)
        keep = np.isin(cells["devices"], self.sizes)
        return keep & (cells["expert"] <= per_node) if self.narrow else keep

    def best(self, limits: Limits) -> dict[int, TwoPools]:
        """The most that both finish together within limits, by number of cards.

        Of each size the group is taken that prefills most within the limit on the TTFT with the
        ports of the slowest decode group, and the one that decodes most within that on the TPOT.

        Args:
            limits: of the means.
        """
        prefill, decode = self.pools.prefill, self.pools.decode
        if not prefill or not decode:
            return {}
        ideal = {name: np.full(len(prefill["rate"]), value) for name, value in (
            IDEAL | {"port": float(decode["port"].max())}).items()}
        first = _largest(prefill, self._balanced(prefill, ideal, limits)["throughput"]
                         / self.answer)
        then = _largest(decode, np.where(decode["tpot"] <= limits.tpot, np.minimum(
            decode["rate"], decode["received"]), 0.0))
        result = {}
        for devices in self.sizes:
            together = [(min(a * p["rate"], b * d["rate"]), a, p, b, d)
                        for p in first for d in then
                        for a in range(1, (devices - d["devices"]) // p["devices"] + 1)
                        if (b := (devices - a * p["devices"]) // d["devices"]) > 0]
            if together:
                _, a, p, b, d = max(together, key=lambda pair: pair[0])
                result[devices] = self._joined(devices, (a, p["row"]), (b, d["row"]), limits)
        return result

    def _balanced(self, first: Cells, then: Cells, limits: Limits) -> dict[str, np.ndarray]:
        """The steady state of pairs of pools within a limit on the TTFT."""
        return balanced(first, then, self.answer,
                        limits.ttft if math.isfinite(limits.ttft) else None)

    def _joined(self, devices: int, first: tuple[int, dict[str, Any]],
                then: tuple[int, dict[str, Any]], limits: Limits) -> TwoPools:
        """So many prefill groups and decode groups on so many cards."""
        left, right = ({name: np.array([row[name] * (count if name in ("rate", "received") else 1)])
                        for name in names if name in row}
                       for (count, row), names in ((first, FIRST), (then, THEN)))
        seen = {name: float(values[0])
                for name, values in self._balanced(left, right, limits).items()}
        rates = {name: seen[f"{name} rate"] for name in ("prefill", "decode", "transfer")}
        prefill, decode = (replace(choice_at(
            self.pools.base, {name: np.array([row[name]]) for name in AXES}, 0,
            int(row["concurrency"])), pool=pool)
            for pool, (_, row) in (("prefill", first), ("decode", then)))
        return TwoPools(devices, (first[0], then[0]), prefill, decode,
                        seen["throughput"] / self.answer, seen["throughput"] / devices,
                        seen["ttft"], seen["tpot"], min(rates, key=lambda name: rates[name]))


def _largest(rows: Cells, rates: np.ndarray) -> list[dict[str, Any]]:
    """Of each number of cards the group with the largest rate, of those that have one."""
    result = []
    for devices in np.unique(rows["devices"]):
        of_size = np.flatnonzero(rows["devices"] == devices)
        best = int(of_size[rates[of_size].argmax()])
        if rates[best] > 0:
            result.append({"devices": int(devices), "rate": float(rates[best]),
                          "row": {name: column[best] for name, column in rows.items()}})
    return result
