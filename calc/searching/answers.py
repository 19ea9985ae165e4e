"""The answer to a goal: the front in groups, what else would do, how it was found; as data.

Besides the best of all: the best in the published weights, the best of each precision, what changes
least of a deployment that the reader has, and of what was found of other layouts the next best.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from calc.choosing.layouts.judge import MEMORY
from calc.choosing.pools import Pools, together
from calc.searching.choices import scenario
from calc.searching.pairs import Pair
from calc.searching.percentiles import MOST_SIMULATED, Simulated, verified
from calc.searching.search import MISS, SHORT, Found, Row, search
from calc.searching.sure import SURE, Drawn, Sure, drawn, groups, keeps, surely
from calc.searching.trying import DEGREES
from calc.searching.wishes import MEAN, stated_limits
from catalogue import load_precision, load_scenario
from catalogue.planning.goals import OBJECTIVES, Goal

MOST_TOLD = 24  # deployments of a front that are told
MOST_PAIRS = 8  # of two pools
RELAXED = (1.01, 1.1)  # factors by which a limit is relaxed
PUBLISHED = ("fp8-block", "mxfp4-w4a16")  # of several published ones the first


@dataclass(frozen=True)
class Relaxed:
    """The best with one limit relaxed, all others as they are.

    Attributes:
        limit: its name.
        factor: by which it is wider [1].
        to: what it then is, SI units.
        row: the best; None where nothing meets the goal even so.
    """

    limit: str
    factor: float
    to: float
    row: Row | None

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"limit": self.limit, "factor": self.factor, "to": self.to,
                "best": self.row.as_json() if self.row else None}


def relaxed(goal: Goal, workers: int = 1) -> list[Relaxed]:
    """What relaxing each limit of a goal gives, by each of ``RELAXED``: the best with it.

    One search with all limits at their widest, in which they are objectives too: its front holds
    the best for any limits within.

    Args:
        goal: with limits of means, at central values.
        workers: processes of the search.
    """
    own, widest = stated_limits(goal), max(RELAXED)

    def wider(name: str, factor: float) -> float:
        return own[name] * factor if OBJECTIVES[name] < 0 else own[name] / factor

    limits = goal.limits.model_copy(
        update={name: wider(name, widest) for name in own} | {"sure": 0.0})
    found = search(goal.model_copy(update={"limits": limits}), workers=workers)
    rows = sorted(found.rows(found.front), reverse=True,
                  key=lambda row: row.worth(found.wishes.objectives))

    def best(limits: Mapping[str, float]) -> Row | None:
        return next((row for row in rows if all(
            OBJECTIVES[name] * row.quantities[name] >= OBJECTIVES[name] * limit
            for name, limit in limits.items())), None)

    return [Relaxed(name, factor, wider(name, factor), best(own | {name: wider(name, factor)}))
            for name in own for factor in RELAXED]


@dataclass
class Answer:
    """What a goal comes to.

    Attributes:
        found: the search.
        told: most deployments of the front that are told.
    """

    found: Found
    told: int = field(default=MOST_TOLD)

    @property
    def met(self) -> bool:
        """Whether anything meets the goal."""
        if self.sure:
            return bool(self.sure.front)
        if self.verified:
            return self.verified[-1].keeps
        return bool(self.found.front.rows or (self.found.pairs and self.found.pairs.front.rows))

    @cached_property
    def front(self) -> list[list[Drawn]]:
        """The front, the best in the first objective first, in groups that cannot be told apart.

        Where a share is asked in which limits hold, that of the deployments which keep them so.
        """
        told = (self.sure.front[:self.told] if self.sure else
                drawn(self.found, self.found.rows(self.found.front, self.told)))
        return groups(self.found, told)

    @property
    def front_size(self) -> int:
        """Deployments on the front, of which some are told [1]."""
        return len(self.sure.front if self.sure else
                   np.atleast_1d(self.found.front.rows["base"]))

    @cached_property
    def sure(self) -> Sure | None:
        """Those that keep the limits in the share that is asked; None where none is."""
        share = self.found.wishes.goal.limits.sure
        return None if share is None else surely(self.found, share)

    def keeps(self, each: Drawn) -> float | None:
        """In which share of the draws a deployment keeps all limits [1]; None without limits."""
        return keeps(self.found, each)

    @cached_property
    def first_sure(self) -> Drawn | None:
        """The first told on the front that keeps all limits in the share that is asked, or in nine
        of ten draws where none is; None without limits."""
        share = self.sure.share if self.sure else SURE
        return next((each for group in self.front for each in group
                     if (often := self.keeps(each)) is not None and often >= share), None)

    @cached_property
    def pairs(self) -> list[tuple[Pair, Pools]]:
        """Two pools, the best first, each with what a closed loop of users sees of it."""
        found, goal = self.found.pairs, self.found.wishes.goal
        rows = found.rows()[:MOST_PAIRS] if found else []
        return [(pair, together(scenario(goal, pair.prefill), scenario(goal, pair.decode),
                                users=pair.quantities["users"])) for pair in rows]

    @cached_property
    def verified(self) -> list[Simulated]:
        """The best, simulated in their order until one keeps the limits at the goal's percentile;
        none where the limits are those of means."""
        found, goal = self.found, self.found.wishes.goal
        if goal.limits.at == MEAN or not found.front.rows:
            return []
        return verified(goal, found.rows(found.front, MOST_SIMULATED))

    @property
    def best(self) -> Row | None:
        """The best in the first objective, of those that are sure where that is asked."""
        if self.sure:
            return self.sure.front[0].row if self.sure.front else None
        rows = self.found.front.rows
        return self.found.row(rows, 0) if rows else None

    def of_precision(self, precision: str) -> Row | None:
        """The best of all offers in one precision."""
        tops = [self.found.row(kept.front.rows, 0)
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
        """The best of each device, the best first; where cost is an objective, those without a
        price after those with one, in the order of the other objectives."""
        tops: dict[str, list[Row]] = {}
        for base, kept in zip(self.found.bases, self.found.kept, strict=True):
            if kept.front.rows:
                tops.setdefault(base.device, []).append(self.found.row(kept.front.rows, 0))
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
        for name in (MISS, SHORT):
            every = [rows for kept in self.found.kept if (rows := getattr(kept, name).rows)]
            if every:
                return self.found.row(min(every, key=lambda rows: float(rows[name][0])), 0)
        return None

    def binds(self, row: Row) -> str:
        """The limit that a deployment keeps most narrowly, or that its near miss breaks most."""
        if row.over:
            return max(row.over, key=lambda name: row.over[name])
        if SHORT in row.quantities:
            return MEMORY
        left = {}
        for name, limit in self.found.wishes.limits.items():
            if name in row.quantities:
                ratio = row.quantities[name] / limit
                left[name] = ratio if OBJECTIVES[name] < 0 else 1 / ratio
        return max(left, key=lambda name: left[name]) if left else ""

    def _sorted(self, rows: Sequence[Row]) -> list[Row]:
        objectives = self.found.wishes.objectives
        return sorted(rows, key=lambda row: row.worth(objectives), reverse=True)

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
        if self.sure:
            answer["sure"] = self.sure.as_json() | (
                {} if self.sure.surest is None else {"surest": self._told(self.sure.surest)})
            if not self.met:
                return answer
        if not self.met and not self.verified:
            miss = self.nearest_miss
            return answer | {"nearest_miss": None if miss is None else
                             miss.as_json() | {"binds": self.binds(miss)}}
        pools: dict[str, Any] = {"pairs": [pair.as_json() | {"pools": loop.as_json()}
                           for pair, loop in self.pairs]} if self.found.pairs else {}
        if not self.found.front.rows:
            return answer | pools
        groups_ = [[self._told(each) for each in group] for group in self.front]
        change = self.least_change
        if self.verified:
            pools["at"] = {"percentile": wishes.goal.limits.at, "simulated": [
                {"choice": each.row.choice.as_json(), "seen": each.seen, "keeps": each.keeps}
                for each in self.verified]}
        rows = {"official": self.official, "runner_up": self.runner_up}
        return answer | pools | {
            "front": groups_, "front_size": self.front_size,
            "first_sure": self._told(self.first_sure) if self.first_sure else None,
            **{name: row.as_json() if row else None for name, row in rows.items()},
            "official_precision": self.official_precision,
            "by_precision": [row.as_json() for row in self.precisions],
            "by_device": [row.as_json() for row in self.devices],
            **({"least_change": change[0].as_json() | {"changed": change[1]}} if change else {})}

    def _told(self, each: Drawn) -> dict[str, Any]:
        """A deployment with its intervals and how often it keeps its limits, as plain data."""
        return each.row.as_json() | {"binds": self.binds(each.row), "intervals": each.intervals,
                                     "keeps": self.keeps(each)}


def _cut(row: Row) -> tuple[int, ...]:
    return tuple(getattr(row.choice, name) for name in ("devices", *DEGREES, "slices"))


