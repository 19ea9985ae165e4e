"""The pictures of the chapter on a day of users. They draw what they are given, in SI units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from catalogue.messages import messages
from catalogue.planning.loads import HOURS
from notebooks.show import figures

common = messages("common")
say = messages("pages/deciding/capacity/day-figures")


def replicas(rates: Sequence[float], needed: Sequence[int], most: float, bought: int,
             lang: str) -> Figure:
    """Arrivals by the hour, and the rate that the replicas of each hour take.

    Args:
        rates: of each hour [request/s].
        needed: replicas of each hour [1].
        most: rate that one of them takes [request/s].
        bought: replicas that there are [1].
        lang: of the words.
    """
    zh = int(lang == "zh")
    drawing, axes = figures.axes(height=3.6)
    edges = np.arange(HOURS + 1)
    axes.stairs(rates, edges, fill=True, color=figures.PALETTE[0], alpha=0.55,
                label=say("arrivals")[zh])
    axes.stairs([each * most for each in needed], edges, color=figures.PALETTE[1], lw=2,
                baseline=None, label=say("what-replicas-of-hour-take")[zh])
    axes.axhline(bought * most, color=figures.INK, lw=1.2, ls="--",
                 label=say("replicas-all-day", bought=bought)[zh])
    for hour, count in enumerate(needed):
        axes.annotate(f"{count}", (hour + 0.5, count * most), xytext=(0, 2), ha="center",
                      va="bottom", textcoords="offset points", fontsize=8,
                      color=figures.PALETTE[1])
    axes.set(xlim=(0, HOURS), ylim=(0, 1.25 * bought * most), xticks=range(0, HOURS + 1, 3),
             xlabel=say("hour")[zh], ylabel=common("request-s")[zh])
    axes.legend(loc="upper left", fontsize=8.5, ncols=3)
    return drawing


def loads(days: Sequence[tuple[Mapping[str, str], Sequence[float]]], lang: str) -> Figure:
    """Days of several services over their own mean."""
    drawing, axes = figures.axes(height=3.0)
    for place, (name, rates) in enumerate(days):
        mean = sum(rates) / len(rates)
        axes.stairs([rate / mean for rate in rates], np.arange(HOURS + 1), baseline=None, lw=2,
                    color=figures.PALETTE[place], label=name[lang])
    axes.axhline(1, color=figures.INK, lw=0.8)
    axes.set(xlim=(0, HOURS), ylim=(0, 2.9), xticks=range(0, HOURS + 1, 3),
             xlabel=say("hour")[lang == "zh"], ylabel=say("rate-over-day-mean")[lang == "zh"])
    axes.legend(loc="upper left", fontsize=8)
    return drawing


def hits(tokens: Sequence[float], share: Sequence[float], tiers: Sequence[tuple[str, float, float]],
         simulated: Sequence[tuple[float, float]], names: Mapping[str, tuple[str, str]],
         lang: str) -> Figure:
    """Share of prompt tokens found, over how many tokens are kept, with the tiers marked.

    Args:
        tokens, share: the closed form.
        tiers: name, tokens up to it, share.
        simulated: tokens and share of runs.
        names: of the tiers in both languages.
        lang: of the words.
    """
    zh = lang == "zh"
    drawing, axes = figures.axes(height=3.4)
    axes.plot(tokens, np.array(share) * 100, color=figures.PALETTE[0],
              label=common("closed-form")[zh])
    if simulated:
        axes.plot([at for at, _ in simulated], [100 * each for _, each in simulated], "o", ms=5,
                  color=figures.PALETTE[1], label=common("simulated")[zh])
    for place, (name, at, each) in enumerate(tiers):
        axes.axvline(at, color=figures.INK, lw=0.9, ls=":")
        axes.annotate(f"{names[name][zh]}: {100 * each:.0f}%", (at, 100 * each), fontsize=8.5,
                      xytext=(-6, -16 - 13 * place), textcoords="offset points", ha="right")
    axes.set(xscale="log", ylim=(0, 100),
             xlabel=say("tokens-kept-per-replica")[zh], ylabel=say("prompt-tokens-found")[zh])
    figures.log_ticks(axes.xaxis, min(tokens), max(tokens))
    axes.legend(loc="upper left", fontsize=8.5)
    return drawing
