"""The answer to a goal: the front in groups, what else would do, how it was found; as data.

Besides the best of all: the best in the published weights, the best of each precision, and of
what was found of other layouts the next best.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from itertools import islice
from pathlib import Path
from typing import Any

from calc.answer.service import POOLS, Pools, combine_pools
from calc.evidence.classes import Nearness, both, near
from calc.layouts.layout import (
    CUT,
    Choice,
    Row,
    Start,
    as_asked,
    scenario,
    usual_chunk,
)
from calc.layouts.space import CHUNKS
from calc.many.processes import OnProgress, silent
from calc.searching.goal import HOLDS, SHORT, UNBOUNDED, load_goal
from calc.searching.pools import Pairs, pairs
from calc.searching.ranking import (
    NEARLY,
    PER_TOKEN,
    SampledRow,
    Simulated,
    enough,
    extras,
    firmest,
    is_little_worse,
    keeps,
    leading,
    least_share,
    near_best,
    ranked,
    sample_rows,
    simulated,
    surely,
)
from calc.searching.search import MISS, SearchResult, farther, search
from catalogue import ParamsError, Scenario, load_device, made_scenario
from catalogue.deployments.admission import cut_of, problems, subject_of
from catalogue.kernels import known_to_engines, published_precision
from catalogue.planning import OBJECTIVES, Goal

MOST_TOLD = 4  # groups of deployments that are told
MOST_RANKED = 240  # deployments of a front that are drawn, the best at central values first
OF_EACH = 24  # of each precision or device
OF_LAYOUTS = 12  # layouts of each, on each number of cards, likewise
OF_BASE = 6  # of each offer, engine and precision besides
OF_GROUP = 3  # kinds of deployments of a group that are tried, where its first is not to be told
LIMITED = ("ttft", "tpot", "e2e", "throughput", "cost", "power")  # quantities that goals limit
MOST_SIMULATED = 12  # deployments, before it is said that none was found

Starts = Callable[[Goal, Row], Start]  # which release starts a deployment


@dataclass
class Selection:
    """What a goal comes to.

    >>> select("r1-64-users-8xh20", ["precisions=fp8-block"]).met
    True

    Attributes:
        result: of the search.
        most: deployments of the front that are told.
        starts: which release starts a deployment, asked before it is told; None to ask none.
    """

    result: SearchResult
    most: int = field(default=MOST_TOLD)
    starts: Starts | None = field(default=None, repr=False)
    _refused: list[Row] = field(default_factory=list, repr=False)
    _loops: dict[tuple[Choice, ...], Pools] = field(default_factory=dict, repr=False)
    _ratios: dict[tuple[Any, ...], dict[str, float]] = field(default_factory=dict, repr=False)
    _started: dict[tuple[Choice, ...], Start] = field(default_factory=dict, repr=False)
    _simulated: dict[tuple[Choice, ...], Simulated | None] = field(default_factory=dict, repr=False)

    @property
    def goal(self) -> Goal:
        """The goal."""
        return self.result.wishes.goal

    @property
    def met(self) -> bool:
        """Whether anything meets the goal."""
        return bool(self.front)

    @cached_property
    def candidates(self) -> list[Row]:
        """Deployments of the front, of one pool and of two, the best at central values first."""
        result = self.result
        paired = result.pairs.rows() if result.pairs else []
        return self._sorted(([sample.row for sample in self.sure] or result.rows(result.front))
                            + paired)

    @cached_property
    def ranking(self) -> list[list[SampledRow]]:
        """Candidates as search ranks them (``ranked``), by what they can stand for, each with those
        that cannot be told from it; where the first keeps no limits for sure, with those that are
        farther from a limit."""
        result, rows = self.result, self.candidates
        if self.sure:
            return self._ranked(rows)
        beside = self._beside(rows)
        groups = self._reconsidered(rows + beside)
        first = next(self._started_of(groups), None)
        best = next(iter(rows), None)
        if set(result.wishes.limits) <= set(result.wishes.objectives) or (
                first and near_best(result, first.row, best) and self._stands(first)):
            return groups
        shown = {row.choices for row in rows}
        others = [row for row in self._farther(groups) if row.choices not in shown]
        return self._reconsidered(rows[:MOST_RANKED] + beside + others[:MOST_RANKED])

    def _reconsidered(self, rows: list[Row]) -> list[list[SampledRow]]:
        """Rows in groups; where an estimate of the first that a release starts differs from its
        closed form, all of its layout are taken to, and other layouts may lead."""
        groups = self._ranked(rows)
        while len(self._ratios) < OF_GROUP and (started := next(
                self._started_of(groups), None)) and (
                layout := _layout(first := started.row)) not in self._ratios:
            self._ratios[layout] = {of: value / first.quantities[of] for of, value in
                                    self._estimated(first).items() if first.quantities[of]}
            if all(abs(self._ratios[layout].get(name, 1.0) - 1) <= NEARLY
                   for name in self.result.wishes.chosen):
                break
            shown = {row.choices for row in rows}
            rows = rows + [row for row in self._layouts() if row.choices not in shown]
            groups = self._ranked(rows)
        return groups

    def _started_of(self, groups: Sequence[Sequence[SampledRow]]) -> Iterator[SampledRow]:
        """First rows of the best groups, those that a release starts, as they would be printed."""
        return (self._plain(sample) for sample, *_ in groups[:OF_GROUP] if self.offers(sample.row))

    def _layouts(self, most: int | None = None) -> list[Row]:
        """The best of every layout of each offer, engine and precision, or of so many layouts on
        each number of cards."""
        rows = []
        for of_base in self.result.of_bases:
            counts = Counter[int]()
            for number, devices in enumerate(of_base.layouts.get("devices", ())):
                counts[int(devices)] += 1
                if most is None or counts[int(devices)] <= most:
                    rows.append(self.result.row(of_base.layouts, number))
        return rows

    def _beside(self, rows: Sequence[Row]) -> list[Row]:
        """The best few of every offer, engine and precision, where they are not among some rows:
        of what leads, no release may start anything; and the best layouts that are little worse."""
        shown, result = {row.choices for row in rows}, self.result
        beside = [row for of_base in result.of_bases if of_base.front.rows
                  for row in result.rows(of_base.front, OF_BASE)]
        others = [row for row in self._layouts(OF_LAYOUTS) if near_best(
            result, row, rows[0], max(1, rows[0].extras - row.extras))] if rows else []
        plain = [result.again(replace(row_of_front.choice, prefill_context=0))
                 for row_of_front in (*rows[:OF_EACH], *beside)
                 if row_of_front.prefill is None and row_of_front.choice.prefill_context]
        some = {row.choices: row for row in (*beside, *others, *plain) if row is not None}
        return [row for choices, row in some.items() if choices not in shown]

    def _farther(self, groups: Sequence[Sequence[SampledRow]]) -> list[Row]:
        """Deployments that are farther from a limit, the best at central values first; of those no
        worse, at central values, than what the best of some groups stands for that keeps its limits
        for sure."""
        result = self.result
        name, sign = next(iter(result.wishes.leading.items()))
        firm = next(filter(self._stands, self._started_of(groups)), None)
        least = {name: sign * firm.stands_for(name, sign)} if firm and name not in UNBOUNDED else {}
        criteria = replace(result.wishes, objectives=result.wishes.margins, least=least)
        two = pairs(result.space, criteria, result.pairs.pools).rows() if result.pairs else []
        return self._sorted(result.rows(farther(result, criteria)) + two)

    def as_ranked(self, row: Row) -> Row:
        """A deployment with what is known of its layout."""
        ratios = self._ratios.get(_layout(row), {})
        return replace(row, quantities=_times(row.quantities, ratios))

    def _samples(self, rows: Sequence[Row]) -> list[SampledRow]:
        """Deployments under the same draws, with what is known of their layouts."""
        return [_moved(sample, self._ratios.get(_layout(sample.row), {}))
                for sample in sample_rows(self.result, rows)]

    def _ranked(self, rows: Sequence[Row]) -> list[list[SampledRow]]:
        return ranked(self.result, self._samples(rows[:2 * MOST_RANKED]), MOST_SIMULATED)

    def _stands(self, sample: SampledRow) -> bool:
        """Whether a deployment keeps its limits in the share of draws that is wanted, and
        simulated."""
        def often() -> bool:
            return (self.keeps(sample) or 0.0) >= self._wanted
        return often() and ((simulated := self.simulated(sample.row)) is None or (
            simulated.keeps and often()))

    @cached_property
    def sure(self) -> list[SampledRow]:
        """Deployments in one pool that keep the limits in the share of draws that a goal asks for;
        none of a goal that asks for no share."""
        share = self.goal.limits.sure
        return [] if share is None else surely(self.result, share, self.offers)

    @property
    def _wanted(self) -> float:
        """Share of draws in which a simulated deployment has to keep its limits [1]: of those that
        were chosen because they are sure in closed form, the usual one."""
        return HOLDS if self.sure else self.result.wishes.share

    @property
    def front(self) -> list[list[SampledRow]]:
        """Recommended groups; of a goal that asks for a share of draws those whose first keeps the
        limits in as many, in closed form."""
        share = self.goal.limits.sure
        return self.recommended if share is None else [
            group for group in self.recommended if (keeps(self.result, group[0]) or 0.0) >= share]

    @cached_property
    def recommended(self) -> list[list[SampledRow]]:
        """Of each group of the ranking the first that a release starts and that keeps the limits
        simulated, with those like it; where they are fewer than ``most``, of other layouts too."""
        groups: list[list[SampledRow]] = []
        shown = set[tuple[Any, ...]]()
        for group in self.ranking:
            if _cut(group[0].row) in shown or self._too_seldom(group[0], groups) or (
                    leader := self._leader(group)) is None:
                continue
            if _cut(leader.row) not in shown:
                shown.add(_cut(leader.row))
                groups.append([leader, *(sample for sample in group
                                         if sample.row.choices != leader.row.choices)])
            if len(groups) >= self.most and (not self.result.wishes.limits or any(
                    self._stands(sample) for sample, *_ in groups)):
                break
        groups = firmest(groups, self.keeps, self._wanted)[:self.most]
        if not groups:
            groups = self._replaced() or self._first_layout()
        if not groups:
            return []
        others = self._others(groups)
        groups = self._in_order([*groups, *islice(others, self.most - len(groups))])
        while more := [*islice(others, self.most - len(groups))]:  # in place of what is not told
            groups = self._in_order([*groups, *more])
        return groups

    def _too_seldom(self, sample: SampledRow, groups: Sequence[Sequence[SampledRow]]) -> bool:
        """Whether a deployment would come last of enough others: it keeps the limits too seldom,
        as far as the simulation of the first of them stands for its own."""
        if len(groups) < self.most:
            return False
        shares = [self.keeps(other) or 0.0 for other, *_ in groups]
        return (self.keeps(sample, groups[0][0]) or 0.0) < least_share(
            self._wanted, shares)

    def _in_order(self, groups: list[list[SampledRow]]) -> list[list[SampledRow]]:
        """Rows as they are simulated: the one to recommend, those behind it by the objectives, last
        what keeps the limits too seldom."""
        objectives = self.result.wishes.chosen
        first = groups[0][0] if self.sure else leading(
            self.result, [group[0] for group in groups], self.keeps)
        ordered = sorted(groups, reverse=True, key=lambda group: (group[0] is first, *(
            group[0].stands_for(*item) for item in objectives.items())))
        return self._undominated(firmest(ordered, self.keeps, self._wanted))

    def _undominated(self, groups: list[list[SampledRow]]) -> list[list[SampledRow]]:
        """Rows of which none is better than the first in the first objective, or no worse in any,
        and no less sure: such a one leads, unless it does more for little and is hardly surer; then
        it is not told."""
        result, objectives = self.result, self.result.wishes.chosen
        leading, rest = result.wishes.leading, groups[1:]
        for group in groups[1:]:
            first, other = groups[0][0], group[0]
            share, own = ((self.keeps(sample) or 0.0) for sample in (other, first))
            more, less = (sample.row.worth(objectives) for sample in (other, first))
            if share < own or not (more[0] > less[0] or all(
                    one >= two for one, two in zip(more, less, strict=True))):
                continue
            rest = [sample for sample in rest if sample is not group]
            besides = extras(result, other.row) - extras(result, first.row)
            if share > own + enough(max(1, besides)) or besides <= 0 or (
                    first.row.devices != other.row.devices) or not is_little_worse(
                    first, other, leading, besides):
                rest = [groups[0], *rest]
                groups = [group]
        return [groups[0], *rest]

    def _leader(self, group: Sequence[SampledRow]) -> SampledRow | None:
        """The first of a group that may be told, of those that differ in more than requests."""
        tried = set[tuple[Choice, ...]]()
        for sample in (self._plain(group[0]), *group):
            if sample.row.kind in tried or len(tried) == OF_GROUP:
                continue
            tried.add(sample.row.kind)
            if self._can_be_recommended(sample.row):
                return self._recommended(sample)
        return None

    def _recommended(self, sample: SampledRow) -> SampledRow:
        """A deployment as it is told: simulated, and with what an estimate of it gives."""
        row, seen = sample.row, self.simulated(sample.row)
        return replace(_moved(sample, {name: value / row.quantities[name] for name, value in
                                       self._estimated(row).items() if row.quantities[name]}),
                       seen=seen)

    def _estimated(self, row: Row) -> dict[str, float]:
        """What an estimate gives of a deployment: of two pools in one loop, of which the search has
        an approximation; of one with its simulation, where its closed form is in doubt."""
        own, = sample_rows(self.result, [self._drawn(row)])
        if row.prefill is None:
            amounts = replace(own, seen=self.simulated(row)).amounts
            return {name: amount.value for name, amount in amounts.items()
                    if name in row.quantities}
        loop, quantities = self.loop(own.row).loop, own.row.quantities
        rate = loop.rate * self.goal.demand.output_tokens
        slower = quantities["throughput"] / rate
        return {"ttft": loop.ttft, "tpot": loop.tpot, "e2e": loop.e2e, "throughput": rate,
                "throughput_per_card": rate / row.devices} | {
                    name: value * slower for name, value in quantities.items() if name in PER_TOKEN}

    def _drawn(self, row: Row) -> Row:
        """A deployment as the search has it."""
        drawn = self.result.draws.get(row.choices)
        return row if drawn is None else drawn.row

    def _can_be_recommended(self, row: Row) -> bool:
        """Whether a release starts a deployment, and it keeps the limits simulated."""
        if not self.offers(row):
            if row.kind not in {other.kind for other in self._refused}:
                self._refused.append(row)
            return False
        simulated = self.simulated(row)
        return simulated is None or simulated.keeps

    def _others(self, groups: Sequence[Sequence[SampledRow]]) -> Iterator[list[SampledRow]]:
        """Deployments of other layouts or formats than those that lead: on fewer cards where these
        are asked for, in the published weights, and the next best."""
        shown, first = {_cut(group[0].row) for group in groups}, groups[0][0].row
        ranked_rows = [sample.row for group in (*groups, *self.ranking) for sample in group]
        rows = [] if self.official_precision in {of.precision for of in first.choices} else [
            row for row in ranked_rows if row.choice.precision == self.official_precision]
        if "cards" in self.result.wishes.leading:
            rows += sorted((row for row in ranked_rows if row.devices < first.devices),
                           key=lambda row: row.devices)
        rows += ranked_rows
        if first.prefill is not None and self.result.pairs:
            paired = []
            for choice in first.choices:
                paired += pairs(self.result.space, self.result.wishes, [
                    of_base.of_other_cuts(choice) for of_base in self.result.pairs.pools
                ]).rows()[:OF_BASE]
            rows += self._sorted(paired)
        rows += self._sorted(self._layouts())
        others: dict[tuple[Any, ...], Row] = {}
        for row in rows:
            others.setdefault(_cut(row), row)
        drawn = self._samples([
            row for cut, row in others.items() if cut not in shown][:MOST_RANKED])
        # of those, what is as sure first
        least = least_share(self._wanted, [self.keeps(groups[0][0]) or 0.0])
        seldom = {id(sample): (share := keeps(self.result, sample)) is not None and share < least
                  for sample in drawn}
        for sample in sorted(drawn, key=lambda sample: seldom[id(sample)]):
            if sum(other is not None for other in self._simulated.values()) >= MOST_SIMULATED:
                break
            if sample.row.choice.prefill_context:  # unless dealing prompts wins too little
                sample = self._plain(sample)
            if self._can_be_recommended(sample.row):
                yield [self._recommended(sample)]

    def _first_layout(self) -> list[list[SampledRow]]:
        """Where nothing that was ranked may be told: the best other layout that may."""
        tried = {_cut(group[0].row) for group in self.ranking}
        rows = {_cut(row): row for row in self._sorted(self._layouts())[::-1]}
        left = [row for cut, row in rows.items() if cut not in tried][::-1]
        best = next((row for row in left[:OF_EACH] if self._can_be_recommended(row)), None)
        return [] if best is None else [[self._recommended(*sample_rows(self.result, [best]))]]

    def _replaced(self) -> list[list[SampledRow]]:
        """Where no pair of pools that was ranked keeps the limits simulated: the best of smaller
        chunks, for whose steps a prompt waits less than the closed form has it, and of fewer
        drafts, with which fewer prompts come."""
        failed = [simulated.row for simulated in self.missed if simulated.row.prefill]
        if not (result := self.result).pairs or not failed or failed[0].prefill is None:
            return []
        chunk, drafts = failed[0].prefill.chunk, failed[0].choice.drafts
        while chunk > CHUNKS[0]:
            chunk, drafts = chunk // 2, max(drafts - 1, 0)
            rows = pairs(result.space, result.wishes, [
                of_base.at_most("prefill", "chunk", chunk).at_most("decode", "drafts", drafts)
                for of_base in result.pairs.pools]).rows()
            for group in self._ranked(rows[:MOST_RANKED]) if rows else ():
                if leader := self._leader(group[:1]):
                    return [[leader]]
        return []

    def start(self, row: Row) -> Start | None:
        """Which release starts a deployment; None where that is not asked."""
        if self.starts is None:
            return None
        if row.choices not in self._started:
            self._started[row.choices] = self.starts(self.goal, row)
        return self._started[row.choices]

    def offers(self, row: Row) -> bool:
        """Whether a deployment may be told as one that starts, or as one on a card of which no
        engine is known."""
        start = None if self.goal.space.any_engine else self.start(row)
        return start is None or start.engine is not None or not all(
            known_to_engines(load_device(choice.device)) for choice in row.choices)

    def _plain(self, sample: SampledRow) -> SampledRow:
        """A deployment in one pool without what it does besides, step by step, where that wins too
        little to be told: redundant experts, micro-batches, a dealt cache, one in host memory,
        dealt prompts, experts cut and dealt at once, and a chunk that is not the engine's usual."""
        if sample.row.prefill is not None:
            return sample
        goal, best, own = self.goal, sample, keeps(self.result, sample) or 1.0
        plainer: tuple[Callable[[Choice], Choice], ...] = (
            lambda choice: replace(choice, micro_batches=1),
            lambda choice: replace(choice, expert=1 if choice.expert < choice.tensor
                                   else choice.expert, spares=0),
            lambda choice: replace(choice, expert=max(choice.expert, choice.tensor)
                                   if choice.expert > 1 else 1),
            lambda choice: replace(choice, spares=0), lambda choice: replace(choice, context=1),
            lambda choice: replace(choice, host_cache=None, loaded=None, concurrency=0)
            if choice.host_cache else choice,
            lambda choice: replace(choice, prefill_context=0),
            lambda choice: replace(choice, chunk=usual_chunk(goal, choice)))
        for less in plainer:
            choice = less(best.row.choice)
            if choice == best.row.choice or (row := self.result.again(choice)) is None:
                continue
            other, = self._samples([row])
            share = keeps(self.result, other) or 1.0  # neither is simulated
            if share >= min(self._wanted, own - NEARLY) and is_little_worse(
                    other, sample, self.result.wishes.chosen):
                best = other
        return best

    @property
    def refused(self) -> list[Row]:
        """Of what was to be told, one of each kind that no release starts."""
        assert self.front is not None  # which finds them
        return self._refused

    @property
    def missed(self) -> list[Simulated]:
        """Of the ranking, before the last that is told, what simulated keeps no limits."""
        return [simulated for simulated in self._simulated.values()
                if simulated and not simulated.keeps]

    def simulated(self, row: Row) -> Simulated | None:
        """What users see of a deployment in a simulation; None where no time is limited."""
        if row.choices not in self._simulated:
            self._simulated[row.choices] = simulated(self.goal, self._drawn(row))
        return self._simulated[row.choices]

    def near(self, row: Row) -> Nearness:
        """What was measured near a deployment; of two pools near both."""
        return reduce(both, (near(scenario(self.goal, of)) for of in row.choices))

    def keeps(self, sample: SampledRow, like: SampledRow | None = None) -> float | None:
        """In which share of draws a deployment keeps all limits, simulated if it was [1].

        Args:
            sample: the deployment.
            like: one whose simulation stands for its own; None for its own.
        """
        return keeps(self.result, sample, self._simulated.get((like or sample).row.choices))

    def loop(self, row: Row) -> Pools:
        """What a closed loop of users sees of two pools."""
        if row.choices not in self._loops:
            pools = (scenario(self.goal, choice) for choice in row.choices)
            self._loops[row.choices] = combine_pools(*pools, users=row.quantities["users"])
        return self._loops[row.choices]

    @property
    def best(self) -> Row | None:
        """The first that is told."""
        return next((group[0].row for group in self.front), None)

    @cached_property
    def pairs_without_limits(self) -> Pairs | None:
        """The front of the pairs in what a goal limits, as if it did not; None without pairs."""
        wishes = self.result.wishes
        if self.result.pairs is None:
            return None
        power = wishes.goal.limits.power and math.inf  # what has no limit is not computed
        free = wishes.goal.limits.model_copy(update=dict.fromkeys(LIMITED) | {"power": power})
        limited = {name: OBJECTIVES[name] for name in wishes.limits}
        return pairs(self.result.space, replace(
            wishes, goal=wishes.goal.model_copy(update={"limits": free}),
            objectives=limited | wishes.objectives))

    @property
    def official_precision(self) -> str | None:
        """The precision of the weights that the model is published in; None if none is known."""
        return published_precision(self.result.space.model)

    @property
    def nearest_miss(self) -> Row | None:
        """Where nothing meets the goal: what is least over a limit, else least short of memory."""
        for name in (MISS, SHORT):
            if every := [rows for own in self.result.of_bases if (rows := getattr(own, name).rows)]:
                return self.result.row(min(every, key=lambda rows: float(rows[name][0])), 0)
        return None

    def _sorted(self, rows: Sequence[Row]) -> list[Row]:
        return sorted(rows, key=lambda row: row.worth(self.result.wishes.objectives), reverse=True)


