"""What a file must say to stand in the catalogue, beyond what a reader's own must."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from catalogue.entries.models import Model
from catalogue.reading import yamlfile
from catalogue.reading.shared import sources
from catalogue.reading.values import Value
from catalogue.reading.yamlfile import KeyPath

UNSURE = ("hbm_efficiency", "runtime_reserve", "memory_utilization", "max_num_batched_tokens")


def first_line(kind: str) -> str:
    """By which an editor finds the schema of a file of the catalogue."""
    return f"# yaml-language-server: $schema=../schema/{kind}.json"


def shortcomings(kind: str, path: Path, entries: Sequence[Any]) -> Iterator[str]:
    """What a file lacks to stand in the catalogue, a sentence each with its line.

    Args:
        kind: of the entry.
        path: its file.
        entries: what was read of it, several of a family.
    """
    head = first_line(kind)
    if path.read_text("utf-8").partition("\n")[0] != head:
        yield (f"{yamlfile.display_path(path)}:1: an editor finds no schema, expected "
               f"'{head}' as the first line.")
    text = yamlfile.read(path)
    unlisted: set[str] = set()  # each said once
    for entry in entries:
        for keys, value in values_of(entry):
            if value.source not in sources():
                if value.source not in unlisted:
                    yield (f"{text.where(keys)}: '{value.source}' are words, expected a key of "
                           "params/sources/, where its address stands.")
                unlisted.add(value.source)
            elif lacks := _of_value(kind, keys, value):
                yield f"{text.where(keys)}: {'.'.join(map(str, keys))}: {lacks}"
        if isinstance(entry, Model) and entry.num_hidden_layers.kind != "documented":
            yield from (f"{text.where()}: {each}" for each in _of_model(entry))


def _of_model(model: Model) -> Iterator[str]:
    """What a model lacks that somebody published."""
    if model.weights is None:
        yield "weights is missing, expected the format in which it is published."
    totals = model.published
    if totals is None or (totals.total_parameters or totals.stored_parameters) is None:
        yield ("nothing that its counts are held against, expected published.total_parameters or "
               "published.stored_parameters.")


def _of_value(kind: str, keys: KeyPath, value: Value) -> str:
    """What a value lacks; nothing, as a rule."""
    if (value.date is None and "date" not in sources()[value.source] and value.kind != "documented"
            and (value.kind in ("vendor", "measured") or "price" in map(str, keys))):
        return f"a {value.kind} value has no date, expected one here or at its source."
    sure = value.low == value.high
    if value.kind == "documented" and kind in ("devices", "links", "nodes") \
            and value.section is None and value.note is None:
        return "of a document the section is missing."
    if value.kind == "assumed" and sure and (keys[-1] in UNSURE or (
            kind in ("devices", "links") and value.note is None)):
        return "an assumed value has no range."
    return ""


def values_of(item: Any, keys: KeyPath = ()) -> Iterator[tuple[KeyPath, Value]]:
    """Every value of an entry, with what other sources print of it, and the keys to it."""
    parts: Iterable[tuple[tuple[str | int, ...], Any]] = ()
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
