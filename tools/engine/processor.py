"""The example's deployment on a processor: predicted before it is measured, at several loads.

The prediction uses the table that ``tools/measure_card.py --table`` wrote on the machine. The
server and its bench are started as ``deploy`` writes them for a card of the catalogue, which has
no release of the engine for a processor. A step is also split by classes of kernels, with the
engine's own profiler.
"""

from __future__ import annotations

import gzip
import json
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import catalogue
from calc.launching.bench import Bench, of_closed_loop
from tools.engine import model, running_server
from tools.engine.environment import WRITTEN, Environment
from tools.engine.rows import Row
from tools.engine.running_server import HOST, Plan, calc

FILE = catalogue.ROOT / "templates" / "example-processor-plan.yml"
CONFIG = model.CONFIG | model.DATA["eight-layers"]
SPARSE = CONFIG["num_hidden_layers"] - CONFIG["first_k_dense_replace"]  # layers with experts
# the card for which it is written, with a share of its memory that gives about the cache of here
STAND_IN = ("device=nvidia-h200-sxm", f"engine=vllm@{WRITTEN}", "workload.memory_utilization=0.1")
# planned requests in flight -> requests in flight of the runs that are made, with their names
LOADS: dict[int, dict[int, str]] = {
    32: {1: "one", 16: "half", 32: "planned"}, 8: {4: "half", 8: "planned"}, 2: {2: "planned"}}
PROFILED: dict[str, tuple[int, int]] = {  # requests in flight, tokens of their answers
    "decode-1": (1, 512), "decode-16": (16, 512), "prefill-1": (1, 1)}
METRICS = {"ttft": "mean_ttft_ms", "tpot": "mean_tpot_ms"}
MILLISECOND, MICROSECOND = 1e-3, 1e-6
WAVES, FEWEST = 2, 16  # requests over those in flight; at least
SETTLES, WATCHED = 15.0, 5.0  # s until prompts are processed, and of steps that are profiled
EXPERTS = re.compile(r"cpu_fused_moe")  # once per step and layer with experts
CLASSES: Mapping[str, re.Pattern[str]] = {
    "routed_experts": re.compile(r"fused_moe"),
    "matmuls": re.compile(r"onednn_mm|packed_linear|aten::(mm|addmm|bmm|matmul|linear)"),
    "core": re.compile(r"mla_decode|dot_product|flash_attention")}
OTHERS, BETWEEN, COUNT = "others", "between", "operators"


def planned_runs(python: Path, folder: Path) -> dict[int, tuple[Plan, Bench]]:
    """Write a directory per planned load; return its runs, with predictions, by users.

    Args:
        python: that runs ``calc``.
        folder: for the directories.
    """
    checkpoint = model.write(folder / "checkpoint", CONFIG)
    result = {}
    for planned, loads in LOADS.items():
        settings = (*STAND_IN, f"workload.concurrency={planned} request",
                    f"workload.requests={max(FEWEST, WAVES * planned)} request")
        calc(python, "deploy", FILE, *(word for text in settings for word in ("--set", text)),
             "--hosts", HOST, "-o", folder / f"deployed-{planned}")
        plan = Plan(folder / f"deployed-{planned}", checkpoint)
        counts = {run["name"]: run["asked"] for run in plan.runs}
        for users, name in loads.items():
            load = counts[name]
            run = Bench(name, "", int(load["concurrency"]), int(load["input_tokens"]),
                        int(load["output_tokens"]), int(load["requests"]))
            scenario = catalogue.load_scenario(FILE, overrides=[
                f"workload.concurrency={run.concurrency} request"])
            result[users] = (plan, replace(run, predicted=of_closed_loop(scenario, run)))
    return dict(sorted(result.items()))


def rows(environment: Environment, python: Path, folder: Path) -> Iterator[Row]:
    """A row of predictions, a row per measured load, and a row per profile.

    Args:
        environment: of the engine.
        python: that runs ``calc``.
        folder: for files and logs.
    """
    runs = planned_runs(python, folder)
    yield Row("predicted", "predicted before the server starts", f"{len(runs)} loads",
              f"{len(runs)} loads", True,
              {f"{metric}_{users}": amount.value for users, (_, run) in runs.items()
               for metric, amount in run.predicted.items()})
    first = runs[max(LOADS)][0]
    with running_server.serve(environment, first, folder / "own.log") as started:
        if running_server.startup_time(started, f"{first.address}/health") is None:
            yield Row("started", "the server", "does not start", "answers", False)
            return
        for users, (plan, run) in runs.items():
            yield measured(environment, plan, run, users, folder)
    traces = folder / "traces"
    traces.mkdir(exist_ok=True)
    profiler = {"profiler": "torch", "torch_profiler_dir": str(traces.absolute()),
                "torch_profiler_with_stack": False}
    with running_server.serve(environment, first, folder / "profiled.log",
                      "--profiler-config", json.dumps(profiler)) as started:
        if running_server.startup_time(started, f"{first.address}/health") is not None:
            for name in PROFILED:
                times = profiled(first, name, traces)
                yield Row(f"step-{name}", f"a step of {name}",
                          ", ".join(f"{kind} {amount:.2g}" for kind, amount in times.items()),
                          "a profile", bool(times), times)


