"""``log``: a start-up log of an engine beside the prediction, term by term."""

from __future__ import annotations

import argparse
from datetime import datetime
from pathlib import Path
from typing import Any

import yaml
from rich.table import Table

from calc.commands.arguments import add_settings
from calc.commands.printing import (
    OK,
    amount,
    console,
    interval,
    print_json,
    spoken,
    tell,
)
from calc.evidence.startup import Term, startup_terms, wrong_term
from catalogue import ParamsError, Scenario, load_scenario
from catalogue.deployments.loading import overridden_scenario
from catalogue.entries.measurements import PRINTED_UNITS
from catalogue.library import COMMAND_LINE, Override
from catalogue.messages import messages
from catalogue.reading.files import write_whole
from catalogue.reading.yamlfile import YamlFile
from catalogue.shipped import first_line
from catalogue.startuplog import GIB, StartupText, read_log, recognised

common = messages("common")
say = messages("calc/commands/evidence/log")


def add_arguments(command: argparse.ArgumentParser) -> None:
    """What ``log`` takes, besides ``--json``."""
    command.add_argument("file", metavar="FILE", help=spoken(say("help-file")))
    command.add_argument("--scenario", metavar="SCENARIO", help=spoken(say("help-scenario")))
    add_settings(command, say("help-set"))
    command.add_argument("--write", metavar="OUT", help=spoken(say("help-write")))


def run(args: argparse.Namespace) -> int:
    """Print each term of a log beside ours, and the one that is off.

    Raises ParamsError for a log, a deployment or a target that cannot be used; nothing is written
    then.
    """
    path = Path(args.file)
    log = read_log(path)
    scenario = (load_scenario(args.scenario, overrides=args.settings) if args.scenario
                else deployment_of(log, path, args.settings))
    terms = startup_terms(scenario, log.printed, log.length)
    wrong = wrong_term(terms)
    if args.write:
        store(Path(args.write), path, log, scenario)
    if args.json:
        print_json({
            "engine": log.engine, "release": log.release, "refused": log.refused,
            "longest": log.length, "arguments": dict(log.arguments),
            "deployment": _deployment(scenario), "printed": dict(log.printed),
            "terms": {term.figure: {"printed": term.printed, "value": float(term.ours.value),
                                    "low": float(term.ours.low), "high": float(term.ours.high)}
                      for term in terms},
            "wrong": wrong.figure if wrong else None})
        return OK
    assumed = log.release is None and not args.scenario and not any(
        one.startswith("engine=") for one in args.settings)
    print_terms(log, scenario, terms, wrong, assumed)
    return OK


def _source(path: Path) -> str:
    """Words that say where the figures stand."""
    return f"start-up log, {path.name}"


def deployment_of(log: StartupText, path: Path, settings: list[str]) -> Scenario:
    """The deployment that a log names, with the settings of the command line.

    Raises ParamsError naming what neither of them says.
    """
    given = dict(one.partition("=")[::2] for one in settings)
    fields = recognised(log, given)
    needed = {name: fields[name] for name in ("model", "device", "precision")} | {
        "cluster.node": fields["cluster"]["node"]}
    if lacking := [name for name, value in needed.items() if value is None]:
        raise ParamsError(spoken(say("not-said", path=str(path), lacking=lacking[0])))
    file = YamlFile(path.with_suffix(".yml"), {
        "title": {"en": path.stem, "zh": path.stem},
        "defaults": {"source": _source(path), "kind": "documented"}, **fields}, {})
    return overridden_scenario(file, {name: Override(value, f"{COMMAND_LINE} --set {name}")
                                      for name, value in given.items()})


def print_terms(log: StartupText, scenario: Scenario, terms: list[Term], wrong: Term | None,
                assumed: bool) -> None:
    """Print every term beside its prediction."""
    screen = console()
    tell(screen, spoken(say("read", engine=scenario.running.stated if scenario.running
                            else log.engine, model=scenario.model.id, device=scenario.device.id,
                            devices=scenario.devices, precision=scenario.precision.id,
                            refused=log.refused or "no")))
    if assumed:
        tell(screen, spoken(say("release-not-said", engine=log.engine)))
    table = Table(*map(spoken, (common("quantity"), say("printed"), say("ours"),
                                common("interval"), say("ratio"))))
    for term in terms:
        name, ours = term.figure, term.ours
        table.add_row(spoken(common("printed-figure", name=name)), _shown(name, term.printed),
                      _shown(name, float(ours.value)),
                      _shown(name, float(ours.low), float(ours.high)),
                      f"{float(ours.value) / term.printed:.2f}" if term.printed > 0 else "")
    for name in [name for name in log.printed if name not in {term.figure for term in terms}]:
        table.add_row(spoken(common("printed-figure", name=name)),
                      _shown(name, log.printed[name]), "", "", "")
    screen.print(table)
    tell(screen, spoken(say("within") if wrong is None else say(
        "off", term=spoken(common("printed-figure", name=wrong.figure)),
        by=_shown(wrong.figure, abs(wrong.off)), more=wrong.off > 0)))


def _shown(name: str, low: float, high: float | None = None) -> str:
    """A figure, or an interval, in the engines' unit and digits: GiB, which SGLang writes GB."""
    unit = PRINTED_UNITS[name]
    ends = [low] if high is None else [low, high]
    if unit == "B":
        return " … ".join(f"{end / GIB:.2f}" for end in ends) + " GiB"
    if unit == "request":
        return "–".join(f"{end:.2f}" for end in ends) + "×"
    return amount(low, unit) if high is None else interval(low, high, unit)


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
    text = f"{first_line('startups')}\n" + yaml.safe_dump({
        "name": {"en": path.stem, "zh": path.stem}, "kind": "measured", "logs": [entry]},
        sort_keys=False, allow_unicode=True)
    try:
        write_whole(target, text.encode(), replace=False)
    except OSError as error:
        raise ParamsError(spoken(say("not-written", path=str(target),
                                     why=str(error.strerror)))) from None


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
