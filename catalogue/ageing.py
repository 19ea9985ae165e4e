"""How old what the catalogue states is, and of what it has a newer one itself; no network."""

from __future__ import annotations

import calendar
from collections.abc import Iterator
from datetime import date as Day
from typing import Any, NamedTuple

from catalogue.library import KINDS
from catalogue.naming import file_of, names
from catalogue.reading import yamlfile
from catalogue.reading.shared import stands_on
from catalogue.reading.yamlfile import KeyPath, YamlFile

YEAR = 365  # from how many days on a statement is old
ENGINES = "engines"
DATED = (*KINDS, ENGINES)
"""Kinds that are looked through; those of engines are dated by their releases."""


class Dated(NamedTuple):
    """A statement with a date: a value, the ``defaults`` of a file's bare ones, a release.

    ``group`` is that of which the newest is never superseded; empty, of none. What ``holds`` is
    not superseded either, such as the price list of another model that is still sold.
    """

    kind: str
    file: str
    line: int
    key: str
    what: str
    date: str
    group: str = ""
    holds: bool = False

    def age(self, as_of: Day) -> int:
        """Days since the last day that the date may mean, at least 0."""
        return max(0, (as_of - last_day(self.date)).days)


class Superseded(NamedTuple):
    """A member of a group, and the newest of that group."""

    member: Dated
    by: Dated


def last_day(stated: str) -> Day:
    """The last day of a year, a month, or the day itself.

    >>> last_day("2024-02"), last_day("2025")
    (datetime.date(2024, 2, 29), datetime.date(2025, 12, 31))
    """
    year, month, day = ([int(part) for part in stated.split("-")] + [0, 0])[:3]
    month = month or 12
    return Day(year, month, day or calendar.monthrange(year, month)[1])


def statements(kinds: tuple[str, ...] = DATED) -> list[Dated]:
    """Everything of these kinds that has a date, of its own or that of its source.

    A source that prints none is as old as the day on which it was read.
    """
    found: list[Dated] = []
    for kind in kinds:
        for name in names(kind):
            file = yamlfile.read(file_of(kind, name))
            found += _members(kind, name, file)
            if kind != ENGINES:
                found += (_dated(kind, file, keys, data.get("source"), stated)
                          for keys, data, stated in _stated(file.data, ()))
    return found


def old(found: list[Dated], days: int, as_of: Day) -> list[Dated]:
    """What is at least so many days old, the oldest of each kind first; no group's member."""
    return sorted((each for each in found if not each.group and each.age(as_of) >= days),
                  key=lambda each: (DATED.index(each.kind), last_day(each.date), each.file))


def newest(found: list[Dated]) -> dict[str, Dated]:
    """The newest of each group; of several of one date the last."""
    latest: dict[str, Dated] = {}
    for each in found:
        if each.group and (each.group not in latest
                           or last_day(each.date) >= last_day(latest[each.group].date)):
            latest[each.group] = each
    return latest


def superseded(found: list[Dated]) -> list[Superseded]:
    """Price lists and models of which their service or family has a newer one.

    Older releases of an engine are kept on purpose: deployments name them.
    """
    latest = newest(found)
    return [Superseded(each, latest[each.group]) for each in found
            if each.group and not each.holds and each.kind != ENGINES
            and last_day(each.date) < last_day(latest[each.group].date)]


def _stated(data: Any, keys: KeyPath) -> Iterator[tuple[KeyPath, dict[str, Any], str]]:
    if isinstance(data, dict):
        stated = data.get("date")
        if stated is None and isinstance(data.get("source"), str):
            stated = stands_on(data["source"])
        if isinstance(stated, (str, int, Day)):
            yield keys, data, str(stated)
    parts = data.items() if isinstance(data, dict) else enumerate(
        data if isinstance(data, list) else ())
    for key, part in parts:
        yield from _stated(part, (*keys, key))


def _members(kind: str, name: str, file: YamlFile) -> Iterator[Dated]:
    """What a file has of a group: price lists, releases, a model of a family."""
    data, group = file.data, f"{kind}/{name}"
    if kind == "prices":
        for key, sold in (data.get("sold") or {}).items():
            if isinstance(sold, dict) and "since" in sold:
                yield _dated(kind, file, ("sold", key), None, sold["since"], group,
                             holds="until" not in sold)
    elif kind == ENGINES:
        for release, of in data["releases"].items():
            yield _dated(kind, file, ("releases", release), None, of["date"], group)
    elif kind == "models" and "family" in data and "date" in (data.get("defaults") or {}):
        yield _dated(kind, file, ("family",), data["family"], data["defaults"]["date"],
                     f"{kind}/{data['family']}")


def _dated(kind: str, file: YamlFile, keys: KeyPath, what: Any, stated: Any, group: str = "",
           *, holds: bool = False) -> Dated:
    line = int(file.where(keys).rpartition(":")[2]) if keys else 1
    return Dated(kind, f"params/{kind}/{file.path.name}", line, ".".join(map(str, keys)) or "-",
                 str(what or keys[-1]), str(stated), group, holds)
