"""Experts on three levels, and how wide the way from each of them is, to scale."""

from __future__ import annotations

from collections.abc import Mapping

from catalogue.messages import join, messages
from notebooks.show.drawing import SMALL, WIDTH, Drawing, Text
from notebooks.show.figures import HOST, LINKS, READ
from notebooks.show.numbers import fmt_bytes, fmt_fixed, fmt_percent, fmt_sig

say = messages("pages/derivations/diagrams/levels")

TB, GB = 1e12, 1e9
LEFT, WIDE = 8.0, 84.0  # the widest way
BOX, GAP, LONG = 58.0, 44.0, 240.0
NEAR, BESIDE, FAR = READ, HOST, LINKS  # colours


def draw(of: Mapping[str, float], plan: Text, lang: str) -> Drawing:
    """The matrix unit of a card, and below it the levels from which an expert comes.

    Args:
        of: inputs and quantities of a deployment that loads experts from host and storage.
        plan: name of the deployment.
        lang: language of the labels.
    """
    away = of["fetched_share"]
    shares = (1 - away, away * (1 - of["stored_share"]), away * of["stored_share"])
    ways = (of["memory_bandwidth"], of["host_link_bandwidth"], of["storage_bandwidth"])
    times = (of["expert_read_time"], of["expert_link_time"], of["expert_storage_time"])
    names: tuple[Text, ...] = (say("memory-of-cards"), say("memory-of-host"), say("storage"))
    listed = join(("; ", "；"), (
        say("level", name=name, rate=_rate(way), share=fmt_percent(share, 0), time=_time(time))
        for name, way, share, time in zip(names, ways, shares, times, strict=True)))
    drawing = Drawing(
        "levels-of-experts", lang, say("experts-on-three-levels"),
        say("what-levels-are", listed=listed), height=3 * (BOX + GAP) + 96)
    drawing.label(LEFT, 14, plan, small=True, bold=True)
    drawing.box(LEFT, 26, LONG, 30, [say("matrix-unit-of-card")])
    y, middle = 26 + 30.0, LEFT + 60
    for name, way, share, time, colour in zip(names, ways, shares, times, (NEAR, BESIDE, FAR),
                                              strict=True):
        drawing.bar(middle - WIDE * way / ways[0] / 2, y + 1, WIDE * way / ways[0], GAP - 2, colour)
        rate = _rate(way) if name == names[-1] else say("rate-of-card", rate=_rate(way))
        drawing.label(LEFT + 128, y + 19, rate, bold=True)
        drawing.label(LEFT + 128, y + 36, say("one-expert", time=_time(time)), small=True)
        y += GAP
        drawing.bar(LEFT, y, WIDTH - 2 * LEFT, BOX, colour, hollow=True)
        drawing.bar(LEFT, y + BOX - 8, (WIDTH - 2 * LEFT) * share, 8, colour)
        drawing.label(LEFT + 8, y + 18, name)
        held = (of["host_expert_weights"], of["storage_expert_weights"])
        size = dict(zip(names[1:], held, strict=True)).get(name)
        drawing.label(LEFT + 8, y + 18 + 1.35 * SMALL, say(
            "of-experts", part=fmt_percent(share, 0), stored=bool(size),
            size=fmt_bytes(size, "GB", 0) if size else ""), small=True, muted=True)
        y += BOX
    drawing.note(LEFT, y + 20, WIDTH - 2 * LEFT, say("how-ways-are-drawn"))
    return drawing


def _rate(rate: float) -> str:
    return f"{fmt_sig(rate / TB)} TB/s" if rate >= TB else f"{fmt_sig(rate / GB)} GB/s"


def _time(time: float) -> str:
    return f"{fmt_sig(1e6 * time)} µs" if time < 1e-3 else f"{fmt_fixed(1e3 * time, 1)} ms"
