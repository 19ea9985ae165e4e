"""One style for every figure: transparent, mid-tone, Chinese and Latin, the same bytes each run.

Colours are of middle lightness so that a figure reads on a light and on a dark page. A reader's
title may have characters that no font here has, which are drawn as a box; the project's own have
none (``make font``).
"""

from __future__ import annotations

import csv
import functools
import io
import logging
import math
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from cycler import cycler
from IPython.display import DisplayObject
from matplotlib import font_manager
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.collections import LineCollection, PathCollection, PolyCollection
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.font_manager import get_font
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from catalogue.reading import words

MISSING = "\u25a1"
FONTS = Path(__file__).resolve().parent / "fonts"
FONT = FONTS / "workbench-sans-sc.ttf"
FAMILIES = {"Workbench Sans": FONTS / "workbench-sans.ttf", "Workbench Sans SC": FONT}
MIXED = ["Workbench Sans SC", "DejaVu Sans"]  # of a text with mathematics in Chinese
LATIN_END = "\u2fff"  # letters behind it are Chinese, or their marks
INK = "#565c65"
PALETTE = ("#3f86c6", "#d9772b", "#3f9b5f", "#c9566b", "#8e6fc1", "#2c9a9a", "#b08d2e", "#8a9099")
# Places in the palette, where parts of a step, of a memory or of a time are drawn; the page's sheet
# has the same (`--part-…` in book/assets/book.css).
READ, COMPUTE, CACHE, WRONG, LINKS, CHUNKS, DRAFTS, HOST = range(8)
COLOURS = (*PALETTE, "#a5784f", "#5b6b3a", INK, "#c4cad1")  # more kinds than a plot has lines
SPARE = len(COLOURS) - 1
# Place of a family of cards in them, by what is in its name; the first that is in it counts.
CARDS = {"h200": 4, "h20": 0, "h800": 5, "h100": 11, "b200": 2, "b300": 9, "910b": 1, "910c": 8,
         "950": 6, "mi3": 3, "a100": 10, "l20": 7}
TINTS = (1.0, 0.7, 0.5, 0.35)  # opacity of the first, second … part of one kind
WIDTH = 7.2
FAINT = 0.15  # opacity of an interval
POINTS_PER_INCH = 72
DECADE = 10.0
NARROW = 30.0  # ratio of a logarithmic axis' ends up to which 2 and 5 bear numbers too

_STYLE: dict[Any, Any] = mpl.rc_params_from_file(
    Path(__file__).with_name("figures.mplstyle"), use_default_template=False) | {
    "font.family": [*FAMILIES, "DejaVu Sans"], "axes.prop_cycle": cycler(color=PALETTE),
    **dict.fromkeys(("axes.edgecolor", "axes.labelcolor", "axes.titlecolor", "grid.color",
                     "xtick.color", "ytick.color", "text.color"), INK)}


def _refuse(record: logging.LogRecord) -> bool:
    """Turn a warning about fonts or glyphs into an error."""
    if record.levelno >= logging.WARNING:
        raise RuntimeError(f"figure: {record.getMessage()}")
    return True


def style() -> None:
    """Apply the style to matplotlib, with this folder's fonts; calling it again is harmless."""
    _add_fonts()
    mpl.rcParams.update(_STYLE)
    warnings.filterwarnings("error", message=r"Glyph .* missing from")
    for name in ("matplotlib.mathtext", "matplotlib.font_manager"):
        logging.getLogger(name).addFilter(_refuse)


@functools.cache
def _add_fonts() -> None:
    """Make the fonts known, once: Matplotlib forgets every one it has looked up when one comes."""
    for path in FAMILIES.values():
        font_manager.fontManager.addfont(str(path))


def tints(kinds: Sequence[int]) -> list[float]:
    """How opaque each part is: colour says its kind, and of one kind each is lighter than before.

    >>> tints([READ, LINKS, READ])
    [1.0, 1.0, 0.7]
    """
    return [TINTS[min(list(kinds[:place]).count(kind), len(TINTS) - 1)]
            for place, kind in enumerate(kinds)]


def card_colours(names: Iterable[str]) -> dict[str, str]:
    """The colour of each card, the same on every figure, by its identifier or its name.

    A card of no family, or of one whose colour is taken, has the first colour that is free.

    >>> card_colours(["H200", "nvidia-h20"]) == {"H200": PALETTE[4], "nvidia-h20": PALETTE[0]}
    True
    """
    found: dict[str, str] = {}
    for name in names:
        own = next((COLOURS[at] for word, at in CARDS.items() if word in name.lower()), None)
        found[name] = next((each for each in (own, *COLOURS)
                            if each and each not in found.values()), INK)
    return found


def axes(height: float = 3.6, width: float = WIDTH) -> tuple[Figure, Axes]:
    """A figure with one pair of axes, in the style; sizes in inches."""
    return panels(height, width=width)


