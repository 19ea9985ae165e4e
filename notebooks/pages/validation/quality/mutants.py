"""Lines of the runtime changed for the worse, and whether a test saw it, room by room."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from catalogue.messages import LANGUAGES, Pair, messages
from notebooks.pages.validation.quality import records
from notebooks.pages.validation.quality.records import Change, Mutant, Mutants, Tried
from notebooks.show import figures
from notebooks.show.columns import Column
from notebooks.show.display import table
from notebooks.show.numbers import fmt_int, fmt_percent

common = messages("common")
say = messages("pages/validation/quality/mutants")

RECORDED = "tests/tools/answers/"  # a test that sees that something moved, not that it is wrong
PARTS = {  # with their places in the palette
    "seen": (say("seen"), 2), "recorded": (say("recorded"), 1), "since": (say("since"), 0),
    "explained": (say("explained"), 7), "unexplained": (say("unexplained"), 3)}


class Room(NamedTuple):
    """How many mutants of a room a test saw, a recorded answer alone, or a test written since, need
    not be seen, or neither."""

    name: str
    seen: int
    recorded: int
    since: int
    explained: int
    unexplained: int

    @property
    def mutants(self) -> int:
        """All of them."""
        return self.seen + self.recorded + self.since + self.explained + self.unexplained


def literal(text: str) -> str:
    """A line of code as Markdown that shows it as it is, whatever marks are in it.

    >>> literal("a `b`")
    '`` a `b` ``'
    """
    line = " ".join(text.split())
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", line)), default=0))
    return f"{fence} {line} {fence}" if "`" in line else f"{fence}{line}{fence}"


def rooms(record: Mutants, why: Mapping[Change, Pair]) -> list[Room]:
    """Rooms by the share of their mutants that is neither seen nor explained; the worst first."""
    found: dict[str, dict[str, int]] = {}
    for each in record.mutants:
        counts = found.setdefault(each.room, dict.fromkeys(PARTS, 0))
        counts["recorded" if (each.seen_by or "").startswith(RECORDED) else
               "seen" if each.seen_by else "since" if each.seen_since else
               "explained" if each.change in why else "unexplained"] += 1
    return sorted((Room(name, **counts) for name, counts in found.items()),
                  key=lambda room: (-room.unexplained / room.mutants, -room.mutants, room.name))


def unexplained(record: Mutants, why: Mapping[Change, Pair]) -> list[Mutant]:
    """Mutants that no test sees by now and nobody has explained, by place."""
    return sorted((each for each in record.mutants
                   if not each.seen and each.change not in why),
                  key=lambda each: (each.path, each.line))


def tried(record: Mutants | None, why: Mapping[Change, Pair]) -> Tried:
    """The line of the first table."""
    title, section = say("title"), "quality-mutants"
    if record is None:
        return records.not_done(title, section)
    total, open_ = len(record.mutants), len(unexplained(record, why))
    unseen = sum(each.seen_by is None for each in record.mutants)
    since = sum(bool(each.seen_since) for each in record.mutants)
    return Tried(title, section, total, open_, say("amount", count=fmt_int(total)),
                 say("told", unseen=fmt_int(unseen), since=fmt_int(since),
                     unexplained=fmt_int(open_)),
                 records.when([record.date]))


def shown(record: Mutants, why: Mapping[Change, Pair]) -> None:
    """The table by room, then survivors line by line, folded."""
    table(rooms(record, why), [
        Column(lambda room: literal(room.name), say("room")),
        Column("mutants", say("mutants")), Column("seen", say("seen")),
        Column("recorded", say("recorded")),
        Column(lambda room: (room.seen + room.recorded) / room.mutants, say("share-seen"),
               fmt_percent, digits=0),
        Column("since", say("since")),
        Column("explained", say("explained")), Column("unexplained", say("unexplained"))])
    lines = [Column(lambda each: literal(f"{each.path}:{each.line}"), say("line")),
             Column(lambda each: literal(each.before), say("before")),
             Column(lambda each: literal(each.after), say("after"))]
    if others := unexplained(record, why):
        table(others, lines, wide=True, folded=say("unexplained-survivors"))
    if known := [each for each in record.mutants if not each.seen and each.change in why]:
        table(known, [*lines, Column(lambda each: why[each.change], common("why"))], wide=True,
              folded=say("explained-survivors"))


def picture(record: Mutants, why: Mapping[Change, Pair], lang: str) -> Figure:
    """Mutants by room as bars, the worst room on top."""
    at, found = LANGUAGES.index(lang), rooms(record, why)
    drawing, axes = figures.axes(height=1.2 + 0.24 * len(found))
    left = [0] * len(found)
    for name, (label, colour) in PARTS.items():
        counts = [getattr(room, name) for room in found]
        axes.barh(range(len(found)), counts, left=left, height=0.7, label=label[at],
                  color=figures.PALETTE[colour])
        left = [sum(both) for both in zip(left, counts, strict=True)]
    axes.set_yticks(range(len(found)), [room.name for room in found], fontsize=8.5)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel(say("mutants")[at])
    drawing.legend(loc="outside upper center", ncols=3, fontsize=8.5)
    return drawing
