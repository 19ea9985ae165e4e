"""Print processor time per evaluated deployment [s] as JSON: one by one, in arrays, decode.

    PYTHONPATH=CHECKOUT python -P benchmarks/rates.py

Imports only public names of `calc` and `catalogue`, so that it measures older checkouts too.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import calc
import catalogue

MIXED = ("h200-r1-vllm-tp8", "h200-r1-sglang-tp8", "s0-scenario-1", "s2-910b1-awq")
ATTENTION = "mla"  # of these deployments; the first is also evaluated alone
MOST = 4096  # requests, and tokens of a prompt or an answer
SECONDS = 1.0  # of processor time for each kind
SIZE, DECODED = 10_000, 100_000  # deployments in an array of all quantities, and of decode steps


def times() -> dict[str, float]:
    """Seconds per deployment on one core: all quantities of one and of arrays, TPOT of arrays."""
    many, more = mixed(SIZE), mixed(DECODED)
    alone = catalogue.load_scenario(MIXED[0]).inputs()
    return {"scalar": fastest(lambda: calc.evaluate(alone, ATTENTION)),
            "array": fastest(lambda: calc.evaluate(many, ATTENTION)) / SIZE,
            "decode": fastest(lambda: calc.decode_sweep(more, ATTENTION)) / DECODED}


def mixed(count: int) -> dict[str, Any]:
    """Inputs of random deployments: cards, layouts and workloads vary, shape (count,) each.

    An input that all deployments share is a scalar.
    """
    draw = np.random.default_rng(1)
    rows = [catalogue.load_scenario(name).inputs() for name in MIXED]
    columns = {name: np.array([row[name] for row in rows], float) for name in rows[0]}
    which = draw.integers(0, len(rows), count)
    inputs = {name: column[which] if np.ptp(column) else rows[0][name]
              for name, column in columns.items()}
    return inputs | {name: draw.integers(1, MOST, count).astype(float)
                     for name in ("concurrency", "input_tokens", "output_tokens")}


def fastest(call: Callable[[], object]) -> float:
    """Processor time of the fastest call within `SECONDS` [s]."""
    call()
    end, best = time.process_time() + SECONDS, float("inf")
    while (start := time.process_time()) < end:
        call()
        best = min(best, time.process_time() - start)
    return best


if __name__ == "__main__":
    print(json.dumps(times()))
