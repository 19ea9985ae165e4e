"""``sweep``: many deployments at once, reduced to a front or the best, or written as Parquet."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import click

from calc.commands.options import (
    Number,
    cli_command,
    output_option,
    scenario_argument,
    settings_option,
)
from calc.commands.view import Table, View, joined, progress
from calc.sweeping.plan import CHUNK, PER_DEVICE, Sweep
from calc.sweeping.run import Result, swept
from catalogue import ParamsError, symbols
from catalogue.messages import plural

SHOWN = 16  # rows of the table, without --details


@cli_command(
    "sweep", "h200-r1-vllm-tp8 --axis workload.concurrency=1..64:x2",
    "plan.yml --axis device+cluster.node=nvidia-h20+hgx-h20,nvidia-h200-sxm+hgx-h200 --min e2e",
    "plan.yml --axis workload.input_tokens=1024..131072:x2 --all -o parts", sections=("details",))
@scenario_argument
@click.option("--axis", "axes", multiple=True, metavar="KEY=VALUES", help=(
    "Key of the deployment file, or input listed by `estimate --inputs`, to vary (repeatable). "
    "VALUES: a list 1,2,4; whole numbers 1..64; "
    "doublings 1..64:x2; steps 0..1:+0.1; five values 1..9:/5. Keys that vary together: "
    "device+cluster.node=A+B,C+D."))
@settings_option
@click.option("--min", "smallest", multiple=True, metavar="NAME", help=(
    "Minimise this quantity (repeatable; default: minimise TPOT and TTFT, maximise throughput "
    "per card)."))
@click.option("--max", "largest", multiple=True, metavar="NAME", help=(
    "Maximise this quantity (repeatable). Names: `will-it-fit estimate DEPLOYMENT --csv`."))
@click.option("--best", type=Number(integer=True), metavar="COUNT", help=(
    "Keep the best COUNT; requires exactly one --min or --max (default: the Pareto front)."))
@click.option("--all", "every", is_flag=True, help="Keep every deployment that fits; requires -o.")
@click.option("--quantity", "quantities", multiple=True, metavar="NAME",
              help="Also print this quantity (repeatable).")
@output_option("Write finished chunks as Parquet files to this folder; a later run resumes.", "DIR",
               type=click.Path(path_type=Path))
@click.option("--chunk", type=Number(integer=True), default=f"{CHUNK}", help="Variants per file.")
@click.option("--workers", type=Number(least=1, most=1024, integer=True), metavar="COUNT",
              help="Worker processes (default: number of cores).")
@click.option("--scheduler", metavar="tcp://HOST:PORT", help="Run on a Dask scheduler's workers.")
def command(scenario: str, axes: tuple[str, ...], settings: tuple[str, ...],
            smallest: tuple[str, ...], largest: tuple[str, ...], best: int | None, every: bool,
            quantities: tuple[str, ...], output: Path | None, chunk: int, workers: int | None,
            scheduler: str | None) -> View:
    """Which of many variants of a deployment are best?

    Evaluates every combination of the axes and keeps the Pareto front of the objectives.
    DEPLOYMENT is a catalogue name (`will-it-fit list deployments`) or your own file.
    """
    if every and output is None:
        raise ParamsError("--all keeps every deployment in files, expected -o DIR beside it.")
    if twice := sorted(set(smallest) & set(largest)):
        raise ParamsError(f"--min {twice[0]}: --max states the opposite.")
    sweep = Sweep(scenario, dict(map(axis, axes)), settings,
                  dict.fromkeys(smallest, -1) | dict.fromkeys(largest, +1), best, every,
                  quantities, chunk)
    with progress() as report:
        return sweep_view(swept(sweep, output, workers, scheduler, partial(report, "chunks")))


def axis(text: str) -> tuple[str, str]:
    """Key and values of an axis. Raises ParamsError for a text without either."""
    path, equals, values = text.partition("=")
    if not equals or not path.strip():
        raise ParamsError(f"--axis {text[:60]}: expected KEY=VALUES, such as "
                          "workload.concurrency=16,32.")
    return path.strip(), values


def sweep_view(result: Result) -> View:
    """What is kept, and what was left out and why."""
    plan, data, defined = result.plan, result.as_json(), symbols()
    fit = plan.count - sum(one["rows"] for one in data["left_out"])
    wanted = joined(f"{'highest' if sign > 0 else 'lowest'} {name.replace('_', ' ')}"
                    for name, sign in plan.objectives.items())
    left = [f"left out {one['rows']:,}: {one['reason']}, such as " + " ".join(
        f"{path}={text}" for path, text in one["first"].items())
        for one in sorted(data["left_out"], key=lambda one: -one["rows"])]
    if result.folder:
        left.append(f"{plural(plan.chunks, 'file')} of sweep {plan.key} in {result.folder}")
    rows = [row["settings"] | row for row in data["deployments"]]
    table = Table.of(
        rows, *(path for axis in plan.axes if len(axis.values) > 1 for path in axis.paths),
        *plan.names, **{name: defined[symbol].unit for name, symbol in PER_DEVICE.items()})
    kept = "best" if plan.best else "on the Pareto front"
    return View(
        f"{fit:,} of {plan.count:,} deployments fit" + (
            "" if plan.every else f", {len(rows):,} {kept} ({wanted})"), data, body=[
            *left, *([replace(table, rows=table.rows[:SHOWN])] if rows else [])],
        rows=table, sections={"details": [table]})
