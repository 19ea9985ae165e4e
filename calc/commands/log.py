"""``log``: a start-up log of an engine beside the prediction, term by term."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import click
import yaml

from calc.commands.options import cli_command, output_option, settings_option
from calc.commands.view import Block, Table, View
from calc.evidence.startup import Term, startup_terms, wrong_term
from catalogue import ParamsError, Scenario, load_scenario
from catalogue.deployments.loading import overridden_scenario
from catalogue.entries.measurements import PRINTED_UNITS
from catalogue.library import COMMAND_LINE, Override
from catalogue.reading.files import write_whole
from catalogue.reading.units import human, span
from catalogue.reading.yamlfile import YamlFile
from catalogue.shipped import first_line
from catalogue.startuplog import GIB, StartupText, read_log, recognised

FIGURES = {
    "weights": "weights as loaded", "activations": "peak of activations",
    "runtime": "outside the framework", "graphs": "captured graphs",
    "available": "left for the cache", "cache": "cache", "tokens": "tokens of the cache",
    "blocks": "blocks of the cache", "requests": "requests of the longest length",
    "longest": "longest request that fits", "free_before_load": "free before the load",
    "free_after_load": "free after the load", "request_memory": "cache of one longest request"}
REFUSALS = {
    "no-room": "the engine refused to start, no memory is left for a cache",
    "longest-request": "the engine refused to start, one longest request needs more cache than "
                       "there is",
    "allocation": "the engine ran out of device memory"}
UNKNOWN = {"model": "the model", "device": "the cards", "precision": "the precision of the weights",
           "cluster.node": "the servers"}


@cli_command("log", "server.log", "server.log --set device=nvidia-h200-sxm",
             "server.log --scenario plan.yml -o measured.yml")
@click.argument("file", metavar="FILE")
@click.option("--scenario", metavar="DEPLOYMENT", help=(
    "Deployment that printed the log (default: the one that the log names)."))
@settings_option
@output_option("Store the log as a measurement in this file.")
def command(file: str, scenario: str | None, settings: tuple[str, ...], output: str | None) -> View:
    """Does the memory that an engine logged at start-up match the prediction?

    FILE is a start-up log of vLLM, SGLang or vLLM Ascend.
    """
    path = Path(file)
    log = read_log(path)
    deployment = (load_scenario(scenario, overrides=settings) if scenario
                  else deployment_of(log, path, settings))
    terms = startup_terms(deployment, log.printed, log.length)
    wrong = wrong_term(terms)
    if output:
        store(Path(output), path, log, deployment)
    engine = deployment.running.stated if deployment.running else log.engine
    body: list[Block] = [term_table(log, terms)]
    if log.refused:
        body.insert(0, f"In this log {REFUSALS[log.refused]}.")
    if log.release is None and not scenario and not any(
            one.startswith("engine=") for one in settings):
        body.append(f"The log does not state the release: the latest is assumed; use --set "
                    f"engine={log.engine}@RELEASE.")
    if output:
        body.append(f"Stored in {output}.")
    return View(f"{verdict(wrong)}: {engine}, {deployment.model.id} in {deployment.precision.id} "
                f"on {deployment.devices} × {deployment.device.id}",
                {"engine": log.engine, "release": log.release, "refused": log.refused,
                 "longest": log.length, "arguments": dict(log.arguments),
                 "deployment": _deployment(deployment), "printed": dict(log.printed),
                 "terms": {term.figure: {
                     "printed": term.printed, "value": float(term.ours.value),
                     "low": float(term.ours.low), "high": float(term.ours.high)} for term in terms},
                 "wrong": wrong.figure if wrong else None}, wrong is None, body=body,
                rows=Table(("quantity", "unit", "printed", "predicted"), [
                    (term.figure, PRINTED_UNITS[term.figure], term.printed, term.ours)
                    for term in terms]))


def verdict(wrong: Term | None) -> str:
    """Whether every printed value lies in its interval, or which does not."""
    if wrong is None:
        return "Every printed value lies in its 80% interval"
    side = "above" if wrong.off > 0 else "below"
    return (f"OFF: '{FIGURES[wrong.figure]}', predicted {_shown(wrong.figure, abs(wrong.off))} "
            f"{side} the printed value")


def term_table(log: StartupText, terms: Sequence[Term]) -> Table:
    """Every printed figure beside its prediction."""
    rows = [(FIGURES[term.figure], _shown(term.figure, term.printed),
             _shown(term.figure, float(term.ours.value)),
             _shown(term.figure, float(term.ours.low), float(term.ours.high)),
             f"{float(term.ours.value) / term.printed:.2f}" if term.printed > 0 else "")
            for term in terms]
    predicted = {term.figure for term in terms}
    rows += [(FIGURES[name], _shown(name, value), "", "", "")
             for name, value in log.printed.items() if name not in predicted]
    return Table(("quantity", "printed", "predicted", "80% interval", "predicted / printed"), rows)


def _source(path: Path) -> str:
    """Source of the figures, in words."""
    return f"start-up log, {path.name}"


def deployment_of(log: StartupText, path: Path, settings: Sequence[str]) -> Scenario:
    """The deployment that a log names, with the settings of the command line.

    Raises ParamsError naming what neither of them states.
    """
    given = dict(one.partition("=")[::2] for one in settings)
    fields = recognised(log, given)
    needed = {name: fields[name] for name in ("model", "device", "precision")} | {
        "cluster.node": fields["cluster"]["node"]}
    if lacking := [name for name, value in needed.items() if value is None]:
        raise ParamsError(f"{path} does not name {UNKNOWN[lacking[0]]}, expected "
                          f"--set {lacking[0]}=NAME or --scenario DEPLOYMENT.")
    file = YamlFile(path.with_suffix(".yml"), {
        "title": {"en": path.stem, "zh": path.stem},
        "defaults": {"source": _source(path), "kind": "documented"}, **fields}, {})
    return overridden_scenario(file, {name: Override(value, f"{COMMAND_LINE} --set {name}")
                                      for name, value in given.items()})


def _shown(name: str, low: float, high: float | None = None) -> str:
    """A figure, or an interval, in the unit and digits of engines: GiB, which SGLang writes GB."""
    unit = PRINTED_UNITS[name]
    ends = [low] if high is None else [low, high]
    if unit == "B":
        return " … ".join(f"{end / GIB:.2f}" for end in ends) + " GiB"
    if unit == "request":
        return "–".join(f"{end:.2f}" for end in ends) + "×"
    return human(low, unit) if high is None else span(low, high, unit)


def store(target: Path, path: Path, log: StartupText, scenario: Scenario) -> None:
    """Write the log as an entry of ``params/measurements/memory/``; never over a file.

    Raises ParamsError where it cannot be written.
    """
    printed = {name: f"{_plain(value / GIB)} GiB" if unit == "B" else f"{_plain(value)} {unit}"
               for name, value in log.printed.items() if value > 0
               for unit in (PRINTED_UNITS[name],)}
    entry = {"id": path.stem, "source": _source(path),
             "date": datetime.fromtimestamp(path.stat().st_mtime).strftime("%Y-%m"),
             "deployment": _deployment(scenario), "longest_context": log.length,
             "printed": printed}
    text = f"{first_line('startups')}\n" + yaml.safe_dump(
        {"name": path.stem, "kind": "measured", "logs": [entry]},
        sort_keys=False, allow_unicode=True)
    try:
        write_whole(target, text.encode(), replace=False)
    except OSError as error:
        raise ParamsError(f"{target} cannot be written ({error.strerror}).") from None


def _plain(number: float) -> str:
    """A number as engines print it, of four decimals at most."""
    return str(round(number, 4)).removesuffix(".0")


def _deployment(scenario: Scenario) -> dict[str, Any]:
    """A deployment as an entry of ``params/measurements/memory/`` states it."""
    file = scenario.file
    load = file.workload.model_copy(update={"agent": None})  # with what follows from it
    stated = {"model": scenario.model.id, "device": scenario.device.id,
              "engine": scenario.running.stated if scenario.running else None,
              "cluster": _numbers(file.cluster), "precision": scenario.precision.id,
              "parallelism": _numbers(file.parallelism), "workload": _numbers(load)}
    moved = {name: value.written for name, value in file.mechanisms.items()}
    return stated | ({"graphs": False} if file.graphs is False else {}) | (
        {"mechanisms": moved} if moved else {})


def _numbers(group: Any) -> dict[str, Any]:
    """What a group of a scenario's file states, as it was written."""
    return {name: getattr(value, "written", value) for name in type(group).model_fields
            if (value := getattr(group, name)) is not None}
