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
from catalogue import ParamsError, Scenario, load_device, load_model, load_scenario
from catalogue.deployments.loading import overridden_scenario
from catalogue.entries.startups import PRINTED_UNITS
from catalogue.library import COMMAND_LINE, Override
from catalogue.messages import messages
from catalogue.reading.files import write_whole
from catalogue.reading.yamlfile import YamlFile
from catalogue.shipped import first_line
from catalogue.startuplog import StartupText, read_log

common = messages("common")
say = messages("calc/commands/evidence/log")
SIZED = ("max_num_batched_tokens", "block_size")
PLAIN = ("memory_utilization", "draft_tokens")
PARALLEL = ("tensor_parallel", "pipeline_parallel", "data_parallel", "decode_context_parallel")


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
    data = None if args.scenario else recognised(log, path, args.settings)
    scenario = (load_scenario(args.scenario, overrides=args.settings) if data is None
                else _made(data, path, args.settings))
    terms = startup_terms(scenario, log.printed, log.length)
    wrong = wrong_term(terms)
    if args.write:
        _store(Path(args.write), path, log, scenario)
    if args.json:
        print_json({
            "engine": log.engine, "release": log.release, "model": log.model,
            "refused": log.refused, "longest": log.length, "arguments": dict(log.arguments),
            "terms": {term.figure: {"printed": term.printed, "value": float(term.ours.value),
                                    "low": float(term.ours.low), "high": float(term.ours.high)}
                      for term in terms},
            "wrong": wrong.figure if wrong else None})
        return OK
    assumed = log.release is None and data is not None and not any(
        one.startswith("engine=") for one in args.settings)
    _print(log, scenario, terms, wrong, assumed)
    return OK


def recognised(log: StartupText, path: Path, settings: list[str]) -> dict[str, Any]:
    """The deployment that a log names, as a scenario's file would state it.

    Args:
        log: what it says.
        path: of the log.
        settings: given on the command line, ``PATH=VALUE``.

    Raises ParamsError naming what neither the log nor the settings say.
    """
    given = dict(one.partition("=")[::2] for one in settings)
    model, device = given.get("model", log.model), given.get("device")
    if model is None or device is None:
        lacking = "model" if model is None else "device"
        raise ParamsError(spoken(say("not-said", path=str(path), lacking=lacking)))
    card = load_device(device)
    published = load_model(model).weights
    precision = given.get("precision") or (published.precision if published else None)
    node = given.get("cluster.node") or card.node
    if precision is None or node is None:
        raise ParamsError(spoken(say("not-said", path=str(path), lacking=(
            "precision" if precision is None else "cluster.node"))))
    cut = {name: int(log.arguments.get(name, 1)) for name in PARALLEL}
    if log.engine == "sglang":  # there data-parallel attention is a part of tensor parallelism
        cut["tensor_parallel"] //= max(1, cut["data_parallel"])
    ranks = cut["tensor_parallel"] * cut["data_parallel"]
    whole = log.arguments.get("expert_parallel", "1")
    cut["expert_parallel"] = ranks if whole == "all" else min(ranks, int(whole))
    workload: dict[str, Any] = {"concurrency": f"{cut['data_parallel']} request",
                                "context_tokens": f"{log.length or 8192} token"}
    workload |= {name: f"{log.arguments[name]} token" for name in SIZED if name in log.arguments}
    workload |= {name: log.arguments[name] for name in PLAIN if name in log.arguments}
    if "max_num_seqs" in log.arguments:
        workload["max_num_seqs"] = f"{log.arguments['max_num_seqs']} request"
    devices = ranks * cut["pipeline_parallel"]
    release = f"@{log.release}" if log.release else ""
    return {"title": {"en": path.stem, "zh": path.stem},
            "defaults": {"source": _source(path), "kind": "documented"},
            "model": model, "device": device, "engine": f"{log.engine}{release}",
            "cluster": {"node": node, "nodes": 1, "devices": devices},
            "precision": precision, "parallelism": cut, "workload": workload}


def _source(path: Path) -> str:
    """Words that say where the figures stand."""
    return f"start-up log, {path.name}"


def _made(data: dict[str, Any], path: Path, settings: list[str]) -> Scenario:
    """The recognised deployment with the settings of the command line."""
    file = YamlFile(path.with_suffix(".yml"), data, {})
    return overridden_scenario(file, {
        name: Override(value, f"{COMMAND_LINE} --set {name}")
        for name, _, value in (one.partition("=") for one in settings)})


def _print(log: StartupText, scenario: Scenario, terms: list[Term], wrong: Term | None,
           assumed: bool) -> None:
    screen = console()
    tell(screen, spoken(say("read", engine=scenario.running.stated if scenario.running
                            else log.engine, model=scenario.model.id, device=scenario.device.id,
                            devices=scenario.devices, refused=log.refused)))
    if assumed:
        tell(screen, spoken(say("release-not-said", engine=log.engine)))
    table = Table(*map(spoken, (common("quantity"), say("printed"), say("ours"),
                                common("interval"), say("ratio"))))
    for term in terms:
        unit = PRINTED_UNITS[term.figure]
        table.add_row(spoken(common("printed-figure", name=term.figure)),
                      amount(term.printed, unit), amount(float(term.ours.value), unit),
                      interval(float(term.ours.low), float(term.ours.high), unit),
                      f"{float(term.ours.value) / term.printed:.2f}" if term.printed else "")
    for name in [name for name in log.printed if name not in {term.figure for term in terms}]:
        table.add_row(spoken(common("printed-figure", name=name)),
                      amount(log.printed[name], PRINTED_UNITS[name]), "", "", "")
    screen.print(table)
    tell(screen, spoken(say("within") if wrong is None else say(
        "off", term=spoken(common("printed-figure", name=wrong.figure)), by=amount(
            abs(wrong.off), PRINTED_UNITS[wrong.figure]), more=wrong.off > 0)))


def _store(target: Path, path: Path, log: StartupText, scenario: Scenario) -> None:
    """Write the log as an entry of ``params/measurements/memory/``; never over a file.

    Raises ParamsError where it cannot be written.
    """
    printed = {name: f"{value} {PRINTED_UNITS[name]}" for name, value in log.printed.items()}
    file = scenario.file
    deployment = {
        "model": scenario.model.id, "device": scenario.device.id, "engine": scenario.running.stated
        if scenario.running else None, "cluster": _numbers(file.cluster),
        "precision": scenario.precision.id, "parallelism": _numbers(file.parallelism),
        "workload": _numbers(file.workload)}
    entry = {"id": path.stem, "source": _source(path),
             "date": datetime.fromtimestamp(path.stat().st_mtime).strftime("%Y-%m"),
             "deployment": deployment, "longest_context": log.length, "printed": printed}
    text = f"{first_line('startups')}\n" + yaml.safe_dump({
        "name": {"en": path.stem, "zh": path.stem}, "kind": "measured", "logs": [entry]},
        sort_keys=False, allow_unicode=True)
    try:
        write_whole(target, text.encode(), replace=False)
    except OSError as error:
        raise ParamsError(spoken(say("not-written", path=str(target),
                                     why=str(error.strerror)))) from None


def _numbers(group: Any) -> dict[str, Any]:
    """What a group of a scenario's file states, as it was written."""
    return {name: getattr(value, "written", value) for name in type(group).model_fields
            if (value := getattr(group, name)) is not None}
