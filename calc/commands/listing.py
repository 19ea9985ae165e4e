"""``models``, ``devices``, ``links``, ``nodes``, ``scenarios``: list the entries, or show one."""

from __future__ import annotations

import argparse
from typing import Any

from pydantic import BaseModel
from rich.table import Table

from calc.answer.model_sizes import parameters, parameters_by_class
from calc.commands.printing import (
    OK,
    console,
    listing,
    plain,
    print_entries,
    print_json,
    spoken,
    tell,
    translated,
)
from catalogue import Value, deployment_names, load, load_deployment, load_scenario, names, sources
from catalogue.messages import messages
from catalogue.reading.units import NONE

common = messages("common")
say = messages("calc/commands/listing")

KINDS = ("models", "devices", "links", "nodes", "scenarios")
_LISTED = {
    "devices": ("type", "memory_capacity", "memory_bandwidth"),
    "links": ("topology", "device_bandwidth", "pair_bandwidth"),
    "nodes": ("devices_per_node", "device_link", "fabric_link", "network_link"),
}


def add_arguments(command: argparse.ArgumentParser) -> None:
    """What a listing takes, besides ``--json``."""
    command.add_argument("name", nargs="?", help=spoken(say("help-name")))


def run(args: argparse.Namespace) -> int:
    """Print every entry of a kind, or all of one.

    Raises ParamsError for an entry that cannot be read.
    """
    kind = args.command
    if args.name is None:
        entries = ([load_scenario(name).file for name in deployment_names()] if kind == "scenarios"
                   else [load(kind, name) for name in names(kind)])
        if args.json:
            print_entries({entry.id: summary(kind, entry) for entry in entries})
        else:
            print_list(kind, entries)
        return OK
    chosen = ([pool.file for pool in load_deployment(args.name)] if kind == "scenarios"
              else [load(kind, args.name)])
    if args.json and len(chosen) > 1:
        print_entries({entry.id: details(kind, entry) for entry in chosen})
    elif args.json:
        print_json(details(kind, chosen[0]))
    else:
        for entry in chosen:
            print_entry(kind, entry)
    return OK


def summary(kind: str, entry: Any) -> dict[str, Any]:
    """The line that a listing shows of an entry."""
    if kind == "models":
        return {"name": entry.name["en"], "attention": entry.attention,
                "parameters": parameters(entry)}
    if kind in _LISTED:
        shown = {"name": entry.name["en"]}
        for name in _LISTED[kind]:
            value = getattr(entry, name)
            shown |= {name: value.value if isinstance(value, Value) else value}
        return shown
    return {"title": entry.title["en"], "model": entry.model, "device": entry.device,
            "precision": entry.precision}


def details(kind: str, entry: Any) -> dict[str, Any]:
    """Everything of an entry, each value with its source."""
    data = plain(entry)
    if kind == "models":
        data["parameters"] = parameters(entry)
        data["parameters_by_class"] = parameters_by_class(entry)
    return data


def print_list(kind: str, entries: list[Any]) -> None:
    """One row per entry."""
    rows = [summary(kind, entry) for entry in entries]
    table = Table(title=spoken(say("kind", name=kind)))
    table.add_column(spoken(say("identifier")), no_wrap=True)
    for name in rows[0] if rows else ():
        table.add_column(spoken(say("column", name=name, plain=name.replace("_", " "))),
                         overflow="fold")
    for entry, row in zip(entries, rows, strict=True):
        table.add_row(entry.id, *(
            translated(getattr(entry, name)) if name in ("name", "title")
            else cell_text(getattr(entry, name, None), item) for name, item in row.items()))
    console().print(table)


def cell_text(stored: Any, item: Any) -> str:
    """A cell of a listing; a value of the entry as its file writes it."""
    if isinstance(stored, Value):
        return stored.written
    if isinstance(item, dict):
        return "\n".join(spoken(say("count", name=key, count=f"{value:,}"))
                         for key, value in item.items())
    return NONE if item is None else spoken(say("word", name=str(item)))


def print_entry(kind: str, entry: Any) -> None:
    """Each value of an entry with its kind and source; then the sources, to be opened."""
    screen = console()
    table = Table(title=translated(entry.title if kind == "scenarios" else entry.name))
    for column in (say("key"), common("value-2")):
        table.add_column(spoken(column), overflow="fold")
    table.add_column(spoken(common("kind")), no_wrap=True)
    table.add_column(spoken(common("source")), overflow="fold")
    cited: dict[str, None] = {}
    for name, value in _flatten("", entry):
        if not isinstance(value, Value):
            table.add_row(name, str(value), "", "")
            continue
        also = spoken(say("also-printed"))
        for label, item in ((name, value), *((also, it) for it in value.others)):
            section = item.section and spoken(say("in-section", section=item.section))
            table.add_row(label, item.shown, spoken(say("value-kind", name=item.kind)),
                          listing(part for part in (item.source, section, item.date) if part))
            cited.setdefault(item.source)
    screen.print(table)
    for key in cited:
        source = sources().get(key, {})
        tell(screen, f"{key}: {source.get('title', key)} {source.get('url', '')}")
    if kind == "models":
        total = parameters(entry)
        counts = Table(title=spoken(say("counted")))
        counts.add_column(spoken(common("class")))
        for column in (common("parameters"), common("share")):
            counts.add_column(spoken(column), justify="right")
        for name, count in (parameters_by_class(entry) | total).items():
            counts.add_row(spoken(say("class", name=name, plain=name.replace("_", " "))),
                           f"{count:,}", f"{count / total['total']:.2%}")
        screen.print(counts)


def _flatten(prefix: str, item: Any) -> list[tuple[str, Any]]:
    if isinstance(item, BaseModel):
        pairs: Any = [(name, getattr(item, name)) for name in type(item).model_fields
                      if name not in ("id", "name", "title", "note", "defaults", "documented")]
    elif isinstance(item, dict):
        pairs = item.items()
    elif isinstance(item, list) and any(isinstance(part, BaseModel) for part in item):
        pairs = enumerate(item)
    else:
        return [] if item is None else [(prefix, item)]
    return [row for name, value in pairs
            for row in _flatten(f"{prefix}.{name}" if prefix else str(name), value)]
