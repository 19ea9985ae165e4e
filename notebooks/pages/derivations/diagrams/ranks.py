"""The memory of one rank, to scale: what is cut among ranks and what each of them has whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import catalogue
from notebooks.derive.formulas.derivation import Derivation
from notebooks.show.drawing import SMALL, WIDTH, Drawing, Text, chosen
from notebooks.show.numbers import fmt_fixed

PLAN, CHANGED = "s0-scenario-1", ("precision=w8a8-int8", "parallelism.expert_parallel=16")
GB = 1e9
TOP, LONG = 44.0, 300.0  # the bar's place and length
SEAM = 0.6  # between two parts
APART = 2 * 1.3 * SMALL  # of two lines of labels
CUT, WHOLE, OTHER = 0, 1, 7  # colours


@dataclass(frozen=True)
class Part:
    """What takes memory on a rank [B], and how it is held there."""

    name: Text
    size: float
    held: Text
    colour: int


def parts(of: Mapping[str, float]) -> list[Part]:
    """What a rank of one stage holds, from inputs and quantities of a deployment.

    Raises ValueError if its weights are not the sum of their parts.
    """
    tensor, sharing = of["tensor_parallel"], of["routed_ranks"] * of["expert_slices"]
    layers, moe, dense = (of[name] for name in (
        "num_hidden_layers", "moe_layers", "first_k_dense_replace"))
    among = {ranks: (f"1 of {ranks:.0f} parts", f"切成 {ranks:.0f} 份")
             for ranks in (tensor, sharing)}
    whole: Text = ("replicated", "每卡一整份")
    norms = layers * of["norm_parameters"] + of["hidden_size"]
    weights = [
        Part(("routed experts", "路由专家"), moe * of["routed_expert_weight_bytes"]
             * of["n_routed_experts"] * of["routed_expert_parameters"] / sharing,
             among[sharing], CUT),
        Part(("attention", "注意力"), layers * of["attention_weight_bytes"]
             * of["attention_divided_parameters"] / tensor, among[tensor], CUT),
        Part(("dense and shared experts", "稠密层与共享专家"), (
            dense * of["dense_mlp_weight_bytes"] * of["dense_mlp_parameters"]
            + moe * of["shared_expert_weight_bytes"] * of["shared_expert_parameters"]) / tensor,
             among[tensor], CUT),
        Part(("embedding and head", "嵌入与输出头"),
             of["embedding_weights"] + of["head_matrix_weights"], among[tensor], CUT),
        Part(("down-projections, router, norms", "降维、路由器、归一化"),
             layers * of["attention_weight_bytes"] * of["attention_replicated_parameters"]
             + of["norm_weight_bytes"] * norms
             + moe * of["router_weight_bytes"] * of["router_parameters"], whole, WHOLE)]
    if abs(sum(part.size for part in weights) / of["weights_per_device"] - 1) > 1e-9:
        raise ValueError("the weights of this rank have parts that the diagram does not know")
    return [*weights,
            Part(("latent cache", "潜向量缓存"), of["kv_per_device"], whole, WHOLE),
            Part(("activations", "激活"), of["activations_per_device"], ("of a step", "一步所需"),
                 OTHER),
            Part(("runtime", "运行时"), of["runtime_reserve"], ("reserved", "预留"), OTHER)]


def planned(derivation: Derivation, lang: str) -> Drawing:
    """A rank of two replicas of eight ranks that share one set of experts in eight bits."""
    chosen = catalogue.load_scenario(PLAN, overrides=CHANGED)
    inputs = chosen.inputs()
    cut = " × ".join(f"{name}{inputs[size]:.0f}" for name, size in (
        ("TP", "tensor_parallel"), ("DP", "data_parallel"), ("EP", "expert_parallel")))
    card, precision = chosen.device.name, chosen.precision.name
    return draw(inputs | derivation.values(inputs, "mla"), (card["en"], card["zh"]),
                (f"{cut}, {precision['en']}", f"{cut}，{precision['zh']}"), lang)


def draw(of: Mapping[str, float], card: Text, plan: Text, lang: str) -> Drawing:
    """One rank's memory from the bottom up, beside the capacity of its card.

    Args:
        of: inputs and quantities of a deployment with MLA, one stage, experts on the cards.
        card, plan: names of the device and of the deployment.
        lang: language of the labels.
    """
    held, capacity = parts(of), of["memory_capacity"]
    used = sum(part.size for part in held)
    copied = sum(part.size for part in held if part.colour == WHOLE)
    plans, cards = ([chosen(text, each) for each in ("en", "zh")] for text in (plan, card))
    listed, listed_zh = (mark.join(f"{chosen(part.name, each)} {_gb(part.size)}" for part in held)
                         for each, mark in (("en", "; "), ("zh", "；")))
    drawing = Drawing(
        "rank-to-scale", lang,
        (f"One rank of {plans[0]}, to scale", f"{plans[1]} 的一个 rank（按比例）"),
        (f"{_gb(used)} of {_gb(capacity)} are taken; {_gb(copied)} are replicated on every rank of "
         f"the tensor-parallel group. From the bottom: {listed}.",
         f"共 {_gb(capacity)}，占用 {_gb(used)}，其中 {_gb(copied)} 是张量并行组内每卡各一整份。"
         f"自下而上：{listed_zh}。"), height=TOP + LONG + 40)
    drawing.label(10, 16, plan, bold=True)
    drawing.label(10, 33, (f"one of its ranks on {cards[0]}",
                           f"其中一个 rank，{cards[1]}"), small=True, muted=True)
    scale, bottom = LONG / max(capacity, used), TOP + LONG
    top = bottom - capacity * scale
    drawing.bar(10, top, 90, capacity * scale, hollow=True)
    places, y = [], bottom
    for part in held:
        y -= part.size * scale
        drawing.bar(10, y + SEAM, 90, part.size * scale - SEAM, part.colour)
        places.append(y + part.size * scale / 2)
    if used < capacity:
        drawing.label(55, top + 15, ("free", "空闲"), "middle", small=True)
        drawing.label(55, top + 29, _gb(capacity - used), "middle", small=True)
    for part, place, label in zip(held, places, _apart(places), strict=True):
        drawing.line(102, place, 128, label - 4, width=0.8)
        drawing.label(132, label, f"{drawing.word(part.name)}", small=True)
        drawing.label(132, label + 1.25 * SMALL, part.held, small=True, muted=True)
        drawing.label(WIDTH - 8, label, _gb(part.size), "end", small=True, bold=True)
    _legend(drawing, bottom + 22)
    return drawing


def _apart(places: Sequence[float]) -> list[float]:
    """Bases of labels near places that go upward, far enough apart to be read."""
    labels, highest = [], TOP + SMALL - APART
    for place in reversed(places):
        highest = max(place + 4, highest + APART)
        labels.append(highest)
    lowest = TOP + LONG + APART - 1.3 * SMALL
    for number, label in reversed(list(enumerate(labels))):
        lowest = labels[number] = min(label, lowest - APART)
    return labels[::-1]


def _legend(drawing: Drawing, y: float) -> None:
    x = 10.0
    for colour, text, step in ((CUT, ("divided among ranks", "在各 rank 间切分"), 148),
                               (WHOLE, ("replicated on every rank", "每个 rank 一整份"), 178),
                               (OTHER, ("other", "其他"), 0)):
        drawing.bar(x, y - 9, 10, 10, colour)
        drawing.label(x + 15, y, text, small=True)
        x += step


def _gb(size: float) -> str:
    return f"{fmt_fixed(size / GB, 2 if size < GB else 1)} GB"
