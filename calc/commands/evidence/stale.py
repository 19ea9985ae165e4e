"""``stale``: what of the catalogue is old, what has a newer one in it, and how it is renewed."""

from __future__ import annotations

import argparse
from datetime import date
from typing import Any

from calc.commands.printing import OK, print_columns, print_json, spoken
from catalogue import ParamsError, ageing
from catalogue.messages import Pair, by_language, messages
from catalogue.reading.values import stated_date

say = messages("calc/commands/evidence/stale")

YEAR = 365  # days
COLUMNS = ("kind", "file", "key", "what", "date", "age")
RECIPES = {"precisions": "formats", "consumptions": "measurements", "discrepancies": "calibrations",
           "goals": "questions", **dict.fromkeys(("claims", "formulas", "quantities", "advice"),
                                                 "documents")}
"""Kinds that are renewed as another one is."""


def add_arguments(command: argparse.ArgumentParser) -> None:
    """What ``stale`` takes, besides ``--json``."""
    command.add_argument("--kind", choices=ageing.DATED, help=spoken(say("help-kind")))
    command.add_argument("--older", metavar="DAYS", default=str(YEAR),
                         help=spoken(say("help-older", days=YEAR)))
    command.add_argument("--as-of", metavar="DATE", help=spoken(say("help-as-of")))


def run(args: argparse.Namespace) -> int:
    """Print totals by kind, what is old, what has a newer one, and the newest release of engines.

    Of a single kind it says how it is renewed, too.

    Raises ParamsError for a number of days or a date that is none.
    """
    days, as_of = _days(args.older), _day(args.as_of)
    found = ageing.statements((args.kind,) if args.kind else ageing.DATED)
    old, passed = ageing.old(found, days, as_of), ageing.superseded(found)
    releases = [each for each in ageing.newest(found).values() if each.kind == ageing.ENGINES]
    totals = {kind: {"dated": sum(each.kind == kind and not each.group for each in found),
                     "old": sum(each.kind == kind for each in old),
                     "superseded": sum(each.member.kind == kind for each in passed)}
              for kind in dict.fromkeys(each.kind for each in found)}
    if args.json:
        print_json({"as_of": as_of.isoformat(), "older": days, "totals": totals,
                    "old": [_plain(each, as_of) for each in old],
                    "superseded": [_plain(each.member, as_of) | {"by": _plain(each.by, as_of)}
                                   for each in passed],
                    "releases": [_plain(each, as_of) for each in releases],
                    "renewing": {kind: by_language(recipe(kind))
                                 for kind in ([args.kind] if args.kind else ageing.DATED)}})
        return OK
    for kind, of in totals.items():
        if of["dated"]:
            print(spoken(say("total", kind=kind, dated=of["dated"], old=of["old"],
                             superseded=of["superseded"])))
    if old:
        _told(spoken(say("old", days=days, as_of=as_of.isoformat())), old, as_of)
    if releases:
        _told(spoken(say("releases")), releases, as_of)
    if passed:
        print("\n" + spoken(say("superseded")))
    for each in passed:
        print(spoken(say("by", file=each.member.file, key=each.member.key, date=each.member.date,
                         newer=each.by.file, name=each.by.key, when=each.by.date)))
    print()
    if args.kind:
        print(spoken(recipe(args.kind)) + "\n" + spoken(say("afterwards")))
    else:
        print(spoken(say("how")))
    return OK


def recipe(kind: str) -> Pair:
    """How what a kind states is renewed: from which source, by which command, what to check."""
    return say("recipe", kind=RECIPES.get(kind, kind))


def _told(title: str, rows: list[ageing.Dated], as_of: date) -> None:
    heading = tuple(spoken(say("column", name=name)) for name in COLUMNS)
    print("\n" + title)
    print_columns([heading, *((each.kind, f"{each.file}:{each.line}", each.key, each.what,
                               each.date, f"{each.age(as_of)}") for each in rows)], 5)


def _plain(each: ageing.Dated, as_of: date) -> dict[str, Any]:
    data = each._asdict() | {"age": each.age(as_of)}
    del data["group"], data["holds"]
    return data


def _days(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 6:
        raise ParamsError(spoken(say("no-days", text=text[:40], days=YEAR)))
    return int(text)


def _day(text: str | None) -> date:
    try:
        return ageing.last_day(stated_date(text)) if text is not None else date.today()
    except ValueError as error:
        raise ParamsError(f"--as-of: {error}.") from None
