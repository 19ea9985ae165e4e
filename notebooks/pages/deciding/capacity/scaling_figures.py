"""The pictures of the chapter on growth. They draw what they are given, in SI units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from catalogue.messages import messages
from notebooks.show import figures

common = messages("common")
say = messages("pages/deciding/capacity/scaling-figures")

Line = tuple[Mapping[str, str], Mapping[int, float], Mapping[int, float], Mapping[int, float]]


def growth(lines: Sequence[Line], lang: str) -> Figure:
    """Output tokens per second and card against cards.

    Args:
        lines: name of the card; by cards, one pool, two pools, and two pools within servers.
        lang: of the words.
    """
    zh = lang == "zh"
    drawing, axes = figures.axes(height=4.2)
    top, sizes = 0.0, set[int]()
    for place, (name, one, two, narrow) in enumerate(lines):
        color = figures.PALETTE[place]
        for points, style, width in ((one, "-", 2.0), (narrow, ":", 1.6), (two, "--", 2.4)):
            if points:
                axes.plot(list(points), list(points.values()), style, color=color, lw=width,
                          marker="o", ms=3.5)
                top, sizes = max(top, *points.values()), sizes | set(points)
        end = two or one
        if end:
            axes.annotate(name[lang], (max(end), end[max(end)]), xytext=(0, 7),
                          textcoords="offset points", ha="right", fontsize=8.5, color=color)
    for style, words in (("-", say("one-pool")), (":", say("two-pools-experts-in-one")),
                         ("--", say("two-pools"))):
        axes.plot([], [], style, color=figures.INK, label=words[zh])
    axes.set(xscale="log", ylim=(0, 1.15 * top),
             xlabel=common("number-of-cards")[zh], ylabel=say("output-tokens-s-per-card")[zh])
    axes.set_xticks(sorted(sizes), [f"{size}" for size in sorted(sizes)], fontsize=8.5)
    axes.minorticks_off()
    axes.legend(loc="upper left", fontsize=8.5)
    return drawing


def failing(lines: Sequence[tuple[tuple[str, str], Sequence[int], Sequence[float]]],
            lang: str) -> Figure:
    """Throughput that is there against servers of a group.

    Args:
        lines: name; servers of a group, share of the throughput.
        lang: of the words.
    """
    zh = lang == "zh"
    drawing, axes = figures.axes(height=3.4)
    for place, (name, servers, share) in enumerate(lines):
        axes.plot(servers, [100 * each for each in share], marker="o", ms=4,
                  color=figures.PALETTE[place], label=name[zh])
    axes.set(xscale="log", xlabel=say("servers-that-serve-as-one")[zh],
             ylabel=say("throughput-that-is-there")[zh])
    ticks = sorted({size for _, servers, _ in lines for size in servers})
    axes.set_xticks(ticks, [f"{tick}" for tick in ticks])
    axes.minorticks_off()
    axes.legend(loc="lower left", fontsize=8.5)
    return drawing
