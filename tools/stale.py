"""List outdated entries of the catalogue.

    python -m tools.stale [--kind KIND] [--older DAYS]

With ``--kind`` it also prints how entries of that kind are renewed (``tools/stale.yml``).
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import yaml

from catalogue import shipped

RECIPES = yaml.safe_load(Path(__file__).with_suffix(".yml").read_text("utf-8"))


def recipe(kind: str) -> dict[str, str]:
    """How entries of a kind are renewed: the source, what to write, what to check."""
    return dict(RECIPES["recipes"][RECIPES["like"].get(kind, kind)])


def main(argv: Sequence[str] | None = None) -> None:
    """Print."""
    parser = argparse.ArgumentParser(prog="python -m tools.stale",
                                     description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kind", choices=shipped.KINDS, help="kind of entries (default: all)")
    parser.add_argument("--older", metavar="DAYS", type=int, default=shipped.YEAR,
                        help="age from which a date is outdated (default: %(default)s days)")
    args = parser.parse_args(argv)
    if args.older < 0:
        parser.error(f"--older {args.older}, expected a number of days, such as 365")
    kinds = (args.kind,) if args.kind else tuple(shipped.KINDS)
    today = date.today()
    statements = shipped.statements(kinds)
    outdated = shipped.old(statements, args.older, today)
    dated, old = (Counter(statement.kind for statement in several)
                  for several in (statements, outdated))
    for kind in dated:
        print(f"{kind}: {old[kind]} of {dated[kind]} dated values are outdated")
    print(f"\nAt least {args.older} days old on {today}:")
    for row in outdated:
        print(f"{row.file}:{row.line} {row.key} ({row.what}): {row.date}, "
              f"{row.age(today)} days")
    if args.kind is None:
        print("\nHow to renew a kind: --kind KIND")
    else:
        print("", *(f"{part.title()}: {text}" for part, text in recipe(args.kind).items()),
              RECIPES["afterwards"], sep="\n")


if __name__ == "__main__":
    main()
