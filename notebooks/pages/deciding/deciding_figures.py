"""The pictures of the chapter on what decides. They draw results that they are given."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

from matplotlib.figure import Figure

from calc.sensitivity.tornado import OWN, Tornado
from catalogue.messages import Pair, messages
from notebooks.show import figures

say = messages("pages/deciding/deciding-figures")

BARS = 10
WIDEST = (46, 22)  # letters of a line of a label
TALL = 0.62  # of a bar
MARGIN = 0.08  # of the axis, for what is printed beside a bar


def tornado(found: Tornado, labels: Mapping[str, Pair], ends: Mapping[str, Pair], lang: int,
            scale: float, axis: Pair) -> Figure:
    """A bar per input, the widest on top: where the quantity goes at either end of its range.

    Args:
        found: what moves the quantity.
        labels: of the inputs.
        ends: of their ranges, low and high as they are printed.
        lang: 0 for English, 1 for Chinese.
        scale: what the axis counts per SI unit.
        axis: name of the quantity with the unit of the axis.
    """
    bars = found.bars[:BARS]
    drawing, axes = figures.axes(height=1.1 + 0.44 * len(bars))
    reached = [end * scale for bar in bars for end in (bar.at_low, bar.at_high)]
    span = max(reached) - min(reached)
    low_colour, high_colour = figures.PALETTE[0], figures.PALETTE[1]
    for place, bar in enumerate(bars):
        own = bar.name == OWN
        for end, value, colour in ((ends[bar.name][0], bar.at_low, low_colour),
                                   (ends[bar.name][1], bar.at_high, high_colour)):
            left, right = sorted((value * scale, found.value * scale))
            axes.barh(-place, right - left, left=left, height=TALL,
                      color=figures.PALETTE[-1] if own else colour, alpha=0.55 if own else 1.0)
            if value != found.value:
                outside = value < found.value
                axes.annotate(end, (value * scale, -place), fontsize=7.5, va="center",
                              xytext=(-3 if outside else 3, 0), textcoords="offset points",
                              ha="right" if outside else "left",
                              color=figures.INK if own else colour)
    axes.axvline(found.value * scale, color=figures.INK, lw=1)
    axes.set_yticks([-place for place in range(len(bars))],
                    [_lines(labels[bar.name][lang], lang) for bar in bars], fontsize=8.5)
    axes.set(xlabel=axis[lang], xlim=(min(reached) - MARGIN * span, max(reached) + MARGIN * span))
    axes.grid(axis="y", visible=False)
    for colour, text in ((low_colour, say("input-at-its-low-end")),
                         (high_colour, say("input-at-its-high-end"))):
        axes.barh(0, 0, color=colour, label=text[lang])
    axes.legend(loc="lower right", fontsize=8)
    return drawing


def _lines(text: str, lang: int) -> str:
    """A label in lines; Chinese breaks anywhere."""
    if lang == 0:
        return "\n".join(textwrap.wrap(text, WIDEST[lang]))
    wide = WIDEST[lang]
    return "\n".join(text[start:start + wide] for start in range(0, len(text), wide))
