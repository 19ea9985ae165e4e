"""DataFrames as tables, figures and numbers of a page, in both languages.

A column is a quantity of ``params/symbols.yml`` (``tpot``), a term of ``params/glossary.yml``, or
has a heading of its own. Values are SI; the unit of the quantity, or the format that the call
gives, decides how they are written. The frame of a figure is also its CSV.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import catalogue
from catalogue import units
from catalogue.messages import LANGUAGES, Pair, join
from notebooks.derive.formulas.exported import DerivationError
from notebooks.show import figures
from notebooks.show.columns import in_dropdown, pipe_table
from notebooks.show.display import draw, figure, markdown, number
from notebooks.show.drawing import Drawing, Text, in_language
from notebooks.show.numbers import fmt_fixed, fmt_in, fmt_int, fmt_percent, fmt_quantity, fmt_sig

LOW, HIGH = "_low", "_high"  # endings of the columns of an 80% interval
NEAREST = 3  # names that an error proposes


@dataclass(frozen=True)
class Format:
    """How a column writes its numbers.

    Attributes:
        write: number (SI) -> text.
        unit: the unit that the heading then names, if the cells do not.
    """

    write: Callable[[Any], str]
    unit: str = ""

    def __call__(self, value: Any) -> str:
        """Write a number (SI)."""
        return self.write(value)


def in_unit(unit: str, digits: int | None = None, *, significant: int | None = None) -> Format:
    """Numbers of a unit that the heading names, with so many decimals or significant digits, three
    or four unless given.

    >>> in_unit("ms", 1)(0.03042)
    '30.4'
    """
    if digits is None:
        return Format(lambda value: fmt_sig(value / units.factor(unit), significant), unit)
    return Format(lambda value: fmt_in(value, unit, digits), unit)


def with_unit(unit: str, digits: int = 2) -> Format:
    """Numbers with their unit behind them, and so many decimals: ``169.56 GB``."""
    return Format(lambda value: f"{fmt_in(value, unit, digits)} {unit}")


def decimals(digits: int) -> Format:
    """Plain numbers with so many decimals."""
    return Format(lambda value: fmt_fixed(value, digits))


def significant(digits: int) -> Format:
    """Plain numbers with so many significant digits."""
    return Format(lambda value: fmt_sig(value, digits))


def percent(digits: int = 1) -> Format:
    """Shares as percentages."""
    return Format(lambda value: fmt_percent(value, digits))


def show(frame: pd.DataFrame, caption: Text | None = None, *,
         labels: Mapping[Any, Text] | None = None,
         formats: Mapping[Any, Callable[[Any], str]] | None = None,
         folded: bool | Text = False, first: int = 0, wide: bool = False, sortable: bool = False,
         turned: bool = False, empty: str = units.NONE) -> None:
    """Show a frame as a table in both languages.

    Args:
        frame: columns (and levels of a named index, which come first) are quantities, terms, or
            in `labels`; a column ``x`` beside ``x_low`` and ``x_high`` is shown as one, a value
            with its 80% interval. A cell is a number (SI), a text or a pair (English, Chinese).
        caption: a text or a pair (English, Chinese).
        labels: column, or text of a cell -> text or pair, of what has no name of its own or
            another one here; of a named level of columns a function of its values, and an empty
            label of a quantity leaves it out beside other levels.
        formats: column -> what writes its numbers; its unit decides, unless given.
        folded: whether it is folded under its caption, or the title under which it is.
        first: rows that stay open above what is folded.
        wide: whether it reaches into the page's margin.
        sortable: whether a reader can sort and filter it.
        turned: whether labels from the third column on stand upright.

    Raises DerivationError for a column without a name in both languages, with the nearest ones.
    """
    labels, formats = labels or {}, formats or {}
    if any(name is not None for name in frame.index.names):
        frame = frame.reset_index()
    columns, values = _without_ends(frame.columns), _values(frame.columns, labels)
    forms = {name: formats.get(name, formats.get(_quantity(name))) for name in columns}
    titles = {str(at): _heading(name, labels, forms[name], values)
              for at, name in enumerate(columns)}
    rows = [{str(at): _written(frame, name, place, forms[name], labels, empty)
             for at, name in enumerate(columns)} for place in range(len(frame))]
    if first:
        _table(rows[:first], titles, None, wide, sortable, turned)
        rows = rows[first:]
    if rows or not first:
        title = caption if folded is True else folded or None
        _table(rows, titles, title, wide, sortable, turned,
               None if folded else caption)


def _table(rows: Sequence[Mapping[str, Any]], titles: Mapping[str, Text], folded: Text | None,
           wide: bool, sortable: bool, turned: bool, caption: Text | None = None) -> None:
    texts = [pipe_table(rows, titles, at) for at in range(len(LANGUAGES))]
    if caption is not None:
        texts = [f":::{{table}} {title}\n\n{text}\n:::"
                 for title, text in zip(_pair(caption), texts, strict=True)]
    classes = " ".join(["sortable"] * sortable + ["full-width"] * wide + ["turned"] * turned)
    if classes:
        texts = [f"::::{{div}} {classes}\n\n{text}\n\n::::" for text in texts]
    markdown(*in_dropdown(texts, folded))


def _parts(name: Any) -> tuple[Any, ...]:
    """Levels of a column's name that are not empty."""
    return tuple(part for part in name if part != "") if isinstance(name, tuple) else (name,)


