"""What kernels take in a step of the engine, by its own profiler.

Times are of each operator without what it calls, summed by the classes of a step.
"""

from __future__ import annotations

import gzip
import json
import re
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tools.engine.plan import Plan
from tools.engine.server import serving

SETTLES, WATCHED = 15.0, 5.0  # s until prompts are through, and of steps that are profiled
MICROSECOND = 1e-6
EXPERTS = re.compile(r"cpu_fused_moe")  # once a step and layer that has them
CLASSES: Mapping[str, re.Pattern[str]] = {
    "routed_experts": re.compile(r"fused_moe"),
    "matmuls": re.compile(r"onednn_mm|packed_linear|aten::(mm|addmm|bmm|matmul|linear)"),
    "core": re.compile(r"mla_decode|dot_product|flash_attention")}
OTHERS, BETWEEN, COUNT = "others", "between", "operators"


def arguments(folder: Path) -> list[str]:
    """Of a server that can be profiled."""
    return ["--profiler-config", json.dumps({
        "profiler": "torch", "torch_profiler_dir": str(folder.absolute()),
        "torch_profiler_with_stack": False})]


def step(plan: Plan, users: int, lengths: tuple[int, int], layers: int, folder: Path
         ) -> dict[str, float]:
    """Seconds of a step with so many users, by class, and between operators.

    Args:
        plan: whose server runs.
        users: in flight.
        lengths: of prompts and answers [token]. Long answers: the step is of decode; of one token:
            of prefill.
        layers: of the model, that have experts.
        folder: where the profiler writes.

    Raises RuntimeError where it wrote no step.
    """
    with serving.load(plan, users, *lengths):
        time.sleep(SETTLES)
        serving.ask(f"{plan.address}/start_profile", {})
        time.sleep(WATCHED)
        serving.ask(f"{plan.address}/stop_profile", {})
    for path in sorted(folder.glob("**/*.json*"), key=_written, reverse=True):
        opened = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rt", encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        if any(EXPERTS.search(each.get("name", "")) for each in events):
            return by_class(events, layers)
    raise RuntimeError("the profiler wrote no step.")


def by_class(events: Iterable[Mapping[str, Any]], layers: int) -> dict[str, float]:
    """Seconds of a step by class, from a trace [us], and how many operators it has.

    >>> trace = [{"ph": "X", "cat": "cpu_op", "tid": 1, "ts": ts, "dur": dur, "name": name}
    ...          for ts, dur, name in ((0, 3, "cpu_fused_moe"), (4, 4, "aten::linear"),
    ...                                (5, 2, "onednn_mm"), (10, 3, "cpu_fused_moe"))]
    >>> found = by_class(trace, 1)
    >>> found.pop("operators"), {name: round(of / MICROSECOND) for name, of in found.items()}
    (3.0, {'routed_experts': 3, 'matmuls': 4, 'core': 0, 'others': 0, 'between': 3})

    Args:
        events: of the profiler.
        layers: of the model, that have experts.
    """
    ops = sorted((each for each in events if each.get("cat") == "cpu_op" and each["ph"] == "X"),
                 key=lambda each: (each["tid"], each["ts"], -each["dur"]))
    begun = [each for each in ops if EXPERTS.search(each["name"])][::layers]
    if len(begun) < 2:
        return {}
    thread, first, last = begun[0]["tid"], begun[0]["ts"], begun[-1]["ts"]
    steps, own, count = len(begun) - 1, Counter[str](), 0
    above: list[tuple[float, str]] = []  # ends and classes of those that are not over
    for each in ops:
        if each["tid"] != thread or not first <= each["ts"] < last:
            continue
        while above and above[-1][0] <= each["ts"]:
            above.pop()
        name = next((kind for kind, pattern in CLASSES.items()
                     if pattern.search(each["name"])), OTHERS)
        own[name], count = own[name] + each["dur"], count + 1
        if above:
            own[above[-1][1]] -= each["dur"]
        above.append((each["ts"] + each["dur"], name))
    found = {name: own[name] * MICROSECOND / steps for name in (*CLASSES, OTHERS)}
    between = (last - first) * MICROSECOND / steps - sum(found.values())
    return found | {BETWEEN: between, COUNT: count / steps}


def _written(path: Path) -> float:
    return path.stat().st_mtime
