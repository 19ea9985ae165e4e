"""Command lines for SGLang before its own parser and checks, as on the card they are for."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import catalogue
from catalogue.entries.hardware import Device
from tools.engine import configured, lines, model
from tools.engine.environment import Environment
from tools.engine.rows import Row

ENGINE, RELEASE, ROUTER = "sglang", "0.5.23", "0.3.2"
# of its requirements those that a configuration reads and vLLM does not bring
WITH = (f"sglang=={RELEASE}", f"sglang-router=={ROUTER}", "orjson", "pybase64", "setproctitle")
FOR_A_CARD = "the card that it is for"
BROKEN = {  # each is refused by the engine itself
    "an unknown flag": ["--tensor-parallel-sizes", "2"],
    "a value of another type": ["--max-running-requests", "many"],
    "ranks that nodes do not divide": ["--tp-size", "8", "--nnodes", "3"],
    "an unknown format": ["--quantization", "w3"],
    "experts that no block of scales divides": ["--tp-size", "32", "--nnodes", "4"]}


def rows(environment: Environment, python: Path, folder: Path) -> Iterator[Row]:
    """Lines that have to be refused, then all lines of shipped deployments."""
    yield _broken(environment, package(environment), folder)
    yield from _judged(environment, python, folder / ENGINE, lines.candidates(ENGINE),
                       "deployments")


def of_answers(environment: Environment, python: Path, folder: Path) -> Iterator[Row]:
    """Lines of the first answers to the shipped goals."""
    told = list(lines.answers(python, folder / "answers", ENGINE))
    yield from _judged(environment, python, folder / f"{ENGINE}-answers", told,
                       "first answers to goals")


def _judged(environment: Environment, python: Path, folder: Path, names: Iterable[str],
            kind: str) -> Iterator[Row]:
    made, refused = lines.written(python, f"{ENGINE}@{RELEASE}", folder, names)
    found = list(_checked(environment, package(environment), made))
    yield from configured.judged(found, refused, f"{kind} under {ENGINE}", FOR_A_CARD)


def package(environment: Environment) -> Path:
    """The released packages in a folder of their own, fetched once; 70 MB.

    Raises subprocess.CalledProcessError where they cannot be.
    """
    place = environment.folder / f"{ENGINE}-{RELEASE}"
    stamp = place / ".whole"
    if not stamp.exists():
        subprocess.run([environment.python, "-m", "pip", "--disable-pip-version-check", "-q",
                        "install", "--no-deps", "--upgrade", "--target", place, *WITH],
                       check=True, capture_output=True)
        stamp.touch()
    return place


def card(device: Device, count: int) -> dict[str, Any]:
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
            "capability": divmod(int(digits), 10) if digits.isdigit() else (0, 0)}


def _broken(environment: Environment, place: Path, folder: Path) -> Row:
    checkpoint = model.write(folder / "published", model.published("deepseek-v3", "fp8-block"))
    of = [lines.Line(name, ["--model-path", str(checkpoint), *argv], {}, "sglang.launch_server")
          for name, argv in BROKEN.items()]
    found = asked(environment, place, card(catalogue.load_device("nvidia-h200-sxm"), 8), of)
    through = [row["name"] for row in found if row["configured"]]
    return Row("broken", "command lines that are broken on purpose",
               f"{len(found) - len(through)} refused", f"{len(BROKEN)} refused",
               not through and len(found) == len(BROKEN), None,
               [*(f"'{name}' is not refused" for name in through),
                *(f"{row['name']}: {row['refused'][0]}" for row in found if row["refused"])])


def _checked(environment: Environment, place: Path, made: dict[str, list[lines.Line]]
             ) -> Iterator[dict[str, Any]]:
    """Rows as :func:`lines.checked` gives them; one process for each kind of card."""
    by: dict[str, tuple[dict[str, Any], list[lines.Line]]] = {}
    for name, of in made.items():
        scenario = catalogue.load_scenario(name)
        assert scenario.node is not None
        about = card(scenario.device, int(scenario.node.devices_per_node.value))
        by.setdefault(json.dumps(about), (about, []))[1].extend(of)
    for about, of in by.values():
        yield from asked(environment, place, about, of)


def asked(environment: Environment, place: Path, about: dict[str, Any],
          of: Iterable[lines.Line]) -> list[dict[str, Any]]:
    """What the engine makes of lines for a card.

    Raises RuntimeError where it cannot be asked.
    """
    data = {"card": about, "lines": [vars(each) for each in of]}
    path = f"{Path(__file__).parent}:{place}"
    done = subprocess.run([environment.python, "-m", "inside"], input=json.dumps(data), text=True,
                          env=environment.variables | {"PYTHONPATH": path}, capture_output=True,
                          check=False)
    if done.returncode:
        raise RuntimeError(f"{ENGINE} cannot be asked: {done.stderr[-500:]}")
    return [json.loads(row) for row in done.stdout.splitlines()]


