"""Every deployment that a goal allows: offers, cuts of so many cards, and what else is chosen."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import pairwise, product
from typing import Any

import numpy as np

from calc.choosing.advice import ON_PROCESSORS, changed
from calc.choosing.layouts import divisors, placed, staged_group
from calc.costing.limits import cards_within
from calc.costing.rates import stated
from calc.searching.choices import UTILIZATION, Choice, scenario
from catalogue import (
    ParamsError,
    Scenario,
    load_device,
    load_model,
    load_node,
    load_precision,
    model_inputs,
)
from catalogue import names as entries
from catalogue.deployments.blocks import block_problem
from catalogue.deployments.fabric import scale_up_domain
from catalogue.deployments.layout import SLICES, cut_problem
from catalogue.deployments.precision_support import missing_dtypes, nearest
from catalogue.deployments.profiles import drafts_in_stages
from catalogue.engines.released import AT, fitting
from catalogue.entries.deployments import Precision
from catalogue.entries.hardware import Device, Node
from catalogue.entries.models import Model
from catalogue.planning.goals import MOST_CARDS, Goal, Offer

CHUNKS = (1024, 2048, 4096, 8192, 16384)  # tokens of a step that are tried
DRAFTS = (0, 1, 2, 3)  # tried of a model with a prediction layer; engines draft no more with one
AXES = ("devices", "tensor", "pipeline", "data", "expert", "slices", "spares", "chunk",
        "micro_batches", "drafts", "utilization")
LAYOUT = AXES[:7]
MOVED = ("parallelism.", "cluster.nodes", "workload.concurrency", "workload.max_num")
Cells = dict[str, np.ndarray]  # a deployment's settings by name, one row each


KINDS = (2, 3, 2, 2, 2, 2)
"""What of a layout the inputs depend on besides its numbers, and in how many ways: more servers
than one, domains that an exchange leaves, replicas, redundant experts, drafts, slices. Layouts of
one kind differ in their numbers only."""


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
        dropped: combinations that were left out, by why.
    """

    goal: Goal
    resolve: Callable[[Choice], Scenario] | None = None
    dropped: Counter[str] = field(default_factory=Counter)
    _layouts: dict[tuple[str, int], Cells] = field(default_factory=dict)
    _loaded: dict[tuple[str, int, str], np.ndarray] = field(default_factory=dict)
    _staged: dict[Base, bool] = field(default_factory=dict)
    _files: dict[Base, Scenario] = field(default_factory=dict)
    _inputs: dict[Base, tuple[Scenario, dict[str, Any]]] = field(default_factory=dict)

    @cached_property
    def model(self) -> Model:
        """The model."""
        return load_model(self.goal.model)

    @cached_property
    def shapes(self) -> dict[str, Any]:
        """Its input symbols."""
        return model_inputs(self.model)

    @cached_property
    def offers(self) -> list[Offer]:
        """Cards to choose from; ``any`` are those that a server of the catalogue holds."""
        if self.goal.devices:
            return list(self.goal.devices)
        devices = (load_device(name) for name in entries("devices"))
        return [Offer.model_construct(device=device.id) for device in devices
                if device.type != "host" and device.node and not device.dies]

    def bases(self) -> list[Base]:
        """Each offer in each precision that its device multiplies.

        Raises ParamsError for an offer without a server, or of what is no card.
        """
        return self._bases

    @cached_property
    def _bases(self) -> list[Base]:
        return list(self._every_base())

    def _every_base(self) -> Iterator[Base]:
        for offer in self.offers:
            device = load_device(offer.device)
            node = node_of(offer, device)
            wanted = ([load_precision(name) for name in self.goal.precisions]
                      if self.goal.precisions else
                      [precision for precision in nearest(device)
                       if precision.id not in ON_PROCESSORS])
            for precision in wanted:
                if missing_dtypes(precision, device):
                    self.dropped["dtype"] += 1
                    continue
                for engine in self._engines(device):
                    yield Base(offer.device, offer.node or node.id, engine, precision.id)

    def _engines(self, device: Device) -> list[str | None]:
        """Engines that are tried on a device; those that do not run on it are left out."""
        if self.goal.engines is None:
            return [None]
        running = fitting(device)
        return [name for name in self.goal.engines if name.partition(AT)[0] in running]

    def cells(self, base: Base) -> list[Cells]:
        """Every deployment of a base but for its requests, by kind: layouts that divide model and
        cards into slices that engines load, each with every chunk, half-batch and draft."""
        layouts, loads = self.layouts(base), self._loads(base)
        cells = self._every({name: column[loads] for name, column in layouts.items()},
                            self._drafts_in_stages(base))
        if not len(cells["data"]):
            return []
        columns = _kinds(load_node(base.node), cells)
        codes = np.ravel_multi_index([column.astype(int) for column in columns], KINDS)
        order = np.argsort(codes, kind="stable")
        cells = {name: column[order] for name, column in cells.items()}
        ends = [0, *np.flatnonzero(np.diff(codes[order])) + 1, len(order)]
        return [{name: column[start:end] for name, column in cells.items()}
                for start, end in pairwise(ends)]

    def size(self, base: Base) -> int:
        """Deployments of a base but for their requests, those that no engine loads included [1]."""
        return len(self.layouts(base)["data"]) * math.prod(map(len, self._axes()))

    def blocked(self, base: Base) -> int:
        """Layouts of a base that cut a block of scales [1]."""
        return int((~self._loads(base)).sum())

    def undrafted(self, base: Base) -> int:
        """Layouts of a base that engines load, but with which none of the drafts is tried [1]."""
        layouts = self.layouts(base)
        if not any(self.drafts()) or self._drafts_in_stages(base):
            return 0
        return int((self._loads(base) & (layouts["pipeline"] > 1)).sum())

    def _drafts_in_stages(self, base: Base) -> bool:
        """Whether drafts are tried in pipeline stages."""
        if base not in self._staged:
            allowed = self.goal.space.staged_drafts
            self._staged[base] = allowed if allowed is not None else drafts_in_stages(
                load_device(base.device), self.model, base.engine)
        return self._staged[base]

    def _axes(self) -> tuple[list[int], ...]:
        """Values of what stands in ``AXES`` behind the layout."""
        space = self.goal.space
        return (self.chunks(), list(space.micro_batches), self.drafts(),
                space.memory_utilization or [UTILIZATION])

    def _every(self, layouts: Cells, staged: bool) -> Cells:
        """Layouts with every value of the other axes; with drafts in stages only if they may be."""
        axes = self._axes()
        shape = (len(layouts["devices"]), *map(len, axes))
        places = np.unravel_index(np.arange(np.prod(shape)), shape)
        cells = {name: column[places[0]] for name, column in layouts.items()}
        cells |= {name: np.array(values)[place] for name, place, values in zip(
            AXES[len(LAYOUT):], places[1:], axes, strict=True)}
        # half-batches hide an exchange, where there is one
        exchanged = (sharing(cells) > cells["tensor"]) & bool(self.shapes["n_routed_experts"])
        keep = (cells["micro_batches"] == 1) | exchanged
        keep &= (cells["pipeline"] == 1) | (cells["drafts"] == 0) | staged
        return {name: column[keep] for name, column in cells.items()}

    def layouts(self, base: Base) -> Cells:
        """Cuts of a base that divide model and cards."""
        key = base.node, self.most(base)
        if key not in self._layouts:
            self._layouts[key] = self._divided(load_node(base.node), key[1])
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
                ownership=self.goal.ownership, price=offer.price).cards)
        return min(counts)

    def _loads(self, base: Base) -> np.ndarray:
        """Of which layouts engines load every slice."""
        key = base.node, self.most(base), base.precision
        if key not in self._loaded:
            self._loaded[key] = self._whole(load_precision(base.precision), self.layouts(base))
        return self._loaded[key]

    def _whole(self, precision: Precision, layouts: Cells) -> np.ndarray:
        cuts, which = np.unique(np.stack([
            layouts["tensor"], sharing(layouts) // layouts["tensor"], layouts["expert"],
            layouts["slices"]]), axis=1, return_inverse=True)
        return np.array([block_problem({**self.shapes, SLICES: slices}, self.model.attention,
                                       self.model.id, precision, (tp, 1, max(1, dp), ep))
                         is None for tp, dp, ep, slices in cuts.T.tolist()], bool)[which]

    def _divided(self, node: Node, most: int) -> Cells:
        """Cuts of each number of cards that divide the model, with each number of spares."""
        space, rows = self.goal.space, []
        widest = scale_up_domain(node)

        @cache
        def fits(tp: int, pp: int, dp: int, ep: int, slices: int, spares: int) -> bool:
            numbers = {**self.shapes, SLICES: slices, "redundant_experts": spares}
            return cut_problem(numbers, self.model.attention, self.model.id,
                               (tp, pp, dp, ep)) is None

        def meant(size: int, listed: list[int] | None) -> bool:
            return listed is None or size in listed

        for devices in card_counts(self.goal.cards.fewest, most, int(node.devices_per_node.value)):
            for tp, pp in product(divisors(devices), divisors(devices)):
                if devices % (tp * pp):
                    continue
                dp = devices // tp // pp
                # stages divide nothing but the layers
                if tp > widest or not (meant(tp, space.tensor) and meant(pp, space.pipeline)
                                       and meant(dp, space.data) and fits(1, pp, 1, 1, 0, 0)):
                    continue
                for ep, cut in product(divisors(tp * dp), self.slices()):
                    if not meant(ep, space.expert):
                        continue
                    if staged_group(tp, pp, ep * max(1, cut)) and not space.staged_groups:
                        self.dropped["stages"] += 1
                        continue
                    for spares in _spares(self.goal, self.shapes, ep):
                        if fits(tp, 1, dp, ep, cut, spares):
                            rows.append((devices, tp, pp, dp, ep, cut, spares))
                        else:
                            self.dropped["division"] += 1
        table = np.array(rows, dtype=int).reshape(-1, len(LAYOUT))
        return {name: table[:, number] for number, name in enumerate(LAYOUT)}

    def slices(self) -> list[int]:
        """Slices of an expert that are tried [1]; 0 is what tensor parallelism leaves."""
        asked = self.goal.space.expert_slices
        return list(asked) if asked and self.shapes["n_routed_experts"] else [0]

    def chunks(self) -> list[int]:
        """Prompt tokens of a step that are tried [token]."""
        return list(self.goal.space.chunks or CHUNKS)

    def drafts(self) -> list[int]:
        """Drafted tokens that are tried [token]; none of a model that has nothing to draft with."""
        layers = self.model.num_nextn_predict_layers
        if self.goal.space.drafts is not None:
            return list(self.goal.space.drafts)
        return list(DRAFTS) if layers and layers.value else [0]

    def inputs(self, base: Base, kinds: Sequence[Cells]) -> tuple[Scenario, dict[str, Any]]:
        """One deployment of a base, and the input symbols of all of them but for their settings:
        what differs by kind as an array of one value for each. Made once.

        Args:
            base: whose cells they are.
            kinds: all of its cells, by kind.

        Raises ParamsError as :meth:`first` does.
        """
        if base not in self._inputs:
            firsts = [self.first(base, cells) for cells in kinds]
            of_first, *rest = (first.inputs() for first in firsts)
            self._inputs[base] = firsts[0], {
                name: value if all(other[name] == value for other in rest)
                else np.array([value, *(other[name] for other in rest)])
                for name, value in of_first.items()}
        return self._inputs[base]

    def first(self, base: Base, cells: Cells, pool: str | None = None) -> Scenario:
        """The deployment of the first of some cells of one kind, whose inputs all of them have.

        Args:
            base: whose cells they are.
            cells: of one kind.
            pool: that they are, of two.

        Raises ParamsError for an offer that cannot be deployed at all.
        """
        choice = replace(chosen(base, cells, 0, 1), pool=pool)
        if self.resolve:
            return self.resolve(choice)
        if base.engine or pool:  # what an engine does may depend on more than the layout
            return scenario(self.goal, choice)
        if base not in self._files:
            self._files[base] = scenario(self.goal, choice)
        moved = {path: value for path, value in choice.settings().items()
                 if path.startswith(MOVED)}
        whole = {"cluster.devices": choice.devices, "parallelism.redundant_experts": choice.spares,
                 f"parallelism.{SLICES}": choice.slices,
                 "parallelism.balancing": "periodic" if choice.spares else "none",
                 "workload.draft_tokens": choice.drafts}
        return changed(self._files[base], moved | whole)


