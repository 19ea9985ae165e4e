"""The example's deployment on a processor: predicted before it is measured, at several loads.

The prediction rests on the table that ``tools/measure_card.py --table`` wrote on the machine. The
server and its bench are started as ``deploy`` writes them for a card of the catalogue, since no
release of the engine is known by it to run on a processor.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import catalogue
from calc.launching.bench import Bench, of_closed_loop
from tools.engine import model
from tools.engine.environment import WRITTEN, Environment
from tools.engine.own import profile
from tools.engine.plan import HOST, Plan, calc
from tools.engine.rows import Row
from tools.engine.server import serving

FILE = catalogue.ROOT / "templates" / "example-processor-plan.yml"
# a quarter as wide as DeepSeek-V3, an eighth as deep; latent widths are its own
CONFIG = model.CONFIG | {
    "hidden_size": 2048, "intermediate_size": 4096, "moe_intermediate_size": 512,
    "num_hidden_layers": 8, "num_attention_heads": 16, "num_key_value_heads": 16,
    "q_lora_rank": 768, "n_routed_experts": 64, "num_experts_per_tok": 8, "n_group": 8}
# what the engine is started as, and so much of that card that its cache is about what it gets here
STAND_IN = ("device=nvidia-h200-sxm", f"engine=vllm@{WRITTEN}", "workload.memory_utilization=0.1")
# requests in flight that are planned -> runs of the bench that are made, by theirs
LOADS: dict[int, dict[int, str]] = {
    32: {1: "one", 16: "half", 32: "planned"}, 8: {4: "half", 8: "planned"}, 2: {2: "planned"}}
PROFILED: dict[str, tuple[int, int]] = {  # requests in flight, tokens of their answers
    "decode-1": (1, 512), "decode-16": (16, 512), "prefill-1": (1, 1)}
METRICS = {"ttft": "mean_ttft_ms", "tpot": "mean_tpot_ms"}
MILLISECOND = 1e-3
WAVES, FEWEST = 2, 16  # requests over those in flight; at least


def deployed(python: Path, folder: Path) -> dict[int, Plan]:
    """The directories that are written, by the requests in flight that are planned."""
    checkpoint = model.write(folder / "checkpoint", CONFIG)
    found = {}
    for users in LOADS:
        calc(python, "deploy", FILE, *(word for each in (
            *STAND_IN, f"workload.concurrency={users} request",
            f"workload.requests={max(FEWEST, WAVES * users)} request") for word in ("--set", each)),
            "--hosts", HOST, "-o", folder / f"deployed-{users}")
        found[users] = Plan(folder / f"deployed-{users}", checkpoint)
    return found


def bench_run(plan: Plan, name: str) -> Bench:
    """A run of a plan, with what is predicted of it on the processor."""
    counts = next(run for run in plan.runs if run["name"] == name)["asked"]
    run = Bench(name, "", int(counts["concurrency"]), int(counts["input_tokens"]),
                int(counts["output_tokens"]), int(counts["requests"]))
    scenario = catalogue.load_scenario(FILE, overrides=[
        f"workload.concurrency={run.concurrency} request"])
    return replace(run, predicted=of_closed_loop(scenario, run))


def runs(plans: dict[int, Plan]) -> dict[int, tuple[Plan, Bench]]:
    """Every run by its requests in flight, fewest first."""
    found = {users: (plans[planned], bench_run(plans[planned], name))
             for planned, loads in LOADS.items() for users, name in loads.items()}
    return dict(sorted(found.items()))


def rows(environment: Environment, python: Path, folder: Path) -> Iterator[Row]:
    """A row of predictions, then one per load, measured.

    Args:
        environment: of the engine.
        python: that runs ``calc``.
        folder: for files and logs.
    """
    plans = deployed(python, folder)
    expected = runs(plans)
    yield Row("predicted", "predicted before the server starts", f"{len(expected)} loads",
              f"{len(expected)} loads", True,
              {f"{metric}_{users}": amount.value for users, (_, run) in expected.items()
               for metric, amount in run.predicted.items()})
    first = plans[max(plans)]
    with serving.serve(environment, first, folder / "own.log") as server:
        if serving.up(server, f"{first.address}/health") is None:
            yield Row("started", "the server", "does not start", "answers", False)
            return
        for users, (plan, run) in expected.items():
            yield measured(environment, plan, run, users, folder)
    traces = folder / "traces"
    traces.mkdir(exist_ok=True)
    with serving.serve(environment, first, folder / "profiled.log",
                       *profile.arguments(traces)) as server:
        if serving.up(server, f"{first.address}/health") is not None:
            yield from (profiled(first, name, traces) for name in PROFILED)


def profiled(plan: Plan, name: str, traces: Path) -> Row:
    """Seconds of a step by class of kernels, in the engine."""
    users, answer = PROFILED[name]
    prompt = int(plan.runs[0]["asked"]["input_tokens"])
    layers = CONFIG["num_hidden_layers"] - CONFIG["first_k_dense_replace"]
    seen = profile.step(plan, users, (prompt, answer), layers, traces)
    return Row(f"step-{name}", f"a step of {name}", ", ".join(
        f"{kind} {amount:.2g}" for kind, amount in seen.items()), "a profile", bool(seen),
        seen)


def measured(environment: Environment, plan: Plan, run: Bench, users: int, folder: Path) -> Row:
    """One run of the bench beside what is predicted of it [s]."""
    result = serving.bench(environment, plan, folder / f"own-{users}.log", run.name)[run.name]
    numbers: dict[str, Any] = {"users": users, "requests": result["completed"]}
    for metric, name in METRICS.items():
        amount = run.predicted[metric]
        numbers |= {metric: result[name] * MILLISECOND, f"{metric}_predicted": amount.value,
                    f"{metric}_low": amount.low, f"{metric}_high": amount.high}
    (folder / f"own-{users}.json").write_text(json.dumps(result), encoding="utf-8")
    return Row(f"users-{users}", f"{users} in flight", f"TPOT {numbers['tpot']:.3g} s",
               f"TPOT {numbers['tpot_predicted']:.3g} s", result["completed"] == run.requests,
               numbers)
