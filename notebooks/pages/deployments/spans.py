"""A quantity of several deployments side by side: derived with its interval, and documented."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import catalogue
from catalogue.messages import messages
from catalogue.reading import words
from notebooks.pages.catalogue.tables.deployments import quantity_label
from notebooks.pages.deployments.answers import Deployed
from notebooks.pages.deployments.families import quantity, values
from notebooks.pages.deployments.views import derived
from notebooks.show import figures
from notebooks.show.drawing import LEADING, SIZE, SMALL, WIDTH, Drawing, broken
from notebooks.show.figures import log_steps

say = messages("pages/deployments/spans")

MARGIN, LINE, ROW = 12.0, 22.0, 36.0
DERIVED, DOCUMENTED = 0, 1  # their colours
CROSS, TICK = 4.0, 6.0
AROUND = 1.25  # room at both ends of the axis
TITLE = say("derived-and-documented")


def picture(family: Sequence[Deployed]) -> Callable[[str], Drawing]:
    """Derived (point and 80% interval) and documented (crosses) values, a line per deployment."""
    name = quantity(family)
    unit = catalogue.symbols()[name].unit
    shown, factor = {"s": ("ms", 1e3), "B": ("GB", 1e-9)}.get(unit, (unit, 1.0))
    ours = [derived(deployed, name) for deployed in family]
    spans = [tuple(factor * end for end in (span.low, span.value, span.high)) if span else ()
             for span in ours]
    claims = [[factor * value for value in values(deployed, name)] for deployed in family]
    label = quantity_label(name)
    heading = f"{label[0]} ({shown})", f"{label[1]}（{shown}）"
    about = say("points-are-derived-lines-their", heading=heading)

    def draw(lang: str) -> Drawing:
        titles = [deployed.scenario.title[lang] for deployed in family]
        lines = [broken(words.revealed(title), WIDTH - 2 * MARGIN) for title in titles]
        bottom = LINE + sum(ROW + (len(of) - 1) * LEADING * SIZE for of in lines)
        drawing = Drawing("side-by-side", lang, TITLE, about, height=bottom + 3 * SMALL)
        drawing.numbers = figures.as_csv(("name", "series", "low", drawing.word(heading), "high"),
                                         _rows(titles, spans, claims))
        _legend(drawing, any(claims))
        at, ticks = _scale([end for row in (*spans, *claims) for end in row])
        for tick in ticks:
            drawing.label(at(tick), bottom + SMALL, f"{tick:,g}", "middle", small=True, muted=True)
        drawing.label(WIDTH / 2, bottom + 2.3 * SMALL, heading, "middle", small=True)
        y = LINE
        for of, span, claimed in zip(lines, spans, claims, strict=True):
            for line in of:
                y += LEADING * SIZE
                drawing.label(MARGIN, y - 3, line)
            y += ROW - LEADING * SIZE - TICK
            for x in map(at, ticks):
                drawing.line(x, y - TICK, x, y + TICK, 0.5)
            if span:
                low, value, high = map(at, span)
                drawing.line(low, y, high, y, 3, DERIVED)
                drawing.circle(value, y, 4.5, DERIVED)
            for value in map(at, claimed):
                _cross(drawing, value, y)
            y += TICK
        return drawing

    return draw


def _legend(drawing: Drawing, claimed: bool) -> None:
    drawing.line(MARGIN, 8, MARGIN + 22, 8, 3, DERIVED)
    drawing.circle(MARGIN + 11, 8, 4.5, DERIVED)
    drawing.label(MARGIN + 28, 12, say("derived-interval"), small=True)
    if claimed:
        _cross(drawing, MARGIN + 190, 8)
        drawing.label(MARGIN + 200, 12, say("documented"), small=True)


def _cross(drawing: Drawing, x: float, y: float) -> None:
    for way in (-CROSS, CROSS):
        drawing.line(x - CROSS, y - way, x + CROSS, y + way, 2.2, DOCUMENTED)


def _scale(ends: Sequence[float]) -> tuple[Callable[[float], float], list[float]]:
    """Where a value lies on a logarithmic axis that holds all ends, and the axis's ticks."""
    ends = [end for end in ends if end > 0]
    low, high = min(ends, default=1.0) / AROUND, max(ends, default=10.0) * AROUND

    def at(value: float) -> float:
        share = math.log(max(value, low) / low) / math.log(high / low)
        return MARGIN + (WIDTH - 2 * MARGIN) * share

    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [step * 10.0 ** power for power in decades
             for step in log_steps(low, high)]
    return at, [tick for tick in ticks if low <= tick <= high]


def _rows(titles: Sequence[str], spans: Sequence[Sequence[float]],
          claims: Sequence[Sequence[float]]) -> Iterator[tuple[Any, ...]]:
    """Ends and value of each deployment's interval, and what is documented of it."""
    for title, span, claimed in zip(titles, spans, claims, strict=True):
        if span:
            yield title, "derived", *span
        yield from ((title, "documented", "", value, "") for value in claimed)
