"""Every way to lay a model out on so many cards: the one enumeration of layouts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from calc.physics.inputs import Number
from catalogue.deployments.layout import leaves_replica
from catalogue.deployments.physics_inputs import scale_up_domain
from catalogue.entries.hardware import Node

AXES = ("devices", "tensor", "pipeline", "data", "expert", "slices", "spares", "context")
"""Columns of a layout, named as ``catalogue.deployments.cuts.Cut`` has them."""
Rows = dict[str, np.ndarray]  # a column for each of ``AXES``, a layout each
MOST_STAGES = 4
"""Pipeline stages that are tried where nobody says which: assumed. The plans of the documents have
no more, of what was measured (``params/measurements/``) nothing has any, and each stage takes a
batch of its own in flight: nothing supports the numbers beyond."""


@dataclass(frozen=True)
class Sizes:
    """What is tried of a layout; None is every divisor.

    Attributes:
        tensor, pipeline, data, expert: parallel sizes.
        slices: of each expert; 0 is what tensor parallelism leaves.
        spares: numbers of redundant experts by expert-parallel size.
        context: ranks over which a cache is dealt, of those that divide the tensor-parallel size.
    """

    tensor: Sequence[int] | None = None
    pipeline: Sequence[int] | None = None
    data: Sequence[int] | None = None
    expert: Sequence[int] | None = None
    slices: Sequence[int] = (0,)
    spares: Callable[[int], Sequence[int]] = lambda _: (0,)
    context: Sequence[int] | None = (1,)


def enumerate_layouts(counts: Sequence[int], sizes: Sizes) -> tuple[Rows, int]:
    """Layouts of so many cards, whether they divide the model or not, and how many more there are
    with more stages than are tried.

    Args:
        counts: cards, tensor x pipeline x data [1].
        sizes: what is tried.
    """
    rows: list[tuple[int, ...]] = []
    left = 0
    for devices in counts:
        for tp in _meant(devices, sizes.tensor):
            for pp in _meant(devices // tp, sizes.pipeline):
                dp = devices // tp // pp
                if not _asked(dp, sizes.data):
                    continue
                experts = _meant(tp * dp, sizes.expert)
                if sizes.pipeline is None and pp > MOST_STAGES:
                    left += len(experts)
                    continue
                rows += [(devices, tp, pp, dp, ep, slices, spares, context)
                         for ep in experts for slices in sizes.slices
                         for spares in sizes.spares(ep) for context in _meant(tp, sizes.context)]
    table = np.array(rows, dtype=int).reshape(-1, len(AXES))
    return {name: table[:, place] for place, name in enumerate(AXES)}, left


def _asked(size: int, listed: Sequence[int] | None) -> bool:
    return listed is None or size in listed


def _meant(whole: int, listed: Sequence[int] | None) -> list[int]:
    """Divisors that are tried."""
    return [size for size in divisors(whole) if _asked(size, listed)]


def at(rows: Mapping[str, np.ndarray], which: np.ndarray | slice) -> Rows:
    """Some rows of columns."""
    return {name: column[which] for name, column in rows.items()}


def iter_rows(rows: Mapping[str, np.ndarray]) -> Iterator[dict[str, int]]:
    """Layouts one after the other, by name."""
    names = list(rows)
    for values in zip(*(rows[name].tolist() for name in names), strict=True):
        yield dict(zip(names, values, strict=True))


def placement(node: Node, rows: Mapping[str, Number]) -> tuple[Number, Number, Number, Number]:
    """How layouts lie on servers, on which their inputs depend besides their numbers.

    Args:
        node: the server.
        rows: layouts, a number or an array for each of ``AXES`` [1].

    Returns whether they take several servers, how many domains an exchange leaves, whether there
    are replicas, and whether tokens of an expert's rank come from more than one.
    """
    per_node, expert = int(node.devices_per_node.value), rows["expert"]
    left = 1 * (expert > per_node) + (expert > scale_up_domain(node))
    return (rows["devices"] > per_node, left, rows["data"] > 1,
            leaves_replica(rows["tensor"], expert, rows["slices"]))


def card_counts(fewest: int, most: int, per_node: int) -> list[int]:
    """Numbers of cards that are tried: parts of a server that divide it, then whole servers [1].

    >>> card_counts(1, 24, 8)
    [1, 2, 4, 8, 16, 24]
    """
    counts = [*divisors(per_node)[:-1], *range(per_node, most + 1, per_node)]
    return [count for count in counts if fewest <= count <= most]


@lru_cache(maxsize=1 << 14)
def divisors(number: int) -> tuple[int, ...]:
    """Its divisors, ascending.

    >>> divisors(12)
    (1, 2, 3, 4, 6, 12)
    """
    return tuple(part for part in range(1, number + 1) if number % part == 0)
