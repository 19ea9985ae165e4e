"""Command lines for vLLM Ascend before the parser and checks of vLLM and its plug-in."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import catalogue
from tools.engine import configured, environment, lines, model
from tools.engine.cards import asked as cards
from tools.engine.environment import PACKAGE, Environment
from tools.engine.rows import Row
from tools.engine.sglang.parsed import FOR_A_CARD
from tools.engines.source import find, load

ENGINE, RELEASE = "vllm-ascend", "0.30.0rc2"
BASE = "0.30.0"  # the release of vLLM that its image is built with
POINTS = """[vllm.platform_plugins]
ascend = vllm_ascend:register
[vllm.general_plugins]
ascend_kv_connector = vllm_ascend:register_connector
"""  # of those in its setup.py what names a platform and its connectors
METADATA = f"Metadata-Version: 2.1\nName: {ENGINE}\nVersion: {RELEASE}\n"
EPLB = '{"eplb_config": {"dynamic_eplb": true}}'
BROKEN = {  # each is refused by the engine or its plug-in
    "an unknown flag": ["--tensor-parallel-sizes", "2"],
    "a value of another type": ["--max-num-seqs", "many"],
    "an unknown key of the plug-in": ["--additional-config", '{"no_key_of_it": true}'],
    "experts balanced without the variable": ["--enable-expert-parallel",
                                              "--additional-config", EPLB],
    "a format whose description is absent": ["--quantization", "ascend"]}


def rows(environment: Environment, _: Path, folder: Path) -> Iterator[Row]:
    """Lines that have to be refused, then all lines of shipped deployments."""
    yield _broken(environment, package(environment), folder)
    yield from _judged(environment, folder / ENGINE, lines.candidates(ENGINE), "deployments")


def of_answers(environment: Environment, python: Path, folder: Path) -> Iterator[Row]:
    """Lines of the first answers to the shipped goals, on cards of Ascend."""
    told = list(lines.answers(python, folder / "answers", ENGINE))
    yield from _judged(environment, folder / f"{ENGINE}-answers", told, "first answers to goals")


def package(of: Environment) -> Path:
    """The plug-in's source beside the vLLM that it is for, in a folder of their own; 400 MB.

    Raises subprocess.CalledProcessError or ExtractError where they cannot be had.
    """
    place = of.folder / f"{ENGINE}-{RELEASE}"
    stamp = place / ".whole"
    if stamp.exists():
        return place
    shutil.rmtree(place, ignore_errors=True)
    subprocess.run([of.python, "-m", "pip", "--disable-pip-version-check", "-q", "install",
                    "--no-deps", "--target", place, f"{PACKAGE}=={BASE}"],
                   check=True, capture_output=True)
    environment.renamed(place, BASE)
    source = load(find(ENGINE, [RELEASE])[0])
    told = {f"{ENGINE.replace('-', '_')}-{RELEASE}.dist-info/{name}": text for name, text in (
        ("METADATA", METADATA), ("entry_points.txt", POINTS))}
    for name, text in (source.files | told).items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    stamp.touch()
    return place


def parse_lines(of: Environment, place: Path, about: cards.Card, made: Iterable[lines.Line]
                ) -> list[dict[str, Any]]:
    """What the engine and its plug-in make of lines for a card.

    Raises RuntimeError where they cannot be asked.
    """
    here = Path(__file__).parents[1]
    return cards.run_lines(of, "ascend.inside", (here, place, here / "cards"), about, made)


def _broken(of: Environment, place: Path, folder: Path) -> Row:
    checkpoint = model.write(folder / "published", model.published("deepseek-v3", "bf16"))
    made = [lines.Line(name, [str(checkpoint), "--tensor-parallel-size", "8", *argv])
            for name, argv in BROKEN.items()]
    found = parse_lines(of, place, cards.card(catalogue.load_device("ascend-910b2"), 8), made)
    return configured.refusals(found, len(BROKEN))


def _judged(of: Environment, folder: Path, names: Iterable[str], kind: str) -> Iterator[Row]:
    made, refused = lines.written(f"{ENGINE}@{RELEASE}", folder, names)
    servers = {name: [each for each in kept if each.program == lines.ENGINE]
               for name, kept in made.items()}
    place = package(of)
    found = list(cards.by_card(servers, lambda about, each: parse_lines(of, place, about, each)))
    yield from configured.judged(found, refused, f"{kind} under {ENGINE}", FOR_A_CARD)
