"""Whether slices of quantised matrices hold whole blocks: engines refuse to load one that does not.

Block and group formats store one scale for several outputs and inputs of a matrix. Tensor
parallelism cuts outputs of some matrices and inputs of others; a scale cannot be cut.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from catalogue import library
from catalogue.deployments.layout import SLICES, cut_problem, expert_slices
from catalogue.entries.deployments import Format, Precision


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


def block_problem(numbers: Mapping[str, float], attention: str, model: str, precision: Precision,
                  cut: tuple[int, int, int, int]) -> tuple[str, str] | None:
    """Why no engine loads a model in a precision cut so, and the degree at fault; None if it loads.

    Args:
        numbers: input symbols of the model.
        attention: ``mla`` or ``gqa``.
        model: what messages call it.
        precision: how each class of tensors is stored.
        cut: tensor, pipeline, data and expert parallel size, which divide the model.
    """
    broken = _broken(numbers, attention, precision, cut)
    if broken is None:
        return None
    piece, block, stored = broken
    tp, pp, dp, _ = cut
    asked = int(numbers.get(SLICES, 0)) if piece.group == "routed_expert" else 0
    key, size = (SLICES, asked) if asked else ("tensor_parallel", tp)
    nearest = _nearest(numbers, attention, precision, cut, asked)
    instead = [f"{key} of {nearest}"] if nearest else []
    if not asked and _loads(numbers, attention, precision, (tp, pp, dp, tp)):
        instead.append(f"expert_parallel of {tp}")
    return key, (
        f"{key} of {size} cuts {piece.name} {piece.whole} of '{model}' into slices of "
        f"{piece.width:g}, which are not whole blocks of {block} of '{stored}', so no engine "
        f"loads it; the nearest that loads is {' or '.join(instead) or 'on other cards'}")


def _broken(numbers: Mapping[str, float], attention: str, precision: Precision,
            cut: tuple[int, int, int, int]) -> tuple[Slice, int, str] | None:
    """The first slice with part of a block, the block's extent [1], and the format."""
    formats: dict[str, Format] = {}
    for piece in _slices(numbers, attention, cut):
        if piece.width >= piece.whole:
            continue
        stored = getattr(precision.weights, piece.group)
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


def _slices(numbers: Mapping[str, float], attention: str, cut: tuple[int, int, int, int],
            ) -> Iterator[Slice]:
    """Every matrix that is cut, by the side that is."""
    tp, _, _, ep = cut
    heads = int(numbers["num_attention_heads"])
    if attention == "mla":
        values = int(numbers["v_head_dim"])
        keys = int(numbers["qk_nope_head_dim"])
        query, outputs = keys + int(numbers["qk_rope_head_dim"]), {"kv_b_proj": keys + values}
        kv_heads, kv_ranks = heads, tp
    else:
        query = values = int(numbers["head_dim"])
        outputs = {"k_proj and v_proj": values}
        kv_heads = int(numbers["num_key_value_heads"])
        kv_ranks = min(tp, kv_heads)
    yield Slice("attention", "q_proj", heads * query, heads / tp * query, "outputs")
    for name, width in outputs.items():
        yield Slice("attention", name, kv_heads * width, kv_heads / kv_ranks * width, "outputs")
    yield Slice("attention", "o_proj", heads * values, heads / tp * values, "inputs")
    inside = int(numbers["moe_intermediate_size"])
    shared = int(numbers["n_shared_experts"]) * inside
    dense = int(numbers["intermediate_size"]) * bool(numbers["first_k_dense_replace"])
    experts = inside * bool(numbers["n_routed_experts"])
    for group, name, whole, ranks in (
            ("dense_mlp", "intermediate_size", dense, tp),
            ("shared_expert", "the shared experts' width", shared, tp),
            ("routed_expert", "moe_intermediate_size", experts, expert_slices(numbers, tp, ep))):
        for side in ("outputs", "inputs"):
            if whole:
                yield Slice(group, name, whole, whole / ranks, side)


def _nearest(numbers: Mapping[str, float], attention: str, precision: Precision,
             cut: tuple[int, int, int, int], asked: int) -> int | None:
    """The nearest number of slices, where some were asked for, else tensor-parallel size, of as
    many ranks that loads, if any does."""
    tp, pp, dp, ep = cut
    ranks = tp * dp

    def loads(size: int) -> bool:
        if asked:
            return _loads({**numbers, SLICES: size}, attention, precision, cut)
        return _loads(numbers, attention, precision, (size, pp, ranks // size, ep))

    sizes = [size for size in range(1, ranks + 1) if ranks % size == 0 and loads(size)]
    return min(sizes, key=lambda size: abs(math.log(size / (asked or tp))), default=None)


def _loads(numbers: Mapping[str, float], attention: str, precision: Precision,
           cut: tuple[int, int, int, int]) -> bool:
    """Whether a cut divides the model, into slices with whole blocks."""
    return (cut_problem(numbers, attention, "", cut) is None
            and _broken(numbers, attention, precision, cut) is None)