def chosen(base: Base, cells: Cells, row: int, concurrency: int) -> Choice:
    """One deployment out of cells.

    Args:
        base: whose cells they are.
        cells: settings by name, shape (n,) each.
        row: which.
        concurrency: requests in flight [request].
    """
    settings = {name: int(cells[name][row]) for name in AXES}
    return Choice(base.device, base.node, base.engine, base.precision, concurrency=concurrency,
                  pool=None, **settings)


def _kinds(node: Node, cells: Cells) -> tuple[np.ndarray, ...]:
    """Of which kind each cell is, part by part of ``KINDS``."""
    return (*placed(node, cells["devices"], cells["data"], cells["expert"]),
            cells["spares"] > 0, cells["drafts"] > 0, cells["slices"] > 1)


def sharing(cells: Cells) -> np.ndarray:
    """Ranks that share experts, or fewer where they are those of tensor parallelism [1]."""
    return cells["expert"] * np.maximum(1, cells["slices"])


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


def card_counts(fewest: int, most: int, per_node: int) -> list[int]:
    """Numbers of cards that are tried: parts of a server that divide it, then whole servers [1].

    >>> card_counts(1, 24, 8)
    [1, 2, 4, 8, 16, 24]
    """
    counts = [*divisors(per_node)[:-1], *range(per_node, most + 1, per_node)]
    return [count for count in counts if fewest <= count <= most]


def _spares(goal: Goal, shapes: dict[str, Any], ranks: int) -> list[int]:
    """Numbers of redundant experts that are tried with so many ranks, the fewest first [1]."""
    routed = int(shapes["n_routed_experts"])
    if not routed or ranks == 1:
        return [0]
    fewest = -(-routed // ranks) * ranks - routed
    numbers = {"none": 0, "fewest": fewest, "per-rank": fewest + ranks}
    return sorted({numbers[name] for name in goal.space.spares})
