"""Layouts of a model on cards: notation, and whether they divide model, cache and scales.

Block and group formats store one scale for several outputs and inputs of a matrix. Tensor
parallelism cuts outputs of some matrices and inputs of others; a scale cannot be cut, and engines
refuse to load a slice with part of a block.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from catalogue import library
from catalogue.deployments.physics_inputs import (
    SHARED_CACHE,
    SHARED_RANKS,
    SLICES,
    expert_slices,
    joined_replicas,
)
from catalogue.deployments.profiles import Starts, drafts_in_stages, starting
from catalogue.engine import fitting
from catalogue.entries.deployments import Format, Offload, Precision
from catalogue.entries.hardware import Device, Node
from catalogue.entries.models import Model
from catalogue.kernels import checkpoints, expert_bytes
from catalogue.messages import Pair, Texts, join, sentences

say = sentences("catalogue/deployments/cuts")


SYMBOLS = {
    "tensor": "tensor_parallel", "pipeline": "pipeline_parallel", "data": "data_parallel",
    "expert": "expert_parallel", "slices": "expert_tensor_parallel",
    "spares": "redundant_experts", "shared_ranks": "shared_expert_ranks",
    "context": "decode_context_parallel", "drafts": "draft_tokens"}
"""Attributes of a cut and the input symbols that they are."""


@dataclass(frozen=True)
class Cut:
    """How a model is cut, and what depends on it [1].

    Attributes:
        tensor, pipeline, data, expert: parallel sizes.
        slices: of each routed expert; 0 is what tensor parallelism leaves.
        spares: redundant experts.
        shared_ranks: ranks of the shared expert alone.
        context: ranks over which the cache of a request is dealt.
        drafts: drafted tokens of a step.
        drafter: who drafts them, a place in ``catalogue.entries.models.DRAFTERS``.
    """

    tensor: int = 1
    pipeline: int = 1
    data: int = 1
    expert: int = 1
    slices: int = 0
    spares: int = 0
    shared_ranks: int = 0
    context: int = 1
    drafts: int = 0
    drafter: int = 0

    @property
    def degrees(self) -> tuple[int, int, int, int]:
        """Tensor, pipeline, data and expert parallel size."""
        return self.tensor, self.pipeline, self.data, self.expert

    @property
    def slices_per_expert(self) -> int:
        """Slices of each expert."""
        return expert_slices({"expert_tensor_parallel": self.slices}, self.tensor, self.expert)

    @property
    def joined(self) -> int:
        """Replicas of one server: those that share experts."""
        return int(joined_replicas(self.tensor, self.expert, self.slices))

    @property
    def server(self) -> int:
        """Cards of one server."""
        return self.tensor * self.pipeline * self.joined


@dataclass(frozen=True)
class Subject:
    """A model in a precision on cards, but for how it is cut.

    Attributes:
        model, precision, device, node: entries.
        numbers: input symbols of the model, and switches that a deployment states.
        engine: with its release if one is meant; None for any that runs on the card.
        engines_own: whether only what an engine starts is admitted.
        context: tokens of the longest request; None where nothing says so.
        offload: experts on a host's processors.
        staged_drafts: whether drafts in pipeline stages are admitted; None, where engines draft so.
        staged_groups: whether ranks that share experts may be cut into pipeline stages.
    """

    model: Model
    precision: Precision
    device: Device
    node: Node
    numbers: Mapping[str, float] = field(repr=False)
    engine: str | None = None
    engines_own: bool = True
    context: float | None = None
    offload: Offload | None = None
    staged_drafts: bool | None = None
    staged_groups: bool = True

    @cached_property
    def engines(self) -> tuple[Starts, ...]:
        """Engines that are meant, of which it is known what they start."""
        names = [self.engine] if self.engine else fitting(self.device)
        every = (starting(name, self.device, self.model, drafts=False, precision=self.precision)
                 for name in names)
        return tuple(engine for engine in every if engine.starts)

    @cached_property
    def stages_draft(self) -> bool:
        """Whether drafts are made in pipeline stages."""
        if self.staged_drafts is not None:
            return self.staged_drafts
        return drafts_in_stages(self.device, self.model, self.engine)


@dataclass(frozen=True)
class Problem:
    """Why a deployment is not loaded.

    Attributes:
        kind: of ``KINDS``.
        key: of the deployment, at fault.
        words: one clause in both languages, without file and line; made where it is read.
        numbers: what it rests on, plain data.
    """

    kind: str
    key: str
    words: Callable[[], Pair]
    numbers: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> Texts:
        """The clause, by language."""
        return Texts(self.words())


@dataclass(frozen=True)
class Rule:
    """One rule, and what it looks at: what is equal in all of that is judged alike.

    Attributes:
        kind: of the problem that it finds.
        of: attributes of a cut; none where the cut does not matter.
        by: attributes of a subject.
        problem: what is wrong, if anything.
        alike: what it looks at, as columns that are made of those of ``of``, where that is less.
    """

    kind: str
    of: tuple[str, ...]
    by: tuple[str, ...]
    problem: Callable[[Subject, Cut], Problem | None]
    alike: Callable[[Subject, Mapping[str, Any]], tuple[Any, ...]] | None = None


def problem_of(kind: str, key: str, words: Callable[[], Pair], **numbers: Any) -> Problem:
    """A problem, whose words are made where they are read: most that are found are counted."""
    return Problem(kind, key, words, numbers)


def one_server(cut: Cut) -> str:
    """A server's ranks: attention before the stroke, experts behind it.

    >>> one_server(Cut(8, 1, 2, 8, spares=8)), one_server(Cut(1, 2, 16, 16)), one_server(Cut(8))
    ('TP8/EP8+8', 'TP1×PP2×DP16/EP16', 'TP8')
    """
    text = f"TP{cut.tensor}" + f"×PP{cut.pipeline}" * (cut.pipeline > 1)
    text += f"×DP{cut.joined}" * (cut.joined > 1) + f"/DCP{cut.context}" * (cut.context > 1)
    experts = [f"EP{cut.expert}" + f"+{cut.spares}" * bool(cut.spares)] * (cut.expert > 1)
    sliced = cut.slices > 1 and (cut.expert > 1 or cut.joined > 1)
    experts += [f"ETP{cut.slices}"] * sliced
    return text + f"/{'×'.join(experts)}" * bool(experts)


def written(cut: Cut) -> Texts:
    """A layout in both languages.

    >>> written(Cut(8, 1, 2, 8, spares=8))["en"], written(Cut(8, 1, 2, 16))["en"]
    ('2 replicas of TP8/EP8+8', 'TP8×DP2/EP16')

    Args:
        cut: that divides the model.
    """
    server, count = one_server(cut), cut.data // cut.joined
    if count == 1:
        return Texts((server, server))
    return Texts(say("servers-of", f"{count} replicas of {server}", count=count, server=server))


DIVISION, DEALT = "division", "dealt"
TENSOR, EXPERTS = "tensor_parallel", "expert_parallel"


def cut_problem(subject: Subject, cut: Cut) -> Problem | None:
    """Why a model cannot be cut so, whatever number of cards there is; None if it can."""
    return next(cut_problems(subject, cut), None)


def _undivided(subject: Subject, key: str, parts: int, *names: str) -> Iterator[Problem]:
    """The first symbol of a model that a number of ranks or slices does not divide."""
    wholes = {name: int(subject.numbers[name]) for name in names}
    if name := next((name for name, size in wholes.items() if size % parts), ""):
        total, of = wholes[name], subject.model.id

        def words() -> Pair:
            shared = math.gcd(*wholes.values())
            near = next(size for size in range(parts, 0, -1) if not shared % size)
            return say("of-does-not-divide-of", f"{key} of {parts} does not divide {name} {total} "
                       f"of '{of}', unlike {near}",
                       near=near, key=key, parts=parts, name=name, whole=total, of=of)

        yield problem_of(DIVISION, key, words, parts=parts, whole=total)


def cut_problems(subject: Subject, cut: Cut) -> Iterator[Problem]:
    """Every reason why a model cannot be cut so, the first that is asked first."""
    numbers, of = subject.numbers, subject.model.id
    tp, pp = cut.tensor, cut.pipeline
    yield from _undivided(
        subject, TENSOR, tp, "num_attention_heads", "intermediate_size", "o_groups",
        *(["window_num_attention_heads"] if has_windows(numbers) else []))
    heads = {name: int(numbers[name]) for name in _kv_heads(subject)}
    if name := next((name for name, count in heads.items() if count % tp and tp % count), ""):
        count = heads[name]
        yield problem_of(DIVISION, TENSOR, lambda: say(
            "tensor-parallel-of-neither-divides",
            f"tensor_parallel of {tp} neither divides nor is a multiple of {name} {count} of "
            f"'{of}'", tp=tp, name=name, heads=count, of=of), parts=tp, whole=count)
    if numbers["linear_mamba"]:
        yield from _undivided(
            subject, TENSOR, tp, "linear_num_value_heads",  # a single group is copied to every rank
            *(["linear_num_key_heads"] if numbers["linear_num_key_heads"] > 1 else []))
    layers = int(numbers["num_hidden_layers"])
    if pp > layers:
        yield problem_of(DIVISION, "pipeline_parallel", lambda: say(
            "pipeline-parallel-of-exceeds-layers",
            f"pipeline_parallel of {pp} exceeds the {layers} layers of '{of}'",
            pp=pp, layers=layers, of=of), parts=pp, whole=layers)
    if numbers["n_routed_experts"]:
        yield from expert_problems(subject, cut)
        return
    expert_settings = {EXPERTS: cut.expert > 1, "redundant_experts": cut.spares,
             SHARED_RANKS: cut.shared_ranks}
    if key := next((key for key, value in expert_settings.items() if value), ""):
        expected = int(key == EXPERTS)
        yield problem_of(DIVISION, key, lambda: say(
            "no-experts", f"'{of}' has no experts, expected {expected}", of=of, expected=expected))
    if cut.slices:
        yield problem_of(DIVISION, SLICES, lambda: say(
            "no-slices", f"'{of}' has no experts, expected none", of=of))


def has_windows(numbers: Mapping[str, Any]) -> bool:
    """Whether some layers of a model attend to a window, be their heads the same or others.

    Args:
        numbers: input symbols of the model.
    """
    layers = numbers["num_hidden_layers"] - numbers["linear_layers"]
    return bool(layers > numbers["full_attention_layers"])


def _kv_heads(subject: Subject) -> list[str]:
    """Symbols of the KV heads of all kinds of layers; none of those whose cache is whole."""
    if subject.model.attention != "gqa":
        return []
    windows = ["window_num_key_value_heads"] if has_windows(subject.numbers) else []
    return ["num_key_value_heads", *windows]


def expert_problems(subject: Subject, cut: Cut) -> Iterator[Problem]:
    """Why experts cannot be dealt over the ranks of a cut."""
    tp, _, dp, ep = cut.degrees
    if cut.slices:
        yield from slice_problems(subject, cut)
    elif (tp * dp) % ep or (ep % tp and tp % ep):
        def words() -> Pair:
            sizes = ", ".join(str(size) for size in range(1, tp * dp + 1) if (tp * dp) % size == 0
                              and (size % tp == 0 or tp % size == 0))
            return say("expert-parallel-of-does-not", f"expert_parallel of {ep} does not fit "
                       f"tensor x data parallel = {tp} x {dp}, expected one of {sizes}",
                       ep=ep, tp=tp, dp=dp, sizes=sizes)

        yield problem_of(DIVISION, EXPERTS, words, expert=ep, ranks=tp * dp)
    if cut.shared_ranks:
        yield from shared_expert_problems(subject, cut)
    routed, copies = int(subject.numbers["n_routed_experts"]), cut.spares
    ranks, of = ep - cut.shared_ranks, subject.model.id
    if (routed + copies) % ranks:  # of which some are left, or the problem is told above
        fewest = -(-(routed + copies) // ranks) * ranks - routed  # that can be dealt evenly
        less = f" less {SHARED_RANKS} of {cut.shared_ranks}" if cut.shared_ranks else ""
        all_experts = (f"{routed} routed and {copies} redundant experts" if copies
                       else f"n_routed_experts {routed}")
        yield problem_of(DIVISION, EXPERTS, lambda: say(
            "experts-not-dealt",
            f"expert_parallel of {ep}{less} does not divide {all_experts} of '{of}', "
            f"redundant_experts of {fewest} would",
            expert=ep, routed=routed, copies=copies, fewest=fewest, of=of,
            shared_ranks=SHARED_RANKS, shared=cut.shared_ranks),
            expert=ep, routed=routed, copies=copies, fewest=fewest)
    yield from _undivided(subject, SLICES if cut.slices else TENSOR, cut.slices_per_expert,
                          "moe_intermediate_size")


def slice_problems(subject: Subject, cut: Cut) -> Iterator[Problem]:
    """Why experts cannot be cut into the slices that are asked for."""
    tp, _, dp, ep = cut.degrees
    group = ep * cut.slices
    if (tp * dp) % group or group % tp:
        yield problem_of(DIVISION, SLICES, lambda: say(
            "times-expert-parallel-of-does",
            f"{SLICES} of {cut.slices} times expert_parallel of {ep} does not fit tensor x data "
            f"parallel = {tp} x {dp}, expected a product that divides {tp * dp} and is a multiple "
            f"of {tp}", ep=ep, tp=tp, dp=dp, ranks=tp * dp, key=SLICES, slices=cut.slices),
            slices=cut.slices, expert=ep)
    if cut.slices > 1 and cut.shared_ranks:
        yield problem_of(DIVISION, SLICES, lambda: say(
            "with-is-not-derived-expected",
            f"{SLICES} of {cut.slices} with {SHARED_RANKS} is not derived, expected 1",
            shared_ranks=SHARED_RANKS, key=SLICES, slices=cut.slices))
    if cut.slices > 1 and group > tp and subject.numbers.get("exchange_normal", 0):
        yield problem_of(DIVISION, SLICES, lambda: say(
            "over-data-parallel-ranks-has",
            f"{SLICES} of {cut.slices} over data-parallel ranks has all tokens gathered, expected "
            "1 with exchange_normal", key=SLICES, slices=cut.slices))


def shared_expert_problems(subject: Subject, cut: Cut) -> Iterator[Problem]:
    """Why shared experts cannot have so many ranks of their own."""
    ranks, of = cut.shared_ranks, subject.model.id
    if not subject.numbers["n_shared_experts"]:
        yield problem_of(DIVISION, SHARED_RANKS, lambda: say(
            "has-no-shared-experts-expected", f"'{of}' has no shared experts, expected 0", of=of))
    if cut.shared_ranks >= cut.expert:
        yield problem_of(DIVISION, SHARED_RANKS, lambda: say(
            "leaves-no-rank-of-expert",
            f"{SHARED_RANKS} of {ranks} leaves no rank of expert_parallel {cut.expert} to the "
            f"routed experts, expected fewer than {cut.expert}",
            expert=cut.expert, key=SHARED_RANKS, ranks=ranks))
    if cut.tensor > 1:
        yield problem_of(DIVISION, SHARED_RANKS, lambda: say(
            "with-tensor-parallel-of-is",
            f"{SHARED_RANKS} of {ranks} with tensor_parallel of {cut.tensor} is not derived, "
            "expected 0", tensor=cut.tensor, key=SHARED_RANKS, ranks=ranks))
    if mode := next((mode for mode in ("exchange_normal", "exchange_gathered")
                     if subject.numbers.get(mode)), ""):
        yield problem_of(DIVISION, SHARED_RANKS, lambda: say(
            "is-reached-by-low-latency",
            f"{SHARED_RANKS} of {ranks} is reached by the low-latency exchange, expected 0 with "
            f"{mode}", key=SHARED_RANKS, ranks=ranks, mode=mode))


def context_problem(subject: Subject, cut: Cut) -> Problem | None:
    """Why the cache of a request cannot be dealt over so many ranks; None if it can."""
    tensor, shared, of = cut.tensor, cut.context, subject.model.id
    if shared == 1:
        return None
    if shared > tensor or tensor % shared:
        beyond = shared > tensor
        return problem_of(DEALT, SHARED_CACHE, lambda: say(
            "does-not-divide-tensor-parallel",
            f"{SHARED_CACHE} of {shared} {'exceeds' if beyond else 'does not divide'} "
            f"tensor_parallel {tensor}",
            tensor=tensor, key=SHARED_CACHE, shared=shared, beyond=beyond))
    heads = max((int(subject.numbers[name]) for name in _kv_heads(subject)),
                default=int(subject.numbers["num_key_value_heads"]))
    copies = tensor if subject.model.attention == "mla" else max(1, tensor // heads)
    if copies % shared:
        return problem_of(DEALT, SHARED_CACHE, lambda: say(
            "needs-as-many-copies-of",
            f"{SHARED_CACHE} of {shared} needs as many copies of the cache, but of {heads} "
            f"num_key_value_heads of '{of}' {tensor} tensor-parallel ranks keep {copies}",
            heads=heads, of=of, tensor=tensor, copies=copies, key=SHARED_CACHE, shared=shared))
    if subject.numbers["index_topk"] and subject.model.attention != "mla":
        return problem_of(DEALT, SHARED_CACHE, lambda: say(
            "of-model-with-indexer-is",
            f"{SHARED_CACHE} of {shared} of a model with an indexer is derived for latent "
            f"attention alone, expected 1 for '{of}'", of=of, key=SHARED_CACHE))
    return None


@dataclass(frozen=True)
class Slice:
    """What one rank holds of a matrix along the side that is cut.

    Attributes:
        group: class of tensors, as a precision names it.
        name: what is cut, as the model's configuration names it.
        total, width: elements of the side, and of the slice [1].
        side: ``outputs`` or ``inputs`` of the matrix.
    """

    group: str
    name: str
    total: int
    width: float
    side: str


def block_problem(subject: Subject, cut: Cut) -> Problem | None:
    """Why no engine loads a precision cut so, which divides the model; None if it loads."""
    broken = _broken(subject, cut)
    if broken is None:
        return None
    piece, block, stored = broken
    slices = cut.slices if piece.group == "routed_expert" else 0
    key, size = (SLICES, slices) if slices else ("tensor_parallel", cut.tensor)
    of = subject.model.id

    def words() -> Pair:
        ranks = cut.tensor * cut.data
        sizes = [other for other in range(1, ranks + 1) if ranks % other == 0 and _loads(
            subject, replace(cut, slices=other) if slices
            else replace(cut, tensor=other, data=ranks // other))]
        instead: list[tuple[str, int | str]] = [
            (key, min(sizes, key=lambda other: abs(math.log(other / size))))] if sizes else []
        if not slices and _loads(subject, replace(cut, expert=cut.tensor)):
            instead.append(("expert_parallel", cut.tensor))
        wanted = expert_bytes(subject.precision)
        published = {of.id: abs(expert_bytes(of) - wanted) for of, _ in checkpoints(subject.model)
                     if of.id != subject.precision.id
                     and _loads(replace(subject, precision=of), cut)}
        if published:  # cut the same way, that comes nearest in bytes
            instead.append(("precision", min(published, key=lambda name: (published[name], name))))
        loads = join((" or ", "或 "), [say("degree", f"{name} of {it}", key=name, degree=it)
                                       for name, it in instead])
        best = loads if instead else say("on-other-cards", "on other cards")
        return say("of-cuts-of-into-slices",
                   f"{key} of {size} cuts {piece.name} {piece.total} of '{of}' into slices of "
                   f"{piece.width:g}, which are not whole blocks of {block} of '{stored}', so no "
                   f"engine loads it; the nearest that loads is {best[0]}",
                   key=key, size=size, piece=piece.name, whole=piece.total, of=of,
                   width=f"{piece.width:g}", block=block, stored=stored, instead=best)

    return problem_of("blocks", key, words, whole=piece.total, width=piece.width, block=block)


def _broken(subject: Subject, cut: Cut) -> tuple[Slice, int, str] | None:
    """The first slice with part of a block, the block's extent [1], and the format."""
    formats: dict[str, Format] = {}
    for piece in sliced_matrices(subject, cut):
        if piece.width >= piece.total:
            continue
        stored = getattr(subject.precision.weights, piece.group)
        if stored not in formats:
            formats[stored] = library.load("formats", stored)
        scales = formats[stored].block
        if scales is None:
            continue
        of_experts = scales.expert_inputs if (
            piece.group == "routed_expert" and piece.side == "inputs") else None
        block = int((of_experts or getattr(scales, piece.side)).value)
        if piece.width % block:
            return piece, block, stored
    return None


