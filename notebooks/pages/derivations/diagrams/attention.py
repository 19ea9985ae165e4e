"""Latent attention: from the hidden state to what is cached, and from there to the heads."""

from __future__ import annotations

from collections.abc import Mapping

from catalogue.messages import messages
from notebooks.show.drawing import WIDTH, Drawing
from notebooks.show.figures import CACHE, CHUNKS, COMPUTE
from notebooks.show.numbers import fmt_fixed, fmt_int

say = messages("pages/derivations/diagrams/attention")

EDGE = 10.0
QUERY, CACHED, ROTARY = COMPUTE, CACHE, CHUNKS  # colours


def draw(of: Mapping[str, float], lang: str) -> Drawing:
    """The vectors of a token in one layer, their lengths to scale.

    Args:
        of: sizes of a model with MLA, and ``kv_layer_bytes_per_token``, ``kv_bytes_per_token`` [B].
        lang: language of the labels.
    """
    hidden, query, latent, rotary = (int(of[name]) for name in (
        "hidden_size", "q_lora_rank", "kv_lora_rank", "qk_rope_head_dim"))
    heads, key, value = (int(of[name]) for name in (
        "num_attention_heads", "qk_nope_head_dim", "v_head_dim"))
    expanded = heads * (key + rotary + value)
    drawing = Drawing(
        "latent-attention", lang, say("latent-attention"),
        say("what-is-cached", hidden=f"{hidden:,}", query=f"{query:,}", latent=latent,
            rotary=rotary, heads=heads, expanded=f"{expanded:,}"), height=372)
    scale = (WIDTH - 2 * EDGE) / hidden
    drawing.label(EDGE, 15, say("hidden-state-of-token"))
    drawing.label(WIDTH - EDGE, 15, fmt_int(hidden), "end")
    drawing.bar(EDGE, 21, hidden * scale, 11)
    left, right = EDGE, 205.0
    drawing.arrow(left + 40, 36, left + 40, 66)
    drawing.arrow(right + 24, 36, right + 24, 78)
    drawing.label(left + 48, 55, say("down"), small=True, muted=True)
    drawing.label(right + 32, 55, say("down"), small=True, muted=True)
    drawing.label(left, 82, say("query-latent"))
    drawing.label(left, 98, fmt_int(query))
    drawing.bar(left, 105, query * scale, 11, QUERY)
    _cache(drawing, of, right, scale)
    _heads(drawing, of, expanded)
    out = heads * value
    drawing.arrow(100, 302, 100, 325)
    drawing.arrow(300, 302, 300, 325)
    drawing.label(EDGE, 341, say("outputs-of-heads", heads=heads, value=value,
                                 out=f"{out:,}"), small=True)
    drawing.label(EDGE, 360, say("projected-back-to", hidden=f"{hidden:,}"), small=True,
                  muted=True)
    return drawing


def _cache(drawing: Drawing, of: Mapping[str, float], x: float, scale: float) -> None:
    """The two cached vectors in the frame of the cache."""
    latent, rotary = int(of["kv_lora_rank"]), int(of["qk_rope_head_dim"])
    drawing.bar(x - 10, 80, WIDTH - EDGE - x + 10, 74, CACHED, hollow=True, dashed=True)
    drawing.label(x, 98, say("cached", latent=latent, rotary=rotary), bold=True)
    drawing.bar(x, 105, latent * scale, 11, CACHED)
    drawing.bar(x + latent * scale + 2, 105, rotary * scale, 11, ROTARY)
    drawing.label(x + (latent + rotary) * scale + 9, 115, say("latent-rotary"), small=True)
    layer, whole = (fmt_int(of[name]) for name in ("kv_layer_bytes_per_token",
                                                   "kv_bytes_per_token"))
    drawing.label(x, 131, say("b-per-layer", layer=layer), small=True)
    drawing.label(x, 146, say("b-in-layers", whole=whole,
                              layers=f"{of['num_hidden_layers']:.0f}"), small=True)


def _heads(drawing: Drawing, of: Mapping[str, float], expanded: int) -> None:
    """The two ways from the cache to the heads, side by side."""
    latent, rotary = int(of["kv_lora_rank"]), int(of["qk_rope_head_dim"])
    heads, key, value = (int(of[name]) for name in (
        "num_attention_heads", "qk_nope_head_dim", "v_head_dim"))
    top, width = 196.0, 182.0
    for x, colour in ((EDGE, None), (WIDTH - EDGE - width, CACHED)):
        drawing.bar(x, top, width, 104, colour, hollow=True)
    drawing.arrow(60, 118, 60, top - 2, colour=QUERY)
    drawing.arrow(92, 118, 262, top - 2, colour=QUERY)
    drawing.arrow(235, 156, 150, top - 2, colour=CACHED)
    drawing.arrow(330, 156, 330, top - 2, colour=CACHED)
    drawing.label(EDGE + 8, top + 18, say("expanded"), bold=True)
    times = fmt_fixed(expanded / (latent + rotary), 0)
    y = drawing.note(EDGE + 8, top + 35, width - 14, say("keys-and-values-of-heads", heads=heads,
                                                         key=key, rotary=rotary, value=value,
                                                         expanded=f"{expanded:,}", times=times))
    drawing.label(EDGE + 8, y, say("used-mostly-in-prefill"), small=True)
    x = WIDTH - EDGE - width + 8
    drawing.label(x, top + 18, say("absorbed"), bold=True)
    y = drawing.note(x, top + 35, width - 14, say("queries-attend-to-cache", heads=heads,
                                                  latent=latent, rotary=rotary))
    drawing.label(x, y, say("used-in-decode"), small=True)
