"""What becomes of a setting that a document gives: in the releases that serve the model, and beside
the other settings of its command."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import catalogue
from catalogue.engine import (
    STOPS,
    Block,
    Engine,
    bare,
    launch_blocks,
    load_engine,
    releases,
)
from catalogue.ledger import EngineSetting, Stated
from catalogue.library import stands
from catalogue.reading.words import revealed

ORDER = ("accepted", "deprecated", "unlisted", "choice", "type", "unknown")  # the best first
ELSEWHERE, DEPENDS, RAN = "no-catalogue", "open", "ran"
PLUGIN, HOST = "vllm-ascend", "vllm"  # the one changes some settings of the other
ASCEND = "cann"  # software of a card, on which both run


@dataclass(frozen=True)
class Ruling:
    """What becomes of a setting.

    Attributes:
        state: of ``ORDER``, or of ``catalogue.ledger.State`` where a person has read what
            the program makes of it; ``no-catalogue`` of a program whose settings are not held.
        since, until: first and last of the releases that take it, or that were asked.
        beside: other settings of its command that stop every release.
        stated: what a person found.
    """

    state: str
    since: str = ""
    until: str = ""
    beside: tuple[str, ...] = ()
    stated: Stated | None = None


def ruling(setting: EngineSetting, claim: str, document: str, section: str,
           software: str | None = None, ran: bool = False) -> Ruling:
    """What becomes of a setting.

    Args:
        setting: as the document has it.
        claim: its number.
        document, section: where it stands.
        software: of the card that it is for; None where that is not said.
        ran: whether the document prints what was measured with it.
    """
    stated = reviewed().get(claim)
    if setting.engine is None:
        return Ruling(stated.state if stated else RAN if ran else ELSEWHERE, stated=stated)
    name, value = revealed(setting.name), setting.value
    given = True if value is None else revealed(value) if isinstance(value, str) else value
    engine, versions = _engine_of(setting.engine, name, software)
    rulings = {version: engine.judge(name, given, version) for version in versions}
    best = min(rulings.values(), key=ORDER.index)
    takes = [version for version, state in rulings.items() if state == best]
    beside = dict.fromkeys(
        other for number, block in enumerate(_blocks(document))
        if block.section == section and block.program == load_engine(setting.engine).title
        and bare(name) in map(bare, block.settings)
        for other in stopping(document, number, setting.engine, software)
        if bare(other) != bare(name))
    return Ruling(stated.state if stated and best not in STOPS else best, takes[0], takes[-1],
                  tuple(beside), stated)


def _engine_of(engine: str, name: str, software: str | None) -> tuple[Engine, list[str]]:
    """Who is asked of a setting: on Ascend the plug-in where it changes it. Releases that serve
    the models of the documents, as the engine's profile has them."""
    if software == ASCEND and engine in (HOST, PLUGIN):
        changes = engine == PLUGIN or load_engine(PLUGIN).find(name) is not None
        engine = PLUGIN if changes else HOST
    return load_engine(engine), _serving(engine)


@functools.cache
def _serving(engine: str) -> list[str]:
    listed = set(releases(catalogue.load("profiles", engine)))
    return [version for version in load_engine(engine).versions if version in listed]


@functools.cache
def stopping(document: str, number: int, engine: str, software: str | None) -> tuple[str, ...]:
    """The settings of a block because of which no release starts it: those that every release
    refuses, or, where there are none, all that one refuses; nothing where one starts it."""
    block, (_, versions) = _blocks(document)[number], _engine_of(engine, "", software)
    refused: list[set[str]] = [set() for _ in versions]
    for name, value in block.settings.items():
        program, serving = _engine_of(engine, name, software)
        for version, names in zip(versions, refused, strict=True):
            release = version if version in serving else serving[-1]
            if program.judge(name, value, release) in STOPS:
                names.add(name)
    if not all(refused):
        return ()
    always = set.intersection(*refused) or set.union(*refused)
    return tuple(name for name in block.settings if name in always)


@functools.cache
def _blocks(document: str) -> tuple[Block, ...]:
    return tuple(launch_blocks(document)) if stands("engines/documents", document) else ()


@functools.cache
def reviewed() -> dict[str, Stated]:
    """What a person found of settings that are claims, by the claim's number."""
    files: list[Any] = [catalogue.load("settings", name) for name in catalogue.names("settings")]
    return {row.claim: row for file in files for row in file.settings if row.claim is not None}
