"""``sweep``: any number of deployments, reduced to a front or the best, or written as Parquet."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path

from rich.table import Table

from calc.commands.arguments import add_settings
from calc.commands.printing import (
    INTERRUPTED,
    OK,
    amount,
    console,
    input_name,
    listing,
    named,
    print_json,
    speaks_chinese,
    spoken,
    tell,
)
from calc.commands.progress import progress
from calc.sweeping.plan import CHUNK, PER_DEVICE, Sweep
from calc.sweeping.run import (
    BEYOND,
    ENDLESS,
    ROW,
    TOO_LARGE,
    TOO_LONG,
    TOO_MANY,
    Result,
    swept,
)
from catalogue import ParamsError, symbols
from catalogue.messages import messages

say = messages("calc/commands/deciding/sweep")

MOST_SHOWN = 40
REASONS = {TOO_LARGE: "large", TOO_MANY: "many", TOO_LONG: "long", BEYOND: "beyond",
           ENDLESS: "endless"}


def add_arguments(command: argparse.ArgumentParser) -> None:
    """What ``sweep`` takes, besides ``--json``."""
    command.add_argument("scenario", help=spoken(say("help-scenario")))
    command.add_argument("--axis", action="append", default=[], metavar="PATH=VALUES", dest="axes",
                         help=spoken(say("help-axis")))
    add_settings(command, say("help-set"))
    for name, meaning in (("min", say("help-min")), ("max", say("help-max"))):
        command.add_argument(f"--{name}", action="append", default=[], metavar="NAME",
                             help=spoken(meaning))
    command.add_argument("--best", type=int, metavar="COUNT", help=spoken(say("help-best")))
    command.add_argument("--all", action="store_true", help=spoken(say("help-all")))
    command.add_argument("--quantity", action="append", default=[], metavar="NAME",
                         dest="quantities", help=spoken(say("help-quantity")))
    command.add_argument("-o", "--out", type=Path, metavar="FOLDER", help=spoken(say("help-out")))
    command.add_argument("--chunk", type=int, default=CHUNK, metavar="COUNT",
                         help=spoken(say("help-chunk", count=f"{CHUNK:,}")))
    command.add_argument("--workers", type=int, metavar="COUNT", help=spoken(say("help-workers")))
    command.add_argument("--scheduler", metavar="tcp://HOST:PORT",
                         help=spoken(say("help-scheduler")))


def run(args: argparse.Namespace) -> int:
    """Print what is kept, and what was left out and why.

    Raises ParamsError for a sweep that cannot be.
    """
    sweep = sweep_of(args)
    if sweep.every and args.out is None:
        raise ParamsError(spoken(say("all-needs-files")))
    if args.workers is not None and args.workers < 1:
        raise ParamsError(spoken(say("workers", count=args.workers)))
    try:
        with progress() as report:
            result = swept(sweep, args.out, args.workers, args.scheduler,
                           partial(report, spoken(say("chunks"))))
    except KeyboardInterrupt:
        print(spoken(say("interrupted", kept=bool(args.out))), file=sys.stderr)
        return INTERRUPTED
    if args.json:
        print_json(result.as_json())
    else:
        _print(result)
    return OK


def sweep_of(args: argparse.Namespace) -> Sweep:
    """The sweep that the flags define."""
    axes = {}
    for text in args.axes:
        path, equals, values = text.partition("=")
        if not equals or not path.strip():
            raise ParamsError(spoken(say("expected-values", text=text[:60])))
        axes[path.strip()] = values
    if twice := sorted(set(args.min) & set(args.max)):
        raise ParamsError(spoken(say("opposite", name=twice[0])))
    return Sweep(args.scenario, axes, args.settings,
                 dict.fromkeys(args.min, -1) | dict.fromkeys(args.max, +1), args.best, args.all,
                 args.quantities, args.chunk)


def _print(result: Result) -> None:
    """How many there were, what was left out, and a table of what is kept."""
    screen, plan = console(), result.plan
    out = sum(count for count, _ in result.left.values())
    tell(screen, spoken(say("counted", count=f"{plan.count:,}", fit=f"{plan.count - out:,}")))
    for reason, (count, first) in sorted(result.left.items(), key=lambda item: -item[1][0]):
        settings = " ".join(f"{path}={text}" for path, text in plan.settings(first).items())
        tell(screen, spoken(say(
            "left-out", count=f"{count:,}", settings=settings, reason=say(
                "reason", reason=REASONS.get(reason, "other"), plain=reason))))
    if result.folder:
        tell(screen, spoken(say("parts", count=f"{plan.chunks:,}", key=plan.key,
                                folder=str(result.folder))))
    if plan.every:
        return
    paths = [path for axis in plan.axes if len(axis.values) > 1 for path in axis.paths]
    count = len(result.rows.get(ROW, ()))
    wanted = listing(spoken(say("wanted", name=_in_text(name), large=sign > 0))
                     for name, sign in plan.objectives.items())
    table = Table(title=spoken(say("best", count=f"{count:,}", wanted=wanted) if plan.best else
                               say("front", count=f"{count:,}", wanted=wanted)))
    for path in paths:
        last = path.rpartition(".")[2]
        table.add_column(input_name(last, last.replace("_", " ")),
                         overflow="fold")
    for name in plan.names:
        table.add_column(_in_text(name) if speaks_chinese() else name.replace("_", " "),
                         justify="right", overflow="fold")
    for i in range(min(count, MOST_SHOWN)):
        at = result.settings(i)
        table.add_row(*(at[path] for path in paths),
                      *(amount(float(result.rows[name][i]), _unit(name)) for name in plan.names))
    screen.print(table)
    if count > MOST_SHOWN:
        screen.print(spoken(say("more", count=f"{count - MOST_SHOWN:,}")))


def _in_text(name: str) -> str:
    """A quantity as it is asked for; in Chinese by its name, of a card where it is divided."""
    return spoken(say("quantity", name=name, label=named(PER_DEVICE.get(name, name)),
                      each=name in PER_DEVICE))


def _unit(name: str) -> str:
    """The SI unit of a quantity of a row."""
    symbol = symbols().get(PER_DEVICE.get(name, name))
    return symbol.unit if symbol is not None else "1"
