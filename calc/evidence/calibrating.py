"""Calibrations fitted to measured rows, and the files that store the results of a bench."""

from __future__ import annotations

import datetime
import re
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from pydantic import ValidationError

from calc.evidence import bench
from calc.evidence.bench import COLUMNS, METRICS, Measured, Results
from calc.evidence.systems import VARIED, calibrated_system, measured_system
from calc.yamltext import Flow, dump, rounded, significant
from catalogue import ParamsError, library, load_scenario
from catalogue.deployments import loading
from catalogue.deployments.measured import refuse_fitting
from catalogue.deployments.physics_inputs import NORMAL_90
from catalogue.entries.calibrations import CalibrationFile, Fitted
from catalogue.library import over
from catalogue.reading import yamlfile
from catalogue.reading.files import drafted
from catalogue.reading.values import is_path

DIGITS = 6
FITTED = re.compile(r"^fitted:.*\n?(?:^[ \t].*\n?|^\n)*", re.MULTILINE)  # a block of a file
METRIC = "tpot"  # of a calibration to the results of a bench
_LEFT_OUT = ("variants", "pools", "documented", "document", "section", "id", "note", "measured")
_ENTRIES = {"model": "models", "device": "devices", "precision": "precisions"}


def fit_calibration(name: str) -> tuple[Fitted, dict[str, list[float]]]:
    """Fit the mechanisms of a calibration to its rows.

    Numbers have six digits, so that the file is the same wherever the fit is repeated.

    Args:
        name: identifier or path of the calibration.

    Returns the fit, and 80% ranges by mechanism (SI). Raises ParamsError for a mechanism that its
    system does not have, too few rows, and rows that are those of another system.
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
        raise ParamsError(f"calibration '{chosen.id}': {error}.") from None
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
        raise ParamsError(f"calibration '{chosen.id}': its rows lie too far from every prediction "
                          "to be fitted, expected rows that this deployment was measured with."
                          ) from None


def _six(number: float) -> float:
    """Round to six significant digits; to zero what is next to it."""
    return float(significant(number, DIGITS)) if abs(number) > 1e-15 else 0.0


def with_fitted(text: str, fitted: Fitted) -> str:
    """A calibration's file with the fit at its end; the rest is unchanged.

    >>> from catalogue.entries.calibrations import Fitted
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


def fit_files(results: Results) -> tuple[dict[str, str], Fitted | None]:
    """Contents of files by name: measurements, their scenario, and a calibration if one can be fit.

    Args:
        results: of a bench.

    Raises ParamsError, one sentence, where no run can be fitted to.
    """
    rows = bench.fittable(results.runs)
    if not rows:
        raise ParamsError(f"{results.path}: only runs with a prefix or arrivals of their own were "
                          "measured, expected 'one', 'half' or 'planned' as well.")
    files = {"measured.yml": _yaml(measurement_file(results, rows), "measurements"),
             "scenario.yml": _yaml(scenario_file(results), "scenarios")}
    path, key = loading.find_scenario(results.plan.scenario)
    if key is None and yamlfile.read(path).data.get("pools"):
        return files, None
    with drafted() as scratch:
        for name, text in files.items():
            (scratch / name).write_text(text, encoding="utf-8")
        fitted, calibration = fitted_calibration(scratch, results, rows)
    return (files if fitted is None else files | {"calibration.yml": calibration}), fitted


def fitted_calibration(folder: Path, results: Results, rows: list[Measured]
                       ) -> tuple[Fitted | None, str]:
    """Fit a calibration of the time per token to the rows; None of too few."""
    case = measured_system(str(folder / "scenario.yml"))
    varied = [number for number, run in enumerate(rows, 1) if run.run.spread]  # no closed form
    index = np.array([number - 1 for number, run in enumerate(rows, 1)
                      if number not in varied and METRIC in run.values], int)
    if not index.size:
        return None, ""
    names = bench.explaining(case, METRIC, index, bench.count(index.size))
    data = {"name": f"Bench of {results.plan.scenario}", "scenario": "scenario.yml",
            "metric": METRIC, "mechanisms": names, "subset": "Requests of one length.",
            "without": varied, "protocols": ["leave-one-out"], "date": _today()}
    text = _yaml(data, "calibrations")
    path = folder / "calibration.yml"
    path.write_text(text, encoding="utf-8")
    try:
        fitted, _ = fit_calibration(str(path))
    except ParamsError:  # too few rows
        return None, text
    return fitted, with_fitted(text, fitted)


def measurement_file(results: Results, rows: list[Measured]) -> dict[str, Any]:
    """A table of measured rows, as in ``params/measurements/``."""
    numbers = [[measured_value(run, name) for name in COLUMNS] for run in rows]
    data: dict[str, Any] = {
        "name": f"{results.plan.scenario} under {results.plan.engine}, own bench",
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
    """The deployment as it was launched, with its overrides and the name of its measurements."""
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
            raise ParamsError(f"--set {dotted}: changes an entry; copy the entry to a file of your "
                              "own and deploy that, so that a calibration can name it.")
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
    return f"# {kind}: written by will-it-fit calibrate from the results of a bench.\n{body}"


def _today() -> str:
    return datetime.datetime.now(tz=datetime.UTC).strftime("%Y-%m")
