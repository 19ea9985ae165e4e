"""Latencies per second: arrays against a loop, with intervals, as a stream, beside public tools.

Deployments are mixed: cards, precisions, cuts and workloads all vary, so that about half of the
inputs are arrays. Rates per core are over the processor's time, which other work on the machine
hardly touches; the others are over the clock on the wall, the best of several. Public tools run in
the same call, if asked for (``--peers``).
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import calc
import catalogue
from benchmarks.reference.peers import beside
from calc.closed_form.latencies import DECODE_NAMES
from calc.many import fronts, streams, sweeps

DEPLOYMENTS = 1 << 19
WITH_INTERVALS = 1 << 17
IN_THE_LOOP = 500
STREAMED, STREAMED_IN_FULL = 10**7, 10**8
REPEATS = 5
THREADS = 2
KEPT = ["decode_tpot", *sorted(name for name in DECODE_NAMES if name.endswith("_time"))]
CARDS = (
    ("ascend-910b2", "atlas-800i-a2", 2, "bf16"), ("ascend-910b4", "atlas-800i-a2", 2, "w8a8-int8"),
    ("ascend-910c-die", "atlas-800i-a3", 1, "w8a8-int8"),
    ("nvidia-a100-sxm-80gb", "hgx-a100", 2, "w4a16-awq"), ("nvidia-h20", "hgx-h20", 2, "fp8-block"),
    ("nvidia-h200-sxm", "hgx-h200", 2, "fp8-block"), ("nvidia-h800", "hgx-h800", 2, "fp8-block"),
    ("nvidia-b200", "hgx-b200", 2, "fp8-block"),
)


class Mix:
    """Draws mixed deployments of DeepSeek-V3."""

    def __init__(self) -> None:
        cards = [catalogue.load_scenario("s0-scenario-1", overrides=[
            f"device={device}", f"cluster.node={node}", f"cluster.nodes={nodes}",
            f"precision={precision}"]).inputs() for device, node, nodes, precision in CARDS]
        values = {name: [card[name] for card in cards] for name in cards[0]}
        self.fixed = {name: row[0] for name, row in values.items() if len(set(row)) == 1}
        self.varying = {name: np.array(row, dtype=float) for name, row in values.items()
                        if name not in self.fixed}

    def draw(self, rng: np.random.Generator, count: int) -> dict:
        """All inputs of so many deployments."""
        card = rng.integers(0, len(CARDS), count)
        tensor, data = 2.0 ** rng.integers(0, 5, count), 2.0 ** rng.integers(0, 7, count)
        return self.fixed | {name: row[card] for name, row in self.varying.items()} | {
            "tensor_parallel": tensor, "data_parallel": data,
            "pipeline_parallel": 2.0 ** rng.integers(0, 4, count),
            "expert_parallel": np.where(rng.random(count) < 0.5, 1.0, tensor * data),
            "concurrency": rng.integers(1, 4096, count).astype(float),
            "input_tokens": rng.integers(128, 32_768, count).astype(float),
            "output_tokens": rng.integers(1, 4096, count).astype(float),
            "max_num_batched_tokens": 2.0 ** rng.integers(11, 16, count),
        }


def _rates(work: Callable[[], object], count: int) -> tuple[float, float]:
    """Deployments per second of the wall's clock and of the processor's, the best of several."""
    walls, processors = [], []
    for _ in range(REPEATS):
        wall, processor = time.perf_counter(), time.process_time()
        work()
        walls.append(time.perf_counter() - wall)
        processors.append(time.process_time() - processor)
    return count / min(walls), count / min(processors)


def _loop(inputs: dict, swept: dict[str, np.ndarray]) -> tuple[float, float]:
    """Rates of a loop over calc.evaluate, and over the decode step's formulas alone; checked."""
    singles = [{name: value[i] if np.ndim(value) else value for name, value in inputs.items()}
               for i in range(IN_THE_LOOP)]
    start = time.process_time()
    answers = [calc.evaluate(single, "mla") for single in singles]
    everything = IN_THE_LOOP / (time.process_time() - start)
    start = time.process_time()
    for single in singles:
        calc.latency(single, "mla", KEPT)
    alone = IN_THE_LOOP / (time.process_time() - start)
    for i, answer in enumerate(answers):
        for name in KEPT[1:]:
            if not np.isclose(answer[name], swept[name][i], rtol=1e-12, atol=0):
                raise AssertionError(f"{name} of deployment {i}: {answer[name]} alone, "
                                     f"{swept[name][i]} in the sweep")
    return everything, alone


