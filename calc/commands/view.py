"""What a command prints: one view for all, as text, JSON or CSV."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import calc
from calc.answer.display import deployment_line, heading
from calc.commands import OK
from calc.uncertainty import Amount
from catalogue import Scenario, symbols
from catalogue.deployments.admission import caveats
from catalogue.reading.files import sentence
from catalogue.reading.units import DIMENSIONLESS, NONE, human

if TYPE_CHECKING:
    from rich.console import Console

    from calc.many.processes import OnProgress

SCHEMAS = {"estimate": 2, "search": 2}  # versions of JSON answers, else 1; raised if a key goes
PIPED_WIDTH = 200  # columns of a table that no terminal limits
SHOWN_AFTER = 2.0  # progress [s]
SHARE = "%"  # unit of a column of fractions


@dataclass(frozen=True)
class Table:
    """Rows to compare.

    Attributes:
        columns: symbols of ``params/symbols.yml``, which give heading and unit, or plain headings.
        rows: a cell per column: a text, a number in SI, an `Amount`, or None.
        title: printed above.
        units: of columns that are no symbols.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    title: str = ""
    units: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]], *columns: str, title: str = "",
           **units: str) -> Table:
        """Some columns of rows of a JSON answer."""
        return cls(columns, [[row.get(name) for name in columns] for row in rows], title, units)

    def unit(self, column: str) -> str:
        """SI unit of a column, or ``SHARE``."""
        defined = symbols().get(column)
        return self.units.get(column) or (defined.unit if defined else DIMENSIONLESS)


Block = Table | str


@dataclass(frozen=True)
class View:
    """A finished answer.

    Attributes:
        verdict: first line.
        data: the answer for programs, ``--json``.
        good: whether the verdict is what was wished, which colours it; None where nothing was.
        figures: label and text of the requested quantities, a line each.
        body: tables and sentences below them.
        rows: what ``--csv`` prints; None for the first table.
        problems: sentences for standard error.
        sections: further blocks by the name of the option that prints them, ``details``.
        code: exit code.
    """

    verdict: str
    data: Mapping[str, Any]
    good: bool | None = None
    figures: Sequence[tuple[str, str]] = ()
    body: Sequence[Block] = ()
    rows: Table | None = None
    sections: Mapping[str, Sequence[Block]] = field(default_factory=dict)
    problems: Sequence[str] = ()
    code: int = OK


def print_view(view: View, words: Sequence[str], shown: Sequence[str] = (),
               as_json: bool = False, as_csv: bool = False) -> None:
    """Print an answer.

    Args:
        view: the answer.
        words: arguments of the program, which JSON repeats.
        shown: sections to print.
        as_json, as_csv: for programs in place of people.
    """
    for problem in view.problems:
        print(sentence(problem), file=sys.stderr)
    if as_json:
        print_json(view.data, words)
    elif as_csv:
        print_csv(view.rows or next(block for block in view.body if isinstance(block, Table)))
    else:
        screen = console()
        colour = {True: "bold green", False: "bold red", None: "bold"}[view.good]
        screen.print(view.verdict, style=colour, highlight=False, soft_wrap=True)
        width = max((len(label) for label, _ in view.figures), default=0)
        for label, text in view.figures:
            screen.print(f"{label:{width}}  {text}", highlight=False, soft_wrap=True)
        for block in view.body:
            print_block(screen, block)
        for name in shown:
            screen.print(f"\n{name.upper()}", style="bold")
            for block in view.sections[name]:
                print_block(screen, block)
        if more := [f"--{name}" for name in view.sections if name not in shown]:
            screen.print(f"more: {' '.join(more)} --json", style="dim", highlight=False)


def print_block(screen: Console, block: Block) -> None:
    """Print a sentence, which is never broken, or a table."""
    if isinstance(block, str):
        screen.print(block, highlight=False, soft_wrap=True)
        return
    from rich.table import Table as Grid

    if block.title:  # rich would fold it to the width of the table
        screen.print(block.title, style="bold", highlight=False, soft_wrap=True)
    grid = Grid(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for index, column in enumerate(block.columns):
        numbers = any(isinstance(row[index], int | float) for row in block.rows)
        grid.add_column(heading(column), justify="right" if numbers else "left", overflow="fold")
    for row in block.rows:
        grid.add_row(*(cell_text(cell, block.unit(column))
                       for column, cell in zip(block.columns, row, strict=True)))
    screen.print(grid)


def cell_text(cell: Any, unit: str) -> str:
    """Format a cell of a table.

    >>> cell_text(0.0304, "s"), cell_text(None, "s"), cell_text("TP8", "1"), cell_text(0.5, SHARE)
    ('30.4 ms', '–', 'TP8', '50.0%')
    """
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, Amount):
        return cell.formatted("en")
    if isinstance(cell, int | float):
        return f"{cell:.1%}" if unit == SHARE else human(cell, unit)
    return NONE if cell is None else str(cell)


