"""The finished answer to a goal: rows that were drawn and simulated, why a better one stands below
the first, what would make the first surer, what was rejected and why, what else was tried."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import Any, Literal, Self

import numpy as np

from calc.answer.request_lengths import longer_words
from calc.answer.service import Pools, engine_words, startup_lines
from calc.evidence.classes import Nearness, stand_ins
from calc.layouts.layout import Row, Start, scenario, unrun
from calc.layouts.space import UNPUBLISHED
from calc.physics.step import bound_by
from calc.searching.goal import SHORT
from calc.searching.ranking import NEARLY, SURE, SampledRow, Simulated, extras, sample_rows
from calc.searching.search import Funnel, search
from calc.searching.selection import Selection, inside, started_pools
from calc.serving.evaluate import evaluate
from calc.uncertainty import Amount
from catalogue import load_device, load_node
from catalogue.deployments.admission import (
    announced,
    borrowed,
    length_words,
    positions,
    too_long,
    underived,
)
from catalogue.deployments.cuts import Cut, written
from catalogue.engine import stated_release
from catalogue.kernels import Kernel, Quality, quality
from catalogue.messages import Pair, messages
from catalogue.planning import UNNAMED, CardRange, Goal

common = messages("common")
say = messages("calc/searching/report")

FEWER = (0.9, 0.75, 0.5)  # of the users, that would be surer served
MOST_REJECTED = 4  # formats
MOST_USUAL = 3  # layouts
NEAREST_FIRST = ("seldom", "unscored", "worse", "limit", "memory", "start")
MOST_WIDER = 64  # cards of a goal that is searched again with one more server
Later = Literal["seldom", "plainer", "alike"]
Why = Literal["limit", "memory", "start", "worse", "seldom", "unscored", "unloaded", "slow",
              "beaten"]


@dataclass(frozen=True)
class Memory:
    """Memory of the fullest card of a deployment [B].

    Attributes:
        weights, cache, besides: weights, the cache of the requests at their longest, and the rest.
        capacity: of the card.
    """

    weights: float
    cache: float
    besides: float
    capacity: float


@dataclass(frozen=True, kw_only=True)
class ReportRow:
    """A deployment of a report, compared in closed form.

    Attributes:
        row: settings and quantities at central values.
        amounts: reported quantities by name, with their 80% intervals.
        agent_costs: cost of a million processed tokens and of an agent's task; empty for other
            loads.
        quality: of the format of each pool, each once.
        kernels: engine and release that run the format of each pool.
        start: release that starts it; None where that was not asked.
        stand_ins: what is taken of other cards for it.
        keeps: share of draws in which it keeps all limits [1]; None without limits.
    """

    row: Row
    amounts: dict[str, Amount]
    agent_costs: dict[str, Amount]
    quality: tuple[Quality, ...]
    kernels: tuple[Kernel | None, ...]
    start: Start | None
    stand_ins: Pair | None
    keeps: float | None = None

    @classmethod
    def of(cls, selection: Selection, row: Row, **fields: Any) -> Self:
        """The row of a report for a deployment of a selection, with further fields."""
        sample, model = selection.sample(row), selection.result.space.model
        formats = dict.fromkeys(choice.precision for choice in row.choices)
        return cls(
            row=row, amounts=sample.amounts, agent_costs=sample.agent_costs,
            quality=tuple(quality(model, name) for name in formats),
            kernels=tuple(row.kernels(model)), start=selection.start(row),
            stand_ins=stand_ins(scenario(selection.goal, row.choice)), **fields)

    def as_json(self) -> dict[str, Any]:
        """Plain data, SI units."""
        return self.row.as_json() | ({"stand_ins": self.stand_ins[0]} if self.stand_ins else {}) | {
            "amounts": {name: amount.as_json() for name, amount in (
                self.amounts | self.agent_costs).items()},
            "quality": [of_format.words[0] for of_format in self.quality],
            "runs": [kernel and kernel.words[0] for kernel in self.kernels],
            **({"start": self.start.as_json()} if self.start else {})}


@dataclass(frozen=True, kw_only=True)
class RankedRow(ReportRow):
    """A deployment that is recommended, simulated.

    Attributes:
        simulated: means and percentiles of its users; None where no time is limited.
        later: of one below the first that is better in the first objective, why it is there.
        group: deployments that cannot be told from it.
        limit: the limit that it is near to, if any.
        resource, share: what binds most of a decode step, and its share of it [1].
        memory: of the fullest card; of two pools the fullest that decodes.
        near: what was measured near it; of two pools near both.
        unrun: why no engine runs it, pool by pool and by language; empty where one does.
        pools: rates and closed loop of two pools; None of one pool.
        startup_lines: of its engine about the caches of its pools, plain data.
        startup_words: the same in words.
    """

    simulated: Simulated | None
    later: Later | None
    group: tuple[Row, ...]
    limit: str
    resource: str
    share: float
    memory: Memory
    near: Nearness
    unrun: tuple[Mapping[str, str], ...]
    pools: Pools | None
    startup_lines: dict[str, Any]
    startup_words: tuple[Pair, ...]

    def as_json(self) -> dict[str, Any]:
        """Plain data, SI units."""
        return super().as_json() | ({"pools": self.pools.as_json()} if self.pools else {}) | {
            "binds": self.limit, "keeps": self.keeps, "later": self.later,
            "unstarted": [why["en"] for why in self.unrun],
            "limited_by": {"resource": self.resource, "share": self.share},
            "memory": asdict(self.memory), "near": self.near.as_json(),
            "simulated": self.simulated and self.simulated.as_json(),
            "startup_lines": self.startup_lines}


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
    """A format, or a common layout, that no row of the report has, and the reason.

    Attributes:
        name: format, or layout in both languages.
        cut: the layout; None of a format.
        why: ``limit``, ``memory``, ``start``, ``worse``, ``seldom``: better than the first, and
            within the limits less often, ``unscored``: better than the first by less than what
            formats without a published score have to win, ``unloaded``: no engine loads it,
            ``slow``: requests come faster than it answers them, or ``beaten``: within the limits
            and no better than the first.
        row: its nearest miss, or its best deployment; None of what no engine loads.
        limit: the limit that the row breaks most, or is near to.
        start: release that starts the row; None where that was not asked.
        simulated: the row simulated, if it was.
        keeps: share of draws in which the row keeps all limits, if drawn [1].
    """

    name: str
    cut: Cut | None
    why: Why
    row: Row | None
    limit: str = ""
    start: Start | None = None
    simulated: Simulated | None = None
    keeps: float | None = None

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        label = {"precision": self.name} if self.cut is None else {
            "layout": self.name, "keeps": self.keeps}
        return label | {"why": self.why} | (self.row.as_json() if self.row else {})


@dataclass(frozen=True)
class WayOut:
    """A wider goal that is met, where the goal is not.

    Attributes:
        what: ``cards``: one more server, or ``format``: any that the cards multiply.
        cards: most cards of it [1].
        first: its first deployment, simulated.
    """

    what: Literal["cards", "format"]
    cards: int
    first: ReportRow

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"what": self.what, "cards": self.cards} | self.first.row.as_json()


@dataclass(frozen=True)
class Beside:
    """Deployments beside the recommended ones, in closed form.

    Attributes:
        official: the best in the published weights; None where there is none.
        by_precision, by_device: the best in each format and on each card, the best first.
        inside: the best that lies inside of what was measured; None where there is none.
        is_outside: whether the first lies outside of what was measured.
        nearest: measurement that is nearest to ``inside``.
    """

    official: ReportRow | None
    by_precision: tuple[ReportRow, ...]
    by_device: tuple[ReportRow, ...]
    inside: ReportRow | None
    is_outside: bool
    nearest: str

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"official": self.official and self.official.as_json(),
                "by_precision": [row.as_json() for row in self.by_precision],
                "by_device": [row.as_json() for row in self.by_device],
                "inside": self.inside and self.inside.as_json()}


@dataclass(frozen=True)
class SearchReport:
    """The finished answer to a goal.

    >>> from calc.searching.selection import select
    >>> report = SearchReport.of(select("r1-64-users-8xh20", ["precisions=fp8-block"]))
    >>> report.rows[0].row.devices, report.rows[0].later
    (8, None)

    Attributes:
        goal: the goal.
        objectives: name -> +1 to have it large, -1 to have it small.
        chosen: those that the goal names.
        limits: by name, SI units.
        unpriced: cards without a price.
        funnel: deployments by what became of them.
        pairs: prefill pools, decode pools and pairs that were compared [1]; None without pairs.
        front_size: deployments on the front [1].
        rows: recommended, the best first; empty where nothing meets the goal.
        shares_by_cards: cards of the rows and the largest share of draws of each, the fewest first.
        sure: the share of draws that the goal asks for; None of other goals.
        drawn, skipped: deployments that were drawn for it, and that were not [1].
        certain: deployments that keep the limits in that share [1].
        surest: the surest deployment of those that were drawn.
        surer: what makes the first surer; nothing where it is sure.
        weakest: the limit that the first breaks most often, its percentile, in which share of draws
            [1]; None without limits.
        rejected, usual: formats, and common layouts, that none of the rows has.
        left_out: precisions and arrangements that the goal leaves out.
        missed: deployments that keep no limits simulated.
        refused: of what was to be recommended, one of each kind that no release starts.
        overloaded: deployments that answer requests more slowly than they arrive [1].
        nearest: where nothing meets the goal, the nearest in one pool and in two.
        limits_of_nearest: the limit that each of them breaks most.
        why: why nothing can be laid out; None where something can.
        ways: of a goal that nothing meets, wider ones that are met.
        official_precision: format of the published weights; None where none is known.
        has_own_drafter: whether the model drafts with a layer of its own.
        notes: which cards are only announced, what of the model is not computed, which releases are
            answered by a neighbour, which requests are longer than the model's positions.
        longer: the last of these; None where there are none.
        everything: whether all that was tried is reported.
        beside: what is not simulated, if so and something meets the goal.
    """

    goal: Goal
    objectives: dict[str, int]
    chosen: tuple[str, ...]
    limits: dict[str, float]
    unpriced: tuple[str, ...]
    funnel: Funnel
    pairs: tuple[int, int, int] | None
    front_size: int
    rows: tuple[RankedRow, ...]
    shares_by_cards: tuple[tuple[int, float], ...]
    sure: float | None
    drawn: int
    skipped: int
    certain: int
    surest: ReportRow | None
    surer: tuple[Surer, ...]
    weakest: tuple[str, str, float] | None
    rejected: tuple[Rejected, ...]
    usual: tuple[Rejected, ...]
    left_out: tuple[str, ...]
    missed: tuple[Simulated, ...]
    refused: tuple[Rejected, ...]
    overloaded: int
    nearest: tuple[Row, ...]
    limits_of_nearest: tuple[str, ...]
    why: Pair | None
    ways: tuple[WayOut, ...]
    official_precision: str | None
    has_own_drafter: bool
    notes: tuple[Pair, ...]
    longer: Pair | None
    everything: bool
    beside: Beside | None

    @property
    def met(self) -> bool:
        """Whether anything meets the goal."""
        return bool(self.rows)

    @classmethod
    def of(cls, selection: Selection, everything: bool = False) -> SearchReport:
        """The report of a selection, computed and simulated.

        Args:
            selection: of the deployments that a search found.
            everything: also what is beside the recommended rows.
        """
        result, wishes, sure = selection.result, selection.result.wishes, selection.sure
        groups = selection.front
        first = groups[0][0] if groups else None
        rows = tuple(ranked_row(selection, groups[0][0], *group) for group in groups)
        nearest = () if groups or sure else nearest_misses(selection)
        row = selection.best or selection.nearest_miss
        longer = longer_words(scenario(selection.goal, row.choice)) if row else None
        return cls(
            goal=selection.goal, objectives=wishes.objectives, chosen=tuple(wishes.chosen),
            limits=wishes.limits, unpriced=wishes.unpriced, funnel=result.funnel,
            pairs=result.pairs.tried if result.pairs else None,
            front_size=len(selection.candidates),
            rows=rows, shares_by_cards=tuple(
                (cards, max(row.keeps or 0.0 for row in rows if row.row.devices == cards))
                for cards in sorted({row.row.devices for row in rows})),
            sure=sure.share if sure else None,
            drawn=sure.tried if sure else 0,
            skipped=sure.left if sure else 0, certain=len(sure.front) if sure else 0,
            surest=ReportRow.of(selection, sure.surest.row, keeps=selection.keeps(sure.surest))
            if sure and sure.surest and not groups else None,
            surer=tuple(surer_changes(selection, first)) if first else (),
            weakest=weakest_limit(selection, first) if first else None,
            rejected=tuple(rejected_formats(selection, rows)) if rows else (),
            usual=tuple(missing_layouts(selection, rows)) if rows else (),
            left_out=tuple(selection.left_out), missed=tuple(selection.missed),
            refused=tuple(Rejected("", None, "start", row, start=selection.start(row))
                          for row in selection.refused),
            overloaded=selection.overloaded, nearest=tuple(nearest),
            limits_of_nearest=tuple(map(wishes.binds, nearest)),
            why=None if groups or nearest or sure or selection.missed or selection.refused
            else why_none(selection),
            ways=() if groups else tuple(ways_out(selection)),
            official_precision=selection.official_precision,
            has_own_drafter=bool(result.space.model.drafts), longer=longer,
            everything=everything,
            notes=tuple(filter(None, (*caveats(selection), longer))),
            beside=rows_beside(selection) if everything and groups else None)

    def as_json(self) -> dict[str, Any]:
        """Plain data, SI units."""
        data: dict[str, Any] = {
            "goal": self.goal.id, "met": self.met, "objectives": list(self.objectives),
            "limits": self.limits, "unpriced": list(self.unpriced),
            "funnel": self.funnel.as_json(), "left_out": list(self.left_out),
            "missed": [missed.row.as_json() | {"simulated": missed.as_json()}
                       for missed in self.missed]}
        if self.sure is not None:
            data["sure"] = {"share": self.sure, "found": self.certain, "drawn": self.drawn,
                            "left": self.skipped} | ({"surest": self.surest.as_json() | {
                                "keeps": self.surest.keeps}} if self.surest else {})
        if self.longer:
            data["refused_requests"] = self.longer[0]
        if not self.met:
            return data | {"ways_out": [way.as_json() for way in self.ways],
                           "nearest_miss": self.nearest[0].as_json() | {
                               "binds": self.limits_of_nearest[0]} if self.nearest else None}
        return data | {
            "front_size": self.front_size, "overloaded": self.overloaded,
            "official_precision": self.official_precision,
            **({"pairs_tried": list(self.pairs)} if self.pairs else {}),
            "front": [[row.as_json(), *(other.as_json() for other in row.group)]
                      for row in self.rows],
            "surer": [asdict(change) for change in self.surer],
            "rejected": [rejected.as_json() for rejected in self.rejected],
            "usual": [layout.as_json() for layout in self.usual],
            "refused": [refused.as_json() | (
                {"start": refused.start.as_json()} if refused.start else {})
                for refused in self.refused],
            **(self.beside.as_json() if self.beside else {})}


def ranked_row(selection: Selection, first: SampledRow, sample: SampledRow, *group: SampledRow
                ) -> RankedRow:
    """The row of a group of deployments that cannot be told from its first, ``sample``."""
    row, goal = sample.row, selection.goal
    deployed = scenario(goal, row.choice)
    inputs = dict(deployed.inputs())
    quantities = dict(evaluate(inputs, deployed.model.attention))
    shares = bound_by(inputs, quantities)
    resource = max(shares, key=lambda name: float(shares[name]))
    weights, cache, total = (float(quantities[name]) for name in (
        "weights_per_device", "kv_per_device", "memory_per_device"))
    start = selection.start(row)
    pools = started_pools(goal, row, start.engine) if start and start.engine else {}
    return RankedRow.of(
        selection, row, keeps=selection.keeps(sample), simulated=sample.seen,
        later=later_reason(selection, first, sample), group=tuple(other.row for other in group),
        limit=selection.result.wishes.binds(row), resource=resource,
        share=float(shares[resource]) / sum(map(float, shares.values())),
        memory=Memory(weights, cache, total - weights - cache, float(inputs["memory_capacity"])),
        near=selection.near(row), unrun=tuple(unrun(goal, row)),
        pools=None if row.prefill is None else selection.loop(row),
        startup_lines=startup_lines(pools), startup_words=tuple(
            words for name, pool in pools.items() for words in engine_words(pool, name)))


def rows_beside(selection: Selection) -> Beside:
    """What is not simulated: the best in the published weights, of each format and card, and the
    best inside of what was measured."""
    best, covered = selection.front[0][0].row, inside(selection)
    official = selection.official

    def of(rows: Iterable[Row]) -> tuple[ReportRow, ...]:
        return tuple(ReportRow.of(selection, row) for row in rows)

    return Beside(
        ReportRow.of(selection, official) if official else None,
        of(selection.precisions), of(selection.devices),
        ReportRow.of(selection, covered) if covered else None, bool(selection.near(best).outside),
        (selection.near(covered).nearest or "") if covered else "")


def caveats(selection: Selection) -> Iterator[Pair | None]:
    """Which cards are only announced, what of the model is not computed, and which releases are
    answered by a neighbour; of all cards that were tried where nothing meets the goal."""
    result, goal = selection.result, selection.goal
    yield announced(base.device for base, of_base in zip(
        result.bases, result.of_bases, strict=True) if of_base.front.rows or not selection.met)
    yield underived([goal.model])
    for name in goal.engines or ():
        if name != UNNAMED:
            yield borrowed(*stated_release(name))


def nearest_misses(selection: Selection) -> list[Row]:
    """The nearest in one pool and, where nothing was simulated or refused, in two, the nearer
    first."""
    one, two = selection.nearest_miss, None
    if not (selection.missed or selection.refused):
        wishes, pairs_of = selection.result.wishes, selection.pairs_without_limits
        rows = []
        for row in pairs_of.rows() if pairs_of else ():
            excess = wishes.excess({name: np.array(value)
                                    for name, value in row.quantities.items()})
            if over := {name: float(value) for name, value in excess.items() if value > 0}:
                rows.append(replace(row, over=over))
        two = min(rows, key=lambda row: max(row.over.values()), default=None)
    return sorted((row for row in (one, two) if row is not None), key=lambda row: (
        not row.over, max(row.over.values(), default=0.0)))


def why_none(selection: Selection) -> Pair:
    """Why nothing that the goal allows can be laid out."""
    goal, space = selection.goal, selection.result.space
    demand = goal.demand
    if too_long(demand.longest, positions(space.model)):
        return length_words(demand.longest, space.model)
    paired = selection.pairs_without_limits if "one" not in goal.space.pools else None
    if paired is not None and any(paired.tried[:2]):
        if not all(paired.tried[:2]):
            return say("no-pool-holds", pool="decode" if paired.tried[0] else "prefill")
        cards = [min((int(column["devices"].min()) for pools in paired.pools
                      if (column := getattr(pools, pool))), default=0)
                 for pool in ("prefill", "decode")]
        most_cards = max(pools.most for pools in paired.pools)
        if sum(cards) > most_cards:
            return say("smallest-pools", prefill=cards[0], decode=cards[1], most=most_cards)
        return say("no-pair-holds", cards=most_cards, asked=(
            common("so-many-users", users=f"{demand.users:,}") if demand.users is not None else
            (f"{demand.arrival_rate:g} request/s",) * 2 if demand.arrival_rate
            else say("a-request")))
    unknown = [str(device) for device in dict.fromkeys(offer.device for offer in space.offers)
               if load_device(device).architecture is None]
    if unknown and not goal.space.any_engine:
        return say("no-release-known", device=unknown[0])
    if behind := selection.result.funnel.counts["saturated"]:
        return say("all-fall-behind", count=behind)
    return say("no-layout")


def ways_out(selection: Selection) -> Iterator[WayOut]:
    """One more server, and other formats, where they meet the goal."""
    goal, space = selection.goal, selection.result.space
    if too_long(goal.demand.longest, positions(space.model)):
        return
    wider: dict[Literal["cards", "format"], Goal] = {}
    if goal.cards.most is not None and space.offers:
        server = max((int(load_node(base.node).devices_per_node.value)
                      for base in space.bases()), default=0)
        most = goal.cards.most + server
        if server and most <= MOST_WIDER:
            wider["cards"] = goal.model_copy(update={"cards": CardRange(
                fewest=goal.cards.fewest, most=most)})
    formats = {"precisions": None} if goal.precisions else {
        "space": goal.space.model_copy(update={"any_format": True})}
    if goal.precisions or (space.dropped[UNPUBLISHED] and not goal.space.any_format):
        wider["format"] = goal.model_copy(update=formats)
    for what, other in wider.items():
        answer = Selection(search(other), most=1, starts=selection.starts)
        if answer.met:
            yield WayOut(what, int(other.cards.most or 0),
                         ReportRow.of(answer, answer.front[0][0].row))


def later_reason(selection: Selection, first: SampledRow, other: SampledRow) -> Later | None:
    """Why a deployment that is better in the first objective stands below the first."""
    leading = selection.result.wishes.leading
    if other is first or other.row.worth(leading) <= first.row.worth(leading):
        return None
    if (selection.keeps(other) or 0.0) < (selection.keeps(first) or 0.0) - NEARLY:
        return "seldom"
    return ("plainer" if extras(selection.result, other.row) > extras(selection.result, first.row)
            else "alike")


def weakest_limit(selection: Selection, first: SampledRow) -> tuple[str, str, float] | None:
    """The limit that the first breaks most often, its percentile, and in which share of draws."""
    if selection.keeps(first) is None:
        return None
    broken = {limit: float(np.mean(excess > 0))
              for limit, excess in selection.excesses(first).items()}
    most = max(broken, key=lambda limit: broken[limit], default=None)
    return most and (*most, broken[most])


def surer_changes(selection: Selection, first: SampledRow) -> Iterator[Surer]:
    """Wider limits, and fewer users, with which the first keeps all limits in ``SURE`` of draws."""
    share = selection.keeps(first)
    if share is None or share >= SURE:
        return
    over = selection.excesses(first)
    for (name, at), excess in over.items():
        others = [other for key, other in over.items() if key[0] != name]
        within = np.max(others, axis=0) <= 0 if others else np.ones(len(excess), bool)
        if within.mean() < SURE:
            continue
        needed = float(np.quantile(np.where(within, excess, np.inf), SURE, method="higher"))
        limit = selection.goal.limits.times.get(name, {}).get(at)
        if limit is not None and 0 < needed < math.inf:
            yield Surer(name, at, limit * (1 + needed), SURE)
    demand = selection.goal.demand
    if not demand.users or demand.think_time or first.row.prefill is not None:
        return
    for part in FEWER:
        count = math.floor(demand.users * part)
        row = selection.result.again(replace(first.row.choice, concurrency=count)
                                     ) if count else None
        if row is None:
            continue
        sample, = sample_rows(selection.result, [row])
        share = selection.keeps(sample, like=first)
        if share is not None and share >= SURE:
            yield Surer("users", "", count, share)
            return


def rejected_formats(selection: Selection, rows: Sequence[RankedRow]) -> list[Rejected]:
    """Formats that were tried of which no row has one, the nearest of each."""
    result = selection.result
    shown = {choice.precision for row in rows for choice in row.row.choices}
    by_format: dict[str, list[Rejected]] = {}
    for base, of_base in zip(result.bases, result.of_bases, strict=True):
        if base.precision in shown:
            continue
        of_format = by_format.setdefault(base.precision, [])
        if of_base.front.rows:
            of_format.append(rejected_format(selection, rows[0], base.precision,
                                           result.row(of_base.front.rows, 0)))
        elif miss := of_base.miss.rows or of_base.short.rows:
            row = result.row(miss, 0)
            of_format.append(Rejected(
                base.precision, None, "limit" if of_base.miss.rows else "memory", row,
                result.wishes.binds(row)))

    def order(rejected: Rejected) -> tuple[float, ...]:
        """Nearest misses by how near they are, all others by the objectives of the goal."""
        assert rejected.row
        missed = max(rejected.row.over.values(), default=rejected.row.quantities.get(SHORT, 0.0))
        return (NEAREST_FIRST.index(rejected.why), missed,
                *(-worth for worth in rejected.row.worth(result.wishes.chosen)))

    return sorted((min(of_format, key=order) for of_format in by_format.values() if of_format),
                  key=order)[:MOST_REJECTED]


def rejected_format(selection: Selection, first: RankedRow, precision: str, row: Row) -> Rejected:
    """Why no row has a format, the best deployment of which is within the limits."""
    chosen = selection.result.wishes.chosen
    if not selection.offers(row):
        return Rejected(precision, None, "start", row, start=selection.start(row))
    row = selection.as_ranked(row)
    if row.worth(chosen) <= first.row.worth(chosen):
        return Rejected(precision, None, "worse", row)
    share = selection.keeps(*sample_rows(selection.result, [row]))
    seldom = first.keeps is not None and (share or 0.0) < first.keeps - NEARLY
    return Rejected(precision, None, "seldom" if seldom else "unscored", row, keeps=share)


def missing_layouts(selection: Selection, rows: Sequence[RankedRow]) -> Iterator[Rejected]:
    """Plain layouts in one pool on as many cards as the first row has, of which no row has one."""
    first, result = rows[0].row, selection.result
    if not result.bases or len({choice.device for choice in first.choices}) > 1:
        return
    layouts = [(cut, experts) for cut, experts in plain_cuts(selection, first) if not any(
        choice.pool is None and choice.expert in experts and (
            choice.devices, choice.tensor, choice.pipeline, choice.context) == (
            cut.tensor * cut.data, cut.tensor, 1, 1)
        for row in rows for choice in row.row.choices)]
    rejected = (missing_layout(selection, rows[0], cut, experts) for cut, experts in layouts)
    yield from islice((layout for layout in rejected
                       if layout.why != "memory" or layout.cut != Cut()), MOST_USUAL)


def plain_cuts(selection: Selection, first: Row) -> Iterator[tuple[Cut, tuple[int, ...]]]:
    """Plain layouts, and over how many ranks each may share its experts: one server, if so few
    cards are allowed, then all cards: tensor parallelism in each server, with experts over all
    cards, attention by request with experts over all cards; at last one card."""
    total, fewest = first.devices, selection.goal.cards.fewest
    server = min(total, int(load_node(first.choice.node).devices_per_node.value))
    for cards in dict.fromkeys([*([server] if fewest <= server else []), total]):
        if cards % server == 0:
            yield Cut(server, 1, cards // server, 1), (1, server)
        if selection.result.space.model.is_moe and cards > 1:
            if cards > server and cards % server == 0:
                yield Cut(server, 1, cards // server, cards), (cards,)
            yield Cut(1, 1, cards, cards), (cards,)
    if fewest == 1 < total:
        yield Cut(), (1,)


def missing_layout(selection: Selection, first: RankedRow, cut: Cut, experts: tuple[int, ...]
                  ) -> Rejected:
    """Why no row has a layout."""
    name, wishes = written(cut)["en"], selection.result.wishes
    rows = selection.result.of_cut(first.row.choice.device, cut.tensor * cut.data, cut.tensor,
                                   experts)
    if not rows:
        return Rejected(name, cut, "unloaded" if rows is None else "slow", None)
    if rows[0].over or SHORT in rows[0].quantities:
        return Rejected(name, cut, "limit" if rows[0].over else "memory", rows[0],
                        wishes.binds(rows[0]))
    row = next((row for row in rows[:MOST_REJECTED] if selection.offers(row)), None)
    if row is None:
        return Rejected(name, cut, "start", rows[0], start=selection.start(rows[0]))
    corrected, best = selection.as_ranked(row), first.row.worth(wishes.chosen)
    simulated = selection.simulated(row) if corrected.worth(wishes.chosen) > best else None
    share = selection.keeps(*sample_rows(selection.result, [row]))
    if simulated and not simulated.keeps:
        return Rejected(name, cut, "limit", row, wishes.binds(row), None, simulated, share)
    seldom = first.keeps is not None and (share or 0.0) < first.keeps - NEARLY
    return Rejected(name, cut, "seldom" if seldom else "beaten", corrected, "", None, simulated,
                    share)
