"""The pictures of the chapters on goals. They draw results that they are given."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator

from calc.physics.breakdown import BANDWIDTH, CACHE, COMPUTE, HOST, LINKS, OVERHEAD
from catalogue.messages import LANGUAGES, Pair, messages
from notebooks.pages.catalogue.tables.deployments import RESOURCES
from notebooks.show import figures

common = messages("common")
say = messages("pages/deciding/goal-figures")

SHAPES = {BANDWIDTH: "o", CACHE: "v", COMPUTE: "s", LINKS: "^", HOST: "P", OVERHEAD: "D"}
MILLI = 1e3
SMALL, LARGE = 4.5, 8.0  # of a mark: of one deployment, and of several that cannot be told apart
ROOM = 5.0  # of the axis right of the longest line, for names, as a factor
APART = 0.062  # least distance of two labels, of the height of the axes


@dataclass(frozen=True)
class Mark:
    """A deployment, or several that their intervals cannot tell apart.

    Attributes:
        pace: time per token [s].
        rate: throughput per card [token/s].
        binds: resource that binds the largest part of a decode step.
        alike: deployments.
        paces, rates: 80% intervals.
    """

    pace: float
    rate: float
    binds: str
    alike: int
    paces: tuple[float, float]
    rates: tuple[float, float]


@dataclass(frozen=True)
class Line:
    """The front of one device.

    Attributes:
        device: its identifier.
        name: its name in both languages.
        kind: cards that are drawn in one colour, of which the best bears its name.
        marks: of its front, few.
        every: time per token [s] and throughput per card [token/s] of all of its front.
    """

    device: str
    name: Pair
    kind: str
    marks: Sequence[Mark]
    every: Sequence[tuple[float, float]]


def front(lines: Sequence[Line], limit: float | None, notes: Mapping[float, str], currency: str,
          lang: str) -> Figure:
    """Throughput per card against time per token: a line per device, a shape by what binds.

    Args:
        lines: the best device first.
        limit: on the time per token [s], if there is one.
        notes: what a million tokens cost at most, above a thin line at a time per token [s].
        currency: of that.
        lang: language of the words.
    """
    drawing, axes = figures.axes(height=5.2)
    place = LANGUAGES.index(lang)
    kinds = list(dict.fromkeys(line.kind for line in lines))
    colours = dict(zip(kinds, itertools.cycle(figures.COLOURS), strict=False))
    for number, line in enumerate(lines):
        first = next(other for other in lines if other.kind == line.kind) is line
        _line(axes, line, colours[line.kind], first, number == 0)
    reached = np.array([point for line in lines for point in line.every]) * (MILLI, 1)
    low, high = reached.min(axis=0), reached.max(axis=0)
    axes.set(xscale="log", yscale="log", xlim=(low[0] / 1.15, high[0] * ROOM),
             ylim=(low[1] / 1.4, high[1] * 1.9),
             xlabel=common("time-per-output-token-ms")[place],
             ylabel=say("throughput-per-card-token-s")[place])
    for axis, floor, ceiling in ((axes.xaxis, low[0], high[0]), (axes.yaxis, low[1], high[1])):
        figures.log_ticks(axis, floor, ceiling)
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=12))
    for pace, note in notes.items():
        axes.axvline(MILLI * pace, color=figures.INK, lw=0.8, ls=":")
        axes.text(MILLI * pace, 1.01, note, ha="center", va="bottom", fontsize=8.5,
                  transform=axes.get_xaxis_transform())
    if notes:
        words = say("cheapest-per-tokens", currency=currency)
        axes.text(MILLI * min(notes) / 1.12, 1.01, words[place], ha="right", va="bottom",
                  fontsize=8.5, transform=axes.get_xaxis_transform())
    if limit is not None:
        axes.axvline(MILLI * limit, color=figures.INK, lw=1.4)
        word = common("limit")[place]
        axes.text(MILLI * limit, 0.995, f"{word} ", rotation=90, ha="right", va="top",
                  fontsize=8.5, transform=axes.get_xaxis_transform())
    _names(axes, [line for line in lines if next(
        other for other in lines if other.kind == line.kind) is line], colours, place)
    used = [name for name in SHAPES if any(
        mark.binds == name for line in lines for mark in line.marks)]
    axes.legend(handles=[Line2D([], [], marker=SHAPES[name], ls="", color=figures.INK, ms=5,
                                label=RESOURCES[name][place]) for name in used],
                title=say("what-binds-decode-step")[place], fontsize=8.5,
                title_fontsize=8.5, loc="upper center", bbox_to_anchor=(0.5, -0.13),
                ncols=max(1, len(used)))
    return drawing


def _line(axes: Axes, line: Line, colour: str, named: bool, best: bool) -> None:
    points = np.array(line.every) * (MILLI, 1)
    axes.plot(points[:, 0], points[:, 1], color=colour, lw=1.8 if named else 0.8,
              alpha=1.0 if named else 0.55)
    for mark in line.marks:
        if best:
            axes.plot([MILLI * mark.pace] * 2, mark.rates, color=colour, lw=0.9, alpha=0.5)
            axes.plot([MILLI * end for end in mark.paces], [mark.rate] * 2, color=colour, lw=0.9,
                      alpha=0.5)
        axes.plot(MILLI * mark.pace, mark.rate, SHAPES[mark.binds], color=colour,
                  ms=LARGE if mark.alike > 1 else SMALL, alpha=1.0 if named else 0.55)


def _names(axes: Axes, lines: Sequence[Line], colours: Mapping[str, str], place: int) -> None:
    """Names at the right ends of lines, pushed apart where they would overlap."""
    low, high = np.log(axes.get_ylim())
    ends = sorted(((np.log(line.every[-1][1]) - low) / (high - low), line) for line in lines)
    heights: list[float] = []
    for height, _ in ends:
        heights.append(max(height, heights[-1] + APART) if heights else height)
    overflow = max(0.0, (heights[-1] if heights else 0.0) - 0.99)
    for (_, line), height in zip(ends, heights, strict=True):
        axes.annotate(line.name[place], (MILLI * line.every[-1][0], line.every[-1][1]),
                      xytext=(0.995, height - overflow), textcoords="axes fraction", ha="right",
                      va="center", fontsize=8.5, color=colours[line.kind],
                      arrowprops={"arrowstyle": "-", "color": colours[line.kind], "lw": 0.5,
                                  "alpha": 0.6})
