"""Deployments of measured rows: gates, start-up logs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from catalogue import library
from catalogue.deployments.loading import overridden_scenario
from catalogue.deployments.scenario import Scenario
from catalogue.entries.measurements import PREFILL, Gate, StartupLog
from catalogue.library import Override
from catalogue.reading import yamlfile
from catalogue.reading.files import LayoutError, ParamsError
from catalogue.reading.yamlfile import YamlFile


@dataclass(frozen=True)
class StartupRow:
    """One start-up log with its deployment.

    Attributes:
        log: what was printed.
        engine: identifier of the file that holds it.
        scenario: the deployment; None if it is not known, or cannot be laid out.
        refused: why it cannot be laid out.
    """

    log: StartupLog
    engine: str
    scenario: Scenario | None = None
    refused: str | None = None


def startup_rows() -> Iterator[StartupRow]:
    """Every start-up log of the catalogue, excluded ones too.

    Raises ParamsError, one sentence, for an entry that cannot be read.
    """
    for name in library.names("startups"):
        path = library.locate("startups", name)
        for log in library.load("startups", name).logs:
            if log.deployment is None:
                yield StartupRow(log, name)
                continue
            data = {"title": {"en": log.id, "zh": log.id},
                    "defaults": {"source": log.source, "kind": "documented", "date": log.date},
                    } | log.deployment
            own = {key: Override(raw, f"{path.name}: {log.id}")
                   for key, raw in log.settings.items()}
            file = YamlFile(path.with_name(f"{log.id}.yml"), data, {})
            try:
                yield StartupRow(log, name, overridden_scenario(file, own))
            except LayoutError as problem:
                yield StartupRow(log, name, refused=str(problem))


@dataclass(frozen=True)
class GateRow:
    """One measured row with its deployment.

    Attributes:
        number: of the row in its file, from 1.
        measured: values by metric in SI units.
        scenario: the deployment, of two pools the decode pool; None if it cannot be laid out.
        prefill: the prefill pool of two.
        refused: why it cannot be laid out.
    """

    number: int
    measured: Mapping[str, float]
    scenario: Scenario | None = None
    prefill: Scenario | None = None
    refused: str | None = None


def gate_rows(reference: str | Path) -> list[GateRow]:
    """Load the rows of a gate.

    Args:
        reference: identifier or path.

    Raises ParamsError, with file and line, for an entry, a unit or a setting that is not known.
    """
    gate: Gate = library.load("gates", reference)
    file = yamlfile.read(library.locate("gates", reference))
    shared = _part(file, gate.deployment, ("deployment",), gate.name)
    pool = None
    if gate.prefill is not None:
        pool = _part(file, library.over(gate.deployment, gate.prefill), ("prefill",), gate.name)
    rows = []
    for index in range(len(gate.rows)):
        origin = file.where(("rows", index))
        settings = gate.settings(index)
        own = {name: Override(raw, origin) for name, raw in settings.items()
               if not name.startswith(PREFILL)}
        lengths = {name: value for name, value in own.items() if name == "workload.input_tokens"}
        before = {name.removeprefix(PREFILL): Override(raw, origin)
                  for name, raw in settings.items() if name.startswith(PREFILL)}
        try:
            prefill = overridden_scenario(pool, lengths | before) if pool else None
            rows.append(GateRow(index + 1, gate.measured(index),
                                overridden_scenario(shared, own), prefill))
        except LayoutError as problem:
            rows.append(GateRow(index + 1, gate.measured(index), refused=str(problem)))
    return rows


def refuse_fitting(reference: str) -> None:
    """Refuse to fit anything to a gate.

    Args:
        reference: as a user typed it.

    Raises ParamsError if it is the identifier or the path of a gate.
    """
    refused = library.stands("gates", reference)
    with contextlib.suppress(ParamsError, OSError, ValueError):
        refused = refused or bool(yamlfile.read(Path(reference)).data.get("test_only"))
    if refused:
        raise ParamsError(f"'{reference}' has the flag test_only: it is tested on, never fitted "
                          "to; its errors are printed by: validate.")


def _part(file: YamlFile, data: dict[str, Any], at: tuple[str, ...], title: Any) -> YamlFile:
    """A group of a file as the file of a deployment, every key with its line."""
    lines = {keys[1:]: line for keys, line in file.lines.items()
             if keys[:1] == ("deployment",) and len(keys) > 1}
    lines |= {keys[1:]: line for keys, line in file.lines.items()
              if keys[:1] == at and len(keys) > 1}
    named = {"en": title["en"], "zh": title["zh"]}
    return YamlFile(file.path, {"id": file.path.stem, "title": named} | data, lines)
