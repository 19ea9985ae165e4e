"""Two pools: every prefill pool with every decode pool that fit the cards together.

What a pair comes to depends on each pool by a few numbers only (cards, requests per second, time of
a prompt or of a token, time through its ports), and gets no better when one of them gets worse. So
only pools are paired that no other of the same cards beats in all of these, of those that the
limits leave to be in any pair; the front of the pairs is that of all pairs. Users who ask again are
the exception: those who wait longer for a prompt or for their tokens ask less often and load the
other pool less. Nobody buys the slower pool for that, so it is left out there too. Each pair is a
steady state: what waits for prefill is in its TTFT, and the requests that its decode pool holds are
those of its rate (``calc.answer.service.balanced``). No caches in host memory are tried for two
pools, and no prefixes leave that of the prefill pool while users think; answers are not in it,
which the decode pool computed (``Demand.prefill_hit_share``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from calc.answer.service import ROUNDING, balanced
from calc.layouts.feasible import has_room
from calc.layouts.layout import CUT, Choice, Row
from calc.layouts.space import AXES, Base, Cells, Space, choice_at
from calc.many.fronts import Front
from calc.many.processes import OnProgress, silent
from calc.physics.arrays import Inputs, Number
from calc.physics.kv_cache import cache
from calc.searching.candidates import (
    CandidateCells,
    at,
    batch_counts,
    candidate_cells,
    filled,
    rounded,
)
from calc.searching.goal import Wishes
from calc.serving.burst import (
    front_ends_rate,
    held_by_decode_pool,
    prefilled_in,
    prompts,
    transfer_time,
)
from calc.serving.evaluate import PACE
from catalogue import Scenario, load_device, load_node
from catalogue.planning import Demand

PROMPTS = (8, 32)  # of a rank of the prefill pool, at least and at most
CHUNKS = 4  # of those prompts: enough for full ones without pause
BLOCK = 1 << 14  # pairs that are computed at once: their numbers stay in the cache
# a pool of smaller chunks, or of fewer drafts, is kept beside one that is better in all else: of it
# the closed form of a queue is nearer to what is simulated
FIRST: dict[str, int] = {"devices": -1, "rate": 1, "alone": -1, "residual": -1, "port": -1,
                         "chunk": -1}
THEN: dict[str, int] = {"devices": -1, "rate": 1, "tpot": -1, "port": -1, "received": 1,
                        "drafts": -1}
SIGNS = FIRST | THEN | {"power": -1, "hour": -1}
FEW = 64  # pools of each kind that are paired first
RATED = {"prefill": ("prefill_step_time", "burst_step_time"), "decode": (PACE,)}
SETTINGS = (*AXES, "concurrency", "base")


@dataclass
class Pairs:
    """The front of all pairs.

    Attributes:
        bases: offers in each precision.
        front: of the pairs; settings of the pools under ``prefill NAME`` and ``decode NAME``.
        tried: pools of either kind that fit; pairs that were compared.
        pools: of each base, which pairs were made of.
    """

    bases: list[Base]
    front: Front
    tried: tuple[int, int, int]
    pools: list[Pools] = field(repr=False)

    def rows(self) -> list[Row]:
        """The pairs on the front, the best in the first objective first."""
        return [self._row(number) for number in range(len(next(iter(
            self.front.rows.values()), ())))]

    def _row(self, number: int) -> Row:
        columns, pools = self.front.rows, []
        for pool in ("prefill", "decode"):
            cells = {name: columns[f"{pool} {name}"] for name in AXES}
            base = self.bases[int(columns[f"{pool} base"][number])]
            pools.append(replace(choice_at(base, cells, number, int(
                columns[f"{pool} concurrency"][number])), pool=pool))
        rates = {name: float(columns[f"{name} rate"][number])
                 for name in ("prefill", "decode", "transfer")}
        names = ("ttft", "tpot", "e2e", "throughput", "throughput_per_card", "cost", "users",
                "prefill_busy", "power", "energy")
        return Row(pools[1], {
            name: float(columns[name][number]) for name in names
            if name in columns and np.isfinite(columns[name][number])},
            prefill=pools[0], binds=min(rates, key=lambda name: rates[name]))


@dataclass(frozen=True)
class Pools:
    """Pools of a base that none of the same cards beats, as columns of ``FIRST`` and ``THEN``.

    Attributes:
        base: an offer in a precision.
        most: cards of both pools [1].
        prefill, decode: columns by name, with their settings; empty where nothing fits.
        tried: pools of either kind that fit [1].
    """

    base: Base
    most: int
    prefill: Cells
    decode: Cells
    tried: tuple[int, int]

    def at_most(self, pool: str, axis: str, limit: int) -> Pools:
        """These pools without those of one kind that have more on an axis.

        Args:
            pool: ``prefill`` or ``decode``.
            axis: such as ``chunk``.
            limit: at most as many.
        """
        return self._where(pool, lambda cells: cells[axis] <= limit)

    def of_other_cuts(self, choice: Choice) -> Pools:
        """These pools without those of the kind and the cut of a choice."""
        return self._where(str(choice.pool), lambda cells: np.any(
            [cells[name] != getattr(choice, name) for name in CUT], axis=0))

    def _where(self, pool: str, keep: Callable[[Cells], np.ndarray]) -> Pools:
        cells = self.prefill if pool == "prefill" else self.decode
        if not cells:
            return self
        rows = np.flatnonzero(keep(cells))
        rest = at(cells, rows) if len(rows) else {}
        return replace(self, prefill=rest) if pool == "prefill" else replace(self, decode=rest)


def pools(space: Space, criteria: Wishes, keep: Callable[[Base, Cells], np.ndarray] | None = None
          ) -> Iterator[Pools]:
    """Every pool of every base that a goal allows, but for those that another one beats, and those
    that alone do not keep what is asked.

    Args:
        space: what the goal allows.
        criteria: its demand and limits.
        keep: of which cells of a base pools are made, shape (n,); all of them, if absent.
    """
    cards = space.goal.cards  # the fewest that a goal asks for are those of both pools
    pool_space = space if cards.fewest == 1 else Space(space.goal.model_copy(update={
        "cards": cards.model_copy(update={"fewest": 1})}), space.resolve, space.share)
    drawing = {"power": -1} if criteria.powered else {}
    for number, base in enumerate(pool_space.bases()):
        fronts = {"prefill": Front(FIRST | drawing, ties=False),
                "decode": Front(THEN | drawing, ties=False)}
        counts, server = dict.fromkeys(fronts, 0), int(load_node(base.node).devices_per_node.value)
        if "one" not in space.goal.space.pools and pool_space.most(base) < 2 * server:
            server = 1  # too few cards for servers of each pool's own, and two pools are asked for
        for pool, best in fronts.items():
            if not (joined := candidate_cells(pool_space, base, criteria.goal.demand, pool)):
                continue
            tried, deployed, cells = joined
            cells = at(cells, np.flatnonzero(cells["devices"] % server == 0))
            if keep is not None:
                cells = at(cells, np.flatnonzero(keep(base, cells)))
            if not len(cells["data"]):
                continue
            counts[pool], parts = (prefill_candidates(tried, cells) if pool == "prefill"
                                   else decode_candidates(tried, criteria, cells))
            for part in parts:
                if len(part["data"]) and (able := feasible_pools(
                        pool_columns(pool, tried, criteria, part, deployed), criteria)):
                    best.add(able | {"base": np.full(len(able["devices"]), number)})
        yield Pools(base, pool_space.most(base), fronts["prefill"].rows, fronts["decode"].rows,
                    (counts["prefill"], counts["decode"]))


def pairs(space: Space, criteria: Wishes, before: Sequence[Pools] | None = None,
          progress: OnProgress = silent) -> Pairs:
    """Every pair of pools that a goal allows.

    Args:
        space: what the goal allows.
        criteria: its objectives and limits.
        before: pools of the same demand and limits; None for all that a goal allows.
        progress: of ``two`` pools, bases done and all of them.
    """
    every, compared = list(before or ()), 0
    for of_base in pools(space, criteria) if before is None else ():
        every.append(of_base)
        progress("layouts in two pools", len(every), len(space.bases()))
    bases = [of_base.base for of_base in every]
    mates = dict[tuple[str | None, ...], list[Pools]]()
    for other in every:
        if other.decode:
            mates.setdefault(_mated(other.base, criteria), []).append(other)
    front = Front(criteria.objectives, ties=False)
    for few in (FEW, None):  # first some of each, to hold the others against
        for one in every:
            decode = mates.get(_mated(one.base, criteria), [])
            if not (one.prefill and decode):
                continue
            for joined in joined_pairs(*pairing_candidates(one, decode, criteria, front, few),
                                       criteria):
                front.add(joined)
            for two in decode if few is None else ():
                ordered, first = np.sort(two.decode["devices"]), one.prefill["devices"]
                compared += int(np.sum(
                    np.searchsorted(ordered, min(one.most, two.most) - first, side="right")
                    - np.searchsorted(ordered, criteria.goal.cards.fewest - first, side="left")))
    fit = np.sum([of_base.tried for of_base in every], axis=0) if every else (0, 0)
    return Pairs(bases, front, (int(fit[0]), int(fit[1]), compared), every)


def pairing_candidates(one: Pools, others: list[Pools], criteria: Wishes, front: Front,
                       few: int | None) -> tuple[Cells, Cells]:
    """Prefill pools of a base and decode pools of others that may be in a pair that is within the
    limits and on a front, were the other pool the best in everything; or so many of them.

    Args:
        one, others: of the pools that prefill and decode.
        criteria: objectives and limits.
        front: the front.
        few: of each that are best in the first objective; None for all.
    """
    prefill = _priced(one.prefill, criteria.hour(one.base.device), one.most)
    sides = [_priced(two.decode, criteria.hour(two.base.device), min(one.most, two.most))
             for two in others]
    decode = {name: np.concatenate([side[name] for side in sides]) for name in sides[0]}
    sides_left = []
    for own, other in ((prefill, decode), (decode, prefill)):
        best = {name: float(column.max() if SIGNS[name] > 0 else column.min())
                for name, column in other.items() if name in SIGNS}
        first, then = (own, best) if own is prefill else (best, own)
        bounds = pairs_at_best(first, then, criteria)
        keep = np.ones(len(own["devices"]), bool)
        for excess in criteria.excess(bounds).values():
            keep &= excess <= 0
        if front.rows:
            keep &= ~front.beats(bounds)
        places = np.flatnonzero(keep)
        if few is not None:
            name, sign = next(iter(criteria.objectives.items()))
            places = places[np.argsort(-sign * bounds[name][places], kind="stable")[:few]]
        sides_left.append(at(own, places))
    return sides_left[0], sides_left[1]


def _priced(pools: Cells, hour: float, most: int) -> Cells:
    """Pools with what an hour of a card costs and the most cards of a pair."""
    ones = np.ones(len(pools["devices"]))
    return {**pools, "hour": ones * hour, "most": ones * most}


def pairs_at_best(first: Mapping[str, Any], then: Mapping[str, Any], criteria: Wishes
             ) -> dict[str, np.ndarray]:
    """What pairs of pools come to at best: nothing waits, and both are busy all the time."""
    demand = criteria.goal.demand
    ttft = first["alone"] + np.maximum(first["port"], then["port"])
    e2e = ttft + (demand.output_tokens - 1) * then["tpot"]
    rate = np.minimum(first["rate"], np.minimum(then["rate"], then["received"]))
    if demand.arrival_rate is not None:
        rate = np.minimum(rate, demand.arrival_rate)
    elif demand.users is not None:
        rate = np.minimum(rate, demand.users / (e2e + (demand.think_time or 0.0)))
    columns = {"devices": first["devices"] + then["devices"], "prefill devices": first["devices"],
             "decode devices": then["devices"], "ttft": ttft, "tpot": then["tpot"], "e2e": e2e,
             "throughput": rate * (1 + ROUNDING) * demand.output_tokens}
    if criteria.powered:
        columns["power"] = first["power"] + then["power"]
    shape = np.shape(ttft)
    return criteria.of_pair({name: np.broadcast_to(column, shape)
                             for name, column in columns.items()}, first["hour"], then["hour"])


def _mated(base: Base, criteria: Wishes) -> tuple[str | None, ...]:
    """What two pools that serve one model have in common: format, engine and software of the cards;
    where any card will do, the card too, since caches pass between cards of one kind only."""
    card = None if criteria.goal.devices else base.device
    return base.engine, base.precision, load_device(base.device).software, card


def feasible_pools(pools: Cells, criteria: Wishes) -> Cells:
    """Pools that may be in a pair within the limits, whatever the other one is. Nothing where there
    is none."""
    limits = criteria.limits
    keep = pools["rate"] * (1 + 2 * ROUNDING) >= _needed(
        criteria, pools.get("tpot", limits.get("tpot", np.inf)))
    if "tpot" in pools:
        keep &= pools["tpot"] <= limits.get("tpot", np.inf)
    else:
        keep &= pools["alone"] + pools["port"] < limits.get("ttft", np.inf)
    return {name: column[keep] for name, column in pools.items()} if keep.any() else {}


def _needed(criteria: Wishes, tpot: Number) -> Number:
    """Least request rate of a pair within the limits [request/s]; a longer time per token lowers
    it, but by a smaller factor.

    Users who ask again are, by Little's law, that rate times their turn, which the limits bound.

    Args:
        criteria: demand and limits.
        tpot: of the pair [s].
    """
    demand, limits = criteria.goal.demand, criteria.limits
    rate = limits.get("throughput", 0.0) / demand.output_tokens
    if demand.arrival_rate is not None or demand.users is None:
        return max(rate, demand.arrival_rate or 0.0)
    stay = np.minimum(limits.get("ttft", np.inf) + (demand.output_tokens - 1) * tpot,
                      limits.get("e2e", np.inf))
    return np.maximum(rate, demand.users / (stay + (demand.think_time or 0.0)))


def prefill_candidates(tried: CandidateCells, cells: Cells) -> tuple[int, Iterable[Cells]]:
    """How many prefill pools hold their requests, and those."""
    new = tried.demand.input_tokens * (1 - tried.demand.prefill_hit_share)
    requests = np.clip(np.ceil(CHUNKS * cells["chunk"] / max(new, 1.0)), *PROMPTS).astype(int)
    cells = cells | {"concurrency": requests * cells["pipeline"] * cells["data"]}
    fit = at(cells, np.flatnonzero(has_room(tried.spare(cells))))
    return len(fit["data"]), [fit]


def decode_candidates(tried: CandidateCells, criteria: Wishes, cells: Cells
                      ) -> tuple[int, Iterable[Cells]]:
    """How many decode pools there are, each with every number of requests that it holds, of those
    that are asked for; and those that may finish what a pair needs, some at a time.

    No token comes sooner than with one request on each rank.
    """
    demand, listed = criteria.goal.demand, criteria.goal.space.batches
    most = tried.holds(cells)
    if demand.users is not None:
        most = np.minimum(most, np.ceil(demand.users / cells["data"]).astype(int) * cells["data"])
    soonest = tried.quantities(cells | {"concurrency": cells["data"]}, (PACE,))[PACE]
    fewest = demand.output_tokens * soonest * _needed(criteria, soonest) * (1 - 2 * ROUNDING)
    return int(batch_counts(cells, most, listed).sum()), filled(cells, most, listed, fewest=fewest)


def pool_columns(pool: str, tried: CandidateCells, criteria: Wishes, part: Cells,
             deployed: Scenario) -> Cells:
    """Settings, rates and times of pools, shape (n,) each, and what they draw when busy [W]."""
    inputs, demand = tried.columns(part), criteria.goal.demand
    if pool == "prefill":
        part = tried.prompted(part)
        seen = {name: rounded(part[name]) for name in RATED[pool]}
    else:
        seen = tried.quantities(part, RATED[pool])
    columns = rated(pool, inputs, seen, tried.attention, demand)
    if criteria.powered:  # at their own rate, which is at least that of the pair
        tokens = 1 if pool == "prefill" else demand.output_tokens
        columns["power"] = tried.power(part, deployed, np.asarray(columns["rate"]) * tokens)
    shape = part["data"].shape
    return {name: part[name] for name in (*AXES, "concurrency")} | {
        name: np.broadcast_to(column, shape) for name, column in columns.items()}


def rated(pool: str, inputs: Mapping[str, Number], seen: Mapping[str, Number], attention: str,
          demand: Demand) -> dict[str, Number]:
    """Requests per second of a pool, and its times [s].

    Args:
        pool: ``prefill`` or ``decode``.
        inputs: its input symbols in SI units.
        seen: its quantities ``RATED[pool]``.
        attention: ``mla`` or ``gqa``.
        demand: of the goal.
    """
    q = Inputs({name: np.asarray(value, dtype=float)[()]
                for name, value in {**inputs, "input_tokens": demand.input_tokens}.items()})
    port, _ = transfer_time(q, cache(attention, q))
    ranks = inputs["data_parallel"]
    received = ranks / port
    if pool == "prefill":
        requests = q.concurrency / q.data_parallel
        steps: Any = (SimpleNamespace(step_time=seen[name]) for name in RATED[pool])
        alone, rest = prefilled_in(q, prompts(q, requests), requests, *steps)
        alone = q.request_overhead + alone
        rate = np.minimum(np.minimum(q.concurrency / (alone + rest), front_ends_rate(q)), received)
        # left of a prompt that another one finds at work: half the second moment over the mean
        return {"rate": rate, "residual": ranks / rate * (1 + q.prompt_variation ** 2) / 2,
                "alone": alone, "port": port}
    finished = inputs["concurrency"] / held_by_decode_pool(q, seen[PACE])
    return {"rate": np.minimum(finished, front_ends_rate(q)), "tpot": seen[PACE], "port": port,
            "received": received}


def combined(first: Mapping[str, np.ndarray], then: Mapping[str, np.ndarray], criteria: Wishes,
             limited: bool = True) -> dict[str, np.ndarray]:
    """The steady state of pairs of pools, shape (n,) each.

    Args:
        first, then: what :func:`rated` gives of each.
        criteria: limits and demand.
        limited: whether what is asked is served only within the limit on the TTFT; where nothing
            is asked, the limit says how busy the prefill pool may be.
    """
    demand = criteria.goal.demand
    given = demand.users is not None or demand.arrival_rate is not None
    limit = criteria.limits.get("ttft") if limited or not given else None
    columns: dict[str, np.ndarray] = balanced(
        first, then, demand.output_tokens, limit, demand.users,
        demand.think_time or 0.0, demand.arrival_rate)
    return columns


def as_served(pairs: Mapping[str, np.ndarray], demand: Demand) -> dict[str, np.ndarray]:
    """What users see of pairs of pools that cannot serve what is asked, shape (n,) each.

    Users who ask again wait until the pair is done with the others: the rate is the most that both
    finish, and by Little's law a turn takes the users over it. Of requests that come on their own
    ever more wait.

    Args:
        pairs: what :func:`combined` gives of them, whatever the limit on the TTFT.
        demand: of the goal.
    """
    never, users = pairs["throughput"] <= 0, demand.users
    if demand.arrival_rate is not None or users is None:
        late = {name: np.where(never, np.inf, pairs[name]) for name in ("ttft", "e2e")}
        return {**pairs, **late}
    rate = np.minimum.reduce([pairs[f"{name} rate"] for name in ("prefill", "decode", "transfer")])
    turn = users / rate - (demand.think_time or 0.0)
    served = {"ttft": turn - (demand.output_tokens - 1) * pairs["tpot"], "e2e": turn,
             "throughput": rate * demand.output_tokens, "users": np.full(rate.shape, float(users)),
             "prefill_busy": np.minimum(rate / pairs["prefill rate"], 1.0)}
    return {**pairs, **{name: np.where(never, value, pairs[name])
                        for name, value in served.items()}}


def joined_pairs(first: Cells, then: Cells, criteria: Wishes) -> Iterator[Cells]:
    """Pairs that the cards allow and that are within all limits, some at a time."""
    count, left = len(then["devices"]), []
    step = max(1, BLOCK // max(1, count))
    for start in range(0, len(first["devices"]) if count else 0, step):
        some = at(first, np.arange(start, min(start + step, len(first["devices"]))))
        left.append(pairs_of(some, then, criteria))
        if sum(len(part["devices"]) for part in left) >= BLOCK:
            yield _stacked(left)
            left = []
    if left:
        yield _stacked(left)


def _stacked(parts: list[Cells]) -> Cells:
    """Parts one after the other."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def pairs_of(first: Cells, then: Cells, criteria: Wishes) -> Cells:
    """Each pool with each, if the cards allow them and they are within all limits."""
    cards, goal = first["devices"][:, None] + then["devices"], criteria.goal
    one, two = np.nonzero((cards >= goal.cards.fewest) & (cards <= then["most"]))
    seen = combined(
        {name: first[name][one] for name in ("rate", "residual", "alone", "port")},
        {name: then[name][two] for name in ("rate", "tpot", "port", "received")}, criteria)
    serves = np.flatnonzero(seen["throughput"] > 0)
    one, two = one[serves], two[serves]
    columns = {name: column[serves] for name, column in seen.items()}
    columns["devices"] = first["devices"][one] + then["devices"][two]
    columns |= {"prefill devices": first["devices"][one], "decode devices": then["devices"][two]}
    if criteria.powered:
        columns["power"] = first["power"][one] + then["power"][two]
    columns = criteria.of_pair(columns, first["hour"][one], then["hour"][two])
    keep = np.ones(len(one), bool)
    for excess in criteria.excess(columns).values():
        keep &= excess <= 0
    within = np.flatnonzero(keep)
    return {**at(columns, within),
            **{f"prefill {name}": first[name][one[within]] for name in SETTINGS},
            **{f"decode {name}": then[name][two[within]] for name in SETTINGS}}
