"""Two pools for a deployment's requests on so many cards, each in the layout that suits it.

Pools are those that a search tries, and a pair of them is what a search makes of it; here as many
groups of each stand side by side as the cards hold.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from calc.answer.service import balanced
from calc.capacity.day import Limits
from calc.layouts.layout import Choice, changed, of_pool
from calc.layouts.space import AXES, Base, Cells, Space, choice_at
from calc.searching.alternatives import default_share, goal_of
from calc.searching.goal import wishes
from calc.searching.pools import FIRST, THEN, Pools, pools
from catalogue import Scenario, load_node
from catalogue.planning.goals import CardRange, Goal

DRAFTS, HALVES = (0, 1), [1, 2]
LAID = ("parallelism.", "cluster.nodes", "cluster.devices")  # settings of how cards are cut
IDEAL = {"rate": np.inf, "tpot": 0.0, "port": 0.0, "received": np.inf}  # a pool that never binds


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
        self.space = space or self._space()
        self.answer = float(scenario.inputs()["output_tokens"])

    def _space(self) -> Space:
        """Groups of every layout."""
        found = Space(_goal(self.scenario, max(self.sizes)), resolve=self._resolved,
                      share=default_share(self.scenario))
        found.model = self.scenario.model  # with what was changed in it
        return found

    @cached_property
    def pools(self) -> Pools:
        """Groups that none of as many cards beats."""
        found, = pools(self.space, wishes(self.space), self._kept)
        return found

    def _resolved(self, choice: Choice) -> Scenario:
        """The deployment in the layout of a choice, as the pool that it is."""
        settings = {key: value for key, value in choice.settings().items()
                    if key.startswith(LAID)}
        settings |= {"workload.draft_tokens": choice.drafts,
                     "workload.max_num_batched_tokens": choice.chunk}
        prompt = int(self.scenario.inputs()["input_tokens"])
        return changed(self.scenario, settings | of_pool(choice, prompt))

    def _kept(self, base: Base, cells: Cells) -> np.ndarray:
        """Groups of the sizes that are asked for, within a server where that is asked."""
        per_node = int(load_node(base.node).devices_per_node.value)
        keep = np.isin(cells["devices"], self.sizes)
        return keep & (cells["expert"] <= per_node) if self.narrow else keep

    def best(self, limits: Limits) -> dict[int, TwoPools]:
        """The most that both finish together within limits, by number of cards.

        Args:
            limits: of the means.
        """
        first, then = self._prefilling(limits), self._decoding(limits)
        found = {}
        for devices in self.sizes:
            together = [(min(a * p["rate"], b * d["rate"]), a, p, b, d)
                        for p in first for d in then
                        for a in range(1, (devices - d["devices"]) // p["devices"] + 1)
                        if (b := (devices - a * p["devices"]) // d["devices"]) > 0]
            if together:
                _, a, p, b, d = max(together, key=lambda pair: pair[0])
                found[devices] = self._joined(devices, (a, p), (b, d), limits)
        return found

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
    found = []
    for devices in np.unique(rows["devices"]):
        of_size = np.flatnonzero(rows["devices"] == devices)
        best = int(of_size[rates[of_size].argmax()])
        if rates[best] > 0:
            found.append({"devices": int(devices), "rate": float(rates[best]),
                          "row": {name: column[best] for name, column in rows.items()}})
    return found


def _finite(limit: float) -> float | None:
    return limit if math.isfinite(limit) else None


def _goal(scenario: Scenario, most: int) -> Goal:
    """What the requests of a deployment ask of two pools of its cards."""
    layers = scenario.model.num_nextn_predict_layers
    own = int(scenario.inputs()["draft_tokens"])
    return goal_of(scenario, {
        "drafts": sorted({own, *(DRAFTS if layers and layers.value else (0,))}),
        "micro_batches": HALVES, "pools": ["two"]},
        cards=CardRange.model_construct(fewest=1, most=most), objectives=["throughput"],
        precisions=[scenario.precision.id], engines=[scenario.engine] if scenario.engine else None)