def panels(height: float, rows: int = 1, columns: int = 1, width: float = WIDTH,
           **options: Any) -> tuple[Figure, Any]:
    """A figure with rows and columns of axes, in the style; sizes in inches, options Matplotlib's.

    The axes come as an array, with one row or column as a flat one.
    """
    style()
    figure = Figure(figsize=(width, height))
    return figure, figure.subplots(rows, columns, **options)


def band(axes: Axes, across: Any, amount: Any, scale: float = 1.0, **line: Any) -> None:
    """A line with its interval behind it: ``value``, ``low`` and ``high`` of an amount, scaled."""
    drawn, = axes.plot(across, scale * amount.value, **line)
    axes.fill_between(across, scale * amount.low, scale * amount.high, color=drawn.get_color(),
                      alpha=FAINT, lw=0)


def ticks(axis: Axis, values: Sequence[float], **options: Any) -> None:
    """Plain numbers at some places of an axis, and nowhere else."""
    axis.set_ticks(values, [f"{value:,g}" for value in values], **options)
    axis.set_minor_locator(NullLocator())


def fields(axes: Axes, across: Sequence[str], down: Sequence[str], size: float = 8.5) -> None:
    """Axes of a table of fields, each a unit wide: names on top and to the left, no lines."""
    axes.set(xlim=(-0.5, len(across) - 0.5), ylim=(len(down) - 0.5, -0.5))
    axes.set_xticks(range(len(across)), across, fontsize=8.5)
    axes.set_yticks(range(len(down)), down, fontsize=size)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)


def legend(axes: Axes, marks: Mapping[str, Mapping[str, Any]], **options: Any) -> None:
    """The axes' legend, and after its colours what the kinds of lines and points mean.

    Args:
        axes: with what is drawn and labelled.
        marks: label -> properties of a line, such as ``ls`` or ``marker``, drawn without colour.
        options: of Matplotlib's legend.
    """
    handles, _ = axes.get_legend_handles_labels()
    neutral = [Line2D([], [], **{"color": INK, "lw": 1.6, "label": label, **mark})
               for label, mark in marks.items()]
    axes.legend(handles=[*handles, *neutral], **options)


def doubling(axes: Axes, ticks: Sequence[float]) -> None:
    """A logarithmic axis of x on which every step doubles, with plain numbers at some ticks."""
    axes.set_xscale("log", base=2)
    axes.set_xticks(ticks, [f"{tick:,g}" for tick in ticks])


def log_steps(low: float, high: float) -> tuple[int, ...]:
    """What bears a number in each decade of a logarithmic axis: 1, 2 and 5 where it is short."""
    return (1, 2, 5) if high < NARROW * low else (1,)


def log_ticks(axis: Axis, low: float, high: float) -> None:
    """Plain numbers on a logarithmic axis, at the steps of ``log_steps``."""
    axis.set_major_locator(LogLocator(subs=log_steps(low, high), numticks=12))
    axis.set_major_formatter(lambda value, _: f"{value:,g}")
    axis.set_minor_locator(NullLocator())


def _prepare(figure: Figure) -> None:
    """Draw what a file has of signs as text: no mathematics, and no letter that no font has.

    Minor ticks of a logarithmic axis of a decade or more are left out.
    """
    for text in figure.findobj(Text):
        text.set_text(_drawn(text.get_text()))
        if _mixed(text.get_text()):
            text.set_fontfamily(MIXED)
    for axes_ in figure.axes:
        for axis in (axes_.xaxis, axes_.yaxis):
            if any(_mixed(label.get_text()) for label in axis.get_ticklabels()):
                axis.set_tick_params(labelfontfamily=MIXED)
            low, high = axis.get_view_interval()
            if axis.get_scale() == "log" and high >= DECADE * low:
                axis.set_minor_locator(NullLocator())  # no number stands at minor ticks
            if isinstance(labels := axis.get_major_formatter(), FuncFormatter):  # set_ticks, too
                axis.set_major_formatter(partial(
                    lambda labels, value, place=None: _drawn(labels(value, place)), labels))


def _mixed(text: str) -> bool:
    """Whether mathematics stands in Chinese, of which Matplotlib takes the first font alone."""
    return "$" in text and any(letter > LATIN_END for letter in text)


def _drawn(text: str) -> str:
    if "$" in text:  # the project's own mathematics: a file's signs are hidden
        return text
    return "".join(letter if letter.isspace() or ord(letter) in _letters() else MISSING
                   for letter in words.revealed(text)).replace("$", r"\$")


@functools.cache
def _letters() -> frozenset[int]:
    """The letters of the fonts that figures are drawn with."""
    paths = (*FAMILIES.values(), font_manager.findfont("DejaVu Sans"))
    return frozenset().union(*(get_font(str(path)).get_charmap() for path in paths))


