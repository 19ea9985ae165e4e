"""The numbers behind a plot, read off what was drawn: one way for every figure of the book."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.collections import LineCollection, PathCollection, PolyCollection
from matplotlib.container import BarContainer
from matplotlib.figure import Figure

from catalogue.reading import words

Row = dict[str, Any]
COLUMNS = ("panel", "series", "name", "x", "y", "to x", "to y")
DIGITS = 6
NEAR = 0.5  # of a tick's place, on an axis whose ticks are names


def numbers(figure: Figure) -> str:
    """Lines, points, bars and intervals of a drawn figure as CSV; empty if it has none.

    A row is a point, or a bar or an interval with both ends. Where the ticks of an axis are names,
    ``name`` is the one at the row. The headings of x and y are those of the axes if all agree.
    """
    rows: list[Row] = []
    for place, axes in enumerate(figure.axes, 1):
        title = axes.get_title() or axes.get_title(loc="left")
        panel = title or (str(place) if len(figure.axes) > 1 else "")
        names = {along: _names(axis) for along, axis in (("x", axes.xaxis), ("y", axes.yaxis))}
        rows += [{"panel": panel, "name": _name(names, row), **row} for row in _rows(axes)]
    if not rows:
        return ""
    shown = [name for name in COLUMNS if any(row.get(name) not in (None, "") for row in rows)]
    headings = dict.fromkeys(shown) | {name: name for name in shown} | {
        name: heading for name, heading in _headings(figure).items() if name in shown}
    return written([headings[name] or name for name in shown],
                   ([row.get(name, "") for name in shown] for row in rows))


def written(headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table as CSV: numbers to six digits, and a file's signs as it has them."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([_plain(heading) for heading in headings])
    writer.writerows([_plain(cell) for cell in row] for row in rows)
    return text.getvalue()


def _headings(figure: Figure) -> dict[str, str]:
    """What x and y are, if all panels say the same."""
    found = {"x": {axes.get_xlabel() for axes in figure.axes} - {""},
             "y": {axes.get_ylabel() for axes in figure.axes} - {""}}
    return {name: labels.pop() for name, labels in found.items() if len(labels) == 1}


def _rows(axes: Axes) -> Iterator[Row]:
    """What is drawn in the units of the axes; lines across all of it are none of its data."""
    names = {id(artist): str(container.get_label()) for container in axes.containers
             for artist in container.get_children()}
    for place, line in enumerate(axes.lines, 1):
        if line.get_transform() == axes.transData:
            for x, y in zip(np.ravel(line.get_xdata()), np.ravel(line.get_ydata()), strict=True):
                yield {"series": _label(line, names) or f"({place})", "x": x, "y": y}
    for container in axes.containers:
        if isinstance(container, BarContainer):
            for bar in container:
                yield {"series": _label(bar, names)} | _bar(bar, container.orientation)
    for collection in axes.collections:
        series = _label(collection, names)
        if isinstance(collection, LineCollection):
            for segment in map(np.asarray, collection.get_segments()):
                (x, y), (to_x, to_y) = segment[0], segment[-1]
                yield {"series": series, "x": x, "y": y, "to x": to_x, "to y": to_y}
        elif isinstance(collection, PathCollection):
            for x, y in np.asarray(collection.get_offsets()):
                yield {"series": series, "x": x, "y": y}
        elif isinstance(collection, PolyCollection):
            for path in collection.get_paths():
                for x, y in np.asarray(path.vertices):
                    yield {"series": series, "x": x, "y": y}


def _bar(bar: Any, orientation: str | None) -> Row:
    """Both ends of a bar along its axis, and its place on the other."""
    x, y, width, height = bar.get_x(), bar.get_y(), bar.get_width(), bar.get_height()
    if orientation == "horizontal":
        return {"x": x, "to x": x + width, "y": y + height / 2}
    return {"x": x + width / 2, "y": y, "to y": y + height}


def _label(artist: Artist, names: dict[int, str]) -> str:
    label = str(names.get(id(artist)) or artist.get_label())
    return "" if label.startswith("_") else label


def _name(names: dict[str, dict[float, str]], row: Row) -> str:
    """The tick at a row, on an axis whose ticks are names."""
    found = (_tick(labels, float(row[along])) for along, labels in names.items() if labels)
    return " ".join(filter(None, found))


def _names(axis: Axis) -> dict[float, str]:
    """Ticks by their place, of an axis where they are names; of any other none."""
    labels = {float(tick.get_loc()): tick.label1.get_text() for tick in axis.get_major_ticks()}
    return labels if any(_is_name(label) for label in labels.values()) else {}


def _tick(labels: dict[float, str], at: float) -> str:
    place = min(labels, key=lambda place: abs(place - at))
    return labels[place] if abs(place - at) < NEAR else ""


def _is_name(label: str) -> bool:
    return any(letter.isalpha() for letter in label) and "$" not in label


def _plain(value: Any) -> str:
    """A cell: a text without the signs of mathematics, a number in a few digits."""
    if isinstance(value, str):
        return words.revealed(value).replace(r"\$", "$").replace("\n", " ")
    return f"{float(value):.{DIGITS}g}"