def measured(environment: Environment, plan: Plan, run: Bench, users: int, folder: Path) -> Row:
    """One run of the bench beside its prediction [s]."""
    results = running_server.bench(environment, plan, folder / f"own-{users}.log", run.name)
    result = results[run.name]
    numbers: dict[str, Any] = {"users": users, "requests": result["completed"]}
    for metric, name in METRICS.items():
        amount = run.predicted[metric]
        numbers |= {metric: result[name] * MILLISECOND, f"{metric}_predicted": amount.value,
                    f"{metric}_low": amount.low, f"{metric}_high": amount.high}
    (folder / f"own-{users}.json").write_text(json.dumps(result), encoding="utf-8")
    return Row(f"users-{users}", f"{users} in flight", f"TPOT {numbers['tpot']:.3g} s",
               f"TPOT {numbers['tpot_predicted']:.3g} s", result["completed"] == run.requests,
               numbers)


def profiled(plan: Plan, name: str, traces: Path) -> dict[str, float]:
    """Seconds of a step by class of kernels, and between operators.

    Args:
        plan: whose server runs.
        name: of the load: with long answers the step is of decode, with one token of prefill.
        traces: folder of the profiler.

    Raises RuntimeError if it wrote no step.
    """
    users, answer = PROFILED[name]
    with running_server.load(plan, users, int(plan.runs[0]["asked"]["input_tokens"]), answer):
        time.sleep(SETTLES)
        running_server.ask(f"{plan.address}/start_profile", {})
        time.sleep(WATCHED)
        running_server.ask(f"{plan.address}/stop_profile", {})
    newest_first = sorted(traces.glob("**/*.json*"), key=lambda path: -path.stat().st_mtime)
    for path in newest_first:
        body = path.read_bytes()
        events = json.loads(gzip.decompress(body) if path.suffix == ".gz" else body)["traceEvents"]
        if any(EXPERTS.search(event.get("name", "")) for event in events):
            return by_class(events, SPARSE)
    raise RuntimeError("the profiler wrote no step.")


def by_class(events: Iterable[Mapping[str, Any]], layers: int) -> dict[str, float]:
    """Seconds of a step by class, from a trace [us], and its number of operators.

    Times are of each operator without the operators that it calls.

    >>> trace = [{"ph": "X", "cat": "cpu_op", "tid": 1, "ts": ts, "dur": dur, "name": name}
    ...          for ts, dur, name in ((0, 3, "cpu_fused_moe"), (4, 4, "aten::linear"),
    ...                                (5, 2, "onednn_mm"), (10, 3, "cpu_fused_moe"))]
    >>> times = by_class(trace, 1)
    >>> times.pop("operators"), {name: round(of / MICROSECOND) for name, of in times.items()}
    (3.0, {'routed_experts': 3, 'matmuls': 4, 'core': 0, 'others': 0, 'between': 3})

    Args:
        events: of the profiler.
        layers: of the model, with experts.
    """
    operators = sorted(
        (event for event in events if event.get("cat") == "cpu_op" and event["ph"] == "X"),
        key=lambda event: (event["tid"], event["ts"], -event["dur"]))
    begun = [event for event in operators if EXPERTS.search(event["name"])][::layers]
    if len(begun) < 2:
        return {}
    thread, first, last = begun[0]["tid"], begun[0]["ts"], begun[-1]["ts"]
    steps, own, count = len(begun) - 1, Counter[str](), 0
    callers: list[tuple[float, str]] = []  # ends and classes of operators that have not ended
    for event in operators:
        if event["tid"] != thread or not first <= event["ts"] < last:
            continue
        while callers and callers[-1][0] <= event["ts"]:
            callers.pop()
        name = next((kind for kind, pattern in CLASSES.items()
                     if pattern.search(event["name"])), OTHERS)
        own[name], count = own[name] + event["dur"], count + 1
        if callers:
            own[callers[-1][1]] -= event["dur"]
        callers.append((event["ts"] + event["dur"], name))
    result = {name: own[name] * MICROSECOND / steps for name in (*CLASSES, OTHERS)}
    between = (last - first) * MICROSECOND / steps - sum(result.values())
    return result | {BETWEEN: between, COUNT: count / steps}
