"""``validate``: every prediction of a measured row beside its measurement."""

from __future__ import annotations

import argparse

from calc.commands.printing import OK, print_json
from calc.evidence.systems import METRICS, VARIED
from catalogue import ParamsError, load_scenario

HEADER = ("system", "metric", "protocol", "rows", "mean", "median", "worst", "coverage", "width",
          "blind")
TEXTS = 3  # of these columns are words, the others numbers


def add_arguments(command: argparse.ArgumentParser) -> None:
    """What ``validate`` takes, besides ``--json``."""
    command.add_argument("--system", metavar="NAME",
                         help="only this measured scenario, by name; or a deployment's file of "
                              "yours whose 'measured' names your rows")
    command.add_argument("--metric", choices=METRICS, help="only this quantity")
    command.add_argument("--energy", action="store_true",
                         help="energy per token of the cards instead, where power was measured")


def run(args: argparse.Namespace) -> int:
    """Print errors, coverage and width of every prediction of a measured row.

    The last column is the median error of what was predicted before rows were known.

    Raises ParamsError for a system that is not measured.
    """
    if args.energy:
        return _energy(args)
    from calc.evidence import validation  # SciPy is loaded only where something is fitted

    if args.system is not None:
        _check(args.system, [system.id for system in validation.measured_systems()])
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


def _check(name: str, known: list[str]) -> None:
    """Raises ParamsError for a deployment of which nothing, or not enough, was measured."""
    if name in known:
        return
    scenario = load_scenario(name)
    if scenario.measured is None:
        raise ParamsError(
            f"--system {name}: nothing was measured of it, expected 'measured: my-rows.yml' in its "
            f"file (params/templates/measurements.yml), or one of {', '.join(known)}.")
    columns = scenario.measured.columns
    if lost := [column for column in VARIED if column not in columns]:
        raise ParamsError(f"{scenario.file.measured}: a row needs the column '{lost[0]}' beside "
                          f"what was measured, found {', '.join(columns)}.")
    if not any(metric in columns for metric in METRICS):
        raise ParamsError(f"{scenario.file.measured}: nothing in it is predicted, expected a "
                          f"column among {', '.join(METRICS)}.")


def _energy(args: argparse.Namespace) -> int:
    """Print power, throughput and energy per token beside what was measured of them.

    Raises ParamsError for a choice of a system or a metric, which this has not.
    """
    from calc.evidence import energy

    if args.system is not None or args.metric is not None:
        raise ParamsError("--energy: holds every table of power against its prediction, expected "
                          "neither --system nor --metric beside it.")
    found = [energy.power_comparison(table) for table in energy.tables()]
    summary = energy.summary(found)
    if args.json:
        print_json({"summary": summary, "tables": [
            {"table": held.table, "scenario": held.scenario,
             "concurrency": held.concurrency.tolist(),
             "measured": {name: values.tolist() for name, values in held.measured.items()},
             "predicted": {name: dict(zip(("value", "low", "high"),
                                          (end.tolist() for end in made.points), strict=True))
                           for name, made in held.predicted.items()}} for held in found]})
        return OK
    for held in found:
        print(f"{held.table}: requests, J/token measured, predicted (80% interval), error")
        made, errors = held.predicted["energy_per_token"], held.errors("energy_per_token")
        for row, requests in enumerate(held.concurrency):
            print(f"{requests:7.0f}  {held.measured['energy_per_token'][row]:6.2f}  "
                  f"{made.at(row).said('en')}  "
                  f"{errors[row]:+.0%}")
    for name, numbers in summary.items():
        print(f"{name}: {numbers['rows']:.0f} rows, median error {numbers['median']:.1%}, mean "
              f"{numbers['mean']:.1%}, worst {numbers['worst']:.0%}, "
              f"{numbers['coverage']:.0%} inside the interval")
    return OK
