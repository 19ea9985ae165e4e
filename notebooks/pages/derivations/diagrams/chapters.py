"""The chapters of the book, and which of them hands its formulas to which."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

from catalogue.messages import join, messages
from notebooks.derive.formulas.exported import Formula
from notebooks.show.drawing import SMALL, WIDTH, Drawing, Text

say = messages("pages/derivations/diagrams/chapters")

NAMES: dict[str, tuple[Text, Text]] = {  # in the order of reading, with what each is about
    "architecture": (say("parameters"), say("counted-from-shapes")),
    "memory": (say("memory"), say("what-card-holds-and-reads")),
    "compute": (say("compute"), say("operations-of-step")),
    "communication": (say("communication"), say("what-cards-send")),
    "latency": (say("latency"), say("how-long-step-takes")),
    "throughput": (say("throughput"), say("tokens-per-second")),
    "serving": (say("serving"), say("what-user-waits-for"))}
AFTER: dict[str, Text] = {  # what rests on all of them
    "search": say("deciding"), "service": say("operating"), "validation": say("evidence")}
LEFT, WIDE, TALL, STEP, TOP = 92.0, 196.0, 40.0, 54.0, 26.0
BEND = 15.0  # of a curve, per chapter that it passes
ONWARD, BACK = 0, 1  # colours


def uses(formulas: Mapping[str, Formula]) -> Counter[tuple[str, str]]:
    """How often formulas of one chapter take a quantity that another one derives."""
    home = {formula.name: formula.notebook for formula in formulas.values()}
    return Counter((home[name], formula.notebook) for formula in formulas.values()
                   for name in formula.needs
                   if name in home and home[name] != formula.notebook)


def draw(formulas: Mapping[str, Formula], lang: str) -> Drawing:
    """A box per chapter, which leads to it, and curves as wide as there is use.

    Args:
        formulas: all that are exported, by key.
        lang: language of the labels.
    """
    counted = {pair: count for pair, count in uses(formulas).items()
               if pair[0] in NAMES and pair[1] in NAMES}
    most = Counter(counted).most_common(3)
    listed = join(("; ", "; "), (say("use", of=NAMES[of][0], to=NAMES[to][0], count=count)
                                 for (of, to), count in most))
    bottom = TOP + STEP * len(NAMES)
    drawing = Drawing(
        "chapter-map", lang, say("what-feeds-what"),
        say("how-chapters-depend", chapters=len(NAMES), uses=listed), height=bottom + 112)
    drawing.label(LEFT + WIDE + 8, 13, say("used-further-on"), small=True, colour=ONWARD)
    drawing.label(4, 13, say("used-further-up"), small=True, colour=BACK)
    rows = {name: TOP + STEP * number for number, name in enumerate(NAMES)}
    widest = max(counted.values())
    for (of, to), count in sorted(counted.items(), key=lambda item: -item[1]):
        _curve(drawing, rows[of], rows[to], 6 * math.sqrt(count / widest))
    for name, (title, about) in NAMES.items():
        with drawing.link(f"chapters/{name}.html"):
            drawing.box(LEFT, rows[name], WIDE, TALL, [title, about])
    drawing.arrow(LEFT + WIDE / 2, bottom - 8, LEFT + WIDE / 2, bottom + 10)
    drawing.label(LEFT + WIDE / 2, bottom + 26, say(
        "computed-second-time"), "middle",
        small=True)
    for number, (name, title) in enumerate(AFTER.items()):
        with drawing.link(f"chapters/{name}.html"):
            drawing.box(8 + 130 * number, bottom + 40, 122, 34, [title], 2)
    drawing.label(WIDTH / 2, bottom + 90 + SMALL / 2, say("each-box-is-link"),
                  "middle", small=True, muted=True)
    return drawing


def _curve(drawing: Drawing, of: float, to: float, width: float) -> None:
    """From a chapter to one below it on the right, to one above it on the left."""
    passed = abs(to - of) / STEP
    if to > of:
        x, bend, colour = LEFT + WIDE, BEND * passed + 8, ONWARD
    else:
        x, bend, colour = LEFT, -BEND * passed - 8, BACK
    start = of + TALL * (0.68 if to > of else 0.32)
    end = to + TALL * (0.32 if to > of else 0.68)
    drawing.curve(x, start, x, end, bend, width, colour)
