"""An answer to a goal as a reader is told it: rows that were drawn and simulated, why a better one
stands below the first, what would make the first surer, what was rejected and why."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any, Literal

import numpy as np

from calc.layouts.layout import Row, Start, scenario, unrun
from calc.layouts.space import UNPUBLISHED
from calc.physics.breakdown import bound_by
from calc.searching.goal import SHORT
from calc.searching.ranking import NEARLY, SURE, SampledRow, Simulated, extras, sample_rows
from calc.searching.search import search
from calc.searching.selection import Answer
from calc.serving.evaluate import evaluate
from catalogue import load_node
from catalogue.deployments.admission import positions, too_long
from catalogue.deployments.cuts import Cut, written
from catalogue.planning.goals import CardRange, Goal

FEWER = (0.9, 0.75, 0.5)  # of the users, that would be surer served
MOST_REJECTED = 4  # formats
MOST_USUAL = 3  # layouts
NEAREST_FIRST = ("seldom", "unscored", "worse", "limit", "memory", "start")
MOST_WIDER = 64  # cards of a goal that is searched again with one more server
Later = Literal["seldom", "plainer", "alike"]


@dataclass(frozen=True)
class Memory:
    """What the fullest card of a deployment holds [B].

    Attributes:
        weights, cache, besides: weights, the cache of the requests at their longest, and the rest.
        capacity: of the card.
    """

    weights: float
    cache: float
    besides: float
    capacity: float


@dataclass(frozen=True)
class ReportRow:
    """A deployment that is told.

    Attributes:
        each: it, drawn and simulated.
        keeps: share of draws in which it keeps all limits, simulated [1]; None without limits.
        start: which release starts it; None where that is not asked.
        later: of one below the first that is better in the first objective, why it is there.
        group: those that cannot be told from it.
    """

    each: SampledRow
    keeps: float | None
    start: Start | None
    later: Later | None
    group: list[SampledRow]

    @property
    def row(self) -> Row:
        """Its settings and quantities at central values."""
        return self.each.row

    @property
    def seen(self) -> Simulated | None:
        """It simulated; None where no time is limited."""
        return self.each.seen

    @cached_property
    def _evaluated(self) -> tuple[dict[str, Any], dict[str, Any]]:
        deployed = scenario(self.each.goal, self.row.choice)
        inputs = dict(deployed.inputs())
        return inputs, dict(evaluate(inputs, deployed.model.attention))

    @property
    def binds(self) -> tuple[str, float]:
        """The resource that binds most of a decode step, and its share of it [1]."""
        found = bound_by(*self._evaluated)
        name = max(found, key=lambda of: float(found[of]))
        return name, float(found[name]) / sum(map(float, found.values()))

    @property
    def memory(self) -> Memory:
        """What the fullest card holds; of two pools the fullest that decodes."""
        inputs, found = self._evaluated
        weights, cache = (float(found[name]) for name in ("weights_per_device", "kv_per_device"))
        whole = float(found["memory_per_device"])
        return Memory(weights, cache, whole - weights - cache, float(inputs["memory_capacity"]))


@dataclass(frozen=True)
class Surer:
    """What makes the first deployment keep the limits in ``SURE`` of the draws.

    Attributes:
        what: ``users``, or the quantity whose limit has to be wider.
        at: ``mean`` or a percentile, of a time; empty of others.
        to: as many users, or that limit, SI units.
        keeps: share of draws in which it is then kept [1].
    """

    what: str
    at: str
    to: float
    keeps: float


@dataclass(frozen=True)
class Rejected:
    """A format that no row of the report has, and the reason.

    Attributes:
        precision: the format.
        row: its nearest miss, or its best deployment.
        why: ``limit``, ``memory``, ``start``, ``worse``, ``seldom``: better than the first, and
            within the limits less often, or ``unscored``: better than the first by less than what
            formats without a published score have to win.
        keeps: share of draws in which it keeps all limits, of one that is better [1].
    """

    precision: str
    row: Row
    why: Literal["limit", "memory", "start", "worse", "seldom", "unscored"]
    keeps: float | None = None

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"precision": self.precision, "why": self.why} | self.row.as_json()


@dataclass(frozen=True)
class Usual:
    """A common layout that no row of the report has.

    Attributes:
        cut: it.
        why: as of ``Rejected``, ``unloaded``: no engine loads it, ``slow``: requests come faster
            than it answers them, or ``beaten``: within the limits and no better than the first.
        row: the best of it, or its nearest miss; None of what no engine loads.
        seen: it simulated, if it was.
        keeps: share of draws in which it keeps all limits [1]; None where that is not drawn.
    """

    cut: Cut
    why: Literal["limit", "memory", "start", "unloaded", "slow", "seldom", "beaten"]
    row: Row | None = None
    seen: Simulated | None = None
    keeps: float | None = None

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"layout": written(self.cut)["en"], "why": self.why, "keeps": self.keeps,
                **(self.row.as_json() if self.row else {})}


@dataclass(frozen=True)
class WayOut:
    """A wider goal that is met, where the one that was asked is not.

    Attributes:
        what: ``cards``: one more server, or ``format``: any that the cards multiply.
        cards: most cards of it [1].
        each: the first deployment of it, simulated.
    """

    what: Literal["cards", "format"]
    cards: int
    each: SampledRow

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"what": self.what, "cards": self.cards} | self.each.row.as_json()


@dataclass(frozen=True)
class SearchReport:
    """An answer to a goal.

    >>> from calc.searching.selection import search_goal as search
    >>> told = SearchReport.of(search("r1-64-users-8xh20", ["precisions=fp8-block"]))
    >>> told.rows[0].row.devices, told.rows[0].later
    (8, None)

    Attributes:
        answer: what it tells of.
        rows: the best first.
        surer: what makes that one surer; nothing where it is sure.
        rejected: other formats.
        usual: plain layouts that none of the rows has.
        ways: of a goal that nothing meets, wider ones that are met.
        weakest: the limit that the first breaks most often, its percentile, in which share of draws
            [1]; None without limits.
    """

    answer: Answer
    rows: list[ReportRow]
    surer: list[Surer]
    rejected: list[Rejected]
    usual: list[Usual] = field(default_factory=list)
    ways: list[WayOut] = field(default_factory=list)
    weakest: tuple[str, str, float] | None = None

    @classmethod
    def of(cls, answer: Answer) -> SearchReport:
        """The report of an answer, computed and simulated."""
        if not answer.met:
            return cls(answer, [], [], [], ways=[*_ways_out(answer)])
        first = answer.front[0][0]
        rows = [ReportRow(each, answer.keeps(each), answer.start(each.row),
                          _later(answer, first, each), rest)
                for each, *rest in answer.front]
        return cls(answer, rows, _surer(answer, first), [*_rejected(answer, rows)],
                   [*_usual(answer, rows)], weakest=_weakest(answer, first))

    def as_json(self) -> dict[str, Any]:
        """Plain data, SI units."""
        answer, data = self.answer, self.answer.as_json()
        if not self.rows:
            return data | {"ways_out": [way.as_json() for way in self.ways]}
        return data | {
            "front": [[self._row(row), *(each.row.as_json() for each in row.group)]
                      for row in self.rows],
            "surer": [asdict(each) for each in self.surer],
            "rejected": [each.as_json() for each in self.rejected],
            "usual": [each.as_json() for each in self.usual],
            "refused": [answer.beside(row) for row in answer.refused]}

    def _row(self, told: ReportRow) -> dict[str, Any]:
        answer, row = self.answer, told.row
        loop = {} if row.prefill is None else {"pools": answer.loop(row).as_json()}
        binds, share = told.binds
        return answer.beside(row) | loop | {
            "binds": answer.binds(row), "keeps": told.keeps, "later": told.later,
            "unstarted": [why["en"] for why in unrun(answer.result.wishes.goal, row)],
            "limited_by": {"resource": binds, "share": share}, "memory": asdict(told.memory),
            "near": answer.near(row).as_json(), "simulated": told.seen and told.seen.as_json()}


def _ways_out(answer: Answer) -> Iterator[WayOut]:
    """One more server, and other formats, where they meet the goal."""
    goal, space = answer.result.wishes.goal, answer.result.space
    if too_long(goal.demand.longest, positions(space.model)):
        return
    wider: dict[Literal["cards", "format"], Goal] = {}
    if goal.cards.most is not None and space.offers:
        server = max(int(load_node(base.node).devices_per_node.value) for base in space.bases()
                     ) if space.bases() else 0
        most = goal.cards.most + server
        if server and most <= MOST_WIDER:
            wider["cards"] = goal.model_copy(update={"cards": CardRange(
                fewest=goal.cards.fewest, most=most)})
    formats = {"precisions": None} if goal.precisions else {
        "space": goal.space.model_copy(update={"any_format": True})}
    if goal.precisions or (space.dropped[UNPUBLISHED] and not goal.space.any_format):
        wider["format"] = goal.model_copy(update=formats)
    for what, asked in wider.items():
        other = Answer(search(asked), most=1, starts=answer.starts)
        if other.met:
            yield WayOut(what, int(asked.cards.most or 0), other.front[0][0])


def _later(answer: Answer, first: SampledRow, each: SampledRow) -> Later | None:
    """Why a deployment that is better in the first objective stands below the first."""
    leading = answer.result.wishes.leading
    if each is first or each.row.worth(leading) <= first.row.worth(leading):
        return None
    if (answer.keeps(each) or 0.0) < (answer.keeps(first) or 0.0) - NEARLY:
        return "seldom"
    return ("plainer" if extras(answer.result, each.row) > extras(answer.result, first.row)
            else "alike")


def _weakest(answer: Answer, first: SampledRow) -> tuple[str, str, float] | None:
    """The limit that the first breaks most often, its percentile, and in which share of draws."""
    broken = {limit: float(np.mean(excess > 0)) for limit, excess in answer.excesses(first).items()
              } if answer.keeps(first) is not None else {}
    most = max(broken, key=lambda limit: broken[limit], default=None)
    return most and (*most, broken[most])


def _surer(answer: Answer, first: SampledRow) -> list[Surer]:
    """Wider limits, and fewer users, with which the first keeps all limits in ``SURE`` of draws."""
    share = answer.keeps(first)
    if share is None or share >= SURE:
        return []
    over = answer.excesses(first)
    found = []
    for (name, at), excess in over.items():
        others = [each for key, each in over.items() if key[0] != name]
        kept = np.max(others, axis=0) <= 0 if others else np.ones(len(excess), bool)
        if kept.mean() < SURE:
            continue
        needed = float(np.quantile(np.where(kept, excess, np.inf), SURE, method="higher"))
        limit = answer.result.wishes.goal.limits.times.get(name, {}).get(at)
        if limit is not None and 0 < needed < math.inf:
            found.append(Surer(name, at, limit * (1 + needed), SURE))
    demand = answer.result.wishes.goal.demand
    if demand.users and not demand.think_time and first.row.prefill is None:
        found += _with_fewer_users(answer, first, demand.users)
    return found


def _with_fewer_users(answer: Answer, first: SampledRow, users: int) -> list[Surer]:
    """The most of ``FEWER`` users for whom the first is sure."""
    for share in FEWER:
        count = math.floor(users * share)
        row = answer.result.again(replace(first.row.choice, concurrency=count)) if count else None
        if row is None:
            continue
        each, = sample_rows(answer.result, [row])
        kept = answer.keeps(each, like=first)
        if kept is not None and kept >= SURE:
            return [Surer("users", "", count, kept)]
    return []


def _rejected(answer: Answer, rows: list[ReportRow]) -> Iterator[Rejected]:
    """Formats that were tried of which none is told, the nearest of each."""
    found, told = answer.result, {choice.precision for row in rows for choice in row.row.choices}
    of: dict[str, list[Rejected]] = {}
    for base, kept in zip(found.bases, found.of_bases, strict=True):
        if base.precision in told:
            continue
        one = of.setdefault(base.precision, [])
        if kept.front.rows:
            one.append(_beaten(answer, rows[0], base.precision, found.rows(kept.front, 1)[0]))
        elif kept.miss.rows:
            one.append(Rejected(base.precision, found.row(kept.miss.rows, 0), "limit"))
        elif kept.short.rows:
            one.append(Rejected(base.precision, found.row(kept.short.rows, 0), "memory"))

    def order(one: Rejected) -> tuple[float, ...]:
        """Nearest misses by how near they are, all others by the objectives of the goal."""
        missed = max(one.row.over.values(), default=one.row.quantities.get(SHORT, 0.0))
        return (NEAREST_FIRST.index(one.why), missed,
                *(-worth for worth in one.row.worth(found.wishes.chosen)))

    yield from sorted((min(each, key=order) for each in of.values() if each), key=order)[
        :MOST_REJECTED]


def _beaten(answer: Answer, first: ReportRow, precision: str, row: Row) -> Rejected:
    """Why the best deployment of a format is not told, which is within the limits."""
    chosen = answer.result.wishes.chosen
    if not answer.offers(row):
        return Rejected(precision, row, "start")
    row = answer.as_ranked(row)
    if row.worth(chosen) <= first.row.worth(chosen):
        return Rejected(precision, row, "worse")
    often = answer.keeps(*sample_rows(answer.result, [row]))
    seldom = first.keeps is not None and (often or 0.0) < first.keeps - NEARLY
    return Rejected(precision, row, "seldom" if seldom else "unscored", often)


def _usual(answer: Answer, rows: list[ReportRow]) -> Iterator[Usual]:
    """Plain layouts in one pool on as many cards as the first row has, of which no row has one."""
    first, found = rows[0].row, answer.result
    if not found.bases or len({choice.device for choice in first.choices}) > 1:
        return
    left = [(cut, experts) for cut, experts in _plain_cuts(answer, first) if not any(
        choice.pool is None and choice.expert in experts and (
            choice.devices, choice.tensor, choice.pipeline, choice.context) == (
            cut.tensor * cut.data, cut.tensor, 1, 1)
        for row in rows for choice in row.row.choices)]
    every = (_became(answer, rows[0], cut, experts) for cut, experts in left)
    near = (each for each in every if each.why != "memory" or each.cut != Cut())
    yield from islice(near, MOST_USUAL)


def _plain_cuts(answer: Answer, first: Row) -> Iterator[tuple[Cut, tuple[int, ...]]]:
    """Plain layouts, and over how many ranks each may share its experts: one server, if so few
    cards are allowed, then all cards: tensor parallelism in each server, with experts over all
    cards, attention by request with experts over all cards; at last one card."""
    total, fewest = first.devices, answer.result.wishes.goal.cards.fewest
    server = min(total, int(load_node(first.choice.node).devices_per_node.value))
    for cards in dict.fromkeys([*([server] if fewest <= server else []), total]):
        if cards % server == 0:
            yield Cut(server, 1, cards // server, 1), (1, server)
        if answer.result.space.model.is_moe and cards > 1:
            if cards > server and cards % server == 0:
                yield Cut(server, 1, cards // server, cards), (cards,)
            yield Cut(1, 1, cards, cards), (cards,)
    if fewest == 1 < total:
        yield Cut(), (1,)


def _became(answer: Answer, first: ReportRow, cut: Cut, experts: tuple[int, ...]) -> Usual:
    """Why no row has a layout."""
    rows = answer.result.of_cut(first.row.choice.device, cut.tensor * cut.data, cut.tensor, experts)
    if not rows:
        return Usual(cut, "unloaded" if rows is None else "slow")
    if rows[0].over or SHORT in rows[0].quantities:
        return Usual(cut, "limit" if rows[0].over else "memory", rows[0])
    row = next((each for each in rows[:MOST_REJECTED] if answer.offers(each)), None)
    if row is None:
        return Usual(cut, "start", rows[0])
    told, chosen = answer.as_ranked(row), answer.result.wishes.chosen
    seen = answer.simulated(row) if told.worth(chosen) > first.row.worth(chosen) else None
    often = answer.keeps(*sample_rows(answer.result, [row]))
    if seen and not seen.keeps:
        return Usual(cut, "limit", row, seen, often)
    seldom = first.keeps is not None and (often or 0.0) < first.keeps - NEARLY
    return Usual(cut, "seldom" if seldom else "beaten", told, seen, often)


def fewest_of(rows: list[ReportRow]) -> list[tuple[int, float]]:
    """Cards of the rows that are told and the largest share of draws of each, the fewest first."""
    best: dict[int, float] = {}
    for row in rows:
        best[row.row.devices] = max(best.get(row.row.devices, 0.0), row.keeps or 0.0)
    return sorted(best.items())
