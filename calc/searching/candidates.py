"""What cells come to: whether they fit, and what users see, for so many requests in flight."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from calc.answer.steady_state import SEEN_OF_BURST, SEEN_STEADILY
from calc.costing.ownership import (
    cards_power,
    own_cards,
    powers_of,
    prices_of,
    shares_of,
    site_of,
    site_power,
)
from calc.layouts.feasible import distinct, has_room
from calc.layouts.layout import PER_MILLE, at
from calc.layouts.space import AXES, GIGA, HITS, HOST, LOADED, Base, Cells, HostCaches, Space
from calc.many import sweeps
from calc.many.sweeps import DECODED, PREFILLED, decode_sweep, sweep
from calc.physics.arrays import Inputs, Number, ceil_div
from calc.physics.memory import found_shares
from calc.physics.step import STEP_NAMES
from calc.serving.burst import first_held, prompts
from catalogue import Scenario
from catalogue.planning import Demand

SLAB = 1 << 18  # deployments that are in memory at once
PERCENT = 100
PER_DOUBLING = 8  # batches that are tried where nobody says how many users there are
SPARE_BITS = 12  # of 52 that are not compared: the last ones depend on what is computed beside
MOST_IN_FLIGHT = 1 << 20  # requests of a deployment
SYMBOLS = {
    "tensor": "tensor_parallel", "pipeline": "pipeline_parallel", "data": "data_parallel",
    "expert": "expert_parallel", "slices": "expert_tensor_parallel",
    "spares": "redundant_experts", "context": "decode_context_parallel",
    "chunk": "max_num_batched_tokens",
    "micro_batches": "micro_batches", "drafts": "draft_tokens",
    "prefill_context": "prefill_context_parallel",
    "utilization": "memory_utilization", "concurrency": "concurrency"}
"""Settings of a cell and the input symbols that they are."""

PACE = "steady_pace"
COMPUTED = (*DECODED, *PREFILLED, *sweeps.PACKED)
OF_MEMORY = ("chunk", "utilization")  # on which decode steps do not depend
DEGREES = ("tensor", "pipeline", "data", "expert", "slices", "context", "prefill_context")
# on which the steps of prompts depend, besides what differs by kind and whether there are drafts
OF_PROMPTS = ("tensor", "pipeline", "expert", "slices", "spares", "context", "chunk",
              "micro_batches", "prefill_context")
NEAR = 48  # layouts of each offer and precision that are kept besides the front
POWER_NAMES = (*(f"{phase}_{name}" for phase in ("decode", "prefill") for name in STEP_NAMES),
               "draft_time", "tokens_per_step")


def seen_by_users(demand: Demand) -> dict[str, str]:
    """Latency and throughput by the name that a goal has for them: the quantity of an estimate."""
    return SEEN_OF_BURST if demand.arrivals == "burst" else SEEN_STEADILY


@dataclass(frozen=True)
class CandidateCells:
    """The cells of a base, of one kind or several: their inputs, and how they are tried.

    Attributes:
        inputs: input symbols that all of them share, SI units; what differs by kind as an array,
            in which the column ``kind`` of a cell says the place.
        attention: ``mla`` or ``gqa``.
        demand: of the goal.
        host: caches in host memory that are tried beside none; None where none are.
    """

    inputs: Mapping[str, Any]
    attention: str
    demand: Demand
    host: HostCaches | None = None

    def columns(self, cells: Cells) -> dict[str, Any]:
        """Inputs of cells: their settings, those that all share as one number."""
        columns = dict(self.inputs)
        if "kind" in cells:
            kinds = cells["kind"]
            if len(kinds) and (kinds == kinds[0]).all():
                kinds = kinds[0]
            columns |= {symbol: values[kinds] for symbol, values in self.inputs.items()
                      if isinstance(values, np.ndarray)}
        for name, symbol in SYMBOLS.items():
            column = cells[name]
            same = len(column) and column[0] == column[-1] and (column == column[0]).all()
            columns[symbol] = column[0] if same and name != "concurrency" else column
        if HITS in cells:
            columns["prefix_hit_share"] = cells[HITS] / PER_MILLE
        if LOADED in cells:
            columns["host_prefix_share"] = cells[LOADED] / PER_MILLE
        return columns | {"memory_utilization": columns["memory_utilization"] / PERCENT}

    @property
    def thinks(self) -> bool:
        """Whether users think, whose prefixes leave the cache while others fill it."""
        return bool(self.demand.users and self.demand.think_time and self.demand.prefix_hit_share)

    def with_hits(self, cells: Cells) -> Cells:
        """Cells with what caches still have of the prefixes of those who think, where any do.

        Args:
            cells: their settings, with the requests in flight, and the size of a cache in host
                memory where that is tried, ``HOST``.
        """
        if not self.thinks:
            return cells
        if self.host is not None and HOST in cells:
            capacity = self._in_host_memory(cells)
            return cells | self._hits(cells, capacity["held"], cells[HOST] * capacity["of_giga"])
        requests = sweep(self.columns(cells), self.attention, ["mean_requests"], decode=False)
        return cells | self._hits(cells, requests["mean_requests"]) | {
            HOST: np.zeros_like(cells["data"])}

    def with_host_caches(self, cells: Cells) -> Cells:
        """The same, and then those of them with caches in host memory that keep more prefixes than
        their cards do.

        Args:
            cells: their settings, with the requests in flight, and ``row``.
        """
        plain = self.with_hits(cells)
        if not self.thinks or self.host is None or not len(plain["data"]):
            return plain
        share = math.floor(self.demand.prefix_hit_share * PER_MILLE)
        some = at(plain, np.flatnonzero((plain[HITS] < share) & (plain["context"] == 1)))
        if not len(some["data"]):
            return plain
        parts, capacity = [plain], self._in_host_memory(some)
        for number, size in enumerate(self.host.tried(some["devices"], capacity["weights"]), 1):
            more = some | {HOST: size, "row": some["row"] + number * (1 + plain["row"].max())}
            more |= self._hits(more, capacity["held"], size * capacity["of_giga"])
            parts.append(at(more, np.flatnonzero(more[HITS] > some[HITS])))
        return {name: np.concatenate([part[name] for part in parts]) for name in plain}

    def _in_host_memory(self, cells: Cells) -> Cells:
        """Weights of a card [B], requests that the cards' cache holds, and those that a GB of a
        server's memory holds, of a replica each [request], shape (n,)."""
        assert self.host is not None
        inputs = self.columns(cells) | {"host_cache_memory": GIGA / self.host.cards(
            cells["devices"])}
        columns = sweep(inputs, self.attention, [
            "weights_per_device", "mean_requests", "host_requests"], decode=False)
        return dict(zip(("weights", "held", "of_giga"), columns.values(), strict=True))

    def _hits(self, cells: Cells, on_cards: Number, on_host: Number = 0.0) -> Cells:
        """Found shares of prompts, and the part of them in host memory, in whole per mille."""
        shares, loaded = hits_left(self.demand, cells["data"], on_cards, on_host,
                                   cells["concurrency"])
        hits = np.floor(shares * PER_MILLE).astype(int)
        on_hosts = np.broadcast_to(np.ceil(loaded * PER_MILLE), hits.shape).astype(int)
        return {HITS: hits, LOADED: np.minimum(on_hosts, hits)}

    def spare(self, cells: Cells, longest: np.ndarray | None = None) -> np.ndarray:
        """What each has to spare of its memory, every request at its longest [B], shape (n,).

        Args:
            cells: their settings, with the requests in flight.
            longest: tokens of a request, shape (n,) [token]; None for those of the demand.
        """
        inputs = self.columns(cells)
        if longest is not None:
            inputs["context_tokens"] = longest
        return sweep(inputs, self.attention, ["headroom_per_device"],
                     decode=False)["headroom_per_device"]

    def holds(self, cells: Cells) -> np.ndarray:
        """Most requests in flight that each holds [request], shape (n,).

        One division, from the blocks that are left when one request is in flight on each rank.
        Where the logits of all requests take more than that left, a search between what fits and
        what does not, along the line through both or, every third time, in their middle.
        """
        ranks = cells["data"]
        alone = sweep(self.columns(cells | {"concurrency": ranks}), self.attention,
                      ["max_concurrency", "headroom_per_device"], decode=False)
        high = np.minimum(alone["max_concurrency"].astype(int), MOST_IN_FLIGHT) // ranks  # a rank
        low, tries = np.zeros_like(high), 0
        at_low, room, over = np.ones_like(high), alone["headroom_per_device"], np.zeros(len(high))
        while len(left := np.flatnonzero(low < high)):
            some = {name: column[left] for name, column in cells.items()}
            lowest, highest = low[left] + 1, high[left]
            middle = highest if not tries else (lowest + highest) // 2
            if tries % 3:
                with np.errstate(divide="ignore", invalid="ignore"):
                    share = room[left] / (room[left] + over[left])
                    line = at_low[left] + share * (highest + 1 - at_low[left])
                middle = np.clip(np.nan_to_num(line), lowest, highest).astype(int)
            spare = self.spare(some | {"concurrency": middle * ranks[left]})
            fit, tries = has_room(spare), tries + 1
            low[left] = np.where(fit, middle, low[left])
            high[left] = np.where(fit, high[left], middle - 1)
            at_low[left] = np.where(fit, middle, at_low[left])
            room[left], over[left] = (np.where(fit, spare, room[left]),
                                      np.where(fit, over[left], -spare))
        return low * ranks

    def longest(self, cells: Cells, most: int) -> np.ndarray:
        """Tokens that prompt and answer of each request may have together, all of them at once as
        long [token], shape (n,). By bisection: the memory only grows with them.

        Args:
            cells: of so many requests in flight.
            most: tokens that the model was made for.
        """
        low = np.zeros(len(cells["data"]), dtype=int)
        high = np.full(len(low), most)
        while (low < high).any():
            middle = -(-(low + high) // 2)
            fit = has_room(self.spare(cells, middle))
            low, high = np.where(fit, middle, low), np.where(fit, high, middle - 1)
        return low.astype(float)

    def decoding(self, cells: Cells) -> Cells:
        """Decode steps alone: their pace, and what :meth:`served` takes from cells that have it."""
        columns = self._of_alike(cells, ("steps", "concurrency"), [PACE, *DECODED])
        return columns | {PACE: columns[PACE] * self._after_first}

    @cached_property
    def _after_first(self) -> float:
        """The least share of a token's time that is seen of it: a held first token comes later."""
        q = Inputs(self.inputs)
        return float(np.min(1 - first_held(q, 1.0) / np.maximum(1, q.output_tokens - 1)))

    def prefilling(self, cells: Cells) -> Cells:
        """Chunks of a prompt alone, which do not depend on the requests in flight: what
        :meth:`served` takes from cells that have it."""
        return self._of_alike(cells | {"concurrency": cells["data"]}, ("waves", "like"), PREFILLED)

    def packing(self, cells: Cells) -> Cells:
        """Chunks of a burst, of cells that have their steps, which :meth:`served` takes likewise:
        by the tokens of a chunk, of which most numbers of requests leave as many."""
        if "waves" in cells:
            requests = -(-cells["concurrency"] // cells["data"])
            some, which = distinct([cells["chunk"], requests])
            inputs = self.columns(at(cells, some)) | {"input_tokens": self.demand.input_tokens}
            cut = prompts(Inputs(inputs), requests[some].astype(float))
            cells = cells | {"packed": np.unique(cut.burst_tokens, return_inverse=True)[1][which]}
        return self._of_alike(cells, ("waves", "like", "packed"), sweeps.PACKED)

    def prompted(self, cells: Cells) -> Cells:
        """Cells with their chunks of a prompt alone and of a burst, where they lack them."""
        for steps, compute in ((PREFILLED, self.prefilling), (sweeps.PACKED, self.packing)):
            if steps[0] not in cells:
                cells = cells | compute(cells)
        return cells

    def _of_alike(self, cells: Cells, keys: Sequence[str], names: Sequence[str]) -> Cells:
        """Quantities of steps, shape (n,) each, computed once of all cells of equal keys."""
        if keys[0] not in cells:
            return self._of_steps(cells, names)
        some, which = distinct([cells[key] for key in (*keys, *({HITS} & cells.keys()))])
        settings = {name: cells[name] for name in ("kind", HITS, *SYMBOLS) if name in cells}
        columns = self._of_steps(at(settings, some), names)
        return {name: column[which] for name, column in columns.items()}

    def _of_steps(self, cells: Cells, names: Sequence[str]) -> Cells:
        computed = {name: cells[name] for name in COMPUTED if name in cells}
        return decode_sweep(self.columns(cells), self.attention, names,
                            computed=computed)

    def quantities(self, cells: Cells, names: Sequence[str]) -> Cells:
        """Quantities of waves by their own names, shape (n,) each."""
        return {name: rounded(column)
                for name, column in self._of_steps(cells, names).items()}

    def power(self, cells: Cells, deployed: Scenario, throughput: np.ndarray) -> np.ndarray:
        """What the site draws for each while it brings so many tokens [W], shape (n,).

        Args:
            cells: of so many requests in flight.
            deployed: one of their kind.
            throughput: of each [token/s].

        Raises ParamsError for a card of which nobody says what it or its server draws.
        """
        inputs = self.columns(cells)
        quantities = decode_sweep(inputs, self.attention, POWER_NAMES)
        return rounded(site_draws(inputs, quantities, deployed, throughput, {
            name: share.value for name, share in
            shares_of(powers_of(deployed.device.id)).items()}))

    def served(self, cells: Cells, names: tuple[str, ...] = ()) -> Cells:
        """What users see, and quantities by their own names, shape (n,) each."""
        wanted = seen_by_users(self.demand)
        if DECODED[0] not in cells:
            cells = cells | self.decoding(cells)
        quantities = self._of_steps(self.prompted(cells), [*wanted.values(), *names])
        seen = {name: rounded(quantities[symbol]) for name, symbol in wanted.items()}
        return seen | {name: quantities[name] for name in names}


def hits_left(demand: Demand, replicas: Number, on_cards: Number, on_host: Number, running: Number
              ) -> tuple[Number, Number]:
    """Share of prompts that caches still have where users think, and that in host memory only [1].

    Args:
        demand: of the goal.
        replicas: data-parallel [1].
        on_cards, on_host: requests of mean length that the cache of a replica's cards holds, and
            their host memory [request].
        running: requests in flight; all others think [request].

    Source: notebooks/memory.md, section What is left for the cache.
    """
    stated = Inputs(prefix_hit_share=demand.prefix_hit_share, host_prefix_share=0.0,
                    data_parallel=replicas)
    return found_shares(stated, on_cards, on_host, running, (demand.users or 0) - running)


def site_draws(inputs: Mapping[str, Any], quantities: Mapping[str, Any], deployed: Scenario,
               throughput: np.ndarray, shares: Mapping[str, Number]) -> np.ndarray:
    """What a site draws for deployments of one kind [W], shape (n,).

    Args:
        inputs: input symbols in SI units.
        quantities: ``POWER_NAMES``, shape (n,) each.
        deployed: one of them, for its card and server.
        throughput: that each brings [token/s].
        shares: of a card's full power by kind of work [1].

    Raises ParamsError for a card of which nobody says what it or its server draws.
    """
    device = deployed.device.id
    full, rest = site_of(deployed.device, deployed.node, prices_of(device))
    per_rank = ceil_div(inputs["concurrency"], inputs["data_parallel"])
    new = np.maximum(1, inputs["input_tokens"] * (1 - inputs["prefix_hit_share"]))
    batches = {**quantities, "decode_batch": ceil_div(per_rank, inputs["pipeline_parallel"]),
             "prompt_chunks": ceil_div(new, inputs["max_num_batched_tokens"])}
    drawn = cards_power(inputs, batches, throughput, shares, full.value)
    power: np.ndarray = site_power(drawn, own_cards(inputs), rest)
    return power


def as_asked(demand: Demand, seen: Cells) -> Cells:
    """What users see of a deployment that has room for more: only what is asked is served.

    Args:
        demand: arrivals, or users who think.
        seen: times [s], shape (n,).
    """
    rate: Number = demand.arrival_rate
    if rate is None and demand.users is not None:
        rate = demand.users / (seen["e2e"] + (demand.think_time or 0))
    if rate is None:
        return seen
    return seen | {"throughput": np.broadcast_to(rate * demand.output_tokens, seen["e2e"].shape)}


def rounded(numbers: np.ndarray) -> np.ndarray:
    """Numbers to so many bits, so that what is equal compares so."""
    bits = np.ascontiguousarray(numbers, dtype=np.float64).view(np.int64)
    return ((bits + (1 << (SPARE_BITS - 1))) & -(1 << SPARE_BITS)).view(np.float64)


def slabs(counts: np.ndarray, most: int = SLAB) -> Iterator[slice]:
    """Rows of cells in pieces that stay in memory: so many deployments are made of each row.

    Args:
        counts: deployments of each, shape (n,) [1].
        most: of a piece.
    """
    ends = np.cumsum(counts)
    start = 0
    while start < len(counts):
        before = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + most, side="right")))
        yield slice(start, stop)
        start = stop


