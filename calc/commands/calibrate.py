"""``calibrate``: fit a calibration to measured rows, or compare a bench with its predictions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from calc.commands.options import cli_command
from calc.commands.view import Table, View, heading, joined
from calc.evidence import bench
from calc.evidence.bench import METRICS, Measured, Results
from calc.evidence.calibrating import fit_calibration, fit_files, with_fitted
from calc.launching.directory import write as write_directory
from catalogue import library, symbols
from catalogue.deployments.measured import refuse_fitting
from catalogue.deployments.physics_inputs import NORMAL_90
from catalogue.entries.calibrations import CalibrationFile, Fitted
from catalogue.reading.files import display_path, is_file, is_folder, store
from catalogue.reading.units import fixed, human, span

FOLDER = "calibration"
DIFFERS = 0.01  # relative error of a mean length, from which on it is reported


@cli_command("calibrate", "s2-910b1-awq-tpot", "my-calibration.yml --write",
             "service/bench/results --write")
@click.argument("name", metavar="CALIBRATION|RESULTS")
@click.option("--write", is_flag=True, help=(
    "Save the fit to the calibration file; for benchmark results, write measurement, deployment "
    "and calibration files."))
def command(name: str, write: bool) -> View:
    """Which efficiencies explain the measurements? Do benchmark results match the predictions?

    CALIBRATION is a catalogue name (`will-it-fit list calibrations`) or your own file. RESULTS is a
    results folder or file from the benchmark script written by `will-it-fit deploy`.
    """
    refuse_fitting(name)
    path = Path(name)
    if is_folder(path) or (path.suffix in bench.ENDINGS and is_file(path)):
        return bench_view(bench.read(path), write)
    chosen: CalibrationFile = library.load("calibrations", name)
    fitted, ranges = fit_calibration(name)
    stored = ""
    if write:
        path = library.locate("calibrations", name)
        shown = display_path(path)
        store(path, with_fitted(path.read_text(encoding="utf-8"), fitted), name=shown)
        stored = f"Stored in {shown}."
    units = {name: symbols()[name].unit if name in symbols() else "1" for name in fitted.values}
    rows = [(name, human(value, units[name]), span(ranges[name][0], ranges[name][1], units[name]),
             fixed(z, 2), "outside" if abs(z) > NORMAL_90 else "inside")
            for (name, value), z in zip(fitted.values.items(), fitted.coordinates, strict=True)]
    extent = joined(f"{name.replace('_', ' ')} {low:g} to {high:g}"
                    for name, (low, high) in fitted.extent.items())
    return View(
        f"FITTED to {fitted.rows} rows of {heading(chosen.metric)}: {chosen.name['en']}, residuals "
        f"{fitted.noise:.1%}", {"name": chosen.id, **fitted.model_dump(), "ranges": ranges},
        body=[Table(("mechanism", "value", "80% range", "prior deviations", "80% range of prior"),
                    rows), f"Valid for {extent}.", *filter(None, [stored])],
        rows=Table(("mechanism", "unit", "value", "low", "high"), [
            (name, units[name], value, *ranges[name]) for name, value in fitted.values.items()]))


def bench_view(results: Results, write: bool) -> View:
    """Measured values of a bench beside their predictions; writes files if asked to."""
    fitted, lines = None, ["--write stores the measurements and a calibration to them."]
    if write:
        files, fitted = fit_files(results)
        folder = results.path.parent.parent / FOLDER
        write_directory(folder, files)
        lines = [f"Stored in {folder}: {joined(files)}.", *fit_lines(folder, fitted)]
    inside = sum(one.inside for one in results.values)
    alike = [one.agrees for one in results.values if one.agrees is not None]
    remarks = [line for run in results.runs for line in _remarks(run)]
    body: list[Any] = [bench_table(results), *remarks]
    if alike:
        body.append(f"{sum(alike)} of {len(alike)} deviate as the other runs do, within the "
                    "scatter of one system (80%).")
    if results.missing:
        body.append(f"Not measured: {joined(results.missing)}.")
    rows = [{"run": one.run, "metric": one.metric, "measured": one.measured,
             "predicted": one.predicted.value, "low": one.predicted.low,
             "high": one.predicted.high, "inside": one.inside, "agrees": one.agrees}
            for one in results.values]
    data = {"scenario": results.plan.scenario, "engine": results.plan.engine, "inside": inside,
            "of": len(rows), "rows": rows, "missing": list(results.missing),
            "remarks": remarks, "fitted": fitted.model_dump() if fitted else None}
    return View(f"{inside} of {len(results.values)} measured values lie inside their 80% "
                f"intervals: {results.plan.scenario}, {results.plan.engine}", data,
                inside == len(results.values), body=[*body, *lines],
                rows=Table(tuple(rows[0]), [tuple(row.values()) for row in rows]))


def bench_table(results: Results) -> Table:
    """Predicted and measured quantities of every run."""
    rows = []
    for one in results.values:
        unit, ends = METRICS[one.metric], one.predicted
        where = "yes" if one.inside else "below" if one.measured < ends.low else "above"
        alike = "" if one.agrees is None else "yes" if one.agrees else "no"
        rows.append((one.run, heading(one.metric), human(one.measured, unit),
                     human(ends.value, unit), span(ends.low, ends.high, unit), where, alike))
    return Table(("run", "quantity", "measured", "predicted", "80% interval", "inside",
                  "as other runs"), rows)


def fit_lines(folder: Path, fitted: Fitted | None) -> list[str]:
    """What was fitted to the results of a bench, and the command that uses it."""
    if fitted is None:
        return ["Nothing is fitted: two pools, or too few runs without a prefix."]
    defined = symbols()
    values = joined(f"{name} {human(value, defined[name].unit if name in defined else '1')}"
                    for name, value in fitted.values.items())
    return [f"Fitted to {fitted.rows} rows: {values}.",
            f"will-it-fit estimate {folder / 'scenario.yml'} --calibration "
            f"{folder / 'calibration.yml'}"]


def _remarks(run: Measured) -> list[str]:
    """How the requests of a run differ from the planned ones."""
    name, planned, counted = run.run.name, run.run.asked, run.counted
    lines = []
    if counted["requests"] < planned["requests"]:
        lines.append(f"{name}: {counted['requests']:,.0f} of {planned['requests']:,.0f} requests "
                     "were answered.")
    for what, mean, wanted in (
            ("prompts", counted["input_tokens"], planned["input_tokens"]),
            ("answers", counted["output_tokens"], planned["output_tokens"])):
        if abs(mean / wanted - 1) > DIFFERS:
            lines.append(f"{name}: {what} of {human(mean)} tokens on average, {wanted:,.0f} were "
                         "asked for and predicted.")
    return lines
