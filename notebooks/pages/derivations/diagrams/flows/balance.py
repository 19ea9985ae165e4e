"""Load of every rank before and after experts are balanced, sorted, on one scale."""

from __future__ import annotations

from collections.abc import Sequence

from catalogue.messages import messages
from notebooks.show.drawing import WIDTH, Drawing, Text
from notebooks.show.numbers import fmt_fixed

say = messages("pages/derivations/diagrams/flows/balance")

LEFT, TOP, TALL, PITCH = 8.0, 30.0, 96.0, 148.0  # of a panel; from one to the next
LOAD, FULLEST = 0, 1  # colours


def draw(before: Sequence[float], after: Sequence[float], spares: int, lang: str) -> Drawing:
    """Two panels of bars, a bar per rank, the most loaded rank first and marked.

    Args:
        before, after: loads of the ranks over their mean [1], sorted from the largest.
        spares: redundant experts that the balanced placement has.
        lang: language of the labels.
    """
    most = [fmt_fixed(loads[0]) for loads in (before, after)]
    drawing = Drawing(
        "experts-balanced", lang, say("experts-before-and-after"),
        say("what-balancing-gains", ranks=len(before), before=most[0], after=most[1],
            spares=spares), height=TOP + 2 * PITCH - 20)
    scale = TALL / max(before[0], after[0])
    _panel(drawing, before, TOP, scale, say("index-order", times=most[0]))
    _panel(drawing, after, TOP + PITCH, scale, say("placed-by-load", times=most[1], spares=spares))
    return drawing


def _panel(drawing: Drawing, loads: Sequence[float], top: float, scale: float,
           title: Text) -> None:
    """The loads of one placement, and their mean as a line."""
    pitch, base = (WIDTH - 2 * LEFT) / len(loads), top + TALL
    drawing.label(LEFT, top - 10, title, small=True)
    for place, load in enumerate(loads):
        drawing.bar(LEFT + pitch * (place + 0.1), base - scale * load, 0.8 * pitch, scale * load,
                    LOAD if place else FULLEST)
    drawing.line(LEFT, base - scale, WIDTH - LEFT, base - scale, width=1.4)
    drawing.label(WIDTH - LEFT, base + 16, say("line-is-mean"), "end", small=True, muted=True)
