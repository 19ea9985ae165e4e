"""``dev discrepancy``: the error of the formulas by class of systems."""

from __future__ import annotations

import click

from calc.commands.options import cli_command
from calc.commands.view import Table, View
from calc.evidence import classes
from calc.evidence.systems import measured_systems
from catalogue import ParamsError, library
from catalogue.reading.files import display_path, store


@cli_command("dev discrepancy", "--write")
@click.option("--write", is_flag=True, help=(
    "Save the result in params/discrepancies/ of a source checkout; all predictions then use it."))
def command(write: bool) -> View:
    """Estimate the model error for each class of system; prediction intervals are based on it.

    Errors are standard deviations in log units: 'down' and 'up' are the spreads below and above the
    prediction across the systems of a class, and 'within' is the spread among the rows of one
    system. 'inside' counts rows within the interval estimated from the other systems
    (leave-one-out), and 'high/low' is the ratio of the interval's ends. The error grows with each
    doubling of the load beyond the measured range. Requires the `analysis` extra.
    """
    from calc.evidence.discrepancy import as_json, estimate, with_estimates  # loads SciPy, pandas

    try:
        estimates, widths = estimate(measured_systems(), classes.discrepancy())
    except ValueError as error:
        raise ParamsError(f"discrepancy: {error}.") from None
    data = as_json(estimates)
    errors = [own | {"class": classes.class_label(name)[0], "quantity": metric,
                     "high/low": widths[name, metric]}
              for name, of in data["classes"].items() for metric, own in of.items()]
    growth = [of | {"quantity": metric, "measured by": classes.load_label(load)[0]}
              for load, of_load in data["growth"].items() for metric, of in of_load.items()]
    path = library.locate("discrepancies", classes.UNCALIBRATED)
    if write:
        store(path, with_estimates(path.read_text("utf-8"), estimates), name=display_path(path))
    return View(f"Error of the formulas in {len(estimates.classes)} classes", data, body=[
        Table.of(errors, "class", "quantity", "systems", "rows", "down", "up", "within", "inside",
                 "high/low"),
        Table.of(growth, "quantity", "measured by", "down", "up", "pairs", "systems", "inside",
                 title="Growth beyond the measured range"),
        *([f"stored in {display_path(path)}"] if write else [])])
