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
from functools import cache, cached_property
from typing import Any

import numpy as np

from calc.answer.service import balanced
from calc.capacity.day import MOST_OVERFLOW, Limits
from calc.layouts.feasible import HEADROOM, KINDS, admitted, has_room
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
from calc.searching.pools import FIRST, THEN, Pools, pools
from calc.serving.evaluate import doubt_words, doubts, evaluate
from calc.serving.metrics import MOST_SEQUENCES
from catalogue import Scenario, load_node
from catalogue.deployments.admission import CONTEXT, OF_PRECISION, cut_of, subject_of
from catalogue.deployments.cuts import Cut as Laid
from catalogue.deployments.cuts import written
from catalogue.deployments.physics_inputs import DEGREES
from catalogue.planning import CardRange

REQUESTS = 48  # numbers of requests that are tried of each layout
Cut = tuple[int, int, int, int]  # tensor, pipeline, data and expert parallel size
Way = tuple[int, int]  # drafted tokens of a step, and the micro-batches that it is run in
Option = tuple[Cut, Way]
SIZES = (8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 320, 384)  # cards that are tried
STEADY = (HEADROOM, "cache_overflow", "steady_ttft", "steady_tpot",
          "steady_request_throughput")
TTFT, TPOT, MEMORY, ENGINE = "ttft", "tpot", "memory_capacity", "max_num_seqs"
DRAFTS, HALVES = (0, 1), [1, 2]
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
    own = cut_of(scenario)
    rows, _ = enumerate_layouts((devices,),
                                Sizes(slices=(own.slices,), spares=lambda _: (own.spares,),
                                      context=(own.context,)))
    alike = {"shared_ranks": own.shared_ranks, "drafts": own.drafts, "drafter": own.drafter}
    rows |= {name: np.full(len(rows["tensor"]), value) for name, value in alike.items()}
    # what it is stored in, and how long its requests are, is the deployment's own
    keep = admitted(replace(subject_of(scenario), staged_groups=not mixed), rows, [
        kind for kind in KINDS if kind not in (*OF_PRECISION, CONTEXT)])
    cuts = [(row["tensor"], row["pipeline"], row["data"], row["expert"])
            for row in iter_rows(at(rows, keep))]
    return [cut for cut in cuts if not (narrow and is_wide(scenario, cut))]


def is_wide(scenario: Scenario, cut: Cut) -> bool:
    """Whether the experts of a replica lie on more cards than one server has."""
    return bool(cut[3] > scenario.node.devices_per_node.value)


def ways(scenario: Scenario, cuts: Sequence[Cut]) -> list[Option]:
    """How steps of cuts are tried: with the deployment's own drafts, none, and one where the model
    has a layer that drafts; in micro-batches where ranks exchange tokens that they may hide.
    """
    layers, own = scenario.model.num_nextn_predict_layers, scenario.inputs()["draft_tokens"]
    drafts = sorted({int(own), *((0, 1) if layers and layers.value else ())})
    return [(cut, (drafted, batches)) for cut in cuts for drafted in drafts
            for batches in ((1, 2) if cut[3] > cut[0] else (1,))]


def requests_of(options: Sequence[Option]) -> np.ndarray:
    """Numbers of requests in flight that are tried of each cut: as many on each rank [request]."""
    of_rank = np.unique(np.geomspace(1, MOST_SEQUENCES, REQUESTS).round())
    return np.array([of_rank * cut[2] for cut, _ in options])


