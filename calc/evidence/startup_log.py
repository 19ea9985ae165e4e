"""Start-up logs of engines: the deployment that one names, and its entry as a measurement."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import yaml

from calc.yamltext import unquoted
from catalogue import ParamsError, Scenario
from catalogue.deployments.loading import overridden_scenario
from catalogue.entries.measurements import PRINTED_UNITS
from catalogue.library import COMMAND_LINE, Override
from catalogue.reading.files import store
from catalogue.reading.yamlfile import YamlFile
from catalogue.startuplog import GIB, StartupText, recognised

UNKNOWN = {"model": "the model", "device": "the cards", "precision": "the precision of the weights",
           "cluster.node": "the servers"}


def _source(path: Path) -> str:
    """Source of the figures, in words."""
    return f"start-up log, {path.name}"


def named_deployment(log: StartupText, path: Path, settings: Sequence[str]) -> Scenario:
    """The deployment that a log names, with the settings of the command line.

    Args:
        log: as it was read.
        path: of the log.
        settings: ``KEY=VALUE`` each.

    Raises ParamsError naming what neither of them states.
    """
    given = dict(one.partition("=")[::2] for one in settings)
    fields = recognised(log, given)
    needed = {name: fields[name] for name in ("model", "device", "precision")} | {
        "cluster.node": fields["cluster"]["node"]}
    if lacking := [name for name, value in needed.items() if value is None]:
        raise ParamsError(f"{path} does not name {UNKNOWN[lacking[0]]}, expected "
                          f"--set {lacking[0]}=NAME or --deployment NAME.")
    file = YamlFile(path.with_suffix(".yml"), {
        "title": {"en": path.stem, "zh": path.stem},
        "defaults": {"source": _source(path), "kind": "documented"}, **fields}, {})
    return overridden_scenario(file, {name: Override(value, f"{COMMAND_LINE} --set {name}")
                                      for name, value in given.items()})


def store_log(target: Path, path: Path, log: StartupText, scenario: Scenario) -> None:
    """Write the log as an entry of ``params/measurements/memory/``; never over a file.

    Args:
        target: file to write.
        path: of the log.
        log: as it was read.
        scenario: deployment that printed it.

    Raises ParamsError where it cannot be written.
    """
    printed = {name: f"{_plain(value / GIB)} GiB" if unit == "B" else f"{_plain(value)} {unit}"
               for name, value in log.printed.items() if value > 0
               for unit in (PRINTED_UNITS[name],)}
    entry = {"id": path.stem, "source": _source(path),
             "date": datetime.fromtimestamp(path.stat().st_mtime).strftime("%Y-%m"),
             "deployment": deployment_entry(scenario), "longest_context": log.length,
             "printed": printed}
    text = yaml.safe_dump({"name": path.stem, "kind": "measured", "logs": [unquoted(entry)]},
                          sort_keys=False, allow_unicode=True)
    store(target, text, replace=False)


def _plain(number: float) -> str:
    """A number as engines print it, of four decimals at most."""
    return str(round(number, 4)).removesuffix(".0")


def deployment_entry(scenario: Scenario) -> dict[str, Any]:
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
