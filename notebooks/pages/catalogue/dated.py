"""From when to when what a page shows is: the oldest and the newest source of its numbers."""

from __future__ import annotations

from typing import Any, NamedTuple

from catalogue.reading.values import sources
from catalogue.shipped import values_of
from notebooks.show.display import markdown


class Dates(NamedTuple):
    """Dates of what some entries state: ISO, possibly without day or month; none are empty.

    ``undated`` counts values whose source prints no date, ``read`` the last day on which one of
    these was read.
    """

    oldest: str
    newest: str
    undated: int
    read: str


def dates(*entries: Any) -> Dates:
    """The dates of the values that entries of the catalogue have in use.

    What other sources print of the same quantity does not count, nor what is computed from other
    values; where a value and its source both have a date, that of the value does. A year counts
    from its beginning.
    """
    stated, read = set[str](), list[str]()
    for keys, value in values_of(entries):
        source = sources().get(value.source, {})
        if "others" in keys:
            continue
        if date := value.date or source.get("date"):
            stated.add(str(date))
        elif "read" in source:
            read.append(str(source["read"]))
    return Dates(min(stated, default=""), max(stated, default=""), len(read), max(read, default=""))


def as_of(*entries: Any) -> None:
    """Say from when to when the sources of some entries are; nothing where none has a date."""
    found = dates(*entries)
    if not found.newest:
        return
    en, zh = f"Data as of {found.newest}", f"数据截至 {found.newest}"
    if found.oldest != found.newest:
        en += f" (newest source; the oldest is of {found.oldest})"
        zh += f"（最新来源；最早的来源为 {found.oldest}）"
    if found.undated:
        rest = ("one value rests on a source without a date, read on" if found.undated == 1 else
                f"{found.undated} values rest on sources without a date, read by")
        en += f"; {rest} {found.read}"
        zh += f"；另有 {found.undated} 项的来源未注日期，查阅于 {found.read}"
    markdown(f"{en}.", f"{zh}。")
