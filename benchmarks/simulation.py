"""Events per second of the simulation, beside the same engine stepped by a plain loop; a long run.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

from calc.serving.arrivals import poisson
from calc.serving.scheduling import Limits, Step, schedule
from calc.serving.simulation import Pool, simulate

REQUESTS = 2_000
REPEATS = 3
MANY = 100_000  # requests at a deployment, from the command line
DEPLOYMENTS = {"": ("s2-910b1-awq", "--rate", "0.5", "--lengths", "constant"),
               "_lengths": ("s2-910b1-awq", "--rate", "0.5", "--lengths", "exponential"),
               "_ranks": ("h200-v32-vllm-dp8", "--rate", "20", "--lengths", "constant")}
LIMITS = Limits(max_num_batched_tokens=8192, max_num_seqs=64, kv_blocks=4096, block_size=128)


def step_time(step: Step) -> float:
    """Seconds of a made-up engine: the benchmark measures what is around it."""
    return 0.01 + 1e-5 * (sum(new for new, _ in step.prefill) + len(step.decode))


def measure() -> dict[str, tuple[float, str]]:
    """Rates of both on one trace, in turns, the best of several; checked to be equal.

    An event is an arrival, the end of a step or the end of a request. A batch of about 50 requests
    decodes in most steps.
    """
    requests = poisson(20.0, REQUESTS, [(2048, 128), (512, 256), (8192, 64, 4096)], seed=1)
    pool = Pool(LIMITS, step_time)
    events, simulated, looped = 0, float("inf"), float("inf")
    for _ in range(REPEATS):
        start = time.process_time()
        run = simulate(requests, pool)
        simulated = min(simulated, time.process_time() - start)
        start = time.process_time()
        served = schedule(requests, LIMITS, step_time)
        looped = min(looped, time.process_time() - start)
        if run.outcomes != served.outcomes:
            raise AssertionError("the simulation and the plain loop disagree")
        events = 2 * REQUESTS + len(served.steps)
    return {
        "simulation": (events / simulated, "events/s"),
        "simulation_plain_loop": (events / looped, "events/s"),
        "simulation_over_plain_loop": (looped / simulated, "1"),
        "simulation_requests": (REQUESTS / simulated, "requests/s"),
    } | {f"simulation_{MANY}{which}": served_by(*of) for which, of in DEPLOYMENTS.items()}


def served_by(*arguments: str) -> tuple[float, str, str]:
    """Seconds on the wall for many requests at a deployment, its start included."""
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-m", "calc", "simulate", *arguments,
                           "--requests", str(MANY), "--json"], check=True, capture_output=True,
                          text=True, cwd=Path(__file__).resolve().parents[1])
    taken, answer = time.perf_counter() - start, json.loads(done.stdout)
    tokens = answer["requests"] * answer["output_throughput"] / answer["request_throughput"]
    return taken, "s", (f"{' '.join(arguments)}: {MANY:,} requests, of those counted "
                        f"{tokens:,.0f} output tokens")
