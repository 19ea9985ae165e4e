"""Engines that are asked for lines of a card that is not there: what is told of it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import catalogue
from catalogue.entries.hardware import Device
from tools.engine import configured, lines, model
from tools.engine.environment import Environment
from tools.engine.lines import Line
from tools.engine.rows import Row

GENERATIONS = {  # mechanisms -> what the plug-in calls it
    "ascend-910b": "A2", "ascend-910c": "A3", "ascend-950": "A5"}
Card = dict[str, Any]


def card(device: Device, count: int) -> Card:
    """What the driver of a card says of it.

    >>> card(catalogue.load_device("nvidia-gb300"), 4)["capability"]
    (10, 3)

    Args:
        device: the card.
        count: how many a node has.
    """
    assert device.memory_capacity is not None
    digits = str(device.architecture).removeprefix("sm_")  # 90 is 9.0, 103 is 10.3
    return {"kind": device.type, "name": device.name["en"], "count": count,
            "memory": int(device.memory_capacity.value),
            "generation": GENERATIONS.get(str(device.mechanisms)),
            "capability": divmod(int(digits), 10) if digits.isdigit() else (0, 0)}


@dataclass(frozen=True)
class Release:
    """A release whose parser and checks get each line as beside the card that it is for.

    Attributes:
        engine, version: of it.
        packages: that pip installs, without what they need.
        module, path: what runs inside the engine's environment, and the folder it is in.
        broken: arguments that it refuses, by what is wrong with them.
        first: arguments before these, from a checkpoint of DeepSeek-V3.
        device, precision: of the broken lines; eight cards.
        program: that is started; of all programs, if empty.
        complete: what the packages lack, written into their folder.
    """

    engine: str
    version: str
    packages: tuple[str, ...]
    module: str
    path: Path
    broken: Mapping[str, list[str]]
    first: Callable[[str], list[str]]
    device: str
    precision: str
    program: str = ""
    complete: Callable[[Path], None] | None = None

    def rows(self, environment: Environment, _: Path, folder: Path) -> Iterator[Row]:
        """Lines that have to be refused, then all lines of shipped deployments."""
        checkpoint = model.write(folder / "published",
                                 model.published("deepseek-v3", self.precision))
        broken = [Line(name, [*self.first(str(checkpoint)), *argv])
                  for name, argv in self.broken.items()]
        about = card(catalogue.load_device(self.device), 8)
        yield configured.refusals(self._parsed(environment, about, broken), len(broken))
        yield from self._judged(environment, folder / self.engine, lines.candidates(self.engine),
                                "deployments")

    def of_answers(self, environment: Environment, python: Path, folder: Path) -> Iterator[Row]:
        """Lines of the first answers to the shipped goals, on cards that the engine reaches."""
        names = list(lines.answers(python, folder / "answers", self.engine))
        yield from self._judged(environment, folder / f"{self.engine}-answers", names,
                                "first answers to goals")

    def _judged(self, environment: Environment, folder: Path, names: Iterable[str], kind: str
                ) -> Iterator[Row]:
        """Verdicts on deployments; the engine is asked once for each kind of card."""
        made, refused = lines.written(f"{self.engine}@{self.version}", folder, names)
        kinds: dict[str, tuple[Card, list[Line]]] = {}
        for name, of in made.items():
            scenario = catalogue.load_deployment(name)[0]
            assert scenario.node is not None
            about = card(scenario.device, int(scenario.node.devices_per_node.value))
            kinds.setdefault(json.dumps(about), (about, []))[1].extend(
                line for line in of if self.program in ("", line.program))
        found = [row for kind_of in kinds.values() for row in self._parsed(environment, *kind_of)]
        yield from configured.judged(found, refused, f"{kind} under {self.engine}",
                                     "the card that it is for")

    def _parsed(self, environment: Environment, about: Card, of: Iterable[Line]
                ) -> list[dict[str, Any]]:
        """Verdicts on lines for a card; the packages are fetched once."""
        place = environment.folder / f"{self.engine}-{self.version}"
        stamp = place / ".whole"
        if not stamp.exists():
            shutil.rmtree(place, ignore_errors=True)
            environment.pip("install", "--no-deps", "--target", place, *self.packages)
            if self.complete:
                self.complete(place)
            stamp.touch()
        return lines.run_lines(environment, self.module, (self.path, place, Path(__file__).parent),
                               about, of)
