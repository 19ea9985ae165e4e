"""The answer to a goal: the front in groups, what else would do, how it was found; as data.

Besides the best of all: the best in the published weights, the best of each precision, what changes
least of a deployment that the reader has, and of what was found of other layouts the next best.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from calc.choosing.pools import Pools, together
from calc.searching.choices import scenario
from calc.searching.pairs import Pair
from calc.searching.percentiles import Simulated, verified
from calc.searching.search import MISS, Found, Row
from calc.searching.sure import Drawn, drawn, groups
from calc.searching.wishes import MEAN
from catalogue import load_precision, load_scenario
from catalogue.planning.goals import OBJECTIVES

MOST_TOLD = 24  # deployments of a front that are told
MOST_PAIRS = 8  # of two pools
PUBLISHED = ("fp8-block", "mxfp4-w4a16")  # of several published ones the first
DEGREES = ("tensor", "pipeline", "data", "expert")
MEMORY = "memory_capacity"


@dataclass
class Answer:
    """What a goal comes to.

    Attributes:
        found: the search.
        threads: that it took.
    """

    found: Found
    told: int = field(default=MOST_TOLD)

    @property
    def met(self) -> bool:
        """Whether anything meets the goal."""
        if self.verified:
            return self.verified[-1].keeps
        return bool(self.found.front.rows or (self.found.pairs and self.found.pairs.front.rows))

    @cached_property
    def front(self) -> list[list[Drawn]]:
        """The front, the best in the first objective first, in groups that cannot be told apart."""
        rows = self.found.rows(self.found.front)[:self.told]
        return groups(self.found, drawn(self.found, rows))

    @cached_property
    def pairs(self) -> list[tuple[Pair, Pools]]:
        """Two pools, the best first, each with what a closed loop of users sees of it."""
        found, goal = self.found.pairs, self.found.wishes.goal
        rows = found.rows()[:MOST_PAIRS] if found else []
        return [(pair, together(scenario(goal, pair.prefill), scenario(goal, pair.decode)))
                for pair in rows]

    @cached_property
    def verified(self) -> list[Simulated]:
        """The best, simulated in their order until one keeps the limits at the goal's percentile;
        none where the limits are those of means."""
        found, goal = self.found, self.found.wishes.goal
        if goal.limits.at == MEAN or not found.front.rows:
            return []
        return verified(goal, found.rows(found.front))

    @property
    def best(self) -> Row | None:
        """The best in the first objective."""
        rows = self.found.rows(self.found.front)
        return rows[0] if rows else None

    def of_precision(self, precision: str) -> Row | None:
        """The best of all offers in one precision."""
        tops = [self.found.rows(kept.front)[0]
                for base, kept in zip(self.found.bases, self.found.kept, strict=True)
                if base.precision == precision and kept.front.rows]
        return self._first(tops)

    @property
    def precisions(self) -> list[Row]:
        """The best of each precision, the best first."""
        names = dict.fromkeys(base.precision for base in self.found.bases)
        return self._sorted([row for name in names if (row := self.of_precision(name))])

    @property
    def devices(self) -> list[Row]:
        """The best of each device, the best first."""
        tops: dict[str, list[Row]] = {}
        for base, kept in zip(self.found.bases, self.found.kept, strict=True):
            if kept.front.rows:
                tops.setdefault(base.device, []).append(self.found.rows(kept.front)[0])
        return self._sorted([row for rows in tops.values() if (row := self._first(rows))])

    @property
    def official_precision(self) -> str | None:
        """The precision of the weights that the model is published in; None if none is known."""
        model = self.found.wishes.goal.model
        named = [base.precision for base in self.found.bases]
        known = [name for name in dict.fromkeys((*PUBLISHED, *named))
                 if any(of.model == model for of in load_precision(name).checkpoints)]
        return known[0] if known else None

    @property
    def official(self) -> Row | None:
        """The best in the published weights."""
        name = self.official_precision
        return self.of_precision(name) if name else None

    @property
    def runner_up(self) -> Row | None:
        """The best of another layout than the best."""
        best = self.best
        if best is None:
            return None
        others = [row for kept in self.found.kept if kept.layouts
                  for row in (self.found.row(kept.layouts, number)
                              for number in range(len(kept.layouts["base"])))
                  if _cut(row) != _cut(best) or row.choice.device != best.choice.device]
        return self._first(others)

    @cached_property
    def least_change(self) -> tuple[Row, dict[str, str | int]] | None:
        """Of what meets the goal the nearest to what the reader has, and what changes."""
        goal = self.found.wishes.goal
        if goal.have is None:
            return None
        have = load_scenario(goal.have)
        own = have.inputs()
        here = {"tensor": own["tensor_parallel"], "pipeline": own["pipeline_parallel"],
                "data": own["data_parallel"], "expert": own["expert_parallel"],
                "slices": own["expert_tensor_parallel"],
                "chunk": own["max_num_batched_tokens"], "devices": have.devices,
                "drafts": own["draft_tokens"], "micro_batches": own["micro_batches"]}

        def distance(row: Row) -> tuple[float, ...]:
            choice = row.choice
            moved = [name for name, value in here.items() if getattr(choice, name) != value]
            other = (choice.device != have.device.id) + (choice.precision != have.precision.id)
            return (choice.device != have.device.id, choice.devices != have.devices,
                    other + len(moved), sum(abs(math.log2((getattr(choice, name) + 1)
                                                          / (value + 1)))
                                            for name, value in here.items()))

        rows = [row for kept in self.found.kept if kept.front.rows
                for row in self.found.rows(kept.front)]
        rows += [self.found.row(kept.layouts, number) for kept in self.found.kept if kept.layouts
                 for number in range(len(kept.layouts["base"]))]
        if not rows:
            return None
        nearest = min(rows, key=distance)
        old = {"device": have.device.id, "precision": have.precision.id,
               **{f"parallelism.{name}_parallel": here[name] for name in DEGREES},
               "parallelism.expert_tensor_parallel": here["slices"],
               "workload.max_num_batched_tokens": here["chunk"],
               "cluster.nodes": have.file.cluster.nodes.value,
               "cluster.node": have.node.id, "workload.concurrency": own["concurrency"]}
        changed = {key: value for key, value in nearest.choice.settings().items()
                   if old.get(key) != value and key != "workload.memory_utilization"}
        if here["slices"] and not nearest.choice.slices:
            changed["parallelism.expert_tensor_parallel"] = 0
        return nearest, changed

    @property
    def nearest_miss(self) -> Row | None:
        """Where nothing meets the goal: what is least over a limit, else least short of memory."""
        for kind in ("miss", "short"):
            every = [(kept, getattr(kept, kind)) for kept in self.found.kept
                     if getattr(kept, kind).rows]
            if every:
                name = MISS if kind == "miss" else "short"
                _, least = min(every, key=lambda pair: float(pair[1].rows[name][0]))
                return self.found.rows(least)[0]
        return None

    def binds(self, row: Row) -> str:
        """The limit that a deployment keeps most narrowly, or that its near miss breaks most."""
        if row.over:
            return max(row.over, key=lambda name: row.over[name])
        if "short" in row.quantities:
            return MEMORY
        left = {}
        for name, limit in self.found.wishes.limits.items():
            if name in row.quantities:
                ratio = row.quantities[name] / limit
                left[name] = ratio if OBJECTIVES[name] < 0 else 1 / ratio
        return max(left, key=lambda name: left[name]) if left else ""

    def _sorted(self, rows: Sequence[Row]) -> list[Row]:
        objectives = self.found.wishes.objectives

        def key(row: Row) -> tuple[float, ...]:
            values = row.quantities | {"cards": row.choice.devices}
            return tuple(-sign * values.get(name, math.inf * -sign)
                         for name, sign in objectives.items())

        return sorted(rows, key=key)

    def _first(self, rows: Sequence[Row]) -> Row | None:
        ordered = self._sorted(rows)
        return ordered[0] if ordered else None

    def as_json(self) -> dict[str, Any]:
        """Plain data, SI units."""
        wishes = self.found.wishes
        answer: dict[str, Any] = {
            "goal": wishes.goal.id, "met": self.met, "objectives": list(wishes.objectives),
            "limits": wishes.limits, "unpriced": list(wishes.unpriced),
            "funnel": self.found.funnel.as_json()}
        if not self.met and not self.verified:
            miss = self.nearest_miss
            return answer | {"nearest_miss": None if miss is None else
                             miss.as_json() | {"binds": self.binds(miss)}}
        pools: dict[str, Any] = {"pairs": [pair.as_json() | {"pools": loop.as_json()}
                           for pair, loop in self.pairs]} if self.found.pairs else {}
        if not self.found.front.rows:
            return answer | pools
        groups_ = [[each.row.as_json() | {"binds": self.binds(each.row),
                                          "intervals": each.intervals} for each in group]
                   for group in self.front]
        change = self.least_change
        if self.verified:
            pools["at"] = {"percentile": wishes.goal.limits.at, "simulated": [
                {"choice": each.row.choice.as_json(), "seen": each.seen, "keeps": each.keeps}
                for each in self.verified]}
        rows = {"official": self.official, "runner_up": self.runner_up}
        return answer | pools | {
            "front": groups_, "front_size": len(np.atleast_1d(self.found.front.rows["base"])),
            **{name: row.as_json() if row else None for name, row in rows.items()},
            "official_precision": self.official_precision,
            "by_precision": [row.as_json() for row in self.precisions],
            "by_device": [row.as_json() for row in self.devices],
            **({"least_change": change[0].as_json() | {"changed": change[1]}} if change else {})}


def _cut(row: Row) -> tuple[int, ...]:
    return tuple(getattr(row.choice, name) for name in ("devices", *DEGREES, "slices"))


