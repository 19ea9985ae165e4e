"""A step taken apart: its parts, which sum to what the user waits for, what hides, what binds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from calc.physics.arrays import (
    anywhere,
    either,
    is_absent,
    maximum,
    minimum,
    minus,
    once,
    plus,
    scaled,
    select,
)
from calc.physics.inputs import Inputs, Number

CLASSES = ("attention", "core", "index", "dense_mlp", "shared_expert", "routed_expert", "router",
           "head")
DEVICE = (*CLASSES, "vector", "dequantisation", "boundary", "offload", "fetch",
          "all_reduce", "exchange", "pipeline", "context_exchange")
BANDWIDTH, CACHE, COMPUTE = "memory_bandwidth", "l2_bandwidth", "compute"
LINKS, HOST, OVERHEAD = "communication", "host", "fixed_costs"


def parts(inputs: Mapping[str, Number], quantities: Mapping[str, Any],
          phase: str = "decode") -> dict[str, Number]:
    """Parts of a step's exposed time [s], which sum to it.

    Device parts as they are busy; what overlap and the path for one token take away, negative; what
    the host takes longer than the device; the gap; of prompts, their pass of the layer that drafts.

    Args:
        inputs: input symbols in SI units.
        quantities: those of ``calc.evaluate`` for them.
        phase: ``decode``, ``prefill`` or ``burst``.

    Source: notebooks/latency.md, section A step taken apart.
    """
    halves = inputs["micro_batches"]
    result = {name: halves * quantities[f"{phase}_{name}_time"] for name in DEVICE}
    device, host = quantities[f"{phase}_device_time"], quantities[f"{phase}_host_time"]
    return result | {
        "overlap": -quantities[f"{phase}_hidden_time"],
        "single_token_path": -quantities[f"{phase}_saved_time"],
        "host": maximum(host - device, 0), "host_gap": inputs["host_gap_per_step"]} | (
        {} if phase == "decode" else {"draft": drafted(
            inputs["draft_tokens"], quantities[f"{phase}_draft_pass_time"])})


def drafted(draft_tokens: Number, draft_pass: Number) -> Number:
    """Time that the drafting layer adds to a step of prefill [s]: prompts pass it once.

    Args:
        draft_tokens: that a decode step checks for each request [token].
        draft_pass: time of a pass of the tokens of the step [s].

    Source: notebooks/latency.md, section One step.
    """
    return select(draft_tokens > 0, draft_pass, 0)


def token_parts(inputs: Mapping[str, Number], quantities: Mapping[str, Any]) -> dict[str, Number]:
    """Parts of the time per output token [s], which sum to ``tpot``.

    A step has the fullest batch on every rank; what it takes less where some ranks have fewer
    requests is negative.

    Args:
        inputs: input symbols in SI units.
        quantities: those of ``calc.evaluate`` for them.

    Source: notebooks/latency.md, section A step taken apart.
    """
    per_step = quantities["tokens_per_step"]
    result = {name: part / per_step for name, part in parts(inputs, quantities).items()}
    every_rank = (quantities["decode_step_time"] + quantities["draft_time"]) / per_step
    return result | {"draft": quantities["draft_time"] / per_step,
                     "idle_ranks": quantities["steady_pace"] - every_rank,
                     "stall": quantities["decode_stall"]}


def bound_by(inputs: Mapping[str, Number], quantities: Mapping[str, Any],
             phase: str = "decode") -> dict[str, Number]:
    """Time of a step by the resource that binds it [s]; without what overlap hides.

    Args:
        inputs: input symbols in SI units.
        quantities: those of ``calc.evaluate`` for them.
        phase: ``decode``, ``prefill`` or ``burst``.

    Source: notebooks/latency.md, section A step taken apart.
    """
    pieces = parts(inputs, quantities, phase)
    sums: dict[str, Number] = {
        BANDWIDTH: pieces["vector"], CACHE: pieces["dequantisation"], COMPUTE: 0.0,
        LINKS: (pieces["all_reduce"] + pieces["exchange"] + pieces["pipeline"]
                + pieces["context_exchange"]),
        HOST: pieces["host"] + pieces["offload"] + pieces["fetch"],
        OVERHEAD: pieces["boundary"] + pieces["host_gap"]}
    for name in CLASSES:
        # operations per byte against what the device multiplies per byte that it reads
        busy = quantities[f"{phase}_{name}_flops"] * inputs["memory_bandwidth"]
        computes = busy > quantities[f"{phase}_{name}_bytes"] * inputs[f"{name}_peak"]
        sums[COMPUTE] = sums[COMPUTE] + select(computes, pieces[name], 0.0)
        sums[BANDWIDTH] = sums[BANDWIDTH] + select(computes, 0.0, pieces[name])
    # the layer that drafts is one like the others
    longer = 1 + pieces.get("draft", 0.0) / sum(sums.values())
    return {name: busy * longer for name, busy in sums.items()}


def bottleneck(inputs: Mapping[str, Number], quantities: Mapping[str, Any],
               phase: str = "decode") -> str:
    """The resource that binds the largest part of a step, by its time [s].

    Args:
        inputs: input symbols in SI units, scalars.
        quantities: those of ``calc.evaluate`` for them.
        phase: ``decode``, ``prefill`` or ``burst``.

    Source: notebooks/latency.md, section A step taken apart.
    """
    sums = bound_by(inputs, quantities, phase)
    return max(sums, key=lambda name: float(sums[name]))


@dataclass(slots=True)
class Busy:
    """Busy times of a card, its links and its host in a step [s], all micro-batches.

    Attributes:
        own: computation of the card.
        links: communication between cards.
        on_host: of experts that the host computes or hands over.
        router, routed, shared: of ``own``, the router, experts that are chosen and those of every
            token.
        exchange: of ``links``, on the way to the experts and back.
        dispatch: of ``exchange``, on the way there.
        aside: of ``shared``, what a second stream takes beside the other experts.
    """

    own: Number = 0.0
    links: Number = 0.0
    on_host: Number = 0.0
    router: Number = 0.0
    routed: Number = 0.0
    shared: Number = 0.0
    exchange: Number = 0.0
    dispatch: Number = 0.0
    aside: Number = 0.0

    @property
    def exposed(self) -> Number:
        """Time of card, links and host one after the other, nothing of it hidden [s]."""
        return plus(plus(self.own, self.links), self.on_host)

    def parts(self) -> tuple[Number, ...]:
        """All times, in their order [s]."""
        return (self.own, self.links, self.on_host, self.router, self.routed, self.shared,
                self.exchange, self.dispatch, self.aside)

    def __add__(self, other: Busy) -> Busy:
        return Busy(*map(plus, self.parts(), other.parts()))

    def __mul__(self, times: Number) -> Busy:
        return Busy(*(part if is_absent(part) else scaled(part, times) for part in self.parts()))

    def __sub__(self, other: Busy) -> Busy:
        return Busy(*map(minus, self.parts(), other.parts()))


BUSY = ("compute", "communication", "saved", "offload", "fetch", "router", "shared_expert",
        "routed_expert", "exchange", "dispatch", "second_stream")


def busy(halves: Number, times: Mapping[str, Number]) -> Busy:
    """Busy times of a step from the times of its parts.

    Args:
        halves: micro-batches of the step [1].
        times: those of ``BUSY``; of the first three for the whole step, of the others for a
            micro-batch [s].

    Source: notebooks/latency.md, section One step.
    """
    on_host = scaled(times["offload"] + times["fetch"], halves)
    router, shared, routed, exchange, dispatch, aside = (
        scaled(times[name], halves) for name in (
            "router", "shared_expert", "routed_expert", "exchange", "dispatch", "second_stream"))
    return Busy(minus(minus(times["compute"], on_host), times["saved"]), times["communication"],
                on_host, router, routed, shared, exchange, dispatch, aside)


@once
def hides(q: Inputs) -> bool:
    """Whether work overlaps in at least one deployment: two micro-batches, shared experts beside
    the exchange or on a second stream, or the host beside the card.

    Args:
        q: input symbols as attributes.

    Source: notebooks/latency.md, sections Two micro-batches and One step.
    """
    return _between(q) or anywhere((q.host_overlap > 0) | (q.second_stream_tokens > 0))


@once
def _between(q: Inputs) -> bool:
    """Whether computation overlaps communication in at least one deployment."""
    return anywhere((q.micro_batches > 1) | (q.single_batch_overlap > 0))


def hidden_time(q: Inputs, b: Busy) -> Number:
    """Overlapped time of a step [s]: links and host that run beside something longer.

    Two micro-batches take turns, one communicates while the other computes; or each has a stream of
    its own, attention beside experts with their exchange, so that what is hidden is also no longer
    than the shorter stream. Within a single batch shared experts run beside the dispatch, and the
    last of an expert's matrices, of equal size, beside the combine; on a second stream they run
    beside router and routed experts. Experts whose results are awaited a layer later, or that are
    fetched a layer ahead, run beside the card's own work.

    Args:
        q: input symbols as attributes.
        b: what is busy.

    Source: notebooks/latency.md, sections Two micro-batches and One step.
    """
    def streams() -> Number:
        turns = minimum(b.own, b.links)
        at_experts = b.router + b.shared + b.routed + b.exchange
        return either(q.unequal_streams > 0, lambda: minimum(
            turns, minimum(at_experts, b.own + b.links - at_experts)), lambda: turns)

    def single() -> Number:
        # shared experts on ranks of their own wait for the dispatch as well
        apart = q.shared_expert_ranks > 0
        waiting, ready = plus(b.routed, select(apart, b.shared, 0)), select(apart, 0, b.shared)
        return (minimum(ready, b.dispatch)
                + minimum(waiting / q.mlp_matrices, b.exchange - b.dispatch))

    between: Number = 0.0
    if _between(q):
        between = q.overlap_efficiency * either(q.micro_batches > 1, streams, lambda: either(
            q.single_batch_overlap > 0, single, lambda: 0.0))
    if not is_absent(b.aside):
        between = between + minimum(b.aside, b.router + b.routed)
    if not anywhere(q.host_overlap > 0):
        return between
    return between + q.host_overlap * minimum(b.on_host, b.own + b.links - between)


def _more_hidden(q: Inputs, step: Any, changed: Callable[[Busy], Busy]) -> Number:
    """Change of a step's overlapped time with its work [s]."""
    if not hides(q):
        return 0.0
    return hidden_time(q, changed(busy_in(q, step))) - step.hidden_time


