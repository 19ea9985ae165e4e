"""The page on how hard the project was tested: its first table, and what each section shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date as Day
from typing import Any

from catalogue import ageing
from catalogue.messages import Pair, messages
from notebooks.pages.validation import blind
from notebooks.pages.validation.quality import laws, mutants, records, runs
from notebooks.pages.validation.quality.records import Records, Tried
from notebooks.show.columns import Column
from notebooks.show.display import draw, short_table, show, table
from notebooks.show.numbers import fmt_int, fmt_percent, fmt_sig

common = messages("common")
say = messages("pages/validation/quality/page")

FIRST = 6  # laws that are seen at once


def answer(kept: Records, predicted: Sequence[blind.BlindRow]) -> None:
    """What was tried, how much, what was found and when, the worst first.

    Args:
        kept: records of long runs.
        predicted: rows that were predicted blind, as the page on errors has them.
    """
    lines = records.worst_first([
        _blind(predicted), mutants.tried(kept.mutants, kept.why), laws.tried(kept.laws),
        runs.tried_doors(kept.doors), runs.tried_kills(kept.kills),
        runs.tried_builds(kept.identical), runs.tried_packages(kept.packages)])
    table(lines, [
        Column(_linked, say("tried")), Column("amount", say("amount")),
        Column("told", say("found")), Column(_share, say("share")), Column("when", say("when"))],
        wide=True)


def _linked(line: Tried) -> Pair:
    en, zh = line.title
    return f"[{en}](#{line.section})", f"[{zh}](#{line.section})"


def _share(line: Tried) -> str | None:
    return f"{fmt_sig(100 * line.share, 2)}%" if line.tried else None


def _blind(predicted: Sequence[blind.BlindRow]) -> Tried:
    """The line of the first table on what was predicted before it was known."""
    rows = len(blind.errors(predicted, "then"))
    outside = rows - round(rows * blind.inside(predicted, "then"))
    return Tried(say("title-blind"), "quality-blind", rows, outside,
                 say("amount-blind", rows=fmt_int(rows), systems=fmt_int(len(blind.SYSTEMS))),
                 say("told-blind", outside=fmt_int(outside), median=fmt_percent(
                     blind.median(predicted, "then"), digits=0)), say("when-blind"))


def section(record: Any, shown: Callable[[Any], None]) -> None:
    """What a record says; where there is none, that this was not done."""
    if record is None:
        show(*say("not-done"))
    else:
        shown(record)


def by_room(kept: Records) -> None:
    """Mutants by room: bars, and the tables."""
    def shown(record: records.Mutants) -> None:
        draw(lambda lang: mutants.picture(record, kept.why, lang))
        mutants.shown(record, kept.why)

    section(kept.mutants, shown)


def of_laws(record: dict[str, records.Law]) -> None:
    """Laws, the worst first; then why some are known not to hold of every deployment."""
    found = laws.counted(record)
    short_table(found, [
        Column(lambda law: laws.WORDS[law.name], say("law")),
        Column("variants", say("variants")), Column("tried", say("deployments")),
        Column("broken", say("broken")),
        Column("share_left_out", say("left-out"), fmt_percent, digits=0),
        Column(lambda law: records.when(law.dates), say("when"))],
        first=FIRST, rest=say("other-laws"), wide=True)
    table([law for law in found if law.name in laws.INEXACT], [
        Column(lambda law: laws.WORDS[law.name], say("law")),
        Column(lambda law: laws.INEXACT[law.name], common("why"))], folded=say("inexact-laws"))


def ages(newest: str | None, year: int) -> None:
    """How much of the catalogue was old when the last of the runs was made.

    Args:
        newest: the day of that run, ISO; the newest release of an engine counts where none is kept.
        year: from how many days on a value is old.
    """
    found = ageing.statements()
    releases = [each for each in ageing.newest(found).values() if each.kind == ageing.ENGINES]
    day = newest or max(each.date for each in releases)
    show(*say("ages", date=day, old=fmt_int(len(ageing.old(found, year, Day.fromisoformat(day)))),
        values=fmt_int(sum(not each.group for each in found)),
        passed=fmt_int(len(ageing.superseded(found))),
        engines=fmt_int(len(releases)),
        releases=records.when(each.date for each in releases)))