def measure(full: bool = False, peers: bool = False) -> dict[str, tuple]:
    """Rates of sweeps, intervals, the loop and, if asked for, of public tools; memory of a stream.

    Args:
        full: stream 10^8 deployments instead of 10^7.
        peers: install and measure public tools as well.
    """
    mix = Mix()
    inputs = mix.draw(np.random.default_rng(1), DEPLOYMENTS)
    few = {name: value[:WITH_INTERVALS] if np.ndim(value) else value
           for name, value in inputs.items()}
    spreads = sweeps.JointRange.of(catalogue.load_scenario("s0-scenario-1").knobs())
    swept = calc.decode_sweep(inputs, "mla", KEPT, threads=THREADS)
    wall, core = _rates(
        lambda: calc.decode_sweep(inputs, "mla", KEPT, threads=THREADS), DEPLOYMENTS)
    stalls, stalls_core = _rates(
        lambda: calc.decode_sweep(inputs, "mla", ["tpot"], threads=THREADS), DEPLOYMENTS)
    steady, steady_core = _rates(
        lambda: calc.decode_sweep(inputs, "mla", ["steady_tpot"], threads=THREADS), DEPLOYMENTS)
    interval, interval_core = _rates(
        lambda: calc.interval_sweep(few, spreads, "mla", own={"decode_tpot": (0.2, 0.2)},
                                    threads=THREADS), WITH_INTERVALS)
    both, both_core = _rates(
        lambda: calc.interval_sweep(few, spreads, "mla", ["tpot"], {"tpot": (0.2, 0.2)},
                                    threads=THREADS), WITH_INTERVALS)
    everything, alone = _loop(inputs, swept)
    unit = "deployments/s"
    rows: dict[str, tuple] = {
        "tpot_closed_form": (wall, unit, f"without stalls, with {len(KEPT) - 1} parts, "
                                         f"{THREADS} threads"),
        "tpot_closed_form_per_core": (core, unit),
        "tpot_with_stalls": (stalls, unit, f"prefill and burst as well, {THREADS} threads"),
        "tpot_with_stalls_per_core": (stalls_core, unit),
        "tpot_steady": (steady, unit, f"waiting and stalls of a steady state, {THREADS} threads"),
        "tpot_steady_per_core": (steady_core, unit),
        "tpot_with_interval": (interval, unit, f"{len(spreads)} ranges, without stalls, "
                                               f"{THREADS} threads"),
        "tpot_with_interval_per_core": (interval_core, unit),
        "tpot_with_stalls_and_interval": (both, unit),
        "tpot_with_stalls_and_interval_per_core": (both_core, unit),
        "tpot_scalar": (alone, unit, "a loop over the same formulas"),
        "tpot_scalar_evaluate": (everything, unit, "a loop over calc.evaluate, every quantity"),
        "tpot_closed_form_over_scalar": (core / alone, "1", "of one core"),
    }
    rows |= _streamed(STREAMED_IN_FULL if full else STREAMED)
    return rows | (beside(core) if peers else {})


def stream(count: int) -> dict[str, float]:
    """Stream random deployments through a histogram and the ten best, in this process."""
    mix, start = Mix(), time.perf_counter()
    best = fronts.Best("decode_tpot", 10)
    histogram = streams.Histogram("decode_tpot", np.geomspace(1e-4, 1e3, 71))
    for batch, quantities in streams.stream(streams.sampled(mix.draw, count), "mla",
                                        threads=THREADS):
        best.add({name: value for name, value in batch.items() if np.ndim(value)} | quantities)
        histogram.add(batch, quantities)
    return {"seconds": time.perf_counter() - start, "counted": int(histogram.counts.sum()),
            "peak": _peak_memory(),
            "best": float(best.rows["decode_tpot"][0])}


def _peak_memory() -> int:
    """Highest resident memory of this process [B]; what getrusage gives includes its parent's."""
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="ignore")
    peak = re.search(r"VmHWM:\s+(\d+) kB", status)
    if peak is None:
        raise RuntimeError("the peak of resident memory is read from /proc, which Linux has")
    return int(peak[1]) * 1024


def _streamed(count: int) -> dict[str, tuple]:
    """Rate and peak resident memory of a stream, in a process of its own."""
    program = ("import json; from benchmarks.latency import stream; "
               f"print(json.dumps(stream({count})))")
    done = subprocess.run([sys.executable, "-c", program], cwd=Path(__file__).resolve().parents[1],
                          check=True, capture_output=True, text=True)
    counted = json.loads(done.stdout)
    if counted["counted"] != count:
        raise AssertionError(f"{counted['counted']} of {count} deployments lie in the histogram")
    note = (f"{count:,} deployments drawn, evaluated and reduced; one batch of "
            f"{streams.BATCH:,} in memory at a time, so more of them take no more")
    return {"tpot_streamed": (count / counted["seconds"], "deployments/s", note),
            "tpot_streamed_memory": (counted["peak"] / 2**30, "GiB", note)}
