"""Every deployment that a goal allows: offers, cuts of so many cards, and what else is chosen."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from calc.costing.ownership import card_hour, cards_within, prices_of, stated
from calc.layouts.feasible import Judge
from calc.layouts.layout import (
    LAYOUT_AXES,
    UTILIZATION,
    Choice,
    Sizes,
    at,
    card_counts,
    enumerate_layouts,
    placement,
    scenario,
)
from calc.physics.arrays import Number, maximum
from catalogue import (
    ParamsError,
    Scenario,
    load,
    load_device,
    load_model,
    load_node,
    load_precision,
    model_inputs,
)
from catalogue import names as entries
from catalogue.deployments.admission import KINDS as WHY
from catalogue.deployments.admission import (
    OF_PRECISION,
    drafted_by,
    known_to_run,
    precisions,
    problems,
)
from catalogue.deployments.cuts import Cut, Subject
from catalogue.deployments.physics_inputs import (
    joined_replicas,
    leaves_replica,
    priors_of,
    scale_up_domain,
)
from catalogue.engine import (
    AT,
    UNNAMED,
    engine_meant,
    fitting,
    load_engine,
    profile_of,
    release_of,
)
from catalogue.entries.hardware import Device, Link, Node
from catalogue.entries.models import DRAFTERS, OWN_LAYER, Model
from catalogue.kernels import (
    checkpoint_for,
    known_to_engines,
    published,
    published_weights,
    quality,
    shown,
)
from catalogue.planning import MOST_CARDS, PUBLISHED, Goal, Offer
from catalogue.reading.units import factor

CHUNKS = (1024, 2048, 4096, 8192, 16384)  # tokens of a step that are tried
DRAFTS = (0, 1, 2, 3)  # tried of a model with a prediction layer; engines draft no more with one
# in cells of users who think, as a choice has them: what caches have, and the one in host memory
HITS, LOADED, HOST = "hits", "loaded", "host_cache"
AXES = (*LAYOUT_AXES, "chunk", "micro_batches", "drafts", "drafter", "prefill_context",
        "utilization")
DEALING = {"vllm-ascend": "enable_dsa_cp"}
"""Switches by which engines deal prompts over tensor-parallel ranks, where their tutorials do."""
ONE_SERVER = 8  # cards over which SGLang deals prompts, of a replica that shares no experts
OF_LAYOUT = tuple(kind for kind in WHY if kind not in (*OF_PRECISION, "drafts"))
LOSS = 5.0  # of a benchmark, that nobody takes without being asked [point]
FAST = 100e9  # of a card's links inside a server, one direction [B/s]: faster than any PCIe 5
QUALITY = "quality"  # formats of unknown or too low a score
UNKNOWN = "unknown"  # formats of which no source says that they run
UNPRICED = "unpriced"  # cards without a price, where the cost decides
WIDENED = "widened"  # formats that widen published weights which run as they are
UNPUBLISHED = "unpublished"  # formats of which no checkpoint of the model is known
Cells = dict[str, np.ndarray]  # a deployment's settings by name, one row each


KINDS = (2, 3, 2, 2, 2, 1 + len(DRAFTERS), 2)
"""What of a layout the inputs depend on besides its numbers, and in how many ways: more servers
than one, domains that an exchange leaves, replicas, tokens of more than one, redundant experts,
who drafts, slices. Layouts of one kind differ in their numbers only."""


@dataclass(frozen=True)
class Base:
    """Cards of one device in servers of one kind, an engine, and a precision."""

    device: str
    node: str
    engine: str | None
    precision: str


@dataclass
class Space:
    """What a goal lets a search try.

    Attributes:
        goal: the goal.
        resolve: makes a deployment of a choice, in place of a file of the goal's.
        share: of the memory that an engine takes by default, of each cell [percent]; None for what
            the goal states.
        dropped: combinations that were left out, by why.
        joined: cells of bases by kind and as ``calc.searching.candidates`` numbers them, by whose
            they are and which pool.
    """

    goal: Goal
    resolve: Callable[[Choice], Scenario] | None = None
    share: Callable[[Cells], np.ndarray] | None = None
    dropped: Counter[str] = field(default_factory=Counter)
    joined: dict[tuple[int, str | None], tuple[list[Cells], Cells]] = field(
        default_factory=dict, repr=False)
    _layouts: dict[tuple[str, int], tuple[Cells, int]] = field(default_factory=dict)
    _judge: Judge = field(default_factory=Judge)
    _cells: dict[tuple[Any, ...], list[Cells]] = field(default_factory=dict, repr=False)
    _inputs: dict[tuple[Base, str | None], tuple[Scenario, dict[str, Any]]] = field(
        default_factory=dict)

    @cached_property
    def model(self) -> Model:
        """The goal's model."""
        return load_model(self.goal.model)

    @cached_property
    def shapes(self) -> dict[str, Any]:
        """Its input symbols."""
        return model_inputs(self.model)

    @cached_property
    def offers(self) -> list[Offer]:
        """Cards to choose from.

        ``any`` are those that a server of the catalogue holds and an engine has kernels for.
        """
        if self.goal.devices:
            return list(self.goal.devices)
        devices = (load_device(name) for name in entries("devices"))
        return [Offer.model_construct(device=device.id) for device in devices
                if device.type != "host" and device.node and not device.dies
                and known_to_engines(device)]

    def bases(self) -> list[Base]:
        """Each offer in each precision that its device multiplies.

        Raises ParamsError for an offer without a server, or of what is no card.
        """
        return self._bases

    @cached_property
    def _bases(self) -> list[Base]:
        bases = []
        for offer in self.offers:
            device = load_device(offer.device)
            node_of(offer, device)  # refuses what is no card
            if not self.goal.devices and self._unpriced(offer):
                self.dropped[UNPRICED] += 1
                continue
            for engine in self._engines(device):
                base = Base(offer.device, offer.node or str(device.node), engine, "bf16")
                for name in self.goal.precisions or self._formats(base):
                    one = replace(base, precision=name)
                    if not self._good(name):
                        self.dropped[QUALITY] += 1
                        continue
                    subject = self.subject(one)
                    problem = next(problems(subject, Cut(), OF_PRECISION), None)
                    if problem is None and known_to_run(subject):
                        bases.append(one)
                    else:
                        self.dropped[problem.kind if problem else UNKNOWN] += 1
        return bases

    def _unpriced(self, offer: Offer) -> bool:
        """Whether the cost comes first, or is limited, and a card has no price."""
        goal = self.goal
        first = goal.objectives[0] if goal.objectives else None
        return ((goal.limits.cost is not None or first == "cost")
                and card_hour(offer.device, goal.ownership, prices_of(offer.device), offer.price
                              ) is None)

    def _formats(self, base: Base) -> list[str]:
        """Precisions that run on a card, of those that the model is published in, if any is, for
        the engine; of those that widen its weights, where these run as they are, only what is shown
        on the very card."""
        formats = precisions(self.subject(base))
        if self.goal.space.any_format:
            return [entry.id for entry in formats]
        device, name = load_device(base.device), base.engine and base.engine.partition(AT)[0]
        had = [entry for entry in formats if published(self.model, entry, name, device)]
        stored = published_weights(self.model)
        as_published = any(entry.weights == stored and known_to_run(
            self.subject(replace(base, precision=entry.id))) for entry in had)
        narrowest = [entry for entry in had if entry.weights == stored or not as_published
                or not quality(self.model, entry.id).lossless
                or shown(self.model, entry, name, device)]
        self.dropped[UNPUBLISHED] += len(formats) - len(had)
        self.dropped[WIDENED] += len(had) - len(narrowest)
        return [entry.id for entry in narrowest]

    def _good(self, precision: str) -> bool:
        """Whether a format keeps the quality that is asked for; where nothing is, and no format is
        named, none is tried that is known to lose ``LOSS`` against any other."""
        bound, scores = self.goal.limits.quality, quality(self.model, precision)
        if bound is None:
            named = (self.goal.precisions or self.goal.space.any_format
                     or self.goal.engines == [UNNAMED])
            return bool(named) or all(row.difference is None or row.difference > -LOSS
                                      for row in scores.rows)
        return scores.is_published if bound == PUBLISHED else scores.within(float(bound))

    def subject(self, base: Base, pool: str | None = None) -> Subject:
        """What is asked to be loaded of a base, but for its layout.

        Args:
            base: an offer in a precision.
            pool: of two that it is; then no prompts stand beside decode.
        """
        space = self.goal.space
        return Subject(
            self.model, load_precision(base.precision), load_device(base.device),
            load_node(base.node), self.shapes, base.engine, engines_own=not space.any_engine,
            context=self.goal.demand.longest, staged_drafts=space.staged_drafts,
            staged_groups=space.staged_groups or pool is not None)

    def _engines(self, device: Device) -> list[str | None]:
        """Engines that are tried on a device; those that do not run on it are left out.

        A goal that says nothing tries the newest release of each engine whose flags are known;
        where there is none, or where any engine will do, none is named.
        """
        running = fitting(device)
        if self.goal.engines is None:
            names = [] if self.resolve or self.goal.space.any_engine else [
                name for name in running if profile_of(name).flags]
            return [f"{name}{AT}{release_of(profile_of(name), None)}" for name in names] or [None]
        return [None if name == UNNAMED else name for name in self.goal.engines
                if name == UNNAMED or name.partition(AT)[0] in running]

    def cells(self, base: Base) -> list[Cells]:
        """Every deployment of a base but for its requests, by kind: layouts that divide model and
        cards into slices that engines load, each with every chunk, micro-batch and draft."""
        loaded = self._kinds(base) < 0
        key = (base.device, base.node, base.engine, self.most(base), loaded.tobytes(),
               tuple(self.drafting(base)), tuple(self.prefill_context(base)))
        if key not in self._cells:  # precisions differ in few rules
            self._cells[key] = self._by_kind(base, loaded)
        return self._cells[key]

    def _by_kind(self, base: Base, loaded: np.ndarray) -> list[Cells]:
        """Cells of the layouts that are loaded, by kind."""
        cells = self._every(at(self.layouts(base), loaded), base)
        if not len(cells["data"]):
            return []
        columns = _kinds(load_node(base.node), cells)
        codes = np.ravel_multi_index([column.astype(int) for column in columns], KINDS)
        order = np.argsort(codes, kind="stable")
        cells = {name: column[order] for name, column in cells.items()}
        ends = [0, *np.flatnonzero(np.diff(codes[order])) + 1, len(order)]
        return [{name: column[start:end] for name, column in cells.items()}
                for start, end in pairwise(ends)]

    def host_caches(self, base: Base) -> HostCaches | None:
        """Caches in host memory that are tried of a base: in servers whose memory is known, under
        engines of which a source says that they keep such.

        Args:
            base: an offer in a precision.
        """
        sizes, node = self.goal.space.host_cache, load_node(base.node)
        of_engine = self.subject(base).engines if base.engine else ()
        if self.resolve or node.host_memory is None or (
                sizes is not None and not any(sizes)) or not any(
                engine.starts.get("host_cache", False) for engine in of_engine):
            return None
        return HostCaches(load_device(base.device), node, None if sizes is None else tuple(
            size for size in sizes if size))

    def size(self, base: Base) -> int:
        """Deployments of a base but for their requests, those that no engine loads included [1]."""
        return len(self.layouts(base)["data"]) * math.prod(map(len, self._axes(base)))

    def left_out(self, base: Base) -> Counter[str]:
        """Layouts of a base that are not tried, by why."""
        kinds = self._kinds(base)
        counts = Counter(dict(zip(WHY, np.bincount(
            kinds[kinds >= 0], minlength=len(WHY)).tolist(), strict=True)))
        return +counts + Counter({"pipeline": self._layouts_of(base)[1]})

    def _kinds(self, base: Base) -> np.ndarray:
        """Why each layout of a base is not loaded, as ``calc.layouts.feasible`` has it."""
        key = base.node, self.most(base)
        return self._judge.kinds(self.subject(base), self.layouts(base), key, OF_LAYOUT)

    def _axes(self, base: Base) -> tuple[list[Any], ...]:
        """Values of what stands in ``AXES`` behind the layout; who drafts with how much."""
        space = self.goal.space
        return (self.chunks(), list(space.micro_batches or (1, 2)), self.drafting(base),
                self.prefill_context(base), space.memory_utilization or [UTILIZATION])

    def _every(self, layouts: Cells, base: Base) -> Cells:
        """Layouts with every value of the other axes; with drafts in stages only if they may be."""
        chunks, batches, drafting, dealt, shares = axes = self._axes(base)
        shape = (len(layouts["devices"]), *map(len, axes))
        places = np.unravel_index(np.arange(np.prod(shape)), shape)
        cells = {name: column[places[0]] for name, column in layouts.items()}
        drafters, drafts = np.array(drafting).T
        cells |= {name: np.array(values)[position] for name, position, values in (
            ("chunk", places[1], chunks), ("micro_batches", places[2], batches),
            ("drafts", places[3], drafts), ("drafter", places[3], drafters),
            ("prefill_context", places[4], dealt), ("utilization", places[5], shares))}
        # micro-batches hide an exchange, where there is one, by default between servers
        exchanged = leaves_replica(cells["tensor"], cells["expert"], cells["slices"]) & bool(
            self.shapes["n_routed_experts"])
        if self.goal.space.micro_batches is None:
            exchanged &= cells["expert"] > load_node(base.node).devices_per_node.value
        keep = (cells["micro_batches"] == 1) | exchanged
        keep &= self._judge.kinds(self.subject(base), cells, kinds=("drafts",)) < 0
        keep &= (cells["prefill_context"] == 0) | deals_prompts(base, cells)
        cells = {name: column[keep] for name, column in cells.items()}
        return cells if self.share is None else cells | {"utilization": self.share(cells)}

    def layouts(self, base: Base) -> Cells:
        """Cuts of a base, whether they divide the model or not."""
        return self._layouts_of(base)[0]

    def _layouts_of(self, base: Base) -> tuple[Cells, int]:
        """Cuts of a base, and how many more have more stages than are tried."""
        key = base.node, self.most(base)
        if key not in self._layouts:
            space, cards = self.goal.space, self.goal.cards
            node = load_node(base.node)
            per_node = int(node.devices_per_node.value)
            slices = space.expert_slices if self.shapes["n_routed_experts"] else None
            rows, left = enumerate_layouts(card_counts(cards.fewest, key[1], per_node), Sizes(
                space.tensor, space.pipeline, space.data, space.expert, slices or (0,),
                lambda ranks: spare_counts(self.goal, self.shapes, ranks, per_node),
                space.decode_context))
            if space.pipeline is None and joined_fast(node):
                unsplit = (rows["pipeline"] == 1) | (np.maximum(
                    rows["tensor"], rows["expert"]) % scale_up_domain(node) == 0)
                rows, left = at(rows, unsplit), left + int((~unsplit).sum())
            self._layouts[key] = rows, left
        return self._layouts[key]

    def most(self, base: Base) -> int:
        """Most cards of a base: what the goal says, a budget buys, or, if neither, a power feeds.

        Raises ParamsError where nobody states the price or the power that this takes.
        """
        limits, most = self.goal.limits, self.goal.cards.most
        capital = stated(limits.budget, "USD") if limits.budget else None
        rent = stated(limits.rent) if limits.rent else None
        power = limits.power if most is None else None
        counts = [MOST_CARDS if most is None else most]
        if (capital, rent, power) != (None, None, None):
            offer = next(offer for offer in self.offers if offer.device == base.device)
            counts.append(cards_within(
                base.device, base.node, rent=rent, capital=capital, power=power,
                ownership=self.goal.ownership, price=offer.price))
        return min(counts)

    def chunks(self) -> list[int]:
        """Prompt tokens of a step that are tried [token]."""
        return list(self.goal.space.chunks or CHUNKS)

    def drafting(self, base: Base) -> list[tuple[int, int]]:
        """Who drafts, a place in ``DRAFTERS``, and how many tokens [token]: the model's own layer,
        and drafters apart from it that an engine of a base is shown to start. A layer that previews
        alone hold is left out where the official release has a drafter.

        Args:
            base: whose engine it is.

        Raises ParamsError for a drafter that is asked for and not known of the model.
        """
        space, subject, layers = self.goal.space, self.subject(base), (
            self.model.num_nextn_predict_layers)
        names = space.drafters
        if names is None or OWN_LAYER in names:
            drafts = DRAFTS if layers and layers.value else (0,)
            pairs = [(0, count) for count in (drafts if space.drafts is None else space.drafts)]
        else:
            pairs = [(0, 0)] if space.drafts is None or 0 in space.drafts else []
        for method, drafter in self.model.drafters.items():
            starts = base.engine is not None and drafted_by(subject, method)
            if (space.any_engine or starts) if names is None else method in names:
                most = int(drafter.draft_tokens.value)
                counts = space.drafts or ([most] if drafter.draft_block else range(1, most + 1))
                pairs += [(DRAFTERS.index(method), count) for count in counts if count]
        if names is None and pairs[-1][0] and (with_layer := checkpoint_for(
                subject.model, subject.precision, "", subject.device, OWN_LAYER)) and (
                with_layer.preview):  # the official release drafts with another module
            pairs = [drafting for drafting in pairs if drafting[0] or not drafting[1]]
        if unknown := {*(names or ())} - {OWN_LAYER, *self.model.drafters}:
            raise ParamsError(f"space.drafters: no drafter '{min(unknown)}' of '{self.model.id}' "
                              f"is known, expected {OWN_LAYER}"
                              f"{''.join(f' or {name}' for name in self.model.drafters)}.")
        return pairs

    def prefill_context(self, base: Base) -> list[int]:
        """Whether prompts are dealt over tensor-parallel ranks [1]: both where the engine of a base
        has a switch for the model that its tutorials set, and a prompt more tokens than its indexer
        picks. SGLang calls its own experimental, so it is for goals that ask for it.

        Args:
            base: whose engine it is.
        """
        stated, its = self.goal.space.prefill_context, self.shapes
        if stated is not None:
            return list(stated)
        picked = its["index_topk"] * its["compress_ratio"]
        if base.engine is None or its["linear_layers"] or not (
                0 < picked < self.goal.demand.input_tokens):
            return [0]
        profile, release = engine_meant(base.engine)
        switch = DEALING.get(profile.id)
        if switch is None or load_engine(str(profile.flags)).judge(
                switch, True, release) != "accepted":
            return [0]
        return [0, 1]

    def inputs(self, base: Base, kinds: Sequence[Cells], pool: str | None = None
               ) -> tuple[Scenario, dict[str, Any]]:
        """One deployment of a base, and the input symbols of all of them but for their settings:
        what differs by kind as an array of one value for each. Made once.

        Args:
            base: whose cells they are.
            kinds: all of its cells, by kind.
            pool: that they are, of two.

        Raises ParamsError as :meth:`first` does.
        """
        if (base, pool) not in self._inputs:
            firsts = [self.first(base, cells, pool) for cells in kinds]
            of_first, *rest = (first.inputs() for first in firsts)
            self._inputs[base, pool] = firsts[0], {
                name: value if all(other[name] == value for other in rest)
                else np.array([value, *(other[name] for other in rest)])
                for name, value in of_first.items()}
        return self._inputs[base, pool]

    def first(self, base: Base, cells: Cells, pool: str | None = None) -> Scenario:
        """The deployment of the first of some cells of one kind, whose inputs all of them have.

        Args:
            base: whose cells they are.
            cells: of one kind.
            pool: that they are, of two.

        Raises ParamsError for an offer that cannot be deployed at all.
        """
        choice = replace(choice_at(base, cells, 0, 1), pool=pool)
        return self.resolve(choice) if self.resolve else scenario(self.goal, choice)


