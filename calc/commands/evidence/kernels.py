"""``kernels``: tables of measured operators, what is in them and what is wrong with them."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from rich.table import Table

from calc.commands.printing import OK, console, count_phrase, print_json
from calc.kernels.engines import fitted
from calc.kernels.missing import miss_summary
from calc.kernels.writing import Table as FittedTable
from calc.kernels.writing import text
from catalogue import library, names
from catalogue.reading.errors import ParamsError
from catalogue.reading.files import write_whole
from catalogue.tables import Finding, Shelf, shelf, sound
from catalogue.tables.lint import KINDS

SHOWN = 8  # findings of a kind that are told, those of most rows


def add_arguments(command: argparse.ArgumentParser) -> None:
    """What ``kernels`` takes, besides ``--json``."""
    actions = command.add_subparsers(dest="action", required=True)
    for name, (purpose, _) in ACTIONS.items():
        action = actions.add_parser(name, help=purpose)
        action.add_argument("--tables", metavar="FOLDER", help="a file or folder of tables, or the "
                            "systems/data of a package; without it the package that is installed")
        action.add_argument("--operator", help="only this one")
        action.add_argument("--card", help="only this one, such as nvidia-h200-sxm")
        action.add_argument("--engine", help="only this one, such as vllm@0.24.0")
        action.add_argument("--json", action="store_true", default=argparse.SUPPRESS,
                            help="print JSON in SI units")
        if name == "fit":
            _fit_arguments(action)


def _fit_arguments(action: argparse.ArgumentParser) -> None:
    """What fitting takes besides."""
    action.add_argument("-o", "--output", metavar="FILE", help="write what was fitted as a file of "
                        "params/fits/: of one card and one engine")
    action.add_argument("--source", help="key of params/sources/ that the tables are cited by")
    action.add_argument("--date", help="of the tables, such as 2026-10")
    action.add_argument("--of", metavar="WORDS", help="what the tables are of, such as a package "
                        "with its version; their place, unless given")


def run(args: argparse.Namespace) -> int:
    """Do one of ``ACTIONS``.

    Raises ParamsError for tables that cannot be read, and ModuleNotFoundError without PyArrow.
    """
    return ACTIONS[args.action][1](args, shelf(args.tables))


def _list(args: argparse.Namespace, tables: Shelf) -> int:
    """Rows by operator, card and engine."""
    rows: Counter[tuple[str, str, str]] = Counter()
    for part in tables.parts(args.operator, args.card, args.engine):
        rows[part.operator, part.card, part.engine] += part.rows
    known = set(names("devices"))
    if args.json:
        print_json({"tables": str(tables.root), "rows": [
            {"operator": operator, "card": card, "in_catalogue": card in known, "engine": engine,
             "rows": count} for (operator, card, engine), count in rows.items()]})
        return OK
    shown = Table("operator", "card", "engine", title=str(tables.root))
    shown.add_column("rows", justify="right")
    before: tuple[str, ...] = ()
    for (operator, card, engine), count in rows.items():
        new = (operator, card) != before[:2]
        shown.add_row(operator if operator not in before else "",
                      (card if card in known else f"{card} (not in the catalogue)") if new else "",
                      engine, f"{count:,}")
        before = (operator, card, engine)
    console().print(shown)
    print(f"{count_phrase(sum(rows.values()), 'row')} of "
          f"{count_phrase(len({operator for operator, _, _ in rows}), 'operator')}.")
    return OK


def _check(args: argparse.Namespace, tables: Shelf) -> int:
    """What the lint finds, table by table, and what a fit would leave out."""
    asked: dict[tuple[str, str], None] = {}
    for part in tables.parts(args.operator, args.card, args.engine):
        asked.setdefault((part.operator, part.card))
    checked, kept, findings = 0, 0, []
    for operator, card in asked:
        table = tables.table(operator, card, args.engine or ())
        clean, found = sound(table)
        checked, kept = checked + len(table), kept + len(clean)
        findings += found
    if args.json:
        print_json({"tables": str(tables.root), "checked": checked, "left_out": checked - kept,
                    "findings": [vars(each) | {"says": each.says, "examples": list(each.examples)}
                                 for each in findings]})
        return OK
    _print_findings(findings)
    print(f"{count_phrase(checked, 'row')} checked, {checked - kept:,} left out of fits.")
    return OK


def _print_findings(findings: list[Finding]) -> None:
    """Findings by kind and operator, with the engine that has most of them."""
    for kind in KINDS:
        mine = [each for each in findings if each.kind == kind]
        if not mine:
            continue
        left = "left out" if mine[0].left_out else "kept"
        print(f"{kind}: {count_phrase(sum(each.rows for each in mine), 'row')}, {left}: "
              f"{mine[0].says}.")
        shown = Table("operator", "card", "engine", "rows", "of", "for instance", box=None)
        for each in sorted(mine, key=lambda finding: -finding.rows)[:SHOWN]:
            shown.add_row(each.operator, each.card, each.engine, f"{each.rows:,}", f"{each.of:,}",
                          each.examples[0])
        if len(mine) > SHOWN:
            shown.add_row(f"and {len(mine) - SHOWN} more", "", "", "", "", "--json tells them all")
        console().print(shown)


def _fit(args: argparse.Namespace, tables: Shelf) -> int:
    """Laws of an engine's kernels on a card, release by release, and how far they are off.

    Raises ParamsError for what is asked for and not there, and for an output without a source.
    """
    if args.card is None or args.engine is None:
        raise ParamsError("a fit is of one card and one engine, expected --card and --engine")
    if args.output and not (args.source and args.date):
        raise ParamsError("a file of fits cites its tables, expected --source and --date")
    if args.card not in names("devices"):
        tables.parts(card=args.card)
        raise ParamsError(f"'{args.card}' has no file in params/devices/, whose peaks a law needs")
    tables.parts(card=args.card)
    engine = args.engine.partition("@")[0]
    found = list(fitted(tables, args.card, engine))
    if not found:
        raise ParamsError(f"no table of {engine} on {args.card} has a law")
    if args.json:
        print_json({"tables": str(tables.root), "fits": [_as_json(table) for table in found]})
    else:
        _print_fits(found)
    if args.output:
        _write(args, args.of or str(tables.root), engine, found)
    return OK


def _write(args: argparse.Namespace, of: str, engine: str, found: list[FittedTable]) -> None:
    """The file of an engine on a class of cards, read again as it will be."""
    card = library.load("devices", args.card)
    profile = library.load("profiles", engine)
    title = {language: f"{words}, {card.name[language]}"
             for language, words in profile.name.items()}
    written = text(engine, str(card.mechanisms), title, of, args.source, args.date, found)
    path = Path(args.output)
    write_whole(path, written.encode(), replace=True)
    library.load("fits", path.absolute())
    print(f"{path} written.")


def _as_json(table: FittedTable) -> dict[str, object]:
    """A fit with its values in SI units."""
    fit = table.fit
    return {"release": table.release, "operator": table.operator, "cut": table.cut,
            "kernel": table.kernel, "dtype": table.dtype, "fitted": fit.fitted,
            "parameters": {name: {"value": value, "low": fit.ranges[name][0],
                                  "high": fit.ranges[name][1]}
                           for name, value in fit.values.items()},
            "judged": vars(fit.errors), "before": vars(fit.before) if fit.before else None,
            "regions": {str(least): vars(errors) for least, errors in fit.regions.items()},
            "missed": asdict(fit.missed) if fit.missed else None}


def _print_fits(found: list[FittedTable]) -> None:
    shown = Table("release", "operator", "dtype", "kernel")
    for title in ("judged", "before", "median", "90%", "lean"):
        shown.add_column(title, justify="right")
    for table in found:
        errors = table.fit.errors
        shown.add_row(table.release, f"{table.operator} {table.cut or ''}".strip(), table.dtype,
                      table.kernel, f"{errors.rows:,}",
                      f"{table.fit.before.median:.1%}" if table.fit.before else "-",
                      f"{errors.median:.1%}",
                      f"{errors.most:.1%}", f"{errors.leaning:+.1%}")
    console().print(shown)
    _print_missed([table for table in found if table.fit.missed])


def _print_missed(found: list[FittedTable]) -> None:
    """Why laws miss tables: switches to other kernels, and what is left beside them."""
    if not found:
        return
    shown = Table("release", "operator", "dtype", "kernel", "misses because", box=None)
    for table in found:
        assert table.fit.missed is not None
        shown.add_row(table.release, f"{table.operator} {table.cut or ''}".strip(), table.dtype,
                      table.kernel, miss_summary(table.fit.missed))
    console().print(shown)


ACTIONS: dict[str, tuple[str, Callable[[argparse.Namespace, Shelf], int]]] = {
    "list": ("operators, cards and engines of tables, with their rows", _list),
    "fit": ("laws of one engine's kernels on one card, fitted to one half and judged on the other",
            _fit),
    "check": ("what is wrong with tables, and what a fit leaves out of them", _check),
}
"""What is done with tables, by name: its purpose, and who does it."""