def started_pools(goal: Goal, row: Row, engine: str) -> dict[str, Scenario]:
    """Return the pools of a deployment under an engine that starts it, by their names.

    Args:
        goal: whose requests it serves.
        row: the deployment, of one pool or two.
        engine: with its release.

    Raises ParamsError for a pool that the engine is known not to load.
    """
    pools = {}
    for name, choice in zip(POOLS if row.prefill else ("serve",), row.choices, strict=True):
        pools[name] = made_scenario(as_asked(goal, choice) | {"engine": engine},
                                    Path(f"{goal.id}.yml"))
        for problem in problems(subject_of(pools[name]), cut_of(pools[name])):
            raise ParamsError(f"{problem.text['en']}.")
    return pools


def select(goal: Goal | str | Path, settings: Iterable[str] = (), workers: int = 1,
           starts: Starts | None = None, progress: OnProgress = silent) -> Selection:
    """What meets a goal: every deployment that it allows is tried.

    >>> selection = select("r1-64-users-8xh20", ["devices=nvidia-h20", "precisions=fp8-block"])
    >>> selection.met
    True

    Args:
        goal: one that is loaded, its identifier, or the path of its file.
        settings: ``KEY=VALUE`` with dotted keys, for a goal that is not loaded.
        workers: processes that share the work; the answer is the same.
        starts: which release starts a deployment; None to tell also what none starts.
        progress: how far the search is, as ``calc.searching.search`` has it.

    Raises ParamsError, one sentence, for a goal that cannot be used, or contradicts itself.
    """
    loaded = goal if isinstance(goal, Goal) else load_goal(goal, settings)
    return Selection(search(loaded, workers=workers, progress=progress), starts=starts)


def _moved(sample: SampledRow, ratios: Mapping[str, float]) -> SampledRow:
    """A deployment whose quantities are so many times as large, and their draws with them."""
    if not ratios:
        return sample
    row = replace(sample.row, quantities=_times(sample.row.quantities, ratios))
    return replace(sample, row=row, quantities={
        name: draws * ratios[name] if name in ratios and math.isfinite(ratios[name]) else draws
        for name, draws in sample.quantities.items()})


def _times(quantities: Mapping[str, float], ratios: Mapping[str, float]) -> dict[str, float]:
    return {name: value * ratios.get(name, 1.0) for name, value in quantities.items()}


def _layout(row: Row) -> tuple[Any, ...]:
    """Cards and cut of each pool, whatever its format."""
    return tuple((choice.device, choice.devices, *(getattr(choice, name) for name in CUT))
                 for choice in row.choices)


def _cut(row: Row) -> tuple[Any, ...]:
    """What makes a deployment another one to a reader: cards, format and cut of each pool."""
    return (*_layout(row), *(choice.precision for choice in row.choices))
