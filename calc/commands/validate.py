"""``validate``: every prediction of a measured row beside its measurement."""

from __future__ import annotations

import argparse

from calc.commands.printing import OK, print_json
from calc.evidence.systems import METRICS
from catalogue import ParamsError

HEADER = ("system", "metric", "protocol", "rows", "mean", "median", "worst", "coverage", "width",
          "blind")
TEXTS = 3  # of these columns are words, the others numbers


def add_arguments(command: argparse.ArgumentParser) -> None:
    """What ``validate`` takes, besides ``--json``."""
    command.add_argument("--system", help="only this measured scenario")
    command.add_argument("--metric", choices=METRICS, help="only this quantity")


def run(args: argparse.Namespace) -> int:
    """Print errors, coverage and width of every prediction of a measured row.

    The last column is the median error of what was predicted before rows were known.

    Raises ParamsError for a system that is not measured.
    """
    from calc.evidence import validation  # SciPy is loaded only where something is fitted

    if args.system is not None:
        known = [system.id for system in validation.measured_systems()]
        if args.system not in known:
            raise ParamsError(f"--system {args.system}: nothing was measured of it, expected one "
                              f"of {', '.join(known)}.")
    chosen = validation.results(args.system, args.metric)
    if args.json:
        print_json(validation.as_json(chosen))
        return OK
    rows = [HEADER]
    for result in chosen:
        numbers = result.predictions.summary()
        worst = f"{numbers['worst']:.1%} (row {result.predictions.worst_row + 1})"
        rows.append((result.system, result.metric, result.protocol, f"{numbers['rows']}",
                     f"{numbers['mean']:.1%}", f"{numbers['median']:.1%}", worst,
                     f"{numbers['coverage']:.0%}", f"{numbers['width']:.2f}",
                     f"{result.blind.summary()['median']:.1%}" if result.blind else ""))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:  # one line each, however narrow the terminal
        print("  ".join(cell.ljust(width) if i < TEXTS else cell.rjust(width)
                        for i, (cell, width) in enumerate(zip(row, widths, strict=True))))
    return OK
