"""The front page's picture: a token's time on each card for each model, with its 80% interval."""

from __future__ import annotations

from math import log

from catalogue.messages import Pair, join, messages
from notebooks.pages.deciding.front.standard import CARDS, Served, question, served
from notebooks.pages.deciding.front.table import MILLI, name_of
from notebooks.pages.deciding.goals import device_label
from notebooks.show.drawing import SMALL, WIDTH, Drawing
from notebooks.show.figures import as_csv
from notebooks.show.numbers import fmt_fixed, fmt_int

common = messages("common")
say = messages("pages/deciding/front/picture")

LEFT, RIGHT = 96.0, 372.0  # of the scale; names stand before it, numbers of cards behind
FIRST, ROW, HALF = 44.0, 52.0, 3.0  # of a card's row, and of an interval's height
ENDS, TICKS = (8.0, 200.0), (10, 20, 50, 100, 200)  # of the scale [ms]


def drawn(lang: str) -> Drawing:
    """Cards below each other, models by colour: median, interval, and how many cards."""
    answers, models = served(), question().models
    foot = FIRST + ROW * len(CARDS)
    drawing = Drawing("standard", lang, say("title"), say(
        "about", listed=join(("; ", "；"), map(_told, answers))), height=foot + 34)
    for rank, model in enumerate(models):
        drawing.swatch(LEFT + rank % 2 * WIDTH / 3, 14 + rank // 2 * 18, rank, name_of(model))
    for tick in TICKS:
        drawing.line(_at(tick), FIRST, _at(tick), foot, width=0.4)
        drawing.label(_at(tick), foot + SMALL + 2, f"{tick:g}", "middle", small=True, muted=True)
    drawing.label(RIGHT, foot + 2.4 * SMALL, say("time-per-token"), "end", small=True, muted=True)
    for row, card in enumerate(CARDS):
        base = FIRST + ROW * row
        drawing.line(0, base, WIDTH, base, width=0.4)
        drawing.note(0, base + ROW / 2 - 2, LEFT - 6, device_label(card), muted=False)
        for each in (each for each in answers if each.device == card):
            rank = models.index(each.model)
            at = base + ROW * (rank + 0.7) / (len(models) + 0.4)
            value, low, high = map(_at, _points(each))
            drawing.bar(low, at - HALF, high - low, 2 * HALF, rank, hollow=True)
            drawing.circle(value, at, HALF + 1, rank)
            drawing.label(WIDTH, at + 4, fmt_int(each.choice.devices), "end", small=True,
                          muted=True)
    drawing.numbers = as_csv(
        ["card", "model", "cards", "TPOT [ms]", "low [ms]", "high [ms]"],
        [[device_label(each.device)[0], name_of(each.model)[0], each.choice.devices,
          *_points(each)] for each in answers])
    return drawing


def _points(each: Served) -> tuple[float, float, float]:
    """Median and ends of its time per token [ms]."""
    assert each.cell.best is not None
    value, low, high = (MILLI * point for point in each.cell.best.amounts["tpot"].points)
    return value, low, high


def _at(time: float) -> float:
    """Where a time stands on the scale, which is logarithmic."""
    first, last = ENDS
    return LEFT + (RIGHT - LEFT) * log(time / first) / log(last / first)


def _told(each: Served) -> Pair:
    value, low, high = (fmt_fixed(point, 0) for point in _points(each))
    return say("one", model=name_of(each.model), cards=fmt_int(each.choice.devices),
               card=device_label(each.device), value=value, low=low, high=high)