def choice_at(base: Base, cells: Cells, row: int, concurrency: int) -> Choice:
    """One deployment out of cells.

    Args:
        base: whose cells they are.
        cells: settings by name, shape (n,) each.
        row: which.
        concurrency: requests in flight [request].
    """
    settings: dict[str, Any] = {
        name: int(cells[name][row]) for name in (*AXES, *({HITS, HOST, LOADED} & cells.keys()))}
    if not settings.get(HOST):
        settings |= {HOST: None, LOADED: None}
    return Choice(base.device, base.node, base.engine, base.precision, concurrency=concurrency,
                  pool=None, **settings)


def _kinds(node: Node, cells: Cells) -> tuple[np.ndarray, ...]:
    """Of which kind each cell is, part by part of ``KINDS``."""
    drafter = np.where(cells["drafts"] > 0, 1 + cells["drafter"], 0)
    return (*placement(node, cells), cells["spares"] > 0, drafter, cells["slices"] > 1)


def deals_prompts(base: Base, cells: Cells) -> np.ndarray:
    """Which layouts an engine deals prompts in, of those that have a switch for it: over several
    ranks that do not deal the cache too, under SGLang in replicas of their own within a server."""
    deals: np.ndarray = (cells["tensor"] > 1) & (cells["context"] == 1)
    if base.engine is None or not base.engine.startswith("sglang"):
        return deals
    joined = joined_replicas(cells["tensor"], cells["expert"], cells["slices"])
    return deals & (joined == 1) & (cells["tensor"] <= ONE_SERVER)


