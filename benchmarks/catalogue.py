"""Loading the catalogue: all of it, and one device alone, each in a fresh process."""

from __future__ import annotations

import subprocess
import sys

PREFACE = ("import time, catalogue, catalogue.library as c; "
           "from catalogue.engines.engine import engine_names, load_engine; ")
PROGRAMS = {
    "catalogue_all": "start = time.perf_counter(); "
                     "[catalogue.load(kind, name) for kind in c.KINDS "
                     "for name in catalogue.names(kind) if kind != 'scenarios']; "
                     "[load_engine(name) for name in engine_names()]; "
                     "[catalogue.load_scenario(name) for name in catalogue.deployment_names()]",
    "catalogue_one_device": "start = time.perf_counter(); catalogue.load_device('ascend-910b2')",
}
REPEATS = 5


def measure() -> dict[str, tuple[float, str]]:
    """Seconds, the median of several processes; imports are not counted."""
    results = {}
    for name, program in PROGRAMS.items():
        code = f"{PREFACE}{program}; print(time.perf_counter() - start)"
        times = sorted(float(subprocess.run([sys.executable, "-c", code], check=True,
                                            capture_output=True, text=True).stdout)
                       for _ in range(REPEATS))
        results[name] = (times[REPEATS // 2], "s")
    return results
