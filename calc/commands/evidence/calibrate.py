"""``calibrate``: fit a calibration to its measured rows, or hold a bench's results against what was
predicted; ``--write`` stores it."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import numpy as np
from pydantic import ValidationError
from rich.table import Table

from calc.commands.deciding import benched
from calc.commands.printing import (
    OK,
    amount,
    console,
    input_name,
    listing,
    metric_of,
    print_json,
    spoken,
    store,
    translated,
)
from calc.evidence.systems import VARIED, calibrated_system
from calc.yamltext import Flow, dump, rounded, significant
from catalogue import ParamsError, library, symbols
from catalogue.deployments.measured import refuse_fitting
from catalogue.deployments.physics_inputs import NORMAL_90
from catalogue.entries.measurements import CalibrationFile, Fitted
from catalogue.messages import messages
from catalogue.reading import yamlfile
from catalogue.reading.units import fixed, plain

common = messages("common")
say = messages("calc/commands/evidence/calibrate")

DIGITS = 6
FITTED = re.compile(r"^fitted:.*\n?(?:^[ \t].*\n?|^\n)*", re.MULTILINE)  # a block of a file


def add_arguments(command: argparse.ArgumentParser) -> None:
    """What ``calibrate`` takes, besides ``--json``."""
    command.add_argument("name", help=spoken(say("help-name")))
    command.add_argument("--write", action="store_true", help=spoken(say("help-write")))


def run(args: argparse.Namespace) -> int:
    """Fit a calibration to its rows; print it and, if asked to, store it.

    Raises ParamsError for a calibration that cannot be used and a file that cannot be written.
    """
    refuse_fitting(args.name)
    if benched.is_results(args.name):
        return benched.run(args.name, args.write, args.json, fitted_file)
    chosen: CalibrationFile = library.load("calibrations", args.name)
    fitted, ranges = fit(args.name)
    if args.write:
        path = library.locate("calibrations", args.name)
        store(path, with_fitted(path.read_text(encoding="utf-8"), fitted))
    data = fitted.model_dump()
    if args.json:
        print_json({"name": chosen.id, **data, "ranges": ranges})
    else:
        print_fit(chosen, fitted, ranges)
        if args.write:
            print(spoken(common("stored-in", path=yamlfile.display_path(path))))
    return OK


def fitted_file(path: Path) -> tuple[Fitted, str]:
    """A calibration's file fitted, and its text with what came out; nothing is written.

    Raises ParamsError as :func:`fit`.
    """
    fitted, _ = fit(str(path))
    return fitted, with_fitted(path.read_text(encoding="utf-8"), fitted)


def fit(name: str) -> tuple[Fitted, dict[str, list[float]]]:
    """A calibration's mechanisms fitted to its rows, and their 80% ranges by name (SI).

    Numbers have six digits, so that the file is the same wherever the fit is repeated.

    Raises ParamsError for a mechanism that its system does not have, too few rows, and rows that
    are those of another system.
    """
    from calc.evidence import validation

    chosen: CalibrationFile = library.load("calibrations", name)
    refuse_fitting(chosen.scenario)
    try:
        system = calibrated_system(name)
        rows = validation.calibrated_rows(system, chosen)
        calibration = validation.calibrate(system, chosen.metric, tuple(chosen.mechanisms),
                                           tuple(rows.tolist()))
    except ValueError as error:
        raise ParamsError(spoken(common("problem", option=f"calibration '{chosen.id}'",
                                        why=str(error)))) from None
    deviation = NORMAL_90 * np.sqrt(np.diag(calibration.covariance))
    ranges = {knob.name: [_six(knob.at(float(z + sign * d))) for sign in (-1, 1)]
              for knob, z, d in zip(calibration.knobs, calibration.z, deviation, strict=True)}
    z = [_six(float(number)) for number in calibration.z]
    try:
        return Fitted(
            values={knob.name: _six(knob.at(number))
                    for knob, number in zip(calibration.knobs, z, strict=True)},
            coordinates=z, covariance=[[_six(float(cell)) for cell in row]
                                       for row in calibration.covariance],
            noise=_six(calibration.noise), rows=len(rows),
            extent={name: (float(system.rows[name][rows].min()),
                           float(system.rows[name][rows].max())) for name in VARIED}), ranges
    except ValidationError:  # beyond what its file may hold
        raise ParamsError(spoken(say("too-far", name=chosen.id))) from None


def _six(number: float) -> float:
    """The nearest number of six significant digits; of what is near to nothing, nothing."""
    return float(significant(number, DIGITS)) if abs(number) > 1e-15 else 0.0


def with_fitted(text: str, fitted: Fitted) -> str:
    """A calibration's file with what was fitted at its end; all else as it stands.

    >>> from catalogue.entries.measurements import Fitted
    >>> one = Fitted(values={"host_sync": 2e-5}, coordinates=[0.5], covariance=[[1.0]], noise=0.01,
    ...              rows=3, extent={"concurrency": (1, 4)})
    >>> print(with_fitted("metric: tpot  # kept\\n", one), end="")
    metric: tpot  # kept
    fitted:
      values: {host_sync: 2.0e-05}
      coordinates: [0.5]
      covariance:
        - [1]
      noise: 0.01
      rows: 3
      extent: {concurrency: [1, 4]}

    Args:
        text: of the file.
        fitted: the result.
    """
    rest = FITTED.sub("", text)
    data = rounded(fitted.model_dump(), DIGITS)
    block = dump({"fitted": data | {"extent": Flow(data["extent"])}})
    return rest + "\n" * (not rest.endswith("\n")) + block


def print_fit(chosen: CalibrationFile, fitted: Fitted, ranges: dict[str, list[float]]) -> None:
    """Print fitted values beside their ranges, and the errors."""
    units = symbols()
    screen = console()
    table = Table(title=spoken(say(
        "title", name=translated(chosen.name), metric=metric_of(chosen.metric),
        rows=fitted.rows)))
    for column in (common("mechanism"), common("value-2"), say("range"), say("coordinate"),
                   say("covariance")):
        table.add_column(spoken(column), overflow="fold")
    for name, z, row in zip(fitted.values, fitted.coordinates, fitted.covariance, strict=True):
        unit = units[name].unit if name in units else "1"
        low, high = ranges[name]
        table.add_row(input_name(name, name), amount(fitted.values[name], unit),
                      f"{amount(low, unit)} – {amount(high, unit)}", fixed(z, 3),
                      "  ".join(plain(cell) for cell in row))
    screen.print(table)
    screen.print(spoken(say("residuals", noise=f"{fitted.noise:.2%}")))
    beyond = [input_name(name, name)
              for name, z in zip(fitted.values, fitted.coordinates, strict=True)
              if abs(z) > NORMAL_90]
    if beyond:
        screen.print(spoken(say("beyond", names=listing(beyond))))
    extent = spoken(("; ", "；")).join(
        spoken(say("extent", name=input_name(name, name.replace("_", " ")), low=f"{low:g}",
                   high=f"{high:g}")) for name, (low, high) in fitted.extent.items())
    screen.print(spoken(say("fitted-to", extent=extent)))
