"""``dev validate``: predictions beside measured rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from calc.answer.gate import GateCell, gate_cells, gate_names, summarise
from calc.commands.options import cli_command
from calc.commands.view import Block, Table, View, joined
from calc.evidence.systems import METRICS, VARIED, measured_systems
from calc.uncertainty import Amount
from catalogue import ParamsError, load_scenario
from catalogue.entries.measurements import METRIC_UNITS
from catalogue.messages import plural

if TYPE_CHECKING:
    from calc.evidence.validation import Result

CHOICES = tuple(dict.fromkeys((*METRICS, *METRIC_UNITS)))
ERRORS = ("mean", "median", "bias", "worst", "coverage")


@cli_command("dev validate", "--system h200-r1-sglang-mtp", "--system plan.yml", "--energy")
@click.option("--system", metavar="NAME", help=(
    "This measured deployment only, or a file of yours whose 'measured' names your rows."))
@click.option("--metric", type=click.Choice(CHOICES), help="This quantity only.")
@click.option("--energy", is_flag=True, help="Energy per token, where power was measured.")
def command(system: str | None, metric: str | None, energy: bool) -> View:
    """Compare predictions with measured rows: error, bias, coverage and width of intervals.

    *blind* is the median error of what was predicted before the rows were known. Systems of
    params/gates/, to which nothing is fitted, have a table of their own.
    """
    if energy:
        if system is not None or metric is not None:
            raise ParamsError("--energy: compares every table of power, expected neither --system "
                              "nor --metric beside it.")
        return energy_view()
    from calc.evidence import validation  # SciPy is loaded only where something is fitted

    gates = [name for name in gate_names() if system in (None, name)]
    if system is not None and not gates:
        check_measured(system, [one.id for one in measured_systems()])
    chosen = ([] if system in gates or metric not in (None, *METRICS)
              else validation.results(system, metric))
    cells = [cell for name in gates for cell in gate_cells(name) if metric in (None, cell.metric)]
    body: list[Block] = [result_table(chosen)] if chosen else []
    if cells:
        body += [gate_table(cells), *refused_lines(cells)]
    return View(f"{plural(len(chosen), 'prediction')} and {plural(len(cells), 'value')} of gates "
                "compared with measurements", validation.as_json(chosen) | gate_json(cells),
                body=body)


def result_table(chosen: Sequence[Result]) -> Table:
    """A row per system, metric and protocol."""
    rows = []
    for result in chosen:
        errors = result.predictions.summary()
        rows.append((result.system, result.metric, result.protocol, f"{errors['rows']}",
                     *error_cells(errors, int(result.predictions.worst_row) + 1),
                     f"{errors['width']:.2f}",
                     f"{result.blind.summary()['median']:.1%}" if result.blind else ""))
    return Table(("system", "metric", "protocol", "rows", *ERRORS, "width", "blind"), rows)


def error_cells(errors: Mapping[str, float], worst_row: int) -> tuple[str, ...]:
    """Mean, median, bias, worst and coverage, as both tables have them."""
    return (f"{errors['mean']:.1%}", f"{errors['median']:.1%}", f"{errors['bias']:.2f}",
            f"{errors['worst']:.1%} (row {worst_row})",
            "" if math.isnan(errors["coverage"]) else f"{errors['coverage']:.0%}")


def gate_json(cells: Sequence[GateCell]) -> dict[str, Any]:
    """Summaries of the gates and the rows that are refused."""
    return {"gate": [summary.as_json() for summary in summarise(cells)],
            "refused": [{"system": cell.system, "row": cell.row, "metric": cell.metric,
                         "reason": cell.refused} for cell in cells if cell.refused]}


def gate_table(cells: Sequence[GateCell]) -> Table:
    """A row per system and metric of the gates, the worst mean error first."""
    rows = [(summary.system, summary.metric, f"{summary.rows}", f"{summary.refused}",
             *error_cells(vars(summary), summary.worst_row))
            for summary in sorted(summarise(cells), key=lambda one: -one.mean)]
    return Table(("system", "metric", "rows", "refused", *ERRORS), rows, title=(
        "Never fitted to (params/gates/); bias: geometric mean of predicted over measured"))


def refused_lines(cells: Sequence[GateCell]) -> list[str]:
    """Rows of each system that `estimate` refuses."""
    lines = []
    for system in dict.fromkeys(cell.system for cell in cells if cell.refused):
        reasons = {cell.row: cell.refused for cell in cells
                   if cell.system == system and cell.refused}
        lines.append(f"{system}: rows refused as asked, predicted where possible: "
                     + joined(f"{row} ({reason})" for row, reason in reasons.items()))
    return lines


def check_measured(name: str, measured: list[str]) -> None:
    """Raise ParamsError for a deployment of which nothing, or not enough, was measured."""
    if name in measured:
        return
    scenario = load_scenario(name)
    if scenario.measured is None:
        raise ParamsError(f"--system {name}: nothing was measured of it, expected 'measured: "
                          "my-rows.yml' in its file (`new measurements`), or one of "
                          f"{joined(measured)}.")
    columns, file = scenario.measured.columns, str(scenario.file.measured)
    if lost := [column for column in VARIED if column not in columns]:
        raise ParamsError(f"{file}: a row needs the column '{lost[0]}' beside what was measured, "
                          f"found {joined(columns)}.")
    if not any(metric in columns for metric in METRICS):
        raise ParamsError(f"{file}: nothing in it is predicted, expected a column among "
                          f"{joined(METRICS)}.")


def energy_view() -> View:
    """Power, throughput and energy per token beside measurements."""
    from calc.evidence import energy

    comparisons = [energy.power_comparison(table) for table in energy.tables()]
    summary = energy.summary(comparisons)
    data: dict[str, Any] = {"summary": summary, "tables": [
        {"table": comparison.table, "scenario": comparison.table,
         "concurrency": comparison.concurrency.tolist(),
         "measured": {name: errors.measured.tolist()
                      for name, errors in comparison.predictions.items()},
         "predicted": {name: {"value": errors.predicted.tolist(), "low": errors.low.tolist(),
                              "high": errors.high.tolist()}
                       for name, errors in comparison.predictions.items()}}
        for comparison in comparisons]}
    rows = []
    for comparison in comparisons:
        of = comparison.predictions["energy_per_token"]
        rows += [(comparison.table, f"{requests:.0f}", f"{of.measured[row]:.2f}",
                  Amount(of.predicted[row], of.low[row], of.high[row], "1"),
                  f"{of.errors[row]:+.0%}")
                 for row, requests in enumerate(comparison.concurrency)]
    lines = [f"{name}: {numbers['rows']:.0f} rows, median error {numbers['median']:.1%}, mean "
             f"{numbers['mean']:.1%}, worst {numbers['worst']:.0%}, {numbers['coverage']:.0%} "
             "inside the interval" for name, numbers in summary.items()]
    return View("Energy per token of the cards", data, body=[
        Table(("table", "requests", "measured J/token", "predicted (80% interval)", "error"),
              rows), *lines])
