"""The pictures of the page on errors. They draw results that they are given, in SI units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator

from catalogue.messages import Pair, messages
from notebooks.pages.validation.error_tables import (
    APART,
    METRICS,
    UNCALIBRATED,
    Errors,
    Result,
    per_row,
    row_name,
    title,
    uncalibrated,
)
from notebooks.show import figures
from notebooks.show.drawing import broken

common = messages("common")
say = messages("pages/validation/error-figures")

LABEL = 25.0  # width of a line of a title, in sizes of its letters


def panels(count: int, height: float) -> tuple[Figure, list[Axes]]:
    """Axes side by side, in the style of the book."""
    figures.style()
    drawing = Figure(figsize=(figures.WIDTH, height))
    return drawing, list(np.ravel(drawing.subplots(1, count)))


def scatter(axes: Axes, found: Errors, rows: Mapping[str, np.ndarray], lang: int,
            title: str, shade: Literal["concurrency", "input_tokens"] = "concurrency") -> None:
    """Predicted against measured on logarithmic scales, with 80% intervals; the worst row named."""
    row, measured, centre, low, high = per_row(found)
    groups = rows[shade][row]
    ends = min(measured.min(), low.min()) / 1.15, max(measured.max(), high.max()) * 1.15
    axes.plot(ends, ends, color=figures.INK, lw=0.8)
    for place, value in enumerate(np.unique(groups)):
        of = groups == value
        axes.errorbar(measured[of], centre[of], yerr=[(centre - low)[of], (high - centre)[of]],
                      fmt="o", ms=3.5, lw=1, color=figures.PALETTE[place % len(figures.PALETTE)],
                      label=f"{int(value)}")
    last = int(np.flatnonzero(row == found.row[np.abs(found.errors).argmax()])[0])
    below = centre[last] < measured[last]
    axes.annotate(row_name(rows, int(row[last]))[lang], (measured[last], centre[last]),
                  xytext=(6, -14) if below else (-6, 12), textcoords="offset points", fontsize=8,
                  ha="left" if below and measured[last] < np.sqrt(ends[0] * ends[1]) else "right",
                  arrowprops={"arrowstyle": "-", "color": figures.INK, "lw": 0.6})
    axes.set(xscale="log", yscale="log", xlim=ends, ylim=ends, title=title,
             xlabel=say("measured-s")[lang], ylabel=say("predicted-s")[lang])
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(lambda value, _: f"{value:.10g}")


def taken_apart(steps: Sequence[tuple[Pair, Mapping[str, float], float]],
                names: Mapping[str, Pair], lang: int) -> Figure:
    """Predicted times per token as stacked bars, the measured one beside each.

    Args:
        steps: label, parts [s] and measured time [s] of each.
        names: of the parts, in the order in which they are stacked.
        lang: 0 for English, 1 for Chinese.
    """
    drawing, axes = figures.axes(height=0.9 + 0.85 * len(steps))
    named = {name for name in names if max(parts[name] for _, parts, _ in steps) > 5e-4}
    for place, (_, parts, measured) in enumerate(steps):
        at, left = -place, 0.0
        for number, name in enumerate(names):
            part = parts[name] * 1e3
            axes.barh(at + 0.17, part, left=left, height=0.36, color=figures.PALETTE[number],
                      label=names[name][lang] if name in named and not place else None)
            if part > 3.4:
                axes.text(left + part / 2, at + 0.17, f"{part:.1f}", ha="center", va="center",
                          fontsize=8, color="white")
            left += part
        axes.barh(at - 0.17, measured * 1e3, height=0.2, color=figures.INK,
                  label=common("measured")[lang] if not place else None)
        axes.text(measured * 1e3, at - 0.17, f" {measured * 1e3:.1f}", va="center", fontsize=8)
        axes.text(left, at + 0.17, f" {left:.1f}", va="center", fontsize=8)
    axes.set(yticks=[-place for place in range(len(steps))],
             yticklabels=[label[lang] for label, _, _ in steps], xlabel=say("ms-per-token")[lang])
    axes.grid(visible=False, axis="y")
    axes.legend(loc="upper right", fontsize=8.5)
    return drawing


def all_systems(results: Sequence[Result], rooflines: Sequence[Result], lang: int) -> Figure:
    """Predicted over measured of every system: median and extent, and the roofline's median."""
    metrics = ("tpot", "ttft")
    both = [*uncalibrated(results, *metrics), *uncalibrated(results, *metrics, apart=True)]
    names = _by_ratio(both)
    drawing, cells = panels(len(metrics), 1.2 + 0.34 * len(names))
    plain = {(result.system, result.metric): result for result in rooflines
             if result.protocol == UNCALIBRATED}
    for axes, metric in zip(cells, metrics, strict=True):
        axes.axvline(1, color=figures.INK, lw=0.8)
        for result in both:
            if result.metric != metric:
                continue
            at, found = -names.index(result.system), result.predictions
            ratio = found.predicted / found.measured
            bottom = plain[result.system, metric].predictions
            colour = figures.PALETTE[1 if APART in result.system else 0]
            axes.plot([ratio.min(), ratio.max()], [at, at], color=colour, lw=1.2)
            axes.plot(np.median(ratio), at, "o", ms=5, color=colour)
            axes.plot(np.median(bottom.predicted / bottom.measured), at, "|", ms=8, mew=1.8,
                      color=figures.PALETTE[3])
        axes.set(xscale="log", xlim=(0.015, 4), ylim=(0.7 - len(names), 0.7),
                 yticks=[-place for place in range(len(names))],
                 yticklabels=[titled(name, lang) for name in names] if axes is cells[0] else [],
                 title=METRICS[metric][lang], xlabel=say("predicted-over-measured")[lang])
        axes.tick_params(axis="y", labelsize=8)
        axes.set_xticks([0.03, 0.1, 0.3, 1, 3], ["0.03", "0.1", "0.3", "1", "3"])
    words = (say("median-extent-of-rows"), ("DeepSeek-V3.2", "DeepSeek-V3.2"), common("roofline"))
    styles: tuple[dict[str, Any], ...] = (
        {"marker": "o", "color": figures.PALETTE[0]}, {"marker": "o", "color": figures.PALETTE[1]},
        {"marker": "|", "ls": "", "ms": 8, "mew": 1.8, "color": figures.PALETTE[3]})
    drawing.legend(handles=[Line2D([], [], label=word[lang], **style)
                            for word, style in zip(words, styles, strict=True)],
                   loc="outside upper center", ncols=3, fontsize=8.5)
    return drawing


def _by_ratio(results: Sequence[Result]) -> list[str]:
    """Systems from the most underestimated on, by time per token if it was measured."""
    ratios: dict[str, float] = {}
    for result in results:  # of the time per token first
        found = result.predictions
        ratios.setdefault(result.system, float(np.median(found.predicted / found.measured)))
    return sorted(ratios, key=lambda name: (APART in name, ratios[name]))


def titled(system: str, lang: int) -> str:
    """The title of a measured system in lines that a figure has room for."""
    return "\n".join(broken(title(system)[lang], LABEL, 1))
