"""What becomes of a setting that a document gives: in the releases that serve the model, and beside
the other settings of its command."""

from __future__ import annotations

import functools
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import catalogue
from catalogue.engines.engine import Block, Engine, launch_blocks, load_engine
from catalogue.engines.engine import documents as with_blocks
from catalogue.engines.released import releases
from catalogue.ledger.rows import EngineSetting
from catalogue.ledger.settings import Stated
from catalogue.reading.words import revealed

ORDER = ("accepted", "deprecated", "unlisted", "choice", "type", "unknown")  # the best first
ELSEWHERE, DEPENDS = "no-catalogue", "open"
STOPS = ("choice", "type", "unknown")  # what stops a command
PLUGIN, HOST = "vllm-ascend", "vllm"  # the one changes some settings of the other
ASCEND = "cann"


@dataclass(frozen=True)
class Ruling:
    """What becomes of a setting.

    Attributes:
        state: of ``ORDER``, or of ``catalogue.ledger.settings.State`` where a person has read what
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
           software: str | None = None) -> Ruling:
    """What becomes of a setting.

    Args:
        setting: as the document has it.
        claim: its number.
        document, section: where it stands.
        software: of the card that it is for; None where that is not said.
    """
    stated = _stated().get(claim)
    if setting.engine is None:
        return Ruling(stated.state if stated else ELSEWHERE, stated=stated)
    name, value = revealed(setting.name), setting.value
    given = True if value is None else revealed(value) if isinstance(value, str) else value
    engine, versions = _asked(setting.engine, name, software)
    found = {version: engine.judge(name, given, version) for version in versions}
    best = min(found.values(), key=ORDER.index)
    takes = [version for version, state in found.items() if state == best]
    beside = _stopped(document, section, setting.engine, name, software)
    return Ruling(stated.state if stated and best not in STOPS else best, takes[0], takes[-1],
                  beside, stated)


def _asked(engine: str, name: str, software: str | None) -> tuple[Engine, list[str]]:
    """Who is asked of a setting: on Ascend the plug-in where it changes it. Releases that serve
    the models of the documents, as the engine's profile has them."""
    if software == ASCEND and engine in (HOST, PLUGIN):
        plugin = load_engine(PLUGIN)
        if engine == PLUGIN or plugin.find(name) is not None:
            return plugin, _serving(PLUGIN, plugin.versions)
    found = load_engine(engine)
    return found, _serving(engine, found.versions)


@functools.cache
def _serving(engine: str, versions: tuple[str, ...]) -> list[str]:
    known = set(releases(catalogue.load("profiles", engine)))
    return [version for version in versions if version in known]


@functools.cache
def _stopped(document: str, section: str, engine: str, name: str, software: str | None
             ) -> tuple[str, ...]:
    """Other settings of a document's command because of which no release starts it."""
    found: list[str] = []
    for block in _blocks(document):
        if (block.section != section or block.program != load_engine(engine).title
                or not _within(name, block.settings)):
            continue
        _, versions = _asked(engine, "", software)
        refused = [set(_refused(block, engine, version, software)) for version in versions]
        if all(refused):
            found += [other for other in block.settings if not _alike(name, other)
                      and any(other in each for each in refused)
                      and (all(other in each for each in refused)
                           or not set.intersection(*refused))]
    return tuple(dict.fromkeys(found))


def _refused(block: Block, engine: str, version: str, software: str | None) -> list[str]:
    """The settings of a block that stop a release."""
    found = []
    for name, value in block.settings.items():
        asked, versions = _asked(engine, name, software)
        held = version if version in versions else versions[-1]
        if asked.judge(name, value, held) in STOPS:
            found.append(name)
    return found


@functools.cache
def _blocks(document: str) -> tuple[Block, ...]:
    return tuple(launch_blocks(document)) if document in with_blocks() else ()


def _within(name: str, settings: Collection[str]) -> bool:
    return any(_alike(name, other) for other in settings)


def _alike(one: str, other: str) -> bool:
    """Whether two spellings are of one argument."""
    return one.lstrip("-").replace("-", "_") == other.lstrip("-").replace("-", "_")


@functools.cache
def _stated() -> dict[str, Stated]:
    """What was found of settings that are claims, by the claim's number."""
    files: list[Any] = [catalogue.load("settings", name) for name in catalogue.names("settings")]
    return {each.claim: each for file in files for each in file.settings if each.claim is not None}
