"""A goal, what its own users and latency leave of it, and what the cards give, to scale."""

from __future__ import annotations

from collections.abc import Sequence

from catalogue.messages import join, messages
from notebooks.show.drawing import WIDTH, Drawing, Text
from notebooks.show.numbers import fmt_quantity

say = messages("pages/derivations/diagrams/goals")

LEFT, BAR, ROW = 8.0, 12.0, 40.0


def draw(rates: Sequence[tuple[Text, float]], lang: str) -> Drawing:
    """Output rates as bars, one below the other.

    Args:
        rates: what each is and how much [token/s]; the first is the goal.
        lang: language of the labels.
    """
    most = max(rate for _, rate in rates)
    listed = join(("; ", "；"), (say("bar", name=name, rate=fmt_quantity(rate, "token/s"))
                                for name, rate in rates))
    drawing = Drawing(
        "goal-to-scale", lang, say("goal-and-what-there-is"), say("bars", listed=listed),
        height=len(rates) * ROW)
    for place, (name, rate) in enumerate(rates):
        base = place * ROW + 16
        drawing.label(LEFT, base, name, small=True)
        drawing.label(WIDTH - LEFT, base, fmt_quantity(rate, "token/s"), "end", small=True,
                      bold=True)
        drawing.bar(LEFT, base + 6, (WIDTH - 2 * LEFT) * rate / most, BAR, min(place, 2))
    return drawing
