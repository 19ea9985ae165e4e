"""A deployment's file beside every entry that it names: what the inputs are drawn from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from catalogue.entries.deployments import Precision, ScenarioFile
from catalogue.entries.hardware import Device, Node
from catalogue.entries.measurements import Measurements
from catalogue.entries.models import Model
from catalogue.reading.values import Text


@dataclass(frozen=True)
class Resolved:
    """A deployment with everything it names."""

    file: ScenarioFile
    path: Path
    model: Model
    device: Device
    node: Node
    precision: Precision
    measured: Measurements | None
    host: Device | None = None
    family: Text | None = None
