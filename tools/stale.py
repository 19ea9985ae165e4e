"""List outdated entries of the catalogue.

    python -m tools.stale [--kind KIND] [--older DAYS] [--as-of DATE] [--json]

With ``--kind`` it also prints how entries of that kind are renewed (``tools/stale.yml``).
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import yaml

from catalogue import shipped
from catalogue.reading.values import stated_date

RECIPES = yaml.safe_load(Path(__file__).with_suffix(".yml").read_text("utf-8"))


def stale(kinds: Sequence[str], days: int, as_of: date) -> dict[str, Any]:
    """Counts by kind, and outdated values.

    Args:
        kinds: of entries.
        days: age from which a date is outdated.
        as_of: day at which ages are counted.
    """
    statements = shipped.statements(tuple(kinds))
    old = shipped.old(statements, days, as_of)
    dated, outdated = (Counter(statement.kind for statement in several)
                       for several in (statements, old))
    return {"as_of": as_of.isoformat(), "older": days,
            "totals": {kind: {"dated": dated[kind], "old": outdated[kind]} for kind in dated},
            "old": [statement._asdict() | {"age": statement.age(as_of)} for statement in old]}


def recipe(kind: str) -> dict[str, str]:
    """How entries of a kind are renewed: the source, what to write, what to check."""
    renewed = RECIPES["recipes"].get(RECIPES["like"].get(kind, kind))
    return dict(renewed)


def last_day(text: str) -> date:
    """The last day of a date on the command line, such as 2026-11."""
    try:
        return shipped.last_day(stated_date(text))
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def main(argv: Sequence[str] | None = None) -> None:
    """Print."""
    parser = argparse.ArgumentParser(prog="python -m tools.stale",
                                     description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kind", choices=shipped.KINDS, help="kind of entries (default: all)")
    parser.add_argument("--older", metavar="DAYS", type=int, default=shipped.YEAR,
                        help="age from which a date is outdated (default: %(default)s days)")
    parser.add_argument("--as-of", metavar="DATE", type=last_day, default=date.today(),
                        help="day at which ages are counted (default: today)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    args = parser.parse_args(argv)
    if args.older < 0:
        parser.error(f"--older {args.older}, expected a number of days, such as 365")
    kinds = (args.kind,) if args.kind else tuple(shipped.KINDS)
    result = stale(kinds, args.older, args.as_of)
    if args.json:
        print(json.dumps(result | {"renewing": {kind: recipe(kind) for kind in kinds}}, indent=2))
        return
    for name, total in result["totals"].items():
        print(f"{name}: {total['old']} of {total['dated']} dated values are outdated")
    print(f"\nAt least {result['older']} days old on {result['as_of']}:", *(
        "{file}:{line} {key} ({what}): {date}, {age} days".format(**row) for row in result["old"]),
        sep="\n")
    if args.kind is None:
        print("\nHow to renew a kind: --kind KIND")
    else:
        print("", *(f"{part.title()}: {text}" for part, text in recipe(args.kind).items()),
              RECIPES["afterwards"], sep="\n")


if __name__ == "__main__":
    main()
