"""Plain HTML that stays small: a table of a thousand rows, each with its address; a strip."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from IPython.display import HTML

from catalogue.messages import messages
from catalogue.reading import words
from notebooks.show.display import LANGUAGES, Text, display_each

say = messages("show/long-table")

BARE = re.compile(r"[\w./#-]+")  # a value of an attribute that HTML takes without quotes
LEGEND = ((1.0, 1.0), (0.0, 0.0), (0.0, 1.0))  # ends of cells that are all good, bad, undecided


class Ordered(NamedTuple):
    """A cell that sorts as a number and reads as a text."""

    number: float
    text: str


class Linked(NamedTuple):
    """A cell of parts, each a text with the address that it leads to, or with none."""

    parts: tuple[tuple[Text, str | None], ...]


def rows_table(rows: Iterable[Mapping[str, Any]], columns: Mapping[str, Text],
               name: Text, chosen: str = "") -> None:
    """A long table in both languages, sortable and filterable, each row with its own address.

    Of plain cells, so that a thousand rows stay small; every cell is text, and escaped here.

    Args:
        rows: one mapping per row, ``id`` among them; ``more`` opens in small letters below the
            second column, ``link`` is the address of what decides a row, ``group`` a class of it;
            ``label`` is shown in place of an ``id`` that is too long.
        columns: key -> heading, in the order of the columns, ``id`` the first.
        name: of the table, for who cannot see it.
        chosen: column by whose words, before a colon, a reader may choose rows.
    """
    rows = list(rows)

    def table(lang: str) -> HTML:
        index = LANGUAGES.index(lang)
        head = "".join(f"<th{' data-verdict' * (key == chosen)}>{_plain(title, index)}</th>"
                       for key, title in columns.items())
        body = "\n".join(_plain_row(row, list(columns), index, not place)
                         for place, row in enumerate(rows))
        return HTML('<div class="sortable full-width claims">'
                    f'<table aria-label="{_plain(name, index)}"><thead><tr>{head}</tr></thead>'
                    f"<tbody>\n{body}\n</tbody></table></div>")

    display_each(table)


class Cell(NamedTuple):
    """A cell of a strip: its name, and the counts of its parts: good, bad, undecided."""

    name: Text
    parts: Sequence[int]


def strip(cells: Iterable[Cell], name: Text, legend: Sequence[Text]) -> None:
    """A row of named cells in both languages, each coloured by its parts, with counts in words.

    Args:
        cells: in their order; none is empty.
        name: of the strip, for who cannot see it.
        legend: what good, bad and undecided are called, behind the last cell.
    """
    cells = list(cells)

    def shown(lang: str) -> HTML:
        index = LANGUAGES.index(lang)
        body = "".join(_strip_cell(cell, index) for cell in cells)
        body += "".join(f'<li class="legend" style="{_ends(*ends)}">{_plain(text, index)}</li>'
                        for text, ends in zip(legend, LEGEND, strict=True))
        return HTML(f'<div class="full-width"><ul class="strip" '
                    f'aria-label="{_plain(name, index)}">{body}</ul></div>')

    display_each(shown)


def _strip_cell(cell: Cell, lang: int) -> str:
    good, bad, undecided = cell.parts
    count = good + bad + undecided
    ends = _ends(good / count, (good + undecided) / count)
    return f'<li style="{ends}">{_plain(cell.name, lang)} <b>{good}/{count}</b></li>'


def _ends(good: float, undecided: float) -> str:
    """Where the colours of a cell end, from its left [1]."""
    return f"--good:{good:.0%};--undecided:{undecided:.0%}"


def _plain_row(row: Mapping[str, Any], columns: Sequence[str], lang: int, first: bool) -> str:
    """A row without what HTML lets be left out: ends of cells, quotes around plain values, the
    number of a cell that shows none, but in the first row, by which a table knows how it sorts."""
    name = _plain(row["id"], lang)
    label = _plain(row.get("label", row["id"]), lang)
    cells = [f"<td><a href={_quoted(f'#{name}')}>{label}</a>"]
    link = (f" <a href={_quoted(_plain(row['link'], lang))}>{say('source')[lang]}</a>"
            if row.get("link") else "")
    for place, key in enumerate(columns[1:]):
        cell = row.get(key, "")
        order = f" data-order={cell[0]:.4g}" if (
            isinstance(cell, Ordered) and (first or cell.text)) else ""
        said = _plain(cell, lang)
        if not place and row.get("more"):
            said = (f"<details><summary>{said}</summary>"
                    f"<p>{_plain(row['more'], lang)}{link}</details>")
        cells.append(f"<td{order}>{said}")
    kind = f' class={_quoted(_plain(row["group"], lang))}' if row.get("group") else ""
    return f"<tr id={_quoted(name)}{kind}>{''.join(cells)}"


def _quoted(text: str) -> str:
    """An escaped value of an attribute, in quotes where it needs them."""
    return text if BARE.fullmatch(text) else f'"{text}"'


def _plain(value: Any, lang: int) -> str:
    if isinstance(value, Linked):
        return "".join(
            _plain(text, lang) if address is None else
            f"<a href={_quoted(_plain(address, lang))}>{_plain(text, lang)}</a>"
            for text, address in value.parts)
    text = (value.text if isinstance(value, Ordered)
            else value[lang] if isinstance(value, tuple) else value)
    escaped = html.escape(words.revealed(str(text)))
    return escaped.replace("&#x27;", "'")  # attributes here stand in double quotes