def _quantity(name: Any) -> Any:
    """The level of a column's name that is a quantity: the first known one, else the last."""
    parts = _parts(name)
    return next((part for part in parts if part in catalogue.symbols()), parts[-1])


def _end(name: Any, ending: str) -> Any:
    """The column of an end of the interval of a column."""
    if not isinstance(name, tuple):
        return f"{name}{ending}"
    return tuple(f"{part}{ending}" if part == _quantity(name) else part for part in name)


def _without_ends(columns: pd.Index) -> list[Any]:
    """The columns without the ends of intervals."""
    ends = {_end(name, ending) for name in columns for ending in (LOW, HIGH)}
    return [name for name in columns if name not in ends]


def _heading(name: Any, labels: Mapping[Any, Text], form: Any,
             levels: Mapping[Any, Text] | None = None) -> Text:
    """Name of a column in both languages, with the unit if cells do not name it."""
    if name in labels:
        return labels[name]
    if isinstance(name, tuple):
        pairs = [_pair((levels or {}).get(part) or _heading(
            part, labels, form if part == _quantity(name) else None)) for part in _parts(name)]
        return join((", ", "，"), [pair for pair in pairs if pair[0]])
    if symbol := catalogue.symbols().get(name):
        en, zh = symbol.en, symbol.zh
    elif term := catalogue.glossary().get(name):
        en, zh = term["en"], term["zh"]
    else:
        near = difflib.get_close_matches(
            str(name), [*catalogue.symbols(), *catalogue.glossary(), *map(str, labels)], NEAREST)
        raise DerivationError(
            f"the column '{name}' is neither a quantity of params/symbols.yml nor a term of "
            "params/glossary.yml, and has no heading"
            f"{'; the nearest are ' * bool(near)}{', '.join(near)}.")
    unit = getattr(form, "unit", "")
    return (f"{en} [{unit}]", f"{zh} [{unit}]") if unit else (en, zh)


def _values(columns: pd.Index, labels: Mapping[Any, Text]) -> dict[Any, Text]:
    """Texts of the values of named levels of columns, by the label of the level."""
    if not isinstance(columns, pd.MultiIndex):
        return {}
    found: dict[Any, Text] = {}
    for at, level in enumerate(columns.names):
        if level in labels:
            label = labels[level]
            found |= {value: label(value) if callable(label) else label
                      for value in columns.get_level_values(at).unique() if value != ""}
    return found


def _pair(text: Text) -> Pair:
    return text if isinstance(text, tuple) else (str(text), str(text))


def _written(frame: pd.DataFrame, name: Any, place: int, form: Callable[[Any], str] | None,
             labels: Mapping[Any, Text], empty: str) -> Any:
    """A cell as text, or as a pair of texts."""
    value = frame[name].iloc[place]
    low, high = (_end(name, ending) for ending in (LOW, HIGH))
    symbol = catalogue.symbols().get(_quantity(name))
    if value is None or (isinstance(value, (float, np.floating)) and np.isnan(value)):
        return empty
    if low in frame.columns and high in frame.columns:
        return _interval((value, frame[low].iloc[place], frame[high].iloc[place]),
                         form or (symbol.unit if symbol else units.DIMENSIONLESS))
    if isinstance(value, str):
        return labels.get(value, value)
    if isinstance(value, (tuple, Mapping)):
        return value
    if form is not None:
        return form(value)
    if symbol is not None:
        return tuple(fmt_quantity(value, symbol.unit, lang) for lang in LANGUAGES)
    return fmt_int(int(value)) if isinstance(value, (int, np.integer)) else fmt_sig(float(value))


def _interval(points: tuple[Any, Any, Any], form: Callable[[Any], str] | str) -> Pair:
    """A value and the ends of its interval as text, by a format or an SI unit."""
    if callable(form):
        value, *ends = map(form, points)
        spans = [units.NONE.join(ends)] * len(LANGUAGES)
        values = [value] * len(LANGUAGES)
    else:
        value, low, high = points
        values = [fmt_quantity(value, form, lang) for lang in LANGUAGES]
        spans = ["" if low == high else units.span(low, high, form, lang, of=value)
                 for lang in LANGUAGES]
    (en, zh), (en_span, zh_span) = values, spans
    return (f"{en} ({en_span})", f"{zh}（{zh_span}）") if en_span else (en, zh)


