"""What ``calibrate`` makes of a bench's results: a comparison, and files of the reader's own."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from rich.table import Table

from calc.commands.printing import (
    OK,
    amount,
    console,
    input_name,
    listing,
    named,
    print_json,
    spoken,
    tell,
)
from calc.evidence import bench
from calc.evidence.bench import COLUMNS, METRICS, Measured, Results
from calc.evidence.systems import measured_system
from calc.launching.directory import write
from catalogue import ParamsError, load_scenario, symbols
from catalogue.deployments import loading
from catalogue.entries.measurements import Fitted
from catalogue.library import over
from catalogue.messages import Pair, by_language, messages
from catalogue.reading import yamlfile
from catalogue.reading.files import drafted, is_file, is_folder
from catalogue.reading.values import is_path

common = messages("common")
say = messages("calc/commands/deciding/benched")

Fit = Callable[[Path], tuple[Fitted, str]]
FOLDER = "calibration"
FITTED = "tpot"
DIFFERS = 0.01  # of a mean length, from which on it is reported
_LEFT_OUT = ("variants", "pools", "documented", "document", "section", "id", "note", "measured")
_ENTRIES = {"model": "models", "device": "devices", "precision": "precisions"}


def is_results(name: str) -> bool:
    """Whether a name is that of results of a bench: a folder, or a JSON file."""
    path = Path(name)
    return is_folder(path) or (path.suffix in bench.ENDINGS and is_file(path))


def run(name: str, store: bool, json: bool, fit: Fit) -> int:
    """Print predicted beside measured; if asked to, store measurements and a calibration.

    Args:
        name: folder of results, or one of them.
        store: whether files are written, beside the plan.
        json: whether data are printed.
        fit: fits a calibration's file, and gives its text with what came out.

    Raises ParamsError, one sentence, for results that cannot be used or files that cannot be
    written.
    """
    results = bench.read(Path(name))
    made = fit_files(results, fit) if store else None
    folder = results.path.parent.parent / FOLDER
    if made is not None:
        write(folder, made[0])
    if json:
        print_json(answer_data(results, made[1] if made else None))
        return OK
    screen = console()
    screen.print(quantity_table(results))
    for line in summary_lines(results, folder if made else None, made[1] if made else None):
        tell(screen, line)
    return OK


def answer_data(results: Results, fitted: Fitted | None) -> dict[str, Any]:
    """Measured rows, whether they agree, and the fitted calibration, as plain data."""
    rows = [{"run": one.run, "metric": one.metric, "measured": one.measured,
             "predicted": one.predicted.value, "low": one.predicted.low,
             "high": one.predicted.high, "inside": one.inside, "agrees": one.agrees}
            for one in results.values]
    return {"scenario": results.plan.scenario, "engine": results.plan.engine,
            "inside": sum(one.inside for one in results.values), "of": len(results.values),
            "rows": rows, "missing": list(results.missing),
            "remarks": [line for run in results.runs for line, _ in _remarks(run)],
            "fitted": fitted.model_dump() if fitted else None}


def quantity_table(results: Results) -> Table:
    """Table of predicted and measured quantities of every run."""
    table = Table(title=spoken((", ", "，")).join([results.plan.scenario, results.plan.engine]))
    for column in (say("run"), common("quantity"), common("predicted"), common("interval"),
                   common("measured"), say("inside"), say("as-the-others")):
        table.add_column(spoken(column), overflow="fold")
    before = None
    for one in results.values:
        unit, ends = METRICS[one.metric], one.predicted
        where = "yes" if one.inside else "below" if one.measured < ends.low else "above"
        table.add_row(
            "" if one.run == before else one.run, named(one.metric), amount(ends.value, unit),
            f"{amount(ends.low, unit)} – {amount(ends.high, unit)}", amount(one.measured, unit),
            spoken(say("where", where=where)), "" if one.agrees is None else spoken(
                common("yes-plain") if one.agrees else common("no-plain")))
        before = one.run
    return table


def summary_lines(results: Results, folder: Path | None, fitted: Fitted | None) -> list[str]:
    """How many values lie inside their intervals, what was written and fitted; sentences."""
    lines = [say("inside-of", inside=sum(one.inside for one in results.values),
                 of=len(results.values))]
    if alike := [one.agrees for one in results.values if one.agrees is not None]:
        lines.append(say("alike", alike=sum(alike), asked=len(alike)))
    for run in results.runs:
        lines += _remarks(run)
    if results.missing:
        lines.append(say("not-measured", names=listing(results.missing)))
    if folder is None:
        return list(map(spoken, [*lines, say("writes")]))
    lines.append(say("stored", folder=str(folder), fitted=bool(fitted)))
    if fitted is None:
        return list(map(spoken, [*lines, say("nothing-fitted")]))
    known = symbols()
    values = listing(
        spoken(say("value", name=input_name(name, name), value=amount(
            value, known[name].unit if name in known else "1")))
        for name, value in fitted.values.items())
    return [*map(spoken, [*lines, say("fitted", rows=fitted.rows, values=values)]),
            f"python -m calc estimate {folder / 'scenario.yml'} --calibration "
            f"{folder / 'calibration.yml'}"]


def _remarks(run: Measured) -> list[Pair]:
    """Where the client did not do what was asked; sentences."""
    name, planned, counted = run.run.name, run.run.asked, run.counted
    lines = []
    if counted["requests"] < planned["requests"]:
        lines.append(say("not-answered", run=name, counted=f"{counted['requests']:,.0f}",
                         asked=f"{planned['requests']:,.0f}"))
    return lines + [say("other-length", run=name, prompts=length == "input_tokens",
                        counted=amount(counted[length]), asked=f"{planned[length]:,.0f}")
                    for length in ("input_tokens", "output_tokens")
                    if abs(counted[length] / planned[length] - 1) > DIFFERS]


def fit_files(results: Results, fit: Fit) -> tuple[dict[str, str], Fitted | None]:
    """Measurements, the scenario that names them, and a calibration where one can be fitted."""
    rows = bench.fittable(results.runs)
    if not rows:
        raise ParamsError(spoken(say("nothing-fittable", plan=str(results.path))))
    files = {"measured.yml": _yaml(measurement_file(results, rows), "measurements"),
             "scenario.yml": _yaml(scenario_file(results), "scenarios")}
    path, key = loading.find_scenario(results.plan.scenario)
    if key is None and yamlfile.read(path).data.get("pools"):
        return files, None
    with drafted() as scratch:
        for name, text in files.items():
            (scratch / name).write_text(text, encoding="utf-8")
        fitted, calibration = fitted_calibration(scratch, results, rows, fit)
    return (files if fitted is None else files | {"calibration.yml": calibration}), fitted


def fitted_calibration(folder: Path, results: Results, rows: list[Measured], fit: Fit
            ) -> tuple[Fitted | None, str]:
    """A calibration of the time per token to the rows."""
    case = measured_system(str(folder / "scenario.yml"))
    varied = [number for number, run in enumerate(rows, 1) if run.run.spread]  # no closed form
    index = np.array([number - 1 for number, run in enumerate(rows, 1)
                      if number not in varied and FITTED in run.values], int)
    if not index.size:
        return None, ""
    names = bench.explaining(case, FITTED, index, bench.count(index.size))
    data = {"name": by_language(say("bench-of", scenario=results.plan.scenario)),
            "scenario": "scenario.yml", "metric": FITTED, "mechanisms": names,
            "subset": by_language(say("of-one-length")),
            "without": varied, "protocols": ["leave-one-out"], "date": _today()}
    text = _yaml(data, "calibrations")
    path = folder / "calibration.yml"
    path.write_text(text, encoding="utf-8")
    try:
        return fit(path)
    except ParamsError:  # too few rows
        return None, text


def measurement_file(results: Results, rows: list[Measured]) -> dict[str, Any]:
    """A table of measured rows, as ``params/measurements/`` has them."""
    numbers = [[measured_value(run, name) for name in COLUMNS] for run in rows]
    data: dict[str, Any] = {
        "name": by_language(say("own-bench", scenario=results.plan.scenario,
                                engine=results.plan.engine)),
        "source": f"our own bench of {_today()}", "kind": "measured", "date": _today(),
        "columns": dict(COLUMNS), "rows": numbers}
    if unequal := [number for number, run in enumerate(rows, 1) if run.run.spread]:
        data["unequal"] = unequal
    if at_once := [number for number, run in enumerate(rows, 1)
                   if run.run.asked["requests"] <= run.run.asked["concurrency"]]:
        data["sent_at_once"] = at_once
    return data


def measured_value(run: Measured, name: str) -> float | None:
    """A quantity of a run, rounded; None where it was not measured."""
    if name in METRICS:
        return float(f"{run.values[name]:.6g}") if name in run.values else None
    return round(run.counted[name] if name in run.counted else run.run.asked["concurrency"], 3)


def scenario_file(results: Results) -> dict[str, Any]:
    """The deployment as it was launched, with its overrides, naming what was measured of it."""
    path, key = loading.find_scenario(results.plan.scenario)
    file = yamlfile.read(path)
    keys = loading.variant_keys(file)
    pools = file.data.get("pools")
    if keys:
        file = loading.overlaid(file, key or (pools[1] if pools else keys[0]))
    data = {name: value for name, value in file.data.items() if name not in _LEFT_OUT}
    loaded = load_scenario(results.plan.scenario, overrides=results.plan.overrides)
    for setting in results.plan.overrides:
        dotted, _, text = (part.strip() for part in setting.partition("="))
        root, _, rest = dotted.partition(".")
        if root in _ENTRIES and rest:
            raise ParamsError(spoken(say("changes-an-entry", path=dotted)))
        data = over(data, {root: {rest: yamlfile.scalar(text)}} if rest else {root: text})
    for name in ("model", "device", "precision"):
        if is_path(str(data[name])):
            data[name] = str(getattr(loaded.file, name))
    if is_path(str(data["cluster"]["node"])):
        data["cluster"] = {**data["cluster"], "node": str(loaded.file.cluster.node)}
    return data | {"measured": "measured.yml"}


def _yaml(data: dict[str, Any], kind: str) -> str:
    body = yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=100,
                          default_flow_style=None)
    return f"# {kind}: made by python -m calc calibrate from the results of a bench.\n{body}"


def _today() -> str:
    return datetime.datetime.now(tz=datetime.UTC).strftime("%Y-%m")
