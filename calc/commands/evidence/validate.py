"""``validate``: every prediction of a measured row beside its measurement."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from calc.answer.gate import GateCell, gate_cells, gate_names, summarise
from calc.commands.printing import (
    OK,
    formatted,
    listing,
    metric_of,
    print_columns,
    print_json,
    spoken,
)
from calc.evidence.systems import METRICS, VARIED, measured_systems
from calc.uncertainty import Amount
from catalogue import ParamsError, load_scenario
from catalogue.entries.measurements import METRIC_UNITS
from catalogue.messages import messages

if TYPE_CHECKING:
    from calc.evidence.validation import Result

say = messages("calc/commands/evidence/validate")

HEADER = ("system", "metric", "protocol", "rows", "mean", "median", "bias", "worst", "coverage",
          "width", "blind")
TEXTS = 3  # of these columns are words, the others numbers
GATE_HEADER = ("system", "metric", "rows", "refused", "mean", "median", "bias", "worst",
               "coverage")
GATE_TEXTS = 2
CHOICES = tuple(dict.fromkeys((*METRICS, *METRIC_UNITS)))


def add_arguments(command: argparse.ArgumentParser) -> None:
    """What ``validate`` takes, besides ``--json``."""
    command.add_argument("--system", metavar="NAME", help=spoken(say("help-system")))
    command.add_argument("--metric", choices=CHOICES, help=spoken(say("help-metric")))
    command.add_argument("--energy", action="store_true", help=spoken(say("help-energy")))


def run(args: argparse.Namespace) -> int:
    """Print errors, bias, coverage and width of every prediction of a measured row.

    The last column is the median error of what was predicted before rows were known. Systems that
    are tested on and never fitted to follow in a table of their own.

    Raises ParamsError for a system that is not measured.
    """
    if args.energy:
        return validate_energy(args)
    from calc.evidence import validation  # SciPy is loaded only where something is fitted

    gates = [name for name in gate_names() if args.system in (None, name)]
    if args.system is not None and not gates:
        check_measured(args.system, [system.id for system in measured_systems()])
    chosen = ([] if args.system in gates or args.metric not in (None, *METRICS)
              else validation.results(args.system, args.metric))
    cells = [cell for name in gates for cell in gate_cells(name)
             if args.metric in (None, cell.metric)]
    if args.json:
        print_json(validation.as_json(chosen) | gate_json(cells))
        return OK
    if chosen:
        print_results(chosen)
    if cells:
        print_gate(cells)
    return OK


def print_results(chosen: Sequence[Result]) -> None:
    """A line per system, metric and protocol."""
    rows = [tuple(spoken(say("column", name=name)) for name in HEADER)]
    for result in chosen:
        errors = result.predictions.summary()
        rows.append((result.system, metric_of(result.metric),
                     spoken(say("protocol", name=result.protocol)), f"{errors['rows']}",
                     *_errors(errors, int(result.predictions.worst_row) + 1),
                     f"{errors['width']:.2f}",
                     f"{result.blind.summary()['median']:.1%}" if result.blind else ""))
    print_columns(rows, TEXTS)


def _errors(errors: Mapping[str, float], worst_row: int) -> tuple[str, ...]:
    """Mean, median, bias, worst and coverage, as both tables have them."""
    return (f"{errors['mean']:.1%}", f"{errors['median']:.1%}", f"{errors['bias']:.2f}",
            spoken(say("worst", error=f"{errors['worst']:.1%}", row=worst_row)),
            "" if math.isnan(errors["coverage"]) else f"{errors['coverage']:.0%}")


def gate_json(cells: Sequence[GateCell]) -> dict[str, Any]:
    """Summaries of the gates and the rows that are refused."""
    return {"gate": [summary.as_json() for summary in summarise(cells)],
            "refused": [{"system": cell.system, "row": cell.row, "metric": cell.metric,
                         "reason": cell.refused} for cell in cells if cell.refused]}


def print_gate(cells: Sequence[GateCell]) -> None:
    """A line per system and metric that is tested on, the worst mean error first."""
    rows = [tuple(spoken(say("column", name=name)) for name in GATE_HEADER)]
    for summary in sorted(summarise(cells), key=lambda one: -one.mean):
        rows.append((summary.system, metric_of(summary.metric), f"{summary.rows}",
                     f"{summary.refused}", *_errors(vars(summary), summary.worst_row)))
    print(f"\n{spoken(say('test-only'))}")
    print_columns(rows, GATE_TEXTS)
    for system in dict.fromkeys(cell.system for cell in cells if cell.refused):
        reasons = {cell.row: cell.refused for cell in cells
                   if cell.system == system and cell.refused}
        print(spoken(say("refused-rows", system=system, rows=", ".join(
            f"{row} ({reason})" for row, reason in reasons.items()))))


def check_measured(name: str, measured: list[str]) -> None:
    """Raises ParamsError for a deployment of which nothing, or not enough, was measured."""
    if name in measured:
        return
    scenario = load_scenario(name)
    if scenario.measured is None:
        raise ParamsError(spoken(say("nothing-measured", name=name, known=listing(measured))))
    columns, file = scenario.measured.columns, str(scenario.file.measured)
    if lost := [column for column in VARIED if column not in columns]:
        raise ParamsError(spoken(say("lacks-column", file=file, column=lost[0],
                                     found=listing(columns))))
    if not any(metric in columns for metric in METRICS):
        raise ParamsError(spoken(say("nothing-predicted", file=file, names=listing(METRICS))))


def validate_energy(args: argparse.Namespace) -> int:
    """Print power, throughput and energy per token beside what was measured of them.

    Raises ParamsError for a choice of a system or a metric, which this has not.
    """
    from calc.evidence import energy

    if args.system is not None or args.metric is not None:
        raise ParamsError(spoken(say("neither")))
    comparisons = [energy.power_comparison(table) for table in energy.tables()]
    summary = energy.summary(comparisons)
    if args.json:
        print_json({"summary": summary, "tables": [
            {"table": comparison.table, "scenario": comparison.table,
             "concurrency": comparison.concurrency.tolist(),
             "measured": {name: errors.measured.tolist()
                          for name, errors in comparison.predictions.items()},
             "predicted": {name: {"value": errors.predicted.tolist(), "low": errors.low.tolist(),
                                  "high": errors.high.tolist()}
                           for name, errors in comparison.predictions.items()}}
            for comparison in comparisons]})
        return OK
    for comparison in comparisons:
        print(spoken(say("table", table=comparison.table)))
        of = comparison.predictions["energy_per_token"]
        for row, requests in enumerate(comparison.concurrency):
            amount = Amount(of.predicted[row], of.low[row], of.high[row], "1")
            print(f"{requests:7.0f}  {of.measured[row]:6.2f}  "
                  f"{formatted(amount)}  {of.errors[row]:+.0%}")
    for name, numbers in summary.items():
        print(spoken(say(
            "summary", name=name, rows=f"{numbers['rows']:.0f}", median=f"{numbers['median']:.1%}",
            mean=f"{numbers['mean']:.1%}", worst=f"{numbers['worst']:.0%}",
            coverage=f"{numbers['coverage']:.0%}")))
    return OK
