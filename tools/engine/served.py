"""A small deployment from its model's import to its calibration, in a running engine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from tools.engine import model, prometheus, running_server
from tools.engine.environment import WRITTEN, Environment
from tools.engine.rows import Row
from tools.engine.running_server import HOST, Plan, calc

SCENARIO = Path(__file__).with_name(f"{model.NAME}.yml")
HEALTHY, FULL = 0.5, 4  # users, of those that are planned
SETTLED, RAISED, OVER = 60.0, 180.0, 120.0  # s of watching; windows and waits take 40
QUEUE = "MoreRequestsThanPlanned"
# fire as soon as the planned requests are in flight, as a processor is slower than the planned
# card, and has a smaller cache
OF_A_CARD = {"ThroughputBelowPrediction", "KVCacheFullerThanPredicted"}
STOPPED = "ServerDown"
ERRORS, CHANGES = ("Error",), ("forcing", "overriding")  # words of a log


def deployed(python: Path, folder: Path) -> Plan:
    """Import the model, write the deployment's file, and let ``deploy`` write the directory.

    Args:
        python: that runs ``calc``.
        folder: empty.
    """
    checkpoint = model.write(folder / "checkpoint", model.CONFIG)
    calc(python, "import-model", checkpoint / "config.json", "--name", "Four layers",
         "-o", folder / f"{model.NAME}.yml")
    file = folder / "plan.yml"
    file.write_text(f"{SCENARIO.read_text('utf-8')}engine: vllm@{WRITTEN}\n", "utf-8")
    calc(python, "deploy", file, "--hosts", HOST, "-o", folder / "deployed")
    return Plan(folder / "deployed", checkpoint)


def rows(environment: Environment, python: Path, folder: Path) -> Iterator[Row]:
    """Rows of all trials, in order; the first is the last if the server does not start.

    Args:
        environment: of the engine.
        python: that runs ``calc``.
        folder: for files and logs.
    """
    plan = deployed(python, folder)
    with running_server.serve(environment, plan, folder / "serve.log") as started:
        seconds = running_server.startup_time(started, f"{plan.address}/health")
        words = ERRORS if seconds is None else CHANGES
        log = (folder / "serve.log").read_text(encoding="utf-8", errors="replace")
        notes = [line.rpartition("] ")[2].strip()[:200] for line in log.splitlines()
                 if any(word in line for word in words)]
        yield Row("start", "nodes/serve-0.sh, as written, and " + running_server.STATED,
                  "does not start" if seconds is None else f"answers after {seconds:.0f} s",
                  "answers", seconds is not None,
                  None if seconds is None else {"seconds": round(seconds)},
                  list(dict.fromkeys(notes))[-4:])
        if seconds is None:
            return
        yield from requested(plan)
        yield from benchmarked(environment, python, plan, folder)
        with prometheus.prometheus(plan.folder / "monitoring", folder / "prometheus"):
            yield from watched(plan)
            running_server.stop(started)
            yield alerts("stopped", "the server is stopped",
                         prometheus.watch(RAISED, {STOPPED}), {STOPPED})


def planned_load(plan: Plan) -> dict[str, int]:
    """Requests and lengths of the planned load."""
    return next(run for run in plan.runs if run["name"] == "planned")["asked"]


def requested(plan: Plan) -> Iterator[Row]:
    """A completion, and the metrics of the rules."""
    run = planned_load(plan)
    tokens = running_server.completion(plan, run["input_tokens"], run["output_tokens"])
    yield Row("completion", f"a completion of {run['output_tokens']} tokens", f"{tokens} tokens",
              f"{run['output_tokens']} tokens", tokens == run["output_tokens"])
    rules = (plan.folder / "monitoring" / "alerts.yml").read_text(encoding="utf-8")
    named = prometheus.metrics(yaml.safe_load(rules))
    exported = named & prometheus.exported(running_server.ask(f"{plan.address}/metrics"))
    yield Row("metrics", "series in the rules of the alerts", f"{len(exported)} exported",
              f"{len(named)}", bool(named) and named == exported,
              {"named": len(named), "exported": len(exported)}, sorted(named - exported))


def benchmarked(environment: Environment, python: Path, plan: Plan, folder: Path) -> Iterator[Row]:
    """The bench as written, and the calibration from its results."""
    results = running_server.bench(environment, plan, folder / "bench.log")
    expected = {run["name"]: run["asked"]["requests"] for run in plan.runs}
    completed = {name: int(result["completed"]) for name, result in results.items()}
    saw, planned = (", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
                    for counts in (completed, expected))
    yield Row("bench", "bench/run.sh, as written", saw, planned, completed == expected,
              {"runs": len(completed), "requests": sum(completed.values())})
    text = calc(python, "calibrate", plan.folder / "bench" / "results", "--write", "--json")
    calibration: dict[str, Any] = json.loads(text)
    runs, fitted = {row["run"] for row in calibration["rows"]}, calibration["fitted"]
    yield Row("calibrate", "calibrate bench/results --write",
              f"{len(calibration['rows'])} values of {len(runs)} runs"
              + (f", {fitted['rows']} fitted" if fitted else ""),
              f"{len(expected)} runs, a fit", runs == set(expected) and bool(fitted),
              {"values": len(calibration["rows"]), "runs": len(runs)}, calibration["remarks"])


def watched(plan: Plan) -> Iterator[Row]:
    """Alerts of a healthy server, of one with a full queue, and after the load."""
    run = planned_load(plan)
    users, lengths = run["concurrency"], (run["input_tokens"], run["output_tokens"])
    with running_server.load(plan, int(HEALTHY * users), *lengths) as done:
        seen = prometheus.watch(SETTLED)
        failing = prometheus.failing_rules()
    yield Row("rules", "rules that Prometheus evaluates", f"{len(failing)} fail", "0 fail",
              not failing, None, [f"{name}: {reason}" for name, reason in failing.items()])
    yield alerts("healthy", f"{int(HEALTHY * users)} users, {len(done)} answers", seen, set())
    expected = {QUEUE, *OF_A_CARD}
    with running_server.load(plan, FULL * users, *lengths):
        seen = prometheus.watch(RAISED, expected)
    yield alerts("full", f"{FULL * users} users where {users} are planned", seen, expected)
    silent = running_server.within(OVER, lambda: not prometheus.firing())
    yield Row("over", "all users gone", "silent" if silent else "alerts fire", "silent", silent)


def alerts(key: str, what: str, seen: set[str], expected: set[str]) -> Row:
    """Compare the alerts that fired with the expected ones."""
    names, expected_names = (", ".join(sorted(names)) or "none" for names in (seen, expected))
    return Row(key, f"alerts: {what}", names, expected_names, seen == expected,
               alerts=sorted(seen))
