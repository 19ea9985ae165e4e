"""``make engine``: what ``deploy`` writes, in a real engine on this machine's processor.

``python -m tools.engine [PART ...] [--environment DIR]``; parts: serve, own, lines, answers,
sglang, sglang-answers, ascend, ascend-answers; without names, all. The rows (what, saw, expected,
ok) are kept in ``notebooks/pages/deciding/engine.json``; the exit code is 1 if a row is not as
expected. A processor is no card of the catalogue: what is tested is that commands start and that
flags,
metrics, rules, bench and calibration go together. Its speed tests no prediction.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import catalogue
from catalogue.reading.files import write_whole
from tools.engine import configured
from tools.engine.ascend import parsed as ascend
from tools.engine.environment import PACKAGE, RELEASE, WRITTEN, Environment, ready
from tools.engine.own import run as own
from tools.engine.rows import Row
from tools.engine.server import served
from tools.engine.server.serving import STATED
from tools.engine.server.watching import FASTER
from tools.engine.sglang import parsed as sglang

ROOT = catalogue.ROOT.parent
RESULTS = ROOT / "notebooks/pages/deciding/engine.json"
PARTS: dict[str, Callable[[Environment, Path, Path], Iterator[Row]]] = {
    "serve": served.rows, "own": own.rows, "lines": configured.rows,
    "answers": configured.of_answers, "sglang": sglang.SGLANG.rows,
    "sglang-answers": sglang.SGLANG.of_answers,
    "ascend": ascend.ASCEND.rows, "ascend-answers": ascend.ASCEND.of_answers}


def main(arguments: list[str]) -> int:
    """Run the parts that are named; print, keep and judge what they saw."""
    command = argparse.ArgumentParser(prog="python -m tools.engine", description=__doc__)
    command.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}")
    command.add_argument("--environment", type=Path, default=ROOT / ".engine", metavar="DIR")
    command.add_argument("--keep", type=Path, metavar="DIR",
                         help="where files and logs stay; deployments that stand there are used")
    args = command.parse_args(arguments)
    if unknown := sorted(set(args.parts) - set(PARTS)):
        command.error(f"there is no part '{unknown[0]}', expected {', '.join(PARTS)}.")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # what was started ends with it
    environment = ready(args.environment)
    made: dict[str, Any] = {"engine": f"{PACKAGE} {RELEASE}", "written_for": f"vllm@{WRITTEN}",
                            "sglang_release": sglang.RELEASE, "sglang_router": sglang.ROUTER,
                            "ascend_release": ascend.RELEASE, "ascend_base": ascend.BASE,
                            "override": STATED, "faster": FASTER}
    found = []
    with tempfile.TemporaryDirectory(prefix="engine-") as place:
        folder = args.keep or Path(place)
        for name in args.parts or PARTS:
            rows = []
            for row in PARTS[name](environment, Path(sys.executable), folder.absolute()):
                print(f"{'ok    ' if row.ok else 'FAILED'} {row.what}: {row.saw}", *row.notes,
                      sep="\n    ", flush=True)
                rows.append(row)
            made[name] = [row.as_json() for row in rows]
            found += rows
    before = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    write_whole(RESULTS, (json.dumps(before | made, indent=1, ensure_ascii=False) + "\n").encode())
    return int(not all(row.ok for row in found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
