"""Figures of a page as SVG elements, in the book's style and the colour of the text."""

from __future__ import annotations

import functools
import io
import re
from html import escape
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import font_manager
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.mathtext import math_to_image
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from calc.uncertainty import Amount
from catalogue import ROOT
from catalogue.reading.units import human

STYLE = ROOT.parent / "notebooks" / "show"
FONTS = {"Workbench Sans": "workbench-sans.ttf", "Workbench Sans SC": "workbench-sans-sc.ttf"}
INK, LINE, MARK = "#565c65", "#3f86c6", "#d9772b"  # the first becomes that of the text
SIZE = (3.5, 2.5)  # inches
LETTERS = 12.0  # of a formula [pt]
DECADE = 10.0  # ratio of an axis' ends from which powers of ten are enough
OWN_IDS = re.compile(r' id="[A-Za-z0-9]+_\d+"')  # of elements that nothing refers to


@functools.cache
def style() -> Any:
    """Settings of Matplotlib, with the fonts of Latin and Chinese letters."""
    known = set(font_manager.fontManager.get_font_names())
    for name in FONTS.keys() - known:
        font_manager.fontManager.addfont(str(STYLE / "fonts" / FONTS[name]))
    inks = ("axes.edgecolor", "axes.labelcolor", "grid.color", "xtick.color", "ytick.color",
            "text.color")
    return {**mpl.rc_params_from_file(STYLE / "figures.mplstyle", use_default_template=False),
            "font.family": [*FONTS, "DejaVu Sans"], **dict.fromkeys(inks, INK)}


def load_curve(counts: np.ndarray, curve: Amount, point: tuple[float, Amount], most: float | None,
               across: str, name: str, lang: str) -> str:
    """A quantity over the requests in flight: its line and interval, and the deployment's point.

    Args:
        counts: requests in flight, shape (n,) [request].
        curve: the quantity, shape (n,).
        point: the deployment's requests in flight, and the quantity with them.
        most: requests that fit at once, where they are in sight [request].
        across, name: of the axis, and of the quantity.
        lang: ``en`` or ``zh``.
    """
    at, answer = point
    with mpl.rc_context(style()):
        figure = Figure(figsize=SIZE)
        axes = figure.subplots()
        axes.plot(counts, curve.value, color=LINE)
        axes.fill_between(counts, curve.low, curve.high, color=LINE, alpha=0.18, lw=0)
        axes.errorbar([at], [answer.value], [[answer.value - answer.low],
                                             [answer.high - answer.value]],
                      fmt="o", color=MARK, capsize=3)
        if most is not None:
            axes.axvline(most, color=INK, lw=1, ls="--")
        axes.set(xscale="log", yscale="log", xlabel=across)
        axes.set_title(name, loc="left", fontsize=10)
        for axis, unit in ((axes.xaxis, "1"), (axes.yaxis, curve.unit)):
            low, high = axis.get_view_interval()
            axis.set_major_locator(LogLocator(
                subs=(1,) if high > DECADE**3 * low else (1, 2, 5), numticks=12))
            axis.set_major_formatter(FuncFormatter(
                lambda value, _, unit=unit: f"{value:,g}" if unit == "1"
                else human(value, unit, lang)))
            axis.set_minor_locator(NullLocator())
        canvas, buffer = FigureCanvasSVG(figure), io.StringIO()
        canvas.print_svg(buffer, metadata={"Date": None})
    return element(buffer.getvalue(), name)


def formula(latex: str, name: str) -> str:
    """A formula in the LaTeX that Matplotlib takes.

    Raises ValueError for what it does not take.
    """
    buffer = io.BytesIO()
    with mpl.rc_context(style()):
        math_to_image(f"${latex}$", buffer, FontProperties(size=LETTERS), 72, "svg", color=INK)
    return element(buffer.getvalue().decode(), name)


def element(drawn: str, name: str) -> str:
    """A drawn file as an element with a name for readers who cannot see it."""
    svg = OWN_IDS.sub("", drawn[drawn.index("<svg"):]).replace(INK, "currentColor")
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    return svg.replace("<svg ", f'<svg role="img" aria-label="{escape(name)}" ', 1)
