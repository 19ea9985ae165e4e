"""Latent attention: from the hidden state to what is cached, and from there to the heads."""

from __future__ import annotations

from collections.abc import Mapping

from notebooks.show.drawing import WIDTH, Drawing
from notebooks.show.numbers import fmt_fixed, fmt_int

EDGE = 10.0
QUERY, CACHED, ROTARY = 0, 1, 2  # colours


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
        "latent-attention", lang, ("Latent attention, one token in one layer",
                                   "潜在注意力：一个 token 的一层"),
        (f"The hidden state of {hidden:,} elements is projected down to a query latent of "
         f"{query:,} and to a latent of {latent} with {rotary} rotary elements beside it. Only the "
         f"latter two are cached. From them {heads} heads either expand {expanded:,} elements of "
         "keys and values, or they multiply the up-projection into the query and attend to the "
         "cache itself.",
         f"{hidden:,} 维隐藏状态降维成 {query:,} 维查询潜向量，以及 {latent} 维潜向量和 "
         f"{rotary} 维旋转部分，只有后两者进缓存。{heads} 个头要么由它展开成 {expanded:,} 个"
         "键值元素，要么把升维矩阵乘进查询、直接在缓存上做注意力。"), height=372)
    scale = (WIDTH - 2 * EDGE) / hidden
    drawing.label(EDGE, 15, ("hidden state of a token", "一个 token 的隐藏状态"))
    drawing.label(WIDTH - EDGE, 15, fmt_int(hidden), "end")
    drawing.bar(EDGE, 21, hidden * scale, 11)
    left, right = EDGE, 205.0
    drawing.arrow(left + 40, 36, left + 40, 66)
    drawing.arrow(right + 24, 36, right + 24, 78)
    drawing.label(left + 48, 55, ("down", "降维"), small=True, muted=True)
    drawing.label(right + 32, 55, ("down", "降维"), small=True, muted=True)
    drawing.label(left, 82, ("query latent", "查询潜向量"))
    drawing.label(left, 98, fmt_int(query))
    drawing.bar(left, 105, query * scale, 11, QUERY)
    _cache(drawing, of, right, scale)
    _heads(drawing, of, expanded)
    out = heads * value
    drawing.arrow(100, 302, 100, 325)
    drawing.arrow(300, 302, 300, 325)
    drawing.label(EDGE, 341, (f"outputs of the heads, {heads} × {value} = {out:,}",
                              f"各头输出，{heads} × {value} = {out:,}"), small=True)
    drawing.label(EDGE, 360, (f"projected back to {hidden:,}", f"投影回 {hidden:,} 维"), small=True,
                  muted=True)
    return drawing


def _cache(drawing: Drawing, of: Mapping[str, float], x: float, scale: float) -> None:
    """The two cached vectors in the frame of the cache."""
    latent, rotary = int(of["kv_lora_rank"]), int(of["qk_rope_head_dim"])
    drawing.bar(x - 10, 80, WIDTH - EDGE - x + 10, 74, CACHED, hollow=True, dashed=True)
    drawing.label(x, 98, (f"cached: {latent} + {rotary}", f"缓存：{latent} + {rotary}"), bold=True)
    drawing.bar(x, 105, latent * scale, 11, CACHED)
    drawing.bar(x + latent * scale + 2, 105, rotary * scale, 11, ROTARY)
    drawing.label(x + (latent + rotary) * scale + 9, 115, ("latent, rotary", "潜向量、旋转部分"),
                  small=True)
    layer, whole = (fmt_int(of[name]) for name in ("kv_layer_bytes_per_token",
                                                   "kv_bytes_per_token"))
    drawing.label(x, 131, (f"{layer} B per layer,", f"每层 {layer} B，"), small=True)
    drawing.label(x, 146, (f"{whole} B in {of['num_hidden_layers']:.0f} layers",
                           f"{of['num_hidden_layers']:.0f} 层共 {whole} B"), small=True)


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
    drawing.label(EDGE + 8, top + 18, ("expanded", "展开"), bold=True)
    times = fmt_fixed(expanded / (latent + rotary), 0)
    y = drawing.note(EDGE + 8, top + 35, width - 14, (
        f"{heads} keys of {key} + {rotary} and values of {value}: {expanded:,} elements, "
        f"{times} times the cache",
        f"潜向量升维成 {heads} 组键（{key} + {rotary}）与值（{value}）：共 {expanded:,} 个元素，"
        f"是缓存的 {times} 倍"))
    drawing.label(EDGE + 8, y, ("used mostly in prefill", "多用于预填充"), small=True)
    x = WIDTH - EDGE - width + 8
    drawing.label(x, top + 18, ("absorbed", "吸收"), bold=True)
    y = drawing.note(x, top + 35, width - 14, (
        f"{heads} queries of {latent} + {rotary} attend to the cache itself; the up-projections "
        "multiply query and output",
        f"升维矩阵改为乘在查询与输出上；{heads} 个 {latent} + {rotary} 维的查询直接对缓存做注意力"))
    drawing.label(x, y, ("used in decode", "用于解码"), small=True)
