"""Measure the runtime and the build side by side, and keep the numbers in ``results.json``.

``python -m benchmarks [PART ...]``: calc, latency, catalogue, simulation, steady, search, answers,
audit, sweep, size, build, tests; without names, all of them. ``--full`` streams 10^8 deployments,
which takes minutes; ``--peers`` installs public tools into temporary environments (close to a
gigabyte each) and measures them beside ``latency`` and ``search``. The build and the tests are
measured on a copy of the tracked files in a temporary folder, so that the working tree is left
alone.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks import (
    answering,
    auditing,
    build,
    catalogue,
    latency,
    runtime,
    searching,
    simulation,
    size,
    steady,
    sweeping,
)

RESULTS = Path(__file__).with_name("results.json")
PARTS: dict[str, Callable[[], dict]] = {
    "calc": runtime.measure, "latency": latency.measure, "catalogue": catalogue.measure,
    "simulation": simulation.measure, "steady": steady.measure,
    "search": searching.measure, "answers": answering.measure, "audit": auditing.measure,
    "sweep": sweeping.measure,
    "size": size.measure, "build": build.measure, "tests": build.measure_tests,
}
OPTIONS = ("--full", "--peers")


def main(names: list[str]) -> int:
    """Run the named parts, print and merge their results. Returns 2 for an unknown name.

    A result is a value and its unit, and a note where there is something to say.
    """
    full, peers = (option in names for option in OPTIONS)
    parts = PARTS | {"latency": partial(latency.measure, full, peers),
                     "search": partial(searching.measure, peers)}
    names = [name for name in names if name not in OPTIONS]
    if unknown := sorted(set(names) - set(PARTS)):
        print(f"benchmarks: there is no part '{unknown[0]}', expected {', '.join(PARTS)}.",
              file=sys.stderr)
        return 2
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    for name in names or parts:
        for key, (value, unit, *note) in parts[name]().items():
            results[key] = {"value": float(f"{value:.4g}"), "unit": unit}
            results[key] |= {"note": note[0]} if note else {}
            print(f"{key:40} {value:14,.4g} {unit}", flush=True)
    RESULTS.write_text(json.dumps(results, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    return 0


sys.exit(main(sys.argv[1:]))