def interval_text(row: Mapping[Any, Any] | pd.Series, name: str) -> str:
    """A quantity of a row with the 80% interval beside it: ``30.4 ms (27.9–55.3 ms)``.

    Args:
        row: with the columns ``name``, ``name_low`` and ``name_high``.
        name: a quantity of ``params/symbols.yml``.
    """
    return _interval((row[name], row[f"{name}{LOW}"], row[f"{name}{HIGH}"]),
                     catalogue.symbols()[name].unit)[0]


def glue(key: str, value: Any, form: Callable[[Any], str] | str | None = None) -> None:
    """Glue a number for ``{glue:text}`` in a sentence; an amount also as ``-low`` and ``-high``.

    Args:
        key: of the number.
        value: number (SI), amount with an interval, or text.
        form: what writes it, or its SI unit; whole numbers and texts need none.

    Raises DerivationError if the key already stands for another text.
    """
    if hasattr(value, "points"):
        for ending, end in zip(("", "-low", "-high"), value.points, strict=True):
            glue(f"{key}{ending}", end, form or value.unit)
    elif isinstance(form, str):
        number(key, value, fmt_quantity, unit=form)
    else:
        number(key, value, form or (str if isinstance(value, str) else fmt_int))


def plot(frame: pd.DataFrame, picture: Callable[[str], Figure | Drawing] | None = None, *,
         key: str | None = None, height: float = 3.6, **chart: Any) -> None:
    """Draw a frame once per language; the frame is the figure's CSV.

    Args:
        frame: what is drawn, columns as of :func:`show`.
        picture: draws it in a language, ``en`` or ``zh``; by default :func:`lines` does.
        key: name under which ``{glue:figure}`` shows it, as ``key_en`` and ``key_zh``; shown at
            once without one.
        height: of the figure that :func:`lines` fills [inch].
        chart: arguments of :func:`lines`.

    Raises DerivationError as :func:`show`.
    """
    def drawn(lang: str) -> Figure:
        drawing, axes = figures.axes(height)
        lines(axes, frame, lang, **chart)
        return drawing

    if key is None:
        draw(picture or drawn, frame)
    else:
        figure(key, picture or drawn, frame)


def lines(axes: Axes, frame: pd.DataFrame, lang: str, *, x: str, y: str | Sequence[str],
          by: str | None = None, labels: Mapping[Any, Text] | None = None,
          formats: Mapping[str, Format] | None = None, log: str = "",
          colours: Mapping[Any, str] | None = None, **options: Any) -> None:
    """Draw a line per column of `y` and value of `by` over `x`, with 80% intervals behind them.

    Args:
        axes: of the figure.
        frame: columns, or levels of its index, as of :func:`show`.
        lang: ``en`` or ``zh``.
        x, y: columns; those of `y` share a unit.
        by: column whose values are lines of their own.
        labels: column, or value of `by` -> text or pair, where it has no name of its own.
        formats: column -> format, whose unit is that of the axis; SI units otherwise.
        log: axes that are logarithmic: ``x``, ``y`` or ``xy``.
        colours: value of `by` or column -> colour.
        options: of Matplotlib's ``Axes.set``.

    Raises DerivationError as :func:`show`.
    """
    names, forms = labels or {}, formats or {}
    columns = [y] if isinstance(y, str) else list(y)
    frame = frame.reset_index()

    def titled(name: str) -> str:
        return in_language(_heading(name, names, forms.get(name)), lang)

    def scaled(part: pd.DataFrame, name: str, end: str = "") -> pd.Series:
        unit = forms[name].unit if name in forms else ""
        return part[f"{name}{end}"] / units.factor(unit or units.DIMENSIONLESS)

    for value, part in [(None, frame)] if by is None else frame.groupby(by, sort=False):
        for name in columns:
            label = titled(name) if by is None else in_language(names.get(value, str(value)), lang)
            line, = axes.plot(scaled(part, x), scaled(part, name), label=label,
                              color=(colours or {}).get(name if by is None else value))
            if f"{name}{LOW}" in part:
                axes.fill_between(
                    scaled(part, x), scaled(part, name, LOW), scaled(part, name, HIGH),
                    color=line.get_color(), alpha=figures.FAINT, lw=0)
    axes.set(xlabel=titled(x), ylabel=titled(columns[0]), **options)
    for name, axis in (("x", axes.xaxis), ("y", axes.yaxis)):
        if name in log:
            axes.set(**{f"{name}scale": "log"})
            figures.log_ticks(axis, *axis.get_view_interval())
    if len(axes.lines) > 1:
        axes.legend(fontsize=8)


def with_intervals(amounts: Mapping[str, Any]) -> dict[str, Any]:
    """Columns of a frame: each amount as value, ``_low`` and ``_high``, in its own shape."""
    return {f"{name}{ending}": end for name, amount in amounts.items()
            for ending, end in zip(("", LOW, HIGH), amount.points, strict=True)}
