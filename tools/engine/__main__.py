"""``make engine``: what ``deploy`` writes, in a real engine on this machine's processor.

``python -m tools.engine [PART ...] [--environment DIR]``; parts: serve, own, lines, sglang, ascend;
default: all. Results (what, saw, expected, ok) are recorded in
``notebooks/pages/deciding/engine.json``; the exit code is 1 if a row is not as expected. A
processor is no card of the catalogue: this tests that commands start and that flags, metrics,
rules, bench and calibration fit together. Its speed tests no prediction.
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
from tools.engine import lines, processor, served
from tools.engine.environment import PACKAGE, RELEASE, WRITTEN, Environment, ready
from tools.engine.prometheus import FASTER
from tools.engine.rows import Row
from tools.engine.running_server import STATED

ROOT = catalogue.ROOT.parent
RESULTS = ROOT / "notebooks/pages/deciding/engine.json"
PARTS: dict[str, Callable[[Environment, Path, Path], Iterator[Row]]] = {
    "serve": served.rows, "own": processor.rows, "lines": lines.VLLM.rows,
    "sglang": lines.SGLANG.rows, "ascend": lines.VLLM_ASCEND.rows}


def main(arguments: list[str]) -> int:
    """Run the named parts; print and record their rows."""
    command = argparse.ArgumentParser(prog="python -m tools.engine", description=__doc__)
    command.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}")
    command.add_argument("--environment", type=Path, default=ROOT / ".engine", metavar="DIR")
    args = command.parse_args(arguments)
    if unknown := sorted(set(args.parts) - set(PARTS)):
        command.error(f"there is no part '{unknown[0]}', expected {', '.join(PARTS)}.")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # which stops the servers
    environment = ready(args.environment)
    results: dict[str, Any] = {
        "engine": f"{PACKAGE} {RELEASE}", "written_for": f"vllm@{WRITTEN}",
        "sglang_release": lines.SGLANG.version, "sglang_router": lines.ROUTER,
        "ascend_release": lines.PLUG_IN, "ascend_base": lines.BASE,
        "override": STATED, "faster": FASTER}
    failed = False
    with tempfile.TemporaryDirectory(prefix="engine-") as temporary:
        for name in args.parts or PARTS:
            results[name] = []
            for row in PARTS[name](environment, Path(sys.executable), Path(temporary)):
                print(f"{'ok    ' if row.ok else 'FAILED'} {row.what}: {row.saw}", *row.notes,
                      sep="\n    ", flush=True)
                results[name].append(row.as_json())
                failed |= not row.ok
    before = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    text = json.dumps(before | results, indent=1, ensure_ascii=False)
    write_whole(RESULTS, f"{text}\n".encode())
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
