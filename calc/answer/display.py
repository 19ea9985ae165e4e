"""Answers in notebooks: HTML tables and data frames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from catalogue import ParamsError, Scenario, symbols
from catalogue.deployments.admission import cut_of
from catalogue.deployments.cuts import written


def html_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of texts in HTML.

    >>> html_table(["TPOT"], [["< 50 ms"]])[-51:]
    '<tbody><tr><td>&lt; 50 ms</td></tr></tbody></table>'
    """
    def line(tag: str, cells: Sequence[str]) -> str:
        return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"

    return (f"<table><thead>{line('th', columns)}</thead>"
            f"<tbody>{''.join(line('td', row) for row in rows)}</tbody></table>")


def html_lines(heading: str, lines: Iterable[str], table: str = "") -> str:
    """A heading, a table and lines below it in HTML."""
    return "\n".join([f"<p><b>{escape(heading)}</b></p>", *([table] if table else []),
                      *(f"<p>{escape(line)}</p>" for line in lines)])


def default_lines(defaults: Sequence[str]) -> list[str]:
    """What was chosen for a question of plain values; nothing where nothing was.

    >>> default_lines(["layout TP8: the cards of one server"])
    ['Chosen by default: layout TP8: the cards of one server.']
    """
    return [f"Chosen by default: {'; '.join(defaults)}."] if defaults else []


def heading(name: str) -> str:
    """A column or quantity in words: of a symbol its abbreviation or name.

    >>> heading("tpot"), heading("tokens_per_joule")
    ('TPOT', 'tokens per joule')
    """
    defined = symbols().get(name)
    return (defined.short or defined.en) if defined else name.replace("_", " ")


def resource_name(resource: str) -> str:
    """A resource that binds a step, in words.

    >>> resource_name("l2_bandwidth")
    'L2 bandwidth'
    """
    return resource.replace("_", " ").replace("l2", "L2")


def deployment_line(scenario: Scenario) -> str:
    """Cards, model, format and layout that are computed, whatever the title says."""
    engine = f", {scenario.asked_engine}" if scenario.engine else ""
    if scenario.asked_engine != scenario.engine:
        engine += f" (computed as {scenario.engine})"
    return (f"{scenario.model.name['en']} in {scenario.precision.id} on {scenario.devices} × "
            f"{scenario.device.name['en']}, {written(cut_of(scenario))['en']}{engine}")


def data_frame(rows: Iterable[Mapping[str, Any]], index: str) -> Any:
    """A ``pandas.DataFrame`` of rows.

    Args:
        rows: values by column.
        index: the column that names a row.

    Raises ParamsError where pandas is not installed.
    """
    try:
        import pandas as pd
    except ImportError:
        raise ParamsError("to_frame() needs pandas: pip install 'will-it-fit[analysis]'."
                          ) from None
    return pd.DataFrame(list(rows)).set_index(index)