def batches(most: int, listed: list[int] | None) -> np.ndarray:
    """Requests of a rank that are tried, ascending [request].

    >>> batches(10, None)
    array([ 1,  2,  3,  4,  5,  6,  7,  8,  9, 10])

    Args:
        most: that any cell holds.
        listed: by the goal.
    """
    if listed is not None:
        return np.unique(np.array(listed))
    octaves = np.arange(0, PER_DOUBLING * np.log2(max(1, most)) + 1)
    tried = np.round(2 ** (octaves / PER_DOUBLING)).astype(int)
    tried = tried[np.diff(tried, prepend=0) > 0]
    return tried[tried <= most]


def batch_counts(cells: Cells, most: np.ndarray, listed: list[int] | None) -> np.ndarray:
    """How many of the batches that are tried each cell holds, shape (n,) [1]."""
    of_rank = most // cells["data"]
    tried = batches(int(of_rank.max(initial=0)), listed)
    return np.searchsorted(tried, of_rank, side="right")


def filled(cells: Cells, most: np.ndarray, listed: list[int] | None, slab: int = SLAB,
           fewest: Number = 0) -> Iterator[Cells]:
    """Every cell with every batch that it holds, so many requests on each of its ranks.

    Some at a time; ``row`` tells the cells of each part apart.

    Args:
        cells: settings by name, shape (n,).
        most: requests in flight that each holds, shape (n,).
        listed: requests of a rank, by the goal.
        slab: deployments of a part.
        fewest: requests in flight that are of use, one number or shape (n,).
    """
    tried = batches(int((most // cells["data"]).max(initial=0)), listed)
    skipped = np.searchsorted(tried, np.broadcast_to(fewest, most.shape) / cells["data"])
    every = np.maximum(batch_counts(cells, most, listed) - skipped, 0)
    for part in slabs(every, slab):
        counts = every[part]
        rows = np.repeat(np.arange(len(counts)), counts)
        starts = np.repeat(np.cumsum(counts) - counts - skipped[part], counts)
        columns = {name: np.repeat(column[part], counts) for name, column in cells.items()}
        yield columns | {"concurrency": tried[np.arange(len(rows)) - starts] * columns["data"],
                       "row": rows}


def best_layouts(parts: list[dict[str, np.ndarray]], objectives: Mapping[str, int]
                 ) -> dict[str, np.ndarray]:
    """Of each layout the best by one objective after another, the best few of them."""
    filled_in = [part for part in parts if part]
    joined = {key: np.concatenate([part[key] for part in filled_in]) for key in filled_in[0]}
    return at(joined, best_of_layouts(joined, objectives)[:NEAR])


def best_of_layouts(columns: Cells, objectives: Mapping[str, int]) -> np.ndarray:
    """Places of the best row of each layout by one objective after another, the best first."""
    order = np.lexsort([-sign * columns[name] for name, sign in reversed([*objectives.items()])])
    last, _ = distinct([columns[axis][order[::-1]] for axis in ("devices", *DEGREES)])
    best: np.ndarray = order[np.sort(len(order) - 1 - last)]
    return best


def candidate_cells(space: Space, base: Base, demand: Demand, pool: str | None = None
                    ) -> tuple[CandidateCells, Scenario, Cells] | None:
    """All cells of a base: how they are tried, one of them, and their settings; None of none.

    Args:
        space: what the goal allows.
        base: whose cells they are; ``kind`` will tell those of each kind apart, ``steps`` those
            whose decode steps differ at equal requests in flight, ``waves`` and ``like`` those
            whose steps of prompts do.
        demand: that is asked of them.
        pool: that they are, of two.
    """
    every = space.cells(base)
    if (key := (id(every), pool)) not in space.joined:  # of every precision of a card
        kinds = [some for cells in every if len((some := cells_of_pool(cells, pool))["data"])]
        space.joined[key] = kinds, numbered_cells(kinds) if kinds else {}
    kinds, cells = space.joined[key]
    if not kinds:
        return None
    first, inputs = space.inputs(base, kinds, pool)
    varied = [values for values in inputs.values() if isinstance(values, np.ndarray)]
    alike = np.unique(np.stack(varied), axis=1, return_inverse=True)[1].reshape(-1) if varied else (
        np.zeros(len(kinds), int))  # kinds with the same inputs have one number
    cells = {**cells, "like": alike[cells["kind"]]}
    if inputs["fetched_share"] > 0:  # every card of a deployment reads from the same host
        cells["like"] = distinct([cells["like"], cells["data"]])[1]
    return CandidateCells(inputs, first.model.attention, demand,
                          None if pool else space.host_caches(base)), first, cells


def cells_of_pool(cells: Cells, pool: str | None) -> Cells:
    """Cells of a kind that a pool may have: one that prefills drafts nothing, of one that decodes
    the chunk does not matter and no prompt is dealt, and of both none deals the cache over more
    ranks than the other."""
    if pool is None:
        return cells
    alike = cells["context"] == cells["context"].min()
    return at(cells, np.flatnonzero(alike & ((cells["drafts"] == 0) if pool == "prefill" else (
        (cells["chunk"] == cells["chunk"].min())
        & (cells["prefill_context"] == cells["prefill_context"].min())))))


def numbered_cells(kinds: Sequence[Cells]) -> Cells:
    """Cells of all kinds, with numbers of those that are alike."""
    cells = {name: np.concatenate([cells[name] for cells in kinds]) for name in kinds[0]}
    cells["kind"] = np.repeat(np.arange(len(kinds)), [len(cells["data"]) for cells in kinds])
    drafting = (cells["drafts"] > 0).astype(int)
    return cells | {
        "steps": distinct([cells[name] for name in ("kind", *AXES) if name not in OF_MEMORY])[1],
        "waves": distinct([drafting, *(cells[name] for name in OF_PROMPTS)])[1]}


def least_of_each(kinds: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Where the least value of each kind is, the first of equal ones.

    >>> least_of_each(np.array([0, 0, 2, 2]), np.array([5.0, 4.0, 3.0, 3.0]))
    array([1, 2])

    Args:
        kinds: their numbers, ascending, shape (n,).
        values: shape (n,).
    """
    starts = np.flatnonzero(np.diff(kinds, prepend=-1))
    if not len(starts):
        return starts
    counts = np.diff(starts, append=len(kinds))
    least = np.flatnonzero(values == np.repeat(np.minimum.reduceat(values, starts), counts))
    return least[np.diff(kinds[least], prepend=-1) > 0]
