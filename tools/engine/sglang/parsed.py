"""Command lines for SGLang before its own parser and checks, as on the card they are for."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import catalogue
from tools.engine import configured, lines, model
from tools.engine.cards import asked as cards
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


def rows(environment: Environment, _: Path, folder: Path) -> Iterator[Row]:
    """Lines that have to be refused, then all lines of shipped deployments."""
    yield _broken(environment, package(environment), folder)
    yield from _judged(environment, folder / ENGINE, lines.candidates(ENGINE),
                       "deployments")


def of_answers(environment: Environment, python: Path, folder: Path) -> Iterator[Row]:
    """Lines of the first answers to the shipped goals."""
    told = list(lines.answers(python, folder / "answers", ENGINE))
    yield from _judged(environment, folder / f"{ENGINE}-answers", told,
                       "first answers to goals")


def _judged(environment: Environment, folder: Path, names: Iterable[str],
            kind: str) -> Iterator[Row]:
    made, refused = lines.written(f"{ENGINE}@{RELEASE}", folder, names)
    place = package(environment)
    found = list(cards.by_card(made, lambda about, of: parse_lines(environment, place, about, of)))
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


def _broken(environment: Environment, place: Path, folder: Path) -> Row:
    checkpoint = model.write(folder / "published", model.published("deepseek-v3", "fp8-block"))
    of = [lines.Line(name, ["--model-path", str(checkpoint), *argv], {}, "sglang.launch_server")
          for name, argv in BROKEN.items()]
    found = parse_lines(environment, place, cards.card(catalogue.load_device("nvidia-h200-sxm"), 8),
                        of)
    return configured.refusals(found, len(BROKEN))


def parse_lines(environment: Environment, place: Path, about: dict[str, Any],
                of: Iterable[lines.Line]) -> list[dict[str, Any]]:
    """What the engine makes of lines for a card.

    Raises RuntimeError where it cannot be asked.
    """
    here = Path(__file__).parent
    return cards.run_lines(environment, "inside", (here, place, here.parent / "cards"), about, of)