class Tables:
    """What the runtime gives for every cut of so many cards, whatever the limits: made once.

    Args:
        scenario: the deployment.
    """

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self._slices = cut_of(scenario).slices
        self._inputs: dict[tuple[Any, ...], dict[str, Any]] = {}

    def rows(self, devices: int, options: Sequence[Option]) -> list[dict[str, Any]]:
        """The inputs of cuts of so many cards, each with the way its steps are tried."""
        return [{**self._alike(devices, cut), **dict(zip(DEGREES, cut, strict=True)),
                 "draft_tokens": drafts, "micro_batches": batches}
                for cut, (drafts, batches) in options]

    def _alike(self, devices: int, cut: Cut) -> dict[str, Any]:
        """The inputs of a cut that lies on servers as this one does."""
        tensor, _, data, expert = cut
        kind = placement(self.scenario.node, {
            "devices": devices, "tensor": tensor, "data": data, "expert": expert,
            "slices": self._slices})
        if kind not in self._inputs:
            self._inputs[kind] = on(self.scenario, devices, cut).inputs()
        return self._inputs[kind]

    def sweep(self, devices: int, options: Sequence[Option], counts: np.ndarray,
              names: Sequence[str], **given: float) -> dict[str, np.ndarray]:
        """Quantities of every option (rows) at its numbers of requests (columns).

        Args:
            devices: cards [1].
            options: of so many cards.
            counts: requests in flight, shape (options, numbers) [request].
            names: quantities.
            given: inputs in place of the deployment's.
        """
        rows = self.rows(devices, options)
        columns: dict[str, Any] = {}
        for name in rows[0]:
            values = np.array([row[name] for row in rows], float)
            columns[name] = values[0] if (values == values[0]).all() else np.repeat(
                values, counts.shape[1])
        columns |= given
        columns["concurrency"] = counts.ravel()
        swept = sweep(columns, self.scenario.model.attention, names)
        return {name: column.reshape(counts.shape) for name, column in swept.items()}


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
        way: drafted tokens of a step, and the micro-batches that it is run in [1].
        doubts: why a simulation may give others, by name of
            ``calc.serving.evaluate.doubt_words``;
            of so many requests it takes too long to be made here.
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
    doubts: tuple[str, ...] = ()

    @property
    def layout(self) -> str:
        """``TP8×DP2/EP16``."""
        return self.layouts["en"]

    @property
    def layouts(self) -> dict[str, str]:
        """:attr:`layout` in both languages."""
        return written(Laid(*self.cut))

    def as_json(self) -> dict[str, Any]:
        """Plain data, SI units."""
        return {**vars(self), "cut": list(self.cut), "layout": self.layout,
                "doubts": {name: doubt_words()[name][0] for name in self.doubts},
                "way": {"draft_tokens": self.way[0], "micro_batches": self.way[1]}}


def best(scenario: Scenario, devices: int, limits: Limits, narrow: bool = False,
         tables: Tables | None = None) -> Best | None:
    """The best layout of so many cards; None where none holds the model within limits.

    Args:
        scenario: the deployment: its model, card, server, precision and workload hold.
        devices: cards [1].
        limits: of the means; ``limits.share`` is not looked at.
        narrow: whether the experts of a replica stay in one server.
        tables: of the deployment, where several answers share them.
    """
    options = ways(scenario, layouts(scenario, devices, narrow, mixed=True))
    if not options:
        return None
    tables, counts = tables or Tables(scenario), requests_of(options)
    given: dict[str, Any] = {"open_arrivals": 1, "think_time": 0}
    swept = tables.sweep(devices, options, counts, STEADY, **given)
    rates = swept["steady_request_throughput"]
    fits = has_room(swept)
    room = fits | ((swept["cache_overflow"] <= MOST_OVERFLOW) & fits[:, :1])
    good = room & (swept["steady_ttft"] <= limits.ttft) & (swept["steady_tpot"] <= limits.tpot)
    if not (good & (rates > 0)).any():
        return None
    row, column = (int(at) for at in np.unravel_index(
        np.where(good, rates, -1.0).argmax(), rates.shape))
    inputs = {**tables.rows(devices, options)[row], **given,
              "concurrency": float(counts[row, column])}
    answer = float(inputs["output_tokens"])
    ttft, tpot, rate = (float(swept[name][row, column]) for name in (
        "steady_ttft", "steady_tpot", "steady_request_throughput"))
    cut, way = options[row]
    everything = evaluate(inputs, scenario.model.attention)
    q = Inputs({name: np.float64(value) for name, value in inputs.items()})
    return Best(devices, cut, int(counts[row, column]), rate, rate * answer / devices,
                ttft, tpot, binding(swept, room, row, column, limits),
                bottleneck(inputs, everything), is_wide(scenario, cut), counts.size, way,
                tuple(name for name, is_met in doubts(q, everything).items() if is_met))


def binding(swept: Mapping[str, np.ndarray], room: np.ndarray, row: int, column: int,
             limits: Limits) -> str:
    """What the next number of requests of a layout would break.

    Args:
        swept: quantities by layout (rows) and number of requests (columns).
        room: whether the cache suffices, likewise.
        row, column: of the layout and its requests.
        limits: of the means.
    """
    if column + 1 == room.shape[1]:
        return ENGINE
    after = column + 1
    if swept["steady_tpot"][row, after] > limits.tpot:
        return TPOT
    if swept["steady_ttft"][row, after] > limits.ttft:
        return TTFT
    return ENGINE if room[row, after] else MEMORY


@cache
def sizes_of(per_node: int, most: int = SIZES[-1]) -> tuple[int, ...]:
    """Numbers of cards that are whole servers, up to the most [1]."""
    return tuple(size for size in SIZES if size <= most and size % per_node == 0)


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

    def as_json(self) -> dict[str, Any]:
        """Plain data, SI units."""
        return vars(self) | {"prefill": self.prefill.as_json(), "decode": self.decode.as_json()}


