"""The memory of one rank, to scale: what is cut among ranks and what each of them has whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import catalogue
from catalogue.messages import join, messages
from notebooks.derive.formulas.derivation import Derivation
from notebooks.show.drawing import SMALL, WIDTH, Drawing, Text
from notebooks.show.figures import CHUNKS, HOST, READ
from notebooks.show.numbers import fmt_fixed

common = messages("common")
say = messages("pages/derivations/diagrams/ranks")

PLAN, CHANGED = "s0-scenario-1", ("precision=w8a8-int8", "parallelism.expert_parallel=16")
GB = 1e9
TOP, LONG = 44.0, 300.0  # the bar's place and length
SEAM = 0.6  # between two parts
APART = 2 * 1.3 * SMALL  # of two lines of labels
CUT, WHOLE, OTHER = READ, CHUNKS, HOST  # colours


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
    among = {ranks: say("of-parts", ranks=f"{ranks:.0f}")
             for ranks in (tensor, sharing)}
    whole: Text = say("replicated")
    norms = layers * of["norm_parameters"] + of["hidden_size"]
    weights = [
        Part(common("routed-experts"), moe * of["routed_expert_weight_bytes"]
             * of["n_routed_experts"] * of["routed_expert_parameters"] / sharing,
             among[sharing], CUT),
        Part(common("attention"), layers * of["attention_weight_bytes"]
             * of["attention_divided_parameters"] / tensor, among[tensor], CUT),
        Part(say("dense-and-shared-experts"), (
            dense * of["dense_mlp_weight_bytes"] * of["dense_mlp_parameters"]
            + moe * of["shared_expert_weight_bytes"] * of["shared_expert_parameters"]) / tensor,
             among[tensor], CUT),
        Part(say("embedding-and-head"),
             of["embedding_weights"] + of["head_matrix_weights"], among[tensor], CUT),
        Part(say("down-projections-router-norms"),
             layers * of["attention_weight_bytes"] * of["attention_replicated_parameters"]
             + of["norm_weight_bytes"] * norms
             + moe * of["router_weight_bytes"] * of["router_parameters"], whole, WHOLE)]
    if abs(sum(part.size for part in weights) / of["weights_per_device"] - 1) > 1e-9:
        raise ValueError("the weights of this rank have parts that the diagram does not know")
    return [*weights, Part(say("latent-cache"), of["kv_per_device"], whole, WHOLE),
            Part(common("activations"), of["activations_per_device"], say("of-step"), OTHER),
            Part(say("runtime"), of["working_memory"] - of["activations_per_device"],
                 say("reserved"), OTHER)]


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
    listed = join(("; ", "；"), (say("size-of-part", part=part.name, size=_gb(part.size))
                                for part in held))
    drawing = Drawing(
        "rank-to-scale", lang, say("one-rank-of-to-scale", plan=plan),
        say("what-is-taken", used=_gb(used), capacity=_gb(capacity),
            copied=_gb(copied), listed=listed), height=TOP + LONG + 40)
    drawing.label(10, 16, plan, bold=True)
    drawing.label(10, 33, say("one-of-its-ranks-on", card=card), small=True, muted=True)
    scale, bottom = LONG / max(capacity, used), TOP + LONG
    top = bottom - capacity * scale
    drawing.bar(10, top, 90, capacity * scale, hollow=True)
    places, y = [], bottom
    for part in held:
        y -= part.size * scale
        drawing.bar(10, y + SEAM, 90, part.size * scale - SEAM, part.colour)
        places.append(y + part.size * scale / 2)
    if used < capacity:
        drawing.label(55, top + 15, say("free"), "middle", small=True)
        drawing.label(55, top + 29, _gb(capacity - used), "middle", small=True)
    for part, place, label in zip(held, places, _apart(places), strict=True):
        drawing.line(102, place, 128, label - 4, width=0.8)
        drawing.label(132, label, f"{drawing.word(part.name)}", small=True)
        drawing.label(132, label + 1.25 * SMALL, part.held, small=True, muted=True)
        drawing.label(WIDTH - 8, label, _gb(part.size), "end", small=True, bold=True)
    for x, colour, text in ((10, CUT, say("divided-among-ranks")),
                            (158, WHOLE, say("replicated-on-every-rank")),
                            (336, OTHER, say("other"))):
        drawing.swatch(x, bottom + 22, colour, text)
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


def _gb(size: float) -> str:
    return f"{fmt_fixed(size / GB, 2 if size < GB else 1)} GB"
