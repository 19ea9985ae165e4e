"""From a goal to every deployment that meets it: what is on the front, and what was left out.

All that a goal allows is tried, in an order that leaves out much for little: what divides, what
fits (memory grows with the requests in flight), what decodes fast enough without any prompts, which
is a bound of what users see, and what could still be better than one that was found. Only the rest
is computed whole. Each of these bounds is exact, so the front is that of all deployments that are
tried: where nobody says how many users there are, batches stand on a grid (``trying.batches``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np

from calc.layouts.feasible import has_room
from calc.layouts.layout import MOST_STAGES, Choice, Row
from calc.layouts.space import AXES, HITS, HOST, LOADED, Base, Cells, Space, choice_at
from calc.many.fronts import Best, Front
from calc.many.processes import OnProgress, mapped, quietly, silent
from calc.searching.candidates import (
    DEGREES,
    PACE,
    SLAB,
    CandidateCells,
    as_asked,
    at,
    batch_counts,
    best_layouts,
    best_of_layouts,
    candidate_cells,
    filled,
    least_of_each,
    slabs,
)
from calc.searching.goal import SHORT, TIMES, Wishes, check_goal
from calc.searching.pools import Pairs, pairs
from catalogue import Scenario
from catalogue.deployments.admission import KINDS, kind_words, positions
from catalogue.messages import Pair, sentences
from catalogue.planning import Goal
from catalogue.reading.values import LARGEST_COUNT

SEEN = (*TIMES, "throughput")
DERIVED = ("throughput_per_card", "cost", "power", "energy", "longest_context")
SETTINGS = (*AXES, HITS, HOST, LOADED, "concurrency")
CELL = (*SETTINGS, "kind", "steps", "waves", "like", PACE)
MOST_BEATEN = 1 << 18  # cells of a base that are kept to be computed later
MANY = 4  # bases of each process, fewer are divided
MANY_BASES = 32  # of which plain deployments are tried first, to hold the others against
GROUP = 1 << 12  # deployments that are computed whole first, to hold the others against
WORTH_IT = 100_000  # cells, of which several processes are started
MOST_OF_CARDS = 64  # deployments on a number of cards that are drawn, where the fewest are wanted
MISS = "miss"
EVERY = slice(None)


say = sentences("calc/searching/search")

COUNTED = ("memory", "pace", "objective", "saturated", "limits", "beaten", "front")
"""Of deployments; what stands before them in ``bound_words`` is of precisions and layouts."""
ORDER = (*(kind for kind in KINDS if kind != "drafts"), "unknown", "unpublished", "widened",
         "unpriced", "quality", "pipeline", *COUNTED)


@cache
def bound_words() -> dict[str, Pair]:
    """Why a deployment is not in the answer, in the order in which it is asked."""
    kinds = kind_words()
    english = {
        "unknown": "precisions without a source that an engine runs them on the card",
        "unpublished": "precisions in which no checkpoint of the model is known to be published "
                       "(--any-format tries them)",
        "widened": "precisions that widen the published weights, which run on the card as they are "
                   "(--any-format tries them)",
        "unpriced": "cards without a price, where the cost decides",
        "quality": "precisions whose published scores are below the required quality",
        "pipeline": f"layouts of more than {MOST_STAGES} pipeline stages, or of stages inside a "
                    "server (space.pipeline tries them)",
        "memory": "do not fit the memory",
        "pace": "exceed a limit by decode steps alone",
        "objective": "no better than the best so far, even without prefill",
        "saturated": "cannot keep up with the requests",
        "limits": "exceed a limit when fully computed",
        "beaten": "within all limits, but another is better",
        "front": "on the front"}
    return {name: kinds[name] if name in kinds else
            say("bound", english[name], name=name, most=MOST_STAGES) for name in ORDER}


@dataclass
class Funnel:
    """Deployments by what became of them.

    Attributes:
        counts: by name of ``bound_words``.
        computed: of which all quantities were computed.
    """

    counts: Counter[str] = field(default_factory=Counter)
    computed: int = 0

    @property
    def deployments(self) -> int:
        """All that were tried: the sum of what became of them [1]."""
        return sum(self.counts[name] for name in COUNTED)

    @property
    def text(self) -> str:
        """Number of deployments that were tried, and what became of them."""
        return f"Tried {self.deployments:,} deployments in one pool: " + ", ".join(
            f"{self.counts[name]:,} {bound_words()[name][0]}" for name in COUNTED
            if self.counts[name])

    def merge(self, other: Funnel) -> None:
        """Take in what became of others."""
        self.counts += other.counts
        self.computed += other.computed

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"deployments": self.deployments, "computed": self.computed,
                "by_bound": {name: self.counts[name] for name in ORDER if self.counts[name]}}


class _OfCards(Front):
    """Of every number of cards the ``MOST_OF_CARDS`` best by the other objectives."""

    def add(self, columns: Mapping[str, np.ndarray]) -> Front:
        rows = {name: np.concatenate([self.rows[name], column]) if self.rows else column
                for name, column in columns.items()}
        cards = rows["cards"]
        order = np.lexsort([*(-sign * rows[name] for name, sign in reversed(
            [*self.objectives.items()]) if name != "cards"), cards])
        rank = np.arange(len(order)) - np.searchsorted(cards[order], cards[order])
        best = order[rank < MOST_OF_CARDS]
        self.rows = {name: column[best] for name, column in rows.items()}
        return self

    def beats(self, columns: Mapping[str, np.ndarray]) -> np.ndarray:
        return np.zeros(len(next(iter(columns.values()))), bool)


@dataclass
class BaseResult:
    """What is kept of a base: its front, the best of its layouts, and how near it came.

    Attributes:
        front: within all limits.
        layouts: the best of each of several layouts, the best of them first.
        miss: within the memory, and least over a limit.
        short: least short of memory [B].
        farther: within all limits, with all that is limited among the objectives.
        beaten: those that are no better than one of the front at best, which may be farther from a
            limit; None where they are too many to be kept.
    """

    front: Front
    layouts: dict[str, np.ndarray]
    miss: Best
    short: Best
    farther: Front
    beaten: list[Cells] | None = field(default_factory=list)

    @classmethod
    def new(cls, criteria: Wishes) -> BaseResult:
        """A result before any layout is tried."""
        return cls(Front(criteria.objectives, ties=False), {}, Best(MISS, 1), Best(SHORT, 1),
                   Front(criteria.margins or criteria.objectives, ties=False))

    def beat(self, cells: Cells, rows: np.ndarray | slice = EVERY) -> None:
        """Remember cells that are no better than one of the front at best, of these rows."""
        if self.beaten is not None and len(cells["data"][rows]):
            self.beaten.append(at({name: cells[name] for name in CELL if name in cells}, rows))
            if sum(len(part["data"]) for part in self.beaten) > MOST_BEATEN:
                self.beaten = None

    def merge(self, other: BaseResult) -> None:
        """Take in what is kept of other cells of the same base."""
        self.front.merge(other.front)
        self.farther.merge(other.farther)
        if other.beaten is None:
            self.beaten = None
        for cells in other.beaten or ():
            self.beat(cells)
        self.miss.merge(other.miss)
        self.short.merge(other.short)
        if other.layouts:
            self.layouts = best_layouts([self.layouts, other.layouts], self.front.objectives)


@dataclass
class SearchResult:
    """What a search found.

    Attributes:
        wishes: what was asked.
        bases: offers in each precision.
        of_bases: of each of them.
        front: of all of them; its rows name the base by number.
        funnel: what became of the rest.
        pairs: of two pools, where the goal allows them.
        space: what was tried, for goals that may share it.
        draws: of its deployments what ``calc.searching.ranking`` has drawn, once for each.
        drawn_pools: of pools of its pairs, likewise.
    """

    wishes: Wishes
    bases: list[Base]
    of_bases: list[BaseResult]
    front: Front
    funnel: Funnel
    space: Space = field(repr=False)
    pairs: Pairs | None = None
    draws: dict[tuple[Choice, ...], Any] = field(default_factory=dict, repr=False)
    drawn_pools: dict[Choice, Any] = field(default_factory=dict, repr=False)

    def rows(self, front: Front | Best, most: int | None = None) -> list[Row]:
        """Rows of a front or of the best, the best first, all or so many."""
        numbers = range(len(next(iter(front.rows.values()), ())))
        return [self.row(front.rows, number) for number in numbers[:most]]

    @property
    def on_fewest_cards(self) -> list[Row]:
        """Deployments in one pool within the limits at central values, fewest cards first: of each
        number of them the ``MOST_OF_CARDS`` best by the other objectives. What the search left out
        is computed again."""
        every = _OfCards(self.wishes.objectives, ties=False)
        for number, base in enumerate(self.bases):
            if work := _Work.of(self.space, self.wishes, base, number):
                work.best.front = every
                work.run(work.cells)
        return self.rows(every)

    def again(self, choice: Choice) -> Row | None:
        """A deployment of the space computed by itself; None where the space has none such.

        Args:
            choice: its settings; with 0 requests in flight, as many as its users keep there.
        """
        number = next((number for number, base in enumerate(self.bases) if (
            base.device, base.node, base.engine, base.precision) == (
            choice.device, choice.node, choice.engine, choice.precision)), None)
        if number is None or not (work := _Work.of(
                self.space, self.wishes, self.bases[number], number)):
            return None
        same = np.all([work.cells[name] == getattr(choice, name) for name in AXES], axis=0)
        tried, cells = work.tried, at(work.cells, np.flatnonzero(same)[:1])
        if not len(cells["data"]):
            return None
        work.tried = replace(tried, host=None)
        if not choice.concurrency:
            work.run(cells)
        else:
            cells["concurrency"] = np.full(1, choice.concurrency)
            cells = tried.with_hits(cells | {HOST: np.full(1, choice.host_cache or 0)})
            if not has_room(tried.spare(cells)[0]):
                return None
            work._judged(cells, as_asked(self.wishes.goal.demand, tried.served(cells)))
        return self.row(work.best.front.rows, 0) if work.best.front.rows else None

    def row(self, columns: Mapping[str, np.ndarray], number: int) -> Row:
        """One of many rows."""
        cells = {name: columns[name] for name in (*AXES, HITS, HOST, LOADED) if name in columns}
        choice = choice_at(self.bases[int(columns["base"][number])], cells, number,
                           int(columns["concurrency"][number]))
        quantities = {name: float(columns[name][number]) for name in (
            *SEEN, *DERIVED, SHORT) if name in columns}
        over = {name: float(columns[f"over {name}"][number]) for name in self.wishes.limits
                if f"over {name}" in columns and columns[f"over {name}"][number] > 0}
        return Row(choice, {name: value for name, value in quantities.items()
                            if np.isfinite(value)}, over)


def search(goal: Goal, *, workers: int = 1, slab: int = SLAB, space: Space | None = None,
           progress: OnProgress = silent) -> SearchResult:
    """Try every deployment that a goal allows.

    >>> from catalogue import load
    >>> found = search(load("goals", "r1-64-users-8xh20"))
    >>> found.rows(found.front)[0].choice.layout
    'TP8/EP8'

    Args:
        goal: the goal.
        workers: processes that share the work, where it is worth it; the answer is the same.
        slab: deployments that are in memory at once; the answer is the same for any.
        space: what the goal allows, where it is not what its file says; goals that differ in
            users, objectives and limits of quantities only may share one.
        progress: how far it is: of ``one`` pool and of ``two``, bases done and all of them.

    Raises ParamsError for a goal that contradicts itself, or whose offers cannot be deployed.
    """
    criteria = check_goal(space := space or Space(goal), goal)
    bases = space.bases() if "one" in goal.space.pools else []
    of_bases = [BaseResult.new(criteria) for _ in bases]
    front, plain = (Front(criteria.objectives, ties=False) for _ in range(2))
    result = SearchResult(criteria, bases, of_bases, front, Funnel(), space)
    done = set()
    for number in range(len(bases)) if len(bases) >= MANY_BASES else ():
        of_bases[number] = plain_result(space, criteria, bases, number)
        plain.merge(of_bases[number].front)
    for number, part, funnel in results_of_parts(space, criteria, bases, plain, workers, slab):
        of_bases[number].merge(part)
        result.funnel.merge(funnel)
        done.add(number)
        progress("layouts in one pool", len(done), len(bases))
    if "two" in goal.space.pools and "longest_context" not in criteria.objectives:
        result.pairs = pairs(space, criteria, progress=progress)
    for of_base in of_bases:
        front.merge(of_base.front)
    result.funnel.counts += space.dropped
    result.funnel.counts["front"] = len(next(iter(front.rows.values()), ()))
    result.funnel.counts["beaten"] -= result.funnel.counts["front"]
    return result


def farther(result: SearchResult, criteria: Wishes) -> Front:
    """The front of all deployments with whatever is limited among the objectives.

    Args:
        result: a search; what it left out as no better at best is computed now.
        criteria: its wishes with those objectives, and further limits on the first of them.
    """
    front = Front(criteria.objectives, ties=False)
    for number, (base, own) in enumerate(zip(result.bases, result.of_bases, strict=True)):
        best = at(own.front.rows, slice(1))
        if criteria.least and best and criteria.over_least(best).all():
            continue
        front.merge(own.farther)
        if own.beaten != [] and (work := _Work.of(result.space, criteria, base, number)):
            if own.beaten is None:
                work.run(work.cells)
            else:
                work.served(own.beaten)
            front.merge(work.best.front)
    return front


Part = tuple[int, BaseResult, Funnel]  # number of a base, results of some of its cells, the rest


def plain_result(space: Space, criteria: Wishes, bases: list[Base], number: int) -> BaseResult:
    """What is kept of the cells of a base in the middle chunk, as many drafts as it has, and
    nothing besides."""
    if not (work := _Work.of(space, criteria, bases[number], number)):
        return BaseResult.new(criteria)
    cells, chunks = work.cells, space.chunks()
    some = ((cells["chunk"] == chunks[len(chunks) // 2]) & (cells["spares"] == 0)
            & (cells["micro_batches"] == 1) & (cells["drafts"] == cells["drafts"].max()))
    work.run(at(cells, np.flatnonzero(some)))
    work.best.beaten = []  # all of them are tried again
    return work.best


def results_of_parts(space: Space, criteria: Wishes, bases: list[Base], plain: Front,
                     workers: int, slab: int) -> Iterator[Part]:
    """What becomes of the cells of each base, by this process or by several."""
    shares = 1 if len(bases) >= MANY * workers else workers
    tasks = [(number, share, shares) for number in range(len(bases)) for share in range(shares)]
    given = space, criteria, bases, plain, slab
    if workers == 1 or sum(map(space.size, bases)) < WORTH_IT or space.resolve is not None:
        _begin(*given)
        yield from map(_part, tasks)
        return
    pool = ProcessPoolExecutor(workers, initializer=quietly, initargs=(_begin, *given))
    try:
        yield from mapped(pool, _part, tasks)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


_given: list[Any] = []  # of this process: space, wishes, bases, plain deployments, slab


def _begin(*given: Any) -> None:
    _given[:] = given


def _part(task: tuple[int, int, int]) -> Part:
    """One of so many shares of a base: every so manieth kind of its cells."""
    number, share, shares = task
    space, criteria, bases, plain, slab = _given
    base = bases[number]
    of_base, funnel = BaseResult.new(criteria), Funnel()
    if share == 0:
        funnel.counts += space.left_out(base)
    work = _Work.of(space, criteria, base, number)
    if work is None:
        return number, of_base, funnel
    work.slab, work.funnel, work.others = slab, funnel, plain
    cells = work.cells
    work.run(at(cells, np.flatnonzero(cells["kind"] % shares == share)) if shares > 1 else cells)
    return number, work.best, funnel


@dataclass
class _Work:
    """The cells of one base, tried: all kinds at once, but for what is held against those found."""

    criteria: Wishes
    base: Base
    number: int
    tried: CandidateCells
    first: Scenario
    cells: Cells
    best: BaseResult
    slab: int = SLAB
    funnel: Funnel = field(default_factory=Funnel)
    others: Front | None = None  # deployments of any base, none that they beat is computed

    @classmethod
    def of(cls, space: Space, criteria: Wishes, base: Base, number: int) -> _Work | None:
        """Work on all cells of a base, before it is done; None of a base without cells."""
        candidates = candidate_cells(space, base, criteria.goal.demand)
        return candidates and cls(criteria, base, number, *candidates, BaseResult.new(criteria))

    def run(self, cells: Cells) -> None:
        """Take all of them in."""
        demand = self.criteria.goal.demand
        if demand.users is not None and not demand.think_time:
            for rows in slabs(np.ones(len(cells["data"]), int), self.slab):
                part = at(cells, rows)
                part["concurrency"] = np.full(len(part["data"]), demand.users)
                self._fit(part)
            return
        cells, most = self._with_capacity(cells)
        listed = self.criteria.goal.space.batches
        if demand.arrival_rate is not None or demand.users is not None:
            for part in filled(cells, most, listed, self.slab):
                self._reaching(part)
            return
        fewest = self._fewest(cells)
        for part in filled(cells, most, listed, self.slab, fewest):
            self._bounded(part)
        ranks = cells["data"]
        too_few = np.minimum(most, (np.ceil(fewest / ranks) - 1) * ranks).astype(int)
        if self.best.front.rows:  # nobody asks for what is least over a limit
            self.funnel.counts["pace"] += int(batch_counts(cells, too_few, listed).sum())
            return
        for part in filled(cells, too_few, listed, self.slab):
            self._bounded(part)

    def _fewest(self, cells: Cells) -> np.ndarray:
        """Requests in flight below which the throughput that is asked for is out of reach: no token
        comes sooner than with one request on each rank, shape (n,)."""
        wanted = self.criteria.limits.get("throughput")
        tokens = self.criteria.goal.demand.output_tokens
        if wanted is None or not len(cells["data"]):
            return np.zeros(len(cells["data"]))
        soonest = self.tried.decoding(cells | {"concurrency": cells["data"]})[PACE]
        return wanted / tokens * max(1, tokens - 1) * soonest

    def _fit(self, part: Cells) -> None:
        """Those of the demand's own number of requests that the memory holds."""
        fit = has_room(spare := self.tried.spare(part))
        short = np.flatnonzero(~fit)
        self.funnel.counts["memory"] += len(short)
        self._short(part, short, -spare[short])
        self._bounded(at(part, np.flatnonzero(fit)))

    def _short(self, part: Cells, rows: np.ndarray, missing: np.ndarray) -> None:
        """Of each kind that which lacks least of what its memory is to hold [B], of these rows."""
        least = least_of_each(part["kind"][rows], missing)
        if len(least):
            self.best.short.add(self._named(at(part, rows[least]) | {SHORT: missing[least]}))

    def _with_capacity(self, cells: Cells) -> tuple[Cells, np.ndarray]:
        """Cells with their chunks of a prompt alone, and how many requests each holds."""
        most = self.tried.holds(cells)
        none = most < cells["data"]
        self.funnel.counts["memory"] += int(none.sum())
        some = at(cells, np.flatnonzero(none))
        some["concurrency"] = some["data"]
        if none.any():
            self._short(some, np.arange(len(some["data"])), -self.tried.spare(some))
        return cells if self.tried.thinks else cells | self.tried.prefilling(cells), most

    def _bounded(self, part: Cells) -> None:
        """Without those that decode too slowly, or could be no better than one that was found."""
        part.pop("row", None)
        limit = self.criteria.limits.get("tpot")
        if not len(part["data"]):
            return
        if limit is None and not self.criteria.bounded:
            self._served(part)
            return
        part |= self.tried.decoding(part)
        late = part[PACE] > (np.inf if limit is None else limit)
        self.funnel.counts["pace"] += int(late.sum())
        slow, fast = np.flatnonzero(late), np.flatnonzero(~late)
        # of each kind the nearest of those: a miss by at least so much
        slow = slow[least_of_each(part["kind"][slow], part[PACE][slow])]
        some = at({name: part[name] for name in (*DEGREES, "devices", "concurrency", PACE)}, fast)
        first, bounds = np.ones(len(fast), bool), dict[str, np.ndarray]()
        if self.criteria.bounded:
            bounds = self.criteria.at_best(some, some[PACE], self.base.device)
            first = np.arange(len(fast)) % (1 + len(fast) // GROUP) == 0  # of every kind
            # of every layout, too
            first[best_of_layouts(some | bounds, self.criteria.objectives)] = True
        begun = self.tried.prompted(at(part, np.concatenate([slow, fast[first]])))
        if len(slow):
            near = at(begun, slice(len(slow)))
            self._missed(self._derived(near, self.tried.served(near)))
        self._may_be_served(begun, np.arange(len(slow), len(begun["data"])), at(bounds, first))
        if not first.all():
            self._may_be_served(part, fast[~first], at(bounds, ~first))

    def served(self, parts: list[Cells]) -> None:
        """Take in cells that fit, computed whole."""
        for part in parts:
            if self.criteria.least:
                best = self.criteria.at_best(part, part[PACE], self.base.device)
                part = at(part, np.flatnonzero(~self.criteria.over_least(best)))
            self._served(part)

    def _may_be_served(self, part: Cells, rows: np.ndarray, bounds: Mapping[str, np.ndarray]
                       ) -> None:
        """Compute those that, at best, none of the same base beats, and that are within the limits
        or no farther over them than the nearest that was found.

        Args:
            part: cells.
            rows: of them.
            bounds: what these are at best; nothing where that is not known.
        """
        near, keep = self.best.miss.rows.get(MISS), np.ones(len(rows), bool)
        if bounds and near is not None:
            for excess in self.criteria.excess(bounds).values():
                keep &= excess <= near[0]
            self.funnel.counts["pace"] += int((~keep).sum())
        for front in (self.best.front, self.others) if bounds else ():
            if front is None or not front.rows:
                continue
            beaten = keep & front.beats(bounds)
            self.funnel.counts["objective"] += int(beaten.sum())
            self.best.beat(part, rows[beaten])
            keep &= ~beaten
        self._served(at(part, rows[keep]))

    def _reaching(self, part: Cells) -> None:
        """Of each cell the fewest requests in flight at which it serves what is asked."""
        demand = self.criteria.goal.demand
        if not len(part["data"]):
            return
        wanted, name = ((demand.arrival_rate, "steady_request_throughput")
                        if demand.arrival_rate is not None else (demand.users, "steady_users"))
        part = self.tried.with_host_caches(part)
        seen = self.tried.served(part, (name,))
        reached = np.flatnonzero(seen[name] >= wanted)
        cells, first = np.unique(part["row"][reached], return_index=True)
        rows = reached[first]
        self.funnel.counts["saturated"] += len(np.unique(part["row"])) - len(cells)
        self._judged(at(part, rows), as_asked(demand, at({key: seen[key] for key in SEEN}, rows)))

    def _served(self, part: Cells) -> None:
        if len(part["data"]):
            self._judged(part, self.tried.served(part))

    def _judged(self, part: Cells, seen: Cells) -> None:
        """Take in what was computed whole: within its limits, or how far beyond."""
        self.funnel.computed += len(part["data"])
        columns = self._derived(part, seen)
        excess = self.criteria.excess(columns)
        worst = (np.max(list(excess.values()), axis=0) if excess
                 else np.full(len(part["data"]), -1.0))
        within = worst <= 0
        self.funnel.counts["limits"] += int((~within).sum())
        self.funnel.counts["beaten"] += int(within.sum())
        if not within.all():
            self._missed(columns)
        named = self._named(columns)
        good = named if within.all() else at(named, np.flatnonzero(within))
        if len(good["base"]):
            self.best.front.add(good)
            self.best.layouts = best_layouts([self.best.layouts, good], self.criteria.objectives)
            if self.criteria.margins != self.criteria.objectives:
                self.best.farther.add(good)

    def _derived(self, part: Cells, seen: Cells) -> Cells:
        """Settings, and all that objectives and limits need of what users see."""
        if self.criteria.powered:
            seen = seen | {"power": self.tried.power(part, self.first, seen["throughput"])}
        if "longest_context" in self.criteria.objectives:
            most = min(positions(self.first.model), LARGEST_COUNT)
            seen = seen | {"longest_context": self.tried.longest(part, int(most))}
        return self.criteria.with_derived({**part, **seen}, self.base.device)

    def _missed(self, columns: Cells) -> None:
        """Of each kind the one that is least over a limit."""
        excess = self.criteria.excess(columns)
        worst = np.max(list(excess.values()), axis=0)
        over = np.flatnonzero(worst > 0)
        least = over[least_of_each(columns["kind"][over], worst[over])]
        if len(least):
            self.best.miss.add(self._named(at(columns, least)) | {MISS: worst[least]} | {
                f"over {name}": excess[name][least] for name in excess})

    def _named(self, columns: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Columns that are kept, with the number of their base."""
        count = len(columns["data"])
        names = (*SETTINGS, *SEEN, *DERIVED, "cards", SHORT)
        return {"base": np.full(count, self.number),
                **{name: columns[name] for name in names if name in columns}}
