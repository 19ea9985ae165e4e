"""Engines that are asked for lines of a card that is not there: what is told of it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import catalogue
from catalogue.entries.hardware import Device
from tools.engine.environment import Environment
from tools.engine.lines import Line

GENERATIONS = {  # mechanisms -> what the plug-in calls it
    "ascend-910b": "A2", "ascend-910c": "A3", "ascend-950": "A5"}
Card = dict[str, Any]
Found = dict[str, Any]


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


def by_card(made: Mapping[str, Sequence[Line]],
            ask: Callable[[Card, list[Line]], Iterable[Found]]) -> Iterator[Found]:
    """What an engine makes of the lines of deployments; it is asked once for each kind of card."""
    kinds: dict[str, tuple[Card, list[Line]]] = {}
    for name, of in made.items():
        scenario = catalogue.load_deployment(name)[0]
        assert scenario.node is not None
        about = card(scenario.device, int(scenario.node.devices_per_node.value))
        kinds.setdefault(json.dumps(about), (about, []))[1].extend(of)
    for about, lines in kinds.values():
        yield from ask(about, lines)


def run_lines(environment: Environment, module: str, path: Sequence[Path], about: Card,
              of: Iterable[Line]) -> list[Found]:
    """What a module says, run inside the engine's environment, of lines for a card.

    Raises RuntimeError where it cannot be run.
    """
    data = {"card": about, "lines": [vars(each) for each in of]}
    done = subprocess.run([environment.python, "-m", module], input=json.dumps(data), text=True,
                          env=environment.variables | {"PYTHONPATH": os.pathsep.join(
                              map(str, path))}, capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{module}: the engine cannot be asked: {done.stderr[-500:]}")
    return [json.loads(row) for row in done.stdout.splitlines()]
