"""What a file must say to stand in the catalogue, beyond what a reader's own must."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from catalogue.entries.models import Model
from catalogue.messages import Pair, messages
from catalogue.naming import NESTED
from catalogue.reading import yamlfile
from catalogue.reading.shared import sources
from catalogue.reading.values import Value
from catalogue.reading.yamlfile import KeyPath

say = messages("catalogue/shipped")

UNSURE = ("hbm_efficiency", "runtime_reserve", "memory_utilization", "max_num_batched_tokens")


def first_line(kind: str) -> str:
    """By which an editor finds the schema of a file of the catalogue."""
    depth = 1 + NESTED.get(kind, "").count("/")
    return f"# yaml-language-server: $schema={'../' * depth}schema/{kind}.json"


def shortcomings(kind: str, path: Path, entries: Sequence[Any]) -> Iterator[Pair]:
    """What a file lacks to stand in the catalogue, a sentence each with its line.

    Args:
        kind: of the entry.
        path: its file.
        entries: what was read of it, several of a family.
    """
    text, unlisted = yamlfile.read(path), set[str]()
    if path.read_text("utf-8").partition("\n")[0] != first_line(kind):
        yield say("no-schema", where=text.where(), head=first_line(kind))
    for entry in entries:
        for keys, value in values_of(entry):
            where = text.where(keys)
            if value.source not in sources():
                if value.source not in unlisted:
                    yield say("unlisted", where=where, source=value.source)
                unlisted.add(value.source)
            elif lacks := _of_value(kind, keys, value, where):
                yield lacks
        if isinstance(entry, Model) and entry.num_hidden_layers.kind != "documented":
            totals = entry.published
            if entry.weights is None:
                yield say("no-weights", where=text.where())
            if totals is None or (totals.total_parameters or totals.stored_parameters) is None:
                yield say("no-totals", where=text.where())
            if totals is None or not totals.caches:
                yield say("no-caches", where=text.where())


def _of_value(kind: str, keys: KeyPath, value: Value, where: str) -> Pair | None:
    """What a value lacks; nothing, as a rule."""
    named = ".".join(map(str, keys))
    if (value.date is None and "date" not in sources()[value.source] and value.kind != "documented"
            and (value.kind in ("vendor", "measured") or "price" in map(str, keys))):
        return say("no-date", where=where, keys=named, kind=value.kind)
    bare = value.section is None and value.note is None
    if value.kind == "documented" and kind in ("devices", "links", "nodes") and bare:
        return say("no-section", where=where, keys=named)
    if value.kind == "assumed" and value.low == value.high and (
            keys[-1] in UNSURE or (kind in ("devices", "links") and value.note is None)):
        return say("no-range", where=where, keys=named)
    return None


def values_of(item: Any, keys: KeyPath = ()) -> Iterator[tuple[KeyPath, Value]]:
    """Every value of an entry, with what other sources print of it, and the keys to it."""
    parts: Iterable[tuple[KeyPath, Any]] = ()
    if isinstance(item, Value):
        yield keys, item
        parts = ((("others", number), other) for number, other in enumerate(item.others))
    elif isinstance(item, BaseModel):
        parts = (((name,), getattr(item, name)) for name in type(item).model_fields)
    elif isinstance(item, dict):
        parts = (((name,), value) for name, value in item.items())
    elif isinstance(item, (list, tuple)):
        parts = (((number,), value) for number, value in enumerate(item))
    for name, value in parts:
        yield from values_of(value, (*keys, *name))
