"""``engines``: which arguments, variables and metrics an engine has in which release."""

from __future__ import annotations

import argparse
from typing import Any

from rich.table import Table

from calc.commands.printing import OK, console, listing, print_entries, spoken
from catalogue.engine import KINDS, Engine, Entry, engine_names, load_engine, plain
from catalogue.messages import messages

common = messages("common")
say = messages("calc/commands/engines")


def add_arguments(command: argparse.ArgumentParser) -> None:
    """What ``engines`` takes, besides ``--json``."""
    command.add_argument("name", nargs="?", help=spoken(say("help-name")))
    command.add_argument("flags", nargs="*", metavar="flag", help=spoken(say("help-flag")))
    command.add_argument("--release", help=spoken(say("help-release")))


def run(args: argparse.Namespace) -> int:
    """Print engines, the entries of one, or the history of some of its names.

    Raises ParamsError for an engine, a release or a name that the catalogue does not have.
    """
    if args.name is None:
        engines = [load_engine(name) for name in engine_names()]
        _print(args, {engine.name: {
            "title": engine.title,
            "releases": {item.version: item.date for item in engine.releases},
            "entries": {kind: len(engine.entries[kind]) for kind in KINDS}}
            for engine in engines}, engines_table)
        return OK
    engine = load_engine(args.name)
    release = engine.release(args.release).version if args.release else None
    entries = [engine.lookup(flag) for flag in args.flags] or [
        entry for kind in KINDS for entry in engine.entries[kind].values()
        if release is None or entry.at(release)]
    data = {entry.name: history_of(engine, entry, release) for entry in entries}
    _print(args, data, history_table if args.flags else names_table)
    return OK


def _print(args: argparse.Namespace, data: dict[str, Any], show: Any) -> None:
    if args.json:
        print_entries(data)
    else:
        console().print(show(data))


def history_of(engine: Engine, entry: Entry, release: str | None) -> dict[str, Any]:
    """What an entry is, in the release asked for or in each that it differs in."""
    changed = [version for version in engine.versions if entry.at(version) and (
        version == release if release else version == entry.since or version in entry.changed)]
    data = plain(entry)
    states = data.pop("releases")
    return data | {"releases": list(states), "states": {name: states[name] for name in changed}}


def engines_table(data: dict[str, Any]) -> Table:
    """Engines with their releases and entries."""
    table = Table(*map(spoken, (common("engine"), common("releases"), *(
        say("kind", name=kind) for kind in KINDS))))
    for name, entry in data.items():
        versions = list(entry["releases"])
        table.add_row(name, spoken(say("range", count=len(versions), first=versions[0],
                                       last=versions[-1])),
                      *(str(entry["entries"][kind]) for kind in KINDS))
    return table


def names_table(data: dict[str, Any]) -> Table:
    """Entries of an engine and the releases that have them."""
    table = Table(*map(spoken, (common("name"), common("kind"), say("since"),
                                say("until"))))
    for name, entry in data.items():
        table.add_row(name, spoken(say("kind", name=entry["kind"])), entry["since"],
                      entry["until"] or "")
    return table


def history_table(data: dict[str, Any]) -> Table:
    """What each name is, release by release."""
    table = Table(*map(spoken, (common("name"), common("release"), say("what-there"))))
    for name, entry in data.items():
        for number, (version, state) in enumerate(entry["states"].items()):
            text = listing(spoken(say("state", key=key, value=str(value)))
                           for key, value in state.items())
            table.add_row(name if number == 0 else "", version, text)
        last = entry["until"]
        table.add_row("", last or entry["releases"][-1],
                      spoken(say("last-release") if last else say("still-there")))
    return table
