"""Events per second of the simulation, beside the same engine stepped by a plain loop."""

from __future__ import annotations

import time

from calc.serving.arrivals import poisson
from calc.serving.scheduling import Limits, Step, schedule
from calc.serving.simulation import Pool, simulate

REQUESTS = 2_000
REPEATS = 3
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
    }
