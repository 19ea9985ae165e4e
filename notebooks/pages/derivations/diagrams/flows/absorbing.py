"""Latent attention in its two orders of multiplication: keys and values expanded, or absorbed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from catalogue.messages import Pair, messages
from notebooks.show.drawing import WIDTH, Drawing
from notebooks.show.figures import CACHE, COMPUTE, READ
from notebooks.show.numbers import fmt_bytes, fmt_int

say = messages("pages/derivations/diagrams/flows/absorbing")

FLOP = 2  # of a multiply-add
TALL, GAP, BLOCK = 88.0, 16.0, 186.0  # of a box, between boxes, and of one order


@dataclass(frozen=True)
class Orders:
    """What either order takes in a layer.

    Attributes:
        read: per cached position [element].
        score: operations of a query at a cached position, all heads [FLOP].
        expand: operations per cached position before any score, all heads [FLOP].
    """

    read: int
    score: int
    expand: int


def orders(of: Mapping[str, float]) -> dict[str, Orders]:
    """Expanded and absorbed, from the sizes of a model with MLA."""
    heads, key, rotary, value, latent = (int(of[name]) for name in (
        "num_attention_heads", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim",
        "kv_lora_rank"))
    entry = heads * (key + rotary + value)
    return {"expanded": Orders(entry, FLOP * entry, FLOP * heads * latent * (key + value)),
            "absorbed": Orders(latent + rotary, FLOP * heads * (2 * latent + rotary), 0)}


def draw(of: Mapping[str, float], kept: tuple[str, float], lang: str) -> Drawing:
    """Both chains with their shapes, one above the other, and what each takes below it.

    Args:
        of: sizes of a model with MLA.
        kept: format of the cache and of expanded keys and values: name, size of an element [B].
        lang: language of the labels.
    """
    heads, key, rotary, value, latent = (fmt_int(of[name]) for name in (
        "num_attention_heads", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim",
        "kv_lora_rank"))
    cached = f"{latent} + {rotary}"
    chains: dict[str, tuple[tuple[Pair, str, int], ...]] = {
        "expanded": (
            (say("latent"), cached, CACHE),
            (say("times-up"), f"{heads} × ({key} + {value}) × {latent}", READ),
            (say("keys-values"), f"{heads} × ({key} + {rotary} + {value})", CACHE),
            (say("scores"), f"{heads} × ({key} + {rotary} + {value})", COMPUTE)),
        "absorbed": (
            (say("query-times-up"), f"{heads} × {key} × {latent}", READ),
            (say("latent"), cached, CACHE),
            (say("scores-on-latent"), f"{heads} × ({latent} + {rotary} + {latent})", COMPUTE),
            (say("out-times-up"), f"{heads} × {latent} × {value}", READ))}
    told = orders(of)
    drawing = Drawing("absorbing", lang, say("title"), say(
        "about", expanded=fmt_int(told["expanded"].read), absorbed=fmt_int(told["absorbed"].read)),
        height=2 * BLOCK)
    heading = {"expanded": say("expanded"), "absorbed": say("absorbed")}
    for row, (name, chain) in enumerate(chains.items()):
        top = row * BLOCK
        drawing.label(0, top + 15, heading[name], bold=True)
        wide = (WIDTH - (len(chain) - 1) * GAP) / len(chain)
        for place, (words, shape, colour) in enumerate(chain):
            left = place * (wide + GAP)
            drawing.bar(left, top + 24, wide, TALL, colour, hollow=True)
            base = drawing.note(left + 5, top + 38, wide - 8, words, muted=False)
            drawing.note(left + 5, base + 1, wide - 8, shape)
            if place:
                drawing.arrow(left - GAP + 2, top + 24 + TALL / 2, left - 2, top + 24 + TALL / 2)
        took = told[name]
        base = drawing.note(0, top + TALL + 40, WIDTH, say(
            "takes", read=fmt_bytes(took.read * kept[1], "B"), format=kept[0],
            score=fmt_int(took.score)), muted=False)
        drawing.note(0, base, WIDTH, say("expands", expand=fmt_int(took.expand))
                     if took.expand else say("expands-nothing"))
    return drawing