def busy_in(q: Inputs, step: Any) -> Busy:
    """Busy times of an evaluated step [s].

    Args:
        q: input symbols as attributes.
        step: a ``calc.physics.step.Step``, or those of its times that ``BUSY`` names.

    Source: notebooks/latency.md, section One step.
    """
    return busy(q.micro_batches, {name: getattr(step, f"{name}_time") for name in BUSY})


def cores_in(q: Inputs, step: Any) -> Busy:
    """Busy times of attention cores, the choice of positions and their exchange in a step [s].

    Args:
        q: input symbols as attributes.
        step: a ``calc.physics.step.Step``, or its times of these, which are of a micro-batch [s].

    Source: notebooks/latency.md, section The attention core.
    """
    return Busy(own=plus(step.core_time, step.index_time),
                links=step.context_exchange_time) * q.micro_batches


def added_time(q: Inputs, step: Any, more: Busy) -> Number:
    """Time that a step gains on a card with more work, less the overlapped part [s].

    Args:
        q: input symbols as attributes.
        step: as for :func:`busy_in`, and its ``hidden_time``.
        more: what is busy besides.

    Source: notebooks/latency.md, section One step.
    """
    return minus(more.exposed, _more_hidden(q, step, lambda before: before + more))


def removed_time(q: Inputs, step: Any, less: Busy) -> Number:
    """Time that a step loses on a card with less work, but for the overlapped part [s].

    Args:
        q: input symbols as attributes.
        step: as for :func:`added_time`.
        less: what is no longer busy.

    Source: notebooks/latency.md, section One step.
    """
    return plus(less.exposed, _more_hidden(q, step, lambda before: before - less))
