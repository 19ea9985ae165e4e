"""``dev validate``: predictions beside measured rows."""

from __future__ import annotations

import click

from calc.answer import gate
from calc.commands.options import cli_command
from calc.commands.view import SHARE, Table, View
from calc.evidence.systems import METRICS
from catalogue import ParamsError
from catalogue.entries.measurements import METRIC_UNITS
from catalogue.messages import plural

CHOICES = tuple(dict.fromkeys((*METRICS, *METRIC_UNITS)))
SHARES = dict.fromkeys(("mean", "median", "worst", "coverage", "blind"), SHARE)


@cli_command("dev validate", "--system h200-r1-sglang-mtp", "--metric tpot", "--energy")
@click.option("--system", metavar="NAME",
              help="Only this measured deployment, or a deployment file with `measured:`.")
@click.option("--metric", type=click.Choice(CHOICES), help="Only this metric.")
@click.option("--energy", is_flag=True, help="Compare energy per token, where power was measured.")
def command(system: str | None, metric: str | None, energy: bool) -> View:
    """Compare predictions with measurements: error, bias, coverage and width of intervals.

    Column 'blind': median error of predictions made before the measurements were available.
    Held-out systems, never used for fitting, are listed in a separate table.
    """
    if energy:
        if system is not None or metric is not None:
            raise ParamsError("--energy: compares every table of power, expected neither --system "
                              "nor --metric beside it.")
        return energy_view()
    from calc.evidence import validation  # SciPy is loaded only where something is fitted

    gates = [name for name in gate.gate_names() if system in (None, name)]
    results = validation.as_json([] if gates == [system] or metric not in (None, *METRICS)
                                 else validation.results(system, metric))
    gated = gate.as_json([cell for name in gates for cell in gate.gate_cells(name)
                          if metric in (None, cell.metric)])
    rows = [row | {"blind": row["blind"] and row["blind"]["median"]}
            for of in results.values() for row in of]
    tables = [
        Table.of(rows, "system", "metric", "protocol", "rows", "mean", "median", "bias", "worst",
                 "coverage", "width", "blind", **SHARES),
        Table.of(gated["gate"], "system", "metric", "rows", "refused", "mean", "median", "bias",
                 "worst", "worst_row", "coverage", title="Never fitted to (params/gates/)",
                 **SHARES),
        Table.of(gated["refused"], "system", "row", "metric", "reason", title="Refused rows")]
    values = sum(one["rows"] for one in gated["gate"])
    return View(f"{plural(len(rows), 'prediction')} and {plural(values, 'value')} of gates "
                "compared with measurements", results | gated,
                body=[table for table in tables if table.rows])


def energy_view() -> View:
    """Power, throughput and energy per token beside measurements."""
    from calc.evidence import energy

    data = energy.as_json([energy.power_comparison(table) for table in energy.tables()])
    rows = [{"quantity": name} | errors for name, errors in data["summary"].items()]
    return View("Power and energy per token of the cards, compared with measurements", data, body=[
        Table.of(rows, "quantity", "rows", "mean", "median", "worst", "coverage", **SHARES)])
