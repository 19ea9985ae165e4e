"""``calibrate``: fit a calibration to measured rows, or compare a bench with its predictions."""

from __future__ import annotations

from pathlib import Path

import click

from calc.answer.display import heading
from calc.commands.options import cli_command
from calc.commands.view import Block, Table, View, joined
from calc.evidence import bench
from calc.evidence.bench import METRICS, Results
from calc.evidence.calibrating import fit_calibration, fit_files, with_fitted
from calc.launching.directory import write as write_directory
from calc.uncertainty import Amount
from catalogue import library, symbols
from catalogue.deployments.measured import refuse_fitting
from catalogue.deployments.physics_inputs import NORMAL_90
from catalogue.entries.calibrations import CalibrationFile, Fitted
from catalogue.reading.files import display_path, is_file, is_folder, store
from catalogue.reading.units import DIMENSIONLESS, fixed, human

FOLDER = "calibration"


@cli_command("calibrate", "s2-910b1-awq-tpot", "my-calibration.yml --write",
             "service/bench/results --write")
@click.argument("name", metavar="CALIBRATION|RESULTS")
@click.option("--write", is_flag=True, help=(
    "Write the fitted values to the calibration file. With RESULTS, write a measurement, a "
    "deployment and a calibration file."))
def command(name: str, write: bool) -> View:
    """Which efficiencies best fit the measurements? Do benchmark results match the predictions?

    A calibration is a set of efficiencies fitted to one measured system. CALIBRATION is a catalogue
    name (`will-it-fit list calibrations`) or your own file. RESULTS is a results folder or file
    from the benchmark script written by `will-it-fit deploy`.
    """
    refuse_fitting(name)
    path = Path(name)
    if is_folder(path) or (path.suffix in bench.ENDINGS and is_file(path)):
        return bench_view(bench.read(path), write)
    chosen: CalibrationFile = library.load("calibrations", name)
    fitted, ranges = fit_calibration(name)
    if write:
        path = library.locate("calibrations", name)
        store(path, with_fitted(path.read_text("utf-8"), fitted), name=display_path(path))
    extent = joined(f"{name.replace('_', ' ')} {low:g} to {high:g}"
                    for name, (low, high) in fitted.extent.items())
    return View(
        f"FITTED to {fitted.rows} rows of {heading(chosen.metric)}: {chosen.name['en']}, residuals "
        f"{fitted.noise:.1%}", {"name": chosen.id, **fitted.model_dump(), "ranges": ranges},
        body=[Table(("mechanism", "unit", "value", "prior deviations", "80% range of prior"), [
            (name, unit_of(name), Amount(value, low, high, unit_of(name)), fixed(z, 2),
             "outside" if abs(z) > NORMAL_90 else "inside")
            for (name, value), z, (low, high) in zip(
                fitted.values.items(), fitted.coordinates, ranges.values(), strict=True)]),
            f"Valid for {extent}.", *([f"Stored in {display_path(path)}."] if write else [])])


def unit_of(mechanism: str) -> str:
    """SI unit of a mechanism."""
    return symbols()[mechanism].unit if mechanism in symbols() else DIMENSIONLESS


def bench_view(results: Results, write: bool) -> View:
    """Measured values of a bench beside their predictions; writes files if asked to."""
    rows = [one.as_json() for one in results.values]
    inside = sum(row["inside"] for row in rows)
    remarks = [line for run in results.runs for line in run.remarks]
    body: list[Block] = [Table(
        ("run", "quantity", "unit", "measured", "predicted", "inside", "as other runs"), [
            (row["run"], heading(row["metric"]), unit := METRICS[row["metric"]],
             Amount.exactly(row["measured"], unit),
             Amount(row["predicted"], row["low"], row["high"], unit),
             row["inside"], row["agrees"]) for row in rows]), *remarks]
    if results.missing:
        body.append(f"Not measured: {joined(results.missing)}.")
    fitted = None
    if write:
        files, fitted = fit_files(results)
        folder = results.path.parent.parent / FOLDER
        write_directory(folder, files)
        body += [f"Stored in {folder}: {joined(files)}.", *fit_lines(folder, fitted)]
    plan = results.plan
    return View(f"{inside} of {len(rows)} measured values lie inside their 80% intervals: "
                f"{plan.scenario}, {plan.engine}",
                {"scenario": plan.scenario, "engine": plan.engine, "inside": inside,
                 "of": len(rows), "rows": rows, "missing": list(results.missing),
                 "remarks": remarks, "fitted": fitted and fitted.model_dump()},
                inside == len(rows), body=body)


def fit_lines(folder: Path, fitted: Fitted | None) -> list[str]:
    """What was fitted to the results of a bench, and the command that uses it."""
    if fitted is None:
        return ["Nothing is fitted: two pools, or too few runs without a prefix."]
    values = joined(f"{name} {human(value, unit_of(name))}"
                    for name, value in fitted.values.items())
    return [f"Fitted to {fitted.rows} rows: {values}.",
            f"will-it-fit estimate {folder / 'scenario.yml'} --calibration "
            f"{folder / 'calibration.yml'}"]
