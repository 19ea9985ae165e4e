"""``dev discrepancy``: the error of the formulas by class of systems."""

from __future__ import annotations

import re
from typing import Any

import click
from pydantic_core import to_jsonable_python

from calc.commands.options import cli_command
from calc.commands.view import Table, View
from calc.evidence.classes import UNCALIBRATED, class_label, discrepancy, load_label
from calc.evidence.systems import measured_systems
from calc.yamltext import Flow, dump, rounded
from catalogue import ParamsError, library
from catalogue.entries.measurements import Discrepancy
from catalogue.messages import plural
from catalogue.reading.files import store
from catalogue.reading.yamlfile import display_path

DIGITS = 4
WRITTEN = re.compile(r"^classes:.*\Z", re.MULTILINE | re.DOTALL)  # what is written, to the end


@cli_command("dev discrepancy", "--write")
@click.option("--write", is_flag=True, help=(
    "Store it in params/discrepancies/, for the intervals of all answers."))
def command(write: bool) -> View:
    """Estimate the error of the formulas by class of systems, for the intervals of answers.

    Deviations are of logarithms; *inside* counts rows within what the other systems give.
    """
    from calc.evidence.discrepancy import estimate  # loads SciPy and pandas

    try:
        estimates, width = estimate(measured_systems(), discrepancy())
    except ValueError as error:
        raise ParamsError(f"discrepancy: {error}.") from None
    rows = [(class_label(name)[0], metric, own.systems, own.rows, f"{own.down:.2f}",
             f"{own.up:.2f}", f"{own.within:.2f}", f"{own.inside} ({own.inside / own.rows:.0%})",
             f"{width[name, metric]:.2f}")
            for name, of in estimates.classes.items() for metric, own in of.items()]
    lines = [f"{metric}, {load_label(load)[0]}: with each doubling beyond the measured range the "
             f"error grows by {growth.down:.2f} below and {growth.up:.2f} above; {growth.pairs} "
             f"pairs of rows of {growth.systems} systems, {growth.inside:.0%} inside."
             for load, of_load in estimates.growth.items() for metric, growth in of_load.items()]
    if write:
        path = library.locate("discrepancies", UNCALIBRATED)
        text = with_estimates(path.read_text(encoding="utf-8"), estimates)
        store(path, text, name=display_path(path))
        lines.append(f"stored in {display_path(path)}")
    return View(f"Error of the formulas, {plural(len(estimates.classes), 'class')}".replace(
        "classs", "classes"), stored(estimates), body=[
        Table(("class", "quantity", "systems", "rows", "below", "above", "within", "inside",
               "high/low"), rows), *lines])


def stored(estimates: Discrepancy) -> dict[str, Any]:
    """The estimates as plain data, as their file stores them."""
    data: dict[str, Any] = to_jsonable_python({
        part: getattr(estimates, part) for part in ("classes", "left_out", "growth", "measured")})
    return data


def with_estimates(text: str, estimates: Discrepancy) -> str:
    """The file with what was estimated at its end; all before it as it stands.

    >>> from catalogue.entries.measurements import LeftOut, OwnError
    >>> own = OwnError(down=0.1, up=0.3, within=0.1, systems=2, rows=9, inside=7)
    >>> made = Discrepancy.model_construct(id="x", classes={"all": {"tpot": own}}, left_out={
    ...     "mine": LeftOut(of="all", deviation={"queued": {"tpot": (0.2, 0.4)}})},
    ...     growth={}, measured={})
    >>> print(with_estimates("borrowed: 2  # kept\\n", made), end="")
    borrowed: 2  # kept
    classes:
      all:
        tpot: {down: 0.1, up: 0.3, within: 0.1, systems: 2, rows: 9, inside: 7}
    left_out:
      mine: {of: all, deviation: {queued: {tpot: [0.2, 0.4]}}}
    growth: {}
    measured: {}

    Args:
        text: of the file.
        estimates: of all classes.
    """
    data = stored(estimates)
    for part in ("left_out", "measured"):
        data[part] = {name: Flow(fields) for name, fields in data[part].items()}
    rest = WRITTEN.sub("", text)
    return rest + "\n" * (not rest.endswith("\n")) + dump(rounded(data, DIGITS))
