"""Requirements on files of the catalogue beyond those on a reader's own, and their age."""

from __future__ import annotations

import calendar
from collections.abc import Iterable, Iterator, Sequence
from datetime import date as Day
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel

from catalogue.entries.models import Model
from catalogue.kinds import KINDS, class_of
from catalogue.library import NESTED, file_of, names
from catalogue.reading import yamlfile
from catalogue.reading.values import Value, sources, stands_on
from catalogue.reading.yamlfile import KeyPath

UNSURE = ("hbm_efficiency", "runtime_reserve", "memory_utilization", "max_num_batched_tokens")


def first_line(kind: str) -> str:
    """By which an editor finds the schema of a file of the catalogue."""
    depth = 1 + NESTED.get(kind, "").count("/")
    return f"# yaml-language-server: $schema={'../' * depth}schema/{kind}.json"


def shortcomings(kind: str, path: Path, entries: Sequence[Any]) -> Iterator[str]:
    """What a file lacks to stand in the catalogue, a sentence each with its line.

    Args:
        kind: of the entry.
        path: its file.
        entries: what was read of it, several of a family.
    """
    text, unlisted = yamlfile.read(path), set[str]()
    head = first_line(kind)
    if path.read_text("utf-8").partition("\n")[0] != head:
        yield f"{text.where()}: an editor finds no schema, expected '{head}' as the first line."
    for key in ("name", "title"):
        if key in class_of(kind).model_fields and key not in text.data:
            yield f"{text.where()}: the key '{key}' is missing."
    for entry in entries:
        for keys, value in values_of(entry):
            where = text.where(keys)
            if value.source not in sources():
                if value.source not in unlisted:
                    yield (f"{where}: '{value.source}' are words, expected a key of "
                           "params/sources/, where its address stands.")
                unlisted.add(value.source)
            elif lacks := shortcoming_of_value(kind, keys, value, where):
                yield lacks
        if isinstance(entry, Model) and entry.num_hidden_layers.kind != "documented":
            yield from shortcomings_of_model(entry, text.where())


def shortcomings_of_model(model: Model, where: str) -> Iterator[str]:
    """What a model lacks that its counts are compared with, a sentence each."""
    totals = model.published
    if model.weights is None:
        yield f"{where}: weights is missing, expected the format in which it is published."
    if totals is None or (totals.total_parameters or totals.stored_parameters) is None:
        yield (f"{where}: no published count to compare its parameters with, expected "
               "published.total_parameters or published.stored_parameters.")
    if totals is None or not totals.caches:
        yield (f"{where}: no published size to compare its cache with, expected published.caches "
               "with the bytes that an engine stores per token.")


def shortcoming_of_value(kind: str, keys: KeyPath, value: Value, where: str) -> str | None:
    """What a value lacks; nothing, as a rule."""
    named = ".".join(map(str, keys))
    if (value.date is None and "date" not in sources()[value.source] and value.kind != "documented"
            and (value.kind in ("vendor", "measured") or "price" in map(str, keys))):
        return (f"{where}: {named}: a {value.kind} value has no date, expected one here or at its "
                "source.")
    bare = value.section is None and value.note is None
    if value.kind == "documented" and kind in ("devices", "links", "nodes") and bare:
        return f"{where}: {named}: the section of the document is missing."
    if value.kind == "assumed" and value.low == value.high and (
            keys[-1] in UNSURE or (kind in ("devices", "links") and value.note is None)):
        return f"{where}: {named}: an assumed value has no range."
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


YEAR = 365  # from how many days on a statement is old


class Dated(NamedTuple):
    """A statement with a date: a value, or the ``defaults`` of a file's bare ones."""

    kind: str
    file: str
    line: int
    key: str
    what: str
    date: str

    def age(self, as_of: Day) -> int:
        """Days since the last day that the date may mean, at least 0."""
        return max(0, (as_of - last_day(self.date)).days)


def last_day(stated: str) -> Day:
    """The last day of a year, a month, or the day itself.

    >>> last_day("2024-02"), last_day("2025")
    (datetime.date(2024, 2, 29), datetime.date(2025, 12, 31))
    """
    year, month, day = ([int(part) for part in stated.split("-")] + [0, 0])[:3]
    month = month or 12
    return Day(year, month, day or calendar.monthrange(year, month)[1])


def statements(kinds: Iterable[str] = KINDS) -> list[Dated]:
    """Everything of these kinds that has a date, of its own or that of its source.

    A source that prints none is as old as the day on which it was read.
    """
    return [Dated(kind, f"params/{kind}/{name}.yml", int(file.where(keys).rpartition(":")[2]),
                  ".".join(map(str, keys)) or "-", str(what or keys[-1]), stated)
            for kind in kinds for name in names(kind)
            for file in [yamlfile.read(file_of(kind, name))]
            for keys, what, stated in _stated(file.data, ())]


def old(dated: list[Dated], days: int, as_of: Day) -> list[Dated]:
    """What is at least so many days old, the oldest of each kind first."""
    order = list(KINDS)
    return sorted((item for item in dated if item.age(as_of) >= days),
                  key=lambda item: (order.index(item.kind), last_day(item.date), item.file))


def _stated(data: Any, keys: KeyPath) -> Iterator[tuple[KeyPath, Any, str]]:
    """Keys, source and date of every group that has a date."""
    if isinstance(data, dict):
        stated = data.get("date")
        if stated is None and isinstance(data.get("source"), str):
            stated = stands_on(data["source"])
        if isinstance(stated, (str, int)):
            yield keys, data.get("source"), str(stated)
    parts = data.items() if isinstance(data, dict) else enumerate(
        data if isinstance(data, list) else ())
    for key, part in parts:
        yield from _stated(part, (*keys, key))