def csv_table(amounts: Mapping[str, Amount]) -> Table:
    """Quantities by name, SI."""
    return Table(("quantity", "unit", "value"),
                 [(name, amount.unit, amount) for name, amount in amounts.items()])


def print_csv(table: Table) -> None:
    """Print a table in SI units; of amounts with both ends of their intervals."""
    head: list[str] = []
    cells: list[Sequence[Any]] = []
    for index, column in enumerate(table.columns):
        unit, values = table.unit(column), [row[index] for row in table.rows]
        head.append(column if unit in (DIMENSIONLESS, SHARE) else f"{column} [{unit}]")
        if any(isinstance(value, Amount) for value in values):
            head += [f"{head[-1]} low", f"{head[-1]} high"]
            cells += zip(*(value.points if isinstance(value, Amount) else (value, None, None)
                           for value in values), strict=True)
        else:
            cells.append(values)
    csv.writer(sys.stdout, lineterminator="\n").writerows([head, *zip(*cells, strict=True)])


def print_json(data: Mapping[str, Any], words: Sequence[str], name: str = "") -> None:
    """Print an answer as JSON, which has no number that is not finite.

    It begins with ``schema``, the name and version of its layout, ``version`` of the program, and
    ``asked``, the arguments as given.

    Args:
        data: the answer.
        words: arguments of the program.
        name: of the layout; by default the command's.
    """
    name = name or next((word for word in words if word != "dev"), "none")
    head = {"schema": f"will-it-fit/{name}/{SCHEMAS.get(name, 1)}", "version": calc.__version__,
            "asked": list(words)}
    print(json.dumps(head | dict(data), indent=2, allow_nan=False))


def print_error(text: str, words: Sequence[str]) -> None:
    """Print on stderr why there is no answer, a line per mistake; with ``--json`` as JSON, too."""
    lines = list(map(sentence, text.split("\n")))
    print("\n".join(lines), file=sys.stderr)
    if "--json" in words:
        print_json({"error": " ".join(lines)}, words, "error")


def console() -> Console:
    """Screen for text that is printed as it stands, whatever brackets it has; wide in a pipe."""
    from rich.console import Console

    adapts = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(markup=False, emoji=False, width=None if adapts else PIPED_WIDTH)


@contextlib.contextmanager
def progress() -> Iterator[OnProgress]:
    """Show progress on a terminal's standard error, from two seconds on.

    Yields a function of the current task, the number of steps done, and of all; 0 of 0 where the
    total is unknown.
    """
    from rich.console import Console
    from rich.progress import Progress

    class Late(Progress):
        def get_renderables(self) -> Iterable[Any]:
            soon = any((task.elapsed or 0.0) < SHOWN_AFTER for task in self.tasks)
            return () if soon else super().get_renderables()

    screen = Console(stderr=True, markup=False)
    with Late(console=screen, transient=True, disable=not screen.is_terminal) as bar:
        task = bar.add_task("", total=None)
        yield lambda what, done, of: bar.update(
            task, description=what, completed=done, total=of or None)


def joined(names: Iterable[str]) -> str:
    """Names in one line.

    >>> joined(["tpot", "ttft"])
    'tpot, ttft'
    """
    return ", ".join(names)


def pools_line(pools: Sequence[Scenario]) -> str:
    """Deployment of one pool or two in a line."""
    if len(pools) == 1:
        return deployment_line(pools[0])
    model = pools[-1].model.name["en"]
    prefill, decode = (deployment_line(pool).removeprefix(model) for pool in pools)
    return f"{model}, prefill{prefill}; decode{decode}"


def deployment_id(pools: Sequence[Scenario]) -> str:
    """Identifier of a deployment: its file's, of two pools without their names."""
    return pools[-1].id if len(pools) == 1 else pools[-1].path.stem


def notes(*scenarios: Scenario) -> dict[str, str]:
    """Notes of the catalogue on an answer by key, in English."""
    return {key: note[0] for key, note in caveats(scenarios).items()}
