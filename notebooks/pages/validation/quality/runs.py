"""Hostile input, kills, two builds and other packages: tables of their records, worst first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from catalogue.messages import Pair, messages
from catalogue.reading.amounts import NONE
from notebooks.pages.validation.quality import records
from notebooks.pages.validation.quality.mutants import literal
from notebooks.pages.validation.quality.records import (
    Door,
    Environment,
    Identical,
    Kills,
    Packages,
    Tried,
)
from notebooks.show.columns import Column
from notebooks.show.display import show, table
from notebooks.show.numbers import fmt_bytes, fmt_int, fmt_sig

say = messages("pages/validation/quality/runs")

DOORS: dict[str, Pair] = {
    "scenario": say("door-scenario"), "device": say("door-device"), "model": say("door-model"),
    "goal": say("door-goal"), "prices": say("door-prices"), "load": say("door-load"),
    "results": say("door-results"), "launch": say("door-launch"), "ledger": say("door-ledger"),
    "tables": say("door-tables"), "config": say("door-config"), "entries": say("door-entries"),
    "options": say("door-options")}
COMMANDS = ("estimate", "cost", "simulate", "search", "sweep", "capacity", "decide", "calibrate",
            "validate", "deploy", "import-model", "report")
VICTIMS: dict[str, Pair] = {name: (f"`{name}`",) * 2 for name in COMMANDS} | {
    "search, two processes": say("two-processes", command="`search`"),
    "sweep, two processes": say("two-processes", command="`sweep`"),
    "build": say("build-of-the-book")}

OUTCOMES = ("not-run", "failed", "other", "same")  # of an environment, the worst first


def _worst_first(names: Mapping[str, Pair], record: Mapping[str, Any], count: str
                 ) -> list[tuple[Pair, Any]]:
    """Names with what is kept of each, None of one that was not tried; that comes first."""
    def badness(name: str) -> tuple[float, int, str]:
        kept = record.get(name)
        cases = getattr(kept, count, 0)
        return -kept.found / max(1, cases) if kept else -float("inf"), cases, name

    listed = dict.fromkeys([*names, *record])
    return [(names.get(name, (literal(name),) * 2), record.get(name))
            for name in sorted(listed, key=badness)]


def _counts(names: Mapping[str, Pair], heading: Pair, record: Mapping[str, Any],
            columns: Mapping[str, Pair]) -> None:
    """A table of counts, of which the first is of the cases."""
    first = next(iter(columns))
    not_tried = dict.fromkeys([*columns, "date"], NONE) | {first: say("not-tried")}
    table([{"name": title, **(kept.model_dump() if kept else not_tried)}
           for title, kept in _worst_first(names, record, first)],
          {"name": heading, **columns, "date": say("date")})


def doors(record: Mapping[str, Door]) -> None:
    """How the cases of each door ended."""
    _counts(DOORS, say("door"), record, {
        "cases": say("cases"), "answered": say("answered"), "refused": say("refused"),
        "traceback": say("traceback"), "endless": say("endless"), "unclear": say("unclear")})


def kills(record: Mapping[str, Kills]) -> None:
    """What kills of each command left."""
    _counts(VICTIMS, say("command"), record, {
        "kills": say("kills"), "processes": say("processes"), "files": say("files"),
        "unclear": say("unclear-ends")})


def tried_doors(record: Mapping[str, Door] | None) -> Tried:
    """The line of the first table on hostile input."""
    title, section = say("title-doors"), "quality-doors"
    if not record:
        return records.not_done(title, section)
    cases, bad = (sum(getattr(each, name) for each in record.values())
                  for name in ("cases", "found"))
    return Tried(title, section, cases, bad,
                 say("amount-doors", cases=fmt_int(cases), doors=fmt_int(len(record)),
                     all=fmt_int(len(DOORS))),
                 say("told-doors", count=fmt_int(bad)),
                 records.when(each.date for each in record.values()))


def tried_kills(record: Mapping[str, Kills] | None) -> Tried:
    """The line of the first table on kills."""
    title, section = say("title-kills"), "quality-kills"
    if not record:
        return records.not_done(title, section)
    count, bad = (sum(getattr(each, name) for each in record.values())
                  for name in ("kills", "found"))
    return Tried(title, section, count, bad,
                 say("amount-kills", kills=fmt_int(count), commands=fmt_int(len(record))),
                 say("told-kills", count=fmt_int(bad)),
                 records.when(each.date for each in record.values()))


def tried_builds(record: Identical | None) -> Tried:
    """The line of the first table on two builds."""
    title, section = say("title-builds"), "quality-builds"
    if record is None:
        return records.not_done(title, section)
    return Tried(title, section, record.files, len(record.different),
                 say("amount-builds", files=fmt_int(record.files)),
                 say("told-builds", count=fmt_int(len(record.different))),
                 records.when([record.date]))


def builds(record: Identical) -> None:
    """How much of two builds is the same, and the files that are not, folded."""
    show(*say("builds", commit=record.commit[:8], files=fmt_int(record.files),
              size=fmt_bytes(record.bytes, "MB", 0), different=fmt_int(len(record.different)),
              date=record.date))
    if record.different:
        table(record.different, [Column(literal, say("file"))], folded=say("differing-files"))


def tried_packages(record: Packages | None) -> Tried:
    """The line of the first table on packages."""
    title, section = say("title-packages"), "quality-packages"
    ran = [each for each in record.runs if each.same is not None] if record else []
    if record is None or not ran:
        return records.not_done(title, section)
    bad = sum(not each.same for each in ran)
    return Tried(title, section, len(ran), bad,
                 say("amount-packages", environments=fmt_int(len(ran)),
                     all=fmt_int(len(record.runs)),
                     values=fmt_int(max(each.values or 0 for each in ran))),
                 say("told-packages", count=fmt_int(bad)), records.when([record.date]))


def packages(record: Packages) -> None:
    """Each environment, the one that differs most first; before it one that never ran."""
    def badness(each: Environment) -> tuple[int, float]:
        return OUTCOMES.index(each.outcome), -(each.largest or 0.0)

    show(*say("packages", questions=fmt_int(record.questions), date=record.date,
              tolerance=fmt_sig(record.tolerance, 1)))
    table(sorted(record.runs, key=badness), [
        Column("python", ("Python", "Python")),
        Column(lambda each: say("which-packages", end=each.packages), say("packages-used")),
        Column("values", say("numbers")), Column("largest", say("largest"), fmt_sig, digits=2),
        Column(lambda each: say("outcome", of=each.outcome), say("result"))])
