"""The cells of a table: declared columns, headings by the table of symbols, text in Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import catalogue
from catalogue.messages import LANGUAGES
from catalogue.reading.units import NONE
from notebooks.show.drawing import Text
from notebooks.show.numbers import fmt_int, fmt_quantity, fmt_sig

Row = Any  # a mapping, a sequence, or an object with fields


class Column:
    """A column of a table, declared in one place: what it shows of a row, its heading, its format.

    Of a quantity of ``params/symbols.yml`` the name is enough; heading, unit and format follow:
    ``Column("tpot")``, ``Column(lambda plan: plan.cards, say("cards"))``,
    ``Column("rate", say("rate"), fmt_sig, digits=2)``.
    """

    def __init__(self, of: str | int | Callable[[Row], Any], heading: Text | None = None,
                 fmt: Callable[..., str] | None = None, **options: Any) -> None:
        """Declare a column.

        Args:
            of: a row's field, key or place, or a function of a row; None that it gives is a dash.
            heading: a text or a pair; a quantity's name, unless given.
            fmt, options: writes a number, and with what; a quantity's unit decides, unless given.
                A pair, which stands where there is no number, is left as it is.

        Raises KeyError if no heading is given and ``of`` is no quantity's name.
        """
        self._of, self._fmt, self._options = of, fmt, options
        if heading is None:
            symbol = catalogue.symbols()[str(of)]
            heading = symbol.en, symbol.zh
            if fmt is None:
                self._fmt, self._options = fmt_quantity, {"unit": symbol.unit}
        self.heading = heading

    def cell(self, row: Row) -> Any:
        """What stands in a row: a number, a text, or one in either language."""
        if callable(self._of):
            value = self._of(row)
        elif isinstance(row, Mapping):
            value = row.get(self._of)
        else:
            value = row[self._of] if isinstance(self._of, int) else getattr(row, self._of)
        if value is None:
            return NONE
        if self._fmt is None or isinstance(value, tuple):
            return value
        return self._fmt(value, **self._options)


def cells(rows: Iterable[Row], columns: Mapping[str, Text] | Iterable[Column],
          ) -> tuple[list[Mapping[str, Any]], dict[str, Text]]:
    """Rows as mappings from key to cell, and headings by key, whichever way columns are told."""
    if isinstance(columns, Mapping):
        return list(rows), dict(columns)
    declared = list(columns)
    return ([{str(at): column.cell(row) for at, column in enumerate(declared)} for row in rows],
            {str(at): column.heading for at, column in enumerate(declared)})


def crossed(heading: Text, of: Mapping[Any, Mapping[Any, Any]], columns: Mapping[Any, Text],
            cell: Callable[[Any], Any]) -> tuple[list[dict[str, Any]], dict[str, Text]]:
    """Rows and headings of a table with a row per name and a column per key.

    Args:
        heading: of the names.
        of: what stands in a row by key, by the row's name; a key that a row lacks is left empty.
        columns: key -> heading, in their order.
        cell: writes what stands there.
    """
    return ([{"": name} | {str(key): cell(value) for key, value in values.items()}
             for name, values in of.items()],
            {"": heading} | {str(key): title for key, title in columns.items()})


def pipe_table(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, Text], lang: int) -> str:
    """A table in Markdown, in one language; columns of numbers stand to the right."""
    texts = [[_cell(row.get(key, ""), lang) for key in columns] for row in rows]
    rules = ["--:" if rows and all(_numeric(row.get(key, "")) for row in rows) else ":--"
             for key in columns]
    lines = [[_cell(heading, lang) for heading in columns.values()], rules, *texts]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def in_dropdown(texts: Sequence[str], title: str | tuple[str, str] | None) -> Sequence[str]:
    """Texts per language, folded under a title, a text or a pair; as they are without one."""
    if title is None:
        return texts
    titles = title if isinstance(title, tuple) else (title, title)
    return [f":::::{{dropdown}} {title}\n\n{text}\n\n:::::"
            for title, text in zip(titles, texts, strict=True)]


def _numeric(value: Any) -> bool:
    if isinstance(value, tuple):  # a quantity, with its interval or without
        return bool(re.fullmatch(r"[−-]?\d[\d,.]*( \S+)?( \(.*\))?", str(value[0])))
    text = str(value).lstrip("*−–-")
    return isinstance(value, (int, float)) or (
        isinstance(value, str) and (not text or text[0].isdigit()))


def _cell(value: Any, lang: int) -> str:
    if isinstance(value, Mapping):
        value = value[LANGUAGES[lang]]
    elif isinstance(value, tuple):
        value = value[lang]
    if isinstance(value, (int, float)):
        value = (fmt_int if isinstance(value, int) else fmt_sig)(value)
    return str(value).replace("|", r"\|").replace("\n", " ")
