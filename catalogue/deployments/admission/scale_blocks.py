"""Whether slices of quantised matrices hold whole blocks: engines refuse to load one that does not.

Block and group formats store one scale for several outputs and inputs of a matrix. Tensor
parallelism cuts outputs of some matrices and inputs of others; a scale cannot be cut.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from catalogue import library
from catalogue.deployments.admission.cuts import cut_problem, has_windows
from catalogue.deployments.admission.subject import Cut, Problem, Subject, told
from catalogue.deployments.layout import SLICES
from catalogue.entries.deployments import Format
from catalogue.kernels.checkpoints import checkpoints
from catalogue.kernels.releases import expert_bytes
from catalogue.messages import Pair, join, messages

say = messages("catalogue/deployments/admission/scale-blocks")


@dataclass(frozen=True)
class Slice:
    """What one rank holds of a matrix along the side that is cut.

    Attributes:
        group: class of tensors, as a precision names it.
        name: what is cut, as the model's configuration names it.
        whole, width: elements of the side, and of the slice [1].
        side: ``outputs`` or ``inputs`` of the matrix.
    """

    group: str
    name: str
    whole: int
    width: float
    side: str


def block_problem(subject: Subject, cut: Cut) -> Problem | None:
    """Why no engine loads a precision cut so, which divides the model; None if it loads."""
    broken = _broken(subject, cut)
    if broken is None:
        return None
    piece, block, stored = broken
    asked = cut.slices if piece.group == "routed_expert" else 0
    key, size = (SLICES, asked) if asked else ("tensor_parallel", cut.tensor)
    of = subject.model.id

    def words() -> Pair:
        nearest = _nearest(subject, cut, asked)
        instead: list[tuple[str, int | str]] = [(key, nearest)] if nearest else []
        if not asked and _loads(subject, replace(cut, expert=cut.tensor)):
            instead.append(("expert_parallel", cut.tensor))
        instead += [("precision", name) for name in _published(subject, cut)]
        loads = join(say("or"), [say("degree", key=name, degree=it) for name, it in instead])
        return say("of-cuts-of-into-slices", key=key, size=size, piece=piece.name,
                   whole=piece.whole, of=of, width=f"{piece.width:g}", block=block, stored=stored,
                   instead=loads if instead else say("on-other-cards"))

    return told("blocks", key, words, whole=piece.whole, width=piece.width, block=block)


def _broken(subject: Subject, cut: Cut) -> tuple[Slice, int, str] | None:
    """The first slice with part of a block, the block's extent [1], and the format."""
    formats: dict[str, Format] = {}
    for piece in _slices(subject, cut):
        if piece.width >= piece.whole:
            continue
        stored = getattr(subject.precision.weights, piece.group)
        if stored not in formats:
            formats[stored] = library.load("formats", stored)
        block = _extent(formats[stored], piece)
        if piece.width % block:
            return piece, block, stored
    return None


def _extent(stored: Format, piece: Slice) -> int:
    """Elements that a slice must hold a multiple of [1]."""
    block = stored.block
    if block is None:
        return 1
    if piece.group == "routed_expert" and piece.side == "inputs" and block.expert_inputs:
        return int(block.expert_inputs.value)
    return int(getattr(block, piece.side).value)


def _slices(subject: Subject, cut: Cut) -> Iterator[Slice]:
    """Every matrix that is cut, by the side that is."""
    tp, numbers = cut.tensor, subject.numbers
    yield from _of_attention(subject, tp, "")
    if has_windows(numbers) and subject.model.attention == "gqa":
        yield from _of_attention(subject, tp, "window_")
    inside = int(numbers["moe_intermediate_size"])
    shared = int(numbers["n_shared_experts"]) * inside
    dense = int(numbers["intermediate_size"]) * bool(numbers["first_k_dense_replace"])
    experts = inside * bool(numbers["n_routed_experts"])
    for group, name, whole, ranks in (
            ("dense_mlp", "intermediate_size", dense, tp),
            ("shared_expert", "the shared experts' width", shared, tp),
            ("routed_expert", "moe_intermediate_size", experts, cut.each)):
        for side in ("outputs", "inputs"):
            if whole:
                yield Slice(group, name, whole, whole / ranks, side)


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


def _nearest(subject: Subject, cut: Cut, asked: int) -> int | None:
    """The nearest number of slices, where some were asked for, else tensor-parallel size, of as
    many ranks that loads, if any does."""
    ranks = cut.tensor * cut.data
    sizes = [size for size in range(1, ranks + 1) if ranks % size == 0 and _loads(
        subject, replace(cut, slices=size) if asked
        else replace(cut, tensor=size, data=ranks // size))]
    return min(sizes, key=lambda size: abs(math.log(size / (asked or cut.tensor))), default=None)


def _published(subject: Subject, cut: Cut) -> list[str]:
    """The precision that the model is published in, cut the same way, that comes nearest in bytes;
    nothing where none loads."""
    wanted = expert_bytes(subject.precision)
    found = {of.id: abs(expert_bytes(of) - wanted) for of, _ in checkpoints(subject.model)
             if of.id != subject.precision.id and _loads(replace(subject, precision=of), cut)}
    return [min(found, key=lambda name: (found[name], name))] if found else []


def _loads(subject: Subject, cut: Cut) -> bool:
    """Whether a cut divides the model, into slices with whole blocks."""
    return cut_problem(subject, cut) is None and _broken(subject, cut) is None
