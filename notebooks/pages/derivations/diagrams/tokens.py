"""Tokens on their way to experts and back: every rank waits for the one with most of them."""

from __future__ import annotations

from collections.abc import Sequence

from catalogue.messages import messages
from notebooks.show.drawing import SMALL, WIDTH, Drawing
from notebooks.show.numbers import fmt_fixed, fmt_int, fmt_percent

common = messages("common")
say = messages("pages/derivations/diagrams/tokens")

LEFT, TOP, BASE = 8.0, 58.0, 290.0
TALL = 120.0  # of the fullest rank
SEEN = 8  # ranks whose tokens are drawn on their way
LOAD, FULLEST = 0, 1  # colours


def draw(loads: Sequence[float], tokens: float, chosen: float, lang: str) -> Drawing:
    """The ranks that share the experts of a layer, and the rows that each of them gets.

    Args:
        loads: of the ranks, the fullest first, over the mean [1].
        tokens: of all ranks together in a step.
        chosen: experts of a token.
        lang: language of the labels.
    """
    ranks, most = len(loads), loads[0]
    rows = tokens * chosen / ranks
    waits = fmt_percent(1 - 1 / most, 0)
    drawing = Drawing(
        "tokens-to-experts", lang, say("tokens-to-experts-and-back"),
        say("where-tokens-go", tokens=fmt_int(round(tokens)), chosen=f"{chosen:.0f}",
            ranks=ranks, rows=fmt_int(round(rows)), fullest=fmt_int(round(rows * most)),
            times=fmt_fixed(most)), height=BASE + 100)
    pitch = (WIDTH - 2 * LEFT) / ranks
    own = fmt_int(round(tokens / ranks))
    drawing.label(LEFT, 15, say("tokens-on-each-of-ranks", own=own, ranks=ranks))
    sent = fmt_int(round(tokens * chosen))
    drawing.label(LEFT, 32, say("experts-each-rows", chosen=f"{chosen:.0f}", sent=sent))
    places = [LEFT + pitch * (number + 0.5) for number in range(ranks)]
    for x in places:
        drawing.bar(x - 0.4 * pitch, TOP - 14, 0.8 * pitch, 8)
    shown = places[::max(1, ranks // SEEN)]
    for x in shown:
        for to_x in shown:
            drawing.line(x, TOP - 4, to_x, TOP + 34, width=0.5)
    drawing.label(WIDTH - LEFT, TOP + 49, common("dispatch"), "end", small=True, muted=True)
    _loads(drawing, loads, places, pitch, rows)
    for x in shown:
        drawing.arrow(x, BASE + 20, x, BASE + 44, width=0.6)
    drawing.label(WIDTH - LEFT, BASE + 15, say("combine-after-fullest",
                                               waits=waits), "end", small=True, muted=True)
    for x in places:
        drawing.bar(x - 0.4 * pitch, BASE + 48, 0.8 * pitch, 8)
    drawing.label(LEFT, BASE + 76, say("back-where-they-came-from"), small=True)
    return drawing


def _loads(drawing: Drawing, loads: Sequence[float], places: Sequence[float], pitch: float,
           rows: float) -> None:
    """A bar for each rank up to its load, what it waits as an outline, the mean as a line."""
    ceiling, scale = BASE - TALL, TALL / loads[0]
    for x, load in zip(places, loads, strict=True):
        full = load == loads[0]
        drawing.bar(x - 0.4 * pitch, ceiling, 0.8 * pitch, TALL, hollow=True)
        drawing.bar(x - 0.4 * pitch, BASE - scale * load, 0.8 * pitch, scale * load,
                    FULLEST if full else LOAD)
    most, mean = fmt_int(round(rows * loads[0])), fmt_int(round(rows))
    drawing.label(LEFT, ceiling - 22, say("most-rows-of-rank", most=most), small=True)
    drawing.label(LEFT, ceiling - 22 + 1.25 * SMALL, say("rows-on-average", mean=mean), small=True)
    drawing.line(LEFT, BASE - scale, WIDTH - LEFT, BASE - scale, width=1.4)