def sliced_matrices(subject: Subject, cut: Cut) -> Iterator[Slice]:
    """Every matrix that is cut, by the side that is."""
    tp, numbers = cut.tensor, subject.numbers
    yield from _of_attention(subject, tp, "")
    if has_windows(numbers) and subject.model.attention == "gqa":
        yield from _of_attention(subject, tp, "window_")
    inside = int(numbers["moe_intermediate_size"])
    shared = int(numbers["n_shared_experts"]) * inside
    dense = int(numbers["intermediate_size"]) * bool(numbers["first_k_dense_replace"])
    experts = inside * bool(numbers["n_routed_experts"])
    for group, name, total, ranks in (
            ("dense_mlp", "intermediate_size", dense, tp),
            ("shared_expert", "the shared experts' width", shared, tp),
            ("routed_expert", "moe_intermediate_size", experts, cut.slices_per_expert)):
        for side in ("outputs", "inputs"):
            if total:
                yield Slice(group, name, total, total / ranks, side)


def _of_attention(subject: Subject, tp: int, kind: str) -> Iterator[Slice]:
    """Matrices of attention in layers of one kind, ``window_`` or all others."""
    numbers = subject.numbers
    heads = int(numbers[f"{kind}num_attention_heads"])
    if subject.model.attention == "mla":
        values = int(numbers["v_head_dim"])
        keys = int(numbers["qk_nope_head_dim"])
        query, outputs = keys + int(numbers["qk_rope_head_dim"]), {"kv_b_proj": keys + values}
        kv_heads, kv_ranks = heads, tp
    else:
        query = values = int(numbers[f"{kind}head_dim"])
        if subject.model.attention == "gqa":
            values = int(numbers[f"{kind}v_head_dim"])
        outputs = ({"k_proj and v_proj": values} if query == values
                   else {"k_proj": query, "v_proj": values})
        kv_heads = int(numbers[f"{kind}num_key_value_heads"])
        kv_ranks = min(tp, kv_heads)
    yield Slice("attention", "q_proj", heads * query, heads / tp * query, "outputs")
    for name, width in outputs.items():
        yield Slice("attention", name, kv_heads * width, kv_heads / kv_ranks * width, "outputs")
    yield Slice("attention", "o_proj", heads * values, heads / tp * values, "inputs")


def _loads(subject: Subject, cut: Cut) -> bool:
    """Whether a cut divides the model, into slices with whole blocks."""
    return cut_problem(subject, cut) is None and _broken(subject, cut) is None
