"""Open every door with hostile files and arguments, and count how commands end.

``make fuzz CASES=5000`` runs so many cases a door and keeps the counts of each, as it is done, in
``doors.json`` beside this file. What ends as it may not is printed once by the place that it ends
in, with the command and the number by which ``--door NAME --first NUMBER --cases 1`` runs it again.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tools.fuzzing.doors import DOORS
from tools.fuzzing.endings import GOOD, HOW, Ending, case
from tools.records import keep_of

FEWEST = 100  # cases that are worth keeping the counts of
COUNTS = Path(__file__).with_name("doors.json")


def main() -> int:
    """Run the cases; 1 where one of them ended as none may."""
    parser = argparse.ArgumentParser(prog="python -m tools.fuzzing", description=__doc__)
    parser.add_argument("--cases", type=int, default=1000, help="of each door (1,000 by default)")
    parser.add_argument("--door", choices=DOORS, help="this one alone")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    args = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as scratch:
        for door in [args.door] if args.door else DOORS:
            found = _counted(door, range(args.first, args.first + args.cases), Path(scratch))
            print(f"{door}: {dict(found)}", flush=True)
            failed |= any(how not in GOOD for how in found)
            if args.cases >= FEWEST:
                keep_of(COUNTS, door, cases=found.total(), **{how: found[how] for how in HOW})
    return int(failed)


def _counted(door: str, numbers: range, scratch: Path) -> Counter[str]:
    """How the cases of a door end; each defect is printed once."""
    found: Counter[str] = Counter()
    told: set[str] = set()
    for number in numbers:
        ending = case(door, number, scratch / "case")
        found[ending.how] += 1
        if ending.how not in GOOD and (place := ending.why[:120]) not in told:
            told.add(place)
            _print(door, number, ending)
    return found


def _print(door: str, number: int, ending: Ending) -> None:
    shown = " ".join(word[:80] for word in ending.command)
    print(f"{door} {number}: {ending.how} {ending.why[:400]!a}\n    {shown!a}", file=sys.stderr,
          flush=True)


if __name__ == "__main__":
    sys.exit(main())
