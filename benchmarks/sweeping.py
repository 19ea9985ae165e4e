"""Sweeps to a front: deployments per second, memory of all processes, two workers against one.

A row is a deployment that is laid out, held against its memory, and where it fits given its TTFT,
TPOT and throughput per card in a steady state. Workers are measured from the first chunk that they
give: a sweep that takes minutes does not see how long they take to start.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from unittest import mock

from calc.sweeping import workers
from calc.sweeping.axes import axis
from calc.sweeping.definition import Sweep
from calc.sweeping.plan import planned
from calc.sweeping.running import swept

SCENARIO = "h200-r1-vllm-tp8"
LOOK = 0.05  # seconds between two looks at the memory
FULL, SHORT = 250, 25  # values of an axis; of all axes 10^8 and 10^7 rows
REPEATS = 3
PROJECT = Path(__file__).resolve().parents[1]


def definition(shares: int) -> Sweep:
    """Precisions, cuts of 8 cards, users, prompts, answers, and a bandwidth that is reached."""
    return Sweep(SCENARIO, tuple(axis(name, values, "") for name, values in {
        "precision": "fp8-block, w4a16-awq",
        "parallelism.tensor_parallel+parallelism.data_parallel": "8+1, 4+2, 2+4, 1+8",
        "hbm_efficiency": f"0.4..0.9:/{shares}", "workload.concurrency": "2..200:+2",
        "workload.input_tokens": "128..3200:+128", "workload.output_tokens": "64..1280:+64",
    }.items()), settings=("parallelism.expert_parallel=8",))


def sweep(shares: int, count: int) -> dict[str, float]:
    """Sweep in this process and others; rows, rows that fit, seconds, and rows of the front."""
    start = time.perf_counter()
    result = swept(definition(shares), workers=count)
    left = sum(many for many, _ in result.counted.left.values())
    return {"rows": result.counted.rows, "fit": result.counted.rows - left,
            "seconds": time.perf_counter() - start, "front": len(result.rows["row"])}


def measure() -> dict[str, tuple]:
    """10^8 rows to a front with the memory of all its processes, and the ratio of a shorter run."""
    rates = dict.fromkeys((1, 2), 0.0)
    for _ in range(REPEATS):
        for count in rates:  # in turns: other work on the machine meets both
            rates[count] = max(rates[count], _rate(count))
    whole, peak = _watched(f"from benchmarks.sweeping import sweep; import json; "
                           f"print(json.dumps(sweep({FULL}, 2)))")
    note = (f"{whole['rows']:,.0f} rows, {whole['fit']:,.0f} of them fit, to a front of "
            f"{whole['front']:,.0f}; 2 workers")
    return {
        "sweep_to_a_front": (whole["rows"] / whole["seconds"], "deployments/s", note),
        "sweep_to_a_front_time": (whole["seconds"], "s", note),
        "sweep_to_a_front_memory": (peak / 2**30, "GiB", "of all processes together, what they "
                                                         "share counted once; " + note),
        "sweep_two_workers_over_one": (rates[2] / rates[1], "1",
                                       f"{planned(definition(SHORT)).count:,} rows, the best of "
                                       f"{REPEATS} in turns, from the first chunk"),
    }


def _rate(count: int) -> float:
    """Chunks per second of so many processes, once all of them have begun."""
    plan = planned(definition(SHORT))
    with mock.patch.object(workers, "ALONE", 0):
        done = workers._pooled(plan, list(range(plan.chunks)), False, count)
        for _ in range(count):
            next(done)
        start, finished = time.perf_counter(), sum(1 for _ in done)
    return finished / (time.perf_counter() - start)


def _watched(program: str) -> tuple[dict[str, float], int]:
    """What a program prints, and the most memory that it and its children had at a time [B]."""
    with subprocess.Popen([sys.executable, "-c", program], cwd=PROJECT, text=True,
                          stdout=subprocess.PIPE) as running:
        peak = 0
        while running.poll() is None:
            peak = max(peak, sum(map(_proportional, _family(running.pid))))
            time.sleep(LOOK)
        said = running.stdout.read() if running.stdout else ""
    if running.returncode:
        raise RuntimeError(f"the sweep ended with {running.returncode}")
    return json.loads(said), peak


def _family(pid: int) -> list[int]:
    """A process and its descendants."""
    found = [pid]
    for task in found:
        try:
            children = Path(f"/proc/{task}/task/{task}/children").read_text(encoding="ascii")
        except OSError:  # it is gone
            continue
        found += map(int, children.split())
    return found


def _proportional(pid: int) -> int:
    """Resident memory of a process, of pages that several have its share [B]."""
    try:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in rollup.splitlines()
                 if line.startswith("Pss:")), 0)
