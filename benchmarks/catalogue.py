"""Loading the catalogue, all of it and one device, each in a fresh process; and kernel tables."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
from pyarrow import parquet

from catalogue.tables import shelf, sound

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
ROWS = 500_000  # about what one card has of its largest operator
KIB = 1024


def measure() -> dict[str, tuple[float, str]]:
    """Seconds, the median of several processes without imports; and what kernel tables take."""
    results = {}
    for name, program in PROGRAMS.items():
        code = f"{PREFACE}{program}; print(time.perf_counter() - start)"
        times = sorted(float(subprocess.run([sys.executable, "-c", code], check=True,
                                            capture_output=True, text=True).stdout)
                       for _ in range(REPEATS))
        results[name] = (times[REPEATS // 2], "s")
    return results | _tables()


def _tables() -> dict[str, tuple[float, str]]:
    """Rows per second read and checked, how often PyArrow alone would have read, and memory."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made.parquet"
        parquet.write_table(_table(), path)
        alone = _fastest(lambda: parquet.read_table(path))
        read = _fastest(lambda: shelf(path).table("gemm"))
        table = shelf(path).table("gemm")
        checked = _fastest(lambda: sound(table))
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KIB
    return {"tables_read": (ROWS / read, "row/s"), "tables_checked": (ROWS / checked, "row/s"),
            "tables_read_beside_pyarrow": (read / alone, "1"), "tables_memory": (float(most), "B")}


def _table() -> pyarrow.Table:
    draw = np.random.default_rng(0)
    shape = {name: draw.integers(1, 1 << 14, ROWS) for name in ("rows", "columns", "depth")}
    words = {"operator": "gemm", "card": "nvidia-h200-sxm", "engine": "vllm@0.24.0",
             "kernel": "a_kernel", "dtype": "bf16"}
    return pyarrow.table({name: np.full(ROWS, word) for name, word in words.items()} | shape
                         | {"time": draw.uniform(1e-2, 2e-2, ROWS)})


def _fastest(call: Callable[[], Any]) -> float:
    """Seconds of the fastest of several calls."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)
