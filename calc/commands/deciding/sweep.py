"""``sweep``: any number of deployments, reduced to a front or the best, or written as Parquet."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from calc.commands.printing import INTERRUPTED, OK, console, print_json
from calc.sweeping.axes import axis
from calc.sweeping.chunks import ROW
from calc.sweeping.definition import CHUNK, Sweep, is_sweep, read
from calc.sweeping.plan import PER_DEVICE
from calc.sweeping.running import Progress as Told
from calc.sweeping.running import Result, swept
from catalogue import ParamsError, symbols
from catalogue.reading.amounts import human

MOST_SHOWN = 40


def add_arguments(command: argparse.ArgumentParser) -> None:
    """What ``sweep`` takes, besides ``--json``."""
    command.add_argument("scenario", help="identifier or path of a scenario, or the path of a "
                                          "sweep's file, over which flags hold")
    command.add_argument("--axis", action="append", default=[], metavar="PATH=VALUES", dest="axes",
                         help="what varies: a path that --set takes, or an input symbol; values "
                              "with commas, ranges as 1..64, 1..4096:x2, 0..1:+0.1, 1..9:/5; "
                              "device+cluster.node=A+B,C+D move together")
    command.add_argument("--set", action="append", default=[], metavar="PATH=VALUE",
                         dest="settings", help="override that holds throughout")
    command.add_argument("--min", action="append", default=[], metavar="NAME",
                         help="a quantity to have small; of several the front is kept")
    command.add_argument("--max", action="append", default=[], metavar="NAME",
                         help="a quantity to have large")
    command.add_argument("--best", type=int, metavar="COUNT",
                         help="keep the best by one objective instead of a front")
    command.add_argument("--all", action="store_true", help="keep every deployment that fits")
    command.add_argument("--quantity", action="append", default=[], metavar="NAME",
                         dest="quantities", help="a quantity that is told besides")
    command.add_argument("-o", "--out", type=Path, metavar="FOLDER",
                         help="keep finished chunks as Parquet parts there, and go on from those "
                              "that it has")
    command.add_argument("--chunk", type=int, metavar="COUNT",
                         help=f"deployments that are computed at once (default {CHUNK:,})")
    command.add_argument("--workers", type=int, metavar="COUNT",
                         help="processes on this machine (default: its cores)")
    command.add_argument("--scheduler", metavar="tcp://HOST:PORT",
                         help="compute on the workers of a Dask scheduler")


def run(args: argparse.Namespace) -> int:
    """Print what is kept, and what was left out and why.

    Raises ParamsError for a sweep that cannot be.
    """
    sweep = _asked(args)
    if sweep.every and args.out is None:
        raise ParamsError("--all keeps every deployment in files, expected -o FOLDER beside it.")
    if args.workers is not None and args.workers < 1:
        raise ParamsError(f"--workers {args.workers}: expected 1 or more.")
    try:
        with _progress() as told:
            result = swept(sweep, args.out, args.workers, args.scheduler, told)
    except KeyboardInterrupt:
        kept = ("finished parts are kept, the same command goes on from there" if args.out
                else "nothing was kept, -o FOLDER keeps what is finished")
        print(f"interrupted: {kept}.", file=sys.stderr)
        return INTERRUPTED
    if args.json:
        print_json(result.as_json())
    else:
        _print(result)
    return OK


def _asked(args: argparse.Namespace) -> Sweep:
    """The sweep of a file with what the flags say in place of it, or of flags alone."""
    axes = []
    for text in args.axes:
        name, equals, values = text.partition("=")
        if not equals or not name.strip():
            raise ParamsError(f"--axis {text[:60]}: expected PATH=VALUES.")
        axes.append(axis(name.strip(), values, f"--axis {name.strip()[:60]}"))
    if twice := sorted(set(args.min) & set(args.max)):
        raise ParamsError(f"--min {twice[0]}: --max asks for the opposite.")
    flags = {"axes": tuple(axes), "settings": tuple(args.settings),
             "objectives": dict.fromkeys(args.min, -1) | dict.fromkeys(args.max, +1),
             "best": args.best, "every": args.all, "quantities": tuple(args.quantities),
             "chunk": args.chunk}
    given = {name: value for name, value in flags.items() if value not in ((), {}, None)}
    if not args.all:
        del given["every"]
    if is_sweep(args.scenario):
        return read(Path(args.scenario), **given)
    return Sweep(args.scenario, given.pop("axes", ()), **given)


@contextlib.contextmanager
def _progress() -> Iterator[Told]:
    """A bar on a terminal's standard error; nothing elsewhere."""
    screen = Console(stderr=True)
    with Progress(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
                  TimeRemainingColumn(), console=screen, transient=True,
                  disable=not screen.is_terminal) as bar:
        task = bar.add_task("chunks", total=None)
        yield lambda done, of: bar.update(task, completed=done, total=of)


def _print(result: Result) -> None:
    """How many there were, what was left out, and a table of what is kept."""
    screen, plan, counted = console(), result.plan, result.counted
    out = sum(count for count, _ in counted.left.values())
    screen.print(f"{counted.rows:,} deployments, {counted.rows - out:,} can be laid out and fit.",
                 soft_wrap=True)
    for reason, (count, first) in sorted(counted.left.items(), key=lambda item: -item[1][0]):
        settings = " ".join(f"{path}={text}" for path, text in plan.settings(first).items())
        screen.print(f"  left out {count:,}: {reason} (first: {settings})", soft_wrap=True)
    if result.folder:
        screen.print(f"{plan.chunks:,} parts of sweep {plan.key} in {result.folder}",
                     soft_wrap=True)
    if plan.every:
        return
    paths = [path for along in plan.axes if len(along.values) > 1 for path in along.paths]
    kept = len(result.rows.get(ROW, ()))
    wanted = ", ".join(f"{name} ({'large' if sign > 0 else 'small'})"
                       for name, sign in plan.objectives.items())
    table = Table(title=f"the best {kept:,} by {wanted}" if plan.best else
                  f"the front: {kept:,} that no other beats in {wanted}")
    for path in paths:
        table.add_column(path.rpartition(".")[2].replace("_", " "), overflow="fold")
    for name in plan.names:
        table.add_column(name.replace("_", " "), justify="right", overflow="fold")
    for i in range(min(kept, MOST_SHOWN)):
        at = result.settings(i)
        table.add_row(*(at[path] for path in paths),
                      *(human(float(result.rows[name][i]), _unit(name)) for name in plan.names))
    screen.print(table)
    if kept > MOST_SHOWN:
        screen.print(f"{kept - MOST_SHOWN:,} more: --json tells all of them.")


def _unit(name: str) -> str:
    """The SI unit of a quantity that a sweep tells."""
    known = symbols()
    base = PER_DEVICE.get(name, name)
    return known[base].unit if base in known else "1"
