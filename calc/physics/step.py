"""The time of one step of a rank, by class of operators, and how the times add up.

A step is a decode step of a batch or a chunk of prefill; both are the same operators on another
composition of tokens. Operations [FLOP], bytes [B] and times [s] are of one rank over all layers of
all pipeline stages, so a step's time is that of one micro-batch on its way through the pipeline.
What each class has to do is ``calc.physics.work``; an all-reduce or an exchange by itself is
``calc.physics.communication``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import reduce
from typing import Any

from calc.physics.arrays import (
    Inputs,
    Number,
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
from calc.physics.communication import (
    all_gather,
    all_reduce,
    context_exchange,
    exchanging,
    group,
    tensor_sums,
    there_and_back,
)
from calc.physics.experts import (
    expert_group,
    fullest,
    fullest_receiver,
    on_fullest,
    sliced,
)
from calc.physics.kv_cache import Cache
from calc.physics.memory import Weights
from calc.physics.operators import (
    busy_time,
    core_time,
    dense_bandwidth,
    drafter_core_time,
    drafter_time,
    index_time,
    joining_time,
    matmul_times,
    slowest_clock,
)
from calc.physics.parameters import Parameters, layer_halves
from calc.physics.work import (
    Attention,
    Composition,
    Missing,
    Routed,
    Work,
    attention_work,
    core_work,
    dense_mlp_work,
    head_work,
    index_work,
    missing,
    offload_time,
    routed_expert_work,
    routed_row_bytes,
    router_work,
    shared_expert_work,
    vector_bytes,
)

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


SUMS_OF_DRAFTER = 2  # of a layer over tensor-parallel ranks: after attention and after the MLP


@dataclass(frozen=True, eq=False)
class Step(Missing):
    """Operations [FLOP], bytes [B] and times [s] of a step; names without their phase."""

    attention_flops: Number
    core_flops: Number
    index_flops: Number
    dense_mlp_flops: Number
    shared_expert_flops: Number
    routed_expert_flops: Number
    router_flops: Number
    head_flops: Number
    attention_bytes: Number
    core_bytes: Number
    index_bytes: Number
    dense_mlp_bytes: Number
    shared_expert_bytes: Number
    routed_expert_bytes: Number
    router_bytes: Number
    head_bytes: Number
    vector_bytes: Number
    routed_row_bytes: Number
    head_rows: Number
    group_tokens: Number
    shared_tokens: Number
    distinct_experts: Number
    rank_imbalance: Number
    node_imbalance: Number
    attention_time: Number
    core_time: Number
    index_time: Number
    dense_mlp_time: Number
    shared_expert_time: Number
    routed_expert_time: Number
    router_time: Number
    head_time: Number
    vector_time: Number
    dequantisation_time: Number
    all_reduce_time: Number
    exchange_time: Number
    dispatch_time: Number
    pipeline_time: Number
    context_exchange_time: Number
    boundary_time: Number
    offload_time: Number
    saved_time: Number
    second_stream_time: Number
    compute_time: Number
    communication_time: Number
    hidden_time: Number
    device_time: Number
    host_time: Number
    draft_gather_time: Number
    drafter_core_time: Number
    draft_pass_time: Number
    step_time: Number


STEP_NAMES = tuple(field.name for field in fields(Step))


def step(attention: str, q: Inputs, n: Parameters, w: Weights, c: Cache, composition: Composition
         ) -> Step:
    """Operations, bytes and time of a step, by class of operators.

    Args:
        attention: ``mla`` or ``gqa``.
        q: input symbols as attributes.
        n: the model's parameters.
        w: weights by stage [B].
        c: cache per token [B/token].
        composition: what the step is made of.

    Source: notebooks/compute.md for operations and bytes, notebooks/latency.md for times.
    """
    halves, batch, clock = q.micro_batches, composition.part(q.micro_batches), slowest_clock(q)
    own = batch.own(q)
    projections, routed = attention_work(attention, q, n, w, own), routed_expert_work(q, n, batch)
    core, scores = core_work(attention, q, c, own), index_work(q, c, own)
    head, columns = head_work(q, w)
    classes: dict[str, Work] = {
        "attention": projections, "dense_mlp": dense_mlp_work(q, n).of(batch.tokens),
        "shared_expert": shared_expert_work(q, n).of(batch.of_shared(q)), "routed_expert": routed,
        "router": router_work(q, n).of(own.tokens), "head": head.of(batch.logit_rows)}
    times = matmul_times(attention, q, n, classes, batch, routed) | {
        "core": core_time(q, core, own, clock),
        "index": index_time(q, scores, batch.decoding, clock)}
    classes |= {"core": core, "index": scores}
    vector, fetched = vector_bytes(q, n, batch, routed), missing(q, n, routed.read)
    nodes_load = fullest(q, group(q, q.expert_parallel).across, routed.tokens)
    logits, gathered = _gather_times(q, batch, columns)
    reduced, exchanged, dispatched, passed_on = _communication_times(
        q, n, batch, logits, (fullest_receiver(q, routed.slowest), nodes_load))
    shared, boundary = context_exchange(attention, q, c, batch), _untimed(q, n) * q.kernel_boundary
    times |= {
        "vector": vector / dense_bandwidth(q), "boundary": boundary,
        "dequantisation": _dequantisation_time(q, n, projections, routed, batch),
        "offload": offload_time(q, n, batch, routed), "fetch": fetched.fetch_time}
    compute = scaled(reduce(plus, times.values()), halves)
    communication = scaled(plus(plus(reduced + exchanged, passed_on), shared), halves)
    saved = _saved_time(q, composition, scaled(boundary, halves))
    times |= {
        "all_reduce": reduced, "exchange": exchanged, "dispatch": dispatched,
        "pipeline": passed_on, "context_exchange": shared, "saved": saved, "compute": compute,
        "communication": communication, "second_stream": _second_stream_time(
            q, n, batch, classes["shared_expert"], times["shared_expert"])}
    hidden = hidden_time(q, busy(halves, times))
    device = minus(minus(compute + communication, hidden), saved)
    host = halves * _launched_one_by_one(q, n, batch) * q.host_time_per_operator
    longer, apart = maximum(device, host), drafter_core_time(attention, q, c, own, core, clock)
    draft_pass = _draft_pass_time(q, (longer, host), times, gathered, apart, (batch, own))
    return Step(
        **{f"{name}_flops": work.flops for name, work in classes.items()},
        **{f"{name}_bytes": work.bytes for name, work in classes.items()},
        **{f"{name}_time": time for name, time in times.items()} | vars(fetched),
        vector_bytes=vector, routed_row_bytes=routed_row_bytes(q, n, routed),
        head_rows=core.head_rows, group_tokens=routed.tokens, shared_tokens=batch.of_shared(q),
        distinct_experts=routed.hit, rank_imbalance=routed.slowest - 1,
        node_imbalance=nodes_load - 1, hidden_time=hidden, device_time=device, host_time=host,
        draft_gather_time=gathered, drafter_core_time=apart, draft_pass_time=draft_pass,
        step_time=_step_time(q, composition, longer, draft_pass))


def _step_time(q: Inputs, composition: Composition, longer: Number, draft_pass: Number) -> Number:
    """The longer of card and host, the gap to the next step, prompts through the drafting layer.

    Returns a time [s]. Source: notebooks/latency.md, section One step.
    """
    prompts = 0 if composition.decoding else drafted(q.draft_tokens, draft_pass)
    return plus(longer + q.host_gap_per_step, prompts)


def _dequantisation_time(q: Inputs, n: Parameters, projections: Attention, routed: Routed,
                         batch: Composition) -> Number:
    """Time in which weights are widened before they are multiplied [s], through L2.

    Source: notebooks/latency.md, section Weights that are widened first.
    """
    traffic = q.dequantisation_traffic if batch.decoding else q.prefill_dequantisation_traffic
    if not anywhere(traffic > 0):
        return 0.0
    shared, dense = _widened(q, n)
    experts, attention = 0.0, 0.0
    if anywhere(q.routed_expert_dequantised > 0):
        experts = q.routed_expert_dequantised * routed.weights
    if anywhere(q.attention_dequantised > 0):
        stored = projections.projections - batch.absorbed * projections.up
        attention = q.attention_dequantised * q.num_hidden_layers * stored
    return traffic / q.l2_bandwidth * on_fullest(q, shared, experts, plus(attention, dense))


@once
def _widened(q: Inputs, n: Parameters) -> tuple[Number, Number]:
    """Elements that are widened of shared experts, and of dense networks, on a rank [1].

    Source: notebooks/latency.md, section Weights that are widened first.
    """
    t = q.tensor_parallel
    return (q.shared_expert_dequantised * n.moe_layers * n.shared_expert_parameters / t,
            q.dense_mlp_dequantised * q.first_k_dense_replace * n.dense_mlp_parameters / t)


def _communication_times(q: Inputs, n: Parameters, batch: Composition, logits: Number,
                         loads: tuple[Number, Number]
                         ) -> tuple[Number, Number, Number, Number]:
    """All-reduces with the gathering of logits, exchange, its dispatch, hand-over of stages [s].

    Source: notebooks/communication.md for one of each, notebooks/latency.md for how many.
    """
    t, d, width = q.tensor_parallel, q.hidden_size, q.activation_element_bytes
    payload, inner = d * width * batch.tokens, q.routed_expert_hidden_size
    reduced = tensor_sums(q, batch.own(q).dealt, payload, _cut_layers(q, n)) + logits
    mean, most = batch.sent(q)
    there, back = there_and_back(
        q, exchanging(q), mean / t, (inner * sliced(q, q.dispatch_element_bytes, width),
                                     inner * width),
        most, loads)
    passed_on = (q.pipeline_parallel - 1) * (
        q.network_alpha + q.hc_mult / t / (q.network_bandwidth * q.network_efficiency) * payload
        ) if anywhere(q.pipeline_parallel > 1) else 0.0
    return reduced, n.moe_layers * (there + back), n.moe_layers * there, passed_on


@once
def _cut_layers(q: Inputs, n: Parameters) -> Number:
    """Layers whose MLP leaves partial sums on tensor-parallel ranks [1].

    Shared experts stay cut where routed ones have ranks of their own. Source:
    notebooks/communication.md, section What tensor parallelism sends in a step.
    """
    cut = (expert_group(q) <= q.tensor_parallel) | (q.n_shared_experts > 0)
    return q.first_k_dense_replace + select(cut, n.moe_layers, 0)


@once
def _kernels(q: Inputs, n: Parameters) -> Number:
    """Operators of all layers, part by part [1].

    As many as were counted of each part, in proportion to the layer of latent attention, routed
    and shared experts, of which ``operators_per_layer`` are launched. Source: notebooks/latency.md,
    section Between the kernels, and the host.
    """
    return _in_layers(q, n, lambda part: getattr(q, f"{part}_operators"))


@once
def _untimed(q: Inputs, n: Parameters) -> Number:
    """Operators of all layers that no law times, each of which takes a boundary [1].

    Laws of matmuls, cores, experts and collectives contain the boundaries of their own kernels; a
    norm that is fused with the all-reduce before it is none: one before attention, and one before
    a feed-forward network. Source: notebooks/latency.md, section Between the kernels, and the host.
    """
    fused = (q.tensor_parallel > 1) * q.fused_norms
    return _in_layers(q, n, lambda part: _left(q, part)) - fused * layer_halves(q) * _launched(q)


def _left(q: Inputs, part: str) -> Number:
    """Operators counted of a part that no law times [1]."""
    return getattr(q, f"{part}_operators") - getattr(q, f"{part}_timed_operators")


@once
def _launched(q: Inputs) -> Number:
    """Operators that are launched per operator counted [1]."""
    return q.operators_per_layer / q.reference_operators


def _in_layers(q: Inputs, n: Parameters, of: Callable[[str], Number]) -> Number:
    """Operators of all layers, from those counted of each part [1]."""
    hyper = select(q.hc_mult > 1, q.hyper_operators, 0)
    shared = select(q.n_shared_experts > 0, of("shared_expert"), 0)
    return _launched(q) * (
        q.num_hidden_layers * (of("attention") + hyper) + q.indexer_layers * of("indexer")
        + q.first_k_dense_replace * of("dense_mlp")
        + n.moe_layers * on_fullest(q, shared, of("routed_expert")))


def _saved_time(q: Inputs, composition: Composition, boundaries: Number) -> Number:
    """Time that a fused path for a single token saves [s]: at most all boundaries of kernels.

    Source: notebooks/latency.md, section One step.
    """
    if not composition.decoding:
        return 0.0
    saved = minimum(q.single_token_path, boundaries)
    return either((saved > 0) & (composition.tokens <= 1), lambda: saved, lambda: 0.0)


def _second_stream_time(q: Inputs, n: Parameters, batch: Composition, shared: Work, taken: Number
                        ) -> Number:
    """Time of the shared experts that a second CUDA stream can hide [s].

    In a captured step that is all but the time in which they occupy memory or matrix units.

    Source: notebooks/latency.md, section One step.
    """
    if not (batch.decoding and anywhere(q.second_stream_tokens > 0)):
        return 0.0
    most, between = _second_stream(q, n)
    return (batch.tokens <= most) * (taken + between - busy_time(q, "shared_expert", shared))


@once
def _second_stream(q: Inputs, n: Parameters) -> tuple[Number, Number]:
    """Most tokens of a step with a second stream, 0 where there is none [token]; boundaries
    between the kernels of shared experts that no law times, of all layers [s].

    It is for shared experts of a captured step of one batch, on the ranks of all others.

    Source: notebooks/latency.md, section One step.
    """
    alone = q.micro_batches + q.single_batch_overlap + q.shared_expert_ranks <= 1
    return (minimum(q.second_stream_tokens, q.largest_graph) * q.captured
            * (alone & (q.n_shared_experts > 0)),
            q.kernel_boundary * _launched(q) * n.moe_layers * _left(q, "shared_expert"))


def _launched_one_by_one(q: Inputs, n: Parameters, batch: Composition) -> Number:
    """Launches that the host issues for a step: single operators, or one graph per layer [1].

    A decode step that fits the largest captured graph needs none. A step with prompts that is
    captured needs one graph per layer, and the operators of attention, which is not captured;
    with pipeline stages or separate pools nothing of it is captured.

    Source: notebooks/latency.md, section Between the kernels, and the host.
    """
    kernels = _kernels(q, n)
    if batch.decoding:
        return (1 - q.captured * (batch.tokens <= q.largest_graph)) * kernels
    plain = (q.pipeline_parallel <= 1) & (q.separate_pools <= 0)
    in_graphs = q.captured * (batch.tokens <= q.prompt_graph_tokens) * plain
    return either(in_graphs > 0, lambda: minimum(kernels, q.num_hidden_layers + _launched(q) * (
        q.num_hidden_layers * q.attention_operators + q.indexer_layers * q.indexer_operators)),
        lambda: kernels)


def _gather_times(q: Inputs, batch: Composition, columns: Number) -> tuple[Number, Number]:
    """Gathering the logits of a step, and what ranks send in a pass of the drafting layer beside
    the sums of a mean layer [s].

    The latter are the logits of a draft of each request, in decode one row of those of the step; a
    drafter of its own has those of its vocabulary, and adds up after its attention and its MLP.
    Source: notebooks/communication.md, section What tensor parallelism sends in a step.
    """
    payload = columns * q.activation_element_bytes * batch.logit_rows
    g = group(q, q.tensor_parallel)
    logits = all_gather(q, g, payload)
    of_draft = either(batch.decoding & (q.draft_tokens > 0),
                      lambda: payload / (1 + q.draft_tokens), lambda: payload)

    def apart() -> Number:
        hidden = batch.tokens * q.hidden_size * q.activation_element_bytes
        return (all_gather(q, g, of_draft * q.drafter_vocab_size / q.vocab_size)
                + SUMS_OF_DRAFTER * all_reduce(q, g, hidden))

    return logits, either(q.drafter_parameters > 0, apart, lambda: either(
        batch.decoding & (q.draft_tokens > 0), lambda: all_gather(q, g, of_draft),
        lambda: logits))


def _draft_pass_time(q: Inputs, longest: tuple[Number, Number], times: dict[str, Number],
                     sent: Number, core: Number, batches: tuple[Composition, Composition]
                     ) -> Number:
    """A pass of the tokens of a step through the layer that drafts [s].

    A mean layer of the step, of card or host, or as many as a module has that drafts a block, a
    projection before it that joins the hidden state with the embedding of the next token, whole on
    every rank, the head, of which a mean layer has a part already, the gathering of its logits, and
    the host, which waits for each. A drafter of its
    own has a dense layer of its parameters instead, which attends to everything, and a head of its
    own vocabulary.

    Args:
        q: input symbols as attributes.
        longest: time of the step of card or host, and that of the host [s].
        times: of the classes of the step, a micro-batch [s].
        sent: between ranks beside the sums of a mean layer [s].
        core: attention core of a drafter of its own [s].
        batches: composition of the micro-batch, of all heads and of a rank's own.

    Source: notebooks/latency.md, section One step.
    """
    (longer, host), (batch, own), layers = longest, batches, q.num_hidden_layers

    def of_model() -> Number:
        passed = select(q.draft_block > 1, q.num_nextn_predict_layers, 1) / layers
        around = joining_time(q, own.tokens) + times["head"] * (1 - passed) + sent
        return longer * passed + scaled(around, q.micro_batches)

    def apart() -> Number:
        head = times["head"] * q.drafter_vocab_size / q.vocab_size
        alone = drafter_time(q, batch.tokens) + core + head + times["boundary"] / layers + sent
        return maximum(scaled(alone, q.micro_batches), host / layers)

    return either(q.drafter_parameters > 0, apart, of_model) + q.host_gap_per_draft
