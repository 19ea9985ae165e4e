"""Kill commands at moments drawn, and count processes that live on and files that lie about.

``make faults KILLS=60`` deals so many kills out to all commands, by SIGKILL, SIGTERM and Ctrl-C,
and keeps by command what they leave in ``kills.json`` beside this file. What is left as it may not
be is printed with the number by which ``--command NAME --first NUMBER --kills 1`` does it again, as
far as a moment can be met twice.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from random import Random

from tools.faults.killing import killed, undisturbed
from tools.faults.victims import BUILD, VICTIMS
from tools.records import keep_of

COUNTS = Path(__file__).with_name("kills.json")


def main() -> int:
    """Kill; 1 where something was left."""
    parser = argparse.ArgumentParser(prog="python -m tools.faults", description=__doc__)
    parser.add_argument("--kills", type=int, default=60, help="of all commands (60 by default)")
    parser.add_argument("--command", choices=VICTIMS, action="append",
                        help="this one; else all but the build")
    parser.add_argument("--first", type=int, default=0, help="number of the first kill of each")
    args = parser.parse_args()
    names = args.command or [name for name in VICTIMS if name != BUILD]
    bad = False
    with tempfile.TemporaryDirectory() as scratch:
        for place, name in enumerate(names):
            count = args.kills // len(names) + (place < args.kills % len(names))
            found = _counted(name, range(args.first, args.first + count), Path(scratch))
            print(f"{name}: {found}", flush=True)
            bad |= any(found[each] for each in ("processes", "files", "unclear"))
            keep_of(COUNTS, name, **found)
    return int(bad)


def _counted(name: str, numbers: range, scratch: Path) -> dict[str, int]:
    """What so many kills of a command leave in all."""
    found = {"kills": 0, "processes": 0, "files": 0, "unclear": 0}
    if not numbers:
        return found
    victim = VICTIMS[name]
    lasts, whole = undisturbed(victim, scratch)
    for number in numbers:
        left = killed(victim, scratch, Random(f"{name} {number}"), lasts, whole)
        found["kills"] += not left.late
        found["processes"] += left.processes
        found["files"] += len(left.files)
        found["unclear"] += bool(left.unclear)
        if left.processes or left.files or left.unclear:
            print(f"{name} {number}: {left.processes} processes, {left.files[:5]}, "
                  f"{left.unclear[:600]}", file=sys.stderr, flush=True)
    return found


if __name__ == "__main__":
    sys.exit(main())
