"""The small deployment from its script to its calibration, in a running engine."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tools.engine.environment import Environment
from tools.engine.plan import Plan, calc, written
from tools.engine.rows import Row
from tools.engine.server import serving, watching

HEALTHY, FULL = 0.5, 4  # users, of those that are planned
SETTLED, RAISED, OVER = 60.0, 180.0, 120.0  # s of watching; windows and holds take 40
QUEUE = "MoreRequestsThanPlanned"
# judged as soon as the requests that are planned are in flight, and of a card that this is not: it
# is faster, and holds a larger cache
OF_A_CARD = {"ThroughputBelowPrediction", "KVCacheFullerThanPredicted"}
STOPPED = "ServerDown"
ERRORS, CHANGES = ("Error",), ("forcing", "overriding")  # words of a log


def rows(environment: Environment, python: Path, folder: Path) -> Iterator[Row]:
    """Everything that is tried of it, in order; it ends where the server does not start.

    Args:
        environment: of the engine.
        python: that runs ``calc``.
        folder: for files and logs.
    """
    plan = written(python, folder)
    with serving.serve(environment, plan, folder / "serve.log") as server:
        took = serving.up(server, f"{plan.address}/health")
        yield Row("start", "nodes/serve-0.sh, as written, and " + serving.STATED,
                  "does not start" if took is None else f"answers after {took:.0f} s", "answers",
                  took is not None, None if took is None else {"seconds": round(took)},
                  log_excerpt(folder / "serve.log", ERRORS if took is None else CHANGES))
        if took is None:
            return
        yield from _asked(plan)
        yield from _measured(environment, python, plan, folder)
        with watching.prometheus(plan.folder / "monitoring", folder / "prometheus"):
            yield from _watched(plan)
            serving.stop(server)
            seen = watching.watch(RAISED, {STOPPED})
            yield _fires("stopped", "the server is stopped", seen, {STOPPED})


def _asked(plan: Plan) -> Iterator[Row]:
    """A completion, and the metrics that rules look at."""
    run = next(run for run in plan.runs if run["name"] == "planned")["asked"]
    came = serving.completion(plan, run["input_tokens"], run["output_tokens"])
    yield Row("completion", f"a completion of {run['output_tokens']} tokens", f"{came} tokens",
              f"{run['output_tokens']} tokens", came == run["output_tokens"])
    named = watching.metrics(watching.loaded(plan.folder / "monitoring" / "alerts.yml"))
    there = watching.exported(serving.ask(f"{plan.address}/metrics"))
    yield Row("metrics", "series that the alerts look at", f"{len(named & there)} exported",
              f"{len(named)}", bool(named) and named <= there,
              {"named": len(named), "exported": len(named & there)}, sorted(named - there))


def _measured(environment: Environment, python: Path, plan: Plan, folder: Path) -> Iterator[Row]:
    """The bench as it is written, and what calibrate makes of its results."""
    results = serving.bench(environment, plan, folder / "bench.log")
    asked = {run["name"]: run["asked"]["requests"] for run in plan.runs}
    came = {name: int(of["completed"]) for name, of in results.items()}
    yield Row("bench", "bench/run.sh, as written", counts_text(came), counts_text(asked),
              came == asked, {"runs": len(came), "requests": sum(came.values())})
    text = calc(python, "calibrate", plan.folder / "bench" / "results", "--write", "--json")
    found: dict[str, Any] = json.loads(text)
    read = {row["run"] for row in found["rows"]}
    yield Row("calibrate", "calibrate bench/results --write",
              f"{len(found['rows'])} values of {len(read)} runs, {found['fitted']['rows']} fitted"
              if found["fitted"] else f"{len(found['rows'])} values of {len(read)} runs",
              f"{len(asked)} runs, a fit", read == set(asked) and bool(found["fitted"]),
              {"values": len(found["rows"]), "runs": len(read)}, found["remarks"])


def _watched(plan: Plan) -> Iterator[Row]:
    """Alerts of a healthy server, of one with a full queue, and after it."""
    run = next(run for run in plan.runs if run["name"] == "planned")["asked"]
    users, lengths = run["concurrency"], (run["input_tokens"], run["output_tokens"])
    with serving.load(plan, int(HEALTHY * users), *lengths) as done:
        seen = watching.watch(SETTLED)
        unwell = watching.unwell()
    yield Row("rules", "rules that Prometheus evaluates", f"{len(unwell)} fail", "0 fail",
              not unwell, None, [f"{name}: {why}" for name, why in unwell.items()])
    yield _fires("healthy", f"{int(HEALTHY * users)} users, {len(done)} answers", seen, set())
    with serving.load(plan, FULL * users, *lengths):
        seen = watching.watch(RAISED, {QUEUE, *OF_A_CARD})
    yield _fires("full", f"{FULL * users} users where {users} are planned", seen,
                 {QUEUE, *OF_A_CARD})
    gone = watching.quiet(OVER)
    yield Row("over", "all of them gone", "silent" if gone else told_set(watching.firing()),
              "silent", gone)


def _fires(key: str, what: str, seen: set[str], expected: set[str]) -> Row:
    return Row(key, f"alerts: {what}", told_set(seen), told_set(expected), seen == expected,
               alerts=sorted(seen))


def counts_text(counts: dict[str, int]) -> str:
    """Counts by name."""
    return ", ".join(f"{name} {counts[name]}" for name in sorted(counts))


def told_set(names: set[str]) -> str:
    """Names, or that there are none.

    >>> told_set({"b", "a"}), told_set(set())
    ('a, b', 'none')
    """
    return ", ".join(sorted(names)) or "none"


def log_excerpt(log: Path, words: Sequence[str], most: int = 4) -> list[str]:
    """The last different lines of a log with one of some words, without who said it and when."""
    text = log.read_text(encoding="utf-8", errors="replace").splitlines()
    found = [line.rpartition("] ")[2].strip()[:200] for line in text
             if any(word in line for word in words)]
    return list(dict.fromkeys(found))[-most:]
