"""Start-up logs of the catalogue with their deployments (``params/measurements/memory/``)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from catalogue import library
from catalogue.deployments.loading import overridden_scenario
from catalogue.deployments.scenario import Scenario
from catalogue.entries.startups import StartupLog
from catalogue.reading.errors import LayoutError
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
            yield startup_row(log, name, path)


def startup_row(log: StartupLog, engine: str, path: Path) -> StartupRow:
    """A start-up log with its deployment.

    Args:
        log: what was printed.
        engine: identifier of the file that holds it.
        path: of that file.

    Raises ParamsError, one sentence, for a deployment that cannot be read.
    """
    if log.deployment is None:
        return StartupRow(log, engine)
    data = {"title": {"en": log.id, "zh": log.id},
            "defaults": {"source": log.source, "kind": "documented", "date": log.date},
            } | log.deployment
    at = path.with_name(f"{log.id}.yml")
    own = {name: library.Override(raw, f"{path.name}: {log.id}")
           for name, raw in log.settings.items()}
    try:
        return StartupRow(log, engine, overridden_scenario(YamlFile(at, data, {}), own))
    except LayoutError as problem:
        return StartupRow(log, engine, refused=str(problem))
