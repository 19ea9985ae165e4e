"""``kernels``: tables of measured operators, what is in them, and laws fitted to them."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

from calc.commands.printing import OK, console, print_json, spoken
from catalogue import library, names
from catalogue.deployments.measured import refuse_fitting
from catalogue.messages import Pair, messages
from catalogue.reading.files import ParamsError, write_whole
from catalogue.tables import Shelf, shelf

common = messages("common")
if TYPE_CHECKING:
    from kernels.writing import FittedTable

say = messages("calc/commands/evidence/kernels")


def add_arguments(command: argparse.ArgumentParser) -> None:
    """What ``kernels`` takes, besides ``--json``."""
    actions = command.add_subparsers(dest="action", required=True)
    for name in ACTIONS:
        action = actions.add_parser(name, help=spoken(say("action", name=name)))
        action.add_argument("--tables", metavar="FOLDER", required=True,
                            help=spoken(say("help-tables")))
        action.add_argument("--operator", help=spoken(say("help-operator")))
        for option, example in (("card", "nvidia-h200-sxm"), ("engine", "vllm@0.24.0")):
            action.add_argument(f"--{option}", help=spoken(say("help-card", example=example)))
        action.add_argument("--json", action="store_true", default=argparse.SUPPRESS,
                            help=spoken(common("help-json")))
        if name == "fit":
            action.add_argument("-o", "--output", metavar="FILE", help=spoken(say("help-output")))
            action.add_argument("--source", help=spoken(say("help-source")))
            action.add_argument("--date", help=spoken(say("help-date")))
            action.add_argument("--of", metavar="WORDS", help=spoken(say("help-of")))


def run(args: argparse.Namespace) -> int:
    """Do one of ``ACTIONS``.

    Raises ParamsError for tables that cannot be read, and ModuleNotFoundError without PyArrow.
    """
    refuse_fitting(args.tables)
    return ACTIONS[args.action](args, shelf(args.tables))


def list_rows(args: argparse.Namespace, tables: Shelf) -> int:
    """Rows by operator, card and engine."""
    rows = tables.parts(args.operator, args.card, args.engine)
    devices = set(names("devices"))
    if args.json:
        print_json({"tables": str(tables.root), "rows": [
            {"operator": operator, "card": card, "in_catalogue": card in devices, "engine": engine,
             "rows": count} for operator, card, engine, count in rows]})
        return OK
    shown = Table(*_headings("operator", "card", "engine"), title=str(tables.root))
    shown.add_column(spoken(common("rows")), justify="right")
    before: tuple[str, ...] = ()
    for operator, card, engine, count in rows:
        new = (operator, card) != before[:2]
        shown.add_row(operator if operator not in before else "",
                      (card if card in devices else spoken(say("not-in-catalogue", card=card)))
                      if new else "",
                      engine, f"{count:,}")
        before = (operator, card, engine)
    console().print(shown)
    count, operators = sum(part.rows for part in rows), len({part.operator for part in rows})
    print(spoken(say("rows-of", rows=f"{count:,}", one=count == 1, operators=f"{operators:,}",
                     single=operators == 1)))
    return OK


def fit_laws(args: argparse.Namespace, tables: Shelf) -> int:
    """Laws of an engine's kernels on a card, release by release, and how far they are off.

    Raises ParamsError for what is asked for and not there, and for an output without a source.
    """
    from kernels.rejection import checked
    from kernels.releases import fitted_tables  # SciPy is loaded only where something is fitted

    if args.card is None or args.engine is None:
        raise ParamsError(spoken(say("one-card-one-engine")))
    if args.output and not (args.source and args.date):
        raise ParamsError(spoken(say("cites")))
    if args.card not in names("devices"):
        tables.parts(card=args.card)
        raise ParamsError(spoken(say("no-device", card=args.card)))
    tables.parts(card=args.card)
    engine = args.engine.partition("@")[0]
    card = library.load("devices", args.card)
    fits = checked(list(fitted_tables(tables, args.card, engine)), card,
                   library.load("mechanisms", str(card.mechanisms)))
    if not fits:
        raise ParamsError(spoken(say("no-law", engine=engine, card=args.card)))
    if args.json:
        print_json({"tables": str(tables.root), "fits": [
            {"release": table.release, "operator": table.operator, "cut": table.cut,
             "kernel": table.kernel, "dtype": table.dtype, "fitted": table.fit.fitted,
             "parameters": {name: {"value": value, "low": table.fit.ranges[name][0],
                                   "high": table.fit.ranges[name][1]}
                            for name, value in table.fit.values.items()},
             "judged": vars(table.fit.errors),
             "regions": {str(least): vars(errors)
                         for least, errors in table.fit.regions.items()}} for table in fits]})
    else:
        print_fits(fits)
    if args.output:
        write_fits(args, args.of or str(tables.root), engine, fits)
    return OK


def write_fits(args: argparse.Namespace, of: str, engine: str, fits: list[FittedTable]) -> None:
    """The file of an engine on a class of cards, read again as it will be."""
    from kernels.writing import text

    card = library.load("devices", args.card)
    profile = library.load("profiles", engine)
    title = {language: f"{words}, {card.name[language]}"
             for language, words in profile.name.items()}
    written = text(engine, str(card.mechanisms), title, of, args.source, args.date, fits)
    path = Path(args.output)
    write_whole(path, written.encode(), replace=True)
    library.load("fits", path.absolute())
    print(spoken(say("file-written", path=str(path))))


def print_fits(fits: list[FittedTable]) -> None:
    """Each law with its errors."""
    shown = Table(*_headings("release", "operator", "dtype", "kernel"))
    for title in _headings("judged", "median", "ninety", "lean"):
        shown.add_column(title, justify="right")
    for table in fits:
        errors = table.fit.errors
        shown.add_row(table.release, f"{table.operator} {table.cut or ''}".strip(), table.dtype,
                      table.kernel, f"{errors.rows:,}",
                      f"{errors.median:.1%}",
                      f"{errors.most:.1%}", f"{errors.leaning:+.1%}")
    console().print(shown)


def _headings(*names: str) -> list[str]:
    """Headings of columns by name."""
    shared: dict[str, Pair] = {
        "operator": common("operator"), "card": common("card"), "engine": common("engine"),
        "kernel": common("kernel"), "median": common("median")}
    return [spoken(shared[name] if name in shared else say("title", name=name))
            for name in names]


ACTIONS: dict[str, Callable[[argparse.Namespace, Shelf], int]] = {
    "list": list_rows, "fit": fit_laws}
"""What is done with tables, by name, and who does it."""