def joined_fast(node: Node) -> bool:
    """Whether the cards of a server or rack exchange so fast that nobody cuts a model into pipeline
    stages inside of it: over NVLink, HCCS or xGMI, and not over PCIe."""
    link: Link = load("links", node.device_link)
    return link.device_bandwidth.value >= FAST


def node_of(offer: Offer, device: Device) -> Node:
    """The server that an offer's cards stand in.

    Raises ParamsError where neither the offer nor the device names one.
    """
    if device.type == "host":
        raise ParamsError(f"devices: '{device.id}' is a host processor, expected an accelerator.")
    if device.dies:
        raise ParamsError(f"devices: '{device.id}' is a package that software sees as "
                          f"{device.dies.value} devices, expected '{device.die}'.")
    name = offer.node or device.node
    if name is None:
        raise ParamsError(f"devices: no server of the catalogue holds '{device.id}', name one: "
                          f"{{device: {device.id}, node: NAME}}.")
    return load_node(name)


def spare_counts(goal: Goal, shapes: dict[str, Any], ranks: int, per_node: int) -> list[int]:
    """Numbers of redundant experts that are tried with so many ranks, the fewest first [1]; unless
    the goal lists some, inside a server no more than experts need to be dealt out."""
    routed = int(shapes["n_routed_experts"])
    if not routed or ranks == 1:
        return [0]
    fewest = -(-routed // ranks) * ranks - routed
    numbers = {"none": 0, "fewest": fewest, "per-rank": fewest + ranks}
    spares = goal.space.spares or [*numbers][:2 if ranks <= per_node else 3]
    return sorted({spare if isinstance(spare, int) else numbers[spare] for spare in spares})


GIGA = factor("GB")


@dataclass(frozen=True)
class HostRoom:
    """A server's memory [B]: who holds how much of it, and what is left for caches.

    Attributes:
        total: as built in; 0 where it is not known.
        system: of the operating system and what runs beside the engine.
        processes: of the engine, of all cards of the server, pinned buffers included.
        files: of the weights, from which a process starts again; experts that stay on the host.
    """

    total: float
    system: float
    processes: Number
    files: Number

    @property
    def left(self) -> Number:
        """What a tier of caches may take [B]."""
        return maximum(0.0, self.total - self.system - self.processes - self.files)


def host_room(device: Device, node: Node, cards: Number, weights: Number, experts: Number = 0.0
              ) -> HostRoom:
    """The one budget of a server's memory.

    Args:
        device, node: its cards and the server.
        cards: of the deployment in one server [1].
        weights: of a card [B].
        experts: that stay on the host [B].

    Source: notebooks/day.md, section Fetch or compute again.
    """
    priors = priors_of(device)
    return HostRoom(float(node.host_memory.value) if node.host_memory else 0.0,
                    float(priors.host_system_memory.value),
                    cards * float(priors.host_process_memory.value), weights * cards + experts)


@dataclass(frozen=True)
class HostCaches:
    """Caches in host memory that a search tries.

    Attributes:
        device, node: cards and servers.
        sizes: of a server [B], those that it has room for; None for what it has left.
    """

    device: Device
    node: Node
    sizes: tuple[float, ...] | None = None

    def cards(self, devices: np.ndarray) -> np.ndarray:
        """Cards of each deployment in one server [1], shape (n,)."""
        return np.minimum(devices, int(self.node.devices_per_node.value))

    def tried(self, devices: np.ndarray, weights: np.ndarray) -> list[np.ndarray]:
        """Caches of a server, in whole GB for each card, 0 where there is no room [GB], shape (n,)
        each.

        Args:
            devices: cards of each deployment [1], shape (n,).
            weights: of a card [B], shape (n,).
        """
        cards = self.cards(devices)
        left = np.asarray(host_room(self.device, self.node, cards, weights).left)
        wanted = [left] if self.sizes is None else [
            np.where(size <= left, size, 0.0) for size in self.sizes]
        return [(np.floor(size / GIGA / cards) * cards).astype(int) for size in wanted]