class Pairing:
    """The pools of a deployment that are paired, whatever the limits: made once.

    Args:
        scenario: the deployment: its model, card, server, precision and workload hold.
        sizes: cards of a group [1].
        narrow: whether the experts of a group stay in one server.
        space: of another pairing of the same deployment and sizes, whose layouts are judged once.
    """

    def __init__(self, scenario: Scenario, sizes: Sequence[int], narrow: bool = False,
                 space: Space | None = None) -> None:
        self.scenario, self.sizes, self.narrow = scenario, tuple(sizes), narrow
        self.space = space or self._groups()
        self.answer = float(scenario.inputs()["output_tokens"])

    def _groups(self) -> Space:
        """Groups of every layout that serve the requests of the deployment."""
        scenario, layers = self.scenario, self.scenario.model.num_nextn_predict_layers
        drafts = {int(scenario.inputs()["draft_tokens"]),
                  *(DRAFTS if layers and layers.value else (0,))}
        goal = goal_of(
            scenario, {"drafts": sorted(drafts), "micro_batches": HALVES, "pools": ["two"]},
            cards=CardRange.model_construct(fewest=1, most=max(self.sizes)),
            objectives=["throughput"], precisions=[scenario.precision.id],
            engines=[scenario.engine] if scenario.engine else None)
        space = Space(goal, resolve=self._resolved, share=default_share(scenario))
        space.model = scenario.model  # with what was changed in it
        return space

    @cached_property
    def pools(self) -> Pools:
        """Groups that none of as many cards beats."""
        every, = pools(self.space, wishes(self.space), self._of_sizes)
        return every

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

        Args:
            limits: of the means.
        """
        first, then = self._prefilling(limits), self._decoding(limits)
        result = {}
        for devices in self.sizes:
            together = [(min(a * p["rate"], b * d["rate"]), a, p, b, d)
                        for p in first for d in then
                        for a in range(1, (devices - d["devices"]) // p["devices"] + 1)
                        if (b := (devices - a * p["devices"]) // d["devices"]) > 0]
            if together:
                _, a, p, b, d = max(together, key=lambda pair: pair[0])
                result[devices] = self._joined(devices, (a, p), (b, d), limits)
        return result

    def _prefilling(self, limits: Limits) -> list[dict[str, Any]]:
        """Of each size the group that prefills most within the limit on the TTFT, with the ports
        of the slowest decode group."""
        rows = self.pools.prefill
        if not rows or not self.pools.decode:
            return []
        slowest = float(self.pools.decode["port"].max())
        ideal = {name: np.full(len(rows["rate"]), value) for name, value in (
            IDEAL | {"port": slowest}).items()}
        rates = balanced(rows, ideal, self.answer, _finite(limits.ttft))["throughput"] / self.answer
        return _largest(rows, rates)

    def _decoding(self, limits: Limits) -> list[dict[str, Any]]:
        """Of each size the group that decodes most within the limit on the TPOT."""
        rows = self.pools.decode
        if not rows:
            return []
        rates = np.where(rows["tpot"] <= limits.tpot, np.minimum(
            rows["rate"], rows["received"]), 0.0)
        return _largest(rows, rates)

    def _joined(self, devices: int, first: tuple[int, dict[str, Any]],
                then: tuple[int, dict[str, Any]], limits: Limits) -> TwoPools:
        (a, p), (b, d) = first, then
        columns = [{name: np.array([group["row"][name] * (count if name in ("rate", "received")
                                                          else 1)]) for name in names
                    if name in group["row"]}
                   for count, group, names in ((a, p, FIRST), (b, d, THEN))]
        seen = {name: float(values[0]) for name, values in balanced(
            columns[0], columns[1], self.answer, _finite(limits.ttft)).items()}
        rates = {name: seen[f"{name} rate"] for name in ("prefill", "decode", "transfer")}
        prefill, decode = (replace(choice_at(
            self.pools.base, {name: np.array([group["row"][name]]) for name in AXES}, 0,
            int(group["row"]["concurrency"])), pool=pool)
            for pool, group in (("prefill", p), ("decode", d)))
        return TwoPools(devices, (a, b), prefill, decode, seen["throughput"] / self.answer,
                        seen["throughput"] / devices, seen["ttft"], seen["tpot"],
                        min(rates, key=lambda name: rates[name]))


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


def _finite(limit: float) -> float | None:
    return limit if math.isfinite(limit) else None
