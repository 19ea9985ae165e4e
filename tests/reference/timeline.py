"""A step in time: a card, its links and a host, each doing one thing after another.

Nothing is added up here: every piece of work starts when its machine is free, what it needs is
there and the host has launched it. How long the step takes is when its last piece ends. What runs
beside what follows from who waits for whom:

- A micro-batch waits for itself: attention, its sums, experts, their exchange, layer by layer.
- Two micro-batches have machines in common, and whichever can go on first does; or each has its
  stream, one at attention while the other is at experts.
- Within one batch shared experts wait for no token of others, and tokens travel back while the
  last matrix is multiplied.
- What a host computes is awaited in its layer.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Generator
from dataclasses import dataclass

from reference.layers import CARD, Experts, Layers, Piece

ATTENTION, EXPERTS = "attention", "experts"  # what two halves take turns at, in a stream each
Batch = Generator[tuple[Piece, float], float, float]  # asks for a piece from a moment on: its end


@dataclass(frozen=True)
class Way:
    """How a step runs.

    Attributes:
        halves: micro-batches [1].
        streams: whether each of two has a stream of its own.
        beside_exchange: whether experts run beside the exchange of their own batch.
        launch: time of the host for a kernel [s].
    """

    halves: int = 1
    streams: bool = False
    beside_exchange: bool = False
    launch: float = 0.0


class Machines:
    """When each of them is free, and when the host has launched what is to run."""

    def __init__(self, launch: float) -> None:
        self.free: defaultdict[str, float] = defaultdict(float)
        self._launch, self._launched = launch, 0.0

    def begin(self, piece: Piece, needs: float) -> float:
        """When a piece may begin that has what it needs at ``needs``."""
        return max(self.free[piece.machine], needs, self._launched)

    def run(self, piece: Piece, needs: float) -> float:
        """When a piece ends that has what it needs at ``needs``; the last kernel ends it."""
        begin = self.begin(piece, needs)
        self._launched += piece.kernels * self._launch
        self.free[piece.machine] = max(begin + piece.time, self._launched)
        return self.free[piece.machine]


def length(step: Layers, way: Way, apart: bool = False) -> float:
    """How long a step takes [s], without the gap to the next one.

    Args:
        step: its pieces.
        way: how it runs.
        apart: whether shared experts have ranks of their own, which wait for tokens as well.
    """
    machines, end = Machines(way.launch), 0.0
    batches = [_batch(step, way, apart, machines) for _ in range(way.halves)]
    asked = {number: next(batch) for number, batch in enumerate(batches)}
    while asked:
        first = min(asked, key=lambda number: machines.begin(*asked[number]))
        try:
            asked[first] = batches[first].send(machines.run(*asked[first]))
        except StopIteration as done:
            del asked[first]
            end = max(end, done.value)
    return end


def _batch(step: Layers, way: Way, apart: bool, machines: Machines) -> Batch:
    """A micro-batch on its way through the layers; when it is done."""
    ready = 0.0
    with_network = step.dense_layers + step.moe_layers
    every = with_network + step.bare_layers
    for piece in step.before:
        ready = yield from _done(piece, ready)
    for layer in range(every):
        if layer * step.stages // every > max(layer - 1, 0) * step.stages // every:
            ready = yield from _done(step.passed_on, ready)
        dense = layer < step.dense_layers
        ready = yield from _at(ATTENTION, way, machines, ready)
        for piece in (*step.attention, *(step.dense if dense else ())):
            ready = yield from _done(piece, ready)
        machines.free[ATTENTION] = ready
        if dense or layer >= with_network:
            continue
        ready = yield from _at(EXPERTS, way, machines, ready)
        ready = yield from _done(step.experts.choosing, ready)
        ready = yield from _experts(step.experts, way, apart, ready)
        machines.free[EXPERTS] = ready
    for piece in step.after:
        ready = yield from _done(piece, ready)
    return ready


def _at(stream: str, way: Way, machines: Machines, ready: float) -> Batch:
    """When a half that is ready may enter a stream, which it then has to itself."""
    if way.streams:
        ready = yield Piece(stream, 0.0), ready
        machines.free[stream] = math.inf
    return ready


def _experts(experts: Experts, way: Way, apart: bool, chosen: float) -> Batch:
    """The experts of a layer, whose tokens have been chosen: when it is done with them."""
    shared = Piece(CARD, 0.0 if apart else experts.shared.time)
    multiplied = experts.routed.time + experts.shared.time - shared.time
    if way.beside_exchange and way.halves == 1:
        arrived = yield from _done(experts.dispatch, chosen)
        done = yield from _done(shared, chosen)
        most = yield from _done(Piece(CARD, (1 - experts.last) * multiplied), max(arrived, done))
        combined = yield from _done(experts.combine, most)
        back = max(combined, (yield from _done(Piece(CARD, experts.last * multiplied), most)))
    else:
        done = yield from _done(shared, chosen)
        arrived = yield from _done(experts.dispatch, done)
        most = yield from _done(Piece(CARD, multiplied), arrived)
        back = yield from _done(experts.combine, most)
    back = yield from _done(experts.on_host, back)
    return (yield from _done(experts.summed, back))


def _done(piece: Piece, needs: float) -> Batch:
    """When a piece is done; one that there is none of waits for no machine."""
    return (yield piece, needs) if piece.time or piece.kernels else needs