def svg(figure: Figure) -> str:
    """The figure as an SVG element: no date, no random identifiers, letters as outlines.

    Laid out, then drawn: ``savefig`` would draw all of it once more to lay it out.
    """
    style()
    _prepare(figure)
    canvas = FigureCanvasSVG(figure)
    figure.set_dpi(POINTS_PER_INCH)  # that of every SVG, and so of its layout
    buffer = io.StringIO()
    with warnings.catch_warnings():  # of a machine that takes more than a second for it
        warnings.filterwarnings("ignore", 'Creating legend with loc="best" can be slow')
        if layout := figure.get_layout_engine():
            layout.execute(figure)
            figure.set_layout_engine("none")
        canvas.print_svg(buffer, metadata={"Date": None})
    drawn = buffer.getvalue()
    return drawn[drawn.index("<svg"):]


class Plot(DisplayObject):
    """An SVG element as an output, as it is; IPython's own class parses it first."""

    def _repr_svg_(self) -> Any:
        return self._data_and_metadata()


Row = dict[str, Any]
CSV_COLUMNS = ("panel", "series", "name", "x", "y", "to x", "to y")
CSV_DIGITS = 6
NEAR_TICK = 0.5  # of a tick's place, on an axis whose ticks are names


def plotted_csv(figure: Figure) -> str:
    """Lines, points, bars and intervals of a drawn figure as CSV; empty if it has none.

    A row is a point, or a bar or an interval with both ends. Where the ticks of an axis are names,
    ``name`` is the one at the row. The headings of x and y are those of the axes if all agree.
    """
    rows: list[Row] = []
    for place, axes in enumerate(figure.axes, 1):
        title = axes.get_title() or axes.get_title(loc="left")
        panel = title or (str(place) if len(figure.axes) > 1 else "")
        names = {"x": _tick_names(axes.xaxis), "y": _tick_names(axes.yaxis)}
        rows += [{"panel": panel, "name": _row_name(names, row), **row}
                 for row in _plotted_rows(axes)]
    shown = [name for name in CSV_COLUMNS if any(row.get(name) not in (None, "") for row in rows)]
    labels = {"x": {axes.get_xlabel() for axes in figure.axes} - {""},
              "y": {axes.get_ylabel() for axes in figure.axes} - {""}}
    headings = {name: next(iter(found)) for name, found in labels.items() if len(found) == 1}
    return as_csv([headings.get(name) or name for name in shown],
                  ([row.get(name, "") for name in shown] for row in rows)) if rows else ""


def as_csv(headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table as CSV: numbers to six digits, text without the signs of mathematics."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(map(_csv_cell, row)
                                                    for row in (headings, *rows))
    return text.getvalue()


def _plotted_rows(axes: Axes) -> Iterator[Row]:
    """What is drawn in the units of the axes; lines across all of it are none of its data."""
    names = {id(artist): str(container.get_label()) for container in axes.containers
             for artist in container.get_children()}

    def series(artist: Artist) -> str:
        label = names.get(id(artist)) or str(artist.get_label())
        return "" if label.startswith("_") else label

    for place, line in enumerate(axes.lines, 1):
        if line.get_transform() == axes.transData:
            for x, y in zip(np.ravel(line.get_xdata()), np.ravel(line.get_ydata()), strict=True):
                yield {"series": series(line) or f"({place})", "x": x, "y": y}
    for container in (one for one in axes.containers if isinstance(one, BarContainer)):
        for bar in container:
            x, y, to_x, to_y = bar.get_bbox().extents
            yield {"series": series(bar)} | (
                {"x": x, "to x": to_x, "y": (y + to_y) / 2}
                if container.orientation == "horizontal" else
                {"x": (x + to_x) / 2, "y": y, "to y": to_y})
    for collection in axes.collections:
        if isinstance(collection, LineCollection):
            for segment in map(np.asarray, collection.get_segments()):
                (x, y), (to_x, to_y) = segment[0], segment[-1]
                yield {"series": series(collection), "x": x, "y": y, "to x": to_x, "to y": to_y}
        elif isinstance(collection, (PathCollection, PolyCollection)):
            points = ([collection.get_offsets()] if isinstance(collection, PathCollection)
                      else [path.vertices for path in collection.get_paths()])
            for x, y in (point for part in points for point in np.asarray(part)):
                yield {"series": series(collection), "x": x, "y": y}


def _row_name(names: dict[str, dict[float, str]], row: Row) -> str:
    """The tick at a row, on an axis whose ticks are names."""
    found = []
    for along, labels in names.items():
        place = min(labels, key=lambda place: abs(place - float(row[along])), default=math.inf)
        if abs(place - float(row[along])) < NEAR_TICK:
            found.append(labels[place])
    return " ".join(filter(None, found))


def _tick_names(axis: Axis) -> dict[float, str]:
    """Ticks by their place, of an axis where they are names; of any other none."""
    labels = {float(tick.get_loc()): tick.label1.get_text() for tick in axis.get_major_ticks()}
    is_named = any(letter.isalpha() for label in labels.values() if "$" not in label
                   for letter in label)
    return labels if is_named else {}


def _csv_cell(value: Any) -> str:
    if isinstance(value, str):
        return words.revealed(value).replace(r"\$", "$").replace("\n", " ")
    return f"{float(value):.{CSV_DIGITS}g}"
