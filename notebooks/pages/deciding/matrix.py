"""The matrix: which card holds a model in which precision for how many users, and how fast."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import catalogue
from calc.launching.starting import start
from calc.layouts.space import Space
from calc.searching.goal import load_goal
from calc.searching.ranking import SampledRow, sample_rows
from calc.searching.search import search
from calc.searching.selection import Selection
from catalogue.planning import CardRange, Goal

GOAL = "r1-matrix"
MOST_ASKED = 24  # of the fastest deployments, whether a release starts them
USERS = (1, 8, 64, 256)


@dataclass(frozen=True)
class Cell:
    """A device in a precision for so many users.

    Attributes:
        device, precision: entries of the catalogue.
        users: at once.
        best: on the fewest whole servers that a release of an engine starts it on, the fastest;
            None where no number of cards holds it.
        currency: of its cost.
        engine: the release that starts it; empty where nothing does.
    """

    device: str
    precision: str
    users: int
    best: SampledRow | None
    currency: str
    engine: str = ""

    @property
    def servers(self) -> int:
        """Servers that it takes [1]; none where nothing holds it."""
        return self.best.row.choice.nodes if self.best else 0

    @property
    def pace(self) -> float:
        """Its time per token [s]."""
        assert self.best is not None
        return float(self.best.amounts["tpot"].value)


def cells(users: Sequence[int] = USERS, settings: Sequence[str] = ()) -> list[Cell]:
    """Every device of the goal in each precision that it multiplies, for each number of users.

    Args:
        users: numbers of users.
        settings: of the goal, as ``--set`` takes them.
    """
    goal = load_goal(GOAL, settings)
    return [cell for size, device in _sized(goal) for precision in goal.precisions or ()
            for cell in _asked(size, [*settings, f"devices={device}", f"precisions={precision}"],
                               sorted(users))]


def cells_of(device: str, precisions: Iterable[str], users: Sequence[int] = USERS,
             settings: Sequence[str] = ()) -> list[Cell]:
    """One device in some precisions, of those that it has kernels for; as ``cells``."""
    size = _per_node(device)
    return [cell for precision in precisions for cell in _asked(
        size, [*settings, f"devices={device}", f"precisions={precision}"], sorted(users))]


def cell_on(device: str, precision: str, users: int, devices: int) -> Cell:
    """One device in one precision for so many users, on so many cards or the fewest beyond.

    Raises StopIteration for a precision that the device does not multiply.
    """
    return next(_asked(devices, [f"devices={device}", f"precisions={precision}"], [users]))


def _per_node(device: str) -> int:
    """Cards of a server of a device [1]."""
    entry = catalogue.load_device(device)
    assert entry.node
    return int(catalogue.load_node(entry.node).devices_per_node.value)


def _sized(goal: Goal) -> Iterator[tuple[int, str]]:
    """Devices with the cards of their servers, which are taken whole; those of one size together.
    """
    sizes: dict[int, list[str]] = {}
    for offer in Space(goal).offers:
        sizes.setdefault(_per_node(offer.device), []).append(offer.device)
    yield from ((size, device) for size, devices in sizes.items() for device in devices)


def _asked(size: int, settings: Sequence[str], users: Sequence[int]) -> Iterator[Cell]:
    """A device in a precision: one server first, then up to twice as many again for the rest.

    Nothing of one that the device does not multiply.
    """
    goal = load_goal(GOAL, settings)
    assert goal.cards.most
    if not (bases := Space(goal).bases()):
        return
    best: dict[int, Started] = {}
    fewest, most = size, size
    while fewest <= goal.cards.most and len(best) < len(users):
        tried = CardRange.model_construct(fewest=fewest, most=min(most, goal.cards.most))
        space = Space(goal.model_copy(update={"cards": tried}))
        for count in users:
            if count not in best and (found := _fastest(space, count)):
                best[count] = found
        fewest, most = most + 1, 2 * most
    yield from (Cell(bases[0].device, bases[0].precision, count, *(
        (found.best, goal.currency, found.engine) if (found := best.get(count))
        else (None, goal.currency))) for count in users)


class Started(NamedTuple):
    """A deployment and the release that starts it."""

    best: SampledRow
    engine: str


def _fastest(space: Space, users: int) -> Started | None:
    """On the fewest cards the fastest for so many users that a release starts, if any does."""
    demand = space.goal.demand.model_copy(update={"users": users})
    found = search(space.goal.model_copy(update={"demand": demand}), space=space)
    if not found.rows(found.front, 1):
        return None
    answer = Selection(found, 1, start)
    row = next((row for row in answer.candidates[:MOST_ASKED] if answer.offers(row)), None)
    own = None
    if row is not None:
        told = answer.start(row)
        own = Started(sample_rows(found, [row])[0], (told and told.engine) or "")
    if space.goal.space.decode_context or row is answer.candidates[0]:
        return own
    # what is best shards its cache as no engine does on these cards: the same without
    whole = space.goal.space.model_copy(update={"decode_context": [1]})
    other = _fastest(Space(space.goal.model_copy(update={"space": whole})), users)
    return min([each for each in (own, other) if each], default=None, key=lambda each: (
        each.best.row.devices, each.best.row.quantities["tpot"]))
