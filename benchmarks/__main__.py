"""Measure the runtime and the build side by side, and keep the numbers in ``results.json``.

``python -m benchmarks [calc] [catalogue] [simulation] [size] [build]``; without names, all of them.
The build is measured on a copy of the tracked files in a temporary folder, so that the working tree
is left alone.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks import build, catalogue, runtime, simulation, size

RESULTS = Path(__file__).with_name("results.json")
PARTS: dict[str, Callable[[], dict[str, tuple[float, str]]]] = {
    "calc": runtime.measure, "catalogue": catalogue.measure, "simulation": simulation.measure,
    "size": size.measure, "build": build.measure,
}


def main(names: list[str]) -> int:
    """Run the named parts, print and merge their results. Returns 2 for an unknown name."""
    if unknown := sorted(set(names) - set(PARTS)):
        print(f"benchmarks: there is no part '{unknown[0]}', expected {', '.join(PARTS)}.",
              file=sys.stderr)
        return 2
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    for name in names or PARTS:
        for key, (value, unit) in PARTS[name]().items():
            results[key] = {"value": float(f"{value:.4g}"), "unit": unit}
            print(f"{key:40} {value:14,.4g} {unit}", flush=True)
    RESULTS.write_text(json.dumps(results, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    return 0


sys.exit(main(sys.argv[1:]))
