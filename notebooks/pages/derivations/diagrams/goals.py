"""A goal, what its own users and latency leave of it, and what the cards give, to scale."""

from __future__ import annotations

from collections.abc import Sequence

from notebooks.show.drawing import WIDTH, Drawing, Text
from notebooks.show.numbers import fmt_quantity

LEFT, BAR, ROW = 8.0, 12.0, 40.0


def draw(rates: Sequence[tuple[Text, float]], lang: str) -> Drawing:
    """Output rates as bars, one below the other.

    Args:
        rates: what each is and how much [token/s]; the first is the goal.
        lang: language of the labels.
    """
    most = max(rate for _, rate in rates)
    listed = [[f"{name[index]}: {fmt_quantity(rate, 'token/s')}" for name, rate in rates]
              for index in range(2)]
    drawing = Drawing(
        "goal-to-scale", lang, ("A goal and what there is of it, to scale", "目标与实际，按比例"),
        (f"Bars: {'; '.join(listed[0])}.", f"条形：{'；'.join(listed[1])}。"),
        height=len(rates) * ROW)
    for place, (name, rate) in enumerate(rates):
        base = place * ROW + 16
        drawing.label(LEFT, base, name, small=True)
        drawing.label(WIDTH - LEFT, base, fmt_quantity(rate, "token/s"), "end", small=True,
                      bold=True)
        drawing.bar(LEFT, base + 6, (WIDTH - 2 * LEFT) * rate / most, BAR, min(place, 2))
    return drawing
